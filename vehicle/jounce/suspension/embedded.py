"""The corner functions of any mechanism: one wheel and one coordinate, or an axle with two of each.

A mechanism with one wheel gives `double_wishbone.OUTPUTS`, by which the recursion reads every kind of corner. An axle
with two wheels stands on two lanes, a wheel and a coordinate each (PAIR_OUTPUTS): what belongs to the whole axle is on
the left lane, with zeros on the right.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.dynamics import chebyshev
from jounce.dynamics.embedding import OPEN, Coordinates, Embedding, Moved
from jounce.dynamics.masses import total_of
from jounce.dynamics.mechanism import End, Wheel
from jounce.math.algebra import SX, cross, dot
from jounce.math.layout import Layout
from jounce.steering.pitman import INNER
from jounce.suspension.double_wishbone import DYNAMICS, OUTPUTS
from jounce.suspension.springs import shock_ends, shock_force, spring_force

Array = NDArray[np.float64]

#: States of a lane.
STATES = Layout(coordinate=1, rate=1, spin_rate=1)
#: Outputs of a lane of an axle: those of a corner for the lane's own wheel and coordinate, then the element of d
#: between the two coordinates (left lane), the wheel's partial velocities by the other one, the turn of the axle's body
#: per unit of the lane's coordinate and of steering (left lane), and its acceleration about the chassis's x axis where
#: the coordinates do not accelerate (left lane).
TAIL = Layout(cross=1, centre_other=3, upright_other=3, travel_other=1, body_partial=3, body_steer=3, body_bias=1)
PAIR_OUTPUTS = Layout(**OUTPUTS.sizes, **TAIL.sizes)

#: What is known of a position: largest error of a loop [m], least pivot as part of its row, determinant of Y1, distance
#: of springs and shocks from the end of their ranges [m].
PROBE = Layout(closure=1, quality=1, determinant=1, room=1)
#: How far a shock may be driven into its ends [m].
BEYOND = 0.02
#: How far an independent coordinate is followed at most: an angle [rad], a height [m].
TURNS, SLIDES = 0.6, 0.2


@dataclass(frozen=True)
class _Line:
    """Length of a force element, and how it moves."""

    length: SX
    partial: SX
    """(n,) per unit of each coordinate."""
    steer: SX
    rate: SX


def _line(moved: Moved, lower: End, upper: End) -> _Line:
    a, at_a = moved.end(lower)
    b, at_b = moved.end(upper)
    length = ca.sqrt(dot(b - a, b - a))
    along, apart = (b - a) / length, at_b - at_a
    partial = ca.vertcat(*(dot(along, apart.partial[:, k]) for k in range(apart.partial.shape[1])))
    return _Line(length, partial, dot(along, apart.steer), dot(along, apart.rate))


def act_forces(moved: Moved, sums: dict[str, SX]) -> list[dict[str, SX]]:
    """Adds the work of all force elements to ``sums``; outputs of springs and shocks of each wheel."""
    m = moved.placed.mechanism
    names = ("spring_length", "spring_force", "shock_length", "shock_rate", "shock_force", "spring_energy")
    found = [dict.fromkeys(names, SX(0)) for _ in m.wheels]

    def act(line: _Line, force: SX) -> None:
        sums["bt"] -= force * line.partial
        sums["sb"] -= force * line.steer

    for element in m.forces:
        line, out = _line(moved, element.lower, element.upper), found[element.wheel]
        law = {name: SX(value) for name, value in element.law.items()}
        if element.kind == "spring":
            force, energy = spring_force(line.length, law)
            out |= {"spring_length": line.length, "spring_force": force}
        else:
            end, energy = shock_ends(line.length, line.rate, law)
            force = shock_force(line.length, line.rate, law) + end
            out |= {"shock_length": line.length, "shock_rate": line.rate, "shock_force": force}
        out["spring_energy"] = out["spring_energy"] + energy
        act(line, force)
    for rod in m.rods:
        if rod.compliant:
            line = _line(moved, rod.a, rod.b)
            design = SX(rod.a.point) - SX(rod.b.point)
            stretch = line.length - ca.sqrt(dot(design, design))
            damping = 0 if rod.damping is None else rod.damping
            act(line, -rod.stiffness * stretch - damping * line.rate)
            found[0]["spring_energy"] = found[0]["spring_energy"] + 0.5 * rod.stiffness * stretch * stretch
    return found


def act_spin(wheel: Wheel, moved: Moved, omega: SX, rate: SX, sums: dict[str, SX]) -> None:
    """Adds what a wheel's spin does to ``sums``: its momentum turns with the carrier, w x e."""
    axis, turn = moved.placed.poses[wheel.on].rotation @ SX(wheel.axis), moved.turn(wheel.on)
    w, along, shaft = omega + turn.rate, wheel.along, wheel.shaft
    hidden = along * along / (along + shaft) * dot(axis, w)
    gyro = (hidden + along * rate) * cross(w, axis)
    sums["b"] += ca.vertcat(gyro, SX(3, 1))
    sums["bt"] += ca.vertcat(*(dot(turn.partial[:, k], gyro) for k in range(turn.partial.shape[1])))
    sums["sb"] += dot(turn.steer, gyro)
    sums["kin"] += 0.5 * (hidden * dot(axis, w) + along * rate * (2 * dot(axis, w) + rate) + shaft * rate * rate)


def _hub(wheel: Wheel, moved: Moved, omega: SX, k: int) -> dict[str, SX]:
    """Outputs of a wheel's carrier, with partial velocities by coordinate k."""
    pose = moved.placed.poses[wheel.on]
    centre, axis = moved.placed.carried(wheel.on, wheel.centre), pose.rotation @ SX(wheel.axis)
    motion, turn = moved.motion(wheel.on, centre), moved.turn(wheel.on)
    return {
        "centre": centre, "axis": axis, "centre_velocity": motion.rate, "upright_velocity": turn.rate,
        "centre_partial": motion.partial[:, k], "upright_partial": turn.partial[:, k],
        "axis_bias": dot(axis, turn.bias + cross(omega, turn.rate)), "travel": centre[2] - SX(wheel.centre)[2],
        "travel_partial": motion.partial[2, k], "upright_axes": ca.reshape(pose.rotation, 9, 1),
        "centre_steer": motion.steer, "upright_steer": turn.steer, "closure": moved.closure,
        "margin_upper": OPEN - moved.closure, "margin_tierod": OPEN - moved.closure,
    }  # fmt: skip


def _lane(sums: dict[str, SX], k: int, whole: bool) -> dict[str, SX]:
    """Outputs of the aggregate on the lane of coordinate k; what is not the coordinate's only where ``whole``."""
    names = {"mass": "mass", "moment": "moment", "inertia": "inertia", "bias": "b", "steer_momentum": "hs",
             "steer_bias": "sb", "kinetic": "kin", "linear_momentum": "lin"}  # fmt: skip
    out = {name: sums[of] if whole else SX.zeros(sums[of].shape[0]) for name, of in names.items()}
    n = sums["h"].shape[1]
    own = sum(n - i for i in range(k))  # of the element (k, k) in the upper triangle
    return out | {"momentum": sums["h"][:, k], "d": sums["d"][own], "bias_theta": sums["bt"][k],
                  "steer_theta": sums["st"][k]}  # fmt: skip


def corner_function(embedding: Embedding, name: str = "corner") -> ca.Function:
    """corner(STATES, INNER, angular velocity 3 of the chassis, numbers, u) -> double_wishbone.OUTPUTS.

    For one wheel and one coordinate; without dependent coordinates there is no u. The two margins are positive where
    the loops are closed.
    """
    c, [state], [inner] = _lanes(embedding)
    omega = SX.sym("w", 3)
    moved = embedding.moved(c)
    [wheel] = moved.placed.mechanism.wheels
    sums = sums_of(moved, omega, [state])
    [forces] = act_forces(moved, sums)
    out = OUTPUTS.join(**_hub(wheel, moved, omega, 0), **_lane(sums, 0, True), **forces)
    return ca.Function(name, [state, inner, omega, c.numbers, *_dependent(c)], [ca.cse(ca.densify(out))])


def _pair(embedding: Embedding) -> tuple[list[SX], list[dict[str, SX]]]:
    """(inputs of the functions of an axle with two wheels, PAIR_OUTPUTS of left and right by name)."""
    c, states, inner = _lanes(embedding)
    omega = SX.sym("w", 3)
    moved = embedding.moved(c)
    sums = sums_of(moved, omega, states)
    forces = act_forces(moved, sums)
    body = moved.turn(moved.placed.mechanism.bodies[0].name)
    lanes = []
    for k, wheel in enumerate(moved.placed.mechanism.wheels):
        hub, other = _hub(wheel, moved, omega, k), _hub(wheel, moved, omega, 1 - k)
        lanes.append({
            **hub, **_lane(sums, k, k == 0), **forces[k], "cross": sums["d"][1] if k == 0 else SX(0),
            "centre_other": other["centre_partial"], "upright_other": other["upright_partial"],
            "travel_other": other["travel_partial"], "body_partial": body.partial[:, k],
            "body_steer": body.steer if k == 0 else SX(3, 1), "body_bias": body.bias[0] if k == 0 else SX(0),
        })  # fmt: skip
    return [*states, *inner, omega, c.numbers, *_dependent(c)], lanes


def pair_function(embedding: Embedding, name: str = "pair") -> ca.Function:
    """pair(STATES left, right, INNER left, right, angular velocity 3, numbers, u) -> (PAIR_OUTPUTS left, right).

    For an axle with two wheels and two coordinates; the left lane has the first of each. The first body of the
    mechanism is the axle's.
    """
    inputs, lanes = _pair(embedding)
    return _joined(name, inputs, [PAIR_OUTPUTS.join(**lane) for lane in lanes])


def pair_dynamics_function(embedding: Embedding, name: str = "pair_dynamics") -> ca.Function:
    """As `pair_function`, what the equations of motion need alone.

    -> (double_wishbone.DYNAMICS left, right, TAIL left, right).
    """
    inputs, lanes = _pair(embedding)
    parts = [layout.join(**{n: lane[n] for n in layout.sizes}) for layout in (DYNAMICS, TAIL) for lane in lanes]
    return _joined(name, inputs, parts)


def _joined(name: str, inputs: list[SX], outputs: list[SX]) -> ca.Function:
    """A function whose outputs share what they have in common."""
    cuts = np.cumsum([0, *(v.shape[0] for v in outputs)]).tolist()
    return ca.Function(name, inputs, ca.vertsplit(ca.cse(ca.densify(ca.vertcat(*outputs))), cuts))


@cache
def close_function(embedding: Embedding, name: str = "close") -> ca.Function:
    """close(u, STATES of each wheel, INNER of each wheel, numbers) -> u after one Newton step."""
    c, states, inner = _lanes(embedding)
    u, *_ = embedding.closing(c)
    return ca.Function(name, [c.u, *states, *inner, c.numbers], [ca.cse(u)])


@cache
def closed_function(embedding: Embedding, name: str = "closed") -> ca.Function:
    """closed(STATES of each wheel, INNER of each wheel, numbers) -> u of the closed position, by the closed form."""
    c, states, inner = _lanes(embedding)
    return ca.Function(name, [*states, *inner, c.numbers], [ca.cse(ca.densify(embedding.closed(c)))])


def close_forward_function(embedding: Embedding, name: str = "close_forward") -> ca.Function:
    """close_forward(as `close_function`, then tangents of STATES and INNER) -> tangent of the closed u.

    Not through the Newton steps: du = X d theta + what the prescribed points' displacement does, where it is closed.
    """
    c, states, inner = _lanes(embedding)
    seeds = [SX.sym("d", v.shape[0]) for v in (*states, *inner)]
    d_states, d_inner = seeds[: len(states)], ca.vertcat(*seeds[len(states) :])
    du = embedding.slope(c, ca.vertcat(*(s[0] for s in d_states)), d_inner[: c.told.shape[0]])
    return ca.Function(name, [c.u, *states, *inner, c.numbers, *seeds], [ca.cse(ca.densify(du))])


@cache
def probe_function(embedding: Embedding, name: str = "probe") -> ca.Function:
    """probe(as `close_function`) -> PROBE of the position that is given."""
    c, states, inner = _lanes(embedding)
    _, closure, quality, determinant = embedding.closing(c)
    placed = embedding.placed(c)
    room = SX(1.0)
    for element in placed.mechanism.forces:
        d = placed.point(element.upper) - placed.point(element.lower)
        length, law = ca.sqrt(dot(d, d)), {name: SX(v) for name, v in element.law.items()}
        if element.kind == "spring":
            low, high = law["min_length"] - law["stop_depth"][10], law["max_length"] + law["stop_depth"][10]
        else:
            low, high = law["shock_closed"] - BEYOND, law["shock_extended"] + BEYOND
        room = ca.fmin(room, ca.fmin(length - low, high - length))
    out = PROBE.join(closure=closure, quality=quality, determinant=determinant, room=room)
    return ca.Function(name, [c.u, *states, *inner, c.numbers], [ca.cse(out)])


def problem(
    embedding: Embedding, numbers: ca.DM, inner: Callable[[float], Array], steering: tuple[float, float] | None
) -> chebyshev.Problem:
    """What `chebyshev.fit` needs of a mechanism with those numbers.

    ``inner`` gives INNER of each wheel, one after the other, for a steering coordinate in the range ``steering``.
    """
    step, look = close_function(embedding), probe_function(embedding)
    at_once = closed_function(embedding) if embedding.mechanism.closed_form else None
    n, wheels, size = len(embedding.independent), len(embedding.mechanism.wheels), INNER.size
    still = np.asarray(inner(0.0))

    def inputs(u: Array, x: Array) -> list[Any]:
        told = np.tile(still[:, None], x.shape[1])
        if steering:
            steers, which = np.unique(x[n], return_inverse=True)
            told = np.stack([inner(float(s)) for s in steers], axis=1)[:, which]
        states = [np.zeros((STATES.size, x.shape[1])) for _ in range(wheels)]
        for k in range(n):
            states[k][0] = x[k]
        return [u, *states, *(told[size * k : size * (k + 1)] for k in range(wheels)), numbers]

    def close(u: Array, x: Array) -> Array:
        return np.array(step(*inputs(u, x)))

    def probe(u: Array, x: Array) -> chebyshev.Probe:
        return chebyshev.Probe(*np.array(look(*inputs(u, x))))

    def closed(x: Array) -> Array:
        assert at_once is not None
        return np.array(at_once(*inputs(x, x)[1:]))

    limits = tuple(SLIDES if kind == "P" else TURNS for kind in embedding.kinds)
    return chebyshev.Problem(n, len(embedding.dependent), close, probe, limits, steering,
                             closed if at_once else None)  # fmt: skip


def _lanes(embedding: Embedding) -> tuple[Coordinates, list[SX], list[SX]]:
    """Coordinates from the STATES and INNER of each wheel."""
    wheels = len(embedding.mechanism.wheels)
    states = [SX.sym(f"x{k}", STATES.size) for k in range(wheels)]
    inner = [SX.sym(f"e{k}", INNER.size) for k in range(wheels)]
    c = embedding.symbols()
    theta, rates = (ca.vertcat(*(s[k] for s in states)) for k in range(2))
    return Coordinates(theta, rates, c.u, ca.vertcat(*inner)[: c.told.shape[0]], c.numbers), states, inner


def _dependent(c: Coordinates) -> list[SX]:
    return [c.u] if c.u.shape[0] else []


def sums_of(moved: Moved, omega: SX, states: list[SX]) -> dict[str, SX]:
    """Sums over bodies and wheels (`aggregate.total`); ``states``: STATES of each wheel."""
    sums = total_of(moved, omega)
    for wheel, state in zip(moved.placed.mechanism.wheels, states, strict=True):
        act_spin(wheel, moved, omega, STATES.split(state)["spin_rate"], sums)
    return sums
