"""A branch of an architecture as a mechanism.

Its chassis frame is that of the root: origin in the root's centre of mass, axes those of the world as drawn.
"""

from __future__ import annotations

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
    bodies: list[Body] = []
    joints: list[Joint] = []
    rods: list[Rod] = []
    prescribed: dict[str, Array] = {}
    for k, at in enumerate(branch.bodies):
        body = model.bodies[at]
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
