"""Tires of the Magic Formula on a rig: a wheel that is moved, without a vehicle.

It ends at the formula's forces, and follows them over the relaxation length. Its energy: `test_tire_passivity.py`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from numpy.typing import NDArray

from jounce.contact.tires import find
from jounce.contact.tires.from_tir import law_of, tire_entries
from jounce.contact.tires.law import Hub, Plane
from jounce.contact.tires.magic_formula import GIVES, RATE_LIMIT, steady
from jounce.contact.tires.tir import TireFile, read_tir
from jounce.contact.tires.vertical import load_at

Array = NDArray[np.float64]
DATA = Path(__file__).parents[1] / "data" / "tires"
TICK, FRICTION = 1e-3, 0.8
#: Deflection [m] at which each file's tire carries a usual load.
DEEP = {"HMMWV_Pac02Tire": 0.02, "335_65R22_5_G275MSA_60psi": 0.025, "synthetic_mf61": 0.015}
OUT = {"force": 3, "moment": 3, "contact_force": 3, "slip": 1, "slip_angle": 1, "stored_energy": 1}


class Rig:
    """A wheel of a file at a fixed height: motions are columns (v_x, v_y, spin)."""

    def __init__(self, name: str) -> None:
        file = read_tir(DATA / f"{name}.tir")
        if name == "synthetic_mf61":  # which has coefficients alone
            file = TireFile(file.path, file.law, dict(file.values) | {"VERTICAL_STIFFNESS": 2e5}, file.texts)
        self.law = find(law_of(file))
        numbers = {n.removeprefix("tire."): e.value for n, e in tire_entries(file).items()}
        self.par = numbers | {"side": 1.0, "tire_pressure": 0.0, "use_mode": 14.0}
        self.height = self.par["unloaded_radius"] - DEEP[name]
        motion, state, height = ca.SX.sym("m", 3), ca.SX.sym("z", self.law.layout.size), ca.SX.sym("h")
        hub = Hub(ca.vertcat(0, 0, height), ca.vertcat(motion[0], motion[1], 0), ca.SX([0, 1, 0]),
                  ca.vertcat(0, motion[2], 0))  # fmt: skip
        plane = Plane(ca.SX(3, 1), ca.SX([0, 0, 1]), ca.SX(FRICTION))
        contact = self.law.contact(hub, plane, state, {n: ca.SX(v) for n, v in self.par.items()})
        out = ca.vertcat(*(getattr(contact, n) for n in OUT))
        self._function = ca.Function("rig", [state, motion, height], [contact.rate, out])

    def rate(self, state: Array, motion: Array, height: float = 0.0) -> tuple[Array, Array]:
        """Rates of the states and OUT, a column for each wheel."""
        rate, out = self._function.map(state.shape[1])(state, motion, height or self.height)
        return np.array(rate), np.array(out)

    def run(self, motion_at: object, steps: int, count: int, tick: float = TICK) -> tuple[Array, Array]:
        """(motions, outputs) at every step by RK4, which has the law's eigenvalues within its range."""
        state, motions, outs = np.zeros((self.law.layout.size, count)), [], []
        for k in range(steps):
            ends = [motion_at((k + part) * tick) for part in (0.0, 0.5, 1.0)]  # type: ignore[operator]
            k1, out = self.rate(state, ends[0])
            motions.append(ends[0])
            outs.append(out)
            k2 = self.rate(state + 0.5 * tick * k1, ends[1])[0]
            k3 = self.rate(state + 0.5 * tick * k2, ends[1])[0]
            k4 = self.rate(state + tick * k3, ends[2])[0]
            state = state + tick / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        return np.array(motions), np.array(outs)

    def free(self, speed: float) -> float:
        """Spin rate [rad/s] at which it rolls without sliding."""
        spin = speed / self.height
        _, outs = self.run(lambda _t: np.array([[speed], [0.0], [spin]]), 2, 1)
        return spin / (1.0 + float(outs[-1][place("slip"), 0][0]))

    def formula(self, load: float, slip: float, slip_angle: float, speed: float) -> dict[str, float]:
        """Forces of the steady formula."""
        at = [load, slip, slip_angle, 0.0, self.par["pressure"], speed, FRICTION]
        numbers = [self.par[n] for n in (*self.law.parameters, *self.law.sided)]
        return dict(zip(GIVES.sizes, np.array(steady(self.law)(at, numbers)).ravel().tolist(), strict=True))


@cache
def rig(name: str) -> Rig:
    return Rig(name)


def place(name: str) -> slice:
    first = sum(n for k, n in OUT.items() if list(OUT).index(k) < list(OUT).index(name))
    return slice(first, first + OUT[name])


@pytest.mark.parametrize("name", DEEP)
@pytest.mark.parametrize("deflection", [0.0, 0.003, 0.02, 0.031, 0.098, 0.13])
def test_the_load_is_that_of_the_vertical_law(name: str, deflection: float) -> None:
    """At rest, up to where FEDA's bottoming curve counts, and not onto a rim; `test_vertical.py` has its values."""
    made = rig(name)
    deflection = min(deflection, 0.99 * (made.par["unloaded_radius"] - made.par["rim_radius"]))
    _, out = made.rate(np.zeros((made.law.layout.size, 1)), np.zeros((3, 1)), made.par["unloaded_radius"] - deflection)
    wanted = load_at(made.par.get, deflection)
    assert out[place("contact_force"), 0][2] == pytest.approx(wanted, rel=1e-9, abs=1e-6)


#: Driven, braked, locked, spinning: angular velocity as part of that of the speed, and speed sideways [m/s].
ROLLING = ((1.0, 0.0), (1.05, 0.5), (0.7, -2.0), (0.0, 1.0), (2.0, 3.0))


@pytest.mark.slow(but="synthetic_mf61")
@pytest.mark.parametrize("name", DEEP)
def test_wheels_that_roll_on_have_the_formulas_forces_at_their_slips(name: str) -> None:
    """Within 1e-9 of the nominal load after 2 s at 15 m/s."""
    made = rig(name)
    motion = np.array([[15.0, side, ratio * 15.0 / made.height] for ratio, side in ROLLING]).T
    _, outs = made.run(lambda _t: motion, 2000, len(ROLLING))
    for last, (ratio, _) in zip(outs[-1].T, ROLLING, strict=True):
        fx, fy, load = last[place("contact_force")]
        wanted = made.formula(load, last[place("slip")][0], last[place("slip_angle")][0], 15.0)
        # a locked wheel slides by -1 exactly, whatever the radius
        assert ratio > 0.0 or last[place("slip")][0] == -1.0
        assert fx == pytest.approx(wanted["fx"], abs=1e-9 * made.par["FNOMIN"])
        assert fy == pytest.approx(wanted["fy"], abs=1e-9 * made.par["FNOMIN"])


@pytest.mark.slow(but="HMMWV_Pac02Tire")
@pytest.mark.parametrize("name", DEEP)
def test_after_a_step_of_the_side_slip_the_force_follows_over_the_relaxation_length(name: str) -> None:
    """From 20 to 80 % in ln 4 times sigma / V, and 2 ms that bound the state's eigenvalue at 500 1/s (Pacejka and
    Besselink 2012, section 7.2): within 2 %. The slip angle is 1 mrad."""
    made, tick, speeds = rig(name), 2e-4, np.array([8.0, 20.0, 40.0])
    spins = np.array([made.free(speed) for speed in speeds])
    _, outs = made.run(lambda t: np.array([speeds, 0.001 * speeds * (t > 0.2), spins]), int(0.55 / tick), 3, tick)
    for speed, out in zip(speeds, outs.transpose(2, 0, 1), strict=True):
        fy = out[int(0.2 / tick) :, place("contact_force")][:, 1]
        share = (fy - fy[0]) / (fy[-1] - fy[0])
        low, high = (float(np.interp(at, share, tick * np.arange(len(share)))) for at in (0.2, 0.8))
        load = out[-1, place("contact_force")][2]
        sigma = max(made.formula(load, 0.0, 0.0, speed)["length_y"], 0.05)
        assert (high - low) / np.log(4.0) == pytest.approx(sigma / speed + 1.0 / RATE_LIMIT, rel=0.02)
