"""The FMU of the HMMWV by pedals in an importer of others, with its time events in model exchange."""

from __future__ import annotations

import ctypes as ct
from pathlib import Path

import fmpy
import numpy as np
import pytest
from fmpy.validation import validate_fmu
from raw3 import ERROR, OK, Raw3

from jounce.terrain.packed import Terrain, save
from jounce_fmu.build.builtin import export_builtin
from jounce_fmu.importer.host import open_builtin


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


@pytest.mark.parametrize("fmi", [pytest.param(2, marks=pytest.mark.slow), 3])
def test_electric_motors_go_into_drive_at_the_same_time_in_co_simulation_and_model_exchange(
    tmp_path: Path, fmi: int
) -> None:
    """From N: the accelerator acts from the selector's next decision on, which is a time event."""
    path = export_builtin(tmp_path / "electric.fmu", "hmmwv_electric", fmi=fmi)
    assert not validate_fmu(str(path))
    names = ["speed", "gearbox.gear", "motor.front.torque", "energy.battery"]
    selector = np.array([(0.0, 0.0), (0.3, 0.0), (0.3, 1.0), (1.0, 1.0)],
                        dtype=[("time", float), ("gear_selector", float)])  # fmt: skip
    steps, exchange = (
        fmpy.simulate_fmu(str(path), fmi_type=kind, stop_time=1.0, output_interval=0.01, output=names, input=selector,
                          start_values={"throttle": 0.6}, relative_tolerance=1e-6, record_events=False)
        for kind in ("CoSimulation", "ModelExchange")
    )  # fmt: skip
    begins = [made["time"][1:][np.diff(made["gearbox.gear"]) != 0] for made in (steps, exchange)]
    assert len(begins[0]) == 1
    assert begins[0] == pytest.approx(begins[1], abs=0.011)
    assert steps["speed"][-1] > 2.0
    for name in names:
        assert exchange[name][-1] == pytest.approx(steps[name][-1], rel=0.03)


def test_a_step_over_shifts_returns_early_where_the_ground_ends_with_the_bits_of_single_ticks(tmp_path: Path) -> None:
    """FMI 3 with early return: 3 s at full throttle through a shift, and 30 m of ground whose end is a fault."""
    save(Terrain("HEIGHTMAP", np.zeros((41, 41)), 1.0, 1.0, (-10.0, -20.0), edge="FAULT"), tmp_path / "terrain.jnt")
    made = open_builtin("hmmwv_pedals")
    table, names = made.table, [s.name for s in made.table.outputs]
    outputs = [table.by_name(s.name + s.components[0]).value_reference for s in table.signals if s.causality == "output"
               and s.type == "Real"]  # fmt: skip

    def new() -> Raw3:
        raw = Raw3(str(made.library), made.interface.guid, early=True, resources=str(tmp_path).encode())
        for kind, start in (("Float64", {"init.speed": 11.6, "throttle": 1.0}), ("Int64", {"terrain_source": 3})):
            for name, value in start.items():
                array = ((ct.c_double if kind == "Float64" else ct.c_int64) * 1)(value)  # type: ignore[operator]
                assert raw.values("Set", kind, [table.by_name(name).value_reference], array) == OK, raw.log
        raw.ready()
        return raw

    def read(raw: Raw3) -> np.ndarray:
        values = (ct.c_double * len(names))()
        assert raw.values("Get", "Float64", outputs, values) == OK
        return np.array(values)

    long, single, gears = new(), new(), set()
    status, _, _, early, last = long.full_step(0.0, 3.0)
    assert (status, early) == (OK, True) and 1.0 < last < 3.0
    for tick in range(round(1e3 * last)):
        assert single.step(1e-3 * tick, 1e-3) == OK
        gears.add(read(single)[names.index("gearbox.gear")])
    assert len(gears) == 2
    assert read(long).tobytes() == read(single).tobytes()
    for raw in (long, single):
        assert raw.step(last, 1e-3) == ERROR
        assert "has left the terrain" in raw.log[-1]
        raw.free()
