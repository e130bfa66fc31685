"""A participant with the Python client, for participants.py: ``sync|aio|fast=GRPC_ADDRESS ADDRESS SESSION TOKEN NAME
INPUT...``.

Reads a count, steps so often, prints when each step began and ended [ns, CLOCK_MONOTONIC].
"""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

import numpy as np

from jounce_client import AsyncClient, Client, Session


def tell(times: list[tuple[int, int]]) -> None:
    """To the program that reads."""
    sys.stdout.write("".join(f"{begin} {end}\n" for begin, end in times))
    sys.stdout.flush()


def step_sync(address: str, session: Session, terms: dict[str, Any]) -> None:
    """The sync client, over gRPC or the fast lane."""
    with Client.connect(address) as client:
        participant = client.join(session, **terms)
        inputs = np.zeros(len(participant.inputs))
        for line in sys.stdin:
            times = []
            for _ in range(int(line)):
                begin = time.monotonic_ns()
                participant.step(inputs)
                times.append((begin, time.monotonic_ns()))
            tell(times)


async def step_aio(address: str, session: Session, terms: dict[str, Any]) -> None:
    """The async client."""
    async with await AsyncClient.connect(address) as client:
        participant = await client.join(session, **terms)
        inputs = np.zeros(len(participant.inputs))
        # The loop has nothing else to do while it waits for a count.
        for line in sys.stdin:
            times = []
            for _ in range(int(line)):
                begin = time.monotonic_ns()
                await participant.step(inputs)
                times.append((begin, time.monotonic_ns()))
            tell(times)


def main() -> None:
    """Command line."""
    kind, address, session_id, token, name, *owned = sys.argv[1:]
    session = Session(session_id, token)
    terms: dict[str, Any] = {"name": name, "owns": owned, "wants": ["*"]}
    if kind == "aio":
        asyncio.run(step_aio(address, session, terms))
    elif kind == "sync":
        step_sync(address, session, terms)
    else:
        step_sync(kind.removeprefix("fast="), session, terms | {"transport": address})


if __name__ == "__main__":
    main()
