"""More than two axles by pedals: energy, shares of the torque, locks, slippery ground, at rest on a slope."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from drives import SLOPE, Array, factory, position, run, unaccounted

import jounce
from jounce.data import DataError, load_vehicle
from jounce_fmu.importer.host import FmuInstance
from jounce_fmu.models import axles as axles_model
from jounce_tools.cli.main import main

EXAMPLES = Path(jounce.__file__).parent / "examples"
EIGHT = "truck8x8_pedals"
OPEN = {f"differential.axle_{k}.bias": 1.0 for k in range(1, 5)}
BETWEEN = {"centre.diff_lock": 1.0, "axle_2.interaxle_lock": 1.0, "axle_3.interaxle_lock": 1.0}
LOCKED = BETWEEN | {f"axle_{k}.diff_lock": 1.0 for k in range(1, 5)}


def in_the_air(vehicle: str) -> dict[str, float]:
    """Wheels in the air, no gravity, no dampers, no stops, springs as they stand."""
    off = {"gravity": 0.0, "tire_source": 2.0, "init.equilibrium": 0.0, "init.z": 100.0}
    off["chassis.contact.stiffness"] = 0.0
    for name, unit in ((s.name, s.signal.unit) for s in factory(vehicle).table.parameters):
        damps = unit == "N.s/m" and (".shock." in name or name.endswith(".damping"))
        if damps or name.endswith((".k3", "spring.preload", "end_stiffness")) or ".stop.force." in name:
            off[name] = 0.0
    o, made = run([(0.0, {})], 0.01, off, vehicle=vehicle), load_vehicle(vehicle)
    for axle, wheel in zip(made.axles, made.wheels[::2], strict=True):
        off[f"{axle.name}.spring.rest_length"] = float(o[f"wheel_{wheel}.spring_length"][0])
    return off


def axles(o: Mapping[str, Array], name: str, n: int = 4) -> Array:
    """Sum of a signal over both wheels of each axle, by columns."""
    return np.array([o[f"wheel_{k}L.{name}"] + o[f"wheel_{k}R.{name}"] for k in range(1, n + 1)]).T


def test_energy_from_fuel_to_eight_wheels_is_closed_to_a_millionth_through_shifts_and_locks() -> None:
    plan = [(0.0, {"throttle": 0.5}), (0.5, {"axle_3.interaxle_lock": 1.0, "throttle": 0.9}),
            (0.9, {"centre.diff_lock": 1.0, "axle_4.diff_lock": 1.0}),
            (1.8, {"throttle": 0.0, "axle_3.interaxle_lock": 0.0}), (2.1, {"gear_selector": 0.0})]  # fmt: skip
    own = in_the_air(EIGHT) | {"differential.interaxle_bias": 1.6, "differential.axle_2.share": 0.6,
                               "differential.axle_3.share": 0.35, "transfer.share": 0.4}  # fmt: skip
    o = run(plan, 2.5, own, vehicle=EIGHT)
    assert set(o["gearbox.gear"]) >= {0.0, 1.0, 2.0}
    assert o["energy.engine"].max() > 5e4
    assert unaccounted(o) < 1e-6 * o["energy.engine"].max()
    assert (np.diff(o["energy.losses"]) > -1e-3).all()


def test_open_differentials_share_the_torque_on_the_ground_and_locked_ones_turn_alike_in_a_bend() -> None:
    """0.4 to the front; axle 2 keeps 0.3 of that, axle 3 0.6 of the rest. Locked, shafts turn within their wind-up."""
    shares = {"transfer.share": 0.4, "differential.axle_2.share": 0.3, "differential.axle_3.share": 0.6}
    free = {f"differential.{of}_friction": 0.0 for of in ("axle", "centre", "interaxle")}
    plan = [(0.0, {"throttle": 0.3}), (2.0, {"steering_wheel_angle": 8.0}), (5.0, BETWEEN)]
    o = run(plan, 8.0, shares | free | OPEN, vehicle=EIGHT)
    torque, speed = (axles(o, name) for name in ("drive_torque_total", "omega"))
    open_ = 490
    assert o["gearbox.gear"][open_] == 1.0 and torque[open_].sum() > 500.0
    # the shafts' inertia takes some of it
    assert torque[open_] / torque[open_].sum() == pytest.approx([0.28, 0.12, 0.36, 0.24], abs=0.004)
    for k in (1, 2, 3, 4):
        left, right = (o[f"wheel_{k}{side}.drive_torque_total"][open_] for side in "LR")
        assert left == pytest.approx(right, rel=0.01)
    assert np.ptp(speed[open_]) > 0.15  # the front axles go round a wider bend
    assert np.ptp(speed[-1]) < 0.03 * np.ptp(speed[open_])
    lead = [o[f"wheel_{k}R.omega"][-1] - o[f"wheel_{k}L.omega"][-1] for k in (1, 2, 3, 4)]
    assert min(lead) > 0.1  # each axle's own differential is open


def slippery(wheels: str) -> dict[str, float]:
    """Ground of 0.1 under some wheels, of 0.8 under the others."""
    made = load_vehicle(EIGHT).wheels
    return {f"wheel_{w}.terrain_mu": 0.1 if w in wheels.split() else 0.8 for w in made}


def start(ground: dict[str, float], parameters: dict[str, float], inputs: dict[str, float]) -> dict[str, Array]:
    plan = [(0.0, {"throttle": 1.0, **inputs, **ground})]
    return run(plan, 3.0, {"terrain_source": 2.0, **parameters}, vehicle=EIGHT)


def test_on_ice_on_one_side_bias_and_locks_pull_away_and_both_sides_do_so_alike() -> None:
    left, right = "1L 2L 3L 4L", "1R 2R 3R 4R"
    found = {name: start(slippery(left), parameters, inputs) for name, parameters, inputs in (
        ("open", OPEN, {}), ("biased", {}, {}), ("locked", {}, LOCKED))}  # fmt: skip
    v = {name: o["speed"][-1] for name, o in found.items()}
    assert v["open"] < 0.65 * v["biased"] < 0.5 * v["locked"]
    # what the side on ice bears, the other gets
    bears = 0.1 * sum(found["open"][f"wheel_{w}.tire_force.z"][-1] for w in left.split())
    mass = sum(found["open"][f"wheel_{w}.tire_force.z"][0] for w in (*left.split(), *right.split())) / 9.81
    gained = np.diff([found["open"]["speed"][k] for k in (150, 300)])[0] / 1.5
    assert gained == pytest.approx(2 * bears / mass, rel=0.12)  # rolling resistance goes off, 0.1 m/s2
    other = start(slippery(right), {}, {})
    assert other["speed"][-1] == pytest.approx(v["biased"], rel=1e-3)
    for k in (1, 2, 3, 4):
        mirrored = other[f"wheel_{k}R.omega"][-1]
        assert found["biased"][f"wheel_{k}L.omega"][-1] == pytest.approx(mirrored, rel=2e-3)


def test_with_the_rear_pair_on_ice_the_centre_lock_pulls_away_and_with_one_of_them_the_inter_axle_lock() -> None:
    both, last = slippery("3L 3R 4L 4R"), slippery("4L 4R")
    v = {name: start(ground, OPEN, inputs)["speed"][-1] for name, ground, inputs in (
        ("both, open", both, {}), ("both, centre", both, {"centre.diff_lock": 1.0}),
        ("last, open", last, {}), ("last, inter-axle", last, {"axle_3.interaxle_lock": 1.0}),
        ("last, centre", last, {"centre.diff_lock": 1.0}))}  # fmt: skip
    assert v["both, open"] < 0.5 * v["both, centre"]
    assert v["last, open"] < 0.6 * v["last, inter-axle"]
    assert v["last, open"] < 0.6 * v["last, centre"]  # the front pair pulls


@pytest.mark.slow
def test_derived_numbers_and_time_stepping_agree_between_explicit_and_implicit_steps() -> None:
    plan = [(0.0, {"throttle": 0.7, "steering_wheel_angle": 0.5})]
    explicit, implicit = (run(plan, 1.5, {"integrator": kind}, vehicle=EIGHT) for kind in (1.0, 2.0))
    assert explicit["speed"][-1] > 1.5
    assert implicit["speed"][-1] == pytest.approx(explicit["speed"][-1], rel=2e-4)
    assert np.abs(position(explicit)[:, -1] - position(implicit)[:, -1]).max() < 2e-3


def six(folder: Path) -> Path:
    """A 6x6: the 8x8 without its third axle, driven from axle 1 in front and from 2 and 3 behind."""
    folder.mkdir(exist_ok=True)
    for file in ("wheel.toml", "steering.toml", "actuators.toml", "tire.toml"):
        shutil.copy(EXAMPLES / "truck8x8" / file, folder)
    for old, new in ((1, 1), (2, 2), (4, 3)):
        text = (EXAMPLES / "truck8x8" / f"axle_{old}.toml").read_text()
        (folder / f"axle_{new}.toml").write_text(text.replace(f"axle_{old}", f"axle_{new}"))
    lines = (EXAMPLES / "truck8x8" / "chassis.toml").read_text().splitlines()
    kept = [line.replace("outline.axle_4.", "outline.axle_3.") for line in lines if "outline.axle_3." not in line]
    (folder / "chassis.toml").write_text("\n".join(kept))
    for file in ("engine.toml", "brakes_and_steering.toml"):
        shutil.copy(EXAMPLES / "hmmwv_pedals" / file, folder)
    lines = (EXAMPLES / EIGHT / "driveline.toml").read_text().splitlines()
    kept = [line for line in lines if not line.startswith(("axle_4.", "axle_3.share"))]
    (folder / "driveline.toml").write_text("\n".join(kept))
    files = ", ".join(f'"{n}.toml"' for n in ("chassis", "axle_1", "axle_2", "axle_3", "wheel", "steering", "actuators",
                                              "tire"))  # fmt: skip
    powertrain = '"engine.toml", "driveline.toml", "brakes_and_steering.toml"'
    head = f'name = "six"\nfiles = [{files}]\npowertrain = [{powertrain}]\n'
    tables = "".join(f'[[axles]]\nname = "axle_{k}"\nsteered = "{gear}"\n' for k, gear in
                     ((1, "pitman"), (2, "none"), (3, "none")))  # fmt: skip
    (folder / "vehicle.toml").write_text(head + tables)
    return folder


def on_rigid_axles(folder: Path) -> Path:
    """The 6x6 with the off-roader's rigid rear axle in place of its axles 2 and 3, on stiffer springs."""
    rear = (EXAMPLES / "offroader" / "rear.toml").read_text().replace("[rear]", "[axle_2]")
    for entry, value in (("k1", 120000.0), ("preload", 9500.0)):
        rear = re.sub(rf"(?m)^(spring\.{entry} = {{ value = )[\d.]+", rf"\g<1>{value}", rear)
    for k in (2, 3):
        file = folder / f"axle_{k}.toml"
        place = re.search(r"(?m)^origin\.x = { value = ([-\d.]+)", file.read_text())
        assert place
        text = re.sub(r"(?m)^(origin\.x = { value = )[-\d.]+", rf"\g<1>{place.group(1)}", rear)
        file.write_text(text.replace("axle_2", f"axle_{k}"))
    file, rigid = folder / "vehicle.toml", 'kind = "solid_axle"\ndrive_reaction = "carrier"\nfinal_drive = 2.73\n'
    text = re.sub(r'(name = "axle_[23]"\n)', rf"\g<1>{rigid}", file.read_text())
    file.write_text(text)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("rigid", [False, True])
def test_a_6x6_of_ones_own_closes_its_energy_and_drives(tmp_path: Path, rigid: bool) -> None:
    """With inboard brakes on the axles that are no body of their own."""
    folder = six(tmp_path / "six")
    vehicle = str(on_rigid_axles(folder) if rigid else folder)
    plan = [(0.0, {"throttle": 0.5}), (0.6, {"axle_2.interaxle_lock": 1.0, "throttle": 0.9}), (1.5, {"throttle": 0.0})]
    o = run(plan, 2.0, in_the_air(vehicle), vehicle=vehicle)
    assert set(o["gearbox.gear"]) >= {1.0, 2.0}
    assert unaccounted(o) < 1e-6 * o["energy.engine"].max()
    free = {f"differential.{of}_friction": 0.0 for of in ("centre", "interaxle")}
    o = run([(0.0, {"throttle": 0.5})], 3.0, free | {"differential.axle_2.share": 0.4}, vehicle=vehicle)
    torque = axles(o, "drive_torque_total", 3)[-1]
    assert torque / torque.sum() == pytest.approx([0.5, 0.2, 0.3], abs=0.01)


HOLDS = {"P": {"gear_selector": -2.0, **LOCKED}, "brake": {"brake_pedal": 0.8}, "hand brake": {"gear_selector": 0.0,
         "hand_brake": 1.0}}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("shaken", [False, True])
@pytest.mark.parametrize("held", HOLDS)
def test_it_stands_on_a_slope_of_30_percent_for_a_minute(held: str, shaken: bool) -> None:
    """Pushed by 4 kN at 3 Hz along and 2 kN across, twice what the HMMWV is pushed with."""

    def shake(fmu: FmuInstance, t: float) -> None:
        if shaken and t > 5.0:
            along, across = 4e3 * np.sin(6 * np.pi * t), 2e3 * np.cos(6 * np.pi * t)
            fmu.set_values({"chassis.ext_force.x": float(along), "chassis.ext_force.y": float(across)})

    o = run([(0.0, HOLDS[held])], 65.0, SLOPE, vehicle=EIGHT, every_row=shake)
    where = position(o)[:, 700:]
    periods = where[:, : where.shape[1] // 100 * 100].reshape(3, -1, 100).mean(axis=2)  # of three shakes each
    assert np.abs(periods - periods[:, :1]).max() < 1e-3


@pytest.mark.slow
def test_a_tick_of_a_millisecond_is_as_good_as_a_quarter_of_it() -> None:
    plan = [(0.0, {"throttle": 0.6}), (3.0, {"steering_wheel_angle": 1.0})]
    o, fine = (run(plan, 6.0, {"tick": tick, "init.speed": 9.0}, vehicle=EIGHT) for tick in (1e-3, 2.5e-4))
    assert len(set(o["gearbox.gear"])) > 1
    assert np.abs(o["speed"] - fine["speed"]).max() < 1e-4
    assert np.abs(o["engine.speed"] - fine["engine.speed"]).max() < 1e-2


@pytest.mark.slow
def test_the_command_line_drives_it_by_the_name_without_pedals(tmp_path: Path) -> None:
    out = tmp_path / "truck.csv"
    assert main(["simulate", "--vehicle", "truck8x8", "--throttle", "0.6", "--duration", "1", "--outputs", "speed",
                 "--input", "axle_3.interaxle_lock=1", "-o", str(out)]) == 0  # fmt: skip
    assert float(out.read_text().splitlines()[-1].split(",")[-1]) > 0.5


def signals(vehicle: str | Path) -> dict[str, int]:
    """References of what differentials have."""
    table = axles_model.read(vehicle)
    names = {s.name: s.value_reference for s in table.scalars}
    of = ("_lock", "differential.", "through_")
    return {n: r for n, r in names.items() if any(part in n for part in of)}


def test_signals_go_by_the_place_of_an_axle_whatever_its_name_is(tmp_path: Path) -> None:
    folder = six(tmp_path / "six")
    own = signals(folder)
    assert {"axle_1.diff_lock", "axle_2.interaxle_lock", "differential.axle_3.ratio"} < own.keys()
    assert "axle_3.interaxle_lock" not in own
    whole = signals(EIGHT)
    assert own == {n: whole[n] for n in own}
    names = {"axle_1": "nose", "axle_2": "middle", "axle_3": "tail"}
    for file in folder.glob("*.toml"):
        text = file.read_text()
        for old, new in names.items() if file.name != "driveline.toml" else ():
            text = text.replace(old, new)
        file.unlink()
        (folder / f"{names.get(file.stem, file.stem)}.toml").write_text(text)
    assert signals(folder) == own


@pytest.mark.parametrize(("file", "old", "new", "message"), [
    ("driveline.toml", "axle_2.share", "axle_3.share", "lacks the entry 'differential.axle_2.share'; unknown is "
     "'differential.axle_3.share' in driveline.toml"),
    ("driveline.toml", "axle_3.ratio = { value = 2.73", "axle_3.ratio = { value = 0.0", "driveline.toml: "
     "differential.axle_3.ratio = 0.0: expected a number from 0.1"),
    ("driveline.toml", 'value = 0.03, unit = "kg.m2"', 'value = 0.03, unit = "kg"', "driveline.through_inertia is in "
     "kg; expected kg.m2"),
    ("vehicle.toml", 'name = "axle_3"\n', 'name = "axle_3"\ndriven_from = "front"\n', "axle axle_1: driven_from: all "
     "driven axles are driven from the front output"),
    ("vehicle.toml", 'name = "axle_3"\n', 'name = "axle_3"\ndriven_from = "middle"\n', "driven_from = 'middle': "
     "expected auto, front, rear"),
    ("vehicle.toml", 'name = "axle_3"\n', 'name = "axle_3"\ndriven = false\n', "lacks the entry "
     "'differential.front.ratio'"),
])  # fmt: skip
def test_data_that_do_not_fit_the_axles_are_refused_by_name(
    tmp_path: Path, file: str, old: str, new: str, message: str
) -> None:
    path = six(tmp_path / "six") / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(DataError, match=re.escape(message)):
        axles_model.read(path.parent)
