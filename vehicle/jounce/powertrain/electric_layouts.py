"""The orders of an electric powertrain's numbers, as `jounce.powertrain.layouts` has them of engine and gears."""

from __future__ import annotations

from typing import Final

from jounce.axles import AXLES
from jounce.math.layout import Layout
from jounce.signals import State

__all__ = ["GIVEN", "MEMORY", "MOTORS", "REPORT", "STATES"]

STATES: Final = (
    *(State(f"motor.{axle}_{side}.torque", "N.m", f"torque that the motor of the {axle} {side} wheel follows, or half "
            "that of the axle's one motor", 100.0) for axle in AXLES for side in ("left", "right")),
    State("differential.front.windup", "rad", "elastic wind-up between the outputs of the front differential", 0.01),
    State("differential.rear.windup", "rad", "elastic wind-up between the outputs of the rear differential", 0.01),
    State("gearbox.parked", "1", "share of its torque that the parking brake has", 0.1),
    State("energy.battery", "J", "energy that the battery has given, less what it took back", 1e5),
    State("energy.recovered", "J", "energy that it took back", 1e5),
    State("energy.losses", "J", "energy lost between battery and half shafts", 1e5),
    State("energy.delivered", "J", "work at the half shafts, with what speeds up the rotors in front", 1e5),
    State("brake.front_pressure", "Pa", "pressure in the front brake circuit", 1e6),
    State("brake.rear_pressure", "Pa", "pressure in the rear brake circuit", 1e6),
)  # fmt: skip
"""In the order of their vector."""

#: What the selector's controller remembers: the direction (-1 R, 0 N and P, 1 D), the selector's position in effect,
#: whether the last wish was refused, what the parking brake goes to, the time of the last decision [s], whether there
#: was one.
MEMORY: Final = Layout(gear=1, selector=1, refused=1, pawl=1, decided=1, begun=1)

#: Inputs, the direction, and what the parking brake goes to.
GIVEN: Final = Layout(throttle=1, brake_pedal=1, regeneration=1, front_lock=1, rear_lock=1, direction=1, pawl=1)

#: Of the motors, behind `jounce.powertrain.layouts.NUMBERS`: torque [N.m] and power [W] of one, 1 where each wheel has
#: its own, slope of the gears' losses at rest [s/rad]; largest speed and the range below it in which torque fades
#: [rad/s], lag [s], efficiency; shares of regeneration, and speed of the half shafts below which it fades [rad/s];
#: capacity [J] and charge at the start of the battery, power of everything else [W].
MOTORS: Final = Layout(
    front_torque=1, front_power=1, front_each=1, front_loss_slope=1, rear_torque=1, rear_power=1, rear_each=1,
    rear_loss_slope=1, limit=1, droop=1, lag=1, electric_efficiency=1, released=1, pedal=1, fade=1,
    capacity=1, charge=1, load=1,
)  # fmt: skip

#: What the outputs take: speed of the rotors (the mean of an axle's) and torque of the motors of front and rear, power
#: of the battery, its charge, energy stored in all that turns and winds up, and the rotors' part of it.
REPORT: Final = Layout(
    front_speed=1, front_torque=1, rear_speed=1, rear_torque=1, battery_power=1, charge=1, stored=1, shafts=1
)  # fmt: skip
