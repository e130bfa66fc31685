"""CAN: the generated database, one's own with a map, faulty frames, and a rig on the virtual bus of python-can."""

from __future__ import annotations

import argparse
import math
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jounce
from jounce_client import Client
from jounce_client.bridges import dbc
from jounce_client.bridges.session import BridgeError
from jounce_tools.cli.main import main

cantools = pytest.importorskip("cantools")
can = pytest.importorskip("can")
from jounce_client.bridges import can as bridge  # noqa: E402
from jounce_client.bridges.can import CanCounters, Receiver, Sender  # noqa: E402


@pytest.fixture(scope="module")
def known(address: str) -> list[dbc.Scalar]:
    with Client.connect(address) as client:
        return dbc.scalars(client.describe("hmmwv"))


@pytest.fixture(scope="module")
def made(known: list[dbc.Scalar]) -> tuple[Any, list[dbc.Frame]]:
    return dbc.database(known, 0.01)


def test_the_crc_is_that_of_sae_j1850() -> None:
    """Check value of the catalogue of CRCs for "123456789", and a table of AUTOSAR's CRC library (crc8 0x1D)."""
    assert dbc.crc8(b"123456789") == 0x4B
    assert dbc.crc8(bytes(4)) == 0x59
    assert dbc.crc8(bytes.fromhex("f20183")) == 0x37


def test_describe_writes_the_database_that_cantools_reads_as_it_was_made(
    made: tuple[Any, list[dbc.Frame]], known: list[dbc.Scalar], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["describe", "--format", "dbc"]) == 0
    (tmp_path / "v.dbc").write_text(capsys.readouterr().out)
    read = cantools.database.load_file(tmp_path / "v.dbc")
    names = [s.name for m in read.messages for s in m.signals if s.name not in (dbc.CRC, dbc.COUNTER)]
    assert sorted(names) == sorted(dbc.identifier(s.name) for s in known)
    assert len(set(m.frame_id for m in read.messages)) == len(read.messages)
    for ours in made[1]:
        theirs = read.get_message_by_name(ours.message.name)
        assert (theirs.frame_id, theirs.length, theirs.cycle_time) == (ours.message.frame_id, 8, 10)
        assert theirs.is_extended_frame and theirs.frame_id < 2**29
        for signal in ours.message.signals:
            same = theirs.get_signal_by_name(signal.name)
            assert (same.start, same.length, same.is_signed) == (signal.start, signal.length, signal.is_signed)
            assert same.conversion.scale == signal.conversion.scale


@given(part=st.floats(-1.0, 1.0), count=st.integers(0, 40))
@settings(max_examples=25, deadline=None)
def test_every_signal_comes_back_within_half_a_quantum(made: Any, known: Any, part: float, count: int) -> None:
    """Over its bounds, or over 10 000 times its nominal value where it has none; up to a million times it."""
    database, frames = made
    by_name = {s.name: s for s in known}
    values = {}
    for s in known:
        values[s.name] = min(max(part * dbc.reach(s), s.low), s.high)
    sender = Sender(frames)
    sender._count = count
    for (number, extended, data), frame in zip(sender.messages(values), frames, strict=True):
        decoded = database.get_message_by_frame_id(number).decode(data)
        assert extended and decoded[dbc.COUNTER] == count % 16 and decoded[dbc.CRC] == dbc.crc8(data[1:])
        for entry in frame.entries:
            quantum = dbc.scaled(by_name[entry.name])[1]
            assert abs(decoded[entry.signal] - values[entry.name]) <= 0.5 * quantum * (1 + 1e-6)


def test_quanta_resolve_a_thousandth_of_the_nominal_value(known: list[dbc.Scalar]) -> None:
    for s in known:
        assert s.whole or dbc.scaled(s)[1] <= 1e-3 * s.nominal


def steering(known: list[dbc.Scalar], frames: list[dbc.Frame]) -> tuple[Receiver, Sender]:
    """A receiver of the steering wheel with 0.5 as its safe value, and who sends to it."""
    frame = next(f for f in frames if any(e.name == "steering_wheel_angle" for e in f.entries))
    bounds = {s.name: (s.low, s.high) for s in known}
    safe = {e.name: 0.5 for e in frame.entries}
    return Receiver([frame], [e.name for e in frame.entries], safe, bounds, 0.01), Sender([frame])


def test_what_is_wrong_with_a_frame_is_counted_and_changes_nothing(made: Any, known: Any) -> None:
    receiver, sender = steering(known, made[1])
    counters = CanCounters()

    def frame(value: float) -> tuple[int, bool, bytes]:
        return sender.messages(dict.fromkeys(receiver._names, value))[0]

    number, extended, good = frame(1.0)
    receiver.take(number, extended, good, 0.0, counters)
    assert receiver.inputs(0.0, counters)[0] == pytest.approx(1.0)
    receiver.take(number, extended, good, 0.0, counters)
    assert counters.repeats == 1
    _, _, data = frame(2.0)
    for k in range(8):  # any bit of any byte
        receiver.take(number, extended, data[:k] + bytes([data[k] ^ 1 << k]) + data[k + 1 :], 0.0, counters)
    assert counters.refused == 8
    receiver.take(number, extended, data[:7], 0.0, counters)
    receiver.take(number, extended, data + b"\0", 0.0, counters)
    assert counters.refused == 10
    receiver.take(number, False, data, 0.0, counters)
    receiver.take(number + 1, True, data, 0.0, counters)
    assert receiver.inputs(0.0, counters)[0] == pytest.approx(1.0)
    frame(3.0)
    receiver.take(*frame(4.0), 0.0, counters)  # one was left out: this one is dropped, the next one counts again
    assert counters.gaps == 1 and receiver.inputs(0.0, counters)[0] == pytest.approx(1.0)
    receiver.take(*frame(5.0), 0.0, counters)
    assert receiver.inputs(0.0, counters)[0] == pytest.approx(5.0)
    assert (counters.refused, counters.lost) == (10, 0)


def test_a_message_that_is_missing_for_three_cycles_has_its_safe_value_until_it_is_back(made: Any, known: Any) -> None:
    receiver, sender = steering(known, made[1])
    counters = CanCounters()
    values = dict.fromkeys(receiver._names, 1.0)
    receiver.take(*sender.messages(values)[0], 1.0, counters)
    assert receiver.inputs(1.03, counters)[0] == pytest.approx(1.0)
    assert receiver.inputs(1.031, counters)[0] == 0.5
    assert receiver.inputs(1.05, counters)[0] == 0.5 and counters.lost == 1
    sender._count += 5  # whoever comes back may count from anywhere
    receiver.take(*sender.messages(values)[0], 1.06, counters)
    assert receiver.inputs(1.06, counters)[0] == pytest.approx(1.0) and counters.gaps == 0
    assert receiver.inputs(0.0, counters)[0] == pytest.approx(1.0)  # a reset of the session
    assert receiver.inputs(0.04, counters)[0] == 0.5 and counters.lost == 2


def test_a_value_beyond_the_bounds_of_the_vehicle_is_refused(made: Any, known: Any) -> None:
    frame = next(f for f in made[1] if any(e.name == "wheel_FL.brake_torque" for e in f.entries))
    names = [e.name for e in frame.entries]
    receiver = Receiver([frame], names, dict.fromkeys(names, 0.0), dict.fromkeys(names, (0.0, 100.0)), 0.01)
    counters = CanCounters()
    receiver.take(*Sender([frame]).messages(dict.fromkeys(names, 500.0))[0], 0.0, counters)
    assert counters.refused == 1 and receiver.inputs(0.0, counters) == [0.0] * len(names)


OWN = """VERSION ""
BU_: rig
BO_ 256 Steer: 8 rig
 SG_ Angle : 7|16@0- (0.1,0) [-900|900] "deg" Vector__XXX
 SG_ Cnt : 55|8@0+ (1,0) [0|255] "" Vector__XXX
 SG_ Check : 63|8@0+ (1,0) [0|255] "" Vector__XXX
BO_ 257 Motion: 4 rig
 SG_ Speed : 0|16@1+ (0.01,0) [0|300] "km/h" rig
 SG_ Filler : 16|16@1+ (1,0) [0|0] "" rig
"""
MAP = """[send]
"Motion.Speed" = { signal = "speed", factor = 3.6 }
[receive]
"Steer.Angle" = { signal = "steering_wheel_angle", factor = 57.29577951308232 }
[protect.Steer]
counter = "Cnt"
crc = "Check"
"""


def own(folder: Path, known: list[dbc.Scalar], text: str = MAP, base: str = OWN) -> dbc.Own:
    (folder / "own.dbc").write_text(base)
    (folder / "map.toml").write_text(text)
    return dbc.Own(folder / "own.dbc", folder / "map.toml", known)


def test_an_own_database_is_used_through_its_map(known: list[dbc.Scalar], tmp_path: Path) -> None:
    found = own(tmp_path, known)
    (_, extended, data), = Sender(found.send).messages({"speed": 10.0})
    assert not extended and int.from_bytes(data[:2], "little") == 3600  # 36 km/h
    frame = found.receive[0]
    receiver = Receiver(found.receive, ["steering_wheel_angle"], {"steering_wheel_angle": 0.0},
                        {"steering_wheel_angle": (-20.0, 20.0)}, 0.01)  # fmt: skip
    body = (900).to_bytes(2, "big") + bytes(4) + b"\x07"  # 90 degrees
    counters = CanCounters()
    receiver.take(256, False, body + bytes([dbc.crc8(body)]), 0.0, counters)
    assert receiver.inputs(0.0, counters)[0] == pytest.approx(math.pi / 2)
    receiver.take(256, False, body[:6] + b"\x08" + bytes([dbc.crc8(body)]), 0.0, counters)
    assert counters.refused == 1 and frame.crc == "Check"


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        ("Motion.Speed", "Motion.Sped", r"send\.'Motion\.Sped': expected \"Message\.Signal\""),
        ('"speed"', '"sped"', "sped: expected a scalar output"),
        ('"steering_wheel_angle"', '"speed"', "speed: expected a scalar input"),
        ("factor = 3.6", "factor = 0", "factor not 0"),
        ("factor = 3.6", "factor = nan", "finite numbers"),
        ("factor = 3.6", "gain = 3.6", "expected a name, or"),
        ('crc = "Check"', 'crc = "Angle"', "one whole byte"),
        ("[protect.Steer]", "[protect.Nobody]", r"protect\.Nobody: expected a message"),
        ("[send]", "[sent]", "sent: expected send, receive or protect"),
        ("[send]", "[send", "map.toml"),
        ("[protect", '"Steer.Cnt" = "steering_wheel_angle"\n[protect', "set by Steer.Angle, too"),
    ],
)
def test_a_map_that_cannot_be_is_refused_with_its_entry(known: Any, tmp_path: Path, before: str, after: str, says: str
                                                        ) -> None:  # fmt: skip
    with pytest.raises(BridgeError, match=says):
        own(tmp_path, known, MAP.replace(before, after, 1))


def test_a_database_that_cannot_be_read_is_named(known: Any, tmp_path: Path) -> None:
    with pytest.raises(BridgeError, match="own.dbc"):
        own(tmp_path, known, base="BO_ nothing")
    with pytest.raises(BridgeError, match="no.dbc: No such file"):
        dbc.Own(tmp_path / "no.dbc", tmp_path / "map.toml", known)


def options(address: str, *more: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    bridge.add_options(parser)
    return parser.parse_args([f"--address={address}", "--interface=virtual", "--channel=rig", *more])


def test_a_rig_on_the_virtual_bus_drives_with_the_bits_of_one_in_process(address: str, known: Any, made: Any) -> None:
    """The rig answers every speed with a steering angle; the bridge waits for it before each step."""
    steps, failed = 50, []
    number = next(f for f in made[1] if any(e.name == "speed" for e in f.entries)).message.frame_id
    _, sender = steering(known, made[1])
    given = options(address, "--send=speed", "--receive=steering_wheel_angle", "--pace=free", "--wait=20",
                    f"--frames={steps}", "--set=init.speed=10")  # fmt: skip

    def run() -> None:
        try:
            bridge.run(given)
        except BaseException as error:  # noqa: BLE001 - told by the other thread
            failed.append(error)

    speeds: list[float] = []
    with can.Bus(interface="virtual", channel="rig") as bus:
        program = threading.Thread(target=run)
        program.start()
        while len(speeds) <= steps:
            got = bus.recv(timeout=60)
            assert got is not None, failed
            if got.arbitration_id == number:
                speeds.append(made[0].decode_message(number, got.data)["speed"])
                if len(speeds) <= steps:
                    values = dict.fromkeys((e.name for e in sender._frames[0].entries), 0.0)
                    values["steering_wheel_angle"] = 0.1 * len(speeds)
                    arbitration, extended, data = sender.messages(values)[0]
                    bus.send(can.Message(arbitration_id=arbitration, is_extended_id=extended, data=data))
        program.join(60)
    assert not failed and not program.is_alive()
    with jounce.join("hmmwv", owns=["steering_wheel_angle", "steering_wheel_rate"], wants=["speed"], period=10,
                     **{"init.speed": 10.0}) as vehicle:  # fmt: skip
        expected = [vehicle.start["speed"]]
        expected += [vehicle.step([round(0.1 * k, 12), 0.0])["speed"] for k in range(1, steps + 1)]
    quantum = dbc.scaled(next(s for s in known if s.name == "speed"))[1]
    assert speeds == pytest.approx(expected, abs=0.51 * quantum)
    assert abs(speeds[-1] - speeds[0]) > 100 * quantum


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--receive=sped"], "--receive sped: expected a scalar input"),
        (["--send=ref_frame.pos"], "--send ref_frame.pos: expected a scalar output"),
        (["--dbc=x.dbc"], "expected both or none"),
        (["--period=0"], "expected at least 1 tick"),
        (["--safe=steering_wheel_angle"], "expected NAME=VALUE"),
        (["--safe=steering_wheel_angle=1e9"], "expected -"),
        (["--safe=steering_wheel_angle=1", "--safe=steering_wheel_angle=1"], "steering_wheel_angle is given twice"),
        (["--set=init.x=1", "--set=init.x=2"], "init.x is given twice; expected once"),
        (["--interface=nothing"], "--interface nothing"),
    ],
)
def test_options_that_cannot_be_used_are_refused(address: str, more: list[str], says: str) -> None:
    with pytest.raises(BridgeError, match=says):
        bridge.run(options(address, *more))


def test_without_the_packages_they_are_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
                                             ) -> None:  # fmt: skip
    monkeypatch.setitem(__import__("sys").modules, "cantools", None)
    assert main(["describe", "--format", "dbc"]) == 2
    assert "pip install 'jounce[can]'" in capsys.readouterr().err
