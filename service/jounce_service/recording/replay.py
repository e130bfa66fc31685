"""Runs the model of a recording again with the recorded inputs, and compares the outputs bit by bit."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.models import HostedInstance, HostedModel, Registry, Vector
from jounce_service.recording.reader import Reader, RecordingError, Sample
from jounce_service.transport.errors import ServiceError, SolverFailed


@dataclass(frozen=True)
class Difference:
    """An output that differs from the recording; both values have the signal's unit."""

    epoch: int
    tick: int
    signal: str
    recorded: float
    replayed: float


@dataclass(frozen=True)
class Report:
    """Result of a replay. ``first`` is the first difference in time, and at that tick the first in table order."""

    #: Numbers of epochs, of ticks advanced, of output vectors compared, and of those that differ [1].
    epochs: int
    ticks: int
    compared: int
    differing: int
    first: Difference | None
    #: Whether the recording is complete.
    complete: bool


def replay(path: Path, registry: Registry) -> Report:
    """Replays a whole recording. Raises RecordingError, OSError, or ServiceError for an unknown model."""
    reader = Reader(path)
    run = _Run(reader, registry.get(reader.model.model))
    try:
        for item in reader:
            if isinstance(item, Sample):
                run.sample(item)
            elif item.HasField("origin"):
                run.begin(item)
    finally:
        run.end()
    if not run.epochs:
        raise RecordingError(f"{path.name} was cut before its session began: nothing to replay")
    return Report(run.epochs, run.ticks, run.compared, run.differing, run.first, reader.complete)


class _Run:
    """The replayed model, at the position up to which the recording has been read."""

    def __init__(self, reader: Reader, model: HostedModel) -> None:
        self._reader, self._model = reader, model
        self._instance: HostedInstance | None = None
        self._epoch = self._tick = 0
        self.epochs = self.ticks = self.compared = self.differing = 0
        self.first: Difference | None = None

    def begin(self, event: pb.RecordedEvent) -> None:
        """Starts an epoch with a new instance of the model."""
        origin = event.origin
        if origin.build != self._model.build:
            raise RecordingError(f"the recording is of build {origin.build!r}; here is {self._model.build!r}")
        table = self._model.table
        recorded = [[name for name, _ in scalars] for scalars in (self._reader.inputs, self._reader.outputs)]
        if recorded != [[s.name for s in table.inputs], [s.name for s in table.outputs]]:
            raise RecordingError("the recorded signals differ from those of the model, though the build is the same")
        if len(origin.start_inputs) != len(table.inputs):
            raise RecordingError(f"{len(origin.start_inputs)} start inputs: expected {len(table.inputs)}")
        self.end()
        name = f"replay of epoch {event.epoch}"
        try:
            if origin.state:
                self._instance = self._model.revive(name, origin.state)
            else:
                inputs = zip(table.inputs, origin.start_inputs, strict=True)
                start = {s.name: v for s, v in inputs if v != s.start}
                self._instance = self._model.create(name, dict(origin.parameters), start)
        except ServiceError as error:
            raise RecordingError(f"the model does not start at tick {event.tick}: {error}") from error
        self._epoch, self._tick = event.epoch, event.tick
        self.epochs += 1

    def sample(self, sample: Sample) -> None:
        """Advances to the sample's tick, and sets its inputs or compares its outputs."""
        if self._instance is None or sample.tick < self._tick:
            raise RecordingError(f"tick {sample.tick} follows tick {self._tick} without a reset")
        ahead = sample.tick - self._tick
        try:
            if ahead:
                self._instance.step(ahead)
                self._tick, self.ticks = sample.tick, self.ticks + ahead
            if sample.causality == pb.CAUSALITY_INPUT:
                self._instance.set_inputs(sample.values)
            else:
                self._compare(sample, self._instance.get_outputs())
        except SolverFailed as error:
            raise RecordingError(f"the model fails on the way to tick {sample.tick}: {error}") from error

    def end(self) -> None:
        """Frees the model."""
        if self._instance is not None:
            self._instance.free()
            self._instance = None

    def _compare(self, sample: Sample, outputs: Vector) -> None:
        self.compared += 1
        # As integers, so that the bits are compared: 0.0 differs from -0.0, and equal NaNs are equal.
        differs = sample.values.view(np.int64) != outputs.view(np.int64)
        if not differs.any():
            return
        self.differing += 1
        if self.first is None:
            place = int(np.argmax(differs))
            name = self._reader.outputs[place][0]
            recorded, replayed = float(sample.values[place]), float(outputs[place])
            self.first = Difference(self._epoch, sample.tick, name, recorded, replayed)
