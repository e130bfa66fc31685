"""Writes modelDescription.xml and buildDescription.xml of an FMI 3.0 FMU from a signal table."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter

from jounce import __version__
from jounce.signals import Signal, SignalTable
from jounce_fmu.description.fmi2 import (
    DescribeError,
    NameStyle,
    add_log_and_experiment,
    add_units,
    check_identifier,
    default_tick_length,
    description,
    enumerations,
    flag,
    fmi_name,
    interface_guid,
    state_variables,
    type_attributes,
    type_name,
    value_text,
    variability,
    xml_text,
)

TYPES = {"Real": "Float64", "Integer": "Int64", "Boolean": "Boolean", "Enumeration": "Enumeration"}
TIME_REFERENCE = 0  # Value reference of the independent variable, as in the runtime.


@dataclass(frozen=True)
class Variable:
    """One FMI 3 variable: a whole signal, or one component of it."""

    name: str
    alias: str
    signal: Signal
    reference: int
    starts: tuple[float, ...]
    minimum: float
    is_array: bool


def instantiation_token(table: SignalTable, scalars: bool = False) -> str:
    """The interface hash; the interface of scalars has another token, since its lists of values are different."""
    return interface_guid(table) + ("scalars" if scalars else "")


def variables(table: SignalTable, names: NameStyle = "structured", scalars: bool = False) -> Iterator[Variable]:
    """The variables in table order. An array has the value reference of its first component."""
    for g, group in groupby(table.scalars, key=attrgetter("signal")):
        parts = list(group)
        is_array = bool(g.shape) and not scalars
        for part in [parts] if is_array else [[s] for s in parts]:
            suffix = "" if is_array else part[0].name.removeprefix(g.name)
            # fmpy 0.3.32 expects an output's alias in InitialUnknowns, which cannot list it.
            has_alias = g.alias and g.causality != "output"
            alias = fmi_name(g.alias + suffix, names) if has_alias else ""
            starts = tuple(s.start for s in part)
            low = min(s.minimum for s in part)
            yield Variable(fmi_name(g.name + suffix, names), alias, g, part[0].value_reference, starts, low, is_array)


def model_description3(
    table: SignalTable, identifier: str, *, names: NameStyle = "structured", scalars: bool = False
) -> bytes:
    """The XML file as bytes; the same arguments give the same bytes.

    Vector signals are arrays, or with ``scalars`` the scalars of the FMI 2 description, under the same names.
    Raises DescribeError for names that collide or are no identifiers, UnitError for an unknown unit.
    """
    check_identifier(identifier)
    root = ET.Element(
        "fmiModelDescription",
        fmiVersion="3.0",
        modelName=table.name,
        instantiationToken=instantiation_token(table, scalars),
        generationTool=f"jounce {__version__}",
        variableNamingConvention=names,
    )
    if table.states:
        _interface(root, "ModelExchange", table, identifier).set("needsCompletedIntegratorStep", "false")
    _interface(root, "CoSimulation", table, identifier).attrib.update(
        canHandleVariableCommunicationStepSize="true",
        fixedInternalStepSize=repr(default_tick_length(table)),
        maxOutputDerivativeOrder="0",
        providesIntermediateUpdate="false",
        mightReturnEarlyFromDoStep="true",
        canReturnEarlyAfterIntermediateUpdate="false",
        hasEventMode="true",
    )
    add_units(root, table, "s")
    _enumerations(root, table)
    add_log_and_experiment(root, table)
    described = list(variables(table, names, scalars))
    states = [fmi_name(s.name, names) for s in table.states]
    _check_names(described, states)
    parent = ET.SubElement(root, "ModelVariables")
    ET.SubElement(
        parent,
        "Float64",
        name="time",
        valueReference=str(TIME_REFERENCE),
        description="simulated time",
        causality="independent",
        variability="continuous",
        unit="s",
    )
    for v in described:
        _variable(parent, v)
    _states(parent, table, states)
    outputs = [v.reference for v in described if v.signal.causality == "output"]
    unknowns = [*outputs, *table.state_references, *table.rate_references]
    structure = ET.SubElement(root, "ModelStructure")
    for kind, references in {
        "Output": outputs, "ContinuousStateDerivative": table.rate_references, "InitialUnknown": unknowns
    }.items():
        for reference in references:
            ET.SubElement(structure, kind, valueReference=str(reference))
    return xml_text(root)


def build_description(identifier: str, source_files: Sequence[str]) -> bytes:
    """buildDescription.xml, which says to compile exactly these files as C99 without any defined macros."""
    root = ET.Element("fmiBuildDescription", fmiVersion="3.0")
    configuration = ET.SubElement(root, "BuildConfiguration", modelIdentifier=identifier)
    files = ET.SubElement(configuration, "SourceFileSet", language="C99")
    for name in source_files:
        ET.SubElement(files, "SourceFile", name=name)
    return xml_text(root)


def _interface(root: ET.Element, kind: str, table: SignalTable, identifier: str) -> ET.Element:
    """CoSimulation or ModelExchange with what both say."""
    return ET.SubElement(
        root,
        kind,
        modelIdentifier=identifier,
        needsExecutionTool="false",
        canBeInstantiatedOnlyOncePerProcess="false",
        canGetAndSetFMUState="true",
        canSerializeFMUState="true",
        providesDirectionalDerivatives=flag(table.derivatives),
        providesAdjointDerivatives=flag(table.derivatives),
        providesPerElementDependencies="false",
        providesEvaluateDiscreteStates="false",
    )


def _enumerations(root: ET.Element, table: SignalTable) -> None:
    signals = enumerations(table)
    if not signals:
        return
    definitions = ET.SubElement(root, "TypeDefinitions")
    for g in signals:
        # Without a description, at which fmpy 0.3.20 to 0.3.23 (required by CoFMUPy) fail; the variable has one.
        kind = ET.SubElement(definitions, "EnumerationType", name=type_name(g))
        for value, item in enumerate(g.items, start=1):
            ET.SubElement(kind, "Item", name=item, value=str(value))


def _states(parent: ET.Element, table: SignalTable, names: Sequence[str]) -> None:
    """The states and then their derivatives, as locals."""
    n = len(table.states)
    for i, (variable, kind) in enumerate(state_variables(table, names)):
        of = {"derivative": str(table.state_references[i - n])} if i >= n else {}
        ET.SubElement(parent, "Float64", variable | kind | of)


def _check_names(described: Sequence[Variable], states: Sequence[str]) -> None:
    used = {"time"}
    for name in (*(n for v in described for n in (v.name, v.alias) if n), *states):
        if name in used:
            raise DescribeError(f"two variables would be called {name!r}")
        used.add(name)


def _variable(parent: ET.Element, v: Variable) -> None:
    g = v.signal
    element = ET.SubElement(
        parent,
        TYPES[g.type],
        name=v.name,
        valueReference=str(v.reference),
        description=description(g),
        causality=g.causality,
        variability=variability(g),
    )
    element.attrib.update(type_attributes(g, v.minimum, g.maximum))
    if g.causality != "output":
        element.set("start", " ".join(value_text(g, start) for start in v.starts))
    if v.is_array:
        ET.SubElement(element, "Dimension", start=str(len(v.starts)))
    if v.alias:
        ET.SubElement(element, "Alias", name=v.alias)
