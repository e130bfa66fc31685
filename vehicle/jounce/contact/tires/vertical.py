"""Load of a tire over its deflection: from a file's data, and from the parameters that these become."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from jounce.contact.tires.coefficients import POINTS, SOFTEST
from jounce.contact.tires.tir import TireFile

__all__ = ["Vertical", "load_at", "vertical_of"]


class Vertical(NamedTuple):
    """The radial spring."""

    stiffness: float
    """Load over deflection at nominal load where there is a curve, else the linear part [N/m]."""
    quadratic: float
    """[N/m2]."""
    curve: tuple[tuple[float, float], ...]
    """`POINTS` points: deflection [m], stiffness from there on [N/m]."""


def vertical_of(tire: TireFile) -> Vertical:
    """The load curve if the file has one, else QFZ of MF 6, else the spring; the bottoming curve added.

    QFZ1 of files that have a stiffness and QFZ2 alone follows from both (MF-Tyre/MF-Swift 6.2).
    """
    v = tire.values
    radius, nominal, spring = v["UNLOADED_RADIUS"], v["FNOMIN"], v.get("VERTICAL_STIFFNESS", 0.0) * v.get("LCZ", 1.0)
    first, second = v.get("Q_FZ1", 0.0), v.get("Q_FZ2", 0.0)
    if not first > 0.0 and second and spring > 0.0:
        first = math.sqrt(max((spring * radius / nominal) ** 2 - 4.0 * second, 0.0))
    linear, quadratic = (first * nominal / radius, second * nominal / radius**2) if first > 0.0 else (spring, 0.0)
    base = _from_zero(tire.curve) if len(tire.curve) > 1 else [(0.0, 0.0), (radius, linear * radius)]
    if len(tire.curve) > 1:
        quadratic = 0.0
    elif not linear > 0.0:
        raise tire.fault_of("VERTICAL_STIFFNESS", "expected a number above 0, or QFZ1, or [DEFLECTION_LOAD_CURVE]")
    curve = _slopes(tire, base, _from_zero(tire.bottoming) if len(tire.bottoming) > 1 else [])
    if len(tire.curve) > 1:
        linear = nominal / _deflection_at(tire, nominal, curve)
    return Vertical(linear, quadratic, curve)


def _from_zero(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """A curve that begins without load at zero deflection."""
    return [*([(0.0, 0.0)] if points[0][0] > 0.0 else []), *points]


def _slopes(tire: TireFile, *curves: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """The sum of curves as `POINTS` deflections and the stiffness from each on; the last one counts for ever."""
    at = sorted({d for curve in curves for d, _ in curve})
    sums = [sum(_on(curve, d) for curve in curves if curve) for d in at]
    slopes = [(f1 - f0) / (d1 - d0) for (d0, d1), (f0, f1) in zip(pairwise(at), pairwise(sums), strict=True)]
    if len(at) > POINTS + 1:
        raise tire.fault_of("BOTTOMING_CURVE", f"it has {len(at)} points together with [DEFLECTION_LOAD_CURVE]; "
                                               f"expected at most {POINTS + 1}")  # fmt: skip
    points = [*zip(at, slopes, strict=False)]
    far = [(at[-1] + k * max(at[-1], 0.1), slopes[-1]) for k in range(POINTS)]
    return tuple((*points, *far)[:POINTS])


def _on(curve: Sequence[tuple[float, float]], deflection: float) -> float:
    """Load of a curve, which goes on along its last part."""
    for (d0, f0), (d1, f1) in pairwise(curve):
        if deflection <= d1 or (d1, f1) == curve[-1]:
            return f0 + (f1 - f0) / (d1 - d0) * (deflection - d0)
    return 0.0


def _deflection_at(tire: TireFile, load: float, curve: Sequence[tuple[float, float]]) -> float:
    """Deflection of a curve of stiffnesses under a load."""
    under = 0.0
    for (d, stiffness), (end, _) in pairwise((*curve, (math.inf, 0.0))):
        if under + stiffness * (end - d) >= load:
            return d + (load - under) / stiffness
        under += stiffness * (end - d)
    raise tire.fault_of("DEFLECTION_LOAD_CURVE", f"it does not reach the nominal load {load:g} N")


def load_at(number: Callable[[str], float | None], deflection: float) -> float:
    """Load [N] of a tire that does not turn, at a deflection [m], from its parameters; ``number`` is None without one.

    As `jounce.contact.tires.patch` and `magic_formula` have it, without damping and rim.
    """

    def value(name: str, otherwise: float = 0.0) -> float:
        found = number(name)
        return otherwise if found is None else found

    deep, nominal = max(deflection, 0.0), value("NOMPRES")
    load, before = value("vertical_stiffness_quadratic") * deep * deep, 0.0
    if number("load_curve_stiffness_0") is None:
        load += value("vertical_stiffness") * deep
    else:
        for k in range(POINTS):
            stiffness = value(f"load_curve_stiffness_{k}")
            load += (stiffness - before) * max(deep - value(f"load_curve_deflection_{k}"), 0.0)
            before = stiffness
    change = (value("pressure") - nominal) / nominal if nominal > 0.0 else 0.0
    return load * max(1.0 + value("PFZ1") * change, SOFTEST)
