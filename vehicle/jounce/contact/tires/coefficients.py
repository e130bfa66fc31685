"""Coefficients of the Magic Formula: which ones its versions read, and what of them keeps its sign in a real tire.

Files are read by the second (`jounce.contact.tires.from_tir`), and the model refuses parameters by it
(`double_wishbone_tires.inc`). Where CasADi is missing it is read, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

_PAC2002 = """
    LFZO LCX LMUX LEX LKX LHX LVX LGAX LCY LMUY LEY LKY LHY LVY LGAY LKYG LTR LRES LGAZ LXAL LYKA LVYKA LS LMX LVMX
    LMY LSGKP LSGAL
    PCX1 PDX1 PDX2 PDX3 PEX1 PEX2 PEX3 PEX4 PKX1 PKX2 PKX3 PHX1 PHX2 PVX1 PVX2 PPX1 PPX2 PPX3 PPX4
    RBX1 RBX2 RCX1 REX1 REX2 RHX1 PTX1 PTX2 PTX3 QSX1 QSX2 QSX3
    PCY1 PDY1 PDY2 PDY3 PEY1 PEY2 PEY3 PEY4 PKY1 PKY2 PKY3 PHY1 PHY2 PHY3 PVY1 PVY2 PVY3 PVY4 PPY1 PPY2 PPY3 PPY4
    RBY1 RBY2 RBY3 RCY1 REY1 REY2 RHY1 RHY2 RVY1 RVY2 RVY3 RVY4 RVY5 RVY6 PTY1 PTY2 QSY1 QSY2 QSY3 QSY4
    QBZ1 QBZ2 QBZ3 QBZ4 QBZ5 QBZ9 QBZ10 QCZ1 QDZ1 QDZ2 QDZ3 QDZ4 QDZ6 QDZ7 QDZ8 QDZ9 QEZ1 QEZ2 QEZ3 QEZ4 QEZ5
    QHZ1 QHZ2 QHZ3 QHZ4 QPZ1 QPZ2 SSZ1 SSZ2 SSZ3 SSZ4
"""
_MF61 = """
    LFZO LCX LMUX LEX LKX LHX LVX LCY LMUY LEY LKY LKYC LKZC LHY LVY LTR LRES LXAL LYKA LVYKA LS LMX LVMX LMY
    PCX1 PDX1 PDX2 PDX3 PEX1 PEX2 PEX3 PEX4 PKX1 PKX2 PKX3 PHX1 PHX2 PVX1 PVX2 PPX1 PPX2 PPX3 PPX4
    RBX1 RBX2 RBX3 RCX1 REX1 REX2 RHX1
    QSX1 QSX2 QSX3 QSX4 QSX5 QSX6 QSX7 QSX8 QSX9 QSX10 QSX11 QSX12 QSX13 QSX14 PPMX1
    PCY1 PDY1 PDY2 PDY3 PEY1 PEY2 PEY3 PEY4 PEY5 PKY1 PKY2 PKY3 PKY4 PKY5 PKY6 PKY7 PHY1 PHY2 PVY1 PVY2 PVY3 PVY4
    PPY1 PPY2 PPY3 PPY4 PPY5 RBY1 RBY2 RBY3 RBY4 RCY1 REY1 REY2 RHY1 RHY2 RVY1 RVY2 RVY3 RVY4 RVY5 RVY6
    QSY1 QSY2 QSY3 QSY4 QSY5 QSY6 QSY7 QSY8 QBZ1 QBZ2 QBZ3 QBZ4 QBZ5 QBZ9 QBZ10 QCZ1
    QDZ1 QDZ2 QDZ3 QDZ4 QDZ6 QDZ7 QDZ8 QDZ9 QDZ10 QDZ11 QEZ1 QEZ2 QEZ3 QEZ4 QEZ5 QHZ1 QHZ2 QHZ3 QHZ4 PPZ1 PPZ2
    SSZ1 SSZ2 SSZ3 SSZ4 LONGITUDINAL_STIFFNESS LATERAL_STIFFNESS PCFX1 PCFX2 PCFX3 PCFY1 PCFY2 PCFY3
"""

PAC2002: Final = tuple(_PAC2002.split())
"""Of PAC2002, scaling factors first."""
MF61: Final = tuple(_MF61.split())
"""Of MF 6.1 and 6.2, scaling factors first."""
PLAIN: Final = {"UNLOADED_RADIUS": "unloaded_radius", "FNOMIN": "FNOMIN", "NOMPRES": "NOMPRES", "LONGVL": "LONGVL"}
"""What both read beside them -> the parameter under `tire.` that has it."""

ASYMMETRIC: Final = frozenset((
    *("PHX1", "PHX2", "PVX1", "PVX2", "RHX1", "PHY1", "PHY2", "PVY1", "PVY2", "PEY3", "RBY3", "RVY1", "RVY2"),
    *("QBZ4", "QHZ1", "QHZ2", "QDZ6", "QDZ7", "QEZ4", "QSX1", "SSZ1"),
))  # fmt: skip
"""Coefficients that a tire without conicity, ply steer and shifts has at 0: `mirror` SYMMETRIC."""
ASYMMETRIC_TRAIL: Final = frozenset(("QDZ3",))
"""Those of PAC2002 alone; MF 6.1 has it with the size of the inclination."""

POINTS: Final = 24
"""Most points of a curve of load over deflection."""
MOST_SLIP: Final = 1.5
"""Largest longitudinal slip of the formula [1]."""
STEEPEST_ANGLE: Final = 1.5
"""Largest slip angle of the formula [rad]."""
SOFTEST: Final = 0.05
"""Least factor of pressure on the vertical stiffness [1]."""


def neutral(name: str) -> float:
    """Value of a coefficient that a file leaves out: factors are 1, PKY4 is 2, all others 0."""
    return 2.0 if name == "PKY4" else 1.0 if name[0] == "L" and name[-9:] != "STIFFNESS" else 0.0


LEAST_SHARE: Final = 0.1
"""Of its value at nominal load and pressure, upright: down to it a friction or stiffness counts as right."""
ROLLING: Final = (0.5, 1.5)
"""Least and largest rolling radius at nominal load over the unloaded one."""
Range = Literal["load", "inclination", "pressure", "speed"]
RANGES: Final[tuple[Range, ...]] = ("load", "inclination", "pressure", "speed")
"""Load and pressure over the nominal ones less 1 [1], inclination [rad], speed over that of the measurement [1]."""
JUDGED: Final = (
    *("LFZO", "FNOMIN", "min_load", "max_load", "max_inclination", "NOMPRES", "least_pressure", "pressure", "LONGVL"),
    *("unloaded_radius", "vertical_stiffness", "Q_RE0", "DREFF", "BREFF", "FREFF"),
)
"""Parameters under `tire.` that the ranges and the rolling radius follow from."""


@dataclass(frozen=True)
class Factor:
    """A sum of coefficients times powers of x; it is at least `least` of its value at x = 0, and that is above 0."""

    what: str
    over: Range
    terms: tuple[tuple[str, float, int], ...]
    """Coefficients, with what each is multiplied by, and the power of x."""
    first: str = ""
    """The coefficient of power 0, which counts by its size and turns the others where it is below 0; else that is 1."""
    least: float = LEAST_SHARE
    waves: bool = False
    """Instead it is what lacks to half a turn of `terms` times the angle whose tangent is the load over `first`: a sine
    of that is above 0."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of its coefficients."""
        return (*((self.first,) if self.first else ()), *(name for name, _, _ in self.terms))

    def is_right(self, x: float, coefficient: Callable[[str], float]) -> bool:
        """Whether it has its sign at x; `least` 0: whether it is at least 0."""
        whole = self.value(0.0, coefficient)
        return self.value(x, coefficient) >= self.least * whole and (whole > 0.0 or not self.least)

    def value(self, x: float, coefficient: Callable[[str], float]) -> float:
        """Its value at x [1]."""
        first = coefficient(self.first) if self.first else 1.0
        if self.waves:
            turned = coefficient(self.terms[0][0]) * math.atan((1.0 + x) / first)
            return math.pi - turned if turned > 0.0 else turned
        sign = math.copysign(1.0, first) if self.least else 1.0
        return sign * (first + sum(coefficient(n) * times * x**power for n, times, power in self.terms))

    def most_against(self, x: float, coefficient: Callable[[str], float]) -> str:
        """The coefficient that takes most from it at x."""
        sign = math.copysign(1.0, coefficient(self.first)) if self.first and not self.waves else 1.0
        if self.waves or not any(coefficient(name) for name, _, _ in self.terms):
            return next((name for name in reversed(self.keys) if coefficient(name)), self.keys[0])
        return min(self.terms, key=lambda term: sign * coefficient(term[0]) * term[1] * x ** term[2])[0]


def _polynomial(what: str, over: Range, *keys: str, first: str = "") -> Factor:
    return Factor(what, over, tuple((key, 1.0, power) for power, key in enumerate(keys, 1)), first)


_FACTORS: Final = (
    _polynomial("longitudinal friction", "load", "PDX2", first="PDX1"),
    _polynomial("lateral friction", "load", "PDY2", first="PDY1"),
    _polynomial("slip stiffness", "load", "PKX2", first="PKX1"),
    Factor("longitudinal friction", "inclination", (("PDX3", -1.0, 2),)),
    Factor("lateral friction", "inclination", (("PDY3", -1.0, 2),)),
    Factor("cornering stiffness", "inclination", (("PKY3", -1.0, 1),)),
    _polynomial("longitudinal friction", "pressure", "PPX3", "PPX4"),
    _polynomial("lateral friction", "pressure", "PPY3", "PPY4"),
    _polynomial("slip stiffness", "pressure", "PPX1", "PPX2"),
    _polynomial("cornering stiffness", "pressure", "PPY1"),
    _polynomial("cornering stiffness", "pressure", "PPY2"),
    Factor("rolling resistance", "speed", (("QSY3", 1.0, 1), ("QSY4", 1.0, 4)), "QSY1", least=0.0),
)
PAC2002_FACTORS: Final = _FACTORS
"""Of PAC2002."""
MF61_FACTORS: Final = (
    *_FACTORS,
    Factor("cornering stiffness", "load", (("PKY4", 1.0, 1),), "PKY2", 1e-3, waves=True),
    _polynomial("carcass stiffness", "load", "PCFX1", "PCFX2"),
    _polynomial("carcass stiffness", "load", "PCFY1", "PCFY2"),
    Factor("cornering stiffness", "inclination", (("PKY5", 1.0, 2),), "PKY2"),
)
"""Of MF 6.1 and 6.2."""
