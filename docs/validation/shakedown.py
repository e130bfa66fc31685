"""How much of its friction a parked vehicle needs while it is shaken, for docs/validation.md.

Statical theorem of shakedown: a contact stops to slide after some cycles if constant forces, in balance with each
other, can be added to those of the contact that only bends, so that no wheel leaves its friction at any time. `share`
is the least part of the friction for which such forces exist. Where it is above 1 the vehicle walks with any law of
friction whose tread bends like this one, as a cupboard is walked by rocking it.

Source: E. Melan 1938, Ingenieur-Archiv 9, 116; A. Klarbring, M. Ciavarella, J. R. Barber 2007, "Shakedown in elastic
contact problems with Coulomb friction", Int. J. Solids Struct. 44, 8355 (where loads hardly depend on the sliding).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property

import casadi as ca
import numpy as np
from measure import BRAKES, DRIVES, Array, Record, Shake, Value, drift, measured, sine

from jounce.data import load_vehicle

STICKING = 2.0  # friction coefficient at which every wheel only bends
SECONDS = 8.0  # until the motion repeats itself
SAMPLES = 150  # of the motion, that are compared with the friction


def _balance() -> Array:
    """(3, 8): sum of x, sum of y, moment about z, of the wheels' tangential forces x, y in chassis axes."""
    data = load_vehicle("hmmwv")
    rows = []
    for k, axle in enumerate(("front", "front", "rear", "rear")):
        x = data[f"{axle}.origin.x"] + data[f"{axle}.SPINDLE.x"]
        y = (1 - 2 * (k % 2)) * (data[f"{axle}.origin.y"] + data[f"{axle}.SPINDLE.y"])
        rows += [(1.0, 0.0, -y), (0.0, 1.0, x)]
    return np.array(rows).T


def share(record: Record, mu: float, period: float) -> float:
    """The least part of friction mu that holds, from a record of the vehicle that sticks."""
    n = max(round(period / (record.time[1] - record.time[0])), 100)  # at least a second
    rows = slice(-n, None, max(1, n // SAMPLES))
    x, y, load = (record.wheels(f"tire_force.{axis}")[rows] for axis in "xyz")
    steer = record.wheels("steer")[rows]
    reach = mu * np.maximum(load, 1.0)
    along, across = np.cos(steer) * x - np.sin(steer) * y, np.sin(steer) * x + np.cos(steer) * y
    added, square = ca.SX.sym("r", 8), ca.SX.sym("s")
    used = [((along[:, k] + added[2 * k]) ** 2 + (across[:, k] + added[2 * k + 1]) ** 2) / reach[:, k] ** 2 - square
            for k in range(4)]  # fmt: skip
    limits = ca.vertcat(_balance() @ added, *used)
    solver = ca.nlpsol("share", "ipopt", {"x": ca.vertcat(added, square), "f": square, "g": limits},
                       {"print_time": 0, "ipopt.print_level": 0, "ipopt.sb": "yes"})  # fmt: skip
    low = np.concatenate([np.zeros(3), np.full(4 * len(x), -np.inf)])
    found = solver(x0=[0.0] * 8 + [9.0], lbg=low, ubg=0.0)
    if not solver.stats()["success"]:
        raise ArithmeticError("the search for the constant forces did not end")
    return math.sqrt(max(float(found["f"]), 0.0))


@dataclass(frozen=True)
class Case:
    """A parked vehicle and what shakes it."""

    where: dict[str, Value]
    held: dict[str, Value]
    shake: Shake

    def share(self) -> float:
        """See `share`."""
        sticking = measured({**self.where, "terrain.mu": STICKING}, self.held, self.shake.at, SECONDS)
        return share(sticking, float(self.where["terrain.mu"]), 1.0 / self.shake.frequency)

    def drift(self, since: float = 2.0) -> float:
        """Of a minute, from the time ``since`` [s] on [m]."""
        return drift(self._minute, since)

    @cached_property
    def _minute(self) -> Record:
        return measured(self.where, self.held, self.shake.at, 60.0)


KINDS: tuple[tuple[tuple[str, ...], float, float], ...] = (
    (("chassis.ext_force.x",), 1000.0, 4e4),
    (("chassis.ext_force.y",), 1000.0, 4e4),
    (("chassis.ext_moment.z",), 1000.0, 4e4),
    (("chassis.ext_moment.x",), 1000.0, 1e4),
    (tuple(DRIVES), 200.0, 1000.0),
    (("steering_wheel_angle",), 1.0, 2.8),
)
"""Inputs, amplitude to begin with, largest amplitude."""


@cache
def case(seed: int, least: float = 0.85, most: float = 0.97) -> Case:
    """A random slope, yaw, friction, steering angle, frequency and input, with an amplitude that brings the share of
    friction into a range, if one does that the vehicle stands."""
    rng = np.random.default_rng(seed)
    names, amplitude, largest = KINDS[seed % len(KINDS)]
    slope, need = rng.uniform(0.05, 0.6), rng.uniform(0.4, 0.85)
    steers = names == ("steering_wheel_angle",)
    frequency = 0.5 * max(1.0, round(2 * 10 ** rng.uniform(-0.3, 0.7 if steers else 1.7)))
    held = dict(BRAKES)
    if rng.random() < 0.5 and not steers:
        held["steering_wheel_angle"] = math.radians(rng.uniform(-8, 8)) * 26
    where: dict[str, Value] = {"terrain.slope": math.atan(slope), "init.yaw": rng.uniform(-math.pi, math.pi),
                               "terrain.mu": min(slope / need, 0.9)}  # fmt: skip
    goal, low, high = rng.uniform(least, most), 0.0, largest
    for _ in range(9):
        found = Case(where, held, sine(amplitude, frequency, *names))
        part = found.share()
        if part > goal:
            high = amplitude
        else:
            low = amplitude
        if abs(part - goal) < 0.01 or low > 0.95 * largest:
            break
        amplitude = 0.5 * (low + high) if high < largest or low else min(2.0 * amplitude, largest)
    return found
