"""Entries of a vehicle's data from a tire file."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from jounce.contact.tires import MF61, find
from jounce.contact.tires.coefficients import MF61 as MF61_COEFFICIENTS
from jounce.contact.tires.coefficients import MOST_SLIP, ROLLING, STEEPEST_ANGLE, Range
from jounce.contact.tires.coefficients import PAC2002 as PAC2002_COEFFICIENTS
from jounce.contact.tires.mixed import JOINER, WHICH, own_law, which_law
from jounce.contact.tires.tir import TireFile, bounds, read_tir
from jounce.contact.tires.vertical import vertical_of
from jounce.entries import Entry

__all__ = ["law_of", "tire_entries", "tires_of_axles", "use_mode"]

#: Parameters that a file says nothing of: (value, unit, description, minimum).
_OWN: Final[Mapping[str, tuple[float, str, str, float]]] = {
    "rim_stiffness": (2e7, "N/m", "stiffness once the tire is pressed down to the rim", 0.0),
    "rim_damping": (6e4, "N.s/m", "damping once the tire is pressed down to the rim", 0.0),
    "reference_friction": (1.0, "1", "friction coefficient of the ground that the file is for", 0.1),
    "blend_begin": (1.0, "m/s", "speed up to which the bristles carry the forces", 0.0),
    "blend_end": (3.0, "m/s", "speed from which the formula carries them", 0.0),
    "rolling_deflection": (0.005, "m", "distance the wheel rolls until its rolling resistance is all there", 1e-4),
    "bore_deflection": (0.1, "rad", "turn on the spot at which the bore torque is all there", 0.001),
}
_UNITS: Final = {"LONGITUDINAL_STIFFNESS": "N/m", "LATERAL_STIFFNESS": "N/m"}
ANY_PRESSURE = 5e6
"""Largest pressure [Pa] where the file does not depend on it."""
_LONGVL: Final = 16.7
"""Speed of the measurement [m/s] of a file that does not say it."""
_STEPS: Final = 200
"""Into which a range is divided."""
_STEEPEST_LEAN: Final = 1.5
"""Largest inclination [rad] that can be set."""
_NEAR_PRESSURE: Final = 0.5
"""Of the nominal pressure less or more: where every tire has friction and stiffness, and at its own pressure."""
_UPRIGHT: Final = 0.05
"""Inclination [rad] up to which every tire has friction and stiffness."""
STIFFEST, MOST_DAMPING = 5e5, 5e3
"""Of the tread at rest [N/m], [N.s/m]: what a step of 1 ms holds with the spin of a light wheel."""


def tire_entries(tire: TireFile, law: str = "") -> dict[str, Entry]:
    """Entries `tire.*` of a vehicle from a tire file, in the order of the law; ``law``, else that of the file.

    What a file says nothing of has a value that its source calls an assumption. Raises TireFileError.
    """
    made = _entries(tire)
    return {f"tire.{n}": made[f"tire.{n}"] for n in find(law or law_of(tire)).entries}


def law_of(*tires: TireFile) -> str:
    """The law that tires of these files of one formula have: one with a curve where one of them has a curve."""
    return f"{tires[0].law}_curve" if any(len(t.curve) > 1 or len(t.bottoming) > 1 for t in tires) else tires[0].law


def tires_of_axles(
    law: str, entries: Mapping[str, Entry], before: Mapping[str, str], files: Mapping[str, str | Path | None]
) -> tuple[str, dict[str, Entry]]:
    """(law, entries `tire.AXLE.*`) of a vehicle whose axles have the tires of files; "" stands for all axles.

    ``law`` and ``entries`` are those that it had; ``before``: axle -> what the names of its tires' entries begin with.
    Axles without a file keep those tires; of different laws one is made. Raises TireFileError, DataError.
    """
    had, read = find(law), {axle: read_tir(file) for axle, file in files.items() if file is not None}
    laws = {axle: own_law(had, entries, of) for axle, of in before.items() if axle not in read}
    for axle, tire in read.items():
        laws[axle] = find(law_of(*(other for other in read.values() if other.law == tire.law)))
    whole = find(JOINER.join(sorted({own.name for own in laws.values()})))
    found: dict[str, Entry] = {}
    for axle, was in before.items():
        of, own = f"tire.{axle}" if axle else "tire", laws[axle]
        if axle in read:
            numbers = tire_entries(read[axle], own.name)
            for name in ("rim_stiffness", "rim_damping"):  # no file has them
                numbers[f"tire.{name}"] = entries.get(f"{was}.{name}", numbers[f"tire.{name}"])
        else:
            numbers = {f"tire.{n}": entries[f"{was}.{n}"] for n in own.entries if f"{was}.{n}" in entries}
        if whole.parts:
            numbers[f"tire.{WHICH}"] = which_law(whole, own)
        found |= {of + n.removeprefix("tire"): entry for n, entry in numbers.items()}
    return whole.name, found


class _Made:
    """Entries from one file, by name."""

    def __init__(self, tire: TireFile) -> None:
        """Without any."""
        self.tire, self.entries = tire, dict[str, Entry]()

    def put(self, name: str, value: float, unit: str, text: str, minimum: float = -math.inf, why: str = "",
            maximum: float = math.inf) -> None:  # fmt: skip
        """A number, whose source is the file or ``why``. Raises TireFileError where it is out of its bounds."""
        if not (math.isfinite(value) and minimum <= value <= maximum):
            raise self.tire.fault_of(name, f"{value:g}: expected {minimum:g} to {maximum:g} {unit}")
        self.entries[f"tire.{name}"] = Entry(value, unit, why or self.tire.path.name, text, minimum, maximum)

    def coefficient(self, name: str, value: float, unit: str, text: str) -> None:
        """A number with the bounds that files have for it. Raises TireFileError."""
        low, high = bounds(name, value)  # 0 stands for a stiffness that is left out
        self.put(name, value, unit, text, min(low, value), maximum=max(high, value))

    def choice(self, name: str, item: int, items: tuple[str, ...], text: str) -> None:
        """One of some names, by its number from 1 on."""
        self.entries[f"tire.{name}"] = Entry(float(item), "1", self.tire.path.name, text, 1.0, float(len(items)), items)


def _entries(tire: TireFile) -> dict[str, Entry]:
    made = _Made(tire)
    for part in (_body, _ranges, _modes, _inflation, _rolling, _formula, _sided):
        part(made)
    return made.entries


def _body(made: _Made) -> None:
    """Size and vertical law, and what no file says."""
    v, vertical = made.tire.values, vertical_of(made.tire)
    for name, (value, unit, text, minimum) in _OWN.items():
        made.put(name, value, unit, text, minimum, "assumption: as for the tires of the HMMWV")
    for name, key in (("unloaded_radius", "UNLOADED_RADIUS"), ("width", "WIDTH"), ("rim_radius", "RIM_RADIUS")):
        made.put(name, v[key], "m", "dimension of the tire", 0.001)
    made.put("vertical_stiffness", vertical.stiffness, "N/m", "vertical stiffness, at nominal load", 0.0)
    made.put("vertical_stiffness_quadratic", vertical.quadratic, "N/m2", "progressive vertical stiffness")
    for k, (deflection, stiffness) in enumerate(vertical.curve):
        text = f"point {k} of the curve of load over deflection"
        made.put(f"load_curve_deflection_{k}", deflection, "m", f"{text}: deflection", 0.0)
        made.put(f"load_curve_stiffness_{k}", stiffness, "N/m", f"{text}: stiffness from there on", 0.0)
    for name, value in (("Q_RE0", 1.0), ("Q_V1", 0.0), ("Q_V2", 0.0), ("PFZ1", 0.0)):
        made.coefficient(name, v.get(name, value), "1", f"coefficient {name} of radius and vertical stiffness")
    made.put("vertical_damping", v.get("VERTICAL_DAMPING", 0.0), "N.s/m", "vertical damping", 0.0)


def _nominal_load(tire: TireFile) -> float:
    """That of the formula [N]."""
    return tire.coefficient("LFZO") * tire.values["FNOMIN"]


def _ranges(made: _Made) -> None:
    """Of load, inclination and slips; the first two end where a factor would lose its sign."""
    tire, v, f0 = made.tire, made.tire.values, _nominal_load(made.tire)
    # FZMIN 0 would divide by zero
    ends = max(v.get("FZMIN", 0.0), 0.01 * v["FNOMIN"]), v.get("FZMAX", 3.0 * v["FNOMIN"])
    for name, end, least, text in (("min", ends[0], -0.5, "least"), ("max", ends[1], 0.5, "largest")):
        over, why = _kept(tire, "load", end / f0 - 1.0, least, lambda x: f"a load of {f0 * (1.0 + x):.4g} N")
        load = f0 * (1.0 + over) if why else end
        made.put(f"{name}_load", load, "N", f"{text} load of the formula", 0.001, f"assumption: {why}" if why else "")
    lean = min(abs(v.get("CAMMIN", -0.2618)), abs(v.get("CAMMAX", 0.2618)), _STEEPEST_LEAN) or 0.2618
    lean, why = _kept(tire, "inclination", lean, _UPRIGHT, lambda x: f"an inclination of {x:.3g} rad")
    made.put("max_inclination", lean, "rad", "largest inclination of the formula", 0.0,
             f"assumption: {why}" if why else "", _STEEPEST_LEAN)  # fmt: skip
    for which, text, sign in (("min", "least", -1.0), ("max", "largest", 1.0)):
        for name, key, size, unit in (("slip", "KPU", MOST_SLIP, "1"), ("slip_angle", "ALP", STEEPEST_ANGLE, "rad")):
            low, high = bounds(key + which.upper(), sign)
            made.put(f"{which}_{name}", v.get(key + which.upper(), sign * size), unit,
                     f"{text} {name.replace('_', ' ')} of the file's data", low, maximum=high)  # fmt: skip


def _modes(made: _Made) -> None:
    """What a user may switch."""
    made.choice("limits", 1, ("OFF", "ON"), "whether the formula's slips stay within the ranges of the file's data")
    made.choice("mirror", 1, ("FILE", "NEVER", "SYMMETRIC"), "whether the data are mirrored on the side that they are "
                "not of; SYMMETRIC: and have neither conicity, ply steer nor shifts")  # fmt: skip
    made.put("use_mode", float(use_mode(made.tire)), "1", "units 0 F_z alone, 1 F_x, 2 F_y, 3 both, 4 and above "
             "combined; tens 0 without relaxation; the nearest whole number counts", 0.0, maximum=25.0,
             why="" if "USE_MODE" in made.tire.values else "assumption: all forces with relaxation")  # fmt: skip


def _inflation(made: _Made) -> None:
    v = made.tire.values
    made.coefficient("FNOMIN", v["FNOMIN"], "N", "nominal load")
    nominal = v.get("NOMPRES", 0.0)
    made.put("NOMPRES", nominal, "Pa", "nominal pressure; 0: pressure has no effect", 0.0)
    pressure = v.get("INFLPRES") or nominal
    least = v.get("PRESMIN", min(0.5 * nominal, pressure))
    most = v.get("PRESMAX", max(1.5 * nominal, pressure) if nominal else ANY_PRESSURE)
    why = "" if "PRESMAX" in v or not nominal else "assumption: half to one and a half of the nominal pressure"
    (least, low), (most, high) = (_kept_pressure(made.tire, nominal, pressure, end) for end in (least, most))
    made.put("least_pressure", least, "Pa", "least pressure that the inputs count with", 0.0, low or why)
    said = high or made.tire.path.name
    made.entries["tire.pressure"] = Entry(pressure, "Pa", said, "inflation pressure", least, most)


def _rolling(made: _Made) -> None:
    v = made.tire.values
    made.coefficient("LONGVL", v.get("LONGVL", _LONGVL), "m/s", "speed of the measurement")
    given = any(name in v for name in ("DREFF", "BREFF", "FREFF"))
    for name, value in (("DREFF", 0.0), ("BREFF", 0.0), ("FREFF", 0.0 if given else 1.0 / 3.0)):
        made.coefficient(name, v.get(name, value), "1", "coefficient of the rolling radius")
    _check_rolling(made.tire, made.entries)
    _check_signs(made.tire)


def _formula_coefficients(tire: TireFile) -> tuple[str, ...]:
    return MF61_COEFFICIENTS if tire.law == MF61.name else PAC2002_COEFFICIENTS


def _formula(made: _Made) -> None:
    """The formula's coefficients, and what follows from them near standstill."""
    tire = made.tire
    for name in _formula_coefficients(tire):
        made.coefficient(name, tire.coefficient(name), _UNITS.get(name, "1"), f"coefficient {name} of the Magic "
                         "Formula")  # fmt: skip
    tread = min(_stiffness_at_rest(tire, _nominal_load(tire)), STIFFEST)
    at_rest = "assumption: slip stiffness over relaxation length at nominal load"
    made.put("tread_stiffness", tread, "N/m", "stiffness of the tread at rest, at every load", 0.0, at_rest)
    made.put("tread_damping", min(0.05 * tread, MOST_DAMPING), "N.s/m", "damping of the tread at rest", 0.0, at_rest)
    made.put("rolling_resistance", max(tire.coefficient("QSY1") * tire.coefficient("LMY"), 0.0), "1",
             "rolling resistance coefficient at rest", 0.0)  # fmt: skip


def _sided(made: _Made) -> None:
    """On which side the data stand, and how slips are combined."""
    tire = made.tire
    for side, value in zip(("left", "right"), _sides(tire), strict=True):
        text = f"from 0 on the file's sides are as they are on the {side}, below mirrored"
        made.put(f"side_{side}", value, "1", text, -1.0, maximum=1.0)
    weights = any(tire.values.get(n) for n in _formula_coefficients(tire) if n[0] == "R")
    ellipse = tire.texts.get("FE_METHOD", "").upper() == "YES" or not weights
    made.choice("combined_slip", 1 + ellipse, ("WEIGHTS", "ELLIPSE"),
                "how pure slips are combined: by weights of the formula, or by the friction ellipse")  # fmt: skip


def use_mode(tire: TireFile) -> int:
    """USE_MODE of a file without its sign and its contact with the road, 30 as 10; 14 where the file has none.

    That is all forces, combined, with relaxation.
    """
    mode = int(abs(tire.values.get("USE_MODE", 14.0))) % 100
    return mode - 20 if mode >= 30 else mode


def _check_rolling(tire: TireFile, made: Mapping[str, Entry]) -> None:
    """Raises TireFileError where the wheel would not roll on a radius of about its size."""
    n = {name: made[f"tire.{name}"].value for name in ("Q_RE0", "DREFF", "BREFF", "FREFF", "FNOMIN", "unloaded_radius",
                                                       "vertical_stiffness")}  # fmt: skip
    settled = n["FNOMIN"] / n["vertical_stiffness"]
    rolling = n["Q_RE0"] * n["unloaded_radius"] - settled * (n["DREFF"] * math.atan(n["BREFF"]) + n["FREFF"])
    low, high = (share * n["unloaded_radius"] for share in ROLLING)
    if not low <= rolling <= high:
        raise tire.fault_of("DREFF", f"with BREFF, FREFF and the vertical stiffness it gives a rolling radius of "
                                     f"{rolling:.4g} m at nominal load; expected {low:.4g} to {high:.4g} m")


def _kept(tire: TireFile, over: Range, end: float, least: float, text: Callable[[float], str]) -> tuple[float, str]:
    """(end, "") of a range from 0 on, or where in it a factor loses its sign, and why.

    Raises TireFileError where that is within ``least``.
    """
    found, why = end, ""
    for factor in find(tire.law).factors:
        if factor.over != over:
            continue
        places = [k / _STEPS * found for k in range(_STEPS + 1)]
        wrong = next((k for k, x in enumerate(places) if not factor.is_right(x, tire.coefficient)), None)
        if wrong is None:
            continue
        what, at = f"{factor.what} would be about 0 or of the wrong sign", places[wrong]
        key = factor.most_against(at, tire.coefficient)
        if abs(at) <= abs(least):
            raise tire.fault_of(key, f"{tire.coefficient(key):g}: {what} at {text(at)}")
        found = places[wrong - 1]
        why = f"line {tire.lines.get(key, tire.count)}: {key}: {what} beyond {text(found)}"
    return found, why


def _kept_pressure(tire: TireFile, nominal: float, pressure: float, end: float) -> tuple[float, str]:
    """(end, "") of the range of pressure, or where friction or a stiffness loses its sign before it, and why.

    Raises TireFileError where that is near the nominal one, or between it and that of the file.
    """
    if not nominal > 0.0:
        return end, ""
    ends = end / nominal - 1.0
    own = max(pressure / nominal - 1.0, 0.0) if ends > 0.0 else max(1.0 - pressure / nominal, 0.0)
    key = "PRESMAX" if ends > 0.0 else "PRESMIN"
    hint = "" if key in tire.values else f", in a range that is assumed; {key} says another one"
    over, why = _kept(tire, "pressure", ends, max(_NEAR_PRESSURE, own),
                      lambda x: f"{nominal * (1.0 + x):.4g} Pa{hint}")
    return (nominal * (1.0 + over), f"assumption: {why}") if why else (end, "")


def _check_signs(tire: TireFile) -> None:
    """Raises TireFileError for a rolling resistance that drives, and a lateral relaxation length below 0."""
    for factor in (f for f in find(tire.law).factors if f.over == "speed"):
        speed = next((v for v in (0.0, 1.0) if not factor.is_right(v, tire.coefficient)), None)
        if speed is not None:
            key = next(name for name in factor.keys if tire.coefficient(name) < 0.0)
            raise tire.fault_of(key, f"{tire.coefficient(key):g}: the {factor.what} would be below 0 at "
                                     f"{speed * tire.values.get('LONGVL', _LONGVL):g} m/s")  # fmt: skip
    if tire.law != MF61.name and tire.coefficient("PTY1") and not tire.coefficient("PTY2") > 0.0:
        raise tire.fault_of("PTY2", f"{tire.coefficient('PTY2'):g}: expected a number above 0, as PTY1 is")


def _stiffness_at_rest(tire: TireFile, f0: float) -> float:
    """Longitudinal stiffness of the standing tire [N/m]."""
    v = tire.values
    if v.get("LONGITUDINAL_STIFFNESS", 0.0) > 0.0:
        return v["LONGITUDINAL_STIFFNESS"]
    length = v.get("PTX1", 0.0) * v["UNLOADED_RADIUS"] * tire.coefficient("LSGKP")
    return f0 * v["PKX1"] * tire.coefficient("LKX") / (length if length > 0.05 else 0.5 * v["UNLOADED_RADIUS"])


def _sides(tire: TireFile) -> tuple[float, float]:
    """Signs of the left and the right wheels: data of a left tire are mirrored on the right, and the reverse.

    A USE_MODE below 0 mirrors them once more (MSC Software, "Adams/Tire", PAC2002, USE_MODE).
    """
    left = -1.0 if tire.texts.get("TYRESIDE", "").upper() == "RIGHT" else 1.0
    left *= math.copysign(1.0, tire.values.get("USE_MODE", 0.0))
    return left, -left
