"""``jounce simulate``: the CSV files, against a model that can be computed by hand."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from integrator_model import TABLE, TICK, IntegratorModel

from jounce_service.cli.main import UsageError
from jounce_service.cli.simulate import InputRows, read_inputs, simulate, write


def rows_of(tmp_path: Path, text: str) -> InputRows:
    path = tmp_path / "in.csv"
    path.write_text(text)
    return read_inputs(path, TABLE)


def test_a_row_holds_until_the_next_and_every_output_is_written_exactly(tmp_path: Path) -> None:
    rows = rows_of(tmp_path, "time,force,velocity.x\n0,1,2\n0.003,10,-1\n0.0071,20,0\n")
    model = IntegratorModel()
    instance = model.create("s", {}, {})
    file = io.StringIO()
    write(file, TABLE, simulate(instance, np.zeros(4), rows, n_ticks=10, every=1))
    header, *lines = csv.reader(io.StringIO(file.getvalue()))
    assert header == ["time", *(s.name for s in TABLE.outputs)]
    x = 0.0
    for k, line in enumerate(lines):
        numbers = [float(v) for v in line]
        assert numbers[0] == k * TICK
        assert numbers[1] == x
        # A row between two ticks acts from the later one, and shows at the end of the step it acts in.
        assert numbers[3] == 2.0 * (0.5 if k == 0 else 1.0 if k <= 3 else 10.0 if k <= 8 else 20.0)
        x = x + (2.0 if k < 3 else -1.0 if k < 8 else 0.0) * TICK
    assert len(lines) == 11


@pytest.mark.parametrize("every", [1, 3, 10, 100])
def test_the_output_interval_does_not_change_the_end_and_the_end_is_always_written(tmp_path: Path, every: int) -> None:
    rows = rows_of(tmp_path, "time,velocity.x\n0.002,1\n0.0045,3\n")
    trajectory = list(simulate(IntegratorModel().create("s", {}, {}), np.zeros(4), rows, n_ticks=10, every=every))
    assert [round(t / TICK) for t, _ in trajectory] == sorted({*range(0, 10, every), 10})
    reference = IntegratorModel().create("r", {}, {})
    for n, v in ((2, 0.0), (3, 1.0), (5, 3.0)):
        reference.set_inputs(np.array([v, 0.0, 0.0, 0.0]))
        reference.step(n)
    assert trajectory[-1][1].tolist() == reference.get_outputs().tolist()


@pytest.mark.parametrize(("text", "words"), [
    ("", "line 1 column 1"), ("t,force\n", "'t': allowed is time"), ("time,forse\n", "column 2.*forse.*force"),
    ("time,force,force\n", "'force' is there twice"), ("time,force\n0,x\n", "line 2 column force: 'x'"),
    ("time,force\n0,1\n1,nan\n", "line 3 column force: 'nan'"),
    ("time,force\n0,101\n", "line 2 column force: '101': expected a finite number from 0.0 to 100.0 N"),
    ("time,force\n0,1,2\n", "line 2: 3 columns: allowed are 2"), ("time,force\n0\n", "line 2: 1 columns"),
    ("time,force\n1,1\n1,1\n", "line 3 column time: '1': allowed is more than 1.0 s"),
    ("time,position.x\n", "column 2.*position.x"),
])
def test_a_fault_in_the_inputs_names_line_column_and_value(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        rows_of(tmp_path, text)
