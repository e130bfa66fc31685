"""What an architecture becomes, in words and numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from jounce.architecture import composite, mobility, springs, trim
from jounce.architecture.graph import Architecture
from jounce.architecture.mobility import Mobility
from jounce.architecture.target import Multibody
from jounce.models.ce import choice
from jounce.powertrain.sketched import Powertrain
from jounce_fmu.models import ce

#: Largest gross weight [lb] of the classes 1 to 7 of the US Federal Highway Administration (49 CFR 565.15, table II).
_CLASSES: Final = (6000, 10000, 14000, 16000, 19500, 26000, 33000)
_POUND: Final = 0.45359237  # [kg], exactly
#: Springs whose steps are shown: the shortest.
_SHOWN: Final = 5


@dataclass(frozen=True)
class Report:
    """A vehicle built from an architecture, trimmed to rest."""

    architecture: Architecture
    model: Multibody
    mobility: Mobility
    modes: springs.Modes
    limits: tuple[springs.Limit, ...]
    engine: str
    reason: str


def of(path: Path, engine: str = "auto") -> Report:
    """Builds and trims. Raises ArchitectureError, also where the engine asked for cannot."""
    made, drawn = composite.build(path)
    model = trim.trimmed(drawn)
    chosen = choice.engine_of(made, model, ce.has_functions, engine)
    return Report(made, model, mobility.count(model), springs.modes(model), springs.limits(model), *chosen)


def weight_class(mass: float) -> int:
    """FHWA class, 1 to 8, of a gross weight [kg]."""
    pounds = mass / _POUND
    return 1 + sum(pounds > limit for limit in _CLASSES)


def text(report: Report) -> Iterator[str]:
    """Lines for people."""
    model, count = report.model, report.mobility
    yield (f"{model.name}: {len(report.architecture.components)} components, {len(model.bodies)} bodies, "
           f"{count.rows} rows, {count.motions} motions, {model.mass:.1f} kg "
           f"(FHWA class {weight_class(model.mass)} as it stands)")  # fmt: skip
    yield f"engine: {report.engine}, {report.reason}"
    yield "bodies: mass [kg]; centre of mass [m]; inertia xx yy zz, xz xy about it [kg m2]"
    for body in model.bodies:
        i = body.inertia
        moments = f"{i[0, 0]:.2f} {i[1, 1]:.2f} {i[2, 2]:.2f}, {i[0, 2]:.2f} {i[0, 1]:.2f}"
        centre = " ".join(f"{c + 0.0:.4f}" for c in body.com)
        also = f" (with {', '.join(body.members[1:])})" if body.members[1:] else ""
        yield f"  {body.name}{also}: {body.mass:.3f}; {centre}; {moments}"
    yield "at rest as drawn: load [N] and free radius [m] of the wheels"
    for wheel in model.wheels:
        dual = f", {len(wheel.offsets)} tires" if len(wheel.offsets) > 1 else ""
        yield f"  {wheel.name} ({model.bodies[wheel.body].name}): {wheel.load:.0f}, {wheel.radius:.4f}{dual}"
    yield "springs: preload, pushing [N]; stiffness [N/m]; damping [N s/m]"
    for spring in model.springs:
        yield f"  {spring.name}: {round(spring.preload)}; {spring.stiffness:.6g}; {spring.damping:.6g}"
    train = report.architecture.powertrain
    if train is not None:
        yield from _powertrain(train, model)
    hertz = report.modes.frequencies / (2 * np.pi)
    if len(hertz):
        yield f"undamped modes [Hz], without weight and friction: {' '.join(f'{f:.3f}' for f in hertz)}"
        yield f"longest step of all springs together, dampers centred: {1e3 * 2 / report.modes.frequencies[-1]:.2f} ms"
    for limit in sorted(report.limits, key=lambda s: s.step)[:_SHOWN]:
        yield (f"  {limit.name} alone: {limit.frequency / (2 * np.pi):.2f} Hz, damping ratio {limit.damping:.3f}, "
               f"{1e3 * limit.step:.2f} ms")  # fmt: skip
    for warning in warnings(report):
        yield f"warning: {warning}"


def _powertrain(train: Powertrain, model: Multibody) -> Iterator[str]:
    found = _driven(train, model)
    ratios, wheels = " ".join(f"{r:g}" for r in train.ratios), ", ".join(w.name for w in model.wheels if w.driven)
    yield (f"powertrain: engine {found['torque']:.0f} N m, {found['power'] / 1e3:.0f} kW; gears {ratios}, final "
           f"{train.numbers['final']:g}; drives {wheels}")  # fmt: skip
    yield f"  pull at standstill {found['pull']:.0f} N, {100 * found['pull'] / found['weight']:.0f} % of the weight"
    yield f"  brakes {found['braking']:.0f} N, {100 * found['braking'] / found['weight']:.0f} % of the weight"
    yield f"  most power in the last gear at {found['speed']:.1f} m/s"


def _driven(train: Powertrain, model: Multibody) -> dict[str, float]:
    """What it can do on the driven wheels of a trimmed model, SI: at their mean radius under load."""
    radius = float(np.mean([w.centre[2] for w in model.wheels if w.driven]))
    ratio = train.numbers["final"] * train.numbers["efficiency"] * train.numbers["torque_ratio"] / radius
    stalled = float(np.interp(train.numbers["stall_speed"], *np.array(train.curve).T))
    points = [speed for speed, _ in train.curve]
    speeds = np.union1d(points, np.linspace(points[0], points[-1], 1001))
    powers = speeds * np.interp(speeds, *np.array(train.curve).T)
    return {
        "torque": max(torque for _, torque in train.curve),
        "power": float(powers.max()),
        "pull": stalled * train.ratios[0] * ratio,
        "speed": float(speeds[powers.argmax()]) * radius / (train.numbers["final"] * train.ratios[-1]),
        "braking": sum(train.numbers["max_brake_torque"] / w.centre[2] for w in model.wheels),
        "weight": model.mass * model.gravity,
    }


def warnings(report: Report) -> Iterator[str]:
    """What works, and may not be meant."""
    count = report.mobility
    if count.redundant:
        yield (f"{count.rows - (6 * len(report.model.bodies) - count.motions)} rows hold what others hold already: "
               f"{', '.join(count.redundant)}")  # fmt: skip
    if count.drawn != count.motions:
        yield f"{count.drawn} motions in the drawn pose, {count.motions} around it: its joints lie in line"
    if not report.model.wheels:
        yield "it has no wheel"


def as_json(report: Report) -> dict[str, Any]:
    """One object for programs, SI units."""
    model, count, train = report.model, report.mobility, report.architecture.powertrain
    return {
        "name": model.name,
        "components": len(report.architecture.components),
        "mass": model.mass,
        "weight_class": weight_class(model.mass),
        "rows": count.rows,
        "motions": count.motions,
        "engine": report.engine,
        "reason": report.reason,
        "bodies": [
            {"name": b.name, "members": list(b.members), "mass": b.mass, "com": b.com.tolist(),
             "inertia": b.inertia.tolist()} for b in model.bodies
        ],
        "wheels": [
            {"name": w.name, "body": model.bodies[w.body].name, "load": w.load, "radius": w.radius,
             "contacts": len(w.offsets), "driven": w.driven, "steered": w.steered} for w in model.wheels
        ],
        "springs": [
            {"name": s.name, "preload": s.preload, "stiffness": s.stiffness, "damping": s.damping}
            for s in model.springs
        ],
        "limits": [
            {"name": s.name, "frequency": s.frequency, "damping_ratio": s.damping, "step": s.step,
             "step_damping_explicit": s.step_explicit} for s in report.limits
        ],
        "powertrain": train and {"ratios": list(train.ratios), **train.numbers, **_driven(train, model)},
        "frequencies": report.modes.frequencies.tolist(),
        "warnings": list(warnings(report)),
        "sources": report.architecture.sources,
    }  # fmt: skip
