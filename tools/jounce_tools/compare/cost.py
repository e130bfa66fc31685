"""One evaluation of one corner in every formulation: operations, sizes, and time of the product's emitted C.

The front left corner of a vehicle, everything up to its acceleration, springs and gather included, the vehicle's
numbers built in; the product's lane header and flags, in one lane and in four lanes with a corner each.
"""

from __future__ import annotations

import ctypes
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.axles import DEFAULT
from jounce.codegen.emitter import emit_file
from jounce.data import Vehicle
from jounce.dynamics import chebyshev
from jounce.dynamics.articulated import LOADS
from jounce.dynamics.embedding import Embedding
from jounce.formulations.augmented import Augmented, Factored, Gathered
from jounce.formulations.bushing import Bushed
from jounce.formulations.cartesian import Cartesian
from jounce.formulations.synthesis import counted
from jounce.formulations.whole import FORMS
from jounce.models.double_wishbone.functions import functions, numbers
from jounce.steering.pitman import INNER
from jounce.suspension.embedded import STATES, close_function, corner_function, problem
from jounce.suspension.inner_ends import inner_end
from jounce.suspension.mechanisms.templates import mechanism_of
from jounce_fmu.build.library import FLAGS, PACKAGE, BuildError, compiler

SX = ca.SX
Array = NDArray[np.float64]
#: The embedding in its two ways to close the loops.
CLOSED, NEWTON = "ce", "ce-newton"
#: The bushing tree, solved by the recursion over its bodies and as a whole.
BUSHING, DENSE = "bushing", "bushing-dense"
#: Formulations of a corner that are measured, in order of the table.
COSTS = (CLOSED, NEWTON, "ta-two-point", BUSHING, "ta", DENSE, "fa")
#: Interleaved blocks of each, and calls in a block.
BLOCKS, CALLS = 40, 2000
#: Largest angle of the Pitman arm that the first guess is fitted for [rad], and that of the run.
FULL, STEER = 0.52, 0.1
#: Numbers that an output has place for.
PLACE = 256


@dataclass(frozen=True)
class Case:
    """What one evaluation calls, in C names and in order: each from the same inputs and, with ``u``, from `u`."""

    functions: tuple[ca.Function, ...]
    calls: str
    inputs: Array
    guess: tuple[float, ...] = ()
    repeated: int = 0
    """Operations of functions that are called once more, and of what is no function."""


@dataclass(frozen=True)
class Evaluation:
    """What one evaluation of a corner is made of, and where it was compiled."""

    operations: int
    divisions: int
    coordinates: int
    rows: int
    entries: int
    """Of L below its diagonal."""
    library: str
    inputs: tuple[float, ...]
    guess: tuple[float, ...]


@dataclass(frozen=True)
class Time:
    """Of one evaluation [ns]."""

    best: float
    median: float


def _packed(inputs: Sequence[SX], outputs: Sequence[SX]) -> ca.Function:
    """A function of one vector."""
    out = ca.cse(ca.vertcat(*(ca.vec(ca.densify(v)) for v in outputs)))
    return ca.Function("whole", [ca.vertcat(*inputs)], [out])


def _operations(made: Sequence[ca.Function]) -> int:
    return sum(c.products + c.sums + c.others for c in map(counted, made))


def _moving() -> Array:
    """Angular velocity of the chassis, loads and the chassis' acceleration of the run."""
    loads = (500.0, 800.0, 6000.0, 5.0, 10.0, 20.0, 100.0, -50.0)
    return np.array([0.1, -0.2, 0.3, *loads, 0.1, 0.2, 0.3, 1.0, 2.0, 9.8])


def embedded(vehicle: Vehicle, *, closed: bool) -> Case:
    """Constraint embedding: in closed form, or the first guess, two Newton steps and the rest."""
    state, inner, omega, load, acceleration = (SX.sym(n, k) for n, k in (
        ("state", STATES.size), ("inner", INNER.size), ("omega", 3), ("load", LOADS.size), ("a0", 6)))  # fmt: skip
    made, vectors = functions(), numbers(vehicle)
    inputs = [state, inner, omega, load, acceleration]
    axial = vectors["axial"][0]
    mechanism = mechanism_of(vehicle, "front", "double_wishbone")
    end = inner_end(vehicle, DEFAULT[0], next(iter(mechanism.prescribed)), 1.0)

    def told(steer: float) -> Array:
        return np.concatenate([*end.at(steer), np.zeros(6)])

    run = np.concatenate([[0.03, 0.4, 30.0], told(STEER), _moving()])

    def whole(raw: SX) -> list[SX]:
        body = made["inward_sweep"](raw, load, axial)
        return [body[:27], made["outward_sweep"](raw, body, acceleration, axial)[0]]

    if closed:
        one = _packed(inputs, whole(made["corner"](state, inner, omega, vectors["corner numbers"][0])))
        return Case((one,), "JN_NAME(whole)(in, out);", run)
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
    more = _operations([step]) + 2 * (coefficients.size - 6)
    return Case((step, rest), text, run, tuple(coefficients.tolist()), more)


def augmented(form: Augmented, *, dense: bool = False) -> tuple[Case, Gathered]:
    """One evaluation of a corner with the interface of the augmented forms, and its equations."""
    c, a0 = form.symbols(), SX.sym("a0", 6)
    g = form.dense(c) if dense and isinstance(form, Bushed) else form.gathered(c)
    one = _packed([*c.all(), a0], [g.inertia, g.bias, g.acceleration(a0)])
    design = np.array(form.design).ravel() if isinstance(form, Cartesian) else np.zeros(form.places)
    points = form.mechanism.prescribed.values()
    ends, load = [v for p in points for v in (np.array(ca.evalf(SX(p))).ravel(), np.zeros(9))], _moving()
    run = np.concatenate([design, np.zeros(form.size), [30.0], *ends, load[:11], [0.0], load[11:]])
    return Case((one,), "JN_NAME(whole)(in, out);", run), g


def evaluation(vehicle: Vehicle, name: str, folder: Path) -> Evaluation:
    """Counts one evaluation of the front left corner and compiles it into a folder. Raises BuildError, DataError."""
    if name in (CLOSED, NEWTON):
        case, sizes = embedded(vehicle, closed=name == CLOSED), (1, 0, 0)
    else:
        mechanism = mechanism_of(vehicle, "front", "double_wishbone")
        form = FORMS[BUSHING if name == DENSE else name](mechanism, 1.0)
        case, g = augmented(form, dense=name == DENSE)
        sizes = (form.size, len(g.terms.rows), g.factors.entries if isinstance(g, Factored) else 0)
    divisions = sum(f.instruction_id(k) == ca.OP_DIV for f in case.functions for k in range(f.n_instructions()))
    return Evaluation(_operations(case.functions) + case.repeated, divisions, *sizes, _library(case, folder / name),
                      tuple(case.inputs.tolist()), case.guess)  # fmt: skip


def lanes() -> tuple[int, ...]:
    """Numbers of lanes that this processor has."""
    if platform.machine() in ("aarch64", "arm64"):
        return (1, 4)
    known = Path("/proc/cpuinfo")
    return (1, 4) if known.is_file() and "avx2" in known.read_text(encoding="utf-8") else (1,)


def _library(case: Case, folder: Path) -> str:
    """Path of a shared library with run_LANES(calls, in, guess, out)."""
    folder.mkdir()
    (folder / "emitted.inc").write_text(emit_file(list(case.functions), __name__), encoding="utf-8")
    head = "(int calls, double *in, const double *guess, double *out)"
    (folder / "run.inc").write_text(f"""JN_FN void JN_NAME(run){head} {{
    (void)guess;
    while (calls-- > 0) {{
        JN_PUT(in, 0, JN_GET(in, 0) + JN_CONST(1e-12));
        {case.calls}
    }}
}}
""", encoding="utf-8")  # fmt: skip
    parts = "".join(f'#undef JN_LANES\n#define JN_LANES {k}\n#include "jn_lanes.h"\n#include "jn_guess.inc"\n'
                    '#include "emitted.inc"\n#include "run.inc"\n' for k in lanes())  # fmt: skip
    doors = "".join(f"JN_OPEN void door_{k}{head} {{ run_{k}(calls, in, guess, out); }}\n" for k in lanes())
    text = ('#include <string.h>\n#include "jn_chebyshev.h"\n#define JN_OPEN __attribute__((visibility("default")))\n'
            f"{parts}{doors}")  # fmt: skip
    (folder / "all.c").write_text(text, encoding="utf-8")
    includes = [f"-I{PACKAGE / 'models' / place}" for place in ("common", "embedded")]
    wide = ["-mavx2"] if 4 in lanes() and platform.machine() in ("x86_64", "AMD64") else []
    command = [*compiler(), *FLAGS, *wide, "-shared", *includes, "all.c", "-o", "all.so", "-lm"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"compiling one corner ({folder.name}) failed:\n{done.stderr}")
    return str(folder / "all.so")


def times(made: Mapping[str, Evaluation], blocks: int = BLOCKS, calls: int = CALLS) -> dict[str, dict[int, Time]]:
    """Name -> lanes -> time, from interleaved blocks: what disturbs the machine disturbs all alike."""
    subjects = {(name, k): _subject(of, k, calls) for name, of in made.items() for k in lanes()}
    samples: dict[tuple[str, int], list[float]] = {key: [] for key in subjects}
    for _ in range(blocks):
        for key, subject in subjects.items():
            samples[key].append(subject())
    return {name: {k: Time(min(samples[name, k]), statistics.median(samples[name, k])) for k in lanes()}
            for name in made}  # fmt: skip


def _subject(of: Evaluation, lane: int, calls: int) -> Callable[[], float]:
    """A function that returns the time of one call [ns]."""
    door: Any = getattr(ctypes.CDLL(of.library), f"door_{lane}")
    arrays = [np.repeat(np.array(v), 4) for v in (of.inputs, (*of.guess, 0.0), [0.0] * PLACE)]
    places = [a.ctypes.data_as(ctypes.c_void_p) for a in arrays]

    def run() -> float:
        start = time.perf_counter_ns()
        door(calls, *places)
        took = (time.perf_counter_ns() - start) / calls
        if not np.isfinite(arrays[2]).all():
            raise ArithmeticError(f"{of.library}: the evaluation is not finite")
        return took

    return run
