"""Runs a model in this process by signal names, at once or step by step: ``jounce.simulate`` and ``jounce.join``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from jounce.renamed import present, twice
from jounce.signals import Scalar, SignalTable, named_groups
from jounce.values import BadValue, Value, double, plain_bounds
from jounce_fmu.importer.host import open_builtin
from jounce_fmu.importer.trajectory import Clock, InputError, Inputs, Track, interval, run, ticks
from jounce_fmu.importer.until import Reached, Until, longest_time, speed_of

__all__ = ["Run", "State", "Stepper", "join", "simulate"]

Array = NDArray[np.float64]
_SHOWN = 12
"""Names that a message lists; of more it gives those that are like the wrong one."""


@dataclass(frozen=True)
class Run:
    """Outputs over time; ``run["speed"]`` is (n,), ``run["ref_frame.pos"]`` (n, 3)."""

    time: Array
    """(n,) [s]."""
    values: Array
    """(n, outputs) [unit of each]."""
    names: tuple[str, ...]
    """The outputs, one per column of ``values``."""
    units: Mapping[str, str]
    """Unit of each output, by name, vectors included."""
    _places: Mapping[str, slice | int] = field(repr=False, default_factory=dict)
    reached: Reached | None = None
    """Where the speed ``until`` was reached; None where it was not, or none was asked for."""

    def __getitem__(self, name: str) -> Array:
        """One output over time, scalar or vector; raises KeyError that tells the outputs."""
        found: Array = self.values[:, _place(self._places, name, self.names)]
        return found

    def __contains__(self, name: object) -> bool:
        """Whether there is such an output, scalar or vector."""
        return name in self._places

    def to_pandas(self) -> Any:
        """Returns a pandas.DataFrame with the time [s] as index and the units in ``attrs``.

        Raises ImportError without pandas.
        """
        try:
            import pandas  # type: ignore[import-untyped, unused-ignore]
        except ImportError:
            raise ImportError("a frame needs pandas: pip install pandas") from None
        frame = pandas.DataFrame(self.values, columns=list(self.names), index=pandas.Index(self.time, name="time"))
        frame.attrs["units"] = {"time": "s", **{n: self.units[n] for n in self.names}}
        return frame


@dataclass(frozen=True)
class State:
    """Outputs at a tick, like a client's State: ``state["speed"]``, ``state["ref_frame.pos"]``."""

    tick: int
    """The tick of the outputs, for which the next inputs are due."""
    time: float
    """Simulated time [s]."""
    values: Array
    """(outputs,) [unit of each]."""
    names: tuple[str, ...]
    """The outputs, in the order of ``values``."""
    _places: Mapping[str, slice | int] = field(repr=False, default_factory=dict)

    def __getitem__(self, name: str) -> Array | np.float64:
        """One output, scalar or vector; raises KeyError that tells the outputs."""
        found: Array | np.float64 = self.values[_place(self._places, name, self.names)]
        return found

    def __contains__(self, name: object) -> bool:
        """Whether there is such an output, scalar or vector."""
        return name in self._places


def simulate(
    vehicle: str | Path = "hmmwv",
    inputs: Any = None,
    duration: float | None = None,
    outputs: Sequence[str] = ("*",),
    *,
    output_interval: float | None = None,
    hold: bool = False,
    until: str | float | None = None,
    **parameters: Value,
) -> Run:
    """Runs a vehicle and returns its outputs over time.

    ``vehicle`` is a name, or the folder or vehicle.toml of your own vehicle. ``inputs`` maps names of inputs, scalars
    or vectors, to a constant or to ``(times, values)`` with times in s; or it is a table with a column ``time``, such
    as a pandas frame. Between its points an input is interpolated linearly, or held with ``hold``. ``duration`` [s] is
    by default the last time of the inputs. ``outputs`` are scalars, vectors or ``*``; there is a row per tick, or per
    ``output_interval`` [s]. With ``until``, a speed such as ``"60km/h"`` or a number in m/s, the run ends at the first
    tick at which the vehicle has it (`Run.reached`), and ``duration`` is its longest time, by default 120 s. The names
    of ``parameters`` contain dots: ``simulate(..., **{"init.speed": 10.0})``.

    Raises InputError or DataError for wrong arguments, and FmuError if the model refuses its parameters or fails.
    """
    factory = open_builtin(vehicle)
    table = factory.table
    watch = None if until is None else Until(speed_of(until, "until"), table, f"until {until!r}")
    tracks = _tracks(table, {} if inputs is None else inputs, hold)
    if duration is None and any(len(t.times) > 1 for t in tracks):
        duration = max(float(t.times[-1]) for t in tracks)
    if duration is None and watch is None:
        raise InputError("duration is missing; expected a time in s, inputs over time, or until, a speed")
    chosen, places = _chosen(table.outputs, outputs, "output")
    values = _parameters(table, parameters)
    moving = Inputs(tracks, table, float(values.get("tick", factory.tick_length)))
    u = moving.start(np.array([s.start for s in table.inputs]))
    with factory.instance("simulate") as instance:
        instance.setup(values, {table.inputs[i].name: float(u[i]) for i in moving.columns})
        longest = longest_time(instance.tick_length) if duration is None else duration
        n_ticks = ticks(longest, instance.tick_length, "duration")
        every = interval(output_interval, instance.tick_length, "output_interval")
        columns = [s.index for s in chosen]
        if watch:
            watch.begin(instance.get_outputs())
        ran = run(instance, u, moving, n_ticks=n_ticks, every=1 if watch else every)
        rows = [(t, y[columns]) for t, y in (watch.rows(ran, every) if watch else ran)]
    units = {name: s.signal.unit for s in chosen for name in (s.name, s.signal.name)}
    return Run(
        np.array([t for t, _ in rows]), np.array([y for _, y in rows]), tuple(s.name for s in chosen), units, places,
        watch.reached if watch else None,
    )  # fmt: skip


def join(
    vehicle: str | Path = "hmmwv",
    *,
    owns: Sequence[str] = (),
    wants: Sequence[str] = (),
    period: int = 1,
    start_inputs: Mapping[str, Value] | None = None,
    **parameters: Value,
) -> Stepper:
    """Starts a vehicle that is driven step by step, with the interface of a client's participant.

    ``owns`` names the inputs that each step sets and ``wants`` the outputs that it returns, scalars or vectors.
    A step takes ``period`` ticks. Raises InputError, DataError or FmuError.
    """
    return Stepper(open_builtin(vehicle), owns, wants, period, dict(start_inputs or {}), parameters)


class Stepper:
    """A vehicle in this process. ``join`` makes it; ``leave`` or the end of its ``with`` block ends it."""

    def __init__(
        self, factory: Any, owns: Sequence[str], wants: Sequence[str], period: int,
        start_inputs: Mapping[str, Value], parameters: Mapping[str, Value],
    ) -> None:  # fmt: skip
        """Starts the model; see `join`."""
        #: Every signal of the model, with units and bounds.
        self.table: SignalTable = factory.table
        table = self.table
        if isinstance(period, bool) or not isinstance(period, int) or period < 1:
            raise InputError(f"period = {period!r}: expected a whole number of ticks from 1")
        self._owned, self._owned_places = _chosen(table.inputs, owns, "input")
        wanted, self._places = _chosen(table.outputs, wants, "output")
        #: Names of the inputs that a step sets, and of the outputs that it returns, in the order of their values.
        self.inputs = tuple(s.name for s in self._owned)
        self.outputs = tuple(s.name for s in wanted)
        self.period = period
        self._own = np.array([s.index for s in self._owned], dtype=np.intp)
        self._u = np.array([s.start for s in table.inputs])
        starts = _checked(table.inputs, start_inputs, "input")
        for name, value in starts.items():
            self._u[table.by_name(name).index] = value
        values = _parameters(table, parameters)
        self._instance = factory.instance("join")
        try:
            self._instance.setup(values, starts)
        except BaseException:
            self._instance.free()
            raise
        self._port = self._instance.port(self._own.tolist(), [s.index for s in wanted])
        self._plain = [plain_bounds(s) for s in self._owned]
        self._clock = Clock(self._instance.tick_length)
        self._tick = 0
        #: State at tick 0.
        self.start = self._look()
        #: The last state.
        self.state = self.start

    @property
    def due(self) -> int:
        """Tick for which the inputs of the next step are."""
        return self._tick

    def step(self, inputs: Mapping[str, Any] | Sequence[float] | Array = ()) -> State:
        """Sets inputs, advances by ``period`` ticks, and returns the state after them.

        ``inputs`` is a sequence in the order of ``Stepper.inputs``, or a mapping by name of the inputs that change.
        Raises InputError, with nothing applied, or FmuError, whose message says at which tick the model stands.
        """
        packed = self._packed(inputs)
        self._port.set_inputs(packed)
        self._u[self._own] = packed
        before = self._instance.ticks
        try:
            self._instance.step(self.period)
        finally:
            self._tick += self._instance.ticks - before
        self.state = self._look()
        return self.state

    def save(self) -> bytes:
        """Returns the complete state, for `restore` of this or another stepper of the same vehicle."""
        blob: bytes = self._instance.get_state()
        return self._tick.to_bytes(8, "little") + self._u.tobytes() + blob

    def restore(self, saved: bytes) -> State:
        """Restores a state of `save`. Raises InputError or FmuError, with nothing changed, for other bytes."""
        size = 8 + self._u.nbytes
        if len(saved) < size:
            raise InputError(f"{len(saved)} bytes; expected those of save()")
        self._instance.set_state(saved[size:])
        self._tick = int.from_bytes(saved[:8], "little")
        self._u = np.frombuffer(saved[8:size], dtype=np.float64).copy()
        self.state = self._look()
        return self.state

    def leave(self) -> None:
        """Ends the model."""
        self._instance.free()

    def __enter__(self) -> Self:
        """The stepper itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None,
                 trace: TracebackType | None) -> None:
        """Ends the model."""
        self.leave()

    def _look(self) -> State:
        values = self._port.get_outputs()
        return State(self._tick, self._clock.time(self._tick), values, self.outputs, self._places)

    def _packed(self, inputs: Mapping[str, Any] | Sequence[float] | Array) -> list[float]:
        packed: list[Any]
        if isinstance(inputs, Mapping):
            packed = self._u[self._own].tolist()
            for name, value in inputs.items():
                place = _place(self._owned_places, name, self.inputs, InputError)
                if isinstance(place, slice):
                    part = np.asarray(value, dtype=np.float64).tolist()
                    if np.shape(value) != (place.stop - place.start,):
                        raise InputError(f"{name} = {value!r}: expected {place.stop - place.start} numbers")
                    packed[place] = part
                else:
                    packed[place] = value
        else:
            packed = inputs.tolist() if isinstance(inputs, np.ndarray) else list(inputs)
            if not packed:  # The inputs stay as they are.
                return list(self._u[self._own])
            if len(packed) != len(self._own):
                raise InputError(f"{len(packed)} inputs; expected {len(self._own)}: {', '.join(self.inputs)}")
        for (least, most), value in zip(self._plain, packed, strict=True):
            if not (isinstance(value, float) and least <= value <= most):
                return [_double(s, v) for s, v in zip(self._owned, packed, strict=True)]
        return packed


def _place(
    places: Mapping[str, slice | int], name: str, names: Sequence[str], error: type[Exception] = KeyError
) -> slice | int:
    if name not in places:
        raise error(f"{name!r} is not among {_few(str(name), names)}")
    return places[name]


def _few(name: str, names: Sequence[str]) -> str:
    """The names, or of many those that are like it."""
    if len(names) <= _SHOWN:
        return ", ".join(names) or "none"
    near = get_close_matches(name, names)
    return f"the {len(names)} names" + (f"; did you mean {' or '.join(near)}?" if near else "")


def _chosen(
    scalars: Sequence[Scalar], names: Sequence[str], what: str
) -> tuple[list[Scalar], dict[str, slice | int]]:
    """The scalars that names (of scalars, vectors, or ``*``) select, and the index of each name. Raises InputError."""
    if isinstance(names, str):
        names = [names]
    groups = named_groups(scalars)
    chosen: list[Scalar] = []
    for name in names:
        if name not in groups:
            near = " or ".join(get_close_matches(name, groups, n=3)) or "a name of `jounce describe`"
            raise InputError(f"no {what} named {name!r}; expected {near}")
        chosen += groups[name]
    found = [s.name for s in chosen]
    if twice := next((n for i, n in enumerate(found) if n in found[:i]), None):
        raise InputError(f"{what} {twice!r} is named twice; expected once")
    places: dict[str, slice | int] = {n: i for i, n in enumerate(found)}
    for i, s in enumerate(chosen):  # The components of a vector are adjacent if it was selected by its own name.
        group = [c.name for c in groups.get(s.signal.name, [])]
        if s.signal.shape and found[i : i + len(group)] == group:
            places[s.signal.name] = slice(i, i + len(group))
    return chosen, places


def _double(scalar: Scalar, value: Any) -> float:
    try:
        return double(scalar, value)
    except BadValue as error:
        raise InputError(str(error)) from error


def _checked(scalars: Sequence[Scalar], values: Mapping[str, Value], what: str) -> dict[str, float]:
    by_name = {s.name: s for s in scalars}
    if fault := twice(values, by_name):
        raise InputError(fault)
    values = {present(n, by_name): v for n, v in values.items()}
    _chosen(scalars, [n for n in values if n not in by_name], what)  # Raises for unknown names, with suggestions.
    if vector := next((n for n in values if n not in by_name), None):
        raise InputError(f"{vector} is a vector; expected its components by name")
    return {n: _double(by_name[n], v) for n, v in values.items()}


def _parameters(table: SignalTable, values: Mapping[str, Value]) -> dict[str, float]:
    return _checked(table.parameters, values, "parameter")


def _tracks(table: SignalTable, inputs: Any, hold: bool) -> list[Track]:
    """The ``inputs`` of `simulate` as tracks. Raises InputError."""
    common = inputs.get("time")
    found = []
    for name in inputs.keys():  # noqa: SIM118 - also works for a pandas frame
        if name == "time":
            continue
        scalars = tuple(_chosen(table.inputs, [name], "input")[0])
        value = inputs[name]
        if common is not None:
            times, values = common, value
        elif isinstance(value, tuple) and len(value) == 2 and np.ndim(value[0]) == 1:
            times, values = value
        else:
            times, values = [0.0], [value]
        found.append(_track(name, scalars, times, values, hold))
    return found


def _track(name: str, scalars: tuple[Scalar, ...], times: Any, values: Any, hold: bool) -> Track:
    at = np.asarray(times, dtype=np.float64)
    table = np.asarray(values, dtype=object)
    if table.ndim == 1:
        table = table[:, None]
    if at.ndim != 1 or not len(at) or table.shape != (len(at), len(scalars)):
        raise InputError(
            f"{name}: {np.shape(times)} times and {np.shape(values)} values; expected as many values as times"
            + (f", of {len(scalars)} components each" if len(scalars) > 1 else "")
        )
    if not np.all(np.isfinite(at)) or np.any(np.diff(at) <= 0.0):
        raise InputError(f"{name}: times {np.array2string(at, threshold=6)} s; expected finite times that rise")
    checked = [[_double(s, v) for s, v in zip(scalars, row, strict=True)] for row in table]
    return Track(scalars, at, np.array(checked), hold)
