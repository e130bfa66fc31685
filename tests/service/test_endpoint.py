"""The metrics endpoint: encrypted with the server's certificate, with limits on connections and time."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from certificates import DAY, Authority
from served import ended

from jounce_service.transport.endpoint import MOST
from jounce_service.transport.security import ConfigError


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("pki"), "good")


def encrypted(server: tuple[Path, Path], ca: Path | None = None, **more: Any) -> dict[str, Any]:
    own = {"tls_certificate": str(server[0]), "tls_key": str(server[1]), "metrics_address": "127.0.0.1:0"}
    return own | ({"tls_client_ca": str(ca)} if ca else {}) | more


def trusting(ca: Path, own: tuple[Path, Path] | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=ca)
    if own:
        context.load_cert_chain(*own)
    return context


def text(server: Any, context: ssl.SSLContext | None = None) -> str:
    address = f"{'https' if context else 'http'}://{server.server.metrics_address}/metrics"
    with urllib.request.urlopen(address, timeout=5, context=context) as reply:
        assert int(reply.headers["Content-Length"]) > 0
        return str(reply.read().decode())


def test_with_a_certificate_the_metrics_are_encrypted_and_nothing_else_is_answered(
        serve: Any, authority: Authority, tmp_path: Path) -> None:
    server = serve(**encrypted(authority.issue("server")))
    assert "jounce_sessions 0.0" in text(server, trusting(authority.file))
    with pytest.raises(OSError):
        text(server)
    with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
        text(server, trusting(Authority(tmp_path, "other").file))
    assert "jounce_sessions 0.0" in text(server, trusting(authority.file))


def test_a_scraper_shows_a_valid_certificate_where_clients_must(serve: Any, authority: Authority,
                                                                tmp_path: Path) -> None:
    server = serve(**encrypted(authority.issue("mutual"), authority.file))
    own = authority.issue("scraper")
    assert "jounce_sessions 0.0" in text(server, trusting(authority.file, own))
    for shown in (None, authority.issue("old", -DAY), Authority(tmp_path, "other").issue("stranger")):
        with pytest.raises(OSError):
            text(server, trusting(authority.file, shown))
    assert "jounce_sessions 0.0" in text(server, trusting(authority.file, own))


def test_a_server_whose_certificate_has_expired_is_not_scraped(serve: Any, authority: Authority) -> None:
    server = serve(**encrypted(authority.issue("expired", -DAY)))
    with pytest.raises(urllib.error.URLError, match="has expired"):
        text(server, trusting(authority.file))


def test_metrics_are_open_to_others_with_a_certificate_or_the_explicit_flag_only(serve: Any,
                                                                                 authority: Authority) -> None:
    with pytest.raises(ConfigError, match="address is not loopback"):
        serve(metrics_address="0.0.0.0:0")
    server = serve(**encrypted(authority.issue("wide"), metrics_address="0.0.0.0:0"))
    server.server._metrics.address = server.server.metrics_address.replace("0.0.0.0", "127.0.0.1")
    assert "jounce_sessions" in text(server, trusting(authority.file))


@pytest.mark.parametrize("tls", [False, True])
def test_peers_that_say_half_a_word_keep_their_places_for_a_while_and_no_others_out(
        serve: Any, authority: Authority, tls: bool) -> None:
    context = trusting(authority.file) if tls else None
    config = encrypted(authority.issue("busy")) if tls else {"metrics_address": "127.0.0.1:0"}
    server = serve(message_timeout=1.0, **config)
    host, _, port = server.server.metrics_address.rpartition(":")
    threads = threading.active_count()
    with contextlib.ExitStack() as stack:
        half = [stack.enter_context(socket.create_connection((host, int(port)), 5)) for _ in range(MOST - 1)]
        for k, connection in enumerate(half):
            connection.sendall((b"", b"GET /metr", b"\x16\x03\x01\x02")[k % 3])
        # There is room for one more; past the cap, connections are closed at once.
        assert "jounce_sessions" in text(server, context)
        more = [stack.enter_context(socket.create_connection((host, int(port)), 5)) for _ in range(100)]
        assert all(ended(connection, 5.0) for connection in more[1:])
        assert threading.active_count() <= threads + MOST
        # A byte now and then does not buy more time.
        begin = time.monotonic()
        while not ended(half[1], 0.1):
            with contextlib.suppress(OSError):
                half[1].sendall(b"x")
            assert time.monotonic() < begin + 5.0
        assert all(ended(connection, 5.0) for connection in half)
        assert "jounce_sessions" in text(server, context)


def test_words_that_are_no_request_are_refused_and_cost_nobody_anything(serve: Any) -> None:
    server = serve(metrics_address="127.0.0.1:0")
    host, _, port = server.server.metrics_address.rpartition(":")
    for words, code in ((b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\n\r\n", b" 414 "),
                        (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 1000 + b"\r\n", b" 431 "),
                        (b"POST / HTTP/1.1\r\nContent-Length: 1073741824\r\n\r\n", b" 501 "),
                        (b"GET /../../etc/passwd HTTP/1.1\r\n\r\n", b" 200 "), (b"\xff\xff\r\n\r\n", b" 400 ")):
        with socket.create_connection((host, int(port)), 5) as connection:
            connection.sendall(words)
            said = connection.recv(1 << 16)
            # A path says nothing: there is one page.
            assert code in said.split(b"\r\n")[0] + b" " or code in said, (words[:20], said[:100])
            assert b"root:" not in said
        assert "jounce_sessions" in text(server)
