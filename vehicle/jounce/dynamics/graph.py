"""The graph of a mechanism: spanning tree, cut edges and aggregates (Jain 2016, section 3.1).

Nodes are rigid bodies, edges are what joins two of them. The tree is searched breadth first from the root. Every edge
outside it closes a loop; the bodies of that loop below their lowest common ancestor become one aggregate, and
aggregates that share a body are merged. The quotient is a tree again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

ROOT = "chassis"


@dataclass(frozen=True)
class Edge:
    """A joint between two bodies."""

    name: str
    a: str
    b: str
    cut: bool = False
    """Joins the tree only where nothing else reaches one of its bodies."""
    closing: bool = False
    """Never joins the tree (a rod has no coordinates of its own)."""


@dataclass(frozen=True)
class Aggregate:
    """Bodies that loops tie together; a single body where there is no loop."""

    bodies: tuple[str, ...]
    """From the root outward, in the order of the search."""
    parent: str
    """The body outside it that carries it."""
    cuts: tuple[str, ...]
    """Names of the edges that close its loops."""


@dataclass(frozen=True)
class Tree:
    """Spanning tree of a graph and its aggregates."""

    parent: dict[str, tuple[str, Edge]]
    """Body -> (body that carries it, joint between them), from the root outward."""
    cuts: tuple[Edge, ...]
    aggregates: tuple[Aggregate, ...]
    """Parents before children."""

    def path(self, body: str) -> tuple[str, ...]:
        """The body and those that carry it, outward in; the root is left out."""
        found = []
        while body in self.parent:
            found.append(body)
            body = self.parent[body][0]
        return tuple(found)

    def owner(self, body: str) -> Aggregate | None:
        """The aggregate that has the body; None for the root."""
        return next((a for a in self.aggregates if body in a.bodies), None)


def tree(bodies: Sequence[str], edges: Sequence[Edge], root: str = ROOT) -> Tree:
    """Spanning tree and aggregates of a graph; the order of ``edges`` decides where the search has a choice.

    Raises ValueError that names body and joint: a name that is there twice, a joint to a body that is not there or to
    itself, a body that no joint ties to the root.
    """
    _check(bodies, edges, root)
    parent = _search(bodies, edges, root)
    joined = {edge.name for _, edge in parent.values()}
    cuts = tuple(e for e in edges if e.name not in joined)
    return Tree(parent, cuts, _aggregates(parent, cuts))


def _check(bodies: Sequence[str], edges: Sequence[Edge], root: str) -> None:
    for what, names in (("body", [root, *bodies]), ("joint", [e.name for e in edges])):
        if twice := sorted({n for n in names if names.count(n) > 1}):
            raise ValueError(f"{what} {twice[0]!r} is there twice")
    known = {root, *bodies}
    for edge in edges:
        if missing := [n for n in (edge.a, edge.b) if n not in known]:
            raise ValueError(f"joint {edge.name!r} joins {missing[0]!r}; bodies are {', '.join(sorted(known))}")
        if edge.a == edge.b:
            raise ValueError(f"joint {edge.name!r} joins {edge.a!r} to itself")


def _search(bodies: Sequence[str], edges: Sequence[Edge], root: str) -> dict[str, tuple[str, Edge]]:
    at: dict[str, list[Edge]] = {name: [] for name in (root, *bodies)}
    for edge in edges:
        if not edge.closing:
            at[edge.a].append(edge)
            at[edge.b].append(edge)
    parent: dict[str, tuple[str, Edge]] = {}
    reached = {root}

    def spread(queue: deque[str]) -> None:
        while queue:
            body = queue.popleft()
            for edge in at[body]:
                other = edge.b if edge.a == body else edge.a
                if not edge.cut and other not in reached:
                    reached.add(other)
                    parent[other] = (body, edge)
                    queue.append(other)

    spread(deque([root]))
    while missing := [b for b in bodies if b not in reached]:
        bridge = next((e for e in edges if e.cut and not e.closing and (e.a in reached) != (e.b in reached)), None)
        if bridge is None:
            ties = [e.name for e in edges if missing[0] in (e.a, e.b)]
            by = f"; {', '.join(ties)} do not carry it there" if ties else "; it has no joint"
            raise ValueError(f"no joint carries body {missing[0]!r} from {root!r}{by}")
        inner, outer = (bridge.a, bridge.b) if bridge.a in reached else (bridge.b, bridge.a)
        reached.add(outer)
        parent[outer] = (inner, bridge)
        spread(deque([outer]))
    return parent


def _aggregates(parent: dict[str, tuple[str, Edge]], cuts: Iterable[Edge]) -> tuple[Aggregate, ...]:
    order = {body: k for k, body in enumerate(parent)}
    leader = {body: body for body in parent}

    def find(body: str) -> str:
        while leader[body] != body:
            leader[body] = leader[leader[body]]
            body = leader[body]
        return body

    owned: list[tuple[str, Edge]] = []
    for edge in cuts:
        loop = _loop(parent, edge)
        for body in loop[1:]:
            leader[find(body)] = find(loop[0])
        if loop:
            owned.append((loop[0], edge))
    members: dict[str, list[str]] = {}
    for body in parent:
        members.setdefault(find(body), []).append(body)
    found = []
    for key, group in members.items():
        inside = set(group)
        outer = {parent[b][0] for b in group} - inside
        [carrier] = outer
        names = tuple(e.name for first, e in owned if find(first) == key)
        found.append(Aggregate(tuple(sorted(group, key=order.__getitem__)), carrier, names))
    return _outward(found)


def _outward(found: list[Aggregate]) -> tuple[Aggregate, ...]:
    """Parents before children: the search may reach a child's first body before its parent's last one."""
    of = {body: a for a in found for body in a.bodies}

    def depth(a: Aggregate) -> int:
        return 0 if a.parent not in of else 1 + depth(of[a.parent])

    return tuple(sorted(found, key=depth))


def _loop(parent: dict[str, tuple[str, Edge]], edge: Edge) -> list[str]:
    """Bodies on the paths from the edge's ends to their lowest common ancestor, that one left out."""

    def path(body: str) -> list[str]:
        found = [body]
        while found[-1] in parent:
            found.append(parent[found[-1]][0])
        return found

    a, b = path(edge.a), path(edge.b)
    common = next(body for body in a if body in set(b))
    return a[: a.index(common)] + b[: b.index(common)]
