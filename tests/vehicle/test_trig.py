"""The trigonometry of the emitted code: accurate, and the same bits in both lane widths."""

from __future__ import annotations

import ctypes
import math

import numpy as np
import pytest
from harness import compiled
from hypothesis import given, settings
from hypothesis import strategies as st

HARNESS = """
#define JN_LANES 1
#include "jn_lanes.h"
#undef JN_LANES
#define JN_LANES 4
#include "jn_lanes.h"
#define EACH(f) f(0, sin) f(1, cos) f(2, atan) f(3, asin)
#define ONE(k, name) if (which == k) { for (c = 0; c < 4; c++) out[c] = jn_##name##_1(y[c]); }
#define FOUR(k, name) if (which == k) JN_PUT(out, 0, jn_##name##_4(JN_GET(y, 0)));
void one(int which, const double *y, const double *x, double *out) {
    int c;
    EACH(ONE)
    if (which == 4) for (c = 0; c < 4; c++) out[c] = jn_atan2_1(y[c], x[c]);
}
void four(int which, const double *y, const double *x, double *out) {
    EACH(FOUR)
    if (which == 4) JN_PUT(out, 0, jn_atan2_4(JN_GET(y, 0), JN_GET(x, 0)));
}
"""
FUNCTIONS = (math.sin, math.cos, math.atan, math.asin, math.atan2)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    source = HARNESS.replace("four(int", "__attribute__((target(\"avx2\"))) four(int")
    return compiled(source, tmp_path_factory.mktemp("trig"))


def _both(library: ctypes.CDLL, which: int, y: list[float], x: list[float]) -> np.ndarray:
    arrays = [np.array(y), np.array(x), np.zeros(4)]
    results = []
    for function in (library.one, library.four):
        function(which, *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
        results.append(arrays[2].copy())
    assert results[0].tobytes() == results[1].tobytes()
    return results[0]


#: Numbers of mechanisms: none below 1e-290, where quotients lose digits.
numbers = st.floats(-1.0, 1.0).map(lambda v: v if abs(v) > 1e-250 else 0.0)
four_of = st.lists(numbers, min_size=4, max_size=4)


@settings(max_examples=300, deadline=None)
@given(y=four_of, x=four_of, scale=st.sampled_from([1e-9, 0.1, 1.0, 10.0, 1e4]))
def test_every_function_is_accurate_to_a_few_units_in_the_last_place(
    library: ctypes.CDLL, y: list[float], x: list[float], scale: float
) -> None:
    for which, exact in enumerate(FUNCTIONS):
        factor = 1.0 if exact is math.asin else scale
        ys = [v * factor for v in y]
        got = _both(library, which, ys, x)
        want = [exact(a, b) if exact is math.atan2 else exact(a) for a, b in zip(ys, x, strict=True)]
        # sin and cos lose the part of pi/2 that two doubles cannot hold, times the number of quadrants
        slack = 1e-16 + (6e-27 * scale if which < 2 else 0.0)
        for g, w in zip(got, want, strict=True):
            assert abs(g - w) <= 1e-15 * abs(w) + slack


def test_the_quadrants_and_the_axes_are_right(library: ctypes.CDLL) -> None:
    y, x = [0.0, 1.0, 0.0, -1.0], [1.0, 0.0, -1.0, 0.0]
    assert np.allclose(_both(library, 4, y, x), [0.0, math.pi / 2, math.pi, -math.pi / 2], rtol=0, atol=1e-16)
    assert np.allclose(_both(library, 4, [1.0, 1.0, -1.0, -1.0], [1.0, -1.0, -1.0, 1.0]),
                       [math.pi / 4, 3 * math.pi / 4, -3 * math.pi / 4, -math.pi / 4], rtol=1e-15)  # fmt: skip
    assert _both(library, 4, [0.0] * 4, [0.0] * 4)[0] == 0.0
    ends = [1.0, -1.0, 0.5, 0.0]
    assert np.allclose(_both(library, 3, ends, [0.0] * 4), np.arcsin(ends), rtol=1e-15)
