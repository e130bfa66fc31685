"""What a manoeuvre leaves in its folder beside the report: metrics.json, run.csv and run.mcap of the main run."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from jounce_proto import jounce_pb2 as pb
from jounce_service.recording.recorder import Recording
from jounce_tools.errors import UsageError
from jounce_tools.manoeuvres.bench import Car, Log
from jounce_tools.manoeuvres.found import Found, Plot
from jounce_tools.manoeuvres.manoeuvre import Manoeuvre
from jounce_tools.manoeuvres.places import Here, There

#: Name of the recording.
MCAP = "run.mcap"
#: Most samples of a line that a report shows.
_SAMPLES = 600


@dataclass
class Result:
    """One manoeuvre with one vehicle, as the report shows it and as metrics.json has it."""

    manoeuvre: str
    title: str
    vehicle: str
    build: str
    data: str
    """Hash of all parameter values."""
    date: str
    """UTC."""
    command: str
    """Command line that repeats it."""
    version: str
    place: str
    settings: dict[str, float]
    parameters: dict[str, Any]
    """Those that the user has set."""
    metrics: dict[str, dict[str, Any]]
    """value, unit, text, least, most, passed."""
    car: dict[str, Any]
    runs: list[dict[str, Any]]
    notes: list[str]
    plots: list[dict[str, Any]]

    @property
    def passed(self) -> bool:
        """Whether no limit is broken."""
        return all(m["passed"] is not False for m in self.metrics.values())


def result(manoeuvre: Manoeuvre, place: Here | There, car: Car, found: Found, logs: list[Log],
           told: Mapping[str, Any]) -> Result:  # fmt: skip
    """Everything about a manoeuvre that was driven; ``told`` are the fields that only the command knows."""
    metrics = {}
    for name, value in found.metrics.items():
        metric = manoeuvre.metric(name)
        metrics[name] = {
            "value": _finite(value), "unit": metric.unit, "text": metric.text, "least": _finite(metric.least),
            "most": _finite(metric.most), "limits": metric.limits(),
            "passed": metric.passes(value) if metric.limited else None,
        }  # fmt: skip
    runs = [{"title": log.title, "time": float(log.time[-1]), "end": log.end, "whole": log.whole} for log in logs]
    plots = [{**asdict(p), "lines": [(n, *_thinned(x, y)) for n, x, y in p.lines],
              "points": None if p.points is None else p.points.tolist()} for p in found.plots]  # fmt: skip
    own = told["parameters"]
    values = {**place.parameters, **{k: place.number(k, v) for k, v in own.items()}}
    digest = hashlib.sha256(repr(sorted(values.items())).encode()).hexdigest()[:12]
    facts = {k: (float(v) if isinstance(v, float) else v) for k, v in asdict(car).items()}
    return Result(manoeuvre.name, manoeuvre.title, place.vehicle, place.build, digest, metrics=metrics, car=facts,
                  runs=runs, notes=found.notes, plots=plots, **told)  # fmt: skip


def plots_of(found: Result) -> list[Plot]:
    """The plots of a result that may have been read from a file."""
    plots = []
    for p in found.plots:
        lines = [(n, np.array(x, float), np.array(y, float)) for n, x, y in p["lines"]]
        points = None if p["points"] is None else np.array(p["points"], float)
        plots.append(Plot(**{**p, "lines": lines, "points": points}))
    return plots


def _thinned(x: Any, y: Any) -> tuple[list[float | None], list[float | None]]:
    """At most `_SAMPLES` samples, the last among them."""
    keep = np.unique(np.linspace(0, len(x) - 1, min(len(x), _SAMPLES)).round().astype(int))
    return [_finite(v) for v in np.asarray(x)[keep].tolist()], [_finite(v) for v in np.asarray(y)[keep].tolist()]


def _finite(value: float) -> float | None:
    """JSON has no inf and no nan."""
    return float(value) if math.isfinite(value) else None


def write_json(found: Result, path: Path) -> None:
    """Writes metrics.json, whole or not at all."""
    _write(path, json.dumps(asdict(found), indent=1, allow_nan=False))


def read_json(folder: Path) -> Result:
    """The metrics.json of a folder that an earlier run wrote. Raises UsageError."""
    path = folder / "metrics.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return Result(**content)
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(f"{path}: expected what an earlier `jounce test` wrote ({error})") from error


def write_csv(log: Log, units: Mapping[str, str], path: Path) -> None:
    """Time, the inputs that the driver set, and all outputs."""
    part = path.with_name(path.name + ".part")
    with part.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["time [s]", *(f"{n} [{units[n]}]" for n in (*log.inputs, *log.outputs))])
        rows.writerows([[t, *u, *y] for t, u, y in zip(log.time.tolist(), log.u.tolist(), log.y.tolist(), strict=True)])
    os.replace(part, path)


def write_mcap(log: Log, place: Here | There, path: Path) -> None:
    """A recording of a run, as a server makes it: `jounce replay` and `jounce export-recording` read it."""
    path.unlink(missing_ok=True)
    tick = float(log.parameters.get("tick", place.described.tick_seconds))
    names = [SimpleNamespace(name=n) for n in place.outputs]
    table = SimpleNamespace(inputs=[SimpleNamespace(name=n) for n in place.inputs], outputs=names)
    recording = Recording(path, cast(Any, table), 1, 1 << 40)
    try:
        recording.model(place.described)
        start = np.array(list({**place.starts, **log.start}.values()))
        origin = pb.Snapshot(model=place.vehicle, build=place.build, tick_seconds=tick, start_inputs=start.tolist(),
                             parameters={k: place.number(k, v) for k, v in log.parameters.items()},
                             inputs=start.tolist())  # fmt: skip
        recording.event(pb.RecordedEvent(kind=pb.EVENT_KIND_STARTED, origin=origin, session_id="manoeuvre"), log.y[0])
        columns = [list(place.inputs).index(n) for n in log.inputs]
        u = start.copy()
        for k in range(len(log.time)):
            at = round(float(log.time[k]) / tick)
            if k:
                recording.outputs(at, log.y[k])
            if k < len(log.time) - 1:
                u[columns] = log.u[k]
                recording.inputs(at, u)
            if k % 256 == 0:
                recording.drain()
    finally:
        recording.close()
        recording.drain()


def _write(path: Path, text: str) -> None:
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)
