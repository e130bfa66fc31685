"""The signal table of the half car."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from jounce.axles import DEFAULT
from jounce.data import Vehicle, load_vehicle
from jounce.references import Ledger
from jounce.signals import Signal, SignalTable, State

NAME = "halfcar"
#: Prefixes of the names of what there is of each axle.
AXLES = tuple(axle.name for axle in DEFAULT)
#: The laws of traction (`jounce.models.halfcar.traction`).
TRACTION = ("RELAXED", "CONTINUOUS", "SATURATED", "ROLLING")
#: References of the half car's variables; `python -m jounce_fmu.build.generate` writes new ones into it.
LEDGER = Path(__file__).parent / "references.txt"
DATA = Path(__file__).parents[2] / "vehicles" / NAME / f"{NAME}.toml"
PROFILES = ("PAPER", "SCHEDULE", "EXTERNAL")


def _inputs() -> Iterator[Signal]:
    used = ("profile", "EXTERNAL")
    yield Signal("motor_torque", "input", "N.m", "on the rear wheel, against its arm; forward positive", minimum=-1e5,
                 maximum=1e5, nominal=100.0, used_where=used, frame="wheel")
    for axle in AXLES:
        yield Signal(f"brake_torque.{axle}", "input", "N.m", "on the wheel, against its arm, times tanh of its turn "
                     "rate. Below 0, where roundings and difference quotients lead, counts as 0", minimum=-1.0,
                     maximum=1e5, nominal=100.0, used_where=used, frame="wheel")
    for axle in AXLES:
        yield Signal(f"mu.{axle}", "input", "1", "friction under the wheel", start=(0.85,), minimum=-0.01,
                     maximum=5.0, used_where=used, frame="")


def _outputs() -> Iterator[Signal]:
    def out(name: str, unit: str, text: str, frame: str = "", nominal: float = 1.0) -> Signal:
        return Signal(name, "output", unit, text, frame=frame, nominal=nominal)

    yield out("pos.x", "m", "pivot of the rear arm", "world")
    yield out("pos.z", "m", "pivot of the rear arm", "world")
    yield out("pitch", "rad", "of the chassis, nose down positive", "world")
    yield out("speed", "m/s", "rate of pos.x", "world")
    for axle in AXLES:
        yield out(f"{axle}.omega", "rad/s", "angular velocity of the wheel, forward positive", "world", 10.0)
        yield out(f"{axle}.slip", "rad/s", "its angular velocity less that of rolling at this speed", "world", 10.0)
        yield out(f"{axle}.normal_force", "N", "force of the ground on the wheel along z", "world", 1e3)
        yield out(f"{axle}.traction", "N", "force of the ground on the car along x, forward positive", "world", 1e3)
        yield out(f"{axle}.traction.ideal", "N", "its part by the ideal constraint (Eq. 8a of the paper)", "world", 1e3)
        yield out(f"{axle}.traction.non_ideal", "N", "the rest of it (Eq. 8b of the paper)", "world", 1e3)
        yield out(f"{axle}.limit", "N", "friction times normal force", "world", 1e3)
        yield out(f"{axle}.weight", "1", "s^2, the weight of the rolling condition")
        yield out(f"{axle}.strut_force", "N", "spring and damper of the strut, pushing positive", "", 1e3)
        yield out(f"{axle}.torque", "N.m", "motor and brake torque on the wheel, forward positive", "wheel", 100.0)
        yield out(f"{axle}.mu", "1", "friction under the wheel")
    yield out("loop_residual", "m/s", "largest vertical speed of a wheel centre", "", 1e-9)
    yield out("closure_residual", "m", "largest error of a wheel centre's height", "", 1e-9)
    yield out("energy.kinetic", "J", "of all bodies", "", 1e4)
    yield out("energy.potential", "J", "of gravity and springs; gravity's is 0 at z = 0", "", 1e4)


def _parameters(car: Vehicle) -> Iterator[Signal]:
    def enum(name: str, items: tuple[str, ...], start: int, text: str) -> Signal:
        return Signal(name, "parameter", "1", text, start=(float(start),), minimum=1.0, maximum=float(len(items)),
                      type="Enumeration", variability="fixed", items=items, frame="")

    def par(name: str, unit: str, start: float, text: str, low: float = -math.inf, high: float = math.inf) -> Signal:
        return Signal(name, "parameter", unit, text, start=(start,), minimum=low, maximum=high, variability="fixed",
                      frame="world")

    yield par("tick", "s", 0.001, "internal step of RK4", 1e-5, 0.005)
    yield par("init.x", "m", 0.0, "start position")
    yield par("init.speed", "m/s", 0.0, "start speed forward, wheels rolling", -100.0, 100.0)
    yield enum("traction", TRACTION, 3, "law of the wheels' traction: RELAXED as the paper, CONTINUOUS without its "
               "jump, SATURATED by friction, ROLLING always")
    yield Signal("saturation_order", "parameter", "1", "SATURATED: order of the saturation, one of 1, 2, 4, 8, 16; "
                 "0 cuts it off, which is Coulomb's law", start=(0.0,), minimum=0.0, maximum=16.0, type="Integer",
                 variability="fixed", frame="")
    yield enum("profile", PROFILES, 1, "torques and friction: PAPER by the time, SCHEDULE with the friction by the "
               "place, EXTERNAL by the inputs")
    yield par("lift_time_max", "s", 0.05, "how long the load of a wheel may be below 0, where the model glues it to "
              "the road, before the run ends with an error", 0.0, 1e9)
    for name, entry in car.entries.items():
        yield Signal(name, "parameter", entry.unit, entry.description, start=(entry.value,), minimum=entry.minimum,
                     maximum=entry.maximum, nominal=abs(entry.value) or 1.0, frame="", variability="fixed")


def _states() -> Iterator[State]:
    parts = (("x", "m", 1.0), ("z", "m", 0.1), ("pitch", "rad", 0.1), ("front_arm", "rad", 0.1),
             ("front_wheel", "rad", 1.0), ("rear_wheel", "rad", 1.0), ("rear_arm", "rad", 0.1))
    yield from (State(f"state.{name}", unit, "coordinate", nominal) for name, unit, nominal in parts)
    yield from (State(f"state.{name}_rate", f"{unit}/s", "its rate", 10 * nominal) for name, unit, nominal in parts)
    yield from (State(f"state.load.{axle}", "N", "wheel load that the law goes by", 1e3) for axle in AXLES)
    yield State("state.time", "s", "time since the start")
    yield from (State(f"state.lifted.{axle}", "s", "for how long the road has pulled at the wheel", 0.05)
                for axle in AXLES)


def table() -> SignalTable:
    """The signal table of the half car; parameters of the car close the parameter vector."""
    signals = (*_inputs(), *_outputs(), *_parameters(load_vehicle(DATA)))
    return SignalTable(NAME, signals, tuple(_states()), derivatives=True, ledger=Ledger.read(LEDGER))
