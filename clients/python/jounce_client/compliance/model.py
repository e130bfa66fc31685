"""Generic input values for any model, made from its signal table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from jounce_proto import jounce_pb2 as pb

#: Greatest distance of generic values from the start value, in typical sizes of the signal [1].
_REACH: Final = 0.01


@dataclass(frozen=True)
class Input:
    """A scalar input: its bounds, its ``start`` value, and the range of its generic values [unit of the input]."""

    name: str
    minimum: float
    maximum: float
    start: float
    low: float
    high: float

    def value(self, k: int) -> float:
        """A generic value for tick ``k``: a smooth function of the tick, with another phase for each input."""
        phase = sum(map(ord, self.name))
        return self.low + (self.high - self.low) * (0.5 + 0.5 * math.sin(0.7 * k + phase))


@dataclass(frozen=True)
class Model:
    """A hosted model: its inputs, its number of outputs [1], its tick length [s]."""

    name: str
    inputs: tuple[Input, ...]
    output_count: int
    tick_seconds: float

    @classmethod
    def read(cls, reply: pb.DescribeModelResponse) -> Self:
        """The model of a description."""
        inputs = tuple(_input(s, k) for s in reply.signals if s.causality == pb.CAUSALITY_INPUT
                       for k in range(len(s.components)))
        outputs = sum(len(s.components) for s in reply.signals if s.causality == pb.CAUSALITY_OUTPUT)
        return cls(reply.model, inputs, outputs, reply.tick_seconds)

    def values(self, k: int, names: Sequence[str]) -> dict[str, float]:
        """Generic values of the named inputs for tick ``k``."""
        return {i.name: i.value(k) for i in self.inputs if i.name in set(names)}


def _input(signal: pb.Signal, place: int) -> Input:
    start = signal.start[place] if place < len(signal.start) else 0.0
    # Whole numbers keep their start values, since they may switch the model to another mode.
    reach = _REACH * (abs(signal.nominal) or 1.0) if signal.type == pb.SIGNAL_TYPE_REAL else 0.0
    low, high = max(signal.minimum, start - reach), min(signal.maximum, start + reach)
    return Input(signal.name + signal.components[place], signal.minimum, signal.maximum, start, low, high)
