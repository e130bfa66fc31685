"""A step that was OK can be read: random hostile parameters, inputs and impacts, through FMI 2 and FMI 3."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from jounce.axles import WHEELS
from jounce.signals import Scalar
from jounce_fmu.build.pack import export_fmu
from jounce_fmu.importer.host import Factory, FmuError, Value, open_builtin, open_fmu
from jounce_fmu.importer.tables import checked_sources

VEHICLES = ("hmmwv", "hmmwv_chrono", "utv")


def _drawn(s: Scalar, r: np.random.Generator) -> float:
    """Mostly near the start; else at a bound, or of any size within the bounds."""
    size = float(10.0 ** r.uniform(-3.0, 6.0) * r.choice([-1.0, 1.0]))
    near = s.start * r.uniform(0.5, 2.0)
    value = [near, near, near, near, near, s.minimum, s.maximum, size][r.integers(8)]
    if not np.isfinite(value):
        value = size
    return float(min(max(value, s.minimum), s.maximum))


def _impact(r: np.random.Generator) -> dict[str, Value]:
    """A start in the air at some speed, over a slope."""
    return {"init.equilibrium": 0.0, "init.z": r.uniform(0.3, 12.0), "init.speed": r.uniform(-30.0, 40.0),
            "terrain.slope": r.uniform(-0.6, 0.6), "terrain.mu": r.uniform(0.0, 2.0)}  # fmt: skip


def attack(factory: Factory, seed: int) -> str:
    """One hostile run; returns how it ended. Every state that a step reached is read, by one tick or by many."""
    r = np.random.default_rng(seed)
    table = factory.table
    reals = [s for s in table.parameters if s.signal.type == "Real" and s.name != "tick"]
    parameters: dict[str, Value] = dict(_impact(r)) if r.uniform() < 0.6 else {"init.speed": 12.0}
    for k in r.choice(len(reals), r.integers(0, 4), replace=False):
        parameters[reals[k].name] = _drawn(reals[k], r)
    parameters["tire_source"] = str(r.choice(["TMEASY", "TMEASY", "EXTERNAL"]))
    parameters["terrain_source"] = str(r.choice(["PLANE", "EXTERNAL"]))
    parameters["integrator"] = str(r.choice(["RK4", "RK4", "ROSENBROCK"]))
    with factory.instance("attacked") as fmu:
        try:
            fmu.setup(parameters)
        except FmuError as error:
            assert ": " in str(error), (seed, error)
            return "refused"
        assert np.isfinite(fmu.get_outputs()).all(), seed
        moment = r.normal(size=3) * 10.0 ** r.uniform(3.0, 6.5)
        inputs = {f"chassis.ext_moment.{a}": float(m) for a, m in zip("xyz", moment, strict=True)}
        if r.uniform() < 0.5:
            inputs |= {f"wheel_{r.choice(WHEELS)}.force.{a}": float(f)
                       for a, f in zip("xyz", r.normal(size=3) * 10.0 ** r.uniform(3.0, 7.0), strict=True)}  # fmt: skip
        for k in r.choice(len(table.inputs), r.integers(0, 4), replace=False):
            inputs[table.inputs[k].name] = _drawn(table.inputs[k], r)
        inputs = {n: min(max(v, table.by_name(n).minimum), table.by_name(n).maximum) for n, v in inputs.items()}
        lasts, ticks = r.integers(1, 30), int(r.choice([1, 1, 7, 50]))
        for k in range(200 // (1 if ticks == 1 else 4)):
            try:
                if k == 0:
                    fmu.set_values(inputs)
                if k == lasts:
                    fmu.set_values({n: 0.0 for n in inputs if "ext_" in n or ".force." in n})
                fmu.step(ticks)
            except FmuError as error:
                assert "step failed: " in str(error) or "expected " in str(error), (seed, error)
                return "failed"
            # outside of the try: what a successful step reached can be read, and so can its snapshot
            assert np.isfinite(fmu.get_outputs()).all(), seed
        state = fmu.get_state()
        fmu.set_state(state)
        fmu.get_outputs()
    return "ran"


@pytest.fixture(scope="module", params=[2, 3], ids=["fmi2", "fmi3"])
def factories(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Factory]:
    if request.param == 2:
        return [open_builtin(name) for name in VEHICLES]
    archive = tmp_path_factory.mktemp("fmi3") / "vehicle.fmu"
    return [open_fmu(export_fmu(archive, *checked_sources(), fmi=3, scalars=True))]


def _ends(factories: list[Factory], seeds: range) -> Counter[str]:
    return Counter(attack(factories[seed % len(factories)], seed) for seed in seeds)


def test_after_a_step_that_was_ok_every_output_can_be_read(factories: list[Factory]) -> None:
    assert set(_ends(factories, range(25))) == {"ran", "failed", "refused"}


@pytest.mark.slow
def test_three_hundred_hostile_runs(factories: list[Factory]) -> None:
    ends = _ends(factories, range(1000, 1300))
    assert min(ends["ran"], ends["failed"]) > 40, ends
