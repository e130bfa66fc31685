"""Kinds of axles: which file makes the mechanism of each, and what it is for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, Protocol

from jounce.data import DataError, Vehicle, load_vehicle
from jounce.dynamics.mechanism import Mechanism, Value
from jounce.entries import EntryError
from jounce.suspension.kinds import KINDS
from jounce.suspension.mechanisms import (
    graph_axle,
    leaf_axle,
    macpherson,
    multilink,
    solid_axle,
    trailing_arm,
    wishbones,
)


class Make(Protocol):
    """What makes the mechanism of one axle from the entries."""

    def __call__(self, p: Mapping[str, Value], axle: str) -> Mechanism:
        """The left side, or the whole axle where its wheels share a body."""


@dataclass(frozen=True)
class Template:
    """A kind of axle."""

    make: Make | None
    """None for a graph, whose lists say it all."""
    coordinates: int
    """Motions that it has: of one side, or of the whole axle."""
    words: str
    """For people."""


TEMPLATES: Final[dict[str, Template]] = {
    "double_wishbone": Template(wishbones.mechanism, 1, "two A-arms and a tierod"),
    "macpherson": Template(macpherson.mechanism, 1, "lower arm, strut and tierod"),
    "multilink": Template(multilink.mechanism, 1, "five links, or an A-arm and three links"),
    "trailing_arm": Template(trailing_arm.mechanism, 1, "trailing or semi-trailing arm"),
    "solid_axle": Template(solid_axle.mechanism, 2, "rigid axle on links, steered where it has kingpins"),
    "leaf_axle": Template(leaf_axle.mechanism, 2, "rigid axle on leaf springs"),
    "graph": Template(None, 0, "bodies, joints and rods of your own"),
}


def with_dual_wheels(vehicle: Vehicle, axle: str) -> dict[str, float]:
    """The vehicle's numbers; of an axle with two tires on each side both wheels of a side are one body.

    It has twice the mass and the inertia about the axis; across it each wheel counts at half their distance (Steiner).
    """
    values = {name: entry.value for name, entry in vehicle.entries.items()}
    apart = next((a.dual for a in vehicle.axles if a.name == axle), 0.0)
    if apart:
        mass = values["wheel.mass"]
        for a in "xz":
            values[f"wheel.inertia.{a}{a}"] = 2.0 * (values[f"wheel.inertia.{a}{a}"] + 0.25 * mass * apart**2)
        values |= {n: 2.0 * values[n] for n in ("wheel.mass", "wheel.inertia.yy")}
    return values


def mechanism_of(vehicle: Vehicle, axle: str, kind: str, p: Mapping[str, Value] | None = None) -> Mechanism:
    """The mechanism of one axle of a vehicle, with the vehicle's numbers or with ``p`` in their place.

    Raises DataError that names the axle, its kind and the entry that is not there.
    """
    if kind not in TEMPLATES:
        raise DataError(f"{vehicle.name}: axle {axle}: kind = {kind!r}: expected {', '.join(TEMPLATES)}")
    values = with_dual_wheels(vehicle, axle) if p is None else p
    make = TEMPLATES[kind].make
    try:
        if make is None:
            prefix = f"{axle}."
            lists = {k.removeprefix(prefix): v for k, v in vehicle.lists.items() if k.startswith(prefix)}
            return graph_axle.mechanism(values, axle, lists)
        return make(values, axle)
    except KeyError as error:
        raise EntryError(f"{vehicle.name}: axle {axle} ({kind}): no entry {error.args[0]!r}"
                         f"{_odd(vehicle, axle, kind, error.args[0])}") from error  # fmt: skip
    except DataError:
        raise
    except ValueError as error:
        raise DataError(f"{vehicle.name}: axle {error}") from error


def _odd(vehicle: Vehicle, axle: str, kind: str, missing: str) -> str:
    """What to add of an entry that the kind does not know, and that may be the missing one misspelled."""
    known = {f"{axle}.{n.partition('.')[2]}" for v in (KINDS[kind].variants if kind in KINDS else ())
             for n in load_vehicle(v.example[0]).entries if n.startswith(f"{v.example[1]}.")}  # fmt: skip
    odd = [n for n in vehicle.entries if n.startswith(f"{axle}.") and n not in known] if known else []
    near = get_close_matches(missing, odd, n=1)
    return f"; unknown is {near[0]!r} in {vehicle.entries[near[0]].file}" if near else ""
