"""One vehicle for an environment: in this process, or in a session on a server. Both give the same numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from fnmatch import fnmatchcase
from typing import Any, Protocol

from jounce_client.client import Client
from jounce_client.errors import JounceError
from jounce_proto import jounce_pb2 as pb

#: (smallest, largest) value of each input, by name.
Bounds = Mapping[str, tuple[float, float]]


class Outputs(Protocol):
    """What an output vector or scalar is called by: ``state["speed"]``; ``state.time`` [s], ``state.values``."""

    @property
    def time(self) -> float:
        """Time since the start of the model [s]."""

    @property
    def values(self) -> Any:
        """All wanted outputs."""

    def __getitem__(self, name: str, /) -> Any:
        """A scalar, or an array with the components of a vector."""


class ModelFailed(RuntimeError):
    """The model could not be stepped further; the text says why. A reset brings it back."""


class Model(Protocol):
    """A vehicle that goes back to its start and forward by one step."""

    @property
    def bounds(self) -> Bounds:
        """Bounds of every input."""

    def begin(self, owns: Sequence[str], wants: Sequence[str], period: int, settle: int) -> Outputs:
        """Starts; after ``settle`` ticks is the state to which `reset` goes back."""

    def reset(self) -> Outputs:
        """Back to the start."""

    def step(self, inputs: Sequence[float]) -> Outputs:
        """One period with the inputs in the order of ``owns``. Raises ModelFailed."""

    def close(self) -> None:
        """Ends it."""


class InProcess:
    """A vehicle in this process; needs the package jounce."""

    def __init__(self, vehicle: str, parameters: Mapping[str, Any]) -> None:
        """Raises ImportError without jounce; DataError, BuildError, InputError for what it cannot use."""
        try:
            import jounce
        except ImportError:
            raise ImportError("a vehicle in this process needs jounce; or give address= of a server") from None
        self._join, self._vehicle, self._parameters = jounce.join, vehicle, dict(parameters)
        with jounce.join(vehicle, **self._parameters) as probe:
            self.bounds: Bounds = {
                s.name: (-math.inf if s.signal.minimum is None else s.signal.minimum,
                         math.inf if s.signal.maximum is None else s.signal.maximum)
                for s in probe.table.inputs
            }  # fmt: skip

    def begin(self, owns: Sequence[str], wants: Sequence[str], period: int, settle: int) -> Outputs:
        """See `Model`."""
        if settle:
            with self._join(self._vehicle, owns=owns, wants=wants, period=settle, **self._parameters) as first:
                first.step()
                saved = first.save()
        self._pilot = self._join(self._vehicle, owns=owns, wants=wants, period=period, **self._parameters)
        self._start = saved if settle else self._pilot.save()
        return self.reset()

    def reset(self) -> Outputs:
        """See `Model`."""
        state: Outputs = self._pilot.restore(self._start)
        return state

    def step(self, inputs: Sequence[float]) -> Outputs:
        """See `Model`."""
        try:
            state: Outputs = self._pilot.step(inputs)
        except RuntimeError as error:  # FmuError
            raise ModelFailed(str(error)) from error
        return state

    def close(self) -> None:
        """See `Model`."""
        if hasattr(self, "_pilot"):
            self._pilot.leave()


class Remote:
    """A vehicle in a session of its own on a server."""

    def __init__(self, address: str, vehicle: str, parameters: Mapping[str, Any], **connection: Any) -> None:
        """``connection`` is for `Client.connect`. Raises JounceError."""
        with ExitStack() as stack:
            self._client = stack.enter_context(Client.connect(address, **connection))
            self._session = stack.enter_context(self._client.create_session(vehicle, parameters))
            self.bounds: Bounds = {
                s.name + component: (s.minimum, s.maximum)
                for s in self._client.describe(vehicle).signals if s.causality == pb.CAUSALITY_INPUT
                for component in s.components
            }  # fmt: skip
            self._open = stack.pop_all()

    def begin(self, owns: Sequence[str], wants: Sequence[str], period: int, settle: int) -> Outputs:
        """See `Model`."""
        self._owns, self._wants, self._period = list(owns), list(wants), period
        if settle:
            self._client.advance(self._session, settle)
        self._start = self._client.save(self._session)
        return self.reset()

    def reset(self) -> Outputs:
        """See `Model`."""
        self._client.restore(self._session, self._start)
        return self._client.advance(self._session, 0, outputs=self._wants)

    def step(self, inputs: Sequence[float]) -> Outputs:
        """See `Model`."""
        values = dict(zip(self._owns, map(float, inputs), strict=True))
        try:
            return self._client.advance(self._session, self._period, values, self._wants)
        except JounceError as error:
            if error.reason not in ("SOLVER_FAILED", "SESSION_FAILED"):
                raise
            raise ModelFailed(str(error)) from error

    def close(self) -> None:
        """See `Model`."""
        self._open.close()


def matching(pattern: str, names: Sequence[str]) -> list[str]:
    """The names that a name, a vector's name or a pattern like ``wheel_*.drive_torque`` stands for.

    Raises ValueError for none.
    """
    found = [n for n in names if n == pattern or fnmatchcase(n, pattern) or n.rpartition(".")[0] == pattern]
    if not found:
        raise ValueError(f"no input named {pattern!r}; expected one of {', '.join(names)}")
    return found
