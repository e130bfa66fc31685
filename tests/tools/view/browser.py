"""Headless Chromium over its DevTools protocol: opens pages, asks them, and keeps what they log and request."""

from __future__ import annotations

import base64
import contextlib
import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

#: Pages are looked at where there is a Chromium.
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_FLAGS = ("--headless", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-first-run",
          "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
          "--disable-renderer-backgrounding", "--disable-background-timer-throttling",
          "--disable-backgrounding-occluded-windows", "--remote-debugging-port=0",
          "--remote-allow-origins=*")  # fmt: skip
_SOON = 60.0


def eventually(true: Callable[[], Any], seconds: float = _SOON) -> Any:
    """What ``true`` gives once it is true; AssertionError if it never is."""
    end = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)
    return found


@dataclass
class Browser:
    """A running browser."""

    socket: ClientConnection
    pages: dict[str, Page] = field(default_factory=dict)
    _last: int = 0

    def call(self, method: str, session: str = "", **parameters: Any) -> Any:
        """Calls a method of the protocol."""
        self._last += 1
        asked = {"id": self._last, "method": method, "params": parameters} | ({"sessionId": session} if session else {})
        self.socket.send(json.dumps(asked))
        while True:
            reply = json.loads(self.socket.recv(timeout=_SOON))
            if reply.get("id") == self._last:
                assert "error" not in reply, f"{method}: {reply.get('error')}"
                return reply["result"]
            self._note(reply)

    def _note(self, event: dict[str, Any]) -> None:
        page = self.pages.get(event.get("sessionId", ""))
        if page is None:
            return
        what = event["params"]
        if event["method"] == "Network.requestWillBeSent":
            page.requests.append(what["request"]["url"])
        elif event["method"] == "Network.webSocketCreated":
            page.requests.append(what["url"])
        elif event["method"] in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            page.console.append(json.dumps(what)[:500])

    def open(self, url: str, size: tuple[int, int] = (900, 700)) -> Page:
        """A new page."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = self.pages[session] = Page(self, session, target)
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable", session)
        self.call("Emulation.setDeviceMetricsOverride", session, width=size[0], height=size[1], deviceScaleFactor=1,
                  mobile=size[0] < 500)  # fmt: skip
        self.call("Page.navigate", session, url=url)
        eventually(lambda: page.ask("document.readyState") == "complete" and page.ask("location.href") != "about:blank")
        return page


@dataclass
class Page:
    """An open page: the addresses that it asked for, and what it wrote to the console."""

    browser: Browser
    session: str
    target: str
    requests: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)

    def ask(self, expression: str) -> Any:
        """The value of an expression; a promise is awaited."""
        found = self.browser.call("Runtime.evaluate", self.session, expression=expression, returnByValue=True,
                                  awaitPromise=True)  # fmt: skip
        assert "exceptionDetails" not in found, f"{expression}: {found['exceptionDetails']}"
        return found["result"].get("value")

    def rows(self) -> dict[str, str]:
        """The table of main values."""
        text = "[...document.getElementById('values').rows].map(r => [...r.cells].map(c => c.textContent))"
        return {name: value for name, value, _ in self.ask(text)}

    def picture(self, path: Path | None = None) -> bytes:
        """A PNG of the page."""
        data = base64.b64decode(self.browser.call("Page.captureScreenshot", self.session)["data"])
        if path:
            path.write_bytes(data)
        return data

    def close(self) -> None:
        """Closes it."""
        self.browser.call("Target.closeTarget", targetId=self.target)


@contextlib.contextmanager
def started(folder: Path, *flags: str) -> Iterator[Browser]:
    """A browser with a profile of its own in ``folder``."""
    assert CHROMIUM is not None
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([CHROMIUM, *_FLAGS, *flags, f"--user-data-dir={folder / 'profile'}"], stderr=log,
                                   stdout=log)  # fmt: skip
    try:
        place = folder / "profile" / "DevToolsActivePort"
        lines = eventually(lambda: place.exists() and len(found := place.read_text().split()) == 2 and found)
        patient = {"open_timeout": _SOON, "ping_interval": None}  # a browser that draws in software beside other tests
        with connect(f"ws://127.0.0.1:{lines[0]}{lines[1]}", max_size=None, compression=None, **patient) as socket:
            yield Browser(socket)
    finally:
        process.terminate()
        process.wait(60)
