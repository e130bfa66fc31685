"""The grpcurl lines of docs/operations.md, made through reflection alone: no stub and no proto file."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import grpc
import pytest
import stand_in
from google.protobuf import json_format
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from jounce_service import JounceServer

PAGE = Path(__file__).parents[2] / "docs" / "operations.md"
LINES = re.findall(r"^    grpcurl (.*)$", PAGE.read_text().partition("## Calls from the shell")[2], re.MULTILINE)


class Curl:
    """What grpcurl does with a line."""

    def __init__(self, address: str) -> None:
        self.channel = grpc.insecure_channel(address)
        self.database = ProtoReflectionDescriptorDatabase(self.channel)
        self.pool = DescriptorPool(self.database)

    def run(self, line: str) -> list[dict[str, Any]]:
        words = shlex.split(line)
        assert words.pop(0) == "-plaintext"
        body = "{}"
        if words[0] == "-d":
            _, body, *words = words
        if words[1] in ("list", "describe"):
            return self.look(words[1:])
        service, _, name = words[1].partition("/")
        method = self.pool.FindServiceByName(service).FindMethodByName(name)
        requests = [json_format.ParseDict(m, GetMessageClass(method.input_type)()) for m in messages(body)]
        call = self.channel.stream_stream(
            f"/{service}/{name}", request_serializer=lambda m: m.SerializeToString(),
            response_deserializer=GetMessageClass(method.output_type).FromString)
        replies = call(iter(requests), timeout=20)
        return [json_format.MessageToDict(reply, preserving_proto_field_name=True) for reply in replies]

    def look(self, words: list[str]) -> list[dict[str, Any]]:
        if words == ["list"]:
            return [{"services": list(self.database.get_services())}]
        return [{"methods": [m.name for m in self.pool.FindServiceByName(words[1]).methods]}]


def messages(text: str) -> list[Any]:
    """The JSON objects that follow each other in a text."""
    found, rest = [], text.strip()
    while rest:
        value, end = json.JSONDecoder().raw_decode(rest)
        found.append(value)
        rest = rest[end:].strip()
    return found


@pytest.fixture
def registry() -> Any:
    return stand_in.registry()


def test_every_line_of_the_page_does_what_it_says(server: JounceServer) -> None:
    curl, said = Curl(server.addresses[0]), []
    known: dict[str, str] = {}
    for line in LINES:
        for word, value in known.items():
            line = line.replace(f'"{word}"', f'"{value}"')
        said.append(curl.run(line))
        if line.endswith("CreateSession"):
            known = {"ID": said[-1][0]["session_id"], "TOKEN": said[-1][0]["token"]}
    listed, described, models, signals, _, advanced, status, lockstep, deleted = said
    assert "jounce.v1.SessionService" in listed[0]["services"]
    assert {"Advance", "Lockstep"} <= set(described[0]["methods"])
    assert [m["name"] for m in models[0]["models"]] == ["hmmwv"]
    assert "steering_wheel_angle" in [s["name"] for s in signals[0]["signals"]]
    assert (advanced[0]["tick"], advanced[0]["outputs"][0], len(advanced[0]["outputs"])) == ("1000", 10.0, 2)
    assert advanced[0]["outputs"][1] > 0.01
    assert status[0]["state"] == "SESSION_STATE_RUNNING"
    assert [next(iter(reply)) for reply in lockstep] == ["joined", "state", "left"]
    assert lockstep[1]["state"]["tick"] == "1020"
    assert deleted == [{}]
