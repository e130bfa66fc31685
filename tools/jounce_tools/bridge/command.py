"""``jounce bridge NAME``: join a session for a program that speaks another protocol."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from typing import Final

from jounce_tools.errors import UsageError

#: Name -> (module, what it is for).
BRIDGES: Final = {
    "ardupilot": ("jounce_client.bridges.ardupilot", "ArduPilot SITL drives the vehicle (its JSON interface)"),
    "can": ("jounce_client.bridges.can", "outputs and inputs as CAN frames, for HIL rigs"),
    "helics": ("jounce_client.bridges.helics", "the vehicle as a federate of HELICS"),
    "px4": ("jounce_client.bridges.px4", "PX4 SITL drives the vehicle (MAVLink HIL)"),
    "ros2": ("jounce_client.bridges.ros2", "the vehicle as a node of ROS 2"),
    "udp": ("jounce_client.bridges.udp", "chosen outputs and inputs as packed UDP, for Simulink and the like"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the bridges, each with its options."""
    bridges = parser.add_subparsers(dest="bridge", required=True, metavar="NAME")
    for name, (module, text) in BRIDGES.items():
        sub = bridges.add_parser(name, help=text, description=text[:1].upper() + text[1:] + ".")
        import_module(module).add_options(sub)


def run(arguments: argparse.Namespace) -> int:
    """Runs the bridge until Ctrl-C."""
    from jounce_client import JounceError
    from jounce_client.bridges.session import BridgeError

    try:
        return int(import_module(BRIDGES[arguments.bridge][0]).run(arguments))
    except BridgeError as error:
        raise UsageError(str(error)) from None
    except JounceError as error:
        sys.stderr.write(f"jounce bridge: {error}\n")
        return 1
