"""A driver at 50 Hz that follows a course at constant speed.

Steering: curvature feedforward with understeer compensation, plus the feedback of Stanley's controller,

    delta = L k + K v^2 k - psi_e - atan(g e / (v_0 + v)) - d (r - v k),

with e the lateral error of the front axle and psi_e the heading error (both left positive), k the curvature a
preview time ahead and r the yaw rate. Source: Hoffmann, Tomlin, Montemerlo and Thrun, Autonomous automobile
trajectory tracking for off-road driving, ACC 2007, eqs. 5 and 9-11 (here with the opposite sign of the error); K is the
understeer gradient, e.g. Rajamani, Vehicle Dynamics and Control (2012), section 3.3.

Speed: a PI controller of the speed error with anti-windup, which sets equal drive torques on the driven wheels or equal
brake torques on all.

The gains are tuned by hand for the HMMWV at 8 to 15 m/s; they are not measured properties of a driver.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from jounce.axles import WHEELS
from jounce.course import DoubleLaneChange

PERIOD = 0.02  # [s]


def sees(wheels: Sequence[str]) -> tuple[str, ...]:
    """Signals of the vehicle that the driver uses."""
    return (*(f"wheel_{w}.pos" for w in wheels[:2]), "ref_frame.yaw", "ref_frame.ang_vel", "speed")


def gives(wheels: Sequence[str]) -> list[str]:
    """Inputs that the driver sets."""
    return ["steering_wheel_angle", "steering_wheel_rate",
            *(f"wheel_{w}.drive_torque" for w in wheels), *(f"wheel_{w}.brake_torque" for w in wheels)]


#: The same for a vehicle of two axles.
SEES, GIVES = sees(WHEELS), gives(WHEELS)


class Outputs(Protocol):
    """Values by signal name."""

    def __getitem__(self, name: str, /) -> Any:
        """The value of a scalar, or an array with the components of a vector."""


class Course(Protocol):
    """A path along x."""

    def path(self, x: float, /) -> tuple[float, float, float]:
        """y [m], heading [rad] and curvature [1/m] at x [m]."""

    def lateral_error(self, x: float, y: float, /) -> float:
        """Distance of a place from the path [m], left positive."""


@dataclass(frozen=True)
class Vehicle:
    """Data of the vehicle that the autopilot uses."""

    wheelbase: float = 3.302  # [m]
    mass: float = 2573.0  # [kg]
    wheel_radius: float = 0.47  # [m]
    steering_ratio: float = 26.0  # steering wheel to Pitman arm, whose angle is about that of the road wheels [1]
    max_road_wheel_angle: float = math.radians(28.0)  # [rad], inside the arm's 30 degrees
    max_drive_torque: float = 2500.0  # [N.m] per driven wheel
    max_brake_torque: float = 4000.0  # [N.m] per wheel
    wheels: tuple[str, ...] = WHEELS  # the first two are those of the front axle
    driven: tuple[str, ...] = WHEELS


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
    """Measurements of the autopilot: front axle (x, y) [m], yaw [rad], yaw rate [rad/s], speed [m/s]."""

    x: float
    y: float
    yaw: float
    yaw_rate: float
    speed: float


class Autopilot:
    """Follows the course at the speed ``target`` [m/s]; its state is the speed integral and the last steering angle."""

    def __init__(self, course: DoubleLaneChange, target: float, vehicle: Vehicle | None = None,
                 gains: Gains | None = None) -> None:
        """Starts with the steering wheel straight."""
        self.course, self.target = course, target
        self.vehicle, self.gains = vehicle or Vehicle(), gains or Gains()
        self._integral = 0.0  # [m/s2]
        self._steering = 0.0  # [rad], at the steering wheel

    @property
    def memory(self) -> tuple[float, float]:
        """State of the controller: speed integral [m/s2] and last steering-wheel angle [rad]."""
        return self._integral, self._steering

    @memory.setter
    def memory(self, memory: tuple[float, float]) -> None:
        self._integral, self._steering = memory

    def take_over(self, inputs: npt.NDArray[np.float64]) -> None:
        """Continues from ``inputs``, in the order of `gives`; the speed integral starts with their torque."""
        self._steering = float(inputs[0])
        drive, brake = np.split(np.asarray(inputs[2:]), 2)
        self._integral = float(np.mean(drive) - np.mean(brake)) / self._per_acceleration

    @property
    def _per_acceleration(self) -> float:
        """Torque per wheel, shared by all, for an acceleration of the vehicle [N.m per m/s2]."""
        return self.vehicle.mass * self.vehicle.wheel_radius / len(self.vehicle.wheels)

    def command(self, sight: Sight) -> npt.NDArray[np.float64]:
        """Inputs in the order of `gives` [rad, rad/s, N.m] for the next period."""
        wanted = road_wheel_angle(self.course, sight, self.vehicle, self.gains) * self.vehicle.steering_ratio
        step = self.gains.max_steering_rate * PERIOD
        steering = self._steering + min(max(wanted - self._steering, -step), step)
        rate, self._steering = (steering - self._steering) / PERIOD, steering
        torque, wheels, driven = self._torque(sight.speed), self.vehicle.wheels, self.vehicle.driven
        drive = max(torque, 0.0) * len(wheels) / len(driven)
        return np.array([steering, rate, *(drive if w in driven else 0.0 for w in wheels),
                         *[max(-torque, 0.0)] * len(wheels)])  # fmt: skip

    def _torque(self, speed: float) -> float:
        """Torque per wheel, shared by all [N.m], braking negative."""
        error, vehicle = self.target - speed, self.vehicle
        most = vehicle.max_drive_torque * len(vehicle.driven) / len(vehicle.wheels)
        wanted = self._per_acceleration * (self.gains.speed * error + self._integral)
        torque = min(max(wanted, -vehicle.max_brake_torque), most)
        if torque == wanted or (wanted - torque) * error < 0.0:
            self._integral += self.gains.speed_integral * error * PERIOD
        return torque


def road_wheel_angle(course: Course, sight: Sight, vehicle: Vehicle, gains: Gains) -> float:
    """Road-wheel angle [rad], left positive, by the law in the module's docstring."""
    _, heading, _ = course.path(sight.x)
    _, _, curvature = course.path(sight.x + gains.preview * sight.speed)
    error = course.lateral_error(sight.x, sight.y)
    heading_error = math.remainder(sight.yaw - heading, 2.0 * math.pi)
    forward = (vehicle.wheelbase + gains.understeer * sight.speed**2) * curvature
    back = heading_error + math.atan(gains.error * error / (gains.soft_speed + abs(sight.speed)))
    damping = gains.yaw_damping * (sight.yaw_rate - sight.speed * curvature)
    return min(max(forward - back - damping, -vehicle.max_road_wheel_angle), vehicle.max_road_wheel_angle)


def sight(outputs: Outputs, wheels: Sequence[str] = WHEELS) -> Sight:
    """The measurements from the outputs that it `sees`; the front axle is the middle of the front wheel centres."""
    left, right = (np.asarray(outputs[f"wheel_{w}.pos"]) for w in wheels[:2])
    axle = 0.5 * (left + right)
    return Sight(float(axle[0]), float(axle[1]), float(outputs["ref_frame.yaw"]),
                 float(np.asarray(outputs["ref_frame.ang_vel"])[2]), float(outputs["speed"]))
