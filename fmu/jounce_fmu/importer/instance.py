"""Base class of the co-simulation instances of FMI 2 and FMI 3: input and output vectors, whole ticks, saved states.

Setting all inputs or getting all outputs takes one C call per FMI type, with buffers that are made once. There is no
name lookup and no loop over signals on that path. ctypes releases the interpreter lock during each call.
"""

from __future__ import annotations

import ctypes as ct
import logging
import struct
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from jounce.renamed import present
from jounce.values import BadValue, Value, expected, read
from jounce_fmu.importer.foreign import Interface, Variable

Array = NDArray[np.float64]

_STATUS = ("OK", "Warning", "Discard", "Error", "Fatal", "Pending")
_DISCARD = _STATUS.index("Discard")
_WARNINGS = logging.getLogger("jounce_fmu")
#: Most ticks in one doStep of our own library (JN_MOST_TICKS).
_MOST_TICKS = 1_000_000
_CLOCK = struct.Struct("<qdd")  # Ticks, tick length, start time; they precede the FMU's own state in get_state.


class FmuError(RuntimeError):
    """The FMU refused a call or failed; the message is that of the FMU's logger."""

    def __init__(self, text: str, done: int = 0) -> None:
        """``done`` is the number of ticks of the call that were complete when it failed."""
        super().__init__(text)
        self.done = done


class _Block:
    """The variables of one FMI type within a vector; one C call sets or gets them all."""

    def __init__(
        self, made: FmuInstance, call: str, variables: Sequence[Variable], places: list[int], vector: Array
    ) -> None:  # fmt: skip
        self.names = f"Get{call}", f"Set{call}"
        self.getter, self.setter = (made.function(name) for name in self.names)
        together = places[-1] - places[0] == len(places) - 1
        self.places: Any = slice(places[0], places[-1] + 1) if together else np.array(places, dtype=np.intp)
        # Adjacent doubles need no copy: the buffer is a view of the vector.
        self.inside = together and made.dtypes[call] == np.float64
        self.buffer = vector[self.places] if self.inside else np.zeros(len(places), dtype=made.dtypes[call])
        # The elements of an array share one value reference.
        first = [variables[i].reference for i in places if not variables[i].place]
        self.arguments = made.arguments(np.array(first, dtype=np.uint32), self.buffer)


class Port:
    """Some inputs and outputs of an instance whose arrays are scalars (FMI 2), with buffers of their own."""

    def __init__(self, made: FmuInstance, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        """Places in the table."""
        self._made = made
        self._given, self._got = np.zeros(len(inputs)), np.zeros(len(outputs))
        self._inputs = made._blocks([made.interface.inputs[i] for i in inputs], self._given)
        self._outputs = made._blocks([made.interface.outputs[i] for i in outputs], self._got)

    def set_inputs(self, values: Sequence[float]) -> None:
        """Sets these inputs [unit of each]; all others stay. Raises FmuError."""
        self._given[:] = values
        self._made._write(self._inputs, self._given)

    def get_outputs(self) -> Array:
        """Returns a new array of these outputs [unit of each]. Raises FmuError."""
        return self._made._read(self._outputs, self._got)


class FmuInstance:
    """One instance of a co-simulation FMU, which advances by whole ticks.

    It may be used from any thread, but by one at a time.
    """

    #: ``fmi2`` or ``fmi3``.
    prefix: ClassVar[str]
    #: Spelling in function names, which differs between the versions.
    state: ClassVar[str]
    deserialize: ClassVar[str]
    #: Suffix of a getter and setter -> C type of its values.
    dtypes: ClassVar[Mapping[str, np.dtype[Any]]]

    def __init__(
        self, library: str | Path, interface: Interface, instance_name: str, resources: str = "", *,
        tick_length: float | None = None,
    ) -> None:  # fmt: skip
        """Loads and instantiates. ``tick_length`` [s] replaces the described step size. Raises FmuError."""
        self.interface = interface
        self.table = interface.table
        self.tick_length = tick_length or interface.tick_length  # [s]
        self.ticks = 0
        self.start_time = 0.0
        self.by_tick = False
        self.defaults: Mapping[str, Value] = {}
        self._component = ct.c_void_p()
        self._library = load(Path(library))
        self._messages: deque[str] = deque(maxlen=20)
        self._remark = ""
        self._given, self._got = np.zeros(len(interface.inputs)), np.zeros(len(interface.outputs))
        self._inputs = self._blocks(interface.inputs, self._given)
        self._outputs = self._blocks(interface.outputs, self._got)
        self._settable = {v.name: v for v in (*interface.parameters, *interface.inputs)}
        self._step_function = self.function("DoStep")
        component = self._instantiate(instance_name.encode(), interface.guid.encode(), resources.encode())
        if not component:
            raise FmuError(self._text("Instantiate", 3))
        self._component = ct.c_void_p(component)

    # ------------------------------------------------------------ differs between FMI 2 and FMI 3

    def _instantiate(self, name: bytes, guid: bytes, resources: bytes) -> int | None:
        raise NotImplementedError

    def _begin(self, start_time: float) -> None:
        """Called before values are set."""

    def _initialize(self, start_time: float) -> None:
        """Enters initialization mode."""
        raise NotImplementedError

    def _do_step(self, time: float, length: float) -> int:
        """Calls doStep at ``time`` [s] for ``length`` [s]; returns the FMI status."""
        raise NotImplementedError

    @staticmethod
    def arguments(references: NDArray[np.uint32], values: NDArray[Any]) -> tuple[Any, ...]:
        """C arguments of a getter or setter after the instance; they keep the arrays alive."""
        raise NotImplementedError

    # ------------------------------------------------------------ common

    @property
    def time(self) -> float:
        """Simulated time [s]: the start time plus whole ticks."""
        return self.start_time + self.ticks * self.tick_length

    @property
    def keeps_state(self) -> bool:
        """Whether the FMU supports `get_state` and `set_state`."""
        return self.interface.keeps_state

    def setup(
        self,
        parameters: Mapping[str, Value] | None = None,
        start_inputs: Mapping[str, Value] | None = None,
        start_time: float = 0.0,
    ) -> None:
        """Sets parameters and start inputs, and initializes the FMU. Raises FmuError that names what is refused.

        After an error, `reset` must be called before the next attempt.
        """
        values = {**self.defaults, **(parameters or {})}
        self._begin(start_time)
        self.set_values(values)
        self.set_values(start_inputs or {})
        self._initialize(start_time)
        self._call("ExitInitializationMode")
        self.start_time, self.ticks = start_time, 0
        if self.interface.tick_parameter:
            self.tick_length = float(values.get("tick", self.tick_length))

    def set_values(self, values: Mapping[str, Value]) -> None:
        """Sets parameters or inputs by name; `jounce.values` reads the values. Raises FmuError.

        Array elements that are not given get their start values.
        """
        by_call: dict[str, dict[int, list[float]]] = {}
        for name, value in values.items():
            v = self._settable.get(present(name, self._settable))
            if v is None:
                raise FmuError(f"unknown input or parameter {name!r}; {self.table._hint(name)}")
            rows = by_call.setdefault(v.call, {})
            row = rows.setdefault(v.reference, [0.0] if v.place is None else list(v.signal.start))
            row[v.place or 0] = _number(v, value, self.dtypes[v.call])
        for call, rows in by_call.items():
            references = np.array(list(rows), dtype=np.uint32)
            numbers = np.array([n for row in rows.values() for n in row], dtype=self.dtypes[call])
            self._call(f"Set{call}", *self.arguments(references, numbers))

    def set_inputs(self, values: Array) -> None:
        """Sets all inputs [unit of each], in the order of the table. Raises FmuError."""
        if len(values) != len(self.interface.inputs):
            raise FmuError(f"{len(values)} input values given; expected {len(self.interface.inputs)}")
        self._given[:] = values
        self._write(self._inputs, self._given)

    def _write(self, blocks: Sequence[_Block], vector: Array) -> None:
        for b in blocks:
            if not b.inside:
                b.buffer[:] = vector[b.places]
            status = b.setter(self._component, *b.arguments)
            if status > 1:
                raise FmuError(self._text(b.names[1], status))

    def port(self, inputs: Sequence[int], outputs: Sequence[int]) -> Port:
        """Some inputs and outputs, by their places in the table, for a caller that has no use for the others."""
        return Port(self, inputs, outputs)

    def step(self, n_ticks: int = 1) -> None:
        """Advances by ``n_ticks`` ticks.

        Raises FmuError, whose ``done`` is the number of ticks before the one that failed; ``ticks`` is then that before
        the doStep that failed.

        One doStep takes up to 1e6 ticks. With ``by_tick`` it takes one tick, since the results of a foreign FMU may
        depend on the length of a step.
        """
        most = 1 if self.by_tick else _MOST_TICKS
        begin, end = self.ticks, self.ticks + n_ticks
        try:
            while self.ticks < end:
                ticks = min(most, end - self.ticks)
                status = self._do_step(self.time, ticks * self.tick_length)
                if status > 1:
                    # The message of our own library names the tick; that of a foreign one does not.
                    where = f" (tick {self.ticks})" if self.by_tick and n_ticks > 1 else ""
                    raise FmuError(self._text("DoStep", status) + where)
                self.ticks += ticks
        except FmuError as error:
            error.done = self._failed_tick() - begin
            raise

    def _failed_tick(self) -> int:
        """The tick at which the last doStep failed; with a foreign library, the one at which it began."""
        known = getattr(self._library, "jn_failed_tick", None)
        if known is None:
            return self.ticks
        known.restype, known.argtypes = ct.c_longlong, (ct.c_void_p,)
        return max(self.ticks, int(known(self._component)))

    def get_outputs(self) -> Array:
        """Returns a new array of all outputs [unit of each], in the order of the table. Raises FmuError."""
        return self._read(self._outputs, self._got)

    def _read(self, blocks: Sequence[_Block], vector: Array) -> Array:
        for b in blocks:
            status = b.getter(self._component, *b.arguments)
            if status > 1:
                raise FmuError(self._text(b.names[0], status))
            if not b.inside:
                vector[b.places] = b.buffer
        return vector.copy()

    def get_state(self) -> bytes:
        """Returns the complete state, which any instance of the same build can take, in any process."""
        self._check_keeps_state()
        state = ct.c_void_p()
        size = ct.c_size_t()
        self._call(f"Get{self.state}", ct.byref(state))
        try:
            self._call(f"Serialized{self.state}Size", state, ct.byref(size))
            blob = ct.create_string_buffer(size.value)
            self._call(f"Serialize{self.state}", state, blob, size)
        finally:
            self._call(f"Free{self.state}", ct.byref(state))
        return _CLOCK.pack(self.ticks, self.tick_length, self.start_time) + blob.raw

    def set_state(self, blob: bytes) -> None:
        """Sets a state of `get_state`. Raises FmuError, with nothing changed, if the FMU refuses it."""
        self._check_keeps_state()
        if len(blob) < _CLOCK.size:
            raise FmuError(f"state of {len(blob)} bytes: shorter than its header")
        payload = blob[_CLOCK.size :]
        state = ct.c_void_p()
        self._call(self.deserialize, payload, ct.c_size_t(len(payload)), ct.byref(state))
        try:
            self._call(f"Set{self.state}", state)
        finally:
            self._call(f"Free{self.state}", ct.byref(state))
        self.ticks, self.tick_length, self.start_time = _CLOCK.unpack_from(blob)

    def _check_keeps_state(self) -> None:
        if not self.keeps_state:
            raise FmuError(f"{self.table.name} cannot save its state: canSerializeFMU{self.state[3:]} is false")

    def reset(self) -> None:
        """Resets to the state after instantiation; `setup` must be called next."""
        self._call("Reset")
        self.ticks, self.start_time = 0, 0.0
        self.tick_length = self.interface.tick_length

    def terminate(self) -> None:
        """Ends the run; outputs can still be read."""
        self._call("Terminate")

    def free(self) -> None:
        """Frees the instance; may be called again."""
        if self._component:
            self.function("FreeInstance")(self._component)
            self._component = ct.c_void_p()

    def __enter__(self) -> Self:
        """Returns the instance, which is freed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Frees the instance."""
        self.free()

    def function(self, name: str) -> Any:
        """Returns the library's function, by its name without prefix; raises FmuError."""
        try:
            return getattr(self._library, self.prefix + name)
        except AttributeError as error:
            raise FmuError(f"{self.table.name}: the library has no {self.prefix}{name}") from error

    def _call(self, name: str, *args: Any) -> None:
        if not self._component:
            raise FmuError(f"{self.prefix}{name}: the instance was freed")
        status = self.function(name)(self._component, *args)
        if status > 1:
            raise FmuError(self._text(name, status))

    def _blocks(self, variables: Sequence[Variable], vector: Array) -> list[_Block]:
        by_call: dict[str, list[int]] = {}
        for place, v in enumerate(variables):
            by_call.setdefault(v.call, []).append(place)
        return [_Block(self, call, variables, places, vector) for call, places in by_call.items()]

    def _note(self, status: int, message: bytes | None) -> None:
        text = (message or b"").decode(errors="replace")
        if status > 1:
            self._messages.append(text)
            return
        self._remark = text
        if status == 1:
            _WARNINGS.warning("%s", text)

    def _text(self, name: str, status: int) -> str:
        meaning = " (refused, or not taken to its end)" if status == _DISCARD else ""
        fallback = f"{self.prefix}{name}: {self.prefix}{_STATUS[min(status, 5)]}{meaning} without a message"
        if self._remark:
            fallback += f"; its last log message: {self._remark}"
        text = "; ".join(self._messages) or fallback
        self._messages.clear()
        return text


def load(path: Path) -> ct.CDLL:
    """Loads a library; raises FmuError."""
    try:
        library = ct.CDLL(str(path))
    except OSError as error:
        raise FmuError(f"library {path.name} cannot be loaded: {error}") from error
    for name in ("fmi2Instantiate", "fmi3InstantiateCoSimulation"):
        if hasattr(library, name):
            getattr(library, name).restype = ct.c_void_p
            getattr(library, f"{name[:4]}FreeInstance").restype = None
    return library


def _number(variable: Variable, value: Value, kind: np.dtype[Any]) -> float:
    """The value as a number of the FMU's type; raises FmuError. The FMU itself checks the bounds."""
    try:
        number = read(variable.name, variable.signal, value)
    except BadValue as error:
        raise FmuError(str(error)) from None
    if kind.kind != "f":
        limits = np.iinfo(kind)
        if not (number.is_integer() and limits.min <= number <= limits.max):
            raise FmuError(f"{variable.name} = {value!r}: expected {expected(variable.signal)}")
    return number
