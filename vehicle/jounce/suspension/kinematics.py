"""Exact kinematics of an axle of any kind, in numbers: where its coordinates and the steering put it.

For checks and reports. Positions come from Newton's method on the loops, followed from the design position, until it
has converged; what the emitted code does in a fixed number of steps is judged against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.axles import Axle as AxleData
from jounce.data import Vehicle
from jounce.dynamics.loops import Placed
from jounce.dynamics.mechanism import Mechanism, coordinate_names
from jounce.math.algebra import SX
from jounce.suspension.characteristics import SIDES, Position, Wheel, velocity
from jounce.suspension.inner_ends import InnerEnd, inner_end
from jounce.suspension.mechanisms.templates import mechanism_of

Array = NDArray[np.float64]
#: Largest change of a coordinate from one solved position to the next [rad or m].
_STRIDE = 0.05
_STEPS = 12
#: Largest error of a closed loop [m].
CLOSED = 1e-11


class NotClosedError(ArithmeticError):
    """The loops do not close at a position."""


@dataclass(frozen=True)
class Solution:
    """One side of an axle, or an axle whose wheels share a body, at one position."""

    q: Array
    """All coordinates."""
    motion: Array
    """(all, independent) rates of all coordinates per unit of each independent one"""
    steer: Array
    """(all,) rates per unit of the steering, independent ones at rest"""
    values: dict[str, Array]
    """What `Linkage` knows: `centre_k`, `axis_k`, `twist_k` (6, all), `spring_k`, its gradients, `jacobian` ..."""


class _Numeric:
    """A function of columns that is called with numbers, without the objects of CasADi that each would need."""

    def __init__(self, function: ca.Function) -> None:
        """``function``: with dense inputs and outputs."""
        self.names = function.name_out()
        self._given = [np.zeros(function.size1_in(k)) for k in range(function.n_in())]
        self._found = [np.zeros(function.size_out(k)[::-1]) for k in range(function.n_out())]
        self._buffer: Any  # casadi's stubs demand a size of its buffers that only C has
        self._buffer, self._evaluate = function.buffer()
        for k, array in enumerate(self._given):
            self._buffer.set_arg(k, array.data)
        for k, array in enumerate(self._found):
            if array.size:
                self._buffer.set_res(k, array.data)

    def __call__(self, *given: Sequence[float] | Array) -> list[Array]:
        for own, values in zip(self._given, given, strict=True):
            own[:] = values
        self._evaluate()
        return [np.array(found.T, order="C") for found in self._found]


class Linkage:
    """A mechanism on one side, in numbers."""

    def __init__(self, mechanism: Mechanism, end: InnerEnd | None, side: float = 1.0) -> None:
        """``end``: where the steering holds it; None where it has no such point."""
        self.mechanism, self.end, self.side = mechanism, end, side
        self.names = coordinate_names(mechanism)
        self.independent = [self.names.index(n) for n in mechanism.independent]
        self.dependent = [k for k in range(len(self.names)) if k not in self.independent]
        self.numbers = np.array(ca.evalf(mechanism.numbers(side)), dtype=float).ravel()
        self.row_names: tuple[str, ...] = ()
        self._function = self._made()
        self._design = np.zeros(len(self.independent) + 1), np.zeros(len(self.names))
        self._last = self._design

    def _made(self) -> _Numeric:
        m = self.mechanism
        q, place, numbers = SX.sym("q", len(self.names)), SX.sym("e", 3), SX.sym("n", m.layout().size)
        own = m.on(numbers)
        placed = Placed(own, q, {self.end.name: place} if self.end else {})
        rows = placed.rows()
        self.row_names = tuple(r.name for r in rows)
        residual = ca.vertcat(*(r.residual / r.unit for r in rows)) if rows else SX(0, 1)
        outputs: dict[str, SX] = {
            "residual": residual, "jacobian": ca.jacobian(residual, q), "by_place": ca.jacobian(residual, place),
        }
        for k, wheel in enumerate(own.wheels):
            rotation = placed.poses[wheel.on].rotation
            outputs[f"centre_{k}"] = placed.carried(wheel.on, wheel.centre)
            # the mirrored axis of a right corner is a pseudo-vector that stays to the left
            outputs[f"axis_{k}"] = rotation @ SX(wheel.axis)
            columns = placed.twist(wheel.on, SX.eye(len(self.names)))
            outputs[f"twist_{k}"] = ca.vertcat(columns.w, columns.v)
        for force in own.forces:
            apart = placed.point(force.upper) - placed.point(force.lower)
            length = ca.sqrt(ca.dot(apart, apart))
            label = f"{force.kind}_{force.wheel}"
            outputs[label] = length
            outputs[f"{label}_rate"] = ca.jacobian(length, q)
        given = [q, place, numbers]
        self._loops = _Numeric(ca.Function("loops", given, [ca.densify(residual), ca.densify(outputs["jacobian"])]))
        names = list(outputs)
        return _Numeric(ca.Function("linkage", given, [ca.densify(outputs[n]) for n in names],
                                    ["q", "place", "numbers"], names))  # fmt: skip

    def evaluate(self, q: Sequence[float] | Array, steer: float = 0.0) -> dict[str, Array]:
        """Everything at coordinates that need not close the loops."""
        place = self.end.at(steer)[0] if self.end else np.zeros(3)
        return dict(zip(self._function.names, self._function(q, place, self.numbers), strict=True))

    def solve(self, independent: Sequence[float] | Array, steer: float = 0.0) -> Solution:
        """The position where the independent coordinates and the steering are as told; raises NotClosedError."""
        target = np.append(np.asarray(independent, dtype=float), steer)
        # from the position solved last where that is nearer than the design position; both are on the same branch
        begin, q = min(self._last, self._design, key=lambda known: float(np.abs(target - known[0]).max()))
        parts = max(1, int(np.ceil(np.abs(target - begin).max() / _STRIDE)))
        for part in range(1, parts + 1):
            here = begin + (target - begin) * (part / parts)
            q = self._close(q, here[:-1], here[-1])
        self._last = target, q
        return self._solution(q, steer)

    def _close(self, start: Array, independent: Array, steer: float) -> Array:
        q = start.copy()
        q[self.independent] = independent
        error = 0.0
        place = self.end.at(steer)[0] if self.end else np.zeros(3)
        for _ in range(_STEPS if self.dependent else 0):
            found, jacobian = self._loops(q, place, self.numbers)
            residual = found.ravel()
            error = float(np.abs(residual).max())
            step, *_ = np.linalg.lstsq(jacobian[:, self.dependent], -residual, rcond=None)
            if not np.isfinite(step).all() or np.abs(step).max() > 1.0:
                break
            q[self.dependent] += step
            if error < 1e-13:
                return q
        if not error <= CLOSED:
            where = ", ".join(f"{n} = {v:.4g}" for n, v in zip(self.mechanism.independent, independent, strict=True))
            raise NotClosedError(f"{self.mechanism.name}: the loops do not close at {where}, steering {steer:.4g}")
        return q

    def _solution(self, q: Array, steer: float) -> Solution:
        values = self.evaluate(q, steer)
        size, n = len(self.names), len(self.independent)
        motion, moved = np.zeros((size, n)), np.zeros(size)
        motion[self.independent] = np.eye(n)
        if self.dependent:
            y1, y2 = values["jacobian"][:, self.dependent], values["jacobian"][:, self.independent]
            motion[self.dependent] = np.linalg.lstsq(y1, -y2, rcond=None)[0]
            if self.end:
                pull = values["by_place"] @ self.end.at(steer)[1]
                moved[self.dependent] = np.linalg.lstsq(y1, -pull, rcond=None)[0]
        return Solution(q, motion, moved, values)


@dataclass(frozen=True)
class Axle:
    """Both sides of an axle."""

    linkages: tuple[Linkage, ...]
    """Left and right, or one for both wheels."""

    @property
    def whole(self) -> bool:
        """Whether one mechanism has both wheels."""
        return len(self.linkages) == 1

    def solve(self, coordinates: Sequence[float] | Array, steer: float = 0.0) -> list[Solution]:
        """Both sides at the axle's two coordinates: left and right, or heave and roll."""
        if self.whole:
            return [self.linkages[0].solve(coordinates, steer)]
        return [m.solve([c], steer) for m, c in zip(self.linkages, coordinates, strict=True)]

    def position(self, coordinates: Sequence[float] | Array, steer: float = 0.0) -> Position:
        """Where the axle is at its two coordinates and that steering."""
        solved = self.solve(coordinates, steer)
        wheels = []
        lengths = {name: np.zeros(2) for name in ("spring", "shock")}
        rates = {name: np.zeros((2, 2)) for name in lengths}
        steered = {name: np.zeros(2) for name in lengths}
        for side in range(2):
            s, k = (solved[0], side) if self.whole else (solved[side], 0)
            own = slice(0, 2) if self.whole else slice(side, side + 1)
            twist = np.zeros((6, 2))
            columns = s.values[f"twist_{k}"]
            twist[:, own] = columns @ s.motion
            wheels.append(Wheel(s.values[f"centre_{k}"].ravel(), s.values[f"axis_{k}"].ravel(), twist,
                                columns @ s.steer))  # fmt: skip
            for name in lengths:
                label = f"{name}_{k}"
                if label in s.values:
                    gradient = s.values[f"{label}_rate"].reshape(1, -1)
                    lengths[name][side] = s.values[label].item()
                    rates[name][side, own] = (gradient @ s.motion).ravel()
                    steered[name][side] = (gradient @ s.steer).item()
        return Position((wheels[0], wheels[1]), lengths, rates, steered)

    def at_travel(
        self, travel: tuple[float, float], steer: float = 0.0, start: tuple[float, float] | Array = (0.0, 0.0)
    ) -> Array:
        """The two coordinates at which the wheel centres are so far above the design position [m], left and right.

        ``start``: coordinates of a position near by, where one is known. Raises NotClosedError where there are none.
        """
        coordinates, wanted = np.array(start, dtype=float), np.array(travel)
        begin = self._heights(coordinates, steer)[0]
        parts = max(1, int(np.ceil(np.abs(wanted - begin).max() / _STRIDE)))
        for part in range(1, parts + 1):
            for _ in range(_STEPS):
                heights, rise = self._heights(coordinates, steer)
                step = np.linalg.solve(rise, begin + (wanted - begin) * part / parts - heights)
                if np.abs(step).max() < 1e-12:
                    break
                coordinates = coordinates + step
            else:
                raise NotClosedError(f"{self.linkages[0].mechanism.name}: no position with the wheels at "
                                     f"{travel[0]:.4g} and {travel[1]:.4g} m")  # fmt: skip
        return coordinates

    def _heights(self, coordinates: Array, steer: float) -> tuple[Array, Array]:
        """(2,) travels of the wheel centres [m], (2, 2) their rates per unit of each coordinate."""
        position = self.position(coordinates, steer)
        rise = [velocity(w.twist, w.centre)[2] for w in position.wheels]
        return np.array([w.centre[2] for w in position.wheels]) - self._design_heights, np.array(rise)

    @cached_property
    def _design_heights(self) -> Array:
        return np.array([w.centre[2] for w in self.position((0.0, 0.0)).wheels])


def kinematics_of(vehicle: Vehicle, axle: AxleData) -> Axle:
    """The kinematics of one axle of a vehicle; raises DataError as `mechanism_of` does."""
    mechanism = mechanism_of(vehicle, axle.name, axle.kind)
    linkages = []
    for side in SIDES[:1] if mechanism.whole else SIDES:
        end = next((inner_end(vehicle, axle, name, side) for name in mechanism.prescribed), None)
        linkages.append(Linkage(mechanism, end, side))
    return Axle(tuple(linkages))

