"""A run of a model from tick 0: its start, the outputs that are asked for, and their rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from jounce_fmu.importer.trajectory import Inputs, Track
from jounce_service.hosting.models import HostedInstance, HostedModel, Vector
from jounce_service.hosting.values import Selection, select
from jounce_service.transport.errors import ServiceError
from jounce_tools.errors import UsageError, with_expected
from jounce_tools.simulate.rows import Rows


@dataclass(frozen=True)
class Begun:
    """A run at tick 0."""

    instance: HostedInstance
    """The model, started."""
    u: Vector
    """All inputs at tick 0 [unit of each]."""
    inputs: Inputs
    """Those that change."""


@contextmanager
def started(model: HostedModel, parameters: Mapping[str, float], tracks: Sequence[Track]) -> Iterator[Begun]:
    """A run at tick 0, with the start inputs that the tracks give. Raises InputError, BadParameters."""
    inputs = Inputs(tracks, model.table, parameters.get("tick", model.tick_length))
    u = inputs.start(np.array([s.start for s in model.table.inputs]))
    names = [s.name for s in model.table.inputs]
    instance = model.create("simulate", parameters, {names[i]: float(u[i]) for i in inputs.columns})
    try:
        yield Begun(instance, u, inputs)
    finally:
        instance.free()


def selected(model: HostedModel, names: Sequence[str]) -> Selection:
    """The outputs of names that may be joined by commas. Raises UsageError."""
    parts = [part.strip() for name in names for part in name.split(",") if part.strip()]
    if not parts:
        raise UsageError(f"--outputs {','.join(names)!r}: expected names of outputs, or *")
    try:
        return select(model.table.outputs, parts, "output")
    except ServiceError as error:
        raise UsageError(f"--outputs: {with_expected(error)}") from error


@dataclass
class Written:
    """How many rows, time of the last one [s], and why the model gave no more."""

    count: int = 0
    time: float = 0.0
    failure: str = ""


def write(rows: Rows, outputs: Selection, ran: Iterator[tuple[float, Vector]]) -> Written:
    """Writes time and the selected outputs of a run, up to its end or to where the model fails."""
    done = Written()
    try:
        for done.time, y in ran:
            rows.add([done.time, *y[outputs.columns].tolist()])
            done.count += 1
    except ServiceError as error:
        done.failure = " ".join(str(error).split())
    return done
