"""A stand-in with the vehicle's very signal table: a kinematic bicycle on four wheels at fixed sinkage.

It tests the wiring of the programs, not the physics of a vehicle.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from jounce.axles import WHEELS
from jounce.data import load_vehicle
from jounce.models.double_wishbone.signals import table
from jounce_service.hosting.models import HostedInstance, InProcess, Registry

TABLE = table(load_vehicle("hmmwv"))
_IN = {s.name: s.index for s in TABLE.inputs}
_OUT = {s.name: s.index for s in TABLE.outputs}
_PLACES = dict(zip(WHEELS, [(1.65, 0.91), (1.65, -0.91), (-1.65, 0.91), (-1.65, -0.91)], strict=True))


class Bicycle(InProcess):
    """One instance."""

    tick_length = 0.001

    def __init__(self, speed: float) -> None:
        self.u = np.array([s.start for s in TABLE.inputs])
        self.x, self.y, self.yaw, self.speed, self.rate, self.ticks = 0.0, 0.0, 0.0, speed, 0.0, 0

    def set_inputs(self, values: NDArray[np.float64]) -> None:
        self.u = values.copy()

    def step(self, n_ticks: int) -> None:
        for _ in range(n_ticks):
            steer = self.u[_IN["steering_wheel_angle"]] / 26.0
            self.rate += (self.speed / 3.302 * math.tan(steer) - self.rate) * 0.01
            self.x += 1e-3 * self.speed * math.cos(self.yaw)
            self.y += 1e-3 * self.speed * math.sin(self.yaw)
            self.yaw += 1e-3 * self.rate
            self.ticks += 1

    def get_outputs(self) -> NDArray[np.float64]:
        out = np.zeros(len(_OUT))
        c, s = math.cos(self.yaw), math.sin(self.yaw)
        values = {"speed": self.speed, "ref_frame.yaw": self.yaw, "ref_frame.ang_vel.z": self.rate,
                  "com.lin_acc.y": self.rate * self.speed}
        for w in WHEELS:
            px, py = _PLACES[w]
            values |= {f"wheel_{w}.pos.x": self.x + c * px - s * py, f"wheel_{w}.pos.y": self.y + s * px + c * py,
                       f"wheel_{w}.pos.z": 0.44, f"wheel_{w}.rot.e0": math.cos(self.yaw / 2),
                       f"wheel_{w}.rot.e3": math.sin(self.yaw / 2), f"wheel_{w}.lin_vel.x": self.speed * c,
                       f"wheel_{w}.lin_vel.y": self.speed * s, f"wheel_{w}.omega": self.speed / 0.47,
                       f"wheel_{w}.tire_force.z": self.u[_IN[f"wheel_{w}.force.z"]] or 6300.0}
        for name, value in values.items():
            out[_OUT[name]] = value
        return out

    def get_state(self) -> bytes:
        return b""

    def free(self) -> None:
        pass


class Model:
    """The stand-in as a HostedModel."""

    table = TABLE
    tick_length = 0.001
    build = "stand-in"

    def create(self, name: str, parameters: Mapping[str, float], start_inputs: Mapping[str, float]) -> HostedInstance:
        return Bicycle(parameters.get("init.speed", 0.0))


def registry() -> Registry:
    """One model, under the vehicle's name."""
    return Registry({"hmmwv": Model})
