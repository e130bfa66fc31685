"""FMI 2 rules: step sizes, stop time, states, values, parameters and the log."""

from __future__ import annotations

import ctypes as ct
from collections.abc import Iterator

import pytest
from raw import ERROR, INF, NAN, OK, Raw

from jounce_fmu.importer.host import Factory


@pytest.fixture
def raw(factory: Factory) -> Iterator[Raw]:
    made = Raw(str(factory.library), factory.interface.guid)
    assert made.component
    yield made
    made.free()


@pytest.mark.parametrize("h", [0.001, 0.04, 0.04 * (1 + 0.9e-6), 0.04 * (1 - 0.9e-6), 255.97 - 255.96])
def test_a_step_within_1e_6_of_whole_ticks_is_taken_as_that_number(raw: Raw, h: float) -> None:
    raw.ready()
    assert raw.step(0.0, h) == OK
    assert raw.integer("Integer", "tick_count") == round(h / 0.001)


@pytest.mark.parametrize("h", [-0.001, -2e-9, 2e-9, NAN, INF, -INF, 0.0005, 0.0015, 0.04 * (1 + 1e-5), 1e300])
def test_any_other_step_is_an_error_and_time_stands_still(raw: Raw, h: float) -> None:
    raw.ready()
    assert raw.step(0.0, h) == ERROR
    assert "step size" in raw.log[-1]
    assert raw.integer("Integer", "tick_count") == 0
    assert raw.step(0.0, 0.001) == OK


def test_a_master_that_sums_its_steps_stays_in_time(raw: Raw) -> None:
    raw.ready()
    t = 0.0
    for _ in range(10_000):
        assert raw.step(t, 0.04) == OK
        t += 0.04
    assert t != 400.0
    assert raw.integer("Integer", "tick_count") == 400_000


@pytest.mark.parametrize("h", [0.001, 0.002, 0.007, 0.04])
@pytest.mark.parametrize("stop", [2.0, 3.0, 10.0, 100.0])
def test_a_master_that_ends_with_what_is_left_of_its_summed_time_runs_to_the_stop_time(
        raw: Raw, h: float, stop: float) -> None:
    """As OMSimulator does: t += h, and min(h, stop - t) at the end."""
    whole = round(round(stop / h) * h, 3)
    raw.ready(stop=whole)
    t = 0.0
    while t < whole:
        length = min(h, whole - t)
        assert raw.step(t, length) == OK, raw.log[-1]
        t += length
    assert raw.integer("Integer", "tick_count") == round(whole / 0.001)


@pytest.mark.parametrize("h", [1.03e-13, 5e-324, 0.9e-9, 0.0, -1e-13])
def test_a_step_far_below_a_tick_takes_none(raw: Raw, h: float) -> None:
    raw.ready(stop=0.04)
    assert raw.step(0.0, 0.04) == OK
    assert raw.step(0.04, h) == OK
    assert raw.integer("Integer", "tick_count") == 40


def test_a_parameter_takes_effect_at_a_step_without_a_tick_as_at_any_other(raw: Raw) -> None:
    raw.ready()
    before = raw.get("acceleration")
    assert raw.set(gain=3.0, force=1.0) == OK
    assert raw.step(0.0, 1e-13) == OK
    assert raw.get("acceleration") != before


def test_steps_that_are_differences_of_large_times_are_whole_within_the_rounding_of_these(raw: Raw) -> None:
    start = 1.7e9  # s since 1970: neighbours are 2.4e-7 s apart, a quarter of a thousandth of a tick
    raw.ready(start=start)
    for k in range(100):
        now, then = start + k * 0.001, start + (k + 1) * 0.001
        assert raw.step(now, then - now) == OK, raw.log[-1]
    assert raw.integer("Integer", "tick_count") == 100


def test_a_time_at_which_rounding_hides_a_tick_is_refused(raw: Raw) -> None:
    raw.ready(start=1e13)
    assert raw.step(1e13, 0.001) == ERROR
    assert "rounding hides a tick of 0.001 s" in raw.log[-1]


def test_a_step_that_would_run_for_hours_is_refused_with_the_limit(raw: Raw) -> None:
    raw.ready()
    for h in (1e9, 1000.001):
        assert raw.step(0.0, h) == ERROR
        assert "expected at most 1000000 ticks of 0.001 s" in raw.log[-1]
    assert raw.step(0.0, 1000.0) == OK
    assert raw.integer("Integer", "tick_count") == 1_000_000


@pytest.mark.parametrize("t", [0.002, -0.001, NAN, INF])
def test_a_wrong_communication_point_is_an_error(raw: Raw, t: float) -> None:
    raw.ready()
    assert raw.step(t, 0.001) == ERROR
    assert "communication point" in raw.log[-1]


def test_rounding_past_the_stop_time_is_accepted_and_real_overshoot_refused(raw: Raw) -> None:
    raw.ready(start=0.1, stop=0.1 + 0.003 - 5e-10)
    assert raw.step(0.1, 0.004) == ERROR
    assert "stop time" in raw.log[-1]
    assert raw.step(0.1, 0.003) == OK
    assert raw.step(0.103, 0.001) == ERROR


@pytest.mark.parametrize(("start", "stop"), [(NAN, None), (INF, None), (0.0, NAN), (1.0, 0.5)])
def test_a_senseless_experiment_is_refused(raw: Raw, start: float, stop: float | None) -> None:
    assert raw.setup(start, stop) == ERROR
    raw.ready()


@pytest.mark.parametrize("name", ["force", "mass", "gain"])
@pytest.mark.parametrize("value", [NAN, INF, -INF, 1e12])
def test_a_bad_value_is_named_and_nothing_of_its_list_is_set(raw: Raw, name: str, value: float) -> None:
    assert raw.set(stiffness=70.0, **{name: value}) == ERROR
    assert name in raw.log[-1]
    raw.ready()
    assert raw.get("stiffness") == [50.0]


def test_a_number_in_the_log_is_exact(raw: Raw) -> None:
    assert raw.set(mass=-0.1) == ERROR
    assert "mass = -0.1: expected 0 to 1000000" in raw.log[-1]


def test_outputs_unknown_references_and_wrong_types_cannot_be_set(raw: Raw) -> None:
    assert raw.set(position=1.0) == ERROR
    assert "position is an output" in raw.log[-1]
    assert raw.integer("Integer", "mass", 3) == ERROR
    assert "mass is of type Real, not Integer" in raw.log[-1]
    assert raw.set(cubic=1.0) == ERROR
    assert raw.integer("Boolean", "cubic", 2) == ERROR
    assert raw.integer("Integer", "direction", 3) == ERROR
    assert raw.integer("Integer", "direction", 2) == OK
    unknown = ct.c_uint(5)
    assert raw.call("SetReal", ct.byref(unknown), ct.c_size_t(1), ct.byref(ct.c_double())) == ERROR
    assert "value reference 5 is unknown" in raw.log[-1]


def test_fixed_parameters_are_settable_until_the_end_of_initialization(raw: Raw) -> None:
    assert raw.set(mass=3.0) == OK
    assert raw.setup() == OK
    assert raw.call("EnterInitializationMode") == OK
    assert raw.set(x0=0.5) == OK
    assert raw.get("position") == [0.5]
    assert raw.set(x0=0.25) == OK
    assert raw.get("position") == [0.25]
    assert raw.call("ExitInitializationMode") == OK
    assert raw.set(mass=4.0) == ERROR
    assert "mass = 4: a fixed parameter" in raw.log[-1]
    assert raw.set(gain=2.0) == OK


def test_calls_that_a_state_does_not_allow_change_nothing(raw: Raw) -> None:
    assert raw.step(0.0, 0.001) == ERROR
    assert "not allowed in state" in raw.log[-1]
    for name in ("ExitInitializationMode", "Terminate"):
        assert raw.call(name) == ERROR
    raw.ready()
    for name in ("EnterInitializationMode", "ExitInitializationMode", "CancelStep"):
        assert raw.call(name) == ERROR
    assert raw.setup() == ERROR
    assert raw.step(0.0, 0.001) == OK


def test_after_terminate_values_can_be_read_and_reset_begins_anew(raw: Raw) -> None:
    for _ in range(3):
        assert raw.set(x0=0.7) == OK
        raw.ready()
        assert raw.get("position") == [0.7]
        assert raw.step(0.0, 0.1) == OK
        assert raw.call("Terminate") == OK
        position = raw.get("position")
        assert position != [0.7]
        assert raw.call("Terminate") == ERROR
        assert raw.step(0.1, 0.1) == ERROR
        assert raw.set(force=1.0) == ERROR
        assert raw.get("position") == position
        assert raw.call("Reset") == OK
        assert raw.call("Reset") == OK
        raw.ready()
        assert raw.get("position") == [0.1]
        assert raw.call("Reset") == OK


def test_inputs_act_on_outputs_at_once(raw: Raw) -> None:
    raw.ready()
    assert raw.get("acceleration") == [-2.5]
    assert raw.set(force=5.0) == OK
    assert raw.get("acceleration") == [0.0]


def test_derivatives_of_inputs_are_not_offered(raw: Raw) -> None:
    raw.ready()
    assert raw.call("SetRealInputDerivatives", None, ct.c_size_t(0), None, None) == ERROR


def test_the_log_keeps_to_its_categories_and_hands_the_environment_back(raw: Raw) -> None:
    raw.ready()
    assert any(line.startswith("logEvents") for line in raw.log)
    assert raw.environments == {7}
    names = (ct.c_char_p * 1)(b"nonsense")
    assert raw.call("SetDebugLogging", 1, ct.c_size_t(1), names) == ERROR
    assert "logStatusError" in raw.log[-1]
    names[0] = b"logAll"
    assert raw.call("SetDebugLogging", 0, ct.c_size_t(1), names) == OK
    count = len(raw.log)
    assert raw.step(0.0, NAN) == ERROR
    assert len(raw.log) == count


def test_the_last_successful_time_is_reported(raw: Raw) -> None:
    raw.ready(start=2.0)
    assert raw.step(2.0, 0.5) == OK
    value = ct.c_double()
    assert raw.call("GetRealStatus", 2, ct.byref(value)) == OK
    assert value.value == 2.5


def test_two_instances_of_one_name_do_not_meet(factory: Factory) -> None:
    a, b = (Raw(str(factory.library), factory.interface.guid) for _ in range(2))
    assert a.set(x0=0.9) == OK
    a.ready()
    b.ready()
    assert (a.get("position"), b.get("position")) == ([0.9], [0.1])
    a.free()
    assert b.step(0.0, 0.001) == OK
    b.free()
