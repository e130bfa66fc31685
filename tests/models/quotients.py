"""Linear models against difference quotients of the model that they are of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jounce_fmu.importer.host import Factory
from jounce_fmu.importer.linear import Exchange, linearize, read_states


def check_linear_model(factory: Factory, steering: float, ticks: int) -> None:
    """Asserts that A and C, in a turn from 12 m/s on, are quotients of four points to 1e-6 of their rows."""
    with factory.instance("at") as instance:
        instance.setup({"init.speed": 12.0, "tick": 0.001})
        u = np.array([s.start for s in factory.table.inputs])
        u[factory.table.by_name("steering_wheel_angle").index] = steering
        instance.set_inputs(u)
        instance.step(ticks)
        x = read_states(instance)
    linear = linearize(factory, {"init.speed": 12.0}, x, u)
    exact = np.vstack([linear.A, linear.C])
    scale, compared = np.abs(exact).max(axis=1) + 1.0, np.zeros(2)
    with replace(factory, kind=Exchange).instance("fd") as instance:
        instance.setup({"init.speed": 12.0}, dict(zip((s.name for s in factory.table.inputs), u, strict=True)))

        def quotient(k: int, h: float) -> np.ndarray:
            ends = []
            for sign in (1, -1):
                moved = x.copy()
                moved[k] += sign * h
                instance.set_states(moved)
                ends.append(np.concatenate([instance.get_rates(), instance.get_outputs()])[: len(exact)])
            return (ends[0] - ends[1]) / (2 * h)  # type: ignore[no-any-return]

        for k, state in enumerate(factory.table.states):
            h = 1e-5 * max(1e-2, abs(x[k]))
            whole, half = quotient(k, h), quotient(k, h / 2)
            wrong = np.abs((4 * half - whole) / 3 - exact[:, k]) / scale  # Richardson
            smooth = np.abs(whole - half) <= 1e-6 * scale  # no kink of a spring's table within the steps
            for kind, rows in enumerate((slice(len(x)), slice(len(x), None))):
                if smooth[rows].all():
                    compared[kind] += 1
                    assert wrong[rows].max() <= 1e-6, (state.name, kind, int(wrong[rows].argmax()))
    assert (compared >= len(x) - 5).all()
