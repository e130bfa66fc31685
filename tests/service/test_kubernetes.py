"""docs/kubernetes.yaml: valid, locked down, in step with the image, and its settings start a server."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from jounce_service.server.config import ServerConfig
from jounce_service.server.settings import load, variable

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs" / "kubernetes.yaml"
RESOURCES: dict[str, dict[str, Any]] = {r["kind"]: r for r in yaml.safe_load_all(FILE.read_text())}
POD = RESOURCES["StatefulSet"]["spec"]["template"]
SERVER = POD["spec"]["containers"][0]
ENVIRONMENT: dict[str, str] = {e["name"]: e["value"] for e in SERVER["env"]}


@pytest.mark.parametrize("kind", RESOURCES)
def test_every_resource_follows_the_strict_schema_of_kubernetes(kind: str) -> None:
    validate = pytest.importorskip("kubernetes_validate", reason="kubernetes-validate is not installed")
    validate.validate(RESOURCES[kind], "1.30", strict=True)
    with pytest.raises(validate.ValidationError):
        validate.validate(RESOURCES[kind] | {"spek": {}}, "1.30", strict=True)


def test_each_pod_has_an_address_of_its_own_and_the_service_finds_its_pods() -> None:
    service, pods = RESOURCES["Service"], RESOURCES["StatefulSet"]["spec"]
    assert service["spec"]["clusterIP"] == "None"
    assert service["metadata"]["name"] == pods["serviceName"]
    labels = POD["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()
    assert pods["selector"]["matchLabels"].items() <= labels.items()
    assert RESOURCES["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
    named = {p["name"]: p["containerPort"] for p in SERVER["ports"]}
    assert {p["targetPort"]: p["port"] for p in service["spec"]["ports"]} == named
    assert {n: int(ENVIRONMENT[v].rpartition(":")[2]) for n, v in
            (("grpc", "JOUNCE_ADDRESS"), ("metrics", "JOUNCE_METRICS_ADDRESS"))} == named


def test_the_pod_has_no_right_that_it_does_not_need() -> None:
    pod, own = POD["spec"]["securityContext"], SERVER["securityContext"]
    assert pod["runAsNonRoot"] and f"USER {pod['runAsUser']}:{pod['runAsGroup']}\n" in (ROOT / "Dockerfile").read_text()
    assert own == {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
    assert pod["seccompProfile"] == {"type": "RuntimeDefault"} and POD["spec"]["automountServiceAccountToken"] is False
    assert not {"hostNetwork", "hostPID", "hostIPC"} & POD["spec"].keys()
    assert SERVER["resources"]["limits"]["memory"] and not SERVER["image"].endswith(":latest")
    kinds = {v["name"]: v.keys() - {"name"} for v in POD["spec"]["volumes"]}
    assert all(kinds[m["name"]] == {"secret"} for m in SERVER["volumeMounts"] if m.get("readOnly"))
    assert all(kinds[m["name"]] == {"emptyDir"} for m in SERVER["volumeMounts"] if not m.get("readOnly"))


def test_its_settings_are_settings_and_a_drain_ends_before_the_pod_is_killed() -> None:
    assert ENVIRONMENT.keys() <= {variable(f.name) for f in fields(ServerConfig)}
    config = load({}, ENVIRONMENT, None)
    assert config.drain + 5.0 <= POD["spec"]["terminationGracePeriodSeconds"]
    assert config.tls_certificate and config.token_file and not config.insecure


def test_a_server_with_its_settings_starts_and_answers_its_probes(tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    from certificates import Authority

    pytest.importorskip("prometheus_client", reason="the extra metrics is not installed")
    # The pod's folders are the test's, and its ports any.
    folders = {m["mountPath"]: tmp_path / m["name"] for m in SERVER["volumeMounts"]}
    for folder in folders.values():
        folder.mkdir()
    authority = Authority(tmp_path, "authority")
    certificate, key = authority.issue("server")
    certificate.rename(tmp_path / "tls/tls.crt")
    key.rename(tmp_path / "tls/tls.key")
    (tmp_path / "tokens/tokens").write_text("0123456789abcdef0123456789abcdef\n")

    def moved(text: str) -> str:
        return re.sub("|".join(folders), lambda found: str(folders[found[0]]), text)

    ready = tmp_path / "ready"
    environment = os.environ | {n: moved(v) for n, v in ENVIRONMENT.items()} | {
        "JOUNCE_ADDRESS": "0.0.0.0:0", "JOUNCE_METRICS_ADDRESS": "0.0.0.0:0", "PYTHONPATH": os.pathsep.join(sys.path)}
    jounce = [sys.executable, "-m", "jounce_tools.cli"]
    with subprocess.Popen([*jounce, *SERVER["args"], "--ready-file", str(ready)], env=environment) as server:
        try:
            end = time.monotonic() + 600.0  # models may be compiled first
            while not ready.exists() and server.poll() is None and time.monotonic() < end:
                time.sleep(0.05)
            for name in ("startupProbe", "readinessProbe"):
                program, *words = SERVER[name]["exec"]["command"]
                assert program == "jounce"
                subprocess.run([*jounce, *map(moved, words)], env=environment, check=True, timeout=30)
            assert SERVER["livenessProbe"]["tcpSocket"]["port"] == "grpc"
            # The port speaks TLS and nothing else.
            address = ready.read_text().split()[0].replace("0.0.0.0", "127.0.0.1")
            for words, code in (["--ca", str(authority.file)], 0), ([], 1):
                asked = subprocess.run([*jounce, "health", address, *words], env=environment, check=False, timeout=30)
                assert asked.returncode == code
        finally:
            server.send_signal(signal.SIGTERM)
    assert server.returncode == 0
