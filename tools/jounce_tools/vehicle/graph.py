"""Tree, loops and aggregates of every axle, as text and as DOT (for Graphviz)."""

from __future__ import annotations

from collections.abc import Iterator

from jounce.axles import Axle
from jounce.data import Vehicle
from jounce.dynamics.graph import ROOT, Aggregate, Edge, Tree
from jounce.dynamics.mechanism import Mechanism
from jounce.suspension.mechanisms.templates import mechanism_of


def text(vehicle: Vehicle) -> Iterator[str]:
    """Lines for people."""
    for own in vehicle.axles:
        m = mechanism_of(vehicle, own.name, own.kind)
        tree = m.tree()
        sides = "whole axle" if m.whole else "each side"
        yield f"axle {own.name} ({own.kind}, {sides}): coordinates {', '.join(m.independent)}"
        yield f"  {ROOT}"
        yield from _branches(m, tree, ROOT, "  ")
        for edge in tree.cuts:
            yield f"  loop closed by {edge.name}: {_kind(m, edge.name)} from {_end(m, edge, 0)} to {_end(m, edge, 1)}"
        for rod in (r for r in m.rods if r.compliant):
            yield f"  spring in line {rod.name}: from {rod.a.on} to {rod.b.on}, closes no loop"
        for aggregate in tree.aggregates:
            yield f"  aggregate on {aggregate.parent}: {', '.join(aggregate.bodies)}"


def _branches(m: Mechanism, tree: Tree, parent: str, indent: str) -> Iterator[str]:
    for body, (carrier, edge) in tree.parent.items():
        if carrier == parent:
            wheels = [w.name for w in m.wheels if w.on == body]
            carries = f" with {', '.join(wheels)}" if wheels else ""
            yield f"{indent}+ {body} on {edge.name} ({_kind(m, edge.name)}){carries}"
            yield from _branches(m, tree, body, indent + "  ")


def _kind(m: Mechanism, name: str) -> str:
    return next((j.kind.replace("_", " ") for j in m.joints if j.name == name), "rod")


def _end(m: Mechanism, edge: Edge, k: int) -> str:
    rod = next((r for r in m.rods if r.name == edge.name), None)
    if rod is None:
        return (edge.a, edge.b)[k]
    on = (rod.a, rod.b)[k].on
    return f"{on} (steering)" if on in m.prescribed else on


def dot(vehicle: Vehicle) -> Iterator[str]:
    """Lines of one graph in DOT: bodies in boxes by aggregate, tree full, loops dashed."""
    yield f"digraph {_quoted(vehicle.name)} {{"
    yield "  rankdir=BT; node [shape=box];"
    yield f"  {ROOT} [style=bold];"
    for own in vehicle.axles:
        m = mechanism_of(vehicle, own.name, own.kind)
        for side in ("",) if m.whole else (" left", " right"):
            yield from _one(own, m, m.tree(), side)
    yield "}"


def _one(own: Axle, m: Mechanism, tree: Tree, side: str) -> Iterator[str]:
    prefix = f"{own.name}{side}"

    def node(name: str) -> str:
        if name == ROOT:
            return ROOT
        return _quoted("steering" if name in m.prescribed else f"{prefix} {name}")

    for k, aggregate in enumerate(tree.aggregates):
        yield from _cluster(prefix, k, aggregate, node)
    for body, (carrier, edge) in tree.parent.items():
        yield f"  {node(body)} -> {node(carrier)} [label={_quoted(edge.name)}];"
    for edge in tree.cuts:
        a, b = (_end(m, edge, k).removesuffix(" (steering)") for k in range(2))
        yield f"  {node(a)} -> {node(b)} [label={_quoted(edge.name)}, style=dashed, dir=none, constraint=false];"


def _cluster(prefix: str, k: int, aggregate: Aggregate, node: object) -> Iterator[str]:
    assert callable(node)
    yield f"  subgraph {_quoted(f'cluster {prefix} {k}')} {{ label={_quoted(prefix)};"
    for body in aggregate.bodies:
        yield f"    {node(body)} [label={_quoted(body)}];"
    yield "  }"


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
