"""The vehicle in the form that other libraries need: a tree of joints, cut loops, and loads, from the vehicle data.

29 bodies: the chassis, and per corner both arms, upright, wheel, tierod and the two shock tubes. The loops are cut
at the upper ball joint, at the tierod's outer end and at the shock's upper end: 50 velocities less 36 closure rows
leave the vehicle's 14 degrees of freedom. The steering is held straight. All frames have chassis axes in the
design position, with their origin at the joint.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jounce.axles import WHEELS
from jounce.data import Vehicle
from jounce.reference.kkt import Loads, Minimal, solve, state_from_minimal
from jounce.reference.kkt_geometry import Design, body, design

Array = NDArray[np.float64]

KINDS = ("free", "hinge", "ball", "universal", "slide")


@dataclass(frozen=True)
class Body:
    """A body and the joint that ties it to its parent."""

    name: str
    """For people and for look-ups."""
    parent: int
    """Index of the parent body; -1 is the world."""
    kind: str
    """One of `KINDS`."""
    point: Array
    """(3,) the joint in the design position, chassis frame [m]"""
    axes: tuple[Array, ...]
    """Unit axes of the joint."""
    mass: float
    """[kg]"""
    com: Array
    """(3,) centre of mass, chassis frame [m]"""
    inertia: Array
    """(3, 3) about the centre of mass, chassis axes [kg.m2]"""
    reference: int
    """The same body in `jounce.reference`."""
    armature: float = 0.0
    """Inertia on the joint's rate alone [kg.m2]"""


@dataclass(frozen=True)
class Closure:
    """Two bodies that share a point: three rows."""

    bodies: tuple[int, int]
    """Their indices."""
    point: Array
    """(3,) in the design position, chassis frame [m]"""


@dataclass(frozen=True)
class Tree:
    """The vehicle: bodies (depth first, as Pinocchio needs them), cut loops."""

    design: Design
    bodies: tuple[Body, ...]
    closures: tuple[Closure, ...]

    def index(self, name: str) -> int:
        """Index of a body by name."""
        return next(i for i, b in enumerate(self.bodies) if b.name == name)


@dataclass(frozen=True)
class Probe:
    """A state in the design position with every joint moving, its loads, and what follows from them."""

    velocity: Array
    """(50,) chassis linear, then angular velocity (chassis axes), then joint rates, in the order of the bodies"""
    torque: Array
    """(50,) generalised forces of springs, shocks and brakes"""
    expected: Array
    """(14,) rates of the chassis velocities, then of the arm and the spin rates FL FR RL RR"""
    places: Array
    """(14,) where these stand in the tree's accelerations"""


def vehicle_tree(vehicle: Vehicle) -> Tree:
    """The tree of a vehicle with the bodies of the maximal-coordinate reference."""
    d = design(vehicle)
    bodies = [Body("chassis", -1, "free", np.zeros(3), (), float(d.mass[0]), d.com[0], d.inertia[0], 0)]
    closures = []
    for c, corner in enumerate(d.corners):
        p, start = corner.points, len(bodies)

        def add(name: str, parent: int, kind: str, point: Array, axes: tuple[Array, ...], armature: float = 0.0,
                c: int = c) -> None:
            i = body(c, name)
            full = f"{name}_{WHEELS[c]}"
            bodies.append(Body(full, parent, kind, point, axes, float(d.mass[i]), d.com[i], d.inertia[i], i, armature))

        along = _unit(p["SHOCK_C"] - p["SHOCK_A"])
        add("LCA", 0, "hinge", p["LCA_F"], (corner.lower_axis,))
        add("upright", start, "ball", p["LCA_U"], ())
        add("wheel", start + 1, "hinge", p["SPINDLE"], (np.array([0.0, 1.0, 0.0]),), d.rotor[c])
        add("shock_lower", start, "universal", p["SHOCK_A"], _across(along))
        add("shock_upper", start + 3, "slide", p["SHOCK_C"], (along,))
        add("UCA", 0, "hinge", p["UCA_F"], (corner.upper_axis,))
        add("tierod", 0, "universal", p["TIEROD_C"], _across(p["TIEROD_U"] - p["TIEROD_C"]))
        closures.append(Closure((start + 1, start + 5), p["UCA_U"]))
        closures.append(Closure((start + 1, start + 6), p["TIEROD_U"]))
        closures.append(Closure((0, start + 4), p["SHOCK_C"]))
    return Tree(d, tuple(bodies), tuple(closures))


def probe(vehicle: Vehicle, tree: Tree, seed: int = 1) -> Probe:
    """A random motion and random loads, and the accelerations that `jounce.reference` finds for them.

    They tell whether another library was given this vehicle, with its loops closed, or another one.
    """
    r = np.random.default_rng(seed)
    minimal = Minimal(
        angular_velocity=r.normal(size=3), linear_velocity=5.0 * r.normal(size=3),
        theta_rate=r.normal(size=4), spin_rate=20.0 * r.normal(size=4),
    )
    loads = Loads(spring=1e4 * r.normal(size=4), shock=1e3 * r.normal(size=4), brake=5e2 * r.normal(size=4))
    state = state_from_minimal(vehicle, minimal)
    found = solve(state, loads)
    velocity, torque, places = [*minimal.linear_velocity, *minimal.angular_velocity], np.zeros(50), {}
    for b in tree.bodies[1:]:
        mother = tree.bodies[b.parent].reference
        turning = state.w[b.reference] - state.w[mother]
        at, name = len(velocity), b.name.rpartition("_")[0]
        c = WHEELS.index(b.name[-2:])
        places[b.name] = at
        if b.kind == "ball":
            velocity += turning.tolist()
        elif b.kind == "slide":
            carried = state.v[mother] + np.cross(state.w[mother], state.com[b.reference] - state.com[mother])
            velocity.append(float(b.axes[0] @ (state.v[b.reference] - carried)))
            torque[at] = loads.shock[c]
        else:
            velocity += [float(axis @ turning) for axis in b.axes]
        if name == "LCA":
            p = tree.design.corners[c].points
            push = loads.spring[c] * _unit(p["SPRING_A"] - p["SPRING_C"])
            torque[at] = b.axes[0] @ np.cross(p["SPRING_A"] - b.point, push)
        elif name == "wheel":
            torque[at] = loads.brake[c]
    linear = found["linear_acceleration"] - np.cross(minimal.angular_velocity, minimal.linear_velocity)
    expected = np.concatenate([linear, found["angular_acceleration"], found["theta_dd"], found["spin_dd"]])
    order = [*range(6), *(places[f"{name}_{w}"] for name in ("LCA", "wheel") for w in WHEELS)]
    return Probe(np.array(velocity), torque, expected, np.array(order))


def _unit(v: Array) -> Array:
    return np.asarray(v / np.linalg.norm(v))


def _across(direction: Array) -> tuple[Array, Array]:
    """Two axes square to a direction and to each other."""
    first = _unit(np.cross(direction, [1.0, 0.0, 0.0]))
    return first, _unit(np.cross(direction, first))
