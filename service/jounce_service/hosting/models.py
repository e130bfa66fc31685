"""The models that a server hosts, behind one small protocol, so that the service knows no vehicle."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from jounce.signals import SignalTable
from jounce_service.transport.errors import ModelUnavailable, UnknownModel

Vector = NDArray[np.float64]


#: Ticks between two looks at the wall clock, of a model in this process.
_STRIDE: Final = 1000


class HostedInstance(Protocol):
    """One running model, wherever it runs. Raises SolverFailed where a step fails."""

    @property
    def tick_length(self) -> float:
        """Tick length [s]."""

    @property
    def away(self) -> bool:
        """Whether it runs in another process: all methods but ``set_inputs`` and ``advance`` wait for an answer."""

    @property
    def keeps_state(self) -> bool:
        """Whether ``get_state`` gives one."""

    @property
    def stride(self) -> int:
        """Ticks in one step at most, where somebody wants to look at the wall clock between two."""

    def set_inputs(self, values: Vector) -> None:
        """Sets all inputs, in the order of ``table.inputs``."""

    def step(self, n_ticks: int) -> None:
        """Advances exactly ``n_ticks`` [ticks]."""

    async def advance(self, pieces: Iterable[int]) -> None:
        """Advances by each of the pieces [ticks], off the event loop; the next is asked for when one is done."""

    def get_outputs(self) -> Vector:
        """All outputs, in the order of ``table.outputs``."""

    def get_state(self) -> bytes:
        """The whole state; raises SolverFailed where the model cannot give it."""

    def set_state(self, state: bytes) -> None:
        """Goes back to a state of ``get_state``. Raises SnapshotCorrupt and changes nothing where it is refused."""

    def interrupt(self) -> None:
        """Ends what it is at, if that is away, and the process with it."""

    def free(self) -> None:
        """Ends the instance."""


class InProcess:
    """What every instance in this process does alike."""

    away = False
    keeps_state = True
    stride = _STRIDE

    def step(self, n_ticks: int) -> None:
        """Advances exactly ``n_ticks`` [ticks]."""
        raise NotImplementedError

    async def advance(self, pieces: Iterable[int]) -> None:
        """In a thread."""
        await asyncio.to_thread(self._step_all, pieces)

    def _step_all(self, pieces: Iterable[int]) -> None:
        for n_ticks in pieces:
            self.step(n_ticks)

    def interrupt(self) -> None:
        """Nothing: whoever could call it waits for the step."""


class HostedModel(Protocol):
    """A model that can be instantiated."""

    @property
    def table(self) -> SignalTable:
        """Its signals."""

    @property
    def tick_length(self) -> float:
        """Default tick length [s]."""

    @property
    def build(self) -> str:
        """What must be the same for a state to be of use: in effect the compiled model's hash."""

    def create(self, name: str, parameters: Mapping[str, float], start_inputs: Mapping[str, float]) -> HostedInstance:
        """An instance at tick 0; raises BadParameters with the model's own words."""

    def revive(self, name: str, state: bytes) -> HostedInstance:
        """An instance that goes on from a state of ``get_state``; raises SnapshotCorrupt."""


class Registry:
    """Name -> model; a model is opened once, when it is first asked for or by ``open_all``."""

    def __init__(self, openers: Mapping[str, Callable[[], HostedModel]]) -> None:
        """``openers`` are called once each, at most; they raise ModelUnavailable."""
        self._openers = dict(openers)
        self._open: dict[str, HostedModel | ModelUnavailable] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the hosted models, sorted."""
        return tuple(sorted(self._openers))

    def open_all(self) -> dict[str, str]:
        """Opens every model now, so that no client waits for a build; name -> reason of those that cannot be."""
        failures = {}
        for name in self.names:
            try:
                self.get(name)
            except ModelUnavailable as error:
                failures[name] = error.message
        return failures

    def get(self, name: str) -> HostedModel:
        """The model; raises UnknownModel, or ModelUnavailable with the words of the first try."""
        if name not in self._openers:
            raise UnknownModel(f"no model named {name!r}", field="model", given=name, allowed=", ".join(self.names))
        if name not in self._open:
            try:
                self._open[name] = self._openers[name]()
            except ModelUnavailable as error:
                self._open[name] = error
        found = self._open[name]
        if isinstance(found, ModelUnavailable):
            raise ModelUnavailable(found.message, field="model", given=name, allowed="a model that can be opened")
        return found
