"""Makers and readers of terrain: random roads, obstacles, envelopes, descriptions, packed files."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jounce.terrain import exact
from jounce.terrain.crg import read_crg
from jounce.terrain.envelope import enveloped
from jounce.terrain.files import read
from jounce.terrain.iso8608 import CLASSES, LONGEST, POINTS, density, iso_road, tracks
from jounce.terrain.obstacles import half_round, heights, pothole, sine, step
from jounce.terrain.packed import Area, Terrain, TerrainError, load, save, to_bytes

ROADS = Path(__file__).parents[1] / "data" / "roads"


def test_the_exact_functions_are_those_of_the_tables() -> None:
    x = np.linspace(-1e4, 1e4, 4001)
    c, s = exact.cos_sin(x)
    assert max(np.abs(c - np.cos(x)).max(), np.abs(s - np.sin(x)).max()) < 1e-15
    y = np.linspace(-600.0, 600.0, 4001)
    assert np.abs(exact.exp(y) / np.exp(y) - 1).max() < 1e-15
    a = np.array([0.1, 1.0, 5.0])  # Abramowitz and Stegun, table 9.8, to 15 digits
    k1 = np.array([9.853844780870606, 0.6019072301972346, 0.004044613445452164])
    assert exact.bessel_k1_times(a) / a == pytest.approx(k1, rel=1e-14)
    z = np.random.default_rng(0).normal(size=(2, 64))
    assert exact.fourier(*z) == pytest.approx((np.fft.ifft(z[0] + 1j * z[1]) * 64).real, abs=1e-12)


def _averages(seed: int, road_class: str) -> tuple[np.ndarray, ...]:
    """Wave numbers, PSDs of both tracks and their coherence, averaged over bands, by numpy's FFT."""
    left, right = (np.fft.rfft(z) for z in tracks(road_class, seed, 1.82))
    n = np.arange(len(left)) / LONGEST
    band = np.digitize(n, np.geomspace(0.012, 2.8, 40))

    def mean(v: np.ndarray) -> np.ndarray:
        return np.array([v[band == k].mean() for k in range(1, 40)])

    psd = [mean(2 * np.abs(z) ** 2) / POINTS**2 * LONGEST for z in (left, right)]
    cross = np.abs(mean((left * right.conj()).real) + 1j * mean((left * right.conj()).imag))
    return mean(n), *psd, cross**2 / (mean(np.abs(left) ** 2) * mean(np.abs(right) ** 2))


def test_a_random_road_has_slope_level_and_coherence_of_its_class() -> None:
    n, left, right, coherence = _averages(7, "C")
    assert np.polyfit(np.log(n), np.log(left), 1)[0] == pytest.approx(-2.0, abs=0.05)
    assert np.polyfit(np.log(n), np.log(right), 1)[0] == pytest.approx(-2.0, abs=0.05)
    assert left == pytest.approx(density("C", n), rel=0.02)
    assert right == pytest.approx(density("C", n), rel=0.15)  # random phases of two parts
    assert np.mean(right / density("C", n)) == pytest.approx(1.0, abs=0.03)
    a = 2 * np.pi * 1.82 * n
    assert coherence[n > 0.02] == pytest.approx((exact.bessel_k1_times(a) ** 2)[n > 0.02], abs=0.1)


def test_a_description_takes_friction_from_an_array(tmp_path: Path) -> None:
    mu = np.full((11, 5), np.nan)
    mu[3, 2] = 0.25
    np.save(tmp_path / "mu.npy", mu)
    course, text = tmp_path / "ice.toml", "mu = 0.5\n[ground]\nx = 0.0\ny = 0.0\nlength = 10.0\nwidth = 4.0\n"
    course.write_text(text + 'mu_file = "mu.npy"\n')
    terrain = read(course)
    assert terrain.friction is not None and terrain.mu == 0.5
    assert np.array_equal(terrain.friction, mu, equal_nan=True)
    save(terrain, tmp_path / "ice.jnt")
    again = load(tmp_path / "ice.jnt")
    assert again.friction is not None and again.friction[3, 2] == 0.25 and again.friction[0, 0] == 0.5
    mu[1, 4] = -0.5
    for numbers, wrong in ((mu, "-0.5 in row 1, column 4: expected"), (mu[:-1], "shape (10, 5); expected (11, 5)")):
        np.save(tmp_path / "mu.npy", numbers)
        with pytest.raises(TerrainError, match=rf"ice\.toml: \[ground\] mu_file = 'mu.npy': .*{re.escape(wrong)}"):
            read(course)
    for name in ('"no.npy"', '"mu.csv"', "3"):
        course.write_text(f"{text}mu_file = {name}\n")
        with pytest.raises(TerrainError, match=r"'no\.npy': No such file|mu_file = ('mu\.csv'|3): expected the name"):
            read(course)


@pytest.mark.slow(but=("A-", "E-"))
@pytest.mark.parametrize(("road_class", "seed"), [(c, 11 + k) for k, c in enumerate(CLASSES)])
def test_every_class_has_its_slope_and_level_by_welchs_method(road_class: str, seed: int) -> None:
    """Of the heights in the file: averaged periodograms of windows of 410 m, a straight line through 30 bands."""
    road, size = iso_road(road_class, seed, 13_100.0), 8192
    n = np.fft.rfftfreq(size, road.du)
    window, bands = np.hanning(size), np.digitize(n, np.geomspace(0.02, 2.0, 30))
    for z in road.heights.T:
        parts = [z[k : k + size] for k in range(0, len(z) - size, size // 2)]
        power = np.mean([np.abs(np.fft.rfft(window * (p - p.mean()))) ** 2 for p in parts], 0)
        psd = 2 * power * road.du / (window**2).sum()
        by_band = np.array([[v[bands == k].mean() for k in range(1, 30)] for v in (n, psd)])
        slope, level = np.polyfit(np.log(by_band[0] / 0.1), np.log(by_band[1]), 1)
        assert slope == pytest.approx(-2.0, abs=0.05)
        assert np.exp(level) == pytest.approx(16e-6 * 4 ** CLASSES.index(road_class), rel=0.1)


def test_each_class_is_twice_as_high_as_the_one_before_and_of_the_level_of_the_standard() -> None:
    rms = [np.std(tracks(c, 3, 1.82)[0]) for c in "ABH"]
    assert rms[1] / rms[0] == pytest.approx(2.0, rel=1e-12)
    assert rms[2] / rms[0] == pytest.approx(128.0, rel=1e-12)
    # class A: integral of 16e-6 (0.1 / n)^2 from 0.011 to 2.83 1/m
    assert rms[0] == pytest.approx(np.sqrt(16e-8 * (1 / 0.011 - 1 / 2.83)), rel=0.01)
    assert [density(c, np.array(0.1)) for c in CLASSES] == pytest.approx([16e-6 * 4**k for k in range(8)])


def test_the_same_seed_is_the_same_road_on_every_platform() -> None:
    """The hash was made on x86-64; nothing but correctly rounded operations and whole numbers lead to it."""
    digest = hashlib.sha256(to_bytes(iso_road("D", 42, 200.0))).hexdigest()
    assert digest == "973607a4c80a014e54db102877c1ce9d4d2f5ed91937a2965212268af4df3c29"
    assert to_bytes(iso_road("D", 43, 200.0)) != to_bytes(iso_road("D", 42, 200.0))
    assert np.array_equal(iso_road("D", 42, 100.0).heights, iso_road("D", 42, 200.0).heights[:2001])


@pytest.mark.parametrize(("arguments", "text"), [
    (("I", 0), "road class 'I'"), (("A", -1), "seed -1"), (("A", 0, 13200.0), "would repeat"),
    (("A", 0, 5.0), "length"),
])  # fmt: skip
def test_a_random_road_that_cannot_be_is_refused(arguments: tuple, text: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(TerrainError, match=text):
        iso_road(*arguments)


def test_a_road_begins_in_the_origin_unless_its_modifiers_or_the_caller_leave_it_where_the_file_has_it(
    tmp_path: Path,
) -> None:
    placed = read_crg(ROADS / "curved.crg")
    bare = tmp_path / "bare.crg"
    bare.write_bytes((ROADS / "curved.crg").read_bytes().replace(b"$ROAD_CRG_MODS", b"$ROAD_CRG_NONE"))
    moved, kept = read_crg(bare), read_crg(bare, as_written=True)
    assert placed.line[0, :3].tolist() == [100.0, -40.0, 2.0]
    assert np.array_equal(kept.line, placed.line)
    assert moved.line[0, :2].tolist() == [0.0, 0.0] and abs(moved.line[1, 1]) < 1e-12
    x, y = (placed.line[:, :2] - placed.line[0, :2]).T  # turned back by the heading of the first piece
    angle = -np.arctan2(y[1], x[1])
    turned = np.column_stack([x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle)])
    assert np.abs(moved.line[:, :2] - turned).max() < 1e-11


def test_missing_heights_at_a_border_are_those_beside_it() -> None:
    t = read_crg(ROADS / "nan_border.crg")
    assert np.array_equal(t.v, [-2.5, -2.0, -1.0, 0.0, 1.0, 2.0, 2.5])
    assert np.all(t.heights[40:60, 0] == t.heights[40:60, 1])
    assert np.all(t.heights[60:80, :2] == t.heights[60:80, 2:3])
    assert np.all(t.heights[120:150, -2:] == t.heights[120:150, -3:-2])


@settings(max_examples=30, deadline=None)
@given(cut=st.integers(0, 17000), name=st.sampled_from(["nan_border", "banked", "curved"]))
def test_a_cut_road_is_refused_with_its_path(tmp_path_factory: pytest.TempPathFactory, cut: int, name: str) -> None:
    data = (ROADS / f"{name}.crg").read_bytes()
    path = tmp_path_factory.mktemp("cut") / "cut.crg"
    path.write_bytes(data[: min(cut, len(data) - 100)])
    with pytest.raises(TerrainError, match=r"cut\.crg"):
        read_crg(path)


@pytest.mark.parametrize(("old", "new", "text"), [
    (b"#:LRFI", b"#:XXXX", r"line \d+: data format"),
    (b"reference line phi", b"reference line chi", "channel 'reference line chi'"),
    (b"reference_line_increment  = ", b"reference_line_increment  =-0.4 ! ", "spacing above 0"),
    (b".00335", b".0x335", "is no number"),
    (b"$KD_DEF", b"$ROAD_CRG_MODS\nrefpoint_u = 2\n$\n$KD_DEF", "modifier refpoint_u = 2 is not read; expected 0"),
])  # fmt: skip
def test_a_wrong_road_is_refused_with_what_is_wrong(tmp_path: Path, old: bytes, new: bytes, text: str) -> None:
    data = (ROADS / "nan_border.crg").read_bytes()
    if old == b".00335":
        old = data.split(b"$$$$\n", 1)[-1][-300:-294]
        new = b" 0x33 "
    assert old in data
    (tmp_path / "wrong.crg").write_bytes(data.replace(old, new, 1))
    with pytest.raises(TerrainError, match=text):
        read_crg(tmp_path / "wrong.crg")


def test_a_packed_file_gives_back_what_was_packed(tmp_path: Path) -> None:
    t = Terrain("HEIGHTMAP", np.arange(12.0).reshape(3, 4), 0.5, 2.0, (10.0, -3.0), 0.0, "FAULT", 1.5, 0.6,
                np.full((3, 4), 0.25), True, (half_round(3.0, 0.1), sine(1.0, 0.1, 2.0, 9.0, left=1.0)),
                (Area(1.0, 2.0, 0.0, 4.0, 1.0, 0.2),))  # fmt: skip
    back = load(save(t, tmp_path / "t.jnt"))
    assert to_bytes(back) == to_bytes(t)
    assert (back.edge, back.smooth, back.origin, back.height) == ("FAULT", True, (10.0, -3.0), 1.5)


@pytest.mark.parametrize(("change", "text"), [
    ({"heights": np.array([[0.0, np.nan], [0.0, 0.0]])}, "row 0, column 1"),
    ({"du": 0.0}, "expected spacings of 1e-06"), ({"mu": 3.0}, "friction of 0 to 2"), ({"edge": "WALL"}, "edge 'WALL'"),
    ({"heights": np.zeros((1, 5))}, "at least 2 x 2"), ({"friction": np.zeros((2, 3))}, "friction of shape"),
])  # fmt: skip
def test_what_no_file_may_hold_is_refused(change: dict, text: str) -> None:  # type: ignore[type-arg]
    fields = {"kind": "HEIGHTMAP", "heights": np.zeros((2, 2)), "du": 1.0} | change
    with pytest.raises(TerrainError, match=text):
        to_bytes(Terrain(**fields))


def test_a_disc_that_rolls_over_a_step_rises_on_its_own_arc() -> None:
    """Geometry of a disc at an edge: the centre is sqrt(R^2 - s^2) above it at the distance s."""
    flat = Terrain("HEIGHTMAP", np.zeros((2001, 2)), 0.005, 4.0, (0.0, -2.0))
    r, h = 0.47, 0.1
    edge = np.where(np.arange(2001) >= 1000, h, 0.0)
    felt = enveloped(replace(flat, heights=np.stack([edge, edge], 1)), r)
    s = 0.005 * np.arange(80)
    expected = np.maximum(h + np.sqrt(np.maximum(r * r - s * s, 0)) - r, 0.0)
    assert felt.heights[1000 - np.arange(80), 0] == pytest.approx(expected, abs=1e-12)
    round_off = enveloped(flat.with_obstacles(half_round(5.0, 0.15, width=9.0)), r)
    assert round_off.heights.max() == pytest.approx(0.15, abs=1e-12)


def test_a_description_makes_ground_obstacles_friction_and_envelope(tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text(
        'edge = "FAULT"\n[ground]\nlength = 100.0\nwidth = 20.0\nx = 0.0\ny = -10.0\nspacing = 0.5\n'
        '[[obstacle]]\nkind = "step"\nx = 40.0\nheight = 0.1\nlength = 5.0\n[[friction]]\nx = 60.0\ny = 1.0\n'
        "length = 40.0\nwidth = 2.0\nmu = 0.2\n"
    )
    t = read(tmp_path / "course.toml")
    assert t.heights.shape == (201, 41)
    assert heights(t.obstacles, np.array([42.0, 60.0]), np.zeros(2)) == pytest.approx([0.1, 0.0])
    assert t.areas == (Area(60.0, 1.0, 0.0, 40.0, 2.0, 0.2),)
    assert t.edge == "FAULT"


FRICTION = "[[friction]]\nx = 1.0\ny = 0.0\nlength = 5.0\nwidth = 2.0\nmu = 0.5\n"


@pytest.mark.parametrize(("text", "wrong"), [
    ("ege = 1\n", "unknown key 'ege'"),
    ('[ground]\nclass = "Z"\n', "road class 'Z'"),
    ('[ground]\nclass = "C"\nseed = 1.5\n', "seed 1.5"),
    ('[[obstacle]]\nkind = "wall"\n', "kind = 'wall'"),
    ('[[obstacle]]\nkind = "step"\nx = 1.0\n', "height is missing"),
    ('[[obstacle]]\nkind = "bump"\nx = 1.0\nheight = 0.1\nlength = 0.0\n',
     r"\[\[obstacle\]\] 1, bump: length = 0: expected 1e-09 to 1e\+06"),
    ('[[obstacle]]\nkind = "step"\nx = 1.0\nheight = 0.1\n[[obstacle]]\nkind = "half_round"\nx = 1.0\nradius = inf\n',
     r"\[\[obstacle\]\] 2, half_round: radius = inf: expected a finite number"),
    ("[[obstacle]]\nx = 1.0\n", r"\[\[obstacle\]\] 1: kind is missing"),
    (FRICTION.replace("mu = 0.5", "mu = -0.2"), r"\[\[friction\]\] 1: friction area: mu = -0.2: expected 0 to 2"),
    (FRICTION.replace("mu = 0.5", "mu = nan"), r"\[\[friction\]\] 1: mu = nan: expected a finite number"),
    (FRICTION.replace("x = 1.0", "x = inf"), r"\[\[friction\]\] 1: x = inf: expected a finite number"),
    (FRICTION.replace("x = 1.0", f"x = 1{'0' * 400}"), r"x = 10{39}: expected a finite number"),
    (FRICTION.replace("x = 1.0", "x = 1e10"), "friction area: x = 1e\\+10: expected -1e\\+09 to 1e\\+09"),
    ("height = nan\n", "height = nan: expected a finite number"), ("mu = 5\n", "mu = 5: expected 0 to 2"),
    ("steepest = 0\n", "steepest = 0: expected 1e-06 to 1e"),
    (FRICTION.replace("width = 2.0", "width = 0"), "friction area: width = 0: expected 1e-09 to 1e\\+09"),
    ('[[friction]]\nx = 1.0\n', "is missing"),
    ("[envelope]\nradius = 0.1\n", "radius 0.1"),
    ("edge = \n", "course.toml"),
])  # fmt: skip
def test_a_wrong_description_is_refused_with_path_and_key(tmp_path: Path, text: str, wrong: str) -> None:
    (tmp_path / "course.toml").write_text(text)
    with pytest.raises(TerrainError, match=rf"course\.toml: .*{wrong}" if "toml" not in wrong else wrong) as refused:
        read(tmp_path / "course.toml")
    assert str(refused.value).count("course.toml") == 1


#: The head alone of a file of 8 TB.
CUT = b"\x93NUMPY\x01\x00\x76\x00%-117s\n" % b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000)}"


@pytest.mark.parametrize(("heights_of_it", "wrong"), [
    (np.full((3, 3), np.nan), "height nan in row 0, column 0"), (np.zeros(5), r"heights of shape \(5,\)"),
    (np.zeros((2, 2), complex), "an array of complex128; expected one of real numbers"),
    (np.array([["a", "b"]]), "an array of <U1"), (b"no array", "not a whole array of numbers"),
    (np.array([[1, None]], object), "not a whole array of numbers"), (CUT, "not a whole array of numbers"),
])  # fmt: skip
def test_heights_that_are_none_are_refused_with_the_path(tmp_path: Path, heights_of_it: object, wrong: str) -> None:
    if isinstance(heights_of_it, bytes):
        (tmp_path / "h.npy").write_bytes(heights_of_it)
    else:
        np.save(tmp_path / "h.npy", heights_of_it, allow_pickle=True)  # type: ignore[arg-type]
    with pytest.raises(TerrainError, match=rf"h\.npy: {wrong}"):
        read(tmp_path / "h.npy")


def test_a_pothole_with_edges_of_4_to_1_is_as_deep_and_long_as_said() -> None:
    hole = pothole(10.0, 0.08, 0.6, edge=0.0)
    z = heights((hole,), np.array([10.0, 10.02, 10.3, 10.58, 10.6]), np.zeros(5))
    assert z == pytest.approx([0.0, -0.08, -0.08, -0.08, 0.0], abs=1e-12)
    assert heights((step(0.0, -0.1),), np.array([1.0]), np.zeros(1)) == pytest.approx([-0.1])
