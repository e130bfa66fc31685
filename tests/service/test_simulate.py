"""``jounce simulate``: files in, files out, and what is left when it ends early."""

from __future__ import annotations

import csv
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from integrator_model import TABLE, TICK, IntegratorModel

import jounce
from jounce_fmu.importer.trajectory import Track
from jounce_fmu.importer.trajectory import run as trajectory
from jounce_proto import jounce_pb2 as pb
from jounce_service.recording.reader import Reader, Sample
from jounce_tools.cli.main import main
from jounce_tools.errors import UsageError
from jounce_tools.simulate.csv_inputs import read_inputs, sample
from jounce_tools.simulate.run import started


def track_of(tmp_path: Path, text: str, *, hold: bool = False) -> Track:
    path = tmp_path / "in.csv"
    path.write_text(text)
    return read_inputs(path, TABLE, hold=hold)


def rows_of(path: Path) -> list[list[str]]:
    with path.open(newline="") as file:
        return list(csv.reader(file))


def test_with_hold_a_row_holds_until_the_next(tmp_path: Path) -> None:
    track = track_of(tmp_path, "time,force,velocity.x\n0,1,2\n0.003,10,-1\n0.0071,20,0\n", hold=True)
    with started(IntegratorModel(), {}, [track]) as begun:
        rows = list(trajectory(begun.instance, begun.u, begun.inputs, n_ticks=10, every=1))
    x = 0.0
    for k, (t, y) in enumerate(rows):
        assert t == k / 1000 and y[0] == x
        # A row between two ticks acts from the later one, and shows at the end of the step it acts in.
        assert y[2] == 2.0 * (1.0 if k <= 3 else 10.0 if k <= 8 else 20.0)
        x = x + (2.0 if k < 3 else -1.0 if k < 8 else 0.0) * TICK
    assert len(rows) == 11


def test_without_it_a_ramp_is_a_ramp(tmp_path: Path) -> None:
    track = track_of(tmp_path, "time,velocity.x\n0,0\n1,1\n")
    with started(IntegratorModel(), {}, [track]) as begun:
        rows = list(trajectory(begun.instance, begun.u, begun.inputs, n_ticks=1000, every=1000))
    # Explicit Euler of x' = t: the sum of k h^2 for k below 1000.
    assert rows[-1][1][0] == pytest.approx(1e-6 * 999 * 1000 / 2, rel=1e-12)


@pytest.mark.parametrize("text", [
    "time,force,velocity.x\n0,1,2\n", "time [s],force [N],velocity.x [m/s]\n0,1,2\n", "time;force;velocity.x\n0;1;2\n",
    "time\tforce\tvelocity.x\r\ns\tN\tm/s\r\n0\t1\t2\r\n",
    "# said\n\n time , force , velocity.x \n# more\n 0 , 1 , 2 \n",
    "\ufefftime,force,velocity.x\n[s],[N],[m/s]\n0,1,2", '"time","force [N]","velocity.x"\n0.0,1e0,+2\n',
])  # fmt: skip
def test_the_same_file_may_be_written_in_many_ways(tmp_path: Path, text: str) -> None:
    track = track_of(tmp_path, text)
    assert [s.name for s in track.scalars] == ["force", "velocity.x"]
    assert track.times.tolist() == [0.0] and track.values.tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize(("text", "words"), [
    ("", "line 1 column 1"), ("t,force\n", "'t': expected time"), ("time,forse\n", "column 2.*forse.*force"),
    ("time,force,force\n", "'force' is there twice"), ("time,force\n0,x\n", "line 2 column force: 'x'"),
    ("time,force\n0,1\n1,nan\n", "line 3 column force: 'nan'"),
    ("time,force\n0,101\n", "line 2 column force: '101': expected a finite number from 0.0 to 100.0 N"),
    ("time,force\n0,1,2\n", "line 2: 3 columns; expected 2"), ("time,force\n0\n", "line 2: 1 columns"),
    ("time,force\n1,1\n1,1\n", "line 3 column time: '1': expected more than 1.0 s"),
    ("time,position.x\n", "column 2.*position.x"), ("time,force\n", "no line has values"),
    ("time [ms],force\n0,1\n", "line 1: time is in ms; expected s"),
    ("time,force [kN]\n0,1\n", "force is in kN; expected N"),
    ("time,force\ns,kN\n0,1\n", "line 2: force is in kN; expected N"), ("time,force\ns\n0,1\n", "line 2: 1 columns"),
    ("time;force\n0;0,5\n", "line 2 column force: '0,5'"), ("time,force\n0,1_0\n", "'1_0'"),
    ("# only\n", "line 1"), ("time,force\n0,\uff11\n", "line 2 column force"), ("time\n1e999\n", "finite"),
])  # fmt: skip
def test_a_fault_in_the_inputs_names_line_column_and_value(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        track_of(tmp_path, text)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_bytes(b"time,force\n0,\xff\n")
    with pytest.raises(UsageError, match="in.csv: .*UTF-8"):
        read_inputs(tmp_path / "in.csv", TABLE)


def test_a_sample_of_any_model_is_a_file_that_can_be_read(tmp_path: Path) -> None:
    track = track_of(tmp_path, sample(TABLE))
    assert [s.name for s in track.scalars] == ["velocity.x", "velocity.y", "force"] and track.times[-1] == 10.0


def test_from_the_sample_to_a_table_with_units_and_a_closing_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["simulate", "--sample", "in.csv"]) == 0
    assert main(["simulate", "--sample", "in.csv"]) == 2
    assert "in.csv: the file exists; expected a new file" in capsys.readouterr().err
    chosen = ["--outputs", "speed,ref_frame.pos", "--outputs", "wheel_FL.omega", "--output-interval", "0.1"]
    assert main(["simulate", "--inputs", "in.csv", "-o", "out.csv", *chosen]) == 0
    said = capsys.readouterr().out
    assert "wrote out.csv: 101 rows of 6 columns; 10 s in" in said and "real-time factor" in said
    header, *rows = rows_of(Path("out.csv"))
    assert header == ["time [s]", "speed [m/s]", *(f"ref_frame.pos.{a} [m]" for a in "xyz"), "wheel_FL.omega [rad/s]"]
    assert [r[0] for r in rows] == [repr(k / 10) for k in range(101)]
    assert float(rows[-1][1]) > 2.0

    assert main(["simulate", "--inputs", "in.csv", "-o", "two.csv", *chosen, "--units", "line"]) == 0
    names, units, *again = rows_of(Path("two.csv"))
    assert names[:2] == ["time", "speed"] and units == ["s", "m/s", "m", "m", "m", "rad/s"] and again == rows

    assert main(["simulate", "--inputs", "in.csv", "-o", "out.parquet", *chosen]) == 0
    table = pq.read_table("out.parquet")
    assert table.schema.field("speed").metadata == {b"unit": b"m/s"} and b"build" in table.schema.metadata
    columns = [table[n].to_pylist() for n in table.column_names]
    assert [[repr(v) for v in row] for row in zip(*columns, strict=True)] == rows


def test_what_was_written_can_be_read_as_inputs(tmp_path: Path) -> None:
    """Names with units come back, also with a note at the end."""
    path = tmp_path / "in.csv"
    path.write_text("time [s],velocity.x [m/s]\n0.0,1.0\n0.7,2.0\n# stopped at 0.7 s of 2 s: interrupted\n")
    assert read_inputs(path, TABLE).times.tolist() == [0.0, 0.7]


@pytest.mark.parametrize(("arguments", "code", "text"), [
    (["--duration", "1", "-o", "out.mf4"], 2, "expected a name that ends in .csv, .txt, .parquet or .mcap"),
    (["--duration", "1", "-o", "no/out.csv"], 2, "a folder that exists"),
    (["--duration", "1", "--outputs", "sped"], 2, "--outputs: no output named 'sped'; expected speed"),
    (["--duration", "1", "--outputs", "speed,speed"], 2, "twice"),
    (["--duration", "1", "--inputs", "nowhere.csv"], 2, "nowhere.csv"),
    (["--duration", "0.0005"], 2, "--duration 0.0005 s: expected a whole multiple"), ([], 2, "expected --duration"),
    (["--duration", "1", "--vehicle", "tank"], 2, "'tank'"), (["--duration", "1", "--set", "tick=0.01"], 2, "RK4"),
    (["--duration", "1", "--inputs", "steep.csv"], 2, "moves at 1000 rad/s at 0.1 s"),
    (["--duration", "1", "--inputs", "steep.csv", "--input", "steering_wheel_angle=0"], 2, "given twice"),
    (["--duration", "1", "-o", "o.mcap", "--outputs", "speed"], 2, "--outputs: expected none for o.mcap, a recording"),
    (["--duration", "1", "-o", "o.mcap", "--units", "none"], 2, "--units none: expected a CSV; o.mcap has units"),
    (["--until", "60knots"], 2, "--until '60knots': expected a speed from 0 in km/h, m/s or mph"),
    (["--until=-5kmh", "--gear", "R"], 2, "--until '-5kmh': expected a speed from 0"),
    (["--until", "36kmh", "--set", "init.speed=10"], 2, "--until 36kmh: the vehicle has this speed at the start"),
    (["--until", "0", "--duration", "1"], 2, "has this speed at the start"),
    (["--until", "5", "--duration", "-1"], 2, "--duration -1.0 s: expected a finite time"),
])  # fmt: skip
def test_what_cannot_be_used_ends_with_code_2_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str],
    code: int, text: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("steep.csv").write_text("time,steering_wheel_angle\n0.1,0\n0.101,1\n")
    assert main(["simulate", *arguments]) == code
    captured = capsys.readouterr()
    assert text in captured.err and captured.out == ""
    assert [p.name for p in tmp_path.iterdir()] == ["steep.csv"]


@pytest.fixture
def fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A run, in its folder, whose solver gives up at 0.01 s."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("jounce_tools.cli.simulate.open_builtin", lambda _: None)
    monkeypatch.setattr("jounce_tools.cli.simulate.FmuModel", lambda _: IntegratorModel())
    return ["simulate", "--duration", "1", "--input", "velocity.x=10", "--set", "limit=0.105"]


def test_a_run_whose_solver_gives_up_keeps_its_rows_and_says_where(
    fails: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*fails, "-o", "out.csv"]) == 1
    *rows, [note] = rows_of(tmp_path / "out.csv")
    assert note.startswith("# stopped at 0.01 s of 1.0 s: position.x passed 0.105") and rows[-1][0] == "0.01"
    assert "stopped at 0.01 s" in capsys.readouterr().err
    assert main([*fails, "-o", "out.parquet"]) == 1
    schema = pq.read_schema("out.parquet")
    assert schema.metadata is not None
    metadata = pq.ParquetFile("out.parquet").metadata.metadata
    assert metadata[b"stopped"].startswith(b"stopped at 0.01 s") and pq.read_table("out.parquet").num_rows == 11
    assert sorted(p.name for p in tmp_path.iterdir()) == ["out.csv", "out.parquet"]


def test_a_run_ends_where_the_vehicle_has_the_speed_that_was_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = ["--outputs", "com.pos.x", "--output-interval", "0.5"]
    away = ["simulate", "--throttle", "0.5", "--gear", "D", *shown]
    assert main([*away, "--until", "18km/h", "--duration", "20", "-o", "out.csv"]) == 0
    told = re.search(r"5 m/s \(18 km/h\) at ([\d.]+) s, after ([\d.]+) m\n", capsys.readouterr().out)
    assert told is not None
    times = [float(row[0]) for row in rows_of(Path("out.csv"))[1:]]
    assert times == [*np.arange(0.0, times[-1], 0.5), float(told[1])]
    by_time = jounce.simulate("hmmwv_pedals", {"throttle": 0.5}, times[-1], ["speed", "com.pos.x"])
    assert by_time["speed"][-2] < 5.0 <= by_time["speed"][-1]
    assert repr(float(by_time["com.pos.x"][-1])) == rows_of(Path("out.csv"))[-1][1]
    assert float(told[2]) == pytest.approx(by_time["com.pos.x"][-1] - by_time["com.pos.x"][0], abs=0.1)

    assert main([*away, "--until", "5"]) == 0  # rows on standard output, the rest beside them
    said = capsys.readouterr()
    assert said.out.splitlines()[-1].startswith(told[1] + ",") and "5 m/s (18 km/h) at" in said.err


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_a_speed_that_is_not_reached_is_told_with_code_1_and_the_file_is_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("time,wheel_RL.drive_torque\n0,100\n0.2,100\n")
    wanted = ["--until", "60mph", "--set", "init.speed=10", "--inputs", "in.csv", "--outputs", "speed"]
    assert main(["simulate", *wanted, "-o", name]) == 1
    said = capsys.readouterr()
    assert "--until 60mph: 26.82 m/s (96.56 km/h) was not reached in 0.2 s; nearest was 10" in said.err
    assert f"wrote {name}: 201 rows" in said.out
    if name == "out.csv":
        assert len(rows_of(Path(name))) == 202 and rows_of(Path(name))[-1][0] == "0.2"
    else:
        assert pq.read_table(name).num_rows == 201 and b"stopped" not in pq.ParquetFile(name).metadata.metadata


def test_a_recording_of_a_run_replays_to_the_bit_and_has_the_rows_of_the_csv(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in.csv").write_text("time,steering_wheel_angle,wheel_RL.drive_torque\n0,0,0\n0.1,0,0\n0.4,0.3,90\n")
    given = ["simulate", "--inputs", "in.csv", "--set", "init.speed=9", "--input", "wheel_RR.drive_torque=50"]
    given += ["--output-interval", "0.007"]
    assert main([*given, "-o", "run.mcap"]) == 0 and main([*given, "-o", "run.csv"]) == 0
    capsys.readouterr()
    assert main(["replay", "run.mcap"]) == 0
    assert "zero differences in 59 output vectors over 400 ticks in 1 epochs\n" in capsys.readouterr().out
    assert main(["export-recording", "run.mcap", "-o", "back.csv"]) == 0
    names, *rows = rows_of(Path("run.csv"))
    header, *back = rows_of(Path("back.csv"))
    places = [header.index(name) for name in names]
    assert [[float(row[k]) for k in places] for row in back] == [[float(v) for v in row] for row in rows]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["back.csv", "in.csv", "run.csv", "run.mcap"]


def test_a_recording_says_why_the_model_gave_up_and_one_that_cannot_be_written_is_no_file(
    fails: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main([*fails, "-o", "out.mcap"]) == 1
    found = list(Reader(Path("out.mcap")))
    assert isinstance(found[-1], pb.RecordedEvent) and found[-1].kind == pb.EVENT_KIND_FAILED
    assert found[-1].text.startswith("stopped at 0.01 s of 1.0 s: position.x passed 0.105")
    assert [item.tick for item in found if isinstance(item, Sample) and item.causality == pb.CAUSALITY_OUTPUT] == [
        *range(11)]
    capsys.readouterr()
    monkeypatch.setattr("jounce_tools.simulate.recorded._MOST", 1000)
    assert main(["simulate", "--duration", "1", "-o", "large.mcap"]) == 1
    assert "large.mcap.part: the file has" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["out.mcap"]


def test_a_device_is_written_to_and_not_replaced() -> None:
    assert main(["simulate", "--duration", "0.01", "-o", os.devnull]) == 0
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize("interval", ["0.001", "1e6"])
def test_ctrl_c_keeps_what_is_done_with_a_line_that_says_where_it_ends(tmp_path: Path, interval: str) -> None:
    """With one native call of 1e9 ticks, and with a row per tick."""
    command = [sys.executable, "-m", "jounce_tools.cli", "simulate", "--duration", "1e6", "-o", "out.csv"]
    command += ["--output-interval", interval, "--outputs", "speed,ref_frame.pos"]
    # Whatever started this test may ignore Ctrl-C.
    started_run = subprocess.Popen(
        command, cwd=tmp_path, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler) and None,
    )  # fmt: skip
    deadline = time.monotonic() + 60
    while not (tmp_path / "out.csv.part").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    started_run.send_signal(signal.SIGINT)
    said = started_run.communicate(timeout=60)[1]
    assert started_run.returncode == 130 and "Traceback" not in said and "interrupted" in said
    *rows, [note] = rows_of(tmp_path / "out.csv")
    assert note.startswith(f"# stopped at {rows[-1][0]} s of 1000000.0 s: interrupted")
    times = np.array([float(r[0]) for r in rows[1:]])
    assert len(times) > 1 and np.all(np.diff(times) > 0.0) and {len(r) for r in rows} == {5}
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]
