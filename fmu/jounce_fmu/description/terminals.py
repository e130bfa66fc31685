"""Writes terminalsAndIcons.xml, which groups the variables that connect to a tire, a terrain or a driveline."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence

from jounce.axles import pairs, wheels_in
from jounce.signals import SignalTable
from jounce_fmu.description.fmi2 import NameStyle, xml_text
from jounce_fmu.description.fmi3 import variables

#: Wheel motion out, contact wrench and terrain in. Member names are those of the signals.
TIRE_TERRAIN_PORT = (
    "pos",
    "rot",
    "lin_vel",
    "ang_vel",
    "force",
    "moment",
    "point",
    "query_point",
    "terrain_height",
    "terrain_normal",
    "terrain_mu",
)


def terminals_and_icons(table: SignalTable, names: NameStyle = "structured", scalars: bool = False) -> bytes:
    """One terminal per wheel and one driveline flange per axle, if the table has their signals."""
    root = ET.Element("fmiTerminalsAndIcons", fmiVersion="3.0")
    picture = ET.SubElement(root, "GraphicalRepresentation")
    corners = {"x1": "-100", "y1": "-100", "x2": "100", "y2": "100"}
    ET.SubElement(picture, "CoordinateSystem", corners, suggestedScalingFactorTo_mm="0.1")
    ET.SubElement(picture, "Icon", corners)
    parent = ET.Element("Terminals")
    written: dict[str, list[tuple[str, str]]] = {}  # Signal name -> (component suffix, name in the FMU).
    for v in variables(table, names, scalars):
        parts = written.setdefault(v.signal.name, [])
        parts.append(("" if v.is_array else v.signal.components[len(parts)], v.name))
    for name, kind, text, members in _terminals(wheels_in(s.name for s in table.signals)):
        found = [
            (member + suffix, variable)
            for member, signal in members
            for suffix, variable in written.get(signal, [])
        ]
        if not found:
            continue
        terminal = ET.SubElement(
            parent, "Terminal", name=name, matchingRule="bus", terminalKind=kind, description=text
        )
        for member, variable in found:
            ET.SubElement(
                terminal, "TerminalMemberVariable", variableName=variable, memberName=member, variableKind="signal"
            )
    if len(parent):
        root.append(parent)
    return xml_text(root)


def _terminals(wheels: Sequence[str]) -> Iterator[tuple[str, str, str, list[tuple[str, str]]]]:
    """Name, kind, description and (member, signal) pairs of each terminal."""
    for w in wheels:
        members = [(m, f"wheel_{w}.{m}") for m in TIRE_TERRAIN_PORT]
        yield f"wheel_{w}", "org.jounce.tire_terrain_port", "tire and terrain of this wheel", members
    for axle, both in pairs(wheels).items():
        members = [
            (f"{side}.{member}", f"wheel_{w}.{signal}")
            for side, w in zip(("left", "right"), both, strict=True)
            for member, signal in (("torque", "drive_torque"), ("speed", "omega"))
        ]
        yield f"driveline_{axle}", "org.jounce.driveline_flange", f"axle shafts, {axle}", members
