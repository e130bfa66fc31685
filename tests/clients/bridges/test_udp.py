"""Packed UDP against a peer in C made from the printed structs, and against a hostile one."""

from __future__ import annotations

import argparse
import shutil
import socket
import struct
import subprocess
import sys
import threading
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ports import free_port

from jounce_client import Client
from jounce_client.bridges import udp
from jounce_client.bridges.session import BridgeError, Status
from jounce_client.bridges.udp import Bridge, packed, unpacked

#: The peer steers by the tick and the speed it has read, and prints what it saw last.
PEER = r"""
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
%s
static uint32_t crc32(const unsigned char *p, size_t n, uint32_t c) {
    for (; n--; p++) {
        c ^= *p;
        for (int k = 0; k < 8; k++) c = c >> 1 ^ (c & 1 ? 0xEDB88320u : 0);
    }
    return c;
}
int main(int argc, char **argv) {
    int s = socket(AF_INET, SOCK_DGRAM, 0), left = atoi(argv[2]);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[1]))};
    struct jounce_state x;
    struct jounce_inputs u = {0};
    (void)argc;
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sendto(s, "hello", 5, 0, (void *)&to, sizeof to);
    while (left--) {
        if (recv(s, &x, sizeof x, 0) != sizeof x) return 1;
        u.magic = x.magic;
        u.version = x.version;
        u.tick = x.tick;
        u.value_0 = 1e-3 * (double)x.tick + 0.01 * x.value_0;
        u.crc = ~crc32((unsigned char *)&u + 20, sizeof u - 20, crc32((unsigned char *)&u, 16, ~0u));
        sendto(s, &u, sizeof u, 0, (void *)&to, sizeof to);
    }
    if (recv(s, &x, sizeof x, 0) != sizeof x) return 1;
    printf("%%lld %%.17g %%.17g\n", (long long)x.tick, x.value_0, x.value_1);
    return 0;
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_a_peer_in_c_from_the_printed_structs_has_the_bits_of_one_in_process(address: str, tmp_path: Path) -> None:
    steps, period = 200, 5
    command = [sys.executable, "-m", "jounce_client.bridges.udp", f"--address={address}",
               "--send=speed,ref_frame.pos.y", "--receive=steering_wheel_angle", f"--period={period}",
               "--set=init.speed=10"]  # fmt: skip
    layout = subprocess.run([*command, "--layout"], capture_output=True, text=True, check=True, timeout=60).stdout
    (tmp_path / "peer.c").write_text(PEER % layout)
    subprocess.run(["cc", "-Wall", "-Werror", "-o", "peer", "peer.c"], cwd=tmp_path, check=True, timeout=60)
    port = free_port(socket.SOCK_DGRAM)
    bridge = subprocess.Popen([*command, f"--bind=127.0.0.1:{port}", f"--frames={steps}"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)  # fmt: skip
    assert bridge.stdout is not None
    while bridge.stdout.readline() != "};\n":
        assert bridge.poll() is None
    peer = subprocess.run([str(tmp_path / "peer"), str(port), str(steps)], capture_output=True, text=True, check=True,
                          timeout=60)  # fmt: skip
    assert bridge.wait(60) == 0, bridge.stderr
    with (Client.connect(address) as client, client.create_session("hmmwv", {"init.speed": 10.0}) as session,
          client.join(session, "me", owns=["steering_wheel_angle"], wants=["speed", "ref_frame.pos.y"],
                      period=period) as member):  # fmt: skip
        state = member.start
        for _ in range(steps):
            state = member.step([1e-3 * state.tick + 0.01 * float(state["speed"])])
    assert peer.stdout.split() == [str(state.tick), *(f"{v:.17g}" for v in state.values)]


def test_a_datagram_is_header_crc_and_doubles() -> None:
    data = packed(7, [1.5, -2.0])
    magic, version, tick, crc, *values = struct.unpack("<IIQI2d", data)
    assert (magic, version, tick, values) == (udp.MAGIC, 1, 7, [1.5, -2.0])
    assert crc == zlib.crc32(data[:16] + data[20:])
    assert unpacked(data, 2) == (7, [1.5, -2.0])


@given(st.binary(max_size=60), st.integers(0, 35))
def test_bytes_that_are_no_datagram_are_refused(data: bytes, flipped: int) -> None:
    good = bytearray(packed(3, [0.5, 0.25]))
    good[flipped] ^= 1 << flipped % 8
    for odd in (data, bytes(good)):
        with pytest.raises(BridgeError, match="expected|crc"):
            unpacked(odd, 2)


def test_old_early_and_bad_datagrams_make_no_step(address: str) -> None:
    with (Client.connect(address) as client, client.create_session("hmmwv", participants=["udp"]) as session,
          socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ours,
          socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as theirs):  # fmt: skip
        for s in (ours, theirs):
            s.bind(("127.0.0.1", 0))
            s.settimeout(60.0)
        place = ours.getsockname()
        member = client.join(session, "udp", owns=["steering_wheel_angle"], wants=["speed"], period=10)
        bridge, status = Bridge(member, ours, theirs.getsockname(), resend=0.2), Status("udp", "text")

        def peer() -> None:
            for k in range(20):
                while (tick := unpacked(theirs.recv(4096), 1)[0]) < 10 * k:
                    pass  # sent again on a machine that is slow
                assert tick == 10 * k
                for odd in (b"x", packed(tick + 10, [0.0]), packed(max(tick - 10, 0) + (not tick), [0.0])):
                    theirs.sendto(odd, place)
                for value in (np.nan, 1e9):
                    theirs.sendto(packed(tick, [value]), place)
                    assert unpacked(theirs.recv(4096), 1)[0] == tick  # the same state again: not taken
                theirs.sendto(packed(tick, [0.1]), place)

        thread = threading.Thread(target=peer)
        thread.start()
        state = member.start
        while bridge.counters.steps < 20:
            state = bridge.step(state, bridge.exchange(state, status))
        thread.join(60)
        assert state.tick == 200 == client.get_session(session).tick
        assert bridge.counters.refused >= 80 and bridge.counters.repeats >= 19


def test_a_peer_that_is_silent_gets_the_state_again(address: str) -> None:
    with (Client.connect(address) as client, client.create_session("hmmwv", participants=["udp"]) as session,
          socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ours,
          socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as theirs):  # fmt: skip
        for s in (ours, theirs):
            s.bind(("127.0.0.1", 0))
            s.settimeout(60.0)
        member = client.join(session, "udp", owns=["steering_wheel_angle"], wants=["speed"])
        bridge = Bridge(member, ours, theirs.getsockname(), resend=0.05)

        def peer() -> None:
            first = theirs.recv(4096)
            assert theirs.recv(4096) == first
            theirs.sendto(packed(0, [0.0]), ours.getsockname())

        thread = threading.Thread(target=peer)
        thread.start()
        assert bridge.exchange(member.start, Status("udp", "text")) == [0.0]
        thread.join(60)


@pytest.mark.parametrize(("options", "text"), [
    (["--period", "0"], "--period 0: expected 1 or more ticks"),
    (["--peer", "here"], "here: expected HOST:PORT"),
    (["--resend", "-1"], "--resend -1 s: expected more than 0"),
    (["--send", ",".join(["speed"] * 10000)], "10000 values: expected at most"),
])  # fmt: skip
def test_options_that_cannot_be_are_refused(options: list[str], text: str) -> None:
    parser = argparse.ArgumentParser()
    udp.add_options(parser)
    with pytest.raises(BridgeError, match=text):
        udp.run(parser.parse_args(options))
