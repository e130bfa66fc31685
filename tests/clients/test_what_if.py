"""The sweep over forks of one instant, small, with the built-in vehicle."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jounce_client import Client, JounceError, Session
from jounce_client.examples.what_if import STEERING, WANTS, Task, WhatIf, main
from jounce_service import JounceServer
from jounce_service.hosting.fmu_model import builtin_registry

TASK = Task(horizon=0.8, candidates=7)


@pytest.fixture
def registry() -> Any:
    return builtin_registry()


def running(client: Client) -> Session:
    session = client.create_session("hmmwv", {"init.speed": 12.0})
    client.advance(session, 300)
    return session


@pytest.mark.parametrize("workers", [1, 3])
def test_the_best_fork_is_the_best_of_runs_without_forks_and_the_plant_does_the_same(address: str, workers: int,
                                                                                     server: JounceServer) -> None:
    with Client.connect(address) as client:
        plant = running(client)
        what_if = WhatIf(client, plant, TASK)
        decision, forecast = what_if.decide(workers)
        assert client.get_session(plant).tick == 300
        assert [s.id for s in server.manager._sessions.values()] == [plant.id]
        ends, costs = [], []
        for angle in np.linspace(-TASK.most, TASK.most, TASK.candidates):
            alone = running(client)
            start = client.advance(alone, 0, outputs=WANTS)
            client.advance(alone, 400, {STEERING: float(angle)})
            ends.append(client.advance(alone, 400, {STEERING: float(-angle)}, WANTS))
            costs.append(what_if.cost(start, ends[-1]))
        best = int(np.argmin(costs))
        assert (decision.cost, decision.candidates) == (costs[best], 7)
        assert decision.spread == max(costs) - min(costs) > 0.1
        assert forecast.values.tobytes() == ends[best].values.tobytes()
        assert what_if.drive(plant, decision.angle).values.tobytes() == forecast.values.tobytes()


def test_a_place_to_the_left_wants_steering_to_the_left(address: str) -> None:
    with Client.connect(address) as client:
        angles = [WhatIf(client, running(client), Task(offset, 0.8, candidates=7)).decide(2)[0].angle
                  for offset in (0.3, -0.3)]
    assert angles[0] > 0.0 > angles[1]


def test_a_fork_that_fails_leaves_no_session_behind(address: str, server: JounceServer) -> None:
    with Client.connect(address) as client:
        plant = running(client)
        with pytest.raises(JounceError, match="INPUT_OUT_OF_RANGE"):
            WhatIf(client, plant, Task(most=1e6, candidates=3)).decide(2)
        assert [s.id for s in server.manager._sessions.values()] == [plant.id]


def test_the_program_writes_its_decision(address: str, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    assert main([f"--address={address}", "--candidates=5", "--workers=2", f"--summary={out}"]) == 0
    said = json.loads(out.read_text())
    assert (said["candidates"], said["workers"]) == (5, 2)
    assert said["cost"] < said["spread"]
