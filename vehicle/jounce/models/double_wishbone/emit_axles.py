"""Derived numbers of one axle at a time as C, so that a vehicle on any axles is made without CasADi.

Beside the functions goes a list of the entries that each reads, in its order: the C for a vehicle's axles
(`jounce.models.double_wishbone.axles_c`) takes them from the vehicle's own parameters.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import casadi as ca

from jounce.codegen.emitter import emit_file
from jounce.codegen.forward import forward
from jounce.contact import body as outline
from jounce.data import load_vehicle
from jounce.math.algebra import SX
from jounce.models.double_wishbone import parameters
from jounce.models.double_wishbone.arrange import COMMON, GEARS, common
from jounce.models.double_wishbone.axles_c import AXLE, FIRST_STEERED
from jounce.models.double_wishbone.emit import Code
from jounce.steering import pitman, rack
from jounce.suspension.double_wishbone import NUMBERS

GENERATOR = "jounce.models.double_wishbone.emit_axles"
#: Entry that counts on driven axles alone.
SHAFT = "driveline.inertia"
#: Entries that no axle has and the HMMWV has not: those of other steering gears.
ENTRIES = tuple(name for gear in GEARS for name in common(gear) if name not in common("pitman"))
#: What is emitted for vehicles with the tires of that one.
CODE = Code(load_vehicle(COMMON))


class _Entries(dict[str, SX]):
    """Symbols of the entries that a function asks for, in the order of the asking."""

    def __missing__(self, name: str) -> SX:
        self[name] = SX.sym(name)
        return self[name]


def _function(
    name: str, make: Callable[[Mapping[str, SX], Sequence[SX]], Sequence[SX]], more: Sequence[str] = ()
) -> tuple[ca.Function, list[str]]:
    """(function of the entries that ``make`` reads and of ``more``, in one vector; the names of those entries)."""
    entries, own = _Entries(), [SX.sym(n) for n in more]
    outputs = [ca.densify(ca.cse(v)) for v in make(entries, own)]
    return ca.Function(name, [ca.vertcat(*entries.values(), *own)], outputs), list(entries)


def _corner(p: Mapping[str, SX], more: Sequence[SX]) -> Sequence[SX]:
    side, driven = more
    entries = _Driven(p, driven)
    numbers = parameters.corner_numbers(entries, AXLE, side)
    axial = ca.vertcat(*(numbers[NUMBERS.first[name]] for name in ("wheel_along", "shaft")))
    return CODE.corner[1](numbers), axial


class _Driven(dict[str, SX]):
    """Entries of an axle whose shafts count where it is driven."""

    def __init__(self, entries: Mapping[str, SX], driven: SX) -> None:
        super().__init__()
        self._entries, self._driven = entries, driven

    def __missing__(self, name: str) -> SX:
        value = self._entries[name]
        return value * self._driven if name == SHAFT else value


def _outline(p: Mapping[str, SX], more: Sequence[SX]) -> Sequence[SX]:
    return [ca.vertcat(*(parameters.outline_points(p, name, AXLE, more[0]) for name in outline.POINTS))]


def _geared(p: Mapping[str, SX], more: Sequence[SX]) -> Sequence[SX]:
    return [pitman.geared_numbers(p, AXLE, more[0], FIRST_STEERED, more[1])]


def _racked(p: Mapping[str, SX], more: Sequence[SX]) -> Sequence[SX]:
    return [rack.inner_numbers(pitman.design_end(p, AXLE, more[0]), more[1])]


def _fixed(p: Mapping[str, SX], more: Sequence[SX]) -> Sequence[SX]:
    return [pitman.fixed_numbers(p, AXLE, more[0])]


def _common(gear: str, p: Mapping[str, SX], _more: Sequence[SX]) -> Sequence[SX]:
    wheels = CODE.prepared_wheel[1](ca.vertcat(*(p[name] for name in CODE.wheel.numbers.sizes)))
    contact = ca.vertcat(*(p[f"chassis.contact.{name}"] for name in outline.CONTACT.sizes))
    if gear == "rack":  # its numbers stand at the beginning of a linkage's place
        numbers = ca.vertcat(rack.numbers(p), SX.zeros(pitman.NUMBERS.size - rack.NUMBERS.size))
    else:
        numbers = pitman.linkage_numbers(p)
    return wheels, numbers, parameters.chassis_inertia(p, linkage=gear == "pitman"), contact


def functions() -> tuple[tuple[ca.Function, list[str]], ...]:
    """Every function with the entries that it reads."""
    return (
        _function("axle_double_wishbone", _corner, ("side", "driven")),
        _function("axle_outline", _outline, ("side",)),
        _function("axle_pitman", _geared, ("side", "gain")),
        _function("axle_rack", _racked, ("side", "gain")),
        _function("axle_none", _fixed, ("side", "gain")),
        *(_function(f"vehicle_{gear}", partial(_common, gear)) for gear in GEARS),
    )


def files() -> dict[str, str]:
    """File name to text."""
    made = functions()
    entries = {f.name(): names for f, names in made}
    racks = [own := rack.function(), forward(own, constant=(1,))]
    return {
        "axles_scalar.inc": emit_file([*(f for f, _ in made), *racks], GENERATOR),
        "axles_entries.json": json.dumps(entries, indent=1) + "\n",
    }
