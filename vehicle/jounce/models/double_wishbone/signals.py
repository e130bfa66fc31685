"""The signal table of a vehicle on axles."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from jounce.axles import DEFAULT, Axle
from jounce.contact import tires
from jounce.contact.states import inner
from jounce.data import DataError, Vehicle
from jounce.models.double_wishbone import powered
from jounce.models.double_wishbone.arrange import gear_of
from jounce.models.double_wishbone.ledgers import LEDGER as LEDGER
from jounce.models.double_wishbone.ledgers import ledger as ledger_of
from jounce.references import Ledger
from jounce.signals import QUATERNION, XYZ, Signal, SignalTable, State
from jounce.suspension.kinds import suspension_of
from jounce.terrain import signals as ground
from jounce.terrain.packed import KINDS as FILE_KINDS
from jounce.terrain.packed import kind_of

#: Frame of an entry of the vehicle data, by a pattern of its name without that of an axle; what fits none has no
#: direction.
_FRAMES = {
    r"chassis\..+\.[xyz]+|(AXLE|steering)\.origin\.[xyz]|steering\.tilt": "chassis",
    r"AXLE\.[A-Z_]+\.[xyz]": "suspension",
    r"AXLE\.(UCA|LCA)\.inertia\.[xyz]+": "arm",
    r"AXLE\.(upright|spindle)\.inertia\.[xyz]+": "chassis",
    r"AXLE\.(axle|knuckle|arm)\.inertia\.[xyz]+": "chassis",
    r"AXLE\.tierod\.inertia\.[xyz]+": "tierod",
    r"AXLE\.shock_\w+\.inertia\.[xyz]+": "shock",
    r"steering\.[A-Z_]+\.[xyz]": "steering",
    r"wheel\.inertia\.[xyz]+": "wheel",
}

#: Items of `terrain_source`; from the third on they are kinds of terrain files.
TERRAIN_SOURCES = ("PLANE", "EXTERNAL", *FILE_KINDS)

#: Inner states of a wheel that importers know by another name.
STATE_NAMES = {"wind_up": "brake_wind_up"}


def _inputs(vehicle: Vehicle, law: tires.Law) -> Iterator[Signal]:
    limit = vehicle["steering_ratio"] * vehicle["steering.max_arm_angle"]
    yield Signal("steering_wheel_angle", "input", "rad", f"steering-wheel angle, left positive; the {_shaft(vehicle)} "
                 "turns by this over steering_ratio", minimum=-limit, maximum=limit, frame="steering")
    yield Signal("steering_wheel_rate", "input", "rad/s", "its rate, left positive; 0 if not known. Within a tick the "
                 "angle moves on with it", minimum=-100.0, maximum=100.0, frame="steering",
                 rate_of="steering_wheel_angle")
    tire, ground = ("tire_source", "EXTERNAL"), ("terrain_source", "EXTERNAL")
    for w, axle in _wheels(vehicle):
        p = f"wheel_{w}"
        driven = "on the spin axis, forward positive; reacts on the chassis"
        text, most = (driven, 1e5) if axle.driven else ("0: the axle is not driven", 0.0)
        yield Signal(f"{p}.drive_torque", "input", "N.m", text, frame="wheel", minimum=-most, maximum=most,
                     nominal=1000.0)
        yield Signal(f"{p}.brake_torque", "input", "N.m", "friction-brake torque, opposes spin and holds the wheel; "
                     "limited at brake.capacity. Below 0, where roundings and difference quotients lead, counts as 0",
                     frame="wheel", minimum=-1.0, maximum=1e6, nominal=1000.0)
        yield Signal(f"{p}.force", "input", "N", "external contact force, used where tire_source is EXTERNAL",
                     XYZ, minimum=-1e6, maximum=1e6, nominal=1000.0, used_where=tire)
        yield Signal(f"{p}.moment", "input", "N.m", "external contact moment about that point", XYZ, minimum=-1e6,
                     maximum=1e6, nominal=100.0, used_where=tire)
        yield Signal(f"{p}.point", "input", "m", "point at which the external contact force acts", XYZ,
                     minimum=-1e9, maximum=1e9, used_where=tire)
        yield Signal(f"{p}.terrain_height", "input", "m", "terrain height at the query point, used where "
                     "terrain_source is EXTERNAL", minimum=-1e6, maximum=1e6, used_where=ground)
        yield Signal(f"{p}.terrain_normal", "input", "1", "terrain normal there, upwards, of any length", XYZ,
                     start=(0.0, 0.0, 1.0), minimum=-1e300, maximum=1e300, used_where=ground, least_up=0.05)
        yield Signal(f"{p}.terrain_mu", "input", "1", "terrain friction there", start=(0.8,), minimum=0.0, maximum=2.0,
                     frame="", used_where=ground)
        for s in law.inputs:
            own = replace(s, name=f"{p}.{s.name}")
            has = tires.own_law(law, vehicle.entries, vehicle.tires(axle))
            if s not in has.inputs:
                own = replace(own, description=f"0: tires of the law {has.name} do not read it", maximum=0.0)
            elif parameter := dict(law.bounded).get(s.name):
                entry = vehicle.entries[f"{vehicle.tires(axle)}.{parameter}"]
                own = replace(own, maximum=entry.maximum, least_nonzero=entry.minimum)
            yield own
        if vehicle.powertrain:
            yield from powered.wheel_inputs(p)
    yield Signal("chassis.ext_force", "input", "N", "external force at the chassis reference point", XYZ,
                 minimum=-1e6, maximum=1e6, nominal=1000.0)
    yield Signal("chassis.ext_moment", "input", "N.m", "external moment on the chassis", XYZ, minimum=-1e6, maximum=1e6,
                 nominal=1000.0)
    if powertrain := powered.powertrain(vehicle):
        yield from powered.inputs(powertrain)


def _shaft(vehicle: Vehicle) -> str:
    """What the steering wheel turns."""
    return {"pitman": "Pitman arm", "rack": "pinion"}[gear_of(vehicle.axles)]


def _wheels(vehicle: Vehicle) -> Iterator[tuple[str, Axle]]:
    """Every wheel with its axle."""
    return zip(vehicle.wheels, (axle for axle in vehicle.axles for _ in range(2)), strict=True)


def _wheel_outputs(w: str, axle: Axle, right: int) -> Iterator[Signal]:
    p, kind = f"wheel_{w}", suspension_of(axle.kind)
    unit, coordinate = kind.coordinates[right]
    meaning = f"{coordinate} theta, jounce positive"
    if kind.paired:
        way = ("up", "left wheel up")[right]
        meaning = (f"{coordinate}, {way} positive; a rigid axle has its heave in the left wheel's arm_angle, its "
                   "roll in the right one's")  # fmt: skip

    def out(name: str, unit: str, text: str, comp: tuple[str, ...] = ("",), frame: str = "world",
            nominal: float = 1.0) -> Signal:
        return Signal(f"{p}.{name}", "output", unit, text, comp, frame=frame, nominal=nominal)

    yield out("pos", "m", "wheel centre", XYZ)
    yield out("rot", "1", "wheel orientation without the spin, w x y z", QUATERNION)
    yield out("lin_vel", "m/s", "velocity of the wheel centre", XYZ)
    yield out("ang_vel", "rad/s", "angular velocity of the wheel, spin included", XYZ)
    yield out("omega", "rad/s", "spin rate relative to the upright, forward positive", frame="wheel")
    yield out("angle", "rad", "spin angle", frame="wheel")
    yield out("steer", "rad", "atan2(-axis_x, axis_y) of the spin axis", frame="chassis")
    yield out("inclination", "rad", "asin(axis_z) of the spin axis", frame="chassis")
    yield out("arm_angle", unit, meaning, frame="chassis")
    yield out("travel", "m", "wheel-centre height above its design height", frame="chassis", nominal=0.1)
    yield out("travel_rate", "m/s", "its rate", frame="chassis")
    yield out("spring_length", "m", "spring length", frame="spring", nominal=0.3)
    yield out("spring_force", "N", "spring and stops, positive pushes the ends apart", frame="spring", nominal=1e4)
    yield out("shock_length", "m", "shock length", frame="shock", nominal=0.3)
    yield out("shock_rate", "m/s", "rate of the shock length", frame="shock")
    yield out("shock_force", "N", "shock force, positive pushes the ends apart", frame="shock", nominal=1e4)
    yield out("tire_force", "N", "contact force (x heading, y left, z normal); the external one where tire_source is "
              "EXTERNAL", XYZ, "contact", 1e3)
    yield out("tire_moment", "N.m", "contact moment about the contact point", XYZ, "contact", 100.0)
    yield out("slip", "1", "longitudinal slip, driving positive", frame="contact")
    yield out("slip_angle", "rad", "slip angle atan(vy/|vx|) of the wheel centre", frame="contact")
    yield out("deflection", "m", "tire deflection", frame="contact", nominal=0.01)
    yield out("query_point", "m", "point at which a terrain is asked", XYZ)


def _outputs(vehicle: Vehicle, law: tires.Law) -> Iterator[Signal]:
    def out(name: str, unit: str, text: str, comp: tuple[str, ...] = ("",), frame: str = "world",
            nominal: float = 1.0) -> Signal:
        return Signal(name, "output", unit, text, comp, frame=frame, nominal=nominal)

    yield out("ref_frame.pos", "m", "chassis reference frame", XYZ)
    yield out("ref_frame.rot", "1", "its orientation, w x y z", QUATERNION)
    yield out("ref_frame.lin_vel", "m/s", "velocity of its origin", XYZ)
    yield out("ref_frame.ang_vel", "rad/s", "its angular velocity", XYZ, "chassis")
    yield out("ref_frame.yaw", "rad", "yaw (ISO 8855: yaw, pitch, roll)")
    yield out("ref_frame.pitch", "rad", "pitch, nose down positive")
    yield out("ref_frame.roll", "rad", "roll, right side down positive")
    yield out("com.pos", "m", "centre of mass of the chassis body", XYZ)
    yield out("com.lin_vel", "m/s", "its velocity", XYZ, "chassis")
    yield out("com.lin_acc", "m/s2", "its true acceleration", XYZ, "chassis")
    yield out("imu.specific_force", "m/s2", "acceleration less gravity at the IMU", XYZ, "chassis", 10.0)
    yield out("imu.ang_vel", "rad/s", "angular velocity at the IMU", XYZ, "chassis")
    yield out("speed", "m/s", "forward speed of the centre of mass", frame="chassis", nominal=10.0)
    yield out("sideslip", "rad", "atan2(vy, vx) at the centre of mass", frame="chassis")
    for k, (w, axle) in enumerate(_wheels(vehicle)):
        yield from _wheel_outputs(w, axle, k % 2)
        yield from (replace(s, name=f"wheel_{w}.{s.name}") for s in law.outputs)
        yield from ground.wheel_outputs(f"wheel_{w}", law)
        if vehicle.powertrain:
            yield from powered.wheel_outputs(f"wheel_{w}")
    shaft = _shaft(vehicle)
    yield out("steering.load_torque", "N.m", f"torque of the linkage on the {shaft}, left positive", frame="steering",
              nominal=100.0)
    yield out("steering.pitman_angle", "rad", f"{shaft.replace(' ', '-')} angle, left positive", frame="steering")
    yield out("energy.kinetic", "J", "kinetic energy of the vehicle", frame="", nominal=1e5)
    yield out("energy.potential", "J", "potential energy: gravity, springs, stops, shocks at their ends and the body "
              "on the ground", frame="", nominal=1e5)
    yield out("closure_residual", "m", "largest gap in any suspension loop", frame="", nominal=1e-12)
    yield out("chassis.ground_force", "N", "force of the ground on the body, without the wheels'", XYZ, nominal=1e4)
    yield out("rolled_over", "1", "1 where the vehicle lies: its z axis is more than 80 deg off the terrain's normal, "
              "the mean of the wheels'; else 0", frame="")
    yield from ground.road_outputs()
    # A Real like every other output: importers read all of them in one list.
    yield Signal("tick_count", "output", "1", "internal steps since the start, a whole number", variability="discrete",
                 frame="")
    if powertrain := powered.powertrain(vehicle):
        yield from powered.outputs(powertrain)


def _run_parameters(vehicle: Vehicle, law: tires.Law) -> Iterator[Signal]:
    def par(name: str, unit: str, start: float, text: str, low: float = -math.inf, high: float = math.inf,
            frame: str = "") -> Signal:
        return Signal(name, "parameter", unit, text, start=(start,), minimum=low, maximum=high, variability="fixed",
                      frame=frame)

    def enum(name: str, items: tuple[str, ...], text: str, start: float = 1.0) -> Signal:
        return Signal(name, "parameter", "1", text, start=(start,), minimum=1.0, maximum=float(len(items)),
                      type="Enumeration", variability="fixed", items=items, frame="")

    yield par("tick", "s", 0.001, "internal step; RK4 takes up to 0.002 s", 1e-5, 0.02)
    yield par("gravity", "m/s2", 9.81, "gravity along world -z", 0.0, 100.0, "world")
    yield par("init.x", "m", 0.0, "start position of the chassis reference frame", frame="world")
    yield par("init.y", "m", 0.0, "start position of the chassis reference frame", frame="world")
    yield par("init.z", "m", 0.5, "start height, used where init.equilibrium is false", frame="world")
    yield par("init.yaw", "rad", 0.0, "start heading", frame="world")
    yield par("init.speed", "m/s", 0.0, "start speed forward, wheels rolling", -100.0, 100.0, "chassis")
    yield Signal("init.equilibrium", "parameter", "1", "true: settle on the terrain first, at rest held by the "
                 "brakes until now; false: suspension in design position at init.z, released", start=(1.0,),
                 type="Boolean", variability="fixed", minimum=0.0, maximum=1.0, frame="")
    yield enum("terrain_source", TERRAIN_SOURCES, "where the terrain comes from: the plane, the inputs, or a terrain "
               "file of that kind", _terrain_start(vehicle))
    yield enum("tire_source", ("TMEASY", "EXTERNAL"), "where the contact wrench comes from")
    yield par("terrain.height", "m", 0.0, "height of the plane at x = y = 0", frame="world")
    yield par("terrain.slope", "rad", 0.0, "raises the plane along +x", -1.0, 1.0, "world")
    yield par("terrain.bank", "rad", 0.0, "raises the plane along +y", -1.0, 1.0, "world")
    yield par("terrain.mu", "1", 0.8, "friction of the plane", 0.0, 2.0)
    for axis in "xyz":
        yield par(f"imu.pos.{axis}", "m", 0.0, "IMU location in the chassis frame", frame="chassis")
    yield replace(
        enum("integrator", ("RK4", "ROSENBROCK"), "explicit of order 4, or L-stable of order 2 for long ticks"),
        former=(("ROS2", "ROSENBROCK"),),
    )
    yield from ground.contact_parameters(law)


def _terrain_start(vehicle: Vehicle) -> float:
    return 1.0 + (TERRAIN_SOURCES.index(kind_of(vehicle.road)) if vehicle.road else 0)


def _vehicle_parameters(vehicle: Vehicle) -> Iterator[Signal]:
    of_axle = re.compile(f"({'|'.join(a.name for a in vehicle.axles)})(?=\\.)")
    for name, entry in vehicle.entries.items():
        plain = of_axle.sub("AXLE", name, count=1) if of_axle.match(name) else name
        frame = next((f for pattern, f in _FRAMES.items() if re.fullmatch(pattern, plain)), "")
        yield Signal(name, "parameter", entry.unit, entry.description or entry.source, start=(entry.value,),
                     minimum=entry.minimum, maximum=entry.maximum, nominal=abs(entry.value) or 1.0,
                     frame=frame, variability="fixed", type="Enumeration" if entry.items else "Real",
                     items=entry.items)


def _states(vehicle: Vehicle, wheel_states: Iterable[State]) -> Iterator[State]:
    """The states of the emitted model, in the order of its state vector; what it remembers of steering is left out.

    ``wheel_states`` are the inner ones of a wheel.
    """
    for name, suffixes, unit, text in (
        ("pos", XYZ, "m", "chassis reference point, world"),
        ("rot", QUATERNION, "1", "chassis orientation, w x y z"),
        ("ang_vel", XYZ, "rad/s", "angular velocity of the chassis, chassis axes"),
        ("lin_vel", XYZ, "m/s", "velocity of the reference point, chassis axes"),
    ):
        yield from (State(f"state.{name}{suffix}", unit, text) for suffix in suffixes)
    for name, unit, text, nominal in (
        ("spin", "rad", "spin angle relative to the upright", 1.0),
        ("arm_angle", "rad", "lower-arm angle, jounce positive", 0.1),
        ("arm_rate", "rad/s", "rate of the lower-arm angle", 1.0),
        ("omega", "rad/s", "spin rate relative to the upright", 10.0),
    ):
        for k, (w, axle) in enumerate(_wheels(vehicle)):
            own, coordinate = suspension_of(axle.kind).coordinates[k % 2]
            if name == "arm_angle":
                yield State(f"state.wheel_{w}.{name}", own, f"{coordinate}, jounce positive", nominal)
            elif name == "arm_rate":
                yield State(f"state.wheel_{w}.{name}", f"{own}/s", f"rate of the {coordinate}", nominal)
            else:
                yield State(f"state.wheel_{w}.{name}", unit, text, nominal)
    for state in wheel_states:
        name = STATE_NAMES.get(state.name, state.name)
        yield from (replace(state, name=f"state.wheel_{w}.{name}") for w in vehicle.wheels)
    if powertrain := powered.powertrain(vehicle):
        yield from powered.states(powertrain)


def _law(vehicle: Vehicle) -> tires.Law:
    """The law of its tires. Raises DataError where it is not known, or takes other data."""
    try:
        law = tires.find(vehicle.tire)
    except KeyError as error:
        raise DataError(f"{vehicle.name}: {error.args[0]}") from None
    wanted = (name for of in vehicle.sets_of_tires for name in tires.entries_of(law, vehicle.entries, of))
    if missing := [name for name in wanted if name not in vehicle.entries]:
        raise DataError(f"{vehicle.name}: no entry {missing[0]!r} ({len(missing)} in all), which the tire law "
                        f"{law.name} takes")  # fmt: skip
    return law


def _plain(vehicle: Vehicle) -> bool:
    """Are its tires of the HMMWV's law, and the same on all axles?"""
    return _law(vehicle) is tires.TMEASY and vehicle.sets_of_tires == ("tire",)


def table(vehicle: Vehicle, ledger: Path = LEDGER) -> SignalTable:
    """The signal table of a vehicle with its entries in order (`arrange.arranged`).

    ``vehicle`` gives the law of its tires, and the start values of the vehicle-data parameters, which close the
    parameter vector. ``ledger`` has the references given so far. Raises DataError where the data do not fit the law.
    """
    law = _law(vehicle)
    groups: Iterable[Iterator[Signal]] = (
        _inputs(vehicle, law), _outputs(vehicle, law), _run_parameters(vehicle, law), _vehicle_parameters(vehicle)
    )  # fmt: skip
    signals = tuple(s for group in groups for s in group)
    states = tuple(_states(vehicle, inner(law)))
    known = Ledger.read(ledger)
    if vehicle.axles != DEFAULT or vehicle.powertrain or (ledger == LEDGER and not _plain(vehicle)):
        names = [*(g.name + c for g in signals for c in g.components), *(s.name for s in states)]
        known = ledger_of(vehicle.axles, names)
    return SignalTable(vehicle.name, signals, states, derivatives=True, ledger=known)
