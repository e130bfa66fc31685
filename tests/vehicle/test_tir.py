"""Tire files: what is read, and what is refused with line and key."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jounce.contact.tires.coefficients import MF61, PAC2002
from jounce.contact.tires.from_tir import tire_entries
from jounce.contact.tires.tir import TireFileError, read_tir

DATA = Path(__file__).parents[1] / "data" / "tires"
HMMWV = (DATA / "HMMWV_Pac02Tire.tir").read_text()
MADE_UP = (DATA / "synthetic_mf61.tir").read_text()
FEDA = (DATA / "335_65R22_5_G275MSA_60psi.tir").read_text()


def written(folder: Path, text: str) -> Path:
    path = folder / "x.tir"
    path.write_text(text, encoding="latin-1")
    return path


def test_a_file_has_its_law_numbers_and_texts() -> None:
    tire = read_tir(DATA / "HMMWV_Pac02Tire.tir")
    assert tire.law == "pac2002"
    assert tire.values["PCX1"] == 1.7204
    assert tire.values["NOMPRES"] == 800000.0  # IP_NOM
    assert tire.texts["TYRESIDE"] == "LEFT"
    assert read_tir(DATA / "synthetic_mf61.tir").law == "mf61"


def test_of_two_load_curves_the_first_counts_and_it_is_said() -> None:
    tire = read_tir(DATA / "335_65R22_5_G275MSA_60psi.tir")
    assert len(tire.curve) == 21
    assert tire.curve[-1] == (0.1, 54758.0)
    assert "second time" in tire.notes[0]


def test_units_apply_to_what_has_a_dimension_and_not_to_coefficients(tmp_path: Path) -> None:
    text = HMMWV
    for was, now in (("'meter'", "'mm'"), ("'newton'", "'kN'"), ("'pascal'", "'bar'"), ("= 0.4699", "= 469.9"),
                     ("= 0.3175", "= 317.5"), ("= 0.20955", "= 209.55"), ("= 35000", "= 35"), ("= 1e+006", "= 1"),
                     ("= 1750", "= 1.75"), ("= 78750", "= 78.75"), ("= 16.7", "= 16700"), ("= 500", "= 5e-4"),
                     ("= 800000", "= 8")):  # fmt: skip
        assert was in text
        text = text.replace(was, now)
    tire = read_tir(written(tmp_path, text))
    assert tire.values["UNLOADED_RADIUS"] == pytest.approx(0.4699)
    assert tire.values["FNOMIN"] == 35e3
    assert tire.values["VERTICAL_STIFFNESS"] == pytest.approx(1e6)
    assert tire.values["NOMPRES"] == 8e5
    assert tire.values["PKX1"] == 14.848


def test_fortran_numbers_and_lower_case_keys_are_read(tmp_path: Path) -> None:
    text = HMMWV.replace("PDX1                       = 0.77751", "pdx1 = 7.7751d-1 $ remark")
    assert read_tir(written(tmp_path, text)).values["PDX1"] == 0.77751


@pytest.mark.parametrize(
    ("was", "now", "line", "words"),
    [
        ("'PAC2002'", "'FIALA'", "line 10", "PROPERTY_FILE_FORMAT"),
        ("USE_MODE                   = 4", "FITTYP = 53", "line 11", "FITTYP: 53 is not a Magic Formula"),
        ("USE_MODE                   = 4", "FITTYP = 52\nPCY2 = 1", "line 12", "PCY2: 1: of a formula of motorcycles"),
        ("IP                         = 800000", "IP = 8", "line 18", "INFLPRES: 8 Pa: expected 0, or at least 5000 Pa"),
        ("IP                         = 800000", "IP = 8e5\nPRESMAX = 7e5", "line 18", "at most 700000 Pa as PRESMAX ("),
        ("USE_MODE                   = 4", "FITTYP = 'x'", "line 11", "FITTYP = \"'x'\": expected a number"),
        ("'meter'", "'yard'", "line 3", "LENGTH: unknown unit 'yard'"),
        ("'radian'", "'degrees'", "line 5", "ANGLE: unknown unit 'degrees'"),
        ("FORCE                      = 'newton'\n", "", "", "FORCE is missing"),
        ("FNOMIN                     = 35000\n", "", "", "FNOMIN is missing"),
        ("FNOMIN                     = 35000", "FNOMIN = -1", "line 33", "FNOMIN: -1: expected a number above 0"),
        ("PDX1                       = 0.77751", "PDX1 = 0.7x", "", "PDX1 = '0.7x': expected a number"),
        ("PDX1                       = 0.77751", "PDX1 =", "", "PDX1 = '': expected a number"),
        ("PDX1                       = 0.77751", "PDX1 = 1e999", "", "PDX1 = 1e999: expected a number of a double"),
        ("PDX1                       = 0.77751", "PDX1 = nan", "", "PDX1 = 'nan': expected a number"),
        ("PDX1                       = 0.77751", "PCX1 = 1", "", "PCX1 is on line"),
        ("PKY1                       = -10.289", "PKY1 = 10.289", "", "PKY1: 10.289: expected a number below 0"),
        ("SSZ4                       = -0.50765\n", "", "", "SSZ4 is missing"),
        ("'LEFT'", "'LEFT", "line 14", "expected a closing quote"),
        ("'meter'", "'mm'", "", "UNLOADED_RADIUS: 0.0004699 m: expected 0.05 to 3 m, after [UNITS]"),
        ("'newton'", "'kN'", "", "N: expected"),
        ("'second'", "'millisecond'", "", "m/s, after [UNITS]"),
        ("= 0.4699", "= 469.9", "", "UNLOADED_RADIUS: 469.9 m: expected 0.05 to 3 m"),
        ("IP                         = 800000", "IP = 4e9", "line 18", "IP: 4e+09 Pa: expected 0 to 5e+06 Pa"),
        ("PDX1                       = 0.77751", "PDX1 = 1e300", "", "PDX1: 1e+300: expected a coefficient within"),
        ("[MODEL]", "[MODEL", "line 9", "expected [SECTION]"),
        ("USE_MODE                   = 4", "hello world", "line 11", "expected KEY = value"),
        ("USE_MODE                   = 4", "USE MODE = 4", "line 11", "expected a KEY before ="),
        ("'LEFT'", "'LINKS'", "line 14", "TYRESIDE: 'LINKS': expected LEFT, RIGHT, SYMMETRIC, UNKNOWN"),
        ("'LEFT'", "1", "line 14", "TYRESIDE: '1': expected LEFT"),
        ("BELT_DYNAMICS              = 'NO'", "FE_METHOD = 'ELLIPSE'", "line 15", "FE_METHOD: 'ELLIPSE': expected YES"),
        ("BELT_DYNAMICS              = 'NO'", "PEX4 = '0.3'", "line 15", "PEX4 = \"'0.3'\": expected a number"),
        ("BELT_DYNAMICS              = 'NO'", "LCZ = 1x", "line 15", "LCZ = '1x': expected a number"),
        ("BELT_DYNAMICS              = 'NO'", "NOMPRES = 7e5", "line 19", "IP_NOM: 800000: expected 700000 as for NOM"),
        ("BELT_DYNAMICS              = 'NO'", "BELT = 'a'\nBELT = 'b'", "line 16", "BELT is on line 15 already"),
        ("BELT_DYNAMICS              = 'NO'", "[BOTTOMING_CURVE]\n0.01 100", "line 16", "1 rows; expected 2 to 24"),
        ("PKX1                       = 14.848", "PKX1 = -14.848", "", "PKX1: -14.848: expected 0.1 to 1000"),
        ("PDX1                       = 0.77751", "PDX1 = 0", "", "PDX1: 0: expected a size of 0.01 to 10"),
        ("DREFF                      = 0.5", "DREFF = 100", "", "DREFF: 100: expected -10 to 10"),
        ("KPUMAX                     = 1.5", "KPUMAX = -0.1", "line 38", "KPUMAX: -0.1: expected 0 to 100"),
        ("KPUMIN                     = -1.5", "KPUMIN = 0\nKPUMAX = 0", "line 38", "KPUMAX is on line 38 already"),
        ("FZMAX                      = 78750", "FZMAX = 1000", "line 47", "FZMAX: 1000: expected a number above FZMIN"),
        ("USE_MODE                   = 4", "USE_MODE = 7", "line 11", "USE_MODE: 7: expected 0 to 5"),
    ],
)
def test_a_bad_file_is_refused_with_line_and_key(tmp_path: Path, was: str, now: str, line: str, words: str) -> None:
    assert was in HMMWV
    with pytest.raises(TireFileError) as caught:
        read_tir(written(tmp_path, HMMWV.replace(was, now, 1)))
    assert "x.tir: line " in str(caught.value)
    assert words in str(caught.value)
    assert line in str(caught.value)


@pytest.mark.parametrize(("key", "value", "words"), [
    ("PDX2", -5.0, "longitudinal friction would be about 0 or of the wrong sign at a load of"),
    ("PDX2", 5.0, "longitudinal friction would be"), ("PDY2", 9.0, "lateral friction would be"),
    ("PKX2", -40.0, "slip stiffness would be"), ("PKX2", 40.0, "slip stiffness would be"),
    ("PDX3", 1e3, "friction would be about 0 or of the wrong sign at an inclination of 0.03"),
    ("PDY3", 1e3, "lateral friction"), ("PKY3", 30.0, "cornering stiffness"),
    ("PPX3", 3.0, "longitudinal friction would be about 0 or of the wrong sign at 5.58e+05 Pa"), ("PPX1", -3.0, "slip"),
    ("PPY1", 3.0, "cornering"), ("PPY4", -5.0, "lateral friction"), ("PTX1", -5.0, "expected 0 to 100"),
    ("PTY1", -1.0, "expected 0 to 100"), ("QSY1", -0.5, "rolling resistance would be below 0 at 0 m/s"),
    ("QSY4", -0.5, "rolling resistance would be below 0 at 16.7 m/s"), ("LMY", -1.0, "expected 0 to 100"),
    ("LTR", -1.0, "expected 0 to 100"), ("PHY1", 10.0, "expected -1 to 1"),
    ("PTY2", 0.0, "a number above 0, as PTY1 is"),
    ("PTY2", -1.0, "a number above 0, as PTY1 is"), ("PKY2", 0.0, "expected 0.001 to 1000"),
    ("PKY2", -2.0, "expected 0.001 to 1000"),
])  # fmt: skip
def test_a_coefficient_that_turns_a_force_around_is_refused_with_its_line(
    key: str, value: float, words: str, tmp_path: Path
) -> None:
    """Between half and one and a half of the nominal load, upright, at a pressure that can be set."""
    lines = [line for line in HMMWV.split("\n") if line.split(" ")[0] != key]
    at = 1 + lines.index("[LONGITUDINAL_COEFFICIENTS]")
    lines.insert(at, f"{key} = {value}")
    with pytest.raises(TireFileError) as caught:
        tire_entries(read_tir(written(tmp_path, "\n".join(lines))))
    assert f"x.tir: line {at + 1}: {key}: {value:g}: " in str(caught.value)
    assert words in str(caught.value)


def test_beyond_such_a_load_or_inclination_forces_go_on_from_there_and_it_is_said(tmp_path: Path) -> None:
    """PKX1 + PKX2 dfz of the HMMWV's file is 0 at dfz = 14.848 / 9.8161, below its FZMAX; PDX3 g^2 is 1 at 0.1 rad."""
    entries = tire_entries(read_tir(DATA / "HMMWV_Pac02Tire.tir"))
    f0 = 35000.0 * 0.580905
    assert 0.85 * f0 * 1.5126 < entries["tire.max_load"].value - f0 < f0 * 1.5126 * 0.91
    assert "line 90: PKX2: slip stiffness" in entries["tire.max_load"].source
    assert entries["tire.min_load"].value == 1750.0
    entries = tire_entries(read_tir(written(tmp_path, HMMWV.replace("[LONGITUDINAL_COEFFICIENTS]\n",
                                                                    "[LONGITUDINAL_COEFFICIENTS]\nPDX3 = 100 \n", 1)
                                            .replace("PDX3  ", "PDX9  "))))  # fmt: skip
    assert 0.09 < entries["tire.max_inclination"].value < 0.1
    assert "PDX3" in entries["tire.max_inclination"].source


def of_mf_swift(**own: str) -> str:
    """The MF 6.1 file of a large tire, as programs of MF-Swift write it: its mode, 0.1 to 10 bar."""
    text = (DATA / "synthetic_mf61_large.tir").read_text()
    keys = {"USE_MODE": "114", "PRESMIN": "10000", "PRESMAX": "1000000", "INFLPRES": "220000", "NOMPRES": "220000",
            "PPY1": "-0.6", "PPY2": "0", **own}  # fmt: skip
    for key in keys:
        text = re.sub(rf"^{key}\s*=.*\n", "", text, flags=re.MULTILINE)
    return text + "[MODEL]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items() if value)


def test_pressures_end_where_a_stiffness_would_lose_its_sign_and_it_is_said(tmp_path: Path) -> None:
    """1 + PPY1 dp is a tenth at dp = 1.5."""
    entries = tire_entries(read_tir(written(tmp_path, of_mf_swift())))
    pressure, least = entries["tire.pressure"], entries["tire.least_pressure"]
    assert 0.98 * 550000.0 < pressure.maximum <= 550000.0
    assert (least.value, pressure.minimum, pressure.value) == (10000.0, 10000.0, 220000.0)
    assert "PPY1: cornering stiffness would be about 0" in pressure.source
    assert "PPY1" not in least.source
    entries = tire_entries(read_tir(written(tmp_path, of_mf_swift(PPY1="1.5", PPY4="0"))))
    assert 88000.0 <= entries["tire.least_pressure"].value < 1.02 * 88000.0  # dp = -0.6
    assert entries["tire.pressure"].maximum == 1e6


@pytest.mark.parametrize(("own", "words"), [
    ({"INFLPRES": "600000"}, "PPY1: -0.6: cornering stiffness would be about 0 or of the wrong sign at 5.5"),
    ({"PPY1": "-2", "PRESMAX": "", "PRESMIN": ""}, "in a range that is assumed; PRESMAX says another one"),
    ({"PPX3": "3", "PPX4": "0.01"}, "PPX3: 3: longitudinal friction"),  # not the last of the two
])  # fmt: skip
def test_a_sign_that_is_lost_before_the_pressure_of_the_file_is_refused(
    own: dict[str, str], words: str, tmp_path: Path
) -> None:
    with pytest.raises(TireFileError) as caught:
        tire_entries(read_tir(written(tmp_path, of_mf_swift(**own))))
    assert words in str(caught.value)


def test_a_pressure_far_from_the_nominal_one_is_kept_and_not_clipped(tmp_path: Path) -> None:
    text = of_mf_swift(INFLPRES="100000", PRESMIN="", PRESMAX="", PPY1="0.1")
    entry = tire_entries(read_tir(written(tmp_path, text)))["tire.pressure"]
    assert (entry.minimum, entry.value, entry.maximum) == (100000.0, 100000.0, 330000.0)


def test_a_camber_range_of_any_size_is_read(tmp_path: Path) -> None:
    text = of_mf_swift(CAMMIN="-3.15", CAMMAX="3.15", PDX3="0", PDY3="0", PKY3="0", PKY5="0")
    assert tire_entries(read_tir(written(tmp_path, text)))["tire.max_inclination"].value == 1.5


@pytest.mark.parametrize(("unit", "names", "factor"), [
    ("FORCE", ("lbf", "pound_force"), 4.4482216), ("FORCE", ("kgf", "kilogram_force"), 9.80665),
    ("LENGTH", ("inch", "inches"), 0.0254), ("LENGTH", ("feet", "foot"), 0.3048), ("LENGTH", ("meters", "metre"), 1.0),
])  # fmt: skip
def test_units_have_the_names_that_other_programs_give_them(
    unit: str, names: tuple[str, ...], factor: float, tmp_path: Path
) -> None:
    key = {"FORCE": "FNOMIN", "LENGTH": "UNLOADED_RADIUS"}[unit]
    numbers = {"FORCE": ("FNOMIN", "FZMIN", "FZMAX", "VERTICAL_STIFFNESS", "VERTICAL_DAMPING"),
               "LENGTH": ("UNLOADED_RADIUS", "WIDTH", "RIM_RADIUS", "LONGVL")}[unit]  # fmt: skip
    plain = read_tir(DATA / "HMMWV_Pac02Tire.tir")
    for name in names:
        text = re.sub(rf"^{unit} .*$", f"{unit} = '{name}'", HMMWV, flags=re.MULTILINE)
        for number in numbers:
            text = re.sub(rf"^{number} .*$", f"{number} = {plain.values[number] / factor!r}", text, flags=re.MULTILINE)
        if unit == "LENGTH":
            stiff = plain.values["VERTICAL_STIFFNESS"] * factor
            text = re.sub(r"^VERTICAL_STIFFNESS .*$", f"VERTICAL_STIFFNESS = {stiff!r}", text, flags=re.MULTILINE)
        tire = read_tir(written(tmp_path, text))
        assert tire.values[key] == pytest.approx(plain.values[key], rel=1e-7)
        assert tire.values["VERTICAL_STIFFNESS"] == pytest.approx(plain.values["VERTICAL_STIFFNESS"], rel=1e-7)


@pytest.mark.parametrize("end", [" ", "\t", " $ the last", "!", "\n"])
def test_a_last_line_without_an_end_is_whole_if_something_follows_the_number(end: str, tmp_path: Path) -> None:
    text = re.sub(r"^LCZ .*\n", "", HMMWV, flags=re.MULTILINE) + "[VERTICAL]\nLCZ = 0.5"
    assert read_tir(written(tmp_path, text + end)).values["LCZ"] == 0.5
    with pytest.raises(TireFileError, match="LCZ: the file ends within this line"):
        read_tir(written(tmp_path, text))


def test_what_other_programs_write_beside_the_numbers_is_read(tmp_path: Path) -> None:
    """A mark of UTF-8, ends of lines of Windows, tabs, comments in any letters, and a MASS that is no unit."""
    text = HMMWV.replace(" = ", "\t=\t").replace("'LEFT'", "'Left' ! \x85 it's \x0c the left one")
    text = text.replace("[MODEL]\n", """[inertia]
mass = 9.3
[MDI_HEADER]
(COMMENTS)
{comment_string}
'Tire manufacturer - $ & Co = 1'
Nominal section width (m) 0.235
  [Model]  $ the formula
DATE = "4!5$"
NOTE = C:\\x; y
""")
    path = tmp_path / "x.tir"
    path.write_bytes(b"\xef\xbb\xbf$ \xc3\x85 \r\n" + text.replace("\n", "\r\n").encode("latin-1") + b"\x1a")
    tire, plain = read_tir(path), read_tir(DATA / "HMMWV_Pac02Tire.tir")
    assert tire.values == dict(plain.values) | {"MASS": 9.3}
    assert tire.texts == dict(plain.texts) | {"DATE": "4!5$", "TYRESIDE": "Left", "NOTE": "C:\\x; y"}


def test_coefficients_in_two_sections_of_one_name_all_count(tmp_path: Path) -> None:
    text = HMMWV.replace("PDX1  ", "[ALIGNING_COEFFICIENTS]\nPDX1  ", 1)
    text = text.replace("BELT_DYNAMICS", "[MODEL]\nBELT_DYNAMICS")
    assert read_tir(written(tmp_path, text)).values == read_tir(DATA / "HMMWV_Pac02Tire.tir").values


@pytest.mark.parametrize("name", ["HMMWV_Pac02Tire", "335_65R22_5_G275MSA_60psi", "synthetic_mf61"])
def test_a_file_cut_at_any_byte_is_refused_or_has_the_same_numbers(name: str, tmp_path: Path) -> None:
    """Of every 97th byte, and all of the last 120, of which the last ones hold nothing that is read."""
    whole, path = (DATA / f"{name}.tir").read_bytes(), tmp_path / "x.tir"
    tire = read_tir(DATA / f"{name}.tir")
    read = [n for n in tire.values if n not in tire.unused]
    for end in (*range(0, len(whole) - 120, 97), *range(len(whole) - 120, len(whole))):
        path.write_bytes(whole[:end])
        try:
            cut = read_tir(path)
        except TireFileError as error:
            assert str(error).startswith("x.tir: line ")
            continue
        assert [cut.values.get(n) for n in read] == [tire.values[n] for n in read]
        assert (cut.curve, cut.bottoming) == (tire.curve, tire.bottoming)


def test_a_missing_file_and_one_without_sections_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.tir", tmp_path, "/dev/zero"):
        with pytest.raises(TireFileError, match=r"expected a tire file"):
            read_tir(path)
    for text in ("", "$ nothing\n", "A = 1\n", "\0\1\2", "$ x".encode("utf-16").decode("latin-1")):
        with pytest.raises(TireFileError, match=r"x\.tir: line 1"):
            read_tir(written(tmp_path, text))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_garbled_file_is_refused_or_has_finite_numbers(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    text = data.draw(st.sampled_from([HMMWV, MADE_UP, FEDA]))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        gone = data.draw(st.integers(0, 30))
        text = text[:at] + data.draw(st.text(st.characters(max_codepoint=255), max_size=6)) + text[at + gone :]
    try:
        tire = read_tir(written(tmp_path_factory.mktemp("bad"), text))
        assert all(math.isfinite(v) for v in tire.values.values())
        assert all(math.isfinite(tire.coefficient(n)) for n in (PAC2002 if tire.law == "pac2002" else MF61))
        entries = tire_entries(tire)
    except TireFileError as error:
        assert str(error).startswith("x.tir: line ")
        return
    assert all(e.minimum <= e.value <= e.maximum and math.isfinite(e.value) for e in entries.values())
