"""Snapshots: the future after a restore is the future that was, bit for bit; damaged bytes change nothing."""

from __future__ import annotations

import hashlib
import json
import random
import resource
import struct
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jounce_proto import jounce_pb2 as pb
from jounce_service.session.snapshots import pack, unpack
from jounce_service.transport import errors


def run(server: Any, session: Any, ticks: int, seed: int) -> list[list[float]]:
    """Outputs after each of some advances with inputs made of the seed."""
    chance = random.Random(seed)
    rows = []
    for _ in range(ticks):
        reply = server.call("Advance", session, n_ticks=chance.randint(1, 30), input_names=["velocity", "force"],
                            inputs=[chance.uniform(-9, 9), chance.uniform(-9, 9), chance.uniform(0, 99)],
                            output_names=["*"])
        rows.append([float(reply.tick), *reply.outputs])
    return rows


def download(server: Any, session: Any, snapshot_id: str) -> bytes:
    request = pb.DownloadSnapshotRequest(session_id=session.session_id, token=session.token, snapshot_id=snapshot_id)
    return b"".join(piece.data for piece in server.stub.DownloadSnapshot(request))


def upload(server: Any, session: Any, data: bytes, piece: int = 100, **changed: Any) -> pb.UploadSnapshotResponse:
    def pieces() -> Iterator[pb.UploadSnapshotRequest]:
        first = {"session_id": session.session_id, "token": session.token, "size": len(data),
                 "sha256": hashlib.sha256(data).digest()} | changed
        yield pb.UploadSnapshotRequest(**first)
        for start in range(0, len(data), piece):
            yield pb.UploadSnapshotRequest(data=data[start:start + piece])

    reply: pb.UploadSnapshotResponse = server.stub.UploadSnapshot(pieces())
    return reply


def refused(info: Any, call: Any) -> pb.ErrorInfo:
    with pytest.raises(grpc.RpcError) as caught:
        call()
    found: pb.ErrorInfo = info(caught.value)
    return found


@pytest.fixture
def saved(server: Any) -> tuple[Any, Any, bytes, str]:
    session = server.create(gain=3.0)
    run(server, session, 5, 1)
    kept = server.call("SaveSnapshot", session)
    data = download(server, session, kept.snapshot_id)
    assert (len(data), hashlib.sha256(data).digest()) == (kept.size, kept.sha256)
    return server, session, data, kept.snapshot_id


@settings(max_examples=50)
@given(before=st.integers(0, 6), after=st.integers(0, 4), seed=st.integers(0, 2**32))
def test_a_restored_session_goes_on_as_if_nothing_had_been_restored(server: Any, before: int, after: int,
                                                                   seed: int) -> None:
    session = server.create(gain=1.5)
    run(server, session, before, seed)
    kept = server.call("SaveSnapshot", session)
    future = run(server, session, 8, seed + 1)
    run(server, session, after, seed + 2)
    reply = server.call("RestoreSnapshot", session, snapshot_id=kept.snapshot_id)
    assert (reply.tick, reply.epoch) == (kept.tick, 2)
    assert run(server, session, 8, seed + 1) == future
    server.call("DeleteSession", session)


def test_a_fork_goes_on_alone_and_leaves_its_source_as_it_was(saved: Any) -> None:
    server, session, _, snapshot = saved
    forks = [server.call("ForkSession", session, snapshot_id=s) for s in (snapshot, "", snapshot)]
    assert len({f.token for f in forks} | {session.token}) == 4
    assert all(f.token.isalnum() and f.join_token.isalnum() for f in forks)  # a command's option takes them as they are
    tick = server.status(session).tick
    futures = [run(server, f, 6, 9) for f in forks]
    assert server.status(session).tick == tick
    assert futures == [run(server, session, 6, 9)] * 3
    # A fork is a session of its own: it can be reset to the beginning of its source.
    server.call("ResetSession", forks[0])
    beginning = server.create(gain=3.0)
    assert run(server, forks[0], 5, 1) == run(server, beginning, 5, 1)


def test_an_uploaded_snapshot_goes_on_in_another_session_with_other_parameters_before(saved: Any) -> None:
    server, session, data, _ = saved
    other = server.create(gain=5.0)
    assert upload(server, other, data).tick == server.status(session).tick
    server.call("RestoreSnapshot", other, snapshot_id="1")
    assert run(server, other, 6, 9) == run(server, session, 6, 9)


def test_a_single_flipped_bit_anywhere_is_data_loss_and_changes_nothing(saved: Any, info: Any) -> None:
    server, session, data, _ = saved
    other = server.create(gain=2.0)
    run(server, other, 2, 3)
    before = server.instance(other).get_state(), server.status(other)
    for bit in range(0, 8 * len(data), 37):
        bad = bytearray(data)
        bad[bit // 8] ^= 1 << bit % 8
        # Once as damaged on the way, once as damaged on disk: announced with the hash of the damaged bytes.
        for sha256 in (hashlib.sha256(data).digest(), hashlib.sha256(bad).digest()):
            found = refused(info, lambda b=bad, h=sha256: upload(server, other, bytes(b), sha256=h))
            assert (found.reason, found.code) == ("SNAPSHOT_CORRUPT", grpc.StatusCode.DATA_LOSS.value[0])
    assert before == (server.instance(other).get_state(), server.status(other))
    assert refused(info, lambda: server.call("RestoreSnapshot", other, snapshot_id="1")).reason == "UNKNOWN_SNAPSHOT"


@pytest.mark.parametrize(("change", "reason"), [
    ({"build": "integrator 2"}, "SNAPSHOT_FOREIGN"), ({"model": "other"}, "SNAPSHOT_FOREIGN"),
    ({"inputs": [1.0]}, "SNAPSHOT_CORRUPT"), ({"inputs": [float("nan")] * 4}, "SNAPSHOT_CORRUPT"),
    ({"tick": -1}, "SNAPSHOT_CORRUPT"), ({"parameters": {"x": 1.0}}, "SNAPSHOT_CORRUPT"),
    ({"ramps": [pb.Ramp(input=4)]}, "SNAPSHOT_CORRUPT"), ({"ramps": [pb.Ramp(tick=-5)]}, "SNAPSHOT_CORRUPT"),
    ({"holds": [pb.Hold(participant="a", delivered_tick=2**40)]}, "SNAPSHOT_CORRUPT"),
])
def test_a_snapshot_with_a_right_hash_that_does_not_fit_is_refused_too(saved: Any, info: Any, change: dict[str, Any],
                                                                      reason: str) -> None:
    server, session, data, _ = saved
    content = unpack(data, "integrator", "integrator 1")
    for field in change:
        content.ClearField(field)
    content.MergeFrom(pb.Snapshot(**change))
    assert refused(info, lambda: upload(server, session, pack(content))).reason == reason


def test_a_state_that_the_model_refuses_leaves_the_session_as_it_was(saved: Any, info: Any) -> None:
    server, session, data, _ = saved
    content = unpack(data, "integrator", "integrator 1")
    content.state = b"short"
    bad = upload(server, session, pack(content)).snapshot_id
    run(server, session, 2, 3)
    before = server.instance(session).get_state(), server.status(session)
    assert refused(info, lambda: server.call("RestoreSnapshot", session, snapshot_id=bad)).reason == "SNAPSHOT_CORRUPT"
    assert refused(info, lambda: server.call("ForkSession", session, snapshot_id=bad)).reason == "SNAPSHOT_CORRUPT"
    assert before == (server.instance(session).get_state(), server.status(session))
    assert len(server.server.manager._sessions) == 1


@pytest.mark.parametrize("data", [b"", b"JNCS", b"\0" * 47, b"\0" * 48, b"JNCS" + b"\xff" * 100])
def test_bytes_that_are_no_snapshot_are_corrupt(data: bytes) -> None:
    with pytest.raises(errors.SnapshotCorrupt):
        unpack(data, "m", "b")


def sealed(message: bytes) -> bytes:
    """A snapshot's bytes with the length and hash that go with the message."""
    head = pack(pb.Snapshot())[:8] + struct.pack("<Q", len(message))
    return head + hashlib.sha256(head + message).digest() + message


@pytest.mark.parametrize("message", [
    # Each pair of bytes is a Ramp, a Hold, a parameter: 28 times as much once parsed.
    pytest.param(b"\x4a\0" * 4_000_000, id="ramps"), pytest.param(b"\x52\0" * 4_000_000, id="holds"),
    pytest.param(b"\x2a\0" * 4_000_000, id="parameters"),
    pytest.param(b"\x7b\x7c" + b"\x4a\0" * 4_000_000, id="behind a group"),
    pytest.param(b"\x42" + b"\xff" * 8_000_000, id="a length without end"),
])
def test_a_snapshot_that_would_grow_in_memory_is_refused_before_it_is_parsed(message: bytes) -> None:
    data, before = sealed(message), peak()
    with pytest.raises(errors.SnapshotCorrupt, match="too many parts|cannot be read"):
        unpack(data, "integrator", "integrator 1")
    # A copy for the hash is all.
    assert peak() - before < 2.0 * len(data) / 1e6


def peak() -> float:
    """Greatest resident memory so far [MB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def test_as_many_parts_as_the_largest_models_have_are_no_bomb() -> None:
    snapshot = pb.Snapshot(model="m", build="b", parameters={f"p{i}": 1.0 for i in range(30_000)},
                           ramps=[pb.Ramp(input=i) for i in range(30_000)], state=bytes(1_000_000))
    assert unpack(pack(snapshot), "m", "b") == snapshot


def test_an_upload_longer_or_shorter_than_announced_or_past_the_cap_is_refused(serve: Any, info: Any) -> None:
    server = serve(max_snapshot_bytes=10_000)
    session = server.create()
    data = download(server, session, server.call("SaveSnapshot", session).snapshot_id)
    for size in (len(data) - 1, len(data) + 1):
        found = refused(info, lambda s=size: upload(server, session, data, size=s))
        assert found.reason == "SNAPSHOT_CORRUPT"
    # Refused before the bytes are sent, whatever they are.
    assert refused(info, lambda: upload(server, session, data, size=1 << 40)).reason == "TOO_MANY_SNAPSHOTS"
    assert upload(server, session, data, piece=1).tick == 0


def test_the_caps_on_snapshots_are_kept_and_deleting_makes_room(serve: Any, info: Any) -> None:
    server = serve(max_snapshots=2)
    session = server.create()
    first = server.call("SaveSnapshot", session).snapshot_id
    server.call("SaveSnapshot", session)
    assert refused(info, lambda: server.call("SaveSnapshot", session)).reason == "TOO_MANY_SNAPSHOTS"
    server.call("DeleteSnapshot", session, snapshot_id=first)
    # Numbers are not given twice.
    assert server.call("SaveSnapshot", session).snapshot_id == "3"
    assert refused(info, lambda: server.call("DeleteSnapshot", session, snapshot_id=first)).allowed == "2, 3"


def test_a_rollback_inside_lockstep_repeats_the_future_of_every_participant(server: Any) -> None:
    session = server.create(controllers=["pilot"])
    pilot = server.member(session, "pilot", inputs=["open"], period=5, first_order_inputs=["open"])
    wind = server.member(session, "wind", inputs=["velocity"])
    token = pilot.joined.participant_token

    def play(until: int) -> list[list[float]]:
        rows = []
        pilot.deliver(0.1 * pilot.tick)
        while wind.tick < until:
            state = wind.step(0.01 * wind.tick, 1.0).state
            rows.append(list(state.outputs))
            if state.tick == pilot.tick + 5:
                pilot.read()
                if state.tick < until:
                    pilot.deliver(0.1 * pilot.tick)
        return rows

    play(10)
    kept = server.call("SaveSnapshot", session, token=token)
    future = play(40)
    # In the middle of the pilot's period: it waits for tick 45, the wind is due at 43.
    pilot.deliver(7.0)
    for _ in range(3):
        wind.step(9.0, 9.0)
    server.call("RestoreSnapshot", session, token=token, snapshot_id=kept.snapshot_id)
    assert pilot.read().error.reason == "WRONG_EPOCH"
    assert (pilot.tick, pilot.epoch, pilot.events[-1].kind) == (10, 2, pb.EVENT_KIND_RESTORED)
    assert wind.refused(0.0, 0.0).reason == "WRONG_EPOCH"
    assert (wind.tick, wind.epoch) == (10, 2)
    assert play(40) == future


def test_the_age_of_held_inputs_is_part_of_a_snapshot(server: Any) -> None:
    session = server.create()
    a = server.member(session, "a")
    b = server.member(session, "b", inputs=["force"], late=pb.LATE_POLICY_HOLD_LAST, max_age_ticks=5)
    a.deliver()
    b.deliver(1.0)
    a.read(), b.read()
    b.call.cancel()
    for _ in range(3):
        a.step()
    kept = server.call("SaveSnapshot", session)
    for _ in range(2):
        assert a.step().HasField("state")
    server.call("RestoreSnapshot", session, snapshot_id=kept.snapshot_id)
    a.refused()
    for _ in range(2):
        assert a.step().HasField("state")
    assert a.step().error.reason == "HELD_TOO_LONG"


OTHER_PROCESS = """
import json, sys
from pathlib import Path
folder, tests = Path(sys.argv[1]), Path(sys.argv[2])
sys.path[:0] = [*sys.argv[3:], str(tests), str(tests.parent / "fmu")]
import test_session_snapshots as t
server = t.real_server(folder)
rows = []
for case in json.loads((folder / "cases").read_text()):
    session = server.stub.CreateSession(t.pb.CreateSessionRequest(model="oscillator"))
    t.upload(server, session, bytes.fromhex(case["data"]))
    server.call("RestoreSnapshot", session, snapshot_id="1")
    rows.append(t.future(server, session, case["seed"]))
    server.call("DeleteSession", session)
(folder / "rows").write_text(json.dumps(rows))
server.close()
"""


def real_server(folder: Path) -> Any:
    """A server with the oscillator FMU."""
    import oscillator
    from rig import Running

    from jounce_fmu.build.library import ensure_library
    from jounce_fmu.importer.foreign import Interface
    from jounce_fmu.importer.host import Factory
    from jounce_service import ServerConfig
    from jounce_service.hosting.fmu_model import FmuModel
    from jounce_service.hosting.models import Registry

    library = ensure_library(oscillator.sources(folder), folder / "native")
    factory = Factory("oscillator", library, Interface.of_table(oscillator.TABLE))
    server = Running(ServerConfig(address="127.0.0.1:0", drain=0.2))
    server.server.manager.registry = Registry({"oscillator": lambda: FmuModel(factory)})
    return server


def future(server: Any, session: Any, seed: int) -> list[list[str]]:
    """2000 ticks of a real FMU, exactly."""
    chance = random.Random(seed)
    rows = []
    for _ in range(20):
        reply = server.call("Advance", session, n_ticks=100, input_names=["force"], inputs=[chance.uniform(-10, 10)],
                            output_names=["*"])
        rows.append([v.hex() for v in reply.outputs])
    return rows


def test_fifty_random_snapshots_go_on_in_another_process_for_two_thousand_ticks_bit_for_bit(tmp_path: Path) -> None:
    sys.path.insert(0, str(Path(__file__).parents[1] / "fmu"))
    server = real_server(tmp_path)
    chance = random.Random(4)
    cases, wanted = [], []
    for seed in range(50):
        session = server.stub.CreateSession(pb.CreateSessionRequest(
            model="oscillator", parameters={"x0": pb.Value(number=chance.uniform(-1, 1)),
                                            "cubic": pb.Value(number=chance.randint(0, 1))}))
        server.call("Advance", session, n_ticks=chance.randint(0, 3000), input_names=["force"],
                    inputs=[chance.uniform(-10, 10)])
        data = download(server, session, server.call("SaveSnapshot", session).snapshot_id)
        cases.append({"data": data.hex(), "seed": seed})
        wanted.append(future(server, session, seed))
        server.call("DeleteSession", session)
    server.close()
    (tmp_path / "cases").write_text(json.dumps(cases))
    here = Path(__file__).parent
    subprocess.run([sys.executable, "-c", OTHER_PROCESS, str(tmp_path), str(here), *filter(None, sys.path)], check=True)
    assert json.loads((tmp_path / "rows").read_text()) == wanted
