"""The C that calls the emitted functions after a schedule: for values, for tangents, and wheel by wheel for a Jacobian.

Like the functions, the text is included once for each number type of `jn_lanes.h`; calls for the wheels stand in a loop
over them, as many at once as there are lanes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import groupby

from jounce.dynamics.schedule import Call, Glue, Schedule, Step, Sum

WIDTH = 120
#: Lanes that are taken at once where the processor can.
FOUR = 4
#: C of something without and with tangents.
Lines = tuple[str, str]


class When(Enum):
    """Where an `Own` call is made."""

    BOTH = "values and tangents"
    VALUES = "values alone"
    TANGENTS = "tangents alone"


@dataclass(frozen=True)
class Own:
    """A call that some lanes make in place of the schedule's, or on the way to it."""

    function: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    lean: tuple[str, ...] = ()
    """Outputs of NAME_dynamics, where no more is asked."""
    when: When = When.BOTH
    """A function of values alone has no tangents; one of tangents alone takes values and the tangents of all inputs
    that move but of what it makes, and makes the tangents of its outputs."""


@dataclass(frozen=True)
class Group:
    """Lanes of wheels that take the same functions."""

    first: int
    end: int
    functions: Mapping[str, str] = field(default_factory=dict)
    """Function of the schedule -> the one that these wheels take in its place."""
    own: Mapping[str, tuple[Own, ...]] = field(default_factory=dict)
    """Function of the schedule -> the calls in its place."""
    paired: bool = False
    """The calls of `own` are for two neighbouring lanes, left and right: they take a vector that is one per wheel
    twice, and one that is one per axle once."""
    after: Mapping[str, Lines] = field(default_factory=dict)
    """Function of the schedule -> C lines behind its calls in the loop, without and with tangents."""
    blocks: tuple[tuple[int, int, bool], ...] = ()
    """(first, end, narrow) of its lanes that are taken as many at once as there are, or two at once (narrow) where they
    share the four with wheels of another kind; empty: all as many at once as there are."""
    narrow: bool = False

    def loop(self, *, paired: bool = False) -> str:
        """Head of the C loop over the lanes, as many at once as there are, or two."""
        apart = paired or self.narrow or self.first % FOUR == 0
        first = self.first if apart else f"{self.first} / JN_LANES * JN_LANES"
        return f"for (c = {first}; c < {self.end}; c += {2 if paired else 'JN_TWO' if self.narrow else 'JN_LANES'})"

    def parts(self) -> list[Group]:
        """Its blocks, a group each."""
        return [replace(self, first=a, end=b, narrow=narrow, blocks=()) for a, b, narrow in self.blocks] or [self]

    def has(self, function: str) -> bool:
        """Whether its lanes take functions of their own in place of that one."""
        return function in self.own or function in self.functions


class Recursion:
    """C text of a schedule's steps."""

    def __init__(self, schedule: Schedule, groups: Sequence[Group], once: Mapping[str, str] | None = None) -> None:
        """``schedule`` names the vectors, ``groups`` have all lanes.

        ``once``: function of the schedule that is called once a vehicle -> the one that is called in its place.
        """
        self.schedule, self.groups, self._once = schedule, groups, Group(0, 1, once or {})

    def values(self, steps: Iterable[Step], *, lean: bool = False) -> str:
        """The steps as they are; with ``lean`` the C variable ``full`` chooses between a function and its lean form."""
        return self._body(steps, lambda call, group: self._value(call, group, lean))

    def tangents(self, steps: Iterable[Step], scratch: Mapping[str, str] | None = None) -> str:
        """The steps with a tangent beside each value; values of ``scratch`` go elsewhere, to that C expression."""
        return self._body(steps, lambda call, group: self._forward(call, group, {}, scratch or {}), forward=True)

    def one_pass(self, steps: Iterable[Step], still: Mapping[str, str], guarded: Mapping[str, str]) -> str:
        """Tangents of the wheels' calls alone.

        Vectors of ``still`` have that tangent, and calls that make them are left out, as those of values alone are;
        ``guarded``: function -> C condition under which its tangents are anything but zero.
        """
        calls = [s for s in steps if isinstance(s, Call) and self.schedule.per_wheel(s)
                 and not still.keys() & set(s.outputs)]  # fmt: skip

        def text(call: Call, group: Group) -> list[str]:
            guard = f"if ({guarded[call.function]}) " if call.function in guarded else ""
            return [guard + line for line in self._forward(call, group, still, {}, values=False)]

        return "".join(map(_wrapped, self._per_wheel(calls, text, forward=True)))

    def _body(
        self, steps: Iterable[Step], text: Callable[[Call, Group], list[str]], *, forward: bool = False
    ) -> str:  # fmt: skip
        lines: list[str] = []
        for (each, lanes), group in groupby(steps, self._lanes):
            if each:
                calls = [call for call in group if isinstance(call, Call)]
                lines += (self._loops(calls, Group(0, lanes), text, forward=forward) if lanes
                          else self._per_wheel(calls, text, forward=forward))  # fmt: skip
                continue
            for step in group:
                match step:
                    case Glue():
                        lines.append(f"    {step.forward if forward else step.value}")
                    case Sum(of, into):
                        lines += [f"    {line}" for line in self._sum(of, into, forward)]
                    case Call():
                        lines += [f"    {line}" for line in text(step, self._once)]
        return "".join(map(_wrapped, lines))

    def _per_wheel(
        self, calls: Iterable[Call], text: Callable[[Call, Group], list[str]], *, forward: bool
    ) -> list[str]:  # fmt: skip
        """Lines of the loops over all wheels. What is the same for all kinds is done for all of them at once."""
        if len(self.groups) == 1:
            return self._loops(calls, self.groups[0], text, forward=forward)
        lines: list[str] = []
        for own, run in groupby(calls, lambda call: any(group.has(call.function) for group in self.groups)):
            if not own:
                lines += self._loops(run, self._whole, text, forward=forward)
                continue
            for call in run:
                # Lanes of others in the same four are done, too, and then again by their own functions.
                for group in (*self._rest(call.function), *(g for g in self.groups if g.has(call.function))):
                    for part in group.parts():
                        lines += self._loops([call], part, text, forward=forward)
        return lines

    @property
    def _whole(self) -> Group:
        after = {name: lines for group in self.groups for name, lines in group.after.items() if not group.has(name)}
        return Group(0, self.groups[-1].end, after=after)

    def _rest(self, function: str) -> list[Group]:
        """Neighbours without a function of their own in place of that one."""
        runs = groupby(self.groups, lambda group: group.has(function))
        found = [list(run) for has, run in runs if not has]
        return [Group(run[0].first, run[-1].end) for run in found]

    def _loops(
        self, calls: Iterable[Call], group: Group, text: Callable[[Call, Group], list[str]], *, forward: bool
    ) -> list[str]:
        """Lines of the loops over the lanes of a group: one, or several in turn where some calls are for two lanes."""
        lines: list[str] = []
        for paired, run in groupby(calls, lambda call: group.paired and call.function in group.own):
            lines.append(f"    {group.loop(paired=paired)} {{")
            for call in run:
                lines += [f"        {line}" for line in call.before[forward : forward + 1]]
                lines += [f"        {line}" for line in text(call, group)]
                if call.function in group.after:
                    lines.append(f"        {group.after[call.function][forward]}")
            lines.append("    }")
        return lines

    def _lanes(self, step: Step) -> tuple[bool, int]:
        """Whether the step stands in a loop over lanes, and over how many where these are not the wheels'."""
        return (True, step.lanes) if isinstance(step, Call) and self.schedule.per_wheel(step) else (False, 0)

    def _sum(self, of: str, into: str, forward: bool) -> list[str]:
        a, b = self.schedule.vectors[of], self.schedule.vectors[into]
        lines = [f"JN_NAME(sums)({a.place}, {b.place});"]
        return [*lines, f"JN_NAME(sums)({a.tangent}, {b.tangent});"] if forward else lines

    def _place(self, name: str, of: Callable[[str], str]) -> str:
        return of(name) + (" + c" if self.schedule.vectors[name].per_wheel else "")

    def _places(self, names: Iterable[str], of: Callable[[str], str], *, twice: bool) -> list[str]:
        """Arguments for vectors of those names; ``twice``: of two lanes."""
        found = []
        for name in names:
            found.append(self._place(name, of))
            if twice and self.schedule.vectors[name].per_wheel and not self.schedule.vectors[name].of_axle:
                found.append(f"{found[-1]} + 1")
        return found

    def _value(self, call: Call, group: Group, lean: bool) -> list[str]:
        if call.function in group.own:
            return [self._own_value(own, group, lean) for own in group.own[call.function]
                    if own.when is not When.TANGENTS]  # fmt: skip
        arguments = ", ".join(self._place(n, self._where) for n in (*call.inputs, *call.outputs))
        name = self._name(call, group)
        if lean and call.lean:
            name = f"(full ? {name} : {self._name(call, group, '_dynamics')})"
        text = f"{name}({arguments});"
        if call.zero_with:
            [out] = call.outputs
            zero = f"memset({self._where(out)}, 0, sizeof {self._where(out)});"
            text = f"if (!any_of({self._where(call.zero_with)}, sizeof {self._where(out)})) {zero} else {text}"
        return [text]

    def _own_value(self, own: Own, group: Group, lean: bool) -> str:
        def text(suffix: str, outputs: Iterable[str]) -> str:
            arguments = self._places((*own.inputs, *outputs), self._where, twice=group.paired)
            return f"{_named(own.function + suffix, group)}({', '.join(arguments)});"

        if lean and own.lean:
            return f"if (full) {text('', own.outputs)} else {text('_dynamics', own.lean)}"
        return text("", own.outputs)

    def _forward(
        self, call: Call, group: Group, still: Mapping[str, str], scratch: Mapping[str, str], *, values: bool = True
    ) -> list[str]:  # fmt: skip
        vectors = self.schedule.vectors

        def tangent(name: str) -> str:
            return still.get(name, vectors[name].tangent)

        def value(name: str) -> str:
            return scratch.get(name, vectors[name].place)

        def text(of: Call | Own, name: str, *, twice: bool, told: bool) -> str:
            """``told``: with values of the outputs."""
            seeds = [n for n in of.inputs if vectors[n].moves and (told or n not in of.outputs)]
            arguments = self._places(of.inputs, self._where, twice=twice) + self._places(seeds, tangent, twice=twice)
            arguments += self._places(of.outputs, value, twice=twice) if told else []
            return f"{name}({', '.join(arguments + self._places(of.outputs, tangent, twice=twice))});"

        if call.function not in group.own:
            return [text(call, self._name(call, group, "_forward"), twice=False, told=True)]
        lines = []
        for own in group.own[call.function]:
            if own.when is When.VALUES:
                lines += [self._own_value(own, group, lean=False)] if values else []
            else:
                suffix = "_forward" if own.when is When.BOTH else ""
                lines.append(text(own, _named(own.function + suffix, group), twice=group.paired,
                                  told=own.when is When.BOTH))  # fmt: skip
        return lines

    def _where(self, name: str) -> str:
        return self.schedule.vectors[name].place

    def _name(self, call: Call, group: Group, suffix: str = "") -> str:
        function = group.functions.get(call.function, call.function) + suffix
        return _at_once(function, group) if self.schedule.per_wheel(call) else f"{function}_1"


def _named(function: str, group: Group) -> str:
    """C name of a function of `Group.own`: two lanes are taken one pair at a time."""
    return f"{function}_1" if group.paired else _at_once(function, group)


def _at_once(function: str, group: Group) -> str:
    """C name of a function for as many lanes as are taken at once."""
    return f"JN_TWO_NAME({function})" if group.narrow else f"JN_NAME({function})"


def _wrapped(line: str) -> str:
    """The line, broken between arguments where it is long."""
    indent = line[: len(line) - len(line.lstrip())]
    lines, now = [], ""
    for part in re.split(r"(?<=, )", line):
        if now and len(now) + len(part.rstrip()) > WIDTH:
            lines.append(now.rstrip())
            now = indent + 8 * " "
        now += part
    return "\n".join([*lines, now]) + "\n"
