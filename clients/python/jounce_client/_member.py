"""A participant in its session, without input and output: what it sends next, and what a reply changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from jounce_client._arguments import bad, number, whole
from jounce_client._records import NOTICES, Array, Event, State, index_of
from jounce_client.errors import JounceError, from_info
from jounce_proto import jounce_pb2 as pb
from jounce_proto import packed

#: Inputs of a step: a sequence in the order of ``Participant.inputs``, or a mapping by scalar name (others are held).
Inputs = npt.ArrayLike | Mapping[str, float]


@dataclass
class Membership:
    """The state of a participant in its session. No I/O."""

    joined: pb.Joined
    epoch: int = 0
    due: int = 0
    request: int = 0
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.epoch = self.joined.epoch
        self.due = self.joined.tick
        self.request = self.joined.request
        self.inputs = tuple(self.joined.inputs)
        self.outputs = tuple(self.joined.outputs)
        self.held = np.array(self.joined.input_values, dtype=np.float64)
        self.index = index_of(self.outputs)
        self._places = {name: i for i, name in enumerate(self.inputs)}
        self._sent = self.held
        self.latest = self._at(self.joined.clock_tick, self.joined.sim_ns, self.joined.output_values)

    def step(self, inputs: Inputs, next_tick: int | None = None) -> packed.Request:
        """The request for the due tick; raises JounceError for unknown names or a wrong number of values."""
        if next_tick is not None:
            next_tick = whole("next_tick", next_tick, self.due + 1)
        if isinstance(inputs, Mapping):
            values = self.held.copy()
            for name, value in inputs.items():
                if name not in self._places:
                    raise JounceError("UNKNOWN_SIGNAL", name, name, ", ".join(self.inputs),
                                      message="not an input that this participant owns")
                values[self._places[name]] = number(name, value)
        else:
            try:
                values = np.array(inputs, dtype=np.float64)
            except (TypeError, ValueError):
                raise bad("inputs", inputs, "numbers, in the order of Participant.inputs") from None
            if values.shape != self.held.shape:
                raise JounceError("WRONG_LENGTH", "inputs", str(values.shape), str(self.held.shape),
                                  message="inputs must be packed in the order of Participant.inputs")
        self._sent = values
        request = packed.LockstepRequest()
        step = request.step
        step.epoch, step.tick, step.request = self.epoch, self.due, self.request + 1
        step.inputs = values.astype("<f8", copy=False).tobytes()
        if next_tick is not None:
            step.next_tick = next_tick
        return request

    def is_event(self, reply: packed.Reply) -> bool:
        """Whether the message is an event, which is noted, and not the reply."""
        if not reply.HasField("event"):
            return False
        event = reply.event
        kind = pb.EventKind.Name(event.kind).removeprefix("EVENT_KIND_")
        if kind in NOTICES:
            told = event.text, tuple(event.participants)
            self.events.append(Event(kind, event.epoch, event.due_tick, self.latest, *told))
            return True
        state = self._at(event.tick, event.sim_ns, event.outputs)
        self.events.append(Event(kind, event.epoch, event.due_tick, state))
        if event.epoch != self.epoch:
            self.epoch, self.due, self.request = event.epoch, event.due_tick, 0
            self.held = np.array(event.inputs, dtype=np.float64)
            self.latest = state
        return True

    def state(self, reply: packed.Reply) -> State:
        """The state in a reply; raises JounceError for a refusal."""
        kind = reply.WhichOneof("kind")
        if kind == "error":
            raise from_info(reply.error)
        if kind != "state":
            raise JounceError("UNEXPECTED_REPLY", "kind", str(kind), "state", message="the server broke the protocol")
        state = reply.state
        if state.request > self.request:
            self.held = self._sent
        self.epoch, self.due, self.request = state.epoch, state.tick, state.request
        outputs = np.frombuffer(state.outputs, "<f8").astype(np.float64)
        self.latest = State(state.tick, state.sim_ns, outputs, self.outputs, self.index, state.overruns, state.missed,
                            tuple(state.held))
        return self.latest

    def _at(self, tick: int, sim_ns: int, values: Iterable[float]) -> State:
        return State(tick, sim_ns, np.array(values, dtype=np.float64), self.outputs, self.index)


def joined(reply: packed.Reply) -> Membership:
    """The membership from the reply to a Join; raises JounceError for a refusal."""
    kind = reply.WhichOneof("kind")
    if kind == "error":
        raise from_info(reply.error)
    if kind != "joined":
        raise JounceError("UNEXPECTED_REPLY", "kind", str(kind), "joined", message="the server broke the protocol")
    return Membership(reply.joined)


class Member:
    """Base class of the synchronous and the asynchronous participant."""

    _member: Membership

    @property
    def inputs(self) -> tuple[str, ...]:
        """Owned scalar inputs, in the order in which a step takes their values."""
        return self._member.inputs

    @property
    def held(self) -> Array:
        """Last values of the owned inputs [unit of each], in the order of ``inputs``; at first the start values."""
        return self._member.held.copy()

    @property
    def outputs(self) -> tuple[str, ...]:
        """Requested scalar outputs, in the order of ``State.values``."""
        return self._member.outputs

    @property
    def due(self) -> int:
        """Tick for which the inputs of the next step are."""
        return self._member.due

    @property
    def token(self) -> str:
        """Secret token to rejoin with, and for the calls of a controller."""
        return self._member.joined.participant_token

    @property
    def state(self) -> State:
        """The last known state: of the last step, sync, reset or restore, or of the join."""
        return self._member.latest

    @property
    def events(self) -> list[Event]:
        """Events of the session, oldest first; they are received during a step or a sync."""
        return self._member.events
