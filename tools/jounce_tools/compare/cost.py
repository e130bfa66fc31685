"""One evaluation of one corner in every formulation: operations, sizes, and time of CasADi's C with one compiler.

Everything up to the accelerations, springs and gather included, with the vehicle's numbers built in.
"""

from __future__ import annotations

import statistics
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import casadi as ca

from jounce.data import Vehicle
from jounce.dynamics.articulated import LOADS
from jounce.dynamics.embedding import Embedding
from jounce.formulations.augmented import Factored
from jounce.formulations.bushing import Bushed
from jounce.formulations.synthesis import counted
from jounce.formulations.whole import FORMS
from jounce.models.double_wishbone.functions import functions, numbers
from jounce.steering.pitman import INNER
from jounce.suspension.embedded import STATES, close_function, corner_function
from jounce.suspension.mechanisms.templates import mechanism_of
from jounce_fmu.build.library import BuildError, compiler

SX = ca.SX
BLOCKS, CALLS = 60, 2000
#: The embedding in its two ways to close the loops; the others are the augmented ones of `FORMS`.
CLOSED, NEWTON = "ce", "ce-newton"
#: The bushing tree, solved by the recursion over its bodies and as a whole.
BUSHING, DENSE = "bushing", "bushing-dense"
#: Formulations of a corner that are measured, in order of the table.
COSTS = (CLOSED, NEWTON, "ta-two-point", BUSHING, "ta", DENSE, "fa")
_HARNESS = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv) {{
    static double in[4096], out[4096], w[{w} + 1]; casadi_int iw[{iw} + 1];
    const double *arg[{arg}]; double *res[{res}]; double sum = 0.0;
    const int blocks = argc > 1 ? atoi(argv[1]) : 1, calls = argc > 2 ? atoi(argv[2]) : 1;
    for (int i = 0; i < 4096; ++i) in[i] = 0.01 * (i % 7);
    for (int b = 0; b < blocks; ++b) {{
        struct timespec t0, t1; clock_gettime(CLOCK_MONOTONIC, &t0);
        for (int n = 0; n < calls; ++n) {{
            double *at = in; double *to = out;
            {binds}
            in[0] = 1e-9 * n; f(arg, res, iw, w, 0); sum += out[0];
        }}
        clock_gettime(CLOCK_MONOTONIC, &t1);
        printf("%.2f\\n", ((t1.tv_sec - t0.tv_sec) * 1e9 + (t1.tv_nsec - t0.tv_nsec)) / calls);
    }}
    fprintf(stderr, "%g\\n", sum); return 0;
}}
"""


@dataclass(frozen=True)
class Evaluation:
    """What one evaluation of a corner is made of."""

    operations: int
    divisions: int
    coordinates: int
    rows: int
    entries: int
    """Of L below its diagonal."""
    programs: tuple[str, ...]
    """Paths of the compiled functions that make it up."""


@dataclass(frozen=True)
class Time:
    """Of one evaluation [ns]."""

    best: float
    median: float


def embedded(vehicle: Vehicle, *, closed: bool) -> list[ca.Function]:
    """Constraint embedding: in closed form, or two Newton steps (without their first guess) and the rest."""
    state, inner, omega, load, acceleration = (SX.sym(n, k) for n, k in (
        ("state", STATES.size), ("inner", INNER.size), ("omega", 3), ("load", LOADS.size), ("a0", 6)))  # fmt: skip
    made, vectors = functions(), numbers(vehicle)
    inputs, steps = [state, inner, omega, load, acceleration], []
    if closed:
        raw = made["corner"](state, inner, omega, vectors["corner numbers"][0])
    else:
        mechanism = mechanism_of(vehicle, "front", "double_wishbone")
        embedding = Embedding(mechanism)
        u, values = SX.sym("u", len(embedding.dependent)), ca.evalf(mechanism.numbers(1))
        raw = corner_function(embedding)(state, inner, omega, values, u)
        step = ca.Function("f", [u, state, inner], [ca.cse(close_function(embedding)(u, state, inner, values))])
        inputs, steps = [*inputs, u], [step, step]
    axial = vectors["axial"][0]
    body = made["inward_sweep"](raw, load, axial)
    back = made["outward_sweep"](raw, body, acceleration, axial)
    return [*steps, ca.Function("f", inputs, ca.cse([body[:27], back[0]]))]


def evaluation(vehicle: Vehicle, name: str, folder: Path) -> Evaluation:
    """Counts one evaluation of the front left corner and compiles it into a folder. Raises BuildError, DataError."""
    if name in (CLOSED, NEWTON):
        made, sizes = embedded(vehicle, closed=name == CLOSED), (1, 0, 0)
    else:
        mechanism = mechanism_of(vehicle, "front", "double_wishbone")
        form = Bushed(mechanism) if name in (BUSHING, DENSE) else FORMS[name](mechanism, 1.0)
        c, a0 = form.symbols(), SX.sym("a0", 6)
        g = form.dense(c) if isinstance(form, Bushed) and name == DENSE else form.gathered(c)
        out = [ca.densify(g.inertia), g.bias, g.acceleration(a0)]
        made = [ca.Function("f", [*c.all(), a0], ca.cse(out))]
        sizes = (form.size, len(g.terms.rows), g.factors.entries if isinstance(g, Factored) else 0)
    counts = [counted(f) for f in made]
    programs = {key: _compiled(f, folder, f"{name}-{k}") for k, (key, f) in enumerate({id(f): f for f in made}.items())}
    return Evaluation(
        sum(c.products + c.sums + c.others for c in counts),
        sum(sum(f.instruction_id(k) == ca.OP_DIV for k in range(f.n_instructions())) for f in made),
        *sizes, tuple(programs[id(f)] for f in made),
    )  # fmt: skip


def _compiled(f: ca.Function, folder: Path, name: str) -> str:
    """Program that times a function in CasADi's own C at -O2."""
    generator = ca.CodeGenerator("corner", {"with_header": False})
    generator.add(f)
    binds = " ".join([*(f"arg[{k}] = at; at += {f.nnz_in(k)};" for k in range(f.n_in())),
                      *(f"res[{k}] = to; to += {f.nnz_out(k)};" for k in range(f.n_out()))])  # fmt: skip
    text = _HARNESS.format(w=f.sz_w(), iw=f.sz_iw(), arg=f.sz_arg() + 1, res=f.sz_res() + 1, binds=binds)
    source, program = folder / f"{name}.c", folder / name
    source.write_text(generator.dump() + text, encoding="utf-8")
    command = [*compiler(), "-O2", "-o", str(program), str(source), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"compiling one corner ({name}) failed:\n{done.stderr}")
    return str(program)


def time_of(programs: Sequence[str], blocks: int = BLOCKS, calls: int = CALLS) -> Time:
    """Time of all of them together, from blocks of calls."""
    best = median = 0.0
    for program in programs:
        done = subprocess.run([program, str(blocks), str(calls)], capture_output=True, text=True, check=True)
        times = [float(line) for line in done.stdout.split()]
        best += min(times)
        median += statistics.median(times)
    return Time(best, median)
