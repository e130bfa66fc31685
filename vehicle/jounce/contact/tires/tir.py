"""Tire property files (.tir) of the Magic Formula: PAC2002, MF 6.1, MF 6.2.

Sections `[NAME]`, lines `KEY = value`, comments from `$` or `!`, heads of tables in braces, rows of numbers below them.
Source: MSC Software, "Adams/Tire", tire property file format TeimOrbit; TNO, "MF-Tyre/MF-Swift 6.2 help manual" (keys
and their units).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Final

from jounce.contact.tires.coefficients import MF61, PAC2002, POINTS, neutral

__all__ = ["TireFile", "TireFileError", "read_tir"]

#: FITTYP, or PROPERTY_FILE_FORMAT where there is none -> tire law.
_FITTYP: Final = {5: "pac2002", 6: "pac2002", 51: "pac2002", 52: "pac2002", 60: "mf61", 61: "mf61", 62: "mf61"}
_FORMAT: Final = {"PAC2002": "pac2002", "MF_05": "pac2002", "MF-TYRE": "pac2002"}
#: [UNITS]: key -> unit in lower case -> factor to SI. Coefficients are pure numbers, with angles in rad.
_UNITS: Final[Mapping[str, Mapping[str, float]]] = {
    "LENGTH": {"meter": 1.0, "m": 1.0, "mm": 1e-3, "cm": 1e-2, "km": 1e3, "inch": 0.0254, "foot": 0.3048},
    "FORCE": {"newton": 1.0, "n": 1.0, "kn": 1e3, "kilonewton": 1e3, "pound_force": 4.4482216152605},
    "ANGLE": {"radian": 1.0, "radians": 1.0, "rad": 1.0},
    "MASS": {"kg": 1.0, "kilogram": 1.0, "gram": 1e-3, "pound_mass": 0.45359237},
    "TIME": {"second": 1.0, "sec": 1.0, "s": 1.0, "millisecond": 1e-3},
    "PRESSURE": {"pascal": 1.0, "pa": 1.0, "kpascal": 1e3, "kpa": 1e3, "bar": 1e5, "psi": 6894.757293168},
}
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
}  # fmt: skip
#: Keys of which the second must be above the first.
_RISING: Final = (("FZMIN", "FZMAX"), ("CAMMIN", "CAMMAX"), ("PRESMIN", "PRESMAX"), ("RIM_RADIUS", "UNLOADED_RADIUS"))
_LARGEST_COEFFICIENT: Final = 1e6
#: Without them there is no curve.
_CURVES: Final = (
    *("PCX1", "PDX1", "PDX2", "PEX1", "PEX2", "PKX1", "PKX2", "PKX3"),
    *("PCY1", "PDY1", "PDY2", "PEY1", "PEY2", "PKY1", "PKY2"),
    *("QBZ1", "QBZ2", "QBZ3", "QCZ1", "QDZ1", "QDZ2", "QEZ1", "QEZ2", "QEZ3", "QHZ1", "QHZ2"),
)
#: Of combined slip, of which a file has all or none: one that was cut is noticed.
_COMBINED: Final = (
    *("RBX1", "RBX2", "RCX1", "RHX1", "RBY1", "RBY2", "RBY3", "RCY1", "RHY1"),
    *("RVY1", "RVY2", "RVY3", "RVY4", "RVY5", "RVY6", "SSZ1", "SSZ2", "SSZ3", "SSZ4"),
)
_NUMBER: Final = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eEdD][-+]?\d+)?")
_LARGEST: Final = 1_000_000
"""Bytes of the largest file that is read."""


class TireFileError(ValueError):
    """A tire file is missing or malformed, or says what jounce does not know."""


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

    def coefficient(self, name: str) -> float:
        """A coefficient, or what stands for one that is left out."""
        return self.values.get(name, neutral(name))


@dataclass
class _Raw:
    """Lines as they are."""

    path: Path
    numbers: dict[str, float] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    sections: dict[str, int] = field(default_factory=dict)
    tables: dict[str, list[tuple[float, ...]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    count: int = 0

    def fault(self, line: int, what: str) -> TireFileError:
        return TireFileError(f"{self.path.name}: line {line}: {what}")

    def fault_of(self, key: str, what: str) -> TireFileError:
        """Of a key that is there, at its line; of one that is not, at the end."""
        if key in self.lines:
            return self.fault(self.lines[key], f"{key}: {what}")
        return self.fault(self.count, f"{key} is missing at the end of the file: {what}")


def read_tir(path: str | Path) -> TireFile:
    """Reads a file. Raises TireFileError, with line and key: malformed, another formula, unknown units."""
    raw = _lines(Path(path))
    law = _law(raw)
    factors = _factors(raw)
    values = {}
    for key, value in raw.numbers.items():
        factor = math.prod(factors[unit] ** power for unit, power in _DIMENSIONS.get(key, {}).items())
        values[key] = value * factor
    _alias(values, "NOMPRES", "IP_NOM")
    _alias(values, "INFLPRES", "IP")
    _alias(values, "LKYG", "LKG")
    for key, other in _SPELLINGS.items():
        _alias(values, key, other)
    _check(raw, values)
    known = {*(PAC2002 if law == "pac2002" else MF61), *_DIMENSIONS, "DREFF", "BREFF", "FREFF", "CAMMIN", "CAMMAX",
             "FITTYP", "USE_MODE", "LCZ", "LKG", *_SPELLINGS.values(), *_SPELLINGS, "PFZ1"}  # fmt: skip
    curve, bottoming = _curve(raw, factors, "DEFLECTION_LOAD_CURVE"), _curve(raw, factors, "BOTTOMING_CURVE")
    unused = tuple(sorted(values.keys() - known))
    return TireFile(Path(path), law, values, raw.texts, unused, tuple(raw.notes), curve, bottoming)


def _lines(path: Path) -> _Raw:
    raw, section = _Raw(path), ""
    try:
        if path.stat().st_size > _LARGEST:
            raise TireFileError(f"{path}: {path.stat().st_size} bytes; expected a tire file of at most {_LARGEST}")
        text = path.read_text(encoding="latin-1")
    except OSError as error:
        raise TireFileError(f"{path}: {error.strerror}; expected a tire file (.tir)") from error
    if "\0" in text:
        at = 1 + text.partition("\0")[0].count("\n")
        raise TireFileError(f"{path.name}: line {at}: a zero byte; expected text")
    for at, whole in enumerate(text.splitlines(), 1):
        line = re.split(r"[$!]", whole, maxsplit=1)[0].strip()
        raw.count = at
        if not line or line.startswith("{"):
            continue
        if line.startswith("["):
            if not line.endswith("]") or not line[1:-1].strip():
                raise raw.fault(at, f"{line!r}: expected [SECTION]")
            section = line[1:-1].strip().upper()
            if section in raw.sections:
                raw.notes.append(f"line {at}: [{section}] is there a second time; the first counts")
                section = f"{section} again"
            raw.sections[section] = at
        elif not section:
            raise raw.fault(at, f"{line[:40]!r}: expected a [SECTION] first")
        elif "=" in line:
            _assign(raw, section, at, line)
        else:
            _row(raw, section, at, line)
    if not raw.sections:
        raise raw.fault(max(raw.count, 1), "the file has no [SECTION]; expected a tire file (.tir)")
    return raw


def _assign(raw: _Raw, section: str, at: int, line: str) -> None:
    key, _, value = (part.strip() for part in line.partition("="))
    key = key.upper()
    if not re.fullmatch(r"[A-Z_][A-Z0-9_]*", key):
        raise raw.fault(at, f"{key!r}: expected a KEY before =")
    if section.endswith(" again"):
        return
    if key in raw.lines:
        raise raw.fault(at, f"{key} is on line {raw.lines[key]} already; expected it once")
    raw.lines[key] = at
    if value[:1] in ("'", '"'):
        if len(value) < 2 or value[-1] != value[0]:
            raise raw.fault(at, f"{key} = {value}: expected a closing quote")
        raw.texts[key] = value[1:-1].strip()
    elif _NUMBER.fullmatch(value):
        number = float(value.lower().replace("d", "e"))
        if not math.isfinite(number):
            raise raw.fault(at, f"{key} = {value}: expected a number of a double")
        raw.numbers[key] = number
    elif key in _DIMENSIONS or key in PAC2002 or key in MF61 or not re.fullmatch(r"[\w .,:/+-]+", value):
        raise raw.fault(at, f"{key} = {value!r}: expected a number, or a text in quotes")
    else:
        raw.texts[key] = value


def _row(raw: _Raw, section: str, at: int, line: str) -> None:
    parts = re.split(r"[\s,]+", line)
    if not all(_NUMBER.fullmatch(p) for p in parts):
        raise raw.fault(at, f"{line[:40]!r}: expected KEY = value, or a row of numbers")
    raw.tables.setdefault(section, []).append(tuple(float(p.lower().replace("d", "e")) for p in parts))


def _law(raw: _Raw) -> str:
    """The law of FITTYP, or else of PROPERTY_FILE_FORMAT."""
    if "FITTYP" in raw.lines:
        number = raw.numbers.get("FITTYP")
        if number not in _FITTYP:
            found = raw.texts.get("FITTYP", f"{number:g}" if number is not None else "")
            raise raw.fault_of("FITTYP", f"{found} is not a Magic Formula that jounce knows; expected "
                                         f"{', '.join(map(str, _FITTYP))}")  # fmt: skip
        return _FITTYP[int(number)]
    form = raw.texts.get("PROPERTY_FILE_FORMAT", "").upper()
    if form not in _FORMAT:
        raise raw.fault_of("PROPERTY_FILE_FORMAT", f"{form or 'nothing'!r}: expected FITTYP, or one of "
                                                   f"{', '.join(_FORMAT)}")  # fmt: skip
    return _FORMAT[form]


def _factors(raw: _Raw) -> dict[str, float]:
    factors = {}
    for unit, known in _UNITS.items():
        text = raw.texts.get(unit)
        if text is None:
            if unit != "PRESSURE":
                raise raw.fault_of(unit, f"expected one of {', '.join(known)} in [UNITS]")
            text = "pascal"
        if text.lower() not in known:
            raise raw.fault_of(unit, f"unknown unit {text!r}; expected {', '.join(known)}")
        factors[unit] = known[text.lower()]
    return factors


def _alias(values: dict[str, float], key: str, former: str) -> None:
    if former in values:
        values.setdefault(key, values[former])


def _check(raw: _Raw, values: Mapping[str, float]) -> None:
    for key in (*_GEOMETRY, *_CURVES):
        if key not in values:
            raise raw.fault_of(key, "expected a number")
    for key in _POSITIVE:
        if key in values and not values[key] > 0.0:
            raise raw.fault_of(key, f"{values[key]:g}: expected a number above 0")
    for key, (least, most, unit) in _RANGES.items():
        if key in raw.lines and not least <= values[key] <= most:
            raise raw.fault_of(key, f"{values[key]:g} {unit}: expected {least:g} to {most:g} {unit}, after [UNITS]")
    for key in (*PAC2002, *MF61):
        if key not in _RANGES and abs(values.get(key, 0.0)) > _LARGEST_COEFFICIENT:
            raise raw.fault_of(key, f"{values[key]:g}: expected a coefficient within {_LARGEST_COEFFICIENT:g}")
    present = [key for key in _COMBINED if key in values]
    if present and len(present) < len(_COMBINED):
        lacking = next(key for key in _COMBINED if key not in values)
        raise raw.fault_of(lacking, f"expected a number, as for {present[0]} (line {raw.lines[present[0]]})")
    for low, high in _RISING:
        if low in values and high in values and not values[low] < values[high]:
            raise raw.fault_of(high, f"{values[high]:g}: expected a number above {low}")
    pressure = values.get("INFLPRES", values.get("NOMPRES", 0.0))
    for key, sign in (("PRESMIN", 1.0), ("PRESMAX", -1.0)):
        if pressure and sign * (pressure - values.get(key, pressure)) < 0.0:
            raise raw.fault_of(key, f"{values[key]:g} Pa: expected a range that the pressure {pressure:g} Pa is in")
    if values["PKY1"] >= 0.0:
        raise raw.fault_of("PKY1", f"{values['PKY1']:g}: expected a number below 0, of a force that opposes the slip")


def _curve(raw: _Raw, factors: Mapping[str, float], section: str) -> tuple[tuple[float, float], ...]:
    rows, at = raw.tables.get(section, []), raw.sections.get(section, 0)
    if any(len(row) != 2 for row in rows):
        raise raw.fault(at, f"[{section}]: expected rows of deflection and load")
    if len(rows) > POINTS:
        raise raw.fault(at, f"[{section}]: {len(rows)} rows; expected at most {POINTS}")
    points = tuple((d * factors["LENGTH"], f * factors["FORCE"]) for d, f in rows)
    rises = section == "DEFLECTION_LOAD_CURVE"
    for (d0, f0), (d1, f1) in pairwise(points):
        if not (d1 > d0 and (f1 > f0 if rises else f1 >= f0)):
            raise raw.fault(at, f"[{section}]: expected deflection and load to rise from row to row")
    if any(not (0.0 <= d <= 3.0 and 0.0 <= f <= 1e7) for d, f in points):
        raise raw.fault(at, f"[{section}]: expected deflections of 0 to 3 m and loads of 0 to 1e7 N, after [UNITS]")
    return points
