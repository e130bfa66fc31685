"""A multibody as floating roots with branches, which are what one can embed; or why that cannot be.

Bodies that joints connect make a tree: its heaviest body floats, the root. What is left of the tree without the root
falls into branches, each with coordinates of its own (a corner, an axle, a cab). Bodies that springs alone hold, as an
engine on its mounts, are roots without branches.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from jounce.architecture import mobility
from jounce.architecture.target import GROUND, ROWS, Joint, Multibody
from jounce.dynamics.graph import ROOT, Edge, tree

#: Most coordinates of a branch: its matrix is factored as straight-line code.
MOST: Final = 8


class NotMinimal(ValueError):
    """What prevents minimal coordinates, by name."""


@dataclass(frozen=True)
class Branch:
    """Bodies behind one root."""

    model: Multibody
    root: int
    bodies: tuple[int, ...]
    joints: tuple[int, ...]
    """Places in `Multibody.joints`."""

    @property
    def name(self) -> str:
        """Of its first body."""
        return self.model.bodies[self.bodies[0]].name

    def local(self, body: int) -> str:
        """Name of a body in the branch's mechanism."""
        return ROOT if body == self.root else f"b{self.bodies.index(body)}"

    def joint(self, k: int) -> Joint:
        """Its k-th joint."""
        return self.model.joints[self.joints[k]]

    @cached_property
    def floating(self) -> tuple[int, ...]:
        """Places of bodies that rods alone hold, in `bodies`."""
        guided = {self.root}
        others = [j for j in map(self.joint, range(len(self.joints))) if j.kind != "rod"]
        while new := {b for j in others for b in (j.a, j.b) if {j.a, j.b} & guided} - guided:
            guided |= new
        return tuple(k for k, b in enumerate(self.bodies) if b not in guided)

    @cached_property
    def told(self) -> tuple[int, ...]:
        """Its joints, by place in `joints`, of which the steering moves a point in the root."""
        return tuple(k for k in range(len(self.joints)) if self.joint(k).steer.any())

    @cached_property
    def key(self) -> tuple[tuple[str, ...], ...]:
        """The same for branches that are alike but for their numbers."""
        joints = [(j.kind, self.local(j.a), self.local(j.b), "steered" if j.steer.any() else "")
                  for j in map(self.joint, range(len(self.joints)))]  # fmt: skip
        return ((str(len(self.bodies)),), *joints)

    @property
    def function(self) -> str:
        """Name of its emitted function."""
        return "branch_" + hashlib.sha256(repr(self.key).encode()).hexdigest()[:10]

    @cached_property
    def coordinates(self) -> int:
        """Of its spanning tree."""
        edges = [Edge(f"f{k}", ROOT, f"b{k}") for k in self.floating]
        moves = {f"f{k}": 6 for k in self.floating}
        for k in range(len(self.joints)):
            j = self.joint(k)
            a, b = self.local(j.a), ROOT if k in self.told else self.local(j.b)
            edges.append(Edge(f"j{k}", a, b, cut=j.kind == "line", closing=j.kind == "rod"))
            moves[f"j{k}"] = 6 - ROWS[j.kind]
        found = tree([f"b{k}" for k in range(len(self.bodies))], edges)
        return sum(moves[edge.name] for _, edge in found.parent.values())

    @property
    def independent(self) -> int:
        """Number of its motions."""
        return 6 * len(self.bodies) - sum(self.joint(k).rows for k in range(len(self.joints)))

    @property
    def dependent(self) -> int:
        """Number of the other coordinates of its spanning tree."""
        return self.coordinates - self.independent


@dataclass(frozen=True)
class Forest:
    """A multibody whose wheels are rotors of their carriers."""

    model: Multibody
    roots: tuple[int, ...]
    branches: tuple[Branch, ...]


def forest(model: Multibody) -> Forest:
    """Roots and branches of a model as `Layout.model` has it. Raises NotMinimal, which names what is in the way."""
    for motor in model.motors:
        raise NotMinimal(f"motor {motor.name} holds a rate up to a bound")
    for limit in model.limits:
        raise NotMinimal(f"limit {limit.name} is a stop")
    for joint in model.joints:
        if GROUND in (joint.a, joint.b):
            raise NotMinimal(f"{joint.name} ({joint.kind}) holds a body on the ground")
    count = mobility.count(model)
    if count.redundant:
        raise NotMinimal(f"{count.redundant[0]} holds what other joints hold already")
    roots, branches = [], []
    for group in _connected(range(len(model.bodies)), model):
        root = max(group, key=lambda b: (model.bodies[b].mass, -b))
        roots.append(root)
        for bodies in _connected([b for b in group if b != root], model):
            joints = tuple(k for k, j in enumerate(model.joints) if {j.a, j.b} & set(bodies))
            branches.append(_checked(Branch(model, root, tuple(bodies), joints)))
    return Forest(model, tuple(roots), tuple(branches))


def _connected(bodies: range | list[int], model: Multibody) -> list[list[int]]:
    """Groups of these bodies that joints between them connect, in order."""
    left, groups = list(bodies), []
    while left:
        group = {left[0]}
        while new := {b for j in model.joints if {j.a, j.b} & group for b in (j.a, j.b) if b in left} - group:
            group |= new
        groups.append([b for b in left if b in group])
        left = [b for b in left if b not in group]
    return groups


def _checked(branch: Branch) -> Branch:
    names = ", ".join(branch.model.bodies[b].name for b in branch.bodies)
    for k in branch.told:
        if branch.joint(k).b != branch.root or branch.joint(k).kind != "rod":
            raise NotMinimal(f"{branch.joint(k).name} is steered and no rod on body "
                             f"{branch.model.bodies[branch.root].name}")  # fmt: skip
    if not 0 < branch.independent <= MOST:
        raise NotMinimal(f"{names} have {branch.independent} motions of their own, of which there may be 1 to {MOST}")
    return branch


#: Places of parts in a record of numbers, as in ``impulse.h``.
_BODY, _JOINT, _TRIAD, _POINT_B = 10, 28, 6, 3


def first_joint(model: Multibody, spins: int) -> int:
    """Where the numbers of joints begin among those of the impulse engine."""
    return 3 + _BODY * len(model.bodies) + 4 * spins


def sources(branch: Branch, sizes: Mapping[str, int], spins: int) -> Iterator[tuple[int, int, int]]:
    """Where the numbers of a branch's mechanism, which have those ``sizes``, are among those of the impulse engine.

    A number is d[i] + d[j] - d[k], as points are kept relative to the centre of mass of their body; -1: none. One
    without any is 1.
    """
    joints = first_joint(branch.model, spins)
    root = 3 + _BODY * branch.root

    def com(body: int) -> int:
        return 3 + _BODY * body

    for name, size in sizes.items():
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
            record, j = joints + _JOINT * branch.joints[k], branch.joint(k)
            if what in ("axis", "normal"):
                yield (record + _TRIAD + (6 if what == "axis" else 0) + i, -1, -1)
            elif what == "b" or kind == "s":
                yield (record + _POINT_B + i, com(j.b) + i, root + i)
            else:
                yield (record + i, com(j.a) + i, root + i)
