"""The committed stubs are what proto/generate.py makes, and every field of the contract is explained."""

from __future__ import annotations

import importlib.util
import itertools
import re
import subprocess
import sys
from pathlib import Path

import pytest

from jounce_service.transport.errors import TABLE

PROTO = Path(__file__).resolve().parents[2] / "proto"
SOURCE = PROTO / "jounce" / "v1" / "jounce.proto"
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


def test_the_contract_lists_every_reason_under_its_status() -> None:
    head = SOURCE.read_text().split("syntax =")[0]
    listed, status = {}, ""
    for line in head.split("Reasons, by gRPC status")[1].splitlines()[1:]:
        words = line.removeprefix("//").split()
        if not line.startswith("//   "):
            break
        if not line.startswith("//    "):
            status, words = words[0], words[1:]
        listed |= dict.fromkeys(words, status)
    assert listed == {reason: code.name for code, reason in TABLE.values()}


def test_an_own_stub_under_the_path_of_the_contract_lives_beside_the_clients(tmp_path: Path) -> None:
    pytest.importorskip("grpc_tools")
    for path, good in (("jounce/v1/jounce.proto", True), ("jounce.proto", False)):
        out = tmp_path / path.replace("/", "_")
        (out / "proto" / path).parent.mkdir(parents=True)
        (out / "proto" / path).write_text(SOURCE.read_text())
        subprocess.run([sys.executable, "-m", "grpc_tools.protoc", f"-I{out / 'proto'}", f"--python_out={out}", path],
                       check=True)
        module = out / path.replace(".proto", "_pb2.py")
        code = ("import runpy; from jounce_proto import jounce_pb2 as pb; "
                f"assert 'DESCRIPTOR' in runpy.run_path({str(module)!r})")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert (done.returncode == 0) == good, done.stderr
