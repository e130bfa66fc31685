"""``jounce export``: a model as an FMU file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from jounce_fmu.builtin import export_builtin


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("output", type=Path, nargs="?", help="FMU file to write (default: jounce_MODEL.fmu)")
    parser.add_argument("--model", default="hmmwv", help="vehicle name (default: %(default)s)")
    parser.add_argument("--fmi", type=int, choices=(2, 3), default=2, help="FMI version (default: %(default)s)")
    parser.add_argument(
        "--scalars", action="store_true", help="FMI 3 without arrays, for importers that take none; FMI 2 never has any"
    )
    parser.add_argument(
        "--names", choices=("structured", "flat"), default="structured", help="style of the variable names"
    )
    parser.add_argument(
        "--platform", action="append", dest="platforms", help="FMI platform folder, may repeat (default: linux64)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Writes the FMU and says where."""
    platforms = tuple(arguments.platforms or ("linux64",))
    path = export_builtin(
        arguments.output or Path(f"jounce_{arguments.model}.fmu"),
        arguments.model,
        names=arguments.names,
        platforms=platforms,
        fmi=arguments.fmi,
        scalars=arguments.scalars,
    )
    sys.stdout.write(f"wrote {path}\n")
    return 0
