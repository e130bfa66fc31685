"""Embedded axles from entries to C: the same numbers as CasADi, the same bits in both lane widths."""

from __future__ import annotations

import ctypes
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from harness import compiled
from numpy.typing import NDArray

from jounce.codegen.emitter import emit_file
from jounce.data import load_vehicle
from jounce.dynamics.embedding import Embedding
from jounce.math.algebra import SX
from jounce.suspension.embedded import close_function, corner_function, pair_dynamics_function, pair_function
from jounce.suspension.embedded_code import embedded_code
from jounce.suspension.mechanisms.templates import mechanism_of

Array = NDArray[np.float64]
#: A corner with loops, one without, and (a longer compilation) an axle with both its wheels.
AXLES = [("car", "front"), ("microbus", "rear"), pytest.param("offroader", "rear", marks=pytest.mark.slow)]
EXAMPLES = Path(__file__).parents[2] / "vehicle" / "jounce" / "examples"
HARNESS = """
#define JN_STRIDE 4
#define JN_LANES 1
#include "jn_lanes.h"
#include "lanes.inc"
#undef JN_STRIDE
#define JN_STRIDE 1
#include "derive.inc"
#undef JN_STRIDE
#define JN_STRIDE 4
#undef JN_LANES
#define JN_LANES 4
#include "jn_lanes.h"
#include "lanes.inc"
"""


def _door(f: ca.Function, shared: list[int], lanes: int) -> str:
    """C function that calls an emitted one on pointers, lane by lane or on four at once."""
    places = [f"a[{k}]" + ("" if lanes == 4 or k in shared else " + c") for k in range(f.n_in() + f.n_out())]
    call = f"{f.name()}_{lanes}({', '.join(places)});"
    loop = call if lanes == 4 else f"int c; for (c = 0; c < 4; c++) {call}"
    return f"void call_{f.name()}_{lanes}(double **a) {{ {loop} }}\n"


@pytest.mark.slow(but="car-front")
@pytest.mark.parametrize(("name", "axle"), AXLES)
def test_an_axle_from_entries_to_c_has_the_numbers_of_casadi_and_one_set_of_bits(
    name: str, axle: str, tmp_path: Path
) -> None:
    vehicle = load_vehicle(EXAMPLES / name)
    kind = next(a.kind for a in vehicle.axles if a.name == axle)
    embedding = Embedding(mechanism_of(vehicle, axle, kind))
    code = embedded_code(embedding, "corner")
    symbols = SX.sym("p", len(vehicle.entries))
    symbolic = mechanism_of(vehicle, axle, kind, {n: symbols[k] for k, n in enumerate(vehicle.entries)})
    plain = [symbolic.numbers(side) for side in (1, -1, 1, -1)]
    made = [f(n) for f in (code.close_numbers, code.corner_numbers) for n in plain]
    derive = ca.Function("derive", [symbols], [ca.cse(v) for v in (*plain, *made)])
    (tmp_path / "derive.inc").write_text(emit_file([derive], "test"))
    (tmp_path / "lanes.inc").write_text(emit_file(code.lanes, "test", code.shared))
    doors = "".join(_door(f, code.shared.get(f.name(), []), lanes) for f in code.lanes for lanes in (1, 4))
    outs = ", ".join(f"o[{k}]" for k in range(12))
    doors += f"void make(const double *p, double **o) {{ derive_1(p, {outs}); }}\n"
    library = compiled(HARNESS + doors, tmp_path)

    def pointers(arrays: list[Array]) -> object:
        return (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))

    values = np.array([e.value for e in vehicle.entries.values()])
    numbers = [np.zeros(derive.size1_out(k)) for k in range(12)]
    library.make(values.ctypes.data_as(ctypes.c_void_p), pointers(numbers))
    wanted = derive(values)
    for mine, his in zip(numbers, wanted, strict=True):
        his = np.array(his).ravel()
        assert np.abs(mine - his).max() <= 1e-12 * np.abs(his).max()

    wheels, n, r = len(embedding.mechanism.wheels), len(embedding.independent), np.random.default_rng(7)
    places = [np.array(ca.evalf(SX(ca.DM(v)) if not isinstance(v, SX) else v)).ravel()
              for v in embedding.mechanism.prescribed.values()]  # fmt: skip
    rest = np.concatenate([*(np.concatenate([p, np.zeros(9)]) for p in places), np.zeros(24)])[: 12 * wheels]
    flip = np.tile([1.0, -1.0, 1.0], 4)
    states = [np.array([[0.02 + 0.01 * k, 0.3, 20.0] for k in range(4)]) + 0.01 * w for w in range(wheels)]
    inner = [np.array([rest[12 * w : 12 * w + 12] * (flip if wheels == 1 and c % 2 else 1.0) for c in range(4)])
             for w in range(wheels)]  # fmt: skip
    omega = r.normal(size=3)
    # CasADi, lane by lane, with the plain numbers
    u = np.zeros((4, len(embedding.dependent)))
    step = close_function(embedding)
    of = (corner_function if wheels == 1 else pair_function)(embedding)
    sides = [wanted[0], wanted[1], wanted[0], wanted[1]] if wheels == 1 else [wanted[0]] * 4
    expected = []
    for c in range(4):
        lane = [*(s[c] for s in states), *(e[c] for e in inner)]
        for _ in range(6 if embedding.dependent else 0):
            u[c] = np.array(step(u[c], *lane, sides[c])).ravel()
        out = of(*lane, omega, sides[c], *([u[c]] if n and embedding.dependent else []))
        expected.append(np.concatenate([np.array(o).ravel() for o in (out if isinstance(out, tuple) else (out,))]))

    def strided(rows: list[Array] | Array) -> Array:
        return np.ascontiguousarray(np.array(rows).T).ravel()

    chosen = [0, 1, 0, 1] if wheels == 1 else [0] * 4
    close_numbers, corner_numbers = (strided([numbers[first + k] for k in chosen]) for first in (4, 8))
    found: dict[int, list[Array]] = {}
    for lanes in (1, 4):
        results = []
        for f in code.lanes:
            vectors = {"x": [strided(s) for s in states], "e": [strided(e) for e in inner]}
            inputs, loops = [*vectors["x"], *vectors["e"]], f in code.loops
            inputs += [close_numbers] if loops else [omega, corner_numbers]
            if embedding.dependent and f is not code.closed:
                inputs.insert(0 if loops else len(inputs), strided(u))
            seeds = [np.full(4 * f.size1_in(k), 0.3) for k in range(len(inputs), f.n_in())]
            outputs = [np.zeros(4 * f.size1_out(k)) for k in range(f.n_out())]
            getattr(library, f"call_{f.name()}_{lanes}")(pointers([*inputs, *seeds, *outputs]))
            results += outputs
            if f is code.outputs:
                ours = np.concatenate([o.reshape(-1, 4) for o in outputs]).T
                for mine, his in zip(ours, expected, strict=True):
                    assert np.abs(mine - his).max() <= 1e-12 * np.abs(his).max()
            if f is code.closed:
                assert np.abs(outputs[0].reshape(-1, 4).T - u).max() <= 1e-13
        found[lanes] = results
    assert all((a == b).all() for a, b in zip(found[1], found[4], strict=True))


def test_the_lean_form_of_an_axle_is_part_of_the_full_one() -> None:
    vehicle = load_vehicle(EXAMPLES / "offroader")
    embedding = Embedding(mechanism_of(vehicle, "rear", "solid_axle"))
    code = embedded_code(embedding, "axle")
    numbers = ca.evalf(embedding.mechanism.numbers())
    r = np.random.default_rng(1)
    state = [np.array([0.01, 0.2, 10.0]), np.array([0.02, -0.1, 12.0]), np.zeros(12), np.zeros(12), r.normal(size=3)]
    u = np.zeros(len(embedding.dependent))
    lean = code.dynamics(*state, code.corner_numbers(numbers), u)
    alone = pair_dynamics_function(embedding)(*state, numbers, u)
    for a, b in zip(lean, alone, strict=True):
        assert np.abs(np.array(a - b)).max() <= 1e-12 * np.abs(np.array(b)).max()
