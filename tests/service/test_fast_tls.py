"""TLS on the fast lane's TCP address: the same participants, and nobody without a good certificate."""

from __future__ import annotations

import contextlib
import socket
import time
from pathlib import Path
from typing import Any

import pytest
from certificates import DAY, Authority

from jounce_client import Client, JounceError, Session, Tls


@pytest.fixture(scope="module")
def pki(tmp_path_factory: pytest.TempPathFactory) -> tuple[Authority, Authority]:
    """An authority, and another that nobody trusts."""
    folder = tmp_path_factory.mktemp("pki")
    return Authority(folder, "good"), Authority(folder, "other")


def settings(server: tuple[Path, Path], clients: Path | None = None) -> dict[str, Any]:
    own = {"tls_certificate": str(server[0]), "tls_key": str(server[1]), "fast_address": "127.0.0.1:0"}
    return own | ({"tls_client_ca": str(clients)} if clients else {})


def connected(server: Any, tls: Tls | None) -> Client:
    """Over the plain unix socket, for calls; ``tls`` is for the fast lane."""
    client = Client.connect(server.addresses[-1])
    client._tls = tls
    return client


def steps(client: Client, session: Session, lane: str, name: str) -> list[float]:
    with client.join(session, name, owns=["force"], wants=["*"], transport=lane) as member:
        return [v for tick in range(50) for v in member.step([float(tick % 7)]).values.tolist()]


def refused(server: Any, tls: Tls | None) -> str:
    with connected(server, tls) as client:
        session = client.create_session("integrator")
        with pytest.raises(JounceError) as caught:
            steps(client, session, server.fast.addresses[0], "stranger")
        client.delete_session(session)
    assert caught.value.reason in ("UNAVAILABLE", "STREAM_ENDED", "UNEXPECTED_REPLY")
    return str(caught.value)


def test_the_lane_in_tls_gives_the_bits_of_the_plain_stream(serve: Any, pki: Any) -> None:
    server = serve(**settings(pki[0].issue("server"))).server
    with Client.connect(server.addresses[0], tls=Tls(pki[0].file)) as client:
        found = [steps(client, client.create_session("integrator"), lane, "a") for lane in ("", *server.fast.addresses)]
    assert found[0] == found[1]


def test_a_client_talks_to_no_server_but_one_of_its_authority_in_time(serve: Any, pki: Any) -> None:
    good, other = pki
    server = serve(**settings(good.issue("server"))).server
    assert "CERTIFICATE_VERIFY_FAILED" in refused(server, Tls(other.file))
    old = serve(**settings(good.issue("old-server", -DAY))).server
    assert "expired" in refused(old, Tls(good.file))


def test_mutual_tls_lets_nobody_in_without_a_valid_certificate(serve: Any, pki: Any) -> None:
    good, other = pki
    server = serve(**settings(good.issue("mutual"), good.file)).server
    refused(server, Tls(good.file))
    refused(server, Tls(good.file, *good.issue("old-client", -DAY)))
    refused(server, Tls(good.file, *other.issue("stranger")))
    with connected(server, Tls(good.file, *good.issue("client"))) as client:
        assert steps(client, client.create_session("integrator"), server.fast.addresses[0], "a")


def test_who_speaks_plainly_or_not_at_all_is_let_go_and_others_are_served(serve: Any, pki: Any) -> None:
    server = serve(message_timeout=0.3, **settings(pki[0].issue("server"))).server
    host, _, port = server.fast.addresses[0].rpartition(":")
    with socket.create_connection((host, int(port)), 5.0) as silent:
        refused(server, None)
        # The server ends it: the end of the stream comes, not this socket's time-out.
        assert silent.recv(1) == b""
    with connected(server, Tls(pki[0].file)) as client:
        assert steps(client, client.create_session("integrator"), server.fast.addresses[0], "a")


def test_connections_that_shake_hands_are_counted_too(serve: Any, pki: Any) -> None:
    server = serve(message_timeout=4.0, max_fast_connections=10, **settings(pki[0].issue("server"))).server
    host, _, port = server.fast.addresses[0].rpartition(":")
    with contextlib.ExitStack() as stack:
        begin = time.monotonic()
        silent = [stack.enter_context(socket.create_connection((host, int(port)), 20.0)) for _ in range(60)]
        # Those past the cap are let go at once, the others when their time is up: then there is room again.
        assert [said_nothing(connection) - begin < 3.0 for connection in silent[10:]] == [True] * 50
        assert [said_nothing(connection) - begin > 3.9 for connection in silent[:10]] == [True] * 10
        with connected(server, Tls(pki[0].file)) as client:
            assert steps(client, client.create_session("integrator"), server.fast.addresses[0], "a")
    end = time.monotonic() + 60.0
    while server.fast.connections:
        assert time.monotonic() < end
        time.sleep(0.01)


def said_nothing(connection: socket.socket) -> float:
    """When the server ended it, without a word."""
    with contextlib.suppress(ConnectionResetError):
        assert connection.recv(1) == b""
    return time.monotonic()
