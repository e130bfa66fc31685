"""A whole vehicle of four corners in one formulation, for runs that show how closed its loops stay.

Chassis, corners, linear struts, wheels as vertical springs with dampers along the vertical and along y of the world: no
gears, brakes or slip, so only the treatment of the joints differs between formulations.

A tire's damper acts from the instant of touch-down, a jump of the force. Where in a step that jump falls decides how
large the drift of a run is (`docs/model/formulations.md`); a run is repeatable all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.data import Vehicle
from jounce.dynamics.articulated import chassis_acceleration, spatial_inertia
from jounce.dynamics.mechanism import Mechanism
from jounce.dynamics.motion import quaternion_rate
from jounce.formulations.augmented import Augmented, Gathered, Inputs, Tree
from jounce.formulations.bodies import with_bodies
from jounce.formulations.bushing import Bushed
from jounce.formulations.cartesian import Cartesian
from jounce.formulations.embedded import Embedded
from jounce.math.algebra import SX, cross, dot, rotation
from jounce.models.double_wishbone.parameters import chassis_inertia
from jounce.steering import pitman
from jounce.suspension.mechanisms.templates import mechanism_of

Array = NDArray[np.float64]
#: Strut of the comparison: spring [N/m], damper [N s/m], force in the design position [N].
SPRING, DAMPER, PRELOAD = 441.3e3, 17.5e3, 11.5e3
#: Position 3, quaternion 4, angular velocity 3 and velocity 3 of the chassis in its own axes.
CHASSIS = 13
#: Height of the chassis origin [m], velocities [rad/s, m/s] in the order of the state at the release.
RELEASE, VELOCITIES = 0.55, (0.3, -0.2, 0.0, 10.0, 0.0, 0.0)
GRAVITY = 9.80665
#: Time between two samples of a run [s].
SAMPLE = 0.1
Steer = Callable[[float], tuple[float, float, float]]
"""Time [s] -> angle, rate and acceleration of the Pitman arm or the rack's pinion."""
Step = Callable[[Array, float, float, Steer], Array]
"""State, time [s] and length of a step [s] -> state behind it."""

#: Formulations by their short names: corner of a mechanism and a side.
FORMS: dict[str, Callable[[Mechanism, float], Augmented]] = {
    "ce": Embedded,
    "ta-two-point": Tree,
    "ta": lambda mechanism, side: Tree(with_bodies(mechanism), side),
    "fa": Cartesian,
    "bushing": Bushed,
}


@dataclass(frozen=True)
class Tires:
    """Wheels as springs [N/m] with dampers [N s/m]."""

    stiffness: float = 580e3
    vertical: float = 4e3
    lateral: float = 3e3
    """Along y of the world."""


@dataclass(frozen=True)
class Closure:
    """How the loops are kept closed."""

    alpha: float = 0.0
    """Baumgarte's [1/s]."""
    project: bool = False
    """Positions and velocities put back on the rows after every step, by the least change."""


@dataclass
class Run:
    """What a run leaves, with a sample at the start and after every `SAMPLE`."""

    time: list[float] = field(default_factory=list)
    """[s]"""
    closure: list[float] = field(default_factory=list)
    """Largest residual of all rows: [m], of a rod (length2 - its own2)/2 [m2], of a direction a pure number."""
    path: list[Array] = field(default_factory=list)
    """Chassis origin in the world [m]."""
    energy: list[float] = field(default_factory=list)
    """Kinetic, of gravity and of all springs [J]."""
    state: Array = field(default_factory=lambda: np.zeros(0))
    """At the end."""


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


def straight(_time: float) -> tuple[float, float, float]:
    """The Pitman arm at rest."""
    return 0.0, 0.0, 0.0


def swerve(time: float) -> tuple[float, float, float]:
    """The Pitman arm by +-10 deg at 0.5 Hz from 1 s, faded in over 0.5 s by a polynomial with two zero derivatives."""
    a, w, t = np.deg2rad(10.0), np.pi, time - 1.0
    if t <= 0.0:
        return 0.0, 0.0, 0.0
    s = min(2 * t, 1.0)
    f, f1, f2 = s**3 * (10 - 15 * s + 6 * s * s), 60 * s * s * (1 - s) ** 2, 240 * s * (1 - s) * (1 - 2 * s)
    x, v = a * np.sin(w * t), a * w * np.cos(w * t)
    return f * x, f1 * x + f * v, f2 * x + 2 * f1 * v - f * w * w * x


class Whole:
    """Equations of motion of a vehicle with corners of one formulation."""

    def __init__(self, vehicle: Vehicle, corners: Sequence[Augmented], tires: Tires = Tires()) -> None:
        """``corners``: of each axle left and right, from the front."""
        self.corners, self.tires = tuple(corners), tires
        self.radius = vehicle.of_tires(vehicle.axles[0], "unloaded_radius")
        self.first = np.cumsum([CHASSIS, *(f.places + f.size + 1 for f in self.corners)])
        self.size = int(self.first[-1])
        self.told = _told(vehicle, self.corners)
        p = {name: SX(entry.value) for name, entry in vehicle.entries.items()}
        linkage = any(a.steered == "pitman" for a in vehicle.axles)
        self._own = SX(ca.evalf(chassis_inertia(p, linkage=linkage)))
        self._rows = [f.rows_function() for f in self.corners]
        self._moves = [_moves(f) for f in self.corners]
        self.rates, self.energy = self._equations()

    def _equations(self) -> tuple[ca.Function, ca.Function]:
        """(rates(state, INNER of the corners, alpha) -> rate of the state, energy(state, INNER) -> [J])."""
        x, alpha = SX.sym("x", self.size), SX.sym("alpha")
        r, w, v = rotation(x[3:7]), x[7:10], x[10:13]
        told, inputs, solved = SX.sym("e", self.told.numel_out(0)), list[Inputs](), list[Gathered]()
        ends = np.cumsum([0, *(_ends(f) for f in self.corners)]).tolist()
        energy, pressed = SX(0), SX(0)
        body = SX.zeros(27)
        for k, form in enumerate(self.corners):
            first, inner = int(self.first[k]), told[ends[k] : ends[k + 1]]
            q, rates = x[first : first + form.places], x[first + form.places : int(self.first[k + 1]) - 1]
            c = Inputs(q, rates, x[int(self.first[k + 1]) - 1], inner, w, SX.zeros(8), alpha)
            force, pressing = self._tire(form, c, x)
            c = replace(c, loads=ca.vertcat(force, SX.zeros(5)))
            g = form.gathered(c)
            body += ca.vertcat(*(g.inertia[i, j] for j in range(6) for i in range(j, 6)), g.bias)
            energy += g.terms.energy(c, ca.vertcat(w, v)) + self._raised(g.terms.inertia, x)
            pressed += pressing
            inputs.append(c)
            solved.append(g)
        a = chassis_acceleration(self._own, w, body, SX(6, 1))
        fall = r.T @ SX([0, 0, -GRAVITY])
        out = [r @ v, quaternion_rate(x[3:7], w), a[:3], a[3:] + fall - cross(w, v)]
        for form, c, g in zip(self.corners, inputs, solved, strict=True):
            out += [form.position_rate(c), g.acceleration(a), g.spin_acceleration(c, a)]
        own, twist = spatial_inertia(self._own[0], self._own[1:4], self._own[4:10]), ca.vertcat(w, v)
        energy += 0.5 * dot(twist, own @ twist) + self._raised(own, x) + pressed
        rate = ca.cse(ca.vertcat(*out))
        return ca.Function("rates", [x, told, alpha], [rate]), ca.Function("energy", [x, told], [ca.cse(energy)])

    def _tire(self, form: Augmented, c: Inputs, x: SX) -> tuple[SX, SX]:
        """(force of the tire at the wheel centre in chassis axes [N], energy of its spring [J])."""
        centre, velocity = form.hub(c)
        r = rotation(x[3:7])
        depth = ca.fmax(self.radius - x[2] - (r @ centre)[2], 0.0)
        speed = r @ (x[10:13] + cross(x[7:10], centre) + velocity)
        t = self.tires
        push = ca.if_else(depth > 0, ca.fmax(t.stiffness * depth - t.vertical * speed[2], 0.0), 0.0)
        side = ca.if_else(depth > 0, -t.lateral * speed[1], 0.0)
        return r.T @ ca.vertcat(0, side, push), 0.5 * t.stiffness * depth * depth

    def _raised(self, inertia: SX, x: SX) -> SX:
        """Energy of gravity of what has that spatial inertia about the chassis origin."""
        moment = ca.vertcat(inertia[2, 4], inertia[0, 5], inertia[1, 3])
        return GRAVITY * (inertia[5, 5] * x[2] + (rotation(x[3:7]) @ moment)[2])

    def start(self) -> Array:
        """The release: at 10 m/s above the ground, with a roll and a pitch rate; corners in the design position."""
        x = np.zeros(self.size)
        x[2], x[3], x[7:13] = RELEASE, 1.0, VELOCITIES
        for form, first in zip(self.corners, self.first, strict=False):
            if isinstance(form, Cartesian):
                x[first : first + form.places] = np.array(form.design).ravel()
        return x

    def step(self, x: Array, time: float, step_size: float, steer: Steer, closure: Closure) -> Array:
        """One step of the classical Runge-Kutta method, and what keeps the loops closed."""
        told = [self.told(steer(time + c * step_size)) for c in (0.0, 0.5, 1.0)]
        f, h = self.rates, step_size
        k1 = np.array(f(x, told[0], closure.alpha)).ravel()
        k2 = np.array(f(x + h / 2 * k1, told[1], closure.alpha)).ravel()
        k3 = np.array(f(x + h / 2 * k2, told[1], closure.alpha)).ravel()
        k4 = np.array(f(x + h * k3, told[2], closure.alpha)).ravel()
        return self.closed(x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), told[2], project=closure.project)

    def closed(self, x: Array, told: ca.DM, *, project: bool) -> Array:
        """The state with unit quaternions and, with ``project``, positions and velocities on the rows."""
        x = x.copy()
        x[3:7] /= np.linalg.norm(x[3:7])
        for k, form in enumerate(self.corners):
            place = self._part(k)[0]
            if isinstance(form, Cartesian):
                _unit_quaternions(x[place])
            if project:
                self._project(x, k, told)
        return x

    def rows(self, x: Array, k: int, told: ca.DM) -> tuple[Array, Array, Array]:
        """(phi, delta, Y) of corner k; ``told``: INNER of all corners."""
        place, rate = self._part(k)
        ends = np.cumsum([0, *(_ends(f) for f in self.corners)])
        phi, delta, y, *_ = self._rows[k](x[place], x[rate], 0, told[ends[k] : ends[k + 1]], [0] * 3, [0] * 8, 0)
        return np.array(phi).ravel(), np.array(delta).ravel(), np.array(y)

    @property
    def constrained(self) -> list[str]:
        """Names of the corners with rows that the integrator must keep."""
        return [f.mechanism.name for f, rows in zip(self.corners, self._rows, strict=True) if rows.size1_out(1)]

    def _part(self, k: int) -> tuple[slice, slice]:
        first, form = int(self.first[k]), self.corners[k]
        return slice(first, first + form.places), slice(first + form.places, first + form.places + form.size)

    def _project(self, x: Array, k: int, told: ca.DM) -> None:
        place, rate = self._part(k)
        phi, _, y = self.rows(x, k, told)
        x[place] += np.array(self._moves[k](x[place], _least(y, -phi))).ravel()
        if isinstance(self.corners[k], Cartesian):
            _unit_quaternions(x[place])
        _, delta, y = self.rows(x, k, told)
        x[rate] -= _least(y, delta)

    def closure(self, x: Array, told: ca.DM) -> float:
        """Largest residual of all rows."""
        return max(float(np.abs(self.rows(x, k, told)[0]).max(initial=0.0)) for k in range(len(self.corners)))

    def run(
        self, seconds: float, step_size: float, closure: Closure = Closure(), steer: Steer = swerve,
        step: Step | None = None,
    ) -> Run:  # fmt: skip
        """From the release, with steps of that length [s], of which `SAMPLE` is a multiple.

        ``step``: another method than the classical Runge-Kutta one; it has no ``closure``.
        """
        def explicit(x: Array, time: float, h: float, steer: Steer) -> Array:
            return self.step(x, time, h, steer, closure)

        x, run, every, go = self.start(), Run(), round(SAMPLE / step_size), step or explicit
        for n in range(round(seconds / step_size) + 1):
            time = n * step_size
            if n:
                x = go(x, time - step_size, step_size, steer)
            if n % every == 0:
                told = self.told(steer(time))
                run.time.append(time)
                run.closure.append(self.closure(x, told))
                run.path.append(x[:3].copy())
                run.energy.append(float(self.energy(x, told)))
        run.state = x
        return run


def whole(vehicle: Vehicle, form: str, *, conservative: bool = False) -> Whole:
    """A vehicle on linear struts in the formulation of that name (`FORMS`); ``conservative``: springs only.

    Raises DataError or ValueError for a vehicle with axles that are no pair of corners.
    """
    mechanisms = [linear(mechanism_of(vehicle, a.name, a.kind), damped=not conservative) for a in vehicle.axles]
    corners = [FORMS[form](m, side) for m in mechanisms for side in (1.0, -1.0)]
    return Whole(vehicle, corners, Tires(vertical=0.0, lateral=0.0) if conservative else Tires())


def _least(y: Array, right: Array) -> Array:
    """The shortest x of y x = right."""
    shortest: Array = y.T @ np.linalg.solve(y @ y.T, right) if y.size else np.zeros(y.shape[1])
    return shortest


def _ends(form: Augmented) -> int:
    return pitman.INNER.size * len(form.mechanism.prescribed)


def _told(vehicle: Vehicle, corners: Sequence[Augmented]) -> ca.Function:
    """told([angle, rate, acceleration] of Pitman arm or pinion) -> INNER of the corners with a prescribed point."""
    p, arm, found = {name: SX(entry.value) for name, entry in vehicle.entries.items()}, SX.sym("arm", 3), []
    steered = [a.name for a in vehicle.axles if a.steered == "pitman"]
    link = pitman.function()(arm, ca.evalf(pitman.linkage_numbers(p))) if steered else SX.zeros(pitman.LINK.size)
    for k, form in enumerate(corners):
        axle, side = vehicle.axles[k // 2], 1.0 - 2.0 * (k % 2)
        if form.mechanism.prescribed and axle.steered == "rack":
            travel = ca.vertcat(0, axle.gain * vehicle["steering.rack_gain"], 0)
            [end] = form.mechanism.prescribed.values()
            found += [SX(end) + travel * arm[0], SX(travel), travel * arm[1], travel * arm[2]]
        elif form.mechanism.prescribed:
            numbers = (pitman.geared_numbers(p, axle.name, side, steered[0], SX(axle.gain))
                       if axle.steered == "pitman" else pitman.fixed_numbers(p, axle.name, side))  # fmt: skip
            found.append(pitman.inner_function()(link, ca.evalf(numbers)))
    return ca.Function("told", [arm], [ca.vertcat(*found) if found else SX.zeros(0)])


def _moves(form: Augmented) -> ca.Function:
    c = form.symbols()
    return ca.Function("moves", [c.position, c.rates], [form.position_rate(c)])


def _unit_quaternions(position: Array) -> None:
    turns = position.reshape(-1, 7)[:, 3:]
    turns /= np.linalg.norm(turns, axis=1)[:, None]
