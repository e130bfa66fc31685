"""The functions of a four-corner double-wishbone vehicle and the orders of their numbers, as C.

``python -m jounce_fmu.generate`` writes them; a test fails when the committed files differ from these.
"""

from __future__ import annotations

import re

import casadi as ca

from jounce.data import load_vehicle
from jounce.emit.emitter import emit_file
from jounce.signals import WHEELS, SignalTable
from jounce.symbolic import articulated, corner, motion, parameters, reports, steering, wheel
from jounce.symbolic.forward import forward
from jounce.symbolic.layout import Layout

GENERATOR = "jounce.emit.double_wishbone"

#: The model's states; four of a kind are those of the wheels. The last two change only between ticks.
STATES = Layout(position=3, quaternion=4, theta=4, spin=4, angular=3, linear=3, theta_rate=4, spin_rate=4, bristle_x=4,
                bristle_y=4, wind_up=4, arm_rate=1, arm_acceleration=1)  # fmt: skip

#: Layouts that the C glue reads, by prefix.
LAYOUTS = {
    "X": STATES, "CORNER_IN": corner.INPUTS, "CORNER": corner.OUTPUTS, "CORNER_NUMBER": corner.NUMBERS,
    "CHASSIS": wheel.CHASSIS, "GIVEN": wheel.GIVEN, "WHEEL_NUMBER": wheel.NUMBERS, "WHEEL": wheel.RESULTS,
    "GATHERED": articulated.GATHERED, "REPORT": reports.WHEEL, "SHARE": reports.SHARE, "OWN": reports.OWN,
    "CHASSIS_NUMBER": reports.NUMBERS,
}  # fmt: skip


def lane_functions() -> list[ca.Function]:
    """Evaluated for each corner, four lanes at once where the processor can."""
    return [corner.function(corner.DYNAMICS), corner.function(), wheel.function(wheel.DYNAMICS), wheel.function(),
            articulated.eliminate_function(), articulated.expand_function(), reports.wheel_function()]  # fmt: skip


def scalar_functions() -> list[ca.Function]:
    """Evaluated once a vehicle."""
    derive = parameters.derive_function(load_vehicle("hmmwv"))
    return [steering.function(), articulated.chassis_function(), motion.function(), motion.external_function(),
            reports.chassis_function(), derive]  # fmt: skip


#: Functions that have tangents, and their inputs that hold numbers of the vehicle, which have none. The lean corner is
#: for the plain right-hand side alone.
CONSTANT: dict[str, tuple[int, ...]] = {
    "corner": (1,), "wheel": (4,), "eliminate": (2,), "expand": (3,), "report": (6,), "steering": (1,),
    "chassis": (0,), "motion": (2,), "external": (), "chassis_report": (2,),
}  # fmt: skip


def forward_functions(functions: list[ca.Function]) -> list[ca.Function]:
    """Those with tangents, for directional derivatives."""
    return [forward(f, constant=CONSTANT[f.name()]) for f in functions if f.name() in CONSTANT]


def emit_layouts(table: SignalTable, entries: int) -> str:
    """C header with the place of every named part; `entries` numbers of vehicle data close the parameters."""
    lines = [f"    JN_FIRST_ENTRY = {len(table.parameters) - entries},", f"    JN_LINKAGE_N = {steering.DERIVED},"]
    for prefix, layout in LAYOUTS.items():
        lines += [f"    JN_{prefix}_{re.sub('[^0-9A-Za-z]', '_', k)} = {at}," for k, at in layout.first.items()]
        lines.append(f"    JN_{prefix}_N = {layout.size},")
    lines[-1] = lines[-1].rstrip(",")
    body = "\n".join(lines)
    return f"/* Emitted by {GENERATOR}; do not edit. */\nenum {{\n{body}\n}};\n"


def check_reports(table: SignalTable) -> None:
    """Raise ValueError where a report's order is not that of the output signals."""
    wanted = [s.name for s in table.signals if s.causality == "output"]
    first = [*reports.CHASSIS.sizes, *(f"wheel_{w}.{name}" for w in WHEELS for name in reports.WHEEL.sizes)]
    if wanted[: len(first)] != first:
        odd = next((a, b) for a, b in zip(first, wanted, strict=False) if a != b)
        raise ValueError(f"the report has {odd[0]} where the signal table has {odd[1]}")


def files(table: SignalTable) -> dict[str, str]:
    """File name to C text, for the signal table of a double-wishbone vehicle."""
    check_reports(table)
    return {
        "double_wishbone_lanes.inc": emit_file(lane_functions(), GENERATOR),
        "double_wishbone_scalar.inc": emit_file(scalar_functions(), GENERATOR),
        "double_wishbone_lanes_forward.inc": emit_file(forward_functions(lane_functions()), GENERATOR),
        "double_wishbone_scalar_forward.inc": emit_file(forward_functions(scalar_functions()), GENERATOR),
        "double_wishbone_layout.h": emit_layouts(table, len(load_vehicle("hmmwv").entries)),
    }
