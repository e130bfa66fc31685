"""Controllers of CommonRoad Control on the vehicle, through the service."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("commonroad_control", reason="commonroad-control is not installed: docs/commonroad.md")

from commonroad_control.vehicle_dynamics.kinematic_bicycle.kinematic_bicycle import KinematicBicycle

from jounce.course import DoubleLaneChange
from jounce.driver import Vehicle
from jounce_client import Client
from jounce_client.examples.commonroad import (
    OWNS,
    PERIOD,
    Adapter,
    Mpc,
    Pid,
    Reference,
    drive,
    main,
    parameters,
)
from jounce_service import JounceServer
from jounce_service.hosting.fmu_model import builtin_registry

COURSE = DoubleLaneChange()


class Standing(dict[str, Any]):
    """Outputs of a vehicle whose axles are 1.7 m before and 1.6 m behind its centre of mass."""

    def __init__(self) -> None:
        super().__init__({f"wheel_{w}.pos": [x, y, 0.0] for w, x, y in
                          (("FL", 2.7, 1.0), ("FR", 2.7, -1.0), ("RL", -0.6, 1.0), ("RR", -0.6, -1.0))})
        self["com.pos"] = [1.0, 0.0, 0.5]


OWN = parameters(Standing(), Vehicle())  # type: ignore[arg-type]


@pytest.fixture
def registry() -> Any:
    return builtin_registry()


def test_the_bicycle_has_the_axles_of_the_vehicle() -> None:
    assert (OWN.l_f, OWN.l_r, OWN.l_wb) == pytest.approx((1.7, 1.6, 3.3))


def test_the_reference_is_what_the_kinematic_bicycle_drives() -> None:
    steps = 240
    reference = Reference(COURSE, OWN, speed=12.0, start=0.0, steps=steps)
    bicycle = KinematicBicycle(OWN, PERIOD)
    x, offsets = reference.states.points[0].convert_to_array(), []
    for step in range(steps):
        x = bicycle.simulate_dt_nom(x, reference.inputs.points[step])
        offsets.append(COURSE.lateral_error(x[0], x[1]))
    assert x[0] > 140.0
    # Open loop over 144 m. It was 0.3 m with the slip angle of a steady bend.
    assert max(map(abs, offsets)) < 0.05


def test_the_pid_keeps_its_own_model_within_centimetres_of_the_path() -> None:
    reference, bicycle = Reference(COURSE, OWN, speed=12.0, start=0.0, steps=240), KinematicBicycle(OWN, PERIOD)
    controller, x, offsets = Pid(bicycle, reference), np.array([0.0, 0.0, 12.0, 0.0, 0.0]), []
    for step in range(240):
        x = bicycle.simulate_dt_nom(x, controller.command(step, x))
        offsets.append(COURSE.lateral_error(x[0], x[1]))
    assert 0.01 < max(map(abs, offsets)) < 0.05


def test_inputs_are_torques_and_the_mean_angle_of_the_period_within_the_limits() -> None:
    adapter = Adapter(Vehicle(), OWN)
    first = adapter.inputs(np.array([1.0, 0.2]))
    assert len(first) == len(OWNS)
    assert first[0] == pytest.approx(0.5 * 0.2 * PERIOD * 26.0)
    assert first[1:].tolist() == pytest.approx([2573.0 * 0.47 / 4.0] * 4 + [0.0] * 4)
    assert adapter.steering == pytest.approx(0.2 * PERIOD)
    braking = adapter.inputs(np.array([-1e9, -1e9]))
    assert braking[1:].tolist() == pytest.approx([0.0] * 4 + [2500.0] * 4)
    for _ in range(100):
        adapter.inputs(np.array([0.0, -1e9]))
    assert adapter.steering == pytest.approx(-math.radians(28.0))


def test_the_mpc_turns_back_to_the_path() -> None:
    reference = Reference(COURSE, OWN, speed=10.0, start=0.0, steps=1)
    commands = [Mpc(KinematicBicycle(OWN, PERIOD), reference).command(0, np.array([0.0, y, 10.0, 0.0, 0.0]))
                for y in (0.3, -0.3)]
    assert commands[0][1] < -0.01 and commands[1][1] > 0.01


def test_the_pid_keeps_the_vehicle_on_the_double_lane_change(address: str, tmp_path: Path,
                                                              server: JounceServer) -> None:
    out = tmp_path / "out.json"
    assert main([f"--address={address}", "--speed=12", "--duration=12", f"--summary={out}"]) == 0
    said = json.loads(out.read_text())
    assert said["controller"] == "pid"
    # The lanes are 3.5 m apart: that is nowhere near driving straight on.
    assert 0.05 < said["lateral_error_rms"] < 0.4
    assert said["lateral_error_max"] < 0.8
    assert said["lateral_acceleration_max"] > 1.5
    with Client.connect(address) as client:
        again = drive(client, "pid", speed=12.0, duration=12.0)
        assert again.lateral_error_rms == said["lateral_error_rms"]
    assert not server.manager._sessions
