"""Where the wheels of a vehicle stand in vectors with a number per wheel.

Every wheel has a lane, and four lanes are computed at once. Lanes of one kind of suspension follow each other; where
they are no multiple of four, the last wheel of the kind fills up with copies of itself, which count nowhere: one lane
at a time they are not computed, and their numbers have no meaning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from jounce.axles import Axle
from jounce.codegen.recursion import Group
from jounce.suspension.kinds import KINDS

#: Lanes that are computed at once.
FOUR = 4


@dataclass(frozen=True)
class Lanes:
    """The lanes of a vehicle with those axles."""

    axles: tuple[Axle, ...]

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The lanes of each kind of suspension, in the order in which the vehicle has them."""
        groups, first = [], 0
        for kind in dict.fromkeys(axle.kind for axle in self.axles):
            count = 2 * sum(axle.kind == kind for axle in self.axles)
            groups.append(Group(first, first + count, {"corner": KINDS[kind].function}))
            first += _padded(count)
        return tuple(groups)

    @cached_property
    def wheel_of(self) -> tuple[int, ...]:
        """Number of the wheel of each lane."""
        lanes: list[int] = []
        for kind in dict.fromkeys(axle.kind for axle in self.axles):
            wheels = [2 * k + side for k, axle in enumerate(self.axles) if axle.kind == kind for side in (0, 1)]
            lanes += wheels + wheels[-1:] * (_padded(len(wheels)) - len(wheels))
        return tuple(lanes)

    @cached_property
    def lane_of(self) -> tuple[int, ...]:
        """Lane of each wheel."""
        return tuple(self.wheel_of.index(w) for w in range(2 * len(self.axles)))

    def __len__(self) -> int:
        return len(self.wheel_of)

    @property
    def plain(self) -> bool:
        """Has wheel k the lane k, and no lane is a copy?"""
        return self.wheel_of == tuple(range(2 * len(self.axles)))

    def macros(self, wheels: Sequence[str]) -> list[str]:
        """C lines for a vehicle whose wheels have those names."""
        total = "at(0)"
        for lane in sorted(self.lane_of)[1:]:
            total = f"({total} + at({lane}))" if lane != max(self.lane_of) else f"{total} + at({lane})"
        lines = [
            "#define JN_WHEEL_NAMES " + ", ".join(f'"{w}"' for w in wheels),
            "/* Sum over the lanes that count, in this order. */",
            f"#define JN_SUM(at) ({total})",
        ]
        if self.plain:
            return [*lines, "#define JN_WHEEL_OF(lane) (lane)", "#define JN_LANE_OF(wheel) (wheel)"]
        return [
            *lines,
            f"static const int jn_wheel_of[] = {{{', '.join(map(str, self.wheel_of))}}};",
            f"static const int jn_lane_of[] = {{{', '.join(map(str, self.lane_of))}}};",
            "#define JN_WHEEL_OF(lane) jn_wheel_of[lane]",
            "#define JN_LANE_OF(wheel) jn_lane_of[wheel]",
        ]


def _padded(count: int) -> int:
    return -(-count // FOUR) * FOUR
