"""The end of a run by speed: what a speed may be, and where it is reached."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import jounce
from jounce.axles import WHEELS
from jounce.signals import Signal, SignalTable
from jounce_fmu.importer.trajectory import InputError
from jounce_fmu.importer.until import LONGEST, Until, longest_time, speed_of

TABLE = SignalTable("car", (Signal("height", "output", "m", "of it"), Signal("speed", "output", "m/s", "forward")))
TICK = 0.01
Rows = list[tuple[float, float]]


def ran(speeds: list[float], seen: list[int] | None = None) -> Iterator[tuple[float, NDArray[np.float64]]]:
    for tick, speed in enumerate(speeds):
        if seen is not None:
            seen.append(tick)
        yield tick * TICK, np.array([99.0, speed])


def rows_of(speeds: list[float], wanted: float, every: int = 1) -> tuple[Until, Rows]:
    until = Until(wanted, TABLE, "until")
    until.begin(np.array([99.0, speeds[0]]))
    return until, [(t, float(y[1])) for t, y in until.rows(ran(speeds), every)]


@pytest.mark.parametrize(("given", "expected"), [
    ("36km/h", 10.0), ("36kmh", 10.0), (" 36 KM/H ", 10.0), ("10", 10.0), ("10m/s", 10.0), ("1e1 m/s", 10.0),
    ("25mph", 11.176), ("0", 0.0), ("0mph", 0.0), (10, 10.0), (10.0, 10.0), (np.float64(3.0), 3.0),
])  # fmt: skip
def test_a_speed_has_a_unit_or_is_in_m_per_s(given: Any, expected: float) -> None:
    assert speed_of(given, "--until") == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize("given", ["", "km/h", "fast", "60knots", "60kph", "60m", "6 0m/s", "1_0m/s", "-5kmh", "-0.1",
                                   "nan", "nan mph", "inf", "1e400kmh", -1.0, math.nan, math.inf, True, None, [1.0]])
def test_what_is_no_speed_is_refused_with_what_is(given: Any) -> None:
    with pytest.raises(InputError, match="--until .*: expected a speed from 0 in km/h, m/s or mph, such as 60km/h"):
        speed_of(given, "--until")


def test_a_speed_is_reached_from_below_at_the_first_tick_that_has_it_and_nothing_runs_on() -> None:
    until, seen = Until(2.5, TABLE, "until"), list[int]()
    until.begin(np.array([99.0, 0.0]))
    rows = list(until.rows(ran([0.0, 1.0, 2.0, 3.0, 2.0, 3.0], seen), 1))
    assert [t for t, _ in rows] == [0.0, 0.01, 0.02, 0.03] and seen == [0, 1, 2, 3]
    assert until.reached is not None and until.reached.time == 0.03
    assert until.reached.distance == pytest.approx(0.01 * (0.5 + 1.5 + 2.5), rel=1e-14)
    assert str(until) == "2.5 m/s (9 km/h) at 0.03 s, after 0.04 m"


@pytest.mark.parametrize(("speeds", "wanted", "end"), [
    ([5.0, 4.0, 3.0, 2.0], 3.0, 2), ([5.0, 6.0, 2.0], 5.5, 1), ([3.0, 1.0, -1.0], 0.0, 2), ([3.0, 1.0, -2.0], 0.5, 2),
    ([3.0, 2.0, -3.0], 1.0, 2), ([0.0, -1.0, -2.0], 2.0, 2), ([-5.0, -4.0, -3.0], 4.0, 1), ([-1.0, -0.5, 0.5], 0.0, 2),
    ([-1.0, 0.0, 3.0], 2.0, 2),
])  # fmt: skip
def test_it_is_reached_from_above_at_rest_and_in_reverse(speeds: list[float], wanted: float, end: int) -> None:
    until, rows = rows_of([*speeds, 77.0], wanted)
    assert len(rows) == end + 1 and until.reached is not None and until.reached.time == end * TICK


def test_a_speed_that_is_not_reached_is_told_with_the_nearest_and_all_rows_are_there() -> None:
    until, rows = rows_of([0.0, 2.0, 4.0, 3.0], 5.0)
    assert until.reached is None and [v for _, v in rows] == [0.0, 2.0, 4.0, 3.0]
    assert str(until) == "5 m/s (18 km/h) was not reached in 0.03 s; nearest was 4 m/s (14.4 km/h)"
    until, _ = rows_of([9.0, 8.0, 9.0], 5.0)
    assert until.reached is None and "nearest was 8 m/s" in str(until)


@given(st.lists(st.floats(-40.0, 40.0), min_size=1, max_size=30), st.floats(0.0, 40.0), st.integers(1, 7))
def test_rows_are_those_of_a_run_that_had_been_told_the_time(speeds: list[float], wanted: float, every: int) -> None:
    if abs(abs(speeds[0]) - wanted) <= max(1e-3 * wanted, 1e-6):
        with pytest.raises(InputError, match="until: the vehicle has this speed at the start"):
            rows_of(speeds, wanted, every)
        return
    until, rows = rows_of(speeds, wanted, every)
    # Between two ticks the speed passes the wanted one where forward or reverse speed crosses it.
    signs = [1.0, -1.0] if abs(speeds[0]) < wanted else [math.copysign(1.0, speeds[0])]
    side = [[s * v - wanted for v in speeds] for s in signs]
    crossed = [k for k in range(1, len(speeds)) if any(d[k] == 0.0 or (d[k] > 0.0) != (d[0] > 0.0) for d in side)]
    end = crossed[0] if crossed else len(speeds) - 1
    assert (until.reached is not None) == bool(crossed)
    assert [t for t, _ in rows] == [k * TICK for k in range(end + 1) if k % every == 0 or k == end]


def test_a_model_without_a_speed_is_refused() -> None:
    other = SignalTable("pump", (Signal("speed", "output", "rad/s", "of it"),))
    with pytest.raises(InputError, match="until: pump has no output speed in m/s"):
        Until(1.0, other, "until")


def test_the_longest_time_is_whole_ticks() -> None:
    assert longest_time(0.001) == LONGEST
    assert longest_time(0.007) == 119.994


def test_a_run_in_a_program_ends_where_one_of_that_duration_does() -> None:
    brakes = {f"wheel_{w}.brake_torque": 600.0 for w in WHEELS}
    shown = ["speed", "com.pos.x"]
    run = jounce.simulate("hmmwv", brakes, until="36km/h", outputs=shown, output_interval=0.5, **{"init.speed": 15.0})
    assert run.reached is not None and run.time[-1] == run.reached.time and run.time[-2] % 0.5 == 0.0
    every = jounce.simulate("hmmwv", brakes, run.reached.time, shown, **{"init.speed": 15.0})
    assert every["speed"][-1] <= 10.0 < every["speed"][-2] and every.reached is None
    assert every.values[-1].tolist() == run.values[-1].tolist()
    way = every["com.pos.x"][-1] - every["com.pos.x"][0]
    assert run.reached.distance == pytest.approx(way, abs=0.02)  # pitch moves the forward axis off the ground
    missed = jounce.simulate("hmmwv", brakes, 0.5, shown, until=10.0, **{"init.speed": 15.0})
    assert missed.reached is None and missed.time[-1] == 0.5
    with pytest.raises(InputError, match="until 15: the vehicle has this speed at the start"):
        jounce.simulate("hmmwv", until=15, **{"init.speed": 15.0})
    with pytest.raises(InputError, match="until 'fast': expected a speed"):
        jounce.simulate("hmmwv", until="fast")
