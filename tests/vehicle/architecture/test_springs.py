"""Frequencies and steps of a multibody against a second engine, Lagrange's equations and an iterated step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from jounce.architecture import composite, rows, springs
from jounce.architecture.target import GROUND, Body, Joint, Multibody, Spring

#: Undamped modes [Hz] of a second engine, without weight and friction (docs/architecture.md).
MODES = {
    "class3": "1.219 1.641 3.723 4.312 6.671 7.198 8.636 9.568 10.599 10.692 10.881 11.063 11.382",
    "class7": "1.699 2.821 3.254 3.719 7.508 7.739 8.159 8.326 8.390 9.537 9.554 10.536 11.127 12.129",
}
#: Frame on four wheels: 10 coordinates of Lagrange's equations, exact potential, no weight [Hz].
FRAME4 = [1.186688, 1.638631, 1.722556, 10.527245, 10.539027, 12.076625, 12.079649]
Z = np.array([0.0, 0.0, 1.0])


@pytest.mark.parametrize("truck", MODES)
def test_a_trucks_modes_are_those_of_a_second_engine(truck: str) -> None:
    found = springs.modes(composite.build(truck)[1]).frequencies / (2 * np.pi)
    assert found == pytest.approx([float(f) for f in MODES[truck].split()], abs=6e-4)


def frame_on_four_wheels() -> Multibody:
    """The paper's second test: a frame and four wheels on vertical springs; tires are springs to the ground."""
    bodies = [Body("frame", 2000.0, Z, np.diag([600.0, 3000.0, 3500.0]))]
    joints, coils = [], []
    for k, (x, y, m, stiff) in enumerate(((1.6, 0.8, 40, 3e4), (1.6, -0.8, 40, 3e4), (-1.8, 0.75, 55, 4e4),
                                          (-1.8, -0.75, 55, 4e4)), 1):  # fmt: skip
        at = np.array([x, y, 0.4])
        bodies.append(Body(f"wheel{k}", float(m), at, np.eye(3)))
        joints.append(Joint(f"guide{k}", "slider", k, 0, at, at, Z))
        coils.append(Spring(f"spring{k}", 0, k, at + Z * 0.6, at, stiff, 0.0, Z))
        coils.append(Spring(f"tire{k}", k, GROUND, at, at - 0.4 * Z, 2e5, 0.0, Z))
    return Multibody("frame4", tuple(bodies), tuple(joints), tuple(coils))


def test_a_frame_on_four_wheels_has_the_frequencies_of_lagrange() -> None:
    found = springs.modes(frame_on_four_wheels()).frequencies / (2 * np.pi)
    assert found == pytest.approx(FRAME4, rel=2e-6)


def test_a_modes_shape_has_the_energy_of_its_frequency() -> None:
    """Rayleigh: w^2 = potential over kinetic energy of the shape, with unit mass 1; joints hold in every shape."""
    model = frame_on_four_wheels()
    found = springs.modes(model)
    lines = rows.springs(model, rows.drawn(model))[1] @ found.shapes
    potential = (np.array([s.stiffness for s in model.springs])[:, None] * lines**2).sum(0)
    assert potential == pytest.approx(found.frequencies**2)
    assert np.abs(rows.joints(model, rows.drawn(model))[1] @ found.shapes).max() < 1e-12


@pytest.mark.parametrize("zeta", [0.0, 0.1, 0.3, 0.7, 0.95])
def test_a_springs_longest_step_is_where_the_iterated_step_begins_to_grow(zeta: float) -> None:
    """Spectral radius of v' = v - h (w^2 x + 2 zeta w u), x' = x + h v', u old or the mean of both velocities."""
    k, m = 5e4, 7.0
    w = np.sqrt(k / m)
    body = Body("bob", m, np.zeros(3), np.eye(3))
    model = Multibody("one", (body,), (Joint("guide", "slider", 0, GROUND, np.zeros(3), np.zeros(3), Z),),
                      (Spring("coil", 0, GROUND, Z, np.zeros(3), k, 2 * zeta * w * m, Z),))  # fmt: skip
    (limit,) = springs.limits(model)
    assert (limit.name, limit.frequency, limit.damping) == ("coil", pytest.approx(w), pytest.approx(zeta))

    def radius(h: float, centred: bool) -> float:
        c = 2 * zeta * w
        old, new = (1 - h * c / 2, 1 + h * c / 2) if centred else (1 - h * c, 1.0)
        step = np.array([[old / new, -h * w**2 / new], [h * old / new, 1 - h**2 * w**2 / new]])  # of (v, x)
        return float(np.abs(np.linalg.eigvals(step)).max())

    for step, centred in ((limit.step, True), (limit.step_explicit, False)):
        assert radius(0.999 * step, centred) <= 1 + 1e-9 < radius(1.001 * step, centred)
    if zeta > 0:  # Lesiv 2011, Eq. 23: 2 over the damped frequency
        assert radius(2 / (w * np.sqrt(1 - zeta**2)), False) > 1.01


def test_both_tires_of_a_dual_wheel_count() -> None:
    truck = composite.build("class7")[1]
    dual = replace(truck, wheels=tuple(replace(w, stiffness=w.stiffness / 2, offsets=(-1e-9, 1e-9))
                                       for w in truck.wheels))  # fmt: skip
    assert springs.modes(dual).frequencies == pytest.approx(springs.modes(truck).frequencies)
    assert len(springs.limits(dual)) == len(springs.limits(truck)) + 6


def test_the_longest_step_of_all_springs_is_no_longer_than_that_of_any() -> None:
    for truck in MODES:
        model = composite.build(truck)[1]
        assert springs.longest_step(model) <= min(s.step for s in springs.limits(model)) * (1 + 1e-12)
