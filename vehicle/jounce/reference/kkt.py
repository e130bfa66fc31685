"""The whole vehicle in maximal coordinates, as an independent reference for the constraint-embedding model.

It has 29 bodies (chassis; per corner upper arm, lower arm, upright, wheel, tierod and two shock tubes) with 6 degrees
of freedom each. Every joint gives constraint rows with Lagrange multipliers:

    M a + G^T lambda = f,   G a = gamma.

Model choices
- Steering: position, velocity and acceleration of the inner front tierod ends in the chassis frame are prescribed by
  the Pitman four-bar; the linkage's mass is part of the chassis.
- `driveline.inertia` is a rotor with one coordinate, tied to the spin of the wheel relative to its upright:
  kinetic energy J spin_rate^2 / 2, reaction torque on the upright.
- Tierods and shock tubes do not spin about their own axis (`Rows.no_spin`); axial inertia has no effect.
- Zero masses are allowed for tierods and shock tubes.

Signs: theta > 0 is jounce, spin > 0 rolls forward (about +y left), steering > 0 steers left. World axes z up. The
equations are the fully augmented form of Jain 2016 (Eq. 8, Fig. 1a), solved as a dense system. The module shares no
code with the constraint-embedding model.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from jounce.data import Vehicle
from jounce.reference.kkt_geometry import Design, Poses, body, design, poses
from jounce.reference.kkt_joints import Rows

__all__ = ["Loads", "Minimal", "State", "accelerations", "state_from_minimal"]

Array = NDArray[np.float64]

_Y = np.array([0.0, 1.0, 0.0])


def _zeros(*shape: int) -> Array:
    return np.zeros(shape)


@dataclass(frozen=True)
class Minimal:
    """The minimal coordinates and rates; wheel order FL FR RL RR, or as many as the vehicle has."""

    position: Array = field(default_factory=lambda: _zeros(3))
    """(3,) chassis origin, world [m]"""
    quaternion: Array = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))
    """(4,) w x y z, chassis to world; normalised on use"""
    theta: Array = field(default_factory=lambda: _zeros(4))
    """(4,) lower arm angles, jounce positive, 0 in the design position [rad]"""
    spin: Array = field(default_factory=lambda: _zeros(4))
    """(4,) wheel spin angles relative to the upright [rad]"""
    angular_velocity: Array = field(default_factory=lambda: _zeros(3))
    """(3,) of the chassis, chassis axes [rad/s]"""
    linear_velocity: Array = field(default_factory=lambda: _zeros(3))
    """(3,) of the chassis origin, chassis axes [m/s]"""
    theta_rate: Array = field(default_factory=lambda: _zeros(4))
    """(4,) [rad/s]"""
    spin_rate: Array = field(default_factory=lambda: _zeros(4))
    """(4,) relative to the upright [rad/s]"""
    steering_angle: float = 0.0
    """Steering wheel angle, left positive [rad]; Pitman angle = this / steering_ratio, not limited"""
    steering_rate: float = 0.0
    """[rad/s]"""
    steering_acceleration: float = 0.0
    """[rad/s2]"""


@dataclass(frozen=True)
class Loads:
    """Applied loads; wheel order FL FR RL RR."""

    gravity: float = 9.81
    """[m/s2] along world -z"""
    wheel_force: Array = field(default_factory=lambda: _zeros(4, 3))
    """(4, 3) at the wheel centre, world [N]"""
    wheel_moment: Array = field(default_factory=lambda: _zeros(4, 3))
    """(4, 3) on the wheel, world [N.m]"""
    spring: Array = field(default_factory=lambda: _zeros(4))
    """(4,) > 0 pushes SPRING_C and SPRING_A apart [N]"""
    shock: Array = field(default_factory=lambda: _zeros(4))
    """(4,) > 0 pushes SHOCK_C and SHOCK_A apart; acts between the tubes [N]"""
    drive: Array = field(default_factory=lambda: _zeros(4))
    """(4,) on the wheel about its spin axis, reacts on the chassis [N.m]"""
    brake: Array = field(default_factory=lambda: _zeros(4))
    """(4,) signed, on the wheel about its spin axis, reacts on the upright [N.m]"""
    chassis_force: Array = field(default_factory=lambda: _zeros(3))
    """(3,) at the chassis origin, world [N]"""
    chassis_moment: Array = field(default_factory=lambda: _zeros(3))
    """(3,) on the chassis, world [N.m]"""


@dataclass(frozen=True)
class State:
    """All bodies in the world; body indices from `kkt_geometry.body(corner, name)`, 0 is the chassis."""

    design: Design
    local: Poses
    """Poses relative to the chassis frame"""
    origin: Array
    """(3,) chassis origin [m]"""
    chassis: Array
    """(3, 3) chassis to world"""
    com: Array
    """(29, 3) centres of mass [m]"""
    rotation: Array
    """(29, 3, 3) body to world"""
    v: Array
    """(29, 3) velocities of the centres of mass [m/s]"""
    w: Array
    """(29, 3) angular velocities [rad/s]"""
    rotor: Array
    """(4,) spin rates [rad/s]"""
    drives: tuple[tuple[Array, Array, Array], ...]
    """Per corner: velocity, acceleration and d velocity / d Pitman rate of the inner tierod end relative to
    the chassis, world axes"""

    @property
    def rotors(self) -> int:
        """First row of the axle-shaft rotors among the stacked velocities."""
        return 6 * len(self.v)

    @property
    def size(self) -> int:
        """Number of stacked velocities."""
        return self.rotors + len(self.rotor)

    @property
    def velocity(self) -> Array:
        """(178,) stacked velocities that the rows of G multiply."""
        return np.concatenate([np.hstack([self.v, self.w]).ravel(), self.rotor])

    def arm(self, i: int, point: Array) -> Array:
        """(3,) vector from body i's centre of mass to a point of it given in the design position; world."""
        return np.asarray(self.rotation[i] @ (point - self.design.com[i]))

    def point(self, i: int, point: Array) -> Array:
        """(3,) world position of a point of body i given in the design position."""
        return np.asarray(self.com[i] + self.arm(i, point))

    def inertia(self, i: int) -> Array:
        """(3, 3) inertia of body i about its centre of mass, world axes."""
        return np.asarray(self.rotation[i] @ self.design.inertia[i] @ self.rotation[i].T)

    def spin_axis(self, corner: int) -> Array:
        """(3,) spin axis of a wheel (+y, left), world."""
        return np.asarray(self.rotation[body(corner, "upright")] @ _Y)

    def kinetic_energy(self) -> float:
        """Kinetic energy with the axle-shaft rotors [J]."""
        turning = sum(float(self.w[i] @ self.inertia(i) @ self.w[i]) for i in range(len(self.v)))
        moving = float(self.design.mass @ np.sum(self.v**2, axis=1))
        return 0.5 * (moving + turning + float(self.design.rotor @ self.rotor**2))


def state_from_minimal(vehicle: Vehicle, minimal: Minimal) -> State:
    """Closes the loops by Newton iteration, and solves the constraint rows for the velocities of all bodies.

    Raises ArithmeticError that names the corner if a loop does not close.
    """
    d, ratio = design(vehicle), vehicle["steering_ratio"]
    delta, rate, acceleration = (
        x / ratio for x in (minimal.steering_angle, minimal.steering_rate, minimal.steering_acceleration)
    )
    local = poses(vehicle, d, minimal.theta, minimal.spin, delta)
    chassis = _matrix(np.asarray(minimal.quaternion, dtype=float))
    drives = tuple(
        (
            chassis @ end.first * rate,
            chassis @ (end.second * rate**2 + end.first * acceleration),
            chassis @ end.first,
        )
        for end in local.inner
    )
    origin = np.asarray(minimal.position, dtype=float)
    rest = State(
        design=d,
        local=local,
        origin=origin,
        chassis=chassis,
        com=origin + local.com @ chassis.T,
        rotation=chassis @ local.rotation,
        v=np.zeros((len(d.mass), 3)),
        w=np.zeros((len(d.mass), 3)),
        rotor=np.zeros(len(d.corners)),
        drives=drives,
    )
    rows = constraint_rows(rest)
    w0 = chassis @ minimal.angular_velocity
    v0 = chassis @ minimal.linear_velocity + np.cross(w0, chassis @ d.com[0])
    wheels = len(d.corners)
    extra = np.zeros((6 + 2 * wheels, rest.size))
    wanted = np.concatenate([v0, w0, minimal.theta_rate, minimal.spin_rate])
    extra[:6, :6] = np.eye(6)
    for c in range(wheels):
        lower, axis = 6 * body(c, "LCA") + 3, chassis @ d.corners[c].lower_axis
        extra[6 + c, lower : lower + 3], extra[6 + c, 3:6] = axis, -axis
        extra[6 + wheels + c, rest.rotors + c] = 1.0
    velocity = np.linalg.solve(np.vstack([np.array(rows.matrix), extra]), np.concatenate([np.array(rows.rate), wanted]))
    both = velocity[: rest.rotors].reshape(-1, 6)
    return State(
        d,
        local,
        origin,
        chassis,
        rest.com,
        rest.rotation,
        both[:, :3],
        both[:, 3:],
        velocity[rest.rotors :],
        drives,
    )


def constraint_rows(state: State) -> Rows:
    """All 164 constraint rows at a state: 40 per corner and one per rotor."""
    rows = Rows(state.size, state.v, state.w)
    for c, corner in enumerate(state.design.corners):
        p = corner.points
        uca, lca, upright, wheel, tierod, lower, upper = (
            body(c, n) for n in ("UCA", "LCA", "upright", "wheel", "tierod", "shock_lower", "shock_upper")
        )
        arm, y = state.arm, state.spin_axis(c)
        rows.revolute(lca, arm(lca, p["LCA_F"]), 0, arm(0, p["LCA_F"]), state.chassis @ corner.lower_axis)
        rows.revolute(uca, arm(uca, p["UCA_F"]), 0, arm(0, p["UCA_F"]), state.chassis @ corner.upper_axis)
        rows.name(f"lower_ball_{c}")
        rows.spherical(upright, arm(upright, p["LCA_U"]), lca, arm(lca, p["LCA_U"]))
        rows.name(f"upper_ball_{c}")
        rows.spherical(upright, arm(upright, p["UCA_U"]), uca, arm(uca, p["UCA_U"]))
        rows.revolute(wheel, np.zeros(3), upright, arm(upright, p["SPINDLE"]), y)
        rows.rotor(wheel, upright, y, state.rotors + c)
        rows.spherical(tierod, arm(tierod, p["TIEROD_U"]), upright, arm(upright, p["TIEROD_U"]))
        inner = state.origin + state.chassis @ state.local.inner[c].position - state.com[0]
        rows.name(f"tierod_{c}")
        rows.spherical(tierod, arm(tierod, p["TIEROD_C"]), 0, inner, state.drives[c][:2])
        rows.no_spin(tierod, _direction(state.point(tierod, p["TIEROD_U"]) - state.point(tierod, p["TIEROD_C"])))
        axis = _direction(state.com[upper] - state.com[lower])
        rows.spherical(lower, arm(lower, p["SHOCK_A"]), lca, arm(lca, p["SHOCK_A"]))
        rows.spherical(upper, arm(upper, p["SHOCK_C"]), 0, arm(0, p["SHOCK_C"]))
        rows.prismatic(lower, upper, state.com[upper] - state.com[lower], axis)
        rows.no_spin(lower, axis)
    return rows


def applied_forces(state: State, loads: Loads) -> Array:
    """(178,) applied forces and torques on all bodies, world axes, without gyroscopic terms."""
    f = np.zeros((len(state.v), 6))
    f[:, 2] = -loads.gravity * state.design.mass

    def push(i: int, force: Array, arm: Array) -> None:
        f[i, :3] += force
        f[i, 3:] += np.cross(arm, force)

    push(0, np.asarray(loads.chassis_force), state.origin - state.com[0])
    f[0, 3:] += loads.chassis_moment
    for c, corner in enumerate(state.design.corners):
        p, wheel, upright, lca = corner.points, body(c, "wheel"), body(c, "upright"), body(c, "LCA")
        push(wheel, np.asarray(loads.wheel_force[c]), np.zeros(3))
        y = state.spin_axis(c)
        f[wheel, 3:] += loads.wheel_moment[c] + (loads.drive[c] + loads.brake[c]) * y
        f[0, 3:] -= loads.drive[c] * y
        f[upright, 3:] -= loads.brake[c] * y
        force = loads.spring[c] * _direction(state.point(0, p["SPRING_C"]) - state.point(lca, p["SPRING_A"]))
        push(0, force, state.arm(0, p["SPRING_C"]))
        push(lca, -force, state.arm(lca, p["SPRING_A"]))
        upper, lower = body(c, "shock_upper"), body(c, "shock_lower")
        force = loads.shock[c] * _direction(state.com[upper] - state.com[lower])
        push(upper, force, np.zeros(3))
        push(lower, -force, np.zeros(3))
    return np.concatenate([f.ravel(), np.zeros(len(state.rotor))])


def accelerations(vehicle: Vehicle, minimal: Minimal, loads: Loads) -> dict[str, Array]:
    """Solves the maximal-coordinate system for all accelerations and multipliers.

    Returns, in chassis or world axes as noted:
    - `angular_acceleration` (3,) chassis [rad/s2]; `linear_acceleration` (3,) chassis, true acceleration of
      the chassis origin (not the derivative of velocity components) [m/s2];
    - `theta_dd`, `spin_dd` (4,) [rad/s2];
    - `steering_load_torque` () that the tierods exert on the Pitman arm, positive left [N.m];
    - `tierod_force` (4,) axial at the inner end, > 0 pushes the ends apart (compression) [N];
    - `lower_ball_force`, `upper_ball_force` (4, 3) on the upright, world [N];
    - `tierod_inner_force` (4, 3) on the steering link or chassis, world [N];
    - `body_acceleration` (178,) stacked like `State.velocity`; `multipliers` (164,).

    Raises ArithmeticError if a loop does not close.
    """
    state = state_from_minimal(vehicle, minimal)
    return solve(state, loads)


def solve(state: State, loads: Loads) -> dict[str, Array]:
    """Like `accelerations`, from a full state."""
    d, rows, mass = state.design, constraint_rows(state), np.zeros((state.size, state.size))
    force = applied_forces(state, loads)
    for i in range(len(state.v)):
        k, tensor = 6 * i, state.inertia(i)
        mass[k : k + 3, k : k + 3] = d.mass[i] * np.eye(3)
        mass[k + 3 : k + 6, k + 3 : k + 6] = tensor
        force[k + 3 : k + 6] -= np.cross(state.w[i], tensor @ state.w[i])
    mass[state.rotors :, state.rotors :] = np.diag(d.rotor)
    g, gamma = np.array(rows.matrix), np.array(rows.gamma)
    system = np.block([[mass, g.T], [g, np.zeros((len(g), len(g)))]])
    right = np.concatenate([force, gamma])
    solution = np.linalg.solve(system, right)
    solution = solution + np.linalg.solve(system, right - system @ solution)
    a, reaction = solution[: state.size], -solution[state.size :]

    def on(label: str, c: int) -> Array:
        start = rows.start[f"{label}_{c}"]
        return reaction[start : start + 3]

    to_origin, w = state.origin - state.com[0], state.w[0]
    linear = a[:3] + np.cross(a[3:6], to_origin) + np.cross(w, np.cross(w, to_origin))
    inner = np.array([-on("tierod", c) for c in range(len(d.corners))])
    axial, theta_dd = np.zeros(len(d.corners)), np.zeros(len(d.corners))
    for c, corner in enumerate(d.corners):
        rod, p = body(c, "tierod"), corner.points
        outward = _direction(state.point(rod, p["TIEROD_U"]) - state.point(rod, p["TIEROD_C"]))
        axial[c] = -float(inner[c] @ outward)
        i, axis = 6 * body(c, "LCA") + 3, state.chassis @ corner.lower_axis
        theta_dd[c] = axis @ (a[i : i + 3] - a[3:6]) + (state.w[body(c, "LCA")] - w) @ np.cross(w, axis)
    load = sum(float(inner[c] @ state.drives[c][2]) for c in range(len(d.corners)))
    return {
        "angular_acceleration": state.chassis.T @ a[3:6],
        "linear_acceleration": state.chassis.T @ linear,
        "theta_dd": theta_dd,
        "spin_dd": a[state.rotors :],
        "steering_load_torque": np.array(load),
        "tierod_force": axial,
        "lower_ball_force": np.array([on("lower_ball", c) for c in range(len(d.corners))]),
        "upper_ball_force": np.array([on("upper_ball", c) for c in range(len(d.corners))]),
        "tierod_inner_force": inner,
        "body_acceleration": a,
        "multipliers": solution[state.size :],
    }


def _direction(v: Array) -> Array:
    return np.asarray(v / np.linalg.norm(v))


def _matrix(q: Array) -> Array:
    """(3, 3) rotation of the quaternion w x y z."""
    w, x, y, z = q / np.linalg.norm(q)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
