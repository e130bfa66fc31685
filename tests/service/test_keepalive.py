"""A pulled cable: both sides of both lanes notice it within the keep-alive. Needs root for its own network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from served import eventually

#: Steps until that fails, and says why.
PROGRAM = """
import sys
from jounce_client import Client, JounceError
client = Client.connect(sys.argv[1], keepalive=2.0)
session = client.create_session("integrator")
member = client.join(session, "a", owns=["force"], transport=sys.argv[2])
print(session.id, flush=True)
try:
    while True:
        member.step([1.0])
except JounceError as error:
    print(error.reason, flush=True)
"""


def ip(*words: str) -> None:
    """Changes the network; skips the test where that is not allowed."""
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"a network of its own is not to be had: ip {' '.join(words)}: {done.stderr.strip()}")


@pytest.fixture
def cable() -> Iterator[tuple[str, str, str]]:
    """Name of a network namespace, of this end of a cable that leads there, and the address of this end."""
    if shutil.which("ip") is None or os.geteuid() != 0:
        pytest.skip("needs root and iproute2 for a network namespace")
    number = os.getpid() % 250
    name, here, there, net = f"jounce{number}", f"jh{number}", f"jt{number}", f"198.18.{number}"
    try:
        ip("netns", "add", name)
        ip("link", "add", here, "type", "veth", "peer", "name", there)
        ip("link", "set", there, "netns", name)
        for words in (["addr", "add", f"{net}.1/24", "dev", here], ["link", "set", here, "up"],
                      ["-n", name, "addr", "add", f"{net}.2/24", "dev", there],
                      ["-n", name, "link", "set", there, "up"]):
            ip(*words)
        yield name, here, f"{net}.1"
    finally:
        for words in (["link", "del", here], ["netns", "del", name]):
            subprocess.run(["ip", *words], capture_output=True, check=False)


def test_a_pulled_cable_is_noticed_on_both_sides_of_both_lanes(serve: Any, cable: tuple[str, str, str]) -> None:
    name, here, host = cable
    server = serve(address=f"{host}:0", fast_address=f"{host}:0", insecure=True, keepalive=2.0).server
    clients = []
    try:
        for lane in ("", server.fast.addresses[0]):
            clients.append(subprocess.Popen(
                ["ip", "netns", "exec", name, sys.executable, "-c", PROGRAM, server.addresses[0], lane],
                stdout=subprocess.PIPE, text=True, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}))
        lines = [c.stdout for c in clients if c.stdout is not None]
        sessions = [server.manager.find(line.readline().strip()) for line in lines]
        assert all(s.connections for s in sessions)
        ip("link", "set", here, "down")
        assert eventually(lambda: not any(s.connections for s in sessions), 30.0)
        assert [line.readline().strip() for line in lines] == ["UNAVAILABLE", "UNAVAILABLE"]
    finally:
        for client in clients:
            client.kill()
            client.wait()
