"""Dead and slow clients, and long steps, do not affect other sessions."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from undisturbed import undisturbed

from jounce_proto import jounce_pb2 as pb


def stepper(server: Any, session: Any, address: str, name: str = "victim") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("stepper_process.py")), address, session.session_id,
         session.token, name, "force"], stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))})


def wait_until(condition: Any, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.01)


def status(server: Any, session: Any) -> pb.GetSessionResponse:
    reply: pb.GetSessionResponse = server.stub.GetSession(pb.GetSessionRequest(session_id=session.session_id))
    return reply


@pytest.mark.parametrize("listener", [0, 1], ids=["tcp", "unix"])
@undisturbed
def test_a_client_killed_in_the_barrier_is_detached_at_once_and_other_sessions_go_on(server: Any,
                                                                                     listener: int) -> None:
    session, other = server.create("victim", "a"), server.create()
    a, b = server.member(session, "a", timeout=0.5), server.member(other, "b")
    victim = stepper(server, session, server.server.addresses[listener])
    assert victim.stdout is not None
    # It has delivered for tick 0 and waits for `a`.
    assert victim.stdout.readline() == "0\n"
    wait_until(lambda: not any(p.name == "victim" and p.missing for p in status(server, session).participants))
    os.kill(victim.pid, signal.SIGKILL)
    victim.wait()
    for k in range(1, 200):
        assert b.step().state.tick == k
    wait_until(lambda: not any(p.name == "victim" and p.joined for p in status(server, session).participants))
    assert list(a.step().error.missing) == ["victim"]
    # Its half-delivered inputs were dropped, and it may come back.
    assert server.instance(session).ticks == 0
    again = server.member(session, "victim", inputs=["force"])
    assert again.joined.tick == 0
    again.deliver(2.0)
    assert a.step(request=1).state.outputs[2] == 4.0
    assert again.read().state.tick == 1


def test_a_client_killed_during_a_long_step_does_not_stop_the_step_half_way(serve: Any) -> None:
    server = serve()
    session = server.create(sleep=0.3)
    victim, a = server.member(session, "victim", period=50), server.member(session, "a", period=50)
    a.deliver()
    victim.deliver()
    wait_until(lambda: server.instance(session).applied)
    victim.call.cancel()
    assert a.read().state.tick == 50
    assert a.step().state.tick == 100
    assert server.instance(session).ticks == 100


def test_a_long_step_of_one_session_does_not_hold_up_another(server: Any) -> None:
    slow, quick = server.create(sleep=0.5), server.create()
    a, b = server.member(slow, "a", period=100), server.member(quick, "b")
    a.deliver()
    wait_until(lambda: server.instance(slow).applied)
    for _ in range(20):
        b.step()
    assert server.instance(slow).ticks == 0
    assert a.read().state.tick == 100


def test_the_time_of_the_model_itself_is_nobodys_fault(server: Any) -> None:
    session = server.create(sleep=0.4)
    a = server.member(session, "a", period=100, timeout=0.1)
    assert a.step().state.tick == 100


def test_a_busy_client_that_takes_its_time_is_not_detached(server: Any) -> None:
    session = server.create()
    a = server.member(session, "a", timeout=0.1)
    a.step()
    time.sleep(0.5)
    assert a.step().state.tick == 2


def test_eight_clients_in_threads_and_two_that_die_leave_an_exact_count(server: Any) -> None:
    session = server.create()
    members = [server.member(session, f"m{i}", period=1 + i % 3) for i in range(8)]

    def drive(i: int) -> None:
        while members[i].tick < 60:
            members[i].step()
            if i >= 6 and members[i].tick >= 20:
                members[i].call.cancel()
                return
        members[i].ask(leave=pb.Leave())

    threads = [threading.Thread(target=drive, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert not any(t.is_alive() for t in threads)
    assert server.instance(session).ticks == status(server, session).tick
    assert 60 <= status(server, session).tick <= 62
