"""Measures a lockstep round trip, and compares it with the same protobuf messages on a raw unix socket.

Processes: this one, `jounce serve` with the built-in vehicle, another one whose sessions are in worker processes, and
the two peers of `echo.py`. Blocks of round trips through each are interleaved. A jounce round trip includes the
vehicle's step; the peers compute nothing. The C client is timed within its own process, `native/fast_loop.c`, where
there is a compiler; with `--cpp` so is the C++ client, `native/grpc_loop.cpp` (packages: docs/cpp.md).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import grpc
import numpy as np
from participants import apart, fast_in_c, grpc_in_cpp, looping
from serving import HERE, OWNED, moving, process, raw_peer, serve, sizes, used
from timing import Samples, machine, table, versions

from jounce_client import AsyncClient, Client
from jounce_proto import jounce_pb2 as pb
from jounce_proto import jounce_pb2_grpc as rpc

Block = Callable[[int], Awaitable[Samples]]


def grpc_block(channel: grpc.aio.Channel, inputs: list[float]) -> Block:
    """Round trips through a gRPC stream with nothing behind it."""
    stream = rpc.SessionServiceStub(channel).Lockstep()
    tick = 0

    async def block(n: int) -> Samples:
        nonlocal tick
        times = []
        for _ in range(n):
            start = time.perf_counter_ns()
            tick += 1
            step = pb.Step(epoch=1, tick=tick, request=tick, inputs=inputs)
            await stream.write(pb.LockstepRequest(step=step))
            outputs = np.array((await stream.read()).state.outputs)
            times.append(float(time.perf_counter_ns() - start))
            assert len(outputs)
        return Samples(times)

    return block


async def aio_blocks(client: AsyncClient, inputs: np.ndarray) -> tuple[Block, Block]:
    """Lockstep and unary Advance through the async client, each with a session of its own."""
    stepped, advanced = [await client.create_session("hmmwv", {"init.speed": 15.0}) for _ in range(2)]
    participant = await client.join(stepped, "bench", owns=OWNED, wants=["*"])
    names = dict(zip(participant.inputs, inputs, strict=True))

    async def lockstep(n: int) -> Samples:
        times = []
        for _ in range(n):
            start = time.perf_counter_ns()
            await participant.step(inputs)
            times.append(float(time.perf_counter_ns() - start))
        return Samples(times)

    async def advance(n: int) -> Samples:
        times = []
        for _ in range(n):
            start = time.perf_counter_ns()
            await client.advance(advanced, 1, names, ["*"])
            times.append(float(time.perf_counter_ns() - start))
        return Samples(times)

    return lockstep, advance


def sync_blocks(client: Client, inputs: np.ndarray) -> tuple[Block, Block]:
    """The same through the sync client."""
    stepped, advanced = (moving(client) for _ in range(2))
    participant = client.join(stepped, "bench", owns=OWNED, wants=["*"])
    names = dict(zip(participant.inputs, inputs, strict=True))

    return timed(lambda: participant.step(inputs)), timed(lambda: client.advance(advanced, 1, names, ["*"]))


def fast_block(client: Client, lane: str, inputs: np.ndarray) -> Block:
    """Lockstep through the sync client on the fast lane."""
    session = moving(client)
    participant = client.join(session, "bench", owns=OWNED, wants=["*"], transport=lane)
    return timed(lambda: participant.step(inputs))


def timed(call: Callable[[], object]) -> Block:
    """Each call by itself."""

    async def block(n: int) -> Samples:
        times = []
        for _ in range(n):
            start = time.perf_counter_ns()
            call()
            times.append(float(time.perf_counter_ns() - start))
        return Samples(times)

    return block


def blocking(trips: Callable[[int], Samples]) -> Block:
    """What is no coroutine; the event loop has nothing else to do."""

    async def block(n: int) -> Samples:
        return trips(n)

    return block


async def measure(folder: Path, build: Path, flags: list[str], rounds: int, n: int, cpp: bool) -> None:
    """Starts the processes, interleaves the blocks, prints."""
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(serve(folder, "s", *flags))
        away = stack.enter_context(serve(folder, "w", "--workers", *flags))
        client = stack.enter_context(Client.connect(server.unix))
        away_client = stack.enter_context(Client.connect(away.unix))
        scalars = sizes(client)
        inputs = np.zeros(scalars[0])
        raw, echo = raw_peer(stack, folder, "unix", scalars)
        command = [str(HERE / "echo.py"), "grpc", str(folder / "g"), str(scalars[1])]
        bare = stack.enter_context(process(command, folder / "g"))

        def loop(program: list[str], address: str) -> Block:
            session = moving(client)
            command = [*program, address, session.id, session.join_token, "bench", *OWNED]
            return blocking(stack.enter_context(looping(command)).trips)

        async with (
            await AsyncClient.connect(server.unix) as aio,
            await AsyncClient.connect(away.unix) as away_aio,
            grpc.aio.insecure_channel(f"unix:{folder / 'g'}") as channel,
        ):
            aio_step, aio_advance = await aio_blocks(aio, inputs)
            sync_step, sync_advance = sync_blocks(client, inputs)
            blocks: dict[str, Block] = {
                "raw socket echo": blocking(raw.trips),
                "gRPC aio stream echo": grpc_block(channel, inputs.tolist()),
                "Lockstep, fast lane, Python": fast_block(client, server.fast_unix, inputs),
                "Lockstep, fast lane, Python, worker": fast_block(away_client, away.fast_unix, inputs),
                "Lockstep, aio client": aio_step,
                "Lockstep, aio client, worker": (await aio_blocks(away_aio, inputs))[0],
                "Lockstep, sync client": sync_step,
                "Advance, aio client": aio_advance,
                "Advance, sync client": sync_advance,
            }
            in_c = fast_in_c(build)
            if in_c is not None:
                blocks["Lockstep, fast lane, C"] = loop(in_c, server.fast_unix)
            if cpp:
                blocks["Lockstep, C++ client"] = loop(grpc_in_cpp(build), server.unix)
            peers = {"raw socket echo": echo, "gRPC aio stream echo": bare.pid}
            peers |= {name: away.pid for name in blocks if name.endswith("worker")}
            await run(blocks, peers, server.pid, rounds, n)
        print(f"request {raw.request_bytes} bytes ({scalars[0]} inputs),"
              f" reply {raw.reply_bytes} bytes ({scalars[1]} outputs)")
        print(machine())


async def run(blocks: dict[str, Block], pids: dict[str, int], server: int, rounds: int, n: int) -> None:
    """Interleaved blocks; the first round only warms up."""
    times: dict[str, Samples] = {name: Samples() for name in blocks}
    medians: dict[str, list[float]] = {name: [] for name in blocks}
    cpu = {name: [0.0, 0.0] for name in blocks}
    for turn in range(rounds + 1):
        for name, block in blocks.items():
            pid = pids.get(name, server)
            own, other = time.process_time_ns(), used(pid)
            samples = await block(n)
            if turn:
                times[name].add(samples)
                medians[name].append(samples.percentile(50))
                cpu[name][0] += (time.process_time_ns() - own) / (n * rounds)
                cpu[name][1] += (used(pid) - other) / (n * rounds)
    base = times["raw socket echo"]
    rows = []
    for name, samples in times.items():
        ratios = np.array(medians[name]) / np.array(medians["raw socket echo"])
        figures = [*(samples.percentile(q) for q in (50, 99, 99.9)), *cpu[name]]
        rows.append([
            name, *(f"{t / 1e3:.0f}" for t in figures), f"{samples.percentile(50) / base.percentile(50):.2f}",
            f"{np.median(ratios):.2f}", f"{ratios.min():.2f} to {ratios.max():.2f}",
            f"{samples.percentile(99) / base.percentile(99):.2f}",
        ])
    head = ["us a round trip", "p50", "p99", "p99.9", "client cpu", "server cpu", "p50 ratio", "median block", "blocks",
            "p99 ratio"]
    print(table(head, rows))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, help="interleaved rounds (default %(default)s)")
    parser.add_argument("--trips", type=int, default=500, help="round trips a block")
    parser.add_argument("--priority", type=int, default=30, help="of SCHED_FIFO, so that processes do not share a core"
                        " while another is free; 0 = none (default %(default)s)")
    parser.add_argument("--server", action="append", default=[], metavar="FLAG", help="as --server=--realtime")
    parser.add_argument("--cpp", action="store_true", help="build and time the C++ client, too")
    parser.add_argument("--build", type=Path, default=Path("build/benchmarks"), help="folder of compiled programs")
    options = parser.parse_args()
    print(machine(), versions("jounce", "grpcio", "protobuf"), sep="; ")
    with apart(options.priority), tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder), options.build, options.server, options.rounds, options.trips, options.cpp))


if __name__ == "__main__":
    main()
