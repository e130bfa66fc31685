"""What `tire.use_mode`, `tire.mirror` and `tire.limits` make of the formula's forces."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from jounce.contact.tires import find
from jounce.contact.tires.from_tir import law_of, tire_entries
from jounce.contact.tires.law import Hub, Law, Plane
from jounce.contact.tires.magic_formula import GIVES, SHORTEST, steady
from jounce.contact.tires.tir import TireFileError, read_tir

Array = NDArray[np.float64]
DATA = Path(__file__).parents[1] / "data" / "tires"
FILES = ("HMMWV_Pac02Tire", "335_65R22_5_G275MSA_60psi", "synthetic_mf61_large")
FORCES = ("fx", "fy", "overturning", "resistance", "aligning")
#: USE_MODE's units -> forces that there are.
MODES = {0: (), 1: ("fx", "resistance"), 2: ("fy", "overturning", "aligning"), 3: FORCES, 4: FORCES, 5: FORCES}
FILE, NEVER, SYMMETRIC = 1.0, 2.0, 3.0
motions = st.tuples(st.floats(-1.0, 1.0), st.floats(-0.3, 0.3), st.floats(-0.1, 0.1), st.floats(0.3, 1.3))


@cache
def tire(name: str) -> tuple[Law, dict[str, float], ca.Function]:
    """Law of a file, its numbers, and its steady forces."""
    file = read_tir(DATA / f"{name}.tir")
    law = find(law_of(file))
    return law, {n.removeprefix("tire."): e.value for n, e in tire_entries(file).items()}, steady(law)


def forces(name: str, motion: tuple[float, float, float, float], side: float = 1.0, **own: float) -> dict[str, float]:
    """Steady forces at slip, slip angle, inclination, and load over the nominal one; ``own`` are parameters."""
    law, numbers, function = tire(name)
    numbers = numbers | {"side": side} | own
    slip, angle, lean, load = motion
    at = [load * numbers["FNOMIN"], slip, angle, lean, numbers["pressure"], 15.0, 0.8]
    out = np.array(function(at, [numbers[n] for n in (*law.parameters, *law.sided)])).ravel()
    return dict(zip(GIVES.sizes, out.tolist(), strict=True))


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=20, deadline=None)
@given(motion=motions, side=st.sampled_from([1.0, -1.0]), ellipse=st.sampled_from([1.0, 2.0]))
def test_a_use_mode_leaves_the_forces_that_it_names(
    name: str, motion: tuple[float, float, float, float], side: float, ellipse: float
) -> None:
    """Uncombined ones are those of one slip alone, in modes 1 to 3; 5 is 4; tens change no steady force."""
    slip, angle, lean, load = motion
    own = {"combined_slip": ellipse} if name in FILES[:2] else {}
    both = forces(name, motion, side, use_mode=4.0, **own)
    along = forces(name, (slip, 0.0, lean, load), side, use_mode=3.0, **own)
    across = forces(name, (0.0, angle, lean, load), side, use_mode=3.0, **own)
    for units, there in MODES.items():
        for tens in (0.0, 10.0, 20.0):
            got = forces(name, motion, side, use_mode=units + tens, **own)
            for n in FORCES:
                alone = along if n in ("fx", "resistance") else across
                wanted = 0.0 if n not in there else both[n] if units > 3 else alone[n]
                assert got[n] == pytest.approx(wanted, rel=1e-9, abs=1e-6), (n, units)


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=40, deadline=None)
@given(motion=motions)
def test_a_symmetric_tire_is_its_own_mirror_image(name: str, motion: tuple[float, float, float, float]) -> None:
    """Whatever the coefficients of its file: slip to the right is slip to the left in a mirror, and zero has none."""
    slip, angle, lean, load = motion
    one = forces(name, motion, mirror=SYMMETRIC)
    other = forces(name, (slip, -angle, -lean, load), mirror=SYMMETRIC)
    for n, sign in zip(FORCES, (1.0, -1.0, -1.0, 1.0, -1.0), strict=True):
        assert one[n] == pytest.approx(sign * other[n], rel=1e-9, abs=1e-7), n
    still = forces(name, (0.0, 0.0, 0.0, load), mirror=SYMMETRIC)
    assert [still[n] for n in ("fx", "fy", "overturning", "aligning")] == [0.0, 0.0, 0.0, 0.0]
    assert forces(name, motion, -1.0, mirror=SYMMETRIC) == pytest.approx(one, rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("name", FILES)
@settings(max_examples=20, deadline=None)
@given(motion=motions)
def test_a_mirrored_tire_is_the_mirror_image_and_one_that_never_is_has_its_data_on_both_sides(
    name: str, motion: tuple[float, float, float, float]
) -> None:
    slip, angle, lean, load = motion
    as_is = forces(name, motion)
    other = forces(name, (slip, -angle, -lean, load), -1.0)
    for n, sign in zip(FORCES, (1.0, -1.0, -1.0, 1.0, -1.0), strict=True):
        assert other[n] == pytest.approx(sign * as_is[n], rel=1e-12, abs=1e-9), n
    for side in (1.0, -1.0):
        assert forces(name, motion, side, mirror=NEVER) == as_is


def test_a_mode_below_zero_mirrors_the_file_and_another_is_refused(tmp_path: Path) -> None:
    text, path = (DATA / "HMMWV_Pac02Tire.tir").read_text(), tmp_path / "x.tir"
    was = "USE_MODE                   = 4"
    assert was in text
    path.write_text(text.replace(was, "USE_MODE = -12"))
    entries = tire_entries(read_tir(path))
    assert [entries[f"tire.{n}"].value for n in ("use_mode", "side_left", "side_right")] == [12.0, -1.0, 1.0]
    path.write_text(text.replace(was, ""))
    assert tire_entries(read_tir(path))["tire.use_mode"].value == 14.0
    for written, meant in ((114, 14.0), (124, 24.0), (434, 14.0), (-33, 13.0), (500, 0.0)):  # of MF-Swift
        path.write_text(text.replace(was, f"USE_MODE = {written}"))
        assert tire_entries(read_tir(path))["tire.use_mode"].value == meant
    for bad in ("6", "16", "44", "4.5", "-7", "146", "614"):
        path.write_text(text.replace(was, f"USE_MODE = {bad}"))
        with pytest.raises(TireFileError, match=r"x\.tir: line 11: USE_MODE: .*: expected 0 to 5"):
            read_tir(path)


@settings(max_examples=30, deadline=None)
@given(motion=motions, side=st.sampled_from([1.0, -1.0]))
def test_with_limits_the_slips_stay_in_the_ranges_of_the_file(
    motion: tuple[float, float, float, float], side: float
) -> None:
    """FEDA's were measured in braking alone: slips of -0.8 to 0, angles of -0.19499 to 0.19769 of its own side."""
    slip, angle, lean, load = motion
    own = side * np.clip(side * angle, -0.19499, 0.19769)
    inside = (float(np.clip(slip, -0.8, 0.0)), float(own), lean, load)
    assert forces(FILES[1], motion, side, limits=2.0) == pytest.approx(forces(FILES[1], inside, side), abs=1e-6)


@cache
def wheel(name: str, *own: tuple[str, float]) -> ca.Function:
    """f(slip states, v_x, height over the ground, lean, use_mode) -> rates, tire_outside, force of the contact.

    ``own``: parameters with their values.
    """
    law, numbers, _ = tire(name)
    slips, vx, height, lean, mode = (ca.SX.sym(n, k) for n, k in (("z", 2), ("v", 1), ("h", 1), ("l", 1), ("m", 1)))
    state = ca.vertcat(*(slips if n == "slip" else ca.SX(k, 1) for n, k in law.layout.sizes.items()))
    tilt = ca.vertcat(0, ca.cos(lean), ca.sin(lean))
    hub = Hub(ca.vertcat(0, 0, height), ca.vertcat(vx, 0.5, 0), tilt, tilt * vx / height)
    numbers = numbers | dict(own) | {"side": 1.0, "tire_pressure": 0.0}
    par = {n: ca.SX(v) for n, v in numbers.items()} | {"use_mode": mode}
    contact = law.contact(hub, Plane(ca.SX(3, 1), ca.SX([0, 0, 1]), ca.SX(0.8)), state, par)
    rates = law.layout.split(contact.rate)["slip"]
    return ca.Function("w", [slips, vx, height, lean, mode], [rates, contact.outputs["tire_outside"],
                                                              contact.contact_force])  # fmt: skip


def test_an_output_counts_what_is_outside_of_the_ranges_of_the_file() -> None:
    """Of load, inclination, slip and slip angle; slips only where the formula has the forces; none in the air."""
    radius = tire(FILES[1])[1]["unloaded_radius"]
    f = wheel(FILES[1])

    def count(xi: float, eta: float, speed: float, deflection: float, lean: float) -> int:
        return int(f([xi, eta], speed, radius - deflection, lean, 14.0)[1])

    assert count(-0.1, 0.0, 15.0, 0.033, 0.0) == 0
    assert count(0.1, 0.0, 15.0, 0.033, 0.0) == 1  # a driving slip
    assert count(-0.1, 0.3, 15.0, 0.033, 0.0) == 1
    assert count(0.1, 0.3, 15.0, 0.033, 0.0) == 2
    assert count(0.1, 0.3, 0.5, 0.033, 0.0) == 0  # bristles carry the forces
    assert count(-0.1, 0.0, 15.0, 0.005, 0.0) == 1  # below FZMIN
    assert count(-0.1, 0.0, 15.0, 0.033, 0.14) == 1
    assert count(0.1, 0.3, 15.0, 0.016, 0.14) == 4
    assert count(0.1, 0.3, 15.0, -0.01, 0.14) == 0


def test_a_weight_of_combined_slip_that_would_be_negative_is_zero_and_counted() -> None:
    """cos(C atan(B x ..)) with C = 3 turns negative at large slip; the friction ellipse has no weights."""
    wild = (("RBX1", 30.0), ("RBX2", 0.0), ("RCX1", 3.0), ("REX1", 0.0), ("REX2", 0.0))
    for name in FILES:
        radius = tire(name)[1]["unloaded_radius"]
        for way in (1.0, 2.0) if name in FILES[:2] else (1.0,):
            f = wheel(name, *wild, ("combined_slip", way), ("min_load", 1.0))
            _, count, force = f([-0.1, 0.1], 15.0, radius - 0.02, 0.0, 14.0)
            _, alone, _ = f([-0.1, 0.1], 15.0, radius - 0.02, 0.0, 3.0)
            assert (float(force[0]) == 0.0) == (way == 1.0), name
            assert [int(count), int(alone)] == [int(way == 1.0), 0], name


def test_without_relaxation_the_slips_follow_over_the_shortest_length() -> None:
    """The rate at a slip of zero is |V_s| / (s + |V| / 500): s = 0.05 m in mode 4, the file's in 14 (HMMWV: longer)."""
    f, radius = wheel(FILES[0]), tire(FILES[0])[1]["unloaded_radius"]
    rates = {mode: float(f([0.0, 0.0], 20.0, radius - 0.02, 0.0, mode)[0][1]) for mode in (4.0, 14.0, 24.0, 3.6, 14.4)}
    sliding = -np.array(f([0.0, 0.0], 20.0, radius - 0.02, 0.0, 4.0)[0]).ravel()
    pace = 20.0 + np.hypot(0.5, sliding[0] * (SHORTEST + 20.0 / 500.0))
    assert rates[4.0] == pytest.approx(-0.5 / (SHORTEST + pace / 500.0), rel=1e-2)
    assert abs(rates[14.0]) < 0.8 * abs(rates[4.0])
    assert rates[14.0] == rates[24.0] == rates[14.4]
    assert rates[3.6] == rates[4.0]
