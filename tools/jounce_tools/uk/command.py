"""``jounce uk study``: the half car under four traction laws, on one page."""

from __future__ import annotations

import argparse
import logging
import math
import sys
from pathlib import Path

from jounce.optional import missing
from jounce.values import number
from jounce_tools.errors import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("study", choices=("study",), help="run everything and write the page")
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FOLDER", help="folder to write")
    parser.add_argument("--torques", type=number, nargs="+", default=None, metavar="T",
                        help="peaks of the motor torque in N.m (default: 150 550 700)")  # fmt: skip
    parser.add_argument("--gamma", type=number, nargs="+", default=None, metavar="G",
                        help="stabilisations in 1/s (default: 20 100 200 2000)")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Runs the study and writes its page."""
    if lacking := missing("casadi"):
        raise UsageError(f"the study emits the paper's prints itself: {lacking}")
    from jounce_tools.uk import study
    from jounce_tools.uk.runs import GAMMAS, TORQUES

    torques = [_positive("--torques", t, "N.m", 1e5) for t in arguments.torques or TORQUES]
    gammas = [_positive("--gamma", g, "1/s", 2700.0) for g in arguments.gamma or GAMMAS]
    # The model warns of the paper's chassis inertia at each of thirty starts; the page of the model says it once.
    logging.getLogger("jounce_fmu").setLevel(logging.ERROR)
    folder: Path = arguments.output
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"-o {folder}: expected a folder")
    found = study.study(sorted(set(torques)), sorted(set(gammas)), arguments.progress.at)
    folder.mkdir(parents=True, exist_ok=True)
    study.write(found, folder, arguments.progress.at)
    sys.stdout.write(f"wrote {folder / 'index.html'}, study.json and {len(found.cases)} CSV files\n")
    return 0


def _positive(option: str, value: float, unit: str, most: float) -> float:
    if not 0.0 < value <= most or not math.isfinite(value):
        raise UsageError(f"{option} {value:g} {unit}: expected more than 0 and at most {most:g} {unit}")
    return value
