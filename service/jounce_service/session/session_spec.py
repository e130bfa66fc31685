"""Reads and checks the settings of a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from jounce.renamed import twice
from jounce.values import in_use
from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.models import HostedInstance, HostedModel, Vector
from jounce_service.hosting.values import check_scalar, named, parse, scalar_of
from jounce_service.session.pacing import Pacing, pacing_of
from jounce_service.transport import errors


@dataclass(frozen=True)
class Setup:
    """A session's settings, all names and values checked."""

    #: Model, and the name by which clients requested it.
    model: HostedModel
    name: str
    #: Parameters that were given, by scalar name [unit of each].
    parameters: Mapping[str, float]
    #: All inputs at tick 0 [unit of each].
    start: Vector
    #: Participants that must be present for the clock to move.
    expected: tuple[str, ...] = ()
    #: Participants whose token may control the session.
    controllers: frozenset[str] = frozenset()
    #: Real-time pacing; None = free.
    pacing: Pacing | None = None

    def instance(self, session_id: str) -> HostedInstance:
        """An instance at tick 0; raises BadParameters."""
        inputs = self.model.table.inputs
        start = {s.name: float(v) for s, v in zip(inputs, self.start, strict=True) if v != s.start}
        return self.model.create(session_id, dict(self.parameters), start)

    def changed(self, parameters: Mapping[str, pb.Value], start_inputs: Mapping[str, float]) -> Setup:
        """A copy with some parameters and start inputs replaced; raises a ServiceError that names a bad one."""
        table = self.model.table
        values = dict(self.parameters)
        known = {s.name: s for s in table.parameters}
        if fault := twice(parameters, known):
            name = fault.partition(" ")[0]
            raise errors.BadField(fault, field="parameters", requested=name, allowed="each parameter once")
        for name, value in parameters.items():
            # ``scalar_of`` searches linearly, which is slow for foreign models with thousands of parameters.
            scalar = known.get(name) or scalar_of(table, table.parameters, name, "parameter")
            kind = value.WhichOneof("kind")
            values[scalar.name] = parse(scalar, getattr(value, kind) if kind else None)
        start = self.start.copy()
        known = {s.name: s for s in in_use(table, values)}
        for name, number in start_inputs.items():
            scalar = known.get(name) or scalar_of(table, table.inputs, name, "input")
            start[scalar.index] = check_scalar(scalar, number)
        return replace(self, parameters=values, start=start)

    def with_past(self, parameters: Mapping[str, float], start: Vector) -> Setup:
        """A copy with the parameters and start inputs of a snapshot."""
        return replace(self, parameters=parameters, start=start)


def setup_of(model: HostedModel, request: pb.CreateSessionRequest, max_participants: int) -> Setup:
    """Reads the settings of a CreateSession; raises a ServiceError that names a bad one."""
    start = np.array([s.start for s in model.table.inputs], dtype=np.float64)
    bare = Setup(
        model,
        request.model,
        {},
        start,
        names_of(request.expected_participants, "expected_participants", max_participants),
        frozenset(names_of(request.controllers, "controllers", max_participants)),
        pacing_of(request.pacing),
    )
    return bare.changed(request.parameters, request.start_inputs)


def names_of(names: Sequence[str], field: str, most: int) -> tuple[str, ...]:
    """Checks participant names, which must be distinct; raises BadField."""
    if len(names) > most or len(set(map(partial(named, field=field), names))) != len(names):
        raise errors.BadField(
            f"{field} must be distinct names", field=field, requested=len(names), allowed=f"up to {most} names"
        )
    return tuple(names)
