"""Reads the interface of an FMU from our signal table or from a foreign model description."""

from __future__ import annotations

import logging
import math
import platform
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from jounce.signals import Causality, Scalar, Signal, SignalTable, Type
from jounce.values import number, read
from jounce_fmu.description.fmi2 import DEFAULT_TICK_LENGTH, default_tick_length, interface_guid

#: Type in a model description -> (our type, suffix of its getter and setter). Enumerations are passed as integers.
_TYPES: dict[str, tuple[Type, str]] = {
    "Real": ("Real", "Real"),
    "Integer": ("Integer", "Integer"),
    "Boolean": ("Boolean", "Boolean"),
    "Enumeration": ("Enumeration", "Integer"),
    **{f"Float{n}": ("Real", f"Float{n}") for n in (32, 64)},
    **{f"{sign}Int{n}": ("Integer", f"{sign}Int{n}") for sign in ("", "U") for n in (8, 16, 32, 64)},
}
_log = logging.getLogger(__name__)
#: Largest modelDescription.xml [bytes].
_LARGEST = 1 << 26
#: Largest size of an unpacked FMU [bytes].
LARGEST_UNPACKED = 1 << 31
#: Size that each file counts for at least [bytes], so that a million empty files are refused as well.
_BLOCK = 4096
#: Most elements of an array.
_ELEMENTS = 1_000_000
#: Whole numbers up to this one are exact as doubles.
_WHOLE = 2.0**53


@dataclass(frozen=True)
class Variable:
    """One scalar of the FMU: its name, FMI value reference, signal, and suffix of its getter and setter.

    ``place`` is the index of an element in an FMI 3 array, whose elements share the reference; None for a scalar.
    """

    name: str
    reference: int
    signal: Signal
    call: str
    place: int | None = None


@dataclass(frozen=True)
class Interface:
    """GUID, step size and variables of an FMU; each group of variables is in the order of its vector.

    ``tick_parameter`` says that the parameter ``tick`` sets the step size, ``keeps_state`` that the FMU can serialize
    its state.
    """

    guid: str
    table: SignalTable
    tick_length: float
    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    tick_parameter: bool = True
    keeps_state: bool = True

    @classmethod
    def of_table(cls, table: SignalTable) -> Interface:
        """The interface of one of our own models, in FMI 2."""

        def group(scalars: tuple[Scalar, ...]) -> tuple[Variable, ...]:
            return tuple(Variable(s.name, s.value_reference, s.signal, _TYPES[s.signal.type][1]) for s in scalars)

        return cls(
            interface_guid(table),
            table,
            default_tick_length(table),
            group(table.inputs),
            group(table.outputs),
            group(table.parameters),
            any(s.name == "tick" for s in table.parameters),
        )

    @classmethod
    def of_description(cls, description: Any) -> Interface:
        """The interface of any FMU from fmpy's ``ModelDescription``; raises ValueError for a bad description.

        Variables of other types, such as String, clocked variables and aliases are left out.
        """
        with refused_as_value_error():
            return cls._of_description(description)

    @classmethod
    def _of_description(cls, description: Any) -> Interface:
        third = str(description.fmiVersion).startswith("3.")
        groups: dict[Causality, list[Variable]] = {"input": [], "output": [], "parameter": []}
        for v in description.modelVariables:
            if v.causality in groups and v.type in _TYPES and not v.clocks and v.alias is None:
                groups[v.causality] += _variables(v, third)
        found = [v for group in groups.values() for v in group]
        table = SignalTable(description.modelName, tuple(v.signal for v in found if not v.place))
        experiment, ability = description.defaultExperiment, description.coSimulation
        step = float(experiment.stepSize or 0.0) if experiment is not None else 0.0
        if ability is not None and not step:
            step = float(ability.fixedInternalStepSize or 0.0)
        ticks = [v.signal for v in groups["parameter"] if v.name == "tick"]
        # A foreign parameter named "tick" may mean anything; ours has unit s and the step size as its start.
        by_parameter = bool(ticks) and ticks[0].unit == "s" and ticks[0].start == (step,)
        tick_length = step or DEFAULT_TICK_LENGTH
        if not 0.0 < tick_length < math.inf:
            raise ValueError(f"step size {tick_length!r} s: expected a finite number above 0")
        keeps = ability is None or bool(ability.canGetAndSetFMUstate and ability.canSerializeFMUstate)
        inputs, outputs, parameters = map(tuple, groups.values())
        return cls(description.guid, table, tick_length, inputs, outputs, parameters, by_parameter, keeps)


def _variables(v: Any, third: bool) -> Iterator[Variable]:
    signal = _signal(v)
    call = "Int64" if third and v.type == "Enumeration" else _TYPES[v.type][1]
    for place, suffix in enumerate(signal.components):
        yield Variable(v.name + suffix, v.valueReference, signal, call, place if signal.shape else None)


def _signal(v: Any) -> Signal:
    declared = v.declaredType
    kind, items = _TYPES[v.type][0], ()
    least, most = _limits(v.type)
    if kind == "Enumeration" and declared is not None and declared.items:
        values = [int(i.value) for i in declared.items]
        least, most = float(min(values)), float(max(values))
        if values == [*range(1, len(values) + 1)]:
            items = tuple(i.name for i in declared.items)
        else:
            kind = "Integer"
    unit = v.unit or (declared.unit if declared is not None else None) or "1"
    low, high = (v.min, v.max) if v.min is not None or declared is None else (declared.min, declared.max)
    if math.prod(v.shape) not in range(1, _ELEMENTS + 1) or any(n < 1 for n in v.shape):
        raise ValueError(f"{v.name} has the shape {v.shape}: expected 1 to {_ELEMENTS} elements")
    places = np.ndindex(*v.shape) if v.shape else ()
    components = tuple(f"[{','.join(str(i + 1) for i in place)}]" for place in places) or ("",)
    signal = Signal(
        v.name,
        v.causality,
        unit,
        v.description or "",
        components,
        frame="",
        minimum=least if low is None else max(least, _bound(v, low)),
        maximum=most if high is None else min(most, _bound(v, high)),
        type=kind,
        variability=v.variability if v.variability in ("discrete", "fixed", "tunable") else "continuous",
        items=items,
    )
    return replace(signal, start=_start(v, signal))


def _bound(v: Any, text: str) -> float:
    bound = float(text)
    if math.isnan(bound):
        raise ValueError(f"{v.name} has a bound {text}: expected a number")
    return bound


def _limits(name: str) -> tuple[float, float]:
    """Smallest and largest value of a type that a double can hold exactly."""
    if name == "Boolean":
        return 0.0, 1.0
    if _TYPES[name][0] == "Real":
        return -math.inf, math.inf
    limits = np.iinfo(name.lower() if name[-1].isdigit() else "int32")
    return max(float(limits.min), -_WHOLE), min(float(limits.max), _WHOLE)


def _start(v: Any, signal: Signal) -> tuple[float, ...]:
    count = len(signal.components)
    texts = [""] if v.start is None else str(v.start).split()
    # A 64-bit start value that no double holds is rounded; it is only shown, not set.
    values = [(read(v.name, signal, t) if signal.type == "Boolean" else number(t)) if t else 0.0 for t in texts]
    values = values * count if len(values) == 1 else values
    if len(values) != count:
        raise ValueError(f"{v.name} has {len(values)} start values: expected {count}")
    if v.causality == "input" and not all(map(math.isfinite, values)):
        raise ValueError(f"{v.name} starts at {v.start}: expected finite numbers")
    return tuple(values)


def read_description(path: str | Path) -> Any:
    """Reads an .fmu or a modelDescription.xml of FMI 2 or 3 into fmpy's ``ModelDescription``; raises ValueError.

    FMI 2 variables without the variability that the standard requires are corrected, see `_mend`.
    """
    # Imported here because it takes long, and a worker, which gets an Interface, does not need it.
    import fmpy

    with refused_as_value_error(), tempfile.TemporaryDirectory() as folder:
        root = ET.fromstring(_xml(Path(path)))
        version = root.get("fmiVersion", "")
        if not version.startswith(("2.", "3.")):
            raise ValueError(f"FMI version {version!r}: expected 2.0 or 3.0")
        if version.startswith("2."):
            _mend(root)
        mended = Path(folder) / "modelDescription.xml"
        ET.ElementTree(root).write(mended, encoding="utf-8", xml_declaration=True)
        return fmpy.read_model_description(str(mended))


@contextmanager
def refused_as_value_error() -> Iterator[None]:
    """Turns every error of a foreign description into a ValueError; fmpy raises many types of exception."""
    try:
        yield
    except (ValueError, OSError):
        raise
    except Exception as error:
        text = str(error) or "no reason given"
        raise ValueError(text if type(error) is Exception else f"{type(error).__name__}: {text}") from error


def _xml(path: Path) -> bytes:
    if path.suffix == ".xml":
        data = path.read_bytes()
    else:
        with zipfile.ZipFile(path) as archive:
            size = archive.getinfo("modelDescription.xml").file_size
            if size > _LARGEST:
                raise ValueError(f"modelDescription.xml of {size} bytes: expected at most {_LARGEST}")
            data = archive.read("modelDescription.xml")
    # XML entities can name other files, or expand a few bytes to gigabytes.
    if b"<!DOCTYPE" in data:
        raise ValueError("modelDescription.xml has a DOCTYPE: FMI has none")
    return data


def unpack(archive: zipfile.ZipFile, folder: Path) -> None:
    """Unpacks an FMU into a folder; raises ValueError, with nothing written, if it would be too large.

    The check uses the sizes that the archive declares; zipfile writes no more than these.
    """
    entries = archive.infolist()
    size = sum(max(e.file_size, _BLOCK) for e in entries)
    if size > LARGEST_UNPACKED:
        largest = max(entries, key=lambda e: e.file_size)
        raise ValueError(f"{len(entries)} files unpack to {size} bytes, the largest is {largest.filename!r}: "
                         f"expected at most {LARGEST_UNPACKED}")  # fmt: skip
    archive.extractall(folder)


def _mend(root: ET.Element) -> None:
    """Adds the variability to FMI 2 variables that need one and have none, such as pythonfmu's, and logs a warning.

    The default is continuous, which is allowed only for Real variables that are not parameters (FMI 2.0.4, section
    2.2.7).
    """
    mended: dict[str, list[str]] = {}
    for v in root.iterfind("ModelVariables/ScalarVariable"):
        if v.get("variability", "continuous") != "continuous":
            continue
        if v.get("causality") in ("parameter", "calculatedParameter"):
            kind = "fixed"
        elif v.find("Real") is None:
            kind = "discrete"
        else:
            continue
        v.set("variability", kind)
        mended.setdefault(kind, []).append(v.get("name", ""))
    for kind, names in mended.items():
        more = f" and {len(names) - 5} more" if len(names) > 5 else ""
        _log.warning("%s: variables without variability, which cannot be continuous, are taken as %s: %s%s",
                     root.get("modelName"), kind, ", ".join(names[:5]), more)  # fmt: skip


def library_path(folder: Path, identifier: str, version: int = 2) -> Path:
    """Path of the library for this machine in an unpacked FMU; raises ValueError for a bad identifier."""
    if not identifier or Path(identifier).name != identifier:
        raise ValueError(f"model identifier {identifier!r}: expected a name without a folder")
    system, suffix = {"win32": ("windows", ".dll"), "darwin": ("darwin", ".dylib")}.get(sys.platform, ("linux", ".so"))
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine())
    name = f"{machine}-{system}" if version == 3 else f"{system.replace('windows', 'win')}64"
    return folder / "binaries" / name / (identifier + suffix)
