"""The page of a running session: a real server, `jounce view` as a process of its own, and a browser."""

from __future__ import annotations

import json
import math
import os
import re
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser import Browser, Page, eventually
from served import Served, serve
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from jounce.terrain.packed import Terrain, save
from jounce_client import Client
from jounce_client.client import OpenSession
from jounce_tools.cli.main import main
from jounce_tools.view.live import spaced

#: Ticks of 1 ms between two frames: the nearest to 60 Hz.
EVERY = 17


@dataclass
class Viewer:
    """`jounce view` and its address."""

    process: subprocess.Popen[str]
    address: str

    def socket(self, origin: str | None = None, **options: Any) -> ClientConnection:
        """The socket of frames, as a page opens it."""
        options |= {"open_timeout": 60.0}
        return connect(f"ws://{self.address}/frames", origin=origin or f"http://{self.address}", **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    found = serve(tmp_path_factory.mktemp("server"))
    yield found
    found.kill()


@pytest.fixture(scope="module")
def client(server: Served) -> Iterator[Client]:
    with Client.connect(server.grpc[0]) as found:
        yield found


def viewing(server: Served, *flags: str) -> Viewer:
    command = [sys.executable, "-m", "jounce_tools.cli", "view", "--address", server.grpc[0], "--port", "0", *flags]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))})  # fmt: skip
    assert process.stdout is not None
    found = re.match(r"open http://(\S+) in a browser", process.stdout.readline())
    assert found, process.communicate(timeout=60)
    return Viewer(process, found[1])


@pytest.fixture(scope="module")
def session(client: Client) -> Iterator[OpenSession]:
    """On a slope, steered to the left."""
    start = {"steering_wheel_angle": 1.0}
    with client.create_session("hmmwv", {"init.speed": 8.0, "terrain.slope": 0.05}, start_inputs=start) as found:
        yield found


@pytest.fixture(scope="module")
def viewer(server: Served, session: OpenSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Viewer]:
    """With the right to pause, on the slope as a file."""
    heights = 0.05 * np.repeat(np.arange(-100.0, 300.0, 1.0)[:, None], 200, axis=1)
    slope = Terrain("HEIGHTMAP", heights, 1.0, 1.0, (-100.0, -100.0))
    road = save(slope, tmp_path_factory.mktemp("road") / "slope.jnt")
    found = viewing(server, "--session", session.id, "--session-token", session.token, "--road", str(road))
    yield found
    found.process.terminate()
    assert found.process.wait(60) == 0


def frame(data: bytes) -> tuple[float, int, int, np.ndarray[Any, np.dtype[np.float32]]]:
    """Time, layout, frames left out and values."""
    time, layout, _, left_out, _ = struct.unpack_from("<dIIII", data)
    return time, layout, left_out, np.frombuffer(data, "<f4", offset=24)


def until(socket: ClientConnection, key: str) -> dict[str, Any]:
    """The next text that has a key."""
    while True:
        message = socket.recv(timeout=60)
        if isinstance(message, str) and json.loads(message).get(key):
            return dict(json.loads(message))


def shown(socket: ClientConnection) -> tuple[float, int, int, np.ndarray[Any, np.dtype[np.float32]]]:
    """The next frame."""
    while isinstance(message := socket.recv(timeout=60), str):
        pass
    return frame(message)


def test_a_page_draws_the_session_and_asks_for_nothing_elsewhere(
    viewer: Viewer, browser: Browser, client: Client, session: OpenSession
) -> None:
    page = browser.open(f"http://{viewer.address}/")
    eventually(lambda: page.ask("globalThis.live?.layout >= 1"))
    for _ in range(40):
        state = client.advance(session, EVERY, outputs=["wheel_FL.angle", "wheel_RR.angle", "ref_frame.pos", "speed"])
    eventually(lambda: page.ask(f"Math.abs(live.page.drawn.time - {state.time}) < 1e-9"))
    rows = page.rows()
    assert float(rows["speed"]) == pytest.approx(state["speed"], rel=1e-5)
    assert float(rows["ref_frame.pos.x"]) == pytest.approx(state["ref_frame.pos"][0], rel=1e-5)
    for wheel in ("FL", "RR"):
        angle = math.remainder(state[f"wheel_{wheel}.angle"], 2 * math.pi)
        assert _drawn(page, "live.page", wheel) == pytest.approx(angle, abs=1e-4)
    eventually(lambda: page.ask("live.page.drawing.surface !== null"))
    page.ask("live.page.request()")
    colours = page.ask("""(() => { live.page.show(0); const gl = live.page.drawing.painter.gl, c = live.page.canvas,
        n = new Uint8Array(4 * c.width * c.height); 
        gl.readPixels(0, 0, c.width, c.height, gl.RGBA, gl.UNSIGNED_BYTE, n);
        return new Set(new Uint32Array(n.buffer)).size; })()""")
    assert colours > 50 and gl_fault(page) == 0
    assert page.console == []
    assert {u.split("/")[2] for u in page.requests} == {viewer.address}
    files = {u.split("/")[3].split("?")[0] for u in page.requests}
    assert files >= {"", "view.js", "page.css", "look.json", "frames", "ground"}
    page.close()


def gl_fault(page: Page) -> int:
    return int(page.ask("live.page.drawing.painter.gl.getError()"))


def _drawn(page: Page, name: str, wheel: str) -> float:
    """The angle by which the drawn wheel is turned against its carrier: from the matrix that the picture used."""
    script = f"""(() => {{ const p = {name}, m = p.drawn.wheels.{wheel}, k = p.series.frame(p.drawn.time),
        axes = p.series.rotation(k, "wheel_{wheel}"), top = [m[8], m[9], m[10]];
        return Math.atan2(dot(top, column(axes, 0)), dot(top, column(axes, 2))); }})()"""
    return float(page.ask(script))


def test_every_frame_is_sent_or_counted(viewer: Viewer, client: Client, session: OpenSession) -> None:
    """From the present state on; as fast as the model makes them, but too few for another distance between frames."""
    first = client.advance(session, 0, outputs=["speed"])
    with viewer.socket() as socket:
        socket.send(json.dumps({"signals": ["speed"]}))
        names = until(socket, "names")["names"]
        seen = [shown(socket)]
        for _ in range(51):
            last = client.advance(session, EVERY, outputs=["speed"])
        while seen[-1][0] < last.time - 1e-9:
            seen.append(shown(socket))
    assert seen[0][0] == first.time and seen[0][3][names.index("speed")] == np.float32(first["speed"])
    assert seen[-1][3][names.index("speed")] == np.float32(last["speed"])
    assert 1 < len(seen) <= 52 and len(seen) + seen[-1][2] == 52


def test_a_page_shows_the_present_of_a_session_that_stands(
    viewer: Viewer, client: Client, session: OpenSession
) -> None:
    """When it opens, with each choice of signals, and after a reset; the session never moves."""
    client.advance(session, EVERY)
    present = client.advance(session, 0, outputs=["speed", "wheel_FL.omega"])
    client.pause(session)
    try:
        with viewer.socket() as socket:
            for signals in (["speed"], ["speed", "wheel_FL.omega"]):
                socket.send(json.dumps({"signals": signals}))
                names = until(socket, "names")["names"]
                time, _, _, values = shown(socket)
                assert time == present.time
                assert [values[names.index(s)] for s in signals] == [np.float32(present[s]) for s in signals]
            client.reset(session)
            assert shown(socket)[0] == 0.0
    finally:
        client.resume(session)


@pytest.mark.parametrize(("every", "rate", "expected"), [(17, 60.0, 17), (17, 119.0, 17), (17, 31.0, 17),
                                                         (17, 600.0, 170), (170, 6.0, 17), (170, 20.0, 57),
                                                         (17, 5.0, 17), (1700, 6000.0, 170000)])  # fmt: skip
def test_a_session_that_is_fast_is_asked_for_frames_further_apart(every: int, rate: float, expected: int) -> None:
    """So that about 60 come in a second, and never closer than the session's own 17 ticks."""
    assert spaced(every, 17, rate) == expected


def test_a_fast_session_that_stops_is_shown_as_it_stands(viewer: Viewer, client: Client, session: OpenSession) -> None:
    """It was fast for longer than its rate is measured, so the last frame that was due is before the end."""
    with viewer.socket() as socket:
        socket.send(json.dumps({"signals": []}))
        until(socket, "names")
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            state = client.advance(session, EVERY)
        eventually(lambda: shown(socket)[0] == state.time)


@pytest.mark.parametrize("message", ['{"signals": ["no.such"]}', '{"signals": "speed"}', '{"ask": "delete"}', "[]", "{",
                                     "", b"\x00\xff", '{"signals": [1]}', '{"ask": "pause", "signals": []}',
                                     "1" * 20000, "[" * 5000, '{"ask": {"a": 1}}'])  # fmt: skip
def test_a_message_that_no_page_sends_closes_its_socket(viewer: Viewer, message: str | bytes) -> None:
    with viewer.socket() as socket:
        socket.send(message)
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                socket.recv(timeout=60)
    assert closed.value.rcvd is not None and closed.value.rcvd.code in (1008, 1009)


def test_a_thousand_malformed_frames_close_one_socket_only(
    viewer: Viewer, client: Client, session: OpenSession
) -> None:
    with viewer.socket() as good:
        good.send(json.dumps({"signals": []}))
        until(good, "names")
        sent = 0
        with viewer.socket() as bad, pytest.raises(ConnectionClosed):
            for sent in range(1000):
                bad.send(bytes([sent % 256]) * 40)
            while True:
                bad.recv(timeout=60)
        state = client.advance(session, EVERY, outputs=["speed"])
        eventually(lambda: shown(good)[0] == state.time)
    assert viewer.process.poll() is None


@pytest.mark.parametrize("origin", ["http://elsewhere.example", "null", "https://{}", "http://127.0.0.1:1"])
def test_a_page_of_another_origin_may_not_watch(viewer: Viewer, origin: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        viewer.socket(origin.format(viewer.address))
    assert refused.value.response.status_code == 403
    with pytest.raises(InvalidStatus):  # no origin at all
        connect(f"ws://{viewer.address}/frames")


def test_a_name_that_another_site_has_pointed_here_is_refused(viewer: Viewer) -> None:
    host, port = viewer.address.split(":")
    for name, status in (("rebound.example", 421), ("localhost", 200)):
        reply = _get(host, int(port), "/look.json", f"{name}:{port}")
        assert int(reply.split()[1]) == status
        assert b"Content-Security-Policy: default-src 'none'; script-src 'self'" in reply


@pytest.mark.parametrize(("path", "status"), [("/ground?x=1&y=2", 200), ("/ground", 400), ("/ground?x=nan&y=1", 400),
                                              ("/ground?x=1e300&y=1", 400), ("/ground?x=1", 400),
                                              ("/../etc/passwd", 404), ("/ground?x=1&y=2&z=3", 400),
                                              ("/page.py", 404)])  # fmt: skip
def test_only_the_files_of_the_page_are_given_out(viewer: Viewer, path: str, status: int) -> None:
    host, port = viewer.address.split(":")
    assert int(_get(host, int(port), path, viewer.address).split()[1]) == status


def _get(host: str, port: int, path: str, name: str) -> bytes:
    import socket

    with socket.create_connection((host, port), timeout=20) as plain:
        plain.sendall(f"GET {path} HTTP/1.1\r\nHost: {name}\r\n\r\n".encode())
        found = b""
        while piece := plain.recv(65536):
            found += piece
    return found


def test_the_ground_that_a_page_gets_is_that_of_the_file(viewer: Viewer) -> None:
    host, port = viewer.address.split(":")
    body = _get(host, int(port), "/ground?x=50&y=-10", viewer.address).partition(b"\r\n\r\n")[2]
    rows, columns, *origin = struct.unpack_from("<II3d", body)
    points = np.frombuffer(body, "<f4", offset=32).reshape(rows, columns, 3) + np.array(origin)
    assert points[..., 2] == pytest.approx(0.05 * points[..., 0], abs=1e-5)
    assert points[..., 0].min() <= -10.0 and points[..., 0].max() >= 110.0


def test_a_page_pauses_and_steps_where_the_viewer_has_the_token(
    viewer: Viewer, server: Served, client: Client, session: OpenSession
) -> None:
    with viewer.socket() as socket:
        assert until(socket, "facts")["control"]
        before = client.get_session(session).tick
        socket.send('{"ask": "step"}')
        eventually(lambda: client.get_session(session).tick == before + EVERY)
        socket.send('{"ask": "pause"}')
        eventually(lambda: client.get_session(session).state == 3)
        while until(socket, "facts")["facts"]["session"] != "paused":
            pass
        socket.send('{"ask": "resume"}')
        eventually(lambda: client.get_session(session).state == 2)
    other = viewing(server, "--session", session.id)
    try:
        with other.socket() as socket:
            assert not until(socket, "facts")["control"]
            socket.send('{"ask": "pause"}')
            assert "start it with --session-token" in until(socket, "said")["said"]
        assert client.get_session(session).state == 2
    finally:
        other.process.terminate()
        other.process.wait(60)


def test_the_end_of_a_session_and_the_loss_of_the_server_are_said(tmp_path: Path, browser: Browser) -> None:
    said = "document.getElementById('said').textContent"
    own, first, second = serve(tmp_path), None, None
    try:
        with Client.connect(own.grpc[0]) as client:
            ending = client.create_session("hmmwv")
            first = viewing(own)  # the only session
            lasting = client.create_session("hmmwv")
            second = viewing(own, "--session", lasting.id)
            pages = [browser.open(f"http://{v.address}/") for v in (first, second)]
            client.delete_session(ending)
            eventually(lambda: pages[0].ask(said) == "The session has ended.")
            eventually(lambda: pages[1].ask("live.page.drawn.time") == 0.0)  # a session that has not moved yet
            assert pages[1].ask(said) == ""
        own.kill()
        eventually(lambda: pages[1].ask(said) == "The server is gone.")
        with second.socket() as late:  # who comes later is told the same
            assert until(late, "said")["ended"]
        second.process.kill()
        first.process.terminate()
        eventually(lambda: "The viewer is gone" in pages[0].ask(said) or pages[0].ask(said) == "The session has ended.")
    finally:
        own.kill()
        for one in filter(None, (first, second)):
            one.process.kill()
            one.process.wait(60)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "expected a recording, --address of a server, or --demo"),
        ("x.mcap --demo", "a recording and --demo: expected one of them"),
        ("--address unix:/nowhere --demo", "expected a recording, --address of a server, or --demo"),
        ("--demo --port 70000", "--port 70000: expected 0 to 65535"),
        ("--demo --road nowhere.jnt", "--road: terrain file nowhere.jnt: No such file"),
        ("--address {server} --set terrain.slope=x", "--set terrain.slope=x: expected NAME=VALUE with a finite number"),
        ("--address {server} --session none", "UNKNOWN_SESSION"),
    ],
)
def test_what_cannot_be_watched_is_refused(
    line: str, said: str, server: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["view", *line.format(server=server.grpc[0]).split()]) in (1, 2)
    assert said in capsys.readouterr().err
