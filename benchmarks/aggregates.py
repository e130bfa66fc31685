"""Measures corners and axles by constraint embedding (position, rest) against the double wishbone's closed form.

The position is that of a guess and two Newton steps, or of a closed form where there is one.

Emitted C, the product's lane header and flags, on one thread, interleaved in one run. One lane, and four lanes with
four corners; an axle with both its wheels on one lane.
"""

from __future__ import annotations

import argparse
import ctypes
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import casadi as ca
import numpy as np
from timing import Samples, interleave, machine, table

from jounce.codegen.emitter import emit_file
from jounce.codegen.prepare import first_rows, prepare
from jounce.data import load_vehicle
from jounce.dynamics import chebyshev
from jounce.dynamics.embedding import Embedding
from jounce.models.double_wishbone.functions import numbers as vehicle_numbers
from jounce.suspension import double_wishbone
from jounce.suspension.embedded import (
    close_function,
    closed_function,
    corner_function,
    pair_dynamics_function,
    problem,
)
from jounce.suspension.inner_ends import inner_end
from jounce.suspension.mechanisms.templates import mechanism_of
from jounce_fmu.build.library import FLAGS

MODELS = Path(__file__).parents[1] / "fmu" / "jounce_fmu" / "models"
EXAMPLES = Path(__file__).parents[1] / "vehicle" / "jounce" / "examples"
OWN_FLAGS = ("-shared", "-fvisibility=default")
#: Numbers that an output has place for.
PLACE = double_wishbone.OUTPUTS.size
#: Steering coordinate of the steered ones in the run [rad].
STEER = 0.1
#: What an emitted function may hold: label -> (vehicle, axle, largest steering coordinate or 0).
CASES = {
    "hmmwv front, general": ("hmmwv", "front", 0.52),
    "MacPherson": ("car", "front", 0.9),
    "five-link": ("car", "rear", 0.0),
    "solid axle, both wheels": ("offroader", "rear", 0.0),
    "leaf axle, both wheels": ("pickup", "rear", 0.0),
}


@dataclass
class Case:
    """Functions of one aggregate and the numbers for a run."""

    name: str
    wheels: int
    functions: list[ca.Function]
    sizes: dict[str, int]
    data: dict[str, np.ndarray]
    degrees: tuple[int, ...]
    closed: bool
    """Its position has a closed form."""

    def c(self) -> str:
        """A C function that runs it so many times, in one or four lanes."""
        lanes = "".join(f", states + {12 * w}" for w in range(self.wheels))
        lanes += "".join(f", inner + {48 * w}" for w in range(self.wheels))
        outs = "".join(f", out + {4 * PLACE * k}" for k in range(1 if self.wheels == 1 else 4))
        n, variables = self.wheels, len(self.degrees)
        degrees = ", ".join(map(str, (*self.degrees, 0, 0, 0)[:3]))
        x = "".join(f"        x[{k}] = JN_GET(states + {12 * k}, 0);\n" for k in range(n))
        x += f"        x[{n}] = JN_CONST({STEER});\n" if variables > n else ""
        position = f"""{x}        JN_NAME(jn_guess)(degrees, {variables}, {self.sizes["u"]}, x, guess, u);
        JN_NAME(close_{self.name})(u{lanes}, close_numbers, next);
        JN_NAME(close_{self.name})(next{lanes}, close_numbers, u);"""
        if self.closed:
            position = f"        JN_NAME(close_{self.name})({lanes[2:]}, close_numbers, u);"
        return f"""
JN_FN void JN_NAME(run_{self.name})(int calls, double *states, const double *inner, const double *guess,
                                    const double *close_numbers, const double *corner_numbers, double *out) {{
    static const int degrees[3] = {{{degrees}}};
    static const double omega[3] = {{0.1, -0.2, 0.3}};
    double u[4 * JN_GUESS_MOST], next[4 * JN_GUESS_MOST];
    T x[3];
    (void)degrees, (void)x, (void)next, (void)guess;
    while (calls-- > 0) {{
        JN_PUT(states, 0, JN_GET(states, 0) + JN_CONST(1e-12));
{position}
        JN_NAME(corner_{self.name})({lanes[2:]}, omega, corner_numbers, u{outs});
    }}
}}
"""


def case(name: str, label: str) -> Case:
    """An axle of a shipped vehicle, fitted."""
    where, axle_name, full = CASES[label]
    vehicle = load_vehicle(where if where == "hmmwv" else EXAMPLES / where)
    axle = next(a for a in vehicle.axles if a.name == axle_name)
    mechanism = mechanism_of(vehicle, axle.name, axle.kind)
    embedding, wheels = Embedding(mechanism), len(mechanism.wheels)
    numbers = ca.evalf(mechanism.numbers())
    ends = [inner_end(vehicle, axle, point, 1.0) for point in mechanism.prescribed]

    def inner(steer: float) -> np.ndarray:
        out = np.zeros(12 * wheels)
        for k, end in enumerate(ends):
            out[12 * k : 12 * k + 3], out[12 * k + 3 : 12 * k + 6] = end.at(steer)
        return out

    fitted = chebyshev.fit(problem(embedding, numbers, inner, (-full, full) if full else None))
    closed = mechanism.closed_form is not None
    position = (closed_function if closed else close_function)(embedding, f"close_{name}")
    step, step_numbers = prepare(position, position.n_in() - 1)
    whole = (corner_function if wheels == 1 else pair_dynamics_function)(embedding, f"corner_{name}")
    rest, rest_numbers = prepare(whole, 1 + 2 * wheels)
    if wheels == 1:
        rest = first_rows(rest, rest.name(), double_wishbone.DYNAMICS.size)
    box = fitted.box
    variables = len(fitted.degrees)
    guess = np.zeros(6)
    guess[:variables], guess[3 : 3 + variables] = (box.low + box.high) / 2, 2 / (box.high - box.low)
    states = np.zeros((wheels, 3))
    states[:, 0], states[:, 1], states[:, 2] = 0.03, 0.4, 30.0
    data = {"states": states.ravel(), "inner": inner(STEER if full else 0.0), "guess": np.concatenate(
        [guess, *(_ordered(c) for c in fitted.coefficients)]), "close": np.array(step_numbers(numbers)).ravel(),
        "corner": np.array(rest_numbers(numbers)).ravel()}  # fmt: skip
    return Case(name, wheels, [step, rest], {"u": len(embedding.dependent)},
                {k: np.repeat(v, 4) for k, v in data.items()}, fitted.degrees, closed)  # fmt: skip


def _ordered(coefficients: np.ndarray) -> np.ndarray:
    """Those that are kept, as `jn_guess` takes them: of two variables row by row, of the first one's degree."""
    return coefficients[chebyshev.kept([n - 1 for n in coefficients.shape])]


def library(cases: dict[str, Case], folder: Path) -> ctypes.CDLL:
    """Everything in one shared library."""
    closed, closed_numbers = prepare(double_wishbone.function(), 3)
    closed = first_rows(closed, "closed_form", double_wishbone.DYNAMICS.size)
    functions = [closed, *(f for c in cases.values() for f in c.functions)]
    shared = {"closed_form": [2], **{f"corner_{c.name}": [2 * c.wheels] for c in cases.values()}}
    (folder / "emitted.inc").write_text(emit_file(functions, "benchmarks", shared))
    runs = "".join(c.c() for c in cases.values())
    runs += """
JN_FN void JN_NAME(run_closed)(int calls, double *states, const double *inner, const double *guess,
                               const double *close_numbers, const double *corner_numbers, double *out) {
    static const double omega[3] = {0.1, -0.2, 0.3};
    (void)guess, (void)close_numbers;
    while (calls-- > 0) {
        JN_PUT(states, 0, JN_GET(states, 0) + JN_CONST(1e-12));
        JN_NAME(closed_form)(states, inner, omega, corner_numbers, out);
    }
}
"""
    (folder / "runs.inc").write_text(runs)
    names = [*(c.name for c in cases.values()), "closed"]
    takes = "int c, double *s, const double *i, const double *g, const double *a, const double *b, double *o"
    doors = "".join(f"void {n}_{lanes}({takes}) {{ run_{n}_{lanes}(c, s, i, g, a, b, o); }}\n" for n in names
                    for lanes in (1, 4))  # fmt: skip
    (folder / "all.c").write_text(
        '#include <string.h>\n#include "jn_chebyshev.h"\n'
        + "".join(f'#undef JN_LANES\n#define JN_LANES {k}\n#include "jn_lanes.h"\n#include "jn_guess.inc"\n'
                  '#include "emitted.inc"\n#include "runs.inc"\n' for k in (1, 4)) + doors)  # fmt: skip
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise SystemExit("no C compiler found; this benchmark needs cc or gcc")
    includes = [f"-I{MODELS / place}" for place in ("common", "embedded")]
    subprocess.run([compiler, *FLAGS, *OWN_FLAGS, *includes, "all.c", "-o", "all.so", "-lm"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "all.so"))


def main() -> None:
    """Print nanoseconds per corner or axle, and the ratio to the closed form."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40, help="interleaved blocks of each (default: %(default)s)")
    parser.add_argument("--calls", type=int, default=2000, help="calls in a block (default: %(default)s)")
    options = parser.parse_args()
    cases = {label: case(f"c{k}", label) for k, label in enumerate(CASES)}
    with tempfile.TemporaryDirectory() as folder:
        code = library(cases, Path(folder))
        subjects = {}
        general = cases["hmmwv front, general"]
        _, closed_numbers = prepare(double_wishbone.function(), 3)
        corner = vehicle_numbers(load_vehicle("hmmwv"))["corner numbers"][0]
        closed = {**general.data, "corner": np.repeat(np.array(closed_numbers(corner)).ravel(), 4)}
        of = {"closed form": ("closed", 1, closed)} | {n: (c.name, c.wheels, c.data) for n, c in cases.items()}
        for label, (name, wheels, data) in of.items():
            for lanes in (1, 4) if wheels == 1 else (1,):
                function = getattr(code, f"{name}_{lanes}")
                subjects[f"{label}, {lanes} lane{'s' * (lanes > 1)}"] = _subject(function, data, options.calls)
        samples = interleave(subjects, options.rounds)
    print(machine())
    base = {lanes: samples[f"closed form, {lanes}"].best() for lanes in ("1 lane", "4 lanes")}
    rows = [[n, f"{s.best():.0f}", f"{s.best() / base[n.rpartition(', ')[2]]:.2f}"] for n, s in samples.items()]
    print(table(["", "ns", "of the closed form"], rows))


def _subject(function: Callable[..., object], data: dict[str, np.ndarray], calls: int) -> Callable[[], Samples]:
    out = np.zeros(4 * 4 * PLACE)
    arrays = [data[k].copy() for k in ("states", "inner", "guess", "close", "corner")]
    places = [a.ctypes.data_as(ctypes.c_void_p) for a in (*arrays, out)]

    def run() -> Samples:
        start = time.perf_counter_ns()
        function(calls, *places)
        took = Samples([(time.perf_counter_ns() - start) / calls])
        assert np.isfinite(out).all()
        return took

    return run


if __name__ == "__main__":
    main()
