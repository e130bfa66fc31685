"""A tiny deterministic model: x' = u with explicit Euler per tick, so that tests can compute it by hand.

Outputs: position.x/.y (sum of the inputs times tick), gain x force (feedthrough), tick_count.
Fails when ``x`` passes ``limit``; the file named by ``REQUESTS`` is not needed: all is in memory.
"""

from __future__ import annotations

import asyncio
import struct
import time
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from jounce.signals import Signal, SignalTable
from jounce_service.hosting.models import InProcess, Registry
from jounce_service.transport.errors import BadParameters, SnapshotCorrupt, SolverFailed

TICK = 0.001

TABLE = SignalTable(
    "integrator",
    (
        Signal("velocity", "input", "m/s", "velocity", (".x", ".y"), minimum=-10.0, maximum=10.0),
        Signal("force", "input", "N", "a force", start=(0.5,), minimum=0.0, maximum=100.0),
        Signal("open", "input", "1", "without bounds"),
        Signal("position", "output", "m", "position", (".x", ".y")),
        Signal("reaction", "output", "N", "gain x force"),
        Signal("mixed", "output", "1", "a chaotic mix of everything, so that any difference shows"),
        Signal("tick_count", "output", "1", "ticks", type="Integer"),
        Signal("gain", "parameter", "1", "gain", start=(2.0,), minimum=0.0, maximum=5.0),
        Signal("limit", "parameter", "m", "fails past this", start=(1e9,)),
        Signal("sleep", "parameter", "s", "wall-clock time per step call", minimum=0.0),
        Signal("mode", "parameter", "1", "a mode", start=(1.0,), minimum=1.0, maximum=2.0, type="Enumeration",
               items=("SLOW", "FAST")),
        Signal("valid", "parameter", "1", "false: refuses to start", start=(1.0,), minimum=0.0, maximum=1.0,
               type="Boolean"),
    ),
)


class Integrator(InProcess):
    """One instance."""

    tick_length = TICK

    def __init__(self, gain: float, limit: float, sleep: float) -> None:
        self.gain, self.limit, self.sleep = gain, limit, sleep
        self.u = np.array([s.start for s in TABLE.inputs])
        self.x = np.zeros(2)
        self.mixed = 0.5
        self.ticks = 0
        self.applied: list[tuple[int, tuple[float, ...]]] = []
        self.freed = 0

    def set_inputs(self, values: NDArray[np.float64]) -> None:
        self.u = values.copy()
        self.applied.append((self.ticks, tuple(values.tolist())))

    def step(self, n_ticks: int) -> None:
        if self.sleep:
            time.sleep(self.sleep)
        for done in range(n_ticks):
            self.x = self.x + self.u[:2] * TICK
            self.mixed = (3.9 * self.mixed * (1.0 - self.mixed) + 1e-3 * float(np.sin(self.u.sum()))) % 1.0
            self.ticks += 1
            if self.x[0] > self.limit:
                raise SolverFailed(
                    f"position.x passed {self.limit}", field="position.x", requested=self.x[0], done=done
                )

    def get_outputs(self) -> NDArray[np.float64]:
        return np.array([*self.x, self.gain * self.u[2], self.mixed, self.ticks])

    def get_state(self) -> bytes:
        own = (self.gain, self.limit, self.sleep, self.mixed)
        return struct.pack("<10dq", *own, *self.x, *self.u, self.ticks)

    def set_state(self, state: bytes) -> None:
        if len(state) != struct.calcsize("<10dq"):
            raise SnapshotCorrupt("not a state of an integrator", field="state", requested=len(state))
        *values, self.ticks = struct.unpack("<10dq", state)
        self.gain, self.limit, self.sleep, self.mixed = values[:4]
        self.x, self.u = np.array(values[4:6]), np.array(values[6:])

    def free(self) -> None:
        self.freed += 1


class Elsewhere(Integrator):
    """An integrator whose moves take time, as one in a worker."""

    keeps_state = True
    table = TABLE

    async def move(self, n_ticks: int) -> None:
        await asyncio.sleep(0.03 + 0.07 * (self.ticks % 3))
        self.step(n_ticks)


class IntegratorModel:
    """The model; ``made`` keeps the instances for the tests to look at."""

    table = TABLE
    tick_length = TICK
    build = "integrator 1"

    def __init__(self) -> None:
        self.made: dict[str, Integrator] = {}

    def create(self, name: str, parameters: Mapping[str, float], start_inputs: Mapping[str, float]) -> Integrator:
        values = {s.name: s.start for s in TABLE.parameters} | dict(parameters)
        if not values["valid"]:
            raise BadParameters("valid = 0: the model refuses", field="valid", requested=0, allowed="true")
        instance = Integrator(values["gain"], values["limit"], values["sleep"])
        for n, v in start_inputs.items():
            instance.u[TABLE.by_name(n).index] = v
        self.made[name] = instance
        return instance

    def revive(self, name: str, state: bytes) -> Integrator:
        instance = Integrator(2.0, 1e9, 0.0)
        instance.set_state(state)
        self.made[name] = instance
        return instance


def registry(model: IntegratorModel) -> Registry:
    return Registry({"integrator": lambda: model})
