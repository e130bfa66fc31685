"""The image, under the limits of compose.yaml: what it is, whether it keeps the contract, and the scenario's bits.

Where JOUNCE_SLOW is set, the image is built by the script that JOUNCE_CONTAINER_SH names (.ci/run sets it). That takes
two minutes: the script installs podman and has a stand-in for the base. Or it is one that podman has and JOUNCE_IMAGE
names. Without either the tests are skipped.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from jounce_client import Client, JounceError
from jounce_tools.demo import run as demo

ROOT = Path(__file__).parents[2]
TAG, BASE = "localhost/jounce:test", "localhost/python:3.12-slim-bookworm"
#: For a machine without CAP_SYS_RESOURCE, where the usual limits are refused.
ULIMITS = ("--ulimit=nofile=1024:1024", "--ulimit=nproc=4096:4096")
#: The scenario takes 20 s; the whole of it is run where JOUNCE_SLOW is set.
DURATION = demo.Settings.duration if "JOUNCE_SLOW" in os.environ else 3.0
BUILD_SECONDS = 600


def podman(*arguments: str, seconds: float = 120.0) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["podman", "--runtime", "runc", *arguments], capture_output=True, text=True, check=False,
                          timeout=seconds)


@pytest.fixture(scope="session")
def image() -> str:
    """The image, given or built; skipped where nobody asked for it, or where no container can be built or run."""
    if given := os.environ.get("JOUNCE_IMAGE"):
        if shutil.which("podman") is None:
            pytest.skip("no podman")
        return given
    script = os.environ.get("JOUNCE_CONTAINER_SH")
    if "JOUNCE_SLOW" not in os.environ:
        pytest.skip("building the image takes minutes; set JOUNCE_SLOW to do it")
    if not script:
        pytest.skip("containers are tested where JOUNCE_IMAGE or JOUNCE_CONTAINER_SH is set")
    if os.geteuid() != 0:
        pytest.skip("installing the container tools needs root")
    # Layers: the stand-in keeps its name from build to build, and so do the layers on it.
    settings = {"BASE_NAME": BASE, "RUN_ARGS": "--version", "BUILDAH_FORMAT": "docker", "BUILDAH_LAYERS": "true"}
    before = identity() if shutil.which("podman") else ""
    # Unlike subprocess, timeout ends what the script has started, too.
    built = subprocess.run(["timeout", "--kill-after=10", str(BUILD_SECONDS), "bash", script, str(ROOT), TAG],
                           capture_output=True, text=True, check=False, env=os.environ | settings)
    said = built.stdout[-2000:] + built.stderr[-2000:]
    if "stand-in tagged" not in built.stdout:
        pytest.skip(f"the container tools cannot be had: {said}")
    if built.returncode == 124:
        pytest.skip(f"the image was not built in {BUILD_SECONDS} s: {said}")
    if built.returncode != 0 and podman("run", "--rm", "--network=none", *ULIMITS, BASE, "true").returncode != 0:
        pytest.skip(f"no container runs on this machine: {said}")
    assert built.returncode == 0, said
    assert "container ran" in built.stdout
    if before not in ("", identity()):
        podman("rmi", before)  # a hundred megabytes for every state of the sources
    return TAG


def identity() -> str:
    """Of the image that has the tag, if there is one."""
    return podman("image", "inspect", "--format={{.Id}}", TAG).stdout.strip()


class Compose:
    """The services of compose.yaml as podman's containers, with volumes of their own."""

    #: How podman spells what compose.yaml says of a container. Keys that shape no container are met elsewhere.
    WORDS: dict[str, Callable[[Any], list[str]]] = {
        "read_only": lambda v: [f"--read-only={str(v).lower()}"],
        # An internal network on which nobody listens: as good as none, which needs no privilege here.
        "networks": lambda v: ["--network=none"],
        "cap_drop": lambda v: [f"--cap-drop={c}" for c in v],
        "security_opt": lambda v: [f"--security-opt={o.removesuffix(':true')}" for o in v],
        "tmpfs": lambda v: [f"--tmpfs={path}" for path in v],
        "entrypoint": lambda v: [f"--entrypoint={json.dumps(v)}"],
        "stop_grace_period": lambda v: [f"--stop-timeout={int(v.removesuffix('s'))}"],
        "healthcheck": lambda v: ["--no-healthcheck"] if v == {"disable": True} else [],
        **dict.fromkeys(("image", "build", "depends_on", "command", "volumes"), lambda _: []),
    }

    def __init__(self, image: str) -> None:
        yaml = pytest.importorskip("yaml")
        whole = yaml.safe_load((ROOT / "compose.yaml").read_text())
        self.image, self.services = image, whole["services"]
        self.volumes = {name: f"jounce-{uuid.uuid4().hex[:12]}-{name}" for name in whole["volumes"]}

    def folder(self, volume: str) -> Path:
        """Where the host sees a volume."""
        return Path(podman("volume", "inspect", "--format={{.Mountpoint}}", self.volumes[volume]).stdout.strip())

    @property
    def address(self) -> str:
        """Of the server, for the host."""
        return f"unix:{self.folder('run') / 'jounce.sock'}"

    @contextmanager
    def up(self, service: str, *, command: list[str] | None = None, entrypoint: str | None = None) -> Iterator[str]:
        """The container of a service, as written but for what is given; it is removed at the end."""
        said = self.services[service] | ({"entrypoint": [entrypoint]} if entrypoint else {})
        words = [word for key, value in said.items() for word in self.WORDS[key](value)]
        for volume in said["volumes"]:
            name, _, place = volume.partition(":")
            words.append(f"--volume={self.volumes[name]}:{place}")
        started = podman("run", "--detach", *ULIMITS, *words, self.image, *(command or said.get("command", [])))
        assert started.returncode == 0, started.stderr
        name = started.stdout.strip()
        try:
            yield name
        finally:
            podman("rm", "--force", "--time=2", name)

    def down(self) -> None:
        """Removes the volumes."""
        podman("volume", "rm", "--force", *self.volumes.values())


@pytest.fixture
def compose(image: str) -> Iterator[Compose]:
    made = Compose(image)
    yield made
    made.down()


@pytest.fixture
def server(compose: Compose) -> Iterator[str]:
    """The container of the server, once its health probe passes."""
    with compose.up("server") as name:
        end = time.monotonic() + 180.0
        while podman("healthcheck", "run", name).returncode != 0:
            assert time.monotonic() < end, podman("logs", name).stderr
            time.sleep(0.2)
        yield name


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Children of this process find what it found."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))


def exit_code(name: str) -> str:
    return podman("inspect", "--format={{.State.ExitCode}}", name).stdout.strip()


def test_the_image_is_small_and_a_container_is_not_root_and_cannot_write(compose: Compose) -> None:
    assert int(podman("image", "inspect", "--format={{.Size}}", compose.image).stdout) < 400e6
    look = "import os; print(os.getuid(), *(os.statvfs(p).f_flag & os.ST_RDONLY for p in ('/', '/opt/venv', '/tmp')))"
    with compose.up("server", entrypoint="python", command=["-c", look]) as name:
        podman("wait", name)
        assert podman("logs", name).stdout.split() == ["10001", "1", "1", "0"]


def test_the_container_keeps_the_contract(compose: Compose, server: str, environment: None, tmp_path: Path) -> None:
    suite = subprocess.run([sys.executable, "-m", "jounce_client.compliance", f"--address={compose.address}"],
                           capture_output=True, text=True, check=False, timeout=300, cwd=tmp_path)
    assert suite.returncode == 0, suite.stdout
    assert "skipped" not in suite.stdout, suite.stdout


def test_a_container_that_is_stopped_lets_its_participants_end_their_run(compose: Compose, server: str) -> None:
    with Client.connect(compose.address) as client, ExitStack() as end:
        session = client.create_session("hmmwv")
        with client.join(session, "pilot", owns=["steering_wheel_angle"]) as pilot:
            stop = subprocess.Popen(["podman", "--runtime", "runc", "stop", server], stdout=subprocess.DEVNULL)
            end.callback(stop.kill)
            deadline = time.monotonic() + 60.0
            while not pilot.events:
                assert time.monotonic() < deadline
                tick = pilot.step([0.0]).tick
            assert [event.kind for event in pilot.events] == ["DRAINING"]
            with pytest.raises(JounceError, match="DRAINING"):
                client.create_session("hmmwv")
            assert pilot.step([0.1]).tick == tick + 1
        client.delete_session(session)
        assert stop.wait(60) == 0
    assert exit_code(server) == "0"


def test_the_containers_reach_the_same_state_as_the_local_demo(
    compose: Compose, server: str, environment: None, tmp_path: Path
) -> None:
    whole = f"--duration={demo.Settings.duration:g}"
    with ExitStack() as end:
        programs = []
        for name in ("autopilot", "terramechanics"):
            command = compose.services[name]["command"]
            assert whole in command
            words = [f"--duration={DURATION:g}" if word == whole else word for word in command]
            programs.append(end.enter_context(compose.up(name, command=words)))
        for name in programs:
            assert podman("wait", name, seconds=600.0).stdout.strip() == "0", podman("logs", name).stderr
    contained = compose.folder("logs")

    soil = demo.GROUNDS[0]
    settings = demo.Settings(tmp_path, duration=DURATION)
    with demo.serving(tmp_path) as (process, address):
        demo.run_ground(soil, settings, process, address, tmp_path, lambda _: None)
    # The autopilot's last row is the final state.
    assert demo.load(contained / "autopilot.csv")["time"][-1] == DURATION
    for name in ("autopilot", "terramechanics"):
        assert (contained / f"{name}.csv").read_text() == (tmp_path / f"{soil.name}_{name}.csv").read_text()
