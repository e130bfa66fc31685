"""Models, sessions and Advance over a real server."""

from __future__ import annotations

import asyncio
import gc
import math
import threading
import time
from collections.abc import Callable
from typing import Any

import grpc
import numpy as np
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from integrator_model import TABLE, TICK, Integrator
from served import eventually

from jounce_proto import jounce_pb2 as pb
from jounce_service.session import control
from jounce_service.transport.errors import BadParameters

Info = Callable[[grpc.RpcError], pb.ErrorInfo]


def refused(info: Info, call: Any, request: Any) -> pb.ErrorInfo:
    with pytest.raises(grpc.RpcError) as caught:
        call(request)
    return info(caught.value)


def advance(server: Any, session: Any, n: int, **fields: Any) -> pb.AdvanceResponse:
    reply: pb.AdvanceResponse = server.stub.Advance(pb.AdvanceRequest(
        **({"session_id": session.session_id, "token": session.token, "n_ticks": n, "output_names": ["*"]} | fields)))
    return reply


def test_describe_gives_every_field_of_the_signal_table(server: Any) -> None:
    assert [m.name for m in server.stub.ListModels(pb.ListModelsRequest()).models] == ["integrator"]
    reply = server.stub.DescribeModel(pb.DescribeModelRequest(model="integrator"))
    assert [s.name for s in reply.signals] == [s.name for s in TABLE.signals]
    force = reply.signals[1]
    assert (force.unit, force.minimum, force.maximum, list(force.start)) == ("N", 0.0, 100.0, [0.5])
    assert (force.first_index, force.first_value_reference, force.causality) == (2, 1002, pb.CAUSALITY_INPUT)
    velocity = reply.signals[0]
    assert (list(velocity.shape), list(velocity.components)) == ([2], [".x", ".y"])
    assert reply.signals[2].maximum == math.inf
    mode = next(s for s in reply.signals if s.name == "mode")
    assert (mode.type, list(mode.items)) == (pb.SIGNAL_TYPE_ENUMERATION, ["SLOW", "FAST"])


@pytest.mark.parametrize("channel", [0, 1], ids=["tcp", "unix"])
def test_advance_sets_advances_exactly_n_and_gets_over_both_listeners(server: Any, channel: int) -> None:
    from jounce_proto import jounce_pb2_grpc as rpc

    server.stub = rpc.SessionServiceStub(server.channels[channel])
    session = server.create(gain=3.0)
    reply = advance(server, session, 500, input_names=["velocity", "force"], inputs=[2.0, -1.0, 7.0],
                    output_names=["position", "reaction", "tick_count"], request=1)
    want = 0.0
    for _ in range(500):
        want = want + 2.0 * TICK
    assert reply.outputs[0] == want
    assert list(reply.outputs[2:]) == [21.0, 500.0]
    assert (reply.tick, reply.sim_ns, reply.epoch) == (500, 500_000_000, 1)


def test_a_repeated_advance_returns_the_stored_reply_and_does_not_advance(server: Any, info: Info) -> None:
    session = server.create()
    first = advance(server, session, 3, request=5)
    assert advance(server, session, 3, request=5) == first
    with pytest.raises(grpc.RpcError) as caught:
        advance(server, session, 4, request=5)
    assert info(caught.value).reason == "STALE_REQUEST"
    assert advance(server, session, 0).tick == 3
    assert advance(server, session, 3, request=5) == first


def test_a_wrong_tick_or_epoch_is_aborted_with_the_one_expected(server: Any, info: Info) -> None:
    session = server.create()
    advance(server, session, 3)
    for fields, reason in (({"tick": 2}, "WRONG_TICK"), ({"epoch": 9}, "WRONG_EPOCH")):
        with pytest.raises(grpc.RpcError) as caught:
            advance(server, session, 1, **fields)
        assert caught.value.code() is grpc.StatusCode.ABORTED
        assert (info(caught.value).reason, info(caught.value).expected_tick) == (reason, 3)
    assert advance(server, session, 1, tick=3, epoch=1).tick == 4


@pytest.mark.parametrize(("names", "values", "reason", "field", "given"), [
    (["velocity.x"], [10.5], "INPUT_OUT_OF_RANGE", "velocity.x", "10.5"),
    (["force"], [-0.25], "INPUT_OUT_OF_RANGE", "force", "-0.25"),
    (["velocity"], [1.0, math.nan], "NOT_FINITE", "velocity.y", "nan"),
    (["open"], [math.inf], "NOT_FINITE", "open", "inf"),
    (["velocity"], [1.0], "WRONG_LENGTH", "inputs", "1"),
    (["velocitty"], [1.0], "UNKNOWN_SIGNAL", "velocitty", "velocitty"),
    (["position.x"], [1.0], "UNKNOWN_SIGNAL", "position.x", "position.x"),
    (["velocity", "velocity.x"], [1.0, 1.0, 1.0], "BAD_FIELD", "velocity.x", "velocity.x"),
])
def test_a_bad_input_is_refused_naming_signal_and_value_and_nothing_is_applied(
        server: Any, info: Info, names: list[str], values: list[float], reason: str, field: str, given: str) -> None:
    session = server.create()
    before = server.instance(session).get_state()
    with pytest.raises(grpc.RpcError) as caught:
        advance(server, session, 5, input_names=[*names, "force" if "force" not in names else "open"],
                inputs=[*values, 3.0])
    found = info(caught.value)
    assert (found.reason, found.field) == (reason, field)
    assert found.allowed
    if reason != "WRONG_LENGTH":
        assert found.given == given
    assert server.instance(session).get_state() == before
    assert advance(server, session, 1, output_names=["reaction"]).outputs[0] == 2.0 * 0.5


@pytest.mark.parametrize(("name", "value", "reason", "expected"), [
    ("gain", pb.Value(), "BAD_FIELD", "a finite number from 0.0 to 5.0"),
    ("gain", pb.Value(text="1_0"), "BAD_FIELD", "a finite number from 0.0 to 5.0"),
    ("gain", pb.Value(text="nan"), "NOT_FINITE", "a finite number from 0.0 to 5.0"),
    ("valid", pb.Value(text="yes"), "BAD_FIELD", "true or false"),
    ("mode", pb.Value(number=3.0), "INPUT_OUT_OF_RANGE", "SLOW, FAST, or the number of one from 1 to 2"),
])
def test_a_parameter_without_a_value_of_its_type_is_refused_with_what_is_expected(
        server: Any, info: Info, name: str, value: pb.Value, reason: str, expected: str) -> None:
    found = refused(info, server.stub.CreateSession, pb.CreateSessionRequest(model="integrator",
                                                                             parameters={name: value}))
    assert (found.reason, found.field, found.allowed) == (reason, name, expected)


def test_sessions_and_models_that_do_not_exist_are_not_found(server: Any, info: Info) -> None:
    assert refused(info, server.stub.GetSession, pb.GetSessionRequest(session_id="x")).reason == "UNKNOWN_SESSION"
    assert refused(info, server.stub.DescribeModel, pb.DescribeModelRequest(model="x")).allowed == "integrator"
    assert refused(info, server.stub.CreateSession, pb.CreateSessionRequest(model="x")).reason == "UNKNOWN_MODEL"


def test_a_changing_call_needs_the_token_and_never_repeats_it(server: Any, info: Info) -> None:
    session = server.create()
    for token, code, reason in (("", grpc.StatusCode.UNAUTHENTICATED, "NO_TOKEN"),
                                ("böse", grpc.StatusCode.PERMISSION_DENIED, "WRONG_TOKEN")):
        for call, request in ((server.stub.Advance, pb.AdvanceRequest), (server.stub.DeleteSession,
                                                                         pb.DeleteSessionRequest)):
            with pytest.raises(grpc.RpcError) as caught:
                call(request(session_id=session.session_id, token=token))
            assert caught.value.code() is code
            assert info(caught.value).reason == reason
            assert not info(caught.value).given
    assert session.token not in str(server.stub.GetSession(pb.GetSessionRequest(session_id=session.session_id)))


@pytest.mark.parametrize(("fields", "reason", "field"), [
    ({"parameters": {"gain": pb.Value(number=6.0)}}, "INPUT_OUT_OF_RANGE", "gain"),
    ({"parameters": {"gain": pb.Value(text="much")}}, "BAD_FIELD", "gain"),
    ({"parameters": {"gain": pb.Value(number=math.nan)}}, "NOT_FINITE", "gain"),
    ({"parameters": {"gian": pb.Value(number=1.0)}}, "UNKNOWN_SIGNAL", "gian"),
    ({"parameters": {"mode": pb.Value(text="MEDIUM")}}, "BAD_FIELD", "mode"),
    ({"parameters": {"mode": pb.Value(number=1.5)}}, "BAD_FIELD", "mode"),
    ({"parameters": {"valid": pb.Value(text="false")}}, "BAD_PARAMETERS", "valid"),
    ({"start_inputs": {"force": -1.0}}, "INPUT_OUT_OF_RANGE", "force"),
    ({"start_inputs": {"gain": 1.0}}, "UNKNOWN_SIGNAL", "gain"),
    ({"expected_participants": ["a", "a"]}, "BAD_FIELD", "expected_participants"),
])
def test_a_session_with_bad_parameters_is_not_created(server: Any, info: Info, fields: dict[str, Any], reason: str,
                                                      field: str) -> None:
    found = refused(info, server.stub.CreateSession, pb.CreateSessionRequest(model="integrator", **fields))
    assert (found.reason, found.field) == (reason, field)
    assert not server.server.manager._sessions


def test_parameters_may_be_text_and_start_inputs_hold(server: Any) -> None:
    session = server.stub.CreateSession(pb.CreateSessionRequest(
        model="integrator", parameters={"gain": pb.Value(text="4"), "mode": pb.Value(text="FAST"),
                                        "valid": pb.Value(text="true")}, start_inputs={"force": 2.0}))
    assert advance(server, session, 1, output_names=["reaction"]).outputs[0] == 8.0


def test_a_failed_solver_is_internal_once_and_a_failed_session_afterwards(server: Any, info: Info) -> None:
    session = server.create(limit=0.01)
    with pytest.raises(grpc.RpcError) as caught:
        advance(server, session, 10, input_names=["velocity.x"], inputs=[10.0])
    assert caught.value.code() is grpc.StatusCode.INTERNAL
    assert info(caught.value).reason == "SOLVER_FAILED"
    with pytest.raises(grpc.RpcError) as caught:
        advance(server, session, 1)
    assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert info(caught.value).reason == "SESSION_FAILED"
    assert "position.x passed 0.01" in info(caught.value).message
    status = server.stub.GetSession(pb.GetSessionRequest(session_id=session.session_id))
    assert status.state == pb.SESSION_STATE_FAILED
    assert "position.x passed 0.01" in status.failure
    server.stub.DeleteSession(pb.DeleteSessionRequest(session_id=session.session_id, token=session.token))
    assert server.instance(session).freed == 1


def test_a_deleted_session_is_gone_and_its_instance_freed_once(server: Any, info: Info) -> None:
    session = server.create()
    request = pb.DeleteSessionRequest(session_id=session.session_id, token=session.token)
    server.stub.DeleteSession(request)
    assert refused(info, server.stub.DeleteSession, request).reason == "UNKNOWN_SESSION"
    assert server.instance(session).freed == 1


def test_caps_on_sessions_and_ticks_are_kept(serve: Any, info: Info) -> None:
    server = serve(max_sessions=1, max_ticks_per_call=100)
    session = server.create()
    found = refused(info, server.stub.CreateSession, pb.CreateSessionRequest(model="integrator"))
    assert (found.reason, found.code) == ("TOO_MANY_SESSIONS", 8)
    assert "DeleteSession" in found.message and "--max-sessions" in found.message
    with pytest.raises(grpc.RpcError) as caught:
        advance(server, session, 101)
    assert info(caught.value).reason == "TOO_MANY_TICKS"
    assert advance(server, session, 100).tick == 100


def test_many_simultaneous_advances_of_one_session_each_count_once(server: Any) -> None:
    session = server.create()
    ends: list[int] = []
    threads = [threading.Thread(target=lambda n=n: ends.append(advance(server, session, n).tick))
               for n in (1, 30, 2, 40, 3, 50)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert max(ends) == 126
    assert len(set(ends)) == 6


def test_split_advances_give_the_same_bits_as_one(server: Any) -> None:
    one, many = server.create(), server.create()
    whole = advance(server, one, 100, input_names=["velocity.x"], inputs=[0.3])
    for n in (1, 49, 0, 7, 43):
        part = advance(server, many, n, input_names=["velocity.x"], inputs=[0.3])
    assert list(part.outputs) == list(whole.outputs)
    alone = Integrator(2.0, 1e9, 0.0)
    alone.set_inputs(np.array([0.3, 0.0, 0.5, 0.0]))
    alone.step(100)
    assert list(whole.outputs) == alone.get_outputs().tolist()


def test_health_and_reflection_answer(server: Any) -> None:
    stub = health_pb2_grpc.HealthStub(server.channels[0])
    for name in ("", "jounce.v1.SessionService"):
        assert stub.Check(health_pb2.HealthCheckRequest(service=name)).status == health_pb2.HealthCheckResponse.SERVING
    reflect = reflection_pb2_grpc.ServerReflectionStub(server.channels[0])
    listed = next(reflect.ServerReflectionInfo(iter([reflection_pb2.ServerReflectionRequest(list_services="")])))
    assert "jounce.v1.SessionService" in [s.name for s in listed.list_services_response.service]


def test_an_unused_session_is_reaped_after_its_lease_and_a_used_one_is_not(serve: Any) -> None:
    server = serve(session_lease=50.0)
    old, joined = server.create(), server.create()
    stream = server.member(joined, "a")
    manager = server.server.manager
    assert server.run(manager.reap(manager.find(old.session_id).last_used + 49.0)) == []
    assert server.run(manager.reap(manager.find(joined.session_id).last_used + 51.0)) == [old.session_id]
    assert stream.step().state.tick == 1


@pytest.mark.parametrize("how", ["create", "revive"])
@pytest.mark.parametrize("refused", [False, True])
def test_a_session_whose_maker_has_gone_does_not_stay(
        server: Any, monkeypatch: pytest.MonkeyPatch, how: str, refused: bool) -> None:
    source = server.create()
    begun, go, ended = threading.Event(), threading.Event(), []
    orderly = getattr(server.model, how)

    def slow(*arguments: Any) -> Integrator:
        begun.set()
        assert go.wait(60)
        ended.append(how)
        if refused:
            raise BadParameters("no", field="parameters", allowed="others")
        made: Integrator = orderly(*arguments)
        return made

    wrong: list[Any] = []
    server.loop.set_exception_handler(lambda _, context: wrong.append(context))
    monkeypatch.setattr(server.model, how, slow)
    if how == "create":
        call = server.stub.CreateSession.future(pb.CreateSessionRequest(model="integrator"))
    else:
        call = server.stub.ForkSession.future(pb.ForkSessionRequest(session_id=source.session_id, token=source.token))
    assert begun.wait(60) and call.cancel()
    # By the time that the server has heard of it.
    time.sleep(0.2)
    go.set()
    assert eventually(lambda: ended == [how])
    assert eventually(lambda: [i.freed for n, i in server.model.made.items()] == ([0] if refused else [0, 1]))
    gc.collect()
    assert wrong == []
    assert server.advance(source, 1)


def test_a_snapshot_whose_maker_has_gone_does_not_stay(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    session = server.create()
    store = server.server.manager.find(session.session_id)._snapshots
    begun, go = threading.Event(), threading.Event()

    async def slow(*arguments: Any) -> Any:
        begun.set()
        await asyncio.to_thread(go.wait, 10.0)
        return await orderly(*arguments)

    orderly = control.save_and_keep
    monkeypatch.setattr(control, "save_and_keep", slow)
    call = server.stub.SaveSnapshot.future(pb.SaveSnapshotRequest(session_id=session.session_id, token=session.token))
    forget, lost = store.delete, []
    monkeypatch.setattr(store, "delete", lambda name: (lost.append(name), forget(name)))
    assert begun.wait(60) and call.cancel()
    time.sleep(0.2)
    go.set()
    assert eventually(lambda: len(lost) == 1)
    with pytest.raises(grpc.RpcError):
        server.call("RestoreSnapshot", session, snapshot_id=lost[0])
