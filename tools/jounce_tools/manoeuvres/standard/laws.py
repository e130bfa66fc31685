"""How manoeuvres are driven: steering over time, speed held, paths followed, brakes pressed.

A law is a function of the state that gives the driver's inputs; see `bench.driver_inputs`. Steering over time is that
of the middle of the period in which it is held, which is right to second order in the period.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from jounce_tools.manoeuvres.bench import PERIOD, Car, State

Steering = Callable[[float], float]
"""Steering-wheel angle [rad] at a time [s]."""


@dataclass
class Cruise:
    """Holds a speed with equal torques on the driven wheels, and brakes on all; a PI law with anti-windup.

    The same law as `jounce.driver`, for any number of wheels. ``most`` and ``least`` are accelerations [m/s2].
    """

    car: Car
    target: Callable[[float], float]
    proportional: float = 1.5
    integral: float = 0.3
    most: float = 4.0
    least: float = -6.0
    _sum: float = 0.0

    def torques(self, state: State) -> list[float]:
        """Drive torques, then brake torques, one per wheel [N.m]."""
        error = self.target(float(state.time)) - float(state["speed"])
        wanted = self.proportional * error + self._sum
        given = min(max(wanted, self.least), self.most)
        if given == wanted or (wanted - given) * error < 0.0:
            self._sum += self.integral * error * PERIOD
        force = given * self.car.mass * self.car.radius
        return wheel_torques(self.car, max(force, 0.0), max(-force, 0.0))


def wheel_torques(car: Car, drive: float, brake: float) -> list[float]:
    """Equal parts of the drive torque on the driven wheels and of the brake torque on all [N.m]."""
    driven = car.driven or car.wheels
    return [*(drive / len(driven) if w in driven else 0.0 for w in car.wheels),
            *(brake / len(car.wheels) for _ in car.wheels)]  # fmt: skip


def released(car: Car) -> list[float]:
    """No drive, no brake."""
    return [0.0] * (2 * len(car.wheels))


def steered(steering: Steering, torques: Callable[[State], list[float]]) -> Callable[[State], list[float]]:
    """Steering over time, with the torques of another law."""
    return lambda state: [steering(float(state.time) + 0.5 * PERIOD), *torques(state)]


def step(begin: float, height: float, rate: float) -> Steering:
    """From 0 to ``height`` [rad] at ``rate`` [rad/s], starting at ``begin`` [s]."""
    return lambda t: math.copysign(min(max(rate * (t - begin), 0.0), abs(height)), height)


def sine(begin: float, frequency: float, height: float, periods: float) -> Steering:
    """Whole sine waves; 0 before and after."""

    def at(t: float) -> float:
        phase = frequency * (t - begin)
        return height * math.sin(2.0 * math.pi * phase) if 0.0 < phase < periods else 0.0

    return at


def sine_with_dwell(begin: float, height: float, frequency: float = 0.7, dwell: float = 0.5) -> Steering:
    """A sine wave whose second peak is held for ``dwell`` [s]. Source: 49 CFR 571.126, S7.9 (0.7 Hz, 500 ms)."""

    def at(t: float) -> float:
        phase = frequency * (t - begin)
        if phase > 0.75:
            phase = max(0.75, phase - frequency * dwell)
        return height * math.sin(2.0 * math.pi * phase) if 0.0 < phase < 1.0 else 0.0

    return at


def straight(car: Car, heading: float = 1.0, damping: float = 0.3) -> Callable[[State], float]:
    """Steers back to the x axis: road-wheel angle -(heading psi + damping r + y / 40 m); gains in 1 and s."""

    def at(state: State) -> float:
        road = (heading * math.sin(float(state["ref_frame.yaw"])) + damping * float(state["ref_frame.ang_vel"][2])
                + math.atan(float(state["ref_frame.pos"][1]) / 40.0))  # fmt: skip
        wanted = -road * car.ratio
        return min(max(wanted, -car.most_steering), car.most_steering)

    return at


@dataclass
class Circle:
    """Follows a circle to the left that touches the x axis at the start.

    The wanted lateral acceleration is v^2 / R + w^2 e + 2 w v psi_e + i, with the distance e of the first axle outside
    the circle, the angle psi_e by which its motion points out of it, and the integral i of e; steering gives it as in a
    neutral vehicle, L a / v^2. So the path answers like a critically damped system of the frequency w.
    """

    car: Car
    radius: float
    brisk: float = 1.0
    """w [rad/s]."""
    _sum: float = 0.0

    def steering(self, state: State) -> float:
        """Steering-wheel angle [rad]."""
        x, y = front(state, self.car)
        speed = max(float(state["speed"]), 2.0)
        out = math.hypot(x, y - self.radius) - self.radius
        ahead = self.car.wheelbase - self.car.ahead
        motion = float(state["ref_frame.yaw"]) + float(state["sideslip"]) + ahead * float(
            state["ref_frame.ang_vel"][2]) / speed  # fmt: skip
        outwards = math.remainder(math.atan2(x, self.radius - y) - motion, 2.0 * math.pi)
        self._sum += 0.3 * self.brisk**3 * out * PERIOD
        wanted = speed**2 / self.radius + self.brisk**2 * out + 2.0 * self.brisk * speed * outwards + self._sum
        angle = self.car.wheelbase * wanted / speed**2 * self.car.ratio
        return min(max(angle, -self.car.most_steering), self.car.most_steering)


def front(state: State, car: Car) -> tuple[float, float]:
    """Middle of the first axle [m]."""
    left, right = (np.asarray(state[f"wheel_{w}.pos"]) for w in car.wheels[:2])
    return float(0.5 * (left[0] + right[0])), float(0.5 * (left[1] + right[1]))
