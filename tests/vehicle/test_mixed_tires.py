"""Tires of two laws on two axles: a wheel has the forces, rates and start of the law of its axle alone."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from jounce.axles import AXLES
from jounce.contact.tires import find
from jounce.contact.tires.law import Hub, Plane, Starting
from jounce.contact.tires.mixed import WHICH, mixed, numbers_of
from jounce.data import DataError, Vehicle, load_vehicle, with_tire_files
from jounce.models.double_wishbone.arrange import arranged
from jounce.models.double_wishbone.signals import table

Array = NDArray[np.float64]
FRONT, REAR = AXLES
DATA = Path(__file__).parents[1] / "data" / "tires"
PAC2002, MF61, CURVE = (DATA / f"{n}.tir" for n in ("HMMWV_Pac02Tire", "synthetic_mf61_large",
                                                    "335_65R22_5_G275MSA_60psi"))  # fmt: skip
#: Files by axle -> law of the vehicle, laws of its axles.
CASES = {
    "mf61+pac2002": ({FRONT: PAC2002, REAR: MF61}, ("pac2002", "mf61")),
    "mf61+pac2002_curve": ({FRONT: MF61, REAR: CURVE}, ("mf61", "pac2002_curve")),
    "pac2002+tmeasy": ({REAR: PAC2002}, ("tmeasy", "pac2002")),
}
OUT = ("force", "moment", "contact_force", "contact_moment", "slip", "slip_angle", "deflection", "stored_energy")


@cache
def vehicle(name: str) -> Vehicle:
    return with_tire_files(load_vehicle("hmmwv"), CASES[name][0])


@cache
def contact(name: str, start: bool = False) -> ca.Function:
    """f(hub and plane, states, numbers) of a law, the last ones in its order."""
    law = find(name)
    place, states = ca.SX.sym("h", 10), ca.SX.sym("z", law.layout.size)
    names = (*law.parameters, *law.sided, *(s.name for s in law.inputs))
    numbers = ca.SX.sym("n", len(names))
    par = dict(zip(names, ca.vertsplit(numbers), strict=True))
    if start:
        begun = law.started(Starting(place[0], place[1], place[2], place[3:5], place[5]), par)
        out = [begun.grip, begun.resting, begun.rolling]
    else:
        tilt = ca.vertcat(0, ca.cos(place[9]), ca.sin(place[9]))
        hub = Hub(ca.vertcat(0, 0, place[0]), place[1:4], tilt, ca.vertcat(place[4], place[5], place[6]))
        made = law.contact(hub, Plane(ca.SX(3, 1), ca.SX([0, 0, 1]), place[7]), states, par)
        out = [ca.vertcat(*(getattr(made, n) for n in OUT)), made.rate]
    return ca.Function("f", [place, states, numbers], out)


def numbers(of: Vehicle, law: str, axle: str) -> list[float]:
    """Of a left wheel of an axle, in the order of that law; no pressure is asked for."""
    entries = numbers_of(find(law), 1.0, of.tires(axle), of.entries)
    return [*(of[name] for name in entries.values()), *(0.0 for _ in find(law).inputs)]


@settings(max_examples=24, deadline=None, derandomize=True)
@given(st.sampled_from(list(CASES)), st.integers(0, 10**6))
def test_every_axle_has_the_contact_of_its_own_law(name: str, seed: int) -> None:
    """The same numbers: rolling, braked, sliding and standing, on both axles."""
    r, of, whole = np.random.default_rng(seed), vehicle(name), find(name)
    assert of.tire == name
    for axle, law in zip(AXLES, CASES[name][1], strict=True):
        own = find(law)
        radius = of.of_tires(axle, "unloaded_radius")
        speed = r.choice([0.0, 1.5, 12.0])
        place = np.array([radius - r.uniform(0.0, 0.05), speed, r.normal(), 0.1 * r.normal(), 0.1 * r.normal(),
                          speed / radius * r.uniform(0.0, 1.4), r.normal(), r.uniform(0.1, 1.0), 0.0,
                          r.normal() * 0.05])  # fmt: skip
        states = {n: 0.01 * r.normal(size=size) for n, size in whole.layout.sizes.items()}
        both = np.concatenate(list(states.values()))
        alone = np.concatenate([states[n] for n in own.layout.sizes])
        begin = np.array([4e3, 0.8, r.uniform(0.0, 0.03), *(300.0 * r.normal(size=2)), 1.0, 0.0, 0.0, 0.0, 0.0])
        for start, given_at in ((False, place), (True, begin)):
            found = contact(name, start)(given_at, both, numbers(of, name, axle))
            wanted = contact(law, start)(given_at, alone, numbers(of, law, axle))
            assert all(np.isfinite(np.array(v)).all() for v in found)
            assert np.array_equal(np.array(found[0]), np.array(wanted[0]))
            for one, other in zip(found[1:], wanted[1:], strict=True):
                at = whole.layout.split(ca.DM(one))
                for n, rate in own.layout.split(ca.DM(other)).items():
                    assert np.array_equal(np.array(at[n]), np.array(rate)), n
                rest = [np.array(v) for n, v in at.items() if n not in own.layout.sizes]
                assert all((v == 0.0).all() for v in rest)


@pytest.mark.parametrize("name", CASES)
def test_an_axle_has_the_parameters_of_its_law_and_says_which_it_is(name: str) -> None:
    of = arranged(vehicle(name))
    signals = table(of)
    names = {s.name for s in signals.parameters}
    for axle, law in zip(AXLES, CASES[name][1], strict=True):
        wanted = {f"tire.{axle}.{n}" for n in (*find(law).entries, WHICH)}
        assert {n for n in names if n.startswith(f"tire.{axle}.")} == wanted
        which = of.entries[f"tire.{axle}.{WHICH}"]
        assert which.items[int(which.value) - 1] == law.upper()
        assert which.minimum == which.value == which.maximum
        pressure = signals.by_name(f"wheel_{axle[0].upper()}L.tire_pressure")
        assert (pressure.maximum == 0.0) == (law == "tmeasy")
    references = [s.value_reference for s in (*signals.inputs, *signals.parameters)]
    assert len(set(references)) == len(references)
    one = table(arranged(with_tire_files(load_vehicle("hmmwv"), {"": PAC2002}))).ledger.references
    both = signals.ledger.references
    for axle, stride, law in zip(AXLES, (1, 2), CASES[name][1], strict=True):
        if law == "pac2002":
            assert both[f"tire.{axle}.PDX1"] - one["tire.PDX1"] == 5000 * stride


def test_laws_of_which_none_is_said_or_that_do_not_fit_are_refused() -> None:
    of = vehicle("pac2002+tmeasy")
    entries = {n: e for n, e in of.entries.items() if n != f"tire.rear.{WHICH}"}
    with pytest.raises(DataError, match=r"tire\.rear\.law is missing: expected 1 \(pac2002\), 2 \(tmeasy\)"):
        arranged(Vehicle(of.name, entries, axles=of.axles, tire=of.tire))
    first, *others = find("mf61").states
    odd = replace(find("mf61"), name="odd", states=(replace(first, unit="mm"), *others))
    with pytest.raises(ValueError, match=r"both have a 'bristle\.x'"):
        mixed(find("mf61"), odd)
