"""What a master needs to know of an FMU, from our signal table or from a foreign model description."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jounce.signals import Causality, Scalar, Signal, SignalTable, Type
from jounce_fmu.describe import default_tick, interface_guid

#: FMI 2 getter and setter of each type; enumerations travel as integers.
CALLS: dict[Type, str] = {"Real": "Real", "Integer": "Integer", "Boolean": "Boolean", "Enumeration": "Integer"}


@dataclass(frozen=True)
class Variable:
    """One scalar of the FMU: its name, FMI value reference and signal."""

    name: str
    reference: int
    signal: Signal


@dataclass(frozen=True)
class Interface:
    """GUID, step and variables of an FMU, each group in vector order."""

    guid: str
    table: SignalTable
    tick: float
    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    parameters: tuple[Variable, ...]

    @classmethod
    def of_table(cls, table: SignalTable) -> Interface:
        """The interface of one of our own models."""

        def group(scalars: tuple[Scalar, ...]) -> tuple[Variable, ...]:
            return tuple(Variable(s.name, s.value_reference, s.signal) for s in scalars)

        return cls(
            interface_guid(table),
            table,
            default_tick(table),
            group(table.inputs),
            group(table.outputs),
            group(table.parameters),
        )

    @classmethod
    def of_description(cls, description: Any) -> Interface:
        """The interface of any FMI 2 FMU from fmpy's ``ModelDescription``; String variables are left out."""
        groups: dict[Causality, list[Variable]] = {"input": [], "output": [], "parameter": []}
        for v in description.modelVariables:
            if v.causality in groups and v.type in CALLS:
                groups[v.causality].append(Variable(v.name, v.valueReference, _signal(v)))
        signals = tuple(v.signal for group in groups.values() for v in group)
        experiment = description.defaultExperiment
        step = float(experiment.stepSize) if experiment is not None and experiment.stepSize else 0.0
        table = SignalTable(description.modelName, signals)
        tick = next((s.start for s in table.parameters if s.name == "tick"), step) or default_tick(table)
        return cls(
            description.guid,
            table,
            tick,
            tuple(groups["input"]),
            tuple(groups["output"]),
            tuple(groups["parameter"]),
        )


def _signal(v: Any) -> Signal:
    declared = v.declaredType
    items = tuple(i.name for i in declared.items or ()) if declared is not None and v.type == "Enumeration" else ()
    unit = v.unit or (declared.unit if declared is not None else None) or "1"
    low, high = (v.min, v.max) if v.min is not None or declared is None else (declared.min, declared.max)
    return Signal(
        v.name,
        v.causality,
        unit,
        v.description or "",
        start=(_start(v),),
        minimum=-math.inf if low is None else float(low),
        maximum=math.inf if high is None else float(high),
        type=v.type,
        variability=v.variability if v.variability in ("discrete", "fixed", "tunable") else "continuous",
        items=items,
    )


def _start(v: Any) -> float:
    if v.start is None:
        return 0.0
    if v.type == "Boolean":
        return float(str(v.start).lower() in ("true", "1"))
    return float(v.start)


def library_path(folder: Path, identifier: str) -> Path:
    """Where an unpacked FMU keeps its library for this machine."""
    places = {"win32": ("win64", ".dll"), "darwin": ("darwin64", ".dylib")}
    platform, suffix = places.get(sys.platform, ("linux64", ".so"))
    return folder / "binaries" / platform / (identifier + suffix)
