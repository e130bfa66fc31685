"""A vehicle on tires from files, one for each axle, in lockstep: pressures by a client, recorded and replayed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc
import pytest
from recordings import lockstep, recorded, replayed, wave

from jounce.axles import AXLES, WHEELS
from jounce_fmu.models.tires import on_tires
from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.fmu_model import registry

FILE = Path(__file__).parents[1] / "data" / "tires" / "HMMWV_Pac02Tire.tir"
FRONT, REAR = AXLES


def test_pressures_and_steering_by_two_clients_replay_to_the_bit(serve: Callable[..., Any], tmp_path: Path) -> None:
    pytest.importorskip("casadi")
    other = tmp_path / "other.tir"
    text = FILE.read_text().replace("= 0.77751", "= 0.9").replace("PPX1                       = 0.0", "PPX1 = -0.5")
    other.write_text(text)
    vehicle = str(on_tires("hmmwv", {FRONT: FILE, REAR: other}))
    server = serve(record=str(tmp_path / "rec"), record_every=1, vehicle=(vehicle,))
    models = server.server.manager.registry = registry(server.server.config)
    [name] = [n for n in models.names if n.endswith("other")]
    start = {"init.speed": 8.0, "tire.rear.LMUX": 0.9}
    wrong = pb.CreateSessionRequest(model=name, parameters={"tire.rear.PDX2": pb.Value(number=-5.0)})
    with pytest.raises(grpc.RpcError, match=r"tire\.rear\.PDX2 = -5: expected at least .* friction would be"):
        server.stub.CreateSession(wrong)
    session = server.stub.CreateSession(pb.CreateSessionRequest(
        model=name, parameters={n: pb.Value(number=v) for n, v in start.items()},
        expected_participants=["driver", "inflation"]))  # fmt: skip
    driver = server.member(session, "driver", inputs=["steering_wheel_angle"], period=10)
    pressures = [f"wheel_{w}.tire_pressure" for w in WHEELS]
    inflation = server.member(session, "inflation", inputs=pressures, period=20)
    applied = lockstep([(driver, 10, lambda t: (wave(t + 3, 2.0, 400.0),)),
                        (inflation, 20, lambda t: (0.0, 0.0, *(8e5 + wave(t, 1e5, 300.0),) * 2))], 400)
    assert len(applied) == 40
    replayed(recorded(server, session, tmp_path / "rec"), models, name, start, applied, 400)
