"""Writes a recorded vehicle as an ASAM OSI trace: GroundTruth and HostVehicleData in one MCAP file.

Frames and reference points, from the OSI 3.8 documentation: positions, orientations (z-y'-x'', ISO 8855) and velocities
of GroundTruth are those of the centre of the bounding box in the axes of the world; HostVehicleData's motion is that of
the middle of the rear axle as the vehicle stands in the first row, its velocity and rates in the axes of the vehicle.
Accelerations are left out: those of these points need the angular acceleration, which is no output.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

from jounce.data import of_any_tires
from jounce.frames import rotation_of, zyx
from jounce_service.recording.provenance import facts
from jounce_service.recording.reader import Reader, RecordingError
from jounce_service.recording.vectors import Vector

#: Outputs of a vehicle and of each of its wheels that are used.
_BODY: Final = ("ref_frame.pos", "ref_frame.rot", "ref_frame.lin_vel", "ref_frame.ang_vel")
_WHEEL: Final = ("pos", "rot", "omega", "slip")
_ID: Final = 1


@dataclass(frozen=True)
class Wheel:
    """A wheel: its name, axle from the front, and index on it from the right, both from 0."""

    name: str
    axle: int
    index: int


@dataclass(frozen=True)
class Geometry:
    """Bounding box in the axes of the chassis, as the vehicle stands in the first row."""

    centre: Vector
    size: Vector
    """Length, width, height [m]."""
    rear: Vector
    """Middle of the last axle."""
    front: Vector
    """Middle of the first axle."""
    radius: float
    """Unloaded radius of the tires [m]."""


class Columns:
    """Values of a row by the name of a scalar or vector."""

    def __init__(self, reader: Reader) -> None:
        """Inputs before outputs, as the rows have them. Raises RecordingError where it is no vehicle's recording."""
        names = [name for name, _ in (*reader.inputs, *reader.outputs)]
        self._places: dict[str, list[int]] = {}
        for i, name in enumerate(names):
            self._places.setdefault(name, []).append(i)
            self._places.setdefault(name.rpartition(".")[0], []).append(i)
        self.wheels = tuple(_wheels(names))
        needs = [*_BODY, *(f"wheel_{w.name}.{part}" for w in self.wheels for part in _WHEEL)]
        if missing := [n for n in needs if n not in self._places]:
            raise RecordingError(f"an OSI trace needs outputs of a vehicle; {reader.model.model} has no {missing[0]}")
        if not self.wheels:
            raise RecordingError(f"an OSI trace needs outputs of a vehicle; {reader.model.model} has no wheels")

    def __contains__(self, name: str) -> bool:
        """Whether there is such a signal."""
        return name in self._places

    def of(self, row: Vector, name: str) -> Vector:
        """Value of a signal: (n,)."""
        found: Vector = row[self._places[name]]
        return found


def _wheels(names: Sequence[str]) -> Iterator[Wheel]:
    """Wheels in the order of the signal table, two an axle: left, right."""
    found = [n.removeprefix("wheel_").removesuffix(".omega") for n in names
             if n.startswith("wheel_") and n.endswith(".omega")]  # fmt: skip
    for k, name in enumerate(found):
        yield Wheel(name, k // 2, 1 - k % 2)


def geometry(columns: Columns, row: Vector, parameters: dict[str, float], model: str) -> Geometry:
    """From the outline of the chassis (parameters) and the tires where they stand. Raises RecordingError without."""
    outline: dict[str, dict[str, float]] = {}
    for name, value in parameters.items():
        if name.startswith("chassis.outline."):
            point, _, axis = name.rpartition(".")
            outline.setdefault(point, {})[axis] = value
    radius = of_any_tires(parameters, "unloaded_radius")
    if not outline or radius is None:
        raise RecordingError(f"an OSI trace needs the parameters chassis.outline and tire.unloaded_radius; {model} has "
                             "none")  # fmt: skip
    turn, origin = rotation_of(columns.of(row, "ref_frame.rot")), columns.of(row, "ref_frame.pos")
    hubs = np.array([turn.T @ (columns.of(row, f"wheel_{w.name}.pos") - origin) for w in columns.wheels])
    points = np.array([[p["x"], side * p["y"], p["z"]] for p in outline.values() for side in (1, -1)])
    points = np.concatenate([points, hubs + (radius, 0.0, 0.0), hubs - (radius, 0.0, radius)])
    low, high = points.min(axis=0), points.max(axis=0)
    axles = np.array([w.axle for w in columns.wheels])
    return Geometry(0.5 * (low + high), high - low, hubs[axles == axles.max()].mean(axis=0),
                    hubs[axles == 0].mean(axis=0), radius)  # fmt: skip


class Messages:
    """Makes the messages of a row."""

    def __init__(self, columns: Columns, shape: Geometry, model: str) -> None:
        """``shape`` is that of the first row."""
        from osi3.osi_version_pb2 import DESCRIPTOR, InterfaceVersion, current_interface_version

        self._columns, self._shape, self._model = columns, shape, model
        self._version: InterfaceVersion = DESCRIPTOR.GetOptions().Extensions[current_interface_version]

    @property
    def version(self) -> str:
        """Of the OSI messages."""
        v = self._version
        return f"{v.version_major}.{v.version_minor}.{v.version_patch}"

    def ground_truth(self, ns: int, row: Vector) -> Any:
        """The vehicle as a moving object."""
        from osi3.osi_groundtruth_pb2 import GroundTruth
        from osi3.osi_object_pb2 import MovingObject

        message = GroundTruth(model_reference=self._model)
        self._begin(message, ns)
        vehicle = message.moving_object.add(type=MovingObject.TYPE_VEHICLE)
        vehicle.id.value = _ID
        vehicle.vehicle_classification.type = MovingObject.VehicleClassification.TYPE_OTHER
        turn, origin, velocity, spin = self._motion(row)
        shape, base = self._shape, vehicle.base
        base.dimension.length, base.dimension.width, base.dimension.height = shape.size.tolist()
        _put(base.position, origin + turn @ shape.centre)
        _put(base.velocity, velocity + turn @ np.cross(spin, shape.centre))
        yaw, pitch, roll = zyx(turn).tolist()
        _put(base.orientation, (roll, pitch, yaw), "roll", "pitch", "yaw")
        _put(base.orientation_rate, _rates(pitch, roll, spin), "roll", "pitch", "yaw")
        attributes = vehicle.vehicle_attributes
        attributes.number_wheels, attributes.radius_wheel = len(self._columns.wheels), shape.radius
        _put(attributes.bbcenter_to_rear, shape.rear - shape.centre)
        _put(attributes.bbcenter_to_front, shape.front - shape.centre)
        if "steering_wheel_angle" in self._columns:
            attributes.steering_wheel_angle = float(self._columns.of(row, "steering_wheel_angle")[0])
        for wheel in self._columns.wheels:
            data = attributes.wheel_data.add(axle=wheel.axle, index=wheel.index, wheel_radius=shape.radius)
            place = self._columns.of(row, f"wheel_{wheel.name}.pos")
            _put(data.position, turn.T @ (place - origin) - shape.centre)
            own = zyx(turn.T @ rotation_of(self._columns.of(row, f"wheel_{wheel.name}.rot"))).tolist()
            _put(data.orientation, own[::-1], "roll", "pitch", "yaw")
            data.rotation_rate = float(self._columns.of(row, f"wheel_{wheel.name}.omega")[0])
        return message

    def host_vehicle(self, ns: int, row: Vector) -> Any:
        """What the vehicle knows of itself."""
        from osi3.osi_hostvehicledata_pb2 import HostVehicleData

        message = HostVehicleData()
        self._begin(message, ns)
        turn, origin, velocity, spin = self._motion(row)
        yaw, pitch, roll = zyx(turn).tolist()
        rear, motion, place = self._shape.rear, message.vehicle_motion, message.vehicle_localization
        _put(place.position, origin + turn @ self._shape.centre)
        _put(motion.position, origin + turn @ rear)
        _put(motion.velocity, turn.T @ velocity + np.cross(spin, rear))
        _put(motion.orientation_rate, spin, "roll", "pitch", "yaw")
        for orientation in (motion.orientation, place.orientation):
            _put(orientation, (roll, pitch, yaw), "roll", "pitch", "yaw")
        wheel = message.vehicle_steering.vehicle_steering_wheel
        for name, field in (("steering_wheel_angle", "angle"), ("steering_wheel_rate", "angular_speed")):
            if name in self._columns:
                setattr(wheel, field, float(self._columns.of(row, name)[0]))
        for w in self._columns.wheels:
            omega, slip = (float(self._columns.of(row, f"wheel_{w.name}.{part}")[0]) for part in ("omega", "slip"))
            message.vehicle_wheels.wheel_data.add(axle=w.axle, index=w.index, rotation_rate=omega, slip=100.0 * slip)
        return message

    def _begin(self, message: Any, ns: int) -> None:
        message.version.CopyFrom(self._version)
        message.timestamp.seconds, message.timestamp.nanos = divmod(ns, 10**9)
        message.host_vehicle_id.value = _ID

    def _motion(self, row: Vector) -> tuple[Vector, Vector, Vector, Vector]:
        """Rotation, place [m] and velocity [m/s] of the chassis in the world; angular velocity [rad/s] in its axes."""
        place, rot, velocity, spin = (self._columns.of(row, name) for name in _BODY)
        return rotation_of(rot), place, velocity, spin


def _put(message: Any, values: Any, *names: str) -> None:
    for name, value in zip(names or ("x", "y", "z"), values, strict=True):
        setattr(message, name, float(value))


def _rates(pitch: float, roll: float, spin: Vector) -> tuple[float, float, float]:
    """Rates of roll, pitch and yaw of the z-y'-x'' angles from the angular velocity in the axes of the body.

    Source: e.g. Diebel, Representing attitude, 2006, eq. 79 (for this sequence). Infinite at 90 degrees of pitch.
    """
    p, q, r = spin.tolist()
    both = q * np.sin(roll) + r * np.cos(roll)
    return p + both * np.tan(pitch), q * np.cos(roll) - r * np.sin(roll), both / np.cos(pitch)


def write(path: Path, reader: Reader, blocks: Iterator[Any]) -> int:
    """Writes the trace; the number of rows. ``blocks`` have ``time`` [s] and ``values``. Raises RecordingError."""
    from mcap.writer import Writer
    from mcap_protobuf.schema import register_schema
    from osi3.osi_groundtruth_pb2 import GroundTruth
    from osi3.osi_hostvehicledata_pb2 import HostVehicleData

    columns, known = Columns(reader), facts(reader)
    parameters = json.loads(known.get("parameters", "{}"))
    count, messages, channels = 0, None, {}
    with path.open("wb") as file:
        writer = Writer(file)
        writer.start(library=f"jounce {version('jounce')}")
        for block in blocks:
            for time, row in zip(block.time.tolist(), block.values, strict=True):
                if messages is None:
                    messages = Messages(columns, geometry(columns, row, parameters, reader.model.model),
                                        reader.model.model)  # fmt: skip
                    writer.add_metadata("net.asam.osi.trace", _trace(messages.version, known))
                    own = {f"net.asam.osi.trace.channel.{k}": v
                           for k, v in (("osi_version", messages.version), ("protobuf_version", version("protobuf")))}
                    channels = {
                        kind: writer.register_channel(kind.__name__, "protobuf", register_schema(writer, kind), own)
                        for kind in (GroundTruth, HostVehicleData)
                    }
                ns = round(time * 1e9)
                for message in (messages.ground_truth(ns, row), messages.host_vehicle(ns, row)):
                    data = message.SerializeToString()
                    writer.add_message(channels[type(message)], ns, data, ns, count)
                count += 1
        writer.finish()
    if not count:
        raise RecordingError("the recording has no outputs: nothing to write")
    return count


def _trace(osi: str, known: dict[str, str]) -> dict[str, str]:
    """The metadata record of OSI's multi-channel trace files."""
    protobuf = version("protobuf")
    said = {"version": osi, "min_osi_version": osi, "max_osi_version": osi, "min_protobuf_version": protobuf,
            "max_protobuf_version": protobuf, "creation_time": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
            "description": f"{known['model']}, jounce {known['server_version']}",
            "data_sources": f"jounce session {known.get('session', 'unknown')}"}  # fmt: skip
    return said | ({"zero_time": known["start"]} if "start" in known else {})
