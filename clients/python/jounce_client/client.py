"""The synchronous client."""

from __future__ import annotations

import atexit
import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar
from weakref import WeakSet

import grpc
import numpy as np

from jounce_client import _wire
from jounce_client._member import Inputs, Member, joined
from jounce_client._records import Frame, Late, Pacing, ParameterValue, Session, Snapshot, State
from jounce_client.access import Bearer, Tls
from jounce_client.errors import JounceError, from_rpc
from jounce_client.fast import FastLine
from jounce_proto import jounce_pb2 as pb
from jounce_proto import packed

_Reply = TypeVar("_Reply")
#: The open clients. If a program ends without closing them, they are closed before the interpreter shuts down.
_clients: WeakSet[Client] = WeakSet()


class Client:
    """A connection to a jounce server.

    A lockstep loop::

        with (Client.connect("unix:/tmp/jounce.sock") as client,
              client.create_session("hmmwv", {"init.speed": 10.0}) as session,
              client.join(session, "pilot", owns=["steering_wheel_angle"], wants=["speed"], period=20) as pilot):
            state = pilot.start
            while state.time < 5.0:
                state = pilot.step({"steering_wheel_angle": 0.1 * state["speed"]})

    At the end of its block the participant leaves, the session is deleted, and the connection is closed. All calls
    raise JounceError.
    """

    def __init__(self, channel: grpc.Channel, token: str = "", tls: Tls | None = None,
                 keepalive: float = _wire.KEEPALIVE) -> None:
        """Takes over ``channel``; usually a client is made by ``connect``."""
        self._tls, self._keepalive = tls, keepalive
        self._channel = channel
        self._calls: WeakSet[Any] = WeakSet()
        _clients.add(self)
        self._layouts: dict[tuple[str, ...], _wire.Layout] = {}
        stub = _wire.stub_of(channel)
        self._stub: Any = Bearer(stub, token) if token else stub

    @classmethod
    def connect(cls, address: str, *, timeout: float = 10.0, tls: Tls | None = None, token: str = "",
                keepalive: float = _wire.KEEPALIVE) -> Self:
        """Connects to ``host:port`` or ``unix:/path``.

        Raises UNAVAILABLE at once if nobody listens there, or if there is no answer within ``timeout`` [s]. ``tls`` and
        the bearer ``token`` must be what the server requires; raises OSError for files that cannot be read. A server
        that does not answer for ``keepalive`` [s] is taken as gone (0 = never).
        """
        options = _wire.channel_options(address, keepalive)
        if tls is None:
            channel = grpc.insecure_channel(address, options=options)
        else:
            channel = grpc.secure_channel(address, tls.credentials(), [*options, *tls.options()])
        client = cls(channel, token, tls, keepalive)
        try:
            _call(client._stub.ListModels, pb.ListModelsRequest(), timeout=timeout)
        except JounceError as error:
            channel.close()
            raise _wire.unreachable(error, address, timeout) from None
        return client

    def models(self) -> tuple[str, ...]:
        """Names of the hosted models."""
        return tuple(m.name for m in _call(self._stub.ListModels, pb.ListModelsRequest()).models)

    def describe(self, model: str) -> pb.DescribeModelResponse:
        """The signal table of a model."""
        reply: pb.DescribeModelResponse = _call(self._stub.DescribeModel, pb.DescribeModelRequest(model=model))
        return reply

    def _layout(self, session: Session, outputs: Sequence[str]) -> _wire.Layout:
        model = session.model or self.get_session(session).model
        key = model, *outputs
        if key not in self._layouts:
            self._layouts[key] = _wire.layout(self.describe(model), outputs)
        return self._layouts[key]

    def create_session(self, model: str, parameters: Mapping[str, ParameterValue] | None = None, *,
                       start_inputs: Mapping[str, float] | None = None, participants: Sequence[str] = (),
                       controllers: Sequence[str] = (), pacing: Pacing | None = None,
                       record_every: int | None = None, record_required: bool | None = None) -> OpenSession:
        """Creates a session at tick 0; its clock waits until all named ``participants`` have joined.

        As a context manager the session is deleted at the end of its block; otherwise call ``delete_session``.
        Participants named in ``controllers`` may pause, reset, save, restore and fork it. ``pacing`` ties it to the
        wall clock (None: as fast as the participants allow). ``record_every`` [ticks] requests a recording with outputs
        at that interval; ``record_required`` says whether the session fails if its recording ends early. None is the
        server's setting.
        """
        request = _wire.create_request(model, parameters or {}, start_inputs or {}, participants, controllers, pacing,
                                       record_every, record_required)
        return _wire.opened(OpenSession, self, _call(self._stub.CreateSession, request), model)

    def get_session(self, session: Session) -> pb.GetSessionResponse:
        """Returns the status of a session."""
        reply: pb.GetSessionResponse = _call(self._stub.GetSession, pb.GetSessionRequest(**_wire.named(session)))
        return reply

    def get_server(self) -> pb.GetServerResponse:
        """Returns versions, uptime, limits and defaults of the server."""
        reply: pb.GetServerResponse = _call(self._stub.GetServer, pb.GetServerRequest())
        return reply

    def list_sessions(self) -> tuple[pb.SessionSummary, ...]:
        """Lists the sessions of this client's bearer token, or all for an administrator or without tokens."""
        return tuple(_call(self._stub.ListSessions, pb.ListSessionsRequest()).sessions)

    def evict(self, session: Session, name: str, *, release: bool = False) -> None:
        """Removes a participant, connected or gone: its name and inputs become free, its stream is refused (EVICTED).

        The clock waits for an expected participant to join again, unless ``release`` is set, which also works for a
        participant that has never joined. Needs the session token, the participant's token, or an administrator's
        bearer token.
        """
        _call(self._stub.EvictParticipant, _wire.evict_request(session, name, release))

    def delete_session(self, session: Session) -> None:
        """Closes a session; an administrator does not need its token."""
        _call(self._stub.DeleteSession, pb.DeleteSessionRequest(session_id=session.id, token=session.token))

    def advance(self, session: Session, ticks: int, inputs: Mapping[str, float] | None = None,
                outputs: Sequence[str] = ()) -> State:
        """Sets ``inputs`` by scalar name, advances by exactly ``ticks``, and returns ``outputs``.

        ``outputs`` are scalars, vectors or ``*``.
        """
        request = _wire.advance_request(session, ticks, inputs or {}, outputs)
        reply = _call(self._stub.Advance, request)
        return State(reply.tick, reply.sim_ns, np.array(reply.outputs), *self._layout(session, outputs))

    def join(self, session: Session, name: str, *, owns: Sequence[str] = (), wants: Sequence[str] = (),
             period: int = 1, phase: int = 0, first_order: Sequence[str] = (), barrier_timeout: float | None = None,
             late: Late | str | None = None, rejoin: str = "", take_over: bool = False,
             notices: Sequence[str] = (), transport: str = "") -> Participant:
        """Joins a session as a participant, due every ``period`` ticks from tick ``phase`` on.

        ``owns`` are inputs and ``wants`` outputs, scalars or vectors by name. Inputs in ``first_order`` are
        extrapolated along the line through their last two values; others are held. ``barrier_timeout`` [s] is the
        wall-clock time that a step waits for others (None: the server's default, 0: without limit). ``late`` is the
        policy for when this participant is late or gone, or only the policy's name. After a lost connection, the same
        call with ``rejoin``, the ``token`` of the lost participant, restores its place; ``sync`` then gives the state
        to go on from. A restarted program without the token joins again under its name. ``take_over`` does so even if
        the old connection still exists, and needs the session token. ``notices`` requests further events: FAILED,
        EVICTED, MISSED, BARRIER_TIMEOUT (see ``Event``). ``transport`` is the address of the server's fast lane,
        ``unix:/path`` or ``host:port``, which has less delay; without it the stream uses gRPC.
        """
        join = _wire.join_request(session, name, late, rejoin, barrier_timeout, period, phase, notices, inputs=owns,
                                  outputs=wants, first_order_inputs=first_order, take_over=take_over)
        if transport:
            return Participant(FastLine(transport, tls=self._tls, keepalive=self._keepalive), join)
        stream = _Stream(self._stub)
        self._calls.add(stream.call)
        return Participant(stream, join)

    def pause(self, session: Session) -> int:
        """Stops the clock and returns its tick. Every participant gets an event, and steps wait."""
        return int((_call(self._stub.PauseSession, pb.PauseSessionRequest(**_wire.named(session)))).tick)

    def resume(self, session: Session) -> None:
        """Lets the clock of a paused session go on."""
        _call(self._stub.ResumeSession, pb.ResumeSessionRequest(**_wire.named(session)))

    def reset(self, session: Session, parameters: Mapping[str, ParameterValue] | None = None, *,
              start_inputs: Mapping[str, float] | None = None) -> None:
        """Sets a session back to tick 0 in a new epoch, with some values changed; its participants get an event."""
        _call(self._stub.ResetSession, _wire.reset_request(session, parameters or {}, start_inputs or {}))

    def save(self, session: Session) -> Snapshot:
        """Saves a snapshot of the whole session in the server."""
        reply = _call(self._stub.SaveSnapshot, pb.SaveSnapshotRequest(**_wire.named(session)))
        return Snapshot(reply.snapshot_id, reply.tick)

    def restore(self, session: Session, snapshot: Snapshot) -> None:
        """Sets a session back to a snapshot in a new epoch; its participants get an event."""
        request = pb.RestoreSnapshotRequest(**_wire.named(session), snapshot_id=snapshot.id)
        _call(self._stub.RestoreSnapshot, request)

    def fork(self, session: Session, snapshot: Snapshot | None = None, *, participants: Sequence[str] = (),
             pacing: Pacing | None = None) -> OpenSession:
        """Creates a session that continues from a snapshot, or from the present tick; also a context manager."""
        request = _wire.fork_request(session, snapshot, participants, pacing)
        return _wire.opened(OpenSession, self, _call(self._stub.ForkSession, request), session.model)

    def download(self, session: Session, snapshot: Snapshot) -> bytes:
        """Returns the bytes of a snapshot, for another session or server of the same build."""
        request = pb.DownloadSnapshotRequest(**_wire.named(session), snapshot_id=snapshot.id)
        return b"".join(piece.data for piece in _frames(self._stub.DownloadSnapshot(request)))

    def upload(self, session: Session, data: bytes) -> Snapshot:
        """Uploads a snapshot's bytes; raises SNAPSHOT_CORRUPT if damaged, SNAPSHOT_FOREIGN if of another build."""
        reply = _call(self._stub.UploadSnapshot, _wire.upload_requests(session, data))
        return Snapshot(reply.snapshot_id, reply.tick)

    def delete_snapshot(self, session: Session, snapshot: Snapshot) -> None:
        """Deletes a snapshot; a session can keep only a limited number."""
        request = pb.DeleteSnapshotRequest(**_wire.named(session), snapshot_id=snapshot.id)
        _call(self._stub.DeleteSnapshot, request)

    def watch(self, session: Session, outputs: Sequence[str], every: int = 1, *,
              present: bool = False) -> Iterator[Frame]:
        """Yields a frame at every ``every``-th tick until the session ends; slow readers drop frames (``dropped``).

        The server has accepted the viewer when this returns, so frames of all later ticks follow. The first is that of
        the clock's next stop; with ``present`` the present state comes before, and again after a reset or restore.
        """
        layout = self._layout(session, outputs)
        call = self._stub.Watch(_wire.watch_request(session, outputs, every, present))
        self._calls.add(call)
        if _wire.WATCHING not in dict(call.initial_metadata()) and call.code() is not grpc.StatusCode.OK:
            raise from_rpc(call)
        return _shown(call, layout)

    def close(self) -> None:
        """Closes the connection; participants that joined over it are detached."""
        for call in list(self._calls):
            _finish(call)
        self._channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()


@dataclass(frozen=True)
class OpenSession(Session):
    """A session that ``client`` has made; as a context manager it is deleted at the end of the block."""

    client: Client | None = field(default=None, repr=False, compare=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        assert self.client is not None
        try:
            self.client.delete_session(self)
        except (JounceError, ValueError) as error:  # ValueError comes from a closed channel.
            # A session that no longer exists is fine, and an error of the block itself is more important.
            if kind is None and not (isinstance(error, JounceError) and error.reason == "UNKNOWN_SESSION"):
                raise


class Line(Protocol):
    """The transport of a participant's stream."""

    def send(self, request: packed.Request) -> None:
        """Sends a request."""

    def read(self) -> packed.Reply:
        """Returns the next reply or event; raises JounceError if the stream has ended."""

    def end(self) -> None:
        """Ends the stream."""


class _Stream:
    """A participant's stream over gRPC."""

    def __init__(self, stub: Any) -> None:
        self._requests: SimpleQueue[packed.Request | None] = SimpleQueue()
        #: None once it has ended.
        self.call: Any = stub.Lockstep(iter(self._requests.get, None))

    def send(self, request: packed.Request) -> None:
        self._requests.put(request)

    def read(self) -> packed.Reply:
        if self.call is None:
            raise JounceError("STREAM_ENDED", message="the stream has ended")
        try:
            reply: packed.Reply = _call(next, self.call)
        except StopIteration:
            raise JounceError("STREAM_ENDED", message="the server has ended the stream") from None
        return reply

    def end(self) -> None:
        if self.call is None:
            return
        self._requests.put(None)
        _finish(self.call)
        # Freeing the call takes a lock that the sending thread may hold for a moment. It must be freed now: when Python
        # exits, that thread is stopped wherever it is, and freeing the call would wait without end.
        self.call = None


class Participant(Member):
    """One participant in lockstep; made by ``Client.join``."""

    def __init__(self, line: Line, join: packed.Request) -> None:
        """Takes over the line, and joins."""
        self._line = line
        try:
            line.send(join)
            self._member = joined(line.read())
        except JounceError:
            line.end()
            raise
        #: State at the clock when the participant joined.
        self.start = self._member.latest

    def step(self, inputs: Inputs, *, next_tick: int | None = None) -> State:
        """Delivers inputs for the due tick; returns the state at the next due tick.

        ``inputs`` is a sequence in the order of ``Participant.inputs``, or a mapping by name of the inputs that change.
        ``next_tick``, for event-driven partners, is the tick at which to be due next, once, instead of the next tick of
        the participant's grid.
        After a JounceError nothing was applied and the step may be repeated. Exceptions: after TOO_LATE call ``sync``
        first; after WRONG_EPOCH the session was reset or restored, and ``state`` is its present state.
        """
        return self._member.state(self._ask(self._member.step(inputs, next_tick)))

    def sync(self) -> State:
        """Waits until the clock is at the due tick, and returns the state; needed after a rejoin or a TOO_LATE."""
        return self._member.state(self._ask(pb.LockstepRequest(sync=pb.Sync())))

    def leave(self) -> None:
        """Leaves the session: the clock no longer waits for this participant."""
        try:
            self._ask(pb.LockstepRequest(leave=pb.Leave()))
        finally:
            self._line.end()

    def _ask(self, request: packed.Request) -> packed.Reply:
        self._line.send(request)
        reply = self._line.read()
        while self._member.is_event(reply):
            reply = self._line.read()
        return reply

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        if kind is None:
            self.leave()
        else:
            self._line.end()


def _call(call: Callable[..., _Reply], request: Any, **options: Any) -> _Reply:
    try:
        return call(request, **options)
    except grpc.RpcError as error:
        raise from_rpc(error) from None


def _frames(replies: Iterator[_Reply]) -> Iterator[_Reply]:
    try:
        yield from replies
    except grpc.RpcError as error:
        raise from_rpc(error) from None


def _shown(call: Any, layout: _wire.Layout) -> Iterator[Frame]:
    try:
        for reply in _frames(call):
            yield _wire.frame(reply, *layout)
    finally:
        _finish(call)


def _finish(call: Any) -> None:
    """Cancels a stream and reads it to its end; a stream still alive while Python exits can block on gRPC's threads."""
    call.cancel()
    with contextlib.suppress(grpc.RpcError):
        for _ in call:
            pass
    # The call object is also the exception that it raised; its own traceback would keep it alive.
    call.__traceback__ = None


@atexit.register
def _close_all() -> None:
    for client in list(_clients):
        client.close()
