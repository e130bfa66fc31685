"""What has mass, taken apart and together: the sums of an aggregate are those of its bodies one by one."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from jounce.data import load_vehicle
from jounce.dynamics.aggregate import Across, Body, Fixed, Part, rod_turn, slender, together, total, turning
from jounce.dynamics.embedding import Embedding, Moved
from jounce.dynamics.graph import ROOT
from jounce.dynamics.masses import parts_of, spinless
from jounce.math.algebra import SX, dot, matrix
from jounce.suspension.mechanisms.templates import mechanism_of

Array = NDArray[np.float64]


def _line(moved: Moved, a: Any, b: Any) -> tuple[SX, SX, SX, SX, Any, Any]:
    """(a, b, length, unit vector from a to b, motions)."""
    here, at_here = moved.end(a)
    there, at_there = moved.end(b)
    length = ca.sqrt(dot(there - here, there - here))
    return here, there, length, (there - here) / length, at_here, at_there


def _one_by_one(moved: Moved) -> list[Part]:
    """Every rod and tube as a rigid body with its centre of mass and its inertia, and every wheel on its carrier."""
    m, found = moved.placed.mechanism, []
    for rod in m.rods:
        if rod.mass is None:
            continue
        a, b, length, axis, at_a, at_b = _line(moved, rod.a, rod.b)
        turn = rod_turn(axis, length, at_b - at_a)
        found.append(
            Body(
                rod.mass,
                (a + b) / 2,
                (at_a + at_b) * 0.5,
                slender(axis, SX(0 if rod.across is None else rod.across), SX(0)),
                turn,
            )
        )
    for t in m.tubes:
        foot, top, length, axis, at_foot, at_top = _line(moved, t.lower, t.upper)
        turn = rod_turn(axis, length, at_top - at_foot)
        tip = turning(turn, axis)
        for mass, com, at, across, along in (
            (t.lower_mass, foot + axis * t.lower_com, at_foot + tip * t.lower_com, t.lower_across, t.lower_along),
            (t.upper_mass, top - axis * t.upper_com, at_top - tip * t.upper_com, t.upper_across, t.upper_along),
        ):
            found.append(Body(SX(mass), com, at, slender(axis, SX(across), SX(along)), turn))
    for body in m.bodies:
        own = [(body.mass, SX(body.com), matrix(SX(body.inertia)))]
        own += [(w.mass, SX(w.centre), slender(SX(w.axis), w.across, spinless(w))) for w in m.wheels
                if w.on == body.name]  # fmt: skip
        mass, com, inertia = together(own)
        r, now = moved.placed.poses[body.name].rotation, moved.placed.carried(body.name, com)
        found.append(Body(mass, now, moved.motion(body.name, now), r @ inertia @ r.T, moved.turn(body.name)))
    return found


@cache
def _both(vehicle: str, axle: str) -> tuple[ca.Function, Array, Array]:
    """(both sums for coordinates, angular velocity of the chassis and numbers; numbers; which of them are masses)."""
    data = load_vehicle(vehicle)
    kind = next(a.kind for a in data.axles if a.name == axle)
    embedding = Embedding(mechanism_of(data, axle, kind))
    c, omega = embedding.symbols(), SX.sym("w", 3)
    moved, n = embedding.moved(c), len(embedding.independent)
    sums = [total(parts, omega, n) for parts in (parts_of(moved), _one_by_one(moved))]
    found = ca.horzcat(*(ca.vertcat(*(ca.densify(ca.vec(v)) for v in s.values())) for s in sums))
    layout = embedding.mechanism.layout()
    of = {r.name for r in (*embedding.mechanism.rods, *embedding.mechanism.tubes)}
    light = [name.partition(".")[0] in of and ("mass" in name or "across" in name or "along" in name)
             for name, size in layout.sizes.items() for _ in range(size)]  # fmt: skip
    function = ca.Function("sums", [c.theta, c.rates, c.u, c.told, omega, c.numbers], [found])
    return function, np.array(ca.evalf(embedding.mechanism.numbers())).ravel(), np.array(light)


@pytest.mark.parametrize(("vehicle", "axle"), [("car", "front"), ("car", "rear"), ("pickup", "rear")])
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), factor=st.sampled_from([1.0, 0.0, 5.0]))
def test_parts_have_the_sums_of_the_bodies_one_by_one(vehicle: str, axle: str, seed: int, factor: float) -> None:
    # in any motion, also where the loops are open but for the rods' lengths: the tip's share of a rod takes these to be
    # as in the design position; and where rods and tubes have no mass at all
    both, numbers, light = _both(vehicle, axle)
    random = np.random.default_rng(seed)
    sizes = [both.size1_in(k) for k in range(5)]
    moving = [np.zeros(sizes[0]), random.normal(size=sizes[1]), np.zeros(sizes[2]), random.normal(size=sizes[3])]
    moving[3].reshape(-1, 12)[:, :3] = numbers[-4:-1] if vehicle == "car" else 0.0
    new, plain = np.array(both(*moving, random.normal(size=3), np.where(light, factor * numbers, numbers))).T
    assert np.isfinite(new).all()
    assert np.abs(new - plain).max() <= 1e-12 * np.abs(plain).max()
    assert np.allclose(new, plain, rtol=1e-9, atol=1e-12 * np.abs(plain).max())


def test_links_of_one_body_are_taken_together_from_three_on() -> None:
    for axle, count in (("front", 0), ("rear", 1)):
        data = load_vehicle("car")
        kind = next(a.kind for a in data.axles if a.name == axle)
        parts = parts_of((e := Embedding(mechanism_of(data, axle, kind))).moved(e.symbols()))
        assert sum(isinstance(p, Across) for p in parts) == count
        assert sum(isinstance(p, Fixed) for p in parts) == 1


def test_a_link_with_mass_on_a_body_without_leaves_no_zero_to_divide_by() -> None:
    mechanism = mechanism_of(load_vehicle("car"), "rear", "multilink")
    bodies = tuple(replace(b, mass=None, com=None, inertia=None) for b in mechanism.bodies)
    rods = tuple(replace(r, across=None) for r in mechanism.rods)
    bare = replace(mechanism, bodies=bodies, rods=rods, tubes=(), wheels=(), forces=())
    e = Embedding(bare)
    c = e.symbols()
    sums = total(parts_of(e.moved(c)), SX.sym("w", 3))
    mass = ca.Function("mass", [c.numbers], [sums["mass"]])(bare.numbers())
    assert float(ca.evalf(mass)) == pytest.approx(sum(float(ca.evalf(SX(r.mass))) for r in rods), rel=1e-12)
    assert not any(isinstance(p, Across) for p in parts_of(e.moved(c)))
    assert ROOT not in {b.name for b in bare.bodies}
