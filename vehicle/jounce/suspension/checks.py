"""What can be said of an axle before it is driven: its motions, its loops, how far it may travel, its masses.

A fault is one line that names the axle, the body, joint or entry, and what is expected; a warning is the same for what
is allowed and odd.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.axles import Axle as AxleData
from jounce.data import DataError, Vehicle
from jounce.dynamics import chebyshev, mobility
from jounce.dynamics.embedding import Embedding
from jounce.steering.pitman import INNER
from jounce.suspension import embedded
from jounce.suspension.characteristics import Position
from jounce.suspension.kinds import KINDS, ends_of
from jounce.suspension.kinematics import Axle, kinematics_of
from jounce.suspension.mechanisms.entries import MOMENTS
from jounce.suspension.mechanisms.templates import TEMPLATES

Array = NDArray[np.float64]
#: Random positions at which the closure after two steps is measured.
POSITIONS: Final = 1000
#: Gyration radius of a body below which its moments of inertia are probably wrong [m].
GYRATION: Final = 0.01
#: Largest error of a loop after two steps [m]; beyond it the model reports that it left its range.
CLOSED: Final = 1e-9
#: Least distance of joints that must lie apart [m], as in the model (double_wishbone.c).
CLOSEST: Final = 1e-3


@dataclass
class AxleReport:
    """What was found of one axle."""

    name: str
    kind: str
    coordinates: tuple[str, ...] = ()
    """All of one side, or of the whole axle."""
    independent: tuple[str, ...] = ()
    rows: int = 0
    """Scalar constraints of the loops."""
    motions: int = 0
    """Coordinates less independent rows."""
    aggregates: tuple[tuple[str, ...], ...] = ()
    """Bodies of each aggregate of one side, or of the whole axle."""
    sides: int = 2
    """How often those are there: on each side, or once."""
    margins: dict[str, float] = field(default_factory=dict)
    """Choice of independent coordinates -> smallest singular value of the others' rows over the box; 0: singular."""
    box: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Independent coordinate -> range in which the loops close surely [rad or m]."""
    ends: dict[str, tuple[str, str]] = field(default_factory=dict)
    """The same -> what ends the range below and above."""
    travel: tuple[float, float] = (0.0, 0.0)
    """Of the left wheel centre over the box, in parallel travel [m]."""
    degrees: tuple[int, ...] = ()
    """Of the polynomials of the first guess, for each coordinate and the steering."""
    guess_error: float = 0.0
    closure: float = 0.0
    """Largest error of a loop, closed as in the model, at random positions of the box [m]."""
    asymmetry: float = 0.0
    """Largest difference between the left wheel centre and the right one's mirror image over the travel [m]."""
    faults: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def check_axle(vehicle: Vehicle, own: AxleData) -> AxleReport:
    """Everything about one axle; faults are in the report, not raised."""
    report = AxleReport(own.name, own.kind)
    report.faults += masses(vehicle, own.name, report.warnings)
    report.faults += coincident(vehicle, own)
    try:
        axle = kinematics_of(vehicle, own)
        mechanism = axle.linkages[0].mechanism
        report.independent, report.sides = mechanism.independent, len(axle.linkages)
        report.coordinates = axle.linkages[0].names
        report.aggregates = tuple(a.bodies for a in mechanism.tree().aggregates)
        report.rows = len(axle.linkages[0].row_names)
        _wheels(own, axle, report)
        embedding = Embedding(mechanism)
        numbers = ca.evalf(mechanism.numbers())
        report.motions = mobility.require(embedding, numbers).motions
        if not report.faults:
            _range(vehicle, own, axle, embedding, report)
    except DataError as error:
        report.faults.append(str(error).removeprefix(f"{vehicle.name}: "))
    except (ArithmeticError, ValueError) as error:
        report.faults.append(f"axle {own.name}: {str(error).removeprefix(f'{own.name}: ')}")
    return report


def _wheels(own: AxleData, axle: Axle, report: AxleReport) -> None:
    mechanism, template = axle.linkages[0].mechanism, TEMPLATES[own.kind]
    wheels, coordinates = len(mechanism.wheels), len(mechanism.independent)
    if wheels not in (1, 2):
        report.faults.append(f"axle {own.name}: {wheels} wheels: expected one of a corner, or two of a whole axle")
    elif coordinates != wheels:
        report.faults.append(f"axle {own.name}: {coordinates} independent coordinates of {wheels} wheels: expected "
                             "one for each")  # fmt: skip
    elif template.coordinates not in (0, coordinates):
        report.faults.append(f"axle {own.name}: {coordinates} independent coordinates: expected {template.coordinates}")
    there = {(f.kind, f.wheel) for f in mechanism.forces}
    for kind, wheel in itertools.product(("spring", "shock"), range(wheels)):
        if (kind, wheel) not in there:
            report.faults.append(f"axle {own.name}: wheel {wheel + 1} has no {kind}")


def _range(vehicle: Vehicle, own: AxleData, axle: Axle, embedding: Embedding, report: AxleReport) -> None:
    """How far the coordinates go, and how well the loops close there."""
    linkage, n = axle.linkages[0], len(report.independent)
    steered = linkage.end is not None and own.steered != "none"
    most = vehicle["steering.max_arm_angle"] if steered else 0.0
    wheels = len(linkage.mechanism.wheels)

    def inner(steer: float) -> Array:
        told = np.zeros(INNER.size * wheels)
        if linkage.end is not None:
            told[:3], told[3:6] = linkage.end.at(steer)
        return told

    if linkage.dependent and (beyond := list(_ends(vehicle, own.name, axle.position((0.0, 0.0))))):
        report.faults += beyond
        return
    numbers = ca.evalf(linkage.mechanism.numbers())
    found = embedded.problem(embedding, numbers, inner, (-most, most) if steered else None)
    if linkage.dependent:
        guess = chebyshev.fit(found)
        box = guess.box
        report.degrees, report.guess_error = guess.degrees, guess.error
        report.closure = _closure(found, guess)
        if not report.closure < CLOSED:
            report.faults.append(f"axle {own.name}: a loop is open by {report.closure:.1e} m within its range: "
                                 f"expected less than {CLOSED:.0e} m")  # fmt: skip
    else:
        box = chebyshev.find_box(found)
    for k, name in enumerate(report.independent):
        low, high = float(box.low[k]), float(box.high[k])
        report.box[name], report.ends[name] = (low, high), box.ends[k]
        if min(-low, high) <= 0.0:
            report.faults.append(f"axle {own.name}: {name}: the loops close from {low:.3g} to {high:.3g} alone: "
                                 "expected a range on both sides of the design position")  # fmt: skip
    if report.faults:
        return
    _over_the_box(axle, embedding, report, box, (0.0, *(found.steering or ())))
    chosen = ", ".join(report.independent)
    if linkage.dependent and report.margins[chosen] == 0.0:
        report.faults.append(f"axle {own.name}: {chosen} leaves the other coordinates undecided within its range")
    ends = [axle.position((v, v) if n == 1 else (v, 0.0)) for v in (box.low[0], 0.0, box.high[0])]
    heights = [p.wheels[0].centre[2] for p in ends]
    report.travel = (float(heights[0] - heights[1]), float(heights[2] - heights[1]))
    for position, travel, end in zip(ends[::2], report.travel, box.ends[0], strict=True):
        if end != "limit" and not _stopped(vehicle, own.name, position):
            report.faults.append(f"axle {own.name}: its loops close to {1e3 * travel:+.0f} mm of travel, before a stop "
                                 "or the shock's end is reached: expected stops within the linkage's "
                                 "range")  # fmt: skip


def _ends(vehicle: Vehicle, axle: str, design: Position) -> Iterator[str]:
    """Faults of springs and shocks that are beyond their ends in the design position."""
    for part, low, high in (("spring", "min_length", "max_length"), ("shock", "closed_length", "extended_length")):
        length = float(design.lengths[part][0])
        for end, beyond, word in ((low, length <= vehicle[f"{axle}.{part}.{low}"], "below"),
                                  (high, length >= vehicle[f"{axle}.{part}.{high}"], "above")):  # fmt: skip
            if beyond:
                name = f"{axle}.{part}.{end}"
                yield (f"{name} = {vehicle[name]:g} m: expected {word} the length of the {part} in the design "
                       f"position, {length:.4g} m")  # fmt: skip


def coincident(vehicle: Vehicle, own: AxleData) -> Iterator[str]:
    """Faults of joints that must lie apart and do not, by the model's own list."""
    start = f"{own.name}."
    points = [n.removeprefix(start) for n in vehicle.entries if n.startswith(start)]
    kind = KINDS.get(own.kind)
    for a, b, what in (*(kind.apart if kind else ()), *ends_of(points)):
        if f"{a}.x" in points and f"{b}.x" in points:
            gap = float(np.linalg.norm(vehicle.vector(start + a) - vehicle.vector(start + b)))
            if gap < CLOSEST:
                yield (f"axle {own.name}: {start}{a} and {start}{b}, {what}, lie {1e3 * gap:.3g} mm apart: expected "
                       f"at least {1e3 * CLOSEST:g} mm")  # fmt: skip


def _stopped(vehicle: Vehicle, axle: str, position: Position) -> bool:
    """Whether a stop of the spring or an end of the shock acts there."""
    spring, shock = (float(position.lengths[name][0]) for name in ("spring", "shock"))
    return not (vehicle[f"{axle}.spring.min_length"] < spring < vehicle[f"{axle}.spring.max_length"]
                and vehicle[f"{axle}.shock.closed_length"] < shock < vehicle[f"{axle}.shock.extended_length"])


def _closure(found: chebyshev.Problem, guess: chebyshev.Guess) -> float:
    """Largest error of a loop at random positions of the box [m]: by the closed form, or guess and two Newton steps."""
    low, high = guess.box.low[:, None], guess.box.high[:, None]
    x = np.random.default_rng(1).uniform(low, high, size=(len(low), POSITIONS))
    u = found.closed(x) if found.closed else guess.at(x)
    for _ in range(0 if found.closed else 2):
        u = found.close(u, x)
    return float(found.probe(u, x).closure.max())


def _over_the_box(axle: Axle, embedding: Embedding, report: AxleReport, box: chebyshev.Box,
                  steers: tuple[float, ...]) -> None:  # fmt: skip
    """Margins of every choice of coordinates, and the difference of the two sides."""
    linkage, n = axle.linkages[0], len(report.independent)
    # in the corners of two coordinates' boxes springs are past their ends
    share = 1.0 if n == 1 else 0.7
    grid = itertools.product(*(np.linspace(share * box.low[k], share * box.high[k], 7) for k in range(n)))
    qs, told = [], []
    for theta, steer in itertools.product(grid, steers):
        qs.append(linkage.solve(theta, steer).q)
        end = np.concatenate(linkage.end.at(steer)) if linkage.end else np.zeros(0)
        told.append(np.concatenate([end, np.zeros(INNER.size - 6)]) if linkage.end else end)
        if steer == 0.0 and (n == 1 or theta[1] == 0.0):
            left, right = axle.position((theta[0], theta[0] if n == 1 else 0.0)).wheels
            gap = float(np.abs(left.centre - right.centre * [1.0, -1.0, 1.0]).max())
            report.asymmetry = max(report.asymmetry, gap)
    if linkage.dependent:
        numbers = ca.evalf(linkage.mechanism.numbers())
        margins = mobility.margins(embedding, numbers, np.array(qs).T, np.array(told).T.reshape(-1, len(qs)))
        report.margins = {", ".join(choice): value for choice, value in margins.items()}


def masses(vehicle: Vehicle, axle: str, warnings: list[str]) -> Iterator[str]:
    """Faults of moments of inertia that no body has; odd ones are added to ``warnings``."""
    for entry in [e for e in vehicle.entries if e.startswith(f"{axle}.") and e.endswith(".inertia.xx")]:
        body = entry.removesuffix(".inertia.xx")
        names = [f"{body}.inertia.{a}" for a in MOMENTS]
        if not all(n in vehicle.entries for n in names):
            continue
        moments = np.array([vehicle[n] for n in names])
        mass = vehicle.entries[f"{body}.mass"].value if f"{body}.mass" in vehicle.entries else 0.0
        for k, name in enumerate(names):
            others = moments.sum() - moments[k]
            if moments[k] > others * (1 + 1e-9):
                yield f"{name} = {moments[k]:g} kg.m2: expected at most the sum of the other two, {others:g}"
        least = np.sqrt(min((m for m in moments if m > 0.0), default=np.inf) / mass) if mass > 0.0 else np.inf
        if least < GYRATION:
            warnings.append(f"{body}: its gyration radius is {1e3 * least:.1f} mm, less than {1e3 * GYRATION:.0f} mm; "
                            "are the moments of inertia right?")  # fmt: skip
