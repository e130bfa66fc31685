"""The first guess of dependent coordinates: accuracy after two Newton steps, box, and the same numbers in C."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from ce import Ce
from harness import compiled
from numpy.typing import NDArray
from suspensions import five_link, hmmwv, macpherson, solid_axle

from jounce.codegen.emitter import emit_file
from jounce.data import load_vehicle
from jounce.dynamics import chebyshev
from jounce.dynamics.embedding import Embedding
from jounce.dynamics.mechanism import Mechanism
from jounce.suspension.embedded import close_function, probe_function, problem
from jounce.suspension.inner_ends import inner_end
from jounce.suspension.mechanisms.templates import mechanism_of

Array = NDArray[np.float64]
HMMWV = Ce(load_vehicle("hmmwv"))


def _fixed(mechanism: Mechanism) -> Callable[[float], Array]:
    places = [np.concatenate([np.asarray(p, dtype=float), np.zeros(9)]) for p in mechanism.prescribed.values()]
    whole = np.concatenate([*places, np.zeros(24)])[: 12 * len(mechanism.wheels)]
    return lambda _steer: whole


def _along(mechanism: Mechanism, axis: int) -> Callable[[float], Array]:
    """A prescribed point that moves along an axis."""

    def inner(steer: float) -> Array:
        moved = _fixed(mechanism)(0.0).copy()
        moved[axis] += steer
        moved[3 + axis] = 1.0
        return moved

    return inner


@cache
def _case(name: str) -> tuple[Mechanism, Callable[[float], Array], tuple[float, float] | None]:
    full = HMMWV.vehicle["steering.max_arm_angle"]
    axle, strut, steered = solid_axle(), macpherson(), solid_axle(steered=True)
    return {
        "hmmwv front": (hmmwv(HMMWV.vehicle, "front"), lambda s: HMMWV.inner_end(0, (s, 0.0, 0.0)), (-full, full)),
        "hmmwv rear": (hmmwv(HMMWV.vehicle, "rear"), lambda _s: HMMWV.inner_end(2, (0.0, 0.0, 0.0)), None),
        "macpherson": (strut, _along(strut, 1), (-0.06, 0.06)),
        "five-link": (five_link(), _fixed(five_link()), None),
        "solid axle": (axle, _fixed(axle), None),
        "steered solid axle": (steered, _along(steered, 0), (-0.05, 0.05)),
    }[name]


@cache
def _fitted(name: str) -> tuple[chebyshev.Problem, chebyshev.Guess]:
    mechanism, inner, steering = _case(name)
    asked = problem(Embedding(mechanism), ca.evalf(mechanism.numbers()), inner, steering)
    return asked, chebyshev.fit(asked)


NAMES = ("hmmwv front", "hmmwv rear", "macpherson", "five-link", "solid axle")


@pytest.mark.slow(but=("hmmwv rear", "five-link", "solid"))
@pytest.mark.parametrize("name", NAMES)
def test_two_newton_steps_close_every_loop_to_rounding_over_the_box(name: str) -> None:
    asked, guess = _fitted(name)
    r = np.random.default_rng(1).random((asked.variables, 1000))
    corners = np.array(np.meshgrid(*[[0.0, 1.0]] * asked.variables)).reshape(asked.variables, -1)
    x = guess.box.low[:, None] + (guess.box.high - guess.box.low)[:, None] * np.hstack([r, corners])
    first = u = guess.at(x)
    for _ in range(2):
        u = asked.close(u, x)
    assert asked.probe(u, x).closure.max() < 1e-13
    assert np.abs(u - first).max() < 10 * chebyshev.GUESS
    # an independent way there: many small steps from the design position
    assert np.abs(u - chebyshev.follow(asked, x)).max() < 1e-11  # near the toggle a loop's rounding weighs more


EXAMPLES = Path(__file__).parents[2] / "vehicle" / "jounce" / "examples"
AXLES = [("car", "front"), ("car", "rear"), ("pickup", "front"), ("pickup", "rear"), ("microbus", "front"),
         ("offroader", "rear"), pytest.param("offroader", "front", marks=pytest.mark.slow)]  # fmt: skip


@pytest.mark.parametrize(("name", "axle_name"), AXLES)
def test_two_newton_steps_close_every_shipped_axle(name: str, axle_name: str) -> None:
    vehicle = load_vehicle(EXAMPLES / name)
    axle = next(a for a in vehicle.axles if a.name == axle_name)
    mechanism = mechanism_of(vehicle, axle.name, axle.kind)
    ends = [inner_end(vehicle, axle, point, 1.0) for point in mechanism.prescribed]

    def inner(steer: float) -> Array:
        out = np.zeros(12 * len(mechanism.wheels))
        for k, end in enumerate(ends):
            out[12 * k : 12 * k + 3] = end.at(steer)[0]
        return out

    full = 0.0 if axle.steered == "none" else vehicle["steering.max_arm_angle"]
    asked = problem(Embedding(mechanism), ca.evalf(mechanism.numbers()), inner, (-full, full) if full else None)
    guess = chebyshev.fit(asked)
    x = np.random.default_rng(4).random((asked.variables, 500))
    x = guess.box.low[:, None] + (guess.box.high - guess.box.low)[:, None] * x
    u = asked.close(asked.close(guess.at(x), x), x)
    assert asked.probe(u, x).closure.max() < 1e-13


def test_the_hmmwvs_front_box_ends_near_the_dead_centre_and_at_the_shock() -> None:
    # measured with the wheels straight: determinant 0.22 of the design's at -0.42 rad, no position beyond -0.465
    _, guess = _fitted("hmmwv front")
    assert guess.box.ends == (("toggle", "spring or shock"),)
    assert -0.43 < guess.box.low[0] < -0.38


def test_outside_the_box_the_loops_are_seen_to_be_open() -> None:
    # the polynomial is clamped there, and two steps do not reach rounding
    asked, guess = _fitted("hmmwv front")
    for beyond in (0.03, 0.05):
        x = np.array([[guess.box.low[0] - beyond], [0.0]])
        u = guess.at(x)
        for _ in range(2):
            u = asked.close(u, x)
        assert not asked.probe(u, x).closure[0] < 1e-9


def test_a_mechanism_that_is_open_in_the_design_position_is_refused() -> None:
    mechanism, _, _ = _case("five-link")
    asked = problem(Embedding(mechanism), ca.evalf(mechanism.numbers()), lambda _s: np.full(12, 0.3), None)
    with pytest.raises(ArithmeticError, match="design position is out of range: open loop"):
        chebyshev.fit(asked)


def _moved_links(seed: int, count: int) -> list[tuple[Mechanism, Array]]:
    r = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        mechanism = five_link(shift=r.uniform(-0.04, 0.04, (10, 3)))
        found.append((mechanism, _fixed(mechanism)(0.0)))
    return found


@pytest.mark.parametrize("count", [20, pytest.param(300, marks=pytest.mark.slow)])
def test_five_links_with_every_point_moved_by_40_mm_close_or_are_refused_with_a_reason(count: int) -> None:
    embedding, refused = Embedding(five_link()), []
    for mechanism, told in _moved_links(0, count):
        asked = problem(embedding, ca.evalf(mechanism.numbers()), lambda _s, told=told: told, None)  # type: ignore[misc]
        try:
            guess = chebyshev.fit(asked)
        except ArithmeticError as why:
            refused.append(str(why))
            continue
        x = np.linspace(guess.box.low[0], guess.box.high[0], 101)[None]
        u = asked.close(asked.close(guess.at(x), x), x)
        assert asked.probe(u, x).closure.max() < 1e-13
    # the 113th is at its dead centre in the design position: determinant -3e-6, of the others about 1e-3
    assert refused == (["coordinate 1 cannot leave the design position downward: open loop"] if count > 112 else [])


HARNESS = """
#include "jn_chebyshev.c"
#include "emitted.inc"
#undef JN_LANES
#undef JN_STRIDE
#define JN_STRIDE 4
#define JN_LANES 4
#include "jn_lanes.h"
#include "jn_guess.inc"
enum { WHEELS = %(wheels)d, N = %(coordinates)d };
typedef void (*jn_inner)(double, double *);
typedef struct { const double *numbers; jn_inner inner; } jn_case;
static double inner[12 * WHEELS], states[3 * WHEELS];
static void take(const jn_case *c, const double *x) {
    int k;
    c->inner(x[N], inner);
    for (k = 0; k < N; k++) states[3 * k] = x[k];
}
static void step(const void *of, const double *x, double *u) {
    double next[JN_GUESS_MOST];
    take(of, x);
    close_1(u, %(lanes)s, ((const jn_case *)of)->numbers, next);
    memcpy(u, next, %(dependent)d * sizeof *u);
}
static jn_probe look(const void *of, const double *x, const double *u) {
    jn_probe p;
    double out[4];
    take(of, x);
    probe_1(u, %(lanes)s, ((const jn_case *)of)->numbers, out);
    p.closure = out[0], p.quality = out[1], p.determinant = out[2], p.room = out[3];
    return p;
}
int fit(const double *numbers, jn_inner at, const double *limits, const double *steering, int steered, int *degrees,
        double *box, double *coefficients, int capacity, char *text) {
    const jn_case c = {numbers, at};
    const int least[3] = {0, 0, 0};
    jn_guess_fit f;
    jn_loops l = {N, %(dependent)d, 0, {0.0, 0.0}, {0.0, 0.0}, step, look, 0};
    int k;
    l.of = &c, l.steered = steered;
    for (k = 0; k < N; k++) l.limits[k] = limits[k];
    for (k = 0; k < 2; k++) l.steering[k] = steering[k];
    k = jn_fit_guess(&l, least, &f, coefficients, capacity, text, 200);
    memcpy(degrees, f.degrees, sizeof f.degrees);
    memcpy(box, f.low, sizeof f.low);
    memcpy(box + 3, f.high, sizeof f.high);
    box[6] = f.error, box[7] = f.ends[0][0], box[8] = f.ends[0][1];
    return k;
}
int fit_two(const double *numbers, jn_inner at, const double *limits, const double *steering, int *degrees,
            double *coefficients, int capacity, char *text) {
    /* the second lane goes half as far, so that alone it would take lower degrees */
    const jn_case c = {numbers, at};
    jn_guess_fit fits[2];
    jn_loops l[2] = {{N, %(dependent)d, 1, {0.0, 0.0}, {0.0, 0.0}, step, look, 0},
                     {N, %(dependent)d, 1, {0.0, 0.0}, {0.0, 0.0}, step, look, 0}};
    int k, lane, bad;
    for (k = 0; k < 2; k++) {
        l[k].of = &c;
        l[k].limits[0] = limits[0] / (k ? 1 : 2);
        l[k].steering[0] = steering[0], l[k].steering[1] = steering[1];
    }
    bad = jn_fit_guesses(l, 2, fits, coefficients, 4, capacity, &lane, text, 200);
    for (k = 0; k < 2; k++) memcpy(degrees + 3 * k, fits[k].degrees, sizeof fits[k].degrees);
    return bad;
}
void guess(const int *degrees, int variables, const double *x, const double *numbers, double *u, int lanes) {
    double t[3];
    jn_v4 v[3];
    int k;
    for (k = 0; k < variables; k++) t[k] = x[k], v[k] = JN_SPLAT(x[k]);
    if (lanes == 1) jn_guess_1(degrees, variables, %(dependent)d, t, numbers, u);
    else jn_guess_4(degrees, variables, %(dependent)d, v, numbers, u);
}
"""


@pytest.mark.slow(but=("hmmwv rear", "macpherson", "solid"))
@pytest.mark.parametrize("name", NAMES)
def test_the_fit_in_c_is_that_of_numpy_and_all_lanes_have_the_same_bits(name: str, tmp_path: Path) -> None:
    mechanism, inner, steering = _case(name)
    embedding = Embedding(mechanism)
    asked, guess = _fitted(name)
    (tmp_path / "emitted.inc").write_text(emit_file([close_function(embedding), probe_function(embedding)], "test"))
    wheels, n = len(mechanism.wheels), len(embedding.independent)
    lanes = ", ".join([*(f"states + {3 * k}" for k in range(wheels)), *(f"inner + {12 * k}" for k in range(wheels))])
    library = compiled(HARNESS % {"wheels": wheels, "coordinates": n, "dependent": asked.dependent, "lanes": lanes},
                       tmp_path)  # fmt: skip
    numbers = np.array(ca.evalf(mechanism.numbers())).ravel()
    pointer = ctypes.POINTER(ctypes.c_double)

    @ctypes.CFUNCTYPE(None, ctypes.c_double, pointer)
    def at(steer: float, out: object) -> None:
        np.ctypeslib.as_array(out, (12 * wheels,))[:] = inner(steer if steering else 0.0)  # type: ignore[call-overload]

    def place(a: Array) -> object:
        return a.ctypes.data_as(ctypes.c_void_p)

    degrees, box, found = np.zeros(3, dtype=np.int32), np.zeros(9), np.zeros(20000)
    limits, ends, text = np.array(asked.limits), np.array(steering or (0.0, 0.0)), ctypes.create_string_buffer(200)
    bad = library.fit(place(numbers), at, place(limits), place(ends), int(steering is not None), place(degrees),
                      place(box), place(found), 19000, text)  # fmt: skip
    assert bad == 0, text.value
    v = asked.variables
    assert tuple(degrees[:v]) == guess.degrees
    assert np.allclose(box[:v], guess.box.low, rtol=1e-14)
    assert np.allclose(box[3 : 3 + v], guess.box.high, rtol=1e-14)
    assert [chebyshev.ENDS[int(k)] for k in box[7:]] == list(guess.box.ends[0])
    assert box[6] == pytest.approx(guess.error, rel=1e-6)
    spread = np.repeat(found, 4)
    for point in np.random.default_rng(3).random((20, v)) * 1.2 - 0.1:
        x = guess.box.low + (guess.box.high - guess.box.low) * point
        one, four = np.zeros(asked.dependent), np.zeros(4 * asked.dependent)
        library.guess(place(degrees), v, place(x), place(found), place(one), 1)
        library.guess(place(degrees), v, place(x), place(spread), place(four), 4)
        assert np.abs(one - guess.at(x[:, None])[:, 0]).max() < 1e-13
        assert (four.reshape(-1, 4) == one[:, None]).all()


def test_lanes_of_one_kind_share_their_degrees(tmp_path: Path) -> None:
    mechanism, inner, steering = _case("macpherson")
    embedding = Embedding(mechanism)
    asked, guess = _fitted("macpherson")
    (tmp_path / "emitted.inc").write_text(emit_file([close_function(embedding), probe_function(embedding)], "test"))
    library = compiled(HARNESS % {"wheels": 1, "coordinates": 1, "dependent": 3, "lanes": "states, inner"}, tmp_path)

    @ctypes.CFUNCTYPE(None, ctypes.c_double, ctypes.POINTER(ctypes.c_double))
    def at(steer: float, out: object) -> None:
        np.ctypeslib.as_array(out, (12,))[:] = inner(steer)  # type: ignore[call-overload]

    degrees, found, numbers = np.zeros(6, dtype=np.int32), np.zeros(4000), np.array(ca.evalf(mechanism.numbers()))
    text = ctypes.create_string_buffer(200)

    def place(a: Array) -> object:
        return a.ctypes.data_as(ctypes.c_void_p)

    ends = np.array(steering)
    bad = library.fit_two(place(numbers), at, place(np.array(asked.limits)), place(ends), place(degrees), place(found),
                          900, text)  # fmt: skip
    assert bad == 0, text.value
    assert tuple(degrees[:2]) == tuple(degrees[3:5]) == guess.degrees
    x = np.array([0.1, 0.03])
    for lane in range(2):
        u = np.zeros(3 * 4)
        library.guess(place(degrees), 2, place(x), place(found[lane:].copy()), place(u), 4)
        # four copies of neighbouring lanes; the first is the lane's own
        assert np.abs(u[::4] - asked.close(guess.at(x[:, None]), x[:, None])[:, 0]).max() < 3 * chebyshev.GUESS
    assert library.fit_two(place(numbers), at, place(np.array(asked.limits)), place(ends), place(degrees),
                           place(found), 20, text) == 1  # fmt: skip
    assert b"more than the 20 numbers there is place for" in text.value
