"""Finds the subcommand and turns its errors into one line and an exit code.

A subcommand is a module with ``add_arguments(parser)`` and ``run(arguments) -> int``. It is imported when
it is used, so that a missing optional dependency of one does not stop the others.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final

from jounce import __version__

#: Subcommand -> (module, what it does).
COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "serve": ("jounce_service.cli.serve", "host lockstep sessions over gRPC"),
    "health": ("jounce_service.cli.health", "ask a server whether it serves"),
    "simulate": ("jounce_service.cli.simulate", "run a model in process, inputs and outputs as CSV"),
    "export": ("jounce_service.cli.export", "write a model as an FMU"),
    "describe": ("jounce_service.cli.describe", "print a model's signal table"),
    "replay": ("jounce_service.cli.replay", "run a recorded session again and compare it bit by bit"),
    "export-recording": ("jounce_service.cli.export_recording", "write a recording as CSV, Parquet or MDF4"),
    "sweep": ("jounce_service.cli.sweep", "run a grid of parameters or random draws on many cores or machines"),
    "linearize": ("jounce_service.cli.linearize", "write A, B, C and D of a model at an operating point"),
    "demo": ("jounce_service.cli.demo", "drive the vehicle through an example and plot it"),
}

#: Exit code of a command line or file that cannot be used, as argparse has it.
USAGE: Final = 2


class UsageError(ValueError):
    """What the user gave cannot be used; the text says what, where and what is allowed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one subcommand; the exit code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    parser = argparse.ArgumentParser(prog="jounce", description="High-fidelity vehicle dynamics.")
    parser.add_argument("--version", action="version", version=f"jounce {__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    chosen = next((a for a in arguments if not a.startswith("-")), "")
    for name, (module, text) in COMMANDS.items():
        sub = subparsers.add_parser(name, help=text, description=text[:1].upper() + text[1:] + ".")
        if name == chosen:
            import_module(module).add_arguments(sub)
    parsed = parser.parse_args(arguments)
    # Errors that name their cause are for the user; anything else is a defect and keeps its traceback.
    from jounce.data import DataError
    from jounce_fmu.build import BuildError
    from jounce_fmu.host import FmuError
    from jounce_service.errors import ServiceError

    try:
        code = int(import_module(COMMANDS[parsed.command][0]).run(parsed))
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader has seen enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (UsageError, DataError, BuildError, FmuError, ServiceError, OSError) as error:
        sys.stderr.write(f"jounce {parsed.command}: {error}\n")
        return USAGE if isinstance(error, UsageError) else 1
