"""The turntable's signal table and sources."""

from __future__ import annotations

from pathlib import Path

from jounce.signals import QUATERNION, Signal, SignalTable, State
from jounce_fmu.build.library import Sources
from jounce_fmu.build.table_c import emit_header, emit_table

TABLE = SignalTable("turntable", (
    Signal("speed", "input", "rad/s", "speed about z"),
    Signal("heading", "output", "rad", "angle about z"),
    Signal("length", "output", "1", "of the quaternion"),
    Signal("jump", "output", "rad/s", "speed less the remembered one"),
    Signal("heading_start", "parameter", "rad", "heading at the start", variability="fixed"),
), tuple(State(f"attitude{suffix}", "1", "attitude, w x y z") for suffix in QUATERNION))


def sources(folder: Path) -> Sources:
    """Emit the table into ``folder`` and list the model's files."""
    (folder / "turntable_table.c").write_text(emit_table(TABLE, "turntable"))
    (folder / "turntable_table.h").write_text(emit_header(TABLE, "turntable"))
    model = Path(__file__).parent / "models" / "turntable.c"
    return Sources("jounce_turntable", (model, folder / "turntable_table.c", folder / "turntable_table.h"))
