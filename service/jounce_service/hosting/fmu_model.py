"""Hosts the FMUs of jounce_fmu, and turns their errors into those of the service."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

from jounce import __version__
from jounce.data import DataError, vehicle_file
from jounce.signals import SignalTable
from jounce_fmu.build.library import BuildError
from jounce_fmu.importer.host import Factory, FmuError, FmuInstance, open_builtin, open_fmu
from jounce_fmu.importer.process import FmuGone, FmuProcess, Limits
from jounce_fmu.importer.tables import model_table
from jounce_fmu.models import data_sets, formulation, impulse
from jounce_service.hosting.models import HostedInstance, HostedModel, InProcess, Registry, Vector
from jounce_service.server.config import ServerConfig
from jounce_service.transport.errors import (
    BadParameters,
    ModelUnavailable,
    NoSnapshots,
    ServiceError,
    SnapshotCorrupt,
    SolverFailed,
    WorkerLost,
)
from jounce_service.transport.security import ConfigError

#: Most ticks in one request to a worker, and the wall-clock time [s] that a request should take.
_AWAY: Final = 100
_SHARE: Final = 0.1


class FmuHost(InProcess):
    """A running FMU as a HostedInstance."""

    def __init__(self, instance: FmuInstance | FmuProcess) -> None:
        """``instance`` is initialized before the first step."""
        self._instance = instance
        self.keeps_state = instance.keeps_state

    @property
    def tick_length(self) -> float:
        """Tick length [s]."""
        return self._instance.tick_length

    def set_inputs(self, values: Vector) -> None:
        """Sets all inputs [unit of each]."""
        try:
            self._instance.set_inputs(values)
        except FmuError as error:
            raise _service_error(error, SolverFailed, field="inputs") from error

    def step(self, n_ticks: int) -> None:
        """Advances ``n_ticks`` [ticks]."""
        try:
            self._instance.step(n_ticks)
        except FmuError as error:
            raise _service_error(error, SolverFailed, field="step", requested=n_ticks) from error

    def get_outputs(self) -> Vector:
        """Returns all outputs [unit of each]."""
        try:
            return self._instance.get_outputs()
        except FmuError as error:
            raise _service_error(error, SolverFailed, field="outputs") from error

    def get_state(self) -> bytes:
        """Returns the FMU's serialized state; raises NoSnapshots if the FMU cannot save it."""
        self._check_keeps_state()
        try:
            return self._instance.get_state()
        except FmuError as error:
            raise _service_error(error, SolverFailed, field="state") from error

    def set_state(self, state: bytes) -> None:
        """Sets a state; raises SnapshotCorrupt, with nothing changed, if the FMU refuses it."""
        self._check_keeps_state()
        try:
            self._instance.set_state(state)
        except FmuError as error:
            raise _service_error(error, SnapshotCorrupt, field="state", requested=f"{len(state)} bytes") from error

    def free(self) -> None:
        """Frees the FMU instance."""
        self._instance.free()

    def _check_keeps_state(self) -> None:
        if not self.keeps_state:
            raise NoSnapshots(
                f"the FMU of {self._instance.table.name} cannot save its state",
                field="model",
                requested="canSerializeFMUState = false",
                allowed="an FMU with canSerializeFMUState = true",
            )


class WorkerHost(FmuHost):
    """An FMU that runs in its own process."""

    away = True

    def __init__(self, process: FmuProcess) -> None:
        """``process`` is initialized before the first step."""
        super().__init__(process)
        self.process = process
        # Ticks in one request, adapted to the time that a request takes.
        self.stride = 1

    async def advance(self, pieces: Iterable[int]) -> None:
        """Advances by each of ``pieces`` [ticks] while the event loop goes on.

        The ticks are split into requests of a fraction of a second, so that a slow FMU is not taken for one that hangs.
        """
        done = 0
        try:
            for n_ticks in pieces:
                end = done + n_ticks
                while done < end:
                    some = min(self.stride, end - done)
                    begin = time.monotonic()
                    await self._move(some)
                    self._learn(some, time.monotonic() - begin)
                    done += some
        except ServiceError as error:
            error.done += done
            raise

    async def _move(self, n_ticks: int) -> None:
        try:
            await self.process.move(n_ticks)
        except FmuError as error:
            raise _service_error(error, SolverFailed, field="step", requested=n_ticks) from error

    def _learn(self, n_ticks: int, took: float) -> None:
        if took > _SHARE:
            self.stride = max(1, self.stride // 2)
        elif n_ticks == self.stride and took < _SHARE / 4.0:
            self.stride = min(_AWAY, 2 * n_ticks)

    def interrupt(self) -> None:
        """Ends a call that is under way, and the worker with it."""
        self.process.interrupt()


def _service_error(error: FmuError, kind: type[ServiceError], **facts: Any) -> ServiceError:
    if isinstance(error, FmuGone):
        return WorkerLost(str(error), field="model", allowed="ResetSession, RestoreSnapshot or another session")
    return kind(str(error), done=error.done, **facts)


class FmuModel:
    """An FMU as a HostedModel."""

    def __init__(self, factory: Factory, limits: Limits | None = None, file: Path | None = None) -> None:
        """``factory`` comes from open_builtin or open_fmu. With ``limits`` each instance has its own process.

        ``file`` is what ``build`` hashes; None is the library. The results of a foreign FMU depend on its whole file.
        """
        self._factory, self._limits = factory, limits
        digest = hashlib.sha256((file or factory.library).read_bytes()).hexdigest()
        self._build = f"jounce {__version__}, {factory.interface.guid}, sha256 {digest}"
        if factory.defaults:  # A vehicle with its own data that shares the library of another.
            numbers = hashlib.sha256(repr(sorted(factory.defaults.items())).encode()).hexdigest()
            self._build += f", numbers {numbers[:16]}"

        if factory.resources and not file:  # On a terrain file.
            road = Path(url2pathname(urlsplit(factory.resources).path)).read_bytes()
            self._build += f", terrain {hashlib.sha256(road).hexdigest()[:16]}"

    @property
    def build(self) -> str:
        """Version, interface and hash of the file; results are the same bits only under the same build."""
        return self._build

    @property
    def table(self) -> SignalTable:
        """The model's signals."""
        return self._factory.table

    @property
    def tick_length(self) -> float:
        """Default tick length [s]."""
        return self._factory.tick_length

    def create(self, name: str, parameters: Mapping[str, float], start_inputs: Mapping[str, float]) -> HostedInstance:
        """Returns an initialized instance; raises BadParameters with the FMU's message."""
        instance = self._instance(name)
        try:
            instance.setup(dict(parameters), dict(start_inputs))
        except FmuError as error:
            instance.free()
            raise _service_error(
                error,
                BadParameters,
                field="parameters",
                requested=", ".join(f"{n} = {v!r}" for n, v in parameters.items()),
                allowed="values with which the model starts",
            ) from error
        return _host(instance)

    def revive(self, name: str, state: bytes) -> HostedInstance:
        """Returns an instance that continues from a state; raises SnapshotCorrupt with the FMU's message."""
        host = _host(self._instance(name))
        try:
            host.set_state(state)
        except ServiceError:
            host.free()
            raise
        return host

    def _instance(self, name: str) -> FmuInstance | FmuProcess:
        try:
            if self._limits is None:
                return self._factory.instance(name)
            return FmuProcess(self._factory, name, self._limits)
        except FmuError as error:
            raise _service_error(error, ModelUnavailable, field="model", requested=self.table.name) from error


def _host(instance: FmuInstance | FmuProcess) -> FmuHost:
    return WorkerHost(instance) if isinstance(instance, FmuProcess) else FmuHost(instance)


def _open(name: str | Path, limits: Limits | None) -> HostedModel:
    try:
        return FmuModel(open_builtin(name), limits)
    except (BuildError, DataError, FmuError) as error:
        raise ModelUnavailable(f"{name} cannot be opened: {error}", field="model", requested=str(name)) from error


def _open_foreign(path: Path, limits: Limits) -> HostedModel:
    try:
        # One doStep per tick: the results must not depend on where the clock stops.
        return FmuModel(replace(open_fmu(path), by_tick=True), limits, path)
    except (FmuError, OSError) as error:
        raise ModelUnavailable(f"{path.name} cannot be opened: {error}", field="model", requested=path.stem) from error


def builtin_registry() -> Registry:
    """The data sets of all known models, run in the server's process."""
    return registry(ServerConfig())


def registry(config: ServerConfig) -> Registry:
    """The data sets of all known models, and the vehicles and FMUs of the settings; raises ConfigError."""
    limits = Limits(config.worker_seconds or math.inf, config.worker_memory)
    models: dict[str, Callable[[], HostedModel]] = {
        name: partial(_open, name, limits if config.workers else None) for name in data_sets()
    }
    for place in config.vehicle:
        if place in models:  # A data set that comes with jounce.
            continue
        name, path = _own_vehicle(place)
        if name in models:
            raise ConfigError(f"vehicle {place!r}: there is a model named {name} already; expected another name")
        models[name] = partial(_open, path, limits if config.workers else None)
    for path in _files(config.fmu):
        if path.stem in models:
            raise ConfigError(
                f"fmu {str(path)!r}: there is a model named {path.stem} already; expected another file name"
            )
        models[path.stem] = partial(_open_foreign, path, limits)
    return Registry(models)


def _own_vehicle(place: str) -> tuple[str, str | Path]:
    """Name and path of a user's vehicle. One that cannot be read is named after its file, and is unavailable later."""
    on_engine = (impulse.asked(place) or ("", ""))[1]
    named = formulation.named if formulation.has_own_model(place) else impulse.named if on_engine else None
    if named is not None:
        try:
            return named(place)
        except DataError as error:
            raise ConfigError(str(error)) from error
    path = Path(place).resolve()
    if not path.exists():
        try:
            path = vehicle_file(place)
        except DataError as error:
            raise ConfigError(str(error)) from error
    try:
        return model_table(path).name, path
    except (BuildError, DataError):
        return (path.parent if path.name == "vehicle.toml" else path).stem, path


def _files(places: Iterable[str]) -> Iterator[Path]:
    """The FMU files in ``places``. Clients name models, not files, so no other file is ever opened."""
    for place in map(Path, places):
        # Files in a folder are not checked here: a bad one becomes an unavailable model.
        found = sorted(place.glob("*.fmu")) if place.is_dir() else [place] if place.is_file() else []
        if not found:
            raise ConfigError(f"fmu {str(place)!r}: expected an FMU or a folder of FMUs")
        yield from found
