"""``jounce powertrain``: the maps against the model's own steady states, the check of data, and refusals."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import jounce
from jounce_tools.cli.main import main

pytest.importorskip("casadi")
from jounce.data import load_vehicle
from jounce_tools.powertrain.command import standing
from jounce_tools.powertrain.maps import Maps, Standing

PEDALS = "hmmwv_pedals"
FOLDER = Path(jounce.__file__).parent / "examples" / PEDALS
DATA = "\n".join((FOLDER / f"{name}.toml").read_text() for name in ("engine", "driveline", "brakes_and_steering"))


def column(path: Path, name: str) -> NDArray[np.float64]:
    with path.open(newline="") as lines:
        return np.array([float(row[name]) for row in csv.DictReader(lines)])


def test_a_vehicle_that_hardly_gains_speed_is_driven_by_the_force_of_the_map() -> None:
    """On 40 % its wheels spin at a steady speed; on 10 % in third gear the lock-up clutch holds."""
    vehicle = load_vehicle(PEDALS)
    rests = standing(vehicle, PEDALS)
    pieces = {n: e.value for n, e in vehicle.entries.items() if n.endswith(".mass")}
    times = {"chassis": 1, "steering": 1, "wheel": 4}  # of all others two
    mass = sum(times.get(n.partition(".")[0], 2) * m for n, m in pieces.items())
    assert rests.weight == pytest.approx(9.81 * mass, rel=1e-9)
    outputs = ["gearbox.gear", "gearbox.turbine_speed", "engine.speed", "converter.lock", "engine.torque",
               *(f"wheel_{w}.drive_torque_total" for w in vehicle.wheels)]  # fmt: skip
    for throttle, grade, duration, gear, locked in ((1.0, 0.4, 14.0, 1, False), (0.6, 0.06, 30.0, 3, True)):
        run = jounce.simulate(PEDALS, {"throttle": throttle}, duration, outputs, output_interval=0.1,
                              **{"terrain.slope": math.atan(grade)})  # fmt: skip
        found = Maps(vehicle).traction(rests, throttle)[gear - 1]
        turbine = run["gearbox.turbine_speed"][-1]
        assert run["gearbox.gear"][-1] == gear
        assert bool(run["converter.lock"][-1] > 0.99) == locked == bool(found.locked[found.turbine_speed < turbine][-1])
        force = sum(run[f"wheel_{w}.drive_torque_total"][-1] for w in vehicle.wheels) / rests.radius
        assert force == pytest.approx(np.interp(turbine, found.turbine_speed, found.force), rel=0.02)
        for name, values in (("engine.speed", found.engine_speed), ("engine.torque", found.engine_torque)):
            assert run[name][-1] == pytest.approx(np.interp(turbine, found.turbine_speed, values), rel=5e-3), name


def test_power_behind_the_converter_is_the_turbines_less_the_losses(tmp_path: Path) -> None:
    out = tmp_path / "map"
    assert main(["powertrain", "map", PEDALS, "--throttle", "0.5", "--low", "-o", str(out)]) == 0
    assert sorted(p.name for p in out.iterdir()) == ["converter.csv", "engine.csv", "map.png", "traction.csv"]
    force, speed, turbine, torque = (column(out / "traction.csv", n) for n in (
        "force [N]", "speed [m/s]", "turbine_speed [rad/s]", "turbine_torque [N.m]"))  # fmt: skip
    given = turbine * torque
    assert np.allclose(force * speed, given - 0.15 * np.abs(given), rtol=1e-6, atol=1.0)
    assert (out / "map.png").stat().st_size > 20_000
    assert column(out / "engine.csv", "full_load [N.m]").max() == pytest.approx(582.0, abs=2.0)
    k = column(out / "converter.csv", "K [rad/s/sqrt(N.m)]")
    assert k[0] * 30 / math.pi == pytest.approx(81.0, abs=0.01)  # rpm/sqrt(N.m), as published


def test_the_pump_fades_only_in_the_last_step_of_the_models_table() -> None:
    """Just below it the engine gives what the accessories and the interpolated capacity factor take."""
    vehicle = load_vehicle(PEDALS)
    maps = Maps(vehicle)
    at, _, factor = maps.converter
    found = 0
    for throttle in (1.0, 0.5, 0.3, 0.1):
        gear = maps.traction(Standing(0.45, 26e3), throttle)[0]
        ratio = gear.turbine_speed / np.maximum(gear.engine_speed, 1.0)
        near = (ratio > 0.98) & (ratio < 0.99) & ~gear.locked
        pump = gear.engine_torque[near] - vehicle["engine.accessories"]
        assert pump == pytest.approx((gear.engine_speed / np.interp(ratio, at, factor))[near] ** 2, rel=1e-9)
        found += near.sum()
    assert found > 3


def test_the_check_tells_shifts_and_sources_and_the_models_refusal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "powertrain.toml").write_text(DATA)
    assert main(["powertrain", "check", str(tmp_path / "powertrain.toml")]) == 0
    text = capsys.readouterr().out
    for part in ("582 N.m at 1700 rpm", "1 (2.48) to 2 (1.48): closed throttle 1500 -> 895, down at 750 (+19%)",
                 "the model takes it", "hub.ratio: HMMWV geared hubs, 1.92 to 1"):  # fmt: skip
        assert part in text
    hunts = "".join("up.1 = { value = [150, 160, 170, 180, 200], unit = 'rad/s', source = 'a', description = 'x' }\n"
                    if line.startswith("up.1 ") else line for line in DATA.splitlines(True))  # fmt: skip
    (tmp_path / "hunts.toml").write_text(hunts)
    assert main(["powertrain", "check", str(tmp_path / "hunts.toml")]) == 1
    assert "gearbox.up.1.0 = 150: expected above 154.8: after the shift" in capsys.readouterr().err


def test_the_map_of_motors_is_that_of_the_model_in_steady_climbing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, out = "hmmwv_electric", tmp_path / "map"
    assert main(["powertrain", "map", name, "--throttle", "0.5", "-o", str(out)]) == 0
    assert sorted(p.name for p in out.iterdir()) == ["map.png", "motor.csv", "traction.csv"]
    assert (out / "map.png").stat().st_size > 20_000
    motor, torque = (column(out / "motor.csv", n) for n in ("speed [rad/s]", "front 1 [N.m]"))
    assert (motor * torque).max() == pytest.approx(80e3) and torque.max() == 280.0
    vehicle = load_vehicle(name)
    rests = standing(vehicle, name)
    outputs = ["speed", "battery.power", *(f"wheel_{w}.drive_torque_total" for w in vehicle.wheels)]
    run = jounce.simulate(name, {"throttle": 0.5}, 45.0, outputs, output_interval=0.5,
                          **{"terrain.slope": math.atan(0.1), "init.speed": 20.0})  # fmt: skip
    speed, force, power = (column(out / "traction.csv", n) for n in ("speed [m/s]", "force [N]", "battery_power [W]"))
    last = run["speed"][-1]
    assert abs(last - run["speed"][-3]) < 0.02 and 20.0 < last < 29.0
    found = sum(run[f"wheel_{w}.drive_torque_total"][-1] for w in vehicle.wheels) / rests.radius
    assert found == pytest.approx(np.interp(last, speed, force), rel=0.02)
    assert run["battery.power"][-1] == pytest.approx(np.interp(last, speed, power), rel=0.01)
    assert main(["powertrain", "check", name]) == 0
    text = capsys.readouterr().out
    for part in ("1 motor with a differential, 280 N.m and 80 kW from 2728 rpm on", "48.0 kWh", "the model takes it"):
        assert part in text


@pytest.mark.parametrize(("words", "said"), [
    ("map hmmwv_electric --low -o {}/x", "hmmwv_electric has no transfer case"),
    ("map hmmwv -o {}/x", "hmmwv has no powertrain; expected"),
    ("map class3 -o {}/x", "class3 is an architecture; expected a vehicle of axles"),
    ("map hmmwv_pedals --throttle nan -o {}/x", "expected 0 to 1"),
    ("map hmmwv_pedals --throttle 1.5 -o {}/x", "--throttle 1.5: expected 0 to 1"),
    ("map hmmwv_pedals -o {}/none/x", "expected a folder, in one that exists"),
    ("check {}/none.toml", "expected a file that exists"),
    ("check {}/odd.toml", "odd.toml: Invalid statement"),
])  # fmt: skip
def test_what_cannot_be_used_is_refused(
    words: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "odd.toml").write_text("{")
    try:
        code = main(["powertrain", *words.format(tmp_path).split()])
    except SystemExit as ended:
        code = ended.code  # type: ignore[assignment]
    assert code == 2
    assert said in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["odd.toml"]
