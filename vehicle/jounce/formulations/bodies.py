"""The same mechanism with a body for every rod and tube, as tree-augmented and fully augmented models have it.

The tree has the cuts of Jain 2016, section 4.1 (its points J, G and L): the shock's top, the upper ball joint, the
tierod's inner end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca

from jounce.dynamics.graph import ROOT
from jounce.dynamics.mechanism import Body, Joint, Mechanism, Rod, Tubes
from jounce.math.algebra import SX, cross, symmetric, unit


@dataclass(frozen=True)
class Part:
    """A body of the fully augmented model, with what rides on it."""

    name: str
    mass: SX
    com: SX
    """In the design position."""
    axes: SX
    """(3, 3) principal axes in the design position, as columns."""
    moments: SX
    """About them."""


def _normals(axis: SX) -> tuple[SX, SX]:
    """Two unit vectors normal to a unit vector and to each other; numbers, not expressions of symbols."""
    size = [abs(float(ca.evalf(axis)[k])) for k in range(3)]
    x = unit(cross(SX.eye(3)[:, size.index(min(size))], axis))
    return x, cross(axis, x)


def _round(axis: SX, across: SX, along: SX) -> SX:
    return symmetric(across * SX.eye(3) + (along - across) * axis @ axis.T)


def of_rod(rod: Rod, fixed: set[str]) -> tuple[Body, list[Joint]]:
    """(the rod as a body, its joint to what carries it and its ball at the other end).

    ``fixed``: what no joint but a spherical one may hold, or what would leave the rod no body to ride on.
    """
    a, b = SX(ca.evalf(SX(rod.a.point))), SX(ca.evalf(SX(rod.b.point)))
    axis = unit(b - a)
    carrier, other = (rod.b, rod.a) if rod.a.on in fixed else (rod.a, rod.b)
    body = Body(rod.name, rod.mass, (a + b) / 2, _round(axis, SX(rod.across), SX(0)))
    return body, [Joint(f"{rod.name}.joint", "universal", carrier.on, rod.name, carrier.point, *_normals(axis)),
                  Joint(f"{rod.name}.ball", "spherical", rod.name, other.on, other.point, cut=True)]  # fmt: skip


def _of_tubes(tubes: Tubes) -> tuple[list[Body], list[Joint]]:
    foot, top = SX(tubes.lower.point), SX(tubes.upper.point)
    axis = unit(top - foot)
    low, up = f"{tubes.name}_lower", f"{tubes.name}_upper"
    bodies = [Body(low, tubes.lower_mass, foot + tubes.lower_com * axis,
                   _round(axis, SX(tubes.lower_across), SX(tubes.lower_along))),
              Body(up, tubes.upper_mass, top - tubes.upper_com * axis,
                   _round(axis, SX(tubes.upper_across), SX(tubes.upper_along)))]  # fmt: skip
    foot_joint = Joint(f"{tubes.name}.foot", "universal", tubes.lower.on, low, foot, *_normals(axis))
    return bodies, [foot_joint, Joint(f"{tubes.name}.stroke", "prismatic", low, up, top, axis),
                    Joint(f"{tubes.name}.top", "spherical", up, tubes.upper.on, top, cut=True)]  # fmt: skip


def massless(rod: Rod) -> bool:
    """Whether a rod has no mass, so that it can be no body."""
    return rod.mass is None or SX(ca.evalf(SX(rod.mass))).is_zero()


def with_bodies(mechanism: Mechanism) -> Mechanism:
    """The mechanism whose rods and tubes with mass are bodies with universal joints.

    Raises ValueError for tubes with inertia about their axis: with universal joints they would spin, which two-point
    bodies do not.
    """
    bodies, joints, rods = list(mechanism.bodies), list(mechanism.joints), []
    for rod in mechanism.rods:
        if massless(rod) or rod.compliant:
            rods.append(rod)
            continue
        body, more = of_rod(rod, {ROOT, *mechanism.prescribed})
        bodies.append(body)
        joints += more
    for tubes in mechanism.tubes:
        if not (SX(tubes.lower_along).is_zero() and SX(tubes.upper_along).is_zero()):
            raise ValueError(f"{mechanism.name}: {tubes.name} has inertia about its axis; as bodies its tubes would "
                             "spin with their universal joints, expected is 0")  # fmt: skip
        pair, more = _of_tubes(tubes)
        bodies += pair
        joints += more
    return replace(mechanism, bodies=tuple(bodies), joints=tuple(joints), rods=tuple(rods), tubes=())


def freed(mechanism: Mechanism) -> Mechanism:
    """Every body on its own, all joints as rows."""
    bodies = mechanism.bodies
    free = [Joint(f"{b.name}.free", "free", ROOT, b.name, [0.0] * 3 if b.com is None else b.com) for b in bodies]
    joints = (*free, *(replace(j, cut=True) for j in mechanism.joints))
    return replace(mechanism, joints=joints, independent=())
