"""Recordings: everything is in them, they replay to the last bit, and they survive what kills their writer."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from integrator_model import TABLE, IntegratorModel, registry
from mcap.reader import make_reader
from recordings import altered, lockstep, only, recorded, short, truth, wave

from jounce_client import Client
from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.fmu_model import builtin_registry
from jounce_service.recording.mcap_file import McapFile
from jounce_service.recording.reader import Reader, RecordingError, Sample
from jounce_service.recording.replay import replay
from jounce_tools.cli.main import main

Start = Callable[..., Any]


def samples(path: Path) -> list[tuple[int, int, bytes]]:
    return [(s.causality, s.tick, s.values.tobytes()) for s in Reader(path) if isinstance(s, Sample)]


def test_a_minute_of_the_vehicle_with_two_participants_replays_without_a_difference_and_one_altered_byte_shows(
        serve: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ticks, steer, pedal, at = 60_000, 100, 20, 3_000
    server = serve(record=str(tmp_path / "rec"), record_every=1)
    server.server.manager.registry = builtin_registry()
    parameters = {"init.speed": pb.Value(number=12.0)}
    session = server.stub.CreateSession(pb.CreateSessionRequest(
        model="hmmwv", parameters=parameters, expected_participants=["driver", "engine"]))
    driver = server.member(session, "driver", inputs=["steering_wheel_angle"], period=steer)
    engine = server.member(session, "engine", inputs=["wheel_RL.drive_torque", "wheel_RR.drive_torque"], period=pedal)
    applied = lockstep([
        (driver, steer, lambda t: (wave(t + 7, 0.4, 9000.0),)),
        (engine, pedal, lambda t: (20.0 + wave(t, 20.0, 7000.0), 21.0 + wave(t, 20.0, 5000.0)))], ticks)
    path = recorded(server, session, tmp_path / "rec")
    assert main(["replay", str(path)]) == 0
    assert capsys.readouterr().out.startswith(f"zero differences in 3001 output vectors over {ticks} ticks in 1 epochs")

    value = applied[at]["steering_wheel_angle"]
    other = altered(path, tmp_path / "altered.mcap", at, value, byte=5)
    model = builtin_registry().get("hmmwv")
    changed = applied | {at: applied[at] | {"steering_wheel_angle": other}}
    ends = [truth(model, {"init.speed": 12.0}, inputs, at + 200) for inputs in (applied, changed)]
    first = min(t for t in ends[0] if ends[0][t].tobytes() != ends[1][t].tobytes())
    place = int(np.argmax(ends[0][first] != ends[1][first]))
    report = replay(tmp_path / "altered.mcap", builtin_registry())
    assert report.first is not None
    assert at < first <= at + pedal
    assert (report.first.tick, report.first.signal) == (first, model.table.outputs[place].name)
    assert (report.first.recorded, report.first.replayed) == (ends[0][first][place], ends[1][first][place])
    assert main(["replay", str(tmp_path / "altered.mcap")]) == 1
    assert f"first difference at tick {first} of epoch 1: {report.first.signal} was" in capsys.readouterr().out


def test_the_least_bit_of_an_input_shows_at_the_very_next_tick(recording: Any, tmp_path: Path) -> None:
    path = short(recording, tmp_path)
    altered(path, tmp_path / "altered.mcap", 20, 70.0, byte=0)
    report = replay(tmp_path / "altered.mcap", registry(IntegratorModel()))
    # force feeds through to the reaction (x gain 2), while the position knows only the velocity.
    assert report.first is not None
    assert (report.first.tick, report.first.signal, report.first.recorded) == (22, "reaction", 140.0)


def test_a_long_advance_is_recorded_and_one_that_was_taken_back_is_not(serve: Start, tmp_path: Path) -> None:
    server = serve(record=str(tmp_path / "rec"), record_every=1, max_call_seconds=0.3)
    session = server.create(sleep=0.01)

    def advance(n: int, velocity: float) -> None:
        server.call("Advance", session, n_ticks=n, input_names=["velocity.x"], inputs=[velocity])

    advance(2500, 1.0)
    with pytest.raises(grpc.RpcError):
        advance(1_000_000, 9.0)
    advance(3, 2.0)
    path = recorded(server, session, tmp_path / "rec")
    read = [s for s in Reader(path) if isinstance(s, Sample) and s.causality == pb.CAUSALITY_INPUT]
    assert [(s.tick, s.values[0]) for s in read] == [(0, 1.0), (2500, 2.0)]
    assert replay(path, registry(IntegratorModel())).first is None


def test_all_that_can_happen_to_a_session_is_recorded_and_replays(recording: Any, tmp_path: Path) -> None:
    session = recording.create(gain=3.0)
    a = recording.member(session, "a", inputs=["velocity"], period=4, first_order_inputs=["velocity"])
    b = recording.member(session, "b", inputs=["force"], period=3, late=pb.LATE_POLICY_SAFE_VALUE, safe_values=[9.0],
                         late_after=0.02)
    for k in range(6):
        a.deliver(0.3 * k, -0.2 * k)
        if k < 3:
            b.deliver(10.0 + k)
            b.read()
        assert a.read().HasField("state")
    recording.call("PauseSession", session)
    recording.call("ResumeSession", session)
    kept = recording.call("SaveSnapshot", session).snapshot_id
    recording.call("ResetSession", session, parameters={"gain": pb.Value(number=4.0)}, start_inputs={"force": 7.0})
    a.deliver(1.0, 1.0)
    assert a.read().HasField("error")  # it belonged to the epoch before
    for k in range(3):
        assert a.step(1.0 + k, 2.0).HasField("state")
    recording.call("RestoreSnapshot", session, snapshot_id=kept)
    fork = recording.stub.ForkSession(pb.ForkSessionRequest(session_id=session.session_id, token=session.token,
                                                            snapshot_id=kept))
    for stream in (a, b):
        stream.ask(leave=pb.Leave())
    for n, velocity in ((1, 1.0), (50, 2.0), (0, 3.0), (7, 4.0)):
        for one in (session, fork):
            recording.call("Advance", one, n_ticks=n, input_names=["velocity.y"], inputs=[velocity])
    for one in (session, fork):
        recording.call("DeleteSession", one)
    paths = {p.stem.split("-")[-1]: p for p in (tmp_path / "rec").glob("*.mcap")}
    assert set(paths) == {session.session_id, fork.session_id}
    for path in paths.values():
        report = replay(path, registry(IntegratorModel()))
        assert (report.first, report.differing, report.complete) == (None, 0, True)
    assert replay(paths[session.session_id], registry(IntegratorModel())).epochs == 3
    events = [pb.EventKind.Name(e.kind)[11:] for e in Reader(paths[session.session_id])
              if isinstance(e, pb.RecordedEvent)]
    assert events == ["STARTED", "PAUSED", "RESUMED", "RESET", "RESTORED", "CLOSED"]


def test_a_failed_session_is_recorded_up_to_its_failure(recording: Any, tmp_path: Path) -> None:
    session = recording.create(limit=0.005)
    a = recording.member(session, "a", inputs=["velocity.x"])
    a.step(1.0)
    assert a.step(10.0).HasField("error")
    path = recorded(recording, session, tmp_path / "rec")
    report = replay(path, registry(IntegratorModel()))
    assert (report.first, report.ticks) == (None, 1)
    failed = [e for e in Reader(path) if isinstance(e, pb.RecordedEvent) and e.kind == pb.EVENT_KIND_FAILED]
    assert "position.x passed" in failed[0].text


def test_inputs_are_written_where_they_change_and_outputs_as_seldom_as_asked(serve: Start, tmp_path: Path) -> None:
    server = serve(record=str(tmp_path / "rec"))
    with Client.connect(f"unix:{server.server.config.socket_path}") as client:
        session = client.create_session("integrator", record_every=10)
        assert client.get_session(session).recording.name == only(tmp_path / "rec").name
        for k in range(40):
            client.advance(session, 1, {"force": float(k // 10)})
        client.delete_session(session)
    found = samples(only(tmp_path / "rec"))
    assert [tick for kind, tick, _ in found if kind == pb.CAUSALITY_INPUT] == [0, 10, 20, 30]
    assert [tick for kind, tick, _ in found if kind == pb.CAUSALITY_OUTPUT] == [0, 10, 20, 30, 40]


def test_any_mcap_reader_finds_named_signals_by_the_schemas_inside(recording: Any, tmp_path: Path) -> None:
    path = short(recording, tmp_path)
    instance = next(iter(recording.model.made.values()))
    pool, last = descriptor_pool.DescriptorPool(), {}
    files = set()
    with path.open("rb") as file:
        for schema, channel, message in make_reader(file, validate_crcs=True).iter_messages():
            for proto in descriptor_pb2.FileDescriptorSet.FromString(schema.data).file:
                if proto.name not in files:
                    files.add(proto.name)
                    pool.Add(proto)
            kind = message_factory.GetMessageClass(pool.FindMessageTypeByName(schema.name))
            last[channel.topic] = (message.log_time, kind.FromString(message.data))
    ns, outputs = last["/outputs"]
    assert (ns, outputs.tick, outputs.tick_count) == (40_000_000, 40, 40)
    assert [getattr(outputs, s.name.replace(".", "_")) for s in TABLE.outputs] == instance.get_outputs().tolist()
    assert last["/inputs"][1].force == 85.0 and last["/inputs"][1].velocity_y == pytest.approx(3.8)
    assert last["/model"][1].signals[0].unit == "m/s"


def test_a_file_cut_anywhere_gives_all_chunks_before_the_cut(recording: Any, tmp_path: Path) -> None:
    path = short(recording, tmp_path, ticks=200)
    data, whole, cut = path.read_bytes(), samples(path), tmp_path / "cut.mcap"
    counts = set()
    for end in [*range(8, len(data), 397), len(data)]:
        cut.write_bytes(data[:end])
        try:
            found = samples(cut)
        except RecordingError as error:
            assert "its first message is not the model" in str(error)
            continue
        assert found == whole[: len(found)]
        counts.add(len(found))
    assert max(counts) == len(whole)


def test_a_flipped_bit_never_changes_what_is_read(recording: Any, tmp_path: Path) -> None:
    path = short(recording, tmp_path)
    data, whole = path.read_bytes(), samples(path)
    dice, refused = random.Random(4), 0
    for _ in range(100):
        damaged = bytearray(data)
        damaged[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        (tmp_path / "damaged.mcap").write_bytes(damaged)
        try:
            found = samples(tmp_path / "damaged.mcap")
        except RecordingError:
            refused += 1
        else:
            assert found == whole[: len(found)]
    assert refused > 20


def test_a_recording_is_readable_up_to_a_kill_of_the_server(tmp_path: Path) -> None:
    ready, folder = tmp_path / "ready", tmp_path / "rec"
    server = subprocess.Popen(
        [sys.executable, "-m", "jounce_tools.cli", "serve", "--address=", f"--socket-path={tmp_path / 's'}",
         f"--ready-file={ready}", f"--record={folder}", "--record-every=1"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}, stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 600.0  # models may be compiled first
        while not ready.exists():
            assert server.poll() is None and time.monotonic() < end
            time.sleep(0.02)
        acted: list[tuple[float, int]] = []
        with Client.connect(f"unix:{tmp_path / 's'}") as client:
            session = client.create_session("hmmwv", {"init.speed": 10.0})
            pilot = client.join(session, "pilot", owns=["steering_wheel_angle"], wants=["speed"])
            stop = time.monotonic() + 2.0
            while time.monotonic() < stop:
                state = pilot.step({"steering_wheel_angle": 1e-4 * len(acted)})
                acted.append((time.monotonic(), state.tick))
            server.send_signal(signal.SIGKILL)
            server.wait()
    finally:
        server.kill()
        server.wait()
    report = replay(only(folder), builtin_registry())
    assert (report.first, report.complete) == (None, False)
    # What was there a second before the kill is there; a quarter of it is the promise on a quiet machine.
    assert report.ticks >= max(tick for when, tick in acted if when < stop - 1.0) > 0


def test_hours_of_a_recording_keep_a_hundred_bytes_in_memory_for_each_quarter_second(tmp_path: Path) -> None:
    schema = descriptor_pb2.FileDescriptorSet(file=[descriptor_pb2.FileDescriptorProto(name="x")]).SerializeToString()
    with (tmp_path / "long.mcap").open("xb") as file:
        writer = McapFile(file, [("/inputs", "X", schema), ("/outputs", "X", schema)])

        def write(seconds: range) -> None:
            for k in (k for s in seconds for k in range(4 * s, 4 * s + 4)):
                writer.add(1, k + 5, b"in")
                writer.add(2, k + 5, b"out")
                writer.end_chunk()

        write(range(10))
        tracemalloc.start()
        write(range(10, 1000))
        kept, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        writer.finish()
    assert kept < 130 * 4 * 990
    with (tmp_path / "long.mcap").open("rb") as file:
        reader = make_reader(file)
        summary = reader.get_summary()
        assert summary is not None and summary.statistics is not None
        found = summary.statistics
        assert (found.message_start_time, found.message_end_time, found.chunk_count) == (5, 4004, 4000)
        assert len(summary.chunk_indexes) == 4000
        assert [m.log_time for _, _, m in reader.iter_messages(["/outputs"])] == list(range(5, 4005))
