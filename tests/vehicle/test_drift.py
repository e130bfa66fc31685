"""How closed the loops of a whole vehicle stay: order, growth and what corrects them."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from jounce.axles import AXLES
from jounce.data import load_vehicle
from jounce.formulations.bodies import with_bodies
from jounce.formulations.whole import Closure, Whole, fully_augmented, linear, swerve, tree_augmented
from jounce.suspension.mechanisms.templates import mechanism_of

VEHICLE = load_vehicle("hmmwv")


@cache
def whole(form: str) -> Whole:
    mechanisms = [linear(mechanism_of(VEHICLE, axle, "double_wishbone")) for axle in AXLES]
    corners = {"rods": lambda: tree_augmented(mechanisms), "loose": lambda: fully_augmented(mechanisms),
               "tree": lambda: tree_augmented([with_bodies(m) for m in mechanisms])}[form]  # fmt: skip
    return Whole(VEHICLE, corners(), VEHICLE["tire.unloaded_radius"])


@pytest.mark.parametrize("form", ["rods", "tree"])
def test_without_correction_half_the_tick_gives_an_eighth_of_the_drift_and_it_grows_evenly(form: str) -> None:
    (_, coarse), (_, fine) = (whole(form).run(0.8, tick, Closure()) for tick in (2e-3, 1e-3))
    assert 6 < coarse[-1] / fine[-1] < 20  # measured: 8.5 in 5 s
    growth = np.diff(coarse[2:])
    assert growth.min() > 0.8 * growth.max() > 0


def test_baumgarte_and_projection_keep_the_loops_closed() -> None:
    run = whole("rods").run
    assert max(run(0.4, 1e-3, Closure(alpha=100.0))[1]) < 1e-9
    assert max(run(0.4, 1e-3, Closure(project=True))[1]) < 1e-14


def test_the_fully_augmented_vehicle_takes_the_tree_s_path() -> None:
    (tree, _), (loose, closed) = (whole(f).run(0.1, 1e-3, Closure(project=True)) for f in ("rods", "loose"))
    assert np.abs(tree[:13] - loose[:13]).max() < 1e-7
    assert max(closed) < 1e-14


def test_the_vehicle_has_the_states_that_the_page_gives_but_for_the_wheels_spins() -> None:
    sizes = {form: int(whole(form).first[-1]) for form in ("rods", "tree", "loose")}
    assert sizes == {"rods": 61 - 8, "tree": 101 - 8, "loose": 333 - 8}


def test_the_pitman_arm_s_rate_and_acceleration_are_derivatives() -> None:
    h = 1e-5
    for time in np.linspace(0.9, 3.0, 43) + 0.003:
        before, now, after = (np.array(swerve(time + s * h)) for s in (-1, 0, 1))
        assert np.abs((after - before)[:2] / (2 * h) - now[1:]).max() < 1e-6
