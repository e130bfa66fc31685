"""A recorded vehicle as an OSI trace, read back by the package's own reader: its values are those of the recording."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recordings import only

from jounce.frames import rotation_of, rotation_zyx
from jounce_service.hosting.fmu_model import builtin_registry
from jounce_tools.cli.main import main

osi_trace = pytest.importorskip("osi3trace.osi_trace")
Array = np.ndarray
TICKS, EVERY = 2000, 20


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A vehicle that turns and leans on a bank: CSV by column, the path of the trace, of the recording."""
    import csv

    from rig import Running

    from jounce_proto import jounce_pb2 as pb
    from jounce_service import ServerConfig

    folder = tmp_path_factory.mktemp("osi")
    server = Running(ServerConfig(address="127.0.0.1:0", socket_path=str(folder / "s"), drain=0.0,
                                  record=str(folder / "rec"), record_every=EVERY), False)  # fmt: skip
    server.server.manager.registry = builtin_registry()
    start = {"init.speed": 12.0, "terrain.bank": 0.1, "init.yaw": 2.5}
    session = server.stub.CreateSession(pb.CreateSessionRequest(
        model="hmmwv", parameters={n: pb.Value(number=v) for n, v in start.items()}))
    for _ in range(TICKS // EVERY):
        server.advance(session, EVERY, steering_wheel_angle=4.0, steering_wheel_rate=0.0)
    server.call("DeleteSession", session)
    source = only(folder / "rec")
    server.close()
    assert main(["export-recording", str(source), "-o", str(folder / "out.csv")]) == 0
    assert main(["export-recording", str(source), "-o", str(folder / "osi.mcap"), "--format", "osi"]) == 0
    with (folder / "out.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    table = {h.partition(" [")[0]: np.array([float(r[i]) for r in rows]) for i, h in enumerate(header)}
    return table, folder / "osi.mcap", source


def read(path: Path, kind: str) -> list[Any]:
    reader = osi_trace.OSITrace(str(path), kind)
    found = list(reader)
    reader.close()
    return found


def row(table: dict[str, Array], name: str, k: int) -> Array:
    axes = ("x", "y", "z") if f"{name}.x" in table else ("e0", "e1", "e2", "e3")
    return np.array([table[f"{name}.{axis}"][k] for axis in axes])


def xyz(v: Any) -> Array:
    return np.array([v.x, v.y, v.z])


def turn(o: Any) -> Array:
    return rotation_zyx([o.yaw, o.pitch, o.roll])


def test_the_place_of_the_ground_truth_and_the_wheels_are_those_of_the_recording(trace: Any) -> None:
    table, path, _ = trace
    messages = read(path, "GroundTruth")
    assert len(messages) == len(table["tick"]) == TICKS // EVERY + 1
    for k, message in enumerate(messages):
        stamp = message.timestamp.seconds + 1e-9 * message.timestamp.nanos
        assert stamp == pytest.approx(table["time"][k], abs=1e-9)
        (vehicle,) = message.moving_object
        assert vehicle.id.value == message.host_vehicle_id.value
        rotation = rotation_of(row(table, "ref_frame.rot", k))
        assert turn(vehicle.base.orientation) == pytest.approx(rotation, abs=1e-14)
        # each wheel, from the box's centre through its mounting position, stands where the recording has it
        for wheel in vehicle.vehicle_attributes.wheel_data:
            name = f"wheel_{'FR'[wheel.axle]}{'RL'[wheel.index]}"
            place = xyz(vehicle.base.position) + rotation @ xyz(wheel.position)
            assert place == pytest.approx(row(table, f"{name}.pos", k), abs=1e-12)
            own = rotation_of(row(table, f"{name}.rot", k))
            assert rotation @ turn(wheel.orientation) == pytest.approx(own, abs=1e-13)
            assert wheel.rotation_rate == table[f"{name}.omega"][k]
    assert abs(messages[-1].moving_object[0].base.orientation.roll) > 0.01


def test_rates_are_those_of_places_and_angles(trace: Any) -> None:
    """Central differences over 20 ms of the messages themselves; OSI's angles are in radians."""
    table, path, _ = trace
    truth = [m.moving_object[0].base for m in read(path, "GroundTruth")]
    host = [m.vehicle_motion for m in read(path, "HostVehicleData")]
    step = float(table["time"][1] - table["time"][0])
    for k in range(60, 90):
        place = (xyz(truth[k + 1].position) - xyz(truth[k - 1].position)) / (2 * step)
        assert xyz(truth[k].velocity) == pytest.approx(place, abs=0.02)
        for angle in ("yaw", "pitch", "roll"):
            difference = getattr(truth[k + 1].orientation, angle) - getattr(truth[k - 1].orientation, angle)
            rate = math.remainder(difference, 2 * math.pi) / (2 * step)
            assert getattr(truth[k].orientation_rate, angle) == pytest.approx(rate, abs=5e-3)
        rear = (xyz(host[k + 1].position) - xyz(host[k - 1].position)) / (2 * step)
        assert turn(host[k].orientation) @ xyz(host[k].velocity) == pytest.approx(rear, abs=0.02)
        assert host[k].orientation_rate.yaw == table["ref_frame.ang_vel.z"][k]
    assert abs(truth[60].orientation_rate.yaw) > 0.1


def test_the_host_vehicle_knows_its_wheels_and_its_steering_wheel(trace: Any) -> None:
    table, path, _ = trace
    for k, message in enumerate(read(path, "HostVehicleData")):
        assert message.vehicle_steering.vehicle_steering_wheel.angle == table["steering_wheel_angle"][k]
        for wheel in message.vehicle_wheels.wheel_data:
            name = f"wheel_{'FR'[wheel.axle]}{'RL'[wheel.index]}"
            assert wheel.rotation_rate == table[f"{name}.omega"][k]
            assert wheel.slip == pytest.approx(100.0 * table[f"{name}.slip"][k])


def test_the_box_is_that_of_the_data(trace: Any) -> None:
    """A HMMWV: outline from -2.4 to 2.17 m, 2.16 m wide, wheelbase 3.302 m."""
    _, path, _ = trace
    vehicle = read(path, "GroundTruth")[0].moving_object[0]
    size, attributes = vehicle.base.dimension, vehicle.vehicle_attributes
    assert (size.length, size.width) == pytest.approx((4.57, 2.16))
    assert 1.7 < size.height < 2.0
    assert attributes.bbcenter_to_front.x - attributes.bbcenter_to_rear.x == pytest.approx(3.302, abs=0.02)
    assert attributes.number_wheels == 4 and attributes.radius_wheel == pytest.approx(0.4699)


def test_the_file_says_what_osi_asks_of_a_trace(trace: Any) -> None:
    _, path, _ = trace
    reader = osi_trace.OSITrace(str(path), "GroundTruth")
    (record,) = reader.get_file_metadata()
    assert record.name == "net.asam.osi.trace"
    assert {"version", "min_osi_version", "max_osi_version", "min_protobuf_version", "max_protobuf_version",
            "zero_time", "creation_time"} <= set(record.metadata)  # fmt: skip
    assert record.metadata["version"] == "3.8.0"
    assert set(reader.get_channel_metadata()) == {"net.asam.osi.trace.channel.osi_version",
                                                  "net.asam.osi.trace.channel.protobuf_version"}
    assert set(reader.get_available_topics()) == {"GroundTruth", "HostVehicleData"}


def test_what_is_no_vehicle_is_refused_and_no_file_is_left(serve: Callable[..., Any], tmp_path: Path,
                                                           capsys: pytest.CaptureFixture[str]) -> None:
    server = serve(record=str(tmp_path / "rec"), record_every=1)
    session = server.create()
    server.call("Advance", session, n_ticks=5)
    server.call("DeleteSession", session)
    source = only(tmp_path / "rec")
    assert main(["export-recording", str(source), "-o", str(tmp_path / "osi.mcap")]) == 2
    assert "needs outputs of a vehicle; integrator has no ref_frame.pos" in capsys.readouterr().err
    assert main(["export-recording", str(source), "-o", str(tmp_path / "a.csv"), "--format", "osi"]) == 2
    assert "expects a name that ends in .mcap" in capsys.readouterr().err
    before = source.read_bytes()
    assert main(["export-recording", str(source), "-o", str(source)]) == 2
    assert "is the recording itself" in capsys.readouterr().err
    assert source.read_bytes() == before
    assert not list(tmp_path.glob("*.mcap"))
