"""Data of powertrains: what is refused, where entries are from, and tires of a file beside it."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from drives import factory, run

from jounce.data import DataError, load_vehicle, vehicle_file
from jounce.models.double_wishbone.arrange import arranged
from jounce_fmu.importer.host import FmuError
from jounce_fmu.models import data_sets, find
from jounce_fmu.models.tires import on_tires

TIRE = Path(__file__).parents[1] / "data" / "tires" / "HMMWV_Pac02Tire.tir"


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"gearbox.down.3.4": 320.0}, r"up\.2\.4 = 335\.1032: expected above 557.*too near gearbox\.down\.3\.4 = 320"),
        ({"gearbox.hysteresis": 0.2}, r"up\.1\.0 = 157\.0796: expected above 164\.5"),
        ({"gearbox.ratio.2": 3.0}, "below that of the gear before"),
        ({"engine.full_load.speed.3": 10.0}, "do not fall along the map"),
    ],
)
def test_gears_that_would_hunt_and_maps_that_fall_back_are_refused(changed: dict[str, float], text: str) -> None:
    with factory().instance("x") as fmu, pytest.raises(FmuError, match=text):
        fmu.setup(changed)


def write(folder: Path, text: str) -> Path:
    folder.mkdir()
    (folder / "vehicle.toml").write_text(text)
    return folder


def entry(value: str, unit: str) -> str:
    """An entry as people write one, without bounds."""
    return f'{{ value = {value}, unit = "{unit}", source = "s", description = "d" }}'


#: Example, file, what is replaced in it (a pattern at the start of a line), by what, and the message.
FILES = [
    ("hmmwv_pedals", "engine.toml", "inertia = .*", "", r"lacks the entry 'engine\.inertia'.*are in engine\.toml"),
    ("hmmwv_pedals", "engine.toml", "inertia = .*", "inertia = " + entry("-1.1", "kg.m2"),
     r"engine\.toml: engine\.inertia = -1\.1: expected a number from 0\.01"),
    ("hmmwv_pedals", "engine.toml", "turbine_inertia = .*", "turbine_inertia = " + entry("0.0", "kg.m2"),
     r"engine\.toml: converter\.turbine_inertia = 0\.0: expected a number from 0\.01"),
    ("hmmwv_pedals", "engine.toml", "coefficient.1 = .*", "coefficient.1 = " + entry("0.5", "N.m.s2/rad2"),
     r"engine\.toml: converter\.coefficient\.1 = 0\.5: expected a number from 0\.000625 to 0\.0625"),
    ("hmmwv_pedals", "driveline.toml", "efficiency = .*",
     "efficiency = " + entry("1.2", "1").replace(" }", ", maximum = 2.0 }"),
     r"driveline\.toml: driveline\.efficiency = 1\.2: expected a number from 0\.1 to 1"),
    ("hmmwv_pedals", "engine.toml", "up.1 = .*", "up.1 = " + entry("[150.0, 200.0, 250.0]", "rad/s"),
     r"engine\.toml: gearbox\.up\.1 has 3 numbers; expected a list of 5"),
    ("hmmwv_pedals", "engine.toml", "up.1 = .*", "up.1 = " + entry("[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]", "rad/s"),
     r"engine\.toml: gearbox\.up\.1 has 6 numbers; expected a list of 5"),
    ("hmmwv_pedals", "engine.toml", "inertia = .*", "inertia = " + entry("[1.0, 2.0]", "kg.m2"),
     r"engine\.toml: engine\.inertia has 2 numbers; expected one"),
    ("hmmwv_pedals", "driveline.toml", "\\[hub\\]", "[motor]\nlag = " + entry("0.02", "s") + "\n[hub]",
     r"'motor\.lag' in driveline\.toml is of electric motors, and 'engine\..*' in engine\.toml of an engine"),
    ("hmmwv_pedals", "brakes_and_steering.toml", "mode = .*",
     "mode = " + entry('"ANGLE"', "1").replace(" }", ', items = ["TORQUE", "ANGLE"] }'),
     r"steering\.mode: items = TORQUE, ANGLE: expected ANGLE, TORQUE"),
]  # fmt: skip


@pytest.mark.parametrize(("example", "file", "was", "by", "text"), FILES)
def test_files_that_are_wrong_are_refused_with_file_entry_value_and_what_is_allowed(
    example: str, file: str, was: str, by: str, text: str, tmp_path: Path
) -> None:
    folder = tmp_path / "own"
    shutil.copytree(vehicle_file(example).parent, folder)
    changed, count = re.subn(f"^{was}$", lambda _: by, (folder / file).read_text(), count=1, flags=re.MULTILINE)
    assert count == 1
    (folder / file).write_text(changed)
    with pytest.raises(DataError, match=text):
        arranged(load_vehicle(folder))


def test_a_file_without_bounds_and_choices_has_those_of_the_example(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    shutil.copytree(vehicle_file("hmmwv_pedals").parent, folder)
    engine, brakes = folder / "engine.toml", folder / "brakes_and_steering.toml"
    engine.write_text(re.sub(r"(?m)^lag = .*$", "lag = " + entry("0.2", "s"), engine.read_text()))
    brakes.write_text(re.sub(r"(?m)^mode = .*$", "mode = " + entry("2", "1"), brakes.read_text()))
    found, wanted = (arranged(load_vehicle(v)).entries for v in (folder, "hmmwv_pedals"))
    assert (found["engine.lag"].minimum, found["engine.lag"].value) == (wanted["engine.lag"].minimum, 0.2)
    assert found["steering.mode"].items == ("ANGLE", "TORQUE")


@pytest.mark.slow
def test_on_tires_of_the_magic_formula_it_drives_as_on_its_own_but_for_the_tires() -> None:
    """Emitting and compiling takes a minute. Both hold the road at a third of their grip."""
    plan = [(0.0, {"throttle": 0.5}), (4.0, {"throttle": 0.0, "brake_pedal": 0.4})]
    own, magic = run(plan, 8.0), run(plan, 8.0, vehicle=str(on_tires("hmmwv_pedals", TIRE)))
    assert magic["speed"][400] == pytest.approx(own["speed"][400], rel=0.05)
    assert magic["gearbox.gear"][400] == own["gearbox.gear"][400]
    assert np.abs(magic["speed"][-20:]).max() < 0.05
    with factory(str(on_tires("hmmwv_pedals", TIRE))).instance("x") as fmu, pytest.raises(FmuError, match="hunt|again"):
        fmu.setup({"gearbox.down.2.4": 320.0})


def test_a_powertrain_without_its_entries_is_refused(tmp_path: Path) -> None:
    (tmp_path / "half").mkdir()
    lag = 'lag = {value = 0.1, unit = "s", source = "s", description = "d"}'
    (tmp_path / "half" / "p.toml").write_text(f"[engine]\n{lag}\n")
    (tmp_path / "half" / "vehicle.toml").write_text('base = "hmmwv"\npowertrain = "p.toml"\n')
    with pytest.raises(DataError, match=r"lacks the entry 'engine\.full_load"):
        arranged(load_vehicle(tmp_path / "half"))
    with pytest.raises(DataError, match=r"gone\.toml"):
        load_vehicle(write(tmp_path / "gone", 'base = "hmmwv"\npowertrain = "gone.toml"\n'))
    own = write(tmp_path / "own", 'base = "hmmwv_pedals"\n[overrides]\n"engine.inertia" = 2.0\n')
    assert load_vehicle(own)["engine.inertia"] == 2.0
    assert load_vehicle(own).powertrain


def test_vehicles_without_a_powertrain_have_none_of_it() -> None:
    assert "hmmwv_pedals" not in data_sets()  # made when it is asked for
    names = {s.name for s in find("hmmwv").read("hmmwv").scalars}
    assert not {n for n in names if n.startswith(("engine.", "gearbox.", "throttle"))}


def test_every_entry_of_the_powertrain_says_where_it_is_from() -> None:
    for vehicle in ("hmmwv_pedals", "hmmwv_chrono_pedals"):
        data = load_vehicle(vehicle)
        assert len(data.powertrain) > 150
        assert all(data.entries[n].source and data.entries[n].description for n in data.powertrain)
