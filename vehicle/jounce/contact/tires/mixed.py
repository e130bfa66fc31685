"""Tires of several laws, those of each axle of one, as one law: `pac2002+tmeasy`.

Every wheel evaluates each of the laws and takes the one that its number `law` says, since the wheels of two axles are
lanes of one evaluation. States, inputs and outputs are those of all laws: a wheel leaves the others' at rest.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Final, TypeVar

from jounce.contact.tires.law import GEOMETRY, Law, later
from jounce.entries import DataError, Entry

if TYPE_CHECKING:
    from jounce.signals import Signal, State

__all__ = ["JOINER", "WHICH", "entries_of", "mixed", "numbers_of", "own_law", "which_law"]

#: Between the names of the laws; the parameter that says which one an axle has, 1 for the first.
JOINER: Final = "+"
WHICH: Final = "law"
_MODULE: Final = "jounce.contact.tires.several_contacts"
Part = TypeVar("Part", "State", "Signal")


@cache
def mixed(*laws: Law) -> Law:
    """The law of tires that are each of one of these. Raises ValueError where two of them mean another by a name."""
    return Law(
        name=JOINER.join(law.name for law in laws), parts=laws,
        parameters=(*dict.fromkeys(n for law in laws for n in law.parameters), WHICH),
        sided=tuple(dict.fromkeys(n for law in laws for n in law.sided)),
        contact=partial(later(_MODULE, "contact"), laws), start=partial(later(_MODULE, "start"), laws),
        query_point=partial(later(_MODULE, "query_point"), laws),
        states=_joined([law.states for law in laws]), inputs=_joined([law.inputs for law in laws]),
        outputs=_joined([law.outputs for law in laws]),
        bounded=tuple(dict.fromkeys(b for law in laws for b in law.bounded)),
        quick=any(law.quick for law in laws),
    )  # fmt: skip


def _joined(groups: Sequence[tuple[Part, ...]]) -> tuple[Part, ...]:
    found: dict[str, Part] = {}
    for part in (part for group in groups for part in group):
        if found.setdefault(part.name, part) != part:
            raise ValueError(f"tire laws of different axles both have a {part.name!r}, and not the same one")
    return tuple(found.values())


def own_law(law: Law, entries: Mapping[str, Entry], of: str) -> Law:
    """The law of the tires whose entries begin with ``of``: of several laws the one that their entry says.

    Raises DataError where it says none.
    """
    if not law.parts:
        return law
    which = entries.get(name := f"{of}.{WHICH}")
    if which is None or which.value not in range(1, 1 + len(law.parts)):
        names = ", ".join(f"{k} ({part.name})" for k, part in enumerate(law.parts, 1))
        raise DataError(f"{name} is {which.value if which else 'missing'}: expected {names}")
    return law.parts[int(which.value) - 1]


def entries_of(law: Law, entries: Mapping[str, Entry], of: str) -> tuple[str, ...]:
    """Names of the entries of those tires. Raises DataError as `own_law`."""
    own = (*own_law(law, entries, of).entries, *((WHICH,) if law.parts else ()))
    return tuple(f"{of}.{name}" for name in own)


def which_law(law: Law, own: Law) -> Entry:
    """The entry that says which of the laws tires have."""
    k, items = 1.0 + law.parts.index(own), tuple(part.name.upper() for part in law.parts)
    return Entry(k, "1", "law of the tires of this axle", "law of the tires, which their data are for", k, k, items)


def numbers_of(law: Law, side: float, of: str, known: Container[str]) -> dict[str, str]:
    """As `Law.entries_of`. What the tires have no entry for has no effect, and the number of their radius, above 0."""
    return {n: entry if entry in known else f"{of}.{GEOMETRY[0]}" for n, entry in law.entries_of(side, of).items()}
