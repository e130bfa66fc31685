"""The Python partners as FMUs: description, what they compute, their state, what they refuse."""

from __future__ import annotations

import math
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from fmpy import read_model_description
from fmpy.fmi1 import FMICallException
from fmpy.validation import validate_fmu

from jounce.axles import WHEELS
from jounce.contact.soil import SOILS, SoilContact, WheelMotion
from jounce.course import DoubleLaneChange
from jounce.data import load_vehicle
from jounce.driver import GIVES, Autopilot, Sight
from jounce.models.double_wishbone.signals import table
from jounce_fmu.build.library import BuildError
from jounce_fmu.partners import PARTNERS, export_partner
from jounce_tools.cli.main import main

sys.path.insert(0, str(Path(__file__).parent))
from slave import Slave, opened

VEHICLE = table(load_vehicle("hmmwv"))


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("partners")
    return {name: export_partner(folder / f"{name}.fmu", name) for name in PARTNERS}


def seen_by_driver(k: int) -> dict[str, float]:
    """Vehicle outputs at tick k of 1 ms: a vehicle that drifts off the path."""
    t = 0.001 * k
    x, y, yaw = 12.0 * t, 0.3 * math.sin(t), 0.02 * math.cos(2.0 * t)
    return {"wheel_FL.pos.x": x, "wheel_FR.pos.x": x + 0.25, "wheel_FL.pos.y": y + 0.9, "wheel_FR.pos.y": y - 0.9,
            "ref_frame.yaw": yaw, "ref_frame.ang_vel.z": 0.1 * t, "speed": 11.5 + 0.2 * t}


def seen_by_terrain(k: int) -> dict[str, float]:
    """Wheels that roll, steer and bounce, left front one faster than the ground passes."""
    t, values = 0.001 * k, {}
    for i, w in enumerate(WHEELS):
        yaw = 0.05 * math.sin(3.0 * t + i)
        values |= {f"wheel_{w}.pos.x": 5.0 * t, f"wheel_{w}.pos.y": 1.0 - i % 2 * 2.0,
                   f"wheel_{w}.pos.z": 0.45 + 0.005 * math.sin(20.0 * t + i), f"wheel_{w}.lin_vel.x": 5.0,
                   f"wheel_{w}.lin_vel.y": 0.2 * i, f"wheel_{w}.lin_vel.z": 0.1 * math.cos(20.0 * t + i),
                   f"wheel_{w}.rot.e0": math.cos(0.5 * yaw), f"wheel_{w}.rot.e3": math.sin(0.5 * yaw),
                   f"wheel_{w}.omega": 5.0 / 0.47 * (1.2 if i == 0 else 1.0)}
    return values


SEEN = {"driver": seen_by_driver, "terrain": seen_by_terrain}


@pytest.mark.parametrize("name", PARTNERS)
def test_a_partner_validates_and_its_description_is_complete(name: str, archives: dict[str, Path]) -> None:
    assert validate_fmu(str(archives[name])) == []
    description = read_model_description(str(archives[name]))
    bases = {u.name for u in description.unitDefinitions if u.baseUnit is not None}
    assert all(v.unit in bases for v in description.modelVariables if v.type == "Real")
    assert all(v.start is not None for v in description.modelVariables if v.causality in ("input", "parameter"))
    outputs = [v.name for v in description.modelVariables if v.causality == "output"]
    assert outputs and [u.variable.name for u in description.outputs] == outputs
    assert [u.variable.name for u in description.initialUnknowns] == outputs
    assert {v.variability for v in description.modelVariables if v.causality == "parameter"} == {"fixed"}


def test_the_same_export_gives_the_same_bytes_and_other_starts_another_module(tmp_path: Path) -> None:
    one, two = (export_partner(tmp_path / f, "terrain").read_bytes() for f in ("1.fmu", "2.fmu"))
    assert one == two
    sand = export_partner(tmp_path / "sand.fmu", "terrain", starts={"soil": "dry_sand"})
    with opened(sand, tmp_path / "s") as other:
        assert other.fmu.getInteger([other.variables["soil"].valueReference]) == [sorted(SOILS).index("dry_sand") + 1]


@pytest.mark.parametrize("name", ["driver", "terrain"])
def test_every_connection_to_the_vehicle_is_by_name_with_the_same_unit(
        name: str, archives: dict[str, Path]) -> None:
    variables = read_model_description(str(archives[name])).modelVariables
    theirs = {s.name: s.signal.unit for s in VEHICLE.outputs}
    assert all(theirs[v.name] == v.unit for v in variables if v.causality == "input")
    taken = {s.name: s.signal.unit for s in VEHICLE.inputs}
    given = {v.name: v.unit for v in variables if v.causality == "output" and v.name in taken}
    assert all(taken[n] == unit for n, unit in given.items())
    assert len(given) == {"driver": 10, "terrain": 36}[name]


def test_the_driver_commands_at_50_hz_what_the_autopilot_does_to_the_last_bit(
        archives: dict[str, Path], tmp_path: Path) -> None:
    course = DoubleLaneChange()
    pilot = Autopilot(course, 12.0)
    with opened(archives["driver"], tmp_path / "d") as slave:
        for k in range(60):
            seen = seen_by_driver(k)
            if k % 20 == 0:
                x, y = (0.5 * (seen[f"wheel_FL.pos.{a}"] + seen[f"wheel_FR.pos.{a}"]) for a in "xy")
                sight = Sight(x, y, seen["ref_frame.yaw"], seen["ref_frame.ang_vel.z"], seen["speed"])
                expected = [*pilot.command(sight).tolist(), course.lateral_error(x, y)]
            slave.set(seen)
            slave.fmu.doStep(0.001 * k, 0.001)
            assert slave.get([*GIVES, "driver.lateral_error"]) == expected
    assert abs(expected[0]) > 1e-3


def test_the_terrain_gives_the_wrenches_of_the_soil_to_the_last_bit(
        archives: dict[str, Path], tmp_path: Path) -> None:
    contact = SoilContact(SOILS["sandy_loam"])
    with opened(archives["terrain"], tmp_path / "t") as slave:
        for k in range(40):
            seen = seen_by_terrain(k)

            def rows(what: str, seen: dict[str, float] = seen) -> np.ndarray:
                return np.array([[seen.get(f"wheel_{w}.{what}.{a}", 0.0) for a in "xyz"] for w in WHEELS])

            half = np.array([math.atan2(seen[f"wheel_{w}.rot.e3"], seen[f"wheel_{w}.rot.e0"]) for w in WHEELS])
            axis = np.column_stack([-np.sin(2.0 * half), np.cos(2.0 * half), np.zeros(4)])
            omega = np.array([seen[f"wheel_{w}.omega"] for w in WHEELS])
            wrench = contact.advance(WheelMotion(rows("pos"), rows("lin_vel"), axis, omega), 0.001)
            slave.set(seen)
            slave.fmu.doStep(0.001 * k, 0.001)
        forces = np.array(slave.get([f"wheel_{w}.force.{a}" for w in WHEELS for a in "xyz"])).reshape(4, 3)
        # The axis here comes from the angle, there from the quaternion: equal but for its last bits.
        np.testing.assert_allclose(forces, wrench.force, rtol=1e-9)
        assert slave.get([f"wheel_{w}.sinkage" for w in WHEELS]) == pytest.approx(wrench.sinkage, rel=1e-12)
        assert forces[:, 2].min() > 1000.0 and forces[0, 0] > forces[1, 0]


def test_wheels_that_nobody_has_connected_get_no_force(archives: dict[str, Path], tmp_path: Path) -> None:
    with opened(archives["terrain"], tmp_path / "t") as slave:
        slave.set(dict.fromkeys(slave.reals("input"), 0.0))
        slave.fmu.doStep(0.0, 0.001)
        assert not any(slave.get(slave.reals("output")))


_GO_ON = """
import sys
import zipfile
from pathlib import Path
sys.path[:0] = sys.argv[4:]
from slave import Slave
from test_partners import SEEN
name, archive, folder = sys.argv[1:4]
slave = Slave(Path(archive), Path(folder) / "other")
slave.restore((Path(folder) / "state").read_bytes())
for k in range(30, 90):
    slave.set(SEEN[name](k))
    slave.fmu.doStep(0.001 * k, 0.001)
    print(*map(float.hex, slave.get(slave.reals("output"))))
"""


@pytest.mark.parametrize("name", ["driver", "terrain"])
def test_a_state_goes_on_in_another_process_bit_for_bit(
        name: str, archives: dict[str, Path], tmp_path: Path) -> None:
    rows = []
    values = {"driver.target_speed": 13.0} if name == "driver" else {"soil.height": 0.01}
    with opened(archives[name], tmp_path / "one", values=values) as slave:
        for k in range(90):
            if k == 30:
                (tmp_path / "state").write_bytes(slave.save())
            slave.set(SEEN[name](k))
            slave.fmu.doStep(0.001 * k, 0.001)
            rows.append(slave.get(slave.reals("output")))
        again = []
        slave.restore((tmp_path / "state").read_bytes())
        for k in range(30, 90):
            slave.set(SEEN[name](k))
            slave.fmu.doStep(0.001 * k, 0.001)
            again.append(slave.get(slave.reals("output")))
    assert again == rows[30:]
    assert len({tuple(r) for r in rows[30:]}) >= (3 if name == "driver" else 60)
    paths = [str(Path(__file__).parent), *sys.path]
    done = subprocess.run([sys.executable, "-c", _GO_ON, name, archives[name], tmp_path, *paths],
                          capture_output=True, text=True, timeout=120, check=True)
    assert [[float.fromhex(v) for v in line.split()] for line in done.stdout.splitlines()] == rows[30:]


def refused(slave: Slave, call: object, *arguments: object) -> str:
    """The reason in the log of a call that must fail."""
    del slave.log[:]
    with pytest.raises(FMICallException):
        call(*arguments)  # type: ignore[operator]
    return "\n".join(slave.log)


def test_refused_calls_name_the_cause_and_leave_the_instance_as_it_was(
        archives: dict[str, Path], tmp_path: Path) -> None:
    with opened(archives["terrain"], tmp_path / "t") as slave:
        slave.set(seen_by_terrain(0))
        slave.fmu.doStep(0.0, 0.001)
        before, state = slave.get(slave.reals("output")), slave.save()
        for _ in range(50):  # pythonfmu would crash at the second
            assert "wheel_FL.pos.x = nan" in refused(slave, slave.set, {"wheel_FL.pos.x": math.nan})
        assert "inf" in refused(slave, slave.set, {"wheel_RR.omega": math.inf})
        assert "cannot change any more" in refused(slave, slave.set, {"soil.height": 0.3})
        assert "is an output" in refused(slave, slave.set, {"wheel_FL.force.x": 0.0})
        assert "reference 7" in refused(slave, slave.fmu.setReal, [7], [0.0])
        assert "reference 7" in refused(slave, slave.fmu.getReal, [7])
        assert "reference 100000" in refused(slave, slave.fmu.getReal, [100000])
        for h in (-0.001, math.nan, math.inf, 0.011):
            assert "step" in refused(slave, slave.fmu.doStep, 0.001, h)
        for h in (0.0, 1.03e-13, -1e-13):  # what is left of a summed time
            slave.fmu.doStep(0.001, h)
        half = len(state) // 2
        for bad, word in ((state[:40], "header"), (state[:-1], "checksum"), (b"x" * len(state), "not of this FMU"),
                          (state[:half] + bytes([state[half] ^ 1]) + state[half + 1:], "checksum")):
            assert word in refused(slave, slave.restore, bad)
        assert slave.save() == state and slave.get(slave.reals("output")) == before
        slave.fmu.doStep(0.001, 0.001)
        slave.fmu.terminate()


def test_a_state_of_one_partner_is_refused_by_another(archives: dict[str, Path], tmp_path: Path) -> None:
    with opened(archives["terrain"], tmp_path / "t") as terrain, opened(archives["driver"], tmp_path / "d") as driver:
        assert "not of this FMU" in refused(driver, driver.restore, terrain.save())


def test_a_step_longer_than_the_drivers_period_is_refused(archives: dict[str, Path], tmp_path: Path) -> None:
    with opened(archives["driver"], tmp_path / "d") as driver:
        assert "0.02" in refused(driver, driver.fmu.doStep, 0.0, 0.03)
        driver.fmu.doStep(0.0, 0.02)


def test_a_partner_of_another_interface_says_so(archives: dict[str, Path], tmp_path: Path) -> None:
    old = tmp_path / "old.fmu"
    with zipfile.ZipFile(archives["driver"]) as good, zipfile.ZipFile(old, "w") as bad:
        for name in good.namelist():
            data = good.read(name)
            if name.endswith("slavemodule.txt"):
                data = b"jounce_driver_old"
            if name.startswith("resources/jounce_driver_"):
                name, data = "resources/jounce_driver_old.py", data.replace(b"'{", b"'{old-")
            bad.writestr(name, data)
    log: list[str] = []
    with pytest.raises(Exception, match="instantiate"):
        Slave(old, tmp_path / "d", log=log)
    assert "export the FMU again" in log[-1]


@pytest.mark.parametrize(("starts", "word"), [
    ({"soil": "snow"}, "clayey_soil, dry_sand"), ({"soil.height": math.nan}, "finite"), ({"soil.hight": 0.0}, "height"),
    ({"wheel_FL.load": 0.0}, "output"), ({"soil.wheel_radius": 0.0}, "0.05"),
])
def test_starts_that_cannot_be_are_refused_with_what_is_allowed(
        starts: dict[str, float | str], word: str, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=word):
        export_partner(tmp_path / "x.fmu", "terrain", starts=starts)
    assert not (tmp_path / "x.fmu").exists()


def test_the_command_exports_a_partner(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "d.fmu"
    assert main(["export", "--partner=driver", "--set=driver.target_speed=9.5", str(out)]) == 0
    assert str(out) in capsys.readouterr().out
    speed = next(v for v in read_model_description(str(out)).modelVariables if v.name == "driver.target_speed")
    assert float(speed.start) == 9.5
    assert main(["export", "--partner=driver", "--fmi=3", str(out)]) == 2
    assert main(["export", "--partner=driver", "--set=driver.target_speed", str(out)]) == 2
