"""Where tires of the Magic Formula break away at rest: at the peaks of the formula, on an ellipse between them."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from test_tire_passivity import DEEP, law_and_numbers

from jounce.contact.tires.law import Hub, Plane
from jounce.contact.tires.magic_formula import AT, GIVES, steady
from jounce.contact.tires.vertical import load_at

ANGLES = np.linspace(0.0, 2.0 * np.pi, 17)


def broken_away(name: str, deflection: float, friction: float) -> np.ndarray:
    """Force [N] (17, 2) over friction of treads at rest that are bent by 1 m along ANGLES."""
    law, numbers = law_and_numbers(name)
    state = ca.SX.sym("z", law.layout.size)
    par = {key: ca.SX(value) for key, value in numbers.items()}
    hub = Hub(ca.SX([0, 0, numbers["unloaded_radius"] - deflection]), ca.SX(3, 1), ca.SX([0, 1, 0]), ca.SX(3, 1))
    contact = law.contact(hub, Plane(ca.SX(3, 1), ca.SX([0, 0, 1]), ca.SX(friction)), state, par)
    force = ca.Function("force", [state], [ca.densify(contact.force[:2])])
    empty = {n: ca.SX(size, 1) for n, size in law.layout.sizes.items()}
    bent = [law.layout.join(**empty | {"bristle": ca.SX([np.cos(a), np.sin(a)])}) for a in ANGLES]
    return np.array([np.array(force(ca.evalf(z))).ravel() for z in bent])


def peaks(name: str, deflection: float, friction: float) -> tuple[float, float]:
    """Largest forces [N] of the curves of pure slip, of both directions the mean."""
    law, numbers = law_and_numbers(name)
    curve = steady(law)
    par = ca.DM([numbers[n] for n in (*law.parameters, *law.sided)])
    load = load_at(numbers.get, deflection)

    def largest(what: str, of: str) -> float:
        at = dict.fromkeys(AT.sizes, ca.SX(0)) | {
            "load": load, "pressure": numbers["pressure"], "speed": numbers["LONGVL"], "friction": friction,
            of: ca.SX(np.linspace(-1.0, 1.0, 801)).T,
        }  # fmt: skip
        point = ca.evalf(ca.vertcat(*(ca.SX(at[n]) + ca.SX(1, 801) for n in AT.sizes)))
        forces = np.array(curve(point, par))[list(GIVES.sizes).index(what)]
        return 0.5 * float(np.ptp(forces))

    return largest("fx", "slip"), largest("fy", "slip_angle")


@pytest.mark.parametrize("friction", [0.5, 1.0])
@pytest.mark.parametrize("deep", [0.5, 1.0])
@pytest.mark.parametrize("name", DEEP)
def test_a_tread_breaks_away_at_the_peak_of_the_direction_in_which_it_is_bent(
    name: str, deep: float, friction: float
) -> None:
    deflection = deep * DEEP[name]
    force, (along, across) = broken_away(name, deflection, friction), peaks(name, deflection, friction)
    assert np.hypot(force[:, 0] / along, force[:, 1] / across) == pytest.approx(1.0, rel=0.03)
    assert force[:, 0] * np.sin(ANGLES) == pytest.approx(force[:, 1] * np.cos(ANGLES), abs=1e-6 * along)
