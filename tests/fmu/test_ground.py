"""The model's terrain queries by themselves: against pycrg, the bilinear formula and the equations in numpy."""

from __future__ import annotations

import ctypes as ct
import hashlib
import struct
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from ground import Array, build, opened

from jounce.terrain.crg import read_crg
from jounce.terrain.iso8608 import iso_road
from jounce.terrain.obstacles import bump, half_round, heights, pothole, ramp, sine, step
from jounce.terrain.packed import MAGIC, VERSION, Area, Terrain, TerrainError, load, save, to_bytes

ROADS = Path(__file__).parents[1] / "data" / "roads"
NAMES = ("curved", "banked", "closed", "nan_border", "straight")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ct.CDLL:
    """The queries."""
    return build(tmp_path_factory.mktemp("ground"))


@pytest.mark.parametrize("name", NAMES)
def test_a_road_has_the_heights_of_pycrg(library: ct.CDLL, tmp_path: Path, name: str) -> None:
    x, y, z = np.load(ROADS / f"{name}.npy").T
    with opened(library, save(read_crg(ROADS / f"{name}.crg"), tmp_path / "t.jnt")) as ground:
        assert np.abs(ground(x, y)[:, 0] - z).max() < 1e-12


@pytest.mark.parametrize("name", NAMES)
def test_ten_thousand_points_of_a_road_where_pycrg_is_installed(library: ct.CDLL, tmp_path: Path, name: str) -> None:
    pycrg = pytest.importorskip("pycrg")
    rng = np.random.default_rng(1)
    with pycrg.DataSet.open(str(ROADS / f"{name}.crg")) as data:
        u, v = (rng.uniform(low, high, 10_000) for low, high in (data.u_range(), data.v_range()))
        u = np.clip(u, 0.05, data.u_range()[1] - 0.05)
        point = data.create_contact_point()
        x, y = point.uv_to_xy_many(u, v)
        z = point.uv_to_z_many(u, v)
    with opened(library, save(read_crg(ROADS / f"{name}.crg"), tmp_path / "t.jnt")) as ground:
        assert np.abs(ground(np.asarray(x), np.asarray(y))[:, 0] - z).max() < 1e-12
        assert np.abs(ground.places(np.asarray(x), np.asarray(y))[:, :2] - np.stack([u, v], 1)).max() < 1e-9


@pytest.mark.parametrize("name", NAMES)
def test_places_on_a_road_follow_its_line(library: ct.CDLL, tmp_path: Path, name: str) -> None:
    """At its points u goes on by the spacing from where the file begins; derivatives are those of quotients."""
    road = replace(read_crg(ROADS / f"{name}.crg"), start=12.5)
    at, h = road.line[1:-1, :2], 1e-5
    with opened(library, save(road, tmp_path / "t.jnt")) as ground:
        found = ground.places(*at.T)
        near = at[::7] + [[0.013, 0.31]]
        there, quotients = ground.places(*near.T), []
        for move in ([h, 0.0], [0.0, h]):
            quotients += [(ground.places(*(near + move).T) - ground.places(*(near - move).T))[:, :2] / (2 * h)]
    assert found[:, 0] == pytest.approx(12.5 + road.du * np.arange(1, len(road.line) - 1), abs=1e-9)
    assert np.abs(found[:, 1]).max() < 1e-9
    off = np.abs(there[:, 2:].reshape(-1, 2, 2) - np.stack(quotients, 2)).max((1, 2))
    assert np.median(off) < 1e-6 and np.mean(off < 1e-5) > 0.9  # a few steps cross from one segment to the next


def test_a_heightmap_has_no_places(library: ct.CDLL, tmp_path: Path) -> None:
    with opened(library, save(_grid(), tmp_path / "t.jnt")) as ground:
        assert np.isnan(ground.places(np.zeros(1), np.zeros(1))[0, 0])


def _grid(smooth: bool = False) -> Terrain:
    z = np.random.default_rng(5).normal(size=(9, 7)).astype(np.float32).astype(float)
    return Terrain("HEIGHTMAP", z, 0.5, 0.8, (3.0, -2.0), 0.4, smooth=smooth)


def _local(t: Terrain, x: Array, y: Array) -> tuple[Array, Array]:
    c, s = np.cos(t.yaw), np.sin(t.yaw)
    px, py = x - t.origin[0], y - t.origin[1]
    return (c * px + s * py) / t.du, (c * py - s * px) / t.dv


def test_a_heightmap_is_the_bilinear_patch_and_goes_on_level_beyond_its_edge(library: ct.CDLL, tmp_path: Path) -> None:
    t, rng = _grid(), np.random.default_rng(6)
    x, y = rng.uniform(-2.0, 9.0, 2000), rng.uniform(-5.0, 6.0, 2000)
    a, b = _local(t, x, y)
    a, b = np.clip(a, 0, 8), np.clip(b, 0, 6)
    i, j = np.minimum(a.astype(int), 7), np.minimum(b.astype(int), 5)
    e, f = a - i, b - j
    z = t.heights
    p, q, r, w = z[i, j], z[i + 1, j], z[i, j + 1], z[i + 1, j + 1]
    expected = p + (q - p) * e + (r - p) * f + (w - r - q + p) * e * f
    with opened(library, save(t, tmp_path / "t.jnt")) as ground:
        assert np.abs(ground(x, y)[:, 0] - expected).max() < 1e-12
        corner = ground(np.array([3.0]), np.array([-2.0]))[0, 0]
    assert corner == z[0, 0]


CASES = ("bilinear", "cubic", "road", "profile", "obstacles")
_road = cache(iso_road)


def _case(name: str) -> Terrain:
    if name == "road":
        return read_crg(ROADS / "banked.crg")
    if name == "profile":
        return _road("D", 1, 20.0)
    if name != "obstacles":
        return _grid(smooth=name == "cubic")
    flat = Terrain("HEIGHTMAP", np.zeros((41, 11)), 0.5, 1.0, (0.0, -5.0))
    shapes = (half_round(3.0, 0.2, yaw=0.3), bump(5.0, 0.2, 1.5), ramp(7.0, 0.3, 1.0, top=0.5, yaw=-0.2),
              step(10.0, 0.1), pothole(13.0, 0.1, 1.0), sine(14.0, 0.05, 1.0, 5.0, left=0.5, right=1.2))  # fmt: skip
    return flat.with_obstacles(*shapes)


@pytest.mark.parametrize("name", CASES)
def test_slopes_and_bends_are_the_derivatives_of_the_heights(library: ct.CDLL, tmp_path: Path, name: str) -> None:
    """Central differences; the median leaves out those across a line between cells."""
    t, rng, h = _case(name), np.random.default_rng(8), 1e-5
    x, y = rng.uniform(3.2, 6.0, 400), rng.uniform(-0.7, 0.7, 400)
    if name == "obstacles":
        x = rng.uniform(2.5, 19.0, 400)
    with opened(library, save(t, tmp_path / "t.jnt")) as ground:
        g = ground(x, y)
        by_x = (ground(x + h, y) - ground(x - h, y)) / (2 * h)
        by_y = (ground(x, y + h) - ground(x, y - h)) / (2 * h)
    wrong = np.abs(np.stack([by_x[:, 0] - g[:, 1], by_y[:, 0] - g[:, 2], by_x[:, 1] - g[:, 3], by_x[:, 2] - g[:, 4],
                             by_y[:, 1] - g[:, 4], by_y[:, 2] - g[:, 5]], 1))  # fmt: skip
    scale = 1.0 + np.abs(g[:, 1:6]).max()
    assert np.quantile(wrong, 0.95, axis=0).max() < 1e-6 * scale


def test_obstacles_are_the_equations_in_numpy(library: ct.CDLL, tmp_path: Path) -> None:
    t, rng = _case("obstacles"), np.random.default_rng(9)
    x, y = rng.uniform(0.0, 20.0, 5000), rng.uniform(-2.5, 2.5, 5000)
    with opened(library, save(t, tmp_path / "t.jnt")) as ground:
        assert np.abs(ground(x, y)[:, 0] - heights(t.obstacles, x, y)).max() < 1e-12


def test_friction_is_that_of_the_nearest_point_and_of_the_last_rectangle(library: ct.CDLL, tmp_path: Path) -> None:
    mu = np.full((5, 5), np.nan)
    mu[2, 2] = 0.25
    t = Terrain("HEIGHTMAP", np.zeros((5, 5)), 1.0, friction=mu, mu=0.75,
                areas=(Area(0.5, 0.5, 0.0, 1.0, 1.0, 0.125), Area(0.5, 0.75, 0.0, 0.5, 0.5, 0.5)))  # fmt: skip
    with opened(library, save(t, tmp_path / "t.jnt")) as ground:
        at = np.array([[2.4, 2.4], [2.6, 2.4], [0.9, 0.1], [0.5, 0.8], [3.0, 0.0]])
        assert ground(at[:, 0], at[:, 1])[:, 6] == pytest.approx([0.25, 0.75, 0.125, 0.5, 0.75])


def test_a_road_that_crosses_itself_answers_from_the_place_alone(library: ct.CDLL, tmp_path: Path) -> None:
    """A figure of eight with a bridge: within each road's width its own height, whatever was asked before."""
    s = np.linspace(0, 2 * np.pi, 601)
    line = np.stack([40 * np.sin(s), 20 * np.sin(2 * s), np.where(np.cos(s) < 0, 5.0, 0.0), 0 * s], 1)
    t = Terrain("ROAD", np.zeros((601, 3)), 0.5, v=np.array([-2.0, 0.0, 2.0]), line=line, closed=True)
    rng = np.random.default_rng(2)
    x, y = rng.uniform(-45, 45, 500), rng.uniform(-22, 22, 500)
    with opened(library, save(t, tmp_path / "t.jnt")) as ground:
        forth = ground(x, y)
        back = ground(x[::-1], y[::-1])[::-1]
        on_line = ground(line[5:595, 0], line[5:595, 1])[:, 0]
    assert np.array_equal(forth, back)
    apart = np.hypot(*line[5:595, :2].T) > 6.0
    assert on_line[apart] == pytest.approx(line[5:595, 2][apart], abs=1e-9)


def test_two_openings_of_a_file_share_its_memory(library: ct.CDLL, tmp_path: Path) -> None:
    path = save(Terrain("HEIGHTMAP", np.zeros((1200, 1000)), 1.0), tmp_path / "t.jnt")
    with opened(library, path), opened(library, path):
        maps = Path("/proc/self/smaps").read_text().split("t.jnt")[1:] if Path("/proc/self/smaps").exists() else []
        if not maps:
            pytest.skip("this system does not list what a process has mapped")
        assert len(maps) == 2
        assert all("Private_Dirty:         0 kB" in m for m in maps)


def _shaped(t: Terrain) -> Terrain:
    shapes = (half_round(4.0, 0.3), bump(5.0, 0.2, 1.0, y=1.0), step(6.0, 0.4, yaw=0.2), step(7.0, -0.3, length=2.0),
              ramp(1.0, 0.5, 1.0, top=0.3, y=-1.0), sine(2.0, 0.2, 1.0, 4.0, left=1.0))  # fmt: skip
    return t.with_obstacles(*shapes)


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("edge", ["CLAMP", "PLANE"])
def test_heights_of_many_places_are_those_of_queries(library: ct.CDLL, tmp_path: Path, smooth: bool, edge: str) -> None:
    """To the bit, on one lane and four: on obstacles, beside them and beyond the edge."""
    t = _shaped(replace(_grid(smooth), edge=edge, height=-3.0))
    x, y = np.random.default_rng(8).uniform(-1.0, 9.0, (2, 503))
    with opened(library, save(t, tmp_path / "t.jnt")) as ground:
        for lanes in (1, 4):
            assert np.array_equal(ground.heights(x, y, lanes), ground(x, y)[:, 0])
            assert np.array_equal(ground.heights(x[:1], y[:1], lanes), ground(x, y)[:1, 0])


@pytest.mark.parametrize("name", NAMES)
def test_heights_along_a_road_are_those_of_queries(library: ct.CDLL, tmp_path: Path, name: str) -> None:
    """To the bit: places that follow each other, on the road, beside it and beyond its ends."""
    road = read_crg(ROADS / f"{name}.crg")
    rng = np.random.default_rng(9)
    middle = rng.choice(road.line[:, :2], 40)
    x, y = (middle[:, None, :] + rng.uniform(-1.5, 1.5, (40, 31, 2)).cumsum(1) / 15).reshape(-1, 2).T
    with opened(library, save(_shaped(road), tmp_path / "t.jnt")) as ground:
        assert np.array_equal(ground.heights(x, y), ground(x, y)[:, 0])


@pytest.mark.parametrize("edge", ["CLAMP", "PLANE", "FAULT"])
@pytest.mark.parametrize("name", [*CASES, "friction", *NAMES])
def test_four_wheels_have_the_bits_of_queries(library: ct.CDLL, tmp_path: Path, name: str, edge: str) -> None:
    """On the terrain, across its borders and far from it, on points of the grid, and at places that are no number."""
    if name in NAMES:
        t = read_crg(ROADS / f"{name}.crg")
        low, high = t.line[:, :2].min(0) - 4.0, t.line[:, :2].max(0) + 4.0
    else:
        mu = np.random.default_rng(3).uniform(0.1, 1.0, (9, 7))
        areas = (Area(4.0, 0.0, 0.4, 1.0, 2.0, 0.125), Area(5.0, 1.0, 0.0, 2.0, 0.5, 0.5))
        t = replace(_grid(), friction=mu, areas=areas) if name == "friction" else _case(name)
        low, high = np.array([-2.0, -7.0]), np.array([24.0, 7.0])
    rng = np.random.default_rng(4)
    x, y = rng.uniform(low, high, (4000, 2)).T
    odd = np.array([1e300, -1e300, np.nan, 0.0, 1e9, -1e9, 3.0, 5.0])
    x, y = np.append(x, [*odd, *np.round(x[:200])]), np.append(y, [*odd[::-1], *np.round(y[:200])])
    with opened(library, save(replace(t, edge=edge, height=-3.0), tmp_path / "t.jnt")) as ground:
        assert ground(x[:4000], y[:4000])[:, 7].any() == (edge == "FAULT")
        if name in NAMES or name == "road":
            x, y = x[:4000], y[:4000]  # a road has no height at no number
        assert not ground.lanes_differ(x, y)


@pytest.mark.parametrize("name", [*NAMES, "grid", "spline", "tracks"])
def test_no_place_of_a_patch_is_above_its_bound(library: ct.CDLL, tmp_path: Path, name: str) -> None:
    """Patches as large as a wheel; where a bound is given, it is near the highest place."""
    made = {"grid": _grid(), "spline": _grid(True), "tracks": _road("B", 1, 20.0)}
    t = made[name] if name in made else read_crg(ROADS / f"{name}.crg")
    rng, near = np.random.default_rng(10), []
    where = rng.choice(t.line[:, :2], 150) if t.kind == "ROAD" else rng.uniform(-1.0, 9.0, (150, 2))
    with opened(library, save(_shaped(replace(t, edge="PLANE", height=0.3)), tmp_path / "t.jnt")) as ground:
        for x, y in where:
            yaw = rng.uniform(0, 2 * np.pi)
            c, n = np.cos(yaw), np.sin(yaw)
            half = np.array([[0.46 * c, 0.46 * n], [-0.1 * n, 0.1 * c], [0.01, 0.02]])
            inside = np.array([x, y]) + rng.uniform(-1, 1, (300, 3)) @ half
            most, bound = ground(*inside.T)[:, 0].max(), ground.highest(x, y, half)
            assert most <= bound + 1e-12
            near.append(bound - most)
    assert name in ("grid", "spline") or np.median(near) < 0.3  # heights of those differ by metres from point to point


def test_an_edge_is_found_and_named(library: ct.CDLL, tmp_path: Path) -> None:
    """A wall in each kind of file, and each obstacle with its own slope; what is less steep is none."""
    flat, wall = np.zeros((41, 11)), np.zeros((41, 11))
    wall[20:, 3:] = 0.3
    u, v = np.arange(41.0) * 0.25, np.linspace(-2.0, 2.0, 11)
    road = Terrain("ROAD", wall, 0.25, v=v, line=np.stack([u, 0 * u, 0 * u, 0 * u], 1), start=100.0)
    plain = Terrain("HEIGHTMAP", flat, 0.25, 0.5, (1.0, -2.0))
    long = ramp(2.0, 0.5, 1.0)
    cases = [
        (replace(plain, heights=wall), 1.0, "0.3 m from one point to the next at x = 5.750, y = -0.500 m"),
        (replace(plain, heights=wall, yaw=np.pi / 2), 1.0, "at x = -0.500, y = 2.750 m"),
        (replace(plain, heights=wall), 1.3, ""),
        (road, 1.0, "at u = 104.750, v = -0.800 m"),
        (Terrain("PROFILE", np.stack([u > 5, u < 0], 1) * 0.2, 0.25, 0.1), 1.0, ""),
        (plain.with_obstacles(long, half_round(4.0, 0.1)), 1.0, "obstacle 2 (HALF_ROUND at x = 4.000, y = 0.000 m)"),
        (plain.with_obstacles(long), 0.5, ""), (plain.with_obstacles(long), 0.49, "obstacle 1 (TRAPEZOID"),
        (plain.with_obstacles(bump(3.0, 0.1, 0.3)), 1.0, "a slope of 1.05"),
        (plain.with_obstacles(sine(3.0, 0.1, 0.7, 3.0)), 0.89, "a slope of 0.898"),
    ]  # fmt: skip
    for k, (t, limit, text) in enumerate(cases):
        with opened(library, save(t, tmp_path / f"{k}.jnt")) as ground:
            found = ground.edge(limit)
            assert (text in found) if text else not found, (k, found)


@pytest.mark.parametrize("kind", ["grid", "road", "tracks"])
def test_a_place_is_beside_a_terrain_where_its_own_edge_is_what_goes_on(
    library: ct.CDLL, tmp_path: Path, kind: str
) -> None:
    """There a wheel is off where the edge is FAULT."""
    t = {"grid": _grid(), "road": read_crg(ROADS / "curved.crg"), "tracks": _road("B", 1, 20.0)}[kind]
    rng, seen = np.random.default_rng(12), set()
    middle = t.line[:, :2].mean(axis=0) if t.kind == "ROAD" else np.array(t.origin)
    with (opened(library, save(replace(t, edge="CLAMP"), tmp_path / "c.jnt")) as clamped,
          opened(library, save(replace(t, edge="FAULT"), tmp_path / "f.jnt")) as fatal):  # fmt: skip
        for x, y in middle + rng.uniform(-40.0, 40.0, (400, 2)):
            beyond = bool(fatal(np.array([x]), np.array([y]))[0, 7])
            assert bool(clamped.beside(x, y)) == beyond, (x, y, clamped.beside(x, y))
            assert not fatal.beside(x, y)
            seen.add(beyond)
    assert len(seen) == 2


ODD = [np.nan, np.inf, -np.inf, -1.0, 0.0, 0.5, 3.0, 1e9, 1e18, 1e300, 1e-300]


def _signed(body: bytes) -> bytes:
    return struct.pack("<8sIIQ32sQ", MAGIC, VERSION, 0, 64 + len(body), hashlib.sha256(body).digest(), 0) + body


@pytest.mark.parametrize("name", ["banked", "closed", "map", "tracks"])
def test_a_file_with_odd_numbers_and_a_right_hash_is_refused_or_gives_numbers(
    library: ct.CDLL, tmp_path: Path, name: str
) -> None:
    """Each number of the header and some of the arrays are put to odd ones; Python has no other error than its own."""
    made = {"map": replace(_grid(), friction=np.full((9, 7), 0.5), areas=(Area(4.0, 0.0, 0.4, 1.0, 2.0, 0.125),)),
            "tracks": _road("B", 1, 20.0)}  # fmt: skip
    body = bytearray(to_bytes(_shaped(made[name] if name in made else read_crg(ROADS / f"{name}.crg")))[64:])
    path, rng, refused = tmp_path / "odd.jnt", np.random.default_rng(3), 0
    x, y = rng.uniform(-10.0, 40.0, (2, 200))
    header = [(8 * k, "<d") for k in range(24)]
    arrays = [(int(at), code) for code, size in (("<d", 8), ("<f", 4), ("<i", 4))
              for at in 256 + size * rng.integers(0, (len(body) - 256) // size, 25)]  # fmt: skip
    for at, code in header + arrays:
        for odd in ODD if code == "<d" else ODD[:6]:
            changed = bytearray(body)
            whole = int(np.clip(np.nan_to_num(odd), -(2**31), 2**31 - 1))
            with np.errstate(over="ignore"):
                value = {"<i": whole, "<f": np.float32(odd), "<d": odd}[code]
            struct.pack_into(code, changed, at, value)
            path.write_bytes(_signed(bytes(changed)))
            try:
                with opened(library, path) as ground:
                    assert np.isfinite(ground(x, y)).all(), (at, code, odd)
            except OSError:
                refused += 1
            with suppress(TerrainError):
                load(path)
    assert refused > 250
