"""The powertrain's functions and the orders of their numbers as C, which every vehicle with a powertrain shares."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from jounce.codegen.emitter import emit_file
from jounce.codegen.forward import forward
from jounce.math.algebra import SX
from jounce.math.layout import Layout
from jounce.models.double_wishbone.axles_c import enumerators
from jounce.models.double_wishbone.emit_axles import _function as of_entries
from jounce.powertrain import driveline, ports
from jounce.powertrain.layouts import COLUMN_NUMBERS, GIVEN, MEMORY, NUMBERS, PORT, REPORT
from jounce.powertrain.numbers import numbers
from jounce.steering import column

__all__ = ["FUNCTION", "files"]

GENERATOR = "jounce.powertrain.emit"
#: Name in C of the function that makes NUMBERS from the entries.
FUNCTION = "vehicle_powertrain"
#: Function -> its inputs that have no tangents: numbers of the vehicle.
_CONSTANT = {"driveline": (3,), "ports": (0, 4, 5), "column_by_torque": (3,), "column_by_angle": (3,), "arm_load": (4,)}
#: Inputs of the lane function and of its tangents that are the same for all wheels.
_SHARED = {"arm_load": (2,), "arm_load_forward": (2, 7)}


def _numbers(p: Mapping[str, SX], more: Sequence[SX]) -> Sequence[SX]:
    return [numbers(p, more[0]), column.numbers(p)]


def files() -> dict[str, str]:
    """File name to text."""
    of_vehicle, entries = of_entries(FUNCTION, _numbers, ("both",))
    functions = [driveline.function(), ports.function(), column.torque_function(), column.angle_function()]
    lanes = [column.load_function()]
    layouts: dict[str, Layout] = {
        "DRIVELINE": driveline.STATES, "GIVEN": GIVEN, "GEARBOX": MEMORY, "POWER_NUMBER": NUMBERS, "PORT": PORT,
        "DRIVELINE_REPORT": REPORT, "COLUMN": column.STATES, "COLUMN_NUMBER": COLUMN_NUMBERS,
    }  # fmt: skip
    lines = [line for prefix, layout in layouts.items() for line in enumerators(prefix, layout)]
    lines[-1] = lines[-1].rstrip(",")
    body = "\n".join(lines)
    tangents = [forward(f, constant=_CONSTANT[f.name()]) for f in functions]
    of_lanes = [forward(f, constant=_CONSTANT[f.name()]) for f in lanes]
    return {
        "powertrain_layout.h": f"/* Emitted by {GENERATOR}; do not edit. */\nenum {{\n{body}\n}};\n",
        "powertrain_scalar.inc": emit_file([*functions, of_vehicle], GENERATOR),
        "powertrain_scalar_forward.inc": emit_file(tangents, GENERATOR),
        "powertrain_lanes.inc": emit_file([*lanes, *of_lanes], GENERATOR, _SHARED),
        "powertrain_entries.json": json.dumps({FUNCTION: entries}, indent=1) + "\n",
    }
