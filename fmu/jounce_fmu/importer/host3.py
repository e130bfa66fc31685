"""Co-simulation instances of FMI 3.0."""

from __future__ import annotations

import ctypes as ct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce_fmu.importer.instance import FmuError, FmuInstance

_LOGGER = ct.CFUNCTYPE(None, ct.c_void_p, ct.c_int, ct.c_char_p, ct.c_char_p)
_NO, _YES = ct.c_bool(False), ct.c_bool(True)
_ROUNDING = 1e-9  # relative tolerance for the time at the end of a step
_SIZES = (8, 16, 32, 64)


class Fmu3Instance(FmuInstance):
    """One co-simulation instance of FMI 3.0, without event mode and without early return."""

    prefix, state, deserialize = "fmi3", "FMUState", "DeserializeFMUState"
    dtypes = {
        **{f"Float{n}": np.dtype(f"float{n}") for n in (32, 64)},
        **{f"Int{n}": np.dtype(f"int{n}") for n in _SIZES},
        **{f"UInt{n}": np.dtype(f"uint{n}") for n in _SIZES},
        "Boolean": np.dtype(np.uint8),
    }

    def _instantiate(self, name: bytes, guid: bytes, resources: bytes) -> int | None:
        self._logger = _LOGGER(self._log)
        made: int | None = self.function("InstantiateCoSimulation")(
            name, guid, resources or None, _NO, _YES, _NO, _NO, None, ct.c_size_t(0), None, self._logger, None
        )
        return made

    def _initialize(self, start_time: float) -> None:
        no = _NO, ct.c_double(0.0)
        self._call("EnterInitializationMode", *no, ct.c_double(start_time), *no)

    def _do_step(self, time: float, length: float) -> int:
        event, end, early, last = ct.c_bool(), ct.c_bool(), ct.c_bool(), ct.c_double()
        results = (ct.byref(f) for f in (event, end, early, last))
        # _NO as noSetFMUStatePriorToCurrentPoint: the state before this point may be restored later.
        status = int(self._step_function(self._component, ct.c_double(time), ct.c_double(length), _NO, *results))
        there = abs(time + length - last.value) <= _ROUNDING * max(length, abs(time + length))
        if status < 2 and (end.value or (early.value and not there)):
            what = "requested the end of the simulation" if end.value else "returned early, which was not allowed"
            raise FmuError(f"{self.table.name} {what} at {last.value!r} s")
        return status

    @staticmethod
    def arguments(references: NDArray[np.uint32], values: NDArray[Any]) -> tuple[Any, ...]:
        """C arguments: references, their number, values, their number."""
        pointers = references.ctypes.data_as(ct.c_void_p), values.ctypes.data_as(ct.c_void_p)
        return pointers[0], ct.c_size_t(len(references)), pointers[1], ct.c_size_t(len(values))

    def _log(self, _environment: int, status: int, _category: bytes, message: bytes) -> None:
        self._note(status, message)
