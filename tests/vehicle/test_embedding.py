"""Constraint embedding of any mechanism against closed forms, finite differences and other coordinates."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from ce import Ce, flat
from numpy.typing import NDArray
from suspensions import five_link, hmmwv

from jounce.axles import AXLES
from jounce.data import load_vehicle
from jounce.dynamics.embedding import Embedding
from jounce.dynamics.mechanism import Mechanism
from jounce.suspension.double_wishbone import OUTPUTS
from jounce.suspension.embedded import close_function, corner_function

Array = NDArray[np.float64]
HMMWV = Ce(load_vehicle("hmmwv"))


class Corner:
    """The functions of a mechanism with one wheel."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.embedding = Embedding(mechanism)
        self.function, self.close = corner_function(self.embedding), close_function(self.embedding)
        self.numbers = {side: ca.evalf(mechanism.numbers(side)) for side in (1, -1)}

    def closed(self, theta: float, places: list[Array], side: int) -> Array:
        """u at theta, from the design position along places of the prescribed point on the way."""
        u = np.zeros(len(self.embedding.dependent))
        for k, inner in enumerate(places, 1):
            for _ in range(4):
                u = self.close(u, [theta * k / len(places), 0, 0], inner, self.numbers[side])
        return flat(u)

    def at(self, state: list[float], places: list[Array], omega: Array, side: int) -> dict[str, Array]:
        u = self.closed(state[0], places, side)
        return Ce.named(flat(self.function(state, places[-1], omega, self.numbers[side], u)))


CORNERS = {(axle, ten): Corner(hmmwv(HMMWV.vehicle, axle, ten=ten)) for axle in AXLES for ten in (0, 1)}


@pytest.mark.parametrize("ten", [0, 1])
@pytest.mark.parametrize("k", range(4))
def test_the_hmmwvs_corners_as_graphs_equal_the_closed_form(k: int, ten: int) -> None:
    # design/general-ce: 7.4e-15 of each vector's size, steering terms 5.5e-13 (small against their parts)
    corner, side = CORNERS["front" if k < 2 else "rear", ten], 1 if k % 2 == 0 else -1
    sizes: dict[str, float] = {}
    errors: dict[str, float] = {}
    for seed in range(20):
        r = np.random.default_rng(seed)
        state = [r.uniform(-0.3, 0.3), 2 * r.normal(), 20 * r.normal()]
        arm, omega = (r.uniform(-0.5, 0.5), r.normal(), 5 * r.normal()), r.normal(size=3)
        way = [HMMWV.inner_end(k, (arm[0] * t, 0.0, 0.0)) for t in np.linspace(0.1, 0.9, 9)]
        ours = corner.at(state, [*way, HMMWV.inner_end(k, arm)], omega, side)
        judged = HMMWV.at(k, state[0], rate=state[1], spin=state[2], arm=arm, omega=omega)
        for name in OUTPUTS.sizes:
            if name.startswith("margin") or name == "closure":
                assert ours["closure"][0] < 1e-13
                continue
            errors[name] = max(errors.get(name, 0.0), float(np.abs(ours[name] - judged[name]).max()))
            sizes[name] = max(sizes.get(name, 0.0), float(np.abs(judged[name]).max()))
    for name, error in errors.items():
        assert error <= 1e-12 * max(sizes[name], 1e-3), name


def test_a_massless_arm_equals_the_two_rods_that_it_replaces() -> None:
    rods, arm = Corner(five_link()), Corner(five_link(arm=True))
    for seed in range(5):
        r = np.random.default_rng(seed)
        state, end = [r.uniform(-0.08, 0.08), r.normal(), 20 * r.normal()], np.array([-0.257, 0.320, -0.116])
        way = [np.concatenate([end + [0, 0.02 * t, 0], [0, 1, 0], [0, 0.3, 0.0], [0, 2.0, 0]])
               for t in np.linspace(0.1, 1, 10)]  # fmt: skip
        omega = r.normal(size=3)
        a, b = (c.at(state, way, omega, 1) for c in (rods, arm))
        for name in OUTPUTS.sizes:
            if name != "closure" and not name.startswith("margin"):
                assert np.abs(a[name] - b[name]).max() <= 1e-12 * max(1.0, np.abs(a[name]).max()), name
