"""Suspensions by template: motions, loads, mirror images, and what they refuse."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from jounce.architecture import composite, mobility, rows, trim
from jounce.architecture.read import ArchitectureError
from jounce.architecture.target import GROUND, Joint, Multibody
from jounce.architecture.templates import TEMPLATES
from jounce.axles import wheel_names

ZERO = np.zeros(3)
X, Y, Z = np.eye(3)
HEAD = """
name = "sketch"
[[component]]
name = "frame"; kind = "box"; mass = 3000; com = [-1.2, 0, 0.9]; size = [4, 1.2, 0.4]
[[wheel_type]]
name = "lt"; radius = 0.39; mass = 45; inertia = [1.6, 2.9]; stiffness = 3e5; damping = 1500; mu = 0.8
[[suspension]]
name = "{name}"; template = "{template}"; frame = "frame"; wheel = "lt"
"""
BOX = 'kind = "box"; mass = {m}; com = {c}; size = [0.2, 0.3, 0.1]'
SPRING = "[suspension.spring]\nstiffness = 8e4; damping = 4e3\n"


def part(name: str, m: float, c: list[float]) -> str:
    return f"[suspension.{name}]\n{BOX.format(m=m, c=c)}\n"


#: Template -> what it asks for, for an axle around x = 0.
BODY = {
    "macpherson": """[suspension.points]
        arm_pivot = [0, 0.4, 0.34]; ball = [0, 0.78, 0.34]; strut_top = [-0.05, 0.62, 0.99]
        strut_bottom = [0, 0.74, 0.49]; tie_rod_outer = [-0.14, 0.74, 0.37]; tie_rod_inner = [-0.14, 0.36, 0.37]
        wheel_centre = [0, 0.86, 0.39]\n""" + part("arm", 12, [0, 0.6, 0.34]) + part("knuckle", 28, [0, 0.76, 0.47]),
    "double_wishbone": """[suspension.points]
        lower_pivot = [0, 0.35, 0.25]; lower_ball = [0, 0.75, 0.23]; lower_axis = [1, 0.05, 0.02]
        upper_pivot = [-0.02, 0.45, 0.6]; upper_ball = [-0.02, 0.7, 0.58]; spring_arm = [0, 0.6, 0.25]
        spring_frame = [0, 0.5, 0.7]; tie_rod_outer = [-0.15, 0.74, 0.37]; tie_rod_inner = [-0.15, 0.36, 0.38]
        wheel_centre = [0, 0.86, 0.39]\n""" + part("lower", 10, [0, 0.55, 0.24]) + part("upper", 5, [0, 0.58, 0.59])
        + part("knuckle", 28, [0, 0.76, 0.4]),
    "swing_arm": """[suspension.points]
        pivot = [0.8, 0.5, 0.45]; axis = [0.3, 1, 0]; spring_arm = [0, 0.55, 0.45]; spring_frame = [0, 0.55, 0.8]
        wheel_centre = [0, 0.86, 0.39]\n""" + part("arm", 30, [0.4, 0.6, 0.42]),
    "live_axle": """[suspension.points]
        lower_axle = [0, 0.5, 0.39]; lower_frame = [0.8, 0.5, 0.42]; upper_axle = [0, 0, 0.6]
        upper_frame = [0.8, 0, 0.62]; panhard_axle = [0.05, 0.5, 0.45]; panhard_frame = [0.05, -0.5, 0.45]
        spring_axle = [0, 0.5, 0.45]; spring_frame = [0, 0.5, 0.7]; wheel_centre = [0, 0.86, 0.39]\n"""
        + part("axle", 150, [0, 0, 0.39]),
    "leaf_axle": """[suspension.points]
        spring_axle = [0, 0.5, 0.42]; spring_front = [0.7, 0.5, 0.45]; torque_link = [0, 0, 0.6]
        wheel_centre = [0, 0.86, 0.39]\n""" + part("axle", 150, [0, 0, 0.39]),
    "walking_tandem": """[suspension.points]
        pivot = [0, 0.5, 0.45]; spring_saddle = [0, 0.5, 0.5]; spring_frame = [0, 0.5, 0.8]
        beam_front = [0.65, 0.5, 0.39]; beam_rear = [-0.65, 0.5, 0.39]; wheel_centre_front = [0.65, 0.86, 0.39]
        wheel_centre_rear = [-0.65, 0.86, 0.39]; torque_axle_front = [0.65, 0, 0.6]; torque_frame_front = [0, 0, 0.62]
        torque_axle_rear = [-0.65, 0, 0.6]; torque_frame_rear = [0, 0, 0.62]\n"""
        + part("axle_front", 150, [0.65, 0, 0.39]) + part("axle_rear", 150, [-0.65, 0, 0.39])
        + part("saddle", 20, [0, 0.5, 0.48]) + part("beam", 60, [0, 0.5, 0.42]),
    "general_independent": "[suspension.points]\nwheel_centre = [0, 0.86, 0.39]; axis = [-0.05, 0.08, 1]\n"
        + part("carrier", 30, [0, 0.8, 0.39]),
    "general_dependent": "[suspension.points]\nwheel_centre = [0, 0.86, 0.39]; spring_axle = [0, 0.5, 0.45]\n"
        + part("axle", 150, [0, 0, 0.39]),
}  # fmt: skip


def axle(template: str, name: str = "front", extra: str = "") -> str:
    head = HEAD.format(name=name, template=template).rstrip()
    return f"{head}\n{extra}\n{BODY[template]}{SPRING}".replace("; ", "\n")


def built(folder: Path, text: str) -> Multibody:
    path = folder / "sketch.toml"
    path.write_text(text)
    return composite.build(path)[1]


def moved(text: str, x: float, name: str) -> str:
    """The suspension of a text again, further along x."""
    tail = text[text.index("[[suspension]]"):].replace('name = "front"', f'name = "{name}"')
    lines = []
    for line in tail.splitlines():
        key, _, value = line.strip().partition(" = ")
        if value.startswith("[") and key not in ("size", "axis", "lower_axis"):
            numbers = [float(v) for v in value.strip("[]").split(",")]
            line = f"{key} = {[numbers[0] + x, *numbers[1:]]}"
        lines.append(line)
    return "\n".join(lines) + "\n"


@pytest.mark.slow(but=("swing_arm", "live_axle", "leaf_axle"))
@pytest.mark.parametrize("template", TEMPLATES)
def test_a_template_leaves_its_motions_and_the_turns_of_its_wheels(template: str, tmp_path: Path) -> None:
    model = built(tmp_path, axle(template))
    count = mobility.count(model)
    assert count.motions == 6 + TEMPLATES[template][1] + len(model.wheels)
    assert count.drawn == count.motions and count.redundant == ()


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_vehicle_on_two_of_a_template_stands_on_its_wheels(template: str, tmp_path: Path) -> None:
    front = axle(template)
    model = built(tmp_path, front + moved(front, -2.4, "rear"))
    still = trim.trimmed(model)
    loads = np.array([w.load for w in still.wheels])
    assert loads.sum() == pytest.approx(model.mass * 9.81, rel=1e-9) and (loads > 0).all()
    assert loads[0::2] == pytest.approx(loads[1::2], rel=1e-6)  # mirror images
    names = wheel_names(len(loads) // 2)
    assert tuple(w.name for w in still.wheels) == names
    middle = (loads * [w.centre[0] for w in still.wheels]).sum() / loads.sum()
    assert middle == pytest.approx(sum(b.mass * b.com[0] for b in model.bodies) / model.mass, abs=1e-6)


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_right_side_mirrors_the_left(template: str, tmp_path: Path) -> None:
    model = built(tmp_path, axle(template))
    flip = np.diag([1.0, -1.0, 1.0])
    for body in model.bodies:
        if "_L" not in body.name:
            continue
        other = model.bodies[model.index(body.name.replace("_L", "_R"))]
        np.testing.assert_allclose(other.com, body.com @ flip)
        np.testing.assert_allclose(other.inertia, flip @ body.inertia @ flip)


def test_a_dependent_swing_arm_is_one_body_that_heaves_and_twists_the_frame(tmp_path: Path) -> None:
    text = axle("swing_arm", extra="dependent = true").replace("[0.8, 0.5, 0.45]", "[0.8, 0, 0.45]")
    model = built(tmp_path, text.replace("[0.3, 1, 0]", "[0, 1, 0]").replace("[0.4, 0.6, 0.42]", "[0.4, 0, 0.42]"))
    assert len(model.bodies) == 4 and mobility.count(model).motions == 6 + 1 + 2


@pytest.mark.parametrize("ahead", [False, True])
def test_a_positive_steering_wheel_angle_turns_both_wheels_to_the_left(ahead: bool, tmp_path: Path) -> None:
    """The rack's displacement in the tie rods' rows, and the turn of the knuckles that it leaves."""
    text = axle("macpherson", extra='steered = "rack"\nrack_gain = 0.01')
    model = built(tmp_path, text.replace("[-0.14,", "[0.14,") if ahead else text)
    rods = [j for j in model.joints if j.kind == "rod"]
    assert len(rods) == 2 and all(np.abs(j.steer).tolist() == [0, 0.01, 0] for j in rods)
    assert all(w.steered for w in model.wheels)
    pose = rows.drawn(model)
    turned = replace(model, joints=tuple(replace(j, point_b=j.point_b + 0.5 * j.steer) for j in model.joints))
    fixed = replace(turned, springs=(), joints=(*turned.joints, *(
        Joint(f"held{k}", "rod", k, GROUND, b.com + d, b.com + d + e, length=1.0)  # frame and arms stand still
        for k, b in enumerate(model.bodies) if b.name == "frame" or ".arm" in b.name
        for d, e in ((ZERO, X), (ZERO, Y), (ZERO, Z), (X, Y), (Y, Z), (Z, X))
    )))  # fmt: skip
    closed = mobility.closed(fixed, pose)
    assert closed is not None
    for side in "LR":
        heading = closed.turn[model.index(f"front.knuckle_{side}")] @ X
        assert np.arctan2(heading[1], heading[0]) == pytest.approx(0.5 * 0.01 / 0.14, rel=0.1)


def test_an_axle_that_is_not_steered_has_rods_that_stand(tmp_path: Path) -> None:
    fixed = built(tmp_path, axle("macpherson"))
    assert not any(j.steer.any() for j in fixed.joints) and not any(w.steered for w in fixed.wheels)


@pytest.mark.slow
def test_a_second_ball_on_a_walking_tandems_axle_would_hold_one_row_too_many(tmp_path: Path) -> None:
    """Balls on both beams: as drawn it holds what is held already, their distance; tilted, the axle binds."""
    model = built(tmp_path, axle("walking_tandem"))
    joints = tuple(replace(j, kind="ball") if j.name == "front.end1_R" else j for j in model.joints)
    right, count = mobility.count(model), mobility.count(replace(model, joints=joints))
    assert right.drawn == right.motions
    assert (count.rows, count.drawn, count.motions) == (right.rows + 1, right.drawn, right.motions - 1)


REFUSED = {
    "template": (lambda t: t.replace('"macpherson"', '"strut"'), "template = 'strut': expected one of macpherson"),
    "wheel": (lambda t: t.replace('wheel = "lt"', 'wheel = "xl"'), r"wheel = 'xl': expected a \[\[wheel_type\]\], one"),
    "point": (lambda t: t.replace("ball = [0, 0.78, 0.34]", ""), "front: points: lacks ball, 3 numbers"),
    "part": (lambda t: t.replace("[suspension.arm]", "[suspension.arms]"), "suspension front: arm: lacks inertia"),
    "extra": (lambda t: t.replace("ball =", "bal = [0, 0, 0]\nball ="), "points: unknown key 'bal'; did you mean ball"),
    "frame": (lambda t: t.replace('frame = "frame"', 'frame = "chassis"'), "'chassis' is no component or assembly"),
    "strut": (lambda t: t.replace("[-0.05, 0.62, 0.99]", "[0, 0.74, 0.49]"), "strut_top and strut_bottom"),
    "wheel beside": (lambda t: t + '[[wheel]]\nbody = "frame"\nradius = 1\nstiffness = 1\n'
                     "damping = 1\nmu = 1\n", "wheel frame: body frame turns on 2 hinges"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_template_cannot_use_is_refused_by_its_entry(case: str, tmp_path: Path) -> None:
    change, message = REFUSED[case]
    with pytest.raises(ArchitectureError, match=message):
        built(tmp_path, change(axle("macpherson")))
