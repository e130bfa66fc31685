"""Value references: the numbers by which FMI importers refer to variables, which never change.

A reference belongs to a name, not to an index in u, y, p or x. A model keeps its references in a ledger, which is a
text file with lines `reference name`. Entries are only added: a new name gets the next number of its kind, wherever it
is in the table, and the number of a removed name is not used again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Kind = Literal["input", "output", "parameter", "state"]

#: First reference of each kind. The derivative of a state has the state's reference plus `RATE_OFFSET`.
FIRST: dict[Kind, int] = {"input": 1_000, "output": 10_000, "parameter": 100_000, "state": 200_000}
RATE_OFFSET = 100_000
_END: dict[Kind, int] = {"input": 10_000, "output": 100_000, "parameter": 200_000, "state": 300_000}


class LedgerError(ValueError):
    """The ledger contradicts itself, or has no number left."""


@dataclass(frozen=True)
class Ledger:
    """References by name."""

    references: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "references", dict(self.references))

    @classmethod
    def read(cls, path: Path) -> Ledger:
        """Reads a ledger from a file. Raises LedgerError, which names the line, or OSError."""
        found: dict[str, int] = {}
        taken: set[int] = set()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            where = f"{path.name}, line {number}"
            match line.split():
                case [reference, name] if reference.isascii() and reference.isdigit():
                    if name in found:
                        raise LedgerError(f"{where}: {name} has a reference already, {found[name]}")
                    if int(reference) in taken:
                        raise LedgerError(f"{where}: {reference} is given twice")
                    found[name] = int(reference)
                    taken.add(int(reference))
                case _:
                    raise LedgerError(f"{where}: expected a reference and a name, found {line!r}")
        return cls(found)

    def extended(self, named: Iterable[tuple[Kind, str]]) -> Ledger:
        """A copy in which each name without a reference gets one, in the given order.

        Raises LedgerError if a kind has no number left.
        """
        found = dict(self.references)
        free = {kind: self._next(kind) for kind in FIRST}
        for kind, name in named:
            if name in found:
                continue
            if free[kind] >= _END[kind]:
                raise LedgerError(f"{name}: no reference is left for another {kind}; the last is {_END[kind] - 1}")
            found[name] = free[kind]
            free[kind] += 1
        return Ledger(found)

    def _next(self, kind: Kind) -> int:
        used = [r for r in self.references.values() if FIRST[kind] <= r < _END[kind]]
        return max(used, default=FIRST[kind] - 1) + 1

    def text(self) -> str:
        """Text of the file, sorted by reference."""
        return "".join(f"{reference} {name}\n" for name, reference in sorted(self.references.items(), key=_reference))


def _reference(entry: tuple[str, int]) -> int:
    return entry[1]
