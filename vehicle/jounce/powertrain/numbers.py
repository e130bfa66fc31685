"""The powertrain's numbers from the entries of the vehicle data.

Stiffnesses follow from the frequency `driveline.frequency` that a wind-up has against the smallest inertia that it ever
meets: all wheels off the ground, the transfer case in its low range, first gear. A stiffer shaft is no better than the
step that computes it. Differentials are softer, as the long shafts between the wheels are: a lock that closes while
its outputs turn against each other at 170 rad/s takes 4 kJ as an oscillation, whose energy RK4 at 1 ms follows with an
error of the fourth power of that frequency.
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from jounce.math.algebra import SX
from jounce.powertrain.elements import LOSS_SPEED
from jounce.powertrain.layouts import numbers_of
from jounce.powertrain.train import TWO, Split, Train

__all__ = ["DAMPING", "OF_DIFFERENTIALS", "RATE_LIMIT", "loss_slope", "numbers", "of_brakes"]

DAMPING = 0.5
"""Damping ratio of a wind-up at that frequency."""
OF_DIFFERENTIALS = 1 / 3
"""Frequency of the wind-ups between a differential's outputs, over that of the others."""
RATE_LIMIT = 300.0
"""Half the largest eigenvalue of a wind-up in steady slip [1/s]: what a step of 1 ms resolves."""
LOSS_RATE = 2000.0
"""Largest eigenvalue of what the gears lose, which brakes the output shaft as it begins to turn [1/s]."""
POINTS = 24
"""Of the engine's map of full load."""


def numbers(p: Mapping[str, SX], both: SX, train: Train = TWO) -> SX:
    """The vector `layouts.numbers_of`.

    ``both``: of `train.TWO` 1 where two axles are driven; one alone stands in the front's place.
    """
    hub, low = p["hub.ratio"], ca.fmax(p["transfer.low_ratio"], 1.0)
    ratios = [p[f"differential.{axle}.ratio"] for axle in train.axles]
    shares = {split.share: p[split.share_entry] for split in train.splits}
    if train.two:
        shares = {"share": both * shares["share"] + (1 - both)}
    half = (p["wheel.inertia.yy"] + p["driveline.inertia"]) / hub**2
    # of the output shaft in the low range: what a torque there meets in wheels and shafts
    onto = [share * ratio for share, ratio in zip(train.shares(lambda s: shares[s.share]), ratios, strict=True)]
    yields = 2 * low**2 * sum(((v / 2) ** 2 for v in onto), SX(0)) / half
    behind = 1 / yields + p["driveline.output_inertia"]
    engine, turbine = p["engine.inertia"], p["converter.turbine_inertia"]
    steepest = ca.fmax(p["gearbox.ratio.1"], ca.fabs(p["gearbox.reverse"]))
    frequency = p["driveline.frequency"]
    square, soft = frequency**2, (OF_DIFFERENTIALS * frequency) ** 2

    def joined(a: SX, b: SX) -> SX:
        return a * b / (a + b)

    def inertia(of: int | Split) -> SX:
        """What a torque on the shaft to an axle or a differential meets in wheels."""
        if isinstance(of, int):
            return half * 2 / ratios[of] ** 2
        share = shares[of.share]
        return 1 / (share**2 / inertia(of.near) + (1 - share) ** 2 / inertia(of.far))

    # the gears lose a share of what the engine gives at the stall; that must not be too steep for wheels in the air
    full = p["engine.full_load.torque.0"]
    for k in range(1, POINTS):
        full = ca.fmax(full, p[f"engine.full_load.torque.{k}"])
    stalled = ca.fmin(ca.fmax(full, 0) * p["converter.torque_ratio.0"], p["gearbox.clutch"])
    lost = (1 - p["driveline.efficiency"]) * steepest * stalled
    feed = p["engine.accessories"] + p["engine.idle_friction"]
    own = {f"{axle}_ratio": ratio for axle, ratio in zip(train.axles, ratios, strict=True)} | shares
    own |= {f"{axle}_bias": p[f"differential.{axle}.bias"] for axle in train.axles}
    own |= {f"axle_stiffness_{axle}": soft * half / 2 for axle in train.axles}
    own |= {split.stiffness: soft * joined(inertia(split.near), inertia(split.far)) for split in train.splits}
    if train.two:
        own |= {"both": both, "rear_inertia": p["driveline.rear_inertia"] * both}
    else:
        own |= {f"interaxle_{n}": p[f"differential.interaxle_{n}"] for n in ("friction", "lock", "bias")}
        own |= {f"{n}_inertia": p[f"driveline.{n}_inertia"] for n in ("rear", "through")}
    return numbers_of(train).join(
        **own, hub=hub, sense=p["hub.sense"], onto=ca.vertcat(*onto),
        clutch_stiffness=square * joined(turbine, behind / steepest**2), clutch_capacity=p["gearbox.clutch"],
        lock_stiffness=square * joined(engine, turbine), lock_capacity=p["converter.lock_torque"],
        axle_friction=p["differential.axle_friction"], centre_friction=p["differential.centre_friction"],
        axle_lock=p["differential.axle_lock"], centre_lock=p["differential.centre_lock"],
        centre_bias=p["differential.centre_bias"], pawl_stiffness=square * behind, pawl_capacity=p["gearbox.pawl"],
        efficiency=p["driveline.efficiency"],
        loss_slope=loss_slope(lost, behind), damping=2 * DAMPING / frequency,
        differential_damping=2 * DAMPING / (OF_DIFFERENTIALS * frequency), rate_limit=RATE_LIMIT,
        engine_inertia=engine, turbine_inertia=turbine, engine_lag=p["engine.lag"], idle_speed=p["engine.idle_speed"],
        idle_gain=p["engine.idle_gain"], idle_torque=feed, limit_speed=p["engine.limit_speed"],
        limit_droop=p["engine.limit_droop"], stall_speed=p["engine.stall_speed"],
        start_torque=p["engine.start_torque"], accessories=p["engine.accessories"],
        fuel=p["engine.efficiency"] * p["engine.heating_value"],
        release_rate=1 / p["gearbox.release_time"], engage_rate=1 / p["gearbox.shift_time"],
        output_inertia=p["driveline.output_inertia"], front_inertia=p["driveline.front_inertia"],
        carrier_inertia=p["driveline.carrier_inertia"], **of_brakes(p),
    )  # fmt: skip


def loss_slope(torque: SX, inertia: SX) -> SX:
    """Slope of `elements.loss_sign` [s/rad] for the largest torque that gears lose and the least inertia it meets."""
    return ca.fmin(1 / LOSS_SPEED, LOSS_RATE * inertia / ca.fmax(torque, 1e-9))


def of_brakes(p: Mapping[str, SX]) -> dict[str, SX]:
    """Those of NUMBERS that the brakes have."""
    return {
        "pressure_max": p["brake.pressure_max"], "knee": p["brake.knee_pressure"], "rise": p["brake.rise_lag"],
        "fall": p["brake.fall_lag"], "rear_knee": p["brake.rear_knee"], "rear_slope": p["brake.rear_slope"],
        "front_gain": p["brake.front_gain"], "rear_gain": p["brake.rear_gain"], "hand_torque": p["brake.hand_torque"],
    }  # fmt: skip
