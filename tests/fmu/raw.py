"""Bare FMI 2 calls through ctypes, for tests of what the host never does. Also run as a script:
``python raw.py LIBRARY GUID SNIPPET`` runs SNIPPET with the names below in its own process."""

from __future__ import annotations

import ctypes as ct
import sys
from typing import Any

LOGGER = ct.CFUNCTYPE(None, ct.c_void_p, ct.c_char_p, ct.c_int, ct.c_char_p, ct.c_char_p)
OK, WARNING, DISCARD, ERROR = 0, 1, 2, 3
NAN, INF = float("nan"), float("inf")
REFERENCES = {"force": 1000, "position": 10000, "velocity": 10001, "acceleration": 10002, "tick_count": 10003,
              "tick": 100000, "mass": 100001, "stiffness": 100002, "damping": 100003, "x0": 100004,
              "gain": 100005, "cubic": 100006, "direction": 100007}


class Callbacks(ct.Structure):
    _fields_ = (("logger", LOGGER), ("allocate", ct.c_void_p), ("free", ct.c_void_p),
                ("finished", ct.c_void_p), ("environment", ct.c_void_p))


class Raw:
    def __init__(self, library: str, guid: str, *, callbacks: bool = True, logger: bool = True,
                 resources: bytes | None = None, logging: int = 1, environment: int = 7, kind: int = 1) -> None:
        self.library = ct.CDLL(library)
        self.library.fmi2Instantiate.restype = ct.c_void_p
        self.log: list[str] = []
        self.environments: set[int | None] = set()
        self._logger = LOGGER(self._note) if logger else LOGGER()
        self._callbacks = Callbacks(self._logger, None, None, None, environment)
        self.component = ct.c_void_p(self.library.fmi2Instantiate(
            b"name", kind, guid.encode(), resources, ct.byref(self._callbacks) if callbacks else None, 0, logging))

    def _note(self, environment: int | None, _n: bytes, _s: int, category: bytes, message: bytes) -> None:
        self.environments.add(environment)
        self.log.append(f"{category.decode()}: {message.decode()}")

    def call(self, name: str, *args: Any) -> int:
        return int(getattr(self.library, "fmi2" + name)(self.component, *args))

    def setup(self, start: float = 0.0, stop: float | None = None) -> int:
        return self.call("SetupExperiment", 0, ct.c_double(0), ct.c_double(start), int(stop is not None),
                         ct.c_double(stop or 0.0))

    def ready(self, start: float = 0.0, stop: float | None = None) -> None:
        assert self.setup(start, stop) == OK
        assert self.call("EnterInitializationMode") == OK
        assert self.call("ExitInitializationMode") == OK

    def set(self, **values: float) -> int:
        refs = (ct.c_uint * len(values))(*(REFERENCES[n] for n in values))
        return self.call("SetReal", refs, ct.c_size_t(len(values)), (ct.c_double * len(values))(*values.values()))

    def get(self, *names: str) -> list[float]:
        refs = (ct.c_uint * len(names))(*(REFERENCES[n] for n in names))
        values = (ct.c_double * len(names))()
        assert self.call("GetReal", refs, ct.c_size_t(len(names)), values) == OK, self.log
        return list(values)

    def integer(self, kind: str, name: str, value: int | None = None) -> int:
        ref, box = ct.c_uint(REFERENCES[name]), ct.c_int(value or 0)
        status = self.call(("Get" if value is None else "Set") + kind, ct.byref(ref), ct.c_size_t(1), ct.byref(box))
        return box.value if value is None and status == OK else status

    def step(self, t: float, h: float) -> int:
        return self.call("DoStep", ct.c_double(t), ct.c_double(h), 1)

    def save(self) -> bytes:
        state, size = ct.c_void_p(), ct.c_size_t()
        assert self.call("GetFMUstate", ct.byref(state)) == OK
        assert self.call("SerializedFMUstateSize", state, ct.byref(size)) == OK
        blob = ct.create_string_buffer(size.value)
        assert self.call("SerializeFMUstate", state, blob, size) == OK
        assert self.call("FreeFMUstate", ct.byref(state)) == OK
        return blob.raw

    def load(self, blob: bytes) -> int:
        state = ct.c_void_p()
        if self.call("DeSerializeFMUstate", blob, ct.c_size_t(len(blob)), ct.byref(state)) != OK:
            assert not state
            return ERROR
        status = self.call("SetFMUstate", state)
        assert self.call("FreeFMUstate", ct.byref(state)) == OK
        return status

    def build(self) -> bytes:
        self.library.jn_build_hash.restype = ct.c_char_p
        return bytes(self.library.jn_build_hash())

    def free(self) -> None:
        self.library.fmi2FreeInstance(self.component)


if __name__ == "__main__":
    exec(sys.argv[3], {**globals(), "LIBRARY": sys.argv[1], "GUID": sys.argv[2],
                       "new": lambda **kw: Raw(sys.argv[1], sys.argv[2], **kw)})
