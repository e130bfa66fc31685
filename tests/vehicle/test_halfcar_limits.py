"""The half car at its limits: zeros and refusals, and its derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from halfcar import FACTORY, RADIUS, Array, random_motion, simulate

from jounce.models.halfcar.equations import STATES
from jounce.models.halfcar.signals import TRACTION
from jounce_fmu.importer.host import FmuError
from jounce_fmu.importer.linear import Exchange, linearize


@pytest.mark.parametrize("law", TRACTION)
@pytest.mark.parametrize("odd", [{"mu.lower": 0.0, "mu.upper": 0.0}, {"traction.k_s": 0.0}, {"traction.k_F": 0.0},
                                 {"torque_max": 0.0}])  # fmt: skip
def test_zeros_of_friction_weights_and_torque_have_finite_runs(law: str, odd: dict[str, float]) -> None:
    r = simulate(2.0, traction=law, **odd)
    assert np.isfinite(r.values).all()
    if "mu.upper" in odd and law in ("CONTINUOUS", "SATURATED"):  # RELAXED keeps what its jump leaves
        assert abs(r["rear.traction"]).max() < 1e-3


def test_without_weights_the_relaxed_laws_roll() -> None:
    rolling = simulate(3.0, traction="ROLLING", torque_max=550.0)
    for law in ("RELAXED", "CONTINUOUS"):
        r = simulate(3.0, traction=law, torque_max=550.0, traction__k_s=0.0, traction__k_F=0.0)
        assert r["speed"] == pytest.approx(rolling["speed"], abs=1e-9)


def test_a_wheel_that_the_road_pulls_at_ends_the_run_with_its_name() -> None:
    with pytest.raises(FmuError, match=r"lift_time_max = 0.05: the load of the front wheel is below 0 for longer"):
        simulate(30.0, traction="RELAXED", torque_max=550.0)


@pytest.mark.parametrize(("parameters", "message"), [
    ({"saturation_order": 3}, r"saturation_order = 3: expected 0, 1, 2, 4, 8 or 16"),
    ({"gamma": 3000.0}, r"gamma = 3000: expected at most 2.7 / tick"),
    ({"traction.tau_N": 2e-4}, r"traction.tau_N = 0.0002: expected at least tick / 2.7"),
    ({"mu.lower": 0.9}, r"mu.lower = 0.9: expected at most mu.upper"),
    ({"chassis.mass": -1.0}, r"chassis.mass"),
    ({"front.pivot.z": 3.0}, r"wheel.radius = 0.25: the arms do not reach down to the road"),
    ({"front.spring.stiffness": 0.0}, r"no rest on its springs|do not reach"),
    ({"chassis.com.x": 5.0}, r"chassis.com.x|no rest|do not reach"),
    ({"chassis.mass": float("nan")}, r"chassis.mass"),
])  # fmt: skip
def test_numbers_that_cannot_be_are_refused_by_name(parameters: dict[str, float], message: str) -> None:
    with pytest.raises(Exception, match=message):
        simulate(0.1, **parameters)


@pytest.mark.parametrize("law", TRACTION)
@pytest.mark.parametrize("order", [0, 8])
def test_directional_derivatives_are_those_of_difference_quotients(law: str, order: int) -> None:
    if order and law != "SATURATED":
        pytest.skip("the order belongs to SATURATED")
    rng, parameters = np.random.default_rng(5), {"profile": "EXTERNAL", "traction": law, "saturation_order": order}
    compared = 0
    with Exchange(FACTORY.library, FACTORY.interface, "halfcar") as e:
        e.setup(parameters)
        for _ in range(8):
            q, v = random_motion(rng)
            v[4:6] = v[0] / RADIUS + rng.normal(size=2) * 3
            x = np.array([*q, *v, 1400.0, 2300.0, 1.0, 0.001, 0.001])
            u = np.array([rng.uniform(100, 700), *rng.uniform(10, 100, 2), *rng.uniform(0.3, 0.9, 2)])
            linear = linearize(FACTORY, parameters, x, u)
            exact = np.vstack([np.hstack([linear.A, linear.B]), np.hstack([linear.C, linear.D])])

            def shown(z: Array) -> Array:
                e.set_inputs(z[STATES.size :])
                e.set_states(z[: STATES.size])
                return np.concatenate([e.get_rates(), e.get_outputs()])

            z = np.concatenate([x, u])
            for k in range(len(z)):
                step = 1e-6 * max(1.0, abs(z[k]))
                quotients = []
                for h in (step, step / 2):
                    up, down = z.copy(), z.copy()
                    up[k] += h
                    down[k] -= h
                    quotients.append((shown(up) - shown(down)) / (2 * h))
                scale = np.abs(shown(z)) + 1e4
                if (abs(quotients[0] - quotients[1]) > 1e-6 * abs(quotients[0]) + 1e-15 * scale / step).any():
                    continue  # a kink within the step
                assert exact[:, k] == pytest.approx(quotients[0], rel=1e-6, abs=float((2e-15 * scale / step).max()))
                compared += 1
    assert compared > 120
