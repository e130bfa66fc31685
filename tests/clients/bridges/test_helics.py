"""The vehicle in a federation of HELICS, beside a federate that changes its period: same bits as without HELICS."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ports import free_port

import jounce
from jounce_tools.cli.main import main

helics = pytest.importorskip("helics")

PERIOD, STEPS = 0.02, 100
SPEED: dict[str, float] = {"init.speed": 10.0}


class Federation:
    """A broker for two federates, and the configuration of the vehicle."""

    def __init__(self, folder: Path) -> None:
        self.config = folder / "vehicle.json"
        self.begin()

    def begin(self) -> None:
        for _ in range(5):  # the broker takes this port and the next one, which may be somebody's
            self.port = free_port()
            self.broker = helics.helicsCreateBroker("zmq", "", f"-f 2 --localport={self.port} --loglevel=no_print")
            if helics.helicsBrokerIsConnected(self.broker):
                break
            helics.helicsBrokerDisconnect(self.broker)
        self.say()

    def say(self, **other: Any) -> None:
        vehicle = {
            "name": "vehicle", "core_type": "zmq", "broker": f"tcp://127.0.0.1:{self.port}", "period": PERIOD,
            "loglevel": "no_print", "uninterruptible": True,
            "publications": [
                {"key": "vehicle/speed", "type": "double", "unit": "m/s", "global": True},
                {"key": "vehicle/lateral", "type": "double", "unit": "m", "global": True, "info": "ref_frame.pos.y"},
            ],
            "subscriptions": [{"key": "pilot/steer", "type": "double", "info": "steering_wheel_angle"}],
        } | other  # fmt: skip
        self.config.write_text(json.dumps(vehicle))

    def pilot(self) -> Any:
        info = helics.helicsCreateFederateInfo()
        helics.helicsFederateInfoSetCoreTypeFromString(info, "zmq")
        helics.helicsFederateInfoSetBroker(info, f"tcp://127.0.0.1:{self.port}")
        helics.helicsFederateInfoSetCoreInitString(info, "--loglevel=no_print")
        return helics.helicsCreateValueFederate("pilot", info)


@pytest.fixture
def federation(tmp_path: Path) -> Iterator[Federation]:
    made = Federation(tmp_path)
    yield made
    helics.helicsBrokerDisconnect(made.broker)
    helics.helicsCloseLibrary()


def joined(federation: Federation) -> Any:
    """The pilot; HELICS at times does not reach a broker that has just begun, for which another is made."""
    for _ in range(4):
        try:
            return federation.pilot()
        except helics.HelicsException:
            helics.helicsBrokerDisconnect(federation.broker)
            federation.begin()
    return federation.pilot()


def run_pilot(pilot: Any, seen: list[tuple[float, float, float]], sent: list[tuple[float, float]]) -> None:
    """Steers by the time and the speed it sees, every 30 ms until 0.9 s, then every 50 ms."""
    steer = helics.helicsFederateRegisterGlobalPublication(pilot, "pilot/steer", helics.HELICS_DATA_TYPE_DOUBLE, "")
    speed = helics.helicsFederateRegisterSubscription(pilot, "vehicle/speed", "")
    lateral = helics.helicsFederateRegisterSubscription(pilot, "vehicle/lateral", "")
    helics.helicsFederateSetFlagOption(pilot, helics.HELICS_FLAG_UNINTERRUPTIBLE, True)
    helics.helicsFederateEnterExecutingMode(pilot)
    time = 0.0
    while time < STEPS * PERIOD - 1e-9:
        following = time + (0.03 if time < 0.9 else 0.05)
        time = helics.helicsFederateRequestTime(pilot, min(following, STEPS * PERIOD + 0.01))
        seen.append((time, helics.helicsInputGetDouble(speed), helics.helicsInputGetDouble(lateral)))
        sent.append((time, math.sin(3.0 * time) + 0.01 * seen[-1][1]))
        helics.helicsPublicationPublishDouble(steer, sent[-1][1])
    helics.helicsFederateDisconnect(pilot)


def without_helics(sent: list[tuple[float, float]]) -> list[tuple[float, float, float]]:
    """The same commands by hand: what was sent before a step's beginning acts on it."""
    rows = []
    with jounce.join("hmmwv", owns=["steering_wheel_angle"], wants=["speed", "ref_frame.pos.y"],
                     period=round(PERIOD / 1e-3), **SPEED) as vehicle:  # fmt: skip
        for k in range(STEPS):
            given = [0.0] + [value for time, value in sent if time < k * PERIOD - 1e-9]
            state = vehicle.step(given[-1:])
            rows.append(((k + 1) * PERIOD, state["speed"], state["ref_frame.pos.y"]))
    return rows


def test_a_federate_that_changes_its_period_sees_the_bits_of_a_run_without_helics(
    federation: Federation, address: str
) -> None:
    pilot = joined(federation)
    bridge = subprocess.Popen(
        [sys.executable, "-m", "jounce_client.bridges.helics", f"--address={address}", f"--config={federation.config}",
         "--set=init.speed=10", f"--frames={STEPS}"], stderr=subprocess.PIPE, text=True)  # fmt: skip
    seen: list[tuple[float, float, float]] = []
    sent: list[tuple[float, float]] = []
    run_pilot(pilot, seen, sent)
    assert bridge.wait(60) == 0, bridge.stderr and bridge.stderr.read()
    expected = without_helics(sent)
    assert max(abs(y) for _, _, y in expected) > 0.05
    for time, speed, lateral in seen:  # what was published before a federate's time is what it sees at it
        past = [row for row in expected if row[0] < time - 1e-9]
        if past:
            assert (speed, lateral) == past[-1][1:], time


class Clock:
    """HELICS's calls as the bridge makes them; grants come from a list."""

    HELICS_TIME_MAXTIME = 9223372036.854774

    def __init__(self, grants: list[float]) -> None:
        self.grants = grants

    def helicsFederateRequestTime(self, _: Any, __: float) -> float:
        return self.grants.pop(0)


def bridged(grants: list[float]) -> Any:
    from jounce_client.bridges.helics import Bridge

    return Bridge(Clock(grants), None, [], [], None, 20, [])  # type: ignore[arg-type]


def test_a_grant_of_an_earlier_time_is_counted_and_makes_no_step() -> None:
    bridge = bridged([0.01, 0.015, 0.02])
    assert bridge.granted(0.02) and bridge.counters.repeats == 2 and bridge.counters.steps == 0


def test_the_end_of_the_federations_time_ends_the_bridge_and_a_later_grant_is_refused() -> None:
    from jounce_client.bridges.session import BridgeError

    assert not bridged([Clock.HELICS_TIME_MAXTIME]).granted(0.02)
    with pytest.raises(BridgeError, match=r"granted 0\.03 s: expected 0\.02"):
        bridged([0.03]).granted(0.02)


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"period": 0.0005}, "expected a whole number of ticks"),
        ({"publications": [{"key": "vehicle/sped", "type": "double"}]}, "UNKNOWN_SIGNAL"),
        ({"publications": [{"key": "x", "type": "double", "info": "ref_frame.pos"}]}, "expected scalars"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_refused(
    federation: Federation, address: str, other: dict[str, Any], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    federation.say(**other)
    assert main(["bridge", "helics", f"--address={address}", f"--config={federation.config}"]) in (1, 2)
    assert says in capsys.readouterr().err


def test_the_example_is_a_configuration_and_a_missing_file_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bridge", "helics", "--example"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == "vehicle"
    assert main(["bridge", "helics", "--config", "nowhere.json"]) == 2
    assert "nowhere.json: no such file" in capsys.readouterr().err
    assert main(["bridge", "helics"]) == 2
    assert "expected --config FILE" in capsys.readouterr().err


def test_without_helics_the_package_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
                                             ) -> None:  # fmt: skip
    monkeypatch.setitem(sys.modules, "helics", None)
    assert main(["bridge", "helics", "--config", "x"]) == 2
    assert "pip install 'jounce[helics]'" in capsys.readouterr().err
