"""An autopilot at 50 Hz: through the ISO 3888-1 double lane change at constant speed.

Steering: curvature feedforward with understeer compensation, plus the feedback of Stanley's controller,

    delta = L k + K v^2 k - psi_e - atan(g e / (v_0 + v)) - d (r - v k),

with e the lateral error of the front axle and psi_e the heading error (both left positive), k the curvature a
preview time ahead and r the yaw rate. Source: Hoffmann, Tomlin, Montemerlo and Thrun, Autonomous automobile
trajectory tracking for off-road driving, ACC 2007, eqs. 5 and 9-11 (here with the error's sign turned); K is the
understeer gradient, e.g. Rajamani, Vehicle Dynamics and Control (2012), section 3.3.

Speed: PI on the speed error, with anti-windup, to equal drive or brake torques on four wheels.

The gains are tuned by hand for this vehicle at 8 to 15 m/s; none is a measured property of a driver.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jounce_client import Client, JounceError, State
from jounce_client.examples._program import Recorder, arguments, parse, session_of
from jounce_client.examples.course import DoubleLaneChange

PERIOD = 0.02  # [s]
WHEELS = ("FL", "FR", "RL", "RR")
OWNS = ["steering_wheel_angle", "steering_wheel_rate",
        *(f"wheel_{w}.drive_torque" for w in WHEELS), *(f"wheel_{w}.brake_torque" for w in WHEELS)]
WANTS = ["speed", "sideslip", "ref_frame.yaw", "ref_frame.roll", "ref_frame.pos", "ref_frame.ang_vel", "com.lin_acc",
         "steering.load_torque", *(f"wheel_{w}.pos" for w in WHEELS), *(f"wheel_{w}.omega" for w in WHEELS),
         *(f"wheel_{w}.slip" for w in WHEELS), *(f"wheel_{w}.tire_force" for w in WHEELS)]


@dataclass(frozen=True)
class Vehicle:
    """What the autopilot knows of the vehicle."""

    wheelbase: float = 3.302  # [m]
    mass: float = 2573.0  # [kg]
    wheel_radius: float = 0.47  # [m]
    steering_ratio: float = 26.0  # steering wheel to Pitman arm, which turns about as the road wheels do
    max_road_wheel_angle: float = math.radians(28.0)  # [rad], inside the arm's 30 degrees
    max_drive_torque: float = 2500.0  # [N.m] per wheel
    max_brake_torque: float = 4000.0  # [N.m] per wheel


@dataclass(frozen=True)
class Gains:
    """Gains of the controller."""

    error: float = 1.5  # g [1/s]
    soft_speed: float = 2.0  # v_0 [m/s]
    yaw_damping: float = 0.10  # d [s]
    understeer: float = 0.003  # K [s2/m]
    preview: float = 0.15  # [s]: steering and yaw lag of the vehicle
    speed: float = 1.5  # proportional [1/s]
    speed_integral: float = 0.3  # [1/s2]
    max_steering_rate: float = 14.0  # at the steering wheel [rad/s]


@dataclass(frozen=True)
class Sight:
    """What the autopilot sees: front axle (x, y) [m], yaw [rad], yaw rate [rad/s], speed [m/s]."""

    x: float
    y: float
    yaw: float
    yaw_rate: float
    speed: float


class Autopilot:
    """Keeps ``target`` [m/s] along the course; holds the speed integral and the last steering command."""

    def __init__(self, course: DoubleLaneChange, target: float, vehicle: Vehicle | None = None,
                 gains: Gains | None = None) -> None:
        """Starts with the steering wheel straight."""
        self.course, self.target = course, target
        self.vehicle, self.gains = vehicle or Vehicle(), gains or Gains()
        self._integral = 0.0  # [m/s2]
        self._steering = 0.0  # [rad], at the steering wheel

    @property
    def memory(self) -> tuple[float, float]:
        """All that the next command remembers: speed integral [m/s2] and last steering-wheel angle [rad]."""
        return self._integral, self._steering

    @memory.setter
    def memory(self, memory: tuple[float, float]) -> None:
        self._integral, self._steering = memory

    def command(self, sight: Sight) -> npt.NDArray[np.float64]:
        """Inputs in the order of ``OWNS`` [rad, rad/s, N.m] for the next period."""
        wanted = road_wheel_angle(self.course, sight, self.vehicle, self.gains) * self.vehicle.steering_ratio
        step = self.gains.max_steering_rate * PERIOD
        steering = self._steering + min(max(wanted - self._steering, -step), step)
        rate, self._steering = (steering - self._steering) / PERIOD, steering
        torque = self._torque(sight.speed)
        return np.array([steering, rate] + [max(torque, 0.0)] * 4 + [max(-torque, 0.0)] * 4)

    def _torque(self, speed: float) -> float:
        """Torque per wheel [N.m], braking negative."""
        error = self.target - speed
        per_acceleration = self.vehicle.mass * self.vehicle.wheel_radius / 4.0
        wanted = per_acceleration * (self.gains.speed * error + self._integral)
        torque = min(max(wanted, -self.vehicle.max_brake_torque), self.vehicle.max_drive_torque)
        if torque == wanted or (wanted - torque) * error < 0.0:
            self._integral += self.gains.speed_integral * error * PERIOD
        return torque


def road_wheel_angle(course: DoubleLaneChange, sight: Sight, vehicle: Vehicle, gains: Gains) -> float:
    """Road-wheel angle [rad], left positive; the law of the module's docstring."""
    _, heading, _ = course.path(sight.x)
    _, _, curvature = course.path(sight.x + gains.preview * sight.speed)
    error = course.lateral_error(sight.x, sight.y)
    heading_error = math.remainder(sight.yaw - heading, 2.0 * math.pi)
    forward = (vehicle.wheelbase + gains.understeer * sight.speed**2) * curvature
    back = heading_error + math.atan(gains.error * error / (gains.soft_speed + abs(sight.speed)))
    damping = gains.yaw_damping * (sight.yaw_rate - sight.speed * curvature)
    return min(max(forward - back - damping, -vehicle.max_road_wheel_angle), vehicle.max_road_wheel_angle)


def sight(state: State) -> Sight:
    """The autopilot's view of an output state; front axle = middle of the front wheel centres."""
    values = {name: np.asarray(state[name]) for name in ("wheel_FL.pos", "wheel_FR.pos", "ref_frame.ang_vel")}
    axle = 0.5 * (values["wheel_FL.pos"] + values["wheel_FR.pos"])
    return Sight(float(axle[0]), float(axle[1]), float(state["ref_frame.yaw"]),
                 float(values["ref_frame.ang_vel"][2]), float(state["speed"]))


def main(argv: list[str] | None = None) -> int:
    """Join a session as ``autopilot`` and drive."""
    parser = arguments("Autopilot: ISO 3888-1 double lane change at 50 Hz.")
    parser.add_argument("--speed", type=float, default=12.0, help="speed to keep [m/s] (default %(default)s)")
    parser.add_argument("--track-start", type=float, default=20.0, help="x of the first cones [m]")
    given = parse(parser, argv)
    course = DoubleLaneChange(start=given.track_start)
    pilot = Autopilot(course, given.speed)
    with Client.connect(given.address) as client, session_of(given, client) as session:
        tick = client.get_session(session).tick_seconds
        period, last = round(PERIOD / tick), round(given.duration / tick)
        with client.join(session, "autopilot", owns=OWNS, wants=WANTS, period=period, barrier_timeout=60.0) as member:
            recorder = Recorder(member, [*OWNS, *member.outputs, "lateral_error"])
            state, errors = member.start, []
            while True:
                seen = sight(state)
                inputs = pilot.command(seen)
                errors.append(course.lateral_error(seen.x, seen.y))
                recorder.row(state.time, [*inputs, *state.values, errors[-1]])
                if state.tick >= last:  # the last row is the final state, with inputs that nobody gets
                    break
                state = recorder.step(inputs)
    recorder.save(given.log, given.summary, ticks=state.tick,
                  lateral_error_rms=math.sqrt(float(np.mean(np.square(errors)))),
                  lateral_error_max=float(np.max(np.abs(errors))))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except JounceError as error:
        sys.exit(f"autopilot: {error}")
