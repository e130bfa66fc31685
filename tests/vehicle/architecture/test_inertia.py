"""Inertia of components against closed forms and against sums over many points."""

from __future__ import annotations

import numpy as np
import pytest

from jounce.architecture import inertia
from jounce.architecture.entries import mass_of
from jounce.architecture.inertia import Mass
from jounce.architecture.read import Table

ORIGIN, Z = np.zeros(3), np.array([0.0, 0.0, 1.0])


def of_points(mass: float, points: np.ndarray) -> Mass:
    com = points.mean(0)
    r = points - com
    return Mass(mass, com, mass * ((r**2).sum(1).mean() * np.eye(3) - r.T @ r / len(r)))


def grid(*edges: np.ndarray, n: int = 60) -> np.ndarray:
    """Middles of equal cells of a parallelepiped."""
    u = (np.arange(n) + 0.5) / n
    return np.stack(np.meshgrid(*[u] * len(edges)), -1).reshape(-1, len(edges)) @ np.array(edges)


def test_a_thin_pipe_is_a_hoop_and_a_full_cylinder_half_of_it() -> None:
    pipe = inertia.cylinder(3.0, ORIGIN, Z, 2.0, 1e-6, 2.0 - 1e-9)
    np.testing.assert_allclose(np.diag(pipe.inertia), [6, 6, 12], rtol=1e-8)
    full = inertia.cylinder(3.0, ORIGIN, Z, 2.0, 4.0)
    np.testing.assert_allclose(np.diag(full.inertia), [3 + 4, 3 + 4, 6], rtol=1e-12)


def test_a_box_of_steel_weighs_its_volume() -> None:
    table = Table({"kind": "box", "material": "steel", "com": [1, 2, 3], "size": [0.1, 0.2, 0.5]}, "box")
    box = mass_of(table)
    assert box.mass == pytest.approx(78.5)
    assert np.diag(box.inertia) == pytest.approx(78.5 / 12 * np.array([0.29, 0.26, 0.05]))


@pytest.mark.parametrize("section", ["tube", "channel", "pipe"])
def test_a_straight_beam_is_the_sum_of_its_points(section: str) -> None:
    """A beam of 1.2 m askew in space; its section 0.08 m wide and 0.12 m high, of 6 mm."""
    path = np.array([[0.3, -0.2, 0.5], [1.1, 0.4, 1.1]])
    along = path[1] - path[0]
    length = np.linalg.norm(along)
    height = Z - along * along[2] / length**2
    height /= np.linalg.norm(height)
    width = np.cross(height, along / length)
    n = 400
    u = (np.arange(n) + 0.5) / n
    wide, high = (g.ravel() for g in np.meshgrid(0.08 * u, 0.12 * u))
    inside = {
        "tube": (np.abs(wide - 0.04) > 0.034) | (np.abs(high - 0.06) > 0.054),
        "channel": (wide < 0.006) | (np.abs(high - 0.06) > 0.054),
        "pipe": np.abs(np.hypot(wide - 0.04, high - 0.04) - 0.037) < 0.003,
    }[section]
    wide, high = wide[inside], high[inside]
    across = np.outer(wide - wide.mean(), width) + np.outer(high - high.mean(), height)
    area = inside.sum() * 0.08 * 0.12 / n**2
    flat = of_points(1.0, across)
    rod = of_points(1.0, path[0] + np.outer(u, along))
    made = {
        "tube": inertia.tube(0.08, 0.12, 0.006), "channel": inertia.channel(0.08, 0.12, 0.006),
        "pipe": inertia.pipe(0.08, 0.006),
    }[section]  # fmt: skip
    beam = inertia.beam(path, made, 7850.0, Z)
    assert beam.mass == pytest.approx(7850 * area * length, rel=3e-3)
    np.testing.assert_allclose(beam.com, path.mean(0), atol=1e-12)
    np.testing.assert_allclose(beam.inertia / beam.mass, rod.inertia + flat.inertia, atol=2e-5)


def test_a_panel_of_triangles_is_the_plate_that_they_cover() -> None:
    """A rectangle askew, cut in two triangles, 4 mm of glass."""
    a, b = np.array([1.2, 0.3, 0.1]), np.array([-0.2, 0.6, 0.6])
    corners = np.array([[0, 0, 0], a, a + b, b]) + [2, -1, 0.5]
    plate = inertia.panel(corners, np.array([[0, 1, 2], [0, 2, 3]]), 0.004, 2500.0)
    points = grid(a, b, n=200) + [2, -1, 0.5]
    normal = np.cross(a, b)
    assert plate.mass == pytest.approx(2500 * 0.004 * np.linalg.norm(normal))
    sheet = of_points(plate.mass, np.vstack([points + s * 0.002 / np.sqrt(3) * normal / np.linalg.norm(normal)
                                             for s in (-1, 1)]))  # fmt: skip
    np.testing.assert_allclose(plate.com, sheet.com, atol=1e-9)
    np.testing.assert_allclose(plate.inertia, sheet.inertia, rtol=1e-4, atol=1e-5)  # the grid is short of 1/n^2


def test_what_is_left_of_a_whole_is_the_part_that_was_added() -> None:
    numbers = np.array([[3.0, 0, 1, 2, 1, 2, 3], [5.0, -1, 0, 0.5, 0.3, 0.1, 1], [2.0, 4, 1, 1, 1, 1, 1]])
    parts = [inertia.box(n[0], n[1:4], n[4:]) for n in numbers]
    rest = inertia.remainder(inertia.total(parts), parts[:2])
    assert rest.mass == pytest.approx(2.0)
    np.testing.assert_allclose(rest.com, parts[2].com, atol=1e-12)
    np.testing.assert_allclose(rest.inertia, parts[2].inertia, atol=1e-12)
