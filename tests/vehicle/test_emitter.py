"""The emitted C computes what CasADi computes, and gives the same bits in both lane widths."""

from __future__ import annotations

import ctypes

import casadi as ca
import numpy as np
import pytest
from ce import Ce, flat
from harness import compiled
from numpy.typing import NDArray

from jounce.codegen.emitter import emit_function
from jounce.contact import wheel
from jounce.data import load_vehicle
from jounce.dynamics import articulated, motion
from jounce.models.double_wishbone import outputs as reports
from jounce.models.double_wishbone.emit import Code
from jounce.steering import pitman as steering
from jounce.suspension import double_wishbone as corner

CE = Ce(load_vehicle("hmmwv"))
CODE = Code(CE.vehicle)
WHEEL = CODE.wheel
HARNESS = """
#define JN_LANES 1
#include "jn_lanes.h"
#include "double_wishbone_lanes.inc"
#undef JN_STRIDE
#define JN_STRIDE 1
#include "double_wishbone_scalar.inc"
#undef JN_STRIDE
#define JN_STRIDE 4
#undef JN_LANES
#define JN_LANES 4
#include "jn_lanes.h"
#include "double_wishbone_lanes.inc"
void one(int f, int lane, const double *a, const double *b, const double *c, const double *d, double *o) {
    if (f == 0) corner_1(a + lane, b + lane, c, d + lane, o + lane);
    if (f == 3) corner_dynamics_1(a + lane, b + lane, c, d + lane, o + lane);
    if (f == 1) inward_sweep_1(a + lane, b + lane, c + lane, o + lane);
    if (f == 2) outward_sweep_1(a + lane, b + lane, c, d + lane, o + lane);
    if (f == 4) inner_1(a, b + lane, o + lane);
}
void wheel_one(int lane, const double *a, const double *b, const double *c, const double *d, const double *e,
               double *o) {
    wheel_1(a + lane, b, c + lane, d + lane, e + lane, o + lane);
}
void wheel_lean(int lane, const double *a, const double *b, const double *c, const double *d, const double *e,
                double *o) {
    if (lane < 4) wheel_dynamics_1(a + lane, b, c + lane, d + lane, e + lane, o + lane);
    else wheel_dynamics_4(a, b, c, d, e, o);
}
void wheel_four(const double *a, const double *b, const double *c, const double *d, const double *e, double *o) {
    wheel_4(a, b, c, d, e, o);
}
void four(int f, const double *a, const double *b, const double *c, const double *d, double *o) {
    if (f == 0) corner_4(a, b, c, d, o);
    if (f == 3) corner_dynamics_4(a, b, c, d, o);
    if (f == 1) inward_sweep_4(a, b, c, o);
    if (f == 2) outward_sweep_4(a, b, c, d, o);
    if (f == 4) inner_4(a, b, o);
}
void report_one(int lane, const double *const *a, double *o, double *s) {
    report_1(a[0] + lane, a[1] + lane, a[2] + lane, a[3], a[4] + lane, a[5], a[6] + lane, o + lane, s + lane);
}
void report_four(const double *const *a, double *o, double *s) {
    report_4(a[0], a[1], a[2], a[3], a[4], a[5], a[6], o, s);
}
void derive(const double *p, double *corners, double *axial, double *wheels, double *inner, double *points,
            double *linkage, double *own, double *contact) {
    derive_1(p, corners, axial, wheels, inner, points, linkage, own, contact);
}
void once(int f, const double *a, const double *b, const double *c, const double *d, double *o) {
    if (f == 0) steering_1(a, b, o);
    if (f == 1) chassis_1(a, b, c, d, o);
    if (f == 2) motion_1(a, b, c, o, o + 3, o + 7);
    if (f == 3) external_1(a, b, o);
    if (f == 4) chassis_report_1(a, b, c, o, o + 33, o + 35);
}
"""
Array = NDArray[np.float64]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return compiled(HARNESS, tmp_path_factory.mktemp("emitted"))


def _call(function: object, *arrays: Array, size: int, head: tuple[int, ...]) -> Array:
    out = np.full(size, np.nan)
    padded = [*arrays, *[np.zeros(1)] * (4 - len(arrays)), out]
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in padded]
    function(*head, *pointers)  # type: ignore[operator]
    return out


def _lanes(columns: list[Array]) -> Array:
    return np.ascontiguousarray(np.array(columns).T)


def test_an_operation_without_a_c_counterpart_is_refused_by_name() -> None:
    x = ca.SX.sym("x")
    with pytest.raises(NotImplementedError, match="odd"):
        emit_function(ca.Function("odd", [x], [ca.erf(x)]))


def test_structural_zeros_which_casadi_leaves_out_are_refused() -> None:
    x = ca.SX.sym("x")
    with pytest.raises(ValueError, match="gappy"):
        emit_function(ca.Function("gappy", [x], [ca.vertcat(ca.SX(1, 1), x)]))


def _random_corners(seed: int) -> tuple[Array, Array, Array, Array]:
    """(states, motions of the inner ends, by corner; angular velocity; loads by corner)."""
    rng = np.random.default_rng(seed)
    states = np.stack([rng.uniform(-0.3, 0.3, 4), rng.normal(size=4), 10 * rng.normal(size=4)], axis=1)
    inner = np.array([CE.inner_end(k, tuple(rng.uniform(-0.4, 0.4, 3))) for k in range(4)])
    loads = np.concatenate([2000 * rng.normal(size=(4, 6)), 300 * rng.normal(size=(4, 2))], axis=1)
    return states, inner, rng.normal(size=3), loads


def _prepared(function: ca.Function, numbers: list[Array]) -> Array:
    return _lanes([flat(function(n)) for n in numbers])


@pytest.mark.parametrize("seed", range(25))
def test_one_lane_and_four_lanes_give_the_same_bits_and_casadis_values(library: ctypes.CDLL, seed: int) -> None:
    states, ends, omega, given = _random_corners(seed)
    numbers, axial, loads = _prepared(CODE.corner[1], CE.numbers), _lanes(CE.wheel_axial), _lanes(list(given))
    acc = np.random.default_rng(seed).normal(size=6)

    def both(f: int, rows: int, *arrays: Array) -> Array:
        four = _call(library.four, *arrays, size=4 * rows, head=(f,))
        one = np.full(4 * rows, np.nan)
        for lane in range(4):
            got = _call(library.one, *arrays, size=4 * rows, head=(f, lane))
            one[lane::4] = got[lane::4]
        assert one.tobytes() == four.tobytes()
        return four.reshape(rows, 4)

    moving = (_lanes(list(states)), _lanes(list(ends)), omega, numbers)
    c = both(0, corner.OUTPUTS.size, *moving)
    lean = both(3, corner.DYNAMICS.size, *moving)
    assert np.allclose(lean, c[: corner.DYNAMICS.size], rtol=1e-12, atol=1e-12)
    g = both(1, articulated.ARTICULATED_BODY.size, np.ascontiguousarray(c), loads, axial)
    e = both(2, 2, np.ascontiguousarray(c), np.ascontiguousarray(g), acc, axial)
    arm = np.random.default_rng(seed).uniform(-0.4, 0.4, 3)
    inner = both(4, steering.INNER.size, flat(CE.steering(arm, CE.linkage)), _lanes(CE.inner_numbers))
    for k in range(4):
        assert np.allclose(inner[:, k], CE.inner_end(k, tuple(arm)), rtol=1e-12, atol=1e-12)
        raw = flat(CE.corner(states[k], ends[k], omega, CE.numbers[k]))
        assert np.allclose(c[:, k], raw, rtol=1e-10, atol=1e-10)
        body = flat(CE.inward_sweep(raw, given[k], CE.wheel_axial[k]))
        assert np.allclose(g[:, k], body, rtol=1e-9, atol=1e-8)
        assert np.allclose(e[:, k], flat(CE.outward_sweep(raw, body, acc, CE.wheel_axial[k])), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("seed", range(25))
def test_the_wheel_gives_the_same_bits_in_both_widths_and_casadis_values(library: ctypes.CDLL, seed: int) -> None:
    rng = np.random.default_rng(seed)
    v = CE.vehicle
    numbers = np.array([v[name] for name in WHEEL.numbers.sizes])
    speed = rng.choice([0.0, 2.0, 15.0])
    q = np.array([1.0, *0.02 * rng.normal(size=3)])
    place, turning = [0, 0, 0.47 + 0.02 * rng.normal()], 0.1 * rng.normal(size=3)
    chassis = np.concatenate([place, q / np.linalg.norm(q), turning, [speed, 0.1 * rng.normal(), 0.0]])
    lanes = []
    for lane in range(4):
        axis = np.array([0.02, 1.0, -0.03]) / np.linalg.norm([0.02, 1.0, -0.03])
        hub = np.concatenate([[1.6, 0.9, -0.03], axis, 0.1 * rng.normal(size=6)])
        state = np.array([speed / 0.46 + rng.normal(), *0.001 * rng.normal(size=WHEEL.states.size - 1)])
        ground = [1.6, 0.9, 0.0, 0, 0, 1, 0.8, float(lane == 2), float(lane == 3)]
        given = np.concatenate([rng.uniform(0, 500, 2), 100 * rng.normal(size=9), ground])
        lanes.append([hub, chassis, state, given, numbers])
    hubs, states, given = (_lanes([lane[k] for lane in lanes]) for k in (0, 2, 3))
    arrays = [hubs, chassis, states, given, _prepared(CODE.prepared_wheel[1], [numbers] * 4)]
    rows = WHEEL.results.size
    four, one, scratch = np.full(4 * rows, np.nan), np.full(4 * rows, np.nan), np.full(4 * rows, np.nan)
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in arrays]
    library.wheel_four(*pointers, ctypes.c_void_p(four.ctypes.data))
    for lane in range(4):
        library.wheel_one(lane, *pointers, ctypes.c_void_p(scratch.ctypes.data))
        one[lane::4] = scratch[lane::4]
    assert one.tobytes() == four.tobytes()
    lean = np.full((2, 4 * WHEEL.dynamics.size), np.nan)
    for lane in range(5):
        library.wheel_lean(lane, *pointers, ctypes.c_void_p(lean[lane // 4].ctypes.data))
    assert lean[0].tobytes() == lean[1].tobytes()
    assert np.allclose(lean[0], four[: 4 * WHEEL.dynamics.size], rtol=1e-12, atol=1e-12)
    function = WHEEL.function()
    for lane in range(4):
        assert np.allclose(four[lane::4], flat(function(*lanes[lane])), rtol=1e-9, atol=1e-9)


def test_the_derived_numbers_are_those_of_the_symbolic_vehicle_for_any_variant(library: ctypes.CDLL) -> None:
    for ce in (CE, Ce(load_vehicle("hmmwv_chrono"))):
        entries = np.array([e.value for e in ce.vehicle.entries.values()])
        wheels = np.array([ce.vehicle[name] for name in WHEEL.numbers.sizes])
        expected = [_prepared(CODE.corner[1], ce.numbers), _lanes(ce.wheel_axial),
                    _prepared(CODE.prepared_wheel[1], [wheels] * 4), _lanes(ce.inner_numbers), _lanes(ce.outline),
                    ce.linkage, ce.own, ce.contact]  # fmt: skip
        out = [np.full(e.size, np.nan) for e in expected]
        library.derive(*(ctypes.c_void_p(a.ctypes.data) for a in (entries, *out)))
        for got, want in zip(out, expected, strict=True):
            assert np.allclose(got, want.ravel(), rtol=1e-12, atol=1e-14)


def test_the_functions_of_the_whole_vehicle_compute_casadis_values(library: ctypes.CDLL) -> None:
    rng = np.random.default_rng(1)
    arm = np.array([0.3, 0.2, -1.0])
    got = _call(library.once, arm, CE.linkage, size=steering.LINK.size, head=(0,))
    assert np.allclose(got, flat(CE.steering(arm, CE.linkage)), rtol=1e-12, atol=1e-12)
    omega, external = rng.normal(size=3), 1000 * rng.normal(size=6)
    body = np.concatenate([articulated_lower(rng), 100 * rng.normal(size=6)])
    got = _call(library.once, CE.own, omega, body, external, size=6, head=(1,))
    assert np.allclose(got, flat(CE.chassis(CE.own, omega, body, external)), rtol=1e-10, atol=1e-12)
    q = rng.normal(size=4)
    chassis = np.concatenate([rng.normal(size=3), q / np.linalg.norm(q), rng.normal(size=6)])
    acc, gravity = rng.normal(size=6), np.array([9.81])
    got = _call(library.once, chassis, acc[:3], gravity, size=10, head=(2,))
    want = np.concatenate([flat(v) for v in motion.function()(chassis, acc[:3], gravity)])
    assert np.allclose(got, want, rtol=1e-12, atol=1e-14)
    got = _call(library.once, chassis[3:7], external, size=6, head=(3,))
    assert np.allclose(got, flat(motion.external_function()(chassis[3:7], external)), rtol=1e-12, atol=1e-10)
    numbers = np.concatenate([CE.own, rng.normal(size=6), gravity])
    assert reports.CHASSIS.size == 33
    got = _call(library.once, chassis, acc, numbers, size=39, head=(4,))
    want = np.concatenate([flat(v) for v in reports.chassis_function()(chassis, acc, numbers)])
    assert np.allclose(got, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_the_wheel_report_gives_the_same_bits_in_both_widths_and_casadis_values(
    library: ctypes.CDLL, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    states, ends, omega, _ = _random_corners(seed)
    chassis, acceleration = rng.normal(size=wheel.CHASSIS.size), rng.normal(size=6)
    chassis[3:7] /= np.linalg.norm(chassis[3:7])
    corners = [flat(CE.corner(states[k], ends[k], omega, CE.numbers[k])) for k in range(4)]
    layouts = (WHEEL.results, articulated.ARTICULATED_BODY, reports.OWN)
    hubs, bodies, own = (rng.normal(size=(4, v.size)) for v in layouts)
    arrays = [_lanes(corners), _lanes(list(hubs)), _lanes(list(bodies)), chassis, _lanes(list(own)), acceleration,
              _lanes(CE.wheel_axial)]  # fmt: skip
    pointers = (ctypes.c_void_p * 7)(*(a.ctypes.data for a in arrays))
    rows, shares = reports.WHEEL.size, reports.SHARE.size
    four, one = ([np.full(4 * rows, np.nan), np.full(4 * shares, np.nan)] for _ in range(2))
    library.report_four(pointers, *(ctypes.c_void_p(a.ctypes.data) for a in four))
    for k in range(4):
        library.report_one(k, pointers, *(ctypes.c_void_p(a.ctypes.data) for a in one))
    assert [a.tobytes() for a in one] == [a.tobytes() for a in four]
    function = reports.wheel_function(WHEEL)
    for k in range(4):
        lane = (corners[k], hubs[k], bodies[k], chassis, own[k], acceleration, CE.wheel_axial[k])
        for got, want in zip(four, function(*lane), strict=True):
            assert np.allclose(got[k::4], flat(want), rtol=1e-9, atol=1e-9)


def articulated_lower(rng: np.random.Generator) -> Array:
    a = rng.normal(size=(6, 6))
    m = 50 * (a @ a.T)
    return np.array([m[row, col] for col in range(6) for row in range(col, 6)])
