"""The clients against a real server."""

from __future__ import annotations

import asyncio
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from undisturbed import undisturbed

from jounce_client import AsyncClient, Client, JounceError, Session
from jounce_client._records import State


def test_describe_names_the_signals(address: str) -> None:
    with Client.connect(address) as client:
        assert client.models() == ("integrator",)
        assert {"velocity", "position"} <= {s.name for s in client.describe("integrator").signals}


def test_advance_moves_exactly_n_ticks_and_gives_vectors_by_name(address: str) -> None:
    with Client.connect(address) as client:
        session = client.create_session("integrator")
        state = client.advance(session, 500, {"velocity.x": 2.0}, ["position", "tick_count"])
        assert (state.tick, state.sim_ns, state["tick_count"]) == (500, 500_000_000, 500.0)
        assert state.names == ("position.x", "position.y", "tick_count")
        np.testing.assert_allclose(state["position"], [1.0, 0.0])
        assert client.get_session(session).tick == 500


def test_a_single_participant_steps_in_lockstep(address: str) -> None:
    with Client.connect(address) as client:
        session = client.create_session("integrator")
        with client.join(session, "a", owns=["velocity"], wants=["position"], period=20) as pilot:
            assert pilot.inputs == ("velocity.x", "velocity.y") and pilot.start.tick == 0
            for k in range(10):
                state = pilot.step([1.0, 0.5])
                assert state.tick == 20 * (k + 1) == pilot.due
            np.testing.assert_allclose(state["position"], [0.2, 0.1])
            state = pilot.step({"velocity.y": 0.0})
            np.testing.assert_allclose(state["position"], [0.22, 0.1])


def test_two_participants_of_different_rates_meet_at_every_barrier(address: str) -> None:
    def run(name: str, owns: str, period: int) -> tuple[int, np.ndarray]:
        with Client.connect(address) as client, client.join(
            session, name, owns=[owns], wants=["position"], period=period, barrier_timeout=20.0
        ) as member:
            state = member.start
            while state.tick < 200:
                state = member.step([3.0])
            return state.tick, state.values

    with Client.connect(address) as client:
        session = client.create_session("integrator", participants=["slow", "fast"])
        with ThreadPoolExecutor() as pool:
            slow, fast = pool.submit(run, "slow", "velocity.x", 20), pool.submit(run, "fast", "velocity.y", 1)
            assert slow.result(60)[0] == fast.result(60)[0] == 200
        np.testing.assert_allclose(slow.result()[1], [0.6, 0.6])


def test_a_refused_step_changes_nothing_and_may_be_repeated(address: str) -> None:
    with Client.connect(address) as client:
        session = client.create_session("integrator")
        with client.join(session, "a", owns=["velocity"], wants=["position.x"]) as member:
            with pytest.raises(JounceError) as refused:
                member.step([99.0, 0.0])
            assert refused.value.field == "velocity.x" and refused.value.given and refused.value.allowed
            assert member.step([1.0, 0.0]).tick == 1


@pytest.mark.parametrize("inputs", [[1.0], [[1.0, 2.0]], {"velocity.z": 1.0}])
def test_inputs_that_do_not_fit_are_refused_before_they_are_sent(address: str, inputs: object) -> None:
    with Client.connect(address) as client:
        session = client.create_session("integrator")
        with client.join(session, "a", owns=["velocity"], wants=["position.x"]) as member:
            with pytest.raises(JounceError, match="velocity|inputs"):
                member.step(inputs)  # type: ignore[arg-type]
            assert member.step([0.0, 0.0]).tick == 1


def test_a_step_may_say_when_its_participant_is_due_next(address: str) -> None:
    with Client.connect(address) as client:
        session = client.create_session("integrator")
        with client.join(session, "a", owns=["velocity"], wants=["position.x"], period=20) as partner:
            assert partner.step([1.0, 0.0], next_tick=33).tick == partner.due == 33
            assert partner.step([1.0, 0.0]).tick == 40
            for wrong in (40, 0, -1, 41.5, "41"):
                with pytest.raises(JounceError, match="next_tick") as refused:
                    partner.step([1.0, 0.0], next_tick=wrong)  # type: ignore[arg-type]
                assert refused.value.reason == "BAD_FIELD" and "41" in refused.value.allowed
            assert partner.step([1.0, 0.0], next_tick=41)["position.x"] == pytest.approx(0.041)


@undisturbed
def test_a_barrier_timeout_names_who_is_missing_and_a_retry_works(address: str) -> None:
    with Client.connect(address) as client:
        session = client.create_session("integrator", participants=["a", "b"])
        with client.join(session, "a", owns=["velocity"], wants=["position"], barrier_timeout=0.2) as a:
            with pytest.raises(JounceError) as late:
                a.step([1.0, 0.0])
            assert late.value.missing == ("b",)
            with client.join(session, "b") as b, ThreadPoolExecutor() as pool:
                other = pool.submit(b.step, [])
                assert a.step([1.0, 0.0]).tick == 1
                assert other.result(60).tick == 1


@pytest.mark.parametrize(("call", "reason"), [
    (lambda c: c.describe("nothing"), "UNKNOWN_MODEL"),
    (lambda c: c.create_session("integrator", {"gain": 99.0}), ""),
    (lambda c: c.create_session("integrator", {"nothing": 1.0}), ""),
    (lambda c: c.join(c.create_session("integrator"), "a", owns=["nothing"]), ""),
])
def test_errors_say_reason_field_given_and_allowed(address: str, call: object, reason: str) -> None:
    with Client.connect(address) as client, pytest.raises(JounceError) as refused:
        call(client)  # type: ignore[operator]
    error = refused.value
    assert error.reason.isupper() and error.field and error.given
    assert not reason or error.reason == reason


def test_nobody_there_is_an_error_within_the_timeout() -> None:
    with pytest.raises(JounceError, match="UNAVAILABLE|DEADLINE"):
        Client.connect("unix:/nonexistent/socket", timeout=0.3)


def test_a_deleted_session_is_gone(address: str) -> None:
    with Client.connect(address) as client:
        session = client.create_session("integrator")
        client.delete_session(session)
        with pytest.raises(JounceError):
            client.advance(session, 1)


def test_a_session_is_deleted_at_the_end_of_its_block_and_so_is_a_fork(address: str) -> None:
    with Client.connect(address) as client:
        with client.create_session("integrator") as session, client.fork(session) as fork:
            assert client.advance(fork, 2).tick == 2
        for gone in (session, fork):
            with pytest.raises(JounceError, match="UNKNOWN_SESSION"):
                client.get_session(gone)


def test_a_block_that_fails_deletes_its_session_and_shows_its_own_error(address: str) -> None:
    with Client.connect(address) as client:
        with (pytest.raises(ZeroDivisionError), client.create_session("integrator") as session,
              client.join(session, "a", owns=["velocity"]) as member):
            member.step([1.0, 0.0])
            raise ZeroDivisionError
        with pytest.raises(JounceError, match="UNKNOWN_SESSION"):
            client.get_session(session)
        with client.create_session("integrator") as session:
            client.delete_session(session)
        with pytest.raises(KeyError), client.create_session("integrator"):
            client.close()
            raise KeyError


def test_more_loops_than_the_server_holds_sessions_run_one_after_the_other(address: str) -> None:
    with Client.connect(address) as client:
        for _ in range(70):
            with client.create_session("integrator") as session, client.join(session, "a", owns=["velocity"]) as member:
                assert member.step([1.0, 0.0]).tick == 1


def test_a_session_that_another_process_or_program_gets_is_not_its_own_to_delete(address: str) -> None:
    with Client.connect(address) as client, client.create_session("integrator") as session:
        for other in (pickle.loads(pickle.dumps(session)), session.for_participants()):
            assert type(other) is Session and other.id == session.id
        assert pickle.loads(pickle.dumps(session)).token == session.token


def test_a_session_of_the_async_client_is_deleted_at_the_end_of_its_block(address: str) -> None:
    async def run() -> None:
        async with await AsyncClient.connect(address) as client:
            async with await client.create_session("integrator") as session, await client.fork(session) as fork:
                assert (await client.advance(fork, 2)).tick == 2
            with pytest.raises(ZeroDivisionError):
                async with await client.create_session("integrator") as failed:
                    raise ZeroDivisionError
            for gone in (session, fork, failed):
                with pytest.raises(JounceError, match="UNKNOWN_SESSION"):
                    await client.get_session(gone)

    asyncio.run(run())


def test_the_async_client_does_the_same(address: str, finish: Any) -> None:
    async def member(client: AsyncClient, session: object, name: str, owns: str, period: int) -> np.ndarray:
        async with await client.join(session, name, owns=[owns], wants=["position"], period=period,  # type: ignore
                                     barrier_timeout=20.0) as one:
            state = one.start
            while state.tick < 100:
                state = await one.step({owns: 1.0})
            return state.values

    async def run() -> None:
        async with await AsyncClient.connect(address) as client:
            assert await client.models() == ("integrator",)
            session = await client.create_session("integrator", {"gain": 3.0}, participants=["a", "b"])
            a, b = await asyncio.gather(member(client, session, "a", "velocity.x", 10),
                                        member(client, session, "b", "velocity.y", 1))
            np.testing.assert_allclose(a, [0.1, 0.1])
            np.testing.assert_allclose(b, [0.1, 0.1])
            async with await client.join(session, "event driven", period=50) as one:
                assert (await one.step([], next_tick=107)).tick == 107
            state = await client.advance(session, 3, {"force": 2.0}, ["*"])
            assert state.tick == 110 and state["reaction"] == 6.0
            with pytest.raises(JounceError) as refused:
                await client.join(session, "c", owns=["nothing"])
            assert refused.value.field
            await client.delete_session(session)

    finish(run())


def test_the_time_of_a_state_is_the_number_nearest_to_its_nanoseconds() -> None:
    """15 s are 15.0: 15e9 times 1e-9 is not."""
    for ms in (1, 7, 15_000, 86_399_999):
        assert State(ms, 1_000_000 * ms, np.zeros(0), ()).time == float(f"{ms}e-3")
