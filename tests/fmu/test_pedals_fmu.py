"""The FMU of the HMMWV by pedals in an importer of others, with its time events in model exchange."""

from __future__ import annotations

from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmpy.validation import validate_fmu

from jounce_fmu.build.builtin import export_builtin


@pytest.mark.parametrize(("vehicle", "fmi"), [
    pytest.param("hmmwv_pedals", 2, marks=pytest.mark.slow), ("hmmwv_pedals", 3),
    *(pytest.param("truck8x8_pedals", fmi, marks=pytest.mark.slow) for fmi in (2, 3)),
])  # fmt: skip
def test_fmpy_shifts_at_the_same_time_in_co_simulation_and_with_its_own_integrator(
    tmp_path: Path, vehicle: str, fmi: int
) -> None:
    path = export_builtin(tmp_path / "pedals.fmu", vehicle, fmi=fmi)
    assert not validate_fmu(str(path))
    names = ["speed", "gearbox.gear", "engine.speed"]
    steps, exchange = (
        fmpy.simulate_fmu(str(path), fmi_type=kind, stop_time=1.2, output_interval=0.01, output=names,
                          start_values={"throttle": 1.0, "init.speed": 11.0}, relative_tolerance=1e-6,
                          record_events=False)
        for kind in ("CoSimulation", "ModelExchange")
    )  # fmt: skip
    shifts = [made["time"][1:][np.diff(made["gearbox.gear"]) != 0] for made in (steps, exchange)]
    assert len(shifts[0]) == 1
    assert shifts[0] == pytest.approx(shifts[1], abs=1e-9)
    for name in ("speed", "engine.speed"):
        assert exchange[name][-1] == pytest.approx(steps[name][-1], rel=1e-5)
