"""What metrics are made of: fits, crossings, peaks, means and spectra of sampled signals.

Signals are (n,) arrays over the times t [s], which rise; values between samples are on straight lines. Where a signal
has no such value the result is nan, which a report shows as a dash.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def crossing(t: Array, y: Array, level: float, after: float = -np.inf) -> float:
    """First time after ``after`` at which y goes through ``level`` in either direction [s]."""
    above = y >= level
    for k in np.flatnonzero(above[1:] != above[:-1]):
        time = t[k] + (level - y[k]) / (y[k + 1] - y[k]) * (t[k + 1] - t[k])
        if time >= after:
            return float(time)
    return float("nan")


def steady(t: Array, y: Array, window: float) -> float:
    """Mean of y over the last ``window`` [s]."""
    return float(np.mean(y[t >= t[-1] - window])) if len(t) else float("nan")


def peak(t: Array, y: Array) -> tuple[float, float]:
    """(time [s], value) of the largest |y|, from the parabola through it and its neighbours; the value has y's sign."""
    k = int(np.argmax(np.abs(y)))
    if not 0 < k < len(y) - 1:
        return float(t[k]), float(y[k])
    a, b, c = y[k - 1], y[k], y[k + 1]
    bend = a - 2.0 * b + c
    if bend == 0.0:
        return float(t[k]), float(b)
    s = 0.5 * (a - c) / bend
    return float(t[k] + s * (t[k + 1] - t[k])), float(b - 0.25 * (a - c) * s)


def gradient(x: Array, y: Array, low: float, high: float) -> float:
    """Slope dy/dx of the straight line of least squares over the samples with ``low`` <= x <= ``high``."""
    keep = (x >= low) & (x <= high)
    if keep.sum() < 3 or np.ptp(x[keep]) <= 0.0:
        return float("nan")
    return float(np.polyfit(x[keep], y[keep], 1)[0])


def gradient_at(x: Array, y: Array, at: float, half_width: float) -> float:
    """Slope at ``at`` of the parabola of least squares over the samples within ``half_width``."""
    keep = np.abs(x - at) <= half_width
    if keep.sum() < 5 or np.ptp(x[keep]) <= half_width:
        return float("nan")
    return float(np.polyfit(x[keep] - at, y[keep], 2)[1])


def response(t: Array, u: Array, y: Array, frequency: float) -> complex:
    """Complex gain y over u at ``frequency`` [Hz], by least squares of mean, drift, sine and cosine.

    The window should have whole periods. Phase as usual: negative where y lags.
    """
    phase = 2.0 * np.pi * frequency * (t - t[0])
    basis = np.column_stack([np.ones_like(t), t - t[0], np.cos(phase), np.sin(phase)])
    (_, _, ua, ub), (_, _, ya, yb) = (np.linalg.lstsq(basis, v, rcond=None)[0] for v in (u, y))
    given = complex(ua, -ub)
    return complex(ya, -yb) / given if given else complex("nan")


def bandwidth(frequencies: Array, gains: NDArray[np.complex128]) -> float:
    """Frequency [Hz] at which the phase first lags the lowest frequency's by 45 degrees."""
    phase = np.unwrap(np.angle(gains))
    return crossing(frequencies, phase - phase[0], -np.pi / 4)


def low_pass(t: Array, y: Array, cutoff: float) -> Array:
    """y through a Butterworth filter of second order forth and back, so without lag; -3 dB at ``cutoff`` [Hz].

    Source: Butterworth's poles by the bilinear transform; forth and back each has -1.5 dB there, hence the factor
    (sqrt(2) - 1)^(-1/4) on the corner (Winter, Biomechanics and Motor Control of Human Movement, section 2.2.4.4).
    """
    dt = float(np.mean(np.diff(t)))
    w = np.tan(np.pi * cutoff * dt * (np.sqrt(2.0) - 1.0) ** -0.25)
    a0 = 1.0 + np.sqrt(2.0) * w + w * w
    b, a1, a2 = w * w / a0, 2.0 * (w * w - 1.0) / a0, (1.0 - np.sqrt(2.0) * w + w * w) / a0
    edge = min(len(y) - 1, round(3.0 / (cutoff * dt)))
    padded = np.concatenate([2.0 * y[0] - y[edge:0:-1], y, 2.0 * y[-1] - y[-2 : -edge - 2 : -1]])

    def forth(x: Array) -> Array:
        out = np.empty_like(x)
        x1 = x2 = y1 = y2 = float(x[0])
        for k, value in enumerate(x.tolist()):
            now = b * (value + 2.0 * x1 + x2) - a1 * y1 - a2 * y2
            out[k], x2, x1, y2, y1 = now, x1, value, y1, now
        return out

    smooth = forth(forth(padded)[::-1])[::-1]
    return smooth[edge : edge + len(y)]


def hysteresis(u: Array, y: Array) -> float:
    """Gap between the branches of rising and falling u of a loop y(u) at u = 0: mean upper less mean lower."""
    found: dict[bool, list[float]] = {True: [], False: []}
    for k in range(len(u) - 1):
        if u[k] * u[k + 1] <= 0.0 and u[k] != u[k + 1]:
            s = u[k] / (u[k] - u[k + 1])
            found[bool(u[k + 1] > u[k])].append(float(y[k] + s * (y[k + 1] - y[k])))
    if not found[True] or not found[False]:
        return float("nan")
    return abs(float(np.mean(found[True]) - np.mean(found[False])))


def distance_between(t: Array, speed: Array, begin: float, end: float) -> float:
    """Way from ``begin`` to ``end`` [s] at ``speed`` [m/s] over t, by the trapezoidal rule [m]."""
    if not np.isfinite(begin) or not np.isfinite(end):
        return float("nan")
    inner = t[(t > begin) & (t < end)]
    at = np.concatenate([[begin], inner, [end]])
    return float(np.trapezoid(np.interp(at, t, speed), at))
