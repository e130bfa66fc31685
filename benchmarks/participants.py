"""Participants in processes of their own that time their own steps, in C, C++ and Python."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from serving import HERE, Serving
from timing import Samples

from jounce_client import Session


def in_python(kind: str) -> list[str]:
    """The Python client: ``sync``, ``aio``, or ``fast=`` and the gRPC address for the sync client on the fast lane."""
    return [sys.executable, str(HERE / "python_loop.py"), kind]


def compiled(name: str, folder: Path, *more: Path) -> list[str] | None:
    """A program of `native/`, compiled with more sources; None without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        print(f"{name} left out: no cc")
        return None
    sources = [HERE / "native" / f"{name}.c", *more]
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([compiler, "-std=c99", "-O2", *map(str, sources), "-o", str(folder / name)], check=True)
    return [str(folder / name)]


def fast_in_c(folder: Path) -> list[str] | None:
    """The C client on the fast lane."""
    return compiled("fast_loop", folder, HERE.parent / "clients" / "c" / "jounce_client.c")


def grpc_in_cpp(folder: Path) -> list[str]:
    """The C++ client on gRPC, which takes a minute to build (packages: docs/cpp.md)."""
    for command in (["-S", str(HERE.parent / "clients" / "cpp"), "-B", str(folder / "cpp"),
                     "-DCMAKE_BUILD_TYPE=Release"], ["--build", str(folder / "cpp"), "--target", "grpc_loop"]):
        subprocess.run(["cmake", *command], check=True, stdout=subprocess.DEVNULL)
    return [str(folder / "cpp" / "grpc_loop")]


@contextlib.contextmanager
def prioritized(priority: int) -> Iterator[None]:
    """Meanwhile this thread, and what it starts, has a priority of SCHED_FIFO; 0 = as it is. Raises PermissionError.

    A `preexec_fn` would do the same after a fork, which gRPC in this process does not always survive.
    """
    if not priority:
        yield
        return
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    try:
        yield
    finally:
        os.sched_setscheduler(0, *before)


@contextlib.contextmanager
def apart(priority: int) -> Iterator[None]:
    """Meanwhile the same, or a line that says that it may not be.

    At normal priority Linux likes to put two processes that talk in turns on one core, the raw pair before all.
    """
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(prioritized(priority))
        except (AttributeError, PermissionError):
            print("no real-time priority (CAP_SYS_NICE or RLIMIT_RTPRIO): what talks in turns may share a core")
        yield


class Loop:
    """A program that steps so often as it is told and then prints when each step began and ended [ns]."""

    def __init__(self, command: Sequence[str], priority: int = 0) -> None:
        """``priority`` of SCHED_FIFO, which this process must be allowed to give; 0 = none."""
        with prioritized(priority):
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def start(self, n: int) -> None:
        """Begins ``n`` steps."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{n}\n")
        self.process.stdin.flush()
        self._n = n

    def times(self) -> NDArray[np.float64]:
        """Begin and end [ns, CLOCK_MONOTONIC] of each of the steps, once all are done."""
        assert self.process.stdout is not None
        lines = [self.process.stdout.readline() for _ in range(self._n)]
        if not lines[-1]:
            raise RuntimeError(f"{' '.join(map(str, self.process.args[:3]))} ended early")  # type: ignore[index]
        return np.array([line.split() for line in lines], dtype=np.float64)

    def run(self, n: int) -> NDArray[np.float64]:
        """The same for a program that waits for no other."""
        self.start(n)
        return self.times()

    def trips(self, n: int) -> Samples:
        """How long each of ``n`` steps took."""
        return Samples(np.diff(self.run(n))[:, 0].tolist())

    def end(self) -> None:
        """Ends the program."""
        self.process.terminate()
        self.process.wait(30)


@contextlib.contextmanager
def looping(command: Sequence[str], priority: int = 0) -> Iterator[Loop]:
    """A program that ends with the context."""
    loop = Loop(command, priority)
    try:
        yield loop
    finally:
        loop.end()


@dataclass(frozen=True)
class Way:
    """How participants reach their session: lane, language and network in words, and the program to a server."""

    fast: bool
    language: str
    network: str
    program: Callable[[Serving], list[str]]

    @property
    def name(self) -> str:
        """For the tables."""
        return f"{'fast lane' if self.fast else 'stream'}, {self.language}, {self.network}"

    def address(self, serving: Serving) -> str:
        """Where they connect."""
        unix, tcp = (serving.fast_unix, serving.fast_tcp) if self.fast else (serving.unix, serving.tcp)
        return unix if self.network == "unix" else tcp


def ways(build: Path, networks: Sequence[str], cpp: bool, python: Sequence[str] = ("aio",)) -> list[Way]:
    """All that can be measured here; ``python`` clients take the stream."""
    in_c = fast_in_c(build)
    in_cpp = grpc_in_cpp(build) if cpp else None
    found = []
    for network in networks:
        if in_c is not None:
            found.append(Way(True, "C", network, lambda _: in_c))
        found.append(Way(True, "Python", network, lambda serving: in_python(f"fast={serving.unix}")))
        if in_cpp is not None:
            found.append(Way(False, "C++", network, lambda _: in_cpp))
        for kind in python:
            found.append(Way(False, f"Python ({kind})", network, lambda _, kind=kind: in_python(kind)))
    return found


def participant(way: Way, serving: Serving, session: Session, name: str, owned: Sequence[str]) -> list[str]:
    """The command of a participant that gets all outputs and sets ``owned`` to zero."""
    return [*way.program(serving), way.address(serving), session.id, session.join_token, name, *owned]
