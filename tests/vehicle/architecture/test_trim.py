"""The drawn vehicle at rest: loads, preloads, and what cannot stand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from jounce.architecture import composite, mobility, rows, trim
from jounce.architecture.load import architecture_file
from jounce.architecture.read import ArchitectureError
from jounce.architecture.target import Multibody

#: Loads of the wheels [N] at rest, from a second engine (docs/architecture.md).
LOADS = {
    "class3": (8670, 8645, 10619, 10130),
    "class7": (25784, 25704, 15183, 14431, 11590, 10838),
}


@pytest.fixture(scope="module", params=LOADS)
def truck(request: pytest.FixtureRequest) -> Multibody:
    return composite.build(request.param)[1]


def test_the_wheels_of_a_truck_at_rest_carry_the_loads_of_a_second_engine(truck: Multibody) -> None:
    assert trim.rest(truck).loads == pytest.approx(LOADS[truck.name], abs=0.55)


def test_the_forces_of_rest_hold_every_body(truck: Multibody) -> None:
    """Joint forces that balance weight, springs and loads exist, and the loads are the whole weight."""
    still = trim.trimmed(truck)
    forces = rows.springs(still, rows.drawn(still))[1].T @ [s.preload for s in still.springs]
    forces += rows.loads(still).T @ [w.load for w in still.wheels]
    forces[2::6] -= [b.mass * still.gravity for b in still.bodies]
    jacobian = rows.joints(still, rows.drawn(still))[1]
    joints = np.linalg.lstsq(jacobian.T, -forces, rcond=None)[0]
    assert np.abs(forces + jacobian.T @ joints).max() < 1e-7 * still.mass
    assert sum(w.load for w in still.wheels) == pytest.approx(still.mass * still.gravity, rel=1e-9)
    for wheel in still.wheels:  # the tire is pressed flat by its load
        assert (wheel.radius - wheel.centre[2]) * wheel.stiffness == pytest.approx(wheel.load)


def test_of_the_preloads_that_balance_those_of_least_energy_are_taken(truck: Multibody) -> None:
    """Any other balance, along the null space of the springs' and wheels' motions, stores more."""
    found = trim.rest(truck)
    basis = mobility.free(rows.joints(truck, rows.drawn(truck))[1])
    both = np.vstack([rows.springs(truck, rows.drawn(truck))[1], rows.loads(truck)]) @ basis
    idle = mobility.free(both.T)
    scale = np.array([*(1 / s.stiffness for s in truck.springs), *(1e-6 for _ in truck.wheels)])
    assert idle.shape[1] > 0
    assert np.abs((scale * [*found.preloads, *found.loads]) @ idle).max() < 1e-9 * np.abs(found.loads).max()


def test_a_truck_whose_weight_is_behind_its_wheels_is_refused_by_the_wheel() -> None:
    truck = composite.build("class3")[1]
    bodies = list(truck.bodies)
    bodies[0] = replace(bodies[0], com=bodies[0].com - [4.0, 0, 0])
    with pytest.raises(ArchitectureError, match=r"class3: wheel FL would carry -\d+ N at rest"):
        trim.rest(replace(truck, bodies=tuple(bodies)))


def test_a_coil_that_would_have_to_pull_is_refused_by_its_name() -> None:
    """The rear coils below the arm, in place of above it."""
    truck = composite.build("class3")[1]
    springs = tuple(
        replace(s, point_b=s.point_b * [1, 1, 0]) if s.name == "rear.spring_L" else s for s in truck.springs
    )
    upside_down = replace(truck, springs=springs)
    with pytest.raises(ArchitectureError, match=r"class3: rear.spring_L would pull with \d+ N at rest"):
        trim.rest(upside_down)
    trim.rest(replace(upside_down, springs=tuple(replace(s, seated=False) for s in springs)))


def test_a_body_that_nothing_holds_up_is_named() -> None:
    truck = composite.build("class3")[1]
    loose = replace(truck, springs=tuple(s for s in truck.springs if not s.name.startswith("cab_")))
    with pytest.raises(ArchitectureError, match="class3: body cab.shell cannot stand still as drawn"):
        trim.rest(loose)


def test_dual_wheels_share_the_load_of_one(tmp_path: Path) -> None:
    text = Path(architecture_file("class7")).read_text()
    path = tmp_path / "dual.toml"
    path.write_text(text.replace("driven = true", "driven = true\ndual = 0.32"))
    _, model = composite.build(path)
    assert [w.offsets for w in model.wheels] == [(0.0,)] * 2 + [(-0.16, 0.16)] * 4
    wheel = model.bodies[model.wheels[2].body]
    assert wheel.mass == pytest.approx(2 * 154.7) and wheel.inertia[1, 1] == pytest.approx(2 * 30.2)
    assert wheel.inertia[0, 0] == pytest.approx(2 * (17.5 + 154.7 * 0.16**2))  # Steiner
    still = trim.trimmed(model)
    assert sum(w.load for w in still.wheels) == pytest.approx(model.mass * 9.81)
    assert [w.radius for w in still.wheels] == pytest.approx([0.587 + w.load / len(w.offsets) / 1e6
                                                              for w in still.wheels])  # fmt: skip
