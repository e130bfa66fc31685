"""Forward tangents are CasADi's where those are defined, and finite where the vehicle is at rest."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from ce import Ce, flat
from numpy.typing import NDArray

from jounce.codegen.forward import forward
from jounce.contact import wheel
from jounce.data import load_vehicle
from jounce.models.double_wishbone.emit import CONSTANT, Code, forward_functions

CE = Ce(load_vehicle("hmmwv"))
CODE = Code(CE.vehicle)
FUNCTIONS = {f.name(): f for f in (*CODE.lanes, *CODE.scalars) if f.name() in CONSTANT}


def a_point(name: str, rng: np.random.Generator) -> list[NDArray[np.float64]]:
    """Inputs of a function at which it is smooth: any numbers but for a linkage, which must close."""
    if name == "corner":
        head = [rng.uniform(-0.3, 0.3), rng.normal(), 10 * rng.normal()]
        arm = tuple(rng.uniform(-0.4, 0.4, 3))
        return [np.array(head), CE.inner_end(0, arm), rng.normal(size=3), flat(CODE.corner[1](CE.numbers[0]))]
    if name == "steering":
        return [rng.uniform(-0.4, 0.4, 3), CE.linkage]
    values = [rng.uniform(0.1, 0.5, FUNCTIONS[name].size1_in(k)) for k in range(FUNCTIONS[name].n_in())]
    if name == "wheel":  # on the ground: in the air it has no direction of friction, where CasADi has no tangent
        hub, chassis, _, given, numbers = values
        hub[3:6], chassis[3:7], given[wheel.INPUTS.first["normal"] :][:3] = (
            (0.02, 1.0, 0.05),
            (1.0, 0.01, 0.02, 0.1),
            (0, 0, 1),
        )
        given[wheel.INPUTS.first["external"]] = given[wheel.INPUTS.first["height_only"]] = 0.0
        given[wheel.INPUTS.first["ground"] + 2] = chassis[2] + hub[2] - 0.45
        numbers[:] = flat(CODE.prepared_wheel[1](np.array([CE.vehicle[n] for n in CODE.wheel.numbers.sizes])))
    return values


def listed(results: ca.DM | tuple[ca.DM, ...]) -> list[NDArray[np.float64]]:
    return [flat(r) for r in (results if isinstance(results, tuple) else (results,))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_tangents_of_the_vehicles_functions_are_casadis(name: str) -> None:
    function, constant = FUNCTIONS[name], CONSTANT[name]
    (moved,) = forward_functions([function])
    rng = np.random.default_rng(1)
    for _ in range(5):
        values = a_point(name, rng)
        seeds = [np.zeros(len(v)) if k in constant else rng.normal(size=len(v)) for k, v in enumerate(values)]
        results = listed(function(*values))
        want = [*results, *listed(function.forward(1)(*values, *results, *seeds))]
        got = listed(moved(*values, *(s for k, s in enumerate(seeds) if k not in constant)))
        for g, w in zip(got, want, strict=True):
            assert np.isfinite(w).all()
            assert g == pytest.approx(w, rel=1e-8, abs=1e-10 * np.abs(w).max())


X = ca.SX.sym("x", 2)


@pytest.mark.parametrize(("expression", "at", "seed", "tangent"), [
    (ca.fabs(X[0]), (0.0, 0.0), (1.0, 0.0), 0.0),
    (ca.fabs(X[0]), (-2.0, 0.0), (1.0, 0.0), -1.0),
    (ca.sqrt(X[0] ** 2 + X[1] ** 2), (0.0, 0.0), (1.0, 2.0), 0.0),
    (ca.sqrt(X[0] ** 2 + X[1] ** 2), (3.0, 4.0), (1.0, 0.0), 0.6),
    (ca.fmax(2.0 * X[0], X[1]), (1.0, 2.0), (1.0, 0.0), 1.0),
    (3.0 * ca.fmax(X[0], 0.0) + ca.fmin(X[0], 0.0), (0.0, 0.0), (1.0, 0.0), 2.0),
    (ca.if_else(X[0] > 1.0, 1.0 / X[1], X[0]), (0.5, 0.0), (3.0, 1.0), 3.0),
    (ca.atan2(X[0], X[1]), (0.0, 0.0), (1.0, 1.0), 0.0),
    (ca.atan2(X[0], X[1]), (1.0, 1.0), (1.0, 0.0), 0.5),
    (ca.asin(X[0]), (0.6, 0.0), (1.0, 0.0), 1.25),
    (ca.floor(X[0]) * X[1], (2.5, 3.0), (1.0, 1.0), 2.0),
])  # fmt: skip
def test_a_kink_or_a_branch_not_taken_gives_no_nan(
    expression: ca.SX, at: tuple[float, float], seed: tuple[float, float], tangent: float
) -> None:
    f = forward(ca.Function("f", [X], [expression]))
    got = float(f(at, seed)[1])
    assert got == pytest.approx(tangent, abs=1e-15)


def test_an_operation_without_a_rule_is_refused_by_name() -> None:
    with pytest.raises(NotImplementedError, match="odd"):
        forward(ca.Function("odd", [X], [ca.erf(X[0])]))
