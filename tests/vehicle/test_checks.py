"""Checks of axles: what works closes over its whole range, what does not is refused with the reason."""

from __future__ import annotations

import os
from dataclasses import replace

import hardpoints
import numpy as np
import pytest

from jounce.data import Vehicle
from jounce.suspension.checks import AxleReport, check_axle

POINTS = [f"rear.{name}_{end}" for name in ("UPPER_F", "UPPER_B", "LATERAL", "TRAILING", "TIEROD") for end in "CU"]
#: Every one of them runs with JOUNCE_SLOW, a part of them always.
COUNT = 300 if os.environ.get("JOUNCE_SLOW") else 24
#: How far each point is moved [m].
MOVED = 0.04
#: What a refusal may say of a linkage that cannot be used.
REASONS = ("cannot be followed over a box", "is out of range", "motions", "motion,", "does not give its position",
           "close from", "undecided", "before a stop or the")  # fmt: skip


def moved(seed: int) -> Vehicle:
    """The generic five-link axle with every joint of its links somewhere else."""
    vehicle, random = hardpoints.five_link(), np.random.default_rng(seed)
    entries = dict(vehicle.entries)
    for name in (f"{point}.{axis}" for point in POINTS for axis in "xyz"):
        entries[name] = replace(entries[name], value=entries[name].value + float(random.uniform(-MOVED, MOVED)))
    return replace(vehicle, entries=entries)


def report(vehicle: Vehicle) -> AxleReport:
    return check_axle(vehicle, vehicle.axles[0])


@pytest.mark.parametrize("part", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 4))])
def test_a_five_link_axle_with_its_points_moved_works_or_is_refused_with_the_reason(part: int) -> None:
    works = 0
    for seed in range(part, COUNT, 4):
        vehicle = moved(seed)
        found = report(vehicle)
        if found.faults:
            assert all(f.startswith("axle rear: ") and any(r in f for r in REASONS) for f in found.faults), found.faults
            continue
        works += 1
        assert found.closure < 1e-13 and found.guess_error < 2e-4, seed
        # an exact solution, followed step by step, is there wherever the check says so
        axle, (low, high) = hardpoints.kinematics(vehicle), found.box["hub.z"]
        lengths = [axle.position([z, z]).lengths["spring"][0] for z in (low, high)]
        assert lengths[0] > vehicle["rear.spring.max_length"] and lengths[1] < 0.26, "past rebound stop, shock closed"
        for z in (low, low / 2, high / 2, high):
            solved = axle.linkages[0].solve([z])
            assert np.abs(solved.values["residual"]).max() < 1e-12, seed
    assert works > 0.9 * COUNT / 4


@pytest.mark.parametrize(("make", "chosen"), [
    (hardpoints.macpherson, "lower_arm"), (hardpoints.five_link, "hub.z"), (hardpoints.solid_axle, "beam.z, beam.rx"),
])  # fmt: skip
def test_the_coordinate_of_a_template_is_among_the_best_choices(make: hardpoints.Maker, chosen: str) -> None:
    found = report(make())
    assert found.faults == [] and found.margins[chosen] > 0.5 * max(found.margins.values()) > 0.0
    assert found.closure < 1e-13


def test_masses_that_no_body_has_are_faults_and_odd_ones_warnings() -> None:
    vehicle = hardpoints.trailing_arm()
    bad = vehicle.replaced({"rear.arm.inertia.xx": 2.0})
    assert report(bad).faults == ["rear.arm.inertia.xx = 2 kg.m2: expected at most the sum of the other two, 1.3"]
    thin = vehicle.replaced({f"rear.arm.inertia.{a}": 1e-3 for a in ("xx", "yy", "zz")})
    found = report(thin)
    assert found.faults == [] and found.warnings == [
        "rear.arm: its gyration radius is 7.1 mm, less than 10 mm; are the moments of inertia right?"]


def test_a_link_too_many_and_a_link_too_few_are_told_apart() -> None:
    panhard = {"PAN_A": [-0.1, 0.45, 0], "PAN_C": [-0.1, -0.45, 0.02], "PAN.mass": 2.0}
    five = report(hardpoints.solid_axle(**panhard))
    assert len(five.faults) == 1 and five.motions == 0
    assert five.faults[0].startswith("axle rear: five rigid links leave 1 motion, 2 are needed; make one of ")
    soft = report(hardpoints.solid_axle(**panhard, **{"PAN.stiffness": 2e7, "PAN.damping": 1e4}))
    assert soft.faults == [] and soft.motions == 2
    vehicle = hardpoints.solid_axle()
    three = replace(vehicle, entries={k: v for k, v in vehicle.entries.items() if ".UL" not in k})
    assert "nothing holds" in report(three).faults[0] and "4 motions, 2 are needed" in report(three).faults[0]


def test_the_range_ends_before_the_strut_is_past_its_stops() -> None:
    vehicle = hardpoints.macpherson()
    found = report(vehicle)
    axle, (low, high) = hardpoints.kinematics(vehicle), found.box["lower_arm"]
    for theta in (low, high):
        length = axle.position([theta, theta]).lengths["spring"][0]
        assert vehicle["rear.spring.min_length"] - 0.06 <= length <= vehicle["rear.spring.max_length"] + 0.06
    assert found.travel[0] < 0 < found.travel[1] and found.asymmetry < 1e-12
