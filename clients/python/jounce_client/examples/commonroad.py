"""Drives the vehicle with third-party controllers: PID and MPC of CommonRoad Control, at 20 Hz.

This is only an adapter. It turns outputs into a state of the package's kinematic bicycle, the bicycle's inputs
(acceleration, rate of the steering angle) into torques and a steering-wheel angle, and the double lane change into a
reference trajectory. Gains, weights, look-ahead and their use are those of the package's ``cr_control_easy_api``.

Course and vehicle data are those of `jounce.driver`, so jounce must be installed as well (``pip install .`` in the
clone).

Source: commonroad-control 0.0.1 (BSD-3-Clause), Cyber-Physical Systems Group, TU Munich; `docs/commonroad.md`.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

try:
    from commonroad_control.control.model_predictive_control.model_predictive_control import ModelPredictiveControl
    from commonroad_control.control.model_predictive_control.optimal_control.optimal_control_scvx import (
        OptimalControlSCvx,
        SCvxParameters,
    )
    from commonroad_control.control.pid.pid_long_lat import PIDLongLat
    from commonroad_control.control.reference_trajectory_factory import ReferenceTrajectoryFactory
    from commonroad_control.util.geometry import signed_distance_point_to_linestring
    from commonroad_control.vehicle_dynamics.kinematic_bicycle.kb_sidt_factory import KBSIDTFactory
    from commonroad_control.vehicle_dynamics.kinematic_bicycle.kinematic_bicycle import KinematicBicycle
    from commonroad_control.vehicle_dynamics.utils import TrajectoryMode
    from commonroad_control.vehicle_parameters.vehicle_parameters import VehicleParameters
    from shapely import LineString, Point

    from jounce.axles import WHEELS
    from jounce.course import Array, DoubleLaneChange
    from jounce.driver import Vehicle
    from jounce_client import Client, JounceError, State
except ModuleNotFoundError as error:
    if __name__ != "__main__":
        raise
    sys.exit(f"commonroad: there is no {error.name} here; in an environment of its own (docs/commonroad.md): "
             "pip install commonroad-control 'commonroad-io<2026', then pip install . in the clone")

PERIOD = 0.05  # [s]
OWNS = ["steering_wheel_angle", *(f"wheel_{w}.drive_torque" for w in WHEELS),
        *(f"wheel_{w}.brake_torque" for w in WHEELS)]
WANTS = ["speed", "sideslip", "ref_frame.yaw", "ref_frame.ang_vel", "com.pos", *(f"wheel_{w}.pos" for w in WHEELS)]
#: Horizon of the MPC, by which the reference must be longer than the drive [periods].
HORIZON = 20
#: Look-ahead of the PID [periods], which is 0.5 s.
LOOK_AHEAD = 10


def parameters(start: State, vehicle: Vehicle) -> VehicleParameters:
    """The kinematic bicycle with this vehicle's axles and limits; it does not use tire stiffness and inertia."""
    axles = {w: np.asarray(start[f"wheel_{w}.pos"]) for w in WHEELS}
    front, rear = 0.5 * (axles["FL"] + axles["FR"])[:2], 0.5 * (axles["RL"] + axles["RR"])[:2]
    centre = np.asarray(start["com.pos"])[:2]
    l_f, l_r = (float(np.linalg.norm(axle - centre)) for axle in (front, rear))
    return VehicleParameters(
        l_wb=l_f + l_r, l_f=l_f, l_r=l_r, m=vehicle.mass, I_zz=math.nan, C_f=math.nan, C_r=math.nan, h_cog=math.nan,
        a_long_max=4.0 * vehicle.max_drive_torque / (vehicle.mass * vehicle.wheel_radius), a_lat_max=6.0,
        steering_angle_max=vehicle.max_road_wheel_angle, steering_angle_velocity_max=14.0 / vehicle.steering_ratio,
    )  # fmt: skip


class Reference:
    """The course as the kinematic bicycle drives it at constant ``speed`` [m/s] from x = ``start`` [m]."""

    def __init__(self, course: DoubleLaneChange, vehicle: VehicleParameters, *, speed: float, start: float,
                 steps: int) -> None:
        """Computes ``steps`` [periods] and the horizon after them."""
        rows, x, slip = [], start, 0.0
        for _ in range(steps + HORIZON + 2):
            y, heading, _ = course.path(x)
            steering = math.atan(math.tan(slip) * vehicle.l_wb / vehicle.l_r)
            rows.append((x, y, speed, heading - slip, steering))
            # Integrates along the path with the midpoint rule. The centre of mass follows the path if yaw + b is the
            # path's heading, with b the slip angle and yaw' = sin(b) / l_r per metre: b' = curvature - sin(b) / l_r.
            _, middle, curvature = course.path(x + 0.5 * speed * PERIOD * math.cos(heading))
            x += speed * PERIOD * math.cos(middle)
            steady = math.asin(vehicle.l_r * curvature)
            slip = steady + (slip - steady) * math.exp(-speed * PERIOD / vehicle.l_r)
        states = np.array(rows).T
        inputs = np.vstack([np.zeros(states.shape[1] - 1), np.diff(states[4]) / PERIOD])
        self.line = LineString(states[:2].T)
        self.states = self._trajectory(states, TrajectoryMode.State)
        self.inputs = self._trajectory(inputs, TrajectoryMode.Input)

    @staticmethod
    def _trajectory(values: Array, mode: TrajectoryMode) -> Any:
        steps = list(range(values.shape[1]))
        return KBSIDTFactory.trajectory_from_numpy_array(values, mode, steps, t_0=0.0, delta_t=PERIOD)

    def ahead(self, **options: Any) -> ReferenceTrajectoryFactory:
        """The factory from which a controller gets its part of the reference."""
        factory = ReferenceTrajectoryFactory(PERIOD, KBSIDTFactory(), **options)
        factory.set_reference_trajectory(self.states, self.inputs, t_0=0.0)
        return factory


class Pid:
    """The package's PID with look-ahead, as ``pid_with_lookahead_for_planner`` uses it."""

    def __init__(self, model: KinematicBicycle, reference: Reference) -> None:
        """Uses the package's default gains."""
        self._model, self._reference = model, reference
        self._pid = PIDLongLat(1.0, 0.0, 0.0, 0.05, 0.0, 0.1, PERIOD)
        self._ahead = reference.ahead(t_look_ahead=LOOK_AHEAD * PERIOD)

    def command(self, step: int, state: Array) -> Array:
        """Acceleration [m/s2] and rate of the steering angle [rad/s]."""
        wanted, _ = self._ahead.get_reference_trajectory_at_time(step * PERIOD)
        now = self._reference.inputs.points[step]
        for _ in range(LOOK_AHEAD):
            state = self._model.simulate_dt_nom(state, now)
        offset = signed_distance_point_to_linestring(Point(state[0], state[1]), self._reference.line)
        back = self._pid.compute_control_input(state[2], wanted.points[0].velocity, offset)
        return np.asarray(np.add(back, now.convert_to_array()))


class Mpc:
    """The package's MPC (successive convexification, CLARABEL), as ``mpc_for_planner`` uses it."""

    def __init__(self, model: KinematicBicycle, reference: Reference) -> None:
        """Uses the package's default weights and horizon."""
        weights = np.diag([1.0, 1.0, 1.0, 1.0, 0.0])
        solver = OptimalControlSCvx(model, KBSIDTFactory(), HORIZON, PERIOD, weights, 0.1 * np.eye(2), weights,
                                    SCvxParameters())
        self._mpc = ModelPredictiveControl(solver)
        self._ahead = reference.ahead(mpc_horizon=HORIZON)

    def command(self, step: int, state: Array) -> Array:
        """Acceleration [m/s2] and rate of the steering angle [rad/s]."""
        states, inputs = self._ahead.get_reference_trajectory_at_time(step * PERIOD)
        found = self._mpc.compute_control_input(KBSIDTFactory.state_from_numpy_array(state), states, inputs)
        return np.asarray(found.convert_to_array())


CONTROLLERS: dict[str, type[Pid | Mpc]] = {"pid": Pid, "mpc": Mpc}


@dataclass(frozen=True)
class Report:
    """Errors of one drive, at the centre of mass."""

    controller: str
    lateral_error_rms: float  # [m]
    lateral_error_max: float  # [m]
    speed_error_max: float  # [m/s]
    lateral_acceleration_max: float  # yaw rate times speed [m/s2]
    yaw_rate_excess_max: float  # yaw rate of the kinematic model minus that of the vehicle [rad/s]
    yaw_rate_max: float  # [rad/s]
    sideslip_difference_max: float  # [rad]


class Adapter:
    """Converts between signals of the vehicle and of the controller; keeps the commanded steering angle [rad]."""

    def __init__(self, vehicle: Vehicle, limits: VehicleParameters) -> None:
        """Starts with the wheels straight."""
        self._vehicle, self._limits = vehicle, limits
        self.steering = 0.0

    def state(self, state: State) -> Array:
        """Position of the centre of mass [m], its speed [m/s], yaw [rad], steering angle [rad]."""
        x, y, _ = np.asarray(state["com.pos"])
        # The signal `speed` is the forward component.
        speed = float(state["speed"]) / math.cos(float(state["sideslip"]))
        return np.array([x, y, speed, float(state["ref_frame.yaw"]), self.steering])

    def inputs(self, command: Array) -> Array:
        """Inputs in the order of ``OWNS`` [rad, N.m] for the next period."""
        limits, vehicle = self._limits, self._vehicle
        acceleration = float(np.clip(command[0], -limits.a_long_max, limits.a_long_max))
        rate = float(np.clip(command[1], -limits.steering_angle_velocity_max, limits.steering_angle_velocity_max))
        last = self.steering
        self.steering = float(np.clip(last + rate * PERIOD, -limits.steering_angle_max, limits.steering_angle_max))
        torque = acceleration * vehicle.mass * vehicle.wheel_radius / 4.0
        # The angle is held for the period, so it is the mean of the controller's ramp.
        angle = 0.5 * (last + self.steering) * vehicle.steering_ratio
        return np.array([angle] + [max(torque, 0.0)] * 4 + [max(-torque, 0.0)] * 4)


def drive(client: Client, name: str, *, speed: float, duration: float, model: str = "hmmwv") -> Report:
    """Drives the double lane change once, in lockstep. Raises JounceError."""
    vehicle, course, steps = Vehicle(), DoubleLaneChange(), round(duration / PERIOD)
    rows = []
    with (client.create_session(model, {"init.speed": speed}, participants=["controller"]) as session,
          client.join(session, "controller", owns=OWNS, wants=WANTS, period=round(PERIOD / session.tick_seconds),
                      barrier_timeout=60.0) as member):
        state = member.start
        own = parameters(state, vehicle)
        adapter, bicycle = Adapter(vehicle, own), KinematicBicycle(own, PERIOD)
        begin = float(np.asarray(state["com.pos"])[0])
        reference = Reference(course, own, speed=speed, start=begin, steps=steps)
        controller = CONTROLLERS[name](bicycle, reference)
        for step in range(steps):
            seen = adapter.state(state)
            slip = math.atan(math.tan(seen[4]) * own.l_r / own.l_wb)
            turning = float(np.asarray(state["ref_frame.ang_vel"])[2])
            expected = seen[2] * math.sin(slip) / own.l_r
            rows.append((course.lateral_error(seen[0], seen[1]), seen[2] - speed, turning * seen[2],
                         abs(expected) - abs(turning), turning, float(state["sideslip"]) - slip))
            state = member.step(adapter.inputs(controller.command(step, seen)))
    errors = np.array(rows)
    most = [float(v) for v in np.abs(errors).max(axis=0)]
    rms = float(np.sqrt(np.mean(np.square(errors[:, 0]))))
    return Report(name, rms, most[0], most[1], most[2], float(errors[:, 3].max()), most[4], most[5])


def main(argv: list[str] | None = None) -> int:
    """Drives and prints the errors."""
    parser = argparse.ArgumentParser(description="ISO 3888-1 double lane change with CommonRoad Control, at 20 Hz.")
    parser.add_argument("--address", required=True, help="host:port or unix:/path of the server")
    parser.add_argument("--controller", choices=CONTROLLERS, default="pid", help="(default %(default)s)")
    parser.add_argument("--speed", type=float, default=10.0, help="speed to keep [m/s] (default %(default)s)")
    parser.add_argument("--duration", type=float, default=16.0, help="simulated time [s] (default %(default)s)")
    parser.add_argument("--summary", type=Path, help="JSON file to write; else standard output has it")
    options = parser.parse_args(argv)
    with Client.connect(options.address) as client:
        report = drive(client, options.controller, speed=options.speed, duration=options.duration)
    text = json.dumps(asdict(report), indent=1) + "\n"
    options.summary.write_text(text) if options.summary else sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except JounceError as error:
        sys.exit(f"commonroad: {error}")
