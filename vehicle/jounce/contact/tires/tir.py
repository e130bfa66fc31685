"""Tire property files (.tir) of the Magic Formula: PAC2002, MF 6.1, MF 6.2.

Source: MSC Software, "Adams/Tire", tire property file format TeimOrbit; TNO, "MF-Tyre/MF-Swift 6.2 help manual" (keys
and their units).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final

from jounce.contact.tires.coefficients import MF61, PAC2002, POINTS, neutral
from jounce.contact.tires.tir_text import TireFileError, TireText, fault_of, read_text

__all__ = ["TireFile", "TireFileError", "bounds", "read_tir"]

#: FITTYP, or PROPERTY_FILE_FORMAT where there is none -> tire law.
_FITTYP: Final = {**dict.fromkeys((5, 6, 21, 51, 52), "pac2002"), **dict.fromkeys((60, 61, 62), "mf61")}
_FORMAT: Final = {"PAC2002": "pac2002", "MF_05": "pac2002", "MF-TYRE": "pac2002"}
#: [UNITS]: key -> unit in lower case -> factor to SI. Coefficients are pure numbers, with angles in rad.
_UNITS: Final[Mapping[str, Mapping[str, float]]] = {
    "LENGTH": {
        **dict.fromkeys(("meter", "meters", "metre", "metres", "m"), 1.0),
        **dict.fromkeys(("mm", "millimeter", "millimetre"), 1e-3),
        **dict.fromkeys(("cm", "centimeter", "centimetre"), 1e-2),
        **dict.fromkeys(("km", "kilometer", "kilometre"), 1e3),
        **dict.fromkeys(("inch", "inches", "in"), 0.0254), **dict.fromkeys(("foot", "feet", "ft"), 0.3048),
        "mile": 1609.344,
    },
    "FORCE": {
        **dict.fromkeys(("newton", "newtons", "n"), 1.0), **dict.fromkeys(("kn", "kilonewton", "knewton"), 1e3),
        **dict.fromkeys(("kilogram_force", "kgf"), 9.80665), "dyne": 1e-5,
        **dict.fromkeys(("pound_force", "lbf"), 4.4482216152605),
        **dict.fromkeys(("kpound_force", "klbf"), 4448.2216152605),
    },
    "ANGLE": dict.fromkeys(("radian", "radians", "rad"), 1.0),
    "MASS": {**dict.fromkeys(("kg", "kilogram"), 1.0), **dict.fromkeys(("gram", "g"), 1e-3),
             **dict.fromkeys(("tonne", "megagram"), 1e3), "pound_mass": 0.45359237, "slug": 14.593902937206365},
    "TIME": {**dict.fromkeys(("second", "seconds", "sec", "s"), 1.0),
             **dict.fromkeys(("millisecond", "ms"), 1e-3), "minute": 60.0, "hour": 3600.0},
    "PRESSURE": {
        **dict.fromkeys(("pascal", "pa"), 1.0), **dict.fromkeys(("kpascal", "kpa", "kilopascal"), 1e3),
        **dict.fromkeys(("mpascal", "mpa", "megapascal"), 1e6), "bar": 1e5, "psi": 6894.757293168,
    },
}  # fmt: skip
_PRESSURES: Final = ("IP", "IP_NOM", "NOMPRES", "INFLPRES", "PRESMIN", "PRESMAX")
#: Keys with a dimension -> powers of the units.
_DIMENSIONS: Final[Mapping[str, Mapping[str, int]]] = {
    **dict.fromkeys(("UNLOADED_RADIUS", "WIDTH", "RIM_RADIUS"), {"LENGTH": 1}),
    **dict.fromkeys(("FNOMIN", "FZMIN", "FZMAX"), {"FORCE": 1}),
    **dict.fromkeys(("VERTICAL_STIFFNESS", "LONGITUDINAL_STIFFNESS", "LATERAL_STIFFNESS"), {"FORCE": 1, "LENGTH": -1}),
    "VERTICAL_DAMPING": {"FORCE": 1, "TIME": 1, "LENGTH": -1},
    "LONGVL": {"LENGTH": 1, "TIME": -1},
    **dict.fromkeys(_PRESSURES, {"PRESSURE": 1}),
}
_LEAST_PRESSURE: Final = 5e3
"""Of a tire that carries a vehicle [Pa]."""
_POSITIVE: Final = ("UNLOADED_RADIUS", "WIDTH", "RIM_RADIUS", "FNOMIN", "LONGVL")
#: Keys that some programs write in another way.
_SPELLINGS: Final = {"Q_FZ1": "QFZ1", "Q_FZ2": "QFZ2", "Q_RE0": "QRE0", "Q_V1": "QV1", "Q_V2": "QV2"}
_GEOMETRY: Final = ("UNLOADED_RADIUS", "WIDTH", "RIM_RADIUS", "FNOMIN")
#: What a tire of a road vehicle can have, in SI units. A file beyond it mostly has other units than it says.
_RANGES: Final[Mapping[str, tuple[float, float, str]]] = {
    "UNLOADED_RADIUS": (0.05, 3.0, "m"), "WIDTH": (0.01, 3.0, "m"), "RIM_RADIUS": (0.01, 3.0, "m"),
    "FNOMIN": (50.0, 1e6, "N"), "FZMIN": (0.0, 1e6, "N"), "FZMAX": (50.0, 1e7, "N"), "LONGVL": (0.1, 200.0, "m/s"),
    **dict.fromkeys(("VERTICAL_STIFFNESS", "LONGITUDINAL_STIFFNESS", "LATERAL_STIFFNESS"), (1e3, 1e8, "N/m")),
    "VERTICAL_DAMPING": (0.0, 1e6, "N.s/m"), "LFZO": (0.01, 100.0, "1"),
    **dict.fromkeys(_PRESSURES, (0.0, 5e6, "Pa")),
    "KPUMIN": (-100.0, 0.0, "1"), "KPUMAX": (0.0, 100.0, "1"), "ALPMIN": (-10.0, 0.0, "rad"),
    "ALPMAX": (0.0, 10.0, "rad"),
    **dict.fromkeys((n for n in (*PAC2002, *MF61) if n[0] == "L" and n[-9:] != "STIFFNESS" and n != "LFZO"),
                    (-100.0, 100.0, "1")),
    **dict.fromkeys(("PVX1", "PVX2", "PVY1", "PVY2", "PVY3", "PVY4", "RVY1", "RVY2", "RVY3"), (-10.0, 10.0, "1")),
    **dict.fromkeys(("PKX3", "PTX3", "QSY7", "QSY8"), (-10.0, 10.0, "1")),  # of powers
    **dict.fromkeys(("LTR", "LMX", "LMY", "LSGKP", "LSGAL", "LXAL", "LYKA"), (0.0, 100.0, "1")),
    **dict.fromkeys(("PHX1", "PHX2", "PHY1", "PHY2"), (-1.0, 1.0, "1")), "PTX1": (0.0, 100.0, "1"),
    "PTY1": (0.0, 100.0, "1"), **dict.fromkeys(("QDZ1", "QDZ2"), (-10.0, 10.0, "1")),
    **dict.fromkeys(("LCX", "LCY", "LMUX", "LMUY", "LKX", "LKY"), (0.01, 100.0, "1")),
    **dict.fromkeys(("PCX1", "PCY1"), (0.1, 10.0, "1")), "PKX1": (0.1, 1e3, "1"), "PKY2": (1e-3, 1e3, "1"),
    "DREFF": (-10.0, 10.0, "1"), "BREFF": (-1e3, 1e3, "1"), "FREFF": (-10.0, 10.0, "1"), "LCZ": (1e-3, 1e3, "1"),
    "Q_RE0": (0.5, 1.5, "1"), "Q_V1": (-1.0, 1.0, "1"), "Q_V2": (-1.0, 10.0, "1"), "PFZ1": (-10.0, 10.0, "1"),
    "Q_FZ1": (0.0, 1e3, "1"), "Q_FZ2": (-1e3, 1e4, "1"),
}  # fmt: skip
#: Friction that a tire has at its nominal load, by its size.
_GRIPS: Final = {"PDX1": (0.01, 10.0), "PDY1": (0.01, 10.0), "PKY1": (0.1, 1e3)}
#: Keys of which the second must be above the first.
_RISING: Final = (("FZMIN", "FZMAX"), ("CAMMIN", "CAMMAX"), ("PRESMIN", "PRESMAX"), ("KPUMIN", "KPUMAX"),
                  ("ALPMIN", "ALPMAX"), ("RIM_RADIUS", "UNLOADED_RADIUS"))  # fmt: skip
#: USE_MODE: what is computed; tens: relaxation, with 3 the rigid ring of MF-Swift; hundreds: its contact with the road.
_MODES: Final = tuple(100.0 * h + 10.0 * tens + units for h in range(6) for tens in range(4) for units in range(6))
_LARGEST_COEFFICIENT: Final = 1e5
#: Without them there is no curve.
_CURVES: Final = (
    *("PCX1", "PDX1", "PDX2", "PEX1", "PEX2", "PKX1", "PKX2", "PKX3"),
    *("PCY1", "PDY1", "PDY2", "PEY1", "PEY2", "PKY1", "PKY2"),
    *("QBZ1", "QBZ2", "QBZ3", "QCZ1", "QDZ1", "QDZ2", "QEZ1", "QEZ2", "QEZ3", "QHZ1", "QHZ2"),
)
#: Of combined slip. A file that has any of them has all from there on: one that was cut is noticed.
_COMBINED: Final = (
    *("RBX1", "RBX2", "RCX1", "RHX1", "RBY1", "RBY2", "RBY3", "RCY1", "RHY1"),
    *("RVY1", "RVY2", "RVY3", "RVY4", "RVY5", "RVY6", "SSZ1", "SSZ2", "SSZ3", "SSZ4"),
)
_OTHERS: Final = (
    *("DREFF", "BREFF", "FREFF", "FITTYP", "USE_MODE", "LCZ", "LKG", "PFZ1"),
    *("KPUMIN", "KPUMAX", "ALPMIN", "ALPMAX", "CAMMIN", "CAMMAX"),
)
#: Keys that must have a number, those with a text that means something, and the texts that two of these can have.
_NUMBERS: Final = frozenset((*PAC2002, *MF61, *_DIMENSIONS, *_OTHERS, *_SPELLINGS, *_SPELLINGS.values()))
_TEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    "PROPERTY_FILE_FORMAT": (), "FE_METHOD": ("YES", "NO"),
    "TYRESIDE": ("LEFT", "RIGHT", "SYMMETRIC", "UNKNOWN", ""),
}  # fmt: skip


@dataclass(frozen=True)
class TireFile:
    """What a file says, in SI units."""

    path: Path
    law: str
    """`pac2002` or `mf61`."""
    values: Mapping[str, float]
    """Numbers by key."""
    texts: Mapping[str, str]
    """Texts by key."""
    unused: tuple[str, ...] = ()
    """Keys with numbers that the law does not read."""
    notes: tuple[str, ...] = ()
    """What a user should know: what is taken instead of what the file says."""
    curve: tuple[tuple[float, float], ...] = ()
    """[DEFLECTION_LOAD_CURVE]: deflection [m], load [N]."""
    bottoming: tuple[tuple[float, float], ...] = ()
    """[BOTTOMING_CURVE]: the same of what the rim adds."""

    lines: Mapping[str, int] = field(default_factory=dict)
    """Line of each key and section."""
    count: int = 0
    """Number of lines."""

    def fault_of(self, key: str, what: str) -> TireFileError:
        """Of a key that is there, at its line; of one that is not, at the end."""
        return fault_of(self.path, key, what, self.lines, self.count)

    def coefficient(self, name: str) -> float:
        """A coefficient, or what stands for one that is left out."""
        return self.values.get(name, neutral(name))


def bounds(key: str, value: float) -> tuple[float, float]:
    """Least and largest value of a coefficient that a file could have in place of ``value``; the sign stays."""
    if key in _GRIPS:
        low, high = _GRIPS[key]
        return (low, high) if value > 0.0 else (-high, -low)
    low, high, _ = _RANGES.get(key, (-_LARGEST_COEFFICIENT, _LARGEST_COEFFICIENT, ""))
    return low, high


def read_tir(path: str | Path) -> TireFile:
    """Reads a file. Raises TireFileError, with line and key: malformed, another formula, unknown units."""
    raw = read_text(Path(path), _NUMBERS, _TEXTS)
    law = _law(raw)
    factors = _factors(raw)
    values = {}
    for key, value in raw.numbers.items():
        factor = math.prod(factors[unit] ** power for unit, power in _DIMENSIONS.get(key, {}).items())
        values[key] = value * factor
    for key, former in (("NOMPRES", "IP_NOM"), ("INFLPRES", "IP"), ("LKYG", "LKG"), *_SPELLINGS.items()):
        _alias(raw, values, key, former)
    _check(raw, values)
    known = {*(PAC2002 if law == "pac2002" else MF61), *_DIMENSIONS, *_OTHERS, *_SPELLINGS, *_SPELLINGS.values()}
    curve, bottoming = _curve(raw, factors, "DEFLECTION_LOAD_CURVE"), _curve(raw, factors, "BOTTOMING_CURVE")
    unused = tuple(sorted(values.keys() - known))
    return TireFile(Path(path), law, values, raw.texts | raw.units, unused, tuple(raw.notes), curve, bottoming,
                    raw.sections | raw.lines, raw.count)  # fmt: skip


def _law(raw: TireText) -> str:
    """The law of FITTYP, or else of PROPERTY_FILE_FORMAT."""
    if "FITTYP" in raw.lines:
        number = raw.numbers["FITTYP"]
        if number not in _FITTYP:
            raise raw.fault_of("FITTYP", f"{number:g} is not a Magic Formula that jounce knows; expected "
                                         f"{', '.join(map(str, _FITTYP))}")  # fmt: skip
        return _FITTYP[int(number)]
    form = raw.texts.get("PROPERTY_FILE_FORMAT", "").upper()
    if form not in _FORMAT:
        raise raw.fault_of("PROPERTY_FILE_FORMAT", f"{form or 'nothing'!r}: expected FITTYP, or one of "
                                                   f"{', '.join(_FORMAT)}")  # fmt: skip
    return _FORMAT[form]


def _factors(raw: TireText) -> dict[str, float]:
    factors = {}
    for unit, known in _UNITS.items():
        text, firsts = raw.units.get(unit), {factor: name for name, factor in reversed([*known.items()])}
        names = ", ".join(reversed([*firsts.values()]))
        if text is None:
            if unit != "PRESSURE":
                raise raw.fault_of(unit, f"expected one of {names} in [UNITS]", raw.unit_lines)
            text = "pascal"
        if text.lower() not in known:
            why = "; coefficients are per radian" if unit == "ANGLE" else ""
            raise raw.fault_of(unit, f"unknown unit {text!r}; expected {names}{why}", raw.unit_lines)
        factors[unit] = known[text.lower()]
    return factors


def _alias(raw: TireText, values: dict[str, float], key: str, former: str) -> None:
    """A number has one name from here on. Raises TireFileError where a file has it twice, with different values."""
    if former not in values:
        return
    if values.setdefault(key, values[former]) != values[former]:
        raise raw.fault_of(former, f"{values[former]:g}: expected {values[key]:g} as for {key} (line "
                                   f"{raw.lines[key]}), which is the same")  # fmt: skip
    raw.lines.setdefault(key, raw.lines[former])


def _check(raw: TireText, values: Mapping[str, float]) -> None:
    for key in (*_GEOMETRY, *_CURVES):
        if key not in values:
            raise raw.fault_of(key, "expected a number")
    for key in _POSITIVE:
        if key in values and not values[key] > 0.0:
            raise raw.fault_of(key, f"{values[key]:g}: expected a number above 0")
    for key, texts in _TEXTS.items():
        text = raw.texts.get(key, f"{raw.numbers.get(key, 0.0):g}")
        if key in raw.lines and texts and text.upper() not in texts:
            raise raw.fault_of(key, f"{text!r}: expected {', '.join(t for t in texts if t)}")
    for key, (least, most, unit) in _RANGES.items():
        if key in raw.lines and not least <= values[key] <= most:
            of = "" if unit == "1" else f" {unit}"
            after = f"{of}, after [UNITS]" if of else ""
            raise raw.fault_of(key, f"{values[key]:g}{of}: expected {least:g} to {most:g}{after}")
    for key in (*PAC2002, *MF61):
        if key not in _RANGES and abs(values.get(key, 0.0)) > _LARGEST_COEFFICIENT:
            raise raw.fault_of(key, f"{values[key]:g}: expected a coefficient within {_LARGEST_COEFFICIENT:g}")
    for key, (least, most) in _GRIPS.items():
        if not least <= abs(values[key]) <= most:
            raise raw.fault_of(key, f"{values[key]:g}: expected a size of {least:g} to {most:g}")
    wanted = _COMBINED if any(key[0] == "R" and key in values for key in _COMBINED) else _COMBINED[-4:]
    present, lacking = (next((key for key in wanted if (key in values) == there), "") for there in (True, False))
    if present and lacking:
        raise raw.fault_of(lacking, f"expected a number, as for {present} (line {raw.lines[present]})")
    for low, high in _RISING:
        if low in values and high in values and not values[low] < values[high]:
            raise raw.fault_of(high, f"{values[high]:g}: expected a number above {low}")
    _check_pressure(raw, values)
    mode = abs(values.get("USE_MODE", 0.0))
    if mode not in _MODES:
        raise raw.fault_of("USE_MODE", f"{values['USE_MODE']:g}: expected 0 to 5, 10, 20 or 30 more for relaxation, "
                                       "100 to 500 more for the contact, less than 0 for the other side")  # fmt: skip
    if values.get("PCY2") and "FITTYP" in raw.lines and values["FITTYP"] < 60:
        raise raw.fault_of("PCY2", f"{values['PCY2']:g}: of a formula of motorcycles (MF-MCTyre), which is not read")
    if values["PKY1"] >= 0.0:
        raise raw.fault_of("PKY1", f"{values['PKY1']:g}: expected a number below 0, of a force that opposes the slip")


def _check_pressure(raw: TireText, values: Mapping[str, float]) -> None:
    key = "INFLPRES" if values.get("INFLPRES") else "NOMPRES"
    pressure = values.get(key, 0.0)
    for name in ("NOMPRES", "INFLPRES"):
        if 0.0 < values.get(name, 0.0) < _LEAST_PRESSURE:
            raise raw.fault_of(name, f"{values[name]:g} Pa: expected 0, or at least {_LEAST_PRESSURE:g} Pa, after "
                                     "[UNITS]")  # fmt: skip
    for end, sign in (("PRESMIN", 1.0), ("PRESMAX", -1.0)):
        if pressure and sign * (pressure - values.get(end, pressure)) < 0.0:
            raise raw.fault_of(key, f"{pressure:g} Pa: expected {'at least' if sign > 0.0 else 'at most'} "
                                    f"{values[end]:g} Pa as {end} (line {raw.lines[end]}) says")  # fmt: skip


def _curve(raw: TireText, factors: Mapping[str, float], section: str) -> tuple[tuple[float, float], ...]:
    rows, of = raw.tables.get(section, []), f"[{section}]"
    if odd := next((at for at, row in rows if len(row) != 2), 0):
        raise raw.fault(odd, f"{of}: expected rows of deflection and load")
    if len(rows) > POINTS or len(rows) == 1:
        raise raw.fault(rows[-1][0], f"{of}: {len(rows)} rows; expected 2 to {POINTS}")
    points = tuple((d * factors["LENGTH"], f * factors["FORCE"]) for _, (d, f) in rows)
    rises = section == "DEFLECTION_LOAD_CURVE"
    for (at, _), (deflection, load) in zip(rows, points, strict=True):
        if not (0.0 <= deflection <= 3.0 and 0.0 <= load <= 1e7):
            raise raw.fault(at, f"{of}: {deflection:g} m, {load:g} N: expected deflections of 0 to 3 m and loads of 0 "
                                "to 1e7 N, after [UNITS]")  # fmt: skip
    for (at, _), ((d0, f0), (d1, f1)) in zip(rows[1:], pairwise(points), strict=True):
        if not (d1 > d0 and (f1 > f0 if rises else f1 >= f0)):
            raise raw.fault(at, f"{of}: expected deflection and load to rise from row to row")
    return points
