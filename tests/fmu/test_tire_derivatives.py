"""Directional derivatives of a vehicle on Magic Formula tires are those of the values that an importer reads."""

from __future__ import annotations

import ctypes as ct
import re
from pathlib import Path

import numpy as np
import pytest
from raw import OK
from sensitivity import Vehicle, differences, random_point, same_in_fmi_3, steps

from jounce.axles import AXLES
from jounce_fmu.importer.host import Factory, open_builtin
from jounce_fmu.models.tires import on_tires

pytestmark = pytest.mark.slow  # vehicles of their own are emitted and compiled

DATA = Path(__file__).parents[1] / "data" / "tires"
#: Terms of pressure, which the file of PAC2002 has not.
PRESSURE = {"PPX1": -0.3, "PPX3": 0.2, "PPY1": 0.4, "PFZ1": 0.7}


@pytest.fixture(scope="module", params=["pac2002", "mf61", "one of each"])
def factory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Factory:
    pytest.importorskip("casadi")
    text, file = (DATA / "HMMWV_Pac02Tire.tir").read_text(), tmp_path_factory.mktemp("tires") / "pressure.tir"
    for key, value in PRESSURE.items():
        text = re.sub(rf"^{key} .*\n", "", text, flags=re.MULTILINE)
        text = text.replace("[LONGITUDINAL_COEFFICIENTS]\n", f"[LONGITUDINAL_COEFFICIENTS]\n{key} = {value}\n")
    file.write_text(text)
    other = DATA / "synthetic_mf61_large.tir"
    front = other if request.param == "mf61" else file
    files = {"": front} if request.param != "one of each" else dict(zip(AXLES, (front, other), strict=True))
    return open_builtin(on_tires("hmmwv", files))


def test_every_derivative_is_that_of_central_differences_at_random_states(factory: Factory) -> None:
    """1e-6, away from kinks, at speeds below, within and beyond the blend with the standstill."""
    table = factory.table
    made = Vehicle(str(factory.library), factory.interface.guid, table)
    states = len(table.states)
    rest, rng, step = made.read(made.states), np.random.default_rng(3), steps(table)
    noisy = table.by_name("closure_residual").value_reference
    kept = [i for i, r in enumerate([*made.rates, *made.outputs]) if r != noisy]
    speed = [k for k, s in enumerate(table.states) if s.name == "state.lin_vel.x"]
    pressures = [s for s in table.inputs if s.name.endswith("tire_pressure")]
    found = drawn = 0
    while found < 3:
        drawn += 1
        x, u = random_point(made, rest, rng)
        for s in pressures:
            u[s.index] = rng.uniform(1.1 * s.signal.least_nonzero, 0.9 * s.maximum)
        x[speed] = (0.4, 2.0, 9.0)[drawn % 3]
        z = np.concatenate([x, u])
        quotient, spread = differences(lambda z: made.at(z[:states], z[states:])[kept], z, step)
        values = made.at(z[:states], z[states:])[kept]
        noise = 2e-15 * (np.abs(values)[:, None] + 1e4) / step
        if (spread > 1e-6 * np.abs(quotient) + noise).any():
            continue  # a kink within the steps
        found += 1
        exact = made.jacobian()[kept]
        assert (np.abs(exact - quotient) <= 1e-6 * np.abs(quotient) + noise).all()
        assert (exact != 0.0).sum() > 1900
    assert drawn < 120
    made.free()


def driven(factory: Factory, kind: int = 1) -> tuple[Vehicle, np.ndarray]:
    """Half a second of a braked turn in FMI 2, each wheel at another pressure; the inputs."""
    inside = {"steering_wheel_angle": 1.5, "steering_wheel_rate": 0.4, "brake_torque": 500.0}
    u = np.array([inside.get(s.name.partition(".")[2] or s.name, s.start) for s in factory.table.inputs])
    pressures = [s for s in factory.table.inputs if s.name.endswith("tire_pressure")]
    for k, s in enumerate(pressures):
        u[s.index] = s.signal.least_nonzero + (0.2 + 0.15 * k) * (s.maximum - s.signal.least_nonzero)
    made = Vehicle(str(factory.library), factory.interface.guid, factory.table, kind, init__speed=12.0)
    made.put(np.zeros(0) if kind else made.read(made.states), u)
    if kind:
        assert made.call("DoStep", ct.c_double(0.0), ct.c_double(0.5), 1) == OK
    return made, u


def test_in_co_simulation_they_are_those_of_the_outputs_after_a_step(factory: Factory) -> None:
    """By inputs, 1e-6; a sliding brake is at its limit, which has two slopes."""
    made, u = driven(factory)
    table = factory.table
    quotient, spread = differences(lambda u: made.at(np.zeros(0), u), u, steps(table)[len(table.states) :])
    made.put(np.zeros(0), u)
    unknown = [*made.rates, *made.outputs]
    exact = np.array([made.directional(unknown, [k], np.ones(1)) for k in made.inputs]).T
    keep = [i for i, r in enumerate(unknown) if r != table.by_name("closure_residual").value_reference]
    known = [k for k, s in enumerate(table.inputs) if not s.name.endswith("brake_torque")]
    entries = np.ix_(keep, known)
    error, allowed = np.abs(exact - quotient)[entries], 1e-6 * (1.0 + np.abs(exact[entries]))
    rounding = spread[entries]  # of a few quotients, whose step is small for half a second behind the input
    assert (error <= allowed + rounding).all() and (rounding > 0.5 * allowed).mean() < 1e-3
    pressures = [k for k, s in enumerate(table.inputs) if s.name.endswith("tire_pressure")]
    assert (np.abs(exact[:, pressures]).max(axis=0) > 1e-5).all()
    made.free()


@pytest.mark.parametrize("exchange", [True, False], ids=["model exchange", "co-simulation"])
def test_fmi_3_gives_those_of_fmi_2(factory: Factory, exchange: bool) -> None:
    two, u = driven(factory, kind=0 if exchange else 1)
    same_in_fmi_3(factory, two, u, 12.0)
    two.free()
