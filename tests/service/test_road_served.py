"""A vehicle on a road file and soft soil in lockstep: driver and ground by two clients, recorded and replayed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recordings import lockstep, recorded, replayed, wave

from jounce.axles import WHEELS
from jounce.terrain.packed import Terrain, save
from jounce_fmu.models.roads import on_road
from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.fmu_model import registry


@pytest.fixture
def road(tmp_path: Path) -> Path:
    """Waves of 20 mm."""
    x, y = np.meshgrid(np.arange(-10.0, 40.0, 0.5), np.arange(-8.0, 8.0, 0.5), indexing="ij")
    return save(Terrain("HEIGHTMAP", 0.02 * np.sin(x) * np.cos(y), 0.5, 0.5, (-10.0, -8.0)), tmp_path / "waves.jnt")


@pytest.mark.parametrize(("vehicle", "ground"), [
    ("hmmwv", "file"), ("hmmwv", "client"),
    *(pytest.param("hmmwv_pedals", ground, marks=pytest.mark.slow) for ground in ("file", "client")),
])  # fmt: skip
def test_two_clients_drive_over_soft_ground_and_the_session_replays_to_the_bit(
    serve: Callable[..., Any], tmp_path: Path, road: Path, vehicle: str, ground: str
) -> None:
    """The ground is that of the file or that of the second client, soft in the model."""
    server = serve(record=str(tmp_path / "rec"), record_every=1, vehicle=(str(on_road(vehicle, road)),))
    models = server.server.manager.registry = registry(server.server.config)
    [name] = [n for n in models.names if n.endswith("waves")]
    start, by_pedals = {"init.speed": 4.0, "terrain.soil": 2.0}, vehicle == "hmmwv_pedals"
    if ground == "client":
        start["terrain_source"] = 2.0
    session = server.stub.CreateSession(pb.CreateSessionRequest(
        model=name, parameters={n: pb.Value(number=v) for n, v in start.items()},
        expected_participants=["driver", "other"]))  # fmt: skip
    torques, heights = ([f"wheel_{w}.{what}" for w in WHEELS] for what in ("drive_torque", "terrain_height"))
    feet = ["throttle", "brake_pedal"] if by_pedals else []
    driver = server.member(session, "driver", inputs=["steering_wheel_angle", *feet], period=10)
    other = server.member(session, "other", inputs=torques if ground == "file" else heights, period=20)
    size = 400.0 if ground == "file" else 0.01
    stamp = (lambda t: (0.9, 0.0) if t < 250 else (0.0, 0.4)) if by_pedals else lambda _: ()
    applied = lockstep([(driver, 10, lambda t: (wave(t + 3, 2.0, 400.0), *stamp(t))),
                        (other, 20, lambda t: tuple(wave(t + k, size, 300.0) for k in range(4)))], 400)  # fmt: skip
    assert len(applied) == 40
    outputs = [s.name for s in models.get(name).table.outputs]
    found = replayed(recorded(server, session, tmp_path / "rec"), models, name, start, applied, 400)
    assert found[400][outputs.index("wheel_FL.sinkage")] > 0.02


@pytest.mark.parametrize("workers", [False, True], ids=["here", "in a process of its own"])
def test_a_snapshot_over_grpc_has_the_ruts(serve: Callable[..., Any], road: Path, workers: bool) -> None:
    """Rear wheels that come to the ruts of the front ones go on with the same bits, and sink deeper than elsewhere."""
    server = serve(vehicle=(str(on_road("hmmwv", road)),), workers=workers)
    models = server.server.manager.registry = registry(server.server.config)
    [name] = [n for n in models.names if n.endswith("waves")]
    start = {"init.speed": 5.0, "terrain.soil": 2.0}
    session = server.stub.CreateSession(pb.CreateSessionRequest(
        model=name, parameters={n: pb.Value(number=v) for n, v in start.items()}))  # fmt: skip
    outputs = [s.name for s in models.get(name).table.outputs]
    before = server.advance(session, 400)
    kept = server.call("SaveSnapshot", session)
    on = [server.advance(session, 200, steering_wheel_angle=0.2) for _ in range(3)]
    server.call("RestoreSnapshot", session, snapshot_id=kept.snapshot_id)
    assert [server.advance(session, 200, steering_wheel_angle=0.2) for _ in range(3)] == on
    rear = outputs.index("wheel_RL.sinkage")
    assert on[-1][rear] > 1.1 * before[rear]
