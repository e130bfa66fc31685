"""The HMMWV steered by torque, and the torque that steering by angle takes: friction, end stop, hysteresis."""

from __future__ import annotations

import math

import numpy as np
import pytest
from drives import factory, run

from jounce.data import load_vehicle
from jounce_fmu.importer.host import FmuInstance


def test_steered_by_torque_it_goes_where_the_same_torque_is_told_when_steered_by_angle() -> None:
    """A sine of the driver's torque at 10 m/s, by RK4 in the model; its wheel angle, told to a second one, gives it."""
    start = {"throttle": 0.3, "init.speed": 10.0}

    def push(t: float) -> float:
        return 2.0 * math.sin(math.pi * t)

    with factory().instance("torque") as one, factory().instance("angle") as two:
        one.setup(start | {"steering.mode": "TORQUE"})
        two.setup(start)
        names = [s.name for s in factory().table.outputs]
        wanted = ("steering.wheel_angle", "steering.wheel_torque", "ref_frame.pos.y")
        angle, torque, x = (names.index(name) for name in wanted)
        before, told, asked = 0.0, [], []
        for k in range(2000):
            one.set_values({"steering_wheel_torque": push(1e-3 * k)})
            one.step(1)
            after = float(one.get_outputs()[angle])
            two.set_values({"steering_wheel_angle": before, "steering_wheel_rate": (after - before) / 1e-3})
            two.step(1)
            before = after
            told.append(two.get_outputs()[torque])
            asked.append(push(1e-3 * (k + 0.5)))
        assert abs(before) > 0.5
        assert np.abs(np.array(told) - asked)[20:].max() < 0.2
        assert abs(one.get_outputs()[x]) > 0.1
        assert one.get_outputs()[x] == pytest.approx(two.get_outputs()[x], rel=1e-3)


def test_parked_the_steering_wheel_stays_where_a_torque_has_brought_it_but_for_what_springs_back() -> None:
    """Friction of the tires and the gear holds; at the end stop it rests against a stiff spring."""
    held = {"gear_selector": 0.0, "brake_pedal": 0.5}
    o = run([(0.0, held), (0.2, {"steering_wheel_torque": 10.0}), (5.0, {"steering_wheel_torque": 0.0})], 7.0,
            {"steering.mode": "TORQUE"})  # fmt: skip
    angle, t = o["steering.wheel_angle"], o["time"]
    assert 1.0 < angle[t < 5.0][-1] < 13.0
    assert angle[-1] > 0.4 * angle[t < 5.0][-1]
    assert np.abs(np.diff(angle[t > 6.8])).max() < 1e-5
    # in rest the load on the arm is what driver and assist give, but for the friction of 1 N.m
    load = o["steering.load_torque"][t < 5.0][-1] / load_vehicle("hmmwv")["steering_ratio"]
    assert -load == pytest.approx(10.0 / (1 - 0.7), abs=1.0 + 1e-6)
    stop = run([(0.0, held), (0.2, {"steering_wheel_torque": 40.0})], 4.0, {"steering.mode": "TORQUE"})
    most = load_vehicle("hmmwv")["steering.max_arm_angle"] * load_vehicle("hmmwv")["steering_ratio"]
    assert most < stop["steering.wheel_angle"][-1] < most + 0.07
    assert np.abs(np.diff(stop["steering.wheel_angle"][-20:])).max() < 1e-5


def test_sweeping_the_steering_wheel_at_rest_the_torque_has_the_hysteresis_of_friction() -> None:
    def turn(fmu: FmuInstance, t: float) -> None:
        fmu.set_values({"steering_wheel_angle": 2.0 * math.sin(math.pi * t),
                        "steering_wheel_rate": 2.0 * math.pi * math.cos(math.pi * t)})  # fmt: skip

    o = run([(0.0, {"gear_selector": 0.0, "brake_pedal": 0.5})], 4.0, every_row=turn)
    torque, angle, t = o["steering.wheel_torque"], o["steering.wheel_angle"], o["time"]
    loop = t >= 2.0  # one period
    work = float(np.trapezoid(torque[loop], angle[loop]))
    assert work > 4 * 2.0 * 1.0 * 0.3  # what the column's own friction takes of the driver, at least
    assert np.abs(torque[loop]).max() < 40.0


@pytest.mark.parametrize(("speed", "swing", "reach"), [(0.0, 6.0, 1.0), (15.0, 3.0, 2.5)])
def test_swinging_the_torque_at_rest_and_at_speed_the_angle_has_the_hysteresis_of_friction(
    speed: float, swing: float, reach: float
) -> None:
    def turn(fmu: FmuInstance, t: float) -> None:
        fmu.set_values({"steering_wheel_torque": swing * math.sin(math.pi * t)})

    start = {"steering.mode": 2.0, **({"init.speed": speed} if speed else {})}
    o = run([(0.0, {"gear_selector": 0.0})], 4.0, start, every_row=turn)
    torque, angle = (o[f"steering.wheel_{name}"][200:] for name in ("torque", "angle"))
    share = 0.7 - 0.3 * speed / 20.0  # of the assist
    friction = 2 * np.ptp(angle) * 1.0 * (1 - share)
    assert np.ptp(angle) > 2 * reach
    assert friction < float(np.trapezoid(torque, angle)) < 8 * friction
