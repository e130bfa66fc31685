"""A page that shows a running session: one port for the files of the page and for the frames.

Each page has its own Watch, which never slows the session down: a page that is slow loses frames, and they are counted.
Only files of this package, one description and the ground are given out; only pages of this port may open the socket.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import socket
import struct
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from jounce.terrain.packed import Terrain
from jounce_client import AsyncClient, Frame, JounceError, Session
from jounce_proto import jounce_pb2 as pb
from jounce_tools.view import page
from jounce_tools.view.look import Look
from jounce_tools.view.surface import mesh

#: Frames a second that a page gets [1/s], and the most that a burst may send [1/s].
RATE, _MOST_RATE = 60.0, 75.0
#: Frames that wait for a slow page, longest message of a page [bytes], most pages, time between two looks at the
#: session [s].
_QUEUE, _LONGEST, PAGES, _LOOK = 4, 16384, 32, 1.0
#: Time over which the rate of frames is measured [s].
_WINDOW = 0.5
#: Half of the side of a piece of the ground [m], and its most points.
_PIECE, _POINTS = 60.0, 20000
_POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
           "frame-ancestors 'none'")  # fmt: skip
#: What a page may ask of the session.
_ASKS = ("pause", "resume", "step")
#: Close codes of RFC 6455: policy violation, try again later.
_VIOLATION, _LATER = 1008, 1013
_LOST = {"UNAVAILABLE", "STREAM_ENDED"}


class _Hostile(ValueError):
    """A message that no page of this package sends."""


@dataclass
class Shown:
    """The session that pages look at."""

    client: AsyncClient
    session: Session
    look: Look
    terrain: Terrain | None = None
    control: bool = False
    """Whether pages may pause and step it."""
    facts: dict[str, str] = field(default_factory=dict)
    """What the pages say about it."""
    said: str = ""
    """A sentence for all pages, such as the end of the session."""
    over: bool = False
    pages: set[_Page] = field(default_factory=set)

    @property
    def every(self) -> int:
        """Ticks between two frames."""
        return max(1, round(1.0 / RATE / self.session.tick_seconds))

    def status(self) -> str:
        """The message with the session's state."""
        return json.dumps({"facts": self.facts, "control": self.control and not self.over, "said": self.said,
                           "ended": self.over})  # fmt: skip

    def end(self, said: str) -> None:
        """Tells all pages, and those that come."""
        if not self.over:
            self.over, self.said = True, said
            self.facts["session"] = "over"
            for one in self.pages:
                one.tell()

    async def follow(self) -> None:
        """Looks at the session once a second, and tells the pages; ends with it."""
        while not self.over:
            try:
                status = await self.client.get_session(self.session)
            except JounceError as error:
                self.end(_ending(error))
                return
            facts = {"session": pb.SessionState.Name(status.state).removeprefix("SESSION_STATE_").lower(),
                     "missing": ", ".join(p.name for p in status.participants if p.missing) or "–"}  # fmt: skip
            said = f"The session has failed: {status.failure}" if status.failure else ""
            if facts != self.facts or said != self.said:
                self.facts, self.said = facts, said
                for one in self.pages:
                    one.tell()
            await asyncio.sleep(_LOOK)


def _ending(error: JounceError) -> str:
    if error.reason in ("UNKNOWN_SESSION", "SESSION_CLOSED"):
        return "The session has ended."
    if error.reason in _LOST:
        return "The server is gone."
    return f"The server refuses: {error}"


class _Page:
    """One open page: what it has chosen, the frames that wait for it, and how many it lost."""

    def __init__(self, shown: Shown, connection: ServerConnection) -> None:
        self.shown, self.connection = shown, connection
        #: Signals that every frame has.
        self.poses = _poses(shown.look)
        self.names: tuple[str, ...] = ()
        self.layout, self.left_out = 0, 0
        #: Ticks between two frames; more than the session's own where it runs faster than real time.
        self.every = shown.every
        self._frames: deque[tuple[int, Frame]] = deque()
        #: Layout, epoch and tick of the last frame: a new Watch begins with the present, which may be that again.
        self._last = (0, 0, 0)
        self._texts: deque[str] = deque(maxlen=64)
        self._wake, self._chosen = asyncio.Event(), asyncio.Event()

    def tell(self, **what: Any) -> None:
        """Sends the session's state, or something else."""
        self._texts.append(json.dumps(what) if what else self.shown.status())
        self._wake.set()

    async def run(self) -> None:
        """Serves the page until it goes. Raises ConnectionClosed, _Hostile."""
        self.tell()
        tasks = [asyncio.create_task(c) for c in (self._read(), self._watch(), self._write())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            for task in tasks:
                task.cancel()
            done = await asyncio.gather(*tasks, return_exceptions=True)
        for error in done:
            if isinstance(error, Exception):
                raise error

    async def _read(self) -> None:
        async for message in self.connection:
            await self._asked(message)
        raise ConnectionError

    async def _asked(self, message: str | bytes) -> None:
        try:
            asked = json.loads(message) if isinstance(message, str) else None
        except (ValueError, RecursionError):
            asked = None
        if not isinstance(asked, dict) or len(asked) != 1:
            raise _Hostile("expected a text message {\"signals\": [...]} or {\"ask\": ...}")
        if "signals" in asked:
            self._choose(asked["signals"])
        elif asked.get("ask") in _ASKS:
            await self._act(asked["ask"])
        else:
            raise _Hostile(f"expected signals or ask, which is one of {', '.join(_ASKS)}")

    def _choose(self, signals: object) -> None:
        known = set(self.shown.look.names)
        if not isinstance(signals, list) or len(signals) > len(known) or not all(
                isinstance(s, str) and s in known for s in signals):  # fmt: skip
            raise _Hostile("signals: expected a list of outputs")
        names = tuple(dict.fromkeys((*self.poses, *signals)))
        if names != self.names:
            self.names, self.layout = names, self.layout + 1
            self.tell(names=names, layout=self.layout)
            self._chosen.set()

    async def _act(self, what: str) -> None:
        shown = self.shown
        if not shown.control:
            self.tell(said="This viewer may not control the session: start it with --session-token.")
            return
        try:
            if what == "pause":
                await shown.client.pause(shown.session)
            elif what == "resume":
                await shown.client.resume(shown.session)
            else:
                await shown.client.advance(shown.session, shown.every)
            self.tell(said="")
        except JounceError as error:
            self.tell(said=f"{what}: {error}")

    async def _watch(self) -> None:
        """Collects frames; begins again when the page chooses other signals, or the frames come too often or rarely."""
        await self._chosen.wait()
        while not self.shown.over:
            self._chosen.clear()
            taking = asyncio.create_task(self._take(self.layout, self.names))
            choosing = asyncio.create_task(self._chosen.wait())
            try:
                await asyncio.wait([taking, choosing], return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (taking, choosing):
                    task.cancel()
                await asyncio.gather(taking, choosing, return_exceptions=True)
            if not self._chosen.is_set() and not (taking.done() and not taking.cancelled() and taking.result()):
                return

    async def _take(self, layout: int, names: tuple[str, ...]) -> bool:
        """Collects frames; True where it should begin again with another distance between frames."""
        shown, before, clock = self.shown, 0, asyncio.get_running_loop().time
        begun, count = clock(), 0
        try:
            async with contextlib.aclosing(_frames(shown, names, self.every)) as frames:
                while True:
                    try:
                        frame = await asyncio.wait_for(anext(frames), _LOOK if self.every > shown.every else None)
                    except TimeoutError:  # it has become slow
                        self.every = shown.every
                        return True
                    before, self.left_out = frame.dropped, self.left_out + frame.dropped - before
                    if self._last == (layout, frame.epoch, frame.tick):
                        continue
                    self._last = layout, frame.epoch, frame.tick
                    if len(self._frames) >= _QUEUE:
                        self._frames.popleft()
                        self.left_out += 1
                    self._frames.append((layout, frame))
                    self._wake.set()
                    count += 1
                    if (passed := clock() - begun) > _WINDOW:
                        before_this, self.every = self.every, spaced(self.every, shown.every, count / passed)
                        begun, count = clock(), 0
                        if self.every != before_this:
                            return True
        except StopAsyncIteration:
            shown.end("The session has ended.")
        except JounceError as error:
            if error.reason == "TOO_MANY_VIEWERS":
                self.tell(said=f"The server takes no more viewers of this session: {error}")
                return False
            shown.end(_ending(error))
        return False

    async def _write(self) -> None:
        """Sends what waits, no faster than the burst rate; texts first, for they name the values that follow."""
        clock = asyncio.get_running_loop().time
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._texts or self._frames:
                while self._texts:
                    await self.connection.send(self._texts.popleft())
                if self._frames:
                    begun = clock()
                    layout, frame = self._frames.popleft()
                    await self.connection.send(packed_frame(frame, layout, self.left_out))
                    await asyncio.sleep(max(0.0, begun + 1.0 / _MOST_RATE - clock()))


def packed_frame(frame: Frame, layout: int, left_out: int) -> bytes:
    """A frame as live.js reads it: time [s] as float64, layout, epoch, frames left out and 0 as uint32, the values as
    float32; all little-endian.
    """
    head = struct.pack("<dIIII", frame.time, layout, frame.epoch & 0xFFFFFFFF, left_out & 0xFFFFFFFF, 0)
    return head + np.asarray(frame.values, "<f4").tobytes()


def spaced(every: int, least: int, rate: float) -> int:
    """Ticks between frames, which come at a ``rate`` [1/s] with ``every`` ticks now: others where it is far from 60 Hz.

    A session that runs a hundred times faster than real time would spend its time on frames that no page shows.
    """
    if RATE / 2 <= rate <= 2 * RATE:
        return every
    return max(least, round(every * rate / RATE))


async def _frames(shown: Shown, names: tuple[str, ...], every: int) -> AsyncGenerator[Frame]:
    async for frame in shown.client.watch(shown.session, names, every, present=True):
        yield frame


def _poses(look: Look) -> tuple[str, ...]:
    """Outputs that the picture needs."""
    wanted = {f"{b}.pos.{a}" for b in (*look.bodies, *(f"wheel_{w}" for w in look.wheels)) for a in "xyz"}
    wanted |= {f"{b}.rot.e{k}" for b in (*look.bodies, *look.carriers.values()) for k in range(4)}
    wanted |= {"ref_frame.yaw"} | {f"wheel_{w}.angle" for w in look.wheels}
    wanted |= {f"wheel_{w}.tire_force.{a}" for w in look.wheels for a in "xyz"}
    return tuple(n for n in look.names if n in wanted)


class Site:
    """The port: files, the ground, and the socket of frames."""

    def __init__(self, shown: Shown, host: str) -> None:
        """``host`` is the address that it listens on, which pages may use as its name."""
        self.shown = shown
        self._names = {"localhost", host.lower(), socket.gethostname().lower(), f"{socket.gethostname().lower()}.local"}
        has_ground = shown.terrain is not None or shown.look.road is not None
        look = json.dumps(page.packed_look(shown.look) | {"file": has_ground})
        head = '<link rel="stylesheet" href="page.css">'
        script = '<script src="view.js"></script>'
        self._files = {
            "/": ("text/html; charset=utf-8", page.html(f"{shown.look.name}, live", head, script).encode()),
            "/page.css": ("text/css; charset=utf-8", page.text_of("page.css").encode()),
            "/view.js": ("text/javascript; charset=utf-8", page.script("live.js").encode()),
            "/look.json": ("application/json", look.encode()),
            "/favicon.ico": ("image/x-icon", b""),
        }

    def answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """The reply to a request; None opens the socket."""
        hosts = request.headers.get_all("Host")
        if len(hosts) != 1 or not self._own(hosts[0]):
            return _reply(HTTPStatus.MISDIRECTED_REQUEST, "expected the address of this viewer as the host")
        parts = urlsplit(request.path)
        if parts.path == "/frames":
            if request.headers.get_all("Origin") != [f"http://{hosts[0]}"]:
                return _reply(HTTPStatus.FORBIDDEN, "expected a page of this viewer")
            if len(self.shown.pages) >= PAGES:
                return _reply(HTTPStatus.SERVICE_UNAVAILABLE, f"{PAGES} pages are open already")
            return None
        if parts.path == "/ground":
            return self._ground(parts.query)
        if parts.path in self._files:
            kind, body = self._files[parts.path]
            return _reply(HTTPStatus.OK, body, kind)
        return _reply(HTTPStatus.NOT_FOUND, "no such file")

    def _own(self, host: str) -> bool:
        """Whether a name is one of this machine's; a name that another site's owner has pointed here is not."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in self._names:
            return True
        with contextlib.suppress(ValueError):
            ipaddress.ip_address(name)
            return True
        return False

    def _ground(self, query: str) -> Response:
        try:
            asked = parse_qs(query, strict_parsing=True, max_num_fields=2)
            centre = np.array([float(asked[a][0]) for a in "xy"])
        except (ValueError, KeyError):
            centre = np.array([np.nan])
        if not np.all(np.abs(centre) < 1e7):
            return _reply(HTTPStatus.BAD_REQUEST, "expected x and y in m")
        points = mesh(self.shown.look, self.shown.terrain, centre - _PIECE, centre + _PIECE, most=_POINTS)
        if points is None:
            return _reply(HTTPStatus.NOT_FOUND, "no terrain file")
        origin = points.reshape(-1, 3).mean(axis=0)
        head = struct.pack("<II3d", *points.shape[:2], *origin)
        return _reply(HTTPStatus.OK, head + (points - origin).astype("<f4").tobytes(), "application/octet-stream")

    async def frames(self, connection: ServerConnection) -> None:
        """Serves the socket of one page."""
        one = _Page(self.shown, connection)
        self.shown.pages.add(one)
        try:
            await one.run()
        except _Hostile as error:
            await connection.close(_VIOLATION, str(error)[:120])
        except (ConnectionError, ConnectionClosed):
            pass
        finally:
            self.shown.pages.discard(one)


def _reply(status: HTTPStatus, body: bytes | str, kind: str = "text/plain; charset=utf-8") -> Response:
    data = body.encode() if isinstance(body, str) else body
    headers = Headers([("Content-Type", kind), ("Content-Length", str(len(data))), ("Content-Security-Policy", _POLICY),
                       ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
                       ("Cross-Origin-Resource-Policy", "same-origin"), ("Cache-Control", "no-store"),
                       ("Connection", "close")])  # fmt: skip
    return Response(status.value, status.phrase, headers, data)


@contextlib.asynccontextmanager
async def serving(shown: Shown, host: str, port: int) -> AsyncIterator[Server]:
    """Listens for pages. Raises OSError where the port cannot be had."""
    site = Site(shown, host)
    async with serve(site.frames, host, port, process_request=site.answer, max_size=_LONGEST, max_queue=4,
                     compression=None, write_limit=65536, server_header=None, close_timeout=1.0) as server:  # fmt: skip
        following = asyncio.create_task(shown.follow())
        try:
            yield server
        finally:
            following.cancel()
