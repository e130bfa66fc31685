"""``jounce export``: a model as an FMU file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from jounce_fmu.builtin import export_builtin


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("output", type=Path, help="FMU file to write")
    parser.add_argument("--model", default="hmmwv", help="vehicle name (default: %(default)s)")
    parser.add_argument(
        "--names", choices=("structured", "flat"), default="structured", help="style of the variable names"
    )
    parser.add_argument(
        "--platform", action="append", dest="platforms", help="FMI platform folder, may repeat (default: linux64)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Writes the FMU and says where."""
    platforms = tuple(arguments.platforms or ("linux64",))
    path = export_builtin(arguments.output, arguments.model, names=arguments.names, platforms=platforms)
    sys.stdout.write(f"wrote {path}\n")
    return 0
