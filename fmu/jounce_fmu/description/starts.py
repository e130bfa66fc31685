"""Changes start values in a signal table, for FMUs in tools that do not set parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from jounce.renamed import twice
from jounce.signals import SignalTable
from jounce.values import Value, double
from jounce_fmu.build.library import BadRequest


def changed(table: SignalTable, starts: Mapping[str, Value]) -> SignalTable:
    """The table with other start values, by scalar name; enumerations take item names. Raises BadRequest."""
    signals = {s.name: s for s in table.signals}
    if fault := twice(starts, signals):
        raise BadRequest(fault)
    for name, value in starts.items():
        try:
            scalar = table.by_name(name)
            g = signals[scalar.signal.name]
            if g.causality == "output":
                raise ValueError(f"{name} is an output: expected inputs and parameters")
            if g.type == "String":
                signals[g.name] = replace(g, text=str(value))
                continue
            start = list(g.start or (0.0,) * len(g.components))
            start[g.components.index(scalar.name.removeprefix(g.name))] = double(scalar, value)
            signals[g.name] = replace(g, start=tuple(start))
        except KeyError as error:
            raise BadRequest(str(error.args[0])) from None
        except ValueError as error:
            raise BadRequest(str(error)) from None
    return replace(table, signals=tuple(signals.values()))
