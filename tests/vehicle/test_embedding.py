"""Constraint embedding of any mechanism against closed forms, finite differences and other coordinates."""

from __future__ import annotations

from functools import cache

import casadi as ca
import numpy as np
import pytest
from ce import Ce, flat
from mixed import Aggregate
from numpy.typing import NDArray
from suspensions import five_link, hmmwv, macpherson, solid_axle

from jounce.codegen.forward import forward
from jounce.data import load_vehicle
from jounce.dynamics.embedding import Embedding
from jounce.dynamics.mechanism import Mechanism
from jounce.suspension.double_wishbone import OUTPUTS
from jounce.suspension.embedded import close_forward_function, close_function, corner_function

Array = NDArray[np.float64]
HMMWV = Ce(load_vehicle("hmmwv"))


class Corner:
    """The functions of a mechanism with one wheel."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.embedding = Embedding(mechanism)
        self.function, self.close = corner_function(self.embedding), close_function(self.embedding)
        self.numbers = {side: ca.evalf(mechanism.numbers(side)) for side in (1, -1)}

    def closed(self, theta: float, places: list[Array], side: int) -> Array:
        """u at theta, from the design position along places of the prescribed point on the way."""
        u = np.zeros(len(self.embedding.dependent))
        for k, inner in enumerate(places, 1):
            for _ in range(4):
                u = self.close(u, [theta * k / len(places), 0, 0], inner, self.numbers[side])
        return flat(u)

    def at(self, state: list[float], places: list[Array], omega: Array, side: int) -> dict[str, Array]:
        u = self.closed(state[0], places, side)
        return Ce.named(flat(self.function(state, places[-1], omega, self.numbers[side], u)))


@cache
def corner_of(axle: str, ten: int) -> Corner:
    return Corner(hmmwv(HMMWV.vehicle, axle, ten=ten))


@pytest.mark.parametrize("ten", [0, 1])
@pytest.mark.parametrize("k", range(4))
def test_the_hmmwvs_corners_as_graphs_equal_the_closed_form(k: int, ten: int) -> None:
    # design/general-ce: 7.4e-15 of each vector's size, steering terms 5.5e-13 (small against their parts)
    corner, side = corner_of("front" if k < 2 else "rear", ten), 1 if k % 2 == 0 else -1
    sizes: dict[str, float] = {}
    errors: dict[str, float] = {}
    for seed in range(20):
        r = np.random.default_rng(seed)
        state = [r.uniform(-0.3, 0.3), 2 * r.normal(), 20 * r.normal()]
        arm, omega = (r.uniform(-0.5, 0.5), r.normal(), 5 * r.normal()), r.normal(size=3)
        way = [HMMWV.inner_end(k, (arm[0] * t, 0.0, 0.0)) for t in np.linspace(0.1, 0.9, 9)]
        ours = corner.at(state, [*way, HMMWV.inner_end(k, arm)], omega, side)
        judged = HMMWV.at(k, state[0], rate=state[1], spin=state[2], arm=arm, omega=omega)
        for name in OUTPUTS.sizes:
            if name.startswith("margin") or name == "closure":
                assert ours["closure"][0] < 1e-13
                continue
            errors[name] = max(errors.get(name, 0.0), float(np.abs(ours[name] - judged[name]).max()))
            sizes[name] = max(sizes.get(name, 0.0), float(np.abs(judged[name]).max()))
    for name, error in errors.items():
        assert error <= 1e-12 * max(sizes[name], 1e-3), name


def test_a_massless_arm_equals_the_two_rods_that_it_replaces() -> None:
    rods, arm = Corner(five_link()), Corner(five_link(arm=True))
    for seed in range(5):
        r = np.random.default_rng(seed)
        state, end = [r.uniform(-0.08, 0.08), r.normal(), 20 * r.normal()], np.array([-0.257, 0.320, -0.116])
        way = [np.concatenate([end + [0, 0.02 * t, 0], [0, 1, 0], [0, 0.3, 0.0], [0, 2.0, 0]])
               for t in np.linspace(0.1, 1, 10)]  # fmt: skip
        omega = r.normal(size=3)
        a, b = (c.at(state, way, omega, 1) for c in (rods, arm))
        for name in OUTPUTS.sizes:
            if name != "closure" and not name.startswith("margin"):
                assert np.abs(a[name] - b[name]).max() <= 1e-12 * max(1.0, np.abs(a[name]).max()), name


def _state(a: Aggregate, r: np.random.Generator) -> tuple[Array, Array]:
    """(theta, rate, spin of each wheel one after the other; INNER of each wheel) at a random place."""
    inner = a.still.copy()
    if a.mechanism.prescribed:
        inner[:3] += r.uniform(-0.02, 0.02, 3)
        inner[3:12] = r.normal(size=9)
    return np.concatenate([r.uniform(-0.06, 0.06, a.n), r.normal(size=a.n), 10 * r.normal(size=a.wheels)]), inner


def _outputs(a: Aggregate, state: Array, inner: Array, omega: Array, u: Array) -> Array:
    lanes = [state[k :: a.wheels] for k in range(a.wheels)]
    out = a.function(*lanes, *inner.reshape(-1, 12), omega, a.numbers, u)
    return np.concatenate([flat(o) for o in (out if isinstance(out, tuple) else (out,))])


def _at(a: Aggregate, state: Array, inner: Array, omega: Array) -> tuple[Array, Array]:
    u = a.follow(state[: a.n], inner)
    return u, _outputs(a, state, inner, omega, u)


@pytest.mark.parametrize("mechanism", [macpherson(), five_link(), solid_axle(), solid_axle(steered=True)])
def test_tangents_of_the_closed_aggregate_are_its_differences(mechanism: Mechanism) -> None:
    # measured on MacPherson: 3e-11; tangents do not go through the Newton steps
    a = Aggregate(mechanism)
    close_forward = close_forward_function(a.embedding)
    tangent = forward(a.function, constant=(2 * a.wheels + 1,))
    for seed in range(3):
        r = np.random.default_rng(seed)
        state, inner = _state(a, r)
        omega, h = r.normal(size=3), 1e-5
        d_state, d_inner, d_omega = r.normal(size=state.size), r.normal(size=inner.size), r.normal(size=3)
        d_inner *= 1.0 if a.mechanism.prescribed else 0.0

        moving = ((state, d_state), (inner, d_inner), (omega, d_omega))
        (ahead_u, ahead), (behind_u, behind), (u, _) = (_at(a, *(v + t * d for v, d in moving)) for t in (h, -h, 0.0))
        split = [v for whole in (state, d_state) for v in (whole[k :: a.wheels] for k in range(a.wheels))]
        lanes, d_lanes = split[: a.wheels], split[a.wheels :]
        inners, d_inners = inner.reshape(-1, 12), d_inner.reshape(-1, 12)
        du = flat(close_forward(u, *lanes, *inners, a.numbers, *d_lanes, *d_inners))
        assert np.abs(du - (ahead_u - behind_u) / (2 * h)).max() < 1e-7 * max(1.0, np.abs(du).max())
        out = tangent(*lanes, *inners, omega, a.numbers, u, *d_lanes, *d_inners, d_omega, du)
        moved = np.concatenate([flat(o) for o in out[len(out) // 2 :]])
        slope = (ahead - behind) / (2 * h)
        assert np.abs(moved - slope).max() <= 1e-6 * max(1.0, float(np.abs(slope).max()))


@pytest.mark.parametrize("mechanism", [macpherson(), solid_axle(steered=True)])
def test_left_and_right_are_mirror_images(mechanism: Mechanism) -> None:
    r, flip = np.random.default_rng(2), np.tile([1.0, -1.0, 1.0], 4)
    one = Aggregate(mechanism)
    state, inner = _state(one, r)
    if one.wheels == 1:
        other = Aggregate(mechanism, -1)
        u = one.follow(state[:1], inner)
        v = other.follow(state[:1], inner * flip)
        assert np.abs(u - v).max() < 1e-13  # the same coordinates on both sides
        a, b = (Ce.named(_outputs(x, state, e, np.zeros(3), w)) for x, e, w in
                ((one, inner, u), (other, inner * flip, v)))  # fmt: skip
        for name in ("centre", "centre_velocity", "centre_partial", "linear_momentum", "centre_steer"):
            assert np.abs(a[name] - b[name] * flip[:3]).max() < 1e-11, name
        assert a["bias_theta"] == pytest.approx(b["bias_theta"], rel=1e-11)
    else:  # numbers of the right lane: the two wheels exchanged
        left, right = (dict(zip(_names(mechanism), flat(ca.evalf(mechanism.numbers(s))), strict=True)) for s in (1, -1))
        assert left["wheel_centre_2.1"] == right["wheel_centre.1"] == -left["wheel_centre.1"]
        assert left["k1"] == right["k1_2"]


def _names(mechanism: Mechanism) -> list[str]:
    return [f"{n}.{k}" if size > 1 else n for n, size in mechanism.layout().sizes.items() for k in range(size)]


def _turn(axis: Array, angle: float) -> Array:
    k = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.asarray(np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k)


def test_a_macpherson_strut_equals_its_closed_form() -> None:
    # the strut's line and length give the upright but for its turn about the line from ball to mount, which the tierod
    # gives by A cos + B sin = C (as Jain 2016, section 5.3)
    mechanism = macpherson()
    hinge, ball, mount = mechanism.joints
    foot, (rod,) = mechanism.tubes[0].lower.point, mechanism.rods
    u0, c, s0 = np.asarray(ball.point), np.asarray(mount.point), np.asarray(foot) - np.asarray(ball.point)
    d = (c - np.asarray(foot)) / np.linalg.norm(c - np.asarray(foot))
    outer, inner0 = np.asarray(rod.a.point) - u0, np.asarray(rod.b.point)
    length2 = float(np.sum((np.asarray(rod.a.point) - inner0) ** 2))
    axis = np.asarray(hinge.axis) / np.linalg.norm(hinge.axis)
    a, r = Aggregate(mechanism), np.random.default_rng(3)
    for _ in range(20):
        theta, inner = r.uniform(-0.25, 0.25, 1), a.still.copy()
        inner[1] += r.uniform(-0.05, 0.05)
        ball_now = np.asarray(hinge.point) + _turn(axis, theta[0]) @ (u0 - np.asarray(hinge.point))
        to_mount = c - ball_now
        along = -s0 @ d + np.sqrt((s0 @ d) ** 2 - (s0 @ s0 - to_mount @ to_mount))
        x = s0 + along * d
        normal = np.cross(x, to_mount)
        sine = np.linalg.norm(normal) / (np.linalg.norm(x) * np.linalg.norm(to_mount))
        first = _turn(normal / np.linalg.norm(normal), float(np.arcsin(sine)))
        k, v, w = to_mount / np.linalg.norm(to_mount), first @ outer, ball_now - inner[:3]
        cos, sin = 2 * w @ (v - k * (k @ v)), 2 * w @ np.cross(k, v)
        wanted = length2 - w @ w - v @ v - 2 * (w @ k) * (k @ v)
        spread = np.arctan2(sin, cos)
        angles = spread + np.array([1, -1]) * np.arccos(wanted / np.hypot(cos, sin))
        turns = [(t + np.pi) % (2 * np.pi) - np.pi for t in angles]
        upright = _turn(k, min(turns, key=abs)) @ first
        centre = ball_now + upright @ (np.asarray(mechanism.wheels[0].centre) - u0)
        state = np.array([theta[0], 0.0, 0.0])
        out = Ce.named(_outputs(a, state, inner, np.zeros(3), a.follow(theta, inner)))
        assert np.abs(out["centre"] - centre).max() < 1e-13
        assert np.abs(out["upright_axes"].reshape(3, 3).T - upright).max() < 1e-13
