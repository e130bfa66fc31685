"""``jounce build``: components and connections -> composite bodies, their rest, a report and a vehicle folder."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Final

from jounce.architecture.load import ENGINES, FILE, architecture_file, truck_names
from jounce_tools.architecture import report
from jounce_tools.errors import UsageError

#: Names of the report's files in the vehicle's folder.
TEXT: Final = "report.txt"
JSON: Final = "report.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the command."""
    parser.add_argument("architecture", metavar="TRUCK",
                        help=f"TOML file, its folder, or a built-in one: {', '.join(truck_names())}")  # fmt: skip
    parser.add_argument("-o", "--output", type=Path, metavar="DIR",
                        help=f"folder for the vehicle: {FILE} and the report; not there yet or empty")  # fmt: skip
    parser.add_argument("--engine", choices=ENGINES, default="auto",
                        help="equations of motion; auto (default): as the file says, else ce where it can")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="the report as one JSON object, for programs")


def run(arguments: argparse.Namespace) -> int:
    """Builds, reports and writes."""
    output: Path | None = arguments.output
    if output is not None:
        _check_output(output)
    path = architecture_file(arguments.architecture)
    found = report.of(path, arguments.engine)
    lines = "".join(f"{line}\n" for line in report.text(found))
    data = json.dumps(report.as_json(found), indent=1) + "\n"
    sys.stdout.write(data if arguments.json else lines)
    if output is not None:
        _write(output, {FILE: _asking(path.read_text(encoding="utf-8"), arguments.engine), TEXT: lines, JSON: data})
        if not arguments.json:
            sys.stdout.write(f"wrote {output}/\n")
    return 0


def _asking(text: str, engine: str) -> str:
    """The file with that engine, where one is asked for."""
    if engine == "auto":
        return text
    lines = text.splitlines(keepends=True)
    top = next((k for k, line in enumerate(lines) if line.lstrip().startswith("[")), len(lines))
    kept = [line for line in lines[:top] if line.partition("=")[0].strip() != "engine"]
    return "".join([f'engine = "{engine}"\n', *kept, *lines[top:]])


def _check_output(output: Path) -> None:
    """Raises UsageError where the folder cannot be made; before anything is built."""
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise UsageError(f"-o {output}: expected a folder that is not there yet, or an empty one")
    if not output.parent.is_dir():
        raise UsageError(f"-o {output}: expected a folder in one that exists")


def _write(output: Path, files: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=f".{output.name}") as temporary:
        made = Path(temporary) / "vehicle"
        made.mkdir()
        for name, content in files.items():
            (made / name).write_text(content, encoding="utf-8")
        os.replace(made, output)
