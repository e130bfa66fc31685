"""Vehicles on other axles in lockstep over gRPC: recorded, and replayed without a difference."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recordings import lockstep, recorded, replayed, wave

from jounce.axles import wheel_names
from jounce.data import vehicle_file
from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.fmu_model import registry

sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
import own_axles


@pytest.mark.parametrize(("name", "wheels"), [
    ("six", 6), ("truck8x8", 8), ("car", 4), pytest.param("truck8x8_pedals", 8, marks=pytest.mark.slow)])
def test_all_wheels_advance_in_lockstep_with_the_bits_of_the_model_alone(
    serve: Callable[..., Any], tmp_path: Path, name: str, wheels: int
) -> None:
    vehicle = str(own_axles.write(tmp_path / name, own_axles.SIX, name=name) if name == "six" else vehicle_file(name))
    server = serve(record=str(tmp_path / "rec"), record_every=1, vehicle=(vehicle,))
    models = server.server.manager.registry = registry(server.server.config)
    session = server.stub.CreateSession(pb.CreateSessionRequest(
        model=name, parameters={"init.speed": pb.Value(number=8.0)}, expected_participants=["driver", "engine"]))
    driver = server.member(session, "driver", inputs=["steering_wheel_angle"], period=10)
    driven = wheel_names(wheels // 2)[-2:] if name == "car" else wheel_names(wheels // 2)[:4]
    inputs, level = [f"wheel_{w}.drive_torque" for w in driven], 100.0
    if name == "truck8x8_pedals":
        inputs, level = ["throttle", "axle_3.interaxle_lock"], 0.5
    engine = server.member(session, "engine", inputs=inputs, period=5)

    def drives(t: int) -> tuple[float, ...]:
        return tuple(level + wave(t, 0.5 * level, 100.0 + 10 * k) for k in range(len(inputs)))

    applied = lockstep([(driver, 10, lambda t: (wave(t + 3, 2.0, 400.0),)), (engine, 5, drives)], 400)
    described = server.stub.DescribeModel(pb.DescribeModelRequest(model=name))
    assert {s.name for s in described.signals} >= {f"wheel_{w}.tire_force" for w in wheel_names(wheels // 2)}
    assert len(applied) == 80
    replayed(recorded(server, session, tmp_path / "rec"), models, name, {"init.speed": 8.0}, applied, 400)
