"""The C client against a real server, the Python client, and servers that send rubbish."""

from __future__ import annotations

import contextlib
import ctypes as ct
import random
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from undisturbed import undisturbed

from jounce_client import Client, Late, Session
from jounce_fmu.build.library import has_cc
from jounce_proto import jounce_pb2 as pb
from jounce_service import JounceServer

pytestmark = pytest.mark.skipif(not has_cc(), reason="the C client is compiled with cc")
C = Path(__file__).parents[2] / "clients" / "c"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror"]
OK, REFUSED, LOST = range(3)


def compiled(folder: Path, *arguments: str) -> Path:
    out = folder / "out"
    subprocess.run(["cc", *STRICT, *arguments, str(C / "jounce_client.c"), "-o", str(out)], check=True)
    return out


@pytest.fixture(scope="module")
def loop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example, with every access and every overflow checked."""
    return compiled(tmp_path_factory.mktemp("loop"), "-g", "-fsanitize=address,undefined",
                    "-fno-sanitize-recover=undefined", str(C / "examples" / "loop.c"))


def run(loop: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([str(loop), *map(str, arguments)], capture_output=True, text=True, errors="replace",
                          timeout=10)
    assert "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr
    return done


@pytest.mark.parametrize("listener", [0, 1], ids=["tcp", "unix"])
def test_the_lockstep_loop_in_c_gives_the_python_clients_bits(loop: Path, server: JounceServer, address: str,
                                                              listener: int) -> None:
    with Client.connect(address) as client:
        session = client.create_session("integrator")
        done = run(loop, server.fast.addresses[listener], session.id, session.join_token, "velocity", 300)
        assert (done.returncode, done.stderr) == (0, "")
        assert client.get_session(session).tick == 300
        other = client.create_session("integrator")
        with client.join(other, "pilot", owns=["velocity"], wants=["*"]) as pilot:
            states = [pilot.step([0.01 * k, 0.01 * k + 0.1]) for k in range(300)]
    lines = [line.split() for line in done.stdout.splitlines()]
    assert [int(line[0]) for line in lines] == [s.tick for s in states]
    ours = np.array([[float.fromhex(x) for x in line[1:]] for line in lines])
    assert ours.shape == (300, 5) and ours.tobytes() == np.array([s.values for s in states]).tobytes()
    assert len(set(ours[:, 3])) == 300


class Terms(ct.Structure):
    _fields_ = [("session_id", ct.c_char_p), ("token", ct.c_char_p), ("name", ct.c_char_p),
                ("owns", ct.POINTER(ct.c_char_p)), ("n_owns", ct.c_size_t),
                ("wants", ct.POINTER(ct.c_char_p)), ("n_wants", ct.c_size_t),
                ("period", ct.c_uint32), ("phase", ct.c_uint32), ("barrier_timeout", ct.c_double),
                ("late", ct.c_int), ("late_after", ct.c_double), ("lease", ct.c_double), ("max_age", ct.c_uint32),
                ("safe", ct.POINTER(ct.c_double)), ("n_safe", ct.c_size_t),
                ("first_order", ct.POINTER(ct.c_char_p)), ("n_first_order", ct.c_size_t),
                ("participant_token", ct.c_char_p), ("keepalive", ct.c_double), ("take_over", ct.c_int),
                ("notices", ct.POINTER(ct.c_int)), ("n_notices", ct.c_size_t), ("on_event", ct.c_void_p),
                ("user", ct.c_void_p)]


class Event(ct.Structure):
    _fields_ = [("kind", ct.c_int), ("tick", ct.c_int64), ("epoch", ct.c_uint64), ("text", ct.c_char_p),
                ("participants", ct.POINTER(ct.c_char_p)), ("n_participants", ct.c_size_t)]


class State(ct.Structure):
    _fields_ = [(n, ct.c_int64) for n in ("tick", "due", "sim_ns")] + [
        ("epoch", ct.c_uint64), ("overruns", ct.c_uint64), ("missed", ct.c_uint64), ("n_held", ct.c_size_t),
        ("n_events", ct.c_uint64), ("outputs", ct.POINTER(ct.c_double))]


class Error(ct.Structure):
    _fields_ = [("reason", ct.c_char * 48), ("field", ct.c_char * 96), ("given", ct.c_char * 96),
                ("allowed", ct.c_char * 160), ("message", ct.c_char * 256), ("expected_tick", ct.c_int64),
                ("expected_epoch", ct.c_uint64)]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ct.CDLL:
    lib = ct.CDLL(str(compiled(tmp_path_factory.mktemp("lib"), "-O2", "-shared", "-fPIC")))
    lib.jounce_join.restype = ct.c_void_p
    lib.jounce_now.restype, lib.jounce_why.restype = ct.POINTER(State), ct.POINTER(Error)
    lib.jounce_input_name.restype = lib.jounce_output_name.restype = ct.c_char_p
    lib.jounce_participant_token.restype = ct.c_char_p
    lib.jounce_start_inputs.restype = ct.POINTER(ct.c_double)
    lib.jounce_tick_seconds.restype = ct.c_double
    return lib


class Pilot:
    """The C client's calls from Python."""

    def __init__(self, lib: ct.CDLL, address: str, session: Session, name: str, owns: tuple[bytes, ...] = (),
                 **terms: Any) -> None:
        wants = (ct.c_char_p * 1)(b"*")
        self._lib, self.error = lib, Error()
        fields = {"period": 1, "barrier_timeout": 20.0, "late_after": -1.0, "lease": -1.0} | terms
        wire = Terms(session_id=session.id.encode(), token=session.token.encode(), name=name.encode(),
                     owns=(ct.c_char_p * max(1, len(owns)))(*owns), n_owns=len(owns), wants=wants, n_wants=1, **fields)
        self._at = lib.jounce_join(address.encode(), ct.byref(wire), ct.byref(self.error))

    def __getattr__(self, name: str) -> Any:
        return lambda *rest: getattr(self._lib, f"jounce_{name}")(ct.c_void_p(self._at), *rest)

    def step_to(self, *values: float) -> int:
        return int(self.step((ct.c_double * max(1, len(values)))(*values), ct.c_size_t(len(values))))

    @property
    def state(self) -> State:
        found: State = self.now().contents
        return found

    @property
    def outputs(self) -> list[float]:
        return self.state.outputs[: self.n_outputs()]

    @property
    def reason(self) -> str:
        return (self.why().contents if self._at else self.error).reason.decode()


@pytest.fixture
def client(address: str) -> Iterator[Client]:
    with Client.connect(address) as one:
        yield one


def test_c_names_refusals_and_retries_as_python_does(library: ct.CDLL, client: Client, server: JounceServer) -> None:
    session = client.create_session("integrator")
    lane = server.fast.addresses[-1]
    assert Pilot(library, lane, Session(session.id, "wrong"), "a").reason == "WRONG_TOKEN"
    a = Pilot(library, lane, session, "a", (b"force", b"velocity"), period=4)
    assert [a.input_name(k) for k in range(a.n_inputs() + 1)] == [b"force", b"velocity.x", b"velocity.y", None]
    assert a.output_name(ct.c_size_t(3)) == b"mixed" and a.tick_seconds() == 0.001
    assert a.start_inputs()[:3] == [0.5, 0.0, 0.0]
    assert a.step_to(1.0) == REFUSED and a.reason == "WRONG_LENGTH"
    assert a.step_to(1.0, 2.0, 11.0) == REFUSED
    assert (a.reason, a.why().contents.field) == ("INPUT_OUT_OF_RANGE", b"velocity.y")
    assert a.step_to(float("nan"), 0.0, 0.0) == REFUSED and a.reason == "NOT_FINITE"
    # Nothing was applied, and the same step may be sent again.
    assert (a.state.tick, a.step_to(1.0, 2.0, 3.0), a.state.tick, a.state.due) == (0, OK, 4, 4)
    assert a.state.sim_ns == 4_000_000 and a.outputs[:3] == pytest.approx([0.008, 0.012, 2.0])
    assert Pilot(library, lane, session, "a").reason == "NAME_TAKEN"
    assert a.leave() == OK and a.step_to(1.0, 2.0, 3.0) == LOST
    a.free()
    assert client.get_session(session).participants == []


def test_c_says_when_it_is_due_next(library: ct.CDLL, client: Client, server: JounceServer) -> None:
    session = client.create_session("integrator")
    a = Pilot(library, server.fast.addresses[-1], session, "a", (b"force",), period=20)

    def until(tick: int) -> tuple[int, int]:
        return int(a.step_until((ct.c_double * 1)(2.0), ct.c_size_t(1), ct.c_int64(tick))), a.state.tick

    assert until(33) == (OK, 33)
    for wrong in (33, 0, -1, 2**40):
        assert until(wrong) == (REFUSED, 33)
        why = a.why().contents
        assert (a.reason, why.field, why.given) == ("BAD_FIELD", b"next_tick", b"%d" % wrong)
        assert why.allowed.startswith(b"34 ")
    assert (a.step_to(2.0), a.state.tick, a.state.due) == (OK, 40, 40)
    assert a.leave() == OK
    a.free()


def test_c_is_told_of_what_it_asked_for_in_a_step_and_while_it_awaits_nothing(
        library: ct.CDLL, client: Client, server: JounceServer) -> None:
    told: list[tuple[int, int, str, list[str]]] = []

    @ct.CFUNCTYPE(None, ct.c_void_p, ct.POINTER(Event))
    def note(user: int, event: Any) -> None:
        assert user == 77
        e = event.contents
        told.append((e.kind, e.tick, e.text.decode(), [n.decode() for n in e.participants[: e.n_participants]]))

    failed, evicted, missed = 6, 10, 11
    kinds = (ct.c_int * 3)(failed, evicted, missed)
    session = client.create_session("integrator", participants=["a", "late"])
    lane = server.fast.addresses[0]
    a = Pilot(library, lane, session, "a", notices=kinds, n_notices=3, on_event=ct.cast(note, ct.c_void_p), user=77)
    plain = Pilot(library, lane, session, "plain", period=1000)
    late = client.join(session, "late", late=Late("HOLD_LAST", after=0.05))
    thread = threading.Thread(target=plain.step_to, daemon=True)
    thread.start()
    assert a.step_to() == OK and [(k, t, n) for k, t, _, n in told] == [(missed, 0, ["late"])]
    assert told[0][2].startswith("tick 0: ") and "late" in told[0][2]
    assert (a.state.tick, a.state.n_events) == (1, 1)
    # Nothing has come: it does not wait, and tells nothing.
    assert a.poll(0) == OK and len(told) == 1
    client.evict(session, "plain")
    thread.join(60)
    assert a.poll(10_000) == OK
    assert [(k, t, n) for k, t, _, n in told[1:]] == [(evicted, 1, ["plain"])] and "plain" in told[1][2]
    assert plain.state.n_events == 0
    late.__exit__(None, None, None)
    client.pause(session)
    assert a.poll(10_000) == OK and told[2:] == [(1, 1, "", [])]
    client.resume(session)
    client.delete_session(session)
    assert a.step_to() == REFUSED and a.reason == "SESSION_CLOSED"
    bad = (ct.c_int * 1)(1)
    other = client.create_session("integrator")
    assert Pilot(library, lane, other, "a", notices=bad, n_notices=1).reason == "BAD_FIELD"
    for one in (a, plain):
        one.free()


@undisturbed
def test_c_obeys_resets_counts_pauses_and_names_a_barrier_timeout(library: ct.CDLL, client: Client,
                                                                 server: JounceServer) -> None:
    session = client.create_session("integrator", participants=["a", "b"])
    lane = server.fast.addresses[0]
    a = Pilot(library, lane, session, "a", (b"force",), barrier_timeout=0.1)
    assert a.step_to(3.0) == REFUSED and a.reason == "BARRIER_TIMEOUT"
    b = client.join(session, "b", barrier_timeout=20.0)
    thread = threading.Thread(target=b.step, args=([],), daemon=True)
    thread.start()
    assert a.step_to(3.0) == OK and a.outputs[2] == 6.0
    thread.join(60)
    client.pause(session)
    client.resume(session)
    client.reset(session, start_inputs={"force": 7.0})
    assert a.step_to(4.0) == REFUSED and a.reason == "WRONG_EPOCH"
    assert (a.state.tick, a.state.due, a.state.epoch, a.state.n_events) == (0, 0, 2, 3)
    assert a.start_inputs()[0] == 7.0 and a.outputs[4] == 0.0
    b.leave()
    assert a.step_to(4.0) == OK and a.state.tick == 1
    a.leave()
    a.free()


def test_c_comes_back_with_its_token_and_learns_what_it_missed(library: ct.CDLL, client: Client,
                                                              server: JounceServer) -> None:
    session = client.create_session("integrator")
    lane = server.fast.addresses[-1]
    safe = (ct.c_double * 1)(9.0)
    terms = {"late": 3, "late_after": 0.2, "lease": 30.0, "safe": safe, "n_safe": 1}
    a = Pilot(library, lane, session, "a", (b"force",), **terms)
    b = client.join(session, "b", wants=["reaction"], barrier_timeout=20.0)
    token = a.participant_token()
    a.free()
    for _ in range(5):
        assert b.step([])["reaction"] == 18.0
    a = Pilot(library, lane, session, "a", (b"force",), participant_token=token, **terms)
    b.leave()
    assert a.sync() == OK
    assert (a.state.tick, a.state.missed, a.step_to(1.0), a.outputs[2]) == (5, 5, OK, 2.0)
    a.free()


@pytest.mark.parametrize("address", ["unix:/no/such", "unix:" + "x" * 200, "127.0.0.1:1", "nonsense"])
def test_c_says_when_nobody_is_there(loop: Path, address: str) -> None:
    done = run(loop, address, "s", "t", "force", 1)
    assert done.returncode == 1 and "UNAVAILABLE" in done.stderr


def framed(reply: pb.LockstepReply) -> bytes:
    data = reply.SerializeToString()
    return struct.pack("<I", len(data)) + data


JOINED = pb.LockstepReply(joined=pb.Joined(epoch=1, inputs=["x"], outputs=["y", "z"], input_values=[1.0],
                                           output_values=[2.0, 3.0], participant_token="secret", tick_seconds=1e-3))
TALK = (
    framed(JOINED)
    + framed(pb.LockstepReply(event=pb.Event(epoch=2, outputs=[1.0, 2.0], inputs=[3.0])))
    + framed(pb.LockstepReply(state=pb.State(epoch=2, tick=1, request=1, outputs=[4.0, 5.0], held=["b"])))
    + framed(pb.LockstepReply(error=pb.ErrorInfo(reason="R" * 100, message="m" * 1000, missing=["a"])))
)


def test_rubbish_from_a_server_is_an_error_in_c_and_never_a_wrong_access(loop: Path, tmp_path: Path) -> None:
    chance = random.Random(7)
    talks = [TALK, TALK[:40], b"\xff\xff\xff\xff", b"HTTP/1.1 400\r\n\r\n", framed(pb.LockstepReply())]
    for wrong in ({"input_values": [1.0, 2.0]}, {"output_values": [1.0]}, {"inputs": ["x", "y"]}):
        bad = pb.LockstepReply()
        bad.CopyFrom(JOINED)
        bad.joined.MergeFrom(pb.Joined(**wrong))
        talks.append(framed(bad))
    for _ in range(40):
        data = bytearray(TALK)
        for _ in range(chance.randint(1, 4)):
            # Lengths at the frames' start mostly make a client wait: rather the messages.
            data[chance.randrange(4, len(data))] = chance.choice([0, 1, 0x7F, 0x80, 0xFF, chance.randrange(256)])
        talks.append(bytes(data))

    def serve(listener: socket.socket) -> None:
        for talk in talks:
            connection, _ = listener.accept()
            # The client may have had enough before all of it is sent.
            with connection, contextlib.suppress(OSError):
                connection.recv(4096)
                connection.sendall(talk)

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "rubbish"))
        listener.listen()
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        done = [run(loop, f"unix:{tmp_path / 'rubbish'}", "s", "t", "x", 3) for _ in talks]
        thread.join(60)
    assert all(one.returncode in (REFUSED, LOST) and one.stderr for one in done)
    assert done[0].stdout == "1 0x1p+2 0x1.4p+2\n" and "R" * 47 in done[0].stderr
    assert all("UNEXPECTED_REPLY" in one.stderr for one in done[2:8])
