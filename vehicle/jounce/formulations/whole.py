"""A whole vehicle of four corners in one formulation, for runs that show how closed its loops stay.

Chassis, corners, linear springs and dampers, tires as vertical springs with lateral damping, no gears: only the
treatment of the joints differs between formulations. The wheels do not spin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.data import Vehicle
from jounce.dynamics.articulated import chassis_acceleration, lower
from jounce.dynamics.mechanism import Mechanism
from jounce.formulations.augmented import Augmented, Cartesian, Inputs, Tree
from jounce.math.algebra import SX, cross, rotation
from jounce.models.double_wishbone.functions import functions, numbers

Array = NDArray[np.float64]
#: Strut of the comparison: spring [N/m], damper [N s/m], force in the design position [N].
SPRING, DAMPER, PRELOAD = 441.3e3, 17.5e3, 11.5e3
#: Tire as a spring [N/m] with dampers, vertical and lateral [N s/m].
TIRE, TIRE_DAMPER, TIRE_LATERAL = 580e3, 4e3, 3e3
#: Position 3, quaternion 4, angular velocity 3 and velocity 3 of the chassis in its own axes.
CHASSIS = 13
GRAVITY = 9.80665
Steer = Callable[[float], tuple[float, float, float]]
"""Time [s] -> angle, rate and acceleration of the Pitman arm."""


def linear(mechanism: Mechanism, *, damped: bool = True) -> Mechanism:
    """The mechanism with one linear spring and damper in the place of the shock."""
    shock = next(f for f in mechanism.forces if f.kind == "shock")
    spring = next(f for f in mechanism.forces if f.kind == "spring")
    d = SX(shock.upper.point) - SX(shock.lower.point)
    zero = SX(11, 1)
    none = {"min_length": 0.0, "max_length": 10.0, "stop_depth": SX(ca.DM(np.linspace(0, 1, 11))), "stop_force": zero}
    law = {"k1": SPRING, "k3": 0.0, "table_step": 1e-3, "rest_length": ca.norm_2(d), "preload": PRELOAD, **none}
    c = DAMPER if damped else 0.0
    damper = {"compression": c, "rebound": c, "bump_compression": c, "bump_rebound": c, "shock_min": 0.0,
              "shock_max": 10.0, "shock_closed": 0.0, "shock_extended": 10.0, "end_stiffness": 0.0,
              "end_damping": 0.0}  # fmt: skip
    return replace(mechanism, forces=(replace(spring, lower=shock.lower, upper=shock.upper, law=law),
                                      replace(shock, law=damper)))  # fmt: skip


def swerve(time: float) -> tuple[float, float, float]:
    """The Pitman arm by +-10 deg at 0.5 Hz from 1 s, faded in over 0.5 s by a polynomial with two zero derivatives."""
    a, w, t = np.deg2rad(10.0), np.pi, time - 1.0
    if t <= 0.0:
        return 0.0, 0.0, 0.0
    s = min(2 * t, 1.0)
    f, f1, f2 = s**3 * (10 - 15 * s + 6 * s * s), 60 * s * s * (1 - s) ** 2, 240 * s * (1 - s) * (1 - 2 * s)
    x, v = a * np.sin(w * t), a * w * np.cos(w * t)
    return f * x, f1 * x + f * v, f2 * x + 2 * f1 * v - f * w * w * x


@dataclass(frozen=True)
class Closure:
    """How the loops are kept closed."""

    alpha: float = 0.0
    """Baumgarte's [1/s]."""
    project: bool = False
    """Positions and velocities put back on the rows after every step, by the least change."""


class Whole:
    """Equations of motion of the vehicle with four corners of one formulation."""

    def __init__(self, vehicle: Vehicle, corners: Sequence[Augmented], radius: float, drop: float = 0.054) -> None:
        """``corners``: front left and right, rear left and right; ``drop``: how high the tires start [m]."""
        self.corners, self.radius = tuple(corners), radius
        self.first = np.cumsum([CHASSIS, *(f.places + f.size for f in self.corners)])
        vectors = numbers(vehicle)
        self._own, self._linkage = (cast("ca.DM", vectors[n]) for n in ("chassis numbers", "linkage"))
        self._inner = vectors["inner numbers"]
        self._functions = functions()
        self._rows = [f.rows_function() for f in self.corners]
        self._rates = self._equations()
        centre = min(float(ca.evalf(SX(f.mechanism.wheels[0].centre))[2]) for f in self.corners)
        self.height = radius + drop - centre

    def told(self, arm: Sequence[float]) -> list[Array]:
        """INNER of the four corners."""
        link = self._functions["steering"](list(arm), self._linkage)
        return [np.array(self._functions["inner"](link, n)).ravel() for n in self._inner]

    def _equations(self) -> ca.Function:
        """rates(state, INNER of the corners, alpha) -> rate of the state."""
        x, alpha = ca.MX.sym("x", int(self.first[-1])), ca.MX.sym("alpha")
        inner = [ca.MX.sym(f"e{k}", 12) for k in range(4)]
        parts, body = [], ca.MX.zeros(27)
        for form, first, told in zip(self.corners, self.first, inner, strict=False):
            q = x[int(first) : int(first) + form.places]
            v = x[int(first) + form.places : int(first) + form.places + form.size]
            inertia, bias, push, rest = self._corner(form)(x[:CHASSIS], q, v, told, alpha)
            body += ca.vertcat(inertia, bias)
            parts.append((form, q, v, push, rest))
        chassis, rate = self._chassis()(x[:CHASSIS], body)
        out = [rate]
        for form, q, v, push, rest in parts:
            out += [_moved(form)(q, v), push @ chassis + rest]
        return ca.Function("rates", [x, *inner, alpha], [ca.vertcat(*out)])

    def _corner(self, form: Augmented) -> ca.Function:
        c, s = form.symbols(), SX.sym("s", CHASSIS)
        load = _tire(form, c, s, self.radius)
        quiet = replace(c, omega=s[7:10], loads=ca.vertcat(load, SX(5, 1)), spin_rate=SX(0))
        g = form.gathered(quiet)
        out = ca.cse([lower(g.inertia), g.bias, ca.densify(g.x), g.rest])
        return ca.Function("corner", [s, c.position, c.rates, c.inner, c.alpha], out)

    def _chassis(self) -> ca.Function:
        s, body = SX.sym("s", CHASSIS), SX.sym("b", 27)
        r, w, v = rotation(s[3:7]), s[7:10], s[10:13]
        a = chassis_acceleration(SX(self._own), w, body, SX(6, 1))
        fall = r.T @ SX([0, 0, -GRAVITY])
        q = s[3:7]
        turn = 0.5 * ca.vertcat(-ca.dot(q[1:], w), q[0] * w + cross(q[1:], w))
        return ca.Function("chassis", [s, body], [a, ca.vertcat(r @ v, turn, a[:3], a[3:] + fall - cross(w, v))])

    def start(self) -> Array:
        """At 10 m/s above the ground, with a roll and a pitch rate; corners in the design position."""
        x = np.zeros(int(self.first[-1]))
        x[2], x[3], x[7], x[8], x[10] = self.height, 1.0, 0.3, -0.2, 10.0
        for form, first in zip(self.corners, self.first, strict=False):
            if isinstance(form, Cartesian):
                x[first : first + form.places] = np.array(form.design).ravel()
        return x

    def step(self, x: Array, time: float, step_size: float, steer: Steer, closure: Closure) -> Array:
        """One step of the classical Runge-Kutta method, and what keeps the loops closed."""
        told = [self.told(steer(time + c * step_size)) for c in (0.0, 0.5, 1.0)]
        f = self._rates
        k1 = np.array(f(x, *told[0], closure.alpha)).ravel()
        k2 = np.array(f(x + step_size / 2 * k1, *told[1], closure.alpha)).ravel()
        k3 = np.array(f(x + step_size / 2 * k2, *told[1], closure.alpha)).ravel()
        k4 = np.array(f(x + step_size * k3, *told[2], closure.alpha)).ravel()
        x = x + step_size / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        x[3:7] /= np.linalg.norm(x[3:7])
        for k, (form, first) in enumerate(zip(self.corners, self.first, strict=False)):
            if isinstance(form, Cartesian):
                _unit_quaternions(x[first : first + form.places])
            if closure.project:
                self._project(x, k, told[2][k])
        return x

    def rows(self, x: Array, k: int, inner: Array) -> tuple[Array, Array, Array]:
        """(phi, delta, Y) of corner k."""
        form, first = self.corners[k], int(self.first[k])
        q, v = np.split(x[first : first + form.places + form.size], [form.places])
        phi, delta, y, *_ = self._rows[k](q, v, 0, inner, [0] * 3, [0] * 8, 0)
        return np.array(phi).ravel(), np.array(delta).ravel(), np.array(y)

    def _project(self, x: Array, k: int, inner: Array) -> None:
        form, first = self.corners[k], int(self.first[k])
        middle = first + form.places
        phi, _, y = self.rows(x, k, inner)
        change = -np.linalg.pinv(y) @ phi
        x[first:middle] += np.array(_moved(form)(x[first:middle], change)).ravel()
        if isinstance(form, Cartesian):
            _unit_quaternions(x[first:middle])
        _, delta, y = self.rows(x, k, inner)
        x[middle : middle + form.size] -= np.linalg.pinv(y) @ delta

    def closure(self, x: Array, time: float, steer: Steer) -> float:
        """Largest residual of all rows."""
        told = self.told(steer(time))
        return max(float(np.abs(self.rows(x, k, told[k])[0]).max()) for k in range(4))

    def run(
        self, seconds: float, step_size: float, closure: Closure, steer: Steer = swerve
    ) -> tuple[Array, list[float]]:
        """(state at the end, largest residual after every tenth of a second)."""
        x, kept, every = self.start(), [], round(0.1 / step_size)
        for n in range(round(seconds / step_size)):
            x = self.step(x, n * step_size, step_size, steer, closure)
            if (n + 1) % every == 0:
                kept.append(self.closure(x, (n + 1) * step_size, steer))
        return x, kept


def _moved(form: Augmented) -> ca.Function:
    c = form.symbols()
    return ca.Function("moved", [c.position, c.rates], [form.position_rate(c)])


def _unit_quaternions(position: Array) -> None:
    turns = position.reshape(-1, 7)[:, 3:]
    turns /= np.linalg.norm(turns, axis=1)[:, None]


def _tire(form: Augmented, c: Inputs, s: SX, radius: float) -> SX:
    """Force of the tire at the wheel centre in chassis axes."""
    centre, velocity = form.hub(c)
    r = rotation(s[3:7])
    place = s[:3] + r @ centre
    speed = r @ (s[10:13] + cross(s[7:10], centre) + velocity)
    left = r @ SX([0, 1, 0])
    depth = ca.fmax(radius - place[2], 0.0)
    push = ca.if_else(depth > 0, ca.fmax(TIRE * depth - TIRE_DAMPER * speed[2], 0.0), 0.0)
    side = ca.if_else(depth > 0, -TIRE_LATERAL * ca.dot(left, speed), 0.0)
    return r.T @ (ca.vertcat(0, 0, push) + side * left)


def tree_augmented(mechanisms: Sequence[Mechanism]) -> list[Augmented]:
    """Corners in two-point bodies or in trees, from front left and rear left, both sides of each."""
    return [Tree(m, side) for m in mechanisms for side in (1, -1)]


def fully_augmented(mechanisms: Sequence[Mechanism]) -> list[Augmented]:
    """Corners with a pose for every body."""
    return [Cartesian(m, side) for m in mechanisms for side in (1, -1)]
