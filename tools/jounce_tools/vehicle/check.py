"""What `jounce vehicle check` says of a vehicle: every axle, and where it stands at rest."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jounce.contact import tires
from jounce.data import DataError, Vehicle, load_vehicle
from jounce.entries import EntryError
from jounce.models.double_wishbone.arrange import arranged
from jounce.suspension.checks import AxleReport, check_axle
from jounce_fmu.build.library import BadRequest, BuildError
from jounce_fmu.importer.host import open_builtin
from jounce_fmu.importer.instance import FmuError
from jounce_tools.vehicle.rest import Standing, standing

#: What may end a range, for people.
_ENDS = {"limit": "as far as it is searched", "toggle": "near the fold of the linkage", "pivot": "a pivot gets small",
         "spring or shock": "end of spring or shock", "open loop": "the loops close no further"}  # fmt: skip
#: Travel from the design position at which a vehicle that stands is told to be low or high [m].
_FAR = 0.05


@dataclass(frozen=True)
class Report:
    """Of a whole vehicle."""

    name: str
    axles: tuple[AxleReport, ...]
    rest: Standing | None
    faults: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def aggregates(self) -> int:
        """Of all axles."""
        return sum(a.sides * len(a.aggregates) for a in self.axles)


def check(name: str | Path, progress: Callable[[float], None] = lambda _: None) -> Report:
    """Checks every axle of a vehicle, by its name or path, its rest position, and whether the model takes it.

    Raises DataError where the data cannot be read.
    """
    vehicle = load_vehicle(name)
    try:
        arranged(vehicle)
    except EntryError as error:  # nothing can be computed before it is mended
        return Report(vehicle.name, (), None, (_placed(_plain(error, vehicle), vehicle),), ())
    except DataError:
        pass  # is said of its axle, or by the model
    axles = []
    for k, own in enumerate(vehicle.axles):
        progress(k / (len(vehicle.axles) + 2))
        axles.append(check_axle(vehicle, own))
    faults, warnings = [f for a in axles for f in a.faults], [w for a in axles for w in a.warnings]
    rest = None
    progress(1.0 - 1.0 / (len(vehicle.axles) + 2))
    if not faults:
        faults += refusals(vehicle, name, warnings)
    if not faults and not _known(vehicle):
        warnings.append(f"at rest: not computed for tires of the law {vehicle.tire}")
    elif not faults:
        try:
            rest = standing(vehicle)
            warnings += _far(vehicle, rest)
        except (ArithmeticError, DataError) as error:
            faults.append(_plain(error, vehicle))
    return Report(vehicle.name, tuple(axles), rest, tuple(_placed(f, vehicle) for f in faults), tuple(warnings))


def _known(vehicle: Vehicle) -> bool:
    """Whether the load of its tires is known: all laws that come with jounce have it."""
    law = tires.find(vehicle.tire)
    return {part.name for part in law.parts or (law,)} <= {law.name for law in tires.LAWS}


def _placed(text: str, vehicle: Vehicle) -> str:
    """What a fault says, behind the file of the first entry that it names."""
    for word in re.findall(r"[A-Za-z_][\w.]*\w", text):
        file = vehicle.entries[word].file if word in vehicle.entries else ""
        if file:
            return text if file in text else f"{file}: {text}"
    return text


def refusals(vehicle: Vehicle, name: str | Path, warnings: list[str]) -> list[str]:
    """The words with which the model refuses the data of a vehicle, or cannot start at rest with them, if it does.

    They are those of the model itself, which is built for it. Where that cannot be done, ``warnings`` gets the reason.
    """
    try:
        arranged(vehicle)
        with open_builtin(name).instance("check") as instance:
            instance.setup()
    except FmuError as error:
        return [str(error).partition(": ")[2]]  # behind the call's name
    except (BadRequest, DataError) as error:
        return [_plain(error, vehicle)]
    except BuildError as error:
        warnings.append(f"whether the model takes the data was not tried: {error}")
    return []


def _plain(error: Exception, vehicle: Vehicle) -> str:
    """What it says, without the vehicle's name."""
    return str(error).removeprefix(f"{vehicle.name}: ").removeprefix(f"vehicle {vehicle.name!r}: ")


def _far(vehicle: Vehicle, rest: Standing) -> Iterator[str]:
    for own, travel in zip(vehicle.axles, rest.travel, strict=True):
        if abs(travel) > _FAR:
            yield (f"axle {own.name}: at rest its wheels stand {1e3 * travel:+.0f} mm from the design position; "
                   f"{own.name}.spring.preload or rest_length moves that")  # fmt: skip


def text(report: Report) -> Iterator[str]:
    """Lines for people."""
    if report.axles:
        yield f"{report.name}: {len(report.axles)} axles, {report.aggregates} aggregates"
    for a in report.axles:
        yield from _axle(a)
    if report.rest:
        rest = report.rest
        yield (f"at rest on level ground: {rest.mass:.0f} kg, origin {rest.height:.3f} m above ground, pitch "
               f"{np.degrees(rest.pitch):+.2f} deg (front down +)")  # fmt: skip
        for a, travel, load in zip(report.axles, rest.travel, rest.load, strict=True):
            yield f"  axle {a.name}: travel {1e3 * travel:+.1f} mm, {load / 1e3:.3f} kN on each wheel"
    for warning in report.warnings:
        yield f"warning: {warning}"
    yield f"{len(report.faults)} fault{'s' * (len(report.faults) != 1)}" if report.faults else "no fault"


def _axle(a: AxleReport) -> Iterator[str]:
    yield f"axle {a.name}: {a.kind}{', each side' if a.sides == 2 else ''}"
    if not a.coordinates:
        return
    groups = "; ".join(", ".join(bodies) for bodies in a.aggregates)
    yield f"  aggregates: {groups}"
    yield f"  coordinates: {len(a.coordinates)}, rows of loops: {a.rows}, motions: {a.motions}"
    if not a.box:
        return
    chosen = ", ".join(a.independent)
    if a.margins:
        others = sorted(((v, k) for k, v in a.margins.items() if k != chosen), reverse=True)[:3]
        yield (f"  independent: {chosen}, margin {a.margins[chosen]:.3f}"
               + (f" (others: {', '.join(f'{k} {v:.3f}' for v, k in others)})" if others else ""))  # fmt: skip
    else:
        yield f"  independent: {chosen}; no loop"
    for name, (low, high) in a.box.items():
        below, above = (_ENDS[e] for e in a.ends[name])
        yield f"  range of {name}: {low:+.3f} ({below}) to {high:+.3f} ({above})"
    yield f"  travel of the wheel centre: {1e3 * a.travel[0]:+.0f} to {1e3 * a.travel[1]:+.0f} mm"
    if a.degrees:
        yield (f"  first guess: polynomials of degree {', '.join(map(str, a.degrees))}, error {a.guess_error:.1e}; "
               f"closure after two steps {a.closure:.1e} m")  # fmt: skip
    same = a.asymmetry < 1e-9
    yield f"  left and right: {'mirror images' if same else f'up to {1e3 * a.asymmetry:.2f} mm from mirror images'}"


def as_json(report: Report) -> dict[str, Any]:
    """One object for programs; lengths in m, angles in rad."""
    return asdict(report) | {"aggregates": report.aggregates}
