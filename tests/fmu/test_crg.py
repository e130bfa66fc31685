"""OpenCRG roads as other programs write them: against pycrg, and what is refused with path and line or key."""

from __future__ import annotations

import ctypes as ct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ground import build, opened
from hypothesis import given, settings
from hypothesis import strategies as st
from made_crg import AT_V, BANK, EDGES, HEIGHTS, LINES, NUMBERED, PHI, SLOPE, STEP, V, made

from jounce.terrain.crg import read_crg
from jounce.terrain.files import read
from jounce.terrain.packed import TerrainError, save

START = EDGES + "".join(f"REFERENCE_LINE_START_{n} = {v}\n" for n, v in (("X", 5), ("Y", -7), ("Z", 2), ("PHI", 0.3)))
ENDS = START + "REFERENCE_LINE_END_X = 24\nREFERENCE_LINE_END_Y = 3\nREFERENCE_LINE_END_Z = 2.2\n"
HOLES = HEIGHTS.copy()
for _rows, _columns in ((slice(3, 6), 0), (slice(8, 12), slice(5, 7)), (slice(15, 20), slice(2, 4)),
                        (slice(22, 25), (0, 1, 4)), (30, slice(1, 7)), (31, slice(0, 6))):  # fmt: skip
    HOLES[_rows, _columns] = np.nan
SWAPPED = (3, 9, 4, 0, 1, 5, 2, 7, 6, 8)
#: name -> how the road is made: what the OpenCRG library reads in the same way.
READ: dict[str, dict[str, Any]] = {
    "plain": {}, "start": {"road": START}, "ends": {"road": ENDS}, "ends kept": {"road": ENDS, "mods": ""},
    "z of the end": {"road": EDGES + "REFERENCE_LINE_END_Z = 3\n"},
    "level": {"road": ENDS, "lines": LINES[:1] + LINES[2:], "mods": ""},
    "straight": {"road": ENDS, "lines": LINES[1:], "mods": ""},
    "constant slope": {"road": ENDS + "REFERENCE_LINE_START_S = 0.1\n", "lines": LINES[::2]},
    "constant banking": {"road": ENDS + "REFERENCE_LINE_START_B = 0.1\n", "lines": LINES[:2]},
    "u from 10 m": {"road": EDGES + "REFERENCE_LINE_START_U = 10\nREFERENCE_LINE_END_U = 30\n"},
    "in another order": {"order": SWAPPED}, "LDFI": {"width": 20, "road": ENDS, "lines": LINES[:2]},
    "numbered": {"sections": NUMBERED, "road": EDGES + "LONG_SECTION_V_INCREMENT = 0.5\n"},
    "numbers in another order": {"sections": NUMBERED, "road": EDGES + "LONG_SECTION_V_INCREMENT = 0.5\n",
                                 "order": SWAPPED},
    "left of the line": {"sections": tuple(f"long section at v = {k},m" for k in range(1, 8)),
                         "road": "LONG_SECTION_V_RIGHT = 1\nLONG_SECTION_V_LEFT = 7\n"},
    "other keys": {"road": EDGES + "OWNER = somebody\n"}, "CRLF": {"changed": lambda t: t.replace("\n", "\r\n")},
    "a mark of UTF-8": {"changed": lambda t: "\xef\xbb\xbf" + t},
    "upper case": {"changed": lambda t: t.replace("line phi", "LINE PHI").replace("long section", "LONG Section")},
    "options": {"opts": " BORDER_MODE_U = 2  ! keep last\n BORDER_OFFSET_U = 0.0\n WARN_MSGS = -1\n"},
    "holes": {"heights": HOLES}, "holes at 0": {"heights": HOLES, "mods": "GRID_NAN_MODE = 1\nGRID_NAN_OFFSET = 0.5\n"},
    "defaults": {"mods": "GRID_NAN_MODE = 2.0e+00\nGRID_NAN_OFFSET = 0\nREFPOINT_U_FRACTION = 0\nREFPOINT_X = 0\n"},
    "placed": {"road": ENDS, "mods": "REFPOINT_X = 3\nREFPOINT_Y = 4\nREFPOINT_Z = 5\nREFPOINT_PHI = 1\n"},
    "moved": {"road": ENDS, "mods": "REFLINE_ROTCENTER_X = 1\nREFLINE_OFFSET_PHI = 0.5\nREFLINE_OFFSET_X = 3\n"},
    "raised": {"road": ENDS, "mods": "REFLINE_OFFSET_Z = 4\n"},
} | {f"scale of {k}": {"road": ENDS, "mods": f"SCALE_{k} = 1.3\n"}
     for k in ("Z_GRID", "SLOPE", "BANKING", "LENGTH", "WIDTH", "CURVATURE")}  # fmt: skip


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ct.CDLL:
    """The queries."""
    return build(tmp_path_factory.mktemp("ground"))


@pytest.mark.parametrize("name", READ)
def test_a_road_of_another_program_has_the_heights_of_pycrg(library: ct.CDLL, tmp_path: Path, name: str) -> None:
    pycrg = pytest.importorskip("pycrg")
    path, rng = made(tmp_path, **READ[name]), np.random.default_rng(1)
    with pycrg.DataSet.open(str(path)) as data:
        (u0, u1), v_range = data.u_range(), data.v_range()
        u, v = rng.uniform(u0 + 0.05, u1 - 0.05, 400), rng.uniform(*v_range, 400)
        point = data.create_contact_point()
        x, y = map(np.asarray, point.uv_to_xy_many(u, v))
        z = np.asarray(point.uv_to_z_many(u, v))
    with opened(library, save(read_crg(path), tmp_path / "t.jnt")) as ground:
        assert np.abs(ground(x, y)[:, 0] - z).max() < 1e-12
        assert np.abs(ground.places(x, y)[:, :2] - np.stack([u, v], 1)).max() < 1e-9


def test_lines_and_heights_follow_from_the_channels(tmp_path: Path) -> None:
    """Without the library: sums of the channels' steps, heights as written, one order of v."""
    road = read_crg(made(tmp_path, road=START, mods="", order=SWAPPED))
    assert np.array_equal(road.v, V) and np.abs(road.heights - HEIGHTS).max() < 1e-7
    phi, slope = np.round(PHI[1:], 7), np.round(SLOPE[1:], 7)
    assert np.abs(np.diff(road.line[:, 0]) - STEP * np.cos(phi)).max() < 1e-12
    assert np.abs(np.diff(road.line[:, 1]) - STEP * np.sin(phi)).max() < 1e-12
    assert np.abs(np.diff(road.line[:, 2]) - STEP * slope).max() < 1e-12
    assert np.abs(road.line[1:, 3] - BANK[1:]).max() < 1e-7 and road.line[0].tolist() == [5.0, -7.0, 2.0, 0.0]
    ended = read_crg(made(tmp_path, road=ENDS, mods=""))
    assert ended.line[-1, :3].tolist() == [24.0, 3.0, 2.2]
    scaled = read_crg(made(tmp_path, road=START, mods="SCALE_Z_GRID = 2\nSCALE_WIDTH = 3\n"))
    assert np.allclose(scaled.heights, 2.0 * road.heights) and np.allclose(scaled.v, 3.0 * road.v)


@pytest.mark.parametrize(("how", "words"), [
    ({"sections": AT_V[:1] + tuple(n.replace(",m", ",mm") for n in AT_V[1:])}, "line 16: .*: unit 'mm': expected m"),
    ({"changed": lambda t: t.replace("phi,rad", "phi,deg")}, "line 12: reference line phi: unit 'deg': expected rad"),
    ({"changed": lambda t: t.replace("line slope,m/m", "line phi,rad")}, "line 13: reference line phi is there"),
    ({"sections": NUMBERED[:6] + NUMBERED[:1]}, "numbers of long sections: expected 1 to 7, each once"),
    ({"sections": NUMBERED[:6] + AT_V[6:]}, "by position v and by number"),
    ({"sections": NUMBERED, "road": "LONG_SECTION_V_LEFT = 1.5\n"}, "expected long_section_v_right and _increment"),
    ({"sections": NUMBERED, "road": EDGES + "LONG_SECTION_V_INCREMENT = 0.4\n"}, "do not end at long_section_v_left"),
    ({"sections": AT_V[:6] + AT_V[:1]}, "positions v: expected 7, rising"),
    ({"road": EDGES + "REFERENCE_LINE_START_X = abc\n"}, "line 8: reference_line_start_x = 'abc': expected a number"),
    ({"road": EDGES + "REFERENCE_LINE_START_X = 1,5\n"}, "reference_line_start_x = '1,5': expected a number"),
    ({"road": EDGES + "REFERENCE_LINE_START_X = 1e400\n"}, "'1e400': expected a number"),
    ({"road": EDGES + "REFERENCE_LINE_START_PHI = 1e300\n"}, "reference_line_start_phi = 1e.300: expected up to 1000"),
    ({"road": EDGES + "REFERENCE_LINE_START_B = 90\n", "lines": LINES[:2]}, "banking in row 2: 90: expected numbers"),
    ({"changed": lambda t: t.replace("= 0.5\n", "= -0.5\n")}, "reference_line_increment = -0.5: expected 2 rows or"),
    ({"road": EDGES + "REFERENCE_LINE_START_X 3\n"}, "expected KEY = a number"),
    ({"road": EDGES + "REFERENCE_LINE_END_U = 1e300\n"}, "41 rows of data where the header says"),
    ({"road": EDGES + "REFERENCE_LINE_END_U = -1e300\n"}, "41 rows of data where the header says 1"),
    ({"changed": lambda t: t.replace(",m,0,0.5", ",m,a,b")}, "line 11: 'a': expected a number"),
    ({"mods": "SCALE_Z = 2\n"}, "line 11: scale_z: expected a modifier of OpenCRG"),
    ({"road": EDGES + "REFERENCE_LINE_OFFSET_X = 1\n", "mods": ""}, "offsets of the reference line are not read"),
    ({"mods": "SCALE_LENGTH = -1\n"}, "scale_length = -1: expected more than 0"),
    ({"mods": "REFPOINT_U = 3\n"}, "refpoint_u = 3 is not read; expected 0"),
    ({"mods": "REFPOINT_V_FRACTION = 0.5\n"}, "refpoint_v_fraction is not read"),
    ({"mods": "REFPOINT_X = 3\nREFLINE_OFFSET_X = 3\n"}, "modifiers of one way"),
    ({"mods": "GRID_NAN_MODE = 2\nGRID_NAN_OFFSET = 1\n", "heights": HOLES}, "grid_nan_offset = 1"),
    ({"opts": "BORDER_MODE_U = 3\n"}, "line 11: border_mode_u = 3 is not read; expected 0 or 2"),
    ({"opts": "BORDER_OFFSET_V = 0.1\n"}, "border_offset_v = 0.1 is not read; expected 0"),
    ({"changed": lambda t: t[:-4] + "\n"}, "line 106: row 41, long section at v = 1.500: '.*' is no number of 10"),
    ({"changed": lambda t: t[:-11] + " " * 10 + "\n"}, "row 41, long section at v = 1.500: ' +' is no number"),
    ({"changed": lambda t: t[:-11] + "       1_0\n"}, "row 41, long section at v = 1.500: ' +1_0' is no number"),
    ({"changed": lambda t: t.replace("#:LRFI", "#:KRBI")}, "no reference_line_end_u: expected it, as the data are bin"),
])  # fmt: skip
def test_what_would_be_read_wrong_is_refused_with_its_line_or_key(
    tmp_path: Path, how: dict[str, Any], words: str
) -> None:
    with pytest.raises(TerrainError, match=rf"made\.crg.*{words}"):
        read(made(tmp_path, **how))


def test_one_field_of_another_form_changes_none_of_the_others(tmp_path: Path) -> None:
    """All fields are converted at once, or one by one where there is such a field: here the first heading, not used."""

    def fortran(text: str) -> str:
        head, dollars, data = text.rpartition("$$$$")
        line, end, rest = data.partition("\n")
        return head + dollars + line + end + "0.0000D+00" + rest[10:]

    plain, other = read_crg(made(tmp_path, heights=HOLES)), read_crg(made(tmp_path, heights=HOLES, changed=fortran))
    assert np.array_equal(plain.heights, other.heights) and np.array_equal(plain.line, other.line)


def test_a_road_left_as_written_has_neither_modifiers_nor_offsets(tmp_path: Path) -> None:
    plain = read_crg(made(tmp_path, road=START, mods=""))
    kept = read_crg(made(tmp_path, road=START, mods="SCALE_Z_GRID = 2\nREFPOINT_X = 100\n"), as_written=True)
    assert np.array_equal(kept.line, plain.line) and np.array_equal(kept.heights, plain.heights)
    with pytest.raises(TerrainError, match="offsets of the reference line"):
        read_crg(made(tmp_path, road=EDGES + "REFERENCE_LINE_OFFSET_X = 1\n"), as_written=True)


def test_a_name_in_upper_case_letters_is_one_of_the_same_kind(tmp_path: Path) -> None:
    path = made(tmp_path).rename(tmp_path / "ROAD.CRG")
    assert read(path).kind == "ROAD"


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_garbled_road_is_refused_with_its_path_or_read(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(sorted(READ)))
    text = made(tmp_path_factory.mktemp("bad"), **READ[name]).read_text("latin-1")
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1 if data.draw(st.booleans()) else 900))
        absurd = data.draw(st.sampled_from(["", "1e400", "nan", "-1", "1e300", "=", "$", "\n", "D:", "#:KDBI", "**"]))
        text = text[:at] + absurd + text[at + data.draw(st.integers(0, 20)) :]
    path = tmp_path_factory.mktemp("bad") / "bad.crg"
    path.write_text(text, "latin-1")
    try:
        road = read(path)
    except TerrainError as error:
        assert "bad.crg" in str(error)
        return
    assert np.isfinite(road.heights).all() and np.isfinite(road.line).all()
