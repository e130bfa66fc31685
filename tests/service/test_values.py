"""Which values from the wire are accepted, and the indices of a selection."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from integrator_model import TABLE

from jounce.data import load_vehicle
from jounce.models.double_wishbone.signals import table
from jounce.values import BadValue, double
from jounce_fmu.build.library import BuildError
from jounce_fmu.description.starts import changed
from jounce_fmu.importer.host import FmuError, open_builtin
from jounce_service.hosting.values import check, parse, select
from jounce_service.transport import errors
from jounce_tools.cli.assignments import scalar as from_command_line
from jounce_tools.errors import UsageError

EVERY = select(TABLE.inputs, ["*"], "input")
#: velocity.x and .y within +-10, force within 0 and 100, open without bounds.
usual = [st.floats(-11.0, 11.0), st.floats(-11.0, 11.0), st.floats(-1.0, 101.0), st.floats()]
odd = st.sampled_from([math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, 10.0, 100.0, math.nextafter(10.0, 11.0), 10.1])


def allowed(scalar: Any, value: float) -> bool:
    return math.isfinite(value) and scalar.minimum - 1e-8 <= value <= scalar.maximum * (1.0 + 1e-9)


@given(st.tuples(*(x | odd for x in usual)))
@example((-0.0, 0.0, -0.0, -0.0))
@example((10.0, -10.0, 100.0, 1.7976931348623157e308))
def test_values_come_through_bit_by_bit_or_the_first_bad_one_is_named(values: tuple[float, ...]) -> None:
    bad = [s.name for s, value in zip(EVERY.scalars, values, strict=True) if not allowed(s, value)]
    if not bad:
        meant = [min(max(v, s.minimum), s.maximum) for s, v in zip(EVERY.scalars, values, strict=True)]
        assert check(EVERY, values).tobytes() == np.array(meant).tobytes()
        return
    with pytest.raises((errors.NotFinite, errors.InputOutOfRange)) as caught:
        check(EVERY, values)
    assert caught.value.field == bad[0]


@given(st.lists(st.sampled_from([s.name for s in TABLE.outputs]), unique=True))
def test_a_selection_has_one_place_for_each_of_its_scalars_in_the_order_asked_for(names: list[str]) -> None:
    selection, y = select(TABLE.outputs, names, "output"), np.arange(len(TABLE.outputs)) + 0.5
    assert y[selection.places].tolist() == y[selection.columns].tolist() == [
        y[[s.name for s in TABLE.outputs].index(name)] for name in names]


@pytest.mark.parametrize(("name", "texts"), [
    ("init.equilibrium", ["true", "True", "TRUE", "false", "1", "0.0", "yes", "2", "\uff11", ""]),
    ("integrator", ["RK4", "ROSENBROCK", "2", "2.0", "rk4", "1_0", "RK5"]),
    ("terrain.mu", ["0.5", ".5", "5E-1", "0.5_0", "1,0", "nan", "inf", "true", "\uff11", ""]),
])  # fmt: skip
def test_a_text_means_the_same_wherever_it_comes_in(name: str, texts: list[str]) -> None:
    """In the starts of an export, in a host's parameters, over the wire and on the command line."""
    signals = table(load_vehicle("hmmwv"))
    scalar = signals.by_name(name)
    with open_builtin().instance("text") as instance:
        for text in texts:
            ways = [lambda t: changed(signals, {name: t}).by_name(name).start, lambda t: parse(scalar, t),
                    lambda t: from_command_line(signals, f"{name}={t}", "parameter")[1]]  # fmt: skip
            try:
                value = double(scalar, text)
            except BadValue:
                for way in ways:
                    with pytest.raises((BuildError, errors.ServiceError, UsageError)):
                        way(text)
                with pytest.raises(FmuError):
                    instance.set_values({name: text})
            else:
                assert [way(text) for way in ways] == [value] * len(ways)
                instance.set_values({name: text})


def test_a_former_name_of_an_item_is_taken_with_a_warning() -> None:
    integrator = table(load_vehicle("hmmwv")).by_name("integrator")
    with pytest.warns(FutureWarning, match="integrator = ROS2: the name is ROSENBROCK now"):
        assert parse(integrator, "ROS2") == 2.0
    assert parse(integrator, "ROSENBROCK") == 2.0


def test_a_refusal_on_the_wire_has_the_reason_the_value_and_what_is_expected() -> None:
    scalar = TABLE.by_name("gain")
    for requested, kind in [("1_0", errors.BadField), (math.nan, errors.NotFinite), (6.0, errors.InputOutOfRange)]:
        with pytest.raises(kind) as caught:
            parse(scalar, requested)
        error = caught.value
        assert (error.field, error.requested, error.allowed) == (
            "gain", repr(requested), f"a finite number from 0.0 to 5.0{' ' + scalar.signal.unit}".removesuffix(" 1"))
