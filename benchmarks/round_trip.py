"""How long does one lockstep round trip take, against the same protobuf messages on a raw unix socket?

Processes: this one, `jounce serve` with the built-in vehicle, another one whose sessions are in worker processes, and
the two peers of `echo.py`. Blocks of round trips through each are interleaved. A jounce round trip includes the
vehicle's step; the peers compute nothing. The C client is timed within its own process, `native/fast_loop.c`, where
there is a compiler; with `--cpp` so is the C++ client, `native/grpc_loop.cpp` (packages: docs/cpp.md).
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import grpc
import numpy as np
from echo import receive, send
from timing import Samples, machine, table, versions

from jounce_client import AsyncClient, Client
from jounce_client import Session as ClientSession
from jounce_proto import jounce_pb2 as pb
from jounce_proto import jounce_pb2_grpc as rpc

WHEELS = ("FL", "FR", "RL", "RR")
#: 28 scalars: what an autopilot and a terramechanics model together set.
OWNED = [
    "steering_wheel_angle", "steering_wheel_rate",
    *(f"wheel_{w}.{name}" for w in WHEELS for name in ("drive_torque", "brake_torque", "force")),
    "chassis.ext_force", "chassis.ext_moment",
]
Block = Callable[[int], Awaitable[Samples]]


@contextlib.contextmanager
def process(command: list[str], ready: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A Python process that has said it is ready by making a file."""
    with subprocess.Popen([sys.executable, *command], stdout=subprocess.DEVNULL) as running:
        try:
            deadline = time.monotonic() + 120.0
            while not ready.exists():
                if running.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"{' '.join(command[:3])} did not start")
                time.sleep(0.02)
            yield running
        finally:
            running.terminate()


def used(pid: int) -> float:
    """CPU time of a process [ns], where the system tells it; else NaN."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(fields[11]) + int(fields[12])) * 1e9 / os.sysconf("SC_CLK_TCK")


class Raw:
    """Round trips through `echo.py`."""

    def __init__(self, path: Path, inputs: list[float]) -> None:
        """Connects."""
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(path))
        self._inputs, self._tick = inputs, 0
        self.request_bytes = self.reply_bytes = 0

    async def block(self, n: int) -> Samples:
        """`n` round trips."""
        times = []
        for _ in range(n):
            start = time.perf_counter_ns()
            self._tick += 1
            step = pb.Step(epoch=1, tick=self._tick, request=self._tick, inputs=self._inputs)
            data = pb.LockstepRequest(step=step).SerializeToString()
            send(self._socket, data)
            answer = receive(self._socket)
            state = pb.LockstepReply.FromString(answer).state
            outputs = np.array(state.outputs)
            times.append(float(time.perf_counter_ns() - start))
            assert len(outputs) and state.request == self._tick
        self.request_bytes, self.reply_bytes = len(data), len(answer)
        return Samples(times)


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
    stepped, advanced = (client.create_session("hmmwv", {"init.speed": 15.0}) for _ in range(2))
    participant = client.join(stepped, "bench", owns=OWNED, wants=["*"])
    names = dict(zip(participant.inputs, inputs, strict=True))

    async def lockstep(n: int) -> Samples:
        return _timed(lambda: participant.step(inputs), n)

    async def advance(n: int) -> Samples:
        return _timed(lambda: client.advance(advanced, 1, names, ["*"]), n)

    return lockstep, advance


def fast_block(client: Client, lane: str, inputs: np.ndarray) -> Block:
    """Lockstep through the sync client on the fast lane."""
    session = client.create_session("hmmwv", {"init.speed": 15.0})
    participant = client.join(session, "bench", owns=OWNED, wants=["*"], transport=lane)

    async def lockstep(n: int) -> Samples:
        return _timed(lambda: participant.step(inputs), n)

    return lockstep


def c_block(client: Client, lane: str, folder: Path, stack: contextlib.ExitStack) -> Block | None:
    """The same through the C client; None without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        print("C client left out: no cc")
        return None
    here = Path(__file__).parent
    sources = [here / "native" / "fast_loop.c", here.parent / "clients" / "c" / "jounce_client.c"]
    subprocess.run([compiler, "-std=c99", "-O2", *map(str, sources), "-o", str(folder / "loop")], check=True)
    return native_block(client, lane, folder / "loop", stack)


def cpp_block(client: Client, address: str, folder: Path, stack: contextlib.ExitStack) -> Block:
    """The gRPC stream through the C++ client, which takes a minute to build."""
    source = Path(__file__).parents[1] / "clients" / "cpp"
    for command in (["-S", str(source), "-B", str(folder / "cpp"), "-DCMAKE_BUILD_TYPE=Release"],
                    ["--build", str(folder / "cpp"), "--target", "grpc_loop"]):
        subprocess.run(["cmake", *command], check=True, stdout=subprocess.DEVNULL)
    return native_block(client, address, folder / "cpp" / "grpc_loop", stack)


def native_block(client: Client, address: str, program: Path, stack: contextlib.ExitStack) -> Block:
    """Lockstep in a program that times its own steps."""
    session = client.create_session("hmmwv", {"init.speed": 15.0})
    loop = stack.enter_context(subprocess.Popen(
        [str(program), address, session.id, session.join_token, *OWNED], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True))
    stack.callback(loop.terminate)

    async def lockstep(n: int) -> Samples:
        assert loop.stdin is not None and loop.stdout is not None
        loop.stdin.write(f"{n}\n")
        loop.stdin.flush()
        return Samples([float(loop.stdout.readline()) for _ in range(n)])

    return lockstep


def _timed(call: Callable[[], object], n: int) -> Samples:
    times = []
    for _ in range(n):
        start = time.perf_counter_ns()
        call()
        times.append(float(time.perf_counter_ns() - start))
    return Samples(times)


async def measure(folder: Path, rounds: int, n: int, cpp: bool) -> None:
    """Starts the processes, interleaves the blocks, prints."""
    echo_path, grpc_path, fast_path = (folder / name for name in ("e", "g", "f"))

    def serve(name: str, *more: str) -> list[str]:
        return ["-m", "jounce_service.cli", "serve", "--address=", f"--socket-path={folder / name}",
                f"--ready-file={folder / name}.ready", *more]

    with contextlib.ExitStack() as stack:
        server = stack.enter_context(process(serve("s", f"--fast-socket={fast_path}"), folder / "s.ready"))
        away_path, away_ready = folder / "wf", folder / "w.ready"
        away = stack.enter_context(process(serve("w", "--workers", f"--fast-socket={away_path}"), away_ready))
        away_client = stack.enter_context(Client.connect(f"unix:{folder / 'w'}"))
        address = f"unix:{folder / 's'}"
        client = stack.enter_context(Client.connect(address))
        probe: ClientSession = client.create_session("hmmwv")
        with client.join(probe, "probe", owns=OWNED, wants=["*"]) as member:
            inputs, outputs = np.zeros(len(member.inputs)), len(member.outputs)
        client.delete_session(probe)
        script = str(Path(__file__).parent / "echo.py")
        echo = stack.enter_context(process([script, "socket", str(echo_path), str(outputs)], echo_path))
        bare = stack.enter_context(process([script, "grpc", str(grpc_path), str(outputs)], grpc_path))
        raw = Raw(echo_path, inputs.tolist())
        async with (
            await AsyncClient.connect(address) as aio,
            await AsyncClient.connect(f"unix:{folder / 'w'}") as away_aio,
            grpc.aio.insecure_channel(f"unix:{grpc_path}") as channel,
        ):
            aio_step, aio_advance = await aio_blocks(aio, inputs)
            sync_step, sync_advance = sync_blocks(client, inputs)
            blocks: dict[str, Block] = {
                "raw socket echo": raw.block,
                "gRPC aio stream echo": grpc_block(channel, inputs.tolist()),
                "Lockstep, fast lane, Python": fast_block(client, f"unix:{fast_path}", inputs),
                "Lockstep, fast lane, Python, worker": fast_block(away_client, f"unix:{away_path}", inputs),
                "Lockstep, aio client": aio_step,
                "Lockstep, aio client, worker": (await aio_blocks(away_aio, inputs))[0],
                "Lockstep, sync client": sync_step,
                "Advance, aio client": aio_advance,
                "Advance, sync client": sync_advance,
            }
            in_c = c_block(client, f"unix:{fast_path}", folder, stack)
            if in_c is not None:
                blocks["Lockstep, fast lane, C"] = in_c
            if cpp:
                blocks["Lockstep, C++ client"] = cpp_block(client, address, folder, stack)
            peers = {"raw socket echo": echo.pid, "gRPC aio stream echo": bare.pid}
            peers |= {name: away.pid for name in blocks if name.endswith("worker")}
            await run(blocks, peers, server.pid, rounds, n)
        print(f"request {raw.request_bytes} bytes ({len(inputs)} inputs),"
              f" reply {raw.reply_bytes} bytes ({outputs} outputs)")
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
    parser.add_argument("--cpp", action="store_true", help="build and time the C++ client, too")
    options = parser.parse_args()
    print(machine(), versions("jounce", "grpcio", "protobuf"), sep="; ")
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder), options.rounds, options.trips, options.cpp))


if __name__ == "__main__":
    main()
