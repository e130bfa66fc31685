"""Powertrains on rigid axles, which carry their differential: energy, reaction of the drive, what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from drives import Array, factory, powertrain_of, run

from jounce.axles import AXLES, WHEELS
from jounce.data import DataError, load_vehicle
from jounce.models.double_wishbone.arrange import arranged
from jounce_fmu.importer.host import FmuError

#: Base -> its final drive.
RIGID = {"pickup": 4.1, "offroader": 3.73}


def by_pedals(folder: Path, base: str, ratio: float) -> Path:
    """A vehicle on that base with the powertrain of the HMMWV, without geared hubs."""
    folder.mkdir(exist_ok=True)
    ratios = "".join(f"differential.{end}.ratio = {ratio}\n" for end in AXLES)
    own = f"[overrides]\nhub.ratio = 1.0\nhub.sense = 1.0\n{ratios}"
    text = f'base = "{base}"\n{powertrain_of("hmmwv_pedals")}{own}'
    (folder / "vehicle.toml").write_text(text)
    return folder


@pytest.fixture(scope="module", params=RIGID)
def rigid(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(by_pedals(tmp_path_factory.mktemp("by") / f"{request.param}_by", request.param, RIGID[request.param]))


def in_the_air(vehicle: str) -> dict[str, float]:
    """Wheels in the air, no gravity, no dampers, no stops, springs as they stand."""
    off = {"gravity": 0.0, "tire_source": 2.0, "init.equilibrium": 0.0, "init.z": 100.0}
    off["chassis.contact.stiffness"] = 0.0
    names = {s.name: s.signal.unit for s in factory(vehicle).table.parameters}
    for name, unit in names.items():
        damps = unit == "N.s/m" and (".shock." in name or name.endswith(".damping"))
        if damps or name.endswith((".k3", "spring.preload", "end_stiffness")) or ".stop.force." in name:
            off[name] = 0.0
    o = run([(0.0, {})], 0.01, off, vehicle=vehicle)
    for axle, wheel in zip(AXLES, WHEELS[::2], strict=True):
        off[f"{axle}.spring.rest_length"] = float(o[f"wheel_{wheel}.spring_length"][0])
    return off


def unaccounted(o: dict[str, Array]) -> float:
    parts = [o[f"energy.{name}"] for name in ("kinetic", "potential", "driveline", "losses")]
    whole = sum(parts[1:], parts[0]) - o["energy.engine"]
    return float(np.abs(whole - whole[0]).max() / o["energy.engine"].max())


@pytest.mark.slow
def test_energy_from_fuel_to_wheels_is_closed_on_axles_that_turn_with_the_drive(rigid: str) -> None:
    plan = [(0.0, {"throttle": 0.5}), (0.6, {"front.diff_lock": 1.0, "throttle": 0.9}), (1.5, {"throttle": 0.0}),
            (2.0, {"gear_selector": 0.0, "front.diff_lock": 0.0})]  # fmt: skip
    o = run(plan, 2.5, in_the_air(rigid), vehicle=rigid)
    assert set(o["gearbox.gear"]) >= {0.0, 1.0, 2.0}
    assert np.abs(o["ref_frame.roll"]).max() > 1e-3  # the propeller shaft has turned body and axle
    assert unaccounted(o) < 1e-7


@pytest.mark.slow
def test_the_propeller_shaft_loads_the_left_wheel_of_a_driven_axle(rigid: str) -> None:
    """It turns the axle about -x by the gearbox's torque, and the body back; a part goes back by springs and links.

    The sum over the axles is none: where both do it alike, each is as it was.
    """
    o = run([(0.0, {"brake_pedal": 0.3}), (1.0, {"brake_pedal": 0.0, "throttle": 0.5})], 2.5, vehicle=rigid)
    front, rear = (o[f"wheel_{end}L.tire_force.z"] - o[f"wheel_{end}R.tire_force.z"] for end in "FR")
    front, rear = (0.75 * (more[-1] - more[0]) / o["gearbox.torque"][-1] for more in (front, rear))
    assert o["speed"][-1] > 1.5
    assert front + rear == pytest.approx(0.0, abs=0.2)  # it turns a little
    assert (0.1 < rear < 1.1) if "pickup" in rigid else abs(rear) < 0.1


@pytest.mark.slow
def test_rigid_axles_are_steered_by_torque_and_held_in_park_on_a_slope(rigid: str) -> None:
    by_torque = {"steering.mode": 2.0}
    o = run([(0.0, {"throttle": 0.4, "steering_wheel_torque": 4.0})], 3.0, by_torque, vehicle=rigid)
    assert o["steering.wheel_angle"][-1] > 0.5
    assert o["ref_frame.yaw"][-1] > 0.02
    held = run([(0.0, {"gear_selector": -2.0})], 8.0, by_torque | {"terrain.slope": 0.2}, vehicle=rigid)
    assert np.abs(held["ref_frame.pos.x"][500:] - held["ref_frame.pos.x"][500]).max() < 1e-4


@pytest.mark.slow
def test_a_differentials_ratio_that_is_not_its_axles_final_drive_is_refused_at_run_time(rigid: str) -> None:
    driven = {"pickup": "rear", "offroader": "front"}[Path(rigid).name.removesuffix("_by")]
    wanted = rf"differential\.front\.ratio = 3\.1: expected {RIGID[Path(rigid).name.removesuffix('_by')]}, "
    with factory(rigid).instance("x") as fmu, pytest.raises(FmuError, match=wanted + f".*axle {driven}"):
        fmu.setup({"differential.front.ratio": 3.1})


def test_a_final_drive_that_is_not_the_differentials_is_refused(tmp_path: Path) -> None:
    wanted = re.escape("axle rear has final_drive = 4.1; expected 3.9, as differential.front.ratio")
    with pytest.raises(DataError, match=wanted):
        arranged(load_vehicle(by_pedals(tmp_path / "odd", "pickup", 3.9)))


def test_the_data_of_two_driven_axles_are_refused_where_there_are_four(tmp_path: Path) -> None:
    (tmp_path / "vehicle.toml").write_text(f'base = "truck8x8"\n{powertrain_of("hmmwv_pedals")}')
    wanted = r"lacks the entry 'differential\.axle_1\.ratio' \(and \d+ more\); unknown is 'differential\."
    with pytest.raises(DataError, match=wanted):
        arranged(load_vehicle(tmp_path))
