"""Terrain from pictures, arrays and profiles: what lies where, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiff import Tag, tiff

from jounce.terrain.files import read
from jounce.terrain.iso8608 import iso_road, tracks
from jounce.terrain.layout import Layout
from jounce.terrain.obstacles import half_round
from jounce.terrain.packed import Area, Terrain, TerrainError, save

LEVELS = np.random.default_rng(1).integers(0, 65536, (7, 5))
#: Row 0 is the north.
ON_GROUND = LEVELS[::-1].T


def png(path: Path, levels: np.ndarray, depth: int = 16) -> Path:
    pytest.importorskip("PIL.Image").fromarray(levels.astype(np.uint16 if depth == 16 else np.uint8)).save(path)
    return path


@pytest.mark.parametrize("depth", [8, 16])
def test_a_grey_picture_lies_with_its_first_row_in_the_north(tmp_path: Path, depth: int) -> None:
    levels = LEVELS if depth == 16 else LEVELS % 256
    path, layout = png(tmp_path / "map.png", levels, depth), Layout(0.5, scale=1e-3, offset=-2.0, x=3.0)
    t = read(path, layout)
    assert np.array_equal(t.heights, levels[::-1].T * 1e-3 - 2.0)
    assert (t.du, t.dv, t.origin, t.kind) == (0.5, 0.5, (3.0, 0.0), "HEIGHTMAP")


@pytest.mark.parametrize("dtype", [np.float32, np.uint16])
def test_a_geotiff_has_the_size_of_its_cells(tmp_path: Path, dtype: type) -> None:
    image, tiff = pytest.importorskip("PIL.Image"), pytest.importorskip("PIL.TiffImagePlugin")
    tags = tiff.ImageFileDirectory_v2()
    tags[33550] = (2.0, 3.0, 0.0)
    tags.tagtype[33550] = 12
    image.fromarray(LEVELS.astype(dtype)).save(tmp_path / "dem.tif", tiffinfo=tags, compression="tiff_lzw")
    t = read(tmp_path / "dem.tif", Layout(offset=-5.0))
    assert np.array_equal(t.heights, ON_GROUND - 5.0)
    assert (t.du, t.dv) == (2.0, 3.0)
    with pytest.raises(TerrainError, match=r"dem\.tif: spacing = 1\.0: the file has its own, 2 m"):
        read(tmp_path / "dem.tif", Layout(spacing=1.0))
    tags[42113] = str(LEVELS[0, 0])
    image.fromarray(LEVELS.astype(dtype)).save(tmp_path / "hole.tif", tiffinfo=tags)
    with pytest.raises(TerrainError, match=r"hole\.tif: 1 of 35 points have no height"):
        read(tmp_path / "hole.tif")
    tags[34735] = (1, 1, 0, 1, 1024, 0, 1, 2)
    image.fromarray(LEVELS.astype(dtype)).save(tmp_path / "degrees.tif", tiffinfo=tags)
    with pytest.raises(TerrainError, match="in degrees"):
        read(tmp_path / "degrees.tif")
    image.fromarray(LEVELS.astype(dtype)).save(tmp_path / "plain.tif")
    with pytest.raises(TerrainError, match="no size of a cell"):
        read(tmp_path / "plain.tif")
    whole = (tmp_path / "dem.tif").read_bytes()
    for cut in range(0, len(whole), 7):
        (tmp_path / "cut.tif").write_bytes(whole[:cut])
        with pytest.raises(TerrainError, match=r"cut\.tif"):
            read(tmp_path / "cut.tif")


CELL: dict[int, Tag] = {33550: ("d", (2.0, 3.0, 0.0))}
METRES = (1, 1, 0, 2, 1024, 0, 1, 1, 3076, 0, 1, 9001)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("how", [{}, {"packed": True}, {"tile": 16}, {"tile": 16, "packed": True}, {"big": True}],
                         ids=["strips", "packed strips", "tiles", "packed tiles", "BigTIFF"])  # fmt: skip
@pytest.mark.parametrize("dtype", ["f4", "i2", "u2", "i4", "u4", "u1"])
def test_a_geotiff_of_other_programs_is_read(tmp_path: Path, how: dict[str, Any], order: str, dtype: str) -> None:
    """Rows and columns that fill no tile, numbers below 0, either byte order; tags of places as GDAL writes them."""
    pytest.importorskip("PIL.Image")
    if order == ">" and (how.get("big") or dtype == "u4"):
        pytest.skip("Pillow reads neither of this byte order; it says so")
    numbers = (np.arange(37 * 21).reshape(37, 21) % 200 - (50 if dtype in ("f4", "i2", "i4") else 0)).astype(dtype)
    tags = CELL | {34735: ("H", METRES), 33922: ("d", (0.0, 0.0, 0.0, 5e5, 4e6, 0.0)), 42113: "-9999"}
    (tmp_path / "dem.tif").write_bytes(tiff(numbers, tags, order=order, **how))
    t = read(tmp_path / "dem.tif")
    assert np.array_equal(t.heights, numbers[::-1].T)
    assert (t.du, t.dv, t.origin, t.yaw) == (2.0, 3.0, (0.0, 0.0), 0.0)


def test_a_turned_geotiff_lies_in_the_world_as_its_transformation_says(tmp_path: Path) -> None:
    """Every point, by the matrix of the file; rows that follow each other to the left of x as well."""
    pytest.importorskip("PIL.Image")
    numbers, c, s = np.arange(20, dtype="f4").reshape(4, 5), np.cos(0.4), np.sin(0.4)
    for side in (-1.0, 1.0):  # of the rows, beside x
        matrix = (2 * c, -3 * side * s, 0, 100.0, 2 * s, 3 * side * c, 0, 50.0, *[0.0] * 7, 1.0)
        (tmp_path / "turned.tif").write_bytes(tiff(numbers, {34264: ("d", matrix)}))
        t = read(tmp_path / "turned.tif")
        first = (0, 0) if side > 0 else (3, 0)  # row and column of the terrain's origin
        i, j = np.meshgrid(np.arange(4), np.arange(5), indexing="ij")
        x, y = matrix[0] * j + matrix[1] * i, matrix[4] * j + matrix[5] * i
        x, y = x - x[first], y - y[first]
        cosine, sine = np.cos(t.yaw), np.sin(t.yaw)
        u, v = np.rint((cosine * x + sine * y) / t.du).astype(int), np.rint((cosine * y - sine * x) / t.dv).astype(int)
        assert np.array_equal(t.heights[u, v], numbers)
        assert t.yaw == pytest.approx(0.4)
    (tmp_path / "sheared.tif").write_bytes(tiff(numbers, {34264: ("d", (2.0, 1.0, 0, 0, 0, -2.0, *[0.0] * 9, 1.0))}))
    with pytest.raises(TerrainError, match=r"sheared\.tif: its rows and columns are not at right angles"):
        read(tmp_path / "sheared.tif")


def test_a_geotiff_whose_units_are_scaled_has_metres(tmp_path: Path) -> None:
    pytest.importorskip("PIL.Image")
    text = ('<GDALMetadata><Item name="OFFSET" sample="0" role="offset">10</Item>'
            '<Item name="SCALE" sample="0" role="scale">0.25</Item></GDALMetadata>')  # fmt: skip
    (tmp_path / "dem.tif").write_bytes(tiff(LEVELS.astype("i4"), CELL | {42112: text}))
    assert np.array_equal(read(tmp_path / "dem.tif").heights, 0.25 * ON_GROUND + 10.0)
    with pytest.raises(TerrainError, match=r"dem\.tif: scale, offset: the file has its own"):
        read(tmp_path / "dem.tif", Layout(scale=2.0))


@pytest.mark.parametrize(("numbers", "tags", "text"), [
    (LEVELS.astype("f8"), CELL, "numbers of 64 bits; expected up to 32 (gdal_translate -ot Float32"),
    (np.ones((4, 5, 2), "f4"), CELL, "2 numbers per point; expected one (gdal_translate -b 1"),
    (LEVELS.astype("f4"), CELL | {34735: ("H", (1, 1, 0, 1, 3076, 0, 1, 9003))}, "its places are in the unit 9003 of"),
    (LEVELS.astype("f4"), CELL | {34735: ("H", (1, 1, 0, 1, 4099, 0, 1, 9002))}, "its heights are in the unit 9002 of"),
    (LEVELS.astype("f4"), {33550: ("d", (2.0, 0.0, 0.0))}, "a cell of 2 x 0 m; expected sizes above 0"),
    (LEVELS.astype("f4"), {33550: ("d", (float("nan"), 1.0, 0.0))}, "a cell of nan x 1 m"),
    (LEVELS.astype("f4"), CELL | {42113: "none"}, "its value for points without height is 'none': expected a number"),
    (np.full((4, 5), np.finfo("f4").min), CELL | {42113: "-3.40282346638529e+38"}, "20 of 20 points have no height"),
    (np.full((4, 5), np.nan, "f4"), CELL | {42113: "nan"}, "20 of 20 points have no height"),
    (np.full((4, 5), np.inf, "f4"), CELL, "height inf"),
])  # fmt: skip
def test_a_geotiff_that_cannot_be_meant_is_refused(tmp_path: Path, numbers: np.ndarray, tags: dict[int, Tag],
                                                   text: str) -> None:  # fmt: skip
    pytest.importorskip("PIL.Image")
    (tmp_path / "dem.tif").write_bytes(tiff(numbers, tags))
    with pytest.raises(TerrainError, match=rf"dem\.tif: {re.escape(text)}"):
        read(tmp_path / "dem.tif")


def test_a_picture_that_is_cut_or_damaged_anywhere_is_refused_with_its_path_or_whole(tmp_path: Path) -> None:
    """Behind the last point of a PNG stands the part that ends it, which has no heights."""
    whole, how = png(tmp_path / "map.png", LEVELS).read_bytes(), Layout(spacing=1.0, scale=1.0)
    heights, taken = read(tmp_path / "map.png", how).heights, []
    for at in range(len(whole)):
        for damaged in (whole[:at], whole[:at] + bytes([whole[at] ^ 0x15]) + whole[at + 1 :]):
            (tmp_path / "bad.png").write_bytes(damaged)
            try:
                assert np.array_equal(read(tmp_path / "bad.png", how).heights, heights)
                taken.append(at)
            except TerrainError as error:
                assert "bad.png" in str(error)
    assert min(taken) >= whole.index(b"IEND") - 4
    for levels, mode in ((np.zeros((7, 5, 3), np.uint8), "RGB"), (np.zeros((7, 5), bool), "1")):
        pytest.importorskip("PIL.Image").fromarray(levels).save(tmp_path / "wrong.png")
        with pytest.raises(TerrainError, match=rf"mode {mode}: expected grey levels"):
            read(tmp_path / "wrong.png", how)
    for lacking in ({"spacing": 1.0}, {"scale": 1.0}):
        with pytest.raises(TerrainError, match=r"map\.png: (scale|spacing) is missing"):
            read(tmp_path / "map.png", Layout(**lacking))


def test_a_table_is_two_tracks(tmp_path: Path) -> None:
    (tmp_path / "road.csv").write_text("\ufeffx,left,right\n1.0,0.1,0.2\n1.5,0.3,0.4\n2.0,0.5,0.6\n\n\n", "utf-8")
    t = read(tmp_path / "road.csv")
    assert (t.kind, t.du, t.origin) == ("PROFILE", 0.5, (1.0, -0.91))
    assert np.array_equal(t.heights, [[0.2, 0.1], [0.4, 0.3], [0.6, 0.5]])


@settings(max_examples=200, deadline=None)
@given(at=st.integers(6, 127), gone=st.integers(0, 40), put=st.sampled_from([b"", b"(", b"]", b"-", b"99999", b"'"]))
def test_an_array_with_a_damaged_head_is_refused_with_its_path_or_read(
    tmp_path_factory: pytest.TempPathFactory, at: int, gone: int, put: bytes
) -> None:
    path = tmp_path_factory.mktemp("bad") / "bad.npy"
    np.save(path, np.arange(35.0).reshape(5, 7))
    data = path.read_bytes()
    path.write_bytes(data[:at] + put + data[at + gone :])
    try:
        assert read(path).kind == "HEIGHTMAP"
    except TerrainError as error:
        assert "bad.npy" in str(error)


@pytest.mark.parametrize(("text", "told"), [
    ("", "expected x,left,right"), ("x,z\n", "expected x,left,right"), ("x,left,right\n0,0,0\n", "1 places"),
    ("x,left,right\n0,0,0\n1,0\n", "line 3 is '1,0'"), ("x,left,right\n0,0,0\n1,0,0\n3,0,0\n", r"line \d: x does not"),
    ("x,left,right\n0,0,0\n1,nan,0\n2,0,0\n", "height nan in row 1, column 1"),
    ("x,left,right\n2,0,0\n1,0,0\n", "rising"), ("x,left,right\n0,0,0\ninf,0,0\n", "line 3 is 'inf,0,0'"),
])  # fmt: skip
def test_a_wrong_table_is_refused_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "road.csv").write_text(text)
    with pytest.raises(TerrainError, match=rf"road\.csv: .*{told}"):
        read(tmp_path / "road.csv")


def test_a_moved_terrain_has_the_heights_of_the_place_it_came_from(tmp_path: Path) -> None:
    """Grid, obstacle and friction turn and move together; so does the line of a road."""
    t = Terrain("HEIGHTMAP", np.zeros((9, 7)), 1.0, areas=(Area(2.0, 1.0, 0.1, 3.0, 2.0, 0.4),))
    t = t.with_obstacles(half_round(4.0, 0.2, y=3.0, yaw=0.2))
    there = read(save(t, tmp_path / "t.jnt"), Layout(x=100.0, y=-20.0, yaw=np.pi / 2))
    assert there.origin == pytest.approx((100.0, -20.0)) and there.yaw == pytest.approx(np.pi / 2)
    [o], [a] = there.obstacles, there.areas
    assert (o.x, o.y, o.yaw) == pytest.approx((97.0, -16.0, np.pi / 2 + 0.2))
    assert (a.x, a.y, a.yaw) == pytest.approx((99.0, -18.0, np.pi / 2 + 0.1))
    line = np.array([[0.0, 0.0, 1.0, 0.1], [1.0, 0.5, 1.0, 0.1], [2.0, 0.5, 1.0, 0.1]])
    road = Terrain("ROAD", np.zeros((3, 2)), 1.0, v=np.array([-1.0, 1.0]), line=line)
    moved = Layout(x=1.0, yaw=np.pi / 2).placed(road).line
    assert moved[:, :2] == pytest.approx(np.array([[1.0, 0.0], [0.5, 1.0], [0.5, 2.0]]), abs=1e-12)
    assert np.array_equal(moved[:, 2:], line[:, 2:])
    with pytest.raises(TerrainError, match="this file has its own"):
        read(tmp_path / "t.jnt", Layout(scale=2.0))


def test_a_description_says_how_its_file_lies(tmp_path: Path) -> None:
    np.save(tmp_path / "map.npy", LEVELS)
    keys = "spacing = 0.25\nscale = 1e-3\nx = -5\nsmooth = true\n"
    (tmp_path / "a.toml").write_text(f'[ground]\nfile = "map.npy"\n{keys}')
    t = read(tmp_path / "a.toml")
    assert (t.du, t.origin, t.smooth) == (0.25, (-5.0, 0.0), True) and np.array_equal(t.heights, LEVELS * 1e-3)
    for key, told in (("spacing = 0", "more than 0 m"), ("scale = 'a'", "expected a number"),
                      ("smooth = 1", "true or false"), ("step = 1", "unknown key 'step'")):  # fmt: skip
        (tmp_path / "b.toml").write_text(f'[ground]\nfile = "map.npy"\n{key}\n')
        with pytest.raises(TerrainError, match=rf"b\.toml: \[ground\].*{told}"):
            read(tmp_path / "b.toml")


def test_a_random_road_can_be_scaled_to_an_rms() -> None:
    plain, scaled = iso_road("C", 3, 100.0), iso_road("C", 3, 100.0, rms=0.0254)
    assert scaled.heights == pytest.approx(plain.heights * (0.0254 / np.sqrt(np.mean(tracks("C", 3, 1.82)[0] ** 2))))
    with pytest.raises(TerrainError, match="rms 0"):
        iso_road("C", 3, 100.0, rms=0.0)
