"""The image: run under the limits of compose.yaml, and compared with the same programs outside of it.

Asked for by a variable, since a build takes minutes: JOUNCE_IMAGE names an image that podman has, or
JOUNCE_CONTAINER_SH the script of the shared tools, which installs podman and builds the image on a stand-in base.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
TAG = "localhost/jounce:test"
ADDRESS = "--address=unix:/run/jounce/jounce.sock"
#: As compose.yaml limits every container; the ulimits are for a machine without CAP_SYS_RESOURCE.
LIMITS = ("--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--network=none", "--tmpfs=/tmp",
          "--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096")
DURATION = "--duration=2"


def podman(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["podman", "--runtime", "runc", *arguments], capture_output=True, text=True, check=False,
                          timeout=120, **options)


@pytest.fixture(scope="module")
def image() -> str:
    """The image, given or built; the test is skipped where nobody asked for it or its tools cannot be had."""
    if given := os.environ.get("JOUNCE_IMAGE"):
        if shutil.which("podman") is None:
            pytest.skip("no podman")
        return given
    script = os.environ.get("JOUNCE_CONTAINER_SH")
    if not script:
        pytest.skip("containers are tested where JOUNCE_IMAGE or JOUNCE_CONTAINER_SH is set")
    if os.geteuid() != 0:
        pytest.skip("installing the container tools needs root")
    settings = {"BASE_NAME": "localhost/python:3.12-slim-bookworm", "RUN_ARGS": "--version", "BUILDAH_FORMAT": "docker"}
    built = subprocess.run(["bash", script, str(ROOT), TAG], capture_output=True, text=True, check=False, timeout=1800,
                           env=os.environ | settings)
    if "stand-in tagged" not in built.stdout:
        pytest.skip(f"the container tools cannot be installed: {built.stderr[-300:]}")
    assert built.returncode == 0, built.stdout[-2000:] + built.stderr[-2000:]
    assert "container ran" in built.stdout
    return TAG


@contextmanager
def container(image: str, *arguments: str, volumes: tuple[str, ...], entrypoint: str = "") -> Iterator[str]:
    """A container with the limits of compose.yaml; it is stopped at the end."""
    own = [f"--entrypoint={entrypoint}"] if entrypoint else []
    started = podman("run", "--detach", *LIMITS, *(f"--volume={v}" for v in volumes), *own, image, *arguments)
    assert started.returncode == 0, started.stderr
    name = started.stdout.strip()
    try:
        yield name
    finally:
        podman("rm", "--force", "--time=10", name)


def programs() -> dict[str, list[str]]:
    """The commands of both programs, from compose.yaml, without their logs and with a shorter duration."""
    yaml = pytest.importorskip("yaml")
    services = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
    return {name: [DURATION if word.startswith("--duration") else word for word in services[name]["command"]
                   if not word.startswith("--log")] for name in ("autopilot", "terramechanics")}


def wait_until(done: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end
        time.sleep(0.2)


def test_the_image_is_small_and_its_user_is_not_root(image: str) -> None:
    size = int(podman("image", "inspect", "--format={{.Size}}", image).stdout)
    assert size < 350e6
    with container(image, "-c", "import os; print(os.getuid(), os.access('/opt/venv', os.W_OK))", volumes=(),
                   entrypoint="python") as name:
        podman("wait", name)
        assert podman("logs", name).stdout.split() == ["10001", "False"]


def test_three_containers_give_the_same_bits_as_three_processes(image: str, tmp_path: Path) -> None:
    run, logs = tmp_path / "run", tmp_path / "logs"
    for folder in (run, logs):
        folder.mkdir()
        os.chown(folder, 10001, 10001)
    volumes = f"{run}:/run/jounce", f"{logs}:/var/lib/jounce"
    with container(image, volumes=volumes) as server:
        wait_until(lambda: podman("healthcheck", "run", server).returncode == 0)
        pilot, soil = ([f"--log=/var/lib/jounce/{name}.csv", *words] for name, words in programs().items())
        module = ("-m", "jounce_client.examples.autopilot"), ("-m", "jounce_client.examples.terramechanics")
        with (container(image, *module[0], *pilot, volumes=volumes, entrypoint="python") as one,
              container(image, *module[1], *soil, volumes=volumes, entrypoint="python") as two):
            for name in (one, two):
                assert podman("wait", name).stdout.strip() == "0", podman("logs", name).stderr
        # SIGTERM ends it in an orderly way.
        podman("stop", "--time=10", server)
        assert podman("inspect", "--format={{.State.ExitCode}}", server).stdout.strip() == "0"
    here = as_processes(tmp_path)
    for name in ("autopilot", "terramechanics"):
        contained = (logs / f"{name}.csv").read_text()
        assert len(contained.splitlines()) > 100
        assert contained == (here / f"{name}.csv").read_text()


def as_processes(tmp_path: Path) -> Path:
    """The folder with the logs of the same three programs on this machine."""
    folder = tmp_path / "here"
    folder.mkdir()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    socket = folder / "jounce.sock"
    place = {ADDRESS: f"--address=unix:{socket}",
             "--session-file=/run/jounce/session.json": f"--session-file={folder / 'session.json'}"}
    server = subprocess.Popen([sys.executable, "-m", "jounce_service.cli", "serve", "--address=",
                               f"--socket-path={socket}"], env=environment, stdout=subprocess.DEVNULL)
    try:
        wait_until(socket.exists)
        children = [
            subprocess.Popen([sys.executable, "-m", f"jounce_client.examples.{name}", f"--log={folder / name}.csv",
                              *(place.get(word, word) for word in words)], env=environment)
            for name, words in programs().items()
        ]
        assert [child.wait(60) for child in children] == [0, 0]
    finally:
        server.terminate()
        server.wait(20)
    return folder
