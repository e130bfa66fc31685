"""``jounce describe``: the signal table as text."""

from __future__ import annotations

import argparse
import sys

from jounce_fmu.builtin import model_table
from jounce_service.describe import lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("--model", default="hmmwv", help="vehicle name or data folder (default: %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Prints the table."""
    for line in lines(model_table(arguments.model)):
        sys.stdout.write(line + "\n")
    return 0
