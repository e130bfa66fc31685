"""Bare FMI 3 calls through ctypes, for tests of what no good importer does. Also run as a script:
``python raw3.py LIBRARY TOKEN SNIPPET`` runs SNIPPET with the names below in its own process."""

from __future__ import annotations

import ctypes as ct
import sys
from typing import Any

LOGGER = ct.CFUNCTYPE(None, ct.c_void_p, ct.c_int, ct.c_char_p, ct.c_char_p)
OK, WARNING, DISCARD, ERROR = 0, 1, 2, 3
NAN, INF = float("nan"), float("inf")
SCALARS = "scalars"  # what the token of the interface without arrays ends in
VR = {"time": 0, "force": 1000, "push": 1001, "position": 10000, "velocity": 10001, "acceleration": 10002,
      "tick_count": 10003, "load": 10004, "tick": 100000, "mass": 100001, "stiffness": 100002, "damping": 100003,
      "x0": 100004, "gain": 100005, "cubic": 100006, "direction": 100007}
CTYPE: dict[str, Any] = {"Float64": ct.c_double, "Float32": ct.c_float, "Int64": ct.c_int64, "Int32": ct.c_int32,
                         "Boolean": ct.c_uint8, "String": ct.c_char_p}


class Raw3:
    def __init__(self, library: str, token: str | None, *, name: bytes | None = b"name", logger: bool = True,
                 logging: bool = True, events: bool = False, early: bool = False, resources: bytes | None = None,
                 intermediate: tuple[int, ...] = (), exchange: bool = False) -> None:
        self.library = ct.CDLL(library)
        self.library.fmi3InstantiateCoSimulation.restype = ct.c_void_p
        self.library.fmi3InstantiateModelExchange.restype = ct.c_void_p
        self.log: list[str] = []
        self.environments: set[int | None] = set()
        self.logger = LOGGER(self._note) if logger else LOGGER()
        wanted = (ct.c_uint * len(intermediate))(*intermediate)
        start = (name, token.encode() if token is not None else None, resources, ct.c_bool(False), ct.c_bool(logging))
        if exchange:
            made = self.library.fmi3InstantiateModelExchange(*start, ct.c_void_p(7), self.logger)
        else:
            made = self.library.fmi3InstantiateCoSimulation(
                *start, ct.c_bool(events), ct.c_bool(early), wanted, ct.c_size_t(len(wanted)), ct.c_void_p(7),
                self.logger, None)
        self.instance = ct.c_void_p(made)

    def _note(self, environment: int | None, _status: int, category: bytes, message: bytes) -> None:
        self.environments.add(environment)
        self.log.append(f"{category.decode()}: {message.decode()}")

    def call(self, name: str, *args: Any) -> int:
        return int(getattr(self.library, "fmi3" + name)(self.instance, *args))

    def enter(self, start: float = 0.0, stop: float | None = None) -> int:
        return self.call("EnterInitializationMode", ct.c_bool(False), ct.c_double(0), ct.c_double(start),
                         ct.c_bool(stop is not None), ct.c_double(stop or 0.0))

    def ready(self, start: float = 0.0, stop: float | None = None) -> None:
        assert self.enter(start, stop) == OK
        assert self.call("ExitInitializationMode") == OK

    def values(self, verb: str, kind: str, names: list[str | int], values: Any, n_values: int | None = None) -> int:
        refs = (ct.c_uint * len(names))(*(n if isinstance(n, int) else VR[n] for n in names))
        count = len(values) if n_values is None else n_values
        return self.call(verb + kind, refs, ct.c_size_t(len(names)), values, ct.c_size_t(count))

    def set(self, names: str, *numbers: float, kind: str = "Float64", n_values: int | None = None) -> int:
        return self.values("Set", kind, [*names.split()], (CTYPE[kind] * len(numbers))(*numbers), n_values)

    def read(self, names: str, count: int, kind: str = "Float64") -> tuple[int, list[Any]]:
        values = (CTYPE[kind] * count)()
        status = self.values("Get", kind, [*names.split()], values)
        return status, list(values)

    def get(self, names: str, count: int = 1, kind: str = "Float64") -> list[Any]:
        status, values = self.read(names, count, kind)
        assert status == OK, self.log
        return values

    def step(self, t: float, h: float) -> int:
        return self.full_step(t, h)[0]

    def full_step(self, t: float, h: float) -> tuple[int, bool, bool, bool, float]:
        flags = [ct.c_bool(True) for _ in range(3)]
        last = ct.c_double(-1.0)
        status = self.call("DoStep", ct.c_double(t), ct.c_double(h), ct.c_bool(True), *map(ct.byref, flags),
                           ct.byref(last))
        return status, flags[0].value, flags[1].value, flags[2].value, last.value

    def update(self) -> tuple[int, list[bool], float]:
        flags = [ct.c_bool(True) for _ in range(5)]
        time = ct.c_double(-1.0)
        status = self.call("UpdateDiscreteStates", *map(ct.byref, flags), ct.byref(time))
        return status, [f.value for f in flags], time.value

    def save(self) -> bytes:
        state, size = ct.c_void_p(), ct.c_size_t()
        assert self.call("GetFMUState", ct.byref(state)) == OK
        assert self.call("SerializedFMUStateSize", state, ct.byref(size)) == OK
        blob = ct.create_string_buffer(size.value)
        assert self.call("SerializeFMUState", state, blob, size) == OK
        assert self.call("FreeFMUState", ct.byref(state)) == OK
        return blob.raw

    def load(self, blob: bytes) -> int:
        state = ct.c_void_p()
        if self.call("DeserializeFMUState", blob, ct.c_size_t(len(blob)), ct.byref(state)) != OK:
            assert not state
            return ERROR
        status = self.call("SetFMUState", state)
        assert self.call("FreeFMUState", ct.byref(state)) == OK
        return status

    def build(self) -> bytes:
        self.library.jn_build_hash.restype = ct.c_char_p
        return bytes(self.library.jn_build_hash())

    def free(self) -> None:
        self.library.fmi3FreeInstance(self.instance)


if __name__ == "__main__":
    exec(sys.argv[3], {**globals(), "LIBRARY": sys.argv[1], "TOKEN": sys.argv[2],
                       "new": lambda **kw: Raw3(sys.argv[1], sys.argv[2], **kw)})
