"""The oscillator's signal table, its sources and its exact solution."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from jounce.signals import XYZ, Signal, SignalTable, State
from jounce_fmu.build.library import Sources
from jounce_fmu.build.table_c import emit_header, emit_table


def _parameter(name: str, unit: str, start: float, text: str, low: float = -1e6, high: float = 1e6,
               tunable: bool = False) -> Signal:
    return Signal(name, "parameter", unit, text, start=(start,), minimum=low, maximum=high,
                  variability="tunable" if tunable else "fixed")


TABLE = SignalTable("oscillator", (
    Signal("force", "input", "N", "force on the mass", minimum=-1e9, maximum=1e9),
    Signal("push", "input", "N", "second force, x moves the mass", XYZ, minimum=-1e6, maximum=1e6, alias="shove"),
    Signal("position", "output", "m", "deflection", alias="displacement"),
    Signal("velocity", "output", "m/s", "its rate"),
    Signal("acceleration", "output", "m/s2", "its second rate"),
    Signal("tick_count", "output", "1", "ticks since the start", type="Integer", variability="discrete"),
    Signal("load", "output", "N", "sum of the forces from outside", XYZ, nominal=10.0),
    _parameter("tick", "s", 0.001, "internal step", 1e-5, 0.1),
    _parameter("mass", "kg", 2.0, "mass; must be above 0", 0.0),
    _parameter("stiffness", "N/m", 50.0, "spring rate", 0.0),
    _parameter("damping", "N.s/m", 0.8, "damper rate", -1e6),
    _parameter("x0", "m", 0.1, "start deflection"),
    _parameter("gain", "1", 1.0, "factor on the force", tunable=True),
    Signal("cubic", "parameter", "1", "adds a cubic spring", start=(0.0,), type="Boolean", variability="fixed",
           minimum=0.0, maximum=1.0),
    Signal("direction", "parameter", "1", "of the force", start=(1.0,), type="Enumeration", variability="fixed",
           items=("RIGHT", "LEFT"), minimum=1.0, maximum=2.0),
), (State("state.position", "m", "deflection", 0.1), State("state.velocity", "m/s", "its rate")), derivatives=True)


def emitted(folder: Path) -> dict[Path, str]:
    """Path -> text of what is emitted."""
    return {folder / "oscillator_table.c": emit_table(TABLE, "oscillator"),
            folder / "oscillator_table.h": emit_header(TABLE, "oscillator")}


def sources(folder: Path) -> Sources:
    """Emit the table into ``folder`` and list the model's files."""
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in emitted(folder).items():
        path.write_text(text)
    return Sources("jounce_oscillator", (Path(__file__).parent / "models" / "oscillator.c", *emitted(folder)))


def exact(t: float, mass: float = 2.0, stiffness: float = 50.0, damping: float = 0.8, x0: float = 0.1) -> float:
    """Free underdamped motion from rest at x0: textbook solution, in m."""
    decay = damping / (2 * mass)
    omega = np.sqrt(stiffness / mass - decay**2)
    return float(x0 * np.exp(-decay * t) * (np.cos(omega * t) + decay / omega * np.sin(omega * t)))
