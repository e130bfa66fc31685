"""A sweep's TOML file, checked against the model before anything runs, and the cases that it stands for.

Cases are the grid, last name fastest, times the draws. Draw k of a parameter depends on the seed, the parameter's
name and k alone: every grid point sees the same draws, and another parameter or more draws leave them as they are.
"""

from __future__ import annotations

import hashlib
import math
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np

from jounce.renamed import present
from jounce.signals import SignalTable
from jounce_fmu.importer.trajectory import InputError, Inputs, Track, interval, ticks
from jounce_fmu.models.roads import on_road
from jounce_fmu.models.tires import on_tires
from jounce_service.hosting.models import HostedModel, Vector
from jounce_service.hosting.values import parse, scalar_of, select
from jounce_service.transport.errors import ServiceError
from jounce_tools.errors import UsageError, with_expected
from jounce_tools.manoeuvres.manoeuvre import Manoeuvre, find, settings_of
from jounce_tools.simulate.csv_inputs import read_inputs

#: Cases are held in memory, and each is a file.
MAX_CASES: Final = 1_000_000
#: Key -> what its value may be, in words and as types.
_KEYS: Final[dict[str, tuple[str, tuple[type, ...]]]] = {
    "vehicle": ("a string", (str,)),
    "tire": ("a string", (str,)),
    "road": ("a string", (str,)),
    "manoeuvre": ("a string", (str,)),
    "model": ("a string", (str,)),
    "duration": ("a number", (int, float)),
    "output_interval": ("a number", (int, float)),
    "inputs": ("a string", (str,)),
    "hold": ("true or false", (bool,)),
    "outputs": ("a list", (list,)),
    "seed": ("a whole number from 0", (int,)),
    "draws": ("a whole number from 1", (int,)),
    "set": ("a table", (dict,)),
    "grid": ("a table", (dict,)),
    "random": ("a table", (dict,)),
}

#: Keys of a run, which a manoeuvre has of its own.
_RUN: Final = ("duration", "output_interval", "inputs", "hold", "outputs")
#: Names of [grid] that are texts: what is driven, and on what.
_TEXTS: Final = ("vehicle", "tire", "road")
#: What the name of a manoeuvre's setting begins with.
SETTING: Final = "manoeuvre."

Draw = Callable[[np.random.Generator, int], Vector]
#: Distribution -> the names of its two numbers, what they must be, and how it is drawn.
_DISTRIBUTIONS: Final[dict[str, tuple[tuple[str, str], str, Callable[[float, float], bool], Any]]] = {
    "uniform": (("low", "high"), "low below high", lambda a, b: a < b, np.random.Generator.uniform),
    "normal": (("mean", "deviation"), "a deviation above 0", lambda _, b: b > 0.0, np.random.Generator.normal),
    "lognormal": (
        ("median", "log_deviation"),
        "a median and a log_deviation above 0",
        lambda a, b: a > 0.0 and b > 0.0,
        lambda g, median, sigma, n: median * g.lognormal(0.0, sigma, n),
    ),
}


@dataclass(frozen=True)
class Case:
    """One run."""

    number: int
    """Place in the sweep, from 0."""
    draw: int
    """Place among the draws of its grid point, from 0."""
    parameters: dict[str, float]
    """Parameters and settings that the sweep sets [unit of each]; a draw may be out of its bounds."""
    vehicle: str
    """Name or absolute path of what is driven."""
    texts: dict[str, str] = field(default_factory=dict)
    """What [grid] says of vehicle, tire and road."""


@dataclass(frozen=True)
class Plan:
    """A sweep without its cases: what every run needs."""

    builds: dict[str, str]
    """Vehicle -> its build; another one may give other bits."""
    manoeuvre: str
    """What is driven; empty where the inputs are given over time."""
    duration: float
    """Simulated time [s]."""
    output_interval: float | None
    """Time between rows [s]; None for every tick."""
    tracks: tuple[Track, ...]
    """Inputs over time."""
    outputs: tuple[str, ...]
    """Names of the outputs to keep."""
    units: dict[str, str]
    """Of the outputs, and of what is swept."""
    described: dict[str, Any]
    """What the file says, with nothing left to defaults: what must be the same for a sweep to go on."""


def read(path: Path) -> dict[str, Any]:
    """The file, its keys and types checked, with vehicle and set in any case. Raises UsageError, OSError."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise UsageError(f"{path.name}: byte {error.start} is not UTF-8; expected a text (TOML)") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path.name}: {error}") from error
    for key, value in content.items():
        if key not in _KEYS:
            raise UsageError(f"{path.name}: no key {key!r}; expected {', '.join(_KEYS)}")
        words, kinds = _KEYS[key]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise UsageError(f"{path.name}: {key} = {value!r}: expected {words}")
    if "manoeuvre" in content and (own := [k for k in _RUN if k in content]):
        raise UsageError(f"{path.name}: {own[0]} and manoeuvre; expected one of them: a manoeuvre has its own runs")
    if "duration" not in content and "manoeuvre" not in content:
        raise UsageError(f"{path.name}: duration is missing; expected a time in s, or a manoeuvre")
    for key, least in (("seed", 0), ("draws", 1)):
        if content.get(key, least) < least:
            raise UsageError(f"{path.name}: {key} = {content[key]!r}: expected {_KEYS[key][0]}")
    if "model" in content:  # its name before
        if "vehicle" in content:
            raise UsageError(f"{path.name}: vehicle and model; expected vehicle alone")
        content["vehicle"] = content.pop("model")
    return {"vehicle": "hmmwv", "set": {}} | content


def planned(path: Path, content: Mapping[str, Any],
            opened: Callable[[str], HostedModel]) -> tuple[Plan, list[Case]]:  # fmt: skip
    """The sweep of a file that was read; ``opened`` gives the model of a vehicle.

    Raises UsageError naming file, place and what is expected; DataError, BuildError for what cannot be opened.
    """
    manoeuvre = find(content["manoeuvre"]) if "manoeuvre" in content else None
    points, vehicles = _vehicles(path, content)
    models = {vehicle: opened(vehicle) for vehicle in vehicles.values()}
    checked = [_parameters(path.name, content, model.table, manoeuvre) for model in models.values()]
    fixed, grid, drawn = checked[0]
    tracks: tuple[Track, ...] = ()
    outputs: tuple[str, ...] = ()
    duration, every = float(content.get("duration", 0.0)), content.get("output_interval")
    every = None if every is None else float(every)
    for model in models.values() if manoeuvre is None else ():
        tracks, outputs = _run_of(path, content, model, duration, every, {*fixed, *grid, *drawn})
    draws, seed = content.get("draws", 1), content.get("seed", 0)
    if draws > 1 and not drawn:
        raise UsageError(f"{path.name}: draws = {draws}: expected 1 where nothing is [random]")
    count = draws * math.prod(map(len, grid.values()))
    if count > MAX_CASES:
        raise UsageError(f"{path.name}: {count} cases: expected at most {MAX_CASES}")
    # The name is part of the seed, so that parameters are independent of each other.
    columns = {n: draw(np.random.default_rng([seed, *n.encode()]), draws).tolist() for n, draw in drawn.items()}
    cases = []
    for number, (values, k) in enumerate(product(product(*grid.values()), range(draws))):
        point = dict(zip(grid, values, strict=True))
        texts: dict[str, str] = {n: point.pop(n) for n in points}
        parameters = fixed | point | {n: v[k] for n, v in columns.items()}
        cases.append(Case(number, k, parameters, vehicles[tuple(texts.values())], texts))
    table = next(iter(models.values())).table
    units = {n: _unit(n, table, manoeuvre) for n in (*outputs, *fixed, *grid, *drawn) if n not in points}
    builds = {vehicle: model.build for vehicle, model in models.items()}
    digest = hashlib.sha256((path.parent / content["inputs"]).read_bytes()).hexdigest() if "inputs" in content else ""
    described = {
        "vehicle": content["vehicle"],
        "build": builds if points else next(iter(builds.values())),
        **{key: content[key] for key in ("tire", "road", "manoeuvre") if key in content},
        "duration": duration,
        "output_interval": every,
        "inputs (SHA-256)": digest,
        "hold": bool(content.get("hold", False)),
        "outputs": list(outputs),
        "seed": seed,
        "draws": draws,
        "set": fixed,
        "grid": grid,
        "random": dict(_flat(content.get("random", {}))),
    }
    name = manoeuvre.name if manoeuvre else ""
    return Plan(builds, name, duration, every, tracks, outputs, units, described), cases


def _run_of(path: Path, content: Mapping[str, Any], model: HostedModel, duration: float, every: float | None,
            swept: Iterable[str]) -> tuple[tuple[Track, ...], tuple[str, ...]]:  # fmt: skip
    """Inputs and outputs of a run, checked with all else that a run needs."""
    table = model.table
    tracks: tuple[Track, ...] = ()
    if "inputs" in content:
        tracks = (read_inputs(path.parent / content["inputs"], table, hold=bool(content.get("hold", False))),)
    try:
        outputs = tuple(select(table.outputs, content.get("outputs", ["*"]), "output").names)
    except (ServiceError, TypeError) as error:
        raise UsageError(f"{path.name}: outputs: {with_expected(error)}") from error
    if "tick" not in swept:  # where it is swept, it is each run's own affair
        try:
            Inputs(tracks, table, model.tick_length)
            ticks(duration, model.tick_length, "duration")
            interval(every, model.tick_length, "output_interval")
        except InputError as error:
            raise UsageError(f"{path.name}: {error}") from error
    return tracks, outputs


def _vehicles(path: Path, content: Mapping[str, Any]) -> tuple[dict[str, list[str]], dict[tuple[str, ...], str]]:
    """The texts of [grid] by name, and for each of their combinations the vehicle that they make."""
    texts: dict[str, list[str]] = {n: v for n, v in content.get("grid", {}).items() if n in _TEXTS}
    for name, values in texts.items():
        where = f"{path.name}: [grid] {name} = {values!r}"
        if not isinstance(values, list) or not values or not all(isinstance(v, str) for v in values):
            raise UsageError(f"{where}: expected a list of strings")
        if len(set(values)) != len(values):
            raise UsageError(f"{where}: expected each value once")
        if name != "vehicle" and name in content:
            raise UsageError(f"{path.name}: {name}: expected it once, in [grid] or above")
    found: dict[tuple[str, ...], str] = {}
    for point in product(*texts.values()):
        chosen = {n: content[n] for n in _TEXTS if n in content} | dict(zip(texts, point, strict=True))
        beside = path.parent / chosen["vehicle"]
        vehicle = str(beside.resolve()) if beside.exists() else chosen["vehicle"]
        for name, put in (("tire", on_tires), ("road", on_road)):
            vehicle = str(put(vehicle, path.parent / chosen[name])) if name in chosen else vehicle
        found[point] = vehicle
    return texts, found


def _unit(name: str, table: SignalTable, manoeuvre: Manoeuvre | None) -> str:
    if manoeuvre and name.startswith(SETTING):
        return manoeuvre.settings[name.removeprefix(SETTING)].unit
    return table.by_name(name).signal.unit


def _parameters(
    file: str, content: Mapping[str, Any], table: SignalTable, manoeuvre: Manoeuvre | None
) -> tuple[dict[str, float], dict[str, list[Any]], dict[str, Draw]]:
    known = {s.name for s in table.parameters}
    held, gridded, random = (
        [(present(n, known), v) for n, v in _flat(content.get(part, {}))]
        for part in ("set", "grid", "random")
    )
    fixed = {n: _value(f"{file}: [set] {n}", table, manoeuvre, n, v) for n, v in held}
    grid = {n: v if n in _TEXTS else _values(f"{file}: [grid] {n}", table, manoeuvre, n, v) for n, v in gridded}
    drawn = {n: _draw(f"{file}: [random] {n}", table, manoeuvre, n, v) for n, v in random}
    names = [*fixed, *(n for n, _ in (*gridded, *random))]  # one of [set] may be replaced by --set
    if twice := sorted({n for n in names if names.count(n) > 1}):
        raise UsageError(f"{file}: {', '.join(twice)}: expected one of [set], [grid] and [random]")
    return fixed, grid, drawn


def _flat(tables: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Names and values: to TOML a name with dots and no quotes is tables within tables."""
    for name, value in tables.items():
        if isinstance(value, dict) and value and "distribution" not in value:
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _value(where: str, table: SignalTable, manoeuvre: Manoeuvre | None, name: str, requested: Any) -> float:
    if name.startswith(SETTING):
        return _setting(where, manoeuvre, name, requested)
    try:
        scalar = scalar_of(table, table.parameters, name, "parameter")
        return parse(scalar, requested)
    except ServiceError as error:
        raise UsageError(f"{where} = {requested!r}: {with_expected(error)}") from error


def _setting(where: str, manoeuvre: Manoeuvre | None, name: str, requested: Any) -> float:
    if manoeuvre is None:
        raise UsageError(f"{where}: expected manoeuvre = NAME above, whose setting this is")
    if not _finite(requested):
        raise UsageError(f"{where} = {requested!r}: expected a finite number")
    own = name.removeprefix(SETTING)
    try:
        return settings_of(manoeuvre, {own: float(requested)})[own]
    except UsageError as error:
        raise UsageError(f"{where}: {str(error).removeprefix('--setting ')}") from error


def _values(where: str, table: SignalTable, manoeuvre: Manoeuvre | None, name: str, requested: Any) -> list[float]:
    if not isinstance(requested, list) or not requested:
        raise UsageError(f"{where} = {requested!r}: expected a list of values")
    values = [_value(where, table, manoeuvre, name, v) for v in requested]
    if len(set(values)) != len(values):
        raise UsageError(f"{where} = {requested!r}: expected each value once")
    return values


def _draw(where: str, table: SignalTable, manoeuvre: Manoeuvre | None, name: str, requested: Any) -> Draw:
    if name.startswith(SETTING):
        own = name.removeprefix(SETTING)
        if manoeuvre is None or own not in manoeuvre.settings:
            _setting(where, manoeuvre, name, 0.0)
    else:
        try:
            scalar = scalar_of(table, table.parameters, name, "parameter")
        except ServiceError as error:
            raise UsageError(f"{where}: {with_expected(error)}") from error
        if scalar.signal.type != "Real":
            raise UsageError(f"{where}: of type {scalar.signal.type}: expected real parameters")
    kind = requested.get("distribution") if isinstance(requested, dict) else None
    if not isinstance(kind, str) or kind not in _DISTRIBUTIONS:
        raise UsageError(f"{where} = {requested!r}: expected a table with distribution = {_or(_DISTRIBUTIONS)}")
    names, words, good, draw = _DISTRIBUTIONS[kind]
    numbers = [requested.get(n) for n in names]
    if set(requested) != {"distribution", *names} or not all(_finite(v) for v in numbers) or not good(*numbers):
        raise UsageError(f"{where} = {requested!r}: expected {kind} with {' and '.join(names)}, {words}")
    first, second = map(float, numbers)
    return lambda generator, n: draw(generator, first, second, n)


def _finite(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _or(names: Iterable[str]) -> str:
    return " or ".join(f'"{n}"' for n in names)
