"""Spectra by the discrete Fourier transform, and their peaks (Lesiv 2011, "Results and discussion")."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: Zeros behind a signal, as a multiple of it: lines four times as dense.
PADDED = 4


@dataclass(frozen=True)
class Spectrum:
    """Magnitudes of a signal over frequency."""

    frequency: Array
    """[Hz]"""
    magnitude: Array
    """Amplitude of a steady sine, in the signal's unit."""
    resolution: float
    """Two peaks that are closer are one: 2 / T [Hz]."""


def of(signal: Array, interval: float, *, decaying: bool = False) -> Spectrum:
    """Of a signal sampled at an interval [s]: its mean removed, Hann's window, zeros behind.

    ``decaying`` for what dies away from the start on: the falling half of the window alone.
    """
    n = len(signal)
    at = np.arange(n) / n
    window = np.cos(np.pi * at / 2) ** 2 if decaying else np.sin(np.pi * at) ** 2
    values = np.abs(np.fft.rfft((signal - signal.mean()) * window, PADDED * n)) * 2 / window.sum()
    return Spectrum(np.fft.rfftfreq(PADDED * n, interval).astype(np.float64), values, 2 / (n * interval))


def peaks(spectrum: Spectrum, least: float = 0.05) -> Iterator[tuple[float, float]]:
    """(frequency [Hz], magnitude) of the peaks of at least that part of the highest, from low frequencies on.

    Each is the top of the parabola through the logarithms of three lines.
    """
    frequency, m = spectrum.frequency, spectrum.magnitude
    inner = np.flatnonzero((m[1:-1] > m[:-2]) & (m[1:-1] >= m[2:]) & (m[1:-1] >= least * m.max())) + 1
    for k in inner[frequency[inner] > spectrum.resolution]:
        low, top, high = np.log(m[k - 1 : k + 2] + 1e-300)
        bend = low - 2 * top + high
        offset = 0.5 * (low - high) / bend if bend < 0 else 0.0
        height = float(np.exp(top - 0.25 * (low - high) * offset))
        yield float(frequency[k] + offset * (frequency[1] - frequency[0])), height
