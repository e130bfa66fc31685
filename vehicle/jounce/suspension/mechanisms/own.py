"""Axles whose entries are not those of an example that comes with jounce: graphs, and other variants of a kind.

Their equations are emitted for the user. Needs CasADi.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace

import casadi as ca

from jounce.axles import Axle
from jounce.data import DataError, Vehicle
from jounce.dynamics import mobility
from jounce.dynamics.embedding import Embedding
from jounce.dynamics.mechanism import Mechanism
from jounce.entries import EntryError
from jounce.math.algebra import SX
from jounce.suspension.kinds import GRAPH, KINDS, Kind, Variant, remember
from jounce.suspension.mechanisms.templates import mechanism_of

#: How an independent coordinate is measured: a turn or a slide.
_UNITS = {"R": "rad", "P": "m"}


@dataclass(frozen=True)
class Source:
    """What an own kind is made from."""

    kind: Kind
    vehicle: Vehicle
    axle: str

    @property
    def variant(self) -> Variant:
        """Its only one."""
        [variant] = self.kind.variants
        return variant


_SOURCES: dict[str, Source] = {}


def source(key: str) -> Source | None:
    """What the kind of that key is made from; None for one that comes with jounce."""
    return _SOURCES.get(key)


def own_kind(vehicle: Vehicle, axle: Axle) -> Variant:
    """The variant of an axle with entries of its own, which is a kind by its name from now on.

    The name holds a hash of the axle's lists and entries, whose values choose the order of the pivots. Raises DataError
    that names the axle and what does not fit.
    """
    start = f"{axle.name}."
    own = {n.removeprefix(start): e.value for n, e in vehicle.entries.items() if n.startswith(start)}
    lists = {n.removeprefix(start): v for n, v in vehicle.lists.items() if n.startswith(start)}
    key = hashlib.sha256(repr((axle.kind, sorted(lists.items()), sorted(own.items()))).encode()).hexdigest()[:12]
    name = f"{axle.kind}_{key}"
    if name not in _SOURCES:
        _SOURCES[name] = _made(vehicle, axle, name)
        remember(name, _SOURCES[name].kind)
    return _SOURCES[name].variant


def _made(vehicle: Vehicle, axle: Axle, name: str) -> Source:
    of = f"vehicle {vehicle.name!r}: axle {axle.name} ({axle.kind})"
    mechanism = mechanism_of(vehicle, axle.name, axle.kind)
    wheels, coordinates = len(mechanism.wheels), len(mechanism.independent)
    if wheels not in (1, 2) or coordinates != wheels:
        raise DataError(f"{of}: {coordinates} independent coordinates of {wheels} wheels; expected one of a corner "
                        "with one wheel, or two of an axle with two")  # fmt: skip
    there = {(f.kind, f.wheel) for f in mechanism.forces}
    if lacking := [(k, w) for w in range(wheels) for k in ("spring", "shock") if (k, w) not in there]:
        raise DataError(f"{of}: wheel {lacking[0][1] + 1} has no {lacking[0][0]}; expected one of each")
    if len(mechanism.prescribed) > 1:
        raise DataError(f"{of}: the steering moves {', '.join(mechanism.prescribed)}; expected one point")
    try:
        embedding = Embedding(mechanism)
        mobility.require(embedding, ca.evalf(mechanism.numbers()))
    except ValueError as error:
        raise DataError(f"vehicle {vehicle.name!r}: axle {str(error).removeprefix('axle ')}") from error
    symbols = {n: SX.sym(n) for n in vehicle.entries}
    _check_entries(vehicle, axle, mechanism_of(vehicle, axle.name, axle.kind, symbols), symbols)
    variant = Variant(name, (vehicle.name, axle.name), next(iter(mechanism.prescribed), ""))
    shipped = KINDS.get(axle.kind)
    if shipped is None:
        units = tuple((_UNITS[kind], f"coordinate {own}") for kind, own in
                      zip(embedding.kinds, mechanism.independent, strict=True))  # fmt: skip
        shipped = Kind(GRAPH, (), (units[0], units[-1]))
    kind = replace(shipped, variants=(variant,), paired=wheels == 2, loops=bool(embedding.dependent),
                   closed=mechanism.closed_form is not None)  # fmt: skip
    return Source(kind, vehicle, axle.name)


def _check_entries(vehicle: Vehicle, axle: Axle, mechanism: Mechanism, symbols: Mapping[str, SX]) -> None:
    """Raise EntryError for an entry of the axle that its mechanism does not read; moments of a body are read or not."""
    numbers, start = mechanism.numbers(), f"{axle.name}."
    used = {n for n, v in symbols.items() if ca.depends_on(numbers, v)}
    bodies = {n.removesuffix(".mass") for n in used if n.endswith(".mass")}
    odd = [n for n in vehicle.entries if n.startswith(start) and n not in used
           and n.partition(".inertia.")[0] not in bodies]  # fmt: skip
    if odd:
        more = f" (and {len(odd) - 1} more)" if len(odd) > 1 else ""
        raise EntryError(f"vehicle {vehicle.name!r}: unknown entry {odd[0]!r} in {vehicle.entries[odd[0]].file}{more}; "
                        f"expected what axle {axle.name} ({axle.kind}) reads")  # fmt: skip
