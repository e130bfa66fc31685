"""Functions with the same bits on every platform: only + - * / and square roots, which are all correctly rounded.

A C library's sin or exp, and an FFT that another processor orders differently, may round otherwise.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_PI_HALF = (1.57079632673412561417, 6.07710050650619224932e-11)  # of Cody and Waite, as jn_trig.h has them
_LN2 = (6.93147180369123816490e-01, 1.90821492927058770002e-10)


def cos_sin(x: Array) -> tuple[Array, Array]:
    """cos x and sin x, for |x| up to 1e5."""
    k = np.floor(x * (2 / math.pi) + 0.5)
    y = (x - k * _PI_HALF[0]) - k * _PI_HALF[1]
    z = y * y
    sine, cosine = np.zeros_like(y), np.zeros_like(y)
    for n in range(8, 0, -1):
        sine = (-1) ** n / math.factorial(2 * n + 1) + z * sine
        cosine = (-1) ** n / math.factorial(2 * n) + z * cosine
    sine, cosine = y + y * (z * sine), 1.0 + z * cosine
    quadrant = k.astype(np.int64) & 3
    c = np.choose(quadrant, [cosine, -sine, -cosine, sine])
    return c, np.choose(quadrant, [sine, cosine, -sine, -cosine])


def exp(x: Array) -> Array:
    """e^x, for |x| up to 700."""
    k = np.floor(x / (_LN2[0] + _LN2[1]) + 0.5)
    y = (x - k * _LN2[0]) - k * _LN2[1]
    total = np.zeros_like(y)
    for n in range(14, -1, -1):
        total = 1 / math.factorial(n) + y * total
    return np.asarray(np.ldexp(total, k.astype(np.int64)))


def bessel_k1_times(a: Array) -> Array:
    """a K_1(a) for a > 0: the integral of e^(-a cosh t) cosh t (Abramowitz and Stegun 9.6.24) by the trapezoidal rule,
    which converges exponentially for it.
    """
    step = 1 / 16
    t = step * np.arange(128.0)
    grows = exp(t)
    cosh = 0.5 * (grows + 1 / grows)
    total = np.zeros_like(a)
    for k, c in enumerate(cosh):
        x = np.minimum(a * c, 700.0)
        total = total + (0.5 if k == 0 else 1.0) * c * exp(-x)
    return a * step * total


def fourier(re: Array, im: Array) -> Array:
    """Real part of sum_j (re + i im)_j e^(2 pi i j k / n) for k = 0 .. n - 1; n a power of two (Cooley and Tukey)."""
    n = len(re)
    bits = n.bit_length() - 1
    if n != 1 << bits:
        raise ValueError(f"{n} numbers: expected a power of two")
    places = np.zeros(n, dtype=np.int64)
    for k in range(bits):
        places |= ((np.arange(n) >> k) & 1) << (bits - 1 - k)
    re, im = re[places], im[places]
    half = 1
    while half < n:
        c, s = cos_sin(np.arange(half, dtype=np.float64) * (math.pi / half))
        re, im = re.reshape(-1, 2, half), im.reshape(-1, 2, half)
        a, b, x, y = re[:, 0], im[:, 0], re[:, 1], im[:, 1]
        p, q = x * c - y * s, x * s + y * c
        re, im = np.stack([a + p, a - p], 1).reshape(-1), np.stack([b + q, b - q], 1).reshape(-1)
        half *= 2
    return re
