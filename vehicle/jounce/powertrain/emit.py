"""The powertrain's functions and the orders of their numbers as C.

Every vehicle with a powertrain shares those of its wheels and lanes. The others are those of its driven axles; of one
or two they come with jounce.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import casadi as ca

from jounce.brakes import disc
from jounce.codegen.emitter import emit_file
from jounce.codegen.forward import forward
from jounce.math.algebra import SX
from jounce.math.layout import Layout
from jounce.models.double_wishbone.axles_c import enumerators
from jounce.models.double_wishbone.emit_axles import CODE, of_entries, shared_seeds
from jounce.powertrain import driveline, electric, electric_layouts, joined, ports
from jounce.powertrain.kinds import AUTOMATIC, ELECTRIC
from jounce.powertrain.layouts import (
    ARM_PORT,
    COLUMN_NUMBERS,
    CONVERTER_STEPS,
    FIRING,
    FLOORED,
    MEMORY,
    PORT,
    REPORT,
    SHAFT,
    given_of,
    numbers_of,
)
from jounce.powertrain.numbers import numbers
from jounce.powertrain.train import TWO, Train
from jounce.steering import column
from jounce.steering.pitman import INNER
from jounce.suspension.double_wishbone import OUTPUTS

__all__ = ["files", "of_train"]

GENERATOR = "jounce.powertrain.emit"
#: Function -> its inputs that have no tangents: numbers of the vehicle.
_CONSTANT = {
    "driveline": (3,), "column_by_torque": (3,), "column_by_angle": (3,), "arm_load": (4,), "joined": (0, 7, 8),
    "disc": (3,), "half_speed": (3,), "port": (2, 4), "half_speed_pair": (7, 8), "port_pair": (6, 7, 9, 10),
}  # fmt: skip
#: Inputs of the lane functions that are the same for all lanes.
_SHARED = {"arm_load": (2,), "half_speed": (2,), "port": (3,), "half_speed_pair": (6,), "port_pair": (8,),
           "hold_clutch": (1,), "hold_axle": (1,), "joined_solve": (0,)}  # fmt: skip


def arm_inertia(corner: ca.Function) -> ca.Function:
    """arm_inertia(STATES, INNER, corner numbers) -> inertia [kg.m2] of a double wishbone's corner on the steering arm.

    It is what its part of the linkage's torque falls by per unit of the arm's acceleration, with everything else held.
    """
    state, inner, omega, number = (SX.sym(f"i{k}", corner.size1_in(k)) for k in range(4))
    bias = corner(state, inner, omega, number)[OUTPUTS.first["steer_bias"]]
    acceleration, partial = (slice(INNER.first[n], INNER.first[n] + 3) for n in ("end_acceleration", "end_partial"))
    found = ca.jacobian(bias, inner)[:, acceleration] @ inner[partial]
    return ca.Function("arm_inertia", [state, inner, number], [ca.cse(ca.densify(found))])


def _tangents(functions: list[ca.Function]) -> str:
    return emit_file([forward(f, constant=_CONSTANT[f.name()]) for f in functions], GENERATOR)


def of_train(train: Train) -> tuple[dict[str, list[str]], dict[str, str]]:
    """(function -> the entries that it reads, path as in `files` -> text) of what depends on the driven axles.

    Tangents are of the whole functions; values come from their parts, of which some are for several lanes at once.
    """
    of_vehicle, entries = of_entries(AUTOMATIC.function, lambda p, more: [numbers(p, more[0], train),
                                                                          column.numbers(p)], ("both",))  # fmt: skip
    power, chassis = driveline.part_functions(train)[0], joined.part_functions(train)[0]
    by_angle = column.angle_function()
    ratios = ", ".join(f"JN_P_differential_{axle}_ratio" for axle in train.axles)
    locks = {f"{axle}_lock": f"{axle}_diff_lock" for axle in train.axles} | {"centre_lock": "centre_diff_lock"}
    locks |= {split.lock: split.lock for split in train.through}
    pairs = ", ".join(f"{{JN_GIVEN_{lock}, JN_U_{name}}}" for lock, name in locks.items())
    return {AUTOMATIC.function: entries}, {
        "generated/powertrain_layout.h": _header({
            "PORT": PORT, "SHAFT": SHAFT, "ARM_PORT": ARM_PORT, "COLUMN": column.STATES,
            "POWER_NUMBER": numbers_of(train), "COLUMN_NUMBER": COLUMN_NUMBERS, "HELD": driveline.HELD,
            "HOLDS": driveline.HOLDS, "FACTOR": joined.FACTOR,
        }, DRIVEN_AXLES=len(train.axles), SIDES=driveline.sides(train)) + f"#define JN_AXLE_RATIOS {ratios}\n",
        "generated/powertrain_scalar.inc": emit_file([*chassis, by_angle], GENERATOR),
        "generated/powertrain_scalar_forward.inc": _tangents([joined.whole_function(train), column.torque_function(),
                                                              by_angle]),
        "automatic/generated/driveline_layout.h": _header({
            "DRIVELINE": driveline.states(train), "GIVEN": given_of(train), "GEARBOX": MEMORY,
            "DRIVELINE_REPORT": REPORT,
        }, CONVERTER_STEPS=CONVERTER_STEPS) + f"#define JN_FIRING {FIRING}\n#define JN_FLOORED {FLOORED}\n"
        f"#define JN_LOCKS {pairs} /* and the inputs that turn them */\n",
        "automatic/generated/driveline_scalar.inc": emit_file([*power, driveline.shafts_function(train), of_vehicle],
                                                               GENERATOR),
        "automatic/generated/driveline_scalar_forward.inc": _tangents([driveline.whole_function(train)]),
    }  # fmt: skip


def _of_motors() -> tuple[dict[str, list[str]], dict[str, str]]:
    """The same of electric motors."""
    of_vehicle, entries = of_entries(ELECTRIC.function, lambda p, more: [electric.numbers(p, more[0]),
                                                                         column.numbers(p)], ("both",))  # fmt: skip
    whole = electric.whole_function()
    return {ELECTRIC.function: entries}, {
        "electric/generated/driveline_layout.h": _header({
            "DRIVELINE": electric.STATES, "GIVEN": electric_layouts.GIVEN, "GEARBOX": electric_layouts.MEMORY,
            "DRIVELINE_REPORT": electric_layouts.REPORT, "MOTOR": electric_layouts.MOTORS,
        }),
        "electric/generated/driveline_scalar.inc": emit_file([whole, electric.shafts_function(), of_vehicle],
                                                             GENERATOR),
        "electric/generated/driveline_scalar_forward.inc": _tangents([whole]),
    }  # fmt: skip


def files() -> dict[str, str]:
    """Path in the folder of the powertrain's C to text, of what comes with jounce."""
    entries, texts = of_train(TWO)
    more, motors = _of_motors()
    held, solver = driveline.part_functions()[1], joined.part_functions()[1]
    *corner, arm = ports.corner_functions()
    *pair, pair_arm = ports.pair_functions()

    def of_lanes(values: list[ca.Function], more: list[ca.Function]) -> str:
        """Text of lane functions with their tangents, and of those that have none."""
        made = [forward(f, constant=_CONSTANT[f.name()]) for f in values]
        seeds = shared_seeds(values, _SHARED, _CONSTANT)
        return emit_file([*values, *more, *made], GENERATOR, {**_SHARED, **seeds})

    return {
        **texts,
        **motors,
        "generated/powertrain_sides.inc": emit_file([*held, solver], GENERATOR, _SHARED),
        "generated/powertrain_lanes.inc": of_lanes([column.load_function(), disc.function(), *corner],
                                                   [arm, arm_inertia(CODE.corner[0])]),
        "generated/powertrain_pair.inc": of_lanes(pair, [pair_arm]),
        "generated/powertrain_entries.json": json.dumps(entries | more, indent=1) + "\n",
    }  # fmt: skip


def _header(layouts: Mapping[str, Layout], **sizes: int) -> str:
    """C header with the places of every layout's parts, and further numbers."""
    lines = [line for prefix, layout in layouts.items() for line in enumerators(prefix, layout)]
    lines += [f"    JN_{name} = {size}," for name, size in sizes.items()]
    lines[-1] = lines[-1].rstrip(",")
    body = "\n".join(lines)
    return f"/* Emitted by {GENERATOR}; do not edit. */\nenum {{\n{body}\n}};\n"
