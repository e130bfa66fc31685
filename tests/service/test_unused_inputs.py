"""Unused inputs are not checked at the server either, and directions are checked as a whole."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from jounce_client.compliance.stream import Stream
from jounce_proto import jounce_pb2 as pb


def session_of(server: Any, source: str) -> Any:
    return server.stub.CreateSession(
        pb.CreateSessionRequest(model="hmmwv", parameters={"terrain_source": pb.Value(text=source)}))


def test_inputs_of_a_terrain_that_is_not_used_may_be_anything_finite(host: Any, info: Any) -> None:
    server = host()
    session = session_of(server, "PLANE")
    server.advance(session, 5, **{"wheel_FL.terrain_mu": 5.0, "wheel_FL.terrain_normal.z": 0.0,
                                  "wheel_FR.terrain_normal.z": -1.0})  # fmt: skip
    with pytest.raises(grpc.RpcError) as caught:
        server.advance(session, 5, **{"wheel_FL.terrain_mu": float("nan")})
    assert info(caught.value).reason == "NOT_FINITE"


@pytest.mark.parametrize("bad", [
    {"wheel_FL.terrain_mu": 5.0}, {"wheel_FL.terrain_normal.z": 0.0}, {"wheel_FL.terrain_normal.x": 25.0},
    {"wheel_FL.terrain_normal.x": 0.0, "wheel_FL.terrain_normal.y": 0.0, "wheel_FL.terrain_normal.z": 0.0},
])  # fmt: skip
def test_inputs_of_the_terrain_that_is_used_are_judged_and_a_refusal_changes_nothing(
        host: Any, info: Any, bad: dict[str, float]) -> None:
    server = host()
    session = session_of(server, "EXTERNAL")
    with pytest.raises(grpc.RpcError) as caught:
        server.advance(session, 5, **bad)
    assert info(caught.value).reason == "INPUT_OUT_OF_RANGE" and "wheel_FL.terrain_" in info(caught.value).message
    long = zip("xyz", (3.0, 0.0, 40.0), strict=True)
    server.advance(session, 5, **{f"wheel_FL.terrain_normal.{a}": v for a, v in long})


def test_a_participant_owns_a_direction_as_a_whole(host: Any) -> None:
    server = host()
    session = session_of(server, "EXTERNAL")
    stream = Stream(server.stub)
    refused = stream.join(session, "b", inputs=["wheel_FL.terrain_normal.z"])
    assert refused.error.reason == "BAD_FIELD" and "one direction" in refused.error.message
    member = server.member(session, "a", inputs=["wheel_FL.terrain_normal"])
    assert member.step(0.0, 0.0, 0.0).error.reason == "INPUT_OUT_OF_RANGE"
    assert not member.step(0.0, 0.0, 3.0).HasField("error")
