"""``jounce describe``: the signal table, for people and for programs."""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final, TextIO

from jounce.signals import Scalar, Signal, SignalTable
from jounce_fmu.description.fmi2 import default_tick_length
from jounce_fmu.importer.tables import model_table
from jounce_tools.cli.assignments import add_vehicle
from jounce_tools.errors import UsageError

_CAUSALITIES: Final = ("input", "output", "parameter")
#: Columns for people; the last one is not padded.
_HEAD: Final = ("name", "type", "unit", "frame", "start", "minimum", "maximum", "description")
_CSV: Final = ("name", "causality", "type", "unit", "frame", "start", "minimum", "maximum", "variability", "items",
               "value_reference", "description")  # fmt: skip

#: A signal with its scalars.
Group = tuple[Signal, list[Scalar]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    add_vehicle(parser)
    parser.add_argument(
        "--format", choices=tuple(FORMATS), default="table",
        help="table and md: a line per signal; csv: one per scalar; json: one object; dbc: a CAN database for "
             "`jounce bridge can` (default: %(default)s)",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Prints the table."""
    table = model_table(arguments.vehicle)
    FORMATS[arguments.format](table, sys.stdout)
    return 0


def groups(table: SignalTable) -> Iterator[Group]:
    """Signals with their scalars: inputs, outputs, parameters."""
    scalars = iter(table.scalars)
    found = [(signal, [next(scalars) for _ in signal.components]) for signal in table.signals]
    yield from sorted(found, key=lambda g: _CAUSALITIES.index(g[0].causality))


def write_table(table: SignalTable, file: TextIO) -> None:
    """Aligned columns under a heading per causality."""
    rows = [(g[0].causality, _cells(g)) for g in groups(table)]
    widths = [max(map(len, column)) for column in zip(_HEAD, *(cells for _, cells in rows), strict=True)][:-1]
    causality = ""
    for own, cells in rows:
        if own != causality:
            causality = own
            file.write(f"{causality}s\n{_line(_HEAD, widths)}\n")
        file.write(f"{_line(cells, widths)}\n")


def write_markdown(table: SignalTable, file: TextIO) -> None:
    """A table of Markdown per causality."""
    causality = ""
    for group in groups(table):
        if group[0].causality != causality:
            file.write(f"{chr(10) if causality else ''}## {group[0].causality}s\n\n")
            causality = group[0].causality
            file.write(f"| {' | '.join(_HEAD)} |\n{'|---' * len(_HEAD)}|\n")
        name, *rest = (cell.replace("|", "\\|") for cell in _cells(group))
        file.write(f"| `{name}` | {' | '.join(rest)} |\n")


def write_csv(table: SignalTable, file: TextIO) -> None:
    """A row per scalar; no bound is an empty cell."""
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(_CSV)
    for g, scalars in groups(table):
        for s in scalars:
            bounds = (_number(s.minimum, ""), _number(s.maximum, ""))
            writer.writerow([s.name, g.causality, g.type, g.unit, g.frame, _value(s), *bounds, g.variability,
                             " ".join(g.items), s.value_reference, g.description])  # fmt: skip


def write_json(table: SignalTable, file: TextIO) -> None:
    """One object; lists have a place per component, and no bound is null."""
    signals = [
        {
            "name": g.name,
            "causality": g.causality,
            "type": g.type,
            "unit": g.unit,
            "frame": g.frame,
            "components": [s.name for s in scalars],
            "start": [_json(s) for s in scalars],
            "minimum": [s.minimum if math.isfinite(s.minimum) else None for s in scalars],
            "maximum": [s.maximum if math.isfinite(s.maximum) else None for s in scalars],
            "variability": g.variability,
            "items": list(g.items),
            "value_references": [s.value_reference for s in scalars],
            "description": g.description,
        }
        for g, scalars in groups(table)
    ]
    json.dump({"vehicle": table.name, "tick": default_tick_length(table), "signals": signals}, file, indent=1)
    file.write("\n")


def write_dbc(table: SignalTable, file: TextIO) -> None:
    """A CAN database. Raises UsageError without cantools."""
    from jounce_client.bridges import dbc
    from jounce_client.bridges.session import BridgeError

    def of(s: Scalar, is_input: bool) -> dbc.Scalar:
        g = s.signal
        low, high = (-math.inf if g.minimum is None else g.minimum, math.inf if g.maximum is None else g.maximum)
        return dbc.Scalar(s.name, g.unit, low, high, g.nominal, s.start, g.description, is_input, g.type != "Real")

    known = [of(s, is_input) for is_input, group in ((True, table.inputs), (False, table.outputs)) for s in group]
    try:
        made, _ = dbc.database(known, 0.01)
    except BridgeError as error:
        raise UsageError(str(error)) from None
    file.write(made.as_dbc_string())


#: Name of a format -> who writes it.
FORMATS: Final[dict[str, Callable[[SignalTable, TextIO], None]]] = {
    "table": write_table,
    "json": write_json,
    "csv": write_csv,
    "md": write_markdown,
    "dbc": write_dbc,
}


def _cells(group: Group) -> tuple[str, ...]:
    g, scalars = group
    kind = "|".join(g.items) or (",".join(c.lstrip(".") for c in g.components) if g.shape else g.type)
    bounded = g.type in ("Real", "Integer")
    least = [_number(s.minimum, "-") if bounded else "-" for s in scalars]
    most = [_number(s.maximum, "-") if bounded else "-" for s in scalars]
    start = [_value(s) for s in scalars] if g.causality != "output" else ["-"]
    return (g.name, kind, g.unit, g.frame or "-", _together(start), _together(least), _together(most), g.description)


def _together(values: list[str]) -> str:
    """One value where all components have the same."""
    return values[0] if len(set(values)) == 1 else ",".join(values)


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    return "  " + "  ".join([*(f"{c:{w}}" for c, w in zip(cells, widths, strict=False)), cells[-1]])


def _number(value: float, without: str) -> str:
    return repr(value) if math.isfinite(value) else without


def _value(scalar: Scalar) -> str:
    g = scalar.signal
    if g.items:
        return g.items[int(scalar.start) - 1]
    if g.type == "Boolean":
        return "true" if scalar.start else "false"
    return repr(scalar.start)


def _json(scalar: Scalar) -> Any:
    return scalar.start if scalar.signal.type in ("Real", "Integer") else _value(scalar)
