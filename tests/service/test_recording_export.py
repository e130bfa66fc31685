"""Recordings as tables: the numbers of the session, bit by bit, with names and units."""

from __future__ import annotations

import csv
import json
import re
import sys
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from integrator_model import TABLE, IntegratorModel
from recordings import lockstep, only, truth, wave

from jounce_proto import jounce_pb2 as pb
from jounce_tools.cli.main import main

NAMES = [s.name for s in (*TABLE.inputs, *TABLE.outputs)]
UNITS = [s.signal.unit for s in (*TABLE.inputs, *TABLE.outputs)]
Table = dict[str, list[float]]


def read_csv(path: Path) -> tuple[Table, dict[str, str]]:
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    names, units = zip(*(h[:-1].split(" [") for h in header), strict=True)
    return {n: [float(r[i]) for r in rows] for i, n in enumerate(names)}, dict(zip(names, units, strict=True))


def read_parquet(path: Path) -> tuple[Table, dict[str, str]]:
    table = pytest.importorskip("pyarrow.parquet").read_table(path)
    assert table.schema.metadata[b"model"] == b"integrator"
    return table.to_pydict(), {f.name: f.metadata[b"unit"].decode() for f in table.schema}


def read_mdf(path: Path) -> tuple[Table, dict[str, str]]:
    with pytest.importorskip("asammdf").MDF(path) as mdf:
        signals = [mdf.get(name) for name in ("epoch", "tick", *NAMES)]
    table = {s.name: s.samples.tolist() for s in signals} | {"time": signals[0].timestamps.tolist()}
    return table, {s.name: s.unit for s in signals} | {"time": "s"}


FORMATS = {"csv": (read_csv, ()), "parquet": (read_parquet, ("pyarrow",)), "mf4": (read_mdf, ("asammdf",))}


@pytest.fixture
def path(serve: Callable[..., Any], tmp_path: Path) -> tuple[Path, dict[int, dict[str, float]]]:
    """A recording that is reset after 30 ticks, and the inputs of each run."""
    server = serve(record=str(tmp_path / "rec"), record_every=1)
    session = server.create("a", "b")
    a = server.member(session, "a", inputs=["velocity"], period=2)
    b = server.member(session, "b", inputs=["force"], period=5)
    members = [(a, 2, lambda t: (wave(t, 3.0, 30.0), 0.1 * t)), (b, 5, lambda t: (50.0 + t,))]
    applied = lockstep(members, 30)
    server.call("ResetSession", session)
    for stream in (a, b):
        assert stream.ask(sync=pb.Sync()).HasField("state")
        stream.request = 0
    assert lockstep(members, 30) == applied
    server.call("DeleteSession", session)
    return only(tmp_path / "rec"), applied


@pytest.mark.parametrize("suffix", list(FORMATS))
def test_the_table_has_every_number_of_the_session_with_its_unit(
        path: tuple[Path, dict[int, dict[str, float]]], suffix: str, tmp_path: Path,
        capsys: pytest.CaptureFixture[str]) -> None:
    read, packages = FORMATS[suffix]
    for package in packages:
        pytest.importorskip(package)
    source, applied = path
    target = tmp_path / f"out.{suffix}"
    ticks = [*sorted(applied), 30]
    assert main(["export-recording", str(source), "-o", str(target)]) == 0
    assert capsys.readouterr().out == f"wrote {2 * len(ticks)} rows to {target}\n"
    table, units = read(target)
    assert units == dict(zip(["time", "epoch", "tick", *NAMES], ["s", "1", "1", *UNITS], strict=True))
    assert table["tick"] == ticks * 2
    assert table["epoch"] == [1] * len(ticks) + [2] * len(ticks)
    assert table["time"] == pytest.approx([t * 1e-3 for t in ticks] + [0.030 + t * 1e-3 for t in ticks], abs=1e-12)
    # Outputs of the model without the service; inputs as they act from each tick on.
    outputs = truth(IntegratorModel(), {}, applied | {30: {}}, 31)
    u = {s.name: s.start for s in TABLE.inputs}
    for row, tick in enumerate(ticks):
        u |= applied.get(tick, {})
        wanted = np.array([*u.values(), *outputs[tick]])
        for shift in (0, len(ticks)):
            assert np.array([table[n][row + shift] for n in NAMES]).tobytes() == wanted.tobytes()
    assert [p.name for p in tmp_path.glob("out*")] == [target.name]


@pytest.fixture
def changed(serve: Callable[..., Any], tmp_path: Path) -> tuple[Path, Any, int, int]:
    """A recording of a session with a parameter that a reset changes, its session, and the time around its start."""
    server = serve(record=str(tmp_path / "rec"), record_every=1)
    before = time.time_ns()
    session = server.create(gain=2.0)
    after = time.time_ns()
    server.advance(session, 3)
    server.call("ResetSession", session, parameters={"gain": pb.Value(number=3.0)})
    server.advance(session, 2)
    server.call("DeleteSession", session)
    return only(tmp_path / "rec"), session, before, after


def check_facts(found: dict[str, str], session: Any, before: int, after: int) -> None:
    """They say when, of what, and with which parameters the session began, and how its epochs did."""
    assert before <= int(found["start_unix_ns"]) <= after
    assert datetime.fromisoformat(found["start"][:19] + "+00:00").timestamp() == int(found["start_unix_ns"]) // 10**9
    assert found["session"] == session.session_id and found["model"] == "integrator"
    assert found["build"] == IntegratorModel().build and found["tick_seconds"] == "0.001"
    assert json.loads(found["parameters"]) == {s.name: s.start for s in TABLE.parameters} | {"gain": 2.0}
    assert json.loads(found["parameter_units"]) == {s.name: s.signal.unit for s in TABLE.parameters}
    first, second = json.loads(found["epochs"])
    assert (first["epoch"], first["tick"], first["event"], first["parameters"]) == (1, 0, "STARTED", {"gain": 2.0})
    assert (second["epoch"], second["event"], second["parameters"]) == (2, "RESET", {"gain": 3.0})
    assert first["unix_ns"] == int(found["start_unix_ns"]) < second["unix_ns"]


def test_parquet_says_where_its_numbers_come_from(changed: Any, tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    source, *known = changed
    assert main(["export-recording", str(source), "-o", str(tmp_path / "out.parquet")]) == 0
    found = {k.decode(): v.decode() for k, v in pq.read_metadata(tmp_path / "out.parquet").metadata.items()}
    check_facts(found, *known)
    field = pq.read_schema(tmp_path / "out.parquet").field("position.x")
    assert field.metadata[b"description"].decode() == TABLE.by_name("position.x").signal.description


def test_mf4_begins_when_the_recording_began_and_says_where_its_numbers_come_from(changed: Any, tmp_path: Path) -> None:
    asammdf = pytest.importorskip("asammdf")
    source, *known = changed
    assert main(["export-recording", str(source), "-o", str(tmp_path / "out.mf4")]) == 0
    with asammdf.MDF(tmp_path / "out.mf4") as mdf:
        root = ElementTree.fromstring(mdf.header.comment)
        found = {e.attrib["name"]: e.text or "" for e in root.iter() if e.tag.rpartition("}")[2] == "e"}
        check_facts(found, *known)
        assert mdf.header.abs_time == int(found["start_unix_ns"])
        assert mdf.start_time.timestamp() == pytest.approx(int(found["start_unix_ns"]) * 1e-9, abs=1e-3)
        assert mdf.get("position.x").comment == TABLE.by_name("position.x").signal.description
        assert "integrator, jounce" in mdf.header.description


@pytest.mark.parametrize(("suffix", "package"), [("parquet", "pyarrow"), ("mf4", "asammdf"), ("csv", "mcap")])
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    suffix: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("jounce.optional.find_spec", lambda name: None if name == package else object())
    assert main(["export-recording", "x.mcap", "-o", str(tmp_path / f"out.{suffix}")]) == 2
    said = capsys.readouterr().err
    assert re.search(rf"{package} is not installed: pip install '?{package}(>=[\d.]+'|$)", said, re.M)


def test_another_format_is_refused_with_those_that_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export-recording", "x.mcap", "-o", "out.xls"]) == 2
    assert "out.xls: expected a name that ends in .csv, .parquet, .mf4" in capsys.readouterr().err


def test_a_damaged_recording_leaves_no_table_and_the_old_one_in_place(path: Any, tmp_path: Path) -> None:
    data = bytearray(path[0].read_bytes())
    place = data.index(b"zstd") + 200
    data[place] ^= 1
    (tmp_path / "damaged.mcap").write_bytes(data)
    (tmp_path / "out.csv").write_text("old")
    assert main(["export-recording", str(tmp_path / "damaged.mcap"), "-o", str(tmp_path / "out.csv")]) == 2
    assert (tmp_path / "out.csv").read_text() == "old"
    assert not list(tmp_path.glob("*.part*"))


def test_a_cut_recording_is_exported_up_to_the_cut(path: Any, tmp_path: Path,
                                                   capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cut.mcap").write_bytes(path[0].read_bytes()[:-50])
    assert main(["export-recording", str(tmp_path / "cut.mcap"), "-o", str(tmp_path / "out.csv")]) == 0
    assert "the recording is incomplete" in capsys.readouterr().out
    assert sys.getsizeof((tmp_path / "out.csv").read_text()) > 1000
