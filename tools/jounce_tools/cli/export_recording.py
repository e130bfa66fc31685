"""``jounce export-recording``: a recording as a table or an OSI trace, in the format that the file's name asks for."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from jounce_service.recording.export import export
from jounce_service.recording.reader import RecordingError
from jounce_tools.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("recording", type=Path, help="MCAP file written by `jounce serve --record`")
    formats = "name.csv, name.parquet (needs pyarrow), name.mf4 (needs asammdf) or name.mcap (OSI, needs osi-python)"
    parser.add_argument("-o", "--output", type=Path, required=True, help=formats)
    parser.add_argument("--format", choices=tuple(SUFFIXES), help="expected by the name already; refused if it differs")


#: Format -> suffix of its files.
SUFFIXES: Final = {"csv": ".csv", "parquet": ".parquet", "mf4": ".mf4", "osi": ".mcap"}


def run(arguments: argparse.Namespace) -> int:
    """Writes the table and says what."""
    wanted = SUFFIXES.get(arguments.format)
    if wanted and arguments.output.suffix != wanted:
        raise UsageError(f"-o {arguments.output}: --format {arguments.format} expects a name that ends in {wanted}")
    try:
        count, complete = export(arguments.recording, arguments.output)
    except RecordingError as error:
        raise UsageError(str(error)) from error
    cut = "" if complete else "; the recording is incomplete: the server was killed, or the file was cut"
    sys.stdout.write(f"wrote {count} rows to {arguments.output}{cut}\n")
    return 0
