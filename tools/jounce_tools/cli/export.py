"""``jounce export``: a vehicle or a partner as an FMU, or all of them as a system (SSP)."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from jounce_fmu.build.builtin import export_builtin, identifier
from jounce_fmu.build.library import PLATFORMS
from jounce_fmu.importer.host import FmuError
from jounce_fmu.importer.tables import model_table
from jounce_tools.cli.assignments import add_vehicle
from jounce_tools.errors import UsageError, check_output
from jounce_tools.pairs import pairs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="file to write (default: jounce_NAME.fmu or jounce_NAME.ssp)"
    )
    parser.add_argument("place", type=Path, nargs="?", metavar="FILE", help="the same as -o")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--partner",
        choices=("driver", "terrain", "remote"),
        help="export a co-simulation partner in Python instead of the vehicle",
    )
    what.add_argument("--ssp", action="store_true", help="export vehicle, driver and terrain, connected (SSP 1.0)")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="start value to write into the file, may repeat",
    )
    add_vehicle(parser)
    parser.add_argument("--fmi", type=int, choices=(2, 3), default=2, help="FMI version (default: %(default)s)")
    parser.add_argument(
        "--scalars",
        action="store_true",
        help="FMI 3 without arrays, for importers that do not support them (FMI 2 has no arrays)",
    )
    parser.add_argument(
        "--names",
        choices=("structured", "flat"),
        default="structured",
        help="variable names with dots, or with underscores only (default: %(default)s)",
    )
    binaries = parser.add_mutually_exclusive_group()
    binaries.add_argument(
        "--platforms",
        action="append",
        metavar="NAME[,NAME]",
        help=f"platforms to include a library for: {', '.join(PLATFORMS)}, or all (default: linux64); those of other "
        "machines need the package ziglang",
    )
    binaries.add_argument(
        "--source-only",
        action="store_true",
        help="include no library: the importer compiles the sources, as for HIL targets",
    )


def run(arguments: argparse.Namespace) -> int:
    """Writes the file and says where."""
    _check_partner(arguments)
    starts = pairs(arguments.set)
    platforms = [p for names in arguments.platforms or ["linux64"] for p in names.split(",")]
    if "all" in platforms:
        platforms = list(PLATFORMS)
    if arguments.source_only:
        platforms = []
    if arguments.output and arguments.place:
        raise UsageError(f"-o {arguments.output} and {arguments.place}: expected one file to write")
    label = identifier(arguments.partner or model_table(arguments.vehicle).name)
    suffix = ".ssp" if arguments.ssp else ".fmu"
    output: Path = arguments.output or arguments.place or Path(label + suffix)
    check_output(output, suffix)
    try:
        path = _write(arguments, output, starts, platforms)
    except FmuError as error:  # it does not start with what was given
        raise UsageError(str(error)) from error
    sys.stdout.write(f"wrote {path}\n")
    return 0


def _check_partner(arguments: argparse.Namespace) -> None:
    """A partner has no vehicle and brings its own library."""
    options = {"--vehicle": arguments.vehicle != "hmmwv", "--platforms": arguments.platforms,
               "--source-only": arguments.source_only}  # fmt: skip
    if arguments.partner and (unused := [name for name, given in options.items() if given]):
        raise UsageError(f"{', '.join(unused)}: expected without --partner")


def _write(arguments: argparse.Namespace, output: Path, starts: Mapping[str, str], platforms: Sequence[str]) -> Path:
    if not arguments.partner and not arguments.ssp:
        return export_builtin(
            output,
            arguments.vehicle,
            names=arguments.names,
            platforms=platforms,
            fmi=arguments.fmi,
            scalars=arguments.scalars,
            starts=starts,
        )
    if arguments.fmi != 2 or arguments.scalars:
        raise UsageError(f"--fmi 3, --scalars: expected without {'--partner' if arguments.partner else '--ssp'}")
    # pythonfmu takes a while to import
    from jounce_fmu.partners import export_partner
    from jounce_fmu.partners.ssp import export_ssp

    if arguments.partner:
        return export_partner(output, arguments.partner, starts=starts, names=arguments.names)
    if arguments.names != "structured":
        raise UsageError("--names flat: expected without --ssp")
    return export_ssp(output, arguments.vehicle, starts=starts, platforms=platforms)
