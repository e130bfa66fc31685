"""``jounce linearize``: A, B, C and D of a model at an operating point, as .npz with all names.

The vehicle first runs for a while with its inputs held, at a speed that equal drive torques on all wheels hold.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from jounce.axles import WHEELS
from jounce_fmu.importer.host import Factory, FmuError, Value, open_builtin
from jounce_fmu.importer.linear import Array, Linear, linearize, read_states
from jounce_tools.cli.given import add_vehicle, check_output, scalar
from jounce_tools.cli.main import UsageError

#: The speed is held by drive torques [N.m per m/s, per m] in intervals [s]: slow, so that nothing swings with it.
GAIN, MEMORY, INTERVAL = 400.0, 150.0, 0.01
#: Suspension that moves slower than this [rad/s] is taken as at rest, in the middle between rebound and compression.
AT_REST = 1e-3


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="NAME.npz", help="file to write")
    add_vehicle(parser)
    parser.add_argument("--speed", type=float, default=0.0, metavar="V", help="in m/s, held (default: standing)")
    parser.add_argument("--time", type=float, default=10.0, metavar="T", help="in s, to settle (default: %(default)s)")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="parameter, may repeat")
    parser.add_argument("--input", action="append", default=[], metavar="NAME=VALUE", help="input held, may repeat")


def run(arguments: argparse.Namespace) -> int:
    """Settles, linearises, writes the matrices and prints the oscillating modes."""
    path: Path = arguments.output
    check_output(path, ".npz")
    factory = open_builtin(arguments.vehicle)
    parameters = dict(scalar(factory.table, text, "parameter") for text in arguments.set)
    inputs = dict(scalar(factory.table, text, "input") for text in arguments.input)
    if not math.isfinite(arguments.speed):
        raise UsageError(f"--speed {arguments.speed!r} m/s: expected finite numbers")
    if not 0.0 <= arguments.time < math.inf:
        raise UsageError(f"--time {arguments.time!r} s: expected finite times from 0 s")
    x, u = settle(
        factory, parameters, inputs, speed=arguments.speed, time=arguments.time, progress=arguments.progress.at
    )
    found = linearize(factory, parameters, x, u)
    found.save(path)
    sys.stdout.write("\n".join(summary(found, path)) + "\n")
    return 0


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
            drive = [table.by_name(f"wheel_{w}.drive_torque").index for w in WHEELS]
            shown, held = table.by_name("speed").index, u[drive].copy()
        except KeyError as unknown:
            raise UsageError(f"--speed: {table.name} has no speed to hold ({unknown.args[0]})") from unknown
        parameters = {**parameters, "init.speed": speed}
    with factory.instance("settle") as instance:
        try:
            instance.setup(parameters, dict(inputs))
        except FmuError as refused:
            raise UsageError(str(refused)) from refused
        every = max(1, round(INTERVAL / instance.tick))
        steps = round(time / (every * instance.tick))
        for done in range(steps):
            progress(done / steps)
            if drive:
                error = speed - instance.get_outputs()[shown]
                total += error * every * instance.tick
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
        "modes that swing [Hz, damping ratio, states that take part]:",
    ]
    return [*lines, *(f"{m.frequency:8.3f} {m.damping:7.3f}  {', '.join(m.states)}" for m in found.modes)]
