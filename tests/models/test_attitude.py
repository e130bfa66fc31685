"""Squat, dive and roll of vehicles in the model, against statics by hand and the geometry of their links."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import statics
import upright

from jounce.axles import AXLES, WHEELS
from jounce.data import load_vehicle
from jounce_fmu.importer.host import open_builtin

GRAVITY = 9.81


@cache
def steady(name: str, torque: float) -> dict[str, float]:
    """Two seconds after torques on the wheels [N.m]: of the rear ones to drive, of all of them to brake (below 0)."""
    factory, vehicle = open_builtin(name), load_vehicle(name)
    with factory.instance("steady") as instance:
        instance.setup({"init.speed": 8.0 if torque > 0.0 else 25.0})
        torques = {f"wheel_{w}.drive_torque": torque for w in vehicle.wheels[2:]}
        if torque < 0.0:
            torques = {f"wheel_{w}.brake_torque": -torque for w in vehicle.wheels}
        instance.set_values(torques)
        instance.step(2000)
        return dict(zip((s.name for s in factory.table.outputs), instance.get_outputs(), strict=True))


def of_axle(y: dict[str, float], axle: str, signal: str) -> float:
    return 0.5 * (y[f"wheel_{axle}L.{signal}"] + y[f"wheel_{axle}R.{signal}"])


#: What rides on a wheel of the car's axles [kg]: bodies, half of links and arm, the tube below the shock.
def unsprung(axle: str) -> float:
    car = load_vehicle("car")
    halves = ("UPPER_F", "UPPER_B", "LATERAL", "TRAILING", "tierod") if axle == "rear" else ("LCA", "tierod")
    whole = [f"{axle}.upright.mass", f"{axle}.spindle.mass", "wheel.mass"]
    whole += ["rear.shock_lower.mass"] if axle == "rear" else []
    return sum(car[n] for n in whole) + 0.5 * sum(car.entries[f"{axle}.{n}.mass"].value for n in halves
                                                  if f"{axle}.{n}.mass" in car.entries)  # fmt: skip


def at_wheel(y: dict[str, float], axle: str, *, locked: bool) -> dict[str, float]:
    """Work [N] on the left wheel per metre that it rises against the chassis: of the road's load, of its other forces
    and moments, and of weight and inertia of what rides on the wheel; and the force that its spring balances.

    ``locked``: the upright holds the wheel, as by brake torque. Otherwise it does not turn about its axis against the
    chassis, on which drive torque reacts, so that this does no work.
    """
    wheel, pitch = f"wheel_{axle[0].upper()}L", y["ref_frame.pitch"]
    c, s = np.cos(pitch), np.sin(pitch)
    to_chassis = np.array([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
    heading = np.array([[np.cos(y[f"{wheel}.steer"]), -np.sin(y[f"{wheel}.steer"]), 0.0],
                        [np.sin(y[f"{wheel}.steer"]), np.cos(y[f"{wheel}.steer"]), 0.0], [0.0, 0.0, 1.0]])  # fmt: skip
    force, moment = (to_chassis @ heading @ [y[f"{wheel}.{name}.{k}"] for k in "xyz"]
                     for name in ("tire_force", "tire_moment"))  # fmt: skip
    hand = upright.of(load_vehicle("car"), axle)
    way, turn, axis = hand.rising(y[f"{wheel}.travel"])
    turn = turn if locked else turn - (turn @ axis) * axis
    contact = way + np.cross(turn, to_chassis @ [0.0, 0.0, -y[f"{wheel}.pos.z"]])
    felt = to_chassis @ [0.0, 0.0, -GRAVITY] - [y["com.lin_acc.x"], 0.0, 0.0]
    load = (to_chassis @ [0.0, 0.0, y[f"{wheel}.tire_force.z"]])[2]
    return {"load": load, "along": force @ contact + moment @ turn - load,
            "mass": unsprung(axle) * felt @ way, "spring": hand.force(y[f"{wheel}.travel"])}  # fmt: skip


@pytest.mark.parametrize("axle", AXLES)
@pytest.mark.parametrize("torque", [450.0, -450.0])
def test_squat_and_dive_of_the_car_are_those_of_its_links_by_hand(torque: float, axle: str) -> None:
    """In the frame of the steady acceleration the spring takes what the road and the masses push, by virtual work."""
    y = steady("car", torque)
    assert y["com.lin_acc.x"] == pytest.approx(torque / 0.32 / 1640 * (2.0 if torque > 0.0 else 4.0), rel=0.12)
    work = at_wheel(y, axle, locked=torque < 0.0)
    assert work["spring"] == pytest.approx(work["load"] + work["along"] + work["mass"], rel=5e-3)
    if axle == "rear" or torque < 0.0:
        assert abs(work["along"]) > 0.02 * work["load"]  # without it the spring would be wrong


@pytest.mark.parametrize("torque", [450.0, -450.0])
def test_the_links_prevent_squat_and_lift_of_the_rear_by_the_share_of_their_side_view_angle(torque: float) -> None:
    """Milliken and Milliken 1995, 17.3: tan(angle of the force's line to the instant centre) F / dN is prevented.

    Drive torque reacts on the chassis: the line starts at the wheel centre; of brakes on the upright it starts at the
    contact point. The rest of the load transfer moves the wheel by its rate."""
    y, still, hand = steady("car", torque), steady("car", 0.0), upright.of(load_vehicle("car"), "rear")
    d = {s: y[f"wheel_RL.{s}"] - still[f"wheel_RL.{s}"] for s in ("travel", "tire_force.z", "tire_force.x")}
    middle = 0.5 * (y["wheel_RL.travel"] + still["wheel_RL.travel"])
    way, turn, _ = hand.rising(middle)
    at_contact = way + np.cross(turn, [0.0, 0.0, -y["wheel_RL.pos.z"]])
    tangent = -(at_contact if torque < 0.0 else way)[0] / way[2]
    sprung = d["tire_force.z"] + unsprung("rear") * y["com.lin_acc.x"] * -way[0]
    prevented = d["tire_force.x"] * tangent / sprung
    rate = (hand.force(middle + 1e-3) - hand.force(middle - 1e-3)) / 2e-3
    assert d["travel"] * rate / sprung == pytest.approx(1.0 - prevented, abs=0.02)
    assert prevented > 0.2, prevented  # anti-squat and anti-lift


def test_the_pitch_is_that_of_travel_and_tires() -> None:
    car, y = load_vehicle("car"), steady("car", -450.0)
    up = {w: y[f"wheel_{w}.travel"] + y[f"wheel_{w}.deflection"] for w in WHEELS[::2]}
    base = car["front.origin.x"] - car["rear.origin.x"]
    assert y["ref_frame.pitch"] == pytest.approx((up["FL"] - up["RL"]) / base, abs=2e-4)


def crossing(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Where the line through two points crosses the plane in the middle of the vehicle."""
    return np.asarray(a - (b - a) * a[1] / (b - a)[1])


@pytest.mark.slow
def test_side_forces_at_the_roll_centre_of_four_links_do_not_roll_the_axle() -> None:
    """By geometry (Milliken and Milliken 1995, 17.6): both links of a pair meet in the middle plane; the axle
    rolls about the line through the two points. The roll centre is that line's height over the wheels' centres."""
    vehicle, rear = load_vehicle("offroader"), "rear"
    upper, lower = (crossing(vehicle.vector(f"{rear}.{n}_C"), vehicle.vector(f"{rear}.{n}_A")) for n in ("UL", "LL"))
    geometric = upper[2] + (lower - upper)[2] * (0.0 - upper[0]) / (lower - upper)[0]
    assert statics.roll_centre("offroader", rear) == pytest.approx(geometric + vehicle["rear.origin.z"], abs=2e-3)
