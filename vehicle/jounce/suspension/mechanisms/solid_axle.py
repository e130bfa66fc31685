"""A rigid axle on links, with both its wheels; steered by knuckles, tierod and draglink where it has kingpins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from jounce.dynamics.graph import ROOT
from jounce.dynamics.mechanism import End, Force, Joint, Mechanism, Rod, Tubes, Value, Wheel
from jounce.math.algebra import unit
from jounce.suspension.mechanisms.entries import Entries, chassis

#: (name of the link, its side, 0 in the middle): a point X_A on the axle, X_C on the chassis.
PAIRS = ("UL", "LL")
SINGLE = ("CL", "PAN")
SIDES = (("L", 1.0), ("R", -1.0))


def mechanism(p: Mapping[str, Value], axle: str) -> Mechanism:
    """The axle is free and its links hold it; coordinates are its heave and its roll.

    Links are those that have points: UL and LL on both sides, CL in the middle, the Panhard rod PAN; four rigid ones
    leave the two motions. With KNUCKLE_L and KNUCKLE_U, the ends of the left kingpin, the axle is steered: the draglink
    from DRAGLINK_C moves the left knuckle at DRAGLINK_K, the tierod joins both at TIEROD_K.
    """
    e = Entries(p, axle)
    return axle_on(e, tuple(links(e)))


def links(e: Entries) -> Iterator[Rod]:
    """The axle's links."""
    for name in PAIRS:
        if e.has(f"{name}_A"):
            for label, side in SIDES:
                ends = End("axle", e.point(f"{name}_A", side)), chassis(e.point(f"{name}_C", side))
                yield e.rod(f"{name}_{label}", *ends, entries=name)
    for name in SINGLE:
        if e.has(f"{name}_A"):
            yield e.rod(name, End("axle", e.point(f"{name}_A")), chassis(e.point(f"{name}_C")))


def axle_on(e: Entries, rods: tuple[Rod, ...]) -> Mechanism:
    """The axle with its wheels, springs and steering on these links."""
    steered = e.has("KNUCKLE_L")
    bodies, joints, all_rods = [e.body("axle", "AXLE_CM")], [_free(e)], list(rods)
    prescribed = {}
    if steered:
        for label, side in SIDES:
            low, up = e.point("KNUCKLE_L", side), e.point("KNUCKLE_U", side)
            knuckle = e.body("knuckle", "KNUCKLE_CM")
            com = e.point("KNUCKLE_CM", side)
            bodies.append(type(knuckle)(f"knuckle_{label}", knuckle.mass, com, knuckle.inertia))
            joints.append(Joint(f"kingpin_{label}", "revolute", "axle", f"knuckle_{label}", low, unit(up - low)))
        left, right = (End(f"knuckle_{label}", e.point("TIEROD_K", side)) for label, side in SIDES)
        drag = e.point("DRAGLINK_C")
        all_rods += [e.rod("tierod", left, right),
                     e.rod("draglink", End("DRAGLINK_C", drag), End("knuckle_L", e.point("DRAGLINK_K")))]
        prescribed["DRAGLINK_C"] = drag
    wheels: list[Wheel] = []
    tubes: list[Tubes] = []
    forces: list[Force] = []
    for k, (label, side) in enumerate(SIDES):
        shock = End("axle", e.point("SHOCK_A", side)), chassis(e.point("SHOCK_C", side))
        spring = End("axle", e.point("SPRING_A", side)), chassis(e.point("SPRING_C", side))
        wheels.append(e.wheel(f"knuckle_{label}" if steered else "axle", side, f"wheel_{label}"))
        tubes.append(e.shock_tubes(*shock, name=f"shock_{label}"))
        forces += e.forces(spring, shock, k)
    return Mechanism(e.axle, ("beam.z", "beam.rx"), tuple(bodies), tuple(joints), tuple(all_rods), tuple(wheels),
                     tuple(tubes), tuple(forces), prescribed)  # fmt: skip


def _free(e: Entries) -> Joint:
    """Six coordinates of the axle about the middle between its wheels."""
    return Joint("beam", "free", ROOT, "axle", 0.5 * (e.point("SPINDLE") + e.point("SPINDLE", -1.0)))
