"""The C that calls the emitted functions after a schedule: for values, for tangents, and wheel by wheel for a Jacobian.

Like the functions, the text is included once for each number type of `jn_lanes.h`; calls for the wheels stand in a loop
over them, as many at once as there are lanes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import groupby

from jounce.dynamics.schedule import Call, Glue, Schedule, Step, Sum

WIDTH = 120
LOOP = "for (c = 0; c < JN_CORNERS; c += JN_LANES)"


class Recursion:
    """C text of a schedule's steps."""

    def __init__(self, schedule: Schedule) -> None:
        """``schedule`` names the vectors."""
        self.schedule = schedule

    def values(self, steps: Iterable[Step], *, lean: bool = False) -> str:
        """The steps as they are; with ``lean`` the C variable ``full`` chooses between a function and its lean form."""
        return self._body(steps, lambda call: self._value(call, lean))

    def tangents(self, steps: Iterable[Step], scratch: Mapping[str, str] | None = None) -> str:
        """The steps with a tangent beside each value; values of ``scratch`` go elsewhere, to that C expression."""
        return self._body(steps, lambda call: self._forward(call, {}, scratch or {}), forward=True)

    def one_pass(self, steps: Iterable[Step], still: Mapping[str, str], guarded: Mapping[str, str]) -> str:
        """Tangents of the wheels' calls alone.

        Vectors of ``still`` have that tangent, and calls that make them are left out; ``guarded``: function -> C
        condition under which its tangents are anything but zero.
        """
        lines = [f"    {LOOP} {{"]
        for call in steps:
            if not isinstance(call, Call) or not self.schedule.per_wheel(call) or still.keys() & set(call.outputs):
                continue
            guard = f"if ({guarded[call.function]}) " if call.function in guarded else ""
            lines.append(f"        {guard}{self._forward(call, still, {})}")
        return "".join(map(_wrapped, [*lines, "    }"]))

    def _body(self, steps: Iterable[Step], text: Callable[[Call], str], *, forward: bool = False) -> str:
        lines: list[str] = []
        for each, group in groupby(steps, lambda s: isinstance(s, Call) and self.schedule.per_wheel(s)):
            if each:
                calls = [text(call) for call in group if isinstance(call, Call)]
                lines += [f"    {LOOP} {{", *(f"        {call}" for call in calls), "    }"]
                continue
            for step in group:
                match step:
                    case Glue():
                        lines.append(f"    {step.forward if forward else step.value}")
                    case Sum(of, into):
                        lines += [f"    {line}" for line in self._sum(of, into, forward)]
                    case Call():
                        lines.append(f"    {text(step)}")
        return "".join(map(_wrapped, lines))

    def _sum(self, of: str, into: str, forward: bool) -> list[str]:
        a, b = self.schedule.vectors[of], self.schedule.vectors[into]
        lines = [f"JN_NAME(sums)({a.place}, {b.place});"]
        return [*lines, f"JN_NAME(sums)({a.tangent}, {b.tangent});"] if forward else lines

    def _place(self, name: str, of: Callable[[str], str]) -> str:
        return of(name) + (" + c" if self.schedule.vectors[name].per_wheel else "")

    def _value(self, call: Call, lean: bool) -> str:
        arguments = ", ".join(self._place(n, self._where) for n in (*call.inputs, *call.outputs))
        name = self._name(call, call.function)
        if lean and call.lean:
            name = f"(full ? {name} : {self._name(call, call.lean)})"
        text = f"{name}({arguments});"
        if call.zero_with:
            [out] = call.outputs
            zero = f"memset({self._where(out)}, 0, sizeof {self._where(out)});"
            text = f"if (!any_of({self._where(call.zero_with)}, sizeof {self._where(out)})) {zero} else {text}"
        return text

    def _forward(self, call: Call, still: Mapping[str, str], scratch: Mapping[str, str]) -> str:
        vectors = self.schedule.vectors

        def tangent(name: str) -> str:
            return still.get(name, vectors[name].tangent)

        def value(name: str) -> str:
            return scratch.get(name, vectors[name].place)

        arguments = [self._place(n, self._where) for n in call.inputs]
        arguments += [self._place(n, tangent) for n in call.inputs if vectors[n].moves]
        arguments += [self._place(n, value) for n in call.outputs]
        arguments += [self._place(n, tangent) for n in call.outputs]
        return f"{self._name(call, call.function + '_forward')}({', '.join(arguments)});"

    def _where(self, name: str) -> str:
        return self.schedule.vectors[name].place

    def _name(self, call: Call, function: str) -> str:
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
