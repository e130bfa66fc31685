"""The functions of a four-corner double-wishbone vehicle, and the files they are emitted to.

Run ``python -m jounce.emit.double_wishbone FOLDER`` to write them; a test fails when the committed files
differ from what this module emits.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import casadi as ca

from jounce.data import load_vehicle
from jounce.emit.emitter import emit_file
from jounce.symbolic import articulated, corner, parameters, steering, wheel

GENERATOR = "jounce.emit.double_wishbone"


def lane_functions() -> list[ca.Function]:
    """Evaluated for each corner, four lanes at once where the processor can."""
    return [corner.function(), wheel.function(), articulated.eliminate_function(), articulated.expand_function()]


def scalar_functions() -> list[ca.Function]:
    """Evaluated once a vehicle."""
    derive = parameters.derive_function(load_vehicle("hmmwv"))
    return [steering.function(), articulated.chassis_function(), derive]


def files() -> dict[str, str]:
    """File name to C text."""
    return {
        "double_wishbone_lanes.inc": emit_file(lane_functions(), GENERATOR),
        "double_wishbone_scalar.inc": emit_file(scalar_functions(), GENERATOR),
    }


def main() -> None:
    """Write the files into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the generated folder of the fmu package")
    folder: Path = parser.parse_args().folder
    for name, text in files().items():
        (folder / name).write_text(text)


if __name__ == "__main__":
    main()
