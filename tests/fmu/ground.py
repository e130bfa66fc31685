"""The model's terrain queries by themselves, compiled from its C."""

from __future__ import annotations

import ctypes as ct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from jounce_fmu.build.library import FLAGS, PACKAGE, compiler, library_suffix

Array = NDArray[np.float64]

_MANY = """
#include <math.h>
#include "jn_terrain.h"
void many(const jn_terrain *t, const double *at, int n, double *out) {
    int k, i;
    for (k = 0; k < n; k++) {
        jn_ground g;
        jn_terrain_query(t, at[2 * k], at[2 * k + 1], &g);
        out[8 * k] = g.height, out[8 * k + 1] = g.slope[0], out[8 * k + 2] = g.slope[1];
        for (i = 0; i < 3; i++) out[8 * k + 3 + i] = g.bend[i];
        out[8 * k + 6] = g.friction, out[8 * k + 7] = g.off;
    }
}
/* Places one by one and four by four: 1 if the rows of numbers are not the bits of queries. */
int lanes_differ(const jn_terrain *t, const double *x, const double *y, int n) {
    int k, lane, differ = 0;
    for (k = 0; k + 4 <= n; k += 4) {
        double one[JN_GROUND_N], four[4 * JN_GROUND_N];
        jn_terrain_under_4(t, x + k, y + k, four);
        for (lane = 0; lane < 4; lane++) {
            jn_ground g;
            double wanted[JN_GROUND_N];
            int i;
            jn_terrain_query(t, x[k + lane], y[k + lane], &g);
            wanted[JN_GROUND_HEIGHT] = g.height, wanted[JN_GROUND_FRICTION] = g.friction, wanted[JN_GROUND_OFF] = g.off;
            wanted[JN_GROUND_SLOPE_X] = g.slope[0], wanted[JN_GROUND_SLOPE_Y] = g.slope[1];
            jn_terrain_under_1(t, x + k + lane, y + k + lane, one);
            for (i = 0; i < JN_GROUND_N; i++) differ |= !(wanted[i] == one[i] && wanted[i] == four[4 * i + lane]);
        }
    }
    return differ;
}
void fours(const jn_terrain *t, const double *x, const double *y, int n, double *out) {
    int k;
    for (k = 0; k + 4 <= n; k += 4) jn_terrain_under_4(t, x + k, y + k, out + JN_GROUND_N * k);
}
void places(const jn_terrain *t, const double *at, int n, double *out) {
    int k;
    for (k = 0; k < n; k++) {
        jn_place p;
        if (!jn_terrain_place(t, at[2 * k], at[2 * k + 1], &p)) p.u = p.v = NAN;
        out[6 * k] = p.u, out[6 * k + 1] = p.v;
        out[6 * k + 2] = p.u_by[0], out[6 * k + 3] = p.u_by[1], out[6 * k + 4] = p.v_by[0], out[6 * k + 5] = p.v_by[1];
    }
}
"""


def build(folder: Path) -> ct.CDLL:
    """The queries as a library in a folder."""
    source, library = folder / "many.c", folder / f"ground{library_suffix()}"
    source.write_text(_MANY)
    models = PACKAGE / "models"
    command = [*compiler(), *(f for f in FLAGS if f != "-fvisibility=hidden"), "-shared", "-I", str(models / "terrain"),
               "-I", str(models / "common"), "-I", str(PACKAGE / "runtime" / "core"), "-o", str(library), str(source),
               *map(str, (models / "terrain").glob("jn_*.c")), "-lm"]  # fmt: skip
    subprocess.run(command, check=True)
    made = ct.CDLL(str(library))
    made.jn_terrain_open.restype = ct.c_void_p
    made.jn_terrain_open.argtypes = [ct.c_char_p, ct.c_char_p, ct.c_size_t]
    made.jn_terrain_heights.argtypes = [ct.c_void_p, ct.c_void_p, ct.c_void_p, ct.c_int, ct.c_int, ct.c_void_p]
    made.jn_terrain_highest.argtypes, made.jn_terrain_highest.restype = [ct.c_void_p, ct.c_void_p], ct.c_double
    made.jn_terrain_close.argtypes = [ct.c_void_p]
    made.jn_terrain_edge.argtypes = [ct.c_void_p, ct.c_double, ct.c_char_p, ct.c_size_t]
    made.jn_terrain_beside.argtypes = [ct.c_void_p, ct.c_double, ct.c_double, ct.c_char_p, ct.c_size_t]
    made.lanes_differ.argtypes = [ct.c_void_p, ct.c_void_p, ct.c_void_p, ct.c_int]
    made.fours.argtypes = [ct.c_void_p, ct.c_void_p, ct.c_void_p, ct.c_int, ct.c_void_p]
    made.many.argtypes = made.places.argtypes = [ct.c_void_p, ct.c_void_p, ct.c_int, ct.c_void_p]
    return made


class Ground:
    """An open terrain file."""

    def __init__(self, library: ct.CDLL, path: Path) -> None:
        """Opens it; raises OSError with the reason."""
        why = ct.create_string_buffer(200)
        self.library, self._t = library, library.jn_terrain_open(str(path).encode(), why, len(why))
        if not self._t:
            raise OSError(why.value.decode())

    def __call__(self, x: Array, y: Array) -> Array:
        """(n, 8): height, slopes x y, second derivatives xx xy yy, friction, off at places (n,)."""
        at = np.ascontiguousarray(np.stack(np.broadcast_arrays(x, y), -1), dtype=float).reshape(-1, 2)
        out = np.empty((len(at), 8))
        self.library.many(self._t, at.ctypes.data, len(at), out.ctypes.data)
        return out

    def places(self, x: Array, y: Array) -> Array:
        """(n, 6) on a road: u, v [m] and their derivatives by x and y."""
        at = np.ascontiguousarray(np.stack(np.broadcast_arrays(x, y), -1), dtype=float).reshape(-1, 2)
        out = np.empty((len(at), 6))
        self.library.places(self._t, at.ctypes.data, len(at), out.ctypes.data)
        return out

    def heights(self, x: Array, y: Array, lanes: int = 1) -> Array:
        """(n,) the heights alone [m], found on one lane or four."""
        out, places = np.empty(len(x)), [np.ascontiguousarray(v, dtype=float) for v in (x, y)]
        self.library.jn_terrain_heights(self._t, *(v.ctypes.data for v in places), len(x), lanes, out.ctypes.data)
        return out

    def lanes_differ(self, x: Array, y: Array) -> bool:
        """Whether ground found for four places at once, or for one, is other than that of queries."""
        at = [np.ascontiguousarray(v, dtype=float) for v in (x, y)]
        return bool(self.library.lanes_differ(self._t, *(v.ctypes.data for v in at), len(x)))

    def highest(self, x: float, y: float, half: Array) -> float:
        """A bound of the heights [m] of a patch with its middle there, and its half edges (3, 2) [m]."""
        patch = np.array([x, y, *half.ravel()])
        return float(self.library.jn_terrain_highest(self._t, patch.ctypes.data))

    def edge(self, limit: float) -> str:
        """Where it is steeper than that; empty where it is nowhere."""
        text = ct.create_string_buffer(120)
        return text.value.decode() if self.library.jn_terrain_edge(self._t, limit, text, len(text)) else ""

    def beside(self, x: float, y: float) -> str:
        """How far beyond the edge a place is; empty where the terrain is under it, or does not go on as at its edge."""
        text = ct.create_string_buffer(120)
        return text.value.decode() if self.library.jn_terrain_beside(self._t, x, y, text, len(text)) else ""

    def fours(self, x: Array, y: Array) -> Array:
        """(n / 4, 5, 4): height, slopes x y, friction, off, each of four places at once."""
        out, at = np.empty((len(x) // 4, 5, 4)), [np.ascontiguousarray(v, dtype=float) for v in (x, y)]
        self.library.fours(self._t, *(v.ctypes.data for v in at), len(x), out.ctypes.data)
        return out

    def close(self) -> None:
        """Closes it."""
        self.library.jn_terrain_close(self._t)


@contextmanager
def opened(library: ct.CDLL, path: Path) -> Iterator[Ground]:
    """A terrain file for a ``with`` block."""
    ground = Ground(library, path)
    try:
        yield ground
    finally:
        ground.close()
