"""The orders of the powertrain's numbers, which its equations, the emitted C and the signals share. Without CasADi."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from jounce.math.layout import Layout
from jounce.powertrain.train import TWO, Train
from jounce.signals import State

__all__ = ["ARM_PORT", "BEYOND", "COLUMN_NUMBERS", "COLUMN_STATES", "CONVERTER_STEPS", "FIRING", "FLOORED", "GIVEN",
           "MEMORY", "NUMBERS", "PORT", "REPORT", "SHAFT", "STATES", "given_of", "numbers_of", "states_of"]  # fmt: skip

BEYOND: Final = 0.01
"""How far the inputs of pedals and switches may be beyond their range: for difference quotients at its ends."""

CONVERTER_STEPS: Final = 100
"""Of the converter's table in use, uniform over speed ratios from 0 to 1, where the pump has no torque."""

FIRING: Final = 10.0
"""Range of speed above that of the stall in which the engine comes to its torque [rad/s]."""

FLOORED: Final = 0.95
"""Throttle that asks for haste: the lock-up clutch opens and the gearbox kicks down [1]."""

STATES: Final = (
    State("engine.speed", "rad/s", "speed of the engine", 100.0),
    State("converter.turbine_speed", "rad/s", "speed of the converter's turbine", 100.0),
    State("engine.load", "1", "share of full load that the engine follows", 0.1),
    State("gearbox.clutch_windup", "rad", "elastic wind-up of the gear clutch and the shafts behind it", 0.1),
    State("converter.lock_windup", "rad", "elastic wind-up of the lock-up clutch", 0.01),
    State("differential.front.windup", "rad", "elastic wind-up between the outputs of the front differential", 0.01),
    State("differential.rear.windup", "rad", "elastic wind-up between the outputs of the rear differential", 0.01),
    State("differential.centre.windup", "rad", "elastic wind-up between the outputs of the centre differential", 0.01),
    State("gearbox.pawl_windup", "rad", "elastic wind-up of the parking pawl", 0.01),
    State("gearbox.engaged", "1", "share of its capacity that the gear clutch has", 0.1),
    State("converter.locked", "1", "share of its capacity that the lock-up clutch has", 0.1),
    State("gearbox.parked", "1", "share of its capacity that the parking pawl has", 0.1),
    State("engine.fuel", "kg", "fuel burnt", 0.1),
    State("energy.engine", "J", "work of engine and starter", 1e5),
    State("energy.losses", "J", "work lost between engine and half shafts", 1e5),
    State("energy.delivered", "J", "work at the half shafts, with what speeds up the shafts in front", 1e5),
    State("brake.front_pressure", "Pa", "pressure in the front brake circuit", 1e6),
    State("brake.rear_pressure", "Pa", "pressure in the rear brake circuit", 1e6),
)
"""In the order of their vector. These and `GIVEN` and `NUMBERS` are those of two axles (`train.TWO`)."""

COLUMN_STATES: Final = (
    State("steering.wheel_angle", "rad", "angle of the steering wheel where a torque turns it, left positive", 1.0),
    State("steering.wheel_rate", "rad/s", "its rate", 1.0),
    State("steering.friction_windup", "rad", "elastic wind-up of the steering's friction", 0.01),
)
"""Of the steering column (`jounce.steering.column`)."""

#: Numbers of the column, at the steering wheel.
COLUMN_NUMBERS: Final = Layout(
    ratio=1, stop=1, inertia=1, damping=1, friction=1, friction_angle=1, assist_rest=1, assist_fast=1, fast=1,
    assist_most=1, stop_stiffness=1, stop_damping=1, stop_onset=1,
)  # fmt: skip

#: What the gearbox's controller remembers: the gear (-1 R, 0 N and P, 1 ...), the one whose wheels mesh, the selector's
#: position in effect, the transfer case's range, whether the last wish was refused, what the clutch, lock-up and pawl
#: go to, the time since the last shift and of the last decision [s], the gear for which the
#: clutch opens, or 0. Against hunting: the vehicle's speed at the last decision [m/s], its smoothed rate [m/s2], the
#: smoothed throttle; whether shifts up are barred, and the rate and the throttle from which on they no longer are.
MEMORY: Final = Layout(
    gear=1, meshed=1, selector=1, range=1, refused=1, clutch=1, lock=1, pawl=1, since=1, decided=1, shifting=1,
    speed=1, surge=1, pedal=1, barred=1, bar_surge=1, bar_pedal=1,
)  # fmt: skip

#: What changes from one evaluation to the next: inputs, ratio of the gear that is in, ratio of the transfer case and
#: its lock, what the capacities go to, values of the maps at the present speeds.
GIVEN: Final = Layout(
    throttle=1, run=1, start=1, brake_pedal=1, ratio=1, transfer=1, centre_range=1, front_lock=1, rear_lock=1,
    centre_lock=1, clutch=1, lock=1, pawl=1, full_load=1, closed=1, coefficient=1, torque_ratio=1,
)  # fmt: skip

#: Numbers of the vehicle; stiffnesses [N.m/rad] and torques [N.m] behind the ratios; "onto" is the speed of the output
#: shaft in the high range by that of each axle's carrier.
NUMBERS: Final = Layout(
    hub=1, sense=1, front_ratio=1, rear_ratio=1, share=1, both=1, clutch_stiffness=1, clutch_capacity=1,
    lock_stiffness=1, lock_capacity=1, axle_stiffness_front=1, axle_stiffness_rear=1, centre_stiffness=1,
    axle_friction=1, centre_friction=1, axle_lock=1, centre_lock=1, front_bias=1, rear_bias=1, centre_bias=1,
    pawl_stiffness=1, pawl_capacity=1, efficiency=1, loss_slope=1, damping=1, differential_damping=1, rate_limit=1,
    engine_inertia=1, turbine_inertia=1, engine_lag=1, idle_speed=1, idle_gain=1, idle_torque=1, limit_speed=1,
    limit_droop=1, stall_speed=1, start_torque=1, accessories=1, fuel=1,
    release_rate=1, engage_rate=1, output_inertia=1, front_inertia=1, rear_inertia=1, carrier_inertia=1,
    pressure_max=1, knee=1, rise=1, fall=1, rear_knee=1, rear_slope=1, front_gain=1, rear_gain=1, hand_torque=1,
    onto=2,
)  # fmt: skip

#: What the outputs take: torque of the engine, and of the gear clutch behind the gear, fuel rate, energy stored in all
#: that turns and winds up, and the shafts' part of it, speed of the output shaft.
REPORT: Final = Layout(engine=1, gear=1, fuel_rate=1, stored=1, shafts=1, output_speed=1)

#: Of a wheel's half shaft, over its torque: what turns the wheel (0 where nothing drives it), the part of it that does
#: not react on the upright, the part that the shaft takes to the chassis, and what turns the axle's body about x.
SHAFT = Layout(hub=1, sense=1, upright=1, roll=1)

#: What a half shaft shows (`jounce.powertrain.ports`): of a unit torque on it the wrench on the chassis less its sign,
#: its own acceleration and the load on the wheel's coordinate; its acceleration without torque.
PORT = Layout(push=6, rate=1, yields=1, by=1)

#: The same of the steering arm, of a unit acceleration: wrench on the chassis, acceleration of the half shaft, torque
#: of the linkage on an arm that does not accelerate [N.m], the part of the coordinates in its inertia [kg.m2],
#: acceleration of the upright about the wheel's axis.
ARM_PORT = Layout(push=6, by=1, load=1, inertia=1, turn=1)


def _each(of: Callable[[str], str]) -> Callable[[Train], list[str]]:
    """A name for each axle."""
    return lambda train: [of(axle) for axle in train.axles]


def _none(_train: Train) -> list[str]:
    return []


#: Name of a part for two axles -> the parts that stand in its place for more.
_PARTS: Mapping[str, Callable[[Train], list[str]]] = {
    "differential.front.windup": _each("differential.{}.windup".format),
    "differential.rear.windup": lambda train: [split.windup for split in train.through],
    "front_lock": _each("{}_lock".format),
    "rear_lock": lambda train: [split.lock for split in train.through],
    "front_ratio": _each("{}_ratio".format),
    "rear_ratio": _none,
    "share": lambda train: [split.share for split in train.splits],
    "both": _none,
    "axle_stiffness_front": _each("axle_stiffness_{}".format),
    "axle_stiffness_rear": _none,
    "centre_stiffness": lambda train: [split.stiffness for split in train.splits],
    "axle_friction": lambda _train: ["axle_friction", "interaxle_friction"],
    "axle_lock": lambda _train: ["axle_lock", "interaxle_lock"],
    "front_bias": _each("{}_bias".format),
    "rear_bias": _none,
    "centre_bias": lambda _train: ["centre_bias", "interaxle_bias"],
    "rear_inertia": lambda _train: ["rear_inertia", "through_inertia"],
}


def _names(name: str, train: Train) -> list[str]:
    return _PARTS[name](train) if name in _PARTS and train != TWO else [name]


def states_of(train: Train) -> tuple[State, ...]:
    """`STATES` of a vehicle with those driven axles."""
    between = "elastic wind-up between the outputs of the {} differential"
    texts = {f"differential.{axle}.windup": between.format(axle) for axle in train.axles}
    texts |= {split.windup: between.format(f"inter-axle {split.axle}") for split in train.through}
    return tuple(record if name == record.name else replace(record, name=name, description=texts[name])
                 for record in STATES for name in _names(record.name, train))  # fmt: skip


def given_of(train: Train) -> Layout:
    """`GIVEN` likewise."""
    return Layout(**{n: size for name, size in GIVEN.sizes.items() for n in _names(name, train)})


def numbers_of(train: Train) -> Layout:
    """`NUMBERS` likewise."""
    return Layout(**{n: size if name != "onto" else len(train.axles) for name, size in NUMBERS.sizes.items()
                     for n in _names(name, train)})  # fmt: skip
