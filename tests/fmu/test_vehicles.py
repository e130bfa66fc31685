"""Other vehicles than the HMMWV: the light one that ships, one's own TOML file, and data that cannot be."""

from __future__ import annotations

import logging
import zipfile
from pathlib import Path

import fmpy
import numpy as np
import pytest

from jounce.axles import WHEELS
from jounce.data import load_vehicle
from jounce_fmu.build.builtin import export_builtin
from jounce_fmu.description.fmi2 import interface_guid
from jounce_fmu.description.units import exponents
from jounce_fmu.importer.host import Factory, FmuError, open_builtin, open_fmu
from jounce_tools.cli.main import main

SIZE = 0.64  # of the utv beside the hmmwv


def factor(unit: str) -> float:
    """Froude's similarity at equal density and gravity: lengths by SIZE, masses by its cube, times by its root."""
    powers = dict(exponents(unit))
    return float(SIZE ** (3 * powers.get("kg", 0) + powers.get("m", 0) + 0.5 * powers.get("s", 0)))


def drive(factory: Factory, alike: bool) -> np.ndarray:
    """Outputs over a slalom with drive and brake; `alike` scales what goes in. Shape (31, outputs)."""

    def by(unit: str) -> float:
        return factor(unit) if alike else 1.0

    with factory.instance("car") as car:
        car.setup({"tick": 0.001 * by("s"), "init.speed": 10.0 * by("m/s")})
        rows = [car.get_outputs()]
        for k in range(30):
            car.set_values({"steering_wheel_angle": 2.0 * np.sin(k / 5), "wheel_RL.drive_torque": 400.0 * by("N.m"),
                            "wheel_FR.brake_torque": 300.0 * by("N.m") if k > 20 else 0.0})  # fmt: skip
            car.step(100)
            rows.append(car.get_outputs())
    return np.array(rows)


def test_the_light_vehicle_moves_like_the_hmmwv_at_its_scale() -> None:
    big, small = open_builtin(), open_builtin("utv")
    scale = np.array([factor(s.signal.unit) for s in big.table.outputs])
    expected, found = drive(big, False) * scale, drive(small, True)
    size = np.maximum(np.max(np.abs(expected), axis=0), [0.01 * s.signal.nominal for s in big.table.outputs])
    error = dict(zip((s.name for s in big.table.outputs), np.max(np.abs(found - expected) / size, axis=0), strict=True))
    assert error.pop("closure_residual") >= 0.0  # rounding alone
    assert max(error.values()) < 1e-3, max(error, key=lambda name: error[name])  # its data have six digits
    assert found[-1, 0] > 15.0 and np.ptp(found[:, 1]) > 0.5  # it drove and turned


def test_the_light_vehicle_settles_on_its_weight_stays_turns_left_and_stops() -> None:
    vehicle, factory = load_vehicle("utv"), open_builtin("utv")
    masses = {n: e.value for n, e in vehicle.entries.items() if n.endswith("mass")}
    total = sum(m * (2 if n.startswith(("front.", "rear.")) else 4 if n.startswith("wheel.") else 1)
                for n, m in masses.items())  # fmt: skip
    assert 500.0 < total < 0.3 * 2700.0
    names = [s.name for s in factory.table.outputs]
    loads = [names.index(f"wheel_{w}.tire_force.z") for w in WHEELS]
    with factory.instance("car") as car:
        car.setup()
        before = car.get_outputs()
        assert before[loads].sum() == pytest.approx(9.81 * total, rel=1e-6)
        car.step(2000)
        after = car.get_outputs()
        assert np.allclose(after[:3], before[:3], atol=1e-4) and abs(after[names.index("speed")]) < 1e-3
    with factory.instance("car") as car:
        car.setup({"init.speed": 8.0}, {"steering_wheel_angle": 3.0})
        car.step(1000)
        there = car.get_outputs()
        assert there[1] > 0.5 and there[names.index("ref_frame.yaw")] > 0.1  # to the left
        car.set_values({f"wheel_{w}.brake_torque": 600.0 for w in WHEELS})
        car.step(3000)
        assert abs(car.get_outputs()[names.index("speed")]) < 0.01


def own(folder: Path, **overrides: str) -> Path:
    lines = [f'"{name}" = {{ {value}, source = "assumption: test" }}' for name, value in overrides.items()]
    path = folder / "mine.toml"
    path.write_text('name = "my-own"\nbase = "utv"\n[overrides]\n' + "\n".join(lines) + "\n")
    return path


def test_ones_own_vehicle_file_becomes_an_fmu_with_its_numbers_and_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = own(tmp_path, **{"chassis.mass": "value = 700.0, minimum = 600.0", "wheel.mass": "value = 12.0"})
    monkeypatch.chdir(tmp_path)
    assert main(["export", "--vehicle", str(path)]) == 0
    factory = open_fmu(tmp_path / "jounce_my_own.fmu")
    assert factory.table.by_name("chassis.mass").start == 700.0
    names = [s.name for s in factory.table.outputs]
    with factory.instance("car") as car:
        with pytest.raises(FmuError, match=r"chassis.mass = 599: expected 600"):
            car.setup({"chassis.mass": 599.0})
        car.reset()
        car.setup()
        weight = sum(car.get_outputs()[names.index(f"wheel_{w}.tire_force.z")] for w in WHEELS)
    base = load_vehicle("utv")
    more = 700.0 - base["chassis.mass"] + 4 * (12.0 - base["wheel.mass"])
    with open_builtin("utv").instance("car") as car:
        car.setup()
        light = sum(car.get_outputs()[names.index(f"wheel_{w}.tire_force.z")] for w in WHEELS)
    assert weight - light == pytest.approx(9.81 * more, rel=1e-6)


def described(folder: Path, *options: str) -> tuple[str, str, str]:
    """Model name, model identifier and GUID of an export, which its library and its sources must share."""
    path = folder / "x.fmu"
    assert main(["export", str(path), *options]) == 0
    description = fmpy.read_model_description(str(path))
    name = description.coSimulation.modelIdentifier
    assert description.modelExchange.modelIdentifier == name
    with zipfile.ZipFile(path) as archive:
        assert f'jn_guid[] = "{description.guid}"' in archive.read("sources/double_wishbone_table.c").decode()
        libraries = [n for n in archive.namelist() if n.startswith("binaries/")]
        assert libraries == ([] if "--source-only" in options else [f"binaries/linux64/{name}.so"])
    return description.modelName, name, description.guid


def test_the_identifier_is_that_of_the_vehicle_and_each_set_of_numbers_has_its_own_guid(tmp_path: Path) -> None:
    options = [("--set", "chassis.mass=2100"), ("--vehicle", "utv"), ("--vehicle", str(own(tmp_path))),
               ("--vehicle", "hmmwv_chrono")]  # fmt: skip
    found = [described(tmp_path), *(described(tmp_path, "--source-only", *o) for o in options)]
    names = [(model, identifier) for model, identifier, _ in found]
    assert names == [("hmmwv", "jounce_hmmwv"), ("hmmwv", "jounce_hmmwv"), ("utv", "jounce_utv"),
                     ("my-own", "jounce_my_own"), ("hmmwv_chrono", "jounce_hmmwv_chrono")]  # fmt: skip
    guids = [guid for *_, guid in found]
    assert guids[0] == interface_guid(open_builtin().table)  # the very library that the host loads
    assert len(set(guids)) == len(guids)
    assert described(tmp_path, "--source-only", "--vehicle", "utv")[2] == guids[2]


def dead_point() -> dict[str, str]:
    """The upper ball joint in one plane with the lower one and the upper arm's axis: no way to go."""
    utv = load_vehicle("utv")
    ball, axis = utv.vector("front.LCA_U"), (utv.vector("front.UCA_F") + utv.vector("front.UCA_B")) / 2
    return {f"front.UCA_U.{a}": f"value = {v}" for a, v in zip("xyz", (ball + axis) / 2, strict=True)}


DEAD_POINT = dead_point()


@pytest.mark.parametrize(
    ("overrides", "named"),
    [
        ({"chassis.mass": "value = -1.0"}, "chassis.mass"),
        ({"chassis.inertia.xy": "value = 900.0"}, "chassis.inertia"),
        (DEAD_POINT, "at corner FL the upper-arm loop cannot close"),
        ({"front.shock.max_length": "value = 0.1"}, "front.shock.max_length"),
        ({"no.such": "value = 1.0"}, "no.such"),
    ],
    ids=["mass", "inertia", "mechanism", "order", "unknown"],
)
def test_a_vehicle_that_cannot_be_is_refused_with_the_name_of_the_number(
    overrides: dict[str, str], named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "x.fmu"
    assert main(["export", str(target), "--source-only", "--vehicle", str(own(tmp_path, **overrides))]) == 2
    assert named in capsys.readouterr().err
    assert not target.exists()


def test_a_vehicle_file_without_an_entry_says_which(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "vehicle.toml").write_text('name = "empty"\nfiles = []\n')
    assert main(["export", str(tmp_path / "x.fmu"), "--vehicle", str(tmp_path)]) == 2
    assert "chassis.mass" in capsys.readouterr().err


def test_an_inertia_that_no_body_has_is_a_logged_warning_and_drives(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    for name in ("hmmwv", "utv"):
        with open_builtin(name).instance("good") as car:
            car.setup()
    assert caplog.messages == []
    with open_builtin("hmmwv_chrono").instance("chrono") as car:
        car.setup()
        car.step(10)
    named = [m.split(" = ")[0].split()[-1] for m in caplog.messages]
    assert named == ["front.UCA.inertia.zz", "front.LCA.inertia.zz", "rear.UCA.inertia.zz", "rear.LCA.inertia.zz"]
    caplog.clear()
    with open_builtin().instance("tilted") as car:  # only the products of inertia tell
        car.setup({"chassis.inertia.xx": 3000.0, "chassis.inertia.yy": 3000.0, "chassis.inertia.zz": 3000.0,
                   "chassis.inertia.xy": 1600.0})  # fmt: skip
    assert len(caplog.messages) == 1 and "chassis.inertia" in caplog.messages[0]


def test_a_vehicle_whose_numbers_change_the_bounds_runs_in_process_as_its_fmu_does(tmp_path: Path) -> None:
    """The steering ratio bounds the steering-wheel angle, and an override may have bounds of its own."""
    path = own(tmp_path, **{"steering_ratio": "value = 20.0", "chassis.mass": "value = 700.0, minimum = 600.0"})
    angle = 20.0 * load_vehicle("utv")["steering.max_arm_angle"]
    export_builtin(tmp_path / "own.fmu", path)
    ends = []
    for factory in (open_builtin(path), open_builtin(path), open_fmu(tmp_path / "own.fmu")):
        assert factory.table.by_name("steering_wheel_angle").maximum == pytest.approx(angle)
        with factory.instance("car") as car:
            with pytest.raises(FmuError, match="chassis.mass = 599"):
                car.setup({"chassis.mass": 599.0})
            car.reset()
            car.setup({"init.speed": 8.0}, {"steering_wheel_angle": 0.9 * angle})
            car.step(500)
            ends.append(car.get_outputs().tobytes())
    assert ends[0] == ends[1] == ends[2]
    assert open_builtin(path).library.read_bytes() == open_builtin(path).library.read_bytes()
