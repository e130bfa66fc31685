"""Base class of the Python co-simulation FMUs: values by reference, checks, and serialized states.

pythonfmu gives the C side and calls the methods below. A step returns fmi2OK or fmi2Discard, every other call fmi2OK
or fmi2Fatal; pythonfmu has no fmi2Error. So a step that is refused and may be repeated is fmi2Discard, and every
other refusal is fmi2Fatal. Either way the reason is logged and the instance is unchanged.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import json
import math
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from pythonfmu import Fmi2Slave
from pythonfmu.enums import Fmi2Status

from jounce.signals import Causality, Scalar, Signal, SignalTable, Type
from jounce.values import Value, double, in_use
from jounce_fmu.description.fmi2 import interface_guid
from jounce_fmu.description.starts import changed

Array = NDArray[np.float64]
_Method = TypeVar("_Method", bound=Callable[..., Any])

_NANO = 1e-9  # [s]; shorter steps are remainders of summed times
_MAGIC = b"jnpy1\n"
_HEAD = struct.Struct("<6s38s32sI")  # magic, interface, sha256 of the rest, bytes of values; the memory follows
#: FMI call -> types of its variables; enumerations are passed as integers.
_MOVES: dict[str, tuple[Type, ...]] = {
    "Real": ("Real",), "Integer": ("Integer", "Enumeration"), "Boolean": ("Boolean",), "String": ("String",),
}


class PartnerError(RuntimeError):
    """A call is refused; the message names the cause. A refused step may be repeated."""


class PartnerLost(PartnerError):
    """The instance cannot go on."""


def _survives(method: _Method) -> _Method:
    """Keeps the instance alive after an exception.

    pythonfmu (0.6.3 and 0.7.0, ``handle_py_exception``) gives back its references to the class, the instance and the
    log when a call raises, and uses all three afterwards: without new ones the importer's next call crashes.
    """

    @functools.wraps(method)
    def call(self: Partner, *args: Any) -> Any:
        try:
            return method(self, *args)
        except BaseException:
            self.log_queue.clear()  # A waiting message would be shown in place of the exception.
            for kept in (self, type(self), self.log_queue):
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
            raise

    return cast(_Method, call)


def turned(table: SignalTable, causality: Causality, names: Sequence[str]) -> Iterator[Signal]:
    """Signals of the vehicle with the other causality, as a partner's end of a connection; all else is the same."""
    by_name = {s.name: s for s in table.signals}
    for name in names:
        yield replace(by_name[name], causality=causality, alias="", used_where=None, least_up=0.0)


class Partner(Fmi2Slave):  # type: ignore[misc]
    """A Python FMU whose variables are the signals of a table.

    A subclass gives ``base`` and ``advance``, and ``memory`` and ``recall`` for what is not among its variables. The
    slave module in the archive makes a subclass with the ``interface`` and the ``starts`` that were exported.
    """

    base: ClassVar[SignalTable]
    interface: ClassVar[str] = ""
    starts: ClassVar[Mapping[str, Value]] = {}
    #: Whether outputs can be read in initialization mode.
    early: ClassVar[bool] = False

    def __init__(self, **kwargs: Any) -> None:
        """Raises PartnerError if the installed jounce has another interface than that of the export."""
        super().__init__(**kwargs)
        if self.interface and self.interface != interface_guid(self.base):
            raise PartnerError(f"exported with interface {self.interface}, installed is {interface_guid(self.base)}: "
                               "export the FMU again with the installed jounce")
        self.modelName = type(self).__name__
        self.table = changed(self.base, self.starts)
        self._scalars = {s.value_reference: s for s in self.table.scalars}
        self._values: dict[int, Value] = {r: _start(s) for r, s in self._scalars.items()}
        self._places = {s.name: r for r, s in self._scalars.items()}
        self._outputs = [s.value_reference for s in self.table.outputs]
        self._inputs = [s.value_reference for s in self.table.inputs]
        self.mode = "instantiated"
        self.begun = False
        self.start_time = 0.0

    @classmethod
    def capabilities(cls) -> dict[str, str]:
        """Attributes of CoSimulation: it runs in the importer's Python, which must have jounce."""
        return {"needsExecutionTool": "true"}

    # What a subclass gives.

    def begin(self) -> None:
        """Prepares the steps, with all parameters set; sets the outputs if they are known before the first step."""

    def advance(self, time: float, h: float) -> Array:
        """Returns the outputs, in table order, after a step of ``h`` [s] from ``time`` [s] with the present inputs."""
        raise NotImplementedError

    def memory(self) -> bytes:
        """Returns the state that is not among the variables, as bytes."""
        return b""

    def recall(self, memory: bytes) -> None:
        """Restores a ``memory``. Raises PartnerError with nothing changed."""

    # Access for subclasses.

    def __getitem__(self, name: str) -> Any:
        """Present value of a scalar."""
        return self._values[self._places[name]]

    def signal(self, signal: Signal) -> Array:
        """Present values of a signal's components; () for a scalar."""
        return np.array([self[signal.name + c] for c in signal.components]).reshape(signal.shape)

    def inputs(self) -> Array:
        """All inputs, in table order."""
        return np.array([self._values[r] for r in self._inputs], dtype=np.float64)

    def set_outputs(self, values: Array) -> None:
        """Sets all outputs, in table order; raises PartnerError if one is not finite."""
        if not np.isfinite(values).all():
            bad = [self._scalars[r].name for r, v in zip(self._outputs, values, strict=True) if not math.isfinite(v)]
            raise PartnerError(f"{', '.join(bad[:5])}: not a finite number")
        self._values.update(zip(self._outputs, values.tolist(), strict=True))

    # Called by pythonfmu.

    @_survives
    def setup_experiment(self, start_time: float, *_: Any) -> None:
        """Notes the start time [s]."""
        self.start_time = start_time

    @_survives
    def enter_initialization_mode(self) -> None:
        """Parameters and inputs may still be set."""
        self.mode = "initialization"

    @_survives
    def exit_initialization_mode(self) -> None:
        """Calls `begin`, unless an output that was read before has done so."""
        self._begin()
        self.mode = "running"

    @_survives
    def do_step(self, current_time: float, step_size: float) -> bool:
        """Takes a step; returns False, with the reason logged and nothing changed, if it is refused."""
        try:
            if self.mode != "running":
                raise PartnerError(f"doStep while {self.mode}: allowed after initialization")
            if not (math.isfinite(current_time) and -_NANO <= step_size < math.inf):
                raise PartnerError(f"doStep from {current_time!r} s over {step_size!r} s: expected finite times and "
                                   "steps above 0 s")
            # The last step of a master that sums its time may be only a remainder of rounding.
            if step_size > _NANO:
                self.set_outputs(self.advance(current_time, round(step_size, 9)))
        except PartnerLost:
            raise
        except PartnerError as error:
            self.log(f"{self.instance_name}: {error}", Fmi2Status.error)
            return False
        return True

    @_survives
    def terminate(self) -> None:
        """Values can still be read."""
        self.mode = "terminated"

    @_survives
    def get_real(self, vrs: list[int]) -> list[Value]:
        """Values of Real variables."""
        return self._get("Real", vrs)

    @_survives
    def get_integer(self, vrs: list[int]) -> list[int]:
        """Values of Integer and Enumeration variables."""
        return [int(v) for v in self._get("Integer", vrs)]

    @_survives
    def get_boolean(self, vrs: list[int]) -> list[bool]:
        """Values of Boolean variables."""
        return [bool(v) for v in self._get("Boolean", vrs)]

    @_survives
    def get_string(self, vrs: list[int]) -> list[Value]:
        """Values of String variables."""
        return self._get("String", vrs)

    @_survives
    def set_real(self, vrs: list[int], values: list[float]) -> None:
        """All or none."""
        self._set("Real", vrs, values)

    @_survives
    def set_integer(self, vrs: list[int], values: list[int]) -> None:
        """All or none."""
        self._set("Integer", vrs, [float(v) for v in values])

    @_survives
    def set_boolean(self, vrs: list[int], values: list[bool]) -> None:
        """All or none."""
        self._set("Boolean", vrs, [float(bool(v)) for v in values])

    @_survives
    def set_string(self, vrs: list[int], values: list[str]) -> None:
        """All or none."""
        self._set("String", vrs, values)

    @_survives
    def _get_fmu_state(self) -> bytes:
        names = {"mode": self.mode, "begun": self.begun, "start_time": self.start_time}
        values = json.dumps([names, list(self._values.values())]).encode()
        rest = values + (self.memory() if self.begun else b"")
        guid = interface_guid(self.base).encode()
        return _HEAD.pack(_MAGIC, guid, hashlib.sha256(rest).digest(), len(values)) + rest

    @_survives
    def _set_fmu_state(self, state: bytes) -> None:
        names, values, memory = self._read(state)
        if names["begun"]:
            kept = self._values, self.begun
            try:
                # The state includes the parameters; ``recall`` needs what ``begin`` makes of them.
                self._values = dict(zip(self._values, values, strict=True))
                self._begin()
                self.recall(memory)
            except PartnerError:
                self._values, self.begun = kept
                raise
        elif self.begun:
            raise PartnerError("a state from before the first step in a running instance: reset it instead")
        self._values = dict(zip(self._values, values, strict=True))
        self.mode, self.begun, self.start_time = names["mode"], names["begun"], names["start_time"]

    # pythonfmu calls these two on the class, where an exception crashes the importer, so _set_fmu_state checks.

    @staticmethod
    def _fmu_state_to_bytes(state: bytes) -> bytes:
        return state

    @staticmethod
    def _fmu_state_from_bytes(state: bytes) -> bytes:
        return state

    # Inside.

    def _begin(self) -> None:
        if not self.begun:
            self.begin()
            self.begun = True

    def _scalar(self, call: str, reference: int) -> Scalar:
        scalar = self._scalars.get(reference)
        if scalar is None or scalar.signal.type not in _MOVES[call]:
            raise PartnerError(f"value reference {reference}: no variable of type {call}")
        return scalar

    def _get(self, call: str, references: Sequence[int]) -> list[Value]:
        scalars = [self._scalar(call, r) for r in references]
        if (self.early and self.mode == "initialization" and not self.begun
                and any(s.signal.causality == "output" for s in scalars)):
            self._begin()
        return [self._values[r] for r in references]

    def _set(self, call: str, references: Sequence[int], values: Sequence[Value]) -> None:
        new: dict[int, Value] = {}
        for reference, value in zip(references, values, strict=True):
            scalar = self._scalar(call, reference)
            g = scalar.signal
            if g.causality == "output":
                raise PartnerError(f"{scalar.name} is an output and cannot be set")
            if g.causality == "parameter" and self.begun and value != self._values[reference]:
                raise PartnerError(f"{scalar.name} = {value!r}: a fixed parameter cannot change any more")
            try:
                new[reference] = value if g.type == "String" else double(self._judged(scalar), value)
            except ValueError as error:
                raise PartnerError(str(error)) from None
        self._values.update(new)

    def _judged(self, scalar: Scalar) -> Scalar:
        """The scalar, without its bounds if it is not used."""
        if scalar.signal.used_where is None:
            return scalar
        values = {s.name: self[s.name] for s in self.table.parameters}
        return in_use(self.table, values)[scalar.index]

    def _read(self, state: bytes) -> tuple[dict[str, Any], list[Value], bytes]:
        if len(state) < _HEAD.size:
            raise PartnerError(f"state of {len(state)} bytes: shorter than its header")
        magic, guid, digest, length = _HEAD.unpack_from(state)
        rest = state[_HEAD.size:]
        if magic != _MAGIC or guid != interface_guid(self.base).encode():
            raise PartnerError("the state is not of this FMU or not of this version")
        if hashlib.sha256(rest).digest() != digest:
            raise PartnerError("the state is truncated or altered: its checksum does not match")
        names, values = json.loads(rest[:length])
        return names, values, rest[length:]


def _start(scalar: Scalar) -> Value:
    return scalar.signal.text if scalar.signal.type == "String" else scalar.start
