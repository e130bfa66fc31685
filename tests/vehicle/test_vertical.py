"""Load over deflection: the parameters made of a tire file give the load that its curves and coefficients say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jounce.contact.tires.coefficients import POINTS
from jounce.contact.tires.from_tir import law_of, tire_entries
from jounce.contact.tires.tir import TireFile, TireFileError, read_tir
from jounce.contact.tires.vertical import load_at

DATA = Path(__file__).parents[1] / "data" / "tires"
FEDA, HMMWV = (read_tir(DATA / name) for name in ("335_65R22_5_G275MSA_60psi.tir", "HMMWV_Pac02Tire.tir"))


def load(tire: TireFile, deflection: float, **changed: float) -> float:
    numbers = {n.removeprefix("tire."): e.value for n, e in tire_entries(tire).items()} | changed
    return load_at(numbers.get, deflection)


def test_the_curve_of_a_file_counts_and_its_bottoming_is_added() -> None:
    """Rows of the file, values between them on the line, and 0.20546 m: the last slope and half of 563 080 N."""
    assert law_of(FEDA) == "pac2002_curve"
    assert load(FEDA, 0.035) == pytest.approx(18030.227, rel=1e-12)
    assert load(FEDA, 0.0375) == pytest.approx(0.5 * (18030.227 + 21124.160), rel=1e-12)
    slope = (54758.0 - 52776.807) / 0.005
    assert load(FEDA, 0.20546) == pytest.approx(54758.0 + slope * 0.10546 + 0.5 * 563080.0, rel=1e-12)
    assert load(FEDA, -0.01) == 0.0
    at_nominal = {n: e.value for n, e in tire_entries(FEDA).items()}["tire.vertical_stiffness"]
    assert load(FEDA, FEDA.values["FNOMIN"] / at_nominal) == pytest.approx(FEDA.values["FNOMIN"], rel=1e-12)


rising = st.lists(st.tuples(st.floats(1e-3, 0.02), st.floats(1.0, 1e4)), min_size=2, max_size=12)


@given(rising, rising, st.floats(0.0, 1.0))
def test_any_two_curves_add_up(
    first: list[tuple[float, float]], second: list[tuple[float, float]], share: float
) -> None:
    curves = [tuple(map(tuple, np.cumsum([(0.0, 0.0), *steps], axis=0).tolist())) for steps in (first, second)]
    if len({d for curve in curves for d, _ in curve}) > POINTS + 1:
        return
    tire = replace(FEDA, curve=curves[0], bottoming=curves[1], values=FEDA.values | {"FNOMIN": 50.0})
    deflection = share * min(curve[-1][0] for curve in curves)
    expected = sum(np.interp(deflection, *np.array(curve).T) for curve in curves)
    assert load(tire, deflection) == pytest.approx(expected, rel=1e-9, abs=1e-6)


def test_a_curve_on_one_axle_gives_the_other_axle_its_straight_one() -> None:
    assert law_of(HMMWV, FEDA) == "pac2002_curve"
    numbers = {n.removeprefix("tire."): e.value for n, e in tire_entries(HMMWV, law_of(HMMWV, FEDA)).items()}
    for deflection in (0.0, 0.01, 0.1, 0.6, 5.0):
        assert load_at(numbers.get, deflection) == pytest.approx(0.4419e6 * deflection, rel=1e-12)  # LCZ 0.4419


def test_mf6_has_its_polynomial_and_pressure_makes_it_stiffer() -> None:
    """F = (Q_FZ1 d/R0 + Q_FZ2 (d/R0)^2)(1 + PFZ1 dpi) Fz0 (Pacejka and Besselink 2012, Eq. 4.E68)."""
    values = dict(HMMWV.values) | {"Q_FZ1": 10.0, "Q_FZ2": 15.0, "PFZ1": 0.7, "INFLPRES": 6e5, "FNOMIN": 8000.0}
    values.pop("VERTICAL_STIFFNESS")
    x = 0.03 / 0.4699
    expected = (10.0 * x + 15.0 * x * x) * 8000.0 * (1.0 + 0.7 * (6e5 - 8e5) / 8e5)
    assert load(replace(HMMWV, values=values), 0.03) == pytest.approx(expected, rel=1e-12)


def test_a_stiffness_beside_the_second_coefficient_alone_gives_the_first() -> None:
    """Q_FZ1 = sqrt((k R0 / Fz0)^2 - 4 Q_FZ2): at nominal load the slope is then the stiffness."""
    values = dict(HMMWV.values) | {"Q_FZ2": 15.0, "FNOMIN": 8000.0, "VERTICAL_STIFFNESS": 4e5, "LCZ": 1.0}
    tire = replace(HMMWV, values=values)
    first = np.sqrt((4e5 * 0.4699 / 8000.0) ** 2 - 60.0)
    at = 0.4699 * (-first + np.sqrt(first**2 + 60.0)) / 30.0
    assert load(tire, at) == pytest.approx(8000.0, rel=1e-12)
    assert (load(tire, at + 1e-6) - load(tire, at - 1e-6)) / 2e-6 == pytest.approx(4e5, rel=1e-6)


@pytest.mark.parametrize(("was", "now", "words"), [
    ("0.010    4242.260", "0.010    1242.260", "expected deflection and load to rise"),
    ("0.010    4242.260", "0.005    4242.260", "expected deflection and load to rise"),
    ("0.010    4242.260", "0.010    4242.260 3", "expected rows of deflection and load"),
    ("0.30546  563080.0", "0.30546  -1", "line 83: [BOTTOMING_CURVE]: 0.30546 m, -1 N: expected"),
    ("54758.000", "5e8", "expected deflections of 0 to 3 m and loads of 0 to 1e7 N"),
    ("FNOMIN                =          21674", "FNOMIN = 2e9", "FNOMIN"),
])  # fmt: skip
def test_curves_that_cannot_be_are_refused(tmp_path: Path, was: str, now: str, words: str) -> None:
    text = FEDA.path.read_text()
    assert was in text
    (tmp_path / "x.tir").write_text(text.replace(was, now))
    with pytest.raises(TireFileError, match=r"x\.tir: line") as caught:
        read_tir(tmp_path / "x.tir")
    assert words in str(caught.value)


def test_a_curve_with_more_points_than_the_model_has_is_refused(tmp_path: Path) -> None:
    rows = "".join(f"{0.001 * k} {100.0 * k}\n" for k in range(POINTS + 2))
    text = FEDA.path.read_text().replace("{pen         fz}\n", f"{{pen fz}}\n{rows}", 1)
    (tmp_path / "x.tir").write_text(text)
    with pytest.raises(TireFileError, match=r"BOTTOMING_CURVE\]: 29 rows; expected 2 to 24"):
        read_tir(tmp_path / "x.tir")
