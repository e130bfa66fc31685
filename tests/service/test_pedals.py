"""The HMMWV by pedals, and on electric motors, in lockstep: one client at the pedals, one at the steering wheel or
below, recorded, replayed, and taken on in another process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recordings import lockstep, recorded, replayed, wave
from test_session_snapshots import download, upload

from jounce.axles import WHEELS
from jounce.data import vehicle_file
from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.fmu_model import registry

NAME, START = "hmmwv_pedals", {"init.speed": 11.3}
ELECTRIC = "hmmwv_electric"


Plan = Callable[[int], tuple[float, ...]]
#: What the second client does: parameters of the session, its inputs, their values over ticks, its period.
SECOND: dict[str, tuple[dict[str, float], list[str], Plan, int]] = {
    "steering wheel": ({}, ["steering_wheel_angle"], lambda t: (wave(t, 0.5, 300.0),), 5),
    "ground": ({"terrain_source": 2.0}, [f"wheel_{w}.{n}" for w in WHEELS for n in ("terrain_height", "terrain_mu")],
               lambda t: (wave(t, 0.02, 200.0), 0.7, 0.0, 0.6) * 2, 1),
    "ground that is soft": ({"terrain_source": 2.0, "terrain.soil": 2.0},
                            [f"wheel_{w}.terrain_height" for w in WHEELS],
                            lambda t: tuple(wave(t + 50 * k, 0.01, 200.0) for k in range(4)), 1),
    "loads of soil": ({"tire_source": 2.0, "gravity": 0.0, "init.equilibrium": 0.0, "init.z": 100.0},
                      [f"wheel_{w}.moment.{a}" for w in WHEELS for a in "xyz"],
                      lambda t: (0.0, wave(t, 80.0, 300.0), 0.0) * 4, 1),
}  # fmt: skip


@pytest.mark.parametrize("second", SECOND)
def test_pedals_by_one_client_and_the_rest_by_another_through_a_shift_replay_to_the_bit(
    second: str, serve: Callable[..., Any], tmp_path: Path
) -> None:
    parameters, inputs, plan, period = SECOND[second]
    start = START | parameters
    server = serve(record=str(tmp_path / "rec"), record_every=1, vehicle=(str(vehicle_file(NAME)),))
    models = server.server.manager.registry = registry(server.server.config)
    session = server.stub.CreateSession(pb.CreateSessionRequest(
        model=NAME, parameters={n: pb.Value(number=v) for n, v in start.items()},
        expected_participants=["feet", "second"]))  # fmt: skip
    feet = server.member(session, "feet", inputs=["throttle", "brake_pedal", "gear_selector"], period=10)
    other = server.member(session, "second", inputs=inputs, period=period)
    applied = lockstep([(feet, 10, lambda t: (1.0, 0.0, 1.0) if t < 900 else (0.0, 0.3, 0.0)),
                        (other, period, plan)], 1200)  # fmt: skip
    model = models.get(NAME)
    found = replayed(recorded(server, session, tmp_path / "rec"), models, NAME, start, applied, 1200)
    gear = model.table.by_name("gearbox.gear").index
    assert {float(values[gear]) for values in found.values()} >= {0.0, 2.0}


def test_amid_a_shift_and_in_ruts_a_session_goes_on_in_another_process_to_the_bit(serve: Callable[..., Any]) -> None:
    """Over gRPC: each session has a process of its own."""
    server = serve(vehicle=(str(vehicle_file(NAME)),), workers=True)
    models = server.server.manager.registry = registry(server.server.config)
    outputs = [s.name for s in models.get(NAME).table.outputs]
    gear, sinkage = outputs.index("gearbox.gear"), outputs.index("wheel_RL.sinkage")
    start = {n: pb.Value(number=v) for n, v in {"init.speed": 11.9, "terrain.soil": 2.0}.items()}
    session = server.stub.CreateSession(pb.CreateSessionRequest(model=NAME, parameters=start))

    def on(session: pb.CreateSessionResponse) -> list[list[float]]:
        drive = [{"throttle": 1.0}, {"throttle": 0.2, "steering_wheel_angle": 0.6}, {"brake_pedal": 0.2}]
        return [list(server.advance(session, 150, **inputs)) for inputs in drive]

    for _ in range(300):
        now = server.advance(session, 10, throttle=1.0)
        if now[gear] == 2.0:
            break
    assert now[gear] == 2.0 and now[sinkage] > 0.02  # it has just been taken: the clutch closes
    kept = server.call("SaveSnapshot", session)
    data = download(server, session, kept.snapshot_id)
    wanted = on(session)
    assert wanted[0][outputs.index("engine.speed")] != now[outputs.index("engine.speed")]
    other = server.stub.CreateSession(pb.CreateSessionRequest(model=NAME, parameters=start))
    upload(server, other, data, piece=1 << 16)
    server.call("RestoreSnapshot", other, snapshot_id="1")
    assert on(other) == wanted
    server.call("RestoreSnapshot", session, snapshot_id=kept.snapshot_id)
    assert on(session) == wanted


def test_electric_motors_by_one_client_and_the_steering_by_another_replay_to_the_bit(
    serve: Callable[..., Any], tmp_path: Path
) -> None:
    """Into the motors' limit of power, then regeneration and brake to rest, and reverse."""
    server = serve(record=str(tmp_path / "rec"), record_every=1, vehicle=(str(vehicle_file(ELECTRIC)),))
    models = server.server.manager.registry = registry(server.server.config)
    start = {"init.speed": 9.0}
    session = server.stub.CreateSession(pb.CreateSessionRequest(
        model=ELECTRIC, parameters={n: pb.Value(number=v) for n, v in start.items()},
        expected_participants=["feet", "hands"]))  # fmt: skip
    feet = server.member(session, "feet", inputs=["throttle", "brake_pedal", "gear_selector"], period=10)
    hands = server.member(session, "hands", inputs=["steering_wheel_angle"], period=5)
    pedals = ((1.0, 0.0, 1.0), (0.0, 0.0, 1.0), (0.0, 1.0, 1.0), (0.3, 0.0, -1.0))
    applied = lockstep([(feet, 10, lambda t: pedals[(t >= 600) + (t >= 900) + (t >= 3100)]),
                        (hands, 5, lambda t: (wave(t, 0.5, 300.0),))], 3600)  # fmt: skip
    model = models.get(ELECTRIC)
    found = replayed(recorded(server, session, tmp_path / "rec"), models, ELECTRIC, start, applied, 3600)
    power, gear = (model.table.by_name(n).index for n in ("battery.power", "gearbox.gear"))
    assert max(v[power] for v in found.values()) > 150e3 and min(v[power] for v in found.values()) < -20e3
    assert {float(v[gear]) for v in found.values()} == {1.0, 0.0, -1.0}  # R is refused at first


def test_amid_regeneration_electric_motors_go_on_in_another_process_to_the_bit(serve: Callable[..., Any]) -> None:
    """Over gRPC: each session has a process of its own."""
    server = serve(vehicle=(str(vehicle_file(ELECTRIC)),), workers=True)
    models = server.server.manager.registry = registry(server.server.config)
    power = [s.name for s in models.get(ELECTRIC).table.outputs].index("battery.power")
    start = {"init.speed": pb.Value(number=12.0)}
    session = server.stub.CreateSession(pb.CreateSessionRequest(model=ELECTRIC, parameters=start))
    server.advance(session, 200, throttle=1.0)
    assert -30e3 < server.advance(session, 60, throttle=0.0)[power] < -5e3  # the torque still lags
    kept = server.call("SaveSnapshot", session)
    data = download(server, session, kept.snapshot_id)

    def on(session: pb.CreateSessionResponse) -> list[list[float]]:
        drive = [{"brake_pedal": 0.3}, {"brake_pedal": 0.0, "throttle": 0.7, "front.diff_lock": 1.0}]
        return [list(server.advance(session, 150, **inputs)) for inputs in drive]

    wanted = on(session)
    other = server.stub.CreateSession(pb.CreateSessionRequest(model=ELECTRIC, parameters=start))
    upload(server, other, data, piece=1 << 16)
    server.call("RestoreSnapshot", other, snapshot_id="1")
    assert on(other) == wanted
