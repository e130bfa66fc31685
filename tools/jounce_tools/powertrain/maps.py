"""Engine, converter and tractive force of a vehicle's powertrain in steady driving, from its data.

Steady: nothing accelerates. The engine then gives what pump, lock-up and accessories take (equations and sources:
`jounce.powertrain.driveline`). Behind the clutch, with the speed w of half shafts that all turn alike, the
transfer ratio i_t, the shares b and ratios i of the axles and the hubs' ratio i_h,

    w_o = i_t sum(b i) w,    F = eta G T_t (w_o / w) i_h / R,    v = R w / i_h

R is the radius on which the vehicle stands, the mean of its driven wheels, for force and speed alike, so that eta is
the only loss behind the converter. It is whole at every speed; that of the model fades below 1 rad/s of w_o. The engine
does not get slower than the turbine: where it would, the force is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from jounce.data import Vehicle
from jounce.powertrain.layouts import CONVERTER_STEPS, FLOORED
from jounce.powertrain.train import train_of

__all__ = ["Maps", "Standing", "Traction"]

Array = NDArray[np.float64]
_POINTS = 200
"""Of a curve."""
_BISECTIONS = 60


@dataclass(frozen=True)
class Standing:
    """How the vehicle stands on the plane."""

    radius: float
    """Height of the driven wheels' centres [m], their mean."""
    weight: float
    """Load of all wheels [N]."""


@dataclass(frozen=True)
class Traction:
    """Steady full or part throttle in one gear, by rising speed; all (n,)."""

    gear: int
    speed: Array
    """[m/s]"""
    force: Array
    """Of the tires on the vehicle [N]."""
    engine_speed: Array
    """[rad/s]"""
    engine_torque: Array
    """[N.m]"""
    turbine_speed: Array
    """[rad/s]"""
    turbine_torque: Array
    """[N.m]"""
    locked: NDArray[np.bool_]
    """Whether the lock-up clutch holds."""


class Maps:
    """Of a vehicle with a powertrain of its data (`Vehicle.powertrain`)."""

    def __init__(self, vehicle: Vehicle) -> None:
        """Takes the vehicle's numbers as they are."""
        self._vehicle = vehicle
        train, alone = train_of(vehicle.axles), sum(axle.driven for axle in vehicle.axles) == 1
        shares = train.shares(lambda split: 1.0 if alone else vehicle[split.share_entry])
        self._axles = sum(share * vehicle[f"differential.{axle}.ratio"]
                          for share, axle in zip(shares, train.axles, strict=True))  # fmt: skip

    def _map(self, arguments: str, values: str) -> tuple[Array, Array]:
        """Points of a map; those that repeat the last one are left out."""
        names = sorted((n for n in self._vehicle.entries if n.startswith(f"{arguments}.")),
                       key=lambda n: int(n.rpartition(".")[2]))  # fmt: skip
        at = np.array([self._vehicle[n] for n in names])
        of = np.array([self._vehicle[f"{values}.{n.rpartition('.')[2]}"] for n in names])
        kept = np.concatenate(([True], np.diff(at) > 0))
        return at[kept], of[kept]

    @cached_property
    def full_load(self) -> tuple[Array, Array]:
        """Speeds [rad/s] and torques [N.m] of the engine."""
        return self._map("engine.full_load.speed", "engine.full_load.torque")

    @cached_property
    def closed_throttle(self) -> tuple[Array, Array]:
        """The same at closed throttle."""
        return self._map("engine.closed_throttle.speed", "engine.closed_throttle.torque")

    @cached_property
    def converter(self) -> tuple[Array, Array, Array]:
        """Speed ratios, torque ratios, and K [rad/s/sqrt(N.m)], pump speed over the root of the pump's torque."""
        at, ratio = self._map("converter.speed_ratio", "converter.torque_ratio")
        return at, ratio, 1 / np.sqrt(self._map("converter.speed_ratio", "converter.coefficient")[1])

    @property
    def gears(self) -> tuple[float, ...]:
        """Ratios of the forward gears."""
        return tuple(self._vehicle[f"gearbox.ratio.{k + 1}"] for k in range(round(self._vehicle["gearbox.gears"])))

    def engine_torque(self, speed: Array, throttle: float) -> Array:
        """Of the engine with its governor, without accessories [N.m]."""
        v = self._vehicle
        full, closed = np.interp(speed, *self.full_load), np.interp(speed, *self.closed_throttle)
        feed = v["engine.accessories"] + v["engine.idle_friction"]
        idle = (feed + v["engine.idle_gain"] * (v["engine.idle_speed"] - speed)) / np.maximum(full - closed, 1.0)
        limited = np.clip((v["engine.limit_speed"] - speed) / v["engine.limit_droop"], 0.0, 1.0)
        load = np.maximum(throttle, np.clip(idle, 0.0, 1.0)) * limited
        return np.asarray(closed + load * (full - closed))

    def _pump(self, engine: Array, turbine: Array) -> tuple[Array, Array]:
        """(torque of the pump [N.m], torque ratio) where the engine is not slower than the turbine."""
        at, ratio, factor = self.converter
        nu = turbine / np.maximum(engine, 1e-9)
        last = 1 - 1 / CONVERTER_STEPS  # of the model's table, behind which the torque falls to 0 at equal speeds
        k = np.interp(np.minimum(nu, last), at, factor)
        fades = np.clip((1 - nu) / (1 - last), 0.0, 1.0)
        return fades * engine * np.abs(engine) / k**2, np.interp(nu, at, ratio)

    def _balanced(self, turbine: Array, throttle: float) -> Array:
        """The engine's speed [rad/s] at which pump and accessories take what it gives."""
        low, high = turbine.copy(), np.full_like(turbine, self._vehicle["engine.limit_speed"])
        for _ in range(_BISECTIONS):
            middle = 0.5 * (low + high)
            rest = self.engine_torque(middle, throttle) - self._vehicle["engine.accessories"]
            gains = rest > self._pump(middle, turbine)[0]
            low, high = np.where(gains, middle, low), np.where(gains, high, middle)
        return low

    def traction(self, standing: Standing, throttle: float = 1.0, *, low: bool = False) -> tuple[Traction, ...]:
        """Of every forward gear up to the engine's largest speed; ``low``: in the low range."""
        v = self._vehicle
        made = []
        turbine = np.linspace(0.0, v["engine.limit_speed"], _POINTS + 1)
        for gear, ratio in enumerate(self.gears, 1):
            engine = self._balanced(turbine, throttle)
            pump, multiplied = self._pump(engine, turbine)
            torque = self.engine_torque(engine, throttle)
            locks = (throttle < FLOORED and v["converter.lock_torque"] > 0
                     and gear >= round(v["converter.lock_gear"]))  # fmt: skip
            locked = np.full_like(turbine, locks, dtype=bool) & (turbine > v["converter.lock_speed"])
            direct = self.engine_torque(turbine, throttle)
            engine, torque = np.where(locked, turbine, engine), np.where(locked, direct, torque)
            onto = np.where(locked, direct - v["engine.accessories"], multiplied * pump)
            whole = ratio * (v["transfer.low_ratio"] if low else 1.0) * self._axles * v["hub.ratio"]
            speed = turbine / whole * standing.radius
            kept = 1 - (1 - v["driveline.efficiency"]) * np.sign(onto)  # friction: in overrun it brakes too
            made.append(Traction(gear, speed, kept * onto * whole / standing.radius, engine, torque, turbine, onto,
                                 locked))  # fmt: skip
        return tuple(made)
