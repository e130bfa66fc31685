"""Any vehicle in the air, without gravity, shocks and loads: what it keeps over time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from jounce.axles import wheels_in
from jounce_fmu.importer.host import Factory
from jounce_fmu.importer.linear import Exchange

Array = NDArray[np.float64]
SHOCKS = ("rebound", "compression", "bump_rebound", "bump_compression", "end_stiffness", "end_damping")
FREE = {"gravity": 0.0, "tire_source": "EXTERNAL", "init.equilibrium": False, "init.z": 50.0}


class Flight:
    """A vehicle whose springs are linear and rest in the design position, integrated by the classical Runge-Kutta
    method."""

    def __init__(self, factory: Factory, axles: tuple[str, ...]) -> None:
        self.table, self.wheels = factory.table, wheels_in(s.name for s in factory.table.outputs)
        self.place = {s.name: k for k, s in enumerate(self.table.states)}
        smooth = {f"{a}.shock.{k}": 0.0 for a in axles for k in SHOCKS}
        smooth |= {f"{a}.spring.{k}": 0.0 for a in axles for k in ("k3", "preload")}
        exchange = replace(factory, kind=Exchange)
        with exchange.instance("design") as instance:
            instance.setup(FREE)
            y = self.named(instance.get_outputs())
        rests = {f"{a}.spring.rest_length": y[f"wheel_{self.wheels[2 * k]}.spring_length"] for k, a in enumerate(axles)}
        self.instance = exchange.instance("flight")
        self.instance.setup(FREE | smooth | rests)

    def named(self, y: Array) -> dict[str, float]:
        return dict(zip((s.name for s in self.table.outputs), y, strict=True))

    def rows(self, *names: str) -> list[int]:
        return [self.place[f"state.{n}"] for n in names]

    def of_wheels(self, name: str) -> list[int]:
        return self.rows(*(f"wheel_{w}.{name}" for w in self.wheels))

    def start(self, rate: float) -> Array:
        """Everything moves: the chassis turns, wheels spin, springs swing with up to ``rate`` [1/s]."""
        r, n, x = np.random.default_rng(8), len(self.wheels), np.zeros(len(self.table.states))
        x[self.rows("pos.z", "rot.e0")] = 50.0, 1.0
        x[self.rows(*(f"ang_vel.{a}" for a in "xyz"))] = 0.5 * r.normal(size=3)
        x[self.rows(*(f"lin_vel.{a}" for a in "xyz"))] = r.normal(size=3)
        x[self.of_wheels("arm_rate")] = rate * r.uniform(-1, 1, n)
        x[self.of_wheels("omega")] = 10 * r.normal(size=n)
        return x

    def rate(self, x: Array) -> Array:
        self.instance.set_states(x)  # type: ignore[attr-defined]
        return np.array(self.instance.get_rates())  # type: ignore[attr-defined]

    def after(self, x: Array, step: float, time: float) -> Array:
        f: Callable[[Array], Array] = self.rate
        h = step
        for _ in range(round(time / step)):
            k1 = f(x)
            k2 = f(x + h / 2 * k1)
            k3 = f(x + h / 2 * k2)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(x + h * k3))
        return x

    def outputs(self, x: Array) -> dict[str, float]:
        self.instance.set_states(x)  # type: ignore[attr-defined]
        return self.named(self.instance.get_outputs())

    def energy(self, x: Array) -> float:
        y = self.outputs(x)
        return y["energy.kinetic"] + y["energy.potential"]

    def momenta(self, x: Array) -> Array:
        """(6,) linear [N.s], angular about the world's origin [N.m.s].

        Derivatives of the kinetic energy, which is quadratic in the velocities, by those of the chassis.
        """
        by, own = np.zeros(6), self.rows(*(f"{v}.{a}" for v in ("lin_vel", "ang_vel") for a in "xyz"))
        for k, row in enumerate(own):
            ends = []
            for way in (1.0, -1.0):
                moved = x.copy()
                moved[row] += way
                ends.append(self.outputs(moved)["energy.kinetic"])
            by[k] = (ends[0] - ends[1]) / 2
        q = x[self.rows(*(f"rot.e{k}" for k in range(4)))]
        w, v = q[0] / np.linalg.norm(q), q[1:] / np.linalg.norm(q)
        s = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
        r = np.eye(3) + 2 * w * s + 2 * s @ s
        linear = r @ by[:3]
        return np.concatenate([linear, r @ by[3:] + np.cross(x[self.rows("pos.x", "pos.y", "pos.z")], linear)])


def check_conservation(flight: Flight, rate: float) -> dict[float, Array]:
    """Asserts that energy and momenta stay over a second, with an error of the fourth order down to rounding.

    Step [s] -> (3,) relative errors of energy, linear and angular momentum. ``rate`` as in `Flight.start`.
    """
    start = flight.start(rate)
    energy, momenta = flight.energy(start), flight.momenta(start)
    error = {}
    for step in (4e-3, 2e-3, 1e-3):
        end = flight.after(start, step, 1.0)
        off = flight.momenta(end) - momenta
        parts = [np.linalg.norm(off[part]) / np.linalg.norm(momenta[part]) for part in (slice(3), slice(3, 6))]
        error[step] = np.array([abs(flight.energy(end) - energy) / energy, *parts])
    assert np.all(error[1e-3] < 1e-8), error
    assert np.all(error[4e-3] > np.minimum(12.0 * error[2e-3], 1e-11)), error
    return error
