"""A sweep's TOML file, checked against the model before anything runs, and the cases that it stands for.

Cases are the grid, last name fastest, times the draws. Draw k of a parameter depends on the seed, the parameter's
name and k alone: every grid point sees the same draws, and another parameter or more draws leave them as they are.
"""

from __future__ import annotations

import hashlib
import math
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, Final

import numpy as np

from jounce.renamed import present
from jounce.signals import SignalTable
from jounce_fmu.importer.trajectory import InputError, Inputs, Track, interval, ticks
from jounce_service.hosting.models import HostedModel, Vector
from jounce_service.hosting.values import parse, scalar_of, select
from jounce_service.transport.errors import ServiceError
from jounce_tools.errors import UsageError, with_expected
from jounce_tools.simulate.csv_inputs import read_inputs

#: Cases are held in memory, and each is a file.
MAX_CASES: Final = 1_000_000
#: Key -> what its value may be, in words and as types.
_KEYS: Final[dict[str, tuple[str, tuple[type, ...]]]] = {
    "vehicle": ("a string", (str,)),
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
    """Every parameter that the sweep sets [unit of each]; a draw may be out of its bounds."""


@dataclass(frozen=True)
class Plan:
    """A sweep without its cases: what every run needs."""

    model: str
    """Vehicle name or absolute path."""
    build: str
    """The model's build; another one may give other bits."""
    duration: float
    """Simulated time [s]."""
    output_interval: float | None
    """Time between rows [s]; None for every tick."""
    tracks: tuple[Track, ...]
    """Inputs over time."""
    outputs: tuple[str, ...]
    """Names of the outputs to keep."""
    described: dict[str, Any]
    """What the file says, with nothing left to defaults: what must be the same for a sweep to go on."""


def read(path: Path) -> dict[str, Any]:
    """The file, its keys and types checked, with vehicle and set in any case. Raises UsageError, OSError."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path.name}: {error}") from error
    for key, value in content.items():
        if key not in _KEYS:
            raise UsageError(f"{path.name}: no key {key!r}; expected {', '.join(_KEYS)}")
        words, kinds = _KEYS[key]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise UsageError(f"{path.name}: {key} = {value!r}: expected {words}")
    if "duration" not in content:
        raise UsageError(f"{path.name}: duration is missing; expected a time in s")
    for key, least in (("seed", 0), ("draws", 1)):
        if content.get(key, least) < least:
            raise UsageError(f"{path.name}: {key} = {content[key]!r}: expected {_KEYS[key][0]}")
    if "model" in content:  # its name before
        if "vehicle" in content:
            raise UsageError(f"{path.name}: vehicle and model; expected vehicle alone")
        content["vehicle"] = content.pop("model")
    return {"vehicle": "hmmwv", "set": {}} | content


def planned(path: Path, content: Mapping[str, Any], model: HostedModel) -> tuple[Plan, list[Case]]:
    """The sweep of a file that was read, for that model. Raises UsageError naming file, place and what is expected."""
    table = model.table
    tracks: tuple[Track, ...] = ()
    digest, hold = "", bool(content.get("hold", False))
    if "inputs" in content:
        inputs = path.parent / content["inputs"]
        tracks = (read_inputs(inputs, table, hold=hold),)
        digest = hashlib.sha256(inputs.read_bytes()).hexdigest()
    try:
        outputs = tuple(select(table.outputs, content.get("outputs", ["*"]), "output").names)
    except (ServiceError, TypeError) as error:
        raise UsageError(f"{path.name}: outputs: {with_expected(error)}") from error
    duration, every = float(content["duration"]), content.get("output_interval")
    every = None if every is None else float(every)
    fixed, grid, drawn = _parameters(path.name, content, table)
    if "tick" not in {*fixed, *grid, *drawn}:  # where it is swept, it is each run's own affair
        try:
            Inputs(tracks, table, model.tick_length)
            ticks(duration, model.tick_length, "duration")
            interval(every, model.tick_length, "output_interval")
        except InputError as error:
            raise UsageError(f"{path.name}: {error}") from error
    draws, seed = content.get("draws", 1), content.get("seed", 0)
    if draws > 1 and not drawn:
        raise UsageError(f"{path.name}: draws = {draws}: expected 1 where nothing is [random]")
    count = draws * math.prod(map(len, grid.values()))
    if count > MAX_CASES:
        raise UsageError(f"{path.name}: {count} cases: expected at most {MAX_CASES}")
    # The name is part of the seed, so that parameters are independent of each other.
    columns = {n: draw(np.random.default_rng([seed, *n.encode()]), draws).tolist() for n, draw in drawn.items()}
    cases = [
        Case(number, k, fixed | dict(zip(grid, point, strict=True)) | {n: v[k] for n, v in columns.items()})
        for number, (point, k) in enumerate(product(product(*grid.values()), range(draws)))
    ]
    described = {
        "vehicle": content["vehicle"],
        "build": model.build,
        "duration": duration,
        "output_interval": every,
        "inputs (SHA-256)": digest,
        "hold": hold,
        "outputs": list(outputs),
        "seed": seed,
        "draws": draws,
        "set": fixed,
        "grid": grid,
        "random": dict(_flat(content.get("random", {}))),
    }
    return Plan(content["vehicle"], model.build, duration, every, tracks, outputs, described), cases


def _parameters(
    file: str, content: Mapping[str, Any], table: SignalTable
) -> tuple[dict[str, float], dict[str, list[float]], dict[str, Draw]]:
    known = {s.name for s in table.parameters}
    held, gridded, random = (
        [(present(n, known), v) for n, v in _flat(content.get(part, {}))] for part in ("set", "grid", "random")
    )
    fixed = {n: _value(f"{file}: [set] {n}", table, n, v) for n, v in held}
    grid = {n: _values(f"{file}: [grid] {n}", table, n, v) for n, v in gridded}
    drawn = {n: _draw(f"{file}: [random] {n}", table, n, v) for n, v in random}
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


def _value(where: str, table: SignalTable, name: str, requested: Any) -> float:
    try:
        scalar = scalar_of(table, table.parameters, name, "parameter")
        return parse(scalar, requested)
    except ServiceError as error:
        raise UsageError(f"{where} = {requested!r}: {with_expected(error)}") from error


def _values(where: str, table: SignalTable, name: str, requested: Any) -> list[float]:
    if not isinstance(requested, list) or not requested:
        raise UsageError(f"{where} = {requested!r}: expected a list of values")
    values = [_value(where, table, name, v) for v in requested]
    if len(set(values)) != len(values):
        raise UsageError(f"{where} = {requested!r}: expected each value once")
    return values


def _draw(where: str, table: SignalTable, name: str, requested: Any) -> Draw:
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
