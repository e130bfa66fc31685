"""Exports recordings as tables: CSV, Parquet and MDF4 (ASAM), each column with its unit; or as an OSI trace (ASAM).

There is one row per tick at which outputs were recorded. It holds these outputs and the inputs that act from that tick
on.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jounce_proto import jounce_pb2 as pb
from jounce_service.recording import osi, require
from jounce_service.recording.provenance import descriptions, epochs, facts, mdf_comment
from jounce_service.recording.reader import Reader, RecordingError, Sample
from jounce_service.recording.vectors import Vector

#: Rows held in memory at a time [1]; MDF4 needs all at once.
_ROWS: Final = 4096
#: Name and unit of the columns before the signals.
_PLACE: Final = (("time", "s"), ("epoch", "1"), ("tick", "1"))


@dataclass(frozen=True)
class Block:
    """Consecutive rows.

    ``time`` [s] since the recording began, ``epoch`` and ``tick`` have shape (rows,); ``values`` (rows, inputs +
    outputs) has the unit of each signal.
    """

    time: Vector
    epoch: NDArray[np.int64]
    tick: NDArray[np.int64]
    values: Vector

    @property
    def place(self) -> tuple[NDArray[np.float64] | NDArray[np.int64], ...]:
        """The columns before those of the signals."""
        return self.time, self.epoch, self.tick


def export(source: Path, target: Path) -> tuple[int, bool]:
    """Exports a recording in the format of the target's suffix.

    Returns the number of rows, and whether the recording is complete. The target is written whole or not at all.
    Raises RecordingError or OSError.
    """
    if target.exists() and target.samefile(source):
        raise RecordingError(f"{target.name} is the recording itself: expected another name")
    if target.suffix not in WRITERS:
        raise RecordingError(f"{target.name}: expected a name that ends in {', '.join(WRITERS)}")
    packages, write = WRITERS[target.suffix]
    require("mcap", *packages)
    reader = Reader(source)
    part = target.with_name(f"{target.stem}.part{target.suffix}")
    try:
        count = write(part, reader, blocks(reader))
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return count, reader.complete


def blocks(reader: Reader) -> Iterator[Block]:
    """All rows of a recording, in order."""
    held: list[tuple[float, int, int, Vector]] = []
    for row in _rows(reader):
        held.append(row)
        if len(held) == _ROWS:
            yield _block(held)
            held.clear()
    if held:
        yield _block(held)


def _rows(reader: Reader) -> Iterator[tuple[float, int, int, Vector]]:
    inputs: Vector = np.empty(0)
    epoch = 0
    # The inputs of a tick are recorded after its outputs, so a row is complete when the next item has been read.
    last: Sample | None = None
    for item in reader:
        is_input = isinstance(item, Sample) and item.causality == pb.CAUSALITY_INPUT
        if last is not None and not (isinstance(item, Sample) and is_input and item.tick == last.tick):
            yield last.ns / 1e9, epoch, last.tick, np.concatenate((inputs, last.values))
            last = None
        if not isinstance(item, Sample):
            if item.HasField("origin"):
                inputs, epoch = np.array(item.origin.inputs), item.epoch
        elif is_input:
            inputs = item.values
        else:
            last = item
    if last is not None:
        yield last.ns / 1e9, epoch, last.tick, np.concatenate((inputs, last.values))


def _block(rows: list[tuple[float, int, int, Vector]]) -> Block:
    times, epochs, ticks, values = zip(*rows, strict=True)
    return Block(np.array(times), np.array(epochs, np.int64), np.array(ticks, np.int64), np.array(values))


def _write_csv(path: Path, reader: Reader, rows: Iterator[Block]) -> int:
    count = 0
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(f"{name} [{unit}]" for name, unit in (*_PLACE, *reader.inputs, *reader.outputs))
        for block in rows:
            count += len(block.tick)
            place = zip(*(column.tolist() for column in block.place), strict=True)
            for where, values in zip(place, block.values.tolist(), strict=True):
                # repr is exact: it reads back as the same double.
                writer.writerow([*map(repr, where), *map(repr, values)])
    return count


def _write_parquet(path: Path, reader: Reader, rows: Iterator[Block]) -> int:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = (pa.float64(), pa.int64(), pa.int64())
    columns = [(*named, kind) for named, kind in zip(_PLACE, kinds, strict=True)]
    columns += [(name, unit, pa.float64()) for name, unit in (*reader.inputs, *reader.outputs)]
    words = descriptions(reader)
    fields = [
        pa.field(name, kind, nullable=False, metadata={"unit": unit, "description": words.get(name, "")})
        for name, unit, kind in columns
    ]
    schema = pa.schema(fields, metadata=facts(reader))
    count = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for block in rows:
            count += len(block.tick)
            writer.write_table(pa.table([*block.place, *block.values.T], schema=schema))
        # The epochs are known only after the whole recording has been read.
        writer.add_key_value_metadata({"epochs": epochs(reader)})
    return count


def _write_mdf(path: Path, reader: Reader, rows: Iterator[Block]) -> int:
    from asammdf import MDF, Signal

    found = list(rows)
    if not found:
        raise RecordingError("the recording has no outputs: nothing to write")
    time = np.concatenate([b.time for b in found])
    values = np.concatenate([b.values for b in found]).T
    places = (np.concatenate([b.epoch for b in found]), np.concatenate([b.tick for b in found]))
    named = [*_PLACE[1:], *reader.inputs, *reader.outputs]
    words = descriptions(reader)
    signals = [
        Signal(np.ascontiguousarray(column), time, name=name, unit=unit, comment=words.get(name, ""))
        for (name, unit), column in zip(named, (*places, *values), strict=True)
    ]
    with MDF(version="4.10") as mdf:
        said = f"{reader.model.model}, jounce {reader.model.server_version}"
        if reader.started is not None:
            # Setting start_time sets the flags for UTC, but rounds to a microsecond; abs_time is exact.
            mdf.header.start_time = datetime.now(UTC)
            mdf.header.abs_time = reader.started.unix_ns
        mdf.header.comment = mdf_comment(facts(reader) | {"epochs": epochs(reader)}, said)
        mdf.append(signals, comment=said, common_timebase=True)
        mdf.save(path, overwrite=True, compression=1)
    return len(time)


#: Suffix -> (optional packages that it needs, writer).
WRITERS: Final[dict[str, tuple[tuple[str, ...], Callable[[Path, Reader, Iterator[Block]], int]]]] = {
    ".csv": ((), _write_csv),
    ".parquet": (("pyarrow",), _write_parquet),
    ".mf4": (("asammdf",), _write_mdf),
    ".mcap": (("osi3",), osi.write),
}
