"""Vehicles on three axles in lockstep over gRPC: recorded, and replayed without a difference."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from recordings import lockstep, only, truth, wave

from jounce.axles import Axle
from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.fmu_model import registry
from jounce_service.recording.reader import Reader, Sample
from jounce_service.recording.replay import replay

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
import own_axles  # noqa: E402

#: As in tests/models/test_axles_model.py, so that the library is compiled once.
AXLES = (
    Axle("first", steered="pitman"),
    Axle("second", steered="pitman", gain=0.5),
    Axle("third", steered="pitman", gain=-0.3, driven=False),
)


def test_six_wheels_advance_in_lockstep_with_the_bits_of_the_model_alone(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    folder = own_axles.write(tmp_path / "six", AXLES, name="six")
    server = serve(record=str(tmp_path / "rec"), record_every=1, vehicle=(str(folder),))
    models = server.server.manager.registry = registry(server.server.config)
    session = server.stub.CreateSession(pb.CreateSessionRequest(
        model="six", parameters={"init.speed": pb.Value(number=8.0)}, expected_participants=["driver", "engine"]))
    driver = server.member(session, "driver", inputs=["steering_wheel_angle"], period=10)
    torques = [f"wheel_{w}.drive_torque" for w in ("1L", "1R", "2L", "2R")]
    engine = server.member(session, "engine", inputs=torques, period=5)
    applied = lockstep([(driver, 10, lambda t: (wave(t + 3, 2.0, 400.0),)),
                        (engine, 5, lambda t: tuple(100.0 + wave(t, 50.0, 100.0 + 10 * k) for k in range(4)))], 400)
    described = server.stub.DescribeModel(pb.DescribeModelRequest(model="six"))
    assert {s.name for s in described.signals} >= {"wheel_3R.tire_force", "wheel_1L.drive_torque"}
    server.call("DeleteSession", session)
    path = only(tmp_path / "rec")
    report = replay(path, models)
    assert report.first is None and report.ticks == 400
    alone = truth(models.get("six"), {"init.speed": 8.0}, applied, 400)
    size = len(models.get("six").table.outputs)
    recorded = {s.tick: s.values for s in Reader(path) if isinstance(s, Sample) and len(s.values) == size}
    assert len(alone) == 80 and all(recorded[tick].tobytes() == alone[tick].tobytes() for tick in alone)
