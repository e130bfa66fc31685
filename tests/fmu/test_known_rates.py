"""Outputs tell the rates at which the next step begins, so reading them saves an evaluation and changes no bit."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from jounce_fmu.importer.host import Factory, FmuInstance, open_builtin

BY_TORQUE, ROSENBROCK = 2.0, 2.0
CASES = [
    ("hmmwv", {}),
    ("hmmwv", {"integrator": ROSENBROCK}),
    ("hmmwv_pedals", {}),
    ("hmmwv_pedals", {"steering.mode": BY_TORQUE}),
    ("class3", {}),
]
TICKS = 400


@cache
def _factory(vehicle: str) -> Factory:
    return open_builtin(vehicle)


def _drive(fmu: FmuInstance, names: set[str], tick: int) -> None:
    """Inputs that stay, jump, and steer at a rate; some are set again to what they are."""
    asked = {
        "steering_wheel_angle": 0.3 * np.sin(0.02 * (tick // 20)) if tick < 200 else 0.5 + 0.001 * 0.4 * (tick - 200),
        "steering_wheel_rate": 0.4 if 200 <= tick < 300 else 0.0,
        "throttle": 0.2 + 0.5 * (tick // 50 % 2),
        "wheel_RL.drive_torque": 300.0 * (tick // 30 % 3),
        "wheel_FR.brake_torque": 900.0 * (tick // 70 % 2),
        "front.steer": 0.05 * (tick // 100),
    }
    fmu.set_values({name: value for name, value in asked.items() if name in names})


def _run(vehicle: str, values: dict[str, float], reads: int) -> tuple[bytes, np.ndarray]:
    """Snapshot and outputs at the end of a run whose outputs are read every `reads` ticks, or not at all for 0."""
    factory = _factory(vehicle)
    names = {s.name for s in factory.table.inputs}
    with factory.instance("a") as fmu:
        fmu.setup(values)
        for tick in range(TICKS):
            _drive(fmu, names, tick)
            if reads and tick % reads == 0:
                fmu.get_outputs()
            fmu.step(1)
        return fmu.get_state(), fmu.get_outputs()


@pytest.mark.parametrize(("vehicle", "more"), CASES)
def test_reading_outputs_changes_no_bit_of_what_follows(vehicle: str, more: dict[str, float]) -> None:
    values = {"init.speed": 6.0, **more}
    saved, outputs = _run(vehicle, values, 0)
    for reads in (1, 3):
        again, read = _run(vehicle, values, reads)
        assert again == saved
        assert np.array_equal(read, outputs)
