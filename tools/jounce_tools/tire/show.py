"""Tire files in words and numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from jounce.contact.tires.coefficients import MF61, PAC2002
from jounce.contact.tires.from_tir import use_mode
from jounce.contact.tires.magic_formula import SHORTEST
from jounce_tools.tire.curves import Tire

Array = NDArray[np.float64]
#: Units of USE_MODE.
_MODES = ("vertical force alone", "longitudinal force and rolling resistance", "lateral force and its moments",
          "all forces, not combined", "all forces, combined", "turn slip, taken as all forces, combined")  # fmt: skip
_FAMILIES = {"pac2002": "PAC2002", "mf61": "MF 6.1/6.2"}
_RANGES = (("FZMIN", "FZMAX", "load", "N"), ("KPUMIN", "KPUMAX", "slip", ""), ("ALPMIN", "ALPMAX", "slip angle", "rad"),
           ("CAMMIN", "CAMMAX", "inclination", "rad"), ("PRESMIN", "PRESMAX", "pressure", "Pa"))  # fmt: skip


def coefficients(tire: Tire) -> tuple[str, ...]:
    """Names of the coefficients that its formula reads."""
    return MF61 if tire.file.law == "mf61" else PAC2002


def text(tire: Tire) -> str:
    """What the file holds, what it leaves out, and its main numbers at nominal load."""
    return "".join(f"{name:<22}{value}\n" for name, value in _lines(tire))


def _lines(tire: Tire) -> Iterator[tuple[str, str]]:
    file, v = tire.file, tire.file.values
    kind = f"FITTYP {v['FITTYP']:g}" if "FITTYP" in v else file.texts.get("PROPERTY_FILE_FORMAT", "")
    yield "formula", f"{_FAMILIES[file.law]} ({kind}), tire law {tire.law.name}"
    yield "units", ", ".join(file.texts[u] for u in ("LENGTH", "FORCE", "ANGLE", "MASS", "TIME", "PRESSURE")
                             if u in file.texts)  # fmt: skip
    yield "use mode", _mode(tire)
    yield "side", _side(tire)
    yield "size", (f"radius {tire['unloaded_radius']:.4g} m, width {tire['width']:.4g} m, rim radius "
                   f"{tire['rim_radius']:.4g} m")  # fmt: skip
    yield "nominal load", f"{tire['FNOMIN']:g} N, times LFZO {file.coefficient('LFZO'):g} in the formula"
    yield "pressure", _pressure(tire)
    ranges = [f"{text} {v.get(low, float('nan')):g} to {v.get(high, float('nan')):g} {unit}".strip()
              for low, high, text, unit in _RANGES if low in v or high in v]  # fmt: skip
    yield "ranges", ", ".join(ranges).replace("nan", "?") or "none"
    yield "vertical", _vertical(tire)
    yield "combined slip", _combined(tire)
    yield from _main_numbers(tire)
    left_out = [n for n in coefficients(tire) if n not in v]
    yield "left out", f"{len(left_out)} of {len(coefficients(tire))} coefficients{_list(left_out)}"
    yield "not used", f"{len(file.unused)} keys{_list(list(file.unused))}"
    assumed = sorted(n.removeprefix("tire.") for n, e in tire.entries.items() if e.source.startswith("assumption"))
    yield "assumed", ", ".join(assumed)
    yield from (("warning", said.removeprefix("assumption: ")) for said in dict.fromkeys(
        e.source for e in tire.entries.values() if e.source.startswith("assumption: line ")))
    yield from (("warning", note) for note in (*file.notes, *_warnings(tire)))


def _list(names: list[str], most: int = 12) -> str:
    return (": " + " ".join(names[:most]) + (" ..." if len(names) > most else "")) if names else ""


def _pressure(tire: Tire) -> str:
    if not tire["NOMPRES"]:
        return "no nominal pressure in the file: it has no effect"
    entry = tire.entries["tire.pressure"]
    return f"{entry.value:g} Pa, nominal {tire['NOMPRES']:g} Pa, {entry.minimum:g} to {entry.maximum:g} Pa can be set"


def _vertical(tire: Tire) -> str:
    nominal, file = tire["FNOMIN"], tire.file
    if not tire.carries:
        return "none in the file"
    law = (f"[DEFLECTION_LOAD_CURVE] of {len(file.curve)} points" if len(file.curve) > 1 else
           "Q_FZ1, Q_FZ2" if file.values.get("Q_FZ1") or file.values.get("Q_FZ2") else
           "VERTICAL_STIFFNESS times LCZ")  # fmt: skip
    added = f" and [BOTTOMING_CURVE] of {len(file.bottoming)}" if len(file.bottoming) > 1 else ""
    deflection = tire.deflection(nominal)
    slope = (tire.load(deflection + 1e-5) - tire.load(deflection - 1e-5)) / 2e-5
    return f"{law}{added}: {1e3 * deflection:.4g} mm at nominal load, {slope:.5g} N/m there"


def _combined(tire: Tire) -> str:
    if tire.file.law == "mf61" or tire["combined_slip"] == 1.0:
        return "by the weights of the formula"
    return "by the friction ellipse"


def _mode(tire: Tire) -> str:
    mode = use_mode(tire.file)
    said = "" if "USE_MODE" in tire.file.values else "not said, taken as "
    if (own := abs(tire.file.values.get("USE_MODE", mode))) != mode:
        said = f"{own:g}: contact with the road and rigid ring are not used, taken as "
    relaxes = "with relaxation" if mode >= 10 else f"without relaxation: lengths of {SHORTEST:g} m, which hold at rest"
    return f"{said}{mode}: {_MODES[mode % 10]}, {relaxes}"


def _side(tire: Tire) -> str:
    said = tire.file.texts.get("TYRESIDE", "").upper()
    left = "left; mirrored on the right" if tire["side_left"] > 0.0 else "right; mirrored on the left"
    if tire.file.values.get("USE_MODE", 0.0) < 0.0:
        return f"{said.lower() or 'not said'}, and the other one as USE_MODE is below 0: {left}"
    return left if said in ("LEFT", "RIGHT") else f"{said.lower() or 'not said'}: taken as {left}"


def _main_numbers(tire: Tire) -> Iterator[tuple[str, str]]:
    at, peaks = tire.at(), tire.peaks(tire["FNOMIN"])
    yield "at nominal load", (f"peak Fx {peaks['fx'][0]:.4g} Fz at slip {peaks['fx'][1]:.3g}, peak Fy "
                              f"{peaks['fy'][0]:.4g} Fz at {peaks['fy'][1]:.3g} rad")  # fmt: skip
    yield "", (f"slip stiffness {float(at['stiffness_x']):.5g} N, cornering stiffness "
               f"{-float(at['stiffness_y']):.5g} N/rad")  # fmt: skip
    lengths = [float(at[f"length_{axis}"]) for axis in "xy"]
    used = ("not used in this mode" if use_mode(tire.file) < 10 else f"at least {SHORTEST:g} m is used")
    yield "", (f"relaxation lengths {lengths[0]:.3g} and {lengths[1]:.3g} m"
               f"{f' ({used})' if use_mode(tire.file) < 10 or min(lengths) < SHORTEST else ''}")  # fmt: skip
    yield "", f"at zero slip Fx {float(at['fx']):.4g} N, Fy {float(at['fy']):.4g} N, Mz {float(at['aligning']):.4g} N.m"


def _warnings(tire: Tire) -> Iterator[str]:
    if not tire.carries:
        yield "no vertical stiffness, QFZ1 or [DEFLECTION_LOAD_CURVE]: vehicles refuse the file"
    if tire.file.values.get("PDY1", 1.0) < 0.0:
        yield "PDY1 is negative: its absolute value is taken"
    if "PRESSURE" not in tire.file.texts and tire["NOMPRES"]:
        yield "[UNITS] has no PRESSURE: taken as Pa"
    if not any(tire.file.values.get(n) for n in ("QSY1", "QSY2", "QSY3")):
        yield "no rolling resistance in the file"


def differences(one: Tire, other: Tire, loads: Array) -> str:
    """Where two tires differ: main numbers beside each other, and the largest difference of pure forces."""
    names = [tire.file.path.name for tire in (one, other)]
    width = max(24, *(len(n) + 2 for n in names))
    lines = [f"{'':<34}{names[0]:>{width}}{names[1]:>{width}}"]
    lines += [f"{label:<34}{a:>{width}}{b:>{width}}" for (label, a), (_, b) in
              zip(_row(one, loads), _row(other, loads), strict=True)]  # fmt: skip
    for force, slip, high in (("fx", "slip", 1.0), ("fy", "slip_angle", 0.35)):
        at = np.linspace(-high, high, 401)
        for load in loads:
            gap = np.abs(one.at(load=load, **{slip: at})[force] - other.at(load=load, **{slip: at})[force])
            most, where = float(gap.max()), float(at[int(gap.argmax())])
            lines.append(f"largest difference of {force.capitalize()} at {load:g} N: {most:.5g} N "
                         f"({100.0 * most / load:.3g} % of the load) at {slip.replace('_', ' ')} {where:.3g}")
    if one.file.law == other.file.law:
        odd = [n for n in coefficients(one) if one.file.coefficient(n) != other.file.coefficient(n)]
        lines.append(f"{len(odd)} of {len(coefficients(one))} coefficients differ{_list(odd)}")
    else:
        lines.append(f"of two formulas: {_FAMILIES[one.file.law]} and {_FAMILIES[other.file.law]}")
    return "\n".join(lines) + "\n"


def _row(tire: Tire, loads: Array) -> Iterator[tuple[str, str]]:
    yield "formula", _FAMILIES[tire.file.law]
    yield "radius [m]", f"{tire['unloaded_radius']:.5g}"
    yield "nominal load [N]", f"{tire['FNOMIN']:g}"
    for load in loads:
        at, peaks = tire.at(load=load), tire.peaks(float(load))
        of = f"at {load:g} N"
        yield f"deflection {of} [mm]", f"{1e3 * tire.deflection(float(load)):.4g}" if tire.carries else "?"
        yield f"peak Fx / Fz {of}", f"{peaks['fx'][0]:.4g}"
        yield f"peak Fy / Fz {of}", f"{peaks['fy'][0]:.4g}"
        yield f"slip stiffness {of} [N]", f"{float(at['stiffness_x']):.5g}"
        yield f"cornering stiffness {of} [N/rad]", f"{-float(at['stiffness_y']):.5g}"
