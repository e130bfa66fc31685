"""The server under test, with helpers to make sessions, streams and participants."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, Final

import grpc
import pytest

from jounce_client.compliance.contract import STATES, STATUS
from jounce_client.compliance.model import Model
from jounce_client.compliance.stream import Stream
from jounce_client.errors import METADATA_KEY
from jounce_proto import jounce_pb2 as pb

#: Wall-clock time [s] after which an unanswered call, or stream, is a failure.
PATIENCE: Final = 30.0


class Patient:
    """A stub whose calls end: a server that never answers fails the test."""

    def __init__(self, stub: Any) -> None:
        """Wraps ``stub``."""
        self._stub = stub

    def __getattr__(self, name: str) -> Any:
        return functools.partial(getattr(self._stub, name), timeout=PATIENCE)


class Server:
    """Makes sessions and participants, and removes them at the end of the test."""

    def __init__(self, stub: Any, model: Model) -> None:
        """``stub`` is that of the server; ``model`` is the model of the sessions."""
        self.stub = Patient(stub)
        self.model = model
        self._sessions: list[pb.CreateSessionResponse] = []
        # Keeps references, since gRPC cancels a call that is garbage-collected.
        self._streams: list[Stream] = []
        self._viewers: list[Any] = []

    def create(self, *expected: str, **fields: Any) -> pb.CreateSessionResponse:
        """A session that waits for the ``expected`` participants."""
        request = pb.CreateSessionRequest(model=self.model.name, expected_participants=expected, **fields)
        return self.kept(self.stub.CreateSession(request))

    def paced(self, seconds: float, **fields: Any) -> pb.CreateSessionResponse:
        """A session whose ticks take ``seconds`` of wall-clock time each."""
        pacing = pb.Pacing(mode=pb.PACING_MODE_REALTIME, factor=self.model.tick_seconds / seconds, **fields)
        return self.create(pacing=pacing)

    def kept(self, session: pb.CreateSessionResponse) -> pb.CreateSessionResponse:
        """A session that is deleted at the end of the test."""
        self._sessions.append(session)
        return session

    def call(self, name: str, session: pb.CreateSessionResponse, /, **fields: Any) -> Any:
        """A unary call with the session's id and token."""
        given = {"session_id": session.session_id, "token": session.token} | fields
        return getattr(self.stub, name)(getattr(pb, f"{name}Request")(**given))

    def refused(self, name: str, session: pb.CreateSessionResponse, /, **fields: Any) -> pb.ErrorInfo:
        """Like ``call``, for a call that must be refused."""
        return refusal(lambda: self.call(name, session, **fields))

    def status(self, session: pb.CreateSessionResponse) -> pb.GetSessionResponse:
        """Status of the session."""
        reply: pb.GetSessionResponse = self.stub.GetSession(pb.GetSessionRequest(session_id=session.session_id))
        return reply

    def state(self, session: pb.CreateSessionResponse) -> str:
        """Name of the session's state."""
        return STATES[self.status(session).state - 1]

    def advance(self, session: pb.CreateSessionResponse, ticks: int = 1, inputs: Mapping[str, float] | None = None,
                **fields: Any) -> pb.AdvanceResponse:
        """Sets inputs, advances and returns all outputs."""
        given = inputs or {}
        reply: pb.AdvanceResponse = self.call("Advance", session, n_ticks=ticks, input_names=list(given),
                                              inputs=list(given.values()), **({"output_names": ["*"]} | fields))
        return reply

    def stream(self) -> Stream:
        """A stream over which nobody has joined."""
        self._streams.append(Stream(self.stub, timeout=PATIENCE))
        return self._streams[-1]

    def member(self, session: pb.CreateSessionResponse, name: str, inputs: Sequence[str] = (),
               **terms: Any) -> Stream:
        """A participant that has joined."""
        stream = self.stream()
        reply = stream.join(session, name, inputs, **terms)
        assert reply.HasField("joined"), reply
        return stream

    def save(self, session: pb.CreateSessionResponse) -> pb.SaveSnapshotResponse:
        """Saves a snapshot; skips the test if the model cannot save its state."""
        try:
            reply: pb.SaveSnapshotResponse = self.call("SaveSnapshot", session)
        except grpc.RpcError as error:
            if error.code() is grpc.StatusCode.UNIMPLEMENTED:
                pytest.skip("the model cannot save its state")
            raise
        return reply

    def upload(self, session: pb.CreateSessionResponse, data: bytes, size: int, sha256: bytes) -> Any:
        """Uploads a snapshot in two messages."""
        first = pb.UploadSnapshotRequest(session_id=session.session_id, token=session.token, size=size, sha256=sha256)
        return self.stub.UploadSnapshot(iter([first, pb.UploadSnapshotRequest(data=data)]))

    def download(self, session: pb.CreateSessionResponse, snapshot_id: str) -> bytes:
        """A snapshot's bytes."""
        return b"".join(piece.data for piece in self.call("DownloadSnapshot", session, snapshot_id=snapshot_id))

    def viewer(self, session: pb.CreateSessionResponse, **fields: Any) -> Any:
        """The stream of a Watch."""
        frames = self.stub.Watch(pb.WatchRequest(session_id=session.session_id, **fields))
        self._viewers.append(frames)
        return frames

    def watch(self, session: pb.CreateSessionResponse, meanwhile: Callable[[], Any] = lambda: None,
              **fields: Any) -> Iterator[pb.WatchResponse]:
        """The frames of a viewer after a reset, which is made when the viewer has received its first frame."""
        frames = self.viewer(session, **fields)
        with ThreadPoolExecutor(1) as thread:
            first = thread.submit(next, frames)
            wait([first], timeout=0.1)
            if not first.done():
                meanwhile()
            while not first.done():
                self.advance(session)
                wait([first], timeout=0.02)
        first.result()
        epoch = self.call("ResetSession", session).epoch
        return (frame for frame in frames if frame.epoch == epoch)

    def close(self) -> None:
        """Removes what the test made."""
        for frames in self._viewers:
            frames.cancel()
        for stream in self._streams:
            stream.end()
            stream.call.cancel()
        for session in self._sessions:
            try:
                self.call("DeleteSession", session)
            except grpc.RpcError as error:
                # The test may have deleted the session; if the server has gone, the test itself reports it.
                if error.code() not in (grpc.StatusCode.NOT_FOUND, grpc.StatusCode.UNAVAILABLE):
                    raise
        self._sessions.clear()


def refusal(call: Callable[[], Any]) -> pb.ErrorInfo:
    """The ErrorInfo of a unary call that must be refused, with the status of its reason."""
    with pytest.raises(grpc.RpcError) as caught:
        call()
    error: Any = caught.value
    metadata = dict(error.trailing_metadata() or ())
    assert METADATA_KEY in metadata, f"a refusal without {METADATA_KEY}: {error}"
    info: pb.ErrorInfo = pb.ErrorInfo.FromString(metadata[METADATA_KEY])
    assert info.code == error.code().value[0], "the ErrorInfo's code is not the call's status"
    return proper(info)


def proper(info: pb.ErrorInfo) -> pb.ErrorInfo:
    """Checks that an ErrorInfo has all that a program and a person need; returns it."""
    assert info.reason in STATUS, f"reason {info.reason!r} is not in the contract"
    assert info.code == grpc.StatusCode[STATUS[info.reason]].value[0], info
    assert info.message, info
    assert info.field, info
    return info


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Waits until ``condition`` is true."""
    end = time.monotonic() + 20.0
    while not condition():
        assert time.monotonic() < end, f"not in time: {what}"
        time.sleep(0.01)
