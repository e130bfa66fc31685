"""Two models as another package would add them: the tests' oscillator, and a pendulum with two data sets."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

from jounce.signals import Signal, SignalTable, State
from jounce_fmu.build.library import Sources
from jounce_fmu.build.table_c import emit_header, emit_table
from jounce_fmu.models import Model

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "fmu"))
import oscillator  # noqa: E402

#: Where the emitted files and the libraries lie.
FOLDER = Path(os.environ["JOUNCE_TEST_MODELS"])


def _parameter(name: str, unit: str, start: float, text: str, low: float, high: float) -> Signal:
    return Signal(name, "parameter", unit, text, start=(start,), minimum=low, maximum=high, variability="fixed")


def _pendulum(name: str | Path) -> SignalTable:
    table = SignalTable("pendulum", (
        Signal("torque", "input", "N.m", "at the pivot", minimum=-1e3, maximum=1e3),
        Signal("angle", "output", "rad", "from hanging"),
        Signal("rate", "output", "rad/s", "its rate"),
        _parameter("tick", "s", 0.001, "internal step", 1e-5, 0.1),
        _parameter("mass", "kg", 1.0, "of the bob", 1e-3, 1e3),
        _parameter("length", "m", 1.0 if str(name) == "pendulum" else 0.25, "of the rod", 1e-3, 1e2),
        _parameter("gravity", "m/s2", 9.81, "along -z", 0.0, 100.0),
        _parameter("damping", "N.m.s", 0.0, "at the pivot", 0.0, 1e3),
        _parameter("angle_start", "rad", 0.1, "angle at the start", -3.0, 3.0),
    ), (State("state.angle", "rad", "from hanging"), State("state.rate", "rad/s", "its rate")), derivatives=True)
    return replace(table, name=str(name))


def _pendulum_files() -> dict[Path, str]:
    table = _pendulum("pendulum")
    return {FOLDER / "pendulum_table.c": emit_table(table, "pendulum"),
            FOLDER / "pendulum_table.h": emit_header(table, "pendulum")}


def _write(files: dict[Path, str]) -> tuple[Path, ...]:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    return tuple(files)


OSCILLATOR = Model(
    name="oscillator",
    data_sets=("oscillator",),
    sources=Sources("jounce_oscillator", (HERE.parent / "fmu" / "models" / "oscillator.c",
                                          *_write(oscillator.emitted(FOLDER)))),
    read=lambda _name: oscillator.TABLE,
    emit=lambda: oscillator.emitted(FOLDER),
    libraries=FOLDER,
)
PENDULUM = Model(
    name="pendulum",
    data_sets=("pendulum", "short_pendulum"),
    sources=Sources("jounce_pendulum", (HERE / "pendulum.c", *_write(_pendulum_files()))),
    read=_pendulum,
    emit=_pendulum_files,
    libraries=FOLDER,
)
BROKEN = "not a model"
