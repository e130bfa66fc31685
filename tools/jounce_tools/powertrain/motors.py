"""Electric motors of a vehicle in steady driving, from its data: torque, tractive and braking force, battery power.

Equations and sources: `jounce.powertrain.electric`. With the ratios i of the differential and i_h of the hubs, the
radius R on which the vehicle stands and the torque T of an axle's motors at their speed w,

    v = R w / (i i_h),    F = (T - (1 - eta) |T|) i i_h / R

The gears' losses are whole at every speed, and regeneration does not fade at the smallest ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jounce.axles import AXLES
from jounce.data import Vehicle
from jounce_tools.powertrain.maps import Standing

__all__ = ["Motors", "Traction", "text"]

Array = NDArray[np.float64]
_POINTS = 301
"""Of a curve."""
_RPM = 30 / np.pi


@dataclass(frozen=True)
class Traction:
    """Steady driving and braking by rising speed; all (n,)."""

    speed: Array
    """[m/s]"""
    force: Array
    """Of the tires on the vehicle [N]."""
    released: Array
    """The same with the accelerator released [N]."""
    braked: Array
    """And with the brake pedal pressed: of the motors alone [N]."""
    power: Array
    """Of the battery with that force [W]."""


class Motors:
    """Of a vehicle with an electric powertrain."""

    def __init__(self, vehicle: Vehicle) -> None:
        """Takes the vehicle's numbers as they are."""
        self._vehicle = vehicle
        driven = sum(axle.driven for axle in vehicle.axles)
        self.axles = tuple(AXLES)[:driven]
        """Names that the entries of its driven axles have."""

    def count(self, axle: str) -> int:
        """Motors of an axle."""
        return round(self._vehicle[f"motor.{axle}.at"])

    def ratio(self, axle: str) -> float:
        """Speed of its motors over that of the wheels."""
        return self._vehicle[f"differential.{axle}.ratio"] * self._vehicle["hub.ratio"]

    def limit(self, axle: str, speed: Array) -> Array:
        """Largest torque [N.m] of one of its motors at those speeds [rad/s]."""
        most, power = (self._vehicle[f"motor.{axle}.max_{name}"] for name in ("torque", "power"))
        return power / np.maximum(speed, power / most)

    def torque(self, axle: str, speed: Array, throttle: float) -> Array:
        """What it gives with the accelerator pressed by that share: what is released of it brakes."""
        v = self._vehicle
        room = np.clip((v["motor.limit_speed"] - speed) / v["motor.limit_droop"], 0.0, 1.0)
        return (throttle * room - (1 - throttle) * v["regeneration.released"]) * self.limit(axle, speed)

    def traction(self, standing: Standing, throttle: float = 1.0) -> Traction:
        """Up to the speed at which no motor drives."""
        v = self._vehicle
        most = v["motor.limit_speed"] * standing.radius
        speed = np.linspace(0.0, max(most / self.ratio(axle) for axle in self.axles), _POINTS)
        shares = (v["regeneration.released"], min(1.0, v["regeneration.released"] + v["regeneration.pedal"]))
        forces, power = np.zeros((3, _POINTS)), np.full(_POINTS, v["battery.load"])
        for axle in self.axles:
            w = speed / standing.radius * self.ratio(axle)
            brakes = [-share * self.limit(axle, w) for share in shares]
            for force, torque in zip(forces, (self.torque(axle, w, throttle), *brakes), strict=True):
                onto = torque - (1 - v["driveline.efficiency"]) * np.abs(torque)
                force += self.count(axle) * onto * self.ratio(axle) / standing.radius
            shaft = self.count(axle) * self.torque(axle, w, throttle) * w
            power += np.where(shaft > 0, shaft / v["motor.efficiency"], shaft * v["motor.efficiency"])
        return Traction(speed, forces[0], forces[1], forces[2], power)


def text(vehicle: Vehicle) -> Iterator[str]:
    """Lines for people about its data. Whether the numbers can be used the model tells."""
    motors, v = Motors(vehicle), vehicle
    for axle in motors.axles:
        count, ratio = motors.count(axle), motors.ratio(axle)
        place = "at each wheel" if count > 1 else "with a differential"
        most, power = (v[f"motor.{axle}.max_{name}"] for name in ("torque", "power"))
        yield (f"{axle}: {count} motor{'s' if count > 1 else ''} {place}, {most:.0f} N.m and {power / 1e3:.0f} kW "
               f"from {power / most * _RPM:.0f} rpm on, up to {v['motor.limit_speed'] * _RPM:.0f} rpm; "
               f"{ratio:.2f} to 1")  # fmt: skip
    yield (f"battery: {v['battery.capacity'] / 3.6e6:.1f} kWh, charged to {v['battery.initial_charge']:.0%}; "
           f"{v['battery.load']:.0f} W beside the motors, whose efficiency is {v['motor.efficiency']:.2f}")  # fmt: skip
    yield (f"regeneration: {v['regeneration.released']:.0%} of the motors' limit with the accelerator released, "
           f"{v['regeneration.pedal']:.0%} more by the brake pedal")  # fmt: skip
