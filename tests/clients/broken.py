"""The compliance suite against servers that break one rule each: ``broken.py FOLDER RULE TESTS RULE TESTS ...``.

``FOLDER/RULE`` gets the exit code and what pytest said of the tests. Each rule is broken by a few lines put in the
place of the server's own, so that all else is right.
"""

from __future__ import annotations

import asyncio
import math
import os
import random
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import grpc

sys.path.insert(0, str(Path(__file__).parents[1] / "service"))

import integrator_model
from integrator_model import Integrator, IntegratorModel, registry

from jounce.signals import SignalTable
from jounce_client.compliance.__main__ import main
from jounce_service import JounceServer, ServerConfig
from jounce_service.lockstep.barrier import Barrier, Delivery
from jounce_service.lockstep.first_order_hold import Ramps
from jounce_service.lockstep.participant import Participant, Phase
from jounce_service.server import clock
from jounce_service.session import advance, control, participation, snapshots
from jounce_service.session import join as joining
from jounce_service.session.engine import Engine
from jounce_service.session.notices import Notices
from jounce_service.session.states import ALLOWED, SessionState
from jounce_service.transport import errors


def instead(owner: Any, name: str, other: Callable[..., Any]) -> None:
    """Calls ``other`` with the method's own self in front, or for a function with the function."""
    own = getattr(owner, name)
    setattr(owner, name, lambda *given, **named: other(own, *given, **named))


def steps_once_too_often() -> None:
    instead(Engine, "advance", lambda own, self, clock, ticks: own(self, clock, ticks + (ticks == 5)))


def waits_for_the_first_alone() -> None:
    some = [False]

    def take(own: Any, self: Barrier, *when: Any) -> int:
        some[0] = any(p.phase is Phase.DELIVERED for p in self.participants.values())
        ticks: int = own(self, *when)
        return ticks

    instead(Barrier, "take", take)
    instead(Barrier, "_is_late", lambda own, self, participant, now: some[0])


def lets_two_own_an_input() -> None:
    instead(Barrier, "owner", lambda own, self, column: None)
    instead(Barrier, "join", lambda own, self, *given, **named: own(_unowned(self), *given, **named))


def _unowned(clock: Barrier) -> Barrier:
    clock._owner.clear()
    return clock


def takes_a_step_for_any_tick() -> None:
    def deliver(own: Any, self: Barrier, member: Participant, **step: Any) -> Delivery:
        if step["request"] > member.request:
            step["tick"] = member.due
        delivery: Delivery = own(self, member, **step)
        return delivery

    instead(Barrier, "deliver", deliver)


def keeps_to_its_grid() -> None:
    def deliver(own: Any, self: Barrier, member: Participant, **step: Any) -> Delivery:
        delivery: Delivery = own(self, member, **(step | {"asked": None}))
        return delivery

    instead(Barrier, "deliver", deliver)


def steps_again_on_a_repeat() -> None:
    def deliver(own: Any, self: Barrier, member: Participant, **step: Any) -> Delivery:
        if step["request"] == member.request and member.answered:
            step |= {"request": member.request + 1, "tick": member.due}
        delivery: Delivery = own(self, member, **step)
        return delivery

    instead(Barrier, "deliver", deliver)


def applies_bad_values() -> None:
    def check(own: Any, selection: Any, values: Any) -> Any:
        good = [v if math.isfinite(v) else 0.0 for v in values]
        return own(selection, good)

    for module in (advance, joining, participation):
        instead(module, "check", check)


def applies_what_a_dead_client_sent() -> None:
    def detach(own: Any, self: Barrier, member: Participant, now: float) -> bool:
        if member.phase is Phase.DELIVERED:
            self.inputs[member.columns] = member.values
        gone: bool = own(self, member, now)
        return gone

    instead(Barrier, "detach", detach)


def rejoins_with_any_token() -> None:
    def rejoin(own: Any, session: Any, request: Any, event_sink: Any) -> Any:
        request.participant_token = session.member(request.name).token
        return own(session, request, event_sink)

    instead(joining, "_rejoin", rejoin)


def lets_timers_run_in_a_pause() -> None:
    instead(clock.SessionClock, "stop", lambda own, self: None)
    instead(clock.SessionClock, "go", lambda own, self: None)


def restores_the_pose_but_not_the_future() -> None:
    def state(own: Any, self: Integrator) -> bytes:
        mixed, self.mixed = self.mixed, 0.5
        data: bytes = own(self)
        self.mixed = mixed
        return data

    instead(Integrator, "get_state", state)


def believes_a_damaged_snapshot() -> None:
    instead(control, "unpack", lambda own, data, *names: own(snapshots.pack(_message(data)), *names))


def _message(data: bytes) -> Any:
    return snapshots.pb.Snapshot.FromString(data[snapshots._HEADER.size + 32:])


def differs_in_the_last_bit() -> None:
    def step(own: Any, self: Integrator, n_ticks: int) -> None:
        own(self, n_ticks)
        self.mixed = math.nextafter(self.mixed, random.choice([0.0, 1.0]))

    instead(Integrator, "step", step)


def has_another_status() -> None:
    errors.TABLE[errors.WrongTick] = (grpc.StatusCode.UNKNOWN, "WRONG_TICK")


def resumes_what_is_not_paused() -> None:
    ALLOWED["ResumeSession"] = frozenset(SessionState)


def holds_what_should_go_on_along_a_line() -> None:
    instead(Ramps, "deliver", lambda own, self, *delivery: None)


def tells_everybody() -> None:
    instead(Notices, "tell", lambda own, self, *what: _ask_for_all(self) or own(self, *what))


def _ask_for_all(notices: Notices) -> None:
    for member in notices._members:
        member.terms.notices[:] = joining.NOTICES


def keeps_notices_back() -> None:
    instead(Notices, "tell", lambda own, self, *what: None)


def none() -> None:
    pass


def cannot_save_its_state() -> None:
    """Allowed: a model need not."""
    def refuse(own: Any, self: Integrator) -> bytes:
        raise errors.NoSnapshots("no state", field="model")

    instead(Integrator, "get_state", refuse)


def has_no_inputs() -> None:
    """Allowed, too."""
    outputs = tuple(s for s in integrator_model.TABLE.signals if s.causality != "input")
    integrator_model.IntegratorModel.table = SignalTable("integrator", outputs)
    instead(Integrator, "set_inputs", lambda own, self, values: None)


async def _served(folder: str) -> JounceServer:
    server = JounceServer(registry(IntegratorModel()), ServerConfig(address="", socket_path=f"{folder}/s", drain=0.2))
    await server.start()
    return server


def suite(rule: str, tests: str) -> int:
    """Breaks the rule, for good, and runs the tests; pytest's exit code."""
    globals()[rule]()
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        server = asyncio.run_coroutine_threadsafe(_served(folder), loop).result(60)
        code = main([f"--address={server.addresses[-1]}", "--tb=no", "-k", tests])
        asyncio.run_coroutine_threadsafe(server.stop(), loop).result(60)
    return code


if __name__ == "__main__":
    folder, *pairs = sys.argv[1:]
    for rule, tests in zip(pairs[::2], pairs[1::2], strict=True):
        # A process for each rule, without the time that its imports would take.
        if os.fork():
            os.wait()
            continue
        with open(f"{folder}/{rule}", "w") as out:
            os.dup2(out.fileno(), 1)
            code = suite(rule, tests)
            sys.stdout.write(f"exit code {code}\n")
            sys.stdout.flush()
            os._exit(code)
