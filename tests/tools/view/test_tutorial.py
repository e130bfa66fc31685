"""The notebook of the rough road, from its first cell to its last."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.image
import numpy as np
import pytest

NOTEBOOK = Path(__file__).parents[3] / "docs" / "tutorial" / "rough-road.ipynb"


@pytest.mark.slow
def test_the_notebook_of_the_rough_road_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    matplotlib.use("Agg")
    monkeypatch.chdir(tmp_path)
    cells = ["".join(c["source"]) for c in json.loads(NOTEBOOK.read_text())["cells"] if c["cell_type"] == "code"]
    names: dict[str, Any] = {}
    try:
        for cell in cells:
            exec(compile(cell.replace("seconds = 20.0", "seconds = 2.0"), NOTEBOOK.name, "exec"), names)
    finally:
        for program in ("viewer", "server"):
            if program in names:
                names[program].kill()
                names[program].wait()
    fast, careful = names["runs"].values()
    # without a limit the speed stays; with one it falls before the waves are over, and what is felt with it
    assert abs(fast[2] - 12.0).max() < 1.5 and careful[2].min() < 8.0
    assert np.sqrt(np.mean(careful[3] ** 2)) < 0.8 * np.sqrt(np.mean(fast[3] ** 2))
    assert careful[0][-1] > fast[0][-1]
    assert "open http://127.0.0.1:" in capfd.readouterr().out
    assert (tmp_path / "rough.html").stat().st_size > 100_000
    assert len(np.unique(matplotlib.image.imread(tmp_path / "rough.png").reshape(-1, 4), axis=0)) > 50
