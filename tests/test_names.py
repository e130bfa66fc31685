"""Names that say what they hold: a tick is counted, the length of one is in seconds."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODULES = [p for folder in ("vehicle", "fmu", "service", "tools", "clients") for p in (ROOT / folder).rglob("*.py")]


def lengths(text: str) -> Iterator[tuple[int, str]]:
    """Line and kind of every ``tick`` that a module declares to be a float."""
    for node in ast.walk(ast.parse(text)):
        name, kind = (
            (node.name, node.returns) if isinstance(node, ast.FunctionDef)
            else (node.arg, node.annotation) if isinstance(node, ast.arg)
            else (ast.unparse(node.target), node.annotation) if isinstance(node, ast.AnnAssign)
            else ("", None)
        )  # fmt: skip
        if name.rpartition(".")[2].lstrip("_") == "tick" and kind is not None and "float" in ast.unparse(kind):
            yield node.lineno, type(node).__name__


def test_a_tick_is_a_count_wherever_it_is_declared() -> None:
    assert len(MODULES) > 150
    assert {p.name: found for p in MODULES if (found := list(lengths(p.read_text(encoding="utf-8"))))} == {}


def test_a_tick_of_the_c_sources_is_a_count() -> None:
    found = (ROOT / "fmu" / "jounce_fmu").rglob("*")
    sources = [p for p in found if p.suffix in (".c", ".h", ".inc") and "_native" not in p.parts]  # others build there
    assert len(sources) > 10
    declared = re.compile(r"\bdouble\b[^;(){}/\n]*[\s,*]tick\b(?!_)|(?:->|\.)tick\b")
    assert [f"{p.name}: {m[0]}" for p in sources for m in declared.finditer(p.read_text())] == []


def test_every_kind_of_declaration_is_seen() -> None:
    text = "def tick() -> float: ...\nclass A:\n    tick: float | None = None\n"
    text += "def f(tick: float, ticks: int): self._tick: float = 1"
    assert sorted(lengths(text)) == [(1, "FunctionDef"), (3, "AnnAssign"), (4, "AnnAssign"), (4, "arg")]
    assert list(lengths("def f(tick: int, tick_length: float): tick = 1.0")) == []
