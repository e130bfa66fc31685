"""The HMMWV by pedals in lockstep: one client at the pedals, one at the steering wheel, recorded and replayed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from recordings import lockstep, only, truth, wave

from jounce.data import vehicle_file
from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.fmu_model import registry
from jounce_service.recording.reader import Reader, Sample
from jounce_service.recording.replay import replay

NAME, START = "hmmwv_pedals", {"init.speed": 11.3}


def test_pedals_and_steering_wheel_by_two_clients_through_a_shift_replay_to_the_bit(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    server = serve(record=str(tmp_path / "rec"), record_every=1, vehicle=(str(vehicle_file(NAME)),))
    models = server.server.manager.registry = registry(server.server.config)
    session = server.stub.CreateSession(pb.CreateSessionRequest(
        model=NAME, parameters={n: pb.Value(number=v) for n, v in START.items()},
        expected_participants=["feet", "hands"]))  # fmt: skip
    feet = server.member(session, "feet", inputs=["throttle", "brake_pedal", "gear_selector"], period=10)
    hands = server.member(session, "hands", inputs=["steering_wheel_angle"], period=5)
    applied = lockstep([(feet, 10, lambda t: (1.0, 0.0, 1.0) if t < 900 else (0.0, 0.3, 0.0)),
                        (hands, 5, lambda t: (wave(t, 0.5, 300.0),))], 1200)  # fmt: skip
    server.call("DeleteSession", session)
    path = only(tmp_path / "rec")
    report = replay(path, models)
    assert report.first is None and report.ticks == 1200
    model = models.get(NAME)
    alone, size = truth(model, START, applied, 1200), len(model.table.outputs)
    recorded = {s.tick: s.values for s in Reader(path) if isinstance(s, Sample) and len(s.values) == size}
    assert alone and all(recorded[tick].tobytes() == alone[tick].tobytes() for tick in alone)
    gear = model.table.by_name("gearbox.gear").index
    assert {float(values[gear]) for values in recorded.values()} >= {0.0, 2.0}
