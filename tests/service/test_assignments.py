"""NAME=VALUE on the command line."""

from __future__ import annotations

import pytest
from integrator_model import TABLE

from jounce_tools.cli.assignments import pair, scalar
from jounce_tools.errors import UsageError


def test_name_and_value_are_what_stands_around_the_first_equals_sign() -> None:
    assert pair(" a.b = x=y ") == ("a.b", "x=y")


@pytest.mark.parametrize("text", ["gain", "=1", " =1", ""])
def test_what_has_no_name_or_no_equals_sign_is_refused_with_its_option(text: str) -> None:
    with pytest.raises(UsageError, match=f"--input {text!r}: expected NAME=VALUE"):
        pair(text, "--input")


def test_values_are_read_as_their_signal_says() -> None:
    assert scalar(TABLE, "gain = 4.5", "parameter") == ("gain", 4.5)
    assert scalar(TABLE, "mode=FAST", "parameter") == ("mode", 2.0)
    assert scalar(TABLE, "velocity.y=-3", "input") == ("velocity.y", -3.0)


@pytest.mark.parametrize(("text", "words"), [
    ("gain=6", "gain = 6.0: expected a finite number from 0.0 to 5.0"),
    ("gain=nan", "finite"), ("gain=1_0", "a finite number"),
    ("force=1", "no parameter named 'force'"), ("valid=2", "true or false"),
])  # fmt: skip
def test_a_parameter_out_of_bounds_or_unknown_is_refused_with_what_is_allowed(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        scalar(TABLE, text, "parameter")
