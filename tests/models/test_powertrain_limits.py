"""What is too steep for a step is refused with a limit that holds, or made softer."""

from __future__ import annotations

import re

import numpy as np
import pytest
from drives import SLOPE, Plan, factory, run

from jounce_fmu.importer.host import FmuError

#: Changed entries, the one that is refused, and the limit's way.
STEEP = [
    ({"engine.inertia": 0.01}, "engine.inertia", "at least"),
    ({"converter.turbine_inertia": 0.01}, "converter.turbine_inertia", "at least"),
    ({"converter.coefficient.10": 0.06}, "converter.turbine_inertia", "at least"),
    ({"engine.limit_droop": 0.1, "engine.limit_speed": 300.0}, "engine.limit_droop", "at least"),
    ({"engine.accessories": 3e4}, "engine.accessories", "up to"),
    ({"engine.start_torque": 3e4}, "engine.start_torque", "up to"),
    ({"engine.closed_throttle.torque.1": -5e5}, "engine.closed_throttle.torque.1", "at least"),
]

TORQUE = {"steering.mode": 2.0}


def refusal(changed: dict[str, float], vehicle: str = "hmmwv_pedals") -> str:
    with factory(vehicle).instance("x") as fmu, pytest.raises(FmuError) as found:
        fmu.setup(changed)
    return str(found.value)


@pytest.mark.parametrize(("changed", "name", "way"), STEEP)
def test_what_is_too_steep_for_rk4_is_refused_and_the_limit_that_is_told_is_taken(
    changed: dict[str, float], name: str, way: str
) -> None:
    text = refusal(changed)
    limit = re.search(rf"{re.escape(name)} = \S+: expected {way} ([-+\d.e]+)", text)
    tick = re.search(r"a tick up to (\d+) us", text)
    assert limit is not None, text
    assert tick is not None, text
    with factory().instance("x") as fmu:
        fmu.setup(changed | {name: float(limit.group(1))})
    with factory().instance("x") as fmu:
        fmu.setup(changed | {"tick": float(tick.group(1)) * 1e-6})
    with factory().instance("x") as fmu:
        fmu.setup(changed | {"integrator": 2})


@pytest.mark.parametrize("changed", [
    {"steering.stop_stiffness": 2e6}, {"steering.stop_damping": 400.0}, {"steering.damping": 300.0},
    {"steering.stop_stiffness": 3e5, "steering.inertia": 0.001},
])  # fmt: skip
def test_a_steering_wheel_that_is_too_stiff_for_its_inertia_is_refused_where_a_torque_turns_it(
    changed: dict[str, float]
) -> None:
    name, _ = next(iter(changed.items()))
    found = re.search(rf"{re.escape(name)} = \S+: too stiff for RK4.* at most (\d+)", refusal(changed | TORQUE))
    assert found is not None
    plan: Plan = [(0.0, {"throttle": 0.2, "steering_wheel_torque": 60.0})]
    own = changed | TORQUE | {name: float(found.group(1)), "init.speed": 8.0}
    angle = run(plan, 2.5, own)["steering.wheel_angle"]
    assert angle[-1] > 1.5
    assert np.abs(np.diff(angle[-20:], 2)).max() < 1e-5  # it rests at its stop, or creeps
    with factory().instance("x") as fmu:
        fmu.setup(changed)  # steered by angle it is not asked


@pytest.mark.parametrize("name", ["engine.inertia", "converter.turbine_inertia"])
def test_the_lightest_shaft_that_is_taken_drives_as_at_a_shorter_tick(name: str) -> None:
    found = re.search(r"expected at least (\S+) kg", refusal({name: 0.01}))
    assert found is not None
    plan: Plan = [(0.0, {"throttle": 0.5}), (1.0, {"gear_request": 2.0}), (2.0, {"throttle": 0.0, "brake_pedal": 0.6})]
    rough, fine = (run(plan, 4.0, {name: float(found.group(1)), "init.speed": 20.0, "tick": tick})
                   for tick in (0.001, 0.0002))  # fmt: skip
    balance = rough["energy.engine"] - rough["energy.losses"] - rough["energy.delivered"] - rough["energy.driveline"]
    assert np.abs(balance - balance[0]).max() < 1e-5 * rough["energy.engine"][-1]
    assert rough["speed"] == pytest.approx(fine["speed"], abs=1e-3)


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"engine.full_load.speed.3": 10.0}, r"speed\.3 = 10.*at least engine\.full_load\.speed\.2 = 146\.6"),
        ({"engine.full_load.torque.8": -300.0}, r"torque\.8 = -300.*expected engine\.full_load\.torque\.7 = 0.*jump"),
        ({"engine.idle_speed": 400.0}, r"engine\.idle_speed = 400: expected less than engine\.limit_speed = "),
        ({"gearbox.ratio.2": 3.0}, r"ratio\.2 = 3.*gearbox\.ratio\.1 = 2\.48"),
        ({"gearbox.gears": 5.0}, r"ratio\.5 = 0\.75.*gearbox\.ratio\.4 = 0\.75 \(gearbox\.gears = 5\)"),
    ],
)
def test_tables_and_gears_that_are_refused_name_what_they_are_against(changed: dict[str, float], text: str) -> None:
    assert re.search(text, refusal(changed))


#: Vehicle, the speed that shook by 1 and by 0.2 rad/s from tick to tick, and what it was started with.
LOSSY = [
    ("hmmwv_pedals", "driveline.output_speed", {"driveline.efficiency": 0.21, "hub.ratio": 8.0, "brake_pedal": 0.8}),
    ("hmmwv_electric", "motor.front.speed", {"driveline.efficiency": 0.215, "motor.front.max_torque": 667.0,
                                             "differential.front.ratio": 19.46, "hub.ratio": 1.305, **SLOPE}),
]  # fmt: skip


@pytest.mark.parametrize(("vehicle", "name", "start"), LOSSY)
def test_lossy_gears_on_light_shafts_do_not_shake_from_tick_to_tick(
    vehicle: str, name: str, start: dict[str, float]
) -> None:
    made, speeds = factory(vehicle), []
    at = next(s.index for s in made.table.outputs if s.name == name)
    with made.instance("x") as fmu:
        fmu.setup(start | {"throttle": 0.6})
        for _ in range(2500):
            fmu.step()
            speeds.append(fmu.get_outputs()[at])
    assert abs(speeds[-1]) > 0.5  # the gears turn
    assert np.abs(np.diff(speeds[-500:], 2)).max() < 1e-4
