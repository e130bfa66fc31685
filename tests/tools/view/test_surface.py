"""The mesh of a terrain file against the ground that the model feels."""

from __future__ import annotations

import ctypes as ct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from ground import build, opened
from hypothesis import given
from hypothesis import strategies as st

from jounce.terrain.crg import read_crg
from jounce.terrain.iso8608 import iso_road
from jounce.terrain.obstacles import bump, half_round, pothole, ramp
from jounce.terrain.packed import Terrain, save
from jounce_tools.view.surface import surface

ROADS = Path(__file__).parents[2] / "data" / "roads"
ALL = (np.array([-1e4, -1e4]), np.array([1e4, 1e4]))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ct.CDLL:
    """The model's queries."""
    return build(tmp_path_factory.mktemp("ground"))


def _grid(**own: object) -> Terrain:
    z = 0.2 * np.random.default_rng(5).normal(size=(30, 20))
    return Terrain("HEIGHTMAP", z, 0.5, 0.8, (3.0, -2.0), 0.4, **own)  # type: ignore[arg-type]


def _obstacles() -> Terrain:
    """A level ground of 2 x 2 heights, 40 m long."""
    hole = pothole(20.0, 0.1, 1.0)
    shapes = (half_round(3.0, 0.2, yaw=0.3), bump(8.0, 0.2, 1.5), ramp(12.0, 0.3, 1.0, top=0.5), hole)
    return Terrain("HEIGHTMAP", np.zeros((2, 2)), 40.0, 12.0, (0.0, -6.0)).with_obstacles(*shapes)


#: Terrain, and how far the mesh may be off [m]: heights are float32 in the file; a road turns between its points.
KINDS: dict[str, tuple[Callable[[], Terrain], float]] = {
    "heightmap": (lambda: _grid(), 1e-6),
    "level beyond": (lambda: _grid(edge="PLANE", height=0.3), 1e-6),
    "ends": (lambda: _grid(edge="FAULT"), 1e-6),
    "profile": (lambda: iso_road("C", 3, 60.0), 1e-6),
    "obstacles": (lambda: _obstacles(), 1e-6),
    "road": (lambda: read_crg(ROADS / "banked.crg"), 5e-3),
    "curved road": (lambda: read_crg(ROADS / "curved.crg"), 5e-3),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_mesh_lies_on_the_ground_that_the_model_feels(library: ct.CDLL, tmp_path: Path, kind: str) -> None:
    make, off = KINDS[kind]
    t = make()
    net = surface(t, *ALL)
    if t.edge != "CLAMP":  # a point of the edge may be beyond it by rounding
        net = net[1:-1, [0, *range(7, net.shape[1] - 7), -1] if t.edge == "PLANE" else slice(1, -1)]
    points = net.reshape(-1, 3)
    with opened(library, save(t, tmp_path / "t.jnt")) as ground:
        felt = ground(np.ascontiguousarray(points[:, 0]), np.ascontiguousarray(points[:, 1]))[:, 0]
    assert np.abs(points[:, 2] - felt).max() < off


def test_obstacles_on_a_coarse_grid_are_seen() -> None:
    points = surface(_obstacles(), *ALL).reshape(-1, 3)

    def near(x: float) -> np.ndarray:
        return points[np.abs(points[:, 0] - x) < 0.3, 2]

    assert near(3.0).max() == pytest.approx(0.2, abs=0.005) and near(8.0).max() == pytest.approx(0.2, abs=0.002)
    assert near(13.2).max() == pytest.approx(0.3) and near(20.5).min() == pytest.approx(-0.1)


@given(low=st.tuples(st.floats(-50, 50), st.floats(-50, 50)), size=st.tuples(st.floats(0.1, 60), st.floats(0.1, 60)))
def test_a_piece_covers_its_box_as_far_as_the_file_goes(low: tuple[float, float], size: tuple[float, float]) -> None:
    t = Terrain("HEIGHTMAP", np.zeros((41, 31)), 1.0, 2.0, (-20.0, -30.0))
    high = np.array(low) + size
    points = surface(t, np.array(low), high, most=200)
    assert np.all(np.isfinite(points)) and min(points.shape[:2]) >= 2 and points.size // 3 < 1000
    x, y = points[..., 0], points[..., 1]
    for axis, (a, b), reach in ((x, (-20.0, 20.0), 0), (y, (-30.0, 30.0), 1)):
        assert axis.min() <= max(min(low[reach], b), a) + 1e-9 and axis.max() >= min(max(high[reach], a), b) - 1e-9


def test_a_long_road_is_drawn_with_a_bounded_number_of_points() -> None:
    t = iso_road("C", 3, 1000.0)
    for most in (1000, 20000):
        assert surface(t, *ALL, most=most).size / 3 <= most
    piece = surface(t, np.array([490.0, -5.0]), np.array([510.0, 5.0]))
    assert 480.0 < piece[..., 0].min() < 490.1 and 509.9 < piece[..., 0].max() < 520.0


def test_the_ground_is_raised_with_its_parameter() -> None:
    low = surface(_grid(), *ALL)
    assert surface(_grid(), *ALL, raised=1.5)[..., 2] == pytest.approx(low[..., 2] + 1.5)
