"""The half car of Ikoki 2022 with one equation as it is printed, to show what that does.

Errors by their number in docs/model/halfcar.md; 0 is the paper's method with all of them mended (RELAXED). Run here by
CasADi, apart from the C of the product.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.data import load_vehicle
from jounce.math.algebra import SX, tanh
from jounce.models.halfcar.equations import AXLES, INPUTS, NUMBERS, STATES, equations, motion, profiles, solved
from jounce.models.halfcar.signals import DATA
from jounce.models.halfcar.traction import LEAST_LIMIT, LEAST_LOAD

Array = NDArray[np.float64]

#: What a run tells at each moment.
TOLD = ("speed", "x", *(f"{a}.{n}" for a in AXLES for n in ("slip", "load", "friction", "height")))


@cache
def _rates(error: int) -> ca.Function:
    """rates(STATES, EXTERNAL or not, INPUTS, NUMBERS) -> (rates of STATES, TOLD)."""
    m = motion()
    load, time, external = SX.sym("load", 2), SX.sym("time"), SX.sym("external")
    u = SX.sym("u", INPUTS.size)
    n = m.numbers
    torque, mu = profiles(m, time, 1 + 2 * external, INPUTS.split(u))
    if error == 2:
        both = sum_of_steps(n, time)
        torque = ca.if_else(external > 0.5, torque, ca.vertcat(0, n["torque_max"] * tanh(n["motor.slope"] * time)))
        torque -= ca.if_else(external > 0.5, 0, both) * tanh(m.turn)
    if error == 11:
        own = n["mu.lower"] + (n["mu.upper"] - n["mu.lower"]) * tanh(((time - n["mu.time"]) / n["mu.duration"]) ** 4)
        mu = ca.vertcat(own, own)
    e = equations(m, torque)
    forces, b = e.forces, e.b
    if error == 7:  # squares without a sign
        air = n["air.density"] * n["air.area"] * n["air.coefficient"] / 2
        forces += ca.vertcat(air * m.v[0] * (ca.fabs(m.v[0]) - m.v[0]), 0, 0, 0,
                             n["bearing.coefficient"] * m.turn * (ca.fabs(m.turn) - m.turn), 0)  # fmt: skip
    if error == 8:  # heights with gamma h' alone
        moved = ca.jtimes(m.rows, m.q, m.v)
        b = -moved - n["gamma"] * m.rows
    s, friction = [], []
    for k in range(2):
        limit = mu[k] * ca.fmax(load[k], LEAST_LOAD)
        use = torque[k] / (3 * ca.fmax(limit, LEAST_LIMIT) * n["wheel.radius"])
        s.append(1 - tanh(n["traction.k_s"] * ca.fabs(use)) ** 2)
        sliding = m.turn[k] * n["wheel.radius"] - m.v[0]
        size = tanh(n["traction.k_F"] * (use if error == 4 else ca.fabs(use)))
        friction.append((-1 if error == 3 else 1) * limit * size * tanh(sliding))
    f = ca.vertcat(friction[0], 0, friction[1], 0)
    pushed = ca.vertcat(friction[0] + friction[1], SX.zeros(6, 1)) if error == 5 else e.jacobian.T @ f
    weights = (s[0] ** 2, s[1] ** 2, s[0] ** 2, s[1] ** 2) if error == 1 else (s[0] ** 2, 1, s[1] ** 2, 1)
    both = solved(e.mass, ca.horzcat(forces + pushed, e.jacobian.T))
    reaction = solved(e.jacobian @ both[:, 1:], ca.vertcat(*weights) * (b - e.jacobian @ both[:, 0]))
    acceleration = both[:, 0] + both[:, 1:] @ reaction
    rate = STATES.join(q=m.v, v=acceleration, load=(reaction[[1, 3]] - load) / n["traction.tau_N"], time=1,
                       lifted=SX.zeros(2))  # fmt: skip
    slip = m.turn - m.v[0] / n["wheel.radius"]
    wheels = (ca.vertcat(slip[k], reaction[2 * k + 1], friction[k], m.height[k]) for k in range(2))
    told = ca.vertcat(m.v[0], m.q[0], *wheels)
    x = ca.vertcat(m.q, m.v, load, time, SX.sym("lifted", 2))
    return ca.Function("rates", [x, external, u, n[""]], [ca.cse(ca.densify(rate)), told])


def sum_of_steps(n: Mapping[str, SX], time: SX) -> SX:
    """Brake torque of Eq. 35 as printed: both factors have a plus [N.m]."""
    rise = tanh(n["brake.slope"] * (time - n["brake.start"]) / 2)
    fall = tanh(n["brake.slope"] * (time - n["brake.start"] - n["brake.duration"]) / 2)
    return n["brake.max"] / 4 * (1 + rise) * (1 + fall)


def run(
    error: int, start: Array, duration: float, *, tick_length: float = 0.001, inputs: tuple[float, ...] | None = None,
    **numbers: float,
) -> dict[str, Array]:  # fmt: skip
    """TOLD over time (and ``time``) with one error, from the state ``start`` (STATES) on, by RK4.

    ``inputs`` (INPUTS) replace the paper's profiles; ``numbers`` go by the names of the parameters. The run ends
    where a number is not finite any more.
    """
    values = load_vehicle(DATA).replaced({k.replace("__", "."): v for k, v in numbers.items()})
    n = [values[name] for name in NUMBERS.sizes]
    f, external, u = _rates(error), float(inputs is not None), list(inputs or (0.0,) * INPUTS.size)
    steps = _steps(error, tick_length)
    x, rows, times = np.array(start, dtype=float), [], []
    per_call = 50
    for k in range(max(1, round(duration / tick_length / per_call))):
        if not np.all(np.isfinite(x)):
            break
        rows.append(np.array(f(x, external, u, n)[1]).ravel())
        times.append(k * per_call * tick_length)
        x = np.array(steps(x, external, u, n)).ravel()
    else:
        rows.append(np.array(f(x, external, u, n)[1]).ravel())
        times.append(duration)
    table = np.array(rows)
    return {"time": np.array(times), **{name: table[:, k] for k, name in enumerate(TOLD)}}


@cache
def _steps(error: int, tick_length: float) -> ca.Function:
    """Fifty steps of RK4."""
    f = _rates(error)
    x, external, u, n = (ca.MX.sym(name, f.size1_in(k)) for k, name in enumerate(("x", "external", "u", "n")))

    def rate(at: ca.MX) -> ca.MX:
        return f(at, external, u, n)[0]

    k1 = rate(x)
    k2 = rate(x + tick_length / 2 * k1)
    k3 = rate(x + tick_length / 2 * k2)
    k4 = rate(x + tick_length * k3)
    step = ca.Function("step", [x, external, u, n], [x + tick_length / 6 * (k1 + 2 * k2 + 2 * k3 + k4)])
    at = x
    for _ in range(50):
        at = step(at, external, u, n)
    return ca.Function("steps", [x, external, u, n], [at])


def rest(speed: float = 0.0) -> Array:
    """The car at rest in its design position, or rolling at a speed [m/s] (STATES)."""
    values = load_vehicle(DATA)
    x = np.zeros(STATES.size)
    x[1] = values["wheel.radius"] + values["arm.length"] * np.sin(values["arm.angle"])
    x[7] = speed
    x[11] = x[12] = speed / values["wheel.radius"]
    x[14:16] = 1383.5761, 2354.0339
    return x


def udwadia_kalaba(
    mass: Array, forces: Array, rows: Array, b: Array, weights: Array, non_ideal: Array
) -> tuple[Array, Array]:
    """(ideal (8a), non-ideal (8b) force of the constraints), with X of Eq. 9 by pseudo-inverses and matrix roots.

    ``mass`` (n, n), ``forces`` (n,), ``rows`` A (m, n), ``b`` (m,), ``weights`` the diagonal of N (m,),
    ``non_ideal`` C (n,).
    """
    values, vectors = np.linalg.eigh(mass)
    root = vectors @ np.diag(values**-0.5) @ vectors.T  # M^-1/2
    soft = np.sqrt(weights)
    inverse = np.diag([1 / s if s > 0 else 0.0 for s in soft])
    x = root @ np.linalg.pinv(inverse @ rows @ root) @ np.diag(soft)
    free = np.linalg.solve(mass, forces)
    ideal = mass @ x @ (b - rows @ free)
    other = mass @ (np.eye(len(mass)) - x @ rows) @ np.linalg.solve(mass, non_ideal)
    return ideal, other


def with_multipliers(mass: Array, forces: Array, rows: Array, b: Array) -> Array:
    """Accelerations of M q'' = Q + A^T l, A q'' = b from the whole system at once."""
    n, m = len(mass), len(rows)
    whole = np.block([[mass, -rows.T], [rows, np.zeros((m, m))]])
    found: Array = np.linalg.solve(whole, np.concatenate([forces, b]))[:n]
    return found


def in_null_space(mass: Array, forces: Array, rows: Array, b: Array) -> Array:
    """The same in the coordinates that the rows leave free: q'' = particular + Z z, Z^T (M q'' - Q) = 0."""
    particular = np.linalg.lstsq(rows, b, rcond=None)[0]
    _, _, vectors = np.linalg.svd(rows)
    z = vectors[len(rows) :].T
    free = np.linalg.solve(z.T @ mass @ z, z.T @ (forces - mass @ particular))
    found: Array = particular + z @ free
    return found


def parts() -> ca.Function:
    """parts(q, v, torque (2), NUMBERS) -> (M (7, 7), Q (7), A (4, 7), b (4))."""
    m, torque = motion(), SX.sym("torque", 2)
    e = equations(m, torque)
    return ca.Function("parts", [m.q, m.v, torque, m.numbers[""]], [e.mass, e.forces, e.jacobian, e.b])
