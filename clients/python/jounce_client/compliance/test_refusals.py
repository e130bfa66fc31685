"""Every reason of a refusal that a client can provoke comes with its status, and changes nothing.

Not tested, since they depend on the server's settings or its model: caps (``TOO_MANY_...``), ``TOO_SLOW``,
``CALL_TOO_LONG``, ``NOT_AUTHENTICATED``, ``DRAINING``, ``MODEL_UNAVAILABLE``, ``RECORDING_UNAVAILABLE``,
``RECORDING_LOST``, ``SNAPSHOT_FOREIGN``, ``BAD_PARAMETERS`` and ``SOLVER_FAILED``.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable
from typing import Any

import pytest

from jounce_client.compliance.rig import Server, proper, refusal
from jounce_client.compliance.stream import Stream
from jounce_proto import jounce_pb2 as pb


def beyond(bound: float) -> float:
    """A value beyond the bound by more than rounding, which servers may accept as the bound."""
    return bound + max(1e-3 * abs(bound), 1e-3)


class Provoke:
    """Provokes refusals; each method is named after its reason."""

    def __init__(self, server: Server) -> None:
        """Creates a session."""
        self.server = server
        self.session = server.create()

    def _name(self) -> str:
        if not self.server.model.inputs:
            pytest.skip("the model has no inputs")
        return self.server.model.inputs[0].name

    def _one(self, **terms: Any) -> Stream:
        return self.server.member(self.session, "a", **terms)

    def _unary(self, call: str, **fields: Any) -> pb.ErrorInfo:
        return self.server.refused(call, self.session, **fields)

    def _join(self, name: str, **terms: Any) -> pb.ErrorInfo:
        return self.server.stream().join(self.session, name, **terms).error

    def bad_field(self) -> pb.ErrorInfo:
        return self._join("a", period=2, phase=2)

    def unknown_signal(self) -> pb.ErrorInfo:
        return self._join("a", outputs=["no such output"])

    def wrong_length(self) -> pb.ErrorInfo:
        return self._one().refused(1.0)

    def not_finite(self) -> pb.ErrorInfo:
        return self._one(inputs=[self._name()]).refused(math.nan)

    def input_out_of_range(self) -> pb.ErrorInfo:
        bounded = [i for i in self.server.model.inputs if i.maximum < math.inf]
        if not bounded:
            pytest.skip("no input of the model has an upper bound")
        one = self._one(inputs=[i.name for i in bounded])
        reply = one.step(*(beyond(i.maximum) for i in bounded))
        if not reply.HasField("error"):  # a model judges an input where its parameters use it
            pytest.skip("no input with an upper bound is used with the model's default parameters")
        return reply.error

    def unknown_model(self) -> pb.ErrorInfo:
        return refusal(lambda: self.server.stub.CreateSession(pb.CreateSessionRequest(model="no such model")))

    def unknown_session(self) -> pb.ErrorInfo:
        return self._unary("Advance", session_id="no such session")

    def unknown_snapshot(self) -> pb.ErrorInfo:
        return self._unary("RestoreSnapshot", snapshot_id="no such snapshot")

    def input_owned(self) -> pb.ErrorInfo:
        self._one(inputs=[self._name()])
        return self._join("b", inputs=[self._name()])

    def name_taken(self) -> pb.ErrorInfo:
        self._one()
        return self._join("a")

    def wrong_tick(self) -> pb.ErrorInfo:
        return self._one().refused(tick=3)

    def too_late(self) -> pb.ErrorInfo:
        self.session = self.server.create("a", "b")
        slow = self._one(late=pb.LATE_POLICY_HOLD_LAST, late_after=0.01)
        self.server.member(self.session, "b").step()
        return slow.refused()

    def wrong_epoch(self) -> pb.ErrorInfo:
        return self._one().refused(epoch=99)

    def stale_request(self) -> pb.ErrorInfo:
        return self._one().refused(request=0)

    def step_pending(self) -> pb.ErrorInfo:
        self._one()
        blocked = self.server.member(self.session, "b", timeout=0.05)
        assert blocked.step().error.reason == "BARRIER_TIMEOUT"
        return blocked.step().error

    def wrong_state(self) -> pb.ErrorInfo:
        return self._unary("ResumeSession")

    def session_failed(self) -> pb.ErrorInfo:
        self.participant_lost()
        return self._unary("Advance")

    def session_closed(self) -> pb.ErrorInfo:
        one = self._one()
        self.server.call("DeleteSession", self.session)
        return one.refused()

    def not_joined(self) -> pb.ErrorInfo:
        return self.server.stream().refused()

    def already_joined(self) -> pb.ErrorInfo:
        return self._one().join(self.session, "b").error

    def stream_replaced(self) -> pb.ErrorInfo:
        first = self._one()
        self._one(participant_token=first.joined.participant_token)
        return first.refused()

    def participants_present(self) -> pb.ErrorInfo:
        self._one()
        return self._unary("Advance")

    def snapshot_corrupt(self) -> pb.ErrorInfo:
        data = b"no snapshot"
        return refusal(lambda: self.server.upload(self.session, data, len(data), hashlib.sha256(data).digest()))

    def barrier_timeout(self) -> pb.ErrorInfo:
        self._one()
        return self.server.member(self.session, "b", timeout=0.05).step().error

    def participant_late(self) -> pb.ErrorInfo:
        return self._failed_by(0.3, lambda a: None)

    def participant_lost(self) -> pb.ErrorInfo:
        return self._failed_by(60.0, lambda a: a.call.cancel())

    def _failed_by(self, late_after: float, what: Callable[[Stream], None]) -> pb.ErrorInfo:
        self.session = self.server.create("a", "b")
        a = self._one(late=pb.LATE_POLICY_FAIL, late_after=late_after)
        b = self.server.member(self.session, "b")
        b.deliver()
        time.sleep(0.05)
        what(a)
        return b.read().error

    def held_too_long(self) -> pb.ErrorInfo:
        self._one(late=pb.LATE_POLICY_HOLD_LAST, max_age_ticks=1).call.cancel()
        b = self.server.member(self.session, "b")
        while (reply := b.step()).HasField("state") and reply.state.tick < 10:
            pass
        return reply.error

    def overrun(self) -> pb.ErrorInfo:
        self.session = self.server.paced(0.005, overrun=pb.OVERRUN_POLICY_FAIL)
        a = self._one()
        a.step()
        time.sleep(0.1)
        return a.step().error

    def no_token(self) -> pb.ErrorInfo:
        return self._unary("Advance", token="")

    def wrong_token(self) -> pb.ErrorInfo:
        return self._unary("Advance", token="wrong")

    def no_right(self) -> pb.ErrorInfo:
        return self._unary("PauseSession", token=self._one().joined.participant_token)


REASONS = [name.upper() for name in vars(Provoke) if not name.startswith("_")]
#: Reasons that end the session, or occur after its end.
ENDS = {"PARTICIPANT_LATE", "PARTICIPANT_LOST", "HELD_TOO_LONG", "OVERRUN", "SESSION_FAILED", "SESSION_CLOSED"}


class TestRefusals:
    """The table STATUS of ``contract``."""

    @pytest.mark.parametrize("reason", REASONS)
    def test_a_refusal_has_its_reason_and_status_and_says_what_it_concerns(self, server: Server, reason: str) -> None:
        assert proper(getattr(Provoke(server), reason.lower())()).reason == reason

    def test_requests_that_are_refused_leave_no_trace_in_the_run(self, server: Server, owned: str) -> None:
        ends = []
        for rubbish in (False, True):
            session = server.create()
            a = server.member(session, "a", [owned])
            stranger = server.stream()
            states = []
            for k in range(20):
                value = server.model.values(k, [owned])[owned]
                if rubbish:
                    bad = [a.refused(math.nan), a.refused(math.inf), a.refused(), a.refused(value, value),
                           a.refused(value, tick=k + 1), a.refused(value, tick=-1), a.refused(value, epoch=99),
                           a.refused(value, request=a.request), a.ask().error, stranger.refused(value),
                           stranger.join(session, "a").error, stranger.join(session, "b", [owned]).error,
                           stranger.join(session, "b", period=2**32 - 1, phase=2**32 - 1).error,
                           server.refused("Advance", session, n_ticks=1),
                           server.refused("PauseSession", session, token="wrong")]
                    assert all(proper(error) for error in bad)
                states.append(a.step(value).state.SerializeToString(deterministic=True))
            ends.append(states)
        assert ends[0] == ends[1]

    @pytest.mark.parametrize("reason", sorted(ENDS - {"SESSION_CLOSED"}))
    def test_a_session_that_has_failed_says_why(self, server: Server, reason: str) -> None:
        provoke = Provoke(server)
        getattr(provoke, reason.lower())()
        status = server.status(provoke.session)
        assert server.state(provoke.session) == "FAILED"
        assert status.failure
        assert status.failure_reason == ("PARTICIPANT_LOST" if reason == "SESSION_FAILED" else reason)
