"""What a value means for a signal: the same from every way in."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jounce.signals import XYZ, Scalar, Signal, SignalTable
from jounce.values import (
    BadValue,
    NotFinite,
    OutOfRange,
    check,
    check_direction,
    double,
    in_use,
    number,
    plain_bounds,
    read,
)


def scalar(kind: Any, low: float = -math.inf, high: float = math.inf, items: tuple[str, ...] = ()) -> Scalar:
    return Scalar("x", Signal("x", "parameter", "N", "", type=kind, minimum=low, maximum=high, items=items), 0, 0.0, 1)


REAL = scalar("Real")
FORCE = scalar("Real", 0.0, 100.0)
COUNT = scalar("Integer", -(2.0**53), 2.0**53)
FLAG = scalar("Boolean", 0.0, 1.0)
MODE = scalar("Enumeration", 1.0, 3.0, ("SLOW", "FAST", "7"))


# ------------------------------------------------------------------------------------- texts


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_what_any_program_prints_of_a_double_reads_back_as_that_double(value: float) -> None:
    for text in (repr(value), f"{value:.17g}", f"{value:.17E}", f" {value!r}\n"):
        assert double(REAL, text) == value


@given(st.floats(), st.sampled_from([REAL, FORCE, COUNT, FLAG, MODE, scalar("Real", -math.inf, 2.0),
                                     Scalar("x", replace(FORCE.signal, least_nonzero=5.0), 0, 0.0, 1)]))  # fmt: skip
def test_a_float_within_the_plain_bounds_is_its_own_double(value: float, s: Scalar) -> None:
    least, most = plain_bounds(s)
    if least <= value <= most:
        assert double(s, value) == value


def test_a_real_without_a_gap_has_its_bounds_as_plain_bounds_and_nothing_else_has_any() -> None:
    assert plain_bounds(FORCE) == (0.0, 100.0)
    assert plain_bounds(REAL) == (-sys.float_info.max, sys.float_info.max)
    gap = Scalar("x", replace(FORCE.signal, least_nonzero=5.0), 0, 0.0, 1)
    assert all(plain_bounds(s) == (math.inf, -math.inf) for s in (COUNT, FLAG, MODE, gap))


#: XML Schema 1.1 part 2, 3.3.5.2: floatRep.
@given(st.from_regex(r"(\+|-)?([0-9]+(\.[0-9]*)?|\.[0-9]+)([Ee](\+|-)?[0-9]{1,2})?", fullmatch=True))
def test_every_literal_of_xml_schema_is_a_number(text: str) -> None:
    assert number(text) == float(text.strip())


@pytest.mark.parametrize("text", ["1_0", "1_000.5", "１０", "٣", "1,5", "0x10", "1e", "e5", ".", "", " ", "--1", "1 2",
                                  "1\u00a0", "one", "1f", "1e5.0", "None", "true"])  # fmt: skip
def test_what_only_some_programs_take_for_a_number_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="expected a number"):
        number(text)
    for s in (REAL, COUNT):
        with pytest.raises(BadValue) as caught:
            double(s, text)
        assert (caught.value.name, caught.value.requested) == ("x", repr(text))


@given(st.text(max_size=6))
def test_any_text_is_a_double_or_refused(text: str) -> None:
    for s in (REAL, COUNT, FLAG, MODE):
        try:
            assert math.isfinite(double(s, text))
        except BadValue as error:
            assert error.expected


@pytest.mark.parametrize(("text", "value"), [
    ("true", 1.0), ("True", 1.0), ("TRUE", 1.0), ("1", 1.0), ("1.0", 1.0), (" true ", 1.0),
    ("false", 0.0), ("False", 0.0), ("0", 0.0), (True, 1.0), (False, 0.0), (np.True_, 1.0), (1, 1.0), (0.0, 0.0),
])  # fmt: skip
def test_a_boolean_is_true_or_false_in_any_case_or_one_or_zero(text: object, value: float) -> None:
    assert double(FLAG, text) == value


@pytest.mark.parametrize("text", ["yes", "on", "t", "2", "-1", "0.5", 2, 0.5, "", "nan", math.nan, None])
def test_nothing_else_is_a_truth_value(text: object) -> None:
    with pytest.raises(BadValue, match="expected true or false"):
        double(FLAG, text)


@pytest.mark.parametrize(("given_", "value"), [("SLOW", 1.0), ("FAST", 2.0), ("2", 2.0), (2, 2.0), (2.0, 2.0),
                                               (" FAST ", 2.0), ("7", 3.0)])  # fmt: skip
def test_an_enumeration_is_the_name_of_an_item_or_its_number(given_: object, value: float) -> None:
    assert double(MODE, given_) == value


@pytest.mark.parametrize("given_", ["fast", "SLOWER", "4", 0, 1.5, "1.5", True, "", b"FAST"])
def test_no_other_name_or_number_is_an_item(given_: object) -> None:
    with pytest.raises(BadValue, match="expected SLOW, FAST, 7, or the number of one from 1 to 3"):
        double(MODE, given_)


def test_an_enumeration_of_which_one_item_is_allowed_says_that_one() -> None:
    only = replace(MODE, signal=replace(MODE.signal, minimum=2.0, maximum=2.0))
    assert double(only, "FAST") == 2.0
    with pytest.raises(OutOfRange, match="expected FAST, which is all that this model has"):
        double(only, "SLOW")


# ------------------------------------------------------------------------------------- numbers


@given(st.integers(-(2**60), 2**60))
def test_a_whole_number_comes_through_exactly_or_not_at_all(value: int) -> None:
    for requested in (value, str(value)):
        if abs(value) <= 2**53:
            assert int(double(COUNT, requested)) == value
        else:
            with pytest.raises(BadValue):
                double(COUNT, requested)
        try:
            assert int(read("x", COUNT.signal, requested)) == value
        except BadValue:
            assert int(float(value)) != value


@pytest.mark.parametrize("value", [2**53 + 1, str(2**53 + 1), "9007199254740993.0", np.int64(2**53 + 1)])
def test_a_whole_number_does_not_become_its_neighbour(value: object) -> None:
    with pytest.raises(BadValue, match="a whole number"):
        read("x", COUNT.signal, value)


@pytest.mark.parametrize("value", [1.5, "1.5", "1e-3", Fraction(3, 2), np.float32(0.5)])
def test_a_fraction_is_no_whole_number(value: object) -> None:
    assert double(FORCE, value) == float(value)  # type: ignore[arg-type]
    with pytest.raises(BadValue, match="expected a whole number"):
        double(COUNT, value)


@pytest.mark.parametrize("value", ["nan", "NaN", "-nan", "inf", "-INF", "Infinity", "1e400", "-1e999999999", math.nan,
                                   math.inf, 10**400, -(10**400)])  # fmt: skip
def test_what_is_not_finite_is_refused_as_such(value: object) -> None:
    for s in (REAL, FORCE, COUNT):
        with pytest.raises(NotFinite):
            double(s, value)


def test_numbers_of_any_size_and_length_are_decided_at_once() -> None:
    assert double(REAL, "1e-99999999999999999999") == 0.0
    assert double(REAL, "0." + "0" * 100_000 + "1") == 0.0
    with pytest.raises(NotFinite):
        double(COUNT, "9" * 100_000)


@pytest.mark.parametrize("value", [True, np.True_, None, [1.0], (1.0,), b"1", 1j, object()])
def test_what_is_no_number_is_refused_where_one_is_due(value: object) -> None:
    for s in (REAL, COUNT):
        with pytest.raises(BadValue, match="expected a (finite|whole) number"):
            double(s, value)


@given(st.floats())
def test_bounds_hold_but_for_rounding(value: float) -> None:
    """Rounding is 1e-9 of a bound, and of the nominal value, 1 here, where the bound is 0."""
    if -1e-9 <= value <= 100.0 * (1.0 + 1e-9):
        assert check(FORCE, value) == min(max(value, 0.0), 100.0)
    else:
        with pytest.raises(OutOfRange if math.isfinite(value) else NotFinite):
            check(FORCE, value)


@pytest.mark.parametrize(("s", "words"), [
    (FORCE, "x = 101.0: expected a finite number from 0.0 to 100.0 N"),
    (scalar("Integer", 1.0), "x = -1.0: expected a whole number from 1.0 N"),
    (scalar("Real", high=-5.0), "x = 101.0: expected a finite number to -5.0 N"),
])  # fmt: skip
def test_a_refusal_names_the_value_the_bounds_and_the_unit(s: Scalar, words: str) -> None:
    with pytest.raises(OutOfRange) as caught:
        double(s, 101 if "101" in words else -1)
    assert str(caught.value) == words


@pytest.mark.parametrize(("low", "high", "nominal", "given", "meant"), [
    (0.0, 2.0, 1.0, -1e-10, 0.0), (0.0, 1e6, 1000.0, -1e-7, 0.0), (-1.0, 1.0, 1.0, 1.0 + 2e-16, 1.0),
    (-1e6, 1e6, 1.0, -1e6 - 1e-4, -1e6), (0.05, 1.0, 1.0, 0.05 - 1e-12, 0.05), (0.0, 0.0, 1.0, 1e-10, 0.0),
])  # fmt: skip
def test_rounding_beyond_a_bound_is_that_bound(
        low: float, high: float, nominal: float, given: float, meant: float) -> None:
    signal = Signal("x", "input", "1", "", minimum=low, maximum=high, nominal=nominal)
    assert double(Scalar("x", signal, 0, 0.0, 1), given) == meant


@pytest.mark.parametrize(("low", "high", "nominal", "given"), [
    (0.0, 2.0, 1.0, -2e-9), (0.0, 1e6, 1000.0, -2e-6), (-1.0, 1.0, 1.0, 1.0 + 2e-9), (-1e6, 1e6, 1.0, 1e6 + 2e-3),
])  # fmt: skip
def test_more_than_rounding_is_refused(low: float, high: float, nominal: float, given: float) -> None:
    signal = Signal("x", "input", "1", "", minimum=low, maximum=high, nominal=nominal)
    with pytest.raises(OutOfRange):
        double(Scalar("x", signal, 0, 0.0, 1), given)


def test_whole_numbers_have_no_rounding() -> None:
    signal = Signal("x", "input", "1", "", minimum=0.0, maximum=1e9, type="Integer")
    with pytest.raises(OutOfRange):
        double(Scalar("x", signal, 0, 0.0, 1), 1_000_000_001)


def test_an_input_has_bounds_only_where_it_is_used() -> None:
    table = SignalTable("t", (
        Signal("mu", "input", "1", "", minimum=0.0, maximum=2.0, used_where=("source", "OTHER")),
        Signal("force", "input", "N", "", minimum=0.0, maximum=2.0),
        Signal("source", "parameter", "1", "", start=(1.0,), minimum=1.0, maximum=2.0, type="Enumeration",
               items=("OWN", "OTHER")),
    ))  # fmt: skip
    mu, force = in_use(table, {})
    assert double(mu, -7.0) == -7.0
    with pytest.raises(OutOfRange):
        double(force, -7.0)
    with pytest.raises(NotFinite):
        double(mu, math.nan)
    mu, _ = in_use(table, {"source": 2.0})
    with pytest.raises(OutOfRange):
        double(mu, -7.0)


@given(st.lists(st.floats(-1e300, 1e300), min_size=3, max_size=3))
def test_a_direction_may_have_any_length_and_must_point_up(vector: list[float]) -> None:
    """Compared with exact arithmetic: z2 >= 0.05^2 (x2 + y2 + z2), away from the bound itself."""
    signal = Signal("n", "input", "1", "", XYZ, least_up=0.05)
    x, y, z = map(Fraction, vector)
    excess = z * abs(z) - Fraction(1, 400) * (x * x + y * y + z * z)
    if abs(excess) < Fraction(1, 10**6) * (x * x + y * y + z * z):
        return
    if excess > 0:
        check_direction("n", signal, vector)
    else:
        with pytest.raises(OutOfRange, match="of any length"):
            check_direction("n", signal, vector)


@pytest.mark.parametrize("vector", [(0.0, 0.0, 5e-324), (0.0, 0.0, 1.7e308), (1e-320, 0.0, 1e-320), (3.0, 4.0, 1.0)])
def test_very_short_and_very_long_directions_are_directions(vector: tuple[float, ...]) -> None:
    check_direction("n", Signal("n", "input", "1", "", XYZ, least_up=0.05), vector)


def test_no_vector_at_all_is_no_direction() -> None:
    with pytest.raises(OutOfRange, match=r"n = \(0.0, 0.0, 0.0\): expected a vector of any length"):
        check_direction("n", Signal("n", "input", "1", "", XYZ, least_up=0.05), (0.0, 0.0, 0.0))


@pytest.mark.parametrize("value", [0.0, -1.0, 0.9, 2e5, 3e5, 4e5])
def test_an_input_with_a_least_value_besides_zero_takes_both(value: float) -> None:
    assert check(pressure(), value) == value


@pytest.mark.parametrize("value", [-2.0, 2.4, 1.9e5, 4.1e5])
def test_an_input_with_a_least_value_besides_zero_refuses_what_lies_between(value: float) -> None:
    with pytest.raises(OutOfRange, match="expected 0 or a finite number from 200000.0 to 400000.0 Pa"):
        check(pressure(), value)


def pressure() -> Scalar:
    signal = Signal("p", "input", "Pa", "", minimum=-1.0, maximum=4e5, least_nonzero=2e5, nominal=1e5)
    return SignalTable("m", (signal,)).inputs[0]
