"""``jounce completion``: commands, options, vehicles and names of signals are completed by the shell.

The work is argcomplete's. The shell runs ``jounce`` with the line so far in its environment.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Final

from jounce.data import vehicle_names
from jounce.optional import missing
from jounce_tools.errors import UsageError

SHELLS: Final = ("bash", "zsh", "fish", "powershell")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the shell."""
    parser.add_argument("shell", choices=SHELLS, nargs="?", default="bash", help="(default: %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Prints the code that the shell has to evaluate. Raises UsageError without argcomplete."""
    if text := missing("argcomplete"):
        raise UsageError(text)
    import argcomplete

    sys.stdout.write(argcomplete.shellcode(["jounce"], shell=arguments.shell))
    return 0


def line() -> list[str] | None:
    """The words of the line after ``jounce`` that the shell asks about, without the one that is being typed; None if
    it does not ask."""
    if "_ARGCOMPLETE" not in os.environ or missing("argcomplete"):
        return None
    typed = os.environ.get("COMP_LINE", "").encode()[: int(os.environ.get("COMP_POINT", "0"))]
    words = typed.decode(errors="ignore").split()
    return words[1:] if typed.endswith(b" ") else words[1:-1]


def answer(parser: argparse.ArgumentParser, command: argparse.ArgumentParser) -> None:
    """Writes what can follow to where the shell reads it, and ends the process."""
    import argcomplete

    completers = {"--vehicle": _vehicles, "--set": _assignments("parameters"), "--input": _assignments("inputs"),
                  "--outputs": _outputs}  # fmt: skip
    for action in command._actions:
        for option in action.option_strings:
            if option in completers:
                action.completer = completers[option]  # type: ignore[attr-defined]
    argcomplete.autocomplete(parser, always_complete_options="long")


def _vehicles(prefix: str, **_: object) -> list[str]:
    from argcomplete.completers import FilesCompleter

    return [*vehicle_names(), *FilesCompleter()(prefix)]


def _signals(arguments: argparse.Namespace, group: str) -> list[str]:
    """Names of the scalars of a group of the vehicle that is on the line; none if that cannot be used."""
    from jounce_fmu.importer.tables import model_table

    vehicle = getattr(arguments, "vehicle", None) or "hmmwv"
    with suppress(Exception):
        return [s.name for s in getattr(model_table(vehicle), group)]
    return []


def _assignments(group: str) -> Callable[..., Iterable[str]]:
    def completer(parsed_args: argparse.Namespace, **_: object) -> list[str]:
        return [f"{name}=" for name in _signals(parsed_args, group)]

    return completer


def _outputs(prefix: str, parsed_args: argparse.Namespace, **_: object) -> list[str]:
    before = prefix[: prefix.rfind(",") + 1]
    return [before + name for name in _signals(parsed_args, "outputs")]
