"""The command line that the example programs share."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from jounce_client import Client, JounceError, Session
from jounce_client.examples._program import arguments, parse, session_of


def test_the_program_that_makes_a_session_deletes_it_once_the_others_have_left(address: str, tmp_path: Path) -> None:
    file, parser = tmp_path / "session.json", arguments("a program")
    common = [f"--address={address}", f"--session-file={file}"]
    order = []

    def drive(name: str, owns: str, *flags: str) -> None:
        given = parse(parser, [*common, *flags])
        with (Client.connect(given.address) as client, session_of(given, client) as session,
              client.join(session, name, owns=[owns], barrier_timeout=20.0) as member):
            last = 10 if name == "maker" else 400
            while member.step([1.0]).tick < last:
                pass
            order.append(name)

    with ThreadPoolExecutor() as pool:
        maker = pool.submit(drive, "maker", "velocity.x", "--create=integrator", "--participants", "maker", "other")
        pool.submit(drive, "other", "velocity.y").result(60)
        maker.result(60)
    assert order == ["maker", "other"]
    made = json.loads(file.read_text())
    with Client.connect(address) as client, pytest.raises(JounceError, match="UNKNOWN_SESSION"):
        client.get_session(Session(made["session"], made["token"]))


def test_a_parameter_is_given_once(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parse(arguments("a program"), ["--address=a:1", "--session-file=s.json", "--parameter=a=1", "--parameter=a=2"])
    assert "--parameter a=1 a=2: expected each name once" in capsys.readouterr().err
