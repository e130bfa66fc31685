"""First-order hold of single inputs.

After two deliveries in a row an input goes on along the line through both until the next one,
u(t) = u_k + (u_k - u_(k-1)) (t - t_k) / (t_k - t_(k-1)) (Franklin, Powell, Workman: Digital Control of Dynamic Systems,
3rd ed., section 5.3.3). It
is computed from the last delivery, never summed up, so that it does not depend on how the ticks are split into moves.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Columns = NDArray[np.intp]
#: Input place, tick of the last delivery, value [unit], slope [unit per tick].
Ramp = tuple[int, int, float, float]
_NEVER = -1


class Ramps:
    """The lines of all inputs of one session; an input without first-order hold has none."""

    def __init__(self, minimum: Vector, maximum: Vector) -> None:
        """``minimum`` and ``maximum`` [unit of each] bound every input."""
        self._minimum, self._maximum = minimum, maximum
        self._tick = np.full(len(minimum), _NEVER, dtype=np.int64)
        self._value = np.zeros(len(minimum))
        self._slope = np.zeros(len(minimum))
        #: Whether some input changes between deliveries.
        self.moving = False

    def deliver(self, columns: Columns, values: Vector, tick: int) -> None:
        """New values at ``tick``; a line needs a delivery before, and no ``stop`` since."""
        last = self._tick[columns]
        in_a_row = (last != _NEVER) & (last < tick)
        change = values - self._value[columns]
        self._slope[columns] = np.where(in_a_row, change / np.where(in_a_row, tick - last, 1), 0.0)
        self._tick[columns], self._value[columns] = tick, values
        self.moving = bool(self._slope.any())

    def stop(self, columns: Columns) -> None:
        """The inputs stay where they are."""
        self._tick[columns], self._slope[columns] = _NEVER, 0.0
        self.moving = bool(self._slope.any())

    def apply(self, inputs: Vector, tick: int) -> None:
        """Writes the values that act during ``tick`` into ``inputs``."""
        c = np.flatnonzero(self._slope)
        line = self._value[c] + self._slope[c] * (tick - self._tick[c])
        inputs[c] = np.clip(line, self._minimum[c], self._maximum[c])

    def save(self) -> list[Ramp]:
        """Every input that has been delivered with first-order hold."""
        return [
            (c, int(self._tick[c]), float(self._value[c]), float(self._slope[c]))
            for c in np.flatnonzero(self._tick != _NEVER).tolist()
        ]

    def load(self, saved: Iterable[Ramp]) -> None:
        """Replaces all lines by those of ``save``."""
        self._tick[:], self._value[:], self._slope[:] = _NEVER, 0.0, 0.0
        for column, tick, value, slope in saved:
            self._tick[column], self._value[column], self._slope[column] = tick, value, slope
        self.moving = bool(self._slope.any())
