"""Coefficients that would turn a force of a tire around are refused as parameters, as they are in a file."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jounce_fmu.importer.host import Factory, FmuError, FmuInstance, open_builtin
from jounce_fmu.models.tires import on_tires
from jounce_tools.cli.main import main

DATA = Path(__file__).parents[1] / "data" / "tires"
#: (parameter, value, what is allowed, why): of the HMMWV's file, whose loads go from 1750 N to 47.9 kN.
WRONG = [
    ("PDX2", -5.0, "at least", "longitudinal friction", "4.794e+04 N"),
    ("PDX2", 5.0, "at most", "longitudinal friction", "1750 N"),
    ("PDY2", 9.0, "at most", "lateral friction", "1750 N"),
    ("PKX2", -40.0, "at least", "slip stiffness", "4.794e+04 N"),
    ("PDX3", 1e3, "at most", "longitudinal friction", "0.262 rad"),
    ("PDY3", 1e3, "at most", "lateral friction", "0.262 rad"),
    ("PKY3", 30.0, "at most", "cornering stiffness", "0.262 rad"),
    ("PPX3", 3.0, "at most", "longitudinal friction", "4e+05 Pa"),
    ("PPX4", -9.0, "at least", "longitudinal friction", "Pa"),
    ("PPX1", -3.0, "at least", "slip stiffness", "1.2e+06 Pa"),
    ("PPY1", 3.0, "at most", "cornering stiffness", "4e+05 Pa"),
    ("QSY3", -0.5, "at least", "rolling resistance", "16.7 m/s"),
    ("max_load", 90e3, "at least -0.2042", "longitudinal friction", "9e+04 N (of min_load to max_load)"),
    ("LFZO", 0.3, "at least -0.1962", "longitudinal friction", "4.794e+04 N"),
]
OF_61 = [("PKY4", 9.0, "above 0 and below", "cornering stiffness"), ("PKY4", -2.0, "above 0", "cornering stiffness"),
         ("PKY5", -900.0, "at least", "cornering stiffness"), ("PCFX1", -9.0, "at least", "carcass stiffness"),
         ("PCFY2", -9.0, "at least", "carcass stiffness")]  # fmt: skip


@pytest.fixture(scope="module")
def car() -> Factory:
    pytest.importorskip("casadi")
    return open_builtin(on_tires("hmmwv", DATA / "HMMWV_Pac02Tire.tir"))


def refused(car: Factory, name: str, value: float) -> str:
    """What is said where it is set. After a reset the vehicle is as one in which it never was set."""
    with car.instance("x") as fmu, car.instance("y") as undisturbed:
        with pytest.raises(FmuError) as caught:
            fmu.setup({f"tire.{name}": value})
            fmu.get_outputs()
        fmu.reset()
        for one in (fmu, undisturbed):
            one.setup({"init.speed": 8.0})
            one.step(20)
        assert fmu.get_outputs().tobytes() == undisturbed.get_outputs().tobytes()
    return str(caught.value)


@pytest.mark.parametrize(("name", "value", "allowed", "what", "where"), WRONG)
def test_a_coefficient_is_refused_with_its_name_what_is_allowed_and_where(
    car: Factory, name: str, value: float, allowed: str, what: str, where: str
) -> None:
    said = refused(car, name, value)
    assert f"tire.{name} = {value:g}" in said or "tire.PDX2 = -0.24431: " in said  # which a range is too wide for
    assert f"expected {allowed}" in said and f"the {what} would be" in said and where in said


@pytest.mark.slow  # emits and compiles a vehicle on the formula 6.1; the list that is read is the same
@pytest.mark.parametrize(("name", "value", "allowed", "what"), OF_61)
def test_so_are_those_of_the_formula_6_1(name: str, value: float, allowed: str, what: str) -> None:
    pytest.importorskip("casadi")
    said = refused(open_builtin(on_tires("hmmwv", DATA / "synthetic_mf61_large.tir")), name, value)
    assert f"tire.{name}" in said and f"expected {allowed}" in said and f"the {what} would be" in said


def test_a_radius_to_roll_on_that_is_none_is_refused(car: Factory) -> None:
    said = refused(car, "DREFF", 9.0)
    assert re.search(r"tire\.DREFF = 9: with BREFF.* it gives a rolling radius of .* expected 0\.2349 to 0\.7048", said)


def _taken(fmu: FmuInstance, values: dict[str, float]) -> str:
    fmu.reset()
    try:
        fmu.setup(values)
        fmu.get_outputs()
    except FmuError as error:
        return str(error)
    return ""


@settings(max_examples=60)
@given(slope=st.floats(-2.0, 2.0), most=st.floats(1.05, 3.0), least=st.floats(0.01, 0.9), factor=st.floats(0.5, 2.0))
def test_exactly_those_frictions_are_refused_that_somewhere_fall_below_a_tenth(
    car: Factory, slope: float, most: float, least: float, factor: float
) -> None:
    """Against PDX1 + PDX2 dfz at a thousand loads; and the limit that is told is taken."""
    f0, pdx1 = 35000.0 * 0.580905 * factor, 0.77751
    start = {"init.equilibrium": 0.0, "init.z": 3.0, "tire.PKX2": 0.0, "tire.PDY2": 0.0, "tire.LFZO": 0.580905 * factor,
             "tire.min_load": least * f0, "tire.max_load": most * f0}  # fmt: skip
    share = 1.0 + slope / pdx1 * np.linspace(least - 1.0, most - 1.0, 1000)
    with car.instance("x") as fmu:
        said = _taken(fmu, {**start, "tire.PDX2": slope})
        if abs(share.min() - 0.1) > 1e-6:
            assert bool(said) == (share.min() < 0.1), said
        if limit := re.search(r"expected at (?:least|most) ([-+.e\d]+)", said):
            assert not _taken(fmu, {**start, "tire.PDX2": 0.999 * float(limit[1])})


def test_the_command_line_refuses_it_too(car: Factory, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tire, out = str(DATA / "HMMWV_Pac02Tire.tir"), str(tmp_path / "o.csv")
    assert main(["simulate", "--tire", tire, "--duration", "0.01", "-o", out, "--set", "tire.PDX2=-5"]) == 2
    assert "tire.PDX2 = -5: expected at least" in capsys.readouterr().err
    assert not (tmp_path / "o.csv").exists()
