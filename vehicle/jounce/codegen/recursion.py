"""The C that calls the emitted functions after a schedule: for values, for tangents, and wheel by wheel for a Jacobian.

Like the functions, the text is included once for each number type of `jn_lanes.h`; calls for the wheels stand in a loop
over them, as many at once as there are lanes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from jounce.dynamics.schedule import Call, Glue, Schedule, Step, Sum

WIDTH = 120


@dataclass(frozen=True)
class Group:
    """Lanes of wheels that take the same functions."""

    first: int
    end: int
    functions: Mapping[str, str] = field(default_factory=dict)
    """Function of the schedule -> the one that these wheels take in its place."""

    @property
    def loop(self) -> str:
        """Head of the C loop over the lanes, as many at once as there are."""
        return f"for (c = {self.first}; c < {self.end}; c += JN_LANES)"


class Recursion:
    """C text of a schedule's steps."""

    def __init__(self, schedule: Schedule, groups: Sequence[Group], once: Mapping[str, str] | None = None) -> None:
        """``schedule`` names the vectors, ``groups`` have all lanes.

        ``once``: function of the schedule that is called once a vehicle -> the one that is called in its place.
        """
        self.schedule, self.groups, self.once = schedule, groups, Group(0, 1, once or {})

    def values(self, steps: Iterable[Step], *, lean: bool = False) -> str:
        """The steps as they are; with ``lean`` the C variable ``full`` chooses between a function and its lean form."""
        return self._body(steps, lambda call, group: self._value(call, group, lean))

    def tangents(self, steps: Iterable[Step], scratch: Mapping[str, str] | None = None) -> str:
        """The steps with a tangent beside each value; values of ``scratch`` go elsewhere, to that C expression."""
        return self._body(steps, lambda call, group: self._forward(call, group, {}, scratch or {}), forward=True)

    def one_pass(self, steps: Iterable[Step], still: Mapping[str, str], guarded: Mapping[str, str]) -> str:
        """Tangents of the wheels' calls alone.

        Vectors of ``still`` have that tangent, and calls that make them are left out; ``guarded``: function -> C
        condition under which its tangents are anything but zero.
        """
        calls = [s for s in steps if isinstance(s, Call) and self.schedule.per_wheel(s)]
        lines: list[str] = []
        for group in self.groups:
            lines.append(f"    {group.loop} {{")
            for call in calls:
                if not still.keys() & set(call.outputs):
                    guard = f"if ({guarded[call.function]}) " if call.function in guarded else ""
                    lines.append(f"        {guard}{self._forward(call, group, still, {})}")
            lines.append("    }")
        return "".join(map(_wrapped, lines))

    def _body(self, steps: Iterable[Step], text: Callable[[Call, Group], str], *, forward: bool = False) -> str:
        lines: list[str] = []
        for (each, lanes), group in groupby(steps, self._lanes):
            if each:
                calls = [call for call in group if isinstance(call, Call)]
                for own in (Group(0, lanes),) if lanes else self.groups:
                    lines += [f"    {own.loop} {{", *(f"        {text(call, own)}" for call in calls), "    }"]
                continue
            for step in group:
                match step:
                    case Glue():
                        lines.append(f"    {step.forward if forward else step.value}")
                    case Sum(of, into):
                        lines += [f"    {line}" for line in self._sum(of, into, forward)]
                    case Call():
                        lines.append(f"    {text(step, self.once)}")
        return "".join(map(_wrapped, lines))

    def _lanes(self, step: Step) -> tuple[bool, int]:
        """Whether the step stands in a loop over lanes, and over how many where these are not the wheels'."""
        return (True, step.lanes) if isinstance(step, Call) and self.schedule.per_wheel(step) else (False, 0)

    def _sum(self, of: str, into: str, forward: bool) -> list[str]:
        a, b = self.schedule.vectors[of], self.schedule.vectors[into]
        lines = [f"JN_NAME(sums)({a.place}, {b.place});"]
        return [*lines, f"JN_NAME(sums)({a.tangent}, {b.tangent});"] if forward else lines

    def _place(self, name: str, of: Callable[[str], str]) -> str:
        return of(name) + (" + c" if self.schedule.vectors[name].per_wheel else "")

    def _value(self, call: Call, group: Group, lean: bool) -> str:
        arguments = ", ".join(self._place(n, self._where) for n in (*call.inputs, *call.outputs))
        name = self._name(call, group)
        if lean and call.lean:
            name = f"(full ? {name} : {self._name(call, group, '_dynamics')})"
        text = f"{name}({arguments});"
        if call.zero_with:
            [out] = call.outputs
            zero = f"memset({self._where(out)}, 0, sizeof {self._where(out)});"
            text = f"if (!any_of({self._where(call.zero_with)}, sizeof {self._where(out)})) {zero} else {text}"
        return text

    def _forward(self, call: Call, group: Group, still: Mapping[str, str], scratch: Mapping[str, str]) -> str:
        vectors = self.schedule.vectors

        def tangent(name: str) -> str:
            return still.get(name, vectors[name].tangent)

        def value(name: str) -> str:
            return scratch.get(name, vectors[name].place)

        arguments = [self._place(n, self._where) for n in call.inputs]
        arguments += [self._place(n, tangent) for n in call.inputs if vectors[n].moves]
        arguments += [self._place(n, value) for n in call.outputs]
        arguments += [self._place(n, tangent) for n in call.outputs]
        return f"{self._name(call, group, '_forward')}({', '.join(arguments)});"

    def _where(self, name: str) -> str:
        return self.schedule.vectors[name].place

    def _name(self, call: Call, group: Group, suffix: str = "") -> str:
        function = group.functions.get(call.function, call.function) + suffix
        return f"JN_NAME({function})" if self.schedule.per_wheel(call) else f"{function}_1"


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
