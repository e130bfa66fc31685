"""Entries of a vehicle's data from a tire file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from jounce.contact.tires import MF61, find
from jounce.contact.tires.coefficients import MF61 as MF61_COEFFICIENTS
from jounce.contact.tires.coefficients import PAC2002 as PAC2002_COEFFICIENTS
from jounce.contact.tires.tir import TireFile, TireFileError, read_tir

__all__ = ["Number", "tire_entries"]

#: Parameters that a file says nothing of: (value, unit, description, minimum).
_OWN: Final[Mapping[str, tuple[float, str, str, float]]] = {
    "rim_stiffness": (2e7, "N/m", "stiffness once the tire is pressed down to the rim", 0.0),
    "rim_damping": (6e4, "N.s/m", "damping once the tire is pressed down to the rim", 0.0),
    "reference_friction": (1.0, "1", "friction coefficient of the ground that the file is for", 0.001),
    "blend_begin": (1.0, "m/s", "speed up to which the bristles carry the forces", 0.0),
    "blend_end": (3.0, "m/s", "speed from which the formula carries them", 0.0),
    "rolling_deflection": (0.005, "m", "distance the wheel rolls until its rolling resistance is all there", 1e-4),
    "bore_deflection": (0.1, "rad", "turn on the spot at which the bore torque is all there", 0.001),
}
_UNITS: Final = {"LONGITUDINAL_STIFFNESS": "N/m", "LATERAL_STIFFNESS": "N/m"}
STIFFEST, MOST_DAMPING = 5e5, 5e3
"""Of the tread at rest [N/m], [N.s/m]: what a step of 1 ms holds with the spin of a light wheel."""


class Number(NamedTuple):
    """One entry of a vehicle's data, as `jounce.data.Entry` has it."""

    value: float
    unit: str
    source: str
    description: str
    minimum: float = -math.inf
    maximum: float = math.inf
    items: tuple[str, ...] = ()


def tire_entries(path: Path) -> tuple[dict[str, Number], str]:
    """Entries `tire.*` of a vehicle from a tire file, in the order of the law, and the law's name.

    What a file says nothing of has a value that its source calls an assumption. Raises TireFileError.
    """
    tire = read_tir(path)
    try:
        made = _entries(tire)
    except TireFileError as error:
        raise TireFileError(f"{path.name}: {error}") from error
    return {f"tire.{n}": made[f"tire.{n}"] for n in find(tire.law).entries}, tire.law


def _entries(tire: TireFile) -> dict[str, Number]:
    source, v = tire.path.name, tire.values
    made: dict[str, Number] = {}

    def put(name: str, value: float, unit: str, text: str, minimum: float = -math.inf, why: str = source) -> None:
        if not (math.isfinite(value) and value >= minimum):
            raise TireFileError(f"{name} = {value:g}: expected at least {minimum:g} {unit}")
        made[f"tire.{name}"] = Number(value, unit, why, text, minimum)

    for name, (value, unit, text, minimum) in _OWN.items():
        put(name, value, unit, text, minimum, "assumption: as for the tires of the HMMWV")
    for name, key in (("unloaded_radius", "UNLOADED_RADIUS"), ("width", "WIDTH"), ("rim_radius", "RIM_RADIUS")):
        put(name, v[key], "m", "dimension of the tire", 0.001)
    f0 = tire.coefficient("LFZO") * v["FNOMIN"]
    stiffness, quadratic = _vertical(tire)
    put("vertical_stiffness", stiffness, "N/m", "vertical stiffness", 0.0)
    put("vertical_stiffness_quadratic", quadratic, "N/m2", "progressive vertical stiffness")
    put("vertical_damping", v.get("VERTICAL_DAMPING", 0.0), "N.s/m", "vertical damping", 0.0)
    # FZMIN 0 would divide by zero
    put("min_load", max(v.get("FZMIN", 0.0), 0.01 * v["FNOMIN"]), "N", "least load of the formula", 0.001)
    put("max_load", v.get("FZMAX", 3.0 * v["FNOMIN"]), "N", "largest load of the formula", 0.001)
    lean = min(abs(v.get("CAMMIN", -0.2618)), abs(v.get("CAMMAX", 0.2618))) or 0.2618
    put("max_inclination", lean, "rad", "largest inclination of the formula", 0.0)
    put("FNOMIN", v["FNOMIN"], "N", "nominal load", 0.001)
    put("NOMPRES", v.get("NOMPRES", 0.0), "Pa", "nominal pressure; 0: pressure has no effect", 0.0)
    put("pressure", v.get("INFLPRES", v.get("NOMPRES", 0.0)), "Pa", "inflation pressure", 0.0)
    put("LONGVL", v.get("LONGVL", 16.7), "m/s", "speed of the measurement", 0.001)
    given = any(name in v for name in ("DREFF", "BREFF", "FREFF"))
    for name, value in (("DREFF", 0.0), ("BREFF", 0.0), ("FREFF", 0.0 if given else 1.0 / 3.0)):
        put(name, v.get(name, value), "1", "coefficient of the rolling radius")
    names = MF61_COEFFICIENTS if tire.law == MF61.name else PAC2002_COEFFICIENTS
    for name in names:
        put(name, tire.coefficient(name), _UNITS.get(name, "1"), f"coefficient {name} of the Magic Formula")
    tread = min(_stiffness_at_rest(tire, f0), STIFFEST)
    at_rest = "assumption: slip stiffness over relaxation length at nominal load"
    put("tread_stiffness", tread, "N/m", "stiffness of the tread at rest, at every load", 0.0, at_rest)
    put("tread_damping", min(0.05 * tread, MOST_DAMPING), "N.s/m", "damping of the tread at rest", 0.0, at_rest)
    put("rolling_resistance", max(tire.coefficient("QSY1") * tire.coefficient("LMY"), 0.0), "1",
        "rolling resistance coefficient at rest", 0.0)  # fmt: skip
    left, right = _sides(tire)
    for side, value in (("left", left), ("right", right)):
        put(f"side_{side}", value, "1", f"1: the file's sides as they are on the {side}; -1: mirrored", -1.0)
    ellipse = tire.texts.get("FE_METHOD", "").upper() == "YES" or not any(v.get(n) for n in ("RBX1", "RBY1", "RCX1"))
    combined = "how pure slips are combined: by weights of the formula, or by the friction ellipse"
    value = 2.0 if ellipse else 1.0
    made["tire.combined_slip"] = Number(value, "1", source, combined, 1.0, 2.0, ("WEIGHTS", "ELLIPSE"))
    return made


def _vertical(tire: TireFile) -> tuple[float, float]:
    """(linear [N/m], quadratic [N/m2]) stiffness: of the curve by least squares, else of QFZ, else of the spring."""
    v = tire.values
    if len(tire.curve) > 2:
        d, f = np.array(tire.curve).T
        fit = np.linalg.lstsq(np.stack([d, d * d], axis=1), f, rcond=None)[0]
        return float(fit[0]), float(fit[1])
    first = v.get("Q_FZ1", v.get("QFZ1", 0.0))
    if first > 0.0:
        second = v.get("Q_FZ2", v.get("QFZ2", 0.0))
        return first * v["FNOMIN"] / v["UNLOADED_RADIUS"], second * v["FNOMIN"] / v["UNLOADED_RADIUS"] ** 2
    if v.get("VERTICAL_STIFFNESS", 0.0) > 0.0:
        return v["VERTICAL_STIFFNESS"] * v.get("LCZ", 1.0), 0.0
    raise TireFileError("VERTICAL_STIFFNESS is missing; expected it above 0, or QFZ1, or [DEFLECTION_LOAD_CURVE]")


def _stiffness_at_rest(tire: TireFile, f0: float) -> float:
    """Longitudinal stiffness of the standing tire [N/m]."""
    v = tire.values
    if v.get("LONGITUDINAL_STIFFNESS", 0.0) > 0.0:
        return v["LONGITUDINAL_STIFFNESS"]
    length = v.get("PTX1", 0.0) * v["UNLOADED_RADIUS"] * tire.coefficient("LSGKP")
    return f0 * v["PKX1"] * tire.coefficient("LKX") / (length if length > 0.05 else 0.5 * v["UNLOADED_RADIUS"])


def _sides(tire: TireFile) -> tuple[float, float]:
    """Signs of the left and the right wheels: data of a left tire are mirrored on the right, and the reverse."""
    return (-1.0, 1.0) if tire.texts.get("TYRESIDE", "").upper() == "RIGHT" else (1.0, -1.0)
