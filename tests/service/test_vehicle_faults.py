"""Faults against the real thing: `jounce serve` as a process of its own, hosting the vehicle."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jounce.data import load_vehicle
from jounce.models.double_wishbone.signals import table
from jounce_client import Client, JounceError, Session
from jounce_proto import jounce_pb2 as pb

TABLE = table(load_vehicle("hmmwv"))
LIMITED = [s for s in TABLE.inputs if math.isfinite(s.maximum)]
START = {"init.speed": 8.0}
ALL_USED = {"tire_source": "EXTERNAL", "terrain_source": "EXTERNAL"}  # an input that is not used has no bounds
WANTS = ["ref_frame.pos", "wheel_RR.tire_force", "energy.kinetic"]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("serve")
    command = [sys.executable, "-m", "jounce_tools.cli", "serve", "--address=", f"--socket-path={folder / 's'}",
               f"--ready-file={folder / 'ready'}"]  # fmt: skip
    server = subprocess.Popen(command, env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
    try:
        deadline = time.monotonic() + 600.0
        while not (folder / "ready").exists():
            assert server.poll() is None and time.monotonic() < deadline, "the server did not start"
            time.sleep(0.05)
        yield f"unix:{folder / 's'}"
    finally:
        server.terminate()
        assert server.wait(60) == 0


@pytest.fixture(scope="module")
def client(address: str) -> Iterator[Client]:
    with Client.connect(address) as made:
        yield made


def _run(client: Client, session: Session, ticks: int) -> list[bytes]:
    """Outputs of a lone participant that steers, as bytes per tick."""
    with client.join(session, "pilot", owns=["steering_wheel_angle"], wants=WANTS) as pilot:
        return [pilot.step([math.sin(0.01 * k)]).values.tobytes() for k in range(ticks)]


def test_a_killed_participant_holds_up_nobody_else_and_is_named_at_once(client: Client, address: str) -> None:
    reference = _run(client, client.create_session("hmmwv", START), 400)
    victims = client.create_session("hmmwv", START, participants=["victim", "mate"])
    victim = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("stepper_process.py")), address, victims.id, victims.token,
         "victim", "chassis.ext_force.x"], stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))})  # fmt: skip
    with client.join(victims, "mate", owns=["steering_wheel_angle"], wants=WANTS, barrier_timeout=2.0) as mate:
        assert victim.stdout is not None and victim.stdout.readline()
        mate.step([0.0])
        runs: list[list[bytes]] = []
        others = [threading.Thread(target=lambda: runs.append(_run(client, client.create_session("hmmwv", START), 400)))
                  for _ in range(2)]  # fmt: skip
        for thread in others:
            thread.start()
        os.kill(victim.pid, signal.SIGKILL)
        victim.wait()
        killed = time.monotonic()
        with pytest.raises(JounceError) as caught:
            for _ in range(1000):
                mate.step([0.0])
        assert "victim" in str(caught.value)
        assert time.monotonic() - killed < 30.0  # a hang, not slowness; 2 s is the barrier's own time-out
    for thread in others:
        thread.join(120)
    assert runs == [reference, reference]


NAMES = st.one_of(st.sampled_from([s.name for s in TABLE.inputs]), st.sampled_from(["", "speed", "chassis.mass", "\0"]),
                  st.text(max_size=5))  # fmt: skip
BAD = st.one_of(
    st.builds(lambda n, v: ([n], [v]), NAMES, st.sampled_from([math.nan, math.inf, -math.inf])),
    st.builds(lambda s, f: ([s.name], [s.maximum * 1.01 + f]), st.sampled_from(LIMITED), st.floats(0.0, 1e300)),
    st.builds(lambda n, v: (n, v), st.lists(NAMES, min_size=1, max_size=3), st.lists(st.floats(), max_size=9)).filter(
        lambda pair: len(pair[0]) != len(pair[1])),
    st.just((["steering_wheel_angle", "steering_wheel_angle"], [0.0, 0.0])),
    st.just((["nonsense"], [0.0])),
)  # fmt: skip


@pytest.fixture(scope="module")
def driven(client: Client) -> Session:
    session = client.create_session("hmmwv", START | ALL_USED)
    client.advance(session, 50, {"steering_wheel_angle": 1.0})
    return session


@settings(max_examples=200)
@given(bad=BAD, ticks=st.integers(0, 3))
def test_two_hundred_hostile_inputs_leave_the_vehicle_bit_identical(
    client: Client, driven: Session, bad: tuple[list[str], list[float]], ticks: int
) -> None:
    before = client.get_session(driven).tick, _state(client, driven)
    with pytest.raises(JounceError) as caught:
        request = pb.AdvanceRequest(session_id=driven.id, token=driven.token, n_ticks=ticks)
        request.input_names.extend(bad[0])
        request.inputs.extend(bad[1])
        _advance(client, request)
    assert caught.value.reason
    assert (client.get_session(driven).tick, _state(client, driven)) == before


def _advance(client: Client, request: pb.AdvanceRequest) -> None:
    from jounce_client.client import _call

    _call(client._stub.Advance, request)


def _state(client: Client, session: Session) -> bytes:
    saved = client.save(session)
    try:
        return client.download(session, saved)
    finally:
        client.delete_snapshot(session, saved)


def test_a_vehicle_driven_over_its_range_fails_with_the_reason_and_others_do_not(client: Client) -> None:
    lost, well = (client.create_session("hmmwv", {"tire_source": source}) for source in ("EXTERNAL", "TMEASY"))
    with pytest.raises(JounceError, match="linkage out of range: at corner FL"):
        client.advance(lost, 300, {"wheel_FL.force.z": -9e5})
    with pytest.raises(JounceError) as caught:
        client.advance(lost, 1)
    assert "linkage out of range" in str(caught.value)
    y = client.advance(well, 100, outputs=["ref_frame.lin_vel"])
    assert np.abs(y.values).max() < 1e-9
