"""Composite bodies of both trucks, of random architectures, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from jounce.architecture import composite, mobility
from jounce.architecture.graph import Architecture, Component, Edge
from jounce.architecture.inertia import Mass
from jounce.architecture.read import ArchitectureError
from jounce.architecture.target import GROUND, Multibody

DATA = Path(__file__).parents[2] / "data" / "trucks"
#: Body of a truck -> m, com, xx yy zz xz xy, from a second engine that was written on its own (docs/architecture.md).
BODIES = {
    ("class3", "frame"): (1870.0, (-2.6246, 0.0241, 1.0139), (416.96, 4494.84, 4730.14, 250.16, -10.11)),
    ("class3", "cab"): (998.0, (-1.3651, 0.0, 1.2948), (379.18, 541.08, 632.01, -4.56, 0.0)),
    ("class7", "frame"): (5664.333, (-2.2873, 0.0286, 1.2937), (4679.41, 24077.38, 24187.80, 29.28, -62.74)),
}
#: Truck -> components, bodies, rows, motions, mass [kg].
COUNTS = {"class3": (22, 12, 52, 20, 3880.0), "class7": (13, 12, 49, 23, 10553.5)}
SOURCES = ("built in", "prototype")


def built(truck: str, source: str) -> tuple[Architecture, Multibody]:
    return composite.build(truck if source == "built in" else DATA / f"{truck}.toml")


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("truck", "name"), BODIES)
def test_a_trucks_composite_body_has_the_mass_centre_and_inertia_of_a_second_engine(
    truck: str, name: str, source: str
) -> None:
    mass, com, moments = BODIES[truck, name]
    body = next(b for b in built(truck, source)[1].bodies if b.name.partition(".")[0] == name)
    i = body.inertia
    assert body.mass == pytest.approx(mass, rel=1e-4)
    assert body.com == pytest.approx(com, abs=1e-4)
    found = (i[0, 0], i[1, 1], i[2, 2], i[0, 2], i[0, 1])
    assert found == pytest.approx(moments, rel=1e-4, abs=6e-3)  # given to two decimals


@pytest.mark.slow(but="class3-prototype")
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("truck", COUNTS)
def test_a_truck_has_its_bodies_rows_and_motions(truck: str, source: str) -> None:
    made, model = built(truck, source)
    count = mobility.count(model)
    assert (len(made.components), len(model.bodies), count.rows, count.motions) == COUNTS[truck][:4]
    assert count.drawn == count.motions and count.redundant == ()
    assert model.mass == pytest.approx(COUNTS[truck][4], abs=0.05)


@pytest.mark.parametrize("truck", COUNTS)
def test_a_truck_of_templates_is_the_truck_written_joint_by_joint(truck: str) -> None:
    ours, flat = (built(truck, source)[1] for source in SOURCES)
    def bodies(model: Multibody) -> list[object]:
        return sorted((round(b.mass, 6), *np.round(b.com, 6) + 0.0, *np.round(b.inertia.ravel(), 5) + 0.0)
                      for b in model.bodies)  # fmt: skip

    def points(model: Multibody) -> list[object]:
        ends = [(*j.point_a, *j.point_b, j.rows) for j in model.joints if j.kind != "slider"]
        ends += [(*s.point_a, *s.point_b, s.stiffness, s.damping) for s in model.springs]
        return sorted(tuple(np.round(end, 9)) for end in ends)

    assert bodies(ours) == bodies(flat) and points(ours) == points(flat)
    assert [w.name for w in ours.wheels] == [w.name for w in flat.wheels]


def test_random_architectures_have_the_bodies_of_brute_force() -> None:
    """Who is rigid with whom by powers of a matrix; mass, centre and inertia by sums over points."""
    random = np.random.default_rng(7)
    for _ in range(80):
        n = int(random.integers(1, 13))
        clouds = [(random.uniform(0.1, 9, 5), random.uniform(-3, 3, (5, 3))) for _ in range(n)]
        made = Architecture("random")
        for k, (m, x) in enumerate(clouds):
            made.add(Component(f"c{k}", "", _of_points(m, x), f"component c{k}"))
        pairs = random.integers(0, n, (int(random.integers(0, 2 * n)), 2))  # rings, twice, with itself
        made.edges = [Edge(f"e{k}", "rigid", f"c{a}", f"c{b}", "") for k, (a, b) in enumerate(pairs)]
        place, bodies = composite.composites(made)
        beside = np.eye(n, dtype=bool)
        for a, b in pairs:
            beside[a, b] = beside[b, a] = True
        together = np.linalg.matrix_power(beside.astype(float), n) > 0
        assert len(bodies) == len({tuple(row) for row in together}) and place["ground"] == GROUND
        for k in range(n):
            body, ours = bodies[place[f"c{k}"]], np.flatnonzero(together[k])
            assert body.members == tuple(f"c{i}" for i in ours) and body.name == f"c{ours[0]}"
            whole = _of_points(*map(np.concatenate, zip(*(clouds[i] for i in ours), strict=True)))
            assert body.mass == pytest.approx(whole.mass, rel=1e-12)
            np.testing.assert_allclose(body.com, whole.com, atol=1e-12)
            np.testing.assert_allclose(body.inertia, whole.inertia, rtol=1e-11, atol=1e-10)


def _of_points(m: np.ndarray, x: np.ndarray) -> Mass:
    com = m @ x / m.sum()
    r = x - com
    return Mass(m.sum(), com, np.einsum("k,kij->ij", m, [v @ v * np.eye(3) - np.outer(v, v) for v in r]))


BASE = """
name = "sketch"
[[component]]
name = "frame"; mass = 100; com = [0, 0, 1]; inertia = [10, 20, 25]
[[component]]
name = "box"; mass = 10; com = [1, 0, 1]; inertia = [1, 2, 2]
[[component]]
name = "arm"; mass = 5; com = [2, 0, 1]; inertia = [1, 1, 1]
[[rigid]]
a = "frame"; b = "box"
"""
HINGE = '[[joint]]\nkind = "hinge"; a = "arm"; b = "frame"; point = [1.5, 0, 1]; axis = [0, 1, 0]\n'


def sketch(folder: Path, text: str) -> Path:
    path = folder / "sketch.toml"
    path.write_text(text.replace("; ", "\n"))
    return path


REFUSED = {
    "component that nothing reaches": ("", "component arm: no connection leads from frame to arm"),
    "joint inside one body": (
        HINGE + '[[joint]]\nkind = "ball"; a = "box"; b = "frame"; point = [1, 0, 1]\n',
        r"joint 2 \(box - frame\): box and frame are both part of body frame; expected a ball between two bodies",
    ),
    "spring inside one body": (
        HINGE + '[[spring]]\na = "box"; b = "frame"; point_a = [1, 0, 1]; point_b = [1, 0, 2]; stiffness = 1\n',
        "both part of body frame; expected a spring",
    ),
    "spring without a direction": (
        '[[spring]]\na = "arm"; b = "frame"; point = [1, 0, 1]; stiffness = 1\n', "whose points are the same",
    ),
    "name that is not there": (
        HINGE.replace('"arm"', '"leg"'), "'leg' is no component or assembly; expected one of frame, box, arm",
    ),
    "axis of no length": (HINGE.replace("[0, 1, 0]", "[0, 0, 0]"), "axis = .* expected a vector that is not zero"),
    "ball whose points miss": (
        '[[joint]]\nkind = "ball"; a = "arm"; b = "frame"; point_a = [1, 0, 1]; point_b = [1, 0, 1.01]\n',
        "miss each other by 0.01 m as drawn; expected the same point",
    ),
    "rod of another length": (
        '[[joint]]\nkind = "rod"; a = "arm"; b = "frame"; point_a = [1, 0, 1]; point_b = [2, 0, 1]; length = 2\n',
        "expected them 2 m apart",
    ),
    "rod without a length": ('[[joint]]\nkind = "rod"; a = "arm"; b = "frame"; point = [1, 0, 1]\n', "rod whose"),
    "unknown key": (HINGE + 'stifness = 3\n', "unknown key 'stifness'"),
    "kind that is not known": (HINGE.replace("hinge", "weld"), "kind = 'weld': expected one of ball, hinge"),
    "negative stiffness": (
        '[[spring]]\na = "arm"; b = "frame"; point_a = [1, 0, 1]; point_b = [1, 0, 2]; stiffness = -1\n',
        "stiffness = -1 N/m: expected more than 0",
    ),
    "not a number": (HINGE.replace("[1.5, 0, 1]", "[nan, 0, 1]"), "finite"),
    "wheel on no hinge": (
        HINGE + '[[wheel]]\nbody = "box"; radius = 1; stiffness = 1; damping = 1; mu = 1\n[[wheel]]\nbody = "frame"; '
        "radius = 1; stiffness = 1; damping = 1; mu = 1\n",
        "wheel box: the centre of mass of frame is",
    ),
    "the same name twice": (
        HINGE + '[[component]]\nname = "arm"; mass = 1; com = [0, 0, 0]; inertia = [1, 1, 1]\n', "name 'arm' is taken",
    ),
    "mass that is not positive": (
        HINGE + '[[component]]\nname = "x"; mass = 0; com = [0, 0, 0]; inertia = [1, 1, 1]\n',
        "component x: mass = 0 kg: expected more than 0",
    ),
    "inertia beyond the triangle": (
        HINGE + '[[component]]\nname = "x"; mass = 1; com = [0, 0, 0]; inertia = [1, 1, 3]\n',
        "component x: .* expected none larger than the sum of the other two",
    ),
    "inertia that is not positive": (
        HINGE + '[[component]]\nname = "x"; mass = 1; com = [0, 0, 0]; inertia = [1, 1, 1, 2]\n',
        "component x: .* expected all more than 0",
    ),
    "mass correction below its parts": (
        HINGE + '[mass_correction]\nassembly = "frame"; mass = 90; com = [0, 0, 1]; inertia = [10, 20, 25]\n',
        "mass = 90 kg: expected more than its components have together, 100",
    ),
    "mass correction whose rest is no body": (
        HINGE + '[mass_correction]\nassembly = "frame"; mass = 110; com = [0, 0, 1]; inertia = [9, 20, 25]\n',
        "mass_correction 1: what is left beside its components, 10 kg, is no rigid body: principal moments",
    ),
    "mass correction of nothing": (
        HINGE + '[mass_correction]\nassembly = "cab"; mass = 110; com = [0, 0, 1]; inertia = [9, 20, 25]\n', "'cab'",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_makes_no_vehicle_is_refused_by_the_name_of_its_entry(case: str, tmp_path: Path) -> None:
    text, message = REFUSED[case]
    with pytest.raises(ArchitectureError, match=message) as caught:
        composite.build(sketch(tmp_path, BASE + text))
    assert str(caught.value).startswith("sketch.toml: ")


def test_a_ring_of_rigid_edges_is_one_body(tmp_path: Path) -> None:
    ring = '[[rigid]]\na = "box"; b = "arm"\n[[rigid]]\na = "arm"; b = "frame"\n'
    _, model = composite.build(sketch(tmp_path, BASE + ring))
    assert [b.members for b in model.bodies] == [("frame", "box", "arm")]
    assert model.mass == 115 and model.bodies[0].com == pytest.approx([20 / 115, 0, 1])


def test_a_mass_correction_gives_its_assembly_the_mass_centre_and_inertia(tmp_path: Path) -> None:
    given = '[mass_correction]\nassembly = "frame"; mass = 150; com = [0.1, 0.02, 1.1]; inertia = [25, 40, 50, -3]\n'
    _, model = composite.build(sketch(tmp_path, BASE.replace('[[rigid]]\na = "frame"; b = "box"\n', "") + HINGE
                                      + HINGE.replace('"arm"', '"box"').replace("1.5", "0.5") + given))  # fmt: skip
    frame = model.bodies[0]
    assert frame.members == ("frame", "frame.rest") and frame.mass == pytest.approx(150)
    assert frame.com == pytest.approx([0.1, 0.02, 1.1])
    np.testing.assert_allclose(frame.inertia, [[25, 0, -3], [0, 40, 0], [-3, 0, 50]], atol=1e-12)


def test_a_number_has_a_unit_and_a_source_or_stands_alone(tmp_path: Path) -> None:
    sourced = BASE.replace("mass = 5", 'mass = {value = 5, unit = "kg", source = "scale"}')
    made, model = composite.build(sketch(tmp_path, sourced + HINGE))
    assert model.bodies[1].mass == 5 and made.sources == {"sketch.toml: component arm: mass": "scale"}
    with pytest.raises(ArchitectureError, match="component arm: mass: unit = 'g': expected 'kg'"):
        composite.build(sketch(tmp_path, sourced.replace('"kg"', '"g"') + HINGE))
