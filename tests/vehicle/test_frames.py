"""Axes of other programs: worked examples from each convention's definition, handedness, round trips."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jounce import frames
from jounce.frames import AEROSPACE, CARLA, ISO_8855, ROS, ROS_OPTICAL, Convention
from jounce_fmu.importer.host import open_builtin

Array = frames.Array
NORTH = Convention("FLU", "NWU")
ALL = (ISO_8855, NORTH, ROS, ROS_OPTICAL, AEROSPACE, CARLA)

conventions = st.sampled_from(ALL)
vectors = st.tuples(*[st.floats(-100.0, 100.0)] * 3).map(np.array)
angles = st.floats(-math.pi, math.pi)
axes = vectors.filter(lambda v: np.linalg.norm(v) > 1e-3).map(lambda v: v / np.linalg.norm(v))
quaternions = st.tuples(axes, angles).map(lambda a: np.array([math.cos(0.5 * a[1]), *math.sin(0.5 * a[1]) * a[0]]))


def turn(axis: Array, angle: float) -> Array:
    """Rodrigues: 1 + sin [a] + (1 - cos) [a]^2."""
    x, y, z = axis
    tilde = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + math.sin(angle) * tilde + (1.0 - math.cos(angle)) * tilde @ tilde


def close(a: Any, b: Any, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(a, b, rtol=0.0, atol=tolerance)


def same(p: Array, q: Array, tolerance: float = 1e-12) -> None:
    """One rotation: q and -q are it both."""
    close(p * math.copysign(1.0, p @ q), q, tolerance)


# ------------------------------------------------------------------------------------- definitions, by hand


@pytest.mark.parametrize(("of", "to", "there"), [
    # 5 m ahead, 1 m to the left, 2 m up; or 5 m east, 1 m north, 2 m up
    ("FLU", "FRD", (5.0, -1.0, -2.0)),  # aerospace: forward, right, down
    ("FLU", "RDF", (-1.0, -2.0, 5.0)),  # REP 103, optical: x right, y down, z forward
    ("FLU", "FRU", (5.0, -1.0, 2.0)),  # CARLA: "Z up, X forward, Y right"
    ("ENU", "NED", (1.0, 5.0, -2.0)),  # REP 103: "X north, Y east, Z down"
    ("ENU", "ESU", (5.0, -1.0, 2.0)),
    # x points north: 5 m north, 1 m west, 2 m up
    ("NWU", "NED", (5.0, -1.0, -2.0)),
    ("NWU", "ENU", (-1.0, 5.0, 2.0)),
])
def test_a_point_has_the_components_that_the_letters_say(of: str, to: str, there: tuple[float, ...]) -> None:
    close(frames.vector([5.0, 1.0, 2.0], of, to), there)


@pytest.mark.parametrize(("name", "hand"), [
    ("FLU", 1.0), ("FRD", 1.0), ("RDF", 1.0), ("FRU", -1.0), ("ENU", 1.0), ("NWU", 1.0), ("NED", 1.0), ("ESU", -1.0),
])
def test_only_the_axes_of_carla_are_left_handed(name: str, hand: float) -> None:
    home = "ENU" if set("ENWS") & set(name) else "FLU"
    x, y, z = frames.axes(name, home).T  # the axes, in right-handed components
    close(np.cross(x, y), hand * z)


@pytest.mark.parametrize(("to", "rates"), [
    # rolling to the right at 0.1, nose going down at 0.2, turning left at 0.3 rad/s
    (AEROSPACE, (0.1, -0.2, -0.3)),  # p: right side down, q: nose up, r: nose right
    (ROS, (0.1, 0.2, 0.3)),
    # Left-handed: a positive turn about x goes from right to up, about y from up to forward, about z from forward to
    # right.
    (CARLA, (-0.1, 0.2, -0.3)),
])
def test_angular_rates_keep_their_sense(to: Convention, rates: tuple[float, ...]) -> None:
    close(frames.pseudovector([0.1, 0.2, 0.3], "FLU", to.body), rates)


@pytest.mark.parametrize(("of", "heading"), [(ISO_8855, 60.0), (NORTH, -30.0)])
def test_aerospace_counts_heading_from_north_to_the_right_and_pitch_nose_up(of: Convention, heading: float) -> None:
    """Of 30 degrees to the left, nose 10 down, right side 5 down: x of the world is east, or north."""
    r = frames.rotation_zyx(np.radians([30.0, 10.0, 5.0]))
    close(np.degrees(frames.zyx(frames.rotation(r, of, AEROSPACE))), [heading, -10.0, 5.0], 1e-10)


def test_a_rotator_of_carla_has_yaw_to_the_right_and_pitch_nose_up() -> None:
    """carla::geom::RightHandedRotation: roll = carla.roll, pitch = -carla.pitch, yaw = -carla.yaw."""
    r = frames.rotation_zyx(np.radians([30.0, 10.0, 5.0]))
    close(frames.rotator(frames.rotation(r, ISO_8855, CARLA)), [-10.0, -30.0, 5.0], 1e-10)


@pytest.mark.parametrize(("rotator", "axis", "points"), [
    ((90.0, 0.0, 0.0), 0, (0.0, 0.0, 1.0)),  # pitch: the nose up
    ((0.0, 90.0, 0.0), 0, (0.0, 1.0, 0.0)),  # yaw: the nose to the right
    ((0.0, 0.0, 90.0), 1, (0.0, 0.0, -1.0)),  # roll: the right side down
    ((30.0, 90.0, 0.0), 0, (0.0, math.sqrt(0.75), 0.5)),  # the pitch is about the axis that has turned with the yaw
])
def test_a_rotator_turns_its_axes_where_carla_says(
        rotator: tuple[float, ...], axis: int, points: tuple[float, ...]) -> None:
    close(frames.rotation_of_rotator(rotator)[:, axis], points)


def test_the_quaternion_of_a_rotator_has_the_signs_of_unreal() -> None:
    """FRotator::Quaternion of a pitch alone has y = -sin(p / 2), of a roll x = -sin(r / 2), of a yaw z = sin(y / 2)."""
    half = math.sin(math.radians(20.0))
    for place, (component, sign) in enumerate([(2, -1.0), (3, 1.0), (1, -1.0)]):
        q = frames.quaternion_of(frames.rotation_of_rotator(40.0 * np.eye(3)[place]))
        close(q, [math.sqrt(1.0 - half * half), *(sign * half * np.eye(3)[component - 1])])


def test_the_example_of_the_notation_page_gives_what_its_table_says() -> None:
    page = (Path(__file__).parents[2] / "docs" / "notation.md").read_text()
    (example,) = re.findall("```python\n(.*?)```", page, re.DOTALL)
    a, b, c = math.radians(30.0), math.radians(10.0), math.radians(5.0)
    names: dict[str, Any] = {"state": {
        "ref_frame.pos": np.array([1.0, 2.0, 3.0]), "ref_frame.ang_vel": np.array([0.1, 0.2, 0.3]),
        "ref_frame.rot": frames.quaternion_of(frames.rotation_zyx([a, b, c]))}}
    exec(example, names)
    close(names["position"], [1.0, -2.0, 3.0])
    close([names["pitch"], names["yaw"], names["roll"]], [-10.0, -30.0, 5.0], 1e-10)
    close(frames.zyx(frames.rotation_of(names["attitude"])), [0.5 * math.pi - a, -b, c])
    close([names["p"], names["q"], names["r"]], [0.1, -0.2, -0.3])


def test_ros_writes_the_scalar_of_a_quaternion_last() -> None:
    quarter = [math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)]  # a quarter turn to the left
    close(frames.xyzw(quarter), [0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)])
    close(frames.wxyz([1.0, 2.0, 3.0, 4.0]), [4.0, 1.0, 2.0, 3.0])
    close(frames.rotated(quarter, [1.0, 0.0, 0.0]), [0.0, 1.0, 0.0])


def test_the_vehicle_reports_its_yaw_pitch_and_roll_as_its_quaternion_does() -> None:
    with open_builtin().instance("turned") as vehicle:
        vehicle.setup({"init.yaw": 2.5, "terrain.slope": 0.2, "terrain.bank": -0.1})
        values = dict(zip((s.name for s in vehicle.table.outputs), vehicle.get_outputs(), strict=True))
    q = [values[f"ref_frame.rot.e{k}"] for k in range(4)]
    found = frames.zyx(frames.rotation_of(q))
    assert min(abs(found)) > 0.04
    close(found, [values[f"ref_frame.{name}"] for name in ("yaw", "pitch", "roll")])


# ------------------------------------------------------------------------------------- laws


@given(axes, angles, vectors)
def test_a_quaternion_turns_a_vector_as_its_rotation_does(axis: Array, angle: float, v: Array) -> None:
    q = np.array([math.cos(0.5 * angle), *math.sin(0.5 * angle) * axis])
    r = turn(axis, angle)
    close(frames.rotated(q, v), r @ v, 1e-11)
    close(frames.rotation_of(q), r)
    same(frames.quaternion_of(r), q, 1e-9)


@given(conventions, conventions, quaternions, vectors)
def test_what_is_fixed_to_the_body_is_at_the_same_place_in_any_convention(
        of: Convention, to: Convention, q: Array, v: Array) -> None:
    there = frames.vector(frames.rotated(q, v), of.world, to.world)
    moved = frames.quaternion(q, of, to)
    close(frames.rotated(moved, frames.vector(v, of.body, to.body)), there, 1e-11)
    close(frames.rotation_of(moved), frames.rotation(frames.rotation_of(q), of, to))


@given(conventions, conventions, quaternions, vectors)
def test_there_and_back_is_nothing(of: Convention, to: Convention, q: Array, v: Array) -> None:
    for f in (frames.vector, frames.pseudovector):
        close(f(f(v, of.world, to.world), to.world, of.world), v)
    same(frames.quaternion(frames.quaternion(q, of, to), to, of), q)
    r = frames.rotation_of(q)
    close(frames.rotation(frames.rotation(r, of, to), to, of), r)


@given(conventions, conventions, vectors, vectors)
def test_a_moment_is_the_product_of_its_arm_and_force_in_any_convention(
        of: Convention, to: Convention, arm: Array, force: Array) -> None:
    there = np.cross(frames.vector(arm, of.body, to.body), frames.vector(force, of.body, to.body))
    close(frames.pseudovector(np.cross(arm, force), of.body, to.body), there, 1e-9)


@given(conventions, quaternions, axes)
def test_an_angular_velocity_moves_the_rotation_in_any_convention(to: Convention, q: Array, omega: Array) -> None:
    """R' = R [omega], of body components, with the rotation's central difference over 2e-4 rad."""
    r, h = frames.rotation_of(q), 1e-4
    before, after = (frames.rotation(r @ turn(omega, s * h), ISO_8855, to) for s in (-1.0, 1.0))
    rate = frames.rotation(r, ISO_8855, to).T @ (after - before) / (2.0 * h)
    x, y, z = frames.pseudovector(omega, "FLU", to.body)
    close(rate, [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]], 1e-7)


@given(angles, st.floats(-1.5, 1.5), angles)
def test_euler_angles_come_back(yaw: float, pitch: float, roll: float) -> None:
    r = frames.rotation_zyx([yaw, pitch, roll])
    x, y, z = np.eye(3)
    close(r, turn(z, yaw) @ turn(y, pitch) @ turn(x, roll))
    close(np.exp(1j * (frames.zyx(r) - [yaw, pitch, roll])), 1.0, 1e-9)
    degrees = np.degrees([pitch, yaw, roll])
    back = frames.rotator(frames.rotation_of_rotator(degrees)) - degrees
    close(np.exp(1j * np.radians(back)), 1.0, 1e-9)


@pytest.mark.parametrize("pitch", [-0.5 * math.pi, 0.5 * math.pi])
def test_straight_up_and_down_all_of_the_turn_is_yaw(pitch: float) -> None:
    r = frames.rotation_zyx([0.7, pitch, 0.2])
    found = frames.zyx(r)
    assert found[2] == 0.0
    close(frames.rotation_zyx(found), r)


def test_arrays_are_converted_row_by_row() -> None:
    rng = np.random.default_rng(5)
    q = rng.normal(size=(2, 3, 4))
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    r = frames.rotation_of(q)
    for f, batch in [(frames.rotation_of, q), (frames.quaternion_of, r), (frames.zyx, r), (frames.rotator, r),
                     (lambda a: frames.quaternion(a, ISO_8855, CARLA), q), (frames.rotation_zyx, q[..., :3]),
                     (lambda a: frames.rotation(a, ROS, AEROSPACE), r)]:
        whole = f(batch)
        for place in np.ndindex(2, 3):
            close(whole[place], f(batch[place]))
    assert frames.vector(np.zeros((0, 3)), "FLU", "FRD").shape == (0, 3)


# ------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("name", ["", "FL", "FLUD", "FFU", "FBU", "XYZ", "ELU", "flu"])
def test_axes_must_be_three_directions_of_one_kind(name: str) -> None:
    with pytest.raises(ValueError, match="expected three letters"):
        frames.axes(name, "FLU")


def test_axes_of_a_body_are_none_of_the_world() -> None:
    with pytest.raises(ValueError, match="one is of a body, the other of the world"):
        frames.vector([1.0, 0.0, 0.0], "FLU", "ENU")


@pytest.mark.parametrize(("convert", "nothing"), [(frames.quaternion, [1.0, 0.0, 0.0, 0.0]),
                                                  (frames.rotation, np.eye(3))])
def test_body_and_world_change_hands_together(convert: Any, nothing: Any) -> None:
    with pytest.raises(ValueError, match="both body and world change handedness"):
        convert(nothing, ISO_8855, Convention("FRU", "NED"))


@pytest.mark.parametrize("q", [[0.0] * 4, [1.0, 1.0, 0.0, 0.0], [math.nan, 0.0, 0.0, 0.0]])
def test_a_quaternion_must_have_length_one(q: list[float]) -> None:
    with pytest.raises(ValueError, match="expected 1"):
        frames.quaternion(q, ISO_8855, ROS)


@pytest.mark.parametrize("r", [np.zeros((3, 3)), 2.0 * np.eye(3), np.diag([1.0, -1.0, 1.0]), np.full((3, 3), math.nan)])
def test_a_mirror_is_no_rotation(r: Array) -> None:
    for f in (frames.quaternion_of, frames.zyx, frames.rotator):
        with pytest.raises(ValueError, match="not a rotation"):
            f(r)


def test_another_shape_is_refused_with_the_one_that_is_due() -> None:
    with pytest.raises(ValueError, match=r"shape \(4,\): expected \(\.\.\., 3\)"):
        frames.vector([1.0, 2.0, 3.0, 4.0], "FLU", "FRD")
    with pytest.raises(ValueError, match=r"expected \(\.\.\., 3, 3\)"):
        frames.zyx([0.0, 0.0, 0.0])
