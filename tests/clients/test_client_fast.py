"""The sync client's tests once more with every participant on the fast lane, and what only that can do wrong."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from functools import partialmethod
from pathlib import Path

import numpy as np
import pytest
from test_client import *  # noqa: F403
from test_client_control import *  # noqa: F403

from jounce_client import Client, JounceError, Session
from jounce_service import JounceServer


@pytest.fixture(autouse=True)
def lane(server: JounceServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The fast lane's address, which every join takes."""
    monkeypatch.setattr(Client, "join", partialmethod(Client.join, transport=server.fast.addresses[-1]))
    yield server.fast.addresses[-1]
    assert not server.fast.closed


def test_the_stream_is_not_grpcs(client: Client, lane: str, server: JounceServer) -> None:
    session = client.create_session("integrator")
    with client.join(session, "a", wants=["*"]):
        assert len(server.fast.connections) == 1
        with pytest.raises(JounceError, match="NAME_TAKEN"):
            client.join(session, "a", transport=f"fast:{lane}")


def test_every_transport_gives_the_same_bits(client: Client, server: JounceServer) -> None:
    def run(**how: str) -> np.ndarray:
        session = client.create_session("integrator")
        with client.join(session, "a", owns=["velocity", "force"], wants=["*"], period=3, **how) as a:
            return np.array([a.step([0.1 * k, -0.01 * k, k / 7.0]).values for k in range(50)])

    unix, tcp, grpc = run(), run(transport=server.fast.addresses[0]), run(transport="")
    assert grpc.shape == (50, 5) and np.isfinite(grpc).all()
    assert unix.tobytes() == tcp.tobytes() == grpc.tobytes()


def test_a_server_that_goes_is_an_error_and_not_a_hang(client: Client, server: JounceServer) -> None:
    session = client.create_session("integrator", participants=["a", "b"])
    a = client.join(session, "a", barrier_timeout=0.0)
    (connection,) = server.fast.connections
    loop = connection._loop
    threading.Timer(0.2, lambda: loop.call_soon_threadsafe(connection.task.cancel)).start()
    with pytest.raises(JounceError, match="STREAM_ENDED"):
        a.step([])
    with pytest.raises(JounceError, match="UNAVAILABLE|STREAM_ENDED"):
        a.step([])


@pytest.mark.parametrize("wrong", ["unix:/no/such/socket", "127.0.0.1:1", "nonsense", "host:port"])
def test_an_address_where_nobody_answers_is_refused_in_words(client: Client, wrong: str) -> None:
    session = client.create_session("integrator")
    with pytest.raises(JounceError, match="UNAVAILABLE|BAD_FIELD") as caught:
        client.join(session, "a", transport=wrong)
    assert (caught.value.field, caught.value.given) == ("transport", wrong)


@pytest.mark.parametrize(("answer", "reason"), [
    (b"HTTP/1.1 400 Bad Request\r\n\r\n", "UNEXPECTED_REPLY"),
    (struct.pack("<I", 3) + b"\xff\xff\xff", "UNEXPECTED_REPLY"),
    (b"\x10\x00\x00\x00half", "STREAM_ENDED"),
    (struct.pack("<I", 0), "UNEXPECTED_REPLY"),
], ids=["HTTP", "garbage", "half a reply", "nothing in it"])
def test_a_peer_that_is_no_jounce_server_is_named_so(client: Client, tmp_path: Path, answer: bytes,
                                                     reason: str) -> None:
    def serve(listener: socket.socket) -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(4096)
            connection.sendall(answer)

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "other"))
        listener.listen()
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        with pytest.raises(JounceError, match=reason):
            client.join(Session("id", "token"), "a", transport=f"unix:{tmp_path / 'other'}")
        thread.join()
