"""The short form of emitted functions: its trigonometry, its order and its branch keep the values."""

from __future__ import annotations

import ctypes
import math

import casadi as ca
import numpy as np
import pytest
from harness import compiled
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from jounce.codegen.emitter import emit_function
from jounce.codegen.ordering import ordered
from jounce.codegen.prepare import with_inverses

Array = NDArray[np.float64]
#: Name -> (function, largest argument, relative error, absolute error) against the C library.
FUNCTIONS = {
    "atan": (math.atan, 1e6, 3e-13, 0.0),
    "sin": (math.sin, 1e3, 0.0, 4e-13),
    "cos": (math.cos, 1e3, 0.0, 4e-12),
    "tan": (math.tan, 1.5, 4e-12 * math.tan(1.5), 1e-15),
    "exp": (math.exp, 19.9, 2e-13, 0.0),
    "log": (math.log, 1e6, 1e-13, 2e-14),
}


def branching() -> ca.Function:
    """Sums with a long part that counts only where x is above 1."""
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    long = x
    for k in range(12):
        long = ca.sin(long + y / (k + 1.5)) + ca.atan(long * y)
    chosen = ca.if_else(x > 1.0, long, -y)
    return ca.Function("branching", [x, y], [ca.cse(ca.vertcat(chosen * y, ca.if_else(x > 1.0, 2.0 * long, 0.0) + x))])


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("quick")
    x = ca.SX.sym("x")
    each = [ca.Function(name, [x], [getattr(ca, name)(x)]) for name in FUNCTIONS]
    functions = [*each, branching()]
    (folder / "quick.inc").write_text("\n".join(emit_function(f, quick=True) for f in functions))
    text = '#define JN_STRIDE 1\n#define JN_LANES 1\n#include "jn_lanes.h"\n#include "quick.inc"\n#undef JN_STRIDE\n'
    text += '#define JN_STRIDE 4\n#undef JN_LANES\n#define JN_LANES 4\n#include "jn_lanes.h"\n#include "quick.inc"\n'
    for name in FUNCTIONS:
        text += f"void one_{name}(const double *x, double *o) {{ {name}_1(x, o); }}\n"
        text += f'__attribute__((target("avx2"))) void four_{name}(const double *x, double *o) {{ {name}_4(x, o); }}\n'
    text += "void one(const double *x, const double *y, double *o) { branching_1(x, y, o); }\n"
    text += '__attribute__((target("avx2"))) '
    text += "void four(const double *x, const double *y, double *o) { branching_4(x, y, o); }\n"
    return compiled(text, folder)


def call(function: object, *arrays: Array) -> None:
    function(*(ctypes.c_void_p(a.ctypes.data) for a in arrays))  # type: ignore[operator]


@settings(max_examples=40, deadline=None)
@given(st.floats(-1.0, 1.0))
@pytest.mark.parametrize("name", FUNCTIONS)
def test_short_functions_have_their_values_and_the_same_bits_on_four_lanes(
    library: ctypes.CDLL, name: str, share: float
) -> None:
    exact, most, relative, absolute = FUNCTIONS[name]
    shares = np.array([share, -share, share * abs(share), share**3])
    x = 10.0 ** (6.0 * shares) if name == "log" else most * shares
    four, one = np.zeros(4), np.zeros(1)
    call(getattr(library, f"four_{name}"), x, four)
    for k in range(4):
        call(getattr(library, f"one_{name}"), x[k : k + 1].copy(), one)
        assert one[0] == four[k]
        assert one[0] == pytest.approx(exact(x[k]), rel=relative, abs=absolute)


def test_of_zero_they_have_the_exact_values(library: ctypes.CDLL) -> None:
    """A weight of combined slip is exactly 1 without slip."""
    for name, value in (("atan", 0.0), ("sin", 0.0), ("tan", 0.0), ("cos", 1.0), ("exp", 1.0)):
        out = np.ones(1)
        call(getattr(library, f"one_{name}"), np.zeros(1), out)
        assert out[0] == value


@pytest.mark.parametrize("seed", range(8))
def test_a_branch_gives_casadis_values_whichever_lanes_take_it(library: ctypes.CDLL, seed: int) -> None:
    """Lanes above and below the limit side by side, all of one kind, and one at a time."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1.0, 1.0 if seed == 0 else 3.0, 4)
    y = rng.uniform(-2.0, 2.0, 4)
    four, one, function = np.zeros(8), np.zeros(2), branching()
    call(library.four, x, y, four)
    for k in range(4):
        call(library.one, x[k : k + 1].copy(), y[k : k + 1].copy(), one)
        assert one.tolist() == four[k::4].tolist()
        assert one == pytest.approx(np.array(function(x[k], y[k])).ravel(), rel=1e-10, abs=1e-12)


def test_the_part_that_counts_in_one_case_alone_stands_behind_a_branch() -> None:
    text = emit_function(branching(), quick=True)
    inside = text.partition("JN_ANY")[2].partition("\n    }")[0]
    assert inside.count("JN_QUICK_SIN") == 12
    assert text.count("JN_QUICK_SIN") == 12
    assert "JN_ANY" not in emit_function(branching())


def test_each_long_part_has_a_branch_of_its_own() -> None:
    """Parts that count on one side of a limit and of another one, the second of which reads neither."""
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    parts = [x, y]
    for _ in range(6):
        parts = [ca.sin(parts[0] + 0.5), ca.atan(parts[1] + 0.5)]
    f = ca.Function("f", [x, y], [ca.if_else(x > 1.0, parts[0], 0.0) + ca.if_else(y > 1.0, parts[1], 0.0)])
    first, *inside = emit_function(f, quick=True).split("JN_ANY(")
    assert [part.partition("\n    }")[0].count("JN_QUICK") for part in inside] == [6, 6]
    assert "JN_QUICK" not in first


def test_a_line_stands_after_what_it_reads_and_one_that_is_not_read_is_left_out() -> None:
    lines = ["    const T t0 = JN_GET(i0, 0);", "    const T t1 = JN_GET(i0, 1);", "    const T t2 = t0 / t1;",
             "    const T t3 = t0 * t0;", "    const T t4 = t0 + t1;", "    const T t5 = t4 + t2;",
             "    JN_PUT(o0, 0, t5);"]  # fmt: skip
    found = ordered(lines)
    assert sorted(found) == sorted(line for line in lines if "t3 =" not in line)
    assert found.index(lines[4]) < found.index(lines[5]) < found.index(lines[6])


def test_what_a_branch_needs_may_not_depend_on_it() -> None:
    """Then there is no branch: the second part reads what the first one gives."""
    x = ca.SX.sym("x")
    first = second = x
    for _ in range(4):
        first = ca.sin(first) + x
    given_first = ca.if_else(x > 0.0, first, 0.0)
    for _ in range(4):
        second = ca.atan(second + given_first)
    text = emit_function(ca.Function("f", [x], [ca.if_else(x > 0.0, second, 1.0)]), quick=True)
    assert text.count("JN_QUICK_SIN") == text.count("JN_QUICK_ATAN") == 4
    names = [line.split()[2] for line in text.splitlines() if line.startswith("    const")]
    assert len(names) == len(set(names))


def test_a_divisor_is_inverted_once_and_the_values_stay() -> None:
    x = ca.SX.sym("x", 4)
    length = ca.sqrt(ca.dot(x, x))
    f = ca.Function("f", [x], [ca.vertcat(x / length, 2 / length, x[0] / x[1], 1 / x[2])])
    g = with_inverses(f)
    division = {ca.OP_DIV, ca.OP_INV}
    count = [sum(h.instruction_id(k) in division for k in range(h.n_instructions())) for h in (f, g)]
    assert count == [7, 3]
    at = [0.3, -1.7, 2.9, 0.011]
    assert np.abs(np.array(g(at)) / np.array(f(at)) - 1).max() < 4e-16
