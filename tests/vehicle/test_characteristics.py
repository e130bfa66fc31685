"""Kinematic characteristics against a prototype's numbers, differences of positions, and cases done by hand.

The reference numbers come from a program of its own, run on the hardpoints of tests/data/suspension-hardpoints.yaml.
"""

from __future__ import annotations

import hardpoints
import numpy as np
import pytest
from hardpoints import HMMWV, RADIUS

import jounce
from jounce.data import Vehicle, load_vehicle
from jounce.suspension.characteristics import (
    COLUMNS,
    Position,
    Wheel,
    ackermann,
    angles,
    characteristics,
    contact,
    steer_axis,
    velocity,
)

TIRE = HMMWV["tire.unloaded_radius"]
NAMES = ("steer_rate", "inclination_rate", "track_rate", "wheelbase_rate", "roll_centre", "caster",
         "kingpin_inclination", "scrub_radius", "trail", "spring_ratio")  # fmt: skip
REFERENCE = {
    "front": (5.1074, 23.6952, 0.39043, 0.21092, 0.35518, 2.9986, 12.0137, 0.04273, 0.02463, 0.45171),
    "rear": (-1.2021, 34.7566, 0.45730, 0.01498, 0.41600, 0.000, 11.9995, 0.04283, 0.00000, 0.43908),
    "macpherson": (32.8567, 14.6376, 0.10183, 0.00510, 0.11202, 7.0664, 11.6732, 0.11769, 0.04339, 0.92186),
    "multilink": (-2.2869, 30.1747, 0.06068, -0.17093, 0.05765, None, None, None, None, None),
    "solid_axle": (0.0, 0.0, 0.0, -0.15106, 0.36530, None, None, None, None, 1.01991),
}
CASES = [(HMMWV, "front", TIRE), (HMMWV, "rear", TIRE),
         *((make(), "rear", RADIUS) for make in (hardpoints.macpherson, hardpoints.five_link, hardpoints.solid_axle))] 
         # fmt: skip


def case(vehicle: Vehicle, axle: str) -> str:
    return axle if vehicle is HMMWV else vehicle.name


@pytest.mark.parametrize(("vehicle", "axle", "radius"), CASES, ids=lambda v: getattr(v, "name", v))
def test_the_table_of_reference_numbers_is_met(vehicle: Vehicle, axle: str, radius: float) -> None:
    left, right = characteristics(hardpoints.kinematics(vehicle, axle).position([0.0, 0.0]), radius)
    for name, wanted in zip(NAMES, REFERENCE[case(vehicle, axle)], strict=True):
        if wanted is not None:
            half_digit = 0.5 * 10.0 ** -(4 if abs(wanted) > 1 else 5)
            assert left[name] == pytest.approx(wanted, rel=1e-4, abs=half_digit), name
            odd = name in ("steer_rate", "inclination_rate")
            assert right[name] == pytest.approx(-left[name] if odd else left[name], abs=1e-10), name
    if vehicle.name == "solid_axle":
        assert left["roll_steer"] == pytest.approx(-0.01717, abs=5e-6)


def test_travel_and_steer_of_the_hmmwv_are_those_of_the_prototype() -> None:
    axle = hardpoints.kinematics(HMMWV, "front")
    design = axle.position([0.0, 0.0]).wheels[0].centre[2]
    for theta, travel, steer in ((-0.3, -0.136908, -2.147173), (-0.15, -0.072518, -0.610662),
                                 (0.15, 0.077823, 0.254665), (0.3, 0.158850, 0.375226)):  # fmt: skip
        wheel = axle.position([theta, theta]).wheels[0]
        assert wheel.centre[2] - design == pytest.approx(travel, abs=1e-6)
        assert np.degrees(angles(wheel)[0]) == pytest.approx(steer, abs=1e-6)


@pytest.mark.parametrize(("vehicle", "axle", "radius"), CASES, ids=lambda v: getattr(v, "name", v))
@pytest.mark.parametrize("height", [-0.06, 0.05])
def test_rates_are_the_differences_of_positions_in_jounce_and_rebound(
    vehicle: Vehicle, axle: str, radius: float, height: float
) -> None:
    own, h = hardpoints.kinematics(vehicle, axle), 1e-5
    here = characteristics(own.position(own.at_travel((height, height))), radius)[0]
    low, high = (own.position(own.at_travel((height + s * h, height + s * h))) for s in (-1, 1))
    before, after = (np.degrees(angles(p.wheels[0])) for p in (low, high))
    assert here["steer_rate"] == pytest.approx((after - before)[0] / (2 * h), abs=1e-6)
    assert here["inclination_rate"] == pytest.approx((after - before)[1] / (2 * h), abs=1e-6)
    centre = (high.wheels[0].centre - low.wheels[0].centre) / (2 * h)
    assert here["centre_rate"] == pytest.approx(centre[0], abs=1e-8)
    for name in ("spring", "shock"):
        ratio = -(high.lengths[name] - low.lengths[name])[0] / (2 * h)
        assert here[f"{name}_ratio"] == pytest.approx(ratio, abs=1e-7)


def test_the_power_of_a_force_at_the_contact_point_is_what_the_support_angle_says() -> None:
    """A brake force F on the locked wheel lifts the chassis like F tan(angle) at the wheel (virtual work)."""
    axle = hardpoints.kinematics(hardpoints.five_link())
    position = axle.position([0.0, 0.0])
    here = characteristics(position, RADIUS)[0]
    wheel, h = position.wheels[0], 1e-6
    moved = [axle.position([s * h, 0.0]).wheels[0] for s in (-1, 1)]
    # three points of the carrier's frame: centre and a turn from the twist's own integral
    spin = (moved[1].axis - moved[0].axis) / (2 * h)
    across = np.cross(wheel.axis, spin)  # angular velocity but for the part about the axis
    about = wheel.twist[:3, 0] @ wheel.axis
    omega = across + about * wheel.axis
    speed = (moved[1].centre - moved[0].centre) / (2 * h) + np.cross(omega, contact(wheel, RADIUS) - wheel.centre)
    assert np.tan(np.radians(here["brake_angle"])) == pytest.approx(speed[0], abs=1e-6)
    assert np.allclose(velocity(wheel.twist[:, 0], contact(wheel, RADIUS)), speed, rtol=0, atol=1e-6)


def test_a_steer_axis_passes_through_the_joints_that_hold_the_upright() -> None:
    for vehicle, axle, low, high in ((HMMWV, "front", "LCA_U", "UCA_U"),
                                     (hardpoints.macpherson(), "rear", "LCA_U", "STRUT_C")):  # fmt: skip
        found = steer_axis(hardpoints.kinematics(vehicle, axle).position([0.0, 0.0]))[0]
        assert found is not None
        point, way = found
        for name in (low, high):
            joint = vehicle.vector(f"{axle}.origin") + vehicle.vector(f"{axle}.{name}")
            assert np.linalg.norm(np.cross(joint - point, way)) < 1e-9, name


def test_a_trailing_arm_is_its_hinge() -> None:
    """By hand: with the hinge along y the wheel neither steers nor leans, and recedes by height over length of the
    arm."""
    v = hardpoints.trailing_arm()
    straight = v.replaced({"rear.TA_I.x": v["rear.TA_O.x"], "rear.TA_I.z": v["rear.TA_O.z"]})
    found = characteristics(hardpoints.kinematics(straight).position([0.0, 0.0]), RADIUS)[0]
    assert max(abs(found[name]) for name in ("steer_rate", "inclination_rate", "track_rate")) < 1e-12
    length = v["rear.TA_O.x"] - v["rear.SPINDLE.x"]
    assert found["wheelbase_rate"] == pytest.approx(-(RADIUS + v["rear.TA_O.z"]) / length, rel=1e-12)
    assert found["roll_centre"] == pytest.approx(0.0, abs=1e-12)
    assert np.isnan(found["caster"])


def test_wheels_that_steer_about_one_point_are_at_hundred_percent_ackermann() -> None:
    wheelbase, track, radius = 2.7, 1.5, 9.0
    inner, outer = (float(np.arctan2(wheelbase, radius + s * track / 2)) for s in (-1, 1))
    assert ackermann(inner, outer, wheelbase, track) == pytest.approx(100.0, rel=1e-12)
    assert ackermann(inner, inner, wheelbase, track) == 0.0
    assert np.isnan(ackermann(0.0, 0.0, wheelbase, track))


def test_every_number_has_a_unit_a_label_and_a_sentence() -> None:
    wheel = Wheel(np.array([0.0, 0.8, 0.3]), np.array([0.0, 1.0, 0.0]), np.eye(6)[:, [5, 0]], np.zeros(6))
    none = {"spring": np.zeros(2), "shock": np.zeros(2)}
    other = Wheel(wheel.centre * [1, -1, 1], wheel.axis, wheel.twist, wheel.steer)
    position = Position((wheel, other), none, {k: np.zeros((2, 2)) for k in none}, none)
    assert characteristics(position, 0.3)[0].keys() == COLUMNS.keys()
    assert all(c.unit and c.label and c.meaning.endswith(".") for c in COLUMNS.values())


def test_a_second_steered_axle_follows_the_first_with_its_gain() -> None:
    truck = load_vehicle(hardpoints.Path(jounce.__file__).parent / "examples" / "truck8x8")
    first, second = (hardpoints.kinematics(truck, name) for name in ("axle_1", "axle_2"))
    gain = truck.axles[1].gain
    assert 0.0 < gain < 1.0
    for angle in (-0.5, 0.3):
        ends = [own.linkages[0].end for own in (first, second)]
        assert ends[0] is not None and ends[1] is not None
        moved = [np.subtract(end.at(angle)[0], end.at(0.0)[0]) for end in ends]
        assert np.allclose(moved[1], gain * moved[0], rtol=0, atol=1e-12) and abs(moved[0][1]) > 0.02
        turns = [angles(own.position([0.0, 0.0], angle).wheels[0])[0] for own in (first, second)]
        assert gain - 0.1 < turns[1] / turns[0] < gain + 0.1
    hmmwv = hardpoints.kinematics(HMMWV, "front").position([0.1, 0.05], 0.3).wheels[0]
    assert np.allclose(first.position([0.1, 0.05], 0.3).wheels[0].axis, hmmwv.axis, rtol=0, atol=1e-12)
