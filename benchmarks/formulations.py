"""One evaluation of one corner in every formulation: operations, and time of CasADi's C with one compiler.

    python benchmarks/formulations.py

Everything up to the accelerations, springs and gather included, the vehicle's numbers built in. The ratios count.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

import casadi as ca

from jounce.data import load_vehicle
from jounce.dynamics.articulated import LOADS
from jounce.dynamics.embedding import Embedding
from jounce.formulations.augmented import Augmented, Tree
from jounce.formulations.bodies import with_bodies
from jounce.formulations.cartesian import Cartesian
from jounce.formulations.synthesis import counted
from jounce.models.double_wishbone.functions import functions, numbers
from jounce.steering.pitman import INNER
from jounce.suspension.embedded import STATES, close_function, corner_function
from jounce.suspension.mechanisms.templates import mechanism_of

SX = ca.SX
BLOCKS, CALLS = 60, 2000
HARNESS = """
#include <stdio.h>
#include <time.h>
int main(void) {{
    static double in[4096], out[4096], w[{w} + 1]; casadi_int iw[{iw} + 1];
    const double *arg[{arg}]; double *res[{res}]; double best = 1e30, sum = 0.0;
    for (int i = 0; i < 4096; ++i) in[i] = 0.01 * (i % 7);
    for (int b = 0; b < {blocks}; ++b) {{
        struct timespec t0, t1; clock_gettime(CLOCK_MONOTONIC, &t0);
        for (int n = 0; n < {calls}; ++n) {{
            double *at = in; double *to = out;
            {binds}
            in[0] = 1e-9 * n; f(arg, res, iw, w, 0); sum += out[0];
        }}
        clock_gettime(CLOCK_MONOTONIC, &t1);
        double ns = ((t1.tv_sec - t0.tv_sec) * 1e9 + (t1.tv_nsec - t0.tv_nsec)) / {calls};
        if (ns < best) best = ns;
    }}
    printf("%.1f %g\\n", best, sum); return 0;
}}
"""


def nanoseconds(f: ca.Function, folder: Path) -> float:
    """Best block of a function in CasADi's own C, gcc -O2."""
    f.generate("f.c", {"with_header": False})
    made = folder / "f.c"
    Path("f.c").replace(made)
    binds = " ".join([*(f"arg[{k}] = at; at += {f.nnz_in(k)};" for k in range(f.n_in())),
                      *(f"res[{k}] = to; to += {f.nnz_out(k)};" for k in range(f.n_out()))])  # fmt: skip
    text = HARNESS.format(w=f.sz_w(), iw=f.sz_iw(), arg=f.sz_arg() + 1, res=f.sz_res() + 1, blocks=BLOCKS, calls=CALLS,
                          binds=binds)  # fmt: skip
    made.write_text(made.read_text() + text)
    subprocess.run(["cc", "-O2", "-o", "run", "f.c", "-lm"], cwd=folder, check=True)
    done = subprocess.run([str(folder / "run")], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[0])


def embedded(*, closed: bool) -> list[ca.Function]:
    """Constraint embedding: in closed form, or two Newton steps (without their first guess) and the rest."""
    vehicle = load_vehicle("hmmwv")
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


def augmented(form: Augmented) -> list[ca.Function]:
    """One evaluation of an augmented form."""
    c, a0 = form.symbols(), SX.sym("a0", 6)
    g = form.gathered(c)
    return [ca.Function("f", [*c.all(), a0], ca.cse([ca.densify(g.inertia), g.bias, g.x @ a0 + g.rest]))]


def forms() -> dict[str, list[ca.Function]]:
    """Functions of one evaluation by formulation, in order of the table."""
    mechanism = mechanism_of(load_vehicle("hmmwv"), "front", "double_wishbone")
    return {
        "embedding, closed form": embedded(closed=True),
        "embedding, two Newton steps": embedded(closed=False),
        "tree, two-point rods and tubes": augmented(Tree(mechanism)),
        "tree, the paper's cuts": augmented(Tree(with_bodies(mechanism))),
        "fully augmented": augmented(Cartesian(mechanism)),
    }


def operations(made: list[ca.Function]) -> int:
    """All operations of them."""
    return sum(c.products + c.sums + c.others for c in map(counted, made))


def main() -> None:
    """Print the table."""
    rows = []
    for name, made in forms().items():
        with tempfile.TemporaryDirectory() as folder:
            rows.append((name, operations(made), sum(nanoseconds(f, Path(folder)) for f in made)))
    print(f"{'':32}{'operations':>12}{'ratio':>7}{'ns':>8}{'ratio':>7}")
    for name, count, ns in rows:
        print(f"{name:32}{count:12}{count / rows[0][1]:7.2f}{ns:8.0f}{ns / rows[0][2]:7.2f}")


if __name__ == "__main__":
    main()
