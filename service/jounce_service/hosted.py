"""The FMUs of jounce_fmu as hosted models; FMU errors become the service's own."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import partial
from importlib.resources import files

from jounce import __version__
from jounce.data import DataError
from jounce.signals import SignalTable
from jounce_fmu.build import BuildError
from jounce_fmu.host import Factory, FmuError, FmuInstance, open_builtin
from jounce_service.errors import BadParameters, ModelUnavailable, SnapshotCorrupt, SolverFailed
from jounce_service.models import HostedInstance, HostedModel, Registry, Vector


class FmuHost:
    """A running FMU, as a HostedInstance."""

    def __init__(self, instance: FmuInstance) -> None:
        """``instance`` is set up."""
        self._instance = instance

    @property
    def tick(self) -> float:
        """Tick length [s]."""
        return self._instance.tick

    def set_inputs(self, values: Vector) -> None:
        """Sets all inputs [unit of each]."""
        try:
            self._instance.set_inputs(values)
        except FmuError as error:
            raise SolverFailed(str(error), field="inputs") from error

    def step(self, n_ticks: int) -> None:
        """Advances ``n_ticks`` [ticks]."""
        try:
            self._instance.step(n_ticks)
        except FmuError as error:
            raise SolverFailed(str(error), field="step", given=n_ticks) from error

    def get_outputs(self) -> Vector:
        """All outputs [unit of each]."""
        try:
            return self._instance.get_outputs()
        except FmuError as error:
            raise SolverFailed(str(error), field="outputs") from error

    def get_state(self) -> bytes:
        """The FMU's serialised state."""
        try:
            return self._instance.get_state()
        except FmuError as error:
            raise SolverFailed(f"the FMU gives no state: {error}", field="state") from error

    def set_state(self, state: bytes) -> None:
        """Back to a state; one that the FMU refuses changes nothing."""
        try:
            self._instance.set_state(state)
        except FmuError as error:
            raise SnapshotCorrupt(str(error), field="state", given=f"{len(state)} bytes") from error

    def free(self) -> None:
        """Frees the FMU instance."""
        self._instance.free()


class FmuModel:
    """An FMU that can be instantiated, as a HostedModel."""

    def __init__(self, factory: Factory) -> None:
        """``factory`` comes from open_builtin or open_fmu."""
        self._factory = factory
        digest = hashlib.sha256(factory.library.read_bytes()).hexdigest()
        self._build = f"jounce {__version__}, {factory.interface.guid}, sha256 {digest}"

    @property
    def build(self) -> str:
        """Version, interface and library: another of them may give other bits."""
        return self._build

    @property
    def table(self) -> SignalTable:
        """Its signals."""
        return self._factory.table

    @property
    def tick(self) -> float:
        """Default tick length [s]."""
        return self._factory.tick

    def create(self, name: str, parameters: Mapping[str, float], start_inputs: Mapping[str, float]) -> HostedInstance:
        """An instance through its initialization; raises BadParameters with the FMU's words."""
        instance = self._factory.instance(name)
        try:
            instance.setup(dict(parameters), dict(start_inputs))
        except FmuError as error:
            instance.free()
            raise BadParameters(
                str(error),
                field="parameters",
                given=", ".join(f"{n} = {v!r}" for n, v in parameters.items()),
                allowed="values with which the model starts",
            ) from error
        return FmuHost(instance)


    def revive(self, name: str, state: bytes) -> HostedInstance:
        """An instance that goes on from a state; raises SnapshotCorrupt with the FMU's words."""
        host = FmuHost(self._factory.instance(name))
        try:
            host.set_state(state)
        except SnapshotCorrupt:
            host.free()
            raise
        return host


def _open(name: str) -> HostedModel:
    try:
        return FmuModel(open_builtin(name))
    except (BuildError, DataError, FmuError) as error:
        raise ModelUnavailable(f"{name} cannot be opened: {error}", field="model", given=name) from error


def builtin_registry() -> Registry:
    """Every vehicle that ships with jounce."""
    return Registry({name: partial(_open, name) for name in builtin_names()})


def builtin_names() -> tuple[str, ...]:
    """Names of the vehicles that ship with jounce, sorted."""
    folders = (files("jounce") / "vehicles").iterdir()
    return tuple(sorted(f.name for f in folders if f.is_dir() and not f.name.startswith((".", "_"))))
