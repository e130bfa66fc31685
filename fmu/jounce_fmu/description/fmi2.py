"""Writes modelDescription.xml (FMI 2.0) from a signal table."""

from __future__ import annotations

import hashlib
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from jounce import __version__
from jounce.signals import Scalar, Signal, SignalTable, State
from jounce_fmu.description.units import exponents

NameStyle = Literal["structured", "flat"]

DEFAULT_TICK_LENGTH = 0.001  # [s], of a model without a parameter `tick`
LOG_CATEGORIES = {
    "logStatusError": "refused calls and failed steps",
    "logStatusWarning": "warnings",
    "logEvents": "changes of state",
    "logAll": "everything",
}
#: Capabilities of co-simulation with our C runtime.
CO_SIMULATION = {
    "canHandleVariableCommunicationStepSize": "true",
    "canInterpolateInputs": "false",
    "maxOutputDerivativeOrder": "0",
    "canRunAsynchronuously": "false",
}
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_0-9]*\Z")


class DescribeError(ValueError):
    """The signal table cannot be written as an FMI model description."""


def interface_guid(table: SignalTable) -> str:
    """Hash of everything that an importer may rely on: names, references, types, units, variability, bounds, items,
    shapes.

    Start values and descriptions are left out, so the variants of a vehicle share one interface; the table's edition
    counts.
    """
    digest = hashlib.sha256()
    for s in table.scalars:
        g = s.signal
        row = (s.name, s.value_reference, g.causality, g.type, g.unit, g.variability, s.minimum, s.maximum, g.items,
               g.components)
        digest.update(repr(row).encode() + b"\n")
    for state, reference in zip(table.states, table.state_references, strict=True):
        digest.update(repr((state.name, state.unit, reference)).encode() + b"\n")
    digest.update(table.edition.encode())
    h = digest.hexdigest()
    return "{" + "-".join((h[:8], h[8:12], h[12:16], h[16:20], h[20:32])) + "}"


def default_tick_length(table: SignalTable) -> float:
    """Start value of the parameter ``tick`` in s, or 1 ms for a model without one."""
    return next((s.start for s in table.parameters if s.name == "tick"), DEFAULT_TICK_LENGTH)


def fmi_name(name: str, style: NameStyle = "structured") -> str:
    """A signal's name in the FMU.

    Structured: as in the table, a numeric component becomes an index (``depth.0`` -> ``depth[0]``,
    ``up.1.0`` -> ``up[1,0]``).
    Flat: no dots or brackets (``wheel_FL.pos.x`` -> ``wheel_FL_pos_x``).
    """
    if style == "flat":
        return re.sub(r"[.\[\]]+", "_", name).strip("_")
    return re.sub(r"((?:\.\d+)+)(?=\.|\Z)", lambda found: f"[{found.group(1)[1:].replace('.', ',')}]", name)


def model_description(
    table: SignalTable,
    identifier: str,
    *,
    source_files: Sequence[str] = (),
    names: NameStyle = "structured",
    capabilities: Mapping[str, str] | None = None,
) -> bytes:
    """The XML file as bytes; the same arguments give the same bytes.

    ``capabilities`` are attributes of CoSimulation that differ from those of our C runtime.

    Raises DescribeError for names that collide or are no identifiers, UnitError for an unknown unit.
    """
    root = ET.Element(
        "fmiModelDescription",
        fmiVersion="2.0",
        modelName=table.name,
        guid=interface_guid(table),
        generationTool=f"jounce {__version__}",
        variableNamingConvention=names,
        numberOfEventIndicators="0",
    )
    if table.states:
        element = _interface(root, "ModelExchange", table, identifier, source_files)
        element.set("completedIntegratorStepNotNeeded", "true")
    element = _interface(root, "CoSimulation", table, identifier, source_files)
    element.attrib.update({**CO_SIMULATION, **(capabilities or {})})
    add_units(root, table)
    _enumerations(root, table)
    add_log_and_experiment(root, table)
    outputs = _variables(root, table, names)
    states, rates = _states(root, table, names)
    structure = ET.SubElement(root, "ModelStructure")
    unknowns = {"Outputs": outputs, "Derivatives": rates, "InitialUnknowns": [*outputs, *states, *rates]}
    for kind, places in unknowns.items():
        if places:
            element = ET.SubElement(structure, kind)
            for place in places:
                ET.SubElement(element, "Unknown", index=str(place))
    return xml_text(root)


def xml_text(root: ET.Element) -> bytes:
    """An indented XML file."""
    ET.indent(root)
    xml: bytes = ET.tostring(root, encoding="UTF-8", xml_declaration=True)
    return xml + b"\n"


def flag(value: bool) -> str:
    """A Boolean as text in the XML."""
    return "true" if value else "false"


def check_identifier(identifier: str) -> None:
    """Raises DescribeError if the model identifier is not a C identifier."""
    if not _IDENTIFIER.match(identifier):
        raise DescribeError(f"model identifier {identifier!r}: expected C identifiers")


def add_log_and_experiment(root: ET.Element, table: SignalTable) -> None:
    """Adds LogCategories and DefaultExperiment, which are the same in FMI 2 and 3."""
    categories = ET.SubElement(root, "LogCategories")
    for name, text in LOG_CATEGORIES.items():
        ET.SubElement(categories, "Category", name=name, description=text)
    step = repr(default_tick_length(table))
    ET.SubElement(root, "DefaultExperiment", startTime="0.0", stopTime="10.0", stepSize=step)


def _interface(
    root: ET.Element, kind: str, table: SignalTable, identifier: str, source_files: Sequence[str]
) -> ET.Element:
    """CoSimulation or ModelExchange with what both say."""
    check_identifier(identifier)
    element = ET.SubElement(
        root,
        kind,
        modelIdentifier=identifier,
        needsExecutionTool="false",
        canBeInstantiatedOnlyOncePerProcess="false",
        canNotUseMemoryManagementFunctions="true",
        canGetAndSetFMUstate="true",
        canSerializeFMUstate="true",
        providesDirectionalDerivative=flag(table.derivatives),
    )
    _source_files(element, source_files)
    return element


def _source_files(element: ET.Element, names: Sequence[str]) -> None:
    if names:
        files = ET.SubElement(element, "SourceFiles")
        for name in names:
            ET.SubElement(files, "File", name=name)


def add_units(root: ET.Element, table: SignalTable, *more: str) -> None:
    """Adds UnitDefinitions of all Real signals, states, their derivatives and ``more``; the same in FMI 2 and 3."""
    of_states = {unit for s in table.states for unit in (s.unit, rate_unit(s))}
    units = sorted({g.unit for g in table.signals if g.type == "Real"} | of_states | set(more))
    if not units:
        return
    definitions = ET.SubElement(root, "UnitDefinitions")
    for unit in units:
        element = ET.SubElement(definitions, "Unit", name=unit)
        ET.SubElement(element, "BaseUnit", {base: str(power) for base, power in exponents(unit).items()})


def enumerations(table: SignalTable) -> list[Signal]:
    """The Enumeration signals; raises DescribeError for items that are not C identifiers."""
    signals = [g for g in table.signals if g.type == "Enumeration"]
    for g in signals:
        if bad := [item for item in g.items if not _IDENTIFIER.match(item)]:
            raise DescribeError(f"{g.name}: items {bad}; expected C identifiers")
    return signals


def _enumerations(root: ET.Element, table: SignalTable) -> None:
    signals = enumerations(table)
    if not signals:
        return
    definitions = ET.SubElement(root, "TypeDefinitions")
    for g in signals:
        simple = ET.SubElement(definitions, "SimpleType", name=type_name(g), description=g.description)
        enumeration = ET.SubElement(simple, "Enumeration")
        for value, item in enumerate(g.items, start=1):
            ET.SubElement(enumeration, "Item", name=item, value=str(value))


def type_name(signal: Signal) -> str:
    """Name of an enumeration's type."""
    return "Type_" + fmi_name(signal.name, "flat")


def _variables(root: ET.Element, table: SignalTable, names: NameStyle) -> list[int]:
    """Appends all variables, aliases last; returns the 1-based indices of the outputs."""
    parent = ET.SubElement(root, "ModelVariables")
    outputs: list[int] = []
    used: set[str] = set()
    named = [(s.name, s, False) for s in table.scalars]
    for s in table.scalars:
        if s.signal.alias:
            named.append((s.signal.alias + s.name.removeprefix(s.signal.name), s, True))
    for place, (name, scalar, is_alias) in enumerate(named, start=1):
        written = fmi_name(name, names)
        if written in used:
            raise DescribeError(f"two variables would be called {written!r}")
        used.add(written)
        _variable(parent, written, scalar, is_alias)
        if scalar.signal.causality == "output":
            outputs.append(place)
    return outputs


def rate_unit(state: State) -> str:
    """Unit of a state's derivative."""
    return f"{state.unit}/s"


def _states(root: ET.Element, table: SignalTable, names: NameStyle) -> tuple[list[int], list[int]]:
    """Appends the states and then their derivatives as locals; returns the 1-based indices of both."""
    parent = root.find("ModelVariables")
    assert parent is not None
    before, n = len(parent), len(table.states)
    used = {v.get("name") for v in parent}
    written = [fmi_name(s.name, names) for s in table.states]
    if taken := [name for name in written if name in used]:
        raise DescribeError(f"two variables would be called {taken[0]!r}")
    for i, (variable, kind) in enumerate(state_variables(table, written)):
        of = {"derivative": str(before + 1 + i - n)} if i >= n else {}
        ET.SubElement(ET.SubElement(parent, "ScalarVariable", variable), "Real", kind | of)
    return list(range(before + 1, before + 1 + n)), list(range(before + 1 + n, before + 1 + 2 * n))


def state_variables(table: SignalTable, names: Sequence[str]) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """(attributes of the variable, of its type) of the states and then of their derivatives; same in FMI 2 and 3."""
    as_local = {"causality": "local", "variability": "continuous", "initial": "calculated"}
    for s, name, reference in zip(table.states, names, table.state_references, strict=True):
        variable = {"name": name, "valueReference": str(reference), "description": s.description}
        yield variable | as_local, {"unit": s.unit, "nominal": repr(float(s.nominal))}
    for s, name, reference in zip(table.states, names, table.rate_references, strict=True):
        rate = f"rate of: {s.description}"
        variable = {"name": f"der({name})", "valueReference": str(reference), "description": rate}
        yield variable | as_local, {"unit": rate_unit(s)}


def _variable(parent: ET.Element, name: str, scalar: Scalar, is_alias: bool) -> None:
    g = scalar.signal
    # Only one of the variables that share a reference may be settable (FMI 2.0.4, section 2.2.7).
    causality = "local" if is_alias and g.causality != "output" else g.causality
    element = ET.SubElement(
        parent,
        "ScalarVariable",
        name=name,
        valueReference=str(scalar.value_reference),
        description=description(g),
        causality=causality,
        variability=variability(g),
    )
    kind = ET.SubElement(element, g.type, type_attributes(g, scalar.minimum, scalar.maximum))
    if causality in ("input", "parameter"):
        kind.set("start", value_text(g, scalar.start))


def type_attributes(g: Signal, minimum: float, maximum: float) -> dict[str, str]:
    """Declared type, unit, nominal and finite bounds of a variable; the same in FMI 2 and 3."""
    found = {}
    if g.type == "Enumeration":
        found["declaredType"] = type_name(g)
    if g.type == "Real":
        found["unit"] = g.unit
        if math.isfinite(g.nominal) and g.nominal > 0:
            found["nominal"] = repr(float(g.nominal))
    if g.type in ("Real", "Integer"):
        found |= {key: value_text(g, v) for key, v in (("min", minimum), ("max", maximum)) if math.isfinite(v)}
    return found


def description(signal: Signal) -> str:
    """The description of a signal in the XML, with its frame unless it is a parameter."""
    if signal.frame and signal.causality != "parameter":
        return f"{signal.description} [frame: {signal.frame}]"
    return signal.description


def variability(signal: Signal) -> str:
    """FMI variability of a signal; only Real may be continuous."""
    return "discrete" if signal.type != "Real" and signal.variability == "continuous" else signal.variability


def value_text(signal: Signal, value: float) -> str:
    """A bound or start value in the XML."""
    if signal.type == "Boolean":
        return "true" if value else "false"
    if signal.type == "String":
        return signal.text
    return repr(float(value)) if signal.type == "Real" else str(int(value))
