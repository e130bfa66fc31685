"""Equations of the half car, from its energies.

Source: Ikoki 2022, section 3, with the prints' errors corrected (docs/model/halfcar.md lists them). The plane
is x forward, z up; angles are positive about +y: nose down, forward rolling. The state is
q = (x, z, pitch, front arm, front wheel, rear wheel, rear arm), arms and wheels relative to their carriers.

The four rows are (front rolling, front height, rear rolling, rear height): A v = 0 where both wheels roll on the road.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import casadi as ca

from jounce.math.algebra import SX, tanh
from jounce.math.layout import Layout
from jounce.models.halfcar.signals import AXLES as AXLES

#: Numbers of the car, in the order of the parameters.
NUMBERS = Layout(**{name: 1 for name in (
    "gravity", "chassis.mass", "chassis.inertia", "chassis.com.x", "chassis.com.z", "front.pivot.x",
    "front.pivot.z", "front.strut.x", "front.strut.z", "front.spring.stiffness", "front.spring.free_length",
    "front.damper.damping", "front.arm.mass", "front.arm.inertia", "rear.strut.x", "rear.strut.z",
    "rear.spring.stiffness", "rear.spring.free_length", "rear.damper.damping", "rear.arm.mass", "rear.arm.inertia",
    "arm.length", "arm.angle", "wheel.mass", "wheel.inertia", "wheel.radius", "air.density", "air.area",
    "air.coefficient", "bearing.coefficient", "gamma", "traction.k_s", "traction.k_F", "traction.tau_N",
    "torque_max", "motor.slope", "motor_speed_max", "brake.max", "brake.start", "brake.slope", "brake.duration",
    "mu.upper", "mu.lower", "mu.time", "mu.duration", "mu.position", "mu.length",
)})  # fmt: skip
#: Motion: coordinates, their rates; two wheel loads that RELAXED and CONTINUOUS go by; time [s]; for how long each
#: wheel has been pulled at by the road [s].
STATES = Layout(q=7, v=7, load=2, time=1, lifted=2)
#: Which profile gives torques and friction (1 PAPER, 2 SCHEDULE, 3 EXTERNAL), and what EXTERNAL takes.
INPUTS = Layout(motor_torque=1, brake_torque=2, mu=2)
#: D = A M^-1 A^T by its upper triangle, rho = b - A M^-1 Q, accelerations M^-1 Q without the ground, and those per unit
#: of the ground's force (7 x 4, by columns); torque on each wheel [N.m], friction, slip
#: speed w r - x' [m/s].
ROWS = Layout(D=10, rho=4, free=7, by_force=28, torque=2, mu=2, sliding=2)
#: Force of the ground on the car (rows), its part by the ideal constraint, weight s^2 of each wheel.
GROUND = Layout(ground=4, ideal=4, weight=2)
#: With rows 2 and 4 solved: loads = load0 + load_by y, demand hat = hat0 + hat_by y, y = traction of the wheels.
REDUCED = Layout(load0=2, load_by=4, hat0=2, hat_by=4)
#: What the outputs take from the motion.
REPORT = Layout(pos=2, pitch=1, speed=1, omega=2, slip=2, strut=2, loop_residual=1, closure_residual=1, kinetic=1,
                potential=1)  # fmt: skip


@dataclass(frozen=True)
class Motion:
    """Energies, forces and rows over symbols."""

    q: SX
    v: SX
    numbers: dict[str, SX]
    kinetic: SX
    potential: SX
    dissipation: SX
    """Half of the power that the dampers take."""
    turn: SX
    """Angular velocities of the wheels (2) [rad/s]."""
    height: SX
    """Height of their centres (2) [m]."""
    struts: SX
    """Force of each strut, pushing positive (2) [N]."""
    rows: SX
    """h: rolling and height of each wheel, as velocities (4) [m/s]."""


def _turned(angle: SX, x: SX, z: SX) -> SX:
    """(x, z) turned by an angle about +y."""
    c, s = ca.cos(angle), ca.sin(angle)
    return ca.vertcat(x * c + z * s, z * c - x * s)


@cache
def motion() -> Motion:
    """The half car's kinematics and energies (section 3.2)."""
    q, v, flat = SX.sym("q", 7), SX.sym("v", 7), SX.sym("n", NUMBERS.size)
    n = {name: flat[k] for name, k in NUMBERS.first.items()}
    at, th = q[:2], q[2]

    def rate(value: SX) -> SX:
        return ca.jtimes(value, q, v)

    def fixed(point: str) -> SX:
        return at + _turned(th, n[f"{point}.x"], n[f"{point}.z"])

    length, tilt = n["arm.length"], n["arm.angle"]
    arms = dict(zip(AXLES, ((fixed("front.pivot"), th + q[3], 1), (at, th + q[6], -1)), strict=True))
    kinetic = n["chassis.mass"] * ca.sumsqr(rate(fixed("chassis.com"))) + n["chassis.inertia"] * v[2] ** 2
    potential = n["chassis.mass"] * fixed("chassis.com")[1]
    dissipation, spring = SX(0), SX(0)
    turn, heights, struts, rows = [], [], [], []
    for axle, (pivot, angle, forward) in arms.items():
        arm = _turned(angle, forward * length * ca.cos(tilt), -length * ca.sin(tilt))
        middle, centre = pivot + arm / 2, pivot + arm
        w = rate(angle) + (v[4] if axle == "front" else v[5])
        kinetic += n[f"{axle}.arm.mass"] * ca.sumsqr(rate(middle)) + n[f"{axle}.arm.inertia"] * rate(angle) ** 2
        kinetic += n["wheel.mass"] * ca.sumsqr(rate(centre)) + n["wheel.inertia"] * w**2
        potential += n[f"{axle}.arm.mass"] * middle[1] + n["wheel.mass"] * centre[1]
        along = ca.norm_2(fixed(f"{axle}.strut") - centre)
        short = n[f"{axle}.spring.free_length"] - along
        spring += n[f"{axle}.spring.stiffness"] * short**2 / 2
        dissipation += n[f"{axle}.damper.damping"] * rate(along) ** 2 / 2
        struts.append(n[f"{axle}.spring.stiffness"] * short - n[f"{axle}.damper.damping"] * rate(along))
        turn.append(w)
        heights.append(centre[1])
        rows += [rate(centre)[0] - w * centre[1], rate(centre)[1]]  # Eq. 29
    return Motion(q, v, n | {"": flat}, kinetic / 2, n["gravity"] * potential + spring, dissipation, ca.vertcat(*turn),
                  ca.vertcat(*heights), ca.vertcat(*struts), ca.vertcat(*rows))  # fmt: skip


def profiles(m: Motion, time: SX, profile: SX, inputs: dict[str, SX]) -> tuple[SX, SX]:
    """(torque on each wheel [N.m], friction under it), Eqs. 34-36."""
    n = m.numbers

    def step(start: SX) -> SX:
        return tanh(n["brake.slope"] * (time - start) / 2)  # (1 - e^-a) / (1 + e^-a) = tanh(a / 2)

    own = profile < 2.5
    # Eq. 35 with the minus that lets the brake go again.
    pressed = n["brake.max"] / 4 * (1 + step(n["brake.start"])) * (1 - step(n["brake.start"] + n["brake.duration"]))
    fading = ca.fmin(ca.fmax(10 * (1 - m.turn[1] / ca.fmax(n["motor_speed_max"], 1e-300)), 0), 1)
    motor = ca.if_else(own, n["torque_max"] * tanh(n["motor.slope"] * time), inputs["motor_torque"])
    motor *= ca.if_else(n["motor_speed_max"] > 0, fading, 1)
    torques, friction = [], []
    for k in range(2):
        brake = ca.if_else(own, pressed, inputs["brake_torque"][k]) * tanh(m.turn[k])
        torques.append((motor if k else 0) - brake)
        here = m.q[0] + (0 if k else n["front.pivot.x"])
        by_time, by_place = (time - n["mu.time"]) / n["mu.duration"], (here - n["mu.position"]) / n["mu.length"]
        at = ca.if_else(profile < 1.5, by_time, by_place)
        own_mu = n["mu.lower"] + (n["mu.upper"] - n["mu.lower"]) * tanh(at) ** 4
        friction.append(ca.if_else(own, own_mu, inputs["mu"][k]))
    return ca.vertcat(*torques), ca.vertcat(*friction)


@dataclass(frozen=True)
class Equations:
    """M q'' = Q + A^T (force of the ground), with A q'' = b where every wheel rolls on the road."""

    mass: SX
    forces: SX
    jacobian: SX
    b: SX


def equations(m: Motion, torque: SX) -> Equations:
    """Lagrange's equations of the second kind, and the stabilised rows (Eqs. 3, 4, 30, 31)."""
    n, q, v = m.numbers, m.q, m.v
    momentum = ca.gradient(m.kinetic, v)
    mass = ca.jacobian(momentum, v)
    air = n["air.density"] * n["air.area"] * n["air.coefficient"] / 2 * v[0] * ca.fabs(v[0])  # Eq. 37, both ways
    bearing = n["bearing.coefficient"] * m.turn * ca.fabs(m.turn)
    on_wheels = torque - bearing
    applied = ca.vertcat(-air, 0, 0, 0, on_wheels[0], on_wheels[1], 0)
    forces = ca.gradient(m.kinetic, q) - ca.jtimes(momentum, q, v) - ca.gradient(m.potential, q)
    forces += applied - ca.gradient(m.dissipation, v)
    gamma, off = n["gamma"], m.height - n["wheel.radius"]
    h, moved = m.rows, ca.jtimes(m.rows, q, v)
    # The heights are holonomic: they have a position to come back to.
    b = [-moved[0] - gamma * h[0], -moved[1] - 2 * gamma * h[1] - gamma**2 * off[0],
         -moved[2] - gamma * h[2], -moved[3] - 2 * gamma * h[3] - gamma**2 * off[1]]  # fmt: skip
    return Equations(ca.densify(mass), forces, ca.densify(ca.jacobian(h, v)), ca.vertcat(*b))


def _upper(matrix: SX) -> SX:
    return ca.vertcat(*(matrix[i, j] for i in range(matrix.shape[0]) for j in range(i, matrix.shape[0])))


def full(upper: SX, size: int = 4) -> SX:
    """The symmetric matrix of an upper triangle, row by row."""
    out, k = SX.zeros(size, size), 0
    for i in range(size):
        for j in range(i, size):
            out[i, j] = out[j, i] = upper[k]
            k += 1
    return out


def solved(matrix: SX, right: SX) -> SX:
    """Solution for a symmetric matrix that is positive definite, straight-line (L D L^T)."""
    d, lt, p = ca.ldl(matrix, False)
    return ca.densify(ca.ldl_solve(right, d, lt, p))


def rows_function() -> ca.Function:
    """rows(STATES, profile, INPUTS, NUMBERS) -> ROWS."""
    m = motion()
    x, profile, u = SX.sym("x", STATES.size), SX.sym("profile"), SX.sym("u", INPUTS.size)
    state = STATES.split(x)
    torque, mu = profiles(m, state["time"], profile, INPUTS.split(u))
    e = equations(m, torque)
    both = solved(e.mass, ca.horzcat(e.forces, e.jacobian.T))
    free, by_force = both[:, 0], both[:, 1:]
    out = ROWS.join(D=_upper(e.jacobian @ by_force), rho=e.b - e.jacobian @ free, free=free,
                    by_force=ca.vec(by_force), torque=torque, mu=mu,
                    sliding=m.turn * m.numbers["wheel.radius"] - m.v[0])  # fmt: skip
    out = ca.substitute(out, ca.vertcat(m.q, m.v), ca.vertcat(state["q"], state["v"]))
    return ca.Function("rows", [x, profile, u, m.numbers[""]], [ca.cse(out)])


def report_function() -> ca.Function:
    """report(STATES, NUMBERS) -> REPORT."""
    m, x = motion(), SX.sym("x", STATES.size)
    state = STATES.split(x)
    off = m.height - m.numbers["wheel.radius"]
    slip = m.turn - m.v[0] / m.numbers["wheel.radius"]
    out = REPORT.join(pos=m.q[:2], pitch=m.q[2], speed=m.v[0], omega=m.turn, slip=slip, strut=m.struts,
                      loop_residual=ca.fmax(ca.fabs(m.rows[1]), ca.fabs(m.rows[3])),
                      closure_residual=ca.fmax(ca.fabs(off[0]), ca.fabs(off[1])), kinetic=m.kinetic,
                      potential=m.potential)  # fmt: skip
    out = ca.substitute(out, ca.vertcat(m.q, m.v), ca.vertcat(state["q"], state["v"]))
    return ca.Function("report", [x, m.numbers[""]], [ca.cse(out)])


def accelerations_function() -> ca.Function:
    """accelerations(ROWS, force of the ground (4)) -> q'' (7)."""
    rows, ground = SX.sym("rows", ROWS.size), SX.sym("ground", 4)
    r = ROWS.split(rows)
    out = r["free"] + ca.reshape(r["by_force"], 7, 4) @ ground
    return ca.Function("accelerations", [rows, ground], [ca.densify(out)])
