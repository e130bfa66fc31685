"""Finds the subcommand and turns its errors into one line and an exit code.

A subcommand is a module with ``add_arguments(parser)`` and ``run(arguments) -> int``. It is imported when
it is used, so that a missing optional dependency of one does not stop the others.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final, NoReturn

from jounce import __version__
from jounce_tools import completion

#: Subcommand -> (module, what it does).
COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "serve": ("jounce_tools.cli.serve", "run a server that hosts lockstep sessions over gRPC"),
    "health": ("jounce_tools.cli.health", "check whether a server is serving"),
    "simulate": ("jounce_tools.cli.simulate", "run a model in process, with inputs and outputs as CSV"),
    "export": ("jounce_tools.cli.export", "write a model as an FMU"),
    "describe": ("jounce_tools.cli.describe", "print a model's signal table"),
    "replay": ("jounce_tools.cli.replay", "run a recorded session again and compare it bit by bit"),
    "export-recording": ("jounce_tools.cli.export_recording", "write a recording as CSV, Parquet or MDF4"),
    "sweep": ("jounce_tools.cli.sweep", "run many cases on all cores: a grid of parameters, random draws, or both"),
    "linearize": ("jounce_tools.cli.linearize", "write A, B, C and D of a model at an operating point"),
    "uk": ("jounce_tools.uk.command", "study the half car of Udwadia and Kalaba's equations with four traction laws"),
    "compare": ("jounce_tools.compare.command", "compare the papers' formulations of one vehicle on one page"),
    "terrain": ("jounce_tools.cli.terrain", "pack a road or terrain, make a random road, show what a file holds"),
    "tire": ("jounce_tools.tire.command", "show what a tire file holds, write and draw its curves, compare two"),
    "powertrain": ("jounce_tools.powertrain.command", "write a powertrain's maps, and check its data"),
    "vehicle": ("jounce_tools.vehicle.command", "start, check and describe a vehicle of your own by axles"),
    "build": ("jounce_tools.architecture.command", "make a vehicle of an architecture: components and connections"),
    "spectrum": ("jounce_tools.architecture.spectrum", "find natural frequencies of an architecture, on one page"),
    "render": ("jounce_tools.architecture.render", "draw a run of an architecture: an animation, or its state"),
    "test": ("jounce_tools.cli.test", "drive standard manoeuvres: metrics, limits and a report"),
    "view": ("jounce_tools.view.command", "show a session or a recorded run: a page in 3-D, a picture or a film"),
    "bridge": ("jounce_tools.bridge.command", "join a session for a program that speaks another protocol"),
    "completion": ("jounce_tools.completion", "print the code by which a shell completes jounce's command line"),
    "demo": ("jounce_tools.cli.demo", "run the demonstration: a driver and a soil program drive the vehicle"),
}

#: Exit codes: 1 a run, a build or a check failed; 2 an argument cannot be used; 130 Ctrl-C (128 + SIGINT).
FAILED: Final = 1
USAGE: Final = 2
INTERRUPTED: Final = 130
#: The same for people; docs/command-line.md has it from here.
EXIT_CODES: Final = {
    0: "success",
    FAILED: "a run, a build or a check failed: solver error, compiler error, full disk, a speed that is not reached, a "
            "difference in a replay",
    USAGE: "an option, name, value or file cannot be used; nothing was started",
    INTERRUPTED: "Ctrl-C; `simulate` and `sweep` keep the results so far",
}
#: Errors of the system that mean a file which was named cannot be used.
_NAMED: Final = (FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError, PermissionError)
#: Commands that show their progress themselves, that are quick, or that have no end.
_OWN_PROGRESS: Final = ("serve", "bridge", "sweep", "demo", "health", "describe", "tire", "completion")
#: argparse's wording -> ours, which says what is expected.
_WORDING: Final = (
    (re.compile(r"invalid int value: (.*)"), r"\1: expected a whole number"),
    (re.compile(r"invalid (?:number|float) value: (.*)"), r"\1: expected a number"),
    (re.compile(r"invalid choice: (.*?) \(choose from (.*)\)"), r"\1: expected \2"),
    (re.compile(r"the following arguments are required: (.*)"), r"expected \1"),
    (re.compile(r"unrecognized arguments: (.*)"), r"unknown options or arguments: \1"),
)

#: Error of a file -> what is expected.
_OF_FILES: Final = (
    (FileNotFoundError, "a file that exists"),
    (IsADirectoryError, "a file"),
    (NotADirectoryError, "a folder"),
    (FileExistsError, "a name that is not taken"),
    (PermissionError, "one that may be used"),
)


class _Parser(argparse.ArgumentParser):
    """Refuses in the words of all other refusals."""

    def error(self, message: str) -> NoReturn:
        """Ends with exit code 2, after the usage and one line."""
        for pattern, text in _WORDING:
            message = pattern.sub(text, message)
        super().error(message)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one subcommand; the exit code, one of `EXIT_CODES`."""
    try:
        return _main(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        sys.stderr.write("jounce: interrupted\n")
        return INTERRUPTED


def _text(error: Exception) -> str:
    """One line; an error of a file without its number, and with what is expected."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        expected = next((f"; expected {text}" for kind, text in _OF_FILES if isinstance(error, kind)), "")
        return f"{error.filename}: {error.strerror}{expected}"
    return str(error)


def _main(arguments: Sequence[str]) -> int:
    parser = _Parser(prog="jounce", description="High-fidelity vehicle dynamics.")
    parser.add_argument("--version", action="version", version=f"jounce {__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    asked = completion.line()
    words = arguments if asked is None else asked
    chosen, chosen_parser = next((a for a in words if not a.startswith("-")), ""), parser
    for name, (module, text) in COMMANDS.items():
        sub = subparsers.add_parser(name, help=text, description=text[:1].upper() + text[1:] + ".")
        if name == chosen:
            chosen_module, chosen_parser = import_module(module), sub
            chosen_module.add_arguments(sub)
            sub.epilog = getattr(chosen_module, "EPILOG", None)
            sub.formatter_class = argparse.RawDescriptionHelpFormatter
    if asked is not None:
        completion.answer(parser, chosen_parser)
    parsed, unknown = parser.parse_known_args(arguments)
    if unknown:  # here, so that the usage shown is that of the command
        chosen_parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    # Errors that name their cause are for the user; any other is a defect and keeps its traceback.
    from jounce.data import DataError
    from jounce_fmu.build.library import BadRequest, BuildError
    from jounce_fmu.importer.host import FmuError
    from jounce_fmu.importer.trajectory import InputError
    from jounce_service.transport.errors import BadParameters, ServiceError
    from jounce_tools.cli.assignments import put_on
    from jounce_tools.cli.progress import Progress
    from jounce_tools.errors import UsageError

    try:
        with Progress(f"jounce {parsed.command}", sys.stderr) as parsed.progress:
            if parsed.command in _OWN_PROGRESS:
                parsed.progress.be_quiet()
            put_on(parsed)
            code = int(import_module(COMMANDS[parsed.command][0]).run(parsed))
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader has seen enough, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (UsageError, DataError, BuildError, FmuError, ServiceError, InputError, OSError) as error:
        sys.stderr.write(f"jounce {parsed.command}: {_text(error)}\n")
        unusable = (UsageError, DataError, BadRequest, BadParameters, InputError, *_NAMED)
        return USAGE if isinstance(error, unusable) else FAILED
