"""Hosts co-simulation FMUs through ctypes: any .fmu file, or one of our own libraries. FMI 3 is in ``host3.py``."""

from __future__ import annotations

import ctypes as ct
import os
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce.signals import SignalTable
from jounce.values import Value
from jounce_fmu.build.library import BuildError, ensure_library
from jounce_fmu.description.fmi2 import interface_guid
from jounce_fmu.importer.foreign import Interface, library_path, read_description, refused_as_value_error, unpack
from jounce_fmu.importer.instance import Array, FmuError, FmuInstance, load
from jounce_fmu.importer.tables import checked_table, retabled
from jounce_fmu.models import find
from jounce_fmu.models.roads import road_place

__all__ = ["Array", "Factory", "Fmu2Instance", "FmuError", "FmuInstance", "Value", "open_builtin", "open_fmu"]

_LOGGER = ct.CFUNCTYPE(None, ct.c_void_p, ct.c_char_p, ct.c_int, ct.c_char_p, ct.c_char_p)
_CO_SIMULATION = 1


class _Callbacks(ct.Structure):
    _fields_ = (
        ("logger", _LOGGER),
        ("allocate", ct.c_void_p),
        ("free", ct.c_void_p),
        ("step_finished", ct.c_void_p),
        ("environment", ct.c_void_p),
    )


class Fmu2Instance(FmuInstance):
    """One co-simulation instance of FMI 2.0; for model exchange see `jounce_fmu.importer.linear`.

    ``model_description`` is our own `SignalTable`, an `Interface`, the path of a modelDescription.xml or .fmu,
    or fmpy's ``ModelDescription``.
    """

    kind = _CO_SIMULATION
    prefix, state, deserialize = "fmi2", "FMUstate", "DeSerializeFMUstate"
    dtypes = {"Real": np.dtype(np.float64), "Integer": np.dtype(np.int32), "Boolean": np.dtype(np.int32)}

    def __init__(
        self, library: str | Path, model_description: SignalTable | Interface | str | Path | Any, instance_name: str,
        resources: str = "", *, tick_length: float | None = None,
    ) -> None:  # fmt: skip
        """Loads and instantiates. ``tick_length`` [s] replaces the described step size. Raises FmuError."""
        super().__init__(library, _interface(model_description), instance_name, resources, tick_length=tick_length)

    def _instantiate(self, name: bytes, guid: bytes, resources: bytes) -> int | None:
        self._logger = _LOGGER(self._log)
        self._callbacks = _Callbacks(self._logger, *_memory_functions(), None, None)
        made: int | None = self.function("Instantiate")(
            name, self.kind, guid, resources, ct.byref(self._callbacks), 0, 1
        )
        return made

    def _begin(self, start_time: float) -> None:
        self._call("SetupExperiment", ct.c_int(0), ct.c_double(0), ct.c_double(start_time), ct.c_int(0), ct.c_double(0))

    def _initialize(self, start_time: float) -> None:
        self._call("EnterInitializationMode")

    def _do_step(self, time: float, length: float) -> int:
        # 0 as noSetFMUStatePriorToCurrentPoint: the state before this point may be restored later.
        status: int = self._step_function(self._component, ct.c_double(time), ct.c_double(length), 0)
        return status

    @staticmethod
    def arguments(references: NDArray[np.uint32], values: NDArray[Any]) -> tuple[Any, ...]:
        """C arguments: references, their number, values."""
        return references.ctypes.data_as(ct.c_void_p), ct.c_size_t(len(references)), values.ctypes.data_as(ct.c_void_p)

    def _log(self, _env: int, _name: bytes, status: int, _category: bytes, message: bytes) -> None:
        self._note(status, (message or b"").replace(b"%%", b"%"))


def _interface(source: Any) -> Interface:
    if isinstance(source, Interface):
        return source
    if isinstance(source, SignalTable):
        return Interface.of_table(source)
    return Interface.of_description(read_description(source) if isinstance(source, str | Path) else source)


def _memory_functions() -> tuple[Any, Any]:
    """calloc and free, for FMUs that use the master's memory functions."""
    libc = ct.CDLL(None) if hasattr(ct, "CDLL") and not hasattr(ct, "WinDLL") else ct.cdll.msvcrt
    return tuple(ct.cast(f, ct.c_void_p) for f in (libc.calloc, libc.free))  # type: ignore[return-value]


@dataclass(frozen=True)
class Factory:
    """Makes instances of one FMU."""

    name: str
    """Name of the model."""
    library: Path
    """The native library."""
    interface: Interface = field(repr=False)
    """GUID, tick length and variables."""
    defaults: Mapping[str, Value] = field(default_factory=dict, repr=False)
    """Parameters set at each `setup` before the caller's own: the data of a vehicle that shares a library."""
    resources: str = ""
    """URI of the unpacked FMU's resources, or of a terrain file in their place."""
    keep: Any = None
    """Keeps the temporary folder of the FMU or library while the factory lives."""
    kind: type[FmuInstance] = Fmu2Instance
    """Class of the instances, according to the version of FMI."""
    by_tick: bool = False
    """Whether each tick is its own doStep, see `FmuInstance.step`."""

    @property
    def table(self) -> SignalTable:
        """The signal table, in vector order."""
        return self.interface.table

    @property
    def tick_length(self) -> float:
        """Default length of one tick in s."""
        return self.interface.tick_length

    def instance(self, instance_name: str) -> FmuInstance:
        """Makes a new instance; its `setup` must be called next. Raises FmuError."""
        made = self.kind(self.library, self.interface, instance_name, self.resources)
        made.defaults, made.by_tick = self.defaults, self.by_tick
        return made

    __call__ = instance


def open_builtin(name: str | Path = "hmmwv") -> Factory:
    """Opens a data set of a known model, such as a vehicle, with the library built from the present sources.

    ``name`` is the name of a data set or the path of a user's own. All data sets of a model use one library and set the
    parameters in which they differ from the first. A data set with other bounds gets its own library, which lives as
    long as the factory. Raises BuildError if a library cannot be built, and ModelError for an unknown name.
    """
    model = find(name)
    common = checked_table(model)
    own = common if name == model.base else model.read(name)
    keep, sources, library = None, model.sources, None
    if interface_guid(own) != interface_guid(common):
        keep = tempfile.TemporaryDirectory(prefix="jounce-own-")
        sources, common = retabled(model, own, sources.identifier, Path(keep.name)), own
        library = ensure_library(sources, Path(keep.name))
    library = library or model.library()
    _check_hash(library, sources.build_hash())
    defaults: dict[str, Value] = {
        s.name: s.start for s, c in zip(own.parameters, common.parameters, strict=True) if s.start != c.start
    }
    return Factory(str(name), library, Interface.of_table(own), defaults, road_place(name), keep=keep)


def _check_hash(library: Path, build_hash: str) -> None:
    function = load(library).jn_build_hash
    function.restype = ct.c_char_p
    if function() != build_hash.encode():
        raise BuildError(f"{library.name} was loaded before its sources changed; restart this process")


def open_fmu(path: str | Path) -> Factory:
    """Opens any co-simulation FMU of FMI 2.0 or 3.0, unpacked to a folder that lives as long as the factory.

    Raises FmuError, whatever is wrong with the file.
    """
    from jounce_fmu.importer.host3 import Fmu3Instance

    try:
        description = read_description(path)
        if description.coSimulation is None:
            raise ValueError("not a co-simulation FMU")
        interface = Interface.of_description(description)
        keep = tempfile.TemporaryDirectory(prefix="jounce-fmu-")
        folder = Path(keep.name)
        version = 3 if str(description.fmiVersion).startswith("3.") else 2
        library = library_path(folder, description.coSimulation.modelIdentifier, version)
        with refused_as_value_error(), zipfile.ZipFile(path) as archive:
            unpack(archive, folder)
        if not library.is_file():
            raise ValueError(f"no library for this machine ({library.parent.name})")
    except (ValueError, OSError) as error:
        raise FmuError(f"{path}: {error}") from error
    resources = folder / "resources"
    # FMI 2 takes a URI; FMI 3 takes a path that ends in a separator.
    place = resources.as_uri() if version == 2 else os.path.join(resources, "")
    kind = Fmu2Instance if version == 2 else Fmu3Instance
    return Factory(description.modelName, library, interface, {}, place, keep, kind)
