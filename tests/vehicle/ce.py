"""The functions of the vehicle's schedule, put together in numpy as the emitted C puts them together."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.contact import body as outline
from jounce.data import Vehicle
from jounce.dynamics.schedule import compose
from jounce.models.double_wishbone import parameters
from jounce.models.double_wishbone.functions import functions, numbers
from jounce.models.double_wishbone.schedule import EVALUATION
from jounce.suspension import double_wishbone as corner

Array = NDArray[np.float64]


def flat(x: ca.DM) -> Array:
    return np.array(x).ravel()


def rotation(q: Array) -> Array:
    """Chassis axes to world axes of a unit quaternion w x y z."""
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])  # fmt: skip


class Ce:
    """One vehicle's generated functions with its derived numbers."""

    def __init__(self, vehicle: Vehicle) -> None:
        self.vehicle = vehicle

    def __getattr__(self, name: str) -> Any:
        """The rest is made when first asked for: not when tests are collected, which each worker does."""
        if name.startswith("_") or "functions" in self.__dict__:
            raise AttributeError(name)
        self._make()
        return getattr(self, name)

    def _make(self) -> None:
        vehicle, self.functions = self.vehicle, functions()
        self.vectors = numbers(vehicle)
        self.numbers = [flat(n) for n in self.vectors["corner numbers"]]
        self.inner_numbers = [flat(n) for n in self.vectors["inner numbers"]]
        self.linkage, self.own = flat(self.vectors["linkage"]), flat(self.vectors["chassis numbers"])
        self.corner, self.steering, self.inner = (self.functions[n] for n in ("corner", "steering", "inner"))
        self.inward_sweep, self.outward_sweep, self.chassis = (
            self.functions[n] for n in ("inward_sweep", "outward_sweep", "chassis"))
        self.wheel_axial = [flat(n) for n in self.vectors["axial"]]
        p = {name: ca.SX(entry.value) for name, entry in vehicle.entries.items()}
        self.outline = [np.concatenate([flat(ca.evalf(parameters.outline_points(p, name, a, s)))
                                        for name in outline.POINTS]) for a, s in parameters.CORNERS]  # fmt: skip
        self.contact = np.array([vehicle[f"chassis.contact.{name}"] for name in outline.CONTACT.sizes])

    def inner_end(self, k: int, arm: tuple[float, float, float]) -> Array:
        """(end, unit, velocity, acceleration), 12 numbers, of corner k for the arm angle, rate, acceleration."""
        return flat(self.inner(self.steering(list(arm), self.linkage), self.inner_numbers[k]))

    def raw(self, k: int, theta: float, rate: float = 0.0, spin: float = 0.0,
            arm: tuple[float, float, float] = (0.0, 0.0, 0.0), omega: Array | None = None) -> Array:
        turning = np.zeros(3) if omega is None else omega
        return flat(self.corner([theta, rate, spin], self.inner_end(k, arm), turning, self.numbers[k]))

    def at(self, k: int, theta: float, **motion: object) -> dict[str, Array]:
        """The corner's named outputs."""
        return self.named(self.raw(k, theta, **motion))  # type: ignore[arg-type]

    @staticmethod
    def named(raw: Array) -> dict[str, Array]:
        o = corner.OUTPUTS
        return {n: raw[o.first[n] : o.first[n] + size] for n, size in o.sizes.items()}

    def accelerations(self, theta: Array, rate: Array, spin: Array, arm: tuple[float, float, float], omega: Array,
                      gravity: Array, force: Array, moment: Array, drive: Array, brake: Array,
                      ) -> tuple[Array, Array, Array, Array]:
        """(angular, linear, theta, spin) accelerations; all vectors in chassis axes."""
        loads = [ca.DM(np.concatenate([force[k], moment[k], [drive[k], brake[k]]])) for k in range(4)]
        vectors = {
            **self.vectors, "arm": ca.DM(arm), "angular": ca.DM(omega), "wheel": loads, "wrench": ca.DM(6, 1),
            "corner state": [ca.DM([theta[k], rate[k], spin[k]]) for k in range(4)],
        }  # fmt: skip
        compose(EVALUATION, self.functions, vectors)
        acc, back = flat(vectors["acceleration"]), np.array([flat(b) for b in vectors["back"]])
        return acc[:3], acc[3:] + gravity, back[:, 0], back[:, 1]
