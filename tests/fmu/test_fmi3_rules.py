"""FMI 3 rules: arrays and scalars, types, states, event mode, step sizes and the log."""

from __future__ import annotations

import ctypes as ct
from collections.abc import Callable, Iterator

import pytest
from raw3 import ERROR, INF, NAN, OK, SCALARS, VR, Raw3

from jounce_fmu.importer.host import Factory

New = Callable[..., Raw3]


@pytest.fixture
def new(factory: Factory) -> Iterator[New]:
    made: list[Raw3] = []

    def make(scalars: bool = False, **options: bool) -> Raw3:
        raw = Raw3(str(factory.library), factory.interface.guid + (SCALARS if scalars else ""), **options)
        assert raw.instance
        made.append(raw)
        return raw

    yield make
    for raw in made:
        raw.free()


def test_an_array_is_set_and_read_whole_by_the_reference_of_its_first_component(new: New) -> None:
    raw = new()
    assert raw.set("force push gain", 1.0, 2.0, 3.0, 4.0, 5.0) == OK
    raw.ready()
    assert raw.get("load position gain push force", 9) == [3.0, 3.0, 4.0, 0.1, 5.0, 2.0, 3.0, 4.0, 1.0]


def test_without_arrays_each_component_has_its_own_reference(new: New) -> None:
    raw = new(scalars=True)
    values = (ct.c_double * 3)(4.0, 2.0, 3.0)
    assert raw.values("Set", "Float64", [VR["push"] + 2, VR["push"], VR["push"] + 1], values) == OK
    raw.ready()
    assert raw.get("push", 1) == [2.0]
    assert raw.values("Get", "Float64", [VR["load"] + 2, VR["load"]], values, 2) == OK
    assert list(values)[:2] == [4.0, 2.0]


@pytest.mark.parametrize(("names", "count", "reason"), [
    ("push", 1, "1 values; the value references ask for at least 3"),
    ("push", 2, "2 values; the value references ask for at least 3"),
    ("push", 4, "4 values; the value references ask for 3"),
    ("force push", 3, "3 values; the value references ask for at least 4"),
    ("force", 0, "1 value references and only 0 values"),
    ("force force", 1, "2 value references and only 1 values"),
    ("", 1, "1 values; the value references ask for 0"),
])
def test_a_wrong_number_of_values_is_refused_and_nothing_set(new: New, names: str, count: int, reason: str) -> None:
    raw = new()
    assert raw.set(names, *[9.0] * count) == ERROR
    assert raw.log[-1].endswith(reason)
    assert raw.read(names, count)[0] == ERROR
    assert raw.log[-1].endswith(reason)
    assert raw.get("force push", 4) == [0.0] * 4


def test_a_component_of_an_array_has_no_reference_of_its_own(new: New) -> None:
    raw = new()
    assert raw.values("Set", "Float64", [VR["push"] + 2], (ct.c_double * 1)(1.0)) == ERROR
    assert raw.log[-1].endswith("push.z is part of a vector; the vector's value reference is 1001")


def test_a_bad_component_is_named_and_nothing_of_its_list_is_set(new: New) -> None:
    raw = new()
    for value in (NAN, INF, -INF, 1e12):
        assert raw.set("force push", 1.0, 2.0, value, 4.0) == ERROR
        assert "push.y = " in raw.log[-1]
    assert raw.get("force push", 4) == [0.0] * 4


def test_each_type_has_its_calls_and_no_other_takes_it(new: New) -> None:
    raw = new()
    assert raw.set("direction", 2, kind="Int64") == OK
    assert raw.set("cubic", 1, kind="Boolean") == OK
    for names, kind, text in (
        ("mass", "Int64", "mass is of type Float64, not Int64"),
        ("mass", "Float32", "mass is of type Float64, not Float32"),
        ("direction", "Float64", "direction is of type Enumeration, not Float64"),
        ("direction", "Int32", "direction is of type Enumeration, not Int32"),
        ("cubic", "Int64", "cubic is of type Boolean, not Int64"),
        ("tick_count", "Int32", "tick_count is of type Int64, not Int32"),
        ("time", "Int64", "value reference 0 is unknown"),
    ):
        assert raw.set(names, 1, kind=kind) == ERROR
        assert raw.log[-1].endswith(text)
    assert raw.set("", kind="Float32") == OK
    for value in (0, 3, -1, 2**62):
        assert raw.set("direction", value, kind="Int64") == ERROR
    raw.ready()
    assert raw.step(0.0, 0.5) == OK
    assert raw.get("tick_count direction", 2, "Int64") == [500, 2]
    assert raw.get("cubic", 1, "Boolean") == [1]


def test_a_boolean_byte_beside_0_and_1_is_refused(new: New) -> None:
    raw = new()
    assert raw.set("cubic", 2, kind="Boolean") == ERROR
    assert raw.get("cubic", 1, "Boolean") == [0]


def test_time_is_read_and_never_set(new: New) -> None:
    raw = new()
    assert raw.set("time", 1.0) == ERROR
    raw.ready(start=2.0)
    assert raw.get("time") == [2.0]
    assert raw.step(2.0, 0.25) == OK
    assert raw.get("position time", 2)[1] == 2.25


def test_before_initialization_start_values_can_be_read_and_outputs_not(new: New) -> None:
    raw = new()
    assert raw.get("mass force push", 5) == [2.0, 0.0, 0.0, 0.0, 0.0]
    assert raw.read("position", 1)[0] == ERROR
    assert "initialization mode" in raw.log[-1]
    assert raw.enter() == OK
    assert raw.get("position") == [0.1]


def test_event_mode_comes_first_when_it_is_used(new: New) -> None:
    raw = new(events=True)
    raw.ready()
    assert raw.step(0.0, 0.001) == ERROR
    assert 'not allowed in state "event mode"' in raw.log[-1]
    assert raw.update() == (OK, [False] * 5, 0.0)
    assert raw.call("EnterStepMode") == OK
    assert raw.update()[0] == ERROR
    assert raw.step(0.0, 0.001) == OK
    assert raw.call("EnterEventMode") == OK
    assert raw.set("force", 5.0) == OK
    assert raw.get("load", 3) == [5.0, 0.0, 0.0]
    assert raw.call("EnterEventMode") == ERROR
    assert raw.call("EnterStepMode") == OK
    assert raw.step(0.001, 0.001) == OK
    assert raw.call("EnterEventMode") == OK
    assert raw.call("Terminate") == OK


def test_without_event_mode_there_is_none(new: New) -> None:
    raw = new()
    raw.ready()
    for name in ("EnterEventMode", "EnterStepMode"):
        assert raw.call(name) == ERROR
    assert raw.step(0.0, 0.001) == OK


def test_configuration_mode_is_entered_and_left_and_sets_nothing(new: New) -> None:
    raw = new()
    assert raw.call("EnterConfigurationMode") == OK
    assert raw.set("mass", 3.0) == ERROR
    assert raw.read("mass", 1)[0] == ERROR
    assert raw.enter() == ERROR
    assert raw.call("ExitConfigurationMode") == OK
    raw.ready()
    assert raw.call("EnterConfigurationMode") == ERROR
    assert raw.get("mass") == [2.0]


def test_a_step_reports_its_end_and_no_event(new: New) -> None:
    raw = new(early=True)
    raw.ready(start=1.0)
    assert raw.full_step(1.0, 0.04) == (OK, False, False, False, 1.04)


def test_a_step_that_breaks_down_ends_early_where_the_importer_allows_it_else_takes_no_tick(new: New) -> None:
    whole, part, single = new(), new(early=True), new(early=True)
    for raw in (whole, part, single):
        assert raw.set("force", 1e6) == OK  # beyond 1000 m after 0.06 s
        raw.ready()
    assert whole.full_step(0.0, 1.0) == (ERROR, False, False, False, 0.0)
    ticks = 0
    while single.step(0.001 * ticks, 0.001) == OK:
        ticks += 1
    assert 50 < ticks < 80
    status, event, terminate, early, last = part.full_step(0.0, 1.0)
    assert (status, event, terminate, early) == (OK, False, False, True)
    assert last == pytest.approx(0.001 * ticks)
    assert part.get("position") == single.get("position")
    assert part.full_step(last, 0.01) == (ERROR, False, False, False, last)
    assert "beyond 1000 m" in part.log[-1]
    assert part.get("tick_count", 1, "Int64") == [ticks]


@pytest.mark.parametrize("h", [-0.001, -2e-9, NAN, INF, -INF, 0.0005, 0.04 * (1 + 1e-5), 1e300, 1e9])
def test_a_step_of_no_whole_ticks_is_refused_and_time_stands_still(new: New, h: float) -> None:
    raw = new()
    raw.ready(start=1.0)
    assert raw.full_step(1.0, h) == (ERROR, False, False, False, 1.0)
    assert "step size" in raw.log[-1]
    assert raw.step(1.0, 0.04 * (1 + 0.9e-6)) == OK
    assert raw.get("tick_count", 1, "Int64") == [40]


@pytest.mark.parametrize("h", [1.03e-13, 5e-324, 0.0, -1e-13])
def test_a_step_far_below_a_tick_takes_none(new: New, h: float) -> None:
    raw = new(early=True)
    raw.ready(start=1.0)
    assert raw.full_step(1.0, h) == (OK, False, False, False, 1.0)
    assert raw.get("tick_count", 1, "Int64") == [0]


def test_a_step_that_would_run_for_hours_returns_early_where_the_importer_allows_it(new: New) -> None:
    raw = new(early=True)
    raw.ready()
    assert raw.full_step(0.0, 1e9) == (OK, False, False, True, 1000.0)
    assert raw.get("tick_count", 1, "Int64") == [1_000_000]


def test_the_stop_time_holds(new: New) -> None:
    raw = new()
    assert raw.enter(NAN) == ERROR
    assert raw.enter(1.0, 0.5) == ERROR
    raw.ready(0.1, 0.103)
    assert raw.step(0.1, 0.004) == ERROR
    assert raw.step(0.1, 0.003) == OK
    assert raw.step(0.103, 0.001) == ERROR


def test_a_failed_step_keeps_the_state_before_it(new: New) -> None:
    raw = new()
    assert raw.set("damping", -100.0) == OK
    raw.ready()
    assert raw.step(0.0, 0.01) == OK
    before = raw.get("position velocity", 2)
    assert raw.full_step(0.01, 5.0) == (ERROR, False, False, False, 0.01)
    assert "beyond 1000 m" in raw.log[-1]
    assert raw.get("position velocity", 2) == before
    assert raw.step(0.01, 0.001) == ERROR
    assert raw.call("Terminate") == OK
    assert raw.call("Reset") == OK
    raw.ready()
    assert raw.step(0.0, 0.001) == OK


def test_fixed_parameters_end_with_initialization_and_tunable_ones_do_not(new: New) -> None:
    raw = new()
    assert raw.enter() == OK
    assert raw.set("mass", 4.0) == OK
    assert raw.call("ExitInitializationMode") == OK
    assert raw.set("mass", 3.0) == ERROR
    assert raw.set("gain", 2.0) == OK
    assert raw.set("position", 2.0) == ERROR
    assert raw.get("mass") == [4.0]


def test_nothing_is_logged_when_logging_is_off_and_a_hash_is_doubled(new: New) -> None:
    raw = new(logging=False)
    assert raw.step(0.0, 1.0) == ERROR
    assert raw.log == []
    names = (ct.c_char_p * 1)(b"logStatusError")
    assert raw.call("SetDebugLogging", ct.c_bool(True), ct.c_size_t(1), names) == OK
    names[0] = b"a#b%d"
    assert raw.call("SetDebugLogging", ct.c_bool(True), ct.c_size_t(1), names) == ERROR
    assert raw.log[-1].startswith("logStatusError: fmi3SetDebugLogging: category a##b%d;")
    raw.ready()
    assert not any(line.startswith("logEvents") for line in raw.log)
    assert raw.environments == {7}
    assert raw.call("SetDebugLogging", ct.c_bool(False), ct.c_size_t(0), None) == OK
    count = len(raw.log)
    assert raw.step(0.0, NAN) == ERROR
    assert len(raw.log) == count


def test_what_the_description_does_not_offer_says_so(new: New) -> None:
    raw = new()
    raw.ready()
    zero, none = ct.c_size_t(0), None
    for name, arguments in {
        "GetOutputDerivatives": (none, zero, none, none, zero),
        "GetNumberOfVariableDependencies": (ct.c_uint(10000), ct.byref(zero)),
        "GetVariableDependencies": (ct.c_uint(10000), none, none, none, none, zero),
        "EvaluateDiscreteStates": (),
        "GetClock": (none, zero, none),
        "SetClock": (none, zero, none),
        "ActivateModelPartition": (ct.c_uint(0), ct.c_double(0.0)),
    }.items():
        assert raw.call(name, *arguments) == ERROR
        assert raw.log[-1].startswith(f"logStatusError: fmi3{name}: not supported by this FMU")
    assert raw.step(0.0, 0.001) == OK
