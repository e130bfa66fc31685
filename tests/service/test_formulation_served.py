"""A vehicle in another formulation in lockstep over gRPC: recorded, snapshots, and replayed without a difference."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from recordings import lockstep, recorded, replayed, wave

from jounce.axles import WHEELS
from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.fmu_model import registry

#: As in tests/fmu/test_formulation_fmu.py, so that the library is compiled once.
NAME = "hmmwv-ta-two-point"


def test_it_advances_in_lockstep_with_the_bits_of_the_model_alone_and_replays(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    server = serve(record=str(tmp_path / "rec"), record_every=1, vehicle=(NAME,))
    models = server.server.manager.registry = registry(server.server.config)
    session = server.stub.CreateSession(pb.CreateSessionRequest(
        model=NAME, parameters={"init.speed": pb.Value(number=8.0)}, expected_participants=["driver", "engine"]))
    driver = server.member(session, "driver", inputs=["steering_wheel_angle"], period=10)
    torques = [f"wheel_{w}.drive_torque" for w in WHEELS[2:]]
    engine = server.member(session, "engine", inputs=torques, period=5)
    applied = lockstep([(driver, 10, lambda t: (wave(t + 3, 2.0, 400.0),)),
                        (engine, 5, lambda t: tuple(100.0 + wave(t, 50.0, 100.0 + 10 * k) for k in range(2)))], 400)
    assert len(applied) == 80
    replayed(recorded(server, session, tmp_path / "rec"), models, NAME, {"init.speed": 8.0}, applied, 400)
