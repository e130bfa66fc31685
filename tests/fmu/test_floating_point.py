"""States that have decayed become 0: as subnormal numbers, which never end, they would slow down every further step.
A host may trap exceptions of floating point or flush to zero."""

from __future__ import annotations

import ctypes as ct
import ctypes.util
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from test_exchange import Exchange

from jounce_fmu.importer.host import Factory, FmuInstance, open_builtin

#: FE_INVALID, FE_DIVBYZERO, FE_OVERFLOW and FE_UNDERFLOW of glibc on this processor; the last one tells that a result
#: was subnormal and had to be rounded.
EXCEPTIONS = 0x01 | 0x04 | 0x08 | 0x10
#: Place of the control register MXCSR among the words of glibc's environment, and its bits that flush to zero.
MXCSR, FLUSH = 7, 0x8040
#: States below it become 0.
BOUND = 1e-100
VEHICLES = ("hmmwv", "hmmwv_pedals", "class3")


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


@pytest.fixture
def libm() -> ct.CDLL:
    if sys.platform != "linux" or platform.machine() != "x86_64":
        pytest.skip("flags and environment of floating point have these places on Linux on x86")
    return ct.CDLL(ct.util.find_library("m"))


def drive(fmu: FmuInstance) -> Iterator[None]:
    """A second with the brakes on, then forty under throttle, or at rest without pedals; yields after each second."""
    pedals = any(s.name == "brake_pedal" for s in fmu.table.inputs)
    for second in range(41):
        if pedals and second < 2:
            fmu.set_values({"brake_pedal": 0.5 * (second == 0), "throttle": 0.3 * (second == 1)})
        fmu.step(1000)
        fmu.get_outputs()
        yield


@pytest.mark.parametrize("vehicle", VEHICLES)
def test_a_vehicle_raises_no_exception_of_floating_point_on_which_a_host_may_trap(vehicle: str, libm: ct.CDLL) -> None:
    factory = open_builtin(vehicle)
    libm.feclearexcept(EXCEPTIONS)
    with factory.instance("a") as fmu:
        fmu.setup({})
        for _ in drive(fmu):
            assert not libm.fetestexcept(EXCEPTIONS)


@contextmanager
def flushing(libm: ct.CDLL, on: bool) -> Iterator[None]:
    """With ``on`` the processor takes subnormal numbers for 0 and makes none, as some hosts have it."""
    kept, changed = ((ct.c_uint32 * 8)() for _ in range(2))
    libm.fegetenv(kept)
    changed[:] = kept[:]
    changed[MXCSR] |= FLUSH if on else 0
    libm.fesetenv(changed)
    try:
        yield
    finally:
        libm.fesetenv(kept)


@pytest.mark.parametrize("vehicle", VEHICLES)
def test_a_host_whose_processor_flushes_to_zero_gets_the_same_bits(vehicle: str, libm: ct.CDLL) -> None:
    found = []
    for on in (False, True):
        with open_builtin(vehicle).instance("a") as fmu:
            fmu.setup({})
            with flushing(libm, on):
                assert (1e-320 * float(len(vehicle)) == 0.0) == on
                for _ in drive(fmu):
                    pass
                found.append((fmu.get_outputs().tobytes(), fmu.get_state()))
    assert found[0] == found[1]
