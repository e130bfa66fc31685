"""A linearised vehicle moves as the nonlinear one does for small inputs: difference quotients and a frequency sweep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from sweep import PROBES, Array, Probe, even_shocks, frequencies, measured

from jounce_fmu.importer.host import Factory, Fmu2Instance, FmuError, open_builtin
from jounce_fmu.importer.linear import Exchange, Linear, Mode, linearize
from jounce_tools.linearize import settle

FACTORY = open_builtin()
SPEED = 20.0


@dataclass
class Moving:
    parameters: dict[str, float]
    linear: Linear
    steps: Fmu2Instance
    start: bytes
    u: Array


@pytest.fixture(scope="module", params=["shocks as they are", "shocks of one slope"])
def moving(request: pytest.FixtureRequest) -> Iterator[Moving]:
    own = even_shocks(FACTORY) if request.param == "shocks of one slope" else {}
    x, u = settle(FACTORY, own, {}, speed=SPEED, time=10.0)
    with FACTORY.instance("steps") as steps:
        # an instance whose states can be stepped: it reaches the same motion by itself
        steps.setup({**own, "init.speed": SPEED}, {})
        steps.set_inputs(u)
        steps.step(10000)
        yield Moving(own, linearize(FACTORY, own, x, u), steps, steps.get_state(), u)


def test_the_operating_point_is_steady_and_at_its_speed(moving: Moving) -> None:
    at = moving.linear
    assert at.y[at.outputs.index("speed")] == pytest.approx(SPEED, abs=0.05)
    first = at.states.index("state.ang_vel.x")
    assert np.abs(at.rate[first : first + 6]).max() < 0.01


def test_the_matrices_are_difference_quotients(moving: Moving) -> None:
    n = len(moving.linear.x)
    x = moving.linear.x + [0.05 * s.name.endswith("arm_rate") for s in FACTORY.table.states]  # off the shocks' kink
    at = linearize(FACTORY, moving.parameters, x, moving.u)
    with Exchange(FACTORY.library, FACTORY.interface, "quotients") as model:
        model.setup(moving.parameters)

        def f(z: Array) -> Array:
            model.set_inputs(z[n:])
            model.set_states(z[:n])
            return np.concatenate([model.get_rates(), model.get_outputs()[: len(at.outputs)]])

        z = np.concatenate([at.x, at.u])
        rng = np.random.default_rng(3)
        nominals = [*(s.nominal for s in FACTORY.table.states), *(s.signal.nominal for s in FACTORY.table.inputs)]
        free = [i for i, name in enumerate((*at.states, *at.inputs)) if "brake" not in name and "terrain" not in name]
        whole = np.block([[at.A, at.B], [at.C, at.D]])
        # the bristles of a rolling contact are at their limits, a kink; at this speed they move nothing else
        limits = ("bristle", "rolled", "turned", "travelled", "sliding")
        smooth = [i for i, name in enumerate((*at.states, *at.outputs)) if not any(part in name for part in limits)]
        for _ in range(20):
            step = np.zeros(len(z))
            step[free] = 3e-6 * np.array(nominals)[free] * rng.normal(size=len(free))
            change = (f(z + step) - f(z - step))[smooth]
            found = (whole @ (2.0 * step))[smooth]
            assert found == pytest.approx(change, rel=1e-4, abs=1e-4 * np.abs(change).max())


@pytest.mark.slow(but="yaw]")
@pytest.mark.parametrize("probe", PROBES, ids=lambda p: p.name)
def test_it_answers_a_sinusoid_as_the_nonlinear_model_does(moving: Moving, probe: Probe) -> None:
    """Through and beyond the motion's own frequency, by magnitude and phase.

    Shocks of two slopes, which meet at rest, keep the vehicle from being linear however small the sinusoid.
    """
    allowed = 0.003 if moving.parameters else 0.012 if probe.name == "yaw" else 0.06
    swing = np.geomspace(0.3, 8.0, 200)
    largest = max(abs(moving.linear.response(f, probe.given, probe.shown)) for f in swing)
    for frequency in frequencies(FACTORY, 0.5, 6.0, 7):
        answer = measured(moving.steps, moving.start, moving.u, probe, frequency)
        expected = moving.linear.response(frequency, probe.given, probe.shown)
        assert abs(answer - expected) < allowed * max(abs(expected), 0.1 * largest), frequency


def mode_of(modes: tuple[Mode, ...], state: str) -> Mode:
    return next(m for m in modes if state in m.states[:2])


def test_the_modes_are_those_of_a_road_vehicle(moving: Moving) -> None:
    """Bounce and roll below 3 Hz, wheel hop near 9 Hz, a yaw mode that is well damped: and none grows."""
    modes = moving.linear.modes
    assert 1.5 < mode_of(modes, "state.lin_vel.z").frequency < 2.5
    assert 2.0 < mode_of(modes, "state.ang_vel.x").frequency < 3.5
    assert mode_of(modes, "state.ang_vel.z").damping > 0.6
    assert 8.0 < modes[-1].frequency < 12.0
    assert all(m.damping > 0.0 for m in modes)


def test_a_model_without_derivatives_is_refused_by_name(turntable_factory: Factory) -> None:
    with pytest.raises(FmuError, match="turntable: a model without"):
        linearize(turntable_factory, {}, np.zeros(4), np.zeros(1))
