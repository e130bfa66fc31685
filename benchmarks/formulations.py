"""One evaluation of one corner in every formulation: operations, and time of the product's emitted C.

    python benchmarks/formulations.py [--rounds 40]

Front left corner of the hmmwv, everything up to its acceleration, springs and gather included, the vehicle's numbers
built in; the product's lane header and flags, in one lane and in four lanes with a corner each, interleaved in one run.
The ratios count.
"""

from __future__ import annotations

import argparse
import ctypes
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import casadi as ca
import numpy as np
from timing import Samples, interleave, machine, table

from jounce.axles import DEFAULT
from jounce.codegen.emitter import emit_file
from jounce.data import load_vehicle
from jounce.dynamics import chebyshev
from jounce.dynamics.articulated import LOADS
from jounce.dynamics.embedding import Embedding
from jounce.formulations.augmented import Augmented, Gathered, Inputs, Tree
from jounce.formulations.bodies import with_bodies
from jounce.formulations.bushing import Bushed
from jounce.formulations.cartesian import Cartesian
from jounce.formulations.synthesis import counted
from jounce.models.double_wishbone.functions import functions, numbers
from jounce.steering.pitman import INNER
from jounce.suspension.embedded import STATES, close_function, corner_function, problem
from jounce.suspension.inner_ends import inner_end
from jounce.suspension.mechanisms.templates import mechanism_of
from jounce_fmu.build.library import FLAGS as LIBRARY_FLAGS

SX = ca.SX
MODELS = Path(__file__).parents[1] / "fmu" / "jounce_fmu" / "models"
#: Of the product's library, whose lanes are compiled for AVX2 too.
FLAGS = [*LIBRARY_FLAGS, "-mavx2", "-shared"]
#: Largest angle of the Pitman arm that the first guess is fitted for [rad], and that of the run.
FULL, STEER = 0.52, 0.1
#: Numbers that an output has place for.
PLACE = 256


@dataclass
class Case:
    """What one evaluation calls, in C names and in order: each from the same inputs and, with ``u``, from `u`."""

    functions: list[ca.Function]
    calls: str
    inputs: np.ndarray
    guess: list[float] = field(default_factory=list)
    operations: int = 0


def packed(name: str, inputs: Sequence[SX], outputs: Sequence[SX]) -> ca.Function:
    """A function of one vector."""
    out = ca.cse(ca.vertcat(*(ca.vec(ca.densify(v)) for v in outputs)))
    return ca.Function(name, [ca.vertcat(*inputs)], [out])


def operations(made: Sequence[ca.Function]) -> int:
    """All operations of them."""
    return sum(c.products + c.sums + c.others for c in map(counted, made))


def embedded(*, closed: bool) -> Case:
    """Constraint embedding: in closed form, or the first guess, two Newton steps and the rest."""
    vehicle = load_vehicle("hmmwv")
    state, inner, omega, load, acceleration = (SX.sym(n, k) for n, k in (
        ("state", STATES.size), ("inner", INNER.size), ("omega", 3), ("load", LOADS.size), ("a0", 6)))  # fmt: skip
    made, vectors = functions(), numbers(vehicle)
    inputs = [state, inner, omega, load, acceleration]
    axial = vectors["axial"][0]
    mechanism = mechanism_of(vehicle, "front", "double_wishbone")
    end = inner_end(vehicle, DEFAULT[0], next(iter(mechanism.prescribed)), 1.0)

    def told(steer: float) -> np.ndarray:
        return np.concatenate([*end.at(steer), np.zeros(6)])

    run = np.concatenate([[0.03, 0.4, 30.0], told(STEER), moving()])

    def whole(raw: SX) -> list[SX]:
        body = made["inward_sweep"](raw, load, axial)
        return [body[:27], made["outward_sweep"](raw, body, acceleration, axial)[0]]

    if closed:
        one = packed("closed", inputs, whole(made["corner"](state, inner, omega, vectors["corner numbers"][0])))
        return Case([one], "JN_NAME(closed)(in, out);", run, operations=operations([one]))
    embedding = Embedding(mechanism)
    u, values = SX.sym("u", len(embedding.dependent)), ca.evalf(mechanism.numbers(1))
    step_out = close_function(embedding)(u, state, inner, values)
    step = ca.Function("step", [ca.vertcat(*inputs), u], [ca.cse(step_out)])
    rest_out = whole(corner_function(embedding)(state, inner, omega, values, u))
    rest = ca.Function("rest", [ca.vertcat(*inputs), u], [ca.cse(ca.vertcat(*rest_out))])
    fitted = chebyshev.fit(problem(embedding, values, told, (-FULL, FULL)))
    box, kept = fitted.box, [chebyshev.kept([n - 1 for n in c.shape]) for c in fitted.coefficients]
    guess = np.zeros(6)
    guess[:2], guess[3:5] = (box.low + box.high) / 2, 2 / (box.high - box.low)
    coefficients = np.concatenate([guess, *(c[k] for c, k in zip(fitted.coefficients, kept, strict=True))])
    degrees = ", ".join(map(str, fitted.degrees))
    text = f"""static const int degrees[] = {{{degrees}, 0}};
        double u[4 * JN_GUESS_MOST], next[4 * JN_GUESS_MOST];
        T x[3];
        x[0] = JN_GET(in, 0); x[1] = JN_CONST({STEER});
        JN_NAME(jn_guess)(degrees, 2, {u.numel()}, x, guess, u);
        JN_NAME(step)(in, u, next); JN_NAME(step)(in, next, u); JN_NAME(rest)(in, u, out);"""
    # of the guess a product and a sum for each coefficient
    count = operations([step, step, rest]) + 2 * (coefficients.size - 6)
    return Case([step, rest], text, run, coefficients.tolist(), count)


def moving() -> np.ndarray:
    """Angular velocity of the chassis, loads and the chassis' acceleration of the run."""
    loads = (500.0, 800.0, 6000.0, 5.0, 10.0, 20.0, 100.0, -50.0)
    return np.array([0.1, -0.2, 0.3, *loads, 0.1, 0.2, 0.3, 1.0, 2.0, 9.8])


def augmented(name: str, form: Augmented, solve: Callable[[Inputs], Gathered] | None = None) -> Case:
    """One evaluation of a corner with the interface of the augmented forms."""
    c, a0 = form.symbols(), SX.sym("a0", 6)
    g = (solve or form.gathered)(c)
    one = packed(name, [*c.all(), a0], [g.inertia, g.bias, g.acceleration(a0)])
    design = np.array(form.design).ravel() if isinstance(form, Cartesian) else np.zeros(form.places)
    points = form.mechanism.prescribed.values()
    ends, load = [v for p in points for v in (np.array(ca.evalf(SX(p))).ravel(), np.zeros(9))], moving()
    run = np.concatenate([design, np.zeros(form.size), [30.0], *ends, load[:11], [0.0], load[11:]])
    return Case([one], f"JN_NAME({name})(in, out);", run, operations=operations([one]))


def cases() -> dict[str, Case]:
    """By formulation, in order of the table."""
    mechanism = mechanism_of(load_vehicle("hmmwv"), "front", "double_wishbone")
    bushed = Bushed(mechanism)
    return {
        "embedding, closed form": embedded(closed=True),
        "embedding, guess and two Newton steps": embedded(closed=False),
        "tree, two-point rods and tubes": augmented("rods", Tree(mechanism)),
        "bushing tree, recursion": augmented("swept", bushed),
        "tree, the paper's cuts": augmented("tree", Tree(with_bodies(mechanism))),
        "bushing tree, L D L^T": augmented("dense", bushed, bushed.dense),
        "fully augmented": augmented("loose", Cartesian(mechanism)),
    }


def library(made: Sequence[Case], folder: Path) -> ctypes.CDLL:
    """Everything in one shared library: run_K_LANES(calls, in, guess, out)."""
    (folder / "emitted.inc").write_text(emit_file([f for c in made for f in c.functions], "benchmarks"))
    head = "(int calls, double *in, const double *guess, double *out)"
    runs = "".join(f"""JN_FN void JN_NAME(run_{k}){head} {{
    (void)guess;
    while (calls-- > 0) {{
        JN_PUT(in, 0, JN_GET(in, 0) + JN_CONST(1e-12));
        {c.calls}
    }}
}}
""" for k, c in enumerate(made))  # fmt: skip
    (folder / "runs.inc").write_text(runs)
    doors = "".join(f"JN_OPEN void door_{k}_{lanes}{head} {{ run_{k}_{lanes}(calls, in, guess, out); }}\n"
                    for k in range(len(made)) for lanes in (1, 4))  # fmt: skip
    (folder / "all.c").write_text(
        '#include <string.h>\n#include "jn_chebyshev.h"\n#define JN_OPEN __attribute__((visibility("default")))\n'
        + "".join(f'#undef JN_LANES\n#define JN_LANES {k}\n#include "jn_lanes.h"\n#include "jn_guess.inc"\n'
                  '#include "emitted.inc"\n#include "runs.inc"\n' for k in (1, 4)) + doors)  # fmt: skip
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise SystemExit("no C compiler found; this benchmark needs cc or gcc")
    includes = [f"-I{MODELS / place}" for place in ("common", "embedded")]
    subprocess.run([compiler, *FLAGS, *includes, "all.c", "-o", "all.so", "-lm"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "all.so"))


def _subject(function: Callable[..., object], case: Case, calls: int) -> Callable[[], Samples]:
    arrays = [np.repeat(v, 4) for v in (case.inputs, np.array([*case.guess, 0.0]), np.zeros(PLACE))]
    places = [a.ctypes.data_as(ctypes.c_void_p) for a in arrays]

    def run() -> Samples:
        start = time.perf_counter_ns()
        function(calls, *places)
        took = Samples([(time.perf_counter_ns() - start) / calls])
        assert np.isfinite(arrays[2]).all()
        return took

    return run


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40, help="interleaved blocks of each (default: %(default)s)")
    parser.add_argument("--calls", type=int, default=2000, help="calls in a block (default: %(default)s)")
    options = parser.parse_args()
    made = cases()
    with tempfile.TemporaryDirectory() as folder:
        code = library(list(made.values()), Path(folder))
        subjects = {f"{name} {lanes}": _subject(getattr(code, f"door_{k}_{lanes}"), c, options.calls)
                    for k, (name, c) in enumerate(made.items()) for lanes in (1, 4)}  # fmt: skip
        samples = interleave(subjects, options.rounds)
    print(machine())
    first = next(iter(made))
    rows = []
    for name, c in made.items():
        times = [(samples[f"{name} {k}"].best(), samples[f"{first} {k}"].best()) for k in (1, 4)]
        rows.append([name, str(c.operations), f"{c.operations / made[first].operations:.2f}",
                     *(text for t, base in times for text in (f"{t:.0f}", f"{t / base:.2f}"))])  # fmt: skip
    print(table(["", "operations", "ratio", "ns, 1 lane", "ratio", "ns, 4 lanes", "ratio"], rows))


if __name__ == "__main__":
    main()
