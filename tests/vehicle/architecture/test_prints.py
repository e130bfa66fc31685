"""What the printed equations of Lesiv 2011 do that are about impulses and friction, beside what the rows do here.

Those of arms and hinges are in test_rows.py, of steps in test_springs.py, of weight classes in test_build_command.py.
"""

from __future__ import annotations

import numpy as np
import pytest

from jounce.architecture import composite, rows, trim
from jounce.architecture.layout import layout
from jounce.architecture.target import GROUND, Body, Joint, Multibody
from jounce_fmu.models.impulse.engine import Engine

G, H = 9.81, 1e-3


def test_forces_beside_impulses_make_a_body_fall_a_thousand_times_too_fast() -> None:
    """Eqs. 4 and 6 add f_e to impulses: M (v1 - v0) = J^T L + f_e. A force needs its h, or L is no impulse."""
    model = Multibody("falling", (Body("ball", 2.0, np.zeros(3), np.eye(3)),))
    engine = Engine(layout(model), H)
    engine.start()
    before = engine.bodies[0, 9]
    engine.run(1)
    assert engine.bodies[0, 9] - before == pytest.approx(-G * H)
    printed = -2.0 * G / 2.0  # M^-1 f_e of one tick
    assert printed == pytest.approx(1000 * -G * H)

    # A bob at rest under its pin: the printed L of Eq. 6a is the force itself, whatever the step is.
    bob = Body("bob", 2.0, np.array([0.0, 0.0, -1.0]), np.eye(3))
    pin = Joint("pin", "ball", 0, GROUND, np.zeros(3), np.zeros(3))
    held = Multibody("held", (bob,), (pin,))
    j = rows.joints(held, rows.drawn(held))[1]
    inverse = np.diag([0.5] * 3 + [1.0] * 3)
    f = np.array([0.0, 0.0, -2.0 * G, 0, 0, 0])
    impulse, taken = (np.linalg.solve(j @ inverse @ j.T, -j @ inverse @ part)[2] for part in (H * f, f))
    assert impulse == pytest.approx(2.0 * G * H) and taken == pytest.approx(2.0 * G)


@pytest.mark.parametrize("speed", [5.0, -5.0])
def test_locked_wheels_slow_a_truck_both_ways_and_the_printed_friction_only_one(speed: float) -> None:
    """Eq. 7b, lambda_f >= 0 with J_f v >= 0: nothing can hold what slides along t1, against Eq. 8 beside it."""
    truck = trim.trimmed(composite.build("class3")[1])
    engine = Engine(layout(truck, wheel_motors=True), H)
    engine.motors[:, 1] = [1e5 if what == "brake" else 0.0 for what, _ in engine.layout.motors]
    engine.bodies[:, 7] = speed
    engine.start()
    engine.run(300)
    assert 0 < engine.bodies[0, 7] / speed < 1 - 0.25 * 0.8 * G / abs(speed)
    along, pressed = engine.forces[:, 0], engine.forces[:, 2]
    assert along == pytest.approx(-np.sign(speed) * 0.8 * pressed, rel=2e-3)  # mu N on every wheel, against the motion

    # One point of 1 kg pressed with its weight: the printed conditions and the two-sided ones, for one tick.
    bound = 0.8 * G * H
    printed = min(max(-speed, 0.0), bound)  # lambda_f >= 0, complementary to J_f v >= 0, at most mu lambda_c
    two_sided = float(np.clip(-speed, -bound, bound))
    assert speed + two_sided == pytest.approx(speed - np.sign(speed) * bound)
    assert printed == (0.0 if speed > 0 else bound)  # it slides forward for ever
