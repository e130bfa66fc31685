"""Where the wheels of a vehicle stand in vectors with a number per wheel, and what they call.

Every wheel has a lane, and four lanes are computed at once. Lanes of one kind of suspension follow each other, and the
two wheels of an axle stand side by side. Where two axles of different kinds share four lanes, what is the same for
every wheel is computed for the four at once, and what is of a kind for its two. The last wheel of an odd number of
axles fills the last four up with copies of itself, which count nowhere: one lane at a time they are not computed, and
their numbers have no meaning.

A kind with loops that have no closed form makes a first guess of its dependent coordinates, and then two Newton steps;
tangents do not go through them (`jounce.suspension.embedded.close_forward_function`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from jounce.axles import Axle
from jounce.codegen.recursion import FOUR, Group, Lines, Own, When
from jounce.suspension.kinds import Kind, suspension_of


@dataclass(frozen=True)
class Lanes:
    """The lanes of a vehicle with those axles."""

    axles: tuple[Axle, ...]
    variants: tuple[str, ...] = ()
    """Of each axle's kind; the first one of each where none are told."""

    @cached_property
    def variant_of(self) -> tuple[str, ...]:
        """Variant of each axle."""
        return self.variants or tuple(suspension_of(axle.kind).variants[0].name for axle in self.axles)

    @cached_property
    def kinds(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Every variant in the order in which the vehicle has them, with the numbers of its axles."""
        found: dict[str, list[int]] = {}
        for k, variant in enumerate(self.variant_of):
            found.setdefault(variant, []).append(k)
        return tuple((variant, tuple(axles)) for variant, axles in found.items())

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """The lanes of each variant of a suspension."""
        groups, first = [], 0
        for variant, numbers in self.kinds:
            of = [self.axles[k] for k in numbers]
            groups.append(self._group(variant, first, of))
            first += 2 * len(of)
        return tuple(groups)

    def _group(self, variant: str, first: int, axles: Sequence[Axle]) -> Group:
        end, last = first + 2 * len(axles), 2 * len(self.axles)
        group = calls_of(suspension_of(axles[0].kind), variant, first, axles, end=padded(last) if end == last else end)
        if group.paired or len(self.kinds) == 1:
            return group
        narrow, whole = first % FOUR != 0, padded(end) if end == last else end // FOUR * FOUR
        start = first + 2 * narrow
        blocks = [(first, start, True)] * narrow
        blocks += [(start, min(whole, end), False)] if whole > start else []
        blocks += [(whole, end, True)] if end > max(whole, start) else []
        return replace(group, blocks=tuple(blocks))

    @property
    def widths(self) -> dict[str, tuple[int, ...]]:
        """Variant -> how many of its lanes are taken at once beside one."""
        found = {}
        for (variant, _), group in zip(self.kinds, self.groups, strict=True):
            narrow = {part.narrow for part in group.parts()}
            found[variant] = () if group.paired else tuple(2 if n else FOUR for n in sorted(narrow))
        return found

    @cached_property
    def wheel_of(self) -> tuple[int, ...]:
        """Number of the wheel of each lane."""
        lanes = [2 * k + side for _, numbers in self.kinds for k in numbers for side in (0, 1)]
        return tuple(lanes + lanes[-1:] * (padded(len(lanes)) - len(lanes)))

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


def padded(count: int) -> int:
    """Lanes for that many wheels."""
    return -(-count // FOUR) * FOUR


_STATE = ("corner state", "inner")


def calls_of(kind: Kind, variant: str, first: int, axles: Sequence[Axle], *, end: int) -> Group:
    """Lanes of those axles, which are of one variant, from the lane ``first`` on; ``end``: with the copies."""
    count = 2 * len(axles)
    function = next(v.function for v in kind.variants if v.name == variant)
    after: dict[str, Lines] = {}
    if not kind.paired and any(axle.drive_reaction == "carrier" for axle in axles):
        react = "JN_NAME(react)(e->wheel, c);"
        after["wheel"] = (react, f"{react} JN_NAME(react)(d_e->wheel, c);")
    if not kind.embedded:
        return Group(first, first + count, {"corner": function}, after=after)
    own = {"corner": _corner(kind, function)}
    if kind.paired:
        own |= _SWEEPS
        if end > first + count:
            copy = "JN_NAME(repeat)({0}, c + 1, " + f"{first + count}, {end});"
            after["corner"] = (copy.format("e->corner"), f'{copy.format("e->corner")} {copy.format("d_e->corner")}')
    return Group(first, first + count, own=own, paired=kind.paired, after=after)


def _corner(kind: Kind, function: str) -> tuple[Own, ...]:
    lean = ("corner", "corner tail") if kind.paired else ("corner",)
    inputs = (*_STATE, "angular", "corner numbers")
    if not kind.loops:
        return (Own(function, inputs, ("corner",), lean),)
    close = f"{function}_close"
    if kind.closed:
        values = [Own(f"{close}d", (*_STATE, "close numbers"), ("u",), when=When.VALUES)]
    else:
        values = [
            Own(f"{function}_guess", ("corner state", "arm", "guess numbers"), ("first guess",), when=When.VALUES),
            Own(close, ("first guess", *_STATE, "close numbers"), ("second guess",), when=When.VALUES),
            Own(close, ("second guess", *_STATE, "close numbers"), ("u",), when=When.VALUES),
        ]
    return (
        *values,
        Own(f"{close}_forward", ("u", *_STATE, "close numbers"), ("u",), when=When.TANGENTS),
        Own(function, (*inputs, "u"), ("corner",), lean),
    )


_SWEEPS = {
    "inward_sweep": (Own("inward_sweep_pair", ("corner", "corner tail", "wheel", "axial", "reaction"),
                         ("articulated_body",)),),
    "outward_sweep": (Own("outward_sweep_pair", ("corner", "corner tail", "articulated_body", "acceleration", "axial"),
                          ("back",)),),
    "report": (Own("report_pair", ("corner", "corner tail", "wheel", "articulated_body", "chassis", "own state",
                                   "acceleration", "axial", "reaction"), ("report", "share")),),
    "half_speed": (Own("half_speed_pair", ("corner", "corner tail", "corner state", "arm", "shaft numbers"),
                       ("half speed",)),),
    "port": (Own("port_pair", ("corner", "corner tail", "articulated_body", "axial", "angular", "shaft numbers"),
                 ("port",)),),
    "arm_port": (Own("arm_port_pair", ("corner", "corner tail", "wheel loads", "articulated_body", "axial", "reaction",
                                       "shaft numbers"), ("arm port",)),),
}  # fmt: skip
