"""Frequency response of the nonlinear vehicle, measured with a small sinusoid on one input."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jounce_fmu.importer.host import Factory, Fmu2Instance

Array = NDArray[np.float64]
TICK = 0.001


@dataclass(frozen=True)
class Probe:
    """One motion of the chassis: an input that stirs it, how much [unit of the input], and an output that shows it."""

    name: str
    given: str
    amplitude: float
    shown: str


PROBES = (
    Probe("bounce", "chassis.ext_force.z", 100.0, "ref_frame.pos.z"),
    Probe("pitch", "chassis.ext_moment.y", 100.0, "ref_frame.pitch"),
    Probe("roll", "chassis.ext_moment.x", 100.0, "ref_frame.roll"),
    Probe("yaw", "steering_wheel_angle", 0.01, "ref_frame.ang_vel.z"),
)


def even_shocks(factory: Factory) -> dict[str, float]:
    """Parameters that give each shock one slope, that of compression: nothing else bends at rest."""
    start = {s.name: s.start for s in factory.table.parameters}
    rebound = [n for n in start if n.endswith(("shock.rebound", "shock.bump_rebound"))]
    return {n: start[n.replace("rebound", "compression")] for n in rebound}


def held(frequency: float) -> complex:
    """What holding an input over each tick does to a sinusoid: its gain and its delay of half a tick."""
    return complex(np.sinc(frequency * TICK) * np.exp(-1j * np.pi * frequency * TICK))


def measured(instance: Fmu2Instance, start: bytes, u: Array, probe: Probe, frequency: float) -> complex:
    """Output over input at a frequency [Hz] whose period is a whole number of ticks, from the state `start` on.

    The output is taken over whole periods after the transient; a drift over one period is taken out.
    """
    table = instance.table
    given, shown = table.by_name(probe.given).index, table.by_name(probe.shown).index
    period = round(1.0 / (frequency * TICK))
    turn = np.exp(2j * np.pi * np.arange(period) / period)
    settle, count = max(2, round(4.0 * frequency)), 2
    instance.set_state(start)
    now, rows = u.copy(), []
    for k in range((settle + count) * period + 1):
        if k >= settle * period:
            rows.append(instance.get_outputs()[shown])
        now[given] = u[given] + probe.amplitude * turn[k % period].real
        instance.set_inputs(now)
        instance.step()
    y = np.array(rows)
    drift = np.linspace(0.0, y[-1] - y[0], len(y))
    y = (y - drift)[:-1].reshape(count, period).mean(axis=0)
    return complex(2.0 * (y * turn.conj()).mean() / probe.amplitude / held(frequency))


def frequencies(factory: Factory, low: float, high: float, count: int) -> list[float]:
    """Frequencies [Hz] evenly spaced on a logarithmic scale, moved to periods of whole ticks."""
    assert factory.tick_length == TICK
    return [1.0 / (TICK * round(1.0 / (TICK * f))) for f in np.geomspace(low, high, count)]
