"""The symbolic functions of `jounce.symbolic`, put together in numpy as the emitted C puts them together."""

from __future__ import annotations

from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.data import Vehicle
from jounce.symbolic import articulated, corner, parameters, steering

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
        p = {k: ca.SX(e.value) for k, e in vehicle.entries.items()}
        self.numbers = [flat(ca.evalf(parameters.corner_numbers(p, a, s))) for a, s in parameters.CORNERS]
        self.linkage = flat(ca.evalf(steering.linkage_numbers(p)))
        self.inner_numbers = [flat(ca.evalf(steering.inner_numbers(p, a, s))) for a, s in parameters.CORNERS]
        self.own = flat(ca.evalf(parameters.chassis_inertia(p)))
        self.corner, self.steering, self.inner = corner.function(), steering.function(), steering.inner_function()
        self.eliminate, self.expand = articulated.eliminate_function(), articulated.expand_function()
        self.chassis = articulated.chassis_function()

    @cached_property
    def wheel_axial(self) -> list[Array]:
        first = corner.NUMBERS.first
        return [n[[first["wheel_along"], first["shaft"]]] for n in self.numbers]

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
        raw = [self.raw(k, theta[k], rate[k], spin[k], arm, omega) for k in range(4)]
        loads = [np.concatenate([force[k], moment[k], [drive[k], brake[k]]]) for k in range(4)]
        gathered = [flat(self.eliminate(raw[k], loads[k], self.wheel_axial[k])) for k in range(4)]
        total = sum((g[:27] for g in gathered), np.zeros(27))
        acc = flat(self.chassis(self.own, omega, total, np.zeros(6)))
        back = np.array([flat(self.expand(raw[k], gathered[k], acc, self.wheel_axial[k])) for k in range(4)])
        return acc[:3], acc[3:] + gravity, back[:, 0], back[:, 1]
