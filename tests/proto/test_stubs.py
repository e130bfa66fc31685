"""The committed stubs are what proto/generate.py makes, and every field of the contract is explained."""

from __future__ import annotations

import importlib.util
import itertools
import re
from pathlib import Path

import pytest

PROTO = Path(__file__).resolve().parents[2] / "proto"
_BODY_COMMENT = re.compile(r"^\s*//")


def test_the_committed_stubs_match_the_proto_file() -> None:
    pytest.importorskip("grpc_tools")
    spec = importlib.util.spec_from_file_location("generate", PROTO / "generate.py")
    assert spec is not None and spec.loader is not None
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    for name, text in generate.generate().items():
        committed = (PROTO / "python" / "jounce_proto" / name).read_text()
        assert committed == text, f"{name} is stale; run proto/generate.py"


def test_every_message_field_and_enum_value_has_a_comment() -> None:
    lines = (PROTO / "jounce" / "v1" / "jounce.proto").read_text().splitlines()
    bare = [line for previous, line in itertools.pairwise(lines)
            if re.match(r"^\s*(message|enum|service|rpc|oneof|reserved)\b|^\s+[\w<>., ]+ \w+ = \d+;", line)
            and not _BODY_COMMENT.match(previous)]
    assert bare == []


def test_the_stubs_import_nothing_called_jounce() -> None:
    for path in (PROTO / "python" / "jounce_proto").glob("*.py*"):
        assert not re.search(r"^(from|import) jounce\b", path.read_text(), re.MULTILINE)
