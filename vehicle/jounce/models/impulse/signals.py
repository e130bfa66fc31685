"""The signal table of a vehicle on the impulse engine."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jounce.architecture.graph import Architecture
from jounce.architecture.layout import Layout, layout
from jounce.architecture.tables import LayoutError
from jounce.architecture.target import Joint, Multibody, Wheel
from jounce.architecture.trim import trimmed
from jounce.powertrain.layouts import BEYOND
from jounce.references import Ledger
from jounce.signals import QUATERNION, XYZ, Signal, SignalTable

#: References of the trucks that come with jounce; `python -m jounce_fmu.build.generate` writes new ones into it.
LEDGER = Path(__file__).parent / "references.txt"
#: Named roads, in the order of the C.
ROADS = ("FLAT", "BUMP", "BUMPS", "RAMP", "DIP")
SIDES = ("RIGHT", "BOTH", "LEFT")
#: Solvers of a tick, in the order of the C.
SOLVERS = ("DIRECT", "SEQUENTIAL")
#: Terms of the road beside the named one.
TERMS = 4
INERTIA = (".xx", ".yy", ".zz", ".xy", ".xz", ".yz")


@dataclass(frozen=True)
class Truck:
    """An architecture with what it becomes."""

    made: Architecture
    model: Multibody
    """Its bodies, trimmed."""
    layout: Layout
    engine: str = ""
    """That its name asks for."""

    @property
    def vehicle(self) -> str:
        """Name of the vehicle: with the engine that it asks for."""
        return f"{self.name}-{self.engine}" if self.engine else self.name

    @property
    def name(self) -> str:
        """Of the architecture."""
        return self.made.name

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the engine's bodies in signals: of their assembly where it has no other body."""
        names = [b.name for b in self.layout.model.bodies]
        firsts = [n.partition(".")[0] for n in names]
        return tuple(f if firsts.count(f) == 1 else n for n, f in zip(names, firsts, strict=True))

    @property
    def steered(self) -> bool:
        """Whether the steering wheel moves a joint."""
        return any(j.steer.any() for j in self.layout.model.joints)

    @property
    def friction(self) -> float:
        """Coefficient of the first wheel, to which `mu` defaults."""
        return self.model.wheels[0].friction if self.model.wheels else 0.8


def truck(made: Architecture, model: Multibody, engine: str = "") -> Truck:
    """The truck of a model that is not trimmed yet, and of the engine that its name asks for.

    Raises ArchitectureError, LayoutError.
    """
    rest = trimmed(model)
    found = layout(rest, wheel_motors=True)
    if len(found.spins) != len(rest.wheels):
        k = next(k for k in range(len(rest.wheels)) if k not in found.spins)
        raise LayoutError(f"{model.where}: wheel {rest.wheels[k].name}: expected one hinge alone to hold it, along its "
                          "axle, and its body symmetric about it")  # fmt: skip
    return Truck(made, rest, found, engine)


def table(of: Truck) -> SignalTable:
    """The signal table of a truck."""
    signals = (*_inputs(of), *_outputs(of), *_parameters(of))
    ledger = Ledger.read(LEDGER) if LEDGER.exists() else Ledger()
    return SignalTable(of.vehicle, signals, ledger=ledger)


def points(joint: Joint) -> tuple[str, ...]:
    """Vectors of a joint that are parameters."""
    own = {"ball": ("point",), "hinge": ("point", "axis"), "slider": ("point_a", "point_b", "axis")}
    return own.get(joint.kind, ("point_a", "point_b"))


def tires(wheel: Wheel) -> tuple[str, ...]:
    """Names of the tires of a dual wheel; none for a single one."""
    return {1: (), 2: ("right", "left")}.get(len(wheel.offsets), tuple(f"tire_{k}" for k in range(len(wheel.offsets))))


def _inputs(of: Truck) -> Iterator[Signal]:
    if of.steered:
        yield Signal("steering_wheel_angle", "input", "rad", "left positive", minimum=-20.0, maximum=20.0,
                     frame="steering")  # fmt: skip
    yield Signal("drive.target_speed", "input", "m/s", "at which the driven wheels shall roll, on their radius at rest",
                 minimum=-100.0, maximum=100.0, frame="")  # fmt: skip
    yield Signal("drive.max_torque", "input", "N.m", "most on all driven wheels together; 0 or less: they roll freely",
                 minimum=-1.0, maximum=1e6, nominal=1e3, frame="wheel")  # fmt: skip
    if of.made.powertrain is not None:
        for pedal, text in (("throttle", "pedal"), ("brake_pedal", "on all wheels"),
                            ("hand_brake", "on the wheels behind the first axle")):  # fmt: skip
            yield Signal(pedal, "input", "1", text, minimum=-BEYOND, maximum=1.0 + BEYOND, frame="")
        yield Signal("gear_selector", "input", "1", "-2 P: holds the driven wheels, -1 R, 0 N, 1 D",
                     minimum=-2.0 - BEYOND, maximum=1.0 + BEYOND, frame="")  # fmt: skip
        yield Signal("gear_request", "input", "1", "0 automatic, 1 and up: that gear in D", minimum=-BEYOND,
                     maximum=len(of.made.powertrain.ratios) + BEYOND, frame="")  # fmt: skip
    for motor in of.model.motors:
        yield Signal(f"motor_{motor.name}.target_rate", "input", "rad/s", "of a against b", minimum=-1e4, maximum=1e4,
                     frame="")  # fmt: skip
    for wheel in of.model.wheels:
        yield Signal(f"wheel_{wheel.name}.drive_torque", "input", "N.m", "on the wheel, against its carrier",
                     minimum=-1e5, maximum=1e5, nominal=1e3, frame="wheel")  # fmt: skip
        yield Signal(f"wheel_{wheel.name}.brake_torque", "input", "N.m", "most with which it is held; 0 or less: not",
                     minimum=-1.0, maximum=1e6, nominal=1e3, frame="wheel")  # fmt: skip


def _outputs(of: Truck) -> Iterator[Signal]:
    def out(name: str, unit: str, text: str, components: tuple[str, ...] = ("",), frame: str = "world",
            nominal: float = 1.0) -> Signal:  # fmt: skip
        start = (1.0, 0.0, 0.0, 0.0) if components == QUATERNION else ()
        return Signal(name, "output", unit, text, components, frame=frame, nominal=nominal, start=start)

    frame = f"of body_{of.labels[frame_of(of)]}"
    yield out("ref_frame.pos", "m", f"centre of mass {frame}", XYZ)
    yield out("ref_frame.rot", "1", f"attitude {frame}", QUATERNION)
    yield out("ref_frame.lin_vel", "m/s", "rate of pos", XYZ)
    yield out("ref_frame.ang_vel", "rad/s", f"angular velocity {frame}", XYZ, "chassis")
    for angle in ("yaw", "pitch", "roll"):
        yield out(f"ref_frame.{angle}", "rad", "angle of z-y-x rotations")
    yield out("speed", "m/s", "forward", frame="chassis")
    for body in of.labels:
        yield out(f"body_{body}.pos", "m", "centre of mass", XYZ)
        yield out(f"body_{body}.rot", "1", "attitude, that as drawn: 1 0 0 0", QUATERNION)
        yield out(f"body_{body}.lin_vel", "m/s", "rate of pos", XYZ)
        yield out(f"body_{body}.lin_acc", "m/s2", "mean over the last tick and the one before", XYZ, nominal=10.0)
        yield out(f"body_{body}.ang_vel", "rad/s", "angular velocity", XYZ)
    for wheel in of.model.wheels:
        yield out(f"wheel_{wheel.name}.pos", "m", "centre", XYZ)
        yield out(f"wheel_{wheel.name}.omega", "rad/s", "angular velocity about the axle, forward positive",
                  frame="wheel", nominal=10.0)  # fmt: skip
        yield out(f"wheel_{wheel.name}.angle", "rad", "turned against the carrier", frame="wheel", nominal=10.0)
        for tire in ("", *(f"{t}." for t in tires(wheel))):
            yield out(f"wheel_{wheel.name}.{tire}tire_force", "N", "of the ground forward, left, along its normal", XYZ,
                      "contact", 1e3)  # fmt: skip
            yield out(f"wheel_{wheel.name}.{tire}deflection", "m", "of the tire", frame="contact", nominal=0.01)
    for joint in of.layout.model.joints:
        for k in range(joint.rows):
            unit = "N" if k < {"ball": 3, "hinge": 3, "slider": 2, "line": 2, "rod": 1}[joint.kind] else "N.m"
            yield out(f"joint_{joint.name}.force_{k + 1}", unit, "of the joint's row on its a", frame="", nominal=1e3)
    for spring in of.model.springs:
        yield out(f"spring_{spring.name}.force", "N", "with its damper, pushing apart", frame="", nominal=1e3)
    if of.made.powertrain is not None:
        yield out("engine.speed", "rad/s", "of the shaft", frame="", nominal=100.0)
        yield out("engine.torque", "N.m", "on its shaft, before its inertia", frame="", nominal=100.0)
        yield out("gearbox.gear", "1", "-1 reverse, 0 neutral or parked", frame="")
        yield out("driveline.torque", "N.m", "on all driven wheels together", frame="wheel", nominal=1e3)
    yield out("closure_residual", "m", "largest gap of a joint before the projection", frame="", nominal=1e-9)
    yield out("active_set_changes", "1", "in the last tick", frame="")
    yield out("energy.kinetic", "J", "of all bodies", frame="", nominal=1e4)
    yield out("energy.potential", "J", "of weight, springs and tires", frame="", nominal=1e4)
    yield Signal("tick_count", "output", "1", "ticks since the start", type="Integer", variability="discrete", frame="")


def frame_of(of: Truck) -> int:
    """The heaviest body."""
    masses = [b.mass for b in of.layout.model.bodies]
    return masses.index(max(masses))


def _parameters(of: Truck) -> Iterator[Signal]:
    def par(name: str, unit: str, start: float, text: str, low: float = -math.inf, high: float = math.inf,
            nominal: float = 0.0, tunable: bool = False) -> Signal:  # fmt: skip
        return Signal(name, "parameter", unit, text, start=(start,), minimum=low, maximum=high, frame="",
                      nominal=nominal or abs(start) or 1.0, variability="tunable" if tunable else "fixed")  # fmt: skip

    def enum(name: str, items: tuple[str, ...], start: int, text: str) -> Signal:
        return Signal(name, "parameter", "1", text, start=(float(start),), minimum=1.0, maximum=float(len(items)),
                      type="Enumeration", variability="fixed", items=items, frame="")  # fmt: skip

    def vector(name: str, unit: str, start: tuple[float, ...], text: str, components: tuple[str, ...] = XYZ) -> Signal:
        return Signal(name, "parameter", unit, text, components, start=start, variability="fixed", frame="world")

    yield par("tick", "s", 0.001, "step of the engine", 1e-5, 0.01)
    yield enum("solver", SOLVERS, 1, "DIRECT: exact, by an active set; SEQUENTIAL: sweeps of impulses from row to row")
    yield Signal("sweeps", "parameter", "1", "of the sequential impulses in a tick, which begin with those of the last",
                 start=(20.0,), minimum=1.0, maximum=1e4, type="Integer", variability="fixed", frame="")  # fmt: skip
    yield par("gravity", "m/s2", of.model.gravity, "downwards", 0.0, 100.0)
    yield par("grade", "1", 0.0, "of the road, uphill positive: the weight is tilted against x", -1.0, 1.0)
    yield par("mu", "1", of.friction, "coefficient of friction of the road", 0.0, 5.0, tunable=True)
    yield par("damping_factor", "1", 1.0, "of all dampers and tires", 0.0, 100.0)
    yield par("steering.rate_max", "rad/s", 20.0, "of the steering wheel, which follows its input", 0.0, 1e3)
    yield par("init.x", "m", 0.0, "forward from where it is drawn")
    yield par("init.speed", "m/s", 0.0, "start speed forward, wheels rolling", -100.0, 100.0)
    yield enum("road", ROADS, 1, "profile along x: BUMP (1 - cos)/2, BUMPS at a pitch, RAMP up to a height, DIP")
    yield par("road.start", "m", 6.0, "where it begins")
    yield par("road.height", "m", 0.12, "of bump or ramp, depth of dip", 0.0, 10.0)
    yield par("road.length", "m", 1.2, "of a bump, the ramp, the dip", 0.01, 1e4)
    yield par("road.pitch", "m", 3.0, "from a bump to the next", 0.0, 1e4)
    yield par("road.count", "1", 10.0, "of bumps", 1.0, 1e6)
    yield enum("road.side", SIDES, 2, "of the wheels for which it is there")
    for k in range(1, TERMS + 1):
        yield Signal(f"road.term_{k}.order", "parameter", "1", "power of the distance behind its place: 1, 2 or 3",
                     start=(1.0,), minimum=1.0, maximum=3.0, type="Integer", variability="fixed", frame="")  # fmt: skip
        yield par(f"road.term_{k}.place", "m", 0.0, "where it begins")
        yield par(f"road.term_{k}.factor", "1", 0.0, "height per distance to that power; 0: none")
        yield enum(f"road.term_{k}.side", SIDES, 2, "of the wheels for which it is there")
    if of.made.powertrain is not None:
        for name, unit, number, least, text in of.made.powertrain.parameters():
            yield par(f"powertrain.{name}", unit, number, text, least, 1e6)
    for name, part in of.made.components.items():
        i = part.mass.inertia
        yield par(f"{name}.mass", "kg", float(part.mass.mass), "of the component", 0.0)
        yield vector(f"{name}.com", "m", tuple(map(float, part.mass.com)), "its centre, as drawn")
        six = tuple(float(i[a, b]) for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
        yield vector(f"{name}.inertia", "kg.m2", six, "about its centre", INERTIA)
    for joint in of.layout.model.joints:
        for point in points(joint):
            value = joint.point_a if point == "point" else getattr(joint, point)
            unit = "1" if point == "axis" else "m"
            yield vector(f"joint_{joint.name}.{point}", unit, tuple(map(float, value)), "as drawn")
    for spring in of.model.springs:
        for end in ("point_a", "point_b"):
            yield vector(f"spring_{spring.name}.{end}", "m", tuple(map(float, getattr(spring, end))), "as drawn")
        yield par(f"spring_{spring.name}.stiffness", "N/m", spring.stiffness, "its preload follows from rest", 0.0)
        yield par(f"spring_{spring.name}.damping", "N.s/m", spring.damping, "of its damper", 0.0)
    for wheel in of.model.wheels:
        name = f"wheel_{wheel.name}"
        yield par(f"{name}.stiffness", "N/m", wheel.stiffness, "of each tire; its radius follows from rest", 1.0)
        yield par(f"{name}.damping", "N.s/m", wheel.damping, "of each tire", 0.0)
        yield par(f"{name}.lateral_stiffness", "N/m", wheel.lateral_stiffness, "of each tire along the ground", 1.0)
        yield par(f"{name}.relaxation", "m", wheel.relaxation, "length over which a deflection dies", 1e-3)
        yield par(f"{name}.friction", "1", wheel.friction / of.friction if of.friction else 1.0, "its part of mu", 0.0)
