"""The folder of a sweep: what is swept, a Parquet file per case that ended, and a table of all cases.

A case's file has its rows, up to the fault where it failed; all else is in the schema's metadata. It appears at
once and whole, so that a sweep that was killed goes on with the cases that have none.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from jounce_tools.errors import UsageError
from jounce_tools.sweep.plan import Case, Plan

_PLAN: Final = "sweep.json"
_TABLE: Final = "cases.parquet"
_FAILED: Final = b"failed"
#: Key of the metadata that says whether a manoeuvre's limits hold.
PASSED: Final = b"passed"


#: Name -> unit, of the columns of a case's file behind its number.
Columns = Mapping[str, str]


def encode(case: Case, build: str, columns: Columns, rows: Any, failed: str, **more: str) -> bytes:
    """A case's Parquet file: ``case`` and the columns of the rows (n, columns); ``failed`` says why it failed.

    ``more`` is kept beside build and parameters in the schema's metadata.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    fields = [_field("case", pa.int64(), "1"), *(_field(n, pa.float64(), unit) for n, unit in columns.items())]
    known = {"model": case.vehicle, "build": build, "parameters": json.dumps(case.parameters), **case.texts, **more}
    schema = pa.schema(fields, metadata=known | ({"failed": failed} if failed else {}))
    values = np.asarray(rows, np.float64).reshape(-1 if columns else 0, len(columns))
    sink = pa.BufferOutputStream()
    table = pa.table([np.full(len(values), case.number), *values.T], schema=schema)
    pq.write_table(table, sink, compression="zstd")
    encoded: bytes = sink.getvalue().to_pybytes()
    return encoded


class Results:
    """A sweep's folder, new or of a run that ended early."""

    def __init__(self, folder: Path, plan: Plan, cases: Sequence[Case]) -> None:
        """Makes the folder, or raises UsageError where it holds another sweep."""
        self.folder, self._plan, self._cases = folder, plan, cases
        # Drawn values too: what numpy draws from a seed may differ between its versions.
        wanted = plan.described | {"drawn": [[c.parameters[n] for n in plan.described["random"]] for c in cases]}
        path = folder / _PLAN
        if path.is_file():
            _check(path, wanted)
        elif folder.exists() and any(folder.iterdir()):
            raise UsageError(f"{folder}: not a sweep's folder: expected an empty one, or a new one")
        (folder / "results").mkdir(parents=True, exist_ok=True)
        if not path.is_file():
            _put(path, json.dumps(wanted, indent=1).encode())

    def path(self, case: Case) -> Path:
        """Where a case's rows are."""
        return self.folder / "results" / f"case-{case.number:06}.parquet"

    def put(self, case: Case, encoded: bytes) -> None:
        """A case has ended."""
        _put(self.path(case), encoded)

    def failures(self) -> dict[int, str]:
        """Case -> why it failed, or "" where it did not, of all that ended. What cannot be read is no result."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        found = {}
        for case in self._cases:
            try:
                known = pq.read_schema(self.path(case)).metadata
            except (FileNotFoundError, pa.ArrowInvalid):
                continue
            found[case.number] = known.get(_FAILED, b"").decode()
        return found

    def write_table(self) -> dict[int, str]:
        """``cases.parquet``: number, draw, what is swept with units, metrics, status of each case. Gives failures."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        failures, cases = self.failures(), self._cases
        columns: dict[Any, list[Any]] = {
            _field("case", pa.int64(), "1"): [c.number for c in cases],
            _field("draw", pa.int64(), "1"): [c.draw for c in cases],
        }
        columns |= {pa.field(n, pa.string(), nullable=False): [c.texts[n] for c in cases] for n in cases[0].texts}
        columns |= {_field(n, pa.float64(), self._plan.units[n]): [c.parameters[n] for c in cases]
                    for n in cases[0].parameters}  # fmt: skip
        if self._plan.manoeuvre:
            columns |= self._metrics(failures)
        why = [failures.get(c.number) for c in cases]
        status = ["not run" if w is None else "failed" if w else "done" for w in why]
        columns |= {pa.field("status", pa.string(), nullable=False): status,
                    pa.field("reason", pa.string()): [w or None for w in why]}  # fmt: skip
        sink = pa.BufferOutputStream()
        pq.write_table(pa.table(list(columns.values()), schema=pa.schema(list(columns))), sink, compression="zstd")
        _put(self.folder / _TABLE, sink.getvalue().to_pybytes())
        return {n: w for n, w in failures.items() if w}

    def _metrics(self, failures: Mapping[int, str]) -> dict[Any, list[Any]]:
        """Columns of the metrics that any case has; a case without one has no value there."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        tables = {c.number: pq.read_table(self.path(c)) for c in self._cases if failures.get(c.number) == ""}
        fields = {f.name: f for t in tables.values() for f in t.schema if f.name != "case"}
        found = {n: [t[n][0].as_py() if t is not None and n in t.column_names else None
                     for t in (tables.get(c.number) for c in self._cases)] for n in fields}  # fmt: skip
        passed = [t.schema.metadata[PASSED] == b"true" if t is not None else None
                  for t in (tables.get(c.number) for c in self._cases)]  # fmt: skip
        columns = {pa.field(n, pa.float64(), metadata=fields[n].metadata): [_number(v) for v in values]
                   for n, values in found.items()}  # fmt: skip
        return columns | {pa.field("passed", pa.bool_()): passed}


def _number(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _field(name: str, kind: Any, unit: str) -> Any:
    import pyarrow as pa

    return pa.field(name, kind, nullable=False, metadata={"unit": unit})


def _put(path: Path, content: bytes) -> None:
    part = path.with_name(path.name + ".part")
    part.write_bytes(content)
    part.replace(path)


def _check(path: Path, wanted: dict[str, Any]) -> None:
    try:
        there = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    held = {k: json.dumps(v) for k, v in there.items()} if isinstance(there, dict) else {}
    # As text, in which the order counts: that of the grid gives cases their numbers.
    key = next((k for k, v in wanted.items() if held.get(k) != json.dumps(v)), None)
    if key is None:
        return
    requested = "other draws" if key == "drawn" else f"{key} = {json.dumps(wanted[key])}"
    was = "" if key == "drawn" else f", which has {key} = {held.get(key, 'nothing')}"
    raise UsageError(
        f"{requested}: {path.parent} holds the results of another sweep{was}; "
        "expected the same sweep, which goes on, or another folder"
    )
