"""Directional derivatives of the HMMWV by pedals as importers read them, and its state in another process."""

from __future__ import annotations

import ctypes as ct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from raw import OK
from sensitivity import Array, Vehicle, differences, same_in_fmi_3

from jounce_fmu.importer.host import Factory, open_builtin

#: Inputs of a vehicle that pulls away in a bend, one wheel braked by a controller.
INPUTS = {"throttle": 0.6, "steering_wheel_angle": 0.6, "wheel_RL.brake_pressure": 2e5, "front.diff_lock": 0.1}
#: Inputs by which derivatives are taken, and the step of their quotients. A brake that slides has two slopes.
BY = {"throttle": 1e-4, "brake_pedal": 1e-5, "steering_wheel_angle": 1e-4, "steering_wheel_rate": 1e-3,
      "wheel_FR.drive_torque": 1.0, "chassis.ext_force.x": 10.0}  # fmt: skip


@pytest.fixture(scope="module", params=["hmmwv_pedals", "hmmwv_electric",
                                        pytest.param("truck8x8_pedals", marks=pytest.mark.slow)])  # fmt: skip
def vehicle(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def factory(vehicle: str) -> Factory:
    return open_builtin(vehicle)


def of(factory: Factory, name: str) -> str:
    """The name where wheels and axles have numbers: the third axle stands for the rear one."""
    if "wheel_1L.omega" not in {s.name for s in factory.table.outputs}:
        return name
    for two, many in (("wheel_RL", "wheel_3L"), ("wheel_FR", "wheel_1R"), ("front.diff_lock", "axle_2.interaxle_lock")):
        name = name.replace(two, many)
    return name


def driving(factory: Factory, *, exchange: bool) -> tuple[Vehicle, Array]:
    """In co-simulation after 0.9 s of acceleration, in model exchange at the start; the inputs."""
    inputs = {of(factory, name): value for name, value in INPUTS.items()}
    u = np.array([inputs.get(s.name, s.start) for s in factory.table.inputs])
    made = Vehicle(str(factory.library), factory.interface.guid, factory.table, 0 if exchange else 1, init__speed=6.0)
    made.put(made.read(made.states) if exchange else np.zeros(0), u)
    if not exchange:
        assert made.call("DoStep", ct.c_double(0.0), ct.c_double(0.9), 1) == OK
    return made, u


def test_after_a_step_of_co_simulation_they_are_those_of_difference_quotients(factory: Factory) -> None:
    made, u = driving(factory, exchange=False)
    table = factory.table
    columns = [table.by_name(of(factory, name)).index for name in BY]
    step = np.array(list(BY.values()))

    def values(changed: Array) -> Array:
        whole = u.copy()
        whole[columns] += changed
        return made.at(np.zeros(0), whole)

    quotient, unsure = differences(values, np.zeros(len(step)), step)
    made.put(np.zeros(0), u)
    unknown = [*made.rates, *made.outputs]
    exact = np.array([made.directional(unknown, [made.inputs[k]], np.ones(1)) for k in columns]).T
    keep = [i for i, r in enumerate(unknown) if r != table.by_name("closure_residual").value_reference]
    quotient, unsure, exact = quotient[keep], unsure[keep], exact[keep]
    noise = 4e-15 * (np.abs(values(np.zeros(len(step))))[keep, None] + 1e4) / step
    smooth = unsure <= 1e-6 * np.abs(quotient) + noise
    assert smooth.mean() > 0.98
    assert (np.abs(exact - quotient) <= 1e-6 * np.abs(quotient) + noise + unsure)[smooth].all()
    assert (np.abs(exact).max(axis=0) > 1e-9).all()  # each input acts
    made.free()


@pytest.mark.parametrize("exchange", [True, False], ids=["model exchange", "co-simulation"])
def test_fmi_3_gives_those_of_fmi_2(factory: Factory, exchange: bool) -> None:
    two, u = driving(factory, exchange=exchange)
    parts = tuple(f"state.{part}" for part in ("engine", "motor", "gearbox", "converter", "differential"))
    named = zip(two.states, factory.table.states, strict=True)
    of_driveline = [reference for reference, s in named if s.name.startswith(parts)]
    same_in_fmi_3(factory, two, u, 6.0, seconds=0.9, by=of_driveline)
    two.free()


def test_amid_a_shift_another_process_goes_on_bit_for_bit(factory: Factory, vehicle: str, tmp_path: Path) -> None:
    gear = factory.table.by_name("gearbox.gear").index
    with factory.instance("here") as here:
        here.setup({"throttle": 1.0, "init.speed": 11.6})
        for _ in range(1000):  # motors do not shift
            if here.get_outputs()[gear] != 1.0:
                break
            here.step(1)
        here.step(40)  # the clutch closes
        (tmp_path / "blob").write_bytes(here.get_state())
        here.step(500)
        wanted = here.get_outputs().tobytes()
    script = (
        "import sys; from pathlib import Path; from jounce_fmu.importer.host import open_builtin\n"
        "folder = Path(sys.argv[1])\n"
        "with open_builtin(sys.argv[2]).instance('there') as there:\n"
        "    there.set_state((folder / 'blob').read_bytes()); there.step(500)\n"
        "    (folder / 'outputs').write_bytes(there.get_outputs().tobytes())\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path), vehicle], check=True)
    assert (tmp_path / "outputs").read_bytes() == wanted
