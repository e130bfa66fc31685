"""A truck on the impulse engine in lockstep over gRPC: recorded, and replayed without a difference."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from recordings import lockstep, only, truth, wave

from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.fmu_model import registry
from jounce_service.recording.reader import Reader, Sample
from jounce_service.recording.replay import replay


def test_it_advances_in_lockstep_with_the_bits_of_the_model_alone_and_replays(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    server = serve(record=str(tmp_path / "rec"), record_every=1)
    models = server.server.manager.registry = registry(server.server.config)
    starts = {"init.speed": 8.0, "road.start": 1.0}
    parameters = {**{n: pb.Value(number=v) for n, v in starts.items()}, "road": pb.Value(text="BUMP")}
    session = server.stub.CreateSession(pb.CreateSessionRequest(
        model="class3", parameters=parameters, expected_participants=["driver", "engine"]))
    driver = server.member(session, "driver", inputs=["steering_wheel_angle"], period=10)
    torques = [f"wheel_{w}.drive_torque" for w in ("RL", "RR")]
    engine = server.member(session, "engine", inputs=torques, period=5)
    applied = lockstep([(driver, 10, lambda t: (wave(t + 3, 2.0, 400.0),)),
                        (engine, 5, lambda t: tuple(100.0 + wave(t, 50.0, 100.0 + 10 * k) for k in range(2)))], 400)
    server.call("DeleteSession", session)
    path = only(tmp_path / "rec")
    report = replay(path, models)
    assert report.first is None and report.ticks == 400
    alone = truth(models.get("class3"), {**starts, "road": 2.0}, applied, 400)
    size = len(models.get("class3").table.outputs)
    recorded = {s.tick: s.values for s in Reader(path) if isinstance(s, Sample) and len(s.values) == size}
    assert len(alone) == 80 and all(recorded[tick].tobytes() == alone[tick].tobytes() for tick in alone)
