"""An FMI 2 slave in fmpy by name, with its log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Slave, defaultCallbacks, fmi2CallbackFunctions, fmi2CallbackLoggerTYPE


class Slave:
    """One instance; values go by name."""

    def __init__(self, archive: Path, folder: Path, name: str = "s", log: list[str] | None = None) -> None:
        self.description = read_model_description(str(archive), validate=False)
        self.variables = {v.name: v for v in self.description.modelVariables}
        self.log: list[str] = [] if log is None else log
        # pythonfmu 0.6 crashes without the importer's memory functions
        self._callbacks = fmi2CallbackFunctions.from_buffer_copy(defaultCallbacks)
        self._callbacks.logger = fmi2CallbackLoggerTYPE(lambda *a: self.log.append((a[4] or b"").decode()))
        extract(str(archive), str(folder))
        self.fmu: Any = FMU2Slave(guid=self.description.guid, unzipDirectory=str(folder), instanceName=name,
                                  modelIdentifier=self.description.coSimulation.modelIdentifier)
        self.fmu.instantiate(callbacks=self._callbacks, loggingOn=True)

    def setup(self, values: Mapping[str, Any] | None = None) -> None:
        self.fmu.setupExperiment(startTime=0.0)
        self.set(values or {})
        self.fmu.enterInitializationMode()
        self.fmu.exitInitializationMode()

    def set(self, values: Mapping[str, Any]) -> None:
        for name, value in values.items():
            v = self.variables[name]
            kind = "Integer" if v.type == "Enumeration" else v.type
            getattr(self.fmu, f"set{kind}")([v.valueReference], [value])

    def get(self, names: Sequence[str]) -> list[float]:
        values: list[float] = self.fmu.getReal([self.variables[n].valueReference for n in names])
        return values

    def reals(self, causality: str) -> list[str]:
        return [v.name for v in self.description.modelVariables if v.causality == causality and v.type == "Real"]

    def save(self) -> bytes:
        state = self.fmu.getFMUstate()
        data: bytes = self.fmu.serializeFMUstate(state)
        self.fmu.freeFMUstate(state)
        return data

    def restore(self, data: bytes) -> None:
        state = self.fmu.deSerializeFMUstate(data)
        try:
            self.fmu.setFMUstate(state)
        finally:
            self.fmu.freeFMUstate(state)


@contextmanager
def opened(archive: Path, folder: Path, values: Mapping[str, Any] | None = None) -> Iterator[Slave]:
    slave = Slave(archive, folder)
    try:
        slave.setup(values)
        yield slave
    finally:
        slave.fmu.freeInstance()
