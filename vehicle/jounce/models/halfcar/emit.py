"""The half car's functions and the orders of their numbers, as C. `python -m jounce_fmu.build.generate` writes them."""

from __future__ import annotations

import re

from jounce.codegen.emitter import emit_file
from jounce.codegen.forward import forward
from jounce.models.halfcar import equations, traction
from jounce.signals import SignalTable

GENERATOR = "jounce.models.halfcar.emit"
#: Layouts that the C glue reads, by prefix.
LAYOUTS = {"X": equations.STATES, "INPUT": equations.INPUTS, "NUMBER": equations.NUMBERS, "ROWS": equations.ROWS,
           "GROUND": equations.GROUND, "REDUCED": equations.REDUCED, "REPORT": equations.REPORT}  # fmt: skip


def _layouts() -> str:
    lines = []
    for prefix, layout in LAYOUTS.items():
        lines += [f"    JN_{prefix}_{re.sub('[^0-9A-Za-z]', '_', k)} = {at}," for k, at in layout.first.items()]
        lines.append(f"    JN_{prefix}_N = {layout.size},")
    body = "\n".join(lines).rstrip(",")
    return f"/* Emitted by {GENERATOR}; do not edit. */\nenum {{\n{body}\n}};\n"


def files(table: SignalTable) -> dict[str, str]:
    """File name to C text. Raises ValueError where the table's last parameters are not the numbers of the car."""
    names = list(equations.NUMBERS.sizes)
    if [s.name for s in table.parameters][-len(names) :] != names:
        raise ValueError("the table's parameters do not end with the numbers of the car, in their order")
    # Function -> its inputs that have no tangents.
    functions = {
        equations.rows_function(): (1, 3), equations.report_function(): (1,), equations.accelerations_function(): (),
        traction.weighted_function("relaxed"): (2,), traction.weighted_function("continuous"): (2,),
        traction.rolling_function(): (), traction.reduced_function(): (),
    }  # fmt: skip
    tangents = [forward(f, constant=constant) for f, constant in functions.items()]
    return {
        "halfcar_functions.inc": emit_file(list(functions), GENERATOR),
        "halfcar_forward.inc": emit_file(tangents, GENERATOR, pieces=True),
        "halfcar_layout.h": _layouts(),
    }
