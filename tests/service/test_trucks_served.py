"""Trucks on both engines in lockstep over gRPC: recorded, and replayed without a difference."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recordings import lockstep, recorded, replayed, wave

from jounce import architecture
from jounce.axles import WHEELS
from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.fmu_model import registry


def _ten_wheels(folder: Path) -> Path:
    """The class 7 truck with two more swing arms like its last."""
    text = (Path(architecture.__file__).parent / "trucks" / "class7.toml").read_text(encoding="utf-8")
    last = next(b for b in text.split("[[suspension]]\n") if b.startswith('name = "rear2"')).partition("\n[")[0] + "\n"
    more = [
        re.sub(r"\[(-\d+\.\d+), ", lambda m, dx=dx: f"[{float(m[1]) + dx:.4f}, ", last).replace('"rear2"', f'"{name}"')
        for name, dx in (("rear3", 1.7), ("rear4", 3.0))
    ]
    head, _, tail = text.partition("[[suspension]]\n")
    folder.mkdir()
    (folder / "architecture.toml").write_text(
        head.replace('"class7"', '"ten"') + "".join(f"[[suspension]]\n{m}\n" for m in more) + "[[suspension]]\n" + tail,
        encoding="utf-8",
    )
    return folder


@pytest.mark.parametrize(("name", "driven"), [
    ("class3-impulse", WHEELS[2:]), ("class3", WHEELS[2:]), ("ten", ("5L", "5R")),
])  # fmt: skip
def test_it_advances_in_lockstep_with_the_bits_of_the_model_alone_and_replays(
    serve: Callable[..., Any], tmp_path: Path, name: str, driven: tuple[str, str]
) -> None:
    own = () if name == "class3" else (name,) if name == "class3-impulse" else (str(_ten_wheels(tmp_path / name)),)
    server = serve(record=str(tmp_path / "rec"), record_every=1, vehicle=own)
    models = server.server.manager.registry = registry(server.server.config)
    starts = {"init.speed": 8.0, "road.start": 1.0}
    parameters = {**{n: pb.Value(number=v) for n, v in starts.items()}, "road": pb.Value(text="BUMP")}
    session = server.stub.CreateSession(pb.CreateSessionRequest(
        model=name, parameters=parameters, expected_participants=["driver", "engine"]))
    what = "steering_wheel_angle" if name != "ten" else "drive.target_speed"  # the last has no steered axle
    driver = server.member(session, "driver", inputs=[what, "gear_selector", "throttle"], period=10)
    torques = [f"wheel_{w}.drive_torque" for w in driven]
    engine = server.member(session, "engine", inputs=torques, period=5)
    applied = lockstep([(driver, 10, lambda t: (wave(t + 3, 2.0, 400.0), 1.0, 0.5)),
                        (engine, 5, lambda t: tuple(100.0 + wave(t, 50.0, 100.0 + 10 * k) for k in range(2)))], 400)
    assert len(applied) == 80
    replayed(recorded(server, session, tmp_path / "rec"), models, name, {**starts, "road": 2.0}, applied, 400)
