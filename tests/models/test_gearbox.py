"""The automatic gearbox does not hunt: shifts up and down do not follow each other while nothing has changed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from drives import Array, factory, run

from jounce.data import DataError, load_vehicle

WEIGHT = 9.81 * 2613.0
Change = tuple[float, dict[str, float]]


def gears(changes: Sequence[Change], end: float, start: dict[str, float]) -> Array:
    """The gear every 0.1 s; ``changes``: time [s] and inputs."""
    made, steps, found = factory(), list(changes), []
    gear = next(s.index for s in made.table.outputs if s.name == "gearbox.gear")
    with made.instance("gears") as fmu:
        fmu.setup(start)
        for k in range(round(end / 0.1)):
            while steps and steps[0][0] <= 0.1 * k + 1e-9:
                fmu.set_values(steps.pop(0)[1])
            fmu.step(100)
            found.append(float(fmu.get_outputs()[gear]))
    return np.array(found)


def turns(gear: Array) -> int:
    """How often a shift is in the other direction than the one before."""
    shifts = np.diff(gear)
    return int((np.diff(np.sign(shifts[shifts != 0])) != 0).sum())


def uphill(grade: float) -> dict[str, float]:
    return {"chassis.ext_force.x": -WEIGHT * grade / math.hypot(1.0, grade)}


#: Throttles and grades at which a gear cannot hold the speed above which it is taken.
CYCLES = [(0.35, 0.09), (0.5, 0.16), (0.45, 0.13)]


@pytest.mark.parametrize(("throttle", "grade"), CYCLES)
def test_on_a_grade_that_the_gear_above_cannot_climb_it_is_tried_once(throttle: float, grade: float) -> None:
    gear = gears([], 60.0, {"throttle": throttle, "terrain.slope": math.atan(grade), "init.speed": 10.0})
    assert turns(gear) <= 2
    assert len(set(gear[300:])) == 1


def _steady(seed: int) -> None:
    rng = np.random.default_rng(seed)
    throttle, grade = rng.uniform(0.1, 1.0), rng.uniform(-0.05, 0.25)
    start = {"throttle": throttle, "terrain.slope": math.atan(grade), "init.speed": rng.uniform(0.0, 25.0)}
    gear = gears([], 40.0, {**start, "terrain.mu": rng.choice([0.8, 0.4])})
    assert turns(gear) <= 2, start


@pytest.mark.parametrize("seed", range(6))
def test_whatever_throttle_grade_and_speed_it_starts_with_it_turns_round_at_most_twice(seed: int) -> None:
    _steady(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6, 250))
def test_the_same_of_many_more(seed: int) -> None:
    _steady(seed)


@pytest.mark.parametrize("seed", range(4))
def test_each_change_of_throttle_or_grade_lets_it_turn_round_at_most_twice(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    changes: list[Change] = [(8.0 * k, {"throttle": rng.uniform(0.1, 1.0), **uphill(rng.uniform(-0.05, 0.2))})
                             for k in range(5)]  # fmt: skip
    gear = gears(changes, 40.0, {"init.speed": 8.0})
    for k in range(5):
        assert turns(gear[80 * k + 1 : 80 * (k + 1)]) <= 2, changes[k]


def test_where_the_grade_ends_or_the_driver_lifts_the_gear_above_is_tried_again() -> None:
    start = {"throttle": 0.35, "init.speed": 10.0, **uphill(0.09)}
    ends = gears([(30.0, uphill(0.0))], 45.0, start)
    assert ends[295] == 1.0 and ends[-1] >= 2.0
    lifts = gears([(30.0, {"throttle": 0.2})], 31.5, start)
    assert lifts[295] == 1.0 and lifts[-1] == 2.0


def test_downhill_a_barred_gear_is_left_where_the_wheels_turn_the_engine_above_its_limit() -> None:
    """Up to a crest in the first gear without throttle, and down behind it within the three seconds of its memory."""
    start = {"throttle": 0.0, "init.speed": 6.0, **uphill(0.1)}
    up = gears([], 4.0, start)
    crest = 0.1 * (1 + int(np.flatnonzero(up == 1.0)[0]))
    over = gears([(crest + 0.5, uphill(-0.4))], 20.0, start)
    assert over[-1] >= 2.0


def test_a_gear_shifted_down_to_under_the_brake_is_not_barred() -> None:
    start = {"throttle": 0.0, "init.speed": 8.0, "brake_pedal": 0.2, **uphill(-0.2)}
    braked = gears([], 10.0, start)
    down = 0.1 * (1 + int(np.flatnonzero(braked == 1.0)[0]))
    released = gears([(down + 0.3, {"brake_pedal": 0.0})], 12.0, start)
    assert released[-1] >= 2.0


def test_a_kick_down_on_the_flat_bars_nothing() -> None:
    gear = gears([(6.0, {"throttle": 1.0})], 30.0, {"throttle": 0.3, "init.speed": 12.0})
    assert gear[58] == 3.0 and gear[65:100].min() == 2.0 and gear[-1] == 4.0
    # 0.3 s after the pedal, in place of the second that other shifts wait for
    soon = gears([(0.5, {"throttle": 0.9}), (1.0, {"throttle": 1.0})], 2.0, {"throttle": 0.2, "init.speed": 12.0})
    assert soon[-1] == 2.0


def test_each_gear_is_left_on_its_own_line_over_the_throttle() -> None:
    """First gear on an uneven line, between whose points it is straight."""
    lines = {f"gearbox.up.1.{k}": v for k, v in enumerate((160.0, 170.0, 220.0, 230.0, 300.0))}
    lines |= {f"gearbox.down.2.{k}": 60.0 for k in range(5)} | {f"gearbox.up.2.{k}": 250.0 for k in range(5)}
    lines |= {f"gearbox.down.3.{k}": 60.0 for k in range(5)}
    for throttle, first in ((0.375, 195.0), (0.5, 220.0), (0.875, 265.0)):
        o = run([(0.0, {"throttle": throttle})], 9.0, lines)
        left = int(np.flatnonzero(o["gearbox.gear"] == 1.0)[-1])
        begun = np.flatnonzero(o["driveline.output_speed"][: left + 1] * 2.48 > first)[0]
        assert 0.0 < o["time"][left] - o["time"][begun] < 0.2, throttle  # the clutch opens in 0.1 s


def test_a_list_of_values_is_one_entry_each(tmp_path: Path) -> None:
    vehicle = load_vehicle("hmmwv_pedals")
    assert [vehicle[f"gearbox.up.2.{k}"] for k in (0, 4)] == pytest.approx([157.0796, 335.1032])
    folder = tmp_path / "own"
    folder.mkdir()
    text = 'base = "hmmwv_pedals"\n[overrides]\n"gearbox.up.1" = [160, 170, 220, 230, 340]\n'
    (folder / "vehicle.toml").write_text(text)
    assert load_vehicle(folder)["gearbox.up.1.3"] == 230.0
    (folder / "vehicle.toml").write_text(text.replace(", 340", ""))
    with pytest.raises(DataError, match="override of unknown entry 'gearbox.up.1'"):
        load_vehicle(folder)
