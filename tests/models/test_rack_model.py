"""A rack moves the inner tierod ends: the microbus, and two axles of double wishbones that steer against each other."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import judged
import numpy as np
import own_axles
import pytest

from jounce.axles import WHEELS, Axle
from jounce.data import DataError, load_vehicle
from jounce_fmu.importer.host import Factory, open_builtin
from jounce_fmu.importer.linear import Exchange
from jounce_fmu.models import find

AXLES = (Axle("front", steered="rack", driven=False), Axle("rear", steered="rack", gain=-0.2))
SHOCKS = ("rebound", "compression", "bump_rebound", "bump_compression", "end_stiffness", "end_damping")


@pytest.fixture(scope="module")
def factory() -> Factory:
    return open_builtin("microbus")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_axles_that_steer_against_each_other_move_as_the_judge_says(tmp_path: Path, seed: int) -> None:
    folder = own_axles.write(tmp_path / "v", AXLES, name="racked")
    off = judged.difference(load_vehicle(folder), open_builtin(folder), seed, reach=0.15)
    assert off.pop("closure") < 1e-13
    assert max(off.values()) < 1e-10, off


def turned(factory: Factory, angle: float) -> dict[str, float]:
    with factory.instance("turned") as instance:
        instance.setup({"init.speed": 6.0}, {"steering_wheel_angle": angle})
        instance.step(400)
        return dict(zip((s.name for s in factory.table.outputs), instance.get_outputs(), strict=True))


def test_a_turn_to_the_right_mirrors_one_to_the_left_exactly(factory: Factory) -> None:
    """Nothing of a rack's vehicle lies on one side alone."""
    left, right = turned(factory, 3.0), turned(factory, -3.0)
    assert left["ref_frame.yaw"] > 0.1
    assert left["wheel_FL.steer"] + left["wheel_FR.steer"] > 0.1
    assert left["steering.load_torque"] < -1.0  # the tires turn the wheels back
    for name, sign in (("ref_frame.yaw", -1), ("ref_frame.pos.x", 1), ("ref_frame.pos.y", -1), ("sideslip", -1),
                       ("steering.load_torque", -1)):  # fmt: skip
        assert right[name] == pytest.approx(sign * left[name], rel=1e-9, abs=1e-12), name
    for one, other in (WHEELS[:2], WHEELS[2:]):
        assert right[f"wheel_{other}.tire_force.z"] == pytest.approx(left[f"wheel_{one}.tire_force.z"], rel=1e-9)


def test_energy_grows_by_what_the_pinion_gives(factory: Factory) -> None:
    """In the air without shocks, while the steering wheel turns: dE/dt = -load torque x the pinion's rate."""
    ratio, rate = load_vehicle("microbus")["steering_ratio"], 2.0
    free = {f"{axle.name}.shock.{k}": 0.0 for axle in AXLES for k in SHOCKS}
    with replace(factory, kind=Exchange).instance("work") as instance:
        instance.setup({"tire_source": "EXTERNAL", "gravity": 0.0, "init.equilibrium": False, "init.z": 50.0, **free},
                       {"steering_wheel_rate": ratio * rate})  # fmt: skip
        place = {s.name: k for k, s in enumerate(factory.table.states)}
        x = np.zeros(len(place))
        x[place["state.pos.z"]], x[place["state.rot.e0"]], x[place["state.ang_vel.z"]] = 50.0, 1.0, 0.7
        for k, w in enumerate(WHEELS):
            for name, value in (("arm_angle", 0.03 * k - 0.04), ("arm_rate", 0.5 - 0.3 * k), ("omega", 30.0)):
                x[place[f"state.wheel_{w}.{name}"]] = value

        def at(states: np.ndarray, steer: float) -> dict[str, float]:
            instance.set_values({"steering_wheel_angle": ratio * steer})
            instance.set_states(states)
            return dict(zip((s.name for s in factory.table.outputs), instance.get_outputs(), strict=True))

        here, h = at(x, 0.2), 1e-5
        dx = instance.get_rates()
        ends = [at(x + way * h * dx, 0.2 + way * h * rate) for way in (1.0, -1.0)]
    energies = [y["energy.kinetic"] + y["energy.potential"] for y in ends]
    assert here["steering.pitman_angle"] == pytest.approx(0.2, rel=1e-12)
    assert abs(here["steering.load_torque"]) > 1.0
    grown = (energies[0] - energies[1]) / (2 * h)
    assert grown == pytest.approx(-here["steering.load_torque"] * rate, rel=1e-5)


def test_its_signals_say_what_the_steering_wheel_turns(factory: Factory) -> None:
    texts = {s.name: s.description for s in factory.table.signals}
    assert "the pinion turns by this over steering_ratio" in texts["steering_wheel_angle"]
    assert [s.name for s in factory.table.parameters if s.name.startswith("steering.")] == [
        "steering.rack_gain", "steering.max_arm_angle"]  # fmt: skip


def test_entries_of_a_pitman_arm_are_unknown_to_a_rack(tmp_path: Path) -> None:
    folder = own_axles.write(tmp_path / "odd", AXLES, {"steering.arm.mass": 1.0})
    with pytest.raises(DataError, match="unknown entry 'steering.arm.mass'"):
        find(folder)
    pitman = (replace(AXLES[0], steered="pitman"), replace(AXLES[1], steered="none"))
    with pytest.raises(DataError, match="unknown entry 'steering.rack_gain'"):
        find(own_axles.write(tmp_path / "other", pitman, {"steering.rack_gain": 0.1}))
