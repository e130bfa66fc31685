"""``jounce render``: boxes of components, the page, the picture, and what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

from jounce.architecture import composite, inertia
from jounce.models.impulse.signals import truck
from jounce_tools.architecture import figure, render
from jounce_tools.cli.main import main


@pytest.fixture(scope="module")
def bump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """class3 over a bump at 8 m/s, as a CSV file."""
    path = tmp_path_factory.mktemp("run") / "bump.csv"
    words = ["--set", "init.speed=8", "--set", "road=BUMP", "--duration", "1.2", "-o", str(path)]
    assert main(["simulate", "--vehicle", "class3", *words]) == 0
    return path


def test_a_component_is_drawn_as_the_box_of_its_mass_and_inertia() -> None:
    com, size = np.array([1.0, 2.0, 3.0]), np.array([2.0, 0.5, 0.8])
    found = figure.corners(inertia.box(7.0, com, size))
    assert np.ptp(found, axis=0) == pytest.approx(size)
    assert found.mean(0) == pytest.approx(com)
    lengths = [np.linalg.norm(found[i] - found[j]) for i, j in figure.EDGES]
    assert sorted(lengths) == pytest.approx(sorted(4 * [*size]))


def test_boxes_stand_as_drawn_at_the_start_and_the_road_is_the_bump(bump: Path) -> None:
    scene = render.Scene(truck(*composite.build("class3")), bump)
    cab = next(b for b in scene.boxes if b.name == "cab.shell")
    middle = scene.placed(cab, 0).mean(0)
    assert middle == pytest.approx([-1.4, 0.0, 1.3], abs=1e-6)  # as in the file
    assert np.ptp(scene.placed(cab, 0), axis=0) == pytest.approx([2.4, 1.75, 1.4], abs=1e-6)
    assert scene.placed(cab, 500).mean(0)[0] == pytest.approx(-1.4 + 8 * 0.5, abs=0.05)
    top = scene.road[scene.road[:, 1].argmax()]
    assert top == pytest.approx([6.6, 0.12], abs=0.02)  # 0.12 m high, 1.2 m long, from 6 m on
    assert not any(b.name.startswith("front.wheel") for b in scene.boxes)


def test_springs_and_rods_end_where_they_are_drawn_and_rods_keep_their_length(bump: Path) -> None:
    scene = render.Scene(truck(*composite.build("class3")), bump)
    model = scene.truck.layout.model
    springs = [line for line in scene.lines if line.kind == "spring"]
    drawn = [s for s in model.springs if np.linalg.norm(s.point_a - s.point_b) > 1e-3]  # mounts have no length
    assert len(springs) == len(drawn) == 8
    for line, spring in zip(springs, drawn, strict=True):
        ends = scene.ends(line, 0)
        assert ends[[0, -1]] == pytest.approx(np.stack([spring.point_a, spring.point_b]), abs=1e-6)
    moved = [np.linalg.norm(np.subtract(*scene.ends(s, 850)[[0, -1]])) for s in springs]
    assert np.ptp(moved - np.array([np.linalg.norm(s.point_a - s.point_b) for s in drawn])) > 0.01
    rods = [(line, j) for line, j in zip(scene.lines, model.joints, strict=False) if j.kind == "rod"]
    assert len(rods) == 2  # the tie rods
    for line, joint in rods:
        assert np.linalg.norm(np.subtract(*scene.ends(line, 850))) == pytest.approx(joint.length, abs=1e-5)


def test_the_page_has_every_frame_and_nothing_from_elsewhere(bump: Path, tmp_path: Path) -> None:
    out = tmp_path / "bump.html"
    assert main(["render", "class3", str(bump), "-o", str(out)]) == 0
    text = out.read_text()
    data = json.loads(re.search(r"const d = (\{.*\}), c =", text)[1])  # type: ignore[index]
    assert len(data["times"]) == 30 and data["times"][1] == pytest.approx(0.04)
    assert len(data["boxes"]) == 18 and all(np.shape(frames) == (30, 8, 2) for _, frames in data["boxes"])
    assert np.shape(data["wheels"]) == (30, 4, 2) and "http" not in text


def test_the_picture_is_of_the_time_that_is_asked_for(bump: Path, tmp_path: Path) -> None:
    out = tmp_path / "bump.png"
    assert main(["render", "class3", str(bump), "--at", "0.85", "-o", str(out)]) == 0
    assert out.read_bytes()[:4] == b"\x89PNG"
    scene = render.Scene(truck(*composite.build("class3")), bump)
    assert render.picture(scene, 0.85).axes[0].get_title() == "class3 at 0.850 s"


def test_what_cannot_be_drawn_is_refused_and_writes_nothing(
    bump: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "odd.csv").write_text("time [s],a\n0,x\n1,2\n")
    (tmp_path / "short.csv").write_text("time [s]\n0\n")
    for words, message in (
        (f"class3 {bump} --at 9 -o OUT/a.png", "--at 9: expected 0 to 1.2 s"),
        (f"class3 {bump} --at nan -o OUT/a.png", "--at nan: expected 0 to 1.2 s"),
        (f"class3 {bump} --at 1 -o OUT/a.html", "expected a name that ends in .png"),
        (f"class3 {bump} -o OUT/a.png", "expected a name that ends in .html"),
        (f"class7 {bump} -o OUT/a.html", "has no column body_front.pos.x; expected a run of class7"),
        (f"frame4 {bump} -o OUT/a.html", "frame4 has no wheel; expected a vehicle on wheels"),
        (f"class3 {tmp_path}/odd.csv -o OUT/a.html", "expected numbers"),
        (f"class3 {tmp_path}/short.csv -o OUT/a.html", "expected a head and two rows or more"),
        (f"class3 {tmp_path}/none.csv -o OUT/a.html", "No such file"),
    ):
        assert main(["render", *words.replace("OUT", str(tmp_path)).split()]) == 2
        assert message in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["odd.csv", "short.csv"]


def test_the_road_of_the_parameters_is_where_the_tires_touch(bump: Path) -> None:
    """The nearest point of it is a tire's radius less its deflection away from the wheel's centre."""
    of = truck(*composite.build("class3"))
    columns = render._columns(bump)
    road = dict(SHAPE, road=2.0)
    x = np.arange(-5.0, 12.0, 1e-3)
    for wheel in of.model.wheels:
        z = figure.road_height(road, x, 1.0 if wheel.centre[1] > 0 else -1.0)
        for row in range(0, len(columns["time"]), 60):
            centre = [columns[f"wheel_{wheel.name}.pos.{a}"][row] for a in "xz"]
            pressed = columns[f"wheel_{wheel.name}.deflection"][row]
            away = np.hypot(x - centre[0], z - centre[1]).min()
            if pressed > 0:
                assert away == pytest.approx(wheel.radius - pressed, abs=3e-3)  # what the wheel rises in a tick
            else:
                assert away > wheel.radius - 3e-3


_TERM = {"order": 1.0, "place": 0.0, "factor": 0.0, "side": 2.0}
#: Parameters of a flat road.
SHAPE = {"road": 1.0, "road.start": 6.0, "road.height": 0.12, "road.length": 1.2, "road.pitch": 3.0, "road.count": 10.0,
         "road.side": 2.0} | {f"road.term_{k}.{n}": v for k in range(1, 5) for n, v in _TERM.items()}  # fmt: skip


@pytest.mark.parametrize(
    ("parameters", "side", "expected"),
    [
        ({}, 1, {0.0: 0.0, 6.6: 0.0}),
        ({"road": 2.0}, 1, {5.9: 0.0, 6.6: 0.12, 6.3: 0.06, 7.3: 0.0, 9.6: 0.0}),
        ({"road": 3.0}, 1, {6.6: 0.12, 9.6: 0.12, 33.6: 0.12, 36.6: 0.0}),
        ({"road": 4.0}, 1, {6.0: 0.0, 6.6: 0.06, 7.2: 0.12, 50.0: 0.12}),
        ({"road": 5.0, "road.side": 3.0}, 1, {6.6: -0.12}),
        ({"road": 5.0, "road.side": 3.0}, -1, {6.6: 0.0}),
        ({"road.term_2.order": 2.0, "road.term_2.place": 1.0, "road.term_2.factor": 0.5}, 1, {0.0: 0.0, 3.0: 2.0}),
        ({}, 1, {}),
    ],
)
def test_the_road_has_the_heights_of_its_definition(
    parameters: dict[str, float], side: float, expected: dict[float, float]
) -> None:
    values = SHAPE | parameters
    assert figure.is_flat(values) == (not parameters)
    found = figure.road_height(values, np.array([*expected]), side)
    assert found == pytest.approx(np.array([*expected.values()]), abs=1e-12)


def test_a_beam_and_a_panel_are_drawn_by_their_pieces() -> None:
    path = np.array([[0.0, 0, 0], [2, 0, 0], [2, 1, 0]])
    frame = inertia.beam(path, inertia.tube(0.1, 0.1, 0.05), 7850.0, np.array([0.0, 0, 1]))
    long, short = (np.ptp(figure.corners(piece), axis=0) for piece in frame.pieces)
    assert long == pytest.approx([2.0, 0.1, 0.1]) and short == pytest.approx([0.1, 1.0, 0.1])
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    assert len(inertia.panel(corners, np.array([[0, 1, 2], [0, 2, 3]]), 0.004, 2500.0).pieces) == 2


def test_changed_masses_and_points_move_what_is_drawn_with_them() -> None:
    """A body's frame has its origin in its centre of mass, which a heavier payload moves."""
    of = truck(*composite.build("class3"))
    payload = next(b for b in figure.boxes(of, {}) if b.name == "frame.payload").corners.mean(axis=0)
    changed = {"frame.payload.mass": 1800.0, "spring_rear.spring_L.point_a.z": 0.5}
    moved = next(b for b in figure.boxes(of, changed) if b.name == "frame.payload").corners.mean(axis=0)
    frame = of.layout.model.bodies[0]
    com = (frame.mass * frame.com + 900.0 * np.array([-3.5, 0.0, 1.15])) / (frame.mass + 900.0)
    assert payload == pytest.approx([-3.5, 0.0, 1.15] - frame.com) and moved == pytest.approx([-3.5, 0, 1.15] - com)
    ends = [next(s for s in figure.lines(of, v) if s.name == "rear.spring_L").on_a for v in ({}, changed)]
    assert ends[1] - ends[0] == pytest.approx([0.0, 0.0, 0.03])
    assert figure.centres(of, {}) == pytest.approx(np.array([b.com for b in of.layout.model.bodies]))
