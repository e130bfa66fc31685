"""The protocol behind which a server hosts models, so that the service does not depend on the vehicle."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from jounce.signals import SignalTable
from jounce_service.transport.errors import ModelUnavailable, ServiceError, UnknownModel

Vector = NDArray[np.float64]


#: Most ticks of one native call of a model in this process, so that the wall clock is checked between calls.
_STRIDE: Final = 1000


class HostedInstance(Protocol):
    """One running model, in this process or a worker.

    Its methods raise SolverFailed if the model fails; its ``done`` counts the ticks completed before.
    """

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

    def step_all(self, pieces: Iterable[int]) -> None:
        """Advances by each of ``pieces`` [ticks]; takes the next piece when one is done."""

    async def advance(self, pieces: Iterable[int]) -> None:
        """The same off the event loop."""

    def get_outputs(self) -> Vector:
        """Returns all outputs, in the order of ``table.outputs``."""

    def get_state(self) -> bytes:
        """Returns the whole state; raises NoSnapshots if the model cannot save it."""

    def set_state(self, state: bytes) -> None:
        """Sets a state of ``get_state``; raises SnapshotCorrupt, with nothing changed, if the model refuses it."""

    def interrupt(self) -> None:
        """Ends a call that is under way in a worker, and the worker with it; otherwise does nothing."""

    def free(self) -> None:
        """Ends the instance."""


class InProcess:
    """Base class of instances that run in this process."""

    away = False
    keeps_state = True
    stride = _STRIDE

    def step(self, n_ticks: int) -> None:
        """Advances exactly ``n_ticks`` [ticks]."""
        raise NotImplementedError

    def step_all(self, pieces: Iterable[int]) -> None:
        """Advances by each of ``pieces`` [ticks]."""
        done = 0
        try:
            for n_ticks in pieces:
                self.step(n_ticks)
                done += n_ticks
        except ServiceError as error:
            error.done += done
            raise

    async def advance(self, pieces: Iterable[int]) -> None:
        """Advances by each of ``pieces`` [ticks] in a thread."""
        await asyncio.to_thread(self.step_all, pieces)

    def interrupt(self) -> None:
        """Does nothing: a native step in this process cannot be interrupted."""


class HostedModel(Protocol):
    """A model that can be instantiated."""

    @property
    def table(self) -> SignalTable:
        """The model's signals."""

    @property
    def tick_length(self) -> float:
        """Default tick length [s]."""

    @property
    def build(self) -> str:
        """Identifies the compiled model; a state can be restored only under the same build."""

    def create(self, name: str, parameters: Mapping[str, float], start_inputs: Mapping[str, float]) -> HostedInstance:
        """Returns an instance at tick 0; raises BadParameters with the model's message."""

    def revive(self, name: str, state: bytes) -> HostedInstance:
        """Returns an instance that continues from a state of ``get_state``; raises SnapshotCorrupt."""


class Registry:
    """The hosted models by name. Each is opened once, at its first use or by ``open_all``."""

    def __init__(self, openers: Mapping[str, Callable[[], HostedModel]]) -> None:
        """``openers`` maps a name to a function that opens the model or raises ModelUnavailable."""
        self._openers = dict(openers)
        self._open: dict[str, HostedModel | ModelUnavailable] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the hosted models, sorted."""
        return tuple(sorted(self._openers))

    def open_all(self) -> dict[str, str]:
        """Opens every model, so that no client waits for a build; returns name -> reason for those that failed."""
        failures = {}
        for name in self.names:
            try:
                self.get(name)
            except ModelUnavailable as error:
                failures[name] = error.message
        return failures

    def get(self, name: str) -> HostedModel:
        """Returns a model; raises UnknownModel, or ModelUnavailable with the message of the first attempt."""
        if name not in self._openers:
            raise UnknownModel(f"no model named {name!r}", field="model", requested=name, allowed=", ".join(self.names))
        if name not in self._open:
            try:
                self._open[name] = self._openers[name]()
            except ModelUnavailable as error:
                self._open[name] = error
        found = self._open[name]
        if isinstance(found, ModelUnavailable):
            raise ModelUnavailable(found.message, field="model", requested=name, allowed="a model that can be opened")
        return found
