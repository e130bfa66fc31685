"""The operating point of a model, and a summary of its linear model there.

The vehicle first runs for a while with its inputs held, at a speed that equal drive torques on all wheels hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from jounce_fmu.importer.host import Factory, FmuError, Value
from jounce_fmu.importer.linear import Array, Linear, read_states
from jounce_tools.errors import UsageError

#: The speed is held by drive torques [N.m per m/s, per m] in intervals [s]: slow, so that nothing swings with it.
GAIN, MEMORY, INTERVAL = 400.0, 150.0, 0.01
#: Suspension that moves slower than this [rad/s] is taken as at rest, in the middle between rebound and compression.
AT_REST = 1e-3


def settle(
    factory: Factory, parameters: Mapping[str, Value], inputs: Mapping[str, float], *, speed: float, time: float,
    progress: Callable[[float], None] = lambda _share: None,
) -> tuple[Array, Array]:  # fmt: skip
    """States and inputs after that time [s] at that speed [m/s]; the drive torques hold it, other inputs are given.

    A speed of 0 asks nothing of the model: it may be one without a vehicle. ``progress`` hears the share that is done.
    Raises UsageError.
    """
    table = factory.table
    u = np.array([inputs.get(s.name, s.start) for s in table.inputs])
    drive, shown, held, total = [], 0, u[:0], 0.0
    if speed != 0.0:
        try:
            # those of the axles that are driven
            drive = [s.index for s in table.inputs if s.name.endswith(".drive_torque") and s.maximum > 0.0]
            if not drive:
                raise KeyError("no wheel takes drive torque")
            shown, held = table.by_name("speed").index, u[drive].copy()
        except KeyError as unknown:
            raise UsageError(f"--speed: {table.name} has no speed to hold ({unknown.args[0]})") from unknown
        parameters = {**parameters, "init.speed": speed}
    with factory.instance("settle") as instance:
        try:
            instance.setup(parameters, dict(inputs))
        except FmuError as refused:
            raise UsageError(str(refused)) from refused
        every = max(1, round(INTERVAL / instance.tick_length))
        steps = round(time / (every * instance.tick_length))
        for done in range(steps):
            progress(done / steps)
            if drive:
                error = speed - instance.get_outputs()[shown]
                total += error * every * instance.tick_length
                u[drive] = held + GAIN * error + MEMORY * total
            instance.set_inputs(u)
            instance.step(every)
        x = read_states(instance)
    slow = [i for i, s in enumerate(table.states) if s.name.endswith("arm_rate") and abs(x[i]) < AT_REST]
    x[slow] = 0.0
    return x, u


def summary(found: Linear, path: Path) -> list[str]:
    """What was written, how far from steady the point is, and the modes."""
    of_the_chassis = [i for i, s in enumerate(found.states) if s.startswith(("state.lin_vel", "state.ang_vel"))]
    acceleration = of_the_chassis or range(len(found.states))
    worst = max(acceleration, key=lambda i: abs(found.rate[i]))
    lines = [
        f"wrote {path}: A {found.A.shape}, B {found.B.shape}, C {found.C.shape}, D {found.D.shape}",
        f"largest acceleration left: der({found.states[worst]}) = {found.rate[worst]:.2g}",
        "oscillating modes [frequency in Hz, damping ratio, main states]:",
    ]
    return [*lines, *(f"{m.frequency:8.3f} {m.damping:7.3f}  {', '.join(m.states)}" for m in found.modes)]
