"""The Magic Formula as emitted C equals the reference tables, bit for bit the same in both widths."""

from __future__ import annotations

import csv
import ctypes
import math
from collections.abc import Iterator
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from harness import compiled
from numpy.typing import NDArray

from jounce.codegen.emitter import emit_function
from jounce.contact.tires.coefficients import MF61, PAC2002
from jounce.contact.tires.formula import Slips
from jounce.contact.tires.mf61 import mf61
from jounce.contact.tires.pac2002 import pac2002
from jounce.contact.tires.tir import TireFile, read_tir

DATA = Path(__file__).parents[1] / "data" / "tires"
HMMWV, FEDA, MADE_UP = (read_tir(DATA / f"{n}.tir") for n in ("HMMWV_Pac02Tire", "335_65R22_5_G275MSA_60psi",
                                                               "synthetic_mf61"))  # fmt: skip
FORMULAS = {"pac2002": (pac2002, PAC2002), "mf61": (mf61, MF61)}
MORE = ("UNLOADED_RADIUS", "FNOMIN", "NOMPRES", "LONGVL", "ELLIPSE", "COMBINED")
COLUMNS = ("Fx", "Fy", "Mx", "My", "Mz", "sigma_kappa", "sigma_alpha")
Array = NDArray[np.float64]


def function(law: str) -> ca.Function:
    """law(slips, coefficients) -> COLUMNS."""
    formula, names = FORMULAS[law]
    slips, numbers = ca.SX.sym("s", 7), ca.SX.sym("c", len(names) + len(MORE))
    at = Slips(*ca.vertsplit(slips), ca.sin(slips[3]))
    f = formula(at, dict(zip((*names, *MORE), ca.vertsplit(numbers), strict=True)))
    out = (f.fx, f.fy, f.overturning, f.resistance, f.aligning + f.arm * f.fx, f.length_x, f.length_y)
    return ca.Function(law, [slips, numbers], [ca.densify(ca.cse(ca.vertcat(*out)))])


def numbers(file: TireFile, ellipse: bool = False) -> list[float]:
    """Coefficients of a file in the order of the function."""
    names = FORMULAS[file.law][1]
    return [*(file.coefficient(n) for n in names), *(file.values.get(n, 0.0) for n in MORE[:-2]), float(ellipse),
            1.0]  # fmt: skip


def points(table: str, file: TireFile) -> Iterator[tuple[list[float], dict[str, float]]]:
    """Slips of the function and what the table has for them."""
    with (DATA / f"{table}.csv").open() as lines:
        next(lines)
        for row in csv.DictReader(lines):
            r = {k: float(v) for k, v in row.items()}
            pressure = r["p"] or file.values.get("NOMPRES", 0.0)
            yield ([r["Fz"], r["kappa"], math.tan(r["alpha"]), r["gamma"], pressure,
                    r.get("Vx", file.values["LONGVL"]), r.get("mu", 1.0)],
                   {k: r[k] for k in COLUMNS if k in r})  # fmt: skip


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    code = "\n".join(emit_function(function(law), quick=True) for law in FORMULAS)
    folder = tmp_path_factory.mktemp("mf")
    (folder / "mf.inc").write_text(code)
    text = """
    #define JN_STRIDE 1
    #define JN_LANES 1
    #include "jn_lanes.h"
    #include "mf.inc"
    #undef JN_STRIDE
    #define JN_STRIDE 4
    #undef JN_LANES
    #define JN_LANES 4
    #include "jn_lanes.h"
    #include "mf.inc"
    void one(int law, const double *s, const double *c, double *o) {
        if (law) mf61_1(s, c, o); else pac2002_1(s, c, o);
    }
    __attribute__((target("avx2"))) void four(int law, const double *s, const double *c, double *o) {
        if (law) mf61_4(s, c, o); else pac2002_4(s, c, o);
    }
    """
    return compiled(text, folder)


def call(library: ctypes.CDLL, law: str, slips: list[float], coefficients: list[float]) -> Array:
    """What the emitted C gives for one tire; the same bits in four lanes."""
    s, c, o = np.array(slips), np.array(coefficients), np.zeros(len(COLUMNS))
    many = [np.repeat(v, 4) for v in (s, c, o)]
    for to, arrays in ((library.one, (s, c, o)), (library.four, many)):
        to(int(law == "mf61"), *(ctypes.c_void_p(a.ctypes.data) for a in arrays))
    assert np.repeat(o, 4).tobytes() == many[2].tobytes()
    return o


@pytest.mark.parametrize(
    ("table", "file", "ellipse"),
    [
        ("HMMWV_Pac02Tire_cosine", HMMWV, False),
        ("HMMWV_Pac02Tire_ellipse", HMMWV, True),
        ("335_65R22_5_G275MSA_60psi_cosine", FEDA, False),
        ("335_65R22_5_G275MSA_60psi_ellipse", FEDA, True),
        ("synthetic_mf61", MADE_UP, False),
    ],
)
def test_forces_in_c_are_those_of_the_reference_table(
    library: ctypes.CDLL, table: str, file: TireFile, ellipse: bool
) -> None:
    """Within 1e-9 of the nominal load at every point: pure and combined slip, camber, friction, pressure."""
    coefficients, count = numbers(file, ellipse), 0
    for slips, wanted in points(table, file):
        got = dict(zip(COLUMNS, call(library, file.law, slips, coefficients), strict=True))
        count += 1
        for name, value in wanted.items():
            off = abs(got[name] - (abs(value) if name == "My" else value))
            assert off < 1e-9 * file.values["FNOMIN"], f"{name} at {slips}"
    assert count >= 214


def test_the_published_point_of_the_hmmwv_is_met(library: ctypes.CDLL) -> None:
    """8000 N, slip 0.05, slip angle 0.03 rad, inclination 0.01 rad, 15 m/s; reference to 8 digits."""
    got = call(library, "pac2002", [8000.0, 0.05, math.tan(0.03), 0.01, 8e5, 15.0, 1.0], numbers(HMMWV))
    wanted = [5508.0941, -1301.1388, 0.0, 30.0736, -32.7990, 0.220711, 0.100876]
    assert got == pytest.approx(wanted, rel=1e-6)


def test_slip_stiffnesses_are_the_slopes_at_zero_slip() -> None:
    """Against difference quotients of the formula without shifts, 1e-6."""
    for file in (HMMWV, MADE_UP):
        formula, names = FORMULAS[file.law]
        zero = dict.fromkeys(("LHX", "LVX", "LHY", "LVY"), 0.0)
        c = {n: ca.SX(zero.get(n, v)) for n, v in zip((*names, *MORE), numbers(file), strict=True)}
        s = ca.SX.sym("s", 2)
        f = formula(Slips(ca.SX(9000.0), s[0], s[1], ca.SX(0), c["NOMPRES"], ca.SX(15.0), ca.SX(1), ca.SX(0)), c)
        value = ca.Function("f", [s], [ca.vertcat(f.fx, f.fy, f.stiffness_x, f.stiffness_y)])
        h = 1e-6
        along, across = ((value(at) - value([-x for x in at])) / (2 * h) for at in ([h, 0.0], [0.0, h]))
        k = value([0.0, 0.0])
        assert float(along[0]) == pytest.approx(float(k[2]), rel=1e-6)
        assert float(across[1]) == pytest.approx(float(k[3]), rel=1e-6)
