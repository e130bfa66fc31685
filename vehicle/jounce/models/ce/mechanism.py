"""A branch of an architecture as a mechanism, and where its numbers are among those of the vehicle.

Its chassis frame is that of the root: origin in the root's centre of mass, axes those of the world as drawn. A number is
d[i] + d[j] - d[k] of the vehicle's numbers, as points are kept relative to the centre of mass of their body.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import Final

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.architecture import rows
from jounce.dynamics.embedding import Embedding
from jounce.dynamics.graph import ROOT
from jounce.dynamics.mechanism import Body, End, Joint, Mechanism, Rod, coordinate_names
from jounce.models.ce.forest import Branch

Array = NDArray[np.float64]

#: Kind of a joint in an architecture -> kind in a mechanism.
KINDS: Final = {"ball": "spherical", "hinge": "revolute", "slider": "prismatic", "line": "point_on_line"}


def mechanism(branch: Branch) -> Mechanism:
    """The branch with its numbers, without independent coordinates."""
    model, origin = branch.model, branch.model.bodies[branch.root].com
    bodies, joints, rods, prescribed = [], [], [], {}
    for k, b in enumerate(branch.bodies):
        body = model.bodies[b]
        i = body.inertia
        six = [i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]]
        bodies.append(Body(f"b{k}", body.mass, body.com - origin, six))
        if k in branch.floating:
            joints.append(Joint(f"f{k}", "free", ROOT, f"b{k}", body.com - origin))
    for k in range(len(branch.joints)):
        j = branch.joint(k)
        a, b, point = branch.local(j.a), branch.local(j.b), j.point_a - origin
        if j.kind == "rod":
            if k in branch.told:
                b = f"s{k}"
                prescribed[b] = j.point_b - origin
            rods.append(Rod(f"r{k}", End(a, point), End(b, j.point_b - origin)))
        elif j.kind == "line":  # the line is b's, and a mechanism's is fixed in its first body
            joints.append(Joint(f"j{k}", KINDS[j.kind], b, a, point, j.axis, normal=rows.normals(j.axis)[0], cut=True))
        else:
            axis = None if j.kind == "ball" else j.axis
            normal = None if axis is None else rows.normals(j.axis)[0]
            joints.append(Joint(f"j{k}", KINDS[j.kind], a, b, point, axis, normal=normal))
    return Mechanism(branch.name, (), tuple(bodies), tuple(joints), tuple(rods), prescribed=prescribed)


def embedding(branch: Branch) -> Embedding:
    """The branch's equations, its independent coordinates those that give the others best.

    Of all choices that one for which Y of the other coordinates has the largest smallest singular value, at the worst
    of the positions around the drawn one.
    """
    drawn = mechanism(branch)
    names = coordinate_names(drawn)
    n = branch.independent
    own = Embedding(replace(drawn, independent=names[:n]), whole=True)
    numbers, f = ca.evalf(drawn.numbers()), own.rows_function()
    jacobians = [np.array(f(q, own.rest, numbers)[1]) for q in own.positions(numbers)]

    def margin(chosen: tuple[int, ...]) -> float:
        others = [k for k in range(len(names)) if k not in chosen]
        return min((np.linalg.svd(y[:, others], compute_uv=False)[-1] for y in jacobians), default=1.0)

    if len(names) == n:
        return own
    best = max(combinations(range(len(names)), n), key=margin)
    return Embedding(replace(drawn, independent=tuple(names[k] for k in best)), whole=True)


#: Places of parts in a record of numbers, as in ``impulse.h``.
_BODY, _JOINT, _TRIAD, _POINT_B = 10, 28, 6, 3


def sources(branch: Branch, spins: int) -> Iterator[tuple[int, int, int]]:
    """(i, j, k) of each number of the mechanism's layout; -1: none. A number without any is 1."""
    first_joint = 3 + _BODY * len(branch.model.bodies) + 4 * spins
    root = 3 + _BODY * branch.root

    def com(body: int) -> int:
        return 3 + _BODY * body

    for name, size in mechanism(branch).layout().sizes.items():
        if name == "side":
            yield (-1, -1, -1)
            continue
        part, _, what = name.partition(".")
        kind, k = part[0], int(part[1:])
        for i in range(size):
            if kind == "b":
                own = com(branch.bodies[k])
                at = own + {"mass": 3, "com": i, "inertia": 4 + i}[what]
                yield (at, -1, root + i) if what == "com" else (at, -1, -1)
                continue
            if kind == "f":
                yield (com(branch.bodies[k]) + i, -1, root + i)
                continue
            record, j = first_joint + _JOINT * branch.joints[k], branch.joint(k)
            if what in ("axis", "normal"):
                yield (record + _TRIAD + (6 if what == "axis" else 0) + i, -1, -1)
            elif what == "b" or kind == "s":
                yield (record + _POINT_B + i, com(j.b) + i, root + i)
            else:
                yield (record + i, com(j.a) + i, root + i)
