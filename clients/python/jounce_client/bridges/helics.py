"""HELICS: the vehicle as a value federate. HELICS's clock leads, the session follows.

The federate is described by HELICS's own configuration (JSON): publications are outputs, subscriptions and inputs are
inputs of the vehicle. The signal is the entry's ``info``, or else the last part of its key. ``period`` [s] is the
length of a step. Between two times granted by HELICS the vehicle makes one step, with the values that HELICS had at the
first of them; its outputs are published at the second. So it never shows a state before its time, and what another
federate publishes at a time acts from the vehicle's next time on.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from jounce_client import JounceError, Participant, State
from jounce_client.bridges.session import (
    BridgeError,
    Counters,
    Status,
    add_arguments,
    joined,
    opened,
    program,
    stepped,
)

NAME: Final = "helics"
EXAMPLE: Final = {
    "name": "vehicle", "core_type": "zmq", "period": 0.02, "uninterruptible": True,
    "publications": [{"key": "vehicle/speed", "type": "double", "unit": "m/s", "global": True, "info": "speed"}],
    "subscriptions": [{"key": "pilot/steer", "type": "double", "unit": "rad", "info": "steering_wheel_angle"}],
}  # fmt: skip


def _library() -> Any:
    try:
        import helics
    except ImportError:
        raise BridgeError("helics is not installed: pip install 'jounce[helics]'") from None
    return helics


@dataclass
class Bridge:
    """A federate and the vehicle's participant, which step together."""

    helics: Any
    federate: Any
    publications: list[Any]
    inputs: list[Any]
    member: Participant
    period: int
    """Ticks of a step."""
    values: list[float]
    """Inputs in use."""
    counters: Counters = field(default_factory=Counters)

    def publish(self, state: State) -> None:
        """Shows the outputs at the time that has been granted."""
        for publication, value in zip(self.publications, state.values.tolist(), strict=True):
            self.helics.helicsPublicationPublishDouble(publication, value)

    def read(self) -> list[float]:
        """The inputs as HELICS has them; one that nobody has sent has the vehicle's start value."""
        return [float(self.helics.helicsInputGetDouble(i)) for i in self.inputs]

    def step(self, state: State) -> State:
        """One step; with the inputs before where the server refuses these. Raises BridgeError after a reset."""
        given = self.read()
        try:
            moved = stepped(self.member, given)
            self.values = given
        except JounceError as error:
            if error.reason not in ("INPUT_OUT_OF_RANGE", "NOT_FINITE", "NOT_A_WHOLE_NUMBER"):
                raise
            self.counters.refused += 1
            if self.counters.refused == 1:
                sys.stderr.write(f"{NAME}: values are left out, the ones before stay: {error}\n")
            moved = stepped(self.member, self.values)
        if moved.tick != state.tick + self.period:
            raise BridgeError(f"the session went to tick {moved.tick}, expected {state.tick + self.period}: "
                              "HELICS's time does not go back")  # fmt: skip
        self.counters.steps += 1
        return moved

    def granted(self, time: float) -> bool:
        """Waits for this time; grants of earlier ones are only counted. False at the end of HELICS's time."""
        while True:
            found = float(self.helics.helicsFederateRequestTime(self.federate, time))
            if found >= self.helics.HELICS_TIME_MAXTIME:
                return False
            if found > time + 1e-9:
                raise BridgeError(f"HELICS granted {found} s: expected {time} s; its period or offset is another")
            if found > time - 1e-9:
                return True
            self.counters.repeats += 1


def _signals(helics: Any, entries: list[Any], kind: str) -> list[str]:
    key = helics.helicsPublicationGetName if kind == "publication" else helics.helicsInputGetTarget
    info = helics.helicsPublicationGetInfo if kind == "publication" else helics.helicsInputGetInfo
    return [info(e) or str(key(e)).rpartition("/")[2] for e in entries]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Adds all options of this bridge."""
    add_arguments(parser)
    parser.add_argument("--config", metavar="FILE", help="HELICS's configuration of the federate (JSON)")
    parser.add_argument("--example", action="store_true", help="print a configuration to begin with, and end")


def run(given: argparse.Namespace) -> int:
    """Runs until HELICS's time ends, ``--frames`` steps are made, or Ctrl-C."""
    if given.example:
        sys.stdout.write(json.dumps(EXAMPLE, indent=2) + "\n")
        return 0
    helics = _library()
    if not given.config:
        raise BridgeError("expected --config FILE; --example prints one")
    if not Path(given.config).is_file():
        raise BridgeError(f"--config {given.config}: no such file")
    federate = None
    try:
        federate = helics.helicsCreateValueFederateFromConfig(given.config)
        return _run(given, helics, federate)
    except helics.HelicsException as error:
        raise BridgeError(f"HELICS: {error}") from error
    finally:
        if federate is not None:
            helics.helicsFederateDisconnect(federate)
            helics.helicsFederateFree(federate)


def _run(given: argparse.Namespace, helics: Any, federate: Any) -> int:
    publications = [helics.helicsFederateGetPublicationByIndex(federate, k)
                    for k in range(helics.helicsFederateGetPublicationCount(federate))]  # fmt: skip
    inputs = [helics.helicsFederateGetInputByIndex(federate, k)
              for k in range(helics.helicsFederateGetInputCount(federate))]  # fmt: skip
    length = float(helics.helicsFederateGetTimeProperty(federate, helics.HELICS_PROPERTY_TIME_PERIOD))
    with opened(given, NAME) as (client, session):
        tick = session.tick_seconds
        ticks = round(length / tick)
        if ticks < 1 or abs(ticks * tick - length) > 1e-9:
            raise BridgeError(f"period {length} s: expected a whole number of ticks of {tick} s")
        wants, owns = _signals(helics, publications, "publication"), _signals(helics, inputs, "input")
        with joined(client, session, NAME, owns=owns, wants=wants, period=ticks, safe=None) as member:
            if (len(member.outputs), len(member.inputs)) != (len(wants), len(owns)):
                raise BridgeError("publications and subscriptions: expected scalars, one each")
            start = {name: value for s in client.describe(session.model or given.vehicle).signals
                     for name, value in zip((s.name + c for c in s.components), s.start, strict=False)}  # fmt: skip
            values = [start[name] for name in member.inputs]
            for place, value in zip(inputs, values, strict=True):
                helics.helicsInputSetDefaultDouble(place, value)
            bridge = Bridge(helics, federate, publications, inputs, member, ticks, values)
            status, state = Status(NAME, given.log), member.start
            helics.helicsFederateEnterExecutingMode(federate)
            bridge.publish(state)
            begin = state.tick
            while not given.frames or bridge.counters.steps < given.frames:
                state = bridge.step(state)
                if not bridge.granted((state.tick - begin) * tick):
                    break
                bridge.publish(state)
                status.told(bridge.counters, state.time)
    return 0


if __name__ == "__main__":
    program(NAME, "Makes the vehicle a federate of HELICS.", add_options, run)
