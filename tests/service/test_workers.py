"""Sessions in worker processes: the bits of those in process, and faults that stay in one session."""

from __future__ import annotations

import logging
import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
import pytest
from served import eventually

from jounce_fmu.build.builtin import export_builtin
from jounce_fmu.build.library import ensure_library
from jounce_fmu.importer.foreign import Interface
from jounce_fmu.importer.host import Factory
from jounce_fmu.importer.process import Limits
from jounce_proto import jounce_pb2 as pb
from jounce_proto import jounce_pb2_grpc as rpc
from jounce_service.hosting.fmu_model import FmuModel
from jounce_service.hosting.models import Registry

sys.path.insert(0, str(Path(__file__).parents[1] / "fmu"))
import hostile
import oscillator

from jounce.axles import WHEELS

MEMORY = 512 << 20
#: Ticks for which the fastest model takes minutes.
FOR_MINUTES = 1_000_000_000
VEHICLE = {"init.speed": 9.0, "terrain.bank": 0.05}


@pytest.fixture(scope="module")
def factory(tmp_path_factory: pytest.TempPathFactory) -> Factory:
    library = ensure_library(oscillator.sources(tmp_path_factory.mktemp("o")), tmp_path_factory.mktemp("native"))
    return Factory("oscillator", library, Interface.of_table(oscillator.TABLE))


@pytest.fixture
def swinging(serve: Any, factory: Factory) -> Any:
    """A server with the oscillator in process and in workers, under one name each time it is switched."""
    server = serve(max_call_seconds=0.5, max_ticks_per_call=FOR_MINUTES)

    def workers(on: bool) -> None:
        model = FmuModel(factory, Limits(10.0, MEMORY) if on else None)
        server.server.manager.registry = Registry({"oscillator": lambda: model})

    server.workers = workers
    workers(True)
    return server


def create(server: Any, model: str, **fields: Any) -> Any:
    parameters = {n: pb.Value(number=v) for n, v in fields.pop("parameters", {}).items()}
    return server.stub.CreateSession(pb.CreateSessionRequest(model=model, parameters=parameters, **fields))


def pid(server: Any, session: Any) -> int:
    found: int = server.server.manager.find(session.session_id)._engine.instance.process.pid
    return found


def runs(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def children(process: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{process}/task").iterdir():
        # Threads end while this looks at them.
        with suppress(FileNotFoundError, ProcessLookupError):
            found += map(int, (task / "children").read_text().split())
    return found


def wait_until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


# ---------------------------------------------------------------- the same bits


def trajectory(server: Any, model: str) -> Iterator[list[float]]:
    """The vehicle in lockstep with inputs held and on ramps, then in one long advance, then with new inputs alone."""
    session = create(server, model, parameters=VEHICLE)
    drive = [f"wheel_{w}.drive_torque" for w in WHEELS]
    steering = ["steering_wheel_angle", "steering_wheel_rate"]
    a = server.member(session, "a", inputs=steering, first_order_inputs=steering, period=2)
    b = server.member(session, "b", inputs=drive, period=3)
    for tick in range(120):
        if tick % 2 == 0:
            a.deliver(0.5 * math.sin(0.05 * tick), 0.2)
        if tick % 3 == 0:
            b.deliver(*(100.0 + 40.0 * math.cos(0.1 * tick + i) for i in range(4)))
        if tick % 2 == 1:
            yield list(a.read().state.outputs)
        if tick % 3 == 2:
            yield list(b.read().state.outputs)
    a.ask(leave=pb.Leave())
    b.ask(leave=pb.Leave())
    yield server.advance(session, 257, steering_wheel_angle=0.3)
    yield server.advance(session, 0, steering_wheel_angle=-0.3)
    yield server.advance(session, 1)
    saved = server.call("SaveSnapshot", session).snapshot_id
    yield server.advance(session, 130, steering_wheel_rate=0.5)
    server.call("RestoreSnapshot", session, snapshot_id=saved)
    yield server.advance(session, 0)
    yield server.advance(session, 130, steering_wheel_rate=0.5)


def test_vehicle_in_process_in_a_worker_and_as_a_foreign_fmu_of_both_versions_is_the_same_to_the_last_bit(
        host: Any, tmp_path: Path) -> None:
    for version in (2, 3):
        export_builtin(tmp_path / f"fmi{version}.fmu", fmi=version)
    server = host(tmp_path)
    expected = list(trajectory(server, "hmmwv"))
    assert len(expected) == 106 and expected[-1] == expected[-3] != expected[-2] and expected[0] != expected[99]
    for name in ("fmi2", "fmi3"):
        assert list(trajectory(server, name)) == expected
    server = host(workers=True, address="", socket_path=str(tmp_path / "w.sock"))
    assert list(trajectory(server, "hmmwv")) == expected
    session = create(server, "hmmwv")
    assert pid(server, session) != os.getpid()


def test_the_length_of_moves_does_not_change_the_bits_of_a_foreign_fmu(host: Any, bad: Path) -> None:
    server = host(bad)
    ends = []
    for parts in ([300], [1] * 7 + [93, 200]):
        session = create(server, "hostile", parameters={"gain": 3.0})
        for n in parts:
            outputs = server.advance(session, n, x=0.25)
        ends.append(outputs)
    assert ends[0] == ends[1] == [hostile.after(300, 0.25, 3.0), 300.0, 0.0]


# ---------------------------------------------------------------- faults


@pytest.mark.parametrize(("act", "words"), [
    (hostile.SEGFAULT, "signal 11"), (hostile.LOOP, "did not answer within 1 s: its process was killed"),
    (hostile.MEMORY, f"signal 6.*it may use {MEMORY} bytes"), (hostile.EXIT, "exit code 7"),
])  # fmt: skip
def test_a_fault_in_an_fmu_fails_its_session_with_the_reason_and_no_other(
        host: Any, bad: Path, act: int, words: str) -> None:
    # Filling its memory may take a busy machine a while.
    seconds = 1.0 if act == hostile.LOOP else 60.0
    server = host(bad, worker_seconds=seconds, worker_memory=MEMORY)
    lost, other = (create(server, "hostile") for _ in range(2))
    a = server.member(lost, "a", inputs=["x", "act"])
    b = server.member(other, "b", inputs=["x"])
    assert list(a.step(0.5, 0.0).state.outputs) == [hostile.after(1, 0.5), 1.0, 0.0]
    process = pid(server, lost)
    a.deliver(0.5, float(act))
    # The loop goes on serving others while the FMU hangs.
    for k in range(1, 51):
        assert list(b.step(1.0).state.outputs) == [hostile.after(k, 1.0), k, 0.0]
    error = a.read().error
    assert error.reason == "WORKER_LOST"
    assert re.search(words, error.message)
    status = server.status(lost)
    assert (status.state, status.failure_reason, status.tick) == (4, "WORKER_LOST", 1)
    assert status.failure == error.message
    assert not runs(process)
    assert list(b.step(1.0).state.outputs)[1] == 51


def test_others_step_on_while_an_fmu_loops(host: Any, bad: Path) -> None:
    server = host(bad, worker_seconds=30.0)
    looping, other = create(server, "hostile"), create(server, "hostile")
    b = server.member(other, "b", inputs=["x"])
    thread = threading.Thread(target=lambda: pytest.raises(
        grpc.RpcError, lambda: server.advance(looping, 1, act=float(hostile.LOOP))))
    thread.start()
    wait_until(lambda: server.server.manager.find(looping.session_id)._engine.instance.process._asking)
    for k in range(1, 21):
        assert b.step(1.0).state.tick == k
    # A loop of events that waits with the FMU would be here when that has been killed.
    assert server.status(looping).failure_reason == ""
    os.kill(pid(server, looping), signal.SIGKILL)
    thread.join()
    assert server.status(looping).failure_reason == "WORKER_LOST"


def test_an_error_of_the_fmu_and_its_noise_are_no_death(
        host: Any, bad: Path, info: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "jounce_fmu.importer.process")
    server = host(bad)
    session = create(server, "hostile")
    assert server.advance(session, 1, x=0.5, act=float(hostile.PRINT)) == [hostile.after(1, 0.5), 1.0, 0.0]
    with pytest.raises(grpc.RpcError) as caught:
        server.advance(session, 1, act=float(hostile.REFUSE))
    assert (info(caught.value).reason, info(caught.value).message) == ("SOLVER_FAILED", "act = 5: no step")
    assert runs(pid(server, session))
    facts = {"msg": "%s", "fmu": "hostile", "instance": session.session_id, "pid": pid(server, session)}
    assert eventually(lambda: any(facts.items() <= vars(r).items() for r in caplog.records))
    assert [r.getMessage() for r in caplog.records if facts.items() <= vars(r).items()] == ["noise on standard output"]


def test_an_fmu_that_is_slow_is_not_taken_for_one_that_hangs(host: Any, bad: Path) -> None:
    server = host(bad, worker_seconds=2.5)
    session = create(server, "hostile")
    # 50 ms of processor time a tick, in all for longer than one answer may take; a piece of it may wait for the core.
    member = server.member(session, "a", inputs=["act"], period=60)
    state = member.step(float(hostile.SLOW)).state
    assert (state.tick, state.outputs[1]) == (60, 60.0)


def test_a_slow_fmu_does_not_make_a_short_advance_longer_than_a_call_may_be(host: Any, bad: Path, info: Any) -> None:
    server = host(bad, max_call_seconds=0.2)
    session = create(server, "hostile")
    with pytest.raises(grpc.RpcError) as caught:
        server.advance(session, 60, act=float(hostile.SLOW))
    assert re.match(r"\d+ of 60 ticks took 0.2 s, and the FMU cannot restore its state", info(caught.value).message)


def test_a_crash_on_the_way_to_tick_0_is_an_error_of_that_call(host: Any, bad: Path, info: Any) -> None:
    server = host(bad)
    with pytest.raises(grpc.RpcError) as caught:
        create(server, "hostile", start_inputs={"act": float(hostile.SEGFAULT)})
    assert caught.value.code() is grpc.StatusCode.INTERNAL
    assert info(caught.value).reason == "WORKER_LOST" and "signal 11" in info(caught.value).message
    assert server.advance(create(server, "hostile"), 1)[1] == 1.0


def test_a_killed_worker_fails_its_session_which_a_reset_brings_back(host: Any, tmp_path: Path) -> None:
    server = host(workers=True)
    lost, other = create(server, "hmmwv", parameters=VEHICLE), create(server, "hmmwv", parameters=VEHICLE)
    expected = server.advance(lost, 10)
    os.kill(pid(server, lost), signal.SIGKILL)
    with pytest.raises(grpc.RpcError, match="signal 9"):
        server.advance(lost, 1)
    assert server.status(lost).failure_reason == "WORKER_LOST"
    assert server.advance(other, 10) == expected
    server.call("ResetSession", lost)
    assert server.status(lost).tick == 0
    assert server.advance(lost, 10) == expected


def test_a_paced_session_in_a_worker_keeps_its_time(swinging: Any) -> None:
    pacing = pb.Pacing(mode=pb.PACING_MODE_REALTIME, factor=2.0)
    session = create(swinging, "oscillator", pacing=pacing)
    member = swinging.member(session, "a", inputs=["force"], period=10)
    begin = time.monotonic()
    for k in range(1, 21):
        assert member.step(1.0).state.tick == 10 * k
    assert time.monotonic() - begin > 0.099


# ---------------------------------------------------------------- snapshots


def test_snapshots_go_on_with_the_same_bits_in_the_worker_in_a_fork_and_after_its_death(swinging: Any) -> None:
    session = create(swinging, "oscillator", parameters={"mass": 3.0})
    swinging.advance(session, 50, force=7.0)
    saved = swinging.call("SaveSnapshot", session)
    expected = swinging.advance(session, 333, force=-2.0)
    swinging.call("RestoreSnapshot", session, snapshot_id=saved.snapshot_id)
    assert swinging.advance(session, 333, force=-2.0) == expected
    fork = swinging.call("ForkSession", session, snapshot_id=saved.snapshot_id)
    assert pid(swinging, fork) != pid(swinging, session)
    assert swinging.advance(fork, 333, force=-2.0) == expected
    os.kill(pid(swinging, session), signal.SIGKILL)
    with pytest.raises(grpc.RpcError, match="signal 9"):
        swinging.call("SaveSnapshot", session)
    assert swinging.status(session).failure_reason == "WORKER_LOST"
    swinging.call("RestoreSnapshot", session, snapshot_id=saved.snapshot_id)
    assert swinging.advance(session, 333, force=-2.0) == expected


@pytest.mark.parametrize("first", [False, True])
def test_a_snapshot_of_a_session_in_process_goes_on_in_a_worker_and_the_other_way_round(
        swinging: Any, first: bool) -> None:
    swinging.workers(first)
    session = create(swinging, "oscillator")
    swinging.advance(session, 20, force=3.0)
    saved = swinging.call("SaveSnapshot", session)
    data = b"".join(p.data for p in swinging.call("DownloadSnapshot", session, snapshot_id=saved.snapshot_id))
    expected = swinging.advance(session, 100)
    swinging.workers(not first)
    other = create(swinging, "oscillator")
    uploaded = swinging.stub.UploadSnapshot(iter([pb.UploadSnapshotRequest(
        session_id=other.session_id, token=other.token, size=len(data), sha256=saved.sha256, data=data)]))
    swinging.call("RestoreSnapshot", other, snapshot_id=uploaded.snapshot_id)
    assert swinging.advance(other, 100) == expected


def test_an_advance_that_takes_too_long_in_a_worker_is_taken_back(swinging: Any, info: Any) -> None:
    session = create(swinging, "oscillator")
    before = swinging.advance(session, 5, force=1.0)
    with pytest.raises(grpc.RpcError) as caught:
        swinging.advance(session, FOR_MINUTES, force=2.0)
    assert info(caught.value).reason == "CALL_TOO_LONG"
    assert swinging.status(session).tick == 5
    assert swinging.advance(session, 0) == before


def test_an_fmu_that_cannot_save_its_state_says_so_and_goes_on(host: Any, bad: Path, info: Any) -> None:
    server = host(bad, max_call_seconds=0.5, max_ticks_per_call=FOR_MINUTES)
    session = create(server, "hostile")
    for call in ("SaveSnapshot", "ForkSession"):
        with pytest.raises(grpc.RpcError) as caught:
            server.call(call, session)
        assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED
        assert info(caught.value).reason == "NO_SNAPSHOTS"
    assert server.advance(session, 2000)[1] == 2000.0
    with pytest.raises(grpc.RpcError) as caught:
        server.advance(session, FOR_MINUTES)
    assert info(caught.value).reason == "SOLVER_FAILED" and "cannot restore its state" in info(caught.value).message


# ---------------------------------------------------------------- the processes


def test_a_worker_ends_with_its_session(host: Any, bad: Path) -> None:
    server = host(bad)
    session = create(server, "hostile")
    process = pid(server, session)
    server.call("ResetSession", session)
    wait_until(lambda: not runs(process))
    process = pid(server, session)
    server.call("DeleteSession", session)
    wait_until(lambda: not runs(process))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_looping_worker_ends_with_its_server_which_it_does_not_hold_up(
        bad: Path, tmp_path: Path, number: signal.Signals) -> None:
    path, ready = tmp_path / "s.sock", tmp_path / "ready"
    server = subprocess.Popen([sys.executable, "-m", "jounce_tools.cli", "serve", "--address=", f"--fmu={bad}",
                               f"--socket-path={path}", f"--ready-file={ready}", "--worker-seconds=0",
                               "--drain=0.2"])
    try:
        wait_until(ready.exists, 60.0)
        with grpc.insecure_channel(f"unix:{path}") as channel:
            stub = rpc.SessionServiceStub(channel)
            session = stub.CreateSession(pb.CreateSessionRequest(model="hostile"))
            workers = children(server.pid)
            assert len(workers) == 1 and runs(workers[0])
            call = stub.Advance.future(pb.AdvanceRequest(session_id=session.session_id, token=session.token, n_ticks=1,
                                                         input_names=["act"], inputs=[float(hostile.LOOP)]))
            time.sleep(0.3)
            assert not call.done()
            server.send_signal(number)
            assert server.wait(60) == (0 if number is signal.SIGTERM else -signal.SIGKILL)
            wait_until(lambda: not runs(workers[0]))
    finally:
        server.kill()
        server.wait()
