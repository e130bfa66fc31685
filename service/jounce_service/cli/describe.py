"""``jounce describe``: the signal table as text."""

from __future__ import annotations

import argparse
import sys

from jounce_fmu.tables import model_table
from jounce_service.cli.given import add_vehicle
from jounce_service.describe import lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    add_vehicle(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints the table."""
    for line in lines(model_table(arguments.vehicle)):
        sys.stdout.write(line + "\n")
    return 0
