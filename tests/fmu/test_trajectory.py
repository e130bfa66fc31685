"""Inputs over time between their points, times as one writes them, and runs that stop."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from jounce.signals import Signal, SignalTable
from jounce_fmu.importer.host import open_builtin
from jounce_fmu.importer.trajectory import PIECE, Clock, InputError, Inputs, Track, interval, run, ticks

Array = NDArray[np.float64]
TICK = 0.001
TABLE = SignalTable("test", (
    Signal("angle", "input", "rad", "an angle", minimum=-10.0, maximum=10.0),
    Signal("rate", "input", "rad/s", "its rate", minimum=-100.0, maximum=100.0, rate_of="angle"),
    Signal("gear", "input", "1", "a gear", type="Integer", start=(2.0,), minimum=0.0, maximum=9.0),
    Signal("mode", "input", "1", "held", variability="discrete", start=(0.5,)),
    Signal("sum", "output", "1", "what came in"),
))  # fmt: skip
ANGLE, RATE, GEAR, MODE = (TABLE.inputs[i] for i in range(4))


def track(times: list[float], *columns: tuple[object, list[float]], hold: bool = False) -> Track:
    values = np.array([values for _, values in columns]).T.reshape(len(times), len(columns))
    return Track(tuple(s for s, _ in columns), np.array(times), values, hold)  # type: ignore[misc]


def column(inputs: Inputs, name: str, first: int, count: int) -> list[float]:
    place = [TABLE.inputs[i].name for i in inputs.columns].index(name)
    return inputs.block(first, count)[:, place].tolist()


class Recorder:
    """Notes what is set and how far each call steps; its output is the tick."""

    tick_length = TICK

    def __init__(self) -> None:
        self.ticks = 0
        self.set: list[tuple[int, list[float]]] = []
        self.steps: list[int] = []

    def set_inputs(self, values: Array) -> None:
        self.set.append((self.ticks, values.tolist()))

    def step(self, n_ticks: int) -> None:
        self.steps.append(n_ticks)
        self.ticks += n_ticks

    def get_outputs(self) -> Array:
        return np.array([float(self.ticks)])


def test_a_continuous_input_is_on_the_line_and_its_rate_is_the_slope() -> None:
    inputs = Inputs([track([0.0, 1.0], (ANGLE, [0.0, 1.0]))], TABLE, TICK)
    assert column(inputs, "angle", 0, 1002) == pytest.approx([min(k / 1000, 1.0) for k in range(1002)], abs=1e-15)
    assert column(inputs, "rate", 0, 1000) == [1.0] * 1000
    assert column(inputs, "rate", 1000, 3) == [0.0] * 3


def test_a_rate_that_is_given_stays_and_one_beside_held_values_is_left_alone() -> None:
    both = Inputs([track([0.0, 1.0], (ANGLE, [0.0, 1.0]), (RATE, [5.0, 5.0]))], TABLE, TICK)
    assert column(both, "rate", 0, 3) == [5.0] * 3
    apart = Inputs([track([0.0, 1.0], (ANGLE, [0.0, 1.0])), track([0.0], (RATE, [7.0]))], TABLE, TICK)
    assert column(apart, "rate", 0, 3) == [7.0] * 3
    held = Inputs([track([0.0, 1.0], (ANGLE, [0.0, 1.0]), hold=True)], TABLE, TICK)
    assert [TABLE.inputs[i].name for i in held.columns] == ["angle"]


def test_what_is_not_continuous_holds_among_inputs_on_lines() -> None:
    inputs = Inputs([track([0.0, 0.002], (ANGLE, [0.0, 0.125]), (GEAR, [1.0, 3.0]), (MODE, [0.1, 0.2]))], TABLE, 0.0005)
    assert column(inputs, "gear", 0, 6) == [1.0] * 4 + [3.0] * 2
    assert column(inputs, "mode", 0, 6) == [0.1] * 4 + [0.2] * 2
    assert column(inputs, "angle", 0, 6) == [0.0, 0.03125, 0.0625, 0.09375, 0.125, 0.125]


def test_the_first_point_holds_before_its_time_and_with_hold_the_start_value_does() -> None:
    line = Inputs([track([0.002, 0.003], (GEAR, [4.0, 5.0]))], TABLE, TICK)
    assert column(line, "gear", 0, 4) == [4.0, 4.0, 4.0, 5.0]
    held = Inputs([track([0.002, 0.003], (GEAR, [4.0, 5.0]), hold=True)], TABLE, TICK)
    assert column(held, "gear", 0, 4)[2:] == [4.0, 5.0]
    start = np.array([s.start for s in TABLE.inputs])
    assert held.start(start).tolist() == start.tolist() == [0.0, 0.0, 2.0, 0.5]
    assert line.start(start).tolist() == [0.0, 0.0, 4.0, 0.5]


@given(
    st.lists(st.tuples(st.floats(0.0, 0.05), st.floats(-10.0, 10.0)), min_size=2, max_size=8, unique_by=lambda p: p[0]),
    st.sampled_from([1e-3, 5e-4, 0.007]),
)
@settings(max_examples=200, deadline=None)
def test_values_are_those_of_interpolation_and_angle_and_rate_make_one_continuous_motion(
    points: list[tuple[float, float]], tick: float
) -> None:
    points.sort()
    times, values = map(list, zip(*points, strict=True))
    free = SignalTable("free", (Signal("angle", "input", "rad", ""),
                                Signal("rate", "input", "rad/s", "", rate_of="angle")))  # fmt: skip
    inputs = Inputs([Track((free.inputs[0],), np.array(times), np.array(values)[:, None])], free, tick)
    block = inputs.block(0, 61)
    # numpy's interpolation judges; a point within 1e-6 of a tick is taken to be on it.
    assert block[:, 0].min() >= min(values) and block[:, 0].max() <= max(values)
    if min(np.diff(times)) > 1e-6:
        steepest = max(abs(np.diff(values) / np.diff(times)))
        near = 1e-9 + 1e-5 * tick * steepest
        assert np.allclose(block[:, 0], np.interp(tick * np.arange(61), times, values), rtol=0.0, atol=near)
        assert np.allclose(block[:-1, 0] + tick * block[:-1, 1], block[1:, 0], rtol=0.0, atol=near)


def test_a_point_on_a_tick_gives_exactly_its_value() -> None:
    """0.007 / 0.001 is 7.000000000000001."""
    values = [0.1 * k for k in range(100)]
    inputs = Inputs([track([k / 1000 for k in range(100)], (MODE, values))], TABLE, TICK)
    assert column(inputs, "mode", 0, 100) == values


def test_a_slope_beyond_the_bounds_of_the_rate_is_refused_with_its_place() -> None:
    for times, tick in (([0.0, 2.0, 2.001], 1e-3), ([0.0, 2.0, 2.0001], 1e-3), ([0.0, 2.0003, 2.0104], 2e-2)):
        with pytest.raises(InputError, match=r"angle moves at .* rad/s at 2 s; expected from -100 to 100"):
            Inputs([track(times, (ANGLE, [0.0, 0.0, 9.0]))], TABLE, tick)
    Inputs([track([0.0, 2.0, 2.001], (ANGLE, [0.0, 0.0, 9.0]), hold=True)], TABLE, TICK)


def test_an_input_that_two_tracks_give_is_refused() -> None:
    with pytest.raises(InputError, match="angle is given twice"):
        Inputs([track([0.0], (ANGLE, [0.0])), track([0.0], (ANGLE, [0.0]))], TABLE, TICK)


@pytest.mark.parametrize("tick", [0.001, 0.0005, 0.002, 0.005, 0.0001, 1 / 3, 0.0125, 0.02])
def test_the_time_of_a_tick_is_the_double_nearest_to_the_decimal_product(tick: float) -> None:
    clock = Clock(tick)
    for k in (0, 1, 3, 7, 700, 1299, 123_457, 10**9):
        assert clock.time(k) == float(Decimal(k) * Decimal(repr(tick)))
    assert Clock(0.001).time(700) == 0.7 != 700 * 0.001


def test_no_native_call_is_longer_than_a_piece_and_few_are_made_while_nothing_changes() -> None:
    model = Recorder()
    rows = list(run(model, np.zeros(4), Inputs([], TABLE, TICK), n_ticks=2_500_000, every=2_500_000))
    assert [t for t, _ in rows] == [0.0, 2500.0] and max(model.steps) == PIECE
    assert len(model.set) == 1 and len(model.steps) == 2500


@pytest.mark.parametrize("every", [1, 3, 999, 1000, 1001, 2000, 10_000])
def test_rows_fall_on_every_multiple_and_on_the_end_whatever_the_pieces_are(every: int) -> None:
    inputs = Inputs([track([0.5, 1.7], (MODE, [1.0, 2.0]))], TABLE, TICK)
    model = Recorder()
    rows = [round(y[0]) for _, y in run(model, np.zeros(4), inputs, n_ticks=2500, every=every)]
    assert rows == sorted({*range(0, 2500, every), 2500})
    assert [(t, u[MODE.index]) for t, u in model.set] == [(0, 1.0), (1700, 2.0)]


@pytest.mark.parametrize(("after", "every", "end"), [(0, 7, 0), (1, 1, 1), (1500, 1, 1500), (1500, 100_000, 2000)])
def test_a_run_that_is_stopped_ends_with_the_state_it_has_reached(after: int, every: int, end: int) -> None:
    model = Recorder()
    stopped = run(model, np.zeros(4), Inputs([], TABLE, TICK), n_ticks=10**9, every=every, stopped=lambda k: k >= after)
    rows = list(stopped)
    assert rows[-1][0] == end / 1000 and rows[-1][1].tolist() == [end] == [model.ticks]
    assert len({t for t, _ in rows}) == len(rows)


@pytest.mark.parametrize(("seconds", "text"), [(-1.0, "from 0 s"), (math.nan, "finite"), (0.0005, "whole multiple"),
                                              (1e14, r"expected up to 9.0072e\+12 s")])  # fmt: skip
def test_a_time_that_is_no_number_of_ticks_is_refused(seconds: float, text: str) -> None:
    with pytest.raises(InputError, match=text):
        ticks(seconds, TICK, "--duration")
    with pytest.raises(InputError, match="at least one tick"):
        interval(0.0, TICK, "--output-interval")
    assert interval(None, TICK, "") == 1 and ticks(0.7, TICK, "") == 700


def test_a_ramp_of_the_steering_wheel_is_the_run_of_a_master_that_gives_angle_and_rate_at_every_tick() -> None:
    factory = open_builtin()
    table = factory.table
    angle, rate = (table.by_name(f"steering_wheel_{what}").index for what in ("angle", "rate"))
    ramp = Track((table.inputs[angle],), np.array([0.1, 0.6]), np.array([[0.0], [0.5]]))
    inputs = Inputs([ramp], table, factory.tick_length)
    start = np.array([s.start for s in table.inputs])
    with factory.instance("ramp") as made, factory.instance("master") as master:
        for instance in (made, master):
            instance.setup({"init.speed": 10.0})
        rows = list(run(made, inputs.start(start), inputs, n_ticks=800, every=800))
        u = start.copy()
        for k in range(800):
            u[angle] = min(max(k / 1000 - 0.1, 0.0), 0.5)
            u[rate] = 1.0 if 100 <= k < 600 else 0.0
            master.set_inputs(u)
            master.step()
        assert rows[-1][1] == pytest.approx(master.get_outputs(), rel=1e-9, abs=1e-9)
        assert rows[-1][1][table.by_name("ref_frame.yaw").index] > 0.01
