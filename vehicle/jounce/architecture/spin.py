"""Wheels as rotors of their carriers: bodies that the impulse engine does not need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from jounce.architecture import rows
from jounce.architecture.inertia import Mass, total
from jounce.architecture.target import GROUND, Body, Limit, Motor, Multibody, Spring, Wheel

Array = NDArray[np.float64]


def merged(model: Multibody) -> tuple[Multibody, list[int]]:
    """The model with wheels as rotors, and which wheels these are."""
    spun = [k for k, w in enumerate(model.wheels) if _may_spin(model, w)]
    gone = {model.wheels[k].body: model.wheels[k].carrier for k in spun}
    kept = [k for k in range(len(model.bodies)) if k not in gone]
    place = {GROUND: GROUND, **{k: kept.index(gone.get(k, k)) for k in range(len(model.bodies))}}
    bodies = [_composite(model, k, [model.wheels[i] for i in spun if model.wheels[i].carrier == k]) for k in kept]

    joints = [j for j in model.joints if not {j.a, j.b} & set(gone)]
    wheels = tuple(replace(w, body=place[w.body], carrier=place[w.carrier]) for w in model.wheels)
    return replace(
        model,
        bodies=tuple(bodies),
        joints=tuple(replace(i, a=place[i.a], b=place[i.b]) for i in joints),
        springs=tuple(replace(i, a=place[i.a], b=place[i.b]) for i in model.springs),
        motors=tuple(replace(i, a=place[i.a], b=place[i.b]) for i in model.motors),
        limits=tuple(replace(i, a=place[i.a], b=place[i.b]) for i in model.limits),
        wheels=wheels,
    ), spun


def _may_spin(model: Multibody, wheel: Wheel) -> bool:
    body = model.bodies[wheel.body]
    touching = [j for j in model.joints if wheel.body in (j.a, j.b)]
    others: list[Spring | Motor | Limit] = [*model.springs, *model.motors, *model.limits]
    alone = len(touching) == 1 and not any(wheel.body in (o.a, o.b) for o in others)
    if not alone or touching[0].kind != "hinge" or wheel.carrier in (GROUND, wheel.body):
        return False
    if {touching[0].a, touching[0].b} != {wheel.body, wheel.carrier} or any(
        w.carrier == wheel.body or (w is not wheel and w.body == wheel.body) for w in model.wheels
    ):
        return False
    off = body.com - touching[0].point_a
    return bool(
        np.linalg.norm(np.cross(touching[0].axis, wheel.axis)) < 1e-9
        and np.linalg.norm(np.cross(off, wheel.axis)) < 1e-9
        and _symmetric(body.inertia, wheel.axis)
    )


def _symmetric(inertia: Array, axis: Array) -> bool:
    across, along = rows.normals(axis)[0], float(axis @ inertia @ axis)
    of_across = float(across @ inertia @ across)
    wanted = of_across * np.eye(3) + (along - of_across) * np.outer(axis, axis)
    return bool(np.abs(inertia - wanted).max() < 1e-9 * np.abs(inertia).max())


def spin_inertia(model: Multibody, wheel: Wheel) -> float:
    """Of a wheel's body about its axle [kg m2]."""
    return float(wheel.axis @ model.bodies[wheel.body].inertia @ wheel.axis)


def _composite(model: Multibody, k: int, wheels: Sequence[Wheel]) -> Body:
    own = model.bodies[k]
    if not wheels:
        return own
    parts = (own, *(model.bodies[w.body] for w in wheels))
    whole = total(Mass(p.mass, p.com, p.inertia) for p in parts)
    inertia = whole.inertia.copy()
    for w in wheels:
        inertia -= spin_inertia(model, w) * np.outer(w.axis, w.axis)
    spinning = tuple((float(spin_inertia(model, w)), w.name) for w in wheels)
    return Carrier(own.name, whole.mass, whole.com, inertia, own.members, spinning)


@dataclass(frozen=True)
class Carrier(Body):
    """A body with wheels as rotors: their inertia about the axle [kg m2] and name."""

    spinning: tuple[tuple[float, str], ...] = ()
