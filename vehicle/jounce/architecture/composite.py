"""Composite bodies: rigidly connected components become one body (Lesiv 2011, "Rigid body analysis model derivation").

Union-find over the rigid edges (Tarjan 1975, "Efficiency of a good but not linear set union algorithm"): the order of
the edges does not matter, and a ring of them closes on itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from jounce.architecture import inertia, rows
from jounce.architecture.graph import WORLD, Architecture, Edge, WheelOn
from jounce.architecture.load import architecture_file, load
from jounce.architecture.read import ArchitectureError
from jounce.architecture.target import GROUND, ROWS, Body, Joint, Limit, Motor, Multibody, Spring, Wheel
from jounce.axles import wheel_names

Array = NDArray[np.float64]

#: Largest residual of a joint in the drawn pose [m] or [1].
DRAWN_GAP = 1e-6


def build(name: str | Path) -> tuple[Architecture, Multibody]:
    """Reads an architecture, as `architecture_file` finds it; its bodies and what acts between them.

    Raises ArchitectureError.
    """
    made = load(architecture_file(name))
    return made, multibody(made)


def multibody(made: Architecture) -> Multibody:
    """The bodies of an architecture and what acts between them. Raises ArchitectureError, naming the entries."""
    place, bodies = composites(made)
    _check_reached(made)
    edges = [e for e in made.edges if e.kind != "rigid"]
    for edge in edges:
        if place[edge.a] == place[edge.b]:
            body = "the world" if place[edge.a] == GROUND else f"body {bodies[place[edge.a]].name}"
            raise ArchitectureError(f"{edge.where}: {edge.a} and {edge.b} are both part of {body}; expected a "
                                    f"{edge.kind} between two bodies")  # fmt: skip
    model = Multibody(
        made.name, bodies,
        tuple(_joint(e, place) for e in edges if e.kind in ROWS),
        tuple(_spring(e, place) for e in edges if e.kind in ("spring", "damper")),
        tuple(Motor(e.name, place[e.a], place[e.b], e.axis, e.upper) for e in edges if e.kind == "motor"),
        tuple(Limit(e.name, e.measure, place[e.a], place[e.b], e.point_a, e.point_b, e.axis, e.lower, e.upper)
              for e in edges if e.kind == "limit"),
        file=made.file,
    )  # fmt: skip
    _check_drawn(model, [e for e in edges if e.kind in ROWS])
    return replace(model, wheels=_named(tuple(_wheel(w, model, place) for w in made.wheels)))


def composites(made: Architecture) -> tuple[dict[str, int], tuple[Body, ...]]:
    """Component -> its body's place (of the world: GROUND), and the bodies, named by their first component."""
    above = {name: name for name in made.components}

    def root(name: str) -> str:
        while above[name] != name:
            above[name] = above[above[name]]
            name = above[name]
        return name

    for edge in made.edges:
        if edge.kind != "rigid":
            continue
        if WORLD in (edge.a, edge.b):
            raise ArchitectureError(f"{edge.where}: rigid with {WORLD!r}: expected two components")
        above[root(edge.a)] = root(edge.b)
    members: dict[str, list[str]] = {}
    for name in made.components:
        members.setdefault(root(name), []).append(name)
    place = {WORLD: GROUND}
    bodies: list[Body] = []
    for names in members.values():
        whole = inertia.total(made.components[n].mass for n in names)
        place |= dict.fromkeys(names, len(bodies))
        bodies.append(Body(names[0], whole.mass, whole.com, whole.inertia, tuple(names)))
    return place, tuple(bodies)


def _check_reached(made: Architecture) -> None:
    """Raises ArchitectureError where no path of connections leads from the first component to another."""
    beside: dict[str, set[str]] = {name: set() for name in (*made.components, WORLD)}
    for edge in made.edges:
        beside[edge.a].add(edge.b)
        beside[edge.b].add(edge.a)
    first = next(iter(made.components))
    found, ahead = {first}, [first]
    while ahead:
        new = beside[ahead.pop()] - found
        found |= new
        ahead += new
    if lost := [name for name in made.components if name not in found]:
        where = made.components[lost[0]].where
        raise ArchitectureError(f"{where}: no connection leads from {first} to {', '.join(lost)}; expected one for "
                                f"every component")  # fmt: skip


def _joint(edge: Edge, place: Mapping[str, int]) -> Joint:
    return Joint(edge.name, edge.kind, place[edge.a], place[edge.b], edge.point_a, edge.point_b, edge.axis, edge.length,
                 edge.steer)  # fmt: skip


def _check_drawn(model: Multibody, edges: list[Edge]) -> None:
    pose = rows.drawn(model)
    for joint, edge in zip(model.joints, edges, strict=True):
        if joint.kind == "rod" and np.linalg.norm(joint.point_a - joint.point_b) < 1e-9:
            raise ArchitectureError(f"{edge.where}: rod whose points are the same: expected two points apart")
        gap = max(abs(row.residual) for row in rows.joint_rows(model, pose, joint))
        if gap > DRAWN_GAP:
            points = f"point_a {joint.point_a.tolist()} and point_b {joint.point_b.tolist()}"
            wanted = {"ball": "the same point", "hinge": "the same point", "rod": f"them {joint.length:g} m apart"}
            raise ArchitectureError(f"{edge.where}: {points} miss each other by {gap:.3g} m as drawn; expected "
                                    f"{wanted.get(joint.kind, 'point_a on the axis through point_b')}")  # fmt: skip


def _spring(edge: Edge, place: Mapping[str, int]) -> Spring:
    if edge.along is None and np.linalg.norm(edge.point_a - edge.point_b) < 1e-9:
        raise ArchitectureError(f"{edge.where}: {edge.kind} whose points are the same: expected two points apart, or "
                                "along, the direction in which it acts")  # fmt: skip
    return Spring(edge.name, place[edge.a], place[edge.b], edge.point_a, edge.point_b, edge.stiffness, edge.damping,
                  edge.along, 0.0, edge.seated)  # fmt: skip


def _wheel(wheel: WheelOn, model: Multibody, place: Mapping[str, int]) -> Wheel:
    k, kind = place[wheel.body], wheel.kind
    if k == GROUND:
        raise ArchitectureError(f"{wheel.where}: body = {WORLD!r}: expected a component")
    body = model.bodies[k]
    hinges = [j for j in model.joints if j.kind == "hinge" and k in (j.a, j.b)]
    if len(hinges) != 1:
        found = ", ".join(j.name for j in hinges) or "none"
        raise ArchitectureError(f"{wheel.where}: body {body.name} turns on {len(hinges)} hinges ({found}); expected "
                                "one, its axle")  # fmt: skip
    hinge = hinges[0]
    axis = hinge.axis * (1 if hinge.axis[1] >= 0 else -1)
    off = np.linalg.norm(np.cross(body.com - hinge.point_a, axis))
    if off > 1e-6:
        raise ArchitectureError(f"{wheel.where}: the centre of mass of {body.name} is {off:.3g} m beside its axle; "
                                "expected on it: a wheel is balanced")  # fmt: skip
    # -w x I w, taken at the start of a step, is exact for a body that looks the same after any turn about its axle.
    spin = body.inertia - (axis @ body.inertia @ axis) * np.outer(axis, axis)
    across = spin - np.trace(spin) / 2 * (np.eye(3) - np.outer(axis, axis))
    if np.abs(across).max() > 1e-3 * np.trace(body.inertia):
        raise ArchitectureError(f"{wheel.where}: the inertia of {body.name} is not the same all about its axle; "
                                "expected equal moments across it, and no products")  # fmt: skip
    tire = (kind.radius, kind.stiffness, kind.damping, kind.lateral, kind.relaxation, kind.friction)
    return Wheel(wheel.name, k, hinge.a + hinge.b - k, body.com, axis, *tire, wheel.offsets, driven=wheel.driven,
                 steered=wheel.steered)  # fmt: skip


def _named(wheels: tuple[Wheel, ...]) -> tuple[Wheel, ...]:
    """From the front, left before right; named FL FR RL RR or 1L 1R ... where every axle has one on each side."""
    axles: list[list[Wheel]] = []
    for wheel in sorted(wheels, key=lambda w: -w.centre[0]):
        if axles and axles[-1][0].centre[0] - wheel.centre[0] < wheel.radius / 2:
            axles[-1].append(wheel)
        else:
            axles.append([wheel])
    ordered = [sorted(axle, key=lambda w: -w.centre[1]) for axle in axles]
    in_order = [wheel for axle in ordered for wheel in axle]
    if any(len(a) != 2 or a[0].centre[1] <= 0 or a[1].centre[1] >= 0 for a in ordered):
        return tuple(in_order)
    return tuple(replace(w, name=n) for w, n in zip(in_order, wheel_names(len(axles)), strict=True))
