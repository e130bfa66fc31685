"""The longest explicit step of a loaded corner: eigenvalues on bushings and with rigid joints.

The chassis is held, without gravity; a load pushes the wheel's centre up. The corner comes to rest and is linearized
there. A step of the classical Runge-Kutta method is stable as long as |1 + z + z2/2 + z3/6 + z4/24| <= 1 for every
z = h lambda (Hairer and Wanner, Solving Ordinary Differential Equations II, section IV.2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.data import Vehicle
from jounce.formulations.augmented import Augmented
from jounce.formulations.bushing import Bushed, loss_damping
from jounce.formulations.embedded import Embedded
from jounce.formulations.whole import linear
from jounce.math.algebra import SX
from jounce.suspension.mechanisms.templates import mechanism_of

Array = NDArray[np.float64]
#: Load of a wheel [N].
LOAD = 9e3
#: Stiffnesses of the table [N/m].
STIFFNESSES = (1e6, 5e6, 2e7, 3.5e7, 7e7, 1e9)
#: Newton's steps to rest, the longest of one coordinate [rad or m], and where they end.
STEPS, LONGEST, SETTLED = 200, 0.05, 1e-13
#: How much the search for the stable step grows it by, and what rounding may add to |R|.
GROWTH, ROUNDING = 1.02, 1e-9


@dataclass(frozen=True)
class Rest:
    """A corner at rest under its load."""

    hub: Array
    """Place of the wheel's centre [m]."""
    axis: Array
    """Spin axis, to the left."""
    eigenvalues: NDArray[np.complex128]
    """Of the linearized corner [1/s]."""

    @property
    def fastest(self) -> float:
        """Largest size of an eigenvalue [1/s]."""
        return float(np.abs(self.eigenvalues).max())

    @property
    def camber(self) -> float:
        """Inclination of the axis [rad]."""
        return float(np.arcsin(self.axis[2]))

    @property
    def step(self) -> float:
        """Longest stable step [s]."""
        return longest_step(self.eigenvalues)


class Loaded:
    """A corner of one formulation without rows under a load."""

    def __init__(self, form: Augmented, load: float = LOAD, parameters: Sequence[SX] = ()) -> None:
        """``parameters``: symbols in the corner's equations, which `rest` gives numbers."""
        c = form.symbols()
        told = [ca.vertcat(ca.evalf(SX(p)), ca.DM.zeros(9)) for p in form.mechanism.prescribed.values()]
        fixed = ca.vertcat(ca.DM.zeros(1), *told, ca.DM([0, 0, 0, 0, 0, load, 0, 0, 0, 0, 0, 0]))
        free = ca.vertcat(*c.all()[2:])
        moved, [wheel] = form.moved(c), form.mechanism.wheels
        found = [form.gathered(c).acceleration(SX.zeros(6)), moved.placed.carried(wheel.on, wheel.centre),
                 moved.placed.poses[wheel.on].rotation @ SX(wheel.axis)]  # fmt: skip
        acceleration, hub, axis = ca.substitute(found, [free], [SX(fixed)])
        x = ca.vertcat(c.position, c.rates)
        self.size, self.name = form.size, form.mechanism.name
        self._rates = ca.Function("rates", [x, *parameters], [acceleration, ca.jacobian(acceleration, x)])
        self._hub = ca.Function("hub", [c.position], [hub, axis])

    def rest(self, *values: float) -> Rest:
        """At rest with the parameters of those values. Raises ArithmeticError where Newton's method finds no rest."""
        n, x = self.size, np.zeros(2 * self.size)
        for _ in range(STEPS):
            acceleration, slope = (np.array(v) for v in self._rates(x, *values))
            change = -np.linalg.solve(slope[:, :n], acceleration).ravel()
            x[:n] += min(1.0, LONGEST / np.abs(change).max()) * change
            if np.abs(change).max() < SETTLED:
                break
        else:
            raise ArithmeticError(f"{self.name}: no rest under the load after {STEPS} steps")
        slope = np.array(self._rates(x, *values)[1])
        matrix = np.block([[np.zeros((n, n)), np.eye(n)], [slope]])
        hub, axis = (np.array(v).ravel() for v in self._hub(x[:n]))
        return Rest(hub, axis, np.linalg.eigvals(matrix))


def longest_step(eigenvalues: NDArray[np.complex128]) -> float:
    """Longest step [s] up to which all steps of the classical Runge-Kutta method are stable; inf for zeros alone."""
    fastest = float(np.abs(eigenvalues).max())
    if fastest == 0.0:
        return float("inf")

    def stable(step: float) -> bool:
        z = step * eigenvalues
        return bool(np.all(np.abs(1 + z * (1 + z / 2 * (1 + z / 3 * (1 + z / 4)))) <= 1 + ROUNDING))

    good = 1e-3 / fastest
    while stable(GROWTH * good):
        good *= GROWTH
    bad = GROWTH * good
    for _ in range(40):
        middle = 0.5 * (good + bad)
        good, bad = (middle, bad) if stable(middle) else (good, middle)
    return good


@dataclass(frozen=True)
class Limit:
    """A corner on bushings of one stiffness against the rigid one."""

    stiffness: float
    """[N/m]"""
    apart: Array
    """Wheel's centre from that of the rigid corner [m]."""
    camber: float
    """Change of inclination [rad]."""
    fastest: float
    """[1/s], without damping."""
    steps: dict[str, float]
    """Longest step [s] without damping (`none`), with a loss factor (`loss`), with C = 1e-3 K and 0.05 K."""


class Corner:
    """One corner of a vehicle on linear struts, rigid and on bushings."""

    def __init__(
        self, vehicle: Vehicle, axle: str = "front", kind: str = "double_wishbone", load: float = LOAD
    ) -> None:
        """Raises DataError or ValueError for an axle that has no tree on bushings."""
        self._mechanism, self._load = linear(mechanism_of(vehicle, axle, kind)), load

    @cached_property
    def rigid(self) -> Rest:
        """With rigid joints."""
        return Loaded(Embedded(self._mechanism), self._load).rest()

    @cached_property
    def _bushed(self) -> Loaded:
        k, c = SX.sym("k"), SX.sym("c")
        return Loaded(Bushed(self._mechanism, stiffness=k, damping=c), self._load, [k, c])

    def bushed(self, stiffness: float, damping: float = 0.0) -> Rest:
        """On bushings [N/m, N s/m]."""
        return self._bushed.rest(stiffness, damping)

    def limit(self, stiffness: float) -> Limit:
        """One row of the table."""
        rest = self.bushed(stiffness)
        damped = {"loss": loss_damping(stiffness), "0.001 K": 1e-3 * stiffness, "0.05 K": 0.05 * stiffness}
        steps = {"none": rest.step} | {name: self.bushed(stiffness, c).step for name, c in damped.items()}
        return Limit(stiffness, rest.hub - self.rigid.hub, rest.camber - self.rigid.camber, rest.fastest, steps)

    def limits(self) -> list[Limit]:
        """The table."""
        return [self.limit(k) for k in STIFFNESSES]
