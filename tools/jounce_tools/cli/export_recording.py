"""``jounce export-recording``: a recording as a table, in the format that the file's name asks for."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from jounce_service.recording.export import export
from jounce_service.recording.reader import RecordingError
from jounce_tools.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("recording", type=Path, help="MCAP file written by `jounce serve --record`")
    formats = "name.csv, name.parquet (needs pyarrow) or name.mf4 (needs asammdf)"
    parser.add_argument("-o", "--output", type=Path, required=True, help=formats)


def run(arguments: argparse.Namespace) -> int:
    """Writes the table and says what."""
    try:
        count, complete = export(arguments.recording, arguments.output)
    except RecordingError as error:
        raise UsageError(str(error)) from error
    cut = "" if complete else "; the recording is incomplete: the server was killed, or the file was cut"
    sys.stdout.write(f"wrote {count} rows to {arguments.output}{cut}\n")
    return 0
