"""What the tests of recordings share: sessions that do everything, and files with one byte changed."""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
from mcap.reader import make_reader
from mcap.writer import Writer
from numpy.typing import NDArray

from jounce_service.recording.reader import Reader, Sample
from jounce_service.recording.replay import replay


def only(folder: Path) -> Path:
    """The one recording in a folder."""
    (path,) = folder.glob("*.mcap")
    return path


def lockstep(members: list[tuple[Any, int, Any]], ticks: int) -> dict[int, dict[str, float]]:
    """Steps members, (stream, period, inputs of a tick), together; the inputs that each tick changed."""
    applied: dict[int, dict[str, float]] = {}
    for tick in range(ticks):
        for stream, period, inputs in members:
            if tick % period == 0:
                values = inputs(tick)
                stream.deliver(*values)
                applied.setdefault(tick, {}).update(zip(stream.joined.inputs, values, strict=True))
        # A reply comes when the clock is at the next due tick of its member.
        for stream, period, _ in members:
            if (tick + 1) % period == 0:
                reply = stream.read()
                assert reply.state.tick == tick + 1, reply
    return applied


def truth(model: Any, parameters: dict[str, float], applied: dict[int, dict[str, float]],
          ticks: int) -> dict[int, NDArray[np.float64]]:
    """Outputs of a model without the service, at each tick that changes inputs."""
    instance = model.create("alone", parameters, {})
    u = np.array([s.start for s in model.table.inputs])
    found = {}
    for tick in range(ticks):
        if tick in applied:
            found[tick] = instance.get_outputs()
            for name, value in applied[tick].items():
                u[model.table.by_name(name).index] = value
            instance.set_inputs(u)
        instance.step(1)
    instance.free()
    return found


def wave(tick: int, size: float, period: float) -> float:
    """A smooth input [the unit of ``size``]; ``period`` [ticks]."""
    return size * math.sin(2.0 * math.pi * tick / period)


def altered(source: Path, target: Path, tick: int, value: float, byte: int) -> float:
    """Copies a recording, up to 1000 ticks later, with one byte of one input changed; the value it has now.

    The input is the one that has ``value`` in the message of ``tick``; byte 0 is its least significant.
    """
    changed, end = math.nan, tick + 1000
    with source.open("rb") as file, target.open("wb") as out:
        reader = make_reader(file)
        writer = Writer(out)
        writer.start(profile="jounce", library="test")
        channels: dict[int, int] = {}
        for schema, channel, message in reader.iter_messages(log_time_order=False):
            if channel.id not in channels:
                schema_id = writer.register_schema(schema.name, schema.encoding, schema.data)
                channels[channel.id] = writer.register_channel(channel.topic, "protobuf", schema_id)
            data = bytearray(message.data)
            if channel.topic == "/inputs" and struct.unpack_from("<q", data, 1)[0] > end:
                break
            if channel.topic == "/inputs" and struct.unpack_from("<q", data, 1)[0] == tick:
                place = data.index(struct.pack("<d", value))
                data[place + byte] ^= 1
                (changed,) = struct.unpack_from("<d", data, place)
            writer.add_message(channels[channel.id], message.log_time, bytes(data), message.publish_time)
        writer.finish()
    assert not math.isnan(changed), f"no inputs at tick {tick}"
    return changed


def recorded(server: Any, session: Any, folder: Path) -> Path:
    """The recording of a session, which ends with it."""
    server.call("DeleteSession", session)
    return only(folder)


def replayed(
    path: Path, models: Any, name: str, parameters: dict[str, float], applied: dict[int, dict[str, float]], ticks: int
) -> dict[int, NDArray[np.float64]]:
    """Outputs of a recording at its ticks, which replay to the bit and are those of the model without the service."""
    report = replay(path, models)
    assert report.first is None and report.ticks == ticks
    model = models.get(name)
    alone, size = truth(model, parameters, applied, ticks), len(model.table.outputs)
    found = {s.tick: s.values for s in Reader(path) if isinstance(s, Sample) and len(s.values) == size}
    assert alone and all(found[tick].tobytes() == alone[tick].tobytes() for tick in alone)
    return found


def short(server: Any, tmp_path: Path, ticks: int = 40) -> Path:
    """A recording of two participants of the integrator."""
    session = server.create("a", "b")
    a = server.member(session, "a", inputs=["velocity"], period=2)
    b = server.member(session, "b", inputs=["force"], period=5)
    lockstep([(a, 2, lambda t: (wave(t, 3.0, 30.0), 0.1 * (t % 40))), (b, 5, lambda t: (50.0 + t % 45,))], ticks)
    return recorded(server, session, tmp_path / "rec")
