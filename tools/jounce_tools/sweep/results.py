"""The folder of a sweep: what is swept, a Parquet file per case that ended, and a table of all cases.

A case's file has its rows, up to the fault where it failed; all else is in the schema's metadata. It appears at
once and whole, so that a sweep that was killed goes on with the cases that have none.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from jounce.signals import SignalTable
from jounce_service.hosting.models import Vector
from jounce_tools.errors import UsageError
from jounce_tools.sweep.plan import Case, Plan

_PLAN: Final = "sweep.json"
_TABLE: Final = "cases.parquet"
_FAILED: Final = b"failed"


def encode(plan: Plan, case: Case, table: SignalTable, rows: Sequence[tuple[float, Vector]], failed: str) -> bytes:
    """A case's Parquet file: ``case``, ``time`` [s] and outputs, which are all of ``plan``'s; ``failed`` says why."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    fields = [_field("case", pa.int64(), "1"), _field("time", pa.float64(), "s")]
    fields += [_field(n, pa.float64(), table.by_name(n).signal.unit) for n in plan.outputs]
    known = {"model": plan.model, "build": plan.build, "parameters": json.dumps(case.parameters)}
    schema = pa.schema(fields, metadata=known | ({"failed": failed} if failed else {}))
    values = np.array([y for _, y in rows]).reshape(len(rows), len(plan.outputs))
    columns = [np.full(len(rows), case.number), np.array([t for t, _ in rows], dtype=np.float64), *values.T]
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns, schema=schema), sink, compression="zstd")
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

    def write_table(self, table: SignalTable) -> dict[int, str]:
        """``cases.parquet``: number, draw, parameters with units, and the status of each case. Gives the failures."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        failures = self.failures()
        names = list(self._cases[0].parameters)
        fields = [_field("case", pa.int64(), "1"), _field("draw", pa.int64(), "1")]
        fields += [_field(n, pa.float64(), table.by_name(n).signal.unit) for n in names]
        fields += [pa.field("status", pa.string(), nullable=False), pa.field("reason", pa.string())]
        why = [failures.get(c.number) for c in self._cases]
        columns = [[c.number for c in self._cases], [c.draw for c in self._cases]]
        columns += [[c.parameters[n] for c in self._cases] for n in names]  # type: ignore[misc]
        status = ["not run" if w is None else "failed" if w else "done" for w in why]
        written = pa.table([*columns, status, [w or None for w in why]], schema=pa.schema(fields))
        sink = pa.BufferOutputStream()
        pq.write_table(written, sink, compression="zstd")
        _put(self.folder / _TABLE, sink.getvalue().to_pybytes())
        return {n: w for n, w in failures.items() if w}


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
