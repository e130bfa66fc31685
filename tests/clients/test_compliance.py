"""The compliance suite passes against a real server, and fails against each that breaks one rule."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from jounce_client.compliance.contract import ALLOWED, STATES, STATUS
from jounce_service import JounceServer
from jounce_service.session import states
from jounce_service.transport import errors

BROKEN = {
    "steps_once_too_often": "inputs_hold_between_deliveries",
    "waits_for_the_first_alone": "the_clock_waits_for_everyone_who_is_due",
    "lets_two_own_an_input": "an_owned_input_is_refused_to_others",
    "takes_a_step_for_any_tick": "a_step_for_another_tick_is_aborted",
    "keeps_to_its_grid": "a_step_may_say_when_its_sender_is_due_next",
    "steps_again_on_a_repeat": "a_repeated_step_gets_the_stored_reply",
    "applies_bad_values": "requests_that_are_refused_leave_no_trace",
    "applies_what_a_dead_client_sent": "the_delivery_of_one_that_died_in_the_barrier_is_dropped",
    "holds_what_should_go_on_along_a_line": "a_first_order_input_goes_on",
    "rejoins_with_any_token": "a_rejoin_needs_the_token",
    "lets_timers_run_in_a_pause": "leases_and_late_times_and_barrier_times_stand_still",
    "restores_the_pose_but_not_the_future": "a_restored_session_repeats_its_future",
    "believes_a_damaged_snapshot": "one_flipped_bit_is_data_loss",
    "differs_in_the_last_bit": "the_order_of_arrival_does_not_change_a_bit",
    "has_another_status": "a_refusal_has_its_reason_and_status",
    "tells_everybody": "a_miss_is_told_once_to_who_asks_and_to_nobody_else",
    "keeps_notices_back": "a_failure_is_told_before_the_refusal",
    "resumes_what_is_not_paused": "a_call_is_served_in_the_states_of_its_row",
}
#: Models that are allowed to be so.
ALLOWED_MODELS = {
    "none": " or ".join(BROKEN.values()),
    "cannot_save_its_state": "TestSnapshots or SaveSnapshot or Advance",
    "has_no_inputs": "TestModels or TestDeterminism or TestOwnership or TestRefusals",
}


def environment() -> dict[str, str]:
    # With bytecode pytest rewrites the suite once, not in each of the two dozen runs.
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                         "PYTHONDONTWRITEBYTECODE": ""}


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the suite said of the servers that break a rule each, and of one that breaks none."""
    folder = tmp_path_factory.mktemp("said")
    rules = BROKEN | ALLOWED_MODELS
    subprocess.run([sys.executable, str(Path(__file__).with_name("broken.py")), str(folder),
                    *(word for pair in rules.items() for word in pair)], check=True, timeout=300, env=environment())
    return {rule: (folder / rule).read_text() for rule in rules}


def test_the_tables_of_the_suite_are_those_of_the_server() -> None:
    assert [s.name for s in states.SessionState] == list(STATES)
    assert {call: {s.name for s in allowed} for call, allowed in states.ALLOWED.items()} == ALLOWED
    assert {reason: code.name for code, reason in errors.TABLE.values()} == STATUS


def test_a_real_server_passes_over_a_unix_socket_and_over_tcp(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    server = subprocess.Popen([sys.executable, "-m", "jounce_tools.cli", "serve", "--address=127.0.0.1:0",
                               f"--socket-path={tmp_path / 's'}", f"--ready-file={ready}"], env=environment())
    try:
        while not ready.exists():
            assert server.poll() is None
            time.sleep(0.05)
        # Another model, and the address as the environment has it, the second time. A part of the rules is enough then:
        # both listeners lead to the same calls.
        unix = [f"--address=unix:{tmp_path / 's'}", "--model=hmmwv"]
        tcp = {"JOUNCE_COMPLIANCE_ADDRESS": ready.read_text().split()[0], "JOUNCE_COMPLIANCE_MODEL": "hmmwv_chrono"}
        runs = [subprocess.Popen([sys.executable, "-m", "jounce_client.compliance", *options], cwd=tmp_path, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment() | variables)
                for options, variables in ((unix, {}), (["-k", "TestModels or TestDeterminism or TestRefusals"], tcp))]
        for run in runs:
            said, _ = run.communicate(timeout=300)
            assert run.returncode == 0, said
            assert "skipped" not in said, said
    finally:
        server.terminate()
        server.wait(60)


@pytest.mark.parametrize(("rule", "test"), BROKEN.items(), ids=list(BROKEN))
def test_a_server_that_breaks_one_rule_fails(said: dict[str, str], rule: str, test: str) -> None:
    assert f"exit code {pytest.ExitCode.TESTS_FAILED}" in said[rule], said[rule]
    assert f"test_{test}" in said[rule].partition("short test summary")[2], said[rule]
    assert "ERROR" not in said[rule], said[rule]


@pytest.mark.parametrize("model", ALLOWED_MODELS)
def test_a_server_that_breaks_none_passes_or_skips_what_its_model_cannot_do(said: dict[str, str], model: str) -> None:
    assert "exit code 0" in said[model], said[model]
    assert ("skipped" in said[model]) == (model != "none"), said[model]


def tried(*options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "jounce_client.compliance", *options], capture_output=True, text=True,
                          timeout=60, env=environment() | variables)


@pytest.mark.parametrize(("options", "said"), [
    ([], "which server?"),
    (["--address=unix:/no/such/socket"], "no server to test at unix:/no/such/socket: "),
    (["--address=127.0.0.1:1", "--ca=/no/such/file"], "No such file"),
])
def test_a_run_without_a_server_says_so_and_ends(options: list[str], said: str) -> None:
    done = tried(*options)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert said in done.stdout + done.stderr


class TestSecured:
    @pytest.fixture
    def settings(self, secured: dict[str, Any]) -> dict[str, Any]:
        return secured

    def test_a_server_with_tls_and_bearer_tokens_can_be_tested(self, server: JounceServer, tmp_path: Path) -> None:
        options = [f"--address={server.addresses[0]}", f"--ca={tmp_path / 'authority.pem'}", "-k", "TestModels"]
        passed = tried(*options, JOUNCE_COMPLIANCE_BEARER="correct-horse-battery")
        assert passed.returncode == 0, passed.stdout
        refused = tried(*options)
        assert refused.returncode == pytest.ExitCode.USAGE_ERROR
        assert "NOT_AUTHENTICATED" in refused.stdout + refused.stderr
