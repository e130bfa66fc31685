"""A run as a recording (MCAP), as a server makes it: `jounce view`, `replay` and `export-recording` read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np

from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.models import HostedModel, Vector
from jounce_service.recording.recorder import Recording
from jounce_service.transport.describe import described
from jounce_tools.simulate.run import Begun

#: Rows and changes of inputs between two writes to the file.
_WRITTEN: Final = 256
#: Largest file [bytes].
_MOST: Final = 1 << 40


class RecordedRows:
    """Takes rows of all outputs, and the inputs from the instance that it stands for."""

    def __init__(self, path: Path, model: HostedModel, parameters: Mapping[str, float], begun: Begun) -> None:
        """Opens the file with what the run starts from. ``parameters`` are those that were set."""
        self._path, self._instance, self._tick, self._queued = path, begun.instance, 0, 0
        self._recording = Recording(path, model.table, 1, _MOST)
        self._recording.model(described(model, model.table.name))
        u = begun.u.tolist()
        origin = pb.Snapshot(model=model.table.name, build=model.build, tick_seconds=self.tick_length,
                             parameters=parameters, start_inputs=u, inputs=u)  # fmt: skip
        self._recording.event(pb.RecordedEvent(kind=pb.EVENT_KIND_STARTED, origin=origin, session_id="simulate"),
                              begun.instance.get_outputs())  # fmt: skip

    @property
    def tick_length(self) -> float:
        """Of the instance [s]."""
        return self._instance.tick_length

    def set_inputs(self, values: Vector) -> None:
        """Records them and sets them."""
        self._recording.inputs(self._tick, values)
        self._count()
        self._instance.set_inputs(values)

    def step(self, n_ticks: int) -> None:
        """Advances the instance."""
        self._instance.step(n_ticks)
        self._tick += n_ticks

    def get_outputs(self) -> Vector:
        """Of the instance."""
        return self._instance.get_outputs()

    def add(self, row: Sequence[float]) -> None:
        """One row, time first, then all outputs. That of tick 0 is there already."""
        tick = round(row[0] / self.tick_length)
        if tick > 0:
            self._recording.outputs(tick, np.array(row[1:]))
            self._count()

    def end(self, note: str) -> None:
        """No more rows. Raises OSError where the file cannot be written."""
        kind = pb.EVENT_KIND_FAILED if note else pb.EVENT_KIND_CLOSED
        self._recording.event(pb.RecordedEvent(kind=kind, tick=self._tick, text=note))
        self._recording.close()
        self._write()

    def _count(self) -> None:
        self._queued += 1
        if self._queued == _WRITTEN:
            self._queued = 0
            self._write()

    def _write(self) -> None:
        self._recording.drain()
        if self._recording.failure:
            raise OSError(f"{self._path.name}: {self._recording.failure}")
