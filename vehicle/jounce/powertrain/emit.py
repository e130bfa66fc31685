"""The powertrain's functions and the orders of their numbers as C, which every vehicle with a powertrain shares."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import casadi as ca

from jounce.brakes import disc
from jounce.codegen.emitter import emit_file
from jounce.codegen.forward import forward
from jounce.math.algebra import SX
from jounce.math.layout import Layout
from jounce.models.double_wishbone.axles_c import enumerators
from jounce.models.double_wishbone.emit_axles import CODE, shared_seeds
from jounce.models.double_wishbone.emit_axles import _function as of_entries
from jounce.powertrain import driveline, joined, ports
from jounce.powertrain.layouts import ARM_PORT, COLUMN_NUMBERS, GIVEN, MEMORY, NUMBERS, PORT, REPORT, SHAFT
from jounce.powertrain.numbers import numbers
from jounce.steering import column
from jounce.steering.pitman import INNER
from jounce.suspension.double_wishbone import OUTPUTS

__all__ = ["FUNCTION", "files"]

GENERATOR = "jounce.powertrain.emit"
#: Name in C of the function that makes NUMBERS from the entries.
FUNCTION = "vehicle_powertrain"
#: Function -> its inputs that have no tangents: numbers of the vehicle.
_CONSTANT = {
    "driveline": (3,), "column_by_torque": (3,), "column_by_angle": (3,), "arm_load": (4,), "joined": (0, 7, 8),
    "disc": (3,), "half_speed": (3,), "port": (2, 4), "half_speed_pair": (7, 8), "port_pair": (6, 7, 9, 10),
}  # fmt: skip
#: Inputs of the lane functions that are the same for all lanes.
_SHARED = {"arm_load": (2,), "half_speed": (2,), "port": (3,), "half_speed_pair": (6,), "port_pair": (8,),
           "hold_clutch": (1,), "hold_axle": (1,), "joined_solve": (0,)}  # fmt: skip


def _numbers(p: Mapping[str, SX], more: Sequence[SX]) -> Sequence[SX]:
    return [numbers(p, more[0]), column.numbers(p)]


def arm_inertia(corner: ca.Function) -> ca.Function:
    """arm_inertia(STATES, INNER, corner numbers) -> inertia [kg.m2] of a double wishbone's corner on the steering arm.

    It is what its part of the linkage's torque falls by per unit of the arm's acceleration, with everything else held.
    """
    state, inner, omega, number = (SX.sym(f"i{k}", corner.size1_in(k)) for k in range(4))
    bias = corner(state, inner, omega, number)[OUTPUTS.first["steer_bias"]]
    acceleration, partial = (slice(INNER.first[n], INNER.first[n] + 3) for n in ("end_acceleration", "end_partial"))
    found = ca.jacobian(bias, inner)[:, acceleration] @ inner[partial]
    return ca.Function("arm_inertia", [state, inner, number], [ca.cse(ca.densify(found))])


def files() -> dict[str, str]:
    """Path in the folder of the powertrain's C to text.

    Tangents are of the whole functions; values come from their parts, of which some are for several lanes at once.
    """
    of_vehicle, entries = of_entries(FUNCTION, _numbers, ("both",))
    power, held = driveline.part_functions()
    chassis, solver = joined.part_functions()
    by_angle = column.angle_function()
    whole = [joined.whole_function(), column.torque_function(), by_angle]
    *corner, arm = ports.corner_functions()
    *pair, pair_arm = ports.pair_functions()

    def tangents(functions: list[ca.Function]) -> str:
        return emit_file([forward(f, constant=_CONSTANT[f.name()]) for f in functions], GENERATOR)

    def of_lanes(values: list[ca.Function], more: list[ca.Function]) -> str:
        """Text of lane functions with their tangents, and of those that have none."""
        made = [forward(f, constant=_CONSTANT[f.name()]) for f in values]
        seeds = shared_seeds(values, _SHARED, _CONSTANT)
        return emit_file([*values, *more, *made], GENERATOR, {**_SHARED, **seeds})

    return {
        "generated/powertrain_layout.h": _header({
            "PORT": PORT, "SHAFT": SHAFT, "ARM_PORT": ARM_PORT, "COLUMN": column.STATES, "POWER_NUMBER": NUMBERS,
            "COLUMN_NUMBER": COLUMN_NUMBERS, "HELD": driveline.HELD, "HOLDS": driveline.HOLDS, "FACTOR": joined.FACTOR,
        }),
        "generated/powertrain_scalar.inc": emit_file([*chassis, by_angle], GENERATOR),
        "generated/powertrain_scalar_forward.inc": tangents(whole),
        "generated/powertrain_sides.inc": emit_file([*held, solver], GENERATOR, _SHARED),
        "generated/powertrain_lanes.inc": of_lanes([column.load_function(), disc.function(), *corner],
                                                   [arm, arm_inertia(CODE.corner[0])]),
        "generated/powertrain_pair.inc": of_lanes(pair, [pair_arm]),
        "generated/powertrain_entries.json": json.dumps({FUNCTION: entries}, indent=1) + "\n",
        "automatic/generated/driveline_layout.h": _header({
            "DRIVELINE": driveline.STATES, "GIVEN": GIVEN, "GEARBOX": MEMORY, "DRIVELINE_REPORT": REPORT,
        }),
        "automatic/generated/driveline_scalar.inc": emit_file([*power, of_vehicle], GENERATOR),
        "automatic/generated/driveline_scalar_forward.inc": tangents([driveline.whole_function()]),
    }  # fmt: skip


def _header(layouts: Mapping[str, Layout]) -> str:
    """C header with the places of every layout's parts."""
    lines = [line for prefix, layout in layouts.items() for line in enumerators(prefix, layout)]
    lines[-1] = lines[-1].rstrip(",")
    body = "\n".join(lines)
    return f"/* Emitted by {GENERATOR}; do not edit. */\nenum {{\n{body}\n}};\n"
