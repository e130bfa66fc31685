"""Names of signals."""

from __future__ import annotations

from jounce.signals import XYZ, Signal, SignalTable, named_groups


def test_a_name_stands_for_a_scalar_a_whole_vector_or_all() -> None:
    table = SignalTable("t", (Signal("a", "input", "m", "one"), Signal("v", "input", "m", "three", XYZ)))
    found = {name: [s.name for s in group] for name, group in named_groups(table.inputs).items()}
    v = ["v.x", "v.y", "v.z"]
    assert found == {"a": ["a"], "v": v, "v.x": v[:1], "v.y": v[1:2], "v.z": v[2:], "*": ["a", *v]}
