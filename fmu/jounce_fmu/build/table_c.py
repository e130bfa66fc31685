"""Emits a signal table as C: the rows that the runtime reads, and the indices that a model's code uses."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Sequence

from jounce.signals import SignalTable
from jounce_fmu.description.fmi2 import interface_guid

_TYPES = {"Real": "r", "Integer": "i", "Boolean": "b", "Enumeration": "e"}
_KINDS = {"input": "u", "output": "y", "parameter": "p"}


def _number(value: float) -> str:
    if math.isinf(value):
        return "HUGE_VAL" if value > 0 else "-HUGE_VAL"
    return repr(float(value))


def _banner(table: SignalTable, model_name: str) -> str:
    guid = interface_guid(table)
    return f"/* Emitted by jounce_fmu.build.table_c for {model_name}, interface {guid}. Do not edit. */\n"


def emit_table(table: SignalTable, model_name: str) -> str:
    """Text of ``<model_name>_table.c``: the GUID and one row per scalar, u then y then p."""
    rows = []
    places = {s.name: s for s in table.parameters}
    for s in (*table.inputs, *table.outputs, *table.parameters):
        g = s.signal
        switch, at = (places[g.used_where[0]].index, places[g.used_where[0]].signal.items.index(g.used_where[1]) + 1)\
            if g.used_where else (-1, 0)
        fixed = int(g.causality == "parameter" and g.variability == "fixed")
        more = len(g.components) - 1 - g.components.index(s.name.removeprefix(g.name))
        bounds = ", ".join(_number(v) for v in (s.start, s.minimum, s.maximum))
        rows.append(
            f"    {{\"{s.name}\", {s.value_reference}U, '{_KINDS[g.causality]}', '{_TYPES[g.type]}', "
            f"{fixed}, {s.index}, {bounds}, {more}, {_number(g.nominal)}, {switch}, {_number(at)}, "
            f"{_number(g.least_up)}, {_number(g.least_nonzero)}}},\n"
        )
    return (
        _banner(table, model_name)
        + '#include <math.h>\n\n#include "jn_model.h"\n\n'
        + f'const char jn_guid[] = "{interface_guid(table)}";\n\n'
        + "const jn_signal jn_table[] = {\n"
        + "".join(rows)
        + "};\n"
        + _by_reference(table)
        + _states(table)
    )


def _array(kind: str, name: str, numbers: Sequence[str]) -> str:
    lines = textwrap.fill(", ".join(numbers), 116, initial_indent="    ", subsequent_indent="    ")
    return f"\nconst {kind} {name}[] = {{\n{lines}\n}};\n"


def _by_reference(table: SignalTable) -> str:
    references = [s.value_reference for s in (*table.inputs, *table.outputs, *table.parameters)]
    rows = sorted(range(len(references)), key=references.__getitem__)
    return _array("int", "jn_by_reference", [str(row) for row in rows])


def _states(table: SignalTable) -> str:
    if not table.states:
        return ""
    nominals = [*(_number(s.nominal) for s in table.states), "0.0"]
    references = [f"{r}U" for r in table.state_references]
    return _array("double", "jn_nominals", nominals) + _array("unsigned", "jn_state_references", references)


def emit_header(table: SignalTable, model_name: str) -> str:
    """Text of ``<model_name>_table.h``: sizes, and the index of each scalar in u, y or p.

    For example, ``JN_P_front_spring_k1`` is an index into p, and ``JN_ROW_P + JN_P_front_spring_k1`` is its row in the
    table, as a jn_fault needs it.
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
