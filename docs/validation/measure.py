"""What docs/validation.md reports, measured. No drawing here; `make` draws, tests/docs and tests/fmu repeat.

Everything that moves is the built-in FMU; the linkage is in `linkage`. Chrono's record, the steering and the symbolic
model's run of the free coast come from tests/vehicle/coast.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import coast
import numpy as np
from ce import rotation
from coast import CHRONO, STEP, WHEELS, Run, angle
from numpy.typing import NDArray

from jounce_fmu.importer.host import Factory, Value, open_builtin

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]
AXES = ("x", "y", "z")
RATIO = CHRONO["steering_ratio"]
SPIN_INERTIA = CHRONO["wheel.inertia.yy"] + CHRONO["front.spindle.inertia.yy"] + CHRONO["driveline.inertia"]
EVERY = 10  # ticks between samples of the coast


# --- the FMU ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Record:
    """Outputs of a run of the FMU."""

    time: Array
    """(n,) [s]"""
    values: Array
    """(n, outputs)"""
    index: Mapping[str, int]

    def __call__(self, *names: str) -> Array:
        """The outputs of these names: (n,), or (n, names) for several."""
        found = self.values[:, [self.index[name] for name in names]]
        return found[:, 0] if len(names) == 1 else found

    def vector(self, name: str) -> Array:
        """(n, 3)"""
        return self(*(f"{name}.{a}" for a in AXES))

    def wheels(self, name: str) -> Array:
        """(n, 4), FL FR RL RR."""
        return self(*(f"wheel_{w}.{name}" for w in WHEELS))

    def speed(self) -> Array:
        """(n,) of the chassis reference point, all directions [m/s]."""
        return np.asarray(np.linalg.norm(self.vector("ref_frame.lin_vel"), axis=1))


@cache
def factory(vehicle: str) -> Factory:
    """The built-in FMU with the numbers of a vehicle."""
    return open_builtin(vehicle)


def hold(parameters: Mapping[str, Value], inputs: Mapping[str, Value], seconds: float, every: int = 1) -> Record:
    """The default vehicle under constant inputs, sampled every so many ticks."""
    fmu = factory("hmmwv")
    with fmu.instance("hold") as instance:
        instance.setup(parameters, inputs)
        values = [instance.get_outputs()]
        for _ in range(round(seconds / STEP) // every):
            instance.step(every)
            values.append(instance.get_outputs())
    return Record(np.arange(len(values)) * (every * STEP), np.array(values), _places(fmu))


def _places(fmu: Factory) -> dict[str, int]:
    return {scalar.name: i for i, scalar in enumerate(fmu.table.outputs)}


# --- free coast ------------------------------------------------------------------------------------------------------

#: Rate of the Pitman arm that the master gives with the angle of tick n [rad/s].
RATES: dict[str, Callable[[int], float]] = {
    "mean over the tick": lambda n: (angle(n + 1) - angle(n)) / STEP,
    "derivative at its start": lambda n: (angle(n + 1e-3) - angle(n)) / (1e-3 * STEP),
    "not given": lambda n: 0.0,
}


def coastfree(rate: str = "mean over the tick", chrono: Run | None = None) -> Record:
    """The free coast through the FMU, sampled every 10 ms.

    With `chrono`, the couples of that run are external moments on the chassis. The FMU's wheels start rolling on
    their unloaded radius, Chrono's at 15 m/s / 0.46 m: a drive torque makes up for it in the first tick, in the air,
    with its reaction on the chassis taken away.
    """
    fmu, steer = factory("hmmwv_chrono"), RATES[rate]
    u = np.array([scalar.start for scalar in fmu.table.inputs])
    place = {scalar.name: i for i, scalar in enumerate(fmu.table.inputs)}
    torques = [place[f"wheel_{w}.drive_torque"] for w in WHEELS]
    moment = slice(place["chassis.ext_moment.x"], place["chassis.ext_moment.x"] + 3)
    places, values = _places(fmu), []
    with fmu.instance("coast") as instance:
        instance.setup({"terrain.mu": coast.FRICTION, "init.speed": coast.SPEED, "init.equilibrium": False,
                        "init.z": coast.HEIGHT})  # fmt: skip
        missing = coast.SPIN - instance.get_outputs()[places["wheel_FL.omega"]]
        for n in range(round(coast.DURATION / STEP) + 1):
            u[torques] = SPIN_INERTIA * missing / STEP if n == 0 else 0.0
            u[moment] = [0.0, u[torques].sum(), 0.0]
            if chrono is not None:
                u[moment] += rotation(chrono.states[n, 3:7]) @ chrono.couples[n, :3]
            u[place["steering_wheel_angle"]] = RATIO * angle(n)
            u[place["steering_wheel_rate"]] = RATIO * steer(n)
            instance.set_inputs(u)
            if n % EVERY == 0:
                values.append(instance.get_outputs())
            instance.step()
    return Record(np.arange(len(values)) * (EVERY * STEP), np.array(values), places)


def distances(ours: tuple[Array, Array], others: tuple[Array, Array], late: Mask | None = None) -> Array:
    """(7,): largest differences in x, y [m], heading [deg] and the four wheel loads [N], the loads where `late`."""
    path, load = (np.abs(a - b) for a, b in zip(ours, others, strict=True))
    return np.concatenate([path.max(1), load[:, slice(None) if late is None else late].max(1)])


def traces(record: Record) -> tuple[Array, Array]:
    """(x, y [m], heading [deg]) and wheel loads [N] in rows, as `coast.path_and_loads`."""
    path = [record("ref_frame.pos.x"), record("ref_frame.pos.y"), np.degrees(record("ref_frame.yaw"))]
    return np.array(path), record.wheels("tire_force.z").T


@dataclass(frozen=True)
class Coast:
    """The free coast: Chrono's two records and their limit, ours, all as (path, loads); see `traces`."""

    time: Array
    """(91,) of Chrono's records"""
    fine: tuple[Array, Array]
    coarse: tuple[Array, Array]
    plain: tuple[Array, Array]
    """(., 901)"""
    with_couple: tuple[Array, Array]
    """(., 901)"""
    symbolic: tuple[Array, Array]
    """(., 901), plain"""

    @property
    def limit(self) -> tuple[Array, Array]:
        """Chrono's as its step goes to zero: its integrator is of first order, its steps are 1e-3 and 1e-4."""
        path, load = (f - (c - f) / 9 for f, c in zip(self.fine, self.coarse, strict=True))
        return path, load

    @staticmethod
    def at_records(ours: tuple[Array, Array]) -> tuple[Array, Array]:
        """Where Chrono has a record."""
        return ours[0][:, ::EVERY], ours[1][:, ::EVERY]

    @property
    def late(self) -> Mask:
        """(91,) has the vehicle landed?"""
        return np.asarray(self.time > LANDED)


LANDED = 1.0  # s


@cache
def free_coast() -> Coast:
    """Runs and records of the free coast."""
    fine, coarse = coast.recorded("1e-4"), coast.recorded("1e-3")
    return Coast(
        fine["t"],
        fine=(coast.chrono_path(fine), coast.chrono_loads(fine)),
        coarse=(coast.chrono_path(coarse), coast.chrono_loads(coarse)),
        plain=traces(coastfree()),
        with_couple=traces(coastfree(chrono=coast.coast(with_idler=True))),
        symbolic=coast.path_and_loads(coast.coast(with_idler=False).every(EVERY)),
    )


# --- standstill ------------------------------------------------------------------------------------------------------

SLOPE = float(np.arctan(0.3))
BRAKES: dict[str, Value] = {f"wheel_{w}.brake_torque": 4000.0 for w in WHEELS}
TOWN = 20.0 / 3.6  # m/s


WAYS: dict[str, dict[str, Value]] = {
    "nose up": {"terrain.slope": SLOPE},
    "nose down": {"terrain.slope": -SLOPE},
    "across": {"terrain.bank": SLOPE},
    "driven up at 20 km/h and stopped": {"terrain.slope": SLOPE, "init.speed": TOWN},
}


@cache
def parked(way: str) -> Record:
    """60 s on a 30 % slope with all brakes, sampled every 10 ms; the stop has 10 s more before."""
    return hold(WAYS[way], BRAKES, 70.0 if "init.speed" in WAYS[way] else 60.0, 10)


def creep(record: Record, seconds: float = 60.0) -> Array:
    """Distance [m] from the place held at so many seconds before the end."""
    first = int(np.argmin(np.abs(record.time - (record.time[-1] - seconds))))
    place = record.vector("ref_frame.pos")[first:]
    return np.asarray(np.linalg.norm(place - place[0], axis=1))


@dataclass(frozen=True)
class Shake:
    """Inputs that swing as sines, with what they need of rates."""

    amplitudes: Mapping[str, float]
    frequency: float
    """[Hz], a multiple of 0.5: two seconds are whole periods"""

    def at(self, t: float) -> dict[str, Value]:
        """What is added to the inputs at a time [s]; it grows in the first second."""
        turn = 2 * np.pi * self.frequency
        grown, growing = min(t, 1.0), float(t < 1.0)
        wave, slope = np.sin(turn * t), turn * np.cos(turn * t)
        added: dict[str, Value] = {name: float(a * grown * wave) for name, a in self.amplitudes.items()}
        for name, a in self.amplitudes.items():
            if name == "steering_wheel_angle":
                added["steering_wheel_rate"] = float(a * (grown * slope + growing * wave))
        return added


def measured(
    parameters: Mapping[str, Value],
    inputs: Mapping[str, Value],
    added: Callable[[float], Mapping[str, Value]],
    seconds: float,
) -> Record:
    """The default vehicle under inputs and what a function of time adds, each tick; sampled every 10 ms."""
    fmu = factory("hmmwv")
    place = {scalar.name: i for i, scalar in enumerate(fmu.table.inputs)}
    base = np.array([scalar.start for scalar in fmu.table.inputs])
    for name, value in inputs.items():
        base[place[name]] = value
    with fmu.instance("measured") as instance:
        instance.setup(parameters, inputs)
        values = [instance.get_outputs()]
        for n in range(round(seconds / STEP)):
            u = base.copy()
            for name, value in added(n * STEP).items():
                u[place[name]] += value
            instance.set_inputs(u)
            instance.step()
            if n % EVERY == EVERY - 1:
                values.append(instance.get_outputs())
    return Record(np.arange(len(values)) * (EVERY * STEP), np.array(values), _places(fmu))


def sine(amplitude: float, frequency: float, *names: str) -> Shake:
    """The same amplitude for all names."""
    return Shake(dict.fromkeys(names, amplitude), frequency)


DRIVES = [f"wheel_{w}.drive_torque" for w in WHEELS]
#: Where the parked vehicle stands, and what shakes it.
SHAKES: dict[str, tuple[dict[str, Value], Shake]] = {
    "drive torque": ({"terrain.slope": SLOPE}, sine(50.0, 12.0, *DRIVES)),
    "push": ({"terrain.slope": SLOPE}, sine(1500.0, 2.0, "chassis.ext_force.x")),
    "push across a 60 % slope": ({"terrain.bank": float(np.arctan(0.6))}, sine(1500.0, 3.0, "chassis.ext_force.y")),
    "lift": ({"terrain.slope": -SLOPE}, sine(2000.0, 8.0, "chassis.ext_force.z")),
    "steering wheel": ({"terrain.slope": SLOPE}, sine(np.radians(3), 2.0, "steering_wheel_angle")),
    "front wheels": ({"terrain.slope": SLOPE}, sine(np.radians(3) * 26, 2.0, "steering_wheel_angle")),
    "brakes": ({"terrain.slope": SLOPE}, sine(50.0, 5.0, *BRAKES)),
    "one wheel at 50 Hz": ({"terrain.slope": SLOPE, "init.yaw": 2.0}, sine(800.0, 50.0, "wheel_RL.drive_torque")),
}


@cache
def shaken(name: str) -> Record:
    """60 s parked with all brakes while inputs swing as in SHAKES."""
    where, shake = SHAKES[name]
    return measured(where, BRAKES, shake.at, 60.0)


def drift(record: Record, since: float = 2.0) -> float:
    """Distance [m] of the mean place in the last two seconds from that in the two after ``since`` [s]."""
    place, first = record.vector("ref_frame.pos"), round(100 * since)
    return float(np.linalg.norm(place[-201:-1].mean(axis=0) - place[first : first + 200].mean(axis=0)))


#: Brake torques per wheel [N.m]: one locks the wheels, one does not.
TORQUES = (4000.0, 1500.0)


@cache
def stop(torque: float) -> Record:
    """From 20 km/h to rest and on, 20 s, every tick."""
    return hold({"init.speed": TOWN}, dict.fromkeys(BRAKES, torque), 20.0)


def rest_time(record: Record) -> float:
    """After it the speed stays below 1e-4 m/s [s]."""
    moving = np.nonzero(record.speed() >= 1e-4)[0]
    return float(record.time[moving[-1] + 1])


def contact_torque(record: Record) -> Array:
    """(n, 4): moment of the road on each wheel about its spin axis [N.m], on level ground."""
    torques = []
    for w in WHEELS:
        axis = np.array([rotation(q)[:, 1] for q in record(*(f"wheel_{w}.rot.e{i}" for i in range(4)))])
        centre, force, moment = (record.vector(f"wheel_{w}.{name}") for name in ("pos", "tire_force", "tire_moment"))
        frame, point = coast.contact(centre, axis)
        force, moment = (np.einsum("nij,nj->ni", frame, v) for v in (force, moment))
        torques.append(np.sum(axis * (moment + np.cross(point - centre, force)), axis=1))
    return np.array(torques).T


def brake_torque(record: Record) -> Array:
    """(n, 4) that the brakes deliver [N.m]: what the wheels' spin needs less `contact_torque`.

    The FMU has no such output. The turning of the uprights is left out.
    """
    return SPIN_INERTIA * np.gradient(record.wheels("omega"), STEP, axis=0) - contact_torque(record)


def reversals(brake: Array, threshold: float) -> int:
    """How often a torque (n, 4) turns from one tick to the next, both steps above the threshold [N.m]."""
    steps = np.diff(brake, axis=0)
    turned = (steps[1:] * steps[:-1] < 0) & (np.minimum(np.abs(steps[1:]), np.abs(steps[:-1])) > threshold)
    return int(turned.sum())


@cache
def at_rest() -> Record:
    """2 s from the equilibrium start, every tick."""
    return hold({}, {}, 2.0)
