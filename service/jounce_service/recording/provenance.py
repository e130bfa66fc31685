"""Metadata of a recording for exported tables: model, build, parameters, times."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from xml.etree import ElementTree

from jounce_proto import jounce_pb2 as pb
from jounce_service.recording.reader import Reader


def facts(reader: Reader) -> dict[str, str]:
    """Metadata of a recording, name -> text.

    ``parameters`` has the values of all parameters at the session's start and ``parameter_units`` their units, both as
    JSON. ``start`` is the wall-clock time (UTC) at which the recording began. A recording that was cut before the
    session's start has only ``model`` and ``server_version``.
    """
    found = {"model": reader.model.model, "server_version": reader.model.server_version}
    signals = [s for s in reader.model.signals if s.causality == pb.CAUSALITY_PARAMETER]
    units = {s.name + suffix: s.unit for s in signals for suffix in s.components}
    if (started := reader.started) is not None:
        values = {s.name + suffix: v for s in signals for suffix, v in zip(s.components, s.start, strict=True)}
        values |= started.origin.parameters
        start = datetime.fromtimestamp(started.unix_ns // 10**9, UTC)
        found |= {
            "session": started.session_id,
            "build": started.origin.build,
            "start": f"{start:%Y-%m-%dT%H:%M:%S}.{started.unix_ns % 10**9:09d}Z",
            "start_unix_ns": str(started.unix_ns),
            "tick_seconds": repr(started.origin.tick_seconds),
            "parameters": json.dumps(values),
            "parameter_units": json.dumps(units),
        }
    return found


def epochs(reader: Reader) -> str:
    """The epochs read so far, as JSON: number, tick, event, wall-clock time, and the parameters set until then."""
    return json.dumps([
        {"epoch": e.epoch, "tick": e.tick, "event": pb.EventKind.Name(e.kind).removeprefix("EVENT_KIND_"),
         "unix_ns": e.unix_ns, "parameters": dict(e.origin.parameters)}
        for e in reader.origins
    ])  # fmt: skip


def descriptions(reader: Reader) -> dict[str, str]:
    """Description of each scalar, by name."""
    return {s.name + suffix: s.description for s in reader.model.signals for suffix in s.components}


def mdf_comment(properties: dict[str, str], text: str) -> str:
    """The comment of an MDF header with ``text`` and ``properties`` (ASAM MDF 4.1, "XML schema of HDcomment")."""
    root = ElementTree.Element("HDcomment", xmlns="http://www.asam.net/mdf/v4")
    ElementTree.SubElement(root, "TX").text = text
    common = ElementTree.SubElement(root, "common_properties")
    for name, value in properties.items():
        ElementTree.SubElement(common, "e", name=name).text = value
    return ElementTree.tostring(root, encoding="unicode")
