"""Spectra of signals whose components are known (the first of the paper's three tests)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jounce import dft


@settings(max_examples=40, deadline=None)
@given(first=st.floats(0.5, 10.0), apart=st.floats(1.0, 20.0), phase=st.floats(0, 6), small=st.floats(0.2, 1.0))
def test_two_steady_sines_are_found_with_their_amplitudes(
    first: float, apart: float, phase: float, small: float
) -> None:
    h, n = 0.002, 8000  # 16 s: 2 / T = 0.125 Hz
    t = h * np.arange(n)
    signal = 5 + 2 * np.sin(2 * np.pi * first * t + phase) + 2 * small * np.cos(2 * np.pi * (first + apart) * t)
    found = dft.of(signal, h)
    assert found.resolution == pytest.approx(0.125)
    low, high = sorted(sorted(dft.peaks(found), key=lambda p: -p[1])[:2])
    assert low[0] == pytest.approx(first, abs=0.01) and high[0] == pytest.approx(first + apart, abs=0.01)
    assert low[1] == pytest.approx(2, rel=0.02) and high[1] == pytest.approx(2 * small, rel=0.02)


@pytest.mark.parametrize("ratio", [0.005, 0.02, 0.1])
def test_the_peak_of_what_dies_away_is_where_it_swings(ratio: float) -> None:
    """A damped oscillation of 3 Hz: its peak within half of 2 / T, of the falling window as of none."""
    h, n = 0.002, 10_000
    t = h * np.arange(n)
    signal = np.exp(-ratio * 2 * np.pi * 3 * t) * np.sin(2 * np.pi * 3 * t)
    found = dft.of(signal, h, decaying=True)
    (peak,) = [p for p in dft.peaks(found, 0.5)]
    assert peak[0] == pytest.approx(3.0, abs=found.resolution / 2)


def test_a_constant_has_no_peak() -> None:
    assert list(dft.peaks(dft.of(np.full(1000, 7.0), 0.01))) == []
