"""Runs of the half car that the study compares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce.models.halfcar.signals import AXLES, TRACTION
from jounce_fmu.importer.host import FmuError, open_builtin
from jounce_fmu.importer.inprocess import Run, simulate
from jounce_fmu.importer.linear import read_states

Array = NDArray[np.float64]

#: Torques [N.m] and stabilisations [1/s] of the paper's figures.
TORQUES, GAMMAS = (150.0, 550.0, 700.0), (20.0, 100.0, 200.0, 2000.0)
#: Torque of the study of gamma [N.m].
GAMMA_TORQUE = 550.0
END, INTERVAL = 30.0, 0.01
#: The last moment before grip comes back, where the laws of the paper lose the load of a wheel [s].
BEFORE_GRIP = 16.4
_SHOWN = ("speed", *(f"{a}.{n}" for a in AXLES for n in (
    "omega", "slip", "normal_force", "traction", "traction.ideal", "traction.non_ideal", "limit", "weight", "torque",
    "mu")))  # fmt: skip


@dataclass(frozen=True)
class Case:
    """One run with its law, as far as it goes."""

    law: str
    torque: float
    gamma: float
    run: Run
    ended: str
    """Why it ended before `END`; empty where it did not."""

    @property
    def title(self) -> str:
        """Law and torque, for people."""
        return f"{self.law}, {self.torque:g} N.m"

    def at(self, name: str, time: float) -> float:
        """An output at a time [s]."""
        return float(np.interp(time, self.run.time, self.run[name]))

    def most(self, name: str, axle: str) -> float:
        """The largest size of a force over mu N, from 0.05 s until just before grip comes back."""
        during = (self.run.time > 0.05) & (self.run.time <= BEFORE_GRIP)
        share = np.abs(self.run[f"{axle}.{name}"][during]) / np.maximum(self.run[f"{axle}.limit"][during], 1.0)
        return float(share.max())


@cache
def case(law: str, torque: float, gamma: float) -> Case:
    """One run; one that loses the load of a wheel goes on with the wheel glued to the road."""
    values: dict[str, Any] = {"traction": law, "torque_max": torque, "gamma": gamma}
    ended = ""
    try:
        run = simulate("halfcar", {}, END, _SHOWN, output_interval=INTERVAL, **values)
    except FmuError as error:
        if "load of the" not in str(error):
            raise
        ended = str(error).partition(": ")[2]
        run = simulate("halfcar", {}, END, _SHOWN, output_interval=INTERVAL, **values | {"lift_time_max": 1e9})
    return Case(law, torque, gamma, run, ended)


def all_cases(torques: Sequence[float], gammas: Sequence[float], progress: Callable[[float], None]) -> list[Case]:
    """Every law with every torque, then the laws with every gamma at `GAMMA_TORQUE`."""
    wanted = [(law, torque, 20.0) for torque in torques for law in TRACTION]
    wanted += [(law, GAMMA_TORQUE, gamma) for gamma in gammas for law in TRACTION[:3]]
    for k, key in enumerate(wanted):
        case(*key)
        progress((k + 1) / len(wanted))
    return [case(*key) for key in dict.fromkeys(wanted)]


@cache
def state_at(time: float, law: str, torque: float) -> Array:
    """The states of a run at a time [s]."""
    with open_builtin("halfcar").instance("study") as instance:
        instance.setup({"traction": law, "torque_max": torque})
        instance.step(round(time / instance.tick_length))
        return read_states(instance)
