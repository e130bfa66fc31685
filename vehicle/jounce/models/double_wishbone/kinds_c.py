"""The C around the functions of kinds of suspension that are made from a mechanism, without CasADi.

``sizes``: variant -> numbers of its functions, as `jounce.models.double_wishbone.emit_axles` tells them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jounce.data import Vehicle
from jounce.models.double_wishbone.arrange import gear_of
from jounce.models.double_wishbone.axles_c import GENERATOR, PAIRS, lanes_of
from jounce.suspension.kinds import Kind, suspension_of

Sizes = Mapping[str, Mapping[str, Any]]
#: Numbers of a first guess for each dependent coordinate, at most, by the number of its variables.
CAPACITY = {1: 13, 2: 144, 3: 500}
#: Numbers of the outputs of a lane of an axle whose wheels share a body, behind a corner's; and where the other
#: coordinate's partial velocity of the wheel centre stands (`jounce.suspension.embedded.TAIL`).
TAIL, CENTRE_OTHER = 15, 1
PREFIX = "double_wishbone"
BANNER = f"/* Emitted by {GENERATOR}; do not edit. */\n"


class Kinds:
    """The variants of a vehicle with its entries in order."""

    def __init__(self, vehicle: Vehicle, sizes: Sizes) -> None:
        """``sizes`` of all variants."""
        self.vehicle, self.lanes, self.sizes = vehicle, lanes_of(vehicle), sizes
        self.of = {variant: suspension_of(vehicle.axles[axles[0]].kind) for variant, axles in self.lanes.kinds}
        self.function = {v.name: v.function for kind in self.of.values() for v in kind.variants}

    @property
    def embedded(self) -> dict[str, Kind]:
        """Those made from a mechanism."""
        return {variant: kind for variant, kind in self.of.items() if kind.embedded}

    @property
    def looped(self) -> dict[str, Kind]:
        """Those of them with loops."""
        return {variant: kind for variant, kind in self.embedded.items() if kind.loops}

    @property
    def guessed(self) -> dict[str, Kind]:
        """Those of them whose loops have no closed form."""
        return {variant: kind for variant, kind in self.looped.items() if not kind.closed}

    @property
    def paired(self) -> bool:
        """Has any axle wheels that share a body?"""
        return any(kind.paired for kind in self.of.values())

    def steered(self, variant: str) -> bool:
        """Is an axle of the variant steered?"""
        return any(self.vehicle.axles[k].steered != "none" for k in dict(self.lanes.kinds)[variant])

    def variables(self, variant: str) -> int:
        """Variables of its first guess."""
        return len(self.sizes[variant]["limits"]) + self.steered(variant)

    def capacity(self, variant: str) -> int:
        """Coefficients of its first guess, at most."""
        return int(CAPACITY[self.variables(variant)] * self.sizes[variant]["dependent"])

    def files(self) -> list[str]:
        """Names of the emitted files that they take."""
        groups = [self.function[v] for v in self.embedded] + [PAIRS] * self.paired
        found = [f"{name}_{part}.inc" for name in groups for part in ("lanes", "lanes_forward")]
        return [*found, *(f"{self.function[v]}_scalar.inc" for v in self.embedded)]

    def macros(self) -> list[str]:
        """Of double_wishbone_axles.h."""
        lines = []
        if any(a.drive_reaction == "carrier" and not suspension_of(a.kind).paired for a in self.vehicle.axles):
            lines.append("#define JN_REACTIONS")
        if not self.embedded:
            return lines
        if any(2 in widths for widths in self.lanes.widths.values()):
            lines.append("#define JN_TWO_LANES /* wheels of a kind that share four lanes with another */")
        rows = max(self.sizes[v]["corner"] for v in self.embedded)
        lines += ["#define JN_KINDS", f"#define JN_EMBEDDED_NUMBERS {rows}"]
        if self.paired:
            lines += ["#define JN_PAIRED", f"#define JN_CORNER_ROWS (JN_CORNER_N + {TAIL})",
                      f"#define JN_CORNER_centre_other (JN_CORNER_N + {CENTRE_OTHER})"]  # fmt: skip
        if self.looped:
            lines += [
                "#define JN_LOOPED", f"#define JN_DEPENDENT {max(self.sizes[v]['dependent'] for v in self.looped)}",
                f"#define JN_CLOSE_ROWS {max(self.sizes[v]['close'] for v in self.looped)}",
                f"#define JN_GUESS_CAPACITY {max(map(self.capacity, self.looped))}",
            ]  # fmt: skip
        return lines

    def tables(self) -> str:
        """Behind those of double_wishbone_axles.inc."""
        axles = self.vehicle.axles
        if not self.embedded:
            return ""
        rows = []
        for axle, variant in zip(axles, self.lanes.variant_of, strict=True):
            kind, dependent = suspension_of(axle.kind), 0
            if kind.embedded:
                dependent = 0 if kind.closed else self.sizes[variant]["dependent"]
                preload, height = [str(k) for k in self.sizes[variant]["preload"]], str(self.sizes[variant]["height"])
            else:
                preload, height = ["JN_CORNER_NUMBER_preload"], "JN_CORNER_NUMBER_wheel_height0"
            places = ", ".join((preload * 2)[:2])
            names = ", ".join(f'"{name} ({unit})"' for unit, name in kind.coordinates)
            rows.append(f'{{"{axle.name}", {int(kind.paired)}, {{{places}}}, {height}, {dependent}, '
                        f"{{{names}}}}}")
        return f"static const jn_kind jn_kinds[JN_AXLES] = {{\n    {_lines(rows)},\n}};\n"

    def reactions(self) -> str:
        """Text of double_wishbone_reactions.c: what the drive torques react on, by lanes. It compiles in no time."""
        of = [self.vehicle.axles[w // 2] for w in self.lanes.wheel_of]
        on_carrier = [int(axle.drive_reaction == "carrier") for axle in of]
        numbers = [*map(float, on_carrier), *(axle.final_drive for axle in of)]
        return (
            f'{BANNER}#include "double_wishbone.h"\n'
            f"const int jn_on_carrier[JN_CORNERS] = {{{_row(on_carrier)}}};\n"
            f"const double jn_reaction[2 * JN_CORNERS] = {{{_row(numbers)}}};\n"
        )

    def lane_code(self) -> str:
        """Text of double_wishbone_kinds.inc, which is included for each number type."""
        lines = ['#include "jn_guess.inc"'] if self.guessed else []
        for variant, kind in self.of.items():
            if kind.paired:
                continue
            name, widths = self.function[variant], self.lanes.widths[variant]
            if not kind.embedded:  # of one and of four they are there already
                name, widths = PREFIX, tuple(n for n in widths if n == 2)
            own = [*_included(name), *([self._guess(variant)] if variant in self.guessed else [])]
            wanted = " || ".join(f"JN_LANES == {n}" for n in ((1, *widths) if kind.embedded else widths))
            lines += [f"#if {wanted}", *own, "#endif"] if wanted else []
        if self.paired:
            alone = [self.function[v] for v, kind in self.embedded.items() if kind.paired]
            lines += ["#if JN_LANES == 1 /* two neighbouring lanes are taken one pair at a time */"]
            lines += [line for name in (*alone, PAIRS) for line in _included(name)]
            lines += [self._guess(v) for v, kind in self.guessed.items() if kind.paired]
            lines += ["#endif"]
        return BANNER + "\n".join(lines) + "\n"

    def _guess(self, variant: str) -> str:
        """C function that makes the first guess."""
        n = len(self.sizes[variant]["limits"])
        states = ", ".join(f"const double *x{k}" for k in range(n))
        at = [f"JN_GET(x{k}, 0)" for k in range(n)] + ["JN_CONST(arm[0])"] * self.steered(variant)
        return (
            f"JN_FN void JN_NAME({self.function[variant]}_guess)({states}, const double *arm, const double *numbers, "
            "double *u) {\n"
            "    const int degrees[] = {(int)numbers[0], (int)numbers[JN_STRIDE], (int)numbers[2 * JN_STRIDE]};\n"
            f"    const T at[JN_GUESS_VARIABLES] = {{{', '.join(at)}}};\n"
            "    (void)arm;\n"
            f"    JN_NAME(jn_guess)(degrees, {len(at)}, {self.sizes[variant]['dependent']}, at, "
            "numbers + 3 * JN_STRIDE, u);\n}"
        )

    def derivation(self) -> str:
        """What double_wishbone_derive.inc has of them."""
        text = "".join(map(self._numbers, self.embedded))
        if not self.looped:
            return text
        gear = {"pitman": "steering", "rack": "rack"}[gear_of(self.vehicle.axles)]
        groups = zip(self.lanes.kinds, self.lanes.groups, strict=True)
        rows = [self._loops(variant, group.first, len(axles)) for (variant, axles), group in groups
                if variant in self.looped]  # fmt: skip
        return (
            f"{text}#define JN_STEERING {gear}_1\n#include \"jn_chebyshev.h\"\n#include \"axles_loops.inc\"\n"
            f"static const jn_looped looped[] = {{\n    {_lines(rows)},\n}};\n"
        )

    def _loops(self, variant: str, first: int, axles: int) -> str:
        """Initializer of a jn_looped."""
        sizes, paired, name = self.sizes[variant], self.of[variant].paired, self.function[variant]
        limits = _row((sizes["limits"] + [0.0])[:2])
        return (f"{{{first}, {axles if paired else 2 * axles}, {1 + paired}, {len(sizes['limits'])}, "
                f"{sizes['dependent']}, {sizes['close']}, {int(self.steered(variant))}, {self.capacity(variant)}, "
                f"{{{limits}}}, step_{name}, probe_{name}}}")  # fmt: skip

    def _numbers(self, variant: str) -> str:
        """Its functions for the derivation, in forms that all kinds share."""
        name, kind = self.function[variant], self.of[variant]
        head = "const double *u, const double *x, const double *inner, const double *numbers, double *to"
        lanes = "x, x + 3, inner, inner + JN_INNER_N" if kind.paired else "x, inner"
        close = ", close" if kind.loops else ""
        text = (
            f'#include "{name}_scalar.inc"\n'
            f"static void numbers_{variant}(const double *in, double *corner, double *axial, double *close) {{\n"
            f"    (void)close;\n    axle_{variant}_1(in, corner, axial{close});\n}}\n"
        )
        for what in ("step", "probe") if kind.loops else ():
            text += f"static void {what}_{name}({head}) {{ {name}_{what}_1(u, {lanes}, numbers, to); }}\n"
        return text


def _included(name: str) -> Sequence[str]:
    return f'#include "{name}_lanes.inc"', "JN_SELDOM", f'#include "{name}_lanes_forward.inc"', "JN_OFTEN"


def _row(numbers: Sequence[float]) -> str:
    return ", ".join(map(repr, numbers))


def _lines(rows: Sequence[str]) -> str:
    return ",\n    ".join(rows)


