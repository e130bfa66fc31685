"""Emits the C side of a signal table: the rows the runtime reads and the indices a model's code uses."""

from __future__ import annotations

import math
import re

from jounce.signals import SignalTable
from jounce_fmu.describe import interface_guid

_TYPES = {"Real": "r", "Integer": "i", "Boolean": "b", "Enumeration": "e"}
_KINDS = {"input": "u", "output": "y", "parameter": "p"}


def _number(value: float) -> str:
    if math.isinf(value):
        return "HUGE_VAL" if value > 0 else "-HUGE_VAL"
    return repr(float(value))


def _banner(table: SignalTable, model_name: str) -> str:
    return f"/* Emitted by jounce_fmu.table_c for {model_name}, interface {interface_guid(table)}. Do not edit. */\n"


def emit_table(table: SignalTable, model_name: str) -> str:
    """Text of ``<model_name>_table.c``: the GUID and one row per scalar, u then y then p."""
    rows = []
    for s in (*table.inputs, *table.outputs, *table.parameters):
        g = s.signal
        fixed = int(g.causality == "parameter" and g.variability == "fixed")
        more = len(g.components) - 1 - g.components.index(s.name.removeprefix(g.name))
        bounds = ", ".join(_number(v) for v in (s.start, s.minimum, s.maximum))
        rows.append(
            f"    {{\"{s.name}\", {s.value_reference}U, '{_KINDS[g.causality]}', '{_TYPES[g.type]}', "
            f"{fixed}, {s.index}, {bounds}, {more}}},\n"
        )
    return (
        _banner(table, model_name)
        + '#include <math.h>\n\n#include "jn_model.h"\n\n'
        + f'const char jn_guid[] = "{interface_guid(table)}";\n\n'
        + "const jn_signal jn_table[] = {\n"
        + "".join(rows)
        + "};\n"
        + _nominals(table)
    )


def _nominals(table: SignalTable) -> str:
    if not table.states:
        return ""
    numbers = [_number(s.nominal) for s in table.states]
    return f"\nconst double jn_nominals[] = {{{', '.join([*numbers, '0.0'])}}};\n"


def emit_header(table: SignalTable, model_name: str) -> str:
    """Text of ``<model_name>_table.h``: sizes, and the place of each scalar in u, y or p.

    ``JN_P_front_spring_k1`` is an index into p; ``JN_ROW_P + that`` is the row for a jn_fault.
    """
    n_u, n_y, n_p = len(table.inputs), len(table.outputs), len(table.parameters)
    lines = [f"    JN_N_U = {n_u},", f"    JN_N_Y = {n_y},", f"    JN_N_P = {n_p},"]
    lines += [f"    JN_N_SIGNALS = {n_u + n_y + n_p},"]
    lines += ["    JN_ROW_U = 0,", f"    JN_ROW_Y = {n_u},", f"    JN_ROW_P = {n_u + n_y},"]
    for letter, group in (("U", table.inputs), ("Y", table.outputs), ("P", table.parameters)):
        lines += [f"    JN_{letter}_{re.sub(r'[^0-9A-Za-z_]', '_', s.name)} = {s.index}," for s in group]
    lines[-1] = lines[-1].rstrip(",")
    guard = f"JN_{re.sub(r'[^0-9A-Za-z]', '_', model_name).upper()}_TABLE_H"
    return (
        _banner(table, model_name)
        + f"#ifndef {guard}\n#define {guard}\n\nenum {{\n"
        + "\n".join(lines)
        + "\n};\n\n#endif\n"
    )
