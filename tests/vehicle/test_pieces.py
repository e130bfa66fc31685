"""A function in pieces has the bits of the whole one, on one lane and on four."""

from __future__ import annotations

import ctypes
import re

import casadi as ca
import numpy as np
import pytest
from harness import compiled

from jounce.codegen.emitter import emit_file, emit_function
from jounce.codegen.pieces import LONG, in_pieces

PIECES = (1, 2, 3, 7, 30, 1000)


def branching(name: str, length: int = 40) -> ca.Function:
    """Numbers and truths that are read again long after they were made."""
    x, y, z = ca.SX.sym("x", 3), ca.SX.sym("y", 2), ca.SX.sym("z", 2)
    truth, number = ca.logic_and(x[0] > 0.0, y[1] < x[2]), x[1]
    for k in range(length):
        number = ca.sin(number + z[k % 2]) * (y[k % 2] + 0.1 * k)
    chosen = ca.if_else(truth, number, x[0] / y[0] + x[1] / y[0])
    return ca.Function(name, [x, y, z], [ca.vertcat(chosen, number * x[0]), ca.if_else(truth, 3.0, chosen)])


def pieced(name: str, piece: int) -> str:
    """The C text of `branching` in pieces of some lines."""
    head, *lines, _end = emit_function(branching(name), (1,)).splitlines()
    parameters = re.split(", ", head[head.index(")(") + 2 : head.rindex(")")])
    return in_pieces(name, parameters, [line for line in lines if "(void)" not in line], piece)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("pieces")
    texts = [emit_function(branching("whole"), (1,)), *(pieced(f"by_{piece}", piece) for piece in PIECES)]
    (folder / "all.inc").write_text("\n".join(texts))
    text = '#define JN_LANES 1\n#include "jn_lanes.h"\n#include "all.inc"\n#undef JN_LANES\n'
    text += '#define JN_LANES 4\n#include "jn_lanes.h"\n#include "all.inc"\n'
    arguments = "(const double *x, const double *y, const double *z, double *o, double *p)"
    for name in ("whole", *(f"by_{piece}" for piece in PIECES)):
        text += f"void {name}_of_four{arguments} {{ {name}_4(x, y, z, o, p); }}\n"
        text += f"void {name}_of_one{arguments} {{ {name}_1(x, y, z, o, p); }}\n"
    return compiled(text, folder)


@pytest.mark.parametrize("lanes", ["one", "four"])
@pytest.mark.parametrize("piece", PIECES)
def test_pieces_of_any_length_have_the_bits_of_the_whole(library: ctypes.CDLL, piece: int, lanes: str) -> None:
    rng = np.random.default_rng(piece)
    x, y, z = rng.normal(size=12), rng.normal(size=2), rng.normal(size=8)
    outputs = {}
    for name in ("whole", f"by_{piece}"):
        o, p = np.full(8, np.nan), np.full(4, np.nan)
        getattr(library, f"{name}_of_{lanes}")(*(ctypes.c_void_p(a.ctypes.data) for a in (x, y, z, o, p)))
        outputs[name] = o.tobytes(), p.tobytes()
        assert np.isfinite(np.concatenate([o, p])[:: 1 if lanes == "four" else 4]).all()
    assert outputs["whole"] == outputs[f"by_{piece}"]


def test_only_long_functions_are_emitted_in_pieces_and_only_where_asked() -> None:
    short, long = branching("short"), branching("long", LONG)
    assert "JN_APART" not in emit_file([short, long], "here")
    text = emit_file([short, long], "here", pieces=True)
    assert "JN_APART void JN_NAME(long_0)" in text
    assert "short_0" not in text
