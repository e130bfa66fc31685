"""Exports a System Structure package (SSP 1.0) with vehicle, driver and terrain, connected by name.

The start values are in the FMUs and in the package, because some tools read only one of them.
"""

from __future__ import annotations

import os
import tempfile
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jounce import __version__
from jounce.data import load_vehicle
from jounce.models.double_wishbone.signals import table
from jounce.signals import Scalar, SignalTable
from jounce.values import Value
from jounce_fmu.build.builtin import export_builtin, identifier
from jounce_fmu.build.library import BadRequest
from jounce_fmu.build.pack import write_archive
from jounce_fmu.description.fmi2 import fmi_name, value_text, xml_text
from jounce_fmu.description.starts import changed
from jounce_fmu.description.units import exponents
from jounce_fmu.partners import export_partner, partner_class

_SPACES = {p: f"http://ssp-standard.org/SSP1/SystemStructure{n}"
           for p, n in (("ssd", "Description"), ("ssc", "Common"), ("ssv", "ParameterValues"))}
_OSP = "http://opensimulationplatform.com/SSP/OSPAnnotations"
_OMS = "https://raw.githubusercontent.com/OpenModelica/OMSimulator/master/schema/oms.xsd"
#: Tolerance of OMSimulator's master, by its own default; a fixed step does not use it.
_TOLERANCE = 1e-4
#: Start values of the demonstration.
_STARTS: Mapping[str, Value] = {"init.speed": 12.0, "tire_source": "EXTERNAL", "driver.target_speed": 12.0}


@dataclass(frozen=True)
class Part:
    """A component: its signals with their start values, and the start values that differ from the model's own."""

    name: str
    table: SignalTable
    starts: Mapping[str, Value]


def export_ssp(
    path: str | os.PathLike[str],
    model: str = "hmmwv",
    *,
    starts: Mapping[str, Value] | None = None,
    step: float = 0.001,
    duration: float = 20.0,
    platforms: Sequence[str] = ("linux64",),
) -> Path:
    """Writes the package and returns the path; ``starts`` replaces start values of any component, by scalar name.

    ``step`` [s] is the communication step and ``duration`` [s] the stop time in the package. Raises BadRequest.
    """
    parts = _parts(model, {**_STARTS, **(starts or {})})
    vehicle, *partners = parts
    with tempfile.TemporaryDirectory() as folder:
        fmus = {p.name: Path(folder) / f"{p.name}.fmu" for p in parts}
        export_builtin(fmus["vehicle"], model, platforms=platforms, starts=vehicle.starts)
        for part in partners:
            export_partner(fmus[part.name], part.name, starts=part.starts)
        content = {f"resources/{f.name}": f.read_bytes() for f in fmus.values()}
    content["SystemStructure.ssd"] = system_structure(identifier(vehicle.table.name), parts, step, duration)
    return write_archive(Path(path), content)


def system_structure(name: str, parts: Sequence[Part], step: float, duration: float) -> bytes:
    """SystemStructure.ssd (SSP 1.0, sections 4 to 6), with the annotations of libcosim and OMSimulator."""
    for prefix, uri in {**_SPACES, "osp": _OSP, "oms": _OMS}.items():
        ET.register_namespace(prefix, uri)
    root = ET.Element(_q("ssd", "SystemStructureDescription"), version="1.0", name=name,
                      generationTool=f"jounce {__version__}")
    system = ET.SubElement(root, _q("ssd", "System"), name=name)
    elements = ET.SubElement(system, _q("ssd", "Elements"))
    wires = connections(parts)
    for part in parts:
        used = [s for s in part.table.scalars if any((part.name, s.name) in ((a, n), (b, n)) for a, b, n in wires)]
        _component(elements, part, used)
    lines = ET.SubElement(system, _q("ssd", "Connections"))
    for source, target, signal in wires:
        connector = fmi_name(signal)
        ET.SubElement(lines, _q("ssd", "Connection"), startElement=source, startConnector=connector,
                      endElement=target, endConnector=connector)
    # SSP 1.0 has no element for the communication step, so there is an annotation for OMSimulator and one for libcosim.
    annotation = _annotated(system, "org.openmodelica")
    settings = ET.SubElement(ET.SubElement(annotation, f"{{{_OMS}}}Annotations"), f"{{{_OMS}}}SimulationInformation")
    ET.SubElement(settings, f"{{{_OMS}}}FixedStepMaster", description="oms-ma", stepSize=repr(step),
                  absoluteTolerance=repr(_TOLERANCE), relativeTolerance=repr(_TOLERANCE))
    _units(root, parts)
    experiment = ET.SubElement(root, _q("ssd", "DefaultExperiment"), startTime="0.0", stopTime=repr(duration))
    algorithm = ET.SubElement(_annotated(experiment, "com.opensimulationplatform"), f"{{{_OSP}}}Algorithm")
    ET.SubElement(algorithm, f"{{{_OSP}}}FixedStepAlgorithm", baseStepSize=repr(step))
    return xml_text(root)


def connections(parts: Sequence[Part]) -> list[tuple[str, str, str]]:
    """(from, to, scalar name) of every input that has the name of another part's output."""
    outputs = {s.name: p.name for p in parts for s in p.table.outputs}
    return [(outputs[s.name], p.name, s.name) for p in parts for s in p.table.inputs
            if outputs.get(s.name, p.name) != p.name]


def _parts(model: str, starts: Mapping[str, Value]) -> list[Part]:
    tables = {"vehicle": table(load_vehicle(model)), **{n: partner_class(n).base for n in ("driver", "terrain")}}
    given: dict[str, dict[str, Value]] = {name: {} for name in tables}
    for signal, value in starts.items():
        owners = [n for n, t in tables.items() if any(s.name == signal for s in t.parameters)]
        if len(owners) != 1:
            raise BadRequest(f"{signal}: {len(owners)} of {', '.join(tables)} have this parameter; expected exactly 1")
        given[owners[0]][signal] = value
    return [Part(name, changed(t, given[name]), given[name]) for name, t in tables.items()]


def _component(parent: ET.Element, part: Part, used: Sequence[Scalar]) -> None:
    component = ET.SubElement(parent, _q("ssd", "Component"), name=part.name,
                              type="application/x-fmu-sharedlibrary", source=f"resources/{part.name}.fmu")
    connectors = ET.SubElement(component, _q("ssd", "Connectors"))
    for scalar in used:
        connector = ET.SubElement(connectors, _q("ssd", "Connector"), name=fmi_name(scalar.name),
                                  kind=scalar.signal.causality)
        ET.SubElement(connector, _q("ssc", "Real"), unit=scalar.signal.unit)
    # libcosim aborts at an Enumeration, so these start values are only in the FMU itself.
    written = [s for s in map(part.table.by_name, part.starts) if s.signal.type != "Enumeration"]
    if not written:
        return
    bindings = ET.SubElement(component, _q("ssd", "ParameterBindings"))
    values = ET.SubElement(ET.SubElement(bindings, _q("ssd", "ParameterBinding")), _q("ssd", "ParameterValues"))
    chosen = ET.SubElement(values, _q("ssv", "ParameterSet"), version="1.0", name="start")
    parameters = ET.SubElement(chosen, _q("ssv", "Parameters"))
    for scalar in written:
        g = scalar.signal
        parameter = ET.SubElement(parameters, _q("ssv", "Parameter"), name=fmi_name(scalar.name))
        entry = ET.SubElement(parameter, _q("ssv", g.type), value=value_text(g, scalar.start))
        if g.type == "Real":
            entry.set("unit", g.unit)


def _units(root: ET.Element, parts: Sequence[Part]) -> None:
    units = sorted({g.unit for p in parts for g in p.table.signals if g.type == "Real"})
    definitions = ET.SubElement(root, _q("ssd", "Units"))
    for unit in units:
        element = ET.SubElement(definitions, _q("ssc", "Unit"), name=unit)
        ET.SubElement(element, _q("ssc", "BaseUnit"), {base: str(power) for base, power in exponents(unit).items()})


def _annotated(parent: ET.Element, vendor: str) -> ET.Element:
    annotations = ET.SubElement(parent, _q("ssd", "Annotations"))
    return ET.SubElement(annotations, _q("ssc", "Annotation"), type=vendor)


def _q(prefix: str, name: str) -> str:
    return f"{{{_SPACES[prefix]}}}{name}"
