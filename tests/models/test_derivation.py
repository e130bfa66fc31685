"""Numbers derived axle by axle are those that the HMMWV derives at once."""

from __future__ import annotations

import casadi as ca
import numpy as np

from jounce.axles import DEFAULT, corners
from jounce.data import load_vehicle
from jounce.models.double_wishbone import emit_axles, parameters

HMMWV = load_vehicle("hmmwv")


def given(names: list[str], axle: str, *more: float) -> list[float]:
    named = (n.replace("AXLE.", f"{axle}.").replace("FIRST.", "front.") for n in names)
    return [*(HMMWV[n] for n in named), *more]


def test_axles_one_by_one_have_the_numbers_of_all_at_once() -> None:
    made = {f.name(): (f, names) for f, names in emit_axles.functions(emit_axles.CODE)}
    whole = parameters.derive_function(HMMWV, emit_axles.CODE.corner[1], emit_axles.CODE.prepared_wheel[1])
    corner, axial, wheel, inner, points, linkage, chassis, contact = (
        np.array(v).ravel() for v in whole([e.value for e in HMMWV.entries.values()])
    )
    for lane, (axle, side) in enumerate(corners(DEFAULT)):
        function, names = made["axle_double_wishbone"]
        own = function(given(names, axle.name, side, 1.0))
        assert np.array_equal(np.array(own[0]).ravel(), corner[lane::4])
        assert np.array_equal(np.array(own[1]).ravel(), axial[lane::4])
        function, names = made["axle_outline"]
        assert np.array_equal(np.array(function(given(names, axle.name, side))).ravel(), points[lane::4])
        function, names = made[f"axle_{axle.steered}"]
        ends = np.array(function(given(names, axle.name, side, 1.0))).ravel()
        assert np.allclose(ends, inner[lane::4], rtol=0, atol=1e-15)
    function, names = made["axle_wheel"]
    assert np.array_equal(np.array(function(given(names, ""))).ravel(), wheel[::4])
    function, names = made["vehicle_pitman"]
    for one, all_at_once in zip(function(given(names, "")), (linkage, chassis, contact), strict=True):
        assert np.array_equal(np.array(one).ravel(), all_at_once)


def test_an_axle_that_is_not_driven_has_no_shaft_and_a_gain_scales_the_motion_of_the_ends() -> None:
    made = {f.name(): (f, names) for f, names in emit_axles.functions(emit_axles.CODE)}
    function, names = made["axle_double_wishbone"]
    assert [float(v) for v in ca.vertsplit(function(given(names, "rear", 1.0, 0.0))[1])][1] == 0.0
    function, names = made["axle_pitman"]
    plain, half = (np.array(function(given(names, "front", 1.0, gain))).ravel() for gain in (1.0, 0.5))
    assert np.array_equal(half[3:6], 0.5 * plain[3:6]) and np.array_equal(half[6:], plain[6:])
