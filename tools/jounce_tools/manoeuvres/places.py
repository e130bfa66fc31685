"""The two places where a vehicle runs: this process, and a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from jounce_client import Client, JounceError
from jounce_fmu.importer.host import FmuError, open_builtin
from jounce_fmu.importer.inprocess import Stepper
from jounce_fmu.importer.trajectory import InputError, interval
from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.fmu_model import FmuModel
from jounce_service.transport.describe import described
from jounce_tools.errors import UsageError
from jounce_tools.manoeuvres.bench import Seat

#: Errors with which a place refuses a step.
STEP_ERRORS = (FmuError, JounceError)


class _Described:
    """What a vehicle's signal table says, by scalar name."""

    def __init__(self, vehicle: str, build: str, table: pb.DescribeModelResponse) -> None:
        self.vehicle, self.build, self.described = vehicle, build, table
        self._parameters = {n: s for n, s, _ in self._of(pb.CAUSALITY_PARAMETER)}
        #: Least and largest value of each input.
        self.inputs = {n: (s.minimum, s.maximum) for n, s, _ in self._of(pb.CAUSALITY_INPUT)}
        #: Value of each input that is not set.
        self.starts = {n: float(s.start[k]) for n, s, k in self._of(pb.CAUSALITY_INPUT)}
        #: Names of all outputs.
        self.outputs = tuple(n for n, _, _ in self._of(pb.CAUSALITY_OUTPUT))
        #: Values of the parameters that are not set.
        self.parameters = {n: float(s.start[k]) for n, s, k in self._of(pb.CAUSALITY_PARAMETER)}
        #: Unit of each input and output.
        self.units = {n: s.unit for c in (pb.CAUSALITY_INPUT, pb.CAUSALITY_OUTPUT) for n, s, _ in self._of(c)}

    def _of(self, causality: pb.Causality) -> Iterator[tuple[str, pb.Signal, int]]:
        for signal in self.described.signals:
            if signal.causality == causality:
                for k, suffix in enumerate(signal.components):
                    yield signal.name + suffix, signal, k

    def number(self, name: str, value: Any) -> float:
        """A parameter as a number: an item of an enumeration counts from 1."""
        items = list(self._parameters[name].items)
        return float(items.index(value) + 1) if value in items else float(value)


class Here(_Described):
    """A vehicle in this process."""

    def __init__(self, vehicle: str) -> None:
        """Opens it; raises DataError, BuildError."""
        #: For what a server does not offer, such as linearization.
        self.factory = open_builtin(vehicle)
        model = FmuModel(self.factory)
        super().__init__(vehicle, model.build, described(model, vehicle))

    @contextmanager
    def seat(self, owns: Sequence[str], period: float, parameters: Mapping[str, Any],
             start: Mapping[str, float]) -> Iterator[Seat]:  # fmt: skip
        """Starts the vehicle. Raises UsageError for what the model refuses."""
        try:
            every = interval(period, float(parameters.get("tick", self.factory.tick_length)), "the driver's period")
            stepper = Stepper(self.factory, owns, self.outputs, every, start, parameters)
        except (InputError, FmuError) as refused:
            raise UsageError(str(refused)) from refused
        with stepper:
            yield stepper

    def close(self) -> None:
        """Nothing is left open."""


class There(_Described):
    """A vehicle on a server."""

    def __init__(self, connection: AbstractContextManager[Client], vehicle: str) -> None:
        """Reads the vehicle's signals. Raises JounceError."""
        self._connection, self._client = connection, connection.__enter__()
        try:
            table = self._client.describe(vehicle)
        except JounceError as error:
            self.close()
            raise UsageError(str(error)) from error
        super().__init__(vehicle, f"server {table.server_version}", table)

    @contextmanager
    def seat(self, owns: Sequence[str], period: float, parameters: Mapping[str, Any],
             start: Mapping[str, float]) -> Iterator[Seat]:  # fmt: skip
        """Starts a session and joins it. Raises UsageError for what the server refuses."""
        try:
            opened = self._client.create_session(self.vehicle, parameters, start_inputs=start, participants=["driver"])
        except JounceError as refused:
            raise UsageError(str(refused)) from refused
        with opened as session:
            every = interval(period, session.tick_seconds, "the driver's period")
            with self._client.join(session, "driver", owns=owns, wants=self.outputs, period=every) as member:
                yield member

    def close(self) -> None:
        """Ends the connection."""
        self._connection.__exit__(None, None, None)
