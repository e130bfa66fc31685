"""Spanning trees and aggregates of graphs (Jain 2016, section 3.1)."""

from __future__ import annotations

import numpy as np
import pytest

from jounce.dynamics.graph import Aggregate, Edge, Tree, tree


def _random(rng: np.random.Generator) -> tuple[list[str], list[Edge]]:
    bodies = [f"body {k}" for k in range(rng.integers(2, 15))]
    edges = [Edge(f"joint {k}", "chassis" if k == 0 or rng.random() < 0.3 else bodies[rng.integers(k)], body)
             for k, body in enumerate(bodies)]  # fmt: skip
    for k in range(rng.integers(0, 7)):
        a, b = rng.choice(["chassis", *bodies], 2, replace=False)
        edges.append(Edge(f"loop {k}", str(a), str(b), cut=bool(rng.random() < 0.5)))
    rng.shuffle(edges)  # type: ignore[arg-type]
    return bodies, edges


def _closed(found: Tree, cut: Edge) -> bool:
    """Whether the cut edge lies in an aggregate, or between it and the body that carries it."""
    a, b = found.owner(cut.a), found.owner(cut.b)
    return a == b or (a is not None and a.parent == cut.b) or (b is not None and b.parent == cut.a)


def test_aggregates_of_5000_random_graphs_form_a_tree_and_hold_every_cut_edge() -> None:
    rng = np.random.default_rng(14)
    loops = 0
    for _ in range(5000):
        bodies, edges = _random(rng)
        found = tree(bodies, edges)
        seen = {"chassis"}
        for aggregate in found.aggregates:
            assert aggregate.parent in seen  # a parent comes first: no circle
            assert not seen & set(aggregate.bodies)
            seen |= set(aggregate.bodies)
        assert seen == {"chassis", *bodies}
        assert len(found.parent) + len(found.cuts) == len(edges)
        assert all(_closed(found, cut) for cut in found.cuts)
        assert sorted(name for a in found.aggregates for name in a.cuts) == sorted(c.name for c in found.cuts)
        loops += len(found.cuts)
    assert loops > 5000


def test_the_papers_seven_bodies_a_corner_give_four_aggregates_of_seven() -> None:
    bodies, edges = [], []
    for k in range(4):
        name = {n: f"{n} {k}" for n in ("lower", "upper", "upright", "tierod", "shock arm", "shock rod", "spindle")}
        bodies += name.values()
        pairs = [("chassis", "lower"), ("chassis", "upper"), ("lower", "upright"), ("upright", "spindle"),
                 ("spindle", "tierod"), ("lower", "shock arm"), ("shock arm", "shock rod"), ("upper", "upright"),
                 ("chassis", "tierod"), ("chassis", "shock rod")]  # fmt: skip
        edges += [Edge(f"{a}-{b} {k}", name.get(a, a), name[b], cut=n > 6) for n, (a, b) in enumerate(pairs)]
    found = tree(bodies, edges)
    assert len(found.cuts) == 12
    assert [len(a.bodies) for a in found.aggregates] == [7, 7, 7, 7]
    assert {a.parent for a in found.aggregates} == {"chassis"}


def test_a_steering_linkage_with_bodies_ties_both_corners_into_one_aggregate() -> None:
    bodies = ["left", "right", "link", "arm", "left rod", "right rod"]
    edges = [Edge("a", "chassis", "left"), Edge("b", "chassis", "right"), Edge("c", "chassis", "arm"),
             Edge("d", "arm", "link"), Edge("e", "link", "chassis"), Edge("f", "link", "left rod"),
             Edge("g", "left rod", "left"), Edge("h", "link", "right rod"),
             Edge("i", "right rod", "right")]  # fmt: skip
    assert [set(a.bodies) for a in tree(bodies, edges).aggregates] == [set(bodies)]


def test_a_loop_that_hangs_on_another_loop_stays_its_child() -> None:
    edges = [Edge("1", "chassis", "a"), Edge("2", "chassis", "b"), Edge("3", "a", "b"), Edge("4", "b", "c"),
             Edge("5", "b", "d"), Edge("6", "c", "d")]  # fmt: skip
    assert tree(["a", "b", "c", "d"], edges).aggregates == (
        Aggregate(("a", "b"), "chassis", ("3",)), Aggregate(("c", "d"), "b", ("6",)))  # fmt: skip


def test_a_joint_told_to_close_a_loop_joins_the_tree_where_nothing_else_does() -> None:
    edges = [Edge("hinge", "chassis", "arm", cut=True), Edge("ball", "arm", "upright")]
    assert not tree(["arm", "upright"], edges).cuts
    found = tree(["arm", "upright"], [*edges, Edge("top", "chassis", "upright")])
    assert [c.name for c in found.cuts] == ["hinge"]


@pytest.mark.parametrize(
    ("bodies", "edges", "words"),
    [
        (["arm"], [Edge("hinge", "chassis", "army")], "'hinge' joins 'army'; bodies are arm, chassis"),
        (["arm"], [Edge("hinge", "arm", "arm")], "'hinge' joins 'arm' to itself"),
        (["arm", "arm"], [Edge("hinge", "chassis", "arm")], "'arm' is there twice"),
        (["arm"], [Edge("hinge", "chassis", "arm"), Edge("hinge", "chassis", "arm")], "'hinge' is there twice"),
        (["arm", "hub"], [Edge("hinge", "chassis", "arm")], "'hub' from 'chassis'; it has no joint"),
        (["hub"], [Edge("rod", "chassis", "hub", closing=True)], "'hub' from 'chassis'; rod do not carry it"),
    ],
)
def test_faults_name_body_and_joint(bodies: list[str], edges: list[Edge], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        tree(bodies, edges)
