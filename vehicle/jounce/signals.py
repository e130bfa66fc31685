"""The signal table: name, unit, frame, shape, causality, bounds, start and description of every signal.

The FMI model description, the C table, the gRPC ``DescribeModel`` reply, the log schema and the documentation are made
from it. Units are SI, axes are those of ISO 8855. The frame is the world unless a signal says otherwise; it is "" for
a quantity without direction.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from jounce.references import RATE_OFFSET, Kind, Ledger
from jounce.renamed import present

Causality = Literal["input", "output", "parameter"]
Type = Literal["Real", "Integer", "Boolean", "Enumeration", "String"]
Variability = Literal["continuous", "discrete", "fixed", "tunable"]

XYZ = (".x", ".y", ".z")
QUATERNION = (".e0", ".e1", ".e2", ".e3")
#: Error messages for unknown names list all names of a table with up to this many scalars.
_FEW = 40


@dataclass(frozen=True)
class Signal:
    """One external variable; a vector signal has one component suffix per scalar.

    Bounds are inclusive; a value beyond a bound by rounding only is set to the bound (`jounce.values`). ``used_where``
    names an Enumeration parameter and the item for which an input is used; its bounds hold only then. ``least_up``
    makes a vector x y z a direction of any length: if it is used, its z must be at least this fraction of the length.
    ``least_nonzero``: of an input that may be 0, the least other value.
    ``text`` is the start value of a String, a type that only the Python FMUs have. ``former`` maps former names of
    items to the present ones. ``rate_of`` is the scalar whose rate this input is.
    """

    name: str
    causality: Causality
    unit: str
    description: str
    components: tuple[str, ...] = ("",)
    frame: str = "world"
    start: tuple[float, ...] = ()
    minimum: float = -math.inf
    maximum: float = math.inf
    used_where: tuple[str, str] | None = None
    least_up: float = 0.0
    least_nonzero: float = 0.0
    nominal: float = 1.0
    type: Type = "Real"
    variability: Variability = "continuous"
    items: tuple[str, ...] = ()
    alias: str = ""
    text: str = ""
    former: tuple[tuple[str, str], ...] = ()
    rate_of: str = ""

    @property
    def shape(self) -> tuple[int, ...]:
        """() for a scalar, (n,) for a vector of n components."""
        return () if self.components == ("",) else (len(self.components),)

    def item(self, text: str) -> float | None:
        """Value of an enumeration's item, or None if there is no such item; a former name gives a FutureWarning."""
        present = dict(self.former).get(text, text)
        if present != text:
            # FutureWarning, which Python shows to users by default.
            warnings.warn(f"{self.name} = {text}: the name is {present} now", FutureWarning, stacklevel=3)
        return float(self.items.index(present) + 1) if present in self.items else None


@dataclass(frozen=True)
class Scalar:
    """One component of a signal, with its index in the vector u, y or p."""

    name: str
    signal: Signal
    index: int
    start: float
    value_reference: int
    """FMI value reference, unique over all types and the same in every release (`jounce.references`)."""

    @property
    def minimum(self) -> float:
        """Smallest value allowed."""
        return self.signal.minimum

    @property
    def maximum(self) -> float:
        """Largest value allowed."""
        return self.signal.maximum


@dataclass(frozen=True)
class State:
    """A continuous state of the model, for model exchange and linearization."""

    name: str
    unit: str
    description: str
    nominal: float = 1.0
    start: float = 0.0
    """Where it begins, unless the start of a model solves for it."""


@dataclass(frozen=True)
class SignalTable:
    """All signals of one model, with their scalars in vector order.

    ``states`` are the model's states in the order of its state vector, without the memory of inputs; a model without
    them cannot be used for model exchange. ``derivatives`` says that the model has directional derivatives. ``edition``
    distinguishes FMUs with the same interface and different start values. ``ledger`` has the value references given so
    far; a new name gets the next free one.
    """

    name: str
    signals: tuple[Signal, ...]
    states: tuple[State, ...] = ()
    derivatives: bool = False
    edition: str = ""
    ledger: Ledger = Ledger()
    _scalars: tuple[Scalar, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        named: list[tuple[Kind, str]] = [(g.causality, g.name + c) for g in self.signals for c in g.components]
        ledger = self.ledger.extended([*named, *(("state", s.name) for s in self.states)])
        object.__setattr__(self, "ledger", ledger)
        scalars: list[Scalar] = []
        counts: dict[Causality, int] = {"input": 0, "output": 0, "parameter": 0}
        for signal in self.signals:
            starts = signal.start or (0.0,) * len(signal.components)
            for suffix, start in zip(signal.components, starts, strict=True):
                name = signal.name + suffix
                scalars.append(Scalar(name, signal, counts[signal.causality], start, ledger.references[name]))
                counts[signal.causality] += 1
        object.__setattr__(self, "_scalars", tuple(scalars))

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        """Every scalar, in table order."""
        return self._scalars

    @cached_property
    def inputs(self) -> tuple[Scalar, ...]:
        """Scalars of the input vector u."""
        return self._of("input")

    @cached_property
    def outputs(self) -> tuple[Scalar, ...]:
        """Scalars of the output vector y."""
        return self._of("output")

    @cached_property
    def parameters(self) -> tuple[Scalar, ...]:
        """Scalars of the parameter vector p."""
        return self._of("parameter")

    @cached_property
    def state_references(self) -> tuple[int, ...]:
        """Value references of the states, in their order."""
        return tuple(self.ledger.references[s.name] for s in self.states)

    @cached_property
    def rate_references(self) -> tuple[int, ...]:
        """Value references of the states' derivatives, in their order."""
        return tuple(r + RATE_OFFSET for r in self.state_references)

    def by_name(self, name: str) -> Scalar:
        """Finds a scalar by its name, or by a former one; raises KeyError that lists similar names."""
        name = present(name, self._index)
        try:
            return self._index[name]
        except KeyError:
            raise KeyError(f"unknown signal {name!r}; {self._hint(name)}") from None

    @cached_property
    def _index(self) -> dict[str, Scalar]:
        return {s.name: s for s in self._scalars}

    def _of(self, causality: Causality) -> tuple[Scalar, ...]:
        return tuple(s for s in self._scalars if s.signal.causality == causality)

    def _hint(self, name: str) -> str:
        from difflib import get_close_matches

        near = get_close_matches(name, self._index, n=3)
        if near:
            return "did you mean " + " or ".join(near) + "?"
        return f"expected {', '.join(self._index) if len(self._index) <= _FEW else 'a name from `jounce describe`'}"


def named_groups(scalars: Sequence[Scalar]) -> dict[str, Sequence[Scalar]]:
    """Name -> its scalars: that of a scalar, all components of a vector, or all scalars for ``*``."""
    vectors: dict[str, list[Scalar]] = {}
    for s in scalars:
        if s.signal.shape:
            vectors.setdefault(s.signal.name, []).append(s)
    return {**vectors, **{s.name: [s] for s in scalars}, "*": scalars}
