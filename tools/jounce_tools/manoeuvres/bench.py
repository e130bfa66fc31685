"""Where manoeuvres run: a vehicle in this process or on a server, and the log of a run.

Both give the same bits, for they run the same machine code and the driver is the same program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from jounce.axles import wheels_in
from jounce.data import of_any_tires

Array = NDArray[np.float64]
#: Time between two commands of the driver [s].
PERIOD = 0.01


class State(Protocol):
    """Outputs at a tick."""

    @property
    def time(self) -> float:
        """Simulated time [s]."""

    @property
    def values(self) -> Array:
        """All outputs that were asked for."""

    def __getitem__(self, name: str, /) -> Any:
        """One output, scalar or vector."""


class Seat(Protocol):
    """A place at the wheel: `jounce.join` in process, a participant on a server."""

    @property
    def start(self) -> State:
        """The state at tick 0."""

    @property
    def inputs(self) -> Sequence[str]:
        """Names of the inputs that a step sets, in its order."""

    @property
    def outputs(self) -> Sequence[str]:
        """Names of the outputs."""

    def step(self, inputs: Any, /) -> State:
        """Sets inputs and advances by one period."""


class Place(Protocol):
    """A vehicle that can be started again and again."""

    @property
    def vehicle(self) -> str:
        """Name of the vehicle."""

    @property
    def build(self) -> str:
        """What the vehicle was built from."""

    @property
    def inputs(self) -> Mapping[str, tuple[float, float]]:
        """Least and largest value of each input."""

    @property
    def outputs(self) -> Sequence[str]:
        """Names of all outputs."""

    @property
    def parameters(self) -> Mapping[str, float]:
        """Values of the numeric parameters that are not set."""

    def seat(
        self, owns: Sequence[str], period: float, parameters: Mapping[str, Any], start: Mapping[str, float]
    ) -> AbstractContextManager[Seat]:
        """Starts the vehicle. Raises an error of the place for parameters that it refuses."""


@dataclass
class Log:
    """One run: the state at each command of the driver, and the inputs that act from then on."""

    title: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    time: Array
    """(n,) [s]."""
    u: Array
    """(n, inputs); those of the last row acted in the last period."""
    y: Array
    """(n, outputs)."""
    end: str
    """Why the run ended."""
    whole: bool
    """Whether it went on to where the manoeuvre ends; otherwise the vehicle rolled over, left the course or failed."""
    parameters: dict[str, Any] = field(default_factory=dict)
    start: dict[str, float] = field(default_factory=dict)
    """Inputs at the start."""

    def __getitem__(self, name: str) -> Array:
        """An input or output over time, (n,), or a vector, (n, components). Raises KeyError."""
        for names, values in ((self.outputs, self.y), (self.inputs, self.u)):
            if name in names:
                return np.asarray(values[:, names.index(name)], np.float64)
            if vector := [k for k, n in enumerate(names) if n.rpartition(".")[0] == name]:
                return np.asarray(values[:, vector], np.float64)
        raise KeyError(name)

    @property
    def steering(self) -> Array:
        """Steering-wheel angle at the samples, (n,) [rad]: between the two that are held before and after."""
        held = self["steering_wheel_angle"]
        before: Array = np.concatenate([held[:1], held[:-1]])
        return 0.5 * (held + before)

    def part(self, begin: float, end: float = np.inf) -> Log:
        """The rows from ``begin`` to ``end`` [s]."""
        keep = (self.time >= begin - 1e-9) & (self.time <= end + 1e-9)
        return Log(self.title, self.inputs, self.outputs, self.time[keep], self.u[keep], self.y[keep], self.end,
                   self.whole, self.parameters, self.start)  # fmt: skip


@dataclass(frozen=True)
class Car:
    """What a driver needs to know of a vehicle, measured where it stands still on level ground."""

    wheels: tuple[str, ...]
    driven: tuple[str, ...]
    steered: tuple[str, ...]
    axles: tuple[float, ...]
    """Place of each axle before the reference frame [m], front first."""
    wheelbase: float
    """From the first axle to the middle of those that are not steered [m]."""
    track: float
    """Of the first axle [m]."""
    mass: float
    """Load of all wheels over gravity [kg]."""
    ahead: float
    """Centre of gravity before the middle of the axles that are not steered [m]."""
    radius: float
    """Height of the wheel centres [m]."""
    width: float
    """Of the body [m]."""
    front: float
    """Front end before the first axle [m]."""
    back: float
    """Rear end behind the first axle [m]."""
    ratio: float
    """Steering-wheel angle over the mean angle of the wheels of the first axle, straight ahead [1]."""
    most_steering: float
    """Largest steering-wheel angle [rad]."""
    gravity: float

    @property
    def length(self) -> float:
        """Of the body [m]."""
        return self.front + self.back


def driver_inputs(wheels: Sequence[str]) -> list[str]:
    """The inputs that every manoeuvre sets, in the order of `command`."""
    return ["steering_wheel_angle", *(f"wheel_{w}.drive_torque" for w in wheels),
            *(f"wheel_{w}.brake_torque" for w in wheels)]  # fmt: skip


#: Steering-wheel angle at which the ratio is measured [rad].
_RATIO_AT = 0.05


def measure(place: Place, parameters: Mapping[str, Any]) -> Car:
    """The vehicle standing, and with its wheels turned a little."""
    wheels = wheels_in(place.outputs)
    still = {**_own(parameters), "init.speed": 0.0}
    with place.seat([], PERIOD, still, {"steering_wheel_angle": _RATIO_AT}) as seat:
        turned = seat.start
    with place.seat([], PERIOD, still, {"steering_wheel_angle": -_RATIO_AT}) as seat:
        back = seat.start
    with place.seat([], PERIOD, still, {}) as seat:
        at = seat.start
    steer = {w: (turned[f"wheel_{w}.steer"] - back[f"wheel_{w}.steer"]) / (2.0 * _RATIO_AT) for w in wheels}
    steered = tuple(w for w in wheels if abs(steer[w]) > 1e-4)
    gravity = float(parameters.get("gravity", place.parameters["gravity"]))
    pitch = float(at["ref_frame.pitch"])
    x = [float((at[f"wheel_{w}.pos"][0] - at["ref_frame.pos"][0]) / np.cos(pitch)) for w in wheels]
    loads = np.array([float(at[f"wheel_{w}.tire_force"][2]) for w in wheels])
    fixed = [k for k, w in enumerate(wheels) if w not in steered] or [len(wheels) - 2, len(wheels) - 1]
    rear = float(np.mean([x[k] for k in fixed]))
    outline = {
        k: float(parameters.get(f"chassis.outline.{k}", place.parameters.get(f"chassis.outline.{k}", np.nan)))
        for k in ("front.low.x", "rear.low.x", "front.low.y", "front.upper.y", "rear.low.y", "rear.upper.y")
    }
    track = abs(float(at[f"wheel_{wheels[0]}.pos"][1] - at[f"wheel_{wheels[1]}.pos"][1]))
    tire = of_any_tires({**place.parameters, **parameters}, "width") or 0.2
    width = 2.0 * float(np.nanmax([*(v for k, v in outline.items() if k.endswith("y")), 0.5 * (track + tire)]))
    ground = float(parameters.get("terrain.height", place.parameters.get("terrain.height", 0.0)))
    radius = float(np.mean([at[f"wheel_{w}.pos"][2] for w in wheels])) - ground
    return Car(
        wheels, tuple(w for w in wheels if place.inputs[f"wheel_{w}.drive_torque"][1] > 0.0), steered,
        tuple(float(np.mean(x[k : k + 2])) for k in range(0, len(x), 2)), float(x[0] - rear), track,
        float(loads.sum()) / gravity, float(loads @ x / loads.sum()) - rear, radius, width,
        float(np.nan_to_num(outline["front.low.x"] - x[0], nan=0.6)),
        float(np.nan_to_num(x[0] - outline["rear.low.x"], nan=x[0] - x[-1] + 0.6)),
        1.0 / float(np.mean([steer[w] for w in wheels[:2]])), place.inputs["steering_wheel_angle"][1], gravity,
    )  # fmt: skip


def _own(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The vehicle's parameters, without those that say where and how it starts."""
    return {k: v for k, v in parameters.items() if not k.startswith(("init.", "terrain"))}


@dataclass(frozen=True)
class Now:
    """A state with the time of the driver's clock, for the clocks of the places differ in the last bit."""

    state: State
    time: float

    @property
    def values(self) -> Array:
        """All outputs."""
        return self.state.values

    def __getitem__(self, name: str) -> Any:
        """One output."""
        return self.state[name]


Command = Callable[[State], Sequence[float]]
#: Says why a run ends: (text, whether that is the end of the manoeuvre), or None.
Stop = Callable[[State], tuple[str, bool] | None]


class Interrupted(Exception):
    """Ctrl-C; what was logged so far is kept by whoever drives."""


@dataclass
class Bench:
    """A place, the parameters that the user has set, and what the user is told."""

    place: Place
    parameters: dict[str, Any]
    car: Car
    told: Callable[[str], object] = lambda _: None
    stopped: Callable[[], bool] = lambda: False
    errors: tuple[type[Exception], ...] = ()
    """With which the place refuses a step."""
    logs: list[Log] = field(default_factory=list)
    """Every run so far."""

    def drive(self, title: str, command: Command, duration: float, *, parameters: Mapping[str, Any] | None = None,
              start: Mapping[str, float] | None = None, extra: Sequence[str] = (), stop: Stop = lambda _: None,
              period: float = PERIOD) -> Log:  # fmt: skip
        """Runs for at most ``duration`` [s] and keeps the log; ``extra`` inputs follow those of the driver.

        The command has steering-wheel angle, drive torques and brake torques, then the extra inputs. A vehicle that
        rolls over, leaves the course or makes the solver fail ends the run, which is a result. Raises Interrupted.
        """
        everything = {**parameters, **self.parameters} if parameters else dict(self.parameters)
        owns = [*driver_inputs(self.car.wheels), *extra]
        times, us, ys, end, whole = [], [], [], "the time is over", True
        last = round(duration / period)
        with self.place.seat(owns, period, everything, start or {}) as seat:
            names, outputs = tuple(seat.inputs), tuple(seat.outputs)
            at, u = seat.start, np.zeros(len(owns))
            for k in range(last + 1):
                state = Now(at, k * period)
                times.append(state.time)
                ys.append(np.array(state.values))
                if k % 50 == 0:
                    self.told(f"{title}: {state.time:.1f} of {duration:g} s")
                ends = _lost(state) or stop(state)
                if ends or k == last:
                    end, whole = ends or (end, whole)
                    us.append(u)
                    break
                if self.stopped():
                    raise Interrupted
                u = np.array(command(state), dtype=np.float64)
                us.append(u)
                try:
                    at = seat.step(u)
                except self.errors as error:
                    end, whole = f"the model failed: {' '.join(str(error).split())}", False
                    break
        log = Log(title, names, outputs, np.array(times), np.array(us), np.array(ys), end, whole, everything,
                  dict(start or {}))  # fmt: skip
        self.logs.append(log)
        return log


def _lost(state: State) -> tuple[str, bool] | None:
    return ("the vehicle rolled over", False) if state["rolled_over"] > 0.5 else None
