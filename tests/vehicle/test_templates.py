"""Templates: data entries of each kind of axle become a mechanism that moves as it should."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import casadi as ca
import hardpoints
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jounce
from jounce.data import DataError, Entry, Vehicle, load_vehicle
from jounce.dynamics.embedding import Embedding
from jounce.suspension.embedded import close_function, closed_function
from jounce.suspension.mechanisms.templates import TEMPLATES, mechanism_of

MAKERS = (hardpoints.macpherson, hardpoints.five_link, hardpoints.solid_axle, hardpoints.trailing_arm)
#: Kind -> (coordinates, rows) of section 2 of Jain 2016 with rods as rows.
COUNTS = {"macpherson": (4, 3), "multilink": (6, 5), "solid_axle": (6, 4), "trailing_arm": (1, 0)}


@pytest.mark.parametrize("make", MAKERS)
def test_an_axle_has_its_coordinates_and_rows_and_they_are_independent(make: hardpoints.Maker) -> None:
    vehicle = make()
    for linkage in hardpoints.kinematics(vehicle).linkages:
        y = linkage.evaluate(np.zeros(len(linkage.names)))["jacobian"]
        assert (len(linkage.names), y.shape[0]) == COUNTS[vehicle.name]
        assert np.linalg.matrix_rank(y) == y.shape[0]
        assert len(linkage.independent) == TEMPLATES[vehicle.name].coordinates


@pytest.mark.parametrize("make", MAKERS)
def test_rates_of_all_coordinates_are_the_differences_of_solved_positions(make: hardpoints.Maker) -> None:
    for linkage in hardpoints.kinematics(make()).linkages:
        here = np.full(len(linkage.independent), 0.03)
        solved = linkage.solve(here)
        assert np.abs(solved.values["residual"]).max(initial=0.0) < 1e-13
        h = 1e-5
        for k in range(len(here)):
            step = np.eye(len(here))[k] * h
            difference = (linkage.solve(here + step).q - linkage.solve(here - step).q) / (2 * h)
            assert np.allclose(solved.motion[:, k], difference, rtol=0, atol=1e-8)


@pytest.mark.parametrize("make", MAKERS)
def test_left_and_right_mirror_each_other(make: hardpoints.Maker) -> None:
    axle = hardpoints.kinematics(make())
    left, right = axle.position(axle.at_travel((0.04, 0.04))).wheels
    mirror = np.array([1.0, -1.0, 1.0])
    assert np.allclose(left.centre, mirror * right.centre, rtol=0, atol=1e-12)
    assert np.allclose(left.axis, -mirror * right.axis, rtol=0, atol=1e-12)


@pytest.mark.parametrize("make", MAKERS)
def test_jounce_is_a_positive_coordinate(make: hardpoints.Maker) -> None:
    axle = hardpoints.kinematics(make())
    up = axle.position([0.02, 0.0] if axle.whole else [0.02, 0.02])
    assert all(w.centre[2] > d.centre[2] for w, d in zip(up.wheels, axle.position([0, 0]).wheels, strict=True))


def _strut() -> Vehicle:
    return hardpoints.macpherson()


@cache
def _strut_functions() -> tuple[ca.Function, ca.Function]:
    embedding = Embedding(mechanism_of(_strut(), "rear", "macpherson"))
    return closed_function(embedding), close_function(embedding)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(theta=st.floats(-0.3, 0.3), y=st.floats(-0.05, 0.05), side=st.sampled_from([1.0, -1.0]), seed=st.integers(0, 99))
def test_a_strut_in_closed_form_is_newton_on_its_loops(theta: float, y: float, side: float, seed: int) -> None:
    # with every point moved by up to 20 mm, and Newton's steps on the way from the design position
    closed, step = _strut_functions()
    random, entries = np.random.default_rng(seed), dict(_strut().entries)
    for name, entry in entries.items():
        if name.endswith((".x", ".y", ".z")) and ".origin." not in name:
            entries[name] = replace(entry, value=entry.value + random.uniform(-0.02, 0.02))
    mechanism = mechanism_of(replace(_strut(), entries=entries), "rear", "macpherson")
    numbers, design = ca.evalf(mechanism.numbers(side)), ca.evalf(ca.SX(mechanism.prescribed["TIEROD_C"]))
    still = np.array(design).ravel() * [1.0, side, 1.0]
    u = np.zeros(3)
    for part in np.linspace(0.1, 1.0, 10):
        inner = np.concatenate([still + [0.0, part * y, 0.0], np.zeros(9)])
        for _ in range(5):
            u = np.array(step(u, [part * theta, 0, 0], inner, numbers)).ravel()
    assert np.abs(np.array(closed([theta, 0, 0], inner, numbers)).ravel() - u).max() <= 1e-13


def test_a_strut_on_a_tierod_that_can_be_stretched_has_no_closed_form() -> None:
    soft = {"rear.tierod.stiffness": Entry(1e6, "N/m", "test", "test")}
    vehicle = replace(_strut(), entries=_strut().entries | soft)
    assert mechanism_of(vehicle, "rear", "macpherson").closed_form is None
    assert mechanism_of(_strut(), "rear", "macpherson").closed_form is not None


def test_an_entry_that_is_not_there_is_told_with_axle_kind_and_name() -> None:
    vehicle = hardpoints.five_link()
    entries = {k: v for k, v in vehicle.entries.items() if k != "rear.LATERAL_U.y"}
    with pytest.raises(DataError, match=r"axle rear \(multilink\): no entry 'rear.LATERAL_U.y'"):
        mechanism_of(replace(vehicle, entries=entries), "rear", "multilink")
    with pytest.raises(DataError, match=r"axle rear: kind = 'rocker': expected double_wishbone, macpherson"):
        mechanism_of(vehicle, "rear", "rocker")


def test_an_upper_arm_with_mass_moves_the_wheel_as_two_links_do() -> None:
    rods = hardpoints.five_link()
    d = hardpoints.DATA["five_link"]
    numbers = {"UCA_F": d["UF"], "UCA_B": d["UB"], "UCA_U": d["UU"], "UCA_CM": d["UU"], "UCA.mass": 4.744,
               "UCA.inertia": [0.02, 0.02, 0.03]}  # fmt: skip
    arm = replace(rods, entries={k: v for k, v in rods.entries.items() if ".UPPER_" not in k}
                  | hardpoints.vehicle("multilink", numbers).entries)  # fmt: skip
    one, other = (hardpoints.kinematics(v).position([0.06, -0.05]) for v in (rods, arm))
    for a, b in zip(one.wheels, other.wheels, strict=True):
        assert np.allclose(a.centre, b.centre, rtol=0, atol=1e-12) and np.allclose(a.twist, b.twist, rtol=0, atol=1e-10)


def test_a_compliant_link_holds_nothing_and_keeps_its_mass() -> None:
    vehicle = hardpoints.solid_axle(**{"PAN_A": [-0.1, 0.45, 0], "PAN_C": [-0.1, -0.45, 0.02], "PAN.mass": 2.0,
                                       "UL_L.stiffness": 2e7})  # fmt: skip
    mechanism = hardpoints.mechanism(vehicle)
    stretched = next(r for r in mechanism.rods if r.name == "UL_L")
    assert stretched.compliant and float(stretched.mass) == 1.446
    y = hardpoints.kinematics(vehicle).linkages[0].evaluate(np.zeros(6))["jacobian"]
    assert y.shape[0] == np.linalg.matrix_rank(y) == 4


# --- leaf springs --------------------------------------------------------------------------------------------------


def leaf(front: float, rear: float) -> Vehicle:
    """The generic axle on leaves with halves of those lengths [m]."""
    vehicle = hardpoints.solid_axle()
    own = {"LEAF_A": [0, 0.5, 0.1], "SPRING_F": [front, 0.5, 0.1], "SPRING_R": [-rear, 0.5, 0.1], "leaf.mass": 8.0,
           "leaf.inertia.xx": 0.1}  # fmt: skip
    extra = hardpoints.vehicle("leaf_axle", own).entries
    return Vehicle("leaf_axle", vehicle.entries | extra, axles=(replace(vehicle.axles[0], kind="leaf_axle"),))


def bent(front: float, rear: float, rise: float) -> tuple[float, float]:
    """(how far the clamp comes nearer to the front eye, slope of the leaf there) of a leaf that bends to an arc of a
    circle, the eyes at one height; by the geometry of the arc, not by the rule."""
    low, high = 1e-9, 2.0
    for _ in range(200):  # curvature whose chord stands `rise` below the clamp
        k = 0.5 * (low + high)
        a, b = front * k, rear * k
        # clamp at the origin with slope 0, curved down; eyes at arc lengths front and -rear
        eye_f, eye_r = np.array([np.sin(a) / k, -(1 - np.cos(a)) / k]), np.array([-np.sin(b) / k, -(1 - np.cos(b)) / k])
        chord = eye_f - eye_r
        height = (chord[0] * eye_f[1] - chord[1] * eye_f[0]) / np.hypot(*chord)
        low, high = (k, high) if abs(height) < abs(rise) else (low, k)
    along = chord / np.hypot(*chord)
    return front - float(eye_f @ along), float(-np.arctan2(along[1], along[0]))


@pytest.mark.parametrize("front, rear", [(0.6, 0.6), (0.54, 0.60), (0.7, 0.5)])
def test_a_leaf_moves_the_axle_as_an_elastic_leaf_of_uniform_strength_does(front: float, rear: float) -> None:
    linkage = hardpoints.kinematics(leaf(front, rear)).linkages[0]
    rise = 0.04
    low, high = (linkage.solve([s * rise, 0.0]) for s in (-1, 1))
    closer, slope = bent(front, rear, rise)
    assert -(high.q[4] - low.q[4]) / 2 == pytest.approx(slope, rel=0.005, abs=1e-9)
    # the coordinates' point is 0.1 m below the clamp; the even part is what the arc draws in
    drawn = sum(s.q[0] + 0.1 * s.q[4] for s in (low, high)) / 2
    assert drawn == pytest.approx(closer, rel=0.005)


def test_a_leaf_of_equal_halves_follows_the_three_quarter_rule() -> None:
    link = next(r for r in hardpoints.mechanism(leaf(0.6, 0.6)).rods if r.name == "leaf_L")
    assert float(ca.norm_2(link.a.point - link.b.point)) == pytest.approx(0.75 * 0.6, rel=1e-12)


# --- graph ---------------------------------------------------------------------------------------------------------


def as_graph() -> Vehicle:
    """The MacPherson axle told as bodies, joints and rods."""
    vehicle = hardpoints.macpherson()
    entries = dict(vehicle.entries)
    six = hardpoints.mechanism(vehicle).bodies[0].inertia
    for k, a in enumerate(("xx", "yy", "zz")):
        entries[f"rear.LCA.inertia.{a}"] = Entry(float(six[k]), "kg.m2", "test", "test")
    lists = {
        "rear.coordinate": ({"name": "hinge"},),
        "rear.body": ({"name": "LCA", "com": "LCA_CM"}, {"name": "upright", "com": "UPRIGHT"}),
        "rear.joint": (
            {"name": "hinge", "type": "revolute", "a": "chassis", "b": "LCA", "point": "LCA_B", "axis": ["LCA_B",
            "LCA_F"]}, {"name": "ball", "type": "spherical", "a": "LCA", "b": "upright", "point": "LCA_U"},
            {"name": "top", "type": "point_on_line", "a": "upright", "b": "chassis", "point": "STRUT_C",
             "axis": ["STRUT_U", "STRUT_C"], "cut": True},
        ),
        "rear.rod": ({"name": "tierod", "a": "steering", "point_a": "TIEROD_C", "b": "upright", "point_b":
        "TIEROD_U"},), "rear.wheel": ({"on": "upright"},),
        "rear.spring": ({"a": "upright", "point_a": "STRUT_U", "b": "chassis", "point_b": "STRUT_C"},),
        "rear.shock": ({"a": "upright", "point_a": "STRUT_U", "b": "chassis", "point_b": "STRUT_C"},),
    }  # fmt: skip
    return replace(vehicle, entries=entries, lists=lists, axles=(replace(vehicle.axles[0], kind="graph"),))


def test_a_graph_of_a_strut_moves_as_the_template_does() -> None:
    one, other = (hardpoints.kinematics(v).position([0.1, -0.12]) for v in (hardpoints.macpherson(), as_graph()))
    for a, b in zip(one.wheels, other.wheels, strict=True):
        assert np.allclose(a.centre, b.centre, rtol=0, atol=1e-12) and np.allclose(a.twist, b.twist, rtol=0, atol=1e-11)
    assert one.lengths["spring"] == pytest.approx(other.lengths["spring"], abs=1e-12)


@pytest.mark.parametrize(("key", "change", "said"), [
    ("rear.joint", {"type": "rubber"}, r"joint 'hinge' is of kind 'rubber'; allowed are revolute"),
    ("rear.joint", {"axis": "w"}, r"\[\[rear.joint\]\] 1 \('hinge'\): axis = 'w': expected \"x\", \"y\", \"z\" or two"),
    ("rear.joint", {"point": "NO"}, r"\[\[rear.joint\]\] 1 \('hinge'\): point 'NO' has no entries rear.NO.x"),
    ("rear.joint", {"cut": "yes"}, r"\[\[rear.joint\]\] 1 \('hinge'\): cut = 'yes': expected true or false"),
    ("rear.joint", {"b": "axle"}, r"joint 'hinge' is on 'axle'; there are"),
    ("rear.body", {"colour": "red"}, r"\[\[rear.body\]\] 1 \('LCA'\): unknown key 'colour'; expected com, name"),
    ("rear.coordinate", {"name": "arm"}, r"independent coordinate 'arm' is not there; there are hinge, ball.z"),
    ("rear.body", {"name": "carrier"}, r"\[\[rear.body\]\] 1 \('carrier'\): no entry rear.carrier.mass"),
    ("rear.spring", {"wheel": 3}, r"\[\[rear.spring\]\] 1: wheel = 3: expected 1 to 1"),
])  # fmt: skip
def test_a_fault_of_a_graph_is_told_with_list_place_and_what_is_expected(
    key: str, change: dict[str, object], said: str
) -> None:
    vehicle = as_graph()
    first, *rest = vehicle.lists[key]
    lists = dict(vehicle.lists) | {key: ({**first, **change}, *rest)}
    with pytest.raises(DataError, match=said):
        mechanism_of(replace(vehicle, lists=lists), "rear", "graph")


def test_a_second_spring_and_a_body_without_a_joint_are_told_with_their_axle() -> None:
    vehicle = as_graph()
    twice = dict(vehicle.lists) | {"rear.spring": vehicle.lists["rear.spring"] * 2}
    with pytest.raises(DataError, match=r"\[\[rear.spring\]\] 2: wheel 1 has a spring already"):
        mechanism_of(replace(vehicle, lists=twice), "rear", "graph")
    loose = dict(vehicle.lists) | {"rear.body": (*vehicle.lists["rear.body"], {"name": "arm", "com": "LCA_CM"})}
    entries = vehicle.entries | {f"rear.arm.{k}": vehicle.entries[f"rear.LCA.{k}"]
                                 for k in ("mass", "inertia.xx", "inertia.yy", "inertia.zz")}  # fmt: skip
    with pytest.raises(DataError, match=r"axle rear: no joint carries body 'arm' from 'chassis'"):
        mechanism_of(replace(vehicle, lists=loose, entries=entries), "rear", "graph")


def test_lists_are_read_from_the_files_of_graph_axles_alone(tmp_path: hardpoints.Path) -> None:
    (tmp_path / "a.toml").write_text('[[rear.body]]\nname = "arm"\ncom = "C"\n')
    text = 'name = "x"\nfiles = ["a.toml"]\n[[axles]]\nname = "rear"\nkind = "{}"\n'
    (tmp_path / "vehicle.toml").write_text(text.format("graph"))
    assert load_vehicle(tmp_path).lists == {"rear.body": ({"name": "arm", "com": "C"},)}
    (tmp_path / "vehicle.toml").write_text(text.format("multilink"))
    with pytest.raises(DataError, match=r"list \[\[rear.body\]\]: expected lists of axles of kind graph alone"):
        load_vehicle(tmp_path)


# --- vehicles that come with jounce --------------------------------------------------------------------------------

EXAMPLES = sorted((hardpoints.Path(jounce.__file__).parent / "examples").glob("*/vehicle.toml"))


@pytest.mark.slow(but=("[car]", "[truck8x8]", "[hmmwv_chrono_pedals]"))
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.parent.name)
def test_an_example_s_axles_close_over_their_travel_and_stand_upright(path: hardpoints.Path) -> None:
    vehicle = load_vehicle(path)
    assert vehicle.name == path.parent.name
    for own in vehicle.axles:
        axle = hardpoints.kinematics(vehicle, own.name)
        steer = vehicle["steering.max_arm_angle"] if own.steered != "none" else 0.0
        for travel in ((-0.08, -0.08), (0.08, 0.08), (0.06, -0.06)):
            for angle in (-steer, steer):
                position = axle.position(axle.at_travel(travel, angle), angle)
                assert all(abs(w.axis[2]) < 0.25 for w in position.wheels), (own.name, travel)
        left, right = (w.axis for w in axle.position([0.0, 0.0], steer).wheels)
        assert steer == 0.0 or min(-left[0], -right[0]) > 0.3 * own.gain, "positive steering turns both to the left"
