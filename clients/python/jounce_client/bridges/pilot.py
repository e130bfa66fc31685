"""How an autopilot drives: one of its output channels steers, another gives torque, and without it the brakes hold."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from jounce_client.bridges.session import WHEELS, BridgeError, number

OWNS: Final = ("steering_wheel_angle", *(f"wheel_{w}.{n}" for w in WHEELS for n in ("drive_torque", "brake_torque")))


@dataclass(frozen=True)
class Pilot:
    """Channels, which count from 1, and what they do at full deflection."""

    steering: int
    throttle: int
    steering_angle: float = 10.0
    """Steering-wheel angle at full deflection [rad]. 1 steers right."""
    drive_torque: float = 500.0
    """Drive torque on each wheel at full throttle [N.m]; below neutral it drives backward."""
    hold: float = 2000.0
    """Brake torque on each wheel while the autopilot is not armed or not there [N.m]."""

    def inputs(self, steer: float, drive: float, armed: bool = True) -> list[float]:
        """Values of `OWNS` for deflections from -1 to 1."""
        wheel = [self.drive_torque * drive, 0.0] if armed else [0.0, self.hold]
        return [-self.steering_angle * steer, *wheel * len(WHEELS)]

    def safe(self) -> list[float]:
        """The same without an autopilot: wheels straight, no drive, brakes on."""
        return self.inputs(0.0, 0.0, armed=False)


def add_pilot(parser: argparse.ArgumentParser) -> None:
    """Adds what full deflection means."""
    parser.add_argument("--steering-angle", default=f"{Pilot.steering_angle:g}", metavar="RAD",
                        help="steering-wheel angle at full deflection (default: %(default)s rad)")  # fmt: skip
    parser.add_argument("--drive-torque", default=f"{Pilot.drive_torque:g}", metavar="N.M",
                        help="drive torque on each wheel at full throttle (default: %(default)s N.m)")


def pilot_of(given: argparse.Namespace, option: str, default: Mapping[str, int], most: int) -> Pilot:
    """The pilot of the options; ``option`` holds texts NAME=N, N from 1 to ``most``. Raises BridgeError."""
    channels = dict(default)
    texts: Sequence[str] = getattr(given, option)
    for text in texts:
        name, _, channel = text.partition("=")
        if name not in channels or not (channel.isascii() and channel.isdigit() and 1 <= int(channel) <= most):
            raise BridgeError(f"--{option} {text}: expected steering=N or throttle=N, N from 1 to {most}")
        channels[name] = int(channel)
    return Pilot(**channels, steering_angle=number(given.steering_angle), drive_torque=number(given.drive_torque))
