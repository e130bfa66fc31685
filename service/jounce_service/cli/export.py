"""``jounce export``: a vehicle or a partner as an FMU, or all of them as a system (SSP)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from jounce_fmu.build import PLATFORMS
from jounce_fmu.builtin import export_builtin, identifier, model_table
from jounce_service.cli.given import pair
from jounce_service.cli.main import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("output", type=Path, nargs="?", help="file to write (default: jounce_NAME.fmu or .ssp)")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--partner", choices=("driver", "terrain", "remote"), help="a co-simulation partner in Python")
    what.add_argument("--ssp", action="store_true", help="vehicle, driver and terrain, connected (SSP 1.0)")
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="start value in the file, may repeat"
    )
    parser.add_argument(
        "--vehicle", "--model", dest="model", default="hmmwv", metavar="VEHICLE",
        help="name of a built-in vehicle, or the vehicle.toml of your own (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--fmi", type=int, choices=(2, 3), default=2, help="FMI version (default: %(default)s)")
    parser.add_argument(
        "--scalars", action="store_true", help="FMI 3 without arrays, for importers that take none; FMI 2 never has any"
    )
    parser.add_argument(
        "--names", choices=("structured", "flat"), default="structured", help="style of the variable names"
    )
    binaries = parser.add_mutually_exclusive_group()
    binaries.add_argument(
        "--platforms",
        action="append",
        metavar="NAME[,NAME]",
        help=f"libraries to pack, of {', '.join(PLATFORMS)}, or all (default: linux64); those of other machines are "
        "cross-compiled by the package ziglang",
    )
    binaries.add_argument(
        "--source-only", action="store_true", help="no library: the importer compiles the sources, as HIL targets do"
    )


def run(arguments: argparse.Namespace) -> int:
    """Writes the file and says where."""
    starts = dict(map(pair, arguments.set))
    platforms = [p for names in arguments.platforms or ["linux64"] for p in names.split(",")]
    if "all" in platforms:
        platforms = list(PLATFORMS)
    if arguments.source_only:
        platforms = []
    output, model = arguments.output, arguments.model
    label = identifier(arguments.partner or model_table(model).name)
    if arguments.partner or arguments.ssp:
        if arguments.fmi != 2 or arguments.scalars:
            raise UsageError("--fmi 3 and --scalars are for the vehicle alone")
        # pythonfmu takes a while to import
        from jounce_fmu.partners import export_partner
        from jounce_fmu.ssp import export_ssp
    if arguments.ssp:
        if arguments.names != "structured":
            raise UsageError("--names flat is for single FMUs")
        path = export_ssp(output or Path(f"{label}.ssp"), model, starts=starts, platforms=platforms)
    elif arguments.partner:
        path = export_partner(
            output or Path(f"{label}.fmu"), arguments.partner, starts=starts, names=arguments.names
        )
    else:
        path = export_builtin(
            output or Path(f"{label}.fmu"),
            model,
            names=arguments.names,
            platforms=platforms,
            fmi=arguments.fmi,
            scalars=arguments.scalars,
            starts=starts,
        )
    sys.stdout.write(f"wrote {path}\n")
    return 0
