"""Which values from the wire are let in, and where a selection's lie."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from integrator_model import TABLE

from jounce_service import errors
from jounce_service.values import check, select

EVERY = select(TABLE.inputs, ["*"], "input")
#: velocity.x and .y within +-10, force within 0 and 100, open without bounds.
usual = [st.floats(-11.0, 11.0), st.floats(-11.0, 11.0), st.floats(-1.0, 101.0), st.floats()]
odd = st.sampled_from([math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, 10.0, 100.0, math.nextafter(10.0, 11.0)])


def allowed(scalar: Any, value: float) -> bool:
    return math.isfinite(value) and scalar.minimum <= value <= scalar.maximum


@given(st.tuples(*(x | odd for x in usual)))
@example((-0.0, 0.0, -0.0, -0.0))
@example((10.0, -10.0, 100.0, 1.7976931348623157e308))
def test_values_come_through_bit_by_bit_or_the_first_bad_one_is_named(values: tuple[float, ...]) -> None:
    bad = [s.name for s, value in zip(EVERY.scalars, values, strict=True) if not allowed(s, value)]
    if not bad:
        assert check(EVERY, values).tobytes() == np.array(values).tobytes()
        return
    with pytest.raises((errors.NotFinite, errors.InputOutOfRange)) as caught:
        check(EVERY, values)
    assert caught.value.field == bad[0]


@given(st.lists(st.sampled_from([s.name for s in TABLE.outputs]), unique=True))
def test_a_selection_has_one_place_for_each_of_its_scalars_in_the_order_asked_for(names: list[str]) -> None:
    selection, y = select(TABLE.outputs, names, "output"), np.arange(len(TABLE.outputs)) + 0.5
    assert y[selection.places].tolist() == y[selection.columns].tolist() == [
        y[[s.name for s in TABLE.outputs].index(name)] for name in names]
