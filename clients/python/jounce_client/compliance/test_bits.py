"""The same run gives the same bits for any client, any order of messages, and with or without a snapshot."""

from __future__ import annotations

import hashlib
import random
from functools import partial
from typing import Any

import pytest

from jounce_client.compliance.rig import Server, refusal
from jounce_proto import jounce_pb2 as pb

PERIODS = (1, 2, 3)
TICKS = 24


def bits(outputs: Any) -> bytes:
    """The outputs as bytes, so that the sign of zero counts."""
    return pb.State(outputs=outputs).SerializeToString(deterministic=True)


def shares(server: Server) -> list[list[str]]:
    """All inputs, distributed over three owners."""
    names = [i.name for i in server.model.inputs]
    return [names[i::3] for i in range(3)]


def advanced(server: Server, session: Any, first: int = 0, last: int = TICKS) -> list[bytes]:
    """The run with Advance, tick by tick; the inputs of each owner change with its period."""
    run = []
    for tick in range(first, last):
        due = [n for names, period in zip(shares(server), PERIODS, strict=True) if tick % period == 0 for n in names]
        run.append(bits(server.advance(session, 1, server.model.values(tick, due)).outputs))
    return run


def driven(server: Server, seed: int) -> list[bytes]:
    """The same run by three participants whose deliveries come in random order; the first is due at every tick."""
    chance = random.Random(seed)
    session = server.create("m0", "m1", "m2")
    members = [server.member(session, f"m{i}", names, period=period)
               for i, (names, period) in enumerate(zip(shares(server), PERIODS, strict=True))]
    run: list[bytes] = []
    for tick in range(TICKS):
        due = [m for m, period in zip(members, PERIODS, strict=True) if tick % period == 0]
        if tick:
            # All participants see the same outputs.
            (seen,) = {bits(m.read().state.outputs) for m in due}
            run.append(seen)
        chance.shuffle(due)
        for member in due:
            values = server.model.values(tick, member.joined.inputs)
            member.deliver(*(values[n] for n in member.joined.inputs))
    return [*run, bits(members[0].read().state.outputs)]


class TestDeterminism:
    """Only ticks and inputs determine the outputs."""

    @pytest.mark.parametrize("seed", range(5))
    def test_the_order_of_arrival_does_not_change_a_bit_and_advance_gives_the_same(self, server: Server,
                                                                                   seed: int) -> None:
        assert driven(server, seed) == advanced(server, server.create())

    def test_inputs_do_something(self, server: Server, live: str) -> None:
        plain = server.create()
        assert [bits(server.advance(plain).outputs) for _ in range(TICKS)] != advanced(server, server.create())

    def test_inputs_hold_between_deliveries(self, server: Server, live: str) -> None:
        values = [server.model.values(k, [live])[live] for k in range(4)]
        a = server.member(server.create(), "a", [live], period=5)
        session = server.create()
        for value in values:
            single = [server.advance(session, 1, {live: value}) for _ in range(5)][-1]
            assert bits(a.step(value).state.outputs) == bits(single.outputs)

    def test_a_first_order_input_goes_on_along_the_line_through_its_last_two_deliveries(self, server: Server,
                                                                                         live: str) -> None:
        signal = next(i for i in server.model.inputs if i.name == live)
        first, second = signal.value(0), signal.value(1)
        session = server.create()
        a = server.member(session, "a", [live], period=5, first_order_inputs=[live])
        by_hand = server.create()
        held = server.advance(by_hand, 5, {live: first})
        assert bits(a.step(first).state.outputs) == bits(held.outputs)
        for k in range(5):
            along = second + (second - first) * k / 5
            end = server.advance(by_hand, 1, {live: min(max(along, signal.minimum), signal.maximum)})
        # Approximately: the contract does not fix the order of a server's operations.
        assert list(a.step(second).state.outputs) == pytest.approx(list(end.outputs), rel=1e-9, abs=1e-12)

    def test_a_reset_session_repeats_its_run(self, server: Server) -> None:
        session = server.create()
        first = advanced(server, session)
        server.call("ResetSession", session)
        assert advanced(server, session) == first

    def test_two_sessions_side_by_side_do_not_touch_each_other(self, server: Server, live: str) -> None:
        alone = advanced(server, server.create())
        one, other = server.create(), server.create()
        together = []
        for tick in range(TICKS):
            together += advanced(server, one, tick, tick + 1)
            server.advance(other, 3, server.model.values(7 * tick + 1, [live]))
        assert together == alone

    def test_each_of_two_inputs_of_one_tick_acts(self, server: Server, two: tuple[str, str]) -> None:
        values = server.model.values(1, two)
        ends = {bits(server.advance(server.create(), 20, {n: values[n] for n in names}).outputs)
                for names in ((), two[:1], two[1:], two)}
        assert len(ends) == 4


class TestSnapshots:
    """A snapshot holds the complete state."""

    def saved(self, server: Server, tick: int) -> tuple[Any, str, list[bytes]]:
        """A session that was saved at ``tick`` and went on, the snapshot, and the future."""
        session = server.create()
        advanced(server, session, 0, tick)
        reply = server.save(session)
        assert reply.tick == tick
        return session, reply.snapshot_id, advanced(server, session, tick)

    @pytest.mark.parametrize("tick", [0, 1, 11])
    def test_a_restored_session_repeats_its_future_bit_for_bit_in_a_new_epoch(self, server: Server,
                                                                              tick: int) -> None:
        session, snapshot, future = self.saved(server, tick)
        restored = server.call("RestoreSnapshot", session, snapshot_id=snapshot)
        assert (restored.tick, restored.epoch > session.epoch) == (tick, True)
        assert advanced(server, session, tick) == future

    def test_a_fork_has_the_same_future_and_leaves_its_source_where_it_is(self, server: Server) -> None:
        session, snapshot, future = self.saved(server, 11)
        fork = server.kept(server.call("ForkSession", session, snapshot_id=snapshot))
        assert advanced(server, fork, 11) == future
        assert (server.status(session).tick, server.status(fork).tick) == (TICKS, TICKS)
        assert fork.token != session.token
        now = server.kept(server.call("ForkSession", session))
        assert advanced(server, now, TICKS, 2 * TICKS) == advanced(server, session, TICKS, 2 * TICKS)

    def test_downloaded_bytes_go_on_in_another_session(self, server: Server) -> None:
        session, snapshot, future = self.saved(server, 11)
        data = server.download(session, snapshot)
        other = server.create()
        server.advance(other, 3)
        sent = server.upload(other, data, len(data), hashlib.sha256(data).digest())
        assert (sent.tick, server.status(other).tick) == (11, 3)
        server.call("RestoreSnapshot", other, snapshot_id=sent.snapshot_id)
        assert advanced(server, other, 11) == future

    @pytest.mark.parametrize("seed", range(5))
    def test_one_flipped_bit_is_data_loss_and_changes_nothing(self, server: Server, seed: int) -> None:
        session, snapshot, future = self.saved(server, 11)
        data = bytearray(server.download(session, snapshot))
        place = random.Random(seed).randrange(len(data))
        data[place] ^= 1 << seed
        server.call("RestoreSnapshot", session, snapshot_id=snapshot)
        error = refusal(lambda: server.upload(session, bytes(data), len(data), hashlib.sha256(data).digest()))
        assert error.reason == "SNAPSHOT_CORRUPT"
        assert advanced(server, session, 11) == future

    def test_bytes_that_are_not_those_announced_are_corrupt(self, server: Server) -> None:
        session, snapshot, _ = self.saved(server, 1)
        data = server.download(session, snapshot)
        right = hashlib.sha256(data).digest()
        for announced in ((len(data) + 1, right), (len(data) - 1, right), (len(data), bytes(32))):
            error = refusal(partial(server.upload, session, data, *announced))
            assert error.reason == "SNAPSHOT_CORRUPT"

    def test_a_rollback_inside_lockstep_tells_everyone_and_repeats_the_future(self, server: Server,
                                                                              live: str) -> None:
        session = server.create()
        a = server.member(session, "a", [live], period=2)

        def run() -> list[bytes]:
            return [bits(a.step(server.model.values(a.tick, [live])[live]).state.outputs) for _ in range(5)]

        a.step(server.model.values(0, [live])[live])
        snapshot = server.save(session).snapshot_id
        first = run()
        epoch = server.call("RestoreSnapshot", session, snapshot_id=snapshot).epoch
        value = server.model.values(0, [live])[live]
        assert a.refused(value, epoch=session.epoch, tick=12).reason == "WRONG_EPOCH"
        (event,) = a.events
        assert (event.kind, event.epoch, event.tick, event.due_tick) == (pb.EVENT_KIND_RESTORED, epoch, 2, 2)
        a.request = 0
        assert run() == first

    def test_a_deleted_snapshot_is_unknown(self, server: Server) -> None:
        session, snapshot, _ = self.saved(server, 1)
        server.call("DeleteSnapshot", session, snapshot_id=snapshot)
        gone = server.refused("RestoreSnapshot", session, snapshot_id=snapshot)
        assert gone.reason == "UNKNOWN_SNAPSHOT"
