"""Order and branches of a long emitted function: which lines stand together, and which are left out.

CasADi's order goes down one expression after the other. A processor looks a few hundred instructions ahead, which is
less than the long chains of such functions: it waits. Here each line stands by the mean of the earliest and the latest
time at which it could run if everything ran at once. What counts only where a truth holds stands behind a branch, and
is left out where the truth holds on no lane: the longest such part, and then others outside of it. The values are the
same bits in any order and with each branch.

Source: the first step of list scheduling, as in S. Muchnick 1997, "Advanced Compiler Design and Implementation",
section 17.1.2, without its limit on resources, which the processor has itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

__all__ = ["ordered"]

#: Cycles until a result is there; of all other operations 3.
_CYCLES: Final[Mapping[str, int]] = {
    "/": 13, "JN_SQRT": 20, "JN_QUICK_ATAN": 75, "JN_QUICK_SIN": 60, "JN_QUICK_COS": 60, "JN_TAN": 75, "JN_EXP": 60,
    "JN_LOG": 160, "JN_ATAN": 120, "JN_SIN": 70, "JN_COS": 70,
}  # fmt: skip
_WORTH: Final = 200
"""Sum of these cycles from which a branch is worth its own time."""
_DEFINED: Final = re.compile(r"    const (\w+) (\w+) = (.*);")
_NAME: Final = re.compile(r"\b[tr]\d+\b")
_CHOICE: Final = re.compile(r"JN_(?:IF|CHOOSE)\((\w+), (\w+)[,)]")


@dataclass(frozen=True)
class _Line:
    """One line, or a branch of many."""

    text: str
    inner: tuple[_Line, ...] = ()
    """The lines of a branch."""
    shown: tuple[str, ...] = ()
    """What a branch defines for the lines outside."""

    @cached_property
    def _defined(self) -> re.Match[str] | None:
        return None if self.inner else _DEFINED.match(self.text)

    @property
    def kind(self) -> str:
        """Type of what it defines."""
        return self._defined[1] if self._defined else ""

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What it defines."""
        return self.shown or ((self._defined[2],) if self._defined else ())

    @cached_property
    def formula(self) -> str:
        return self._defined[3] if self._defined else self.text

    @cached_property
    def reads(self) -> tuple[str, ...]:
        if self.inner:
            own = {n for line in self.inner for n in line.names}
            read = (*_NAME.findall(self.text), *(n for line in self.inner for n in line.reads))
            return tuple(dict.fromkeys(n for n in read if n not in own))
        return tuple(dict.fromkeys(_NAME.findall(self.formula)))

    @property
    def at_once(self) -> bool:
        """Whether it only reads a number from memory."""
        return bool(self.names) and not self.inner and not self.reads

    @cached_property
    def cycles(self) -> int:
        if self.inner:
            return sum(line.cycles for line in self.inner) // 4
        return 0 if self.at_once else max(c for k, c in (*_CYCLES.items(), ("", 3)) if k in self.formula)

    def lines(self) -> list[str]:
        if not self.inner:
            return [self.text]
        kinds = {n: line.kind for line in self.inner for n in line.names}
        body = []
        for line in _by_time(self.inner):
            [name] = line.names
            body.append(f"        {name} = {line.formula};" if name in self.shown else f"    {line.text}")
        zero = [f"    {kinds[n]} {n} = JN_CONST(0.0);" for n in self.shown]
        return [*zero, self.text, *body, "    }"]


def ordered(lines: Sequence[str]) -> list[str]:
    """The lines of a body, definitions and JN_PUT, in their new order, without those whose result is not read."""
    kept = _used([_Line(line) for line in lines])
    return [text for line in _by_time(_branched(kept)) for text in line.lines()]


def _used(lines: Iterable[_Line]) -> list[_Line]:
    kept: list[_Line] = []
    read: set[str] = set()
    for line in reversed(list(lines)):
        if not line.names or line.names[0] in read:
            kept.append(line)
            read.update(line.reads)
    return kept[::-1]


def _branched(lines: list[_Line]) -> list[_Line]:
    """The lines with branches in place of those that count only where one truth holds, the longest branch first."""
    tried: set[str] = set()
    while True:
        truths = sorted({choice[1] for line in lines if (choice := _CHOICE.match(line.formula))} - tried)
        inner = _only_where(truths, lines)
        cycles = [sum(line.cycles for line, of in inner if of >> k & 1) for k in range(len(truths))]
        if not truths or max(cycles) < _WORTH:
            return lines
        most = cycles.index(max(cycles))
        tried.add(truths[most])
        lines = _with_branch(lines, truths[most], [line for line, of in inner if of >> most & 1])


def _only_where(truths: Sequence[str], lines: Sequence[_Line]) -> list[tuple[_Line, int]]:
    """The lines whose result is read only where a truth holds, each with a bit for each such truth."""
    every = (1 << len(truths)) - 1
    bits = {truth: 1 << k for k, truth in enumerate(truths)}
    allowed: dict[str, int] = {}  # what is read later, and the truths without which it is not
    inner = []
    for line in reversed(lines):
        own = 0
        if line.names and not line.inner and not line.at_once:
            own = every
            for name in line.names:
                own &= allowed.get(name, every)
        if own:
            inner.append((line, own))
        choice = _CHOICE.match(line.formula)
        once = choice is not None and _NAME.findall(line.formula).count(choice[2]) == 1
        for name in line.reads:
            chosen = choice is not None and once and name == choice[2]
            allowed[name] = allowed.get(name, every) & (own | (bits.get(choice[1], 0) if choice and chosen else 0))
    return inner[::-1]


def _with_branch(lines: list[_Line], truth: str, inner: list[_Line]) -> list[_Line]:
    """The lines with these in a branch; as they are where what the branch reads depends on what it makes."""
    own, inside = {n for line in inner for n in line.names}, set(map(id, inner))
    outside = [line for line in lines if id(line) not in inside]
    shown = own.intersection(n for line in outside for n in line.reads)
    made = set(shown)
    for line in outside:
        if made.intersection(line.reads):
            made.update(line.names)
    branch = _Line(f"    if (JN_ANY({truth})) {{", tuple(inner), tuple(sorted(shown)))
    if made.intersection(branch.reads):
        return lines
    first = next(k for k, line in enumerate(outside) if made.intersection(line.reads))
    # what it reads may stand behind: it goes where all of that is there
    last = max((k for k, line in enumerate(outside) if set(line.names) & set(branch.reads)), default=-1)
    head = [line for line in outside[first : last + 1] if not made.intersection(line.reads)]
    tail = [line for line in outside[first : last + 1] if made.intersection(line.reads)]
    return [*outside[:first], *head, branch, *tail, *outside[max(first, last + 1) :]]


def _by_time(lines: Sequence[_Line]) -> list[_Line]:
    """The lines by the time at which they could run, those with a long way to the end before others.

    The mean of earliest and latest time does that. What is only read from memory stands where it is first used.
    """
    done: dict[str, int] = {}
    time: list[int] = []
    for line in lines:
        time.append(max((done.get(n, 0) for n in line.reads), default=0))
        done.update(dict.fromkeys(line.names, time[-1] + line.cycles))
    way: dict[str, int] = {}  # from a name to the end
    for k, line in reversed(list(enumerate(lines))):
        own = line.cycles + max((way.get(n, 0) for n in line.names), default=0)
        time[k] -= own
        way.update((n, max(way.get(n, 0), own)) for n in line.reads)
    first: dict[str, int] = {}
    for k, line in enumerate(lines):
        for n in line.reads:
            first[n] = min(first.get(n, time[k]), time[k])
    for k, line in enumerate(lines):
        if line.at_once:
            time[k] = first.get(line.names[0], time[k])
    return [lines[k] for k in sorted(range(len(lines)), key=lambda k: time[k])]
