"""A server's own stalls are not charged to participants: in virtual time, and with a stopped process."""

from __future__ import annotations

import asyncio
import signal
import socket
import time
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
from integrator_model import TABLE, IntegratorModel
from rig import FastStream, Stream
from served import eventually, serve
from virtual import Connection, Lobby, run

from jounce_proto import jounce_pb2 as pb
from jounce_proto import jounce_pb2_grpc as rpc
from jounce_service import ServerConfig
from jounce_service.server.stalls import BEAT, GAP, SETTLE, Stalls
from jounce_service.session.session import Session
from jounce_service.session.session_spec import Setup
from jounce_service.session.states import SessionState


def stop_loop(seconds: float) -> None:
    """The process does not run for so long, in virtual time."""
    loop: Any = asyncio.get_running_loop()
    loop._made.now += seconds


def test_time_stands_still_for_a_stall_and_for_a_moment_after_it() -> None:
    async def case() -> None:
        loop = asyncio.get_running_loop()
        stalls = Stalls(loop.time)
        stalls.start()
        await asyncio.sleep(1.0)
        before = stalls.time()
        assert before == pytest.approx(loop.time())
        stop_loop(2.0)
        stood = stalls.time()
        assert before <= stood <= before + BEAT
        await asyncio.sleep(0.9 * SETTLE)
        assert stalls.time() == stood
        await asyncio.sleep(0.1 * SETTLE + 1.0)
        assert stalls.time() == pytest.approx(stood + 1.0, abs=0.01)
        assert (stalls.count, stalls.seconds) == (1, pytest.approx(2.0, abs=BEAT))
        stalls.stop()

    run(case())


def test_a_loop_that_is_kept_busy_for_ever_does_not_stop_everybodys_time() -> None:
    async def case() -> float:
        stalls = Stalls(asyncio.get_running_loop().time)
        stalls.start()
        begin = stalls.time()
        for _ in range(1000):
            await asyncio.sleep(0.02)
            stop_loop(2.0 * GAP)
        return stalls.time() - begin

    # It was alive for 20 s of 320, as short as its signs of life can tell.
    assert 10.0 <= run(case()) <= 1000 * BEAT + 1.0


def test_an_alarm_goes_off_when_its_time_has_come_without_the_stall() -> None:
    async def case() -> tuple[float, float]:
        loop = asyncio.get_running_loop()
        stalls = Stalls(loop.time)
        stalls.start()
        gone: asyncio.Future[float] = loop.create_future()
        begin = loop.time()
        stalls.call_later(1.0, lambda: gone.set_result(loop.time()))
        stalls.call_later(1.0, lambda: gone.set_result(-1.0)).cancel()
        await asyncio.sleep(0.5)
        stop_loop(3.0)
        return begin, await gone

    begin, gone = run(case())
    assert gone - begin == pytest.approx(1.0 + 3.0 + SETTLE, abs=2.0 * BEAT)


@pytest.mark.parametrize("late", [pb.LATE_POLICY_HOLD_LAST, pb.LATE_POLICY_SAFE_VALUE, pb.LATE_POLICY_FAIL])
@pytest.mark.parametrize("first", ["a", "b"])
def test_what_lay_in_the_sockets_is_taken_in_before_anybody_is_late(late: Any, first: str) -> None:
    async def case() -> None:
        model, start = IntegratorModel(), np.array([s.start for s in TABLE.inputs])
        setup = Setup(model, "integrator", {}, start, ("a", "b"))
        stalls = Stalls(asyncio.get_running_loop().time)
        stalls.start()
        session = Session("s", setup, setup.instance("s"), ServerConfig(), stalls)
        wires = {name: Connection(Lobby(session)) for name in "ab"}
        for name, column in (("a", "velocity.x"), ("b", "force")):
            terms = {"late": late, "late_after": 0.5} if name == "b" else {}
            await wires[name].ask(join=pb.Join(session_id="s", name=name, inputs=[column], barrier_timeout=1.0,
                                               safe_values=[7.0] if name == "b" and late == 3 else [], **terms))
        await asyncio.sleep(0.3)
        stop_loop(1.5)
        # Both Steps came meanwhile; one is read a little later than the other, and after the timers.
        for name in sorted("ab", key=lambda n: n != first):
            step = pb.Step(epoch=1, tick=0, request=1, inputs=[2.0])
            await wires[name].requests.put(pb.LockstepRequest(step=step))
            await asyncio.sleep(0.8 * SETTLE)
        for wire in wires.values():
            reply = await wire.replies.get()
            assert (reply.state.tick, reply.state.missed, list(reply.state.held)) == (1, 0, []), reply
        assert session.inputs[2] == 2.0
        # Who is late by itself is late as before.
        await wires["a"].requests.put(pb.LockstepRequest(step=pb.Step(epoch=1, tick=1, request=2, inputs=[2.0])))
        await asyncio.sleep(0.6)
        assert (session.state is SessionState.FAILED) == (late == pb.LATE_POLICY_FAIL)
        assert session.tick == (1 if late == pb.LATE_POLICY_FAIL else 2)

    run(case())


def test_a_lease_goes_on_after_a_stall_where_it_stood() -> None:
    async def case() -> None:
        model, start = IntegratorModel(), np.array([s.start for s in TABLE.inputs])
        setup = Setup(model, "integrator", {}, start)
        stalls = Stalls(asyncio.get_running_loop().time)
        stalls.start()
        session = Session("s", setup, setup.instance("s"), ServerConfig(), stalls)
        wires = [Connection(Lobby(session)) for _ in "ab"]
        for wire, name in zip(wires, "ab", strict=True):
            await wire.ask(join=pb.Join(session_id="s", name=name, lease=1.0, barrier_timeout=60.0))
        wires[0].cut(0.0)
        step = pb.LockstepRequest(step=pb.Step(epoch=1, tick=0, request=1))
        await wires[1].requests.put(step)
        await asyncio.sleep(0.5)
        stop_loop(5.0)
        await asyncio.sleep(0.4 + SETTLE)
        assert "a" in session.joined
        await asyncio.sleep(0.3)
        assert "a" not in session.joined
        assert session.tick == 1

    run(case())


@pytest.mark.parametrize("fast", [False, True], ids=["gRPC", "fast lane"])
@pytest.mark.parametrize("late", [pb.LATE_POLICY_HOLD_LAST, pb.LATE_POLICY_FAIL])
def test_a_served_process_that_was_stopped_holds_nobody_late(tmp_path: Path, fast: bool, late: Any) -> None:
    served = serve(tmp_path)
    try:
        channel = grpc.insecure_channel(served.grpc[-1])
        stub = rpc.SessionServiceStub(channel)
        session = stub.CreateSession(pb.CreateSessionRequest(model="hmmwv", expected_participants=["a", "b"]))

        def member(name: str, column: str, **terms: Any) -> Any:
            stream = FastStream(served.fast[-1]) if fast else Stream(stub)
            assert stream.join(session, name, [column], ["speed"], **terms).HasField("joined")
            return stream

        a = member("a", "steering_wheel_angle")
        b = member("b", "wheel_FL.brake_torque", late=late, late_after=0.5)
        a.deliver(0.1)
        served.process.send_signal(signal.SIGSTOP)
        try:
            time.sleep(0.2)
            b.deliver(5.0)
            time.sleep(1.3)
        finally:
            served.process.send_signal(signal.SIGCONT)
        for stream in (a, b):
            reply = stream.read()
            assert (reply.state.tick, reply.state.missed, list(reply.state.held)) == (1, 0, []), reply
        status = stub.GetSession(pb.GetSessionRequest(session_id=session.session_id))
        assert status.state == pb.SESSION_STATE_RUNNING
        assert status.stalls >= 1
        assert status.stalled_seconds > 1.0
        assert eventually(lambda: "did not run" in (tmp_path / "errors").read_text())
        channel.close()
    finally:
        served.kill()


def test_a_join_that_lay_in_the_socket_of_a_stopped_server_is_in_time(tmp_path: Path) -> None:
    served = serve(tmp_path, "--fast-join-timeout=0.6")
    try:
        connection = FastStream(served.fast[-1])
        time.sleep(0.2)
        served.process.send_signal(signal.SIGSTOP)
        connection.send(join=pb.Join(session_id="none", name="a"))
        time.sleep(1.2)
        served.process.send_signal(signal.SIGCONT)
        assert connection.read().error.reason == "UNKNOWN_SESSION"
        connection.call.socket.shutdown(socket.SHUT_WR)
    finally:
        served.kill()
