"""One test per row of the status table: every refusal comes from a real server."""

from __future__ import annotations

import hashlib
import math
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from rig import Stream
from served import eventually

from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.fmu_model import registry
from jounce_service.hosting.models import Registry
from jounce_service.transport import errors

sys.path.insert(0, str(Path(__file__).parents[1] / "fmu"))
import hostile


def waits(server: Any, session: Any, name: str) -> None:
    """Returns when the server has what a participant has delivered."""
    assert eventually(lambda: any(p.name == name and not p.missing for p in server.status(session).participants))


class Provoke:
    """How to get every refusal out of a server; the method's name is the reason."""

    def __init__(self, serve: Any, info: Any) -> None:
        self.serve, self.info = serve, info

    def advance(self, session: Any = None, **fields: Any) -> Any:
        server = self.serve()
        return self.unary(lambda: server.call("Advance", session or server.create(), **fields))

    def unary(self, call: Callable[[], Any]) -> pb.ErrorInfo:
        with pytest.raises(grpc.RpcError) as caught:
            call()
        found: pb.ErrorInfo = self.info(caught.value)
        return found

    def joined(self, **join: Any) -> tuple[Any, Any, Any]:
        server = self.serve()
        session = server.create()
        return server, session, server.member(session, "a", **({"inputs": ["force"]} | join))

    def after(self, first: Callable[[Any, Any], Any], call: str, **fields: Any) -> pb.ErrorInfo:
        server = self.serve()
        session = server.create()
        first(server, session)
        return self.unary(lambda: server.call(call, session, **fields))

    def bad_field(self) -> Any:
        return self.joined()[2].ask().error

    def unknown_signal(self) -> Any:
        return self.advance(output_names=["x"])

    def wrong_length(self) -> Any:
        return self.joined()[2].step().error

    def not_finite(self) -> Any:
        return self.joined()[2].step(math.nan).error

    def bad_parameters(self) -> Any:
        return self.unary(lambda: self.serve().create(valid=0.0))

    def input_out_of_range(self) -> Any:
        return self.joined()[2].step(100.5).error

    def too_many_ticks(self) -> Any:
        return self.advance(n_ticks=1_000_001)

    def unknown_model(self) -> Any:
        return self.unary(lambda: self.serve().stub.CreateSession(pb.CreateSessionRequest(model="x")))

    def model_unavailable(self) -> Any:
        def fail() -> Any:
            raise errors.ModelUnavailable("no compiler")

        server = self.serve()
        server.server.manager.registry = Registry({"integrator": fail})
        return self.unary(server.create)

    def recording_unavailable(self) -> Any:
        request = pb.CreateSessionRequest(model="integrator", recording=pb.Recording())
        return self.unary(lambda: self.serve().stub.CreateSession(request))

    def recording_lost(self) -> Any:
        server = self.serve(record=tempfile.mkdtemp(), record_required=True)
        session = server.create("b")
        member = server.member(session, "a")
        member.deliver()
        waits(server, session, "a")
        (recording,) = server.server.manager.recorder._recordings
        recording.fail("the disk is full")
        return member.read().error

    def unknown_session(self) -> Any:
        return self.advance(pb.CreateSessionResponse(session_id="x"))

    def unknown_snapshot(self) -> Any:
        return self.after(lambda server, session: None, "RestoreSnapshot", snapshot_id="1")

    def input_owned(self) -> Any:
        server, session, _ = self.joined()
        return self._second(server, session, "b", ["force"])

    def name_taken(self) -> Any:
        server, session, _ = self.joined()
        return self._second(server, session, "a", [])

    def _second(self, server: Any, session: Any, name: str, inputs: list[str]) -> Any:
        return Stream(server.stub).join(session, name, inputs=inputs).error

    def wrong_tick(self) -> Any:
        return self.joined()[2].step(1.0, tick=3).error

    def too_late(self) -> Any:
        server, session, a = self.joined(late=pb.LATE_POLICY_HOLD_LAST, late_after=0.01)
        server.member(session, "b").step()
        return a.step(1.0).error

    def wrong_epoch(self) -> Any:
        return self.joined()[2].step(1.0, epoch=7).error

    def stale_request(self) -> Any:
        return self.joined()[2].step(1.0, request=0).error

    def step_pending(self) -> Any:
        server, session, _ = self.joined()
        blocked = server.member(session, "b", timeout=0.05)
        assert blocked.step().error.reason == "BARRIER_TIMEOUT"
        return blocked.step().error

    def wrong_state(self) -> Any:
        return self.after(lambda server, session: None, "ResumeSession")

    def session_failed(self) -> Any:
        server = self.serve()
        session = server.create(limit=1e-9)
        move = {"n_ticks": 1, "input_names": ["velocity.x"], "inputs": [1.0]}
        self.unary(lambda: server.call("Advance", session, **move))
        return self.unary(lambda: server.call("Advance", session, **move))

    def session_closed(self) -> Any:
        server, session, a = self.joined()
        server.call("DeleteSession", session)
        return a.step(1.0).error

    def not_joined(self) -> Any:
        return Stream(self.serve().stub).step().error

    def already_joined(self) -> Any:
        _, session, a = self.joined()
        return a.join(session, "b").error

    def unknown_participant(self) -> Any:
        return self.after(lambda server, session: None, "EvictParticipant", name="x")

    def evicted(self) -> Any:
        server, session, a = self.joined()
        server.call("EvictParticipant", session, name="a")
        return a.step(1.0).error

    def stream_replaced(self) -> Any:
        server, session, a = self.joined()
        server.member(session, "a", inputs=["force"], participant_token=a.joined.participant_token)
        return a.step(1.0).error

    def participants_present(self) -> Any:
        return self.after(lambda server, session: server.member(session, "a"), "Advance")

    def too_many_sessions(self) -> Any:
        server = self.serve(max_sessions=1)
        server.create()
        return self.unary(server.create)

    def too_many_participants(self) -> Any:
        server = self.serve(max_participants=1)
        session = server.create()
        server.member(session, "a")
        return self._second(server, session, "b", [])

    def too_many_snapshots(self) -> Any:
        server = self.serve(max_snapshots=0)
        return self.unary(lambda: server.call("SaveSnapshot", server.create()))

    def too_many_viewers(self) -> Any:
        server = self.serve(max_viewers=0)
        session = server.create()
        return self.unary(lambda: next(server.stub.Watch(pb.WatchRequest(session_id=session.session_id))))

    def snapshot_corrupt(self) -> Any:
        server = self.serve()
        session = server.create()
        piece = pb.UploadSnapshotRequest(session_id=session.session_id, token=session.token, size=3, data=b"abc",
                                         sha256=hashlib.sha256(b"abc").digest())
        return self.unary(lambda: server.stub.UploadSnapshot(iter([piece])))

    def snapshot_foreign(self) -> Any:
        def another_build(server: Any, session: Any) -> None:
            server.call("SaveSnapshot", session)
            server.model.build = "integrator 2"

        return self.after(another_build, "RestoreSnapshot", snapshot_id="1")

    def barrier_timeout(self) -> Any:
        server, session, _ = self.joined()
        return server.member(session, "b", timeout=0.05).step().error

    def participant_late(self) -> Any:
        return self._waiting("late")

    def participant_lost(self) -> Any:
        return self._waiting("lost")

    def _waiting(self, how: str) -> Any:
        server, session, a = self.joined(late=pb.LATE_POLICY_FAIL, late_after=0.3 if how == "late" else 60.0)
        b = server.member(session, "b")
        b.deliver()
        waits(server, session, "b")
        if how == "lost":
            a.call.cancel()
        return b.read().error

    def held_too_long(self) -> Any:
        server, session, a = self.joined(late=pb.LATE_POLICY_HOLD_LAST, max_age_ticks=1)
        a.call.cancel()
        b = server.member(session, "b")
        while (reply := b.step()).HasField("state"):
            pass
        return reply.error

    def overrun(self) -> Any:
        server = self.serve()
        session = server.create(pacing=pb.Pacing(mode=pb.PACING_MODE_REALTIME, overrun=pb.OVERRUN_POLICY_FAIL))
        a = server.member(session, "a")
        a.step()
        time.sleep(0.05)
        return a.step().error

    def too_slow(self) -> Any:
        # An empty request is answered, but does not stop the time in which a Join must come.
        stream = Stream(self.serve(message_timeout=0.1).stub)
        assert stream.ask().HasField("error")
        return self.unary(stream.read)

    def call_too_long(self) -> Any:
        server = self.serve(max_call_seconds=1.0)
        paced = server.create(pacing=pb.Pacing(mode=pb.PACING_MODE_REALTIME))
        return self.unary(lambda: server.call("Advance", paced, n_ticks=1001))

    def not_authenticated(self) -> Any:
        with tempfile.NamedTemporaryFile("w") as tokens:
            tokens.write("correct-horse-battery")
            tokens.flush()
            server = self.serve(token_file=tokens.name)
        return self.unary(server.create)

    def no_token(self) -> Any:
        return self.advance(token="")

    def wrong_token(self) -> Any:
        return self.advance(token="x")

    def no_right(self) -> Any:
        server, session, a = self.joined()
        return self.unary(lambda: server.call("PauseSession", session, token=a.joined.participant_token))

    def draining(self) -> Any:
        server = self.serve()
        server.server.manager.draining = True
        return self.unary(server.create)

    def no_snapshots(self) -> Any:
        server, session = self._foreign()
        return self.unary(lambda: server.call("SaveSnapshot", session))

    def worker_lost(self) -> Any:
        server, session = self._foreign()
        return self.unary(lambda: server.call("Advance", session, n_ticks=1, input_names=["act"],
                                              inputs=[float(hostile.SEGFAULT)]))

    def _foreign(self) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            server = self.serve(fmu=(str(hostile.build(Path(folder) / "hostile.fmu")),))
            server.server.manager.registry = registry(server.server.config)
            return server, server.stub.CreateSession(pb.CreateSessionRequest(model="hostile"))

    def solver_failed(self) -> Any:
        server = self.serve()
        session = server.create(limit=1e-9)
        return self.unary(lambda: server.call("Advance", session, n_ticks=1, input_names=["velocity.x"], inputs=[1.0]))


@pytest.mark.parametrize(("status", "reason"), list(errors.TABLE.values()), ids=[r for _, r in errors.TABLE.values()])
def test_every_refusal_of_the_table_comes_from_a_real_server_with_its_status(
        serve: Any, info: Any, status: grpc.StatusCode, reason: str) -> None:
    error = getattr(Provoke(serve, info), reason.lower())()
    assert (error.reason, error.code) == (reason, status.value[0])
    assert error.message
    assert error.field
