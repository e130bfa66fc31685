"""States that have decayed become 0: as subnormal numbers, which never end, they would slow down every further step."""

from __future__ import annotations

import ctypes as ct
import ctypes.util
import platform
import sys

import numpy as np
import pytest
from test_exchange import Exchange

from jounce_fmu.importer.host import Factory, FmuInstance, open_builtin

#: FE_UNDERFLOW of glibc on this processor: a result was subnormal and had to be rounded.
UNDERFLOW = 0x10
#: States below it become 0.
BOUND = 1e-100


def test_a_state_that_has_decayed_is_zero(factory: Factory) -> None:
    with factory.instance("osc") as fmu:
        fmu.setup({"x0": 1e3 * BOUND, "damping": 8.0})
        fmu.step(1000)
        assert BOUND < abs(fmu.get_outputs()[0]) < 1e3 * BOUND
        fmu.step(9000)
        assert not fmu.get_outputs()[:3].any()


def test_states_above_the_bound_keep_every_digit(factory: Factory) -> None:
    """The equations are linear and the scale is a power of two, so that all digits are those of the usual motion."""
    scale = 2.0**-300
    with factory.instance("usual") as usual, factory.instance("small") as small:
        usual.setup({"x0": 0.1})
        small.setup({"x0": 0.1 * scale})
        for _ in range(500):
            usual.step(7)
            small.step(7)
            assert np.array_equal(small.get_outputs()[:3], scale * usual.get_outputs()[:3])


def test_model_exchange_takes_such_states_for_zero_too(factory: Factory) -> None:
    raw = Exchange(str(factory.library), factory.interface.guid)
    raw.start()
    raw.vector("SetContinuousStates", 0.1 * BOUND, -0.1 * BOUND)
    assert raw.vector("GetDerivatives") == [0.0, 0.0]
    assert raw.get("position", "velocity", "acceleration") == [0.0, 0.0, 0.0]
    raw.vector("SetContinuousStates", 2.0 * BOUND, 0.0)
    assert raw.vector("GetDerivatives") == [0.0, pytest.approx(-50.0 * BOUND)]
    assert raw.vector("GetContinuousStates") == [2.0 * BOUND, 0.0]
    raw.free()


def underflows(fmu: FmuInstance, ticks: int) -> bool:
    """Whether a result of these ticks or of the outputs behind them was subnormal."""
    math = ct.CDLL(ct.util.find_library("m"))
    math.feclearexcept(UNDERFLOW)
    fmu.step(ticks)
    fmu.get_outputs()
    return bool(math.fetestexcept(UNDERFLOW))


@pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="the flag's number is that of Linux on x86"
)
@pytest.mark.parametrize("vehicle", ["hmmwv", "hmmwv_pedals", "class3"])
def test_a_vehicle_computes_with_no_subnormal_numbers_however_long_nothing_happens(vehicle: str) -> None:
    factory = open_builtin(vehicle)
    pedals = any(s.name == "brake_pedal" for s in factory.table.inputs)
    with factory.instance("a") as fmu:
        fmu.setup({})
        if pedals:
            fmu.set_values({"brake_pedal": 0.5})
        assert not underflows(fmu, 1000)
        if pedals:
            fmu.set_values({"brake_pedal": 0.0, "throttle": 0.3})
        found = [underflows(fmu, 1000) for _ in range(40)]
    assert not any(found)
