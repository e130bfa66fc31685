"""Directional derivatives of a vehicle on Magic Formula tires are those of the values that an importer reads."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from sensitivity import Vehicle, differences, random_point, steps

from jounce_fmu.importer.host import Factory, open_builtin
from jounce_fmu.models.tires import on_tires

DATA = Path(__file__).parents[1] / "data" / "tires"
#: Terms of pressure, which the file of PAC2002 has not.
PRESSURE = {"PPX1": -0.3, "PPX3": 0.2, "PPY1": 0.4, "PFZ1": 0.7}


@pytest.fixture(scope="module", params=["pac2002", pytest.param("mf61", marks=pytest.mark.slow)])
def factory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Factory:
    pytest.importorskip("casadi")
    text, file = (DATA / "HMMWV_Pac02Tire.tir").read_text(), tmp_path_factory.mktemp("tires") / "pressure.tir"
    for key, value in PRESSURE.items():
        text = re.sub(rf"^{key} .*\n", "", text, flags=re.MULTILINE)
        text = text.replace("[LONGITUDINAL_COEFFICIENTS]\n", f"[LONGITUDINAL_COEFFICIENTS]\n{key} = {value}\n")
    file.write_text(text)
    if request.param == "mf61":
        file = DATA / "synthetic_mf61_large.tir"
    return open_builtin(on_tires("hmmwv", file))


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
