"""A thin ctypes host for FMI 2.0 co-simulation: any .fmu, or one of our libraries in process.

Setting all inputs and getting all outputs is one C call per FMI type with buffers made once; there is no
name lookup and no loop over signals on that path. ctypes releases the interpreter lock during each call.
"""

from __future__ import annotations

import ctypes as ct
import logging
import struct
import tempfile
import zipfile
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import fmpy
import numpy as np
from numpy.typing import NDArray

from jounce.signals import SignalTable
from jounce_fmu.build import BuildError, ensure_library
from jounce_fmu.builtin import checked_sources, variant_table
from jounce_fmu.foreign import CALLS, Interface, Variable, library_path

Value = float | bool | str
Array = NDArray[np.float64]

_LOGGER = ct.CFUNCTYPE(None, ct.c_void_p, ct.c_char_p, ct.c_int, ct.c_char_p, ct.c_char_p)
_CO_SIMULATION = 1
_STATUS = ("OK", "Warning", "Discard", "Error", "Fatal", "Pending")
_WARNINGS = logging.getLogger("jounce_fmu")
_CLOCK = struct.Struct("<qdd")  # ticks, tick, start time: precede the FMU's own state in get_state


class FmuError(RuntimeError):
    """A call the FMU refused, with the text from the FMU's own logger."""


class _Callbacks(ct.Structure):
    _fields_ = (
        ("logger", _LOGGER),
        ("allocate", ct.c_void_p),
        ("free", ct.c_void_p),
        ("step_finished", ct.c_void_p),
        ("environment", ct.c_void_p),
    )


class _Block:
    """The variables of one FMI type within a vector: one call moves them all."""

    def __init__(self, library: ct.CDLL, call: str, variables: Sequence[Variable], places: list[int]) -> None:
        self.getter = getattr(library, f"fmi2Get{call}")
        self.setter = getattr(library, f"fmi2Set{call}")
        self.names = (f"fmi2Get{call}", f"fmi2Set{call}")
        self.whole = call == "Real" and len(places) == len(variables)
        self.places = np.array(places, dtype=np.intp)
        self.count = ct.c_size_t(len(places))
        self._references = np.array([variables[i].reference for i in places], dtype=np.uint32)
        self.buffer = np.zeros(len(places), dtype=np.float64 if call == "Real" else np.int32)
        self.reference_pointer = ct.c_void_p(self._references.ctypes.data)
        self.pointer = ct.c_void_p(self.buffer.ctypes.data)


def _blocks(library: ct.CDLL, variables: Sequence[Variable]) -> list[_Block]:
    by_call: dict[str, list[int]] = {}
    for place, v in enumerate(variables):
        by_call.setdefault(CALLS[v.signal.type], []).append(place)
    return [_Block(library, call, variables, places) for call, places in by_call.items()]


class Fmu2Instance:
    """One instance of an FMI 2 co-simulation FMU, stepped by whole ticks; `jounce_fmu.linear` exchanges models.

    ``model_description`` is our own `SignalTable`, an `Interface`, the path of a modelDescription.xml or .fmu,
    or fmpy's ``ModelDescription``. An instance may move between threads but takes one call at a time.
    """

    kind = _CO_SIMULATION

    def __init__(
        self,
        library: str | Path,
        model_description: SignalTable | Interface | str | Path | Any,
        instance_name: str,
        resources: str = "",
        *,
        tick: float | None = None,
    ) -> None:
        """Load and instantiate; FmuError carries the reason. ``tick`` (s) overrides the described step."""
        self.interface = _interface(model_description)
        self.table = self.interface.table
        self.tick = tick or self.interface.tick  # s, length of one tick
        self.ticks = 0
        self.start_time = 0.0
        self.defaults: Mapping[str, Value] = {}
        self._component = ct.c_void_p()
        self._library = _load(Path(library))
        self._messages: deque[str] = deque(maxlen=20)
        self._logger = _LOGGER(self._log)
        self._callbacks = _Callbacks(self._logger, *_memory_functions(), None, None)
        self._inputs = _blocks(self._library, self.interface.inputs)
        self._outputs = _blocks(self._library, self.interface.outputs)
        self._values = np.zeros(len(self.interface.outputs))
        self._settable = {v.name: v for v in (*self.interface.parameters, *self.interface.inputs)}
        self._do_step = self._library.fmi2DoStep
        component = self._library.fmi2Instantiate(
            instance_name.encode(),
            self.kind,
            self.interface.guid.encode(),
            resources.encode(),
            ct.byref(self._callbacks),
            0,
            1,
        )
        if not component:
            raise FmuError(self._text("fmi2Instantiate", 3))
        self._component = ct.c_void_p(component)

    @property
    def time(self) -> float:
        """Simulated time in s: start plus whole ticks."""
        return self.start_time + self.ticks * self.tick

    def setup(
        self,
        parameters: Mapping[str, Value] | None = None,
        start_inputs: Mapping[str, Value] | None = None,
        start_time: float = 0.0,
    ) -> None:
        """Set parameters and start inputs, then pass through initialization; FmuError names what is refused.

        After an error call `reset` before the next try.
        """
        values = {**self.defaults, **(parameters or {})}
        self._call("fmi2SetupExperiment", ct.c_int(0), ct.c_double(0), ct.c_double(start_time), ct.c_int(0),
                   ct.c_double(0))
        self.set_values(values)
        self.set_values(start_inputs or {})
        self._call("fmi2EnterInitializationMode")
        self._call("fmi2ExitInitializationMode")
        self.start_time, self.ticks = start_time, 0
        self.tick = float(values.get("tick", self.tick)) if "tick" in self._settable else self.tick

    def set_values(self, values: Mapping[str, Value]) -> None:
        """Set parameters or inputs by name: enumerations by item, booleans as bool or "true"/"false"."""
        by_call: dict[str, list[tuple[int, float]]] = {}
        for name, value in values.items():
            variable = self._settable.get(name)
            if variable is None:
                raise FmuError(f"unknown input or parameter {name!r}; {self.table._hint(name)}")
            call = CALLS[variable.signal.type]
            by_call.setdefault(call, []).append((variable.reference, _number(variable, value)))
        for call, pairs in by_call.items():
            kind: Any = ct.c_double if call == "Real" else ct.c_int
            references = (ct.c_uint * len(pairs))(*(r for r, _ in pairs))
            numbers = (kind * len(pairs))(*(v if call == "Real" else int(v) for _, v in pairs))
            self._call(f"fmi2Set{call}", references, ct.c_size_t(len(pairs)), numbers)

    def set_inputs(self, values: Array) -> None:
        """Set the whole input vector, in the table's order."""
        if len(values) != len(self.interface.inputs):
            raise FmuError(f"{len(values)} input values given; allowed are {len(self.interface.inputs)}")
        for b in self._inputs:
            b.buffer[:] = values if b.whole else np.asarray(values)[b.places]
            status = b.setter(self._component, b.reference_pointer, b.count, b.pointer)
            if status > 1:
                raise FmuError(self._text(b.names[1], status))

    def step(self, n_ticks: int = 1) -> None:
        """Advance by whole ticks. After an FmuError the state is that before the call."""
        status = self._do_step(
            self._component, ct.c_double(self.time), ct.c_double(n_ticks * self.tick), ct.c_int(1)
        )
        if status > 1:
            raise FmuError(self._text("fmi2DoStep", status))
        self.ticks += n_ticks

    def get_outputs(self) -> Array:
        """A new array of all outputs, in the table's order."""
        for b in self._outputs:
            status = b.getter(self._component, b.reference_pointer, b.count, b.pointer)
            if status > 1:
                raise FmuError(self._text(b.names[0], status))
            self._values[b.places] = b.buffer
        return self._values.copy()

    def get_state(self) -> bytes:
        """The complete state, pointer-free: valid for any instance of the same build, in any process."""
        state = ct.c_void_p()
        size = ct.c_size_t()
        self._call("fmi2GetFMUstate", ct.byref(state))
        try:
            self._call("fmi2SerializedFMUstateSize", state, ct.byref(size))
            blob = ct.create_string_buffer(size.value)
            self._call("fmi2SerializeFMUstate", state, blob, size)
        finally:
            self._call("fmi2FreeFMUstate", ct.byref(state))
        return _CLOCK.pack(self.ticks, self.tick, self.start_time) + blob.raw

    def set_state(self, blob: bytes) -> None:
        """Go back to a state of `get_state`; a blob the FMU refuses changes nothing."""
        if len(blob) < _CLOCK.size:
            raise FmuError(f"state of {len(blob)} bytes: shorter than its header")
        payload = blob[_CLOCK.size :]
        state = ct.c_void_p()
        self._call("fmi2DeSerializeFMUstate", payload, ct.c_size_t(len(payload)), ct.byref(state))
        try:
            self._call("fmi2SetFMUstate", state)
        finally:
            self._call("fmi2FreeFMUstate", ct.byref(state))
        self.ticks, self.tick, self.start_time = _CLOCK.unpack_from(blob)

    def reset(self) -> None:
        """Back to the state after instantiation; call `setup` next."""
        self._call("fmi2Reset")
        self.ticks, self.start_time = 0, 0.0
        self.tick = self.interface.tick

    def terminate(self) -> None:
        """End the run; outputs can still be read."""
        self._call("fmi2Terminate")

    def free(self) -> None:
        """Give the instance back; harmless when repeated."""
        if self._component:
            self._library.fmi2FreeInstance(self._component)
            self._component = ct.c_void_p()

    def __enter__(self) -> Self:
        """The instance itself; it is freed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Free the instance."""
        self.free()

    def _call(self, function: str, *args: Any) -> None:
        if not self._component:
            raise FmuError(f"{function}: the instance was freed")
        status = getattr(self._library, function)(self._component, *args)
        if status > 1:
            raise FmuError(self._text(function, status))

    def _log(self, _env: int, _name: bytes, status: int, _category: bytes, message: bytes) -> None:
        if status == 1:
            _WARNINGS.warning("%s", (message or b"").decode(errors="replace").replace("%%", "%"))
        elif status > 1:
            self._messages.append((message or b"").decode(errors="replace").replace("%%", "%"))

    def _text(self, function: str, status: int) -> str:
        text = "; ".join(self._messages) or f"{function}: fmi2{_STATUS[min(status, 5)]} without a message"
        self._messages.clear()
        return text


def _interface(source: Any) -> Interface:
    if isinstance(source, Interface):
        return source
    if isinstance(source, SignalTable):
        return Interface.of_table(source)
    if isinstance(source, str | Path):
        source = fmpy.read_model_description(str(source))
    return Interface.of_description(source)


def _load(path: Path) -> ct.CDLL:
    try:
        library = ct.CDLL(str(path))
    except OSError as error:
        raise FmuError(f"library {path.name} cannot be loaded: {error}") from error
    library.fmi2Instantiate.restype = ct.c_void_p
    library.fmi2FreeInstance.restype = None
    return library


def _memory_functions() -> tuple[Any, Any]:
    """calloc and free for FMUs that insist on the master's."""
    libc = ct.CDLL(None) if hasattr(ct, "CDLL") and not hasattr(ct, "WinDLL") else ct.cdll.msvcrt
    return tuple(ct.cast(f, ct.c_void_p) for f in (libc.calloc, libc.free))  # type: ignore[return-value]


def _number(variable: Variable, value: Value) -> float:
    g = variable.signal
    if isinstance(value, str):
        if value in g.items:
            return float(g.items.index(value) + 1)
        if g.type == "Boolean" and value.lower() in ("true", "false"):
            return float(value.lower() == "true")
        try:
            value = float(value)
        except ValueError:
            allowed = ", ".join(g.items) or ("true, false" if g.type == "Boolean" else "numbers")
            raise FmuError(f"{variable.name} = {value!r}: allowed are {allowed}") from None
    number = float(value)
    if g.type != "Real" and not (number.is_integer() and abs(number) < 2**31):
        raise FmuError(f"{variable.name} = {value!r}: allowed are whole numbers ({g.type})")
    return number


@dataclass(frozen=True)
class Factory:
    """Makes instances of one FMU."""

    name: str
    """Name of the model."""
    library: Path
    """The native library."""
    interface: Interface = field(repr=False)
    """GUID, tick and variables."""
    defaults: Mapping[str, Value] = field(default_factory=dict, repr=False)
    """Parameters set at each `setup` before the caller's own (a vehicle variant's data)."""
    resources: str = ""
    """URI of the unpacked FMU's resources."""
    keep: Any = None
    """Holds the unpacked FMU's folder while the factory lives."""

    @property
    def table(self) -> SignalTable:
        """The signal table, in vector order."""
        return self.interface.table

    @property
    def tick(self) -> float:
        """Default length of one tick in s."""
        return self.interface.tick

    def instance(self, instance_name: str) -> Fmu2Instance:
        """A new instance; call its `setup` next. Raises FmuError."""
        made = Fmu2Instance(self.library, self.interface, instance_name, self.resources)
        made.defaults = self.defaults
        return made

    __call__ = instance


def open_builtin(name: str = "hmmwv", base: str = "hmmwv") -> Factory:
    """A vehicle that ships with jounce, from the library built of the present sources.

    ``name`` may be a variant or a vehicle folder: it uses the library of ``base`` and sets the parameters in
    which it differs. Raises BuildError when the library is stale and cannot be rebuilt.
    """
    common, sources = checked_sources(base)
    own = common if name == base else variant_table(name, common)
    library = ensure_library(sources)
    _check_hash(library, sources.build_hash())
    defaults: dict[str, Value] = {
        s.name: s.start for s, c in zip(own.parameters, common.parameters, strict=True) if s.start != c.start
    }
    return Factory(name, library, Interface.of_table(own), defaults)


def _check_hash(library: Path, build_hash: str) -> None:
    function = _load(library).jn_build_hash
    function.restype = ct.c_char_p
    if function() != build_hash.encode():
        raise BuildError(f"{library.name} was loaded before its sources changed; restart this process")


def open_fmu(path: str | Path) -> Factory:
    """Any FMI 2.0 co-simulation FMU, unpacked to a folder that lives as long as the factory."""
    description: Any = fmpy.read_model_description(str(path))
    if description.coSimulation is None or not str(description.fmiVersion).startswith("2."):
        raise FmuError(f"{path}: not an FMI 2.0 co-simulation FMU")
    keep = tempfile.TemporaryDirectory(prefix="jounce-fmu-")
    folder = Path(keep.name)
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    identifier = description.coSimulation.modelIdentifier
    library = library_path(folder, identifier)
    if not library.is_file():
        raise FmuError(f"{path}: no library for this machine ({library.parent.name})")
    interface = Interface.of_description(description)
    return Factory(description.modelName, library, interface, {}, (folder / "resources").as_uri(), keep)
