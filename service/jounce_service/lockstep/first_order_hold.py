"""First-order hold of single inputs.

After two deliveries in a row the input follows the line through both of them until the next delivery,
u(t) = u_k + (u_k - u_(k-1)) (t - t_k) / (t_k - t_(k-1))
(Franklin, Powell, Workman: Digital Control of Dynamic Systems, 3rd ed., section 5.3.3).
The value is computed from the last delivery and not accumulated, so it does not depend on how the ticks are split
into moves.
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
    """The extrapolation lines of the inputs of one session that use first-order hold."""

    def __init__(self, minimum: Vector, maximum: Vector) -> None:
        """``minimum`` and ``maximum`` [unit of each input] clip the extrapolated values."""
        self._minimum, self._maximum = minimum, maximum
        self._tick = np.full(len(minimum), _NEVER, dtype=np.int64)
        self._value = np.zeros(len(minimum))
        self._slope = np.zeros(len(minimum))
        #: Whether some input changes between deliveries.
        self.moving = False

    def deliver(self, columns: Columns, values: Vector, tick: int) -> None:
        """Takes new values at ``tick``; the slope is zero unless a delivery came before without a ``stop`` since."""
        last = self._tick[columns]
        in_a_row = (last != _NEVER) & (last < tick)
        change = values - self._value[columns]
        self._slope[columns] = np.where(in_a_row, change / np.where(in_a_row, tick - last, 1), 0.0)
        self._tick[columns], self._value[columns] = tick, values
        self.moving = bool(self._slope.any())

    def stop(self, columns: Columns) -> None:
        """Holds the inputs at their present values."""
        self._tick[columns], self._slope[columns] = _NEVER, 0.0
        self.moving = bool(self._slope.any())

    def apply(self, inputs: Vector, tick: int) -> None:
        """Writes into ``inputs`` the values that act during ``tick``; inputs without a slope are left as they are."""
        c = np.flatnonzero(self._slope)
        line = self._value[c] + self._slope[c] * (tick - self._tick[c])
        inputs[c] = np.clip(line, self._minimum[c], self._maximum[c])

    def save(self) -> list[Ramp]:
        """Returns the line of every input that was delivered with first-order hold, for a snapshot."""
        return [
            (c, int(self._tick[c]), float(self._value[c]), float(self._slope[c]))
            for c in np.flatnonzero(self._tick != _NEVER).tolist()
        ]

    def load(self, saved: Iterable[Ramp]) -> None:
        """Replaces all lines by those that ``save`` returned."""
        self._tick[:], self._value[:], self._slope[:] = _NEVER, 0.0, 0.0
        for column, tick, value, slope in saved:
            self._tick[column], self._value[column], self._slope[column] = tick, value, slope
        self.moving = bool(self._slope.any())
