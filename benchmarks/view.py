"""Does a session paced at 1 kHz keep its pace while pages watch it, and how many frames does a page get and draw?

A driver steps the session every 10 ms. Blocks with 0, 1 and 10 pages alternate; a page is a client of the socket that
reads every frame. At the end one page is open in Chromium with software graphics, where there is one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from websockets.asyncio.client import connect

from jounce_client import Client, Pacing, Participant, Session
from jounce_tools.demo.run import serving

sys.path.append(str(Path(__file__).parents[1] / "tests" / "tools" / "view"))
from browser import CHROMIUM, started

PERIOD = 10  # [ticks]


@dataclass
class Block:
    """What one block showed."""

    pace: float
    """Simulated over wall-clock time [1]."""
    overruns: int
    late: list[float]
    """How much later than planned the driver's steps came back [s]."""
    frames: float = 0.0
    """Frames a second that each page got, the mean [1/s]."""
    left_out: int = 0


def drive(client: Client, session: Session, member: Participant, seconds: float) -> Block:
    """Steps in real time."""
    before = client.get_session(session)
    begun, late = time.perf_counter(), []
    for k in range(int(1000 * seconds / PERIOD)):
        member.step([0.1])
        late.append(time.perf_counter() - begun - (k + 1) * PERIOD * session.tick_seconds)
    wall, after = time.perf_counter() - begun, client.get_session(session)
    # The first step may wait for its tick, or not: lateness counts from the quickest.
    late = [x - min(late) for x in late]
    return Block((after.tick - before.tick) * session.tick_seconds / wall,
                 after.pacing.overruns - before.pacing.overruns, late)  # fmt: skip


async def page(address: str, ended: asyncio.Event) -> tuple[int, int]:
    """Frames that a page got, and those left out."""
    got, left_out = 0, 0
    async with connect(f"ws://{address}/frames", origin=f"http://{address}", compression=None) as socket:  # type: ignore[arg-type]
        await socket.send(json.dumps({"signals": ["speed", "com.lin_acc.y"]}))
        while not ended.is_set():
            message = await socket.recv()
            if isinstance(message, bytes):
                got, left_out = got + 1, int.from_bytes(message[16:20], "little")
    return got, left_out


async def watched(client: Client, session: Session, member: Participant, address: str, pages: int,
                  seconds: float) -> Block:  # fmt: skip
    """A block with pages open."""
    ended = asyncio.Event()
    tasks = [asyncio.create_task(page(address, ended)) for _ in range(pages)]
    await asyncio.to_thread(drive, client, session, member, 0.5)
    block = await asyncio.to_thread(drive, client, session, member, seconds)
    ended.set()
    await asyncio.to_thread(drive, client, session, member, 0.2)
    found = await asyncio.gather(*tasks)
    if found:
        block.frames = float(np.mean([n for n, _ in found])) / (seconds + 0.5)
        block.left_out = sum(n for _, n in found)
    return block


@contextmanager
def viewing(server: str, session: Session) -> Iterator[str]:
    """`jounce view` on a session."""
    command = [sys.executable, "-m", "jounce_tools.cli", "view", "--address", server, "--session", session.id,
               "--port", "0"]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ)
    try:
        assert process.stdout is not None
        found = re.match(r"open http://(\S+) in", process.stdout.readline())
        assert found
        yield found[1]
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0, help="of a block (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=2, help="(default: %(default)s)")
    parser.add_argument("--no-browser", action="store_true", help="leave Chromium out")
    arguments = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f}")
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(Path(folder)) as (_, server),
        Client.connect(server) as client,
        client.create_session("hmmwv", {"init.speed": 10.0}, participants=["driver"], pacing=Pacing()) as session,
        client.join(session, "driver", owns=["steering_wheel_angle"], wants=["speed"], period=PERIOD) as member,
        viewing(server, session) as address,
    ):
        print("pages   simulated/wall   overruns   late p50, p99, worst [ms]   frames/s a page   left out")
        for _ in range(arguments.rounds):
            for pages in (0, 1, 10):
                b = asyncio.run(watched(client, session, member, address, pages, arguments.seconds))
                p50, p99, worst = np.percentile(b.late, [50, 99, 100]) * 1e3
                print(f"{pages:5}   {b.pace:14.5f}   {b.overruns:8}   {p50:8.2f}, {p99:.2f}, {worst:.2f}"
                      f"   {b.frames:17.1f}   {b.left_out:8}", flush=True)  # fmt: skip
        if CHROMIUM is not None and not arguments.no_browser:
            browser(client, session, member, address, Path(folder), arguments.seconds)
    print(f"load {os.getloadavg()[0]:.1f}")


def browser(client: Client, session: Session, member: Participant, address: str, folder: Path, seconds: float) -> None:
    """A page in Chromium: the frames that it got, and the pictures that it drew."""

    async def run() -> tuple[list[int], Block]:
        driving = asyncio.create_task(asyncio.to_thread(drive, client, session, member, seconds + 12.0))
        counts = await asyncio.to_thread(look)
        return counts, await driving

    def look() -> list[int]:
        with started(folder) as chromium:
            shown = chromium.open(f"http://{address}/", (1280, 800))
            time.sleep(2.0)
            script = "[live.received, live.page.frames, Math.round(performance.now())]"
            before = shown.ask(script)
            time.sleep(seconds)
            after = shown.ask(script)
            assert shown.console == []
            return [b - a for a, b in zip(before, after, strict=True)]

    (got, drawn, milliseconds), block = asyncio.run(run())
    print(f"Chromium, software graphics, 1280 x 800: {1e3 * got / milliseconds:.1f} frames/s got, "
          f"{1e3 * drawn / milliseconds:.1f} pictures/s drawn; simulated/wall {block.pace:.5f}")  # fmt: skip


if __name__ == "__main__":
    main()
