"""A measured run beside the simulated one: bands around the simulation, and how much of the measurement lies in them.

ISO 19364 and ISO 19365 validate a simulation so: boundaries around what it gives, and the measured lines laid over
them. Their tolerances are not public, so the width of the bands is the user's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from jounce_tools.errors import UsageError
from jounce_tools.manoeuvres.bench import Log
from jounce_tools.manoeuvres.found import Array, Plot
from jounce_tools.simulate.csv_inputs import Column, finite, read_columns


@dataclass(frozen=True)
class Measured:
    """Signals over time, on the clock of the run."""

    name: str
    time: Array
    """(n,) [s]."""
    signals: dict[str, Array]
    """Name -> (n,) [unit of the signal]."""


@dataclass(frozen=True)
class Judged:
    """One signal of the measurement against the simulation."""

    signal: str
    unit: str
    band: float
    """Half of the band's width [unit]."""
    largest: float
    """Largest |measured - simulated| [unit]."""
    rms: float
    """Root of the mean square of the difference [unit]."""
    inside: float
    """Share of the samples inside the band [1]."""


def read(path: Path, units: Mapping[str, str]) -> Measured:
    """A CSV in the form of docs/csv.md whose columns are outputs or inputs. Raises UsageError."""
    names: list[str] = []

    def column(where: str, name: str) -> Column:
        if name not in units:
            raise UsageError(f"{where}: no signal {name!r}; expected outputs or inputs of `jounce describe`")
        names.append(name)
        return Column(name, units[name], lambda place, text: finite(place, name, text))

    try:
        time, values = read_columns(path, column)
    except OSError as error:
        raise UsageError(f"--measured {path}: {error.strerror}") from error
    if not names:
        raise UsageError(f"{path.name}: no column but time; expected at least one signal")
    return Measured(path.name, time, dict(zip(names, values.T, strict=True)))


def judged(measured: Measured, log: Log, units: Mapping[str, str], share: float) -> tuple[list[Judged], list[Plot]]:
    """Every signal against the run, which is interpolated linearly at the samples that lie within its time.

    ``share`` is half of a band's width over the largest magnitude of the simulated signal. Raises UsageError.
    """
    keep = (measured.time >= log.time[0]) & (measured.time <= log.time[-1])
    if not keep.any():
        raise UsageError(f"{measured.name}: no sample from {log.time[0]:g} to {log.time[-1]:g} s, the time of the run "
                         f"{log.title!r}; expected its clock (time 0 at the start of the run)")  # fmt: skip
    time, found, plots = measured.time[keep], [], []
    for name, values in measured.signals.items():
        simulated = np.interp(time, log.time, log[name])
        difference = values[keep] - simulated
        band = share * float(np.abs(simulated).max())
        rms = float(np.sqrt(np.mean(difference**2)))
        inside = float(np.mean(np.abs(difference) <= band))
        found.append(Judged(name, units[name], band, float(np.abs(difference).max()), rms, inside))
        plots.append(Plot(f"{name}: measured and simulated", "time [s]", f"[{units[name]}]", [
            ("simulated", time, simulated), ("upper boundary", time, simulated + band),
            ("lower boundary", time, simulated - band), ("measured", time, values[keep])]))  # fmt: skip
    return found, plots
