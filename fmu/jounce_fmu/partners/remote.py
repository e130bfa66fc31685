"""The remote vehicle: an FMU with the variables of the vehicle whose steps are steps of a lockstep session.

It creates a session on a running jounce server, or joins one as a participant, so that a co-simulation tool can take
part beside an autopilot or a rig. All variables of the vehicle keep their names and value references; the parameters
``remote.*`` come after them.
"""

from __future__ import annotations

import struct
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLong
from contextlib import suppress
from typing import Any, ClassVar, TypeVar

import numpy as np

from jounce.data import load_vehicle
from jounce.models.double_wishbone.signals import table
from jounce.signals import Signal, SignalTable
from jounce_client import Client, JounceError, Participant, Session
from jounce_fmu.partners.slave import Array, Partner, PartnerError, PartnerLost

_R = TypeVar("_R")
_EPS = 1e-4  # Relative tolerance of a step size: more than the rounding of summed times.
_SHARE = 0.8  # Part of the timeout that the server gets, so that its reason arrives before our own timeout.
#: Refusals after which the same step may be repeated.
_AGAIN = ("BARRIER_TIMEOUT", "INPUT_OUT_OF_RANGE", "NOT_FINITE", "STEP_PENDING")
_DUE = struct.Struct("<q")  # Due tick, before the snapshot.


def _signals(vehicle: SignalTable) -> Iterator[Signal]:
    def text(name: str, start: str, about: str) -> Signal:
        return Signal(f"remote.{name}", "parameter", "1", about, type="String", variability="fixed", text=start)

    yield from vehicle.signals
    yield text("address", "127.0.0.1:50051", "host:port or unix:/path of the server")
    yield text("model", vehicle.name, "vehicle to create a session of")
    yield text("session", "", "session to join; empty: create one, and close it in the end")
    yield text("token", "", "token of the session to join")
    yield text("participant", "fmu", "name in the session")
    yield text("others", "", "participants that a created session waits for, by comma")
    yield text("owns", "*", "inputs that this FMU delivers, scalars or vectors by comma; * for all")
    yield Signal("remote.period", "parameter", "1", "ticks of the session per step of the FMU", start=(1.0,),
                 minimum=1.0, maximum=1e6, type="Integer", variability="fixed")
    yield Signal("remote.timeout", "parameter", "s", "wall-clock time that any call may take", start=(10.0,),
                 minimum=0.05, maximum=3600.0, variability="fixed")


class Link:
    """A connection, a session and a participant; every call ends within ``timeout`` [s]."""

    def __init__(self, timeout: float) -> None:
        """``timeout`` [s] limits each call; `open` connects."""
        self.timeout = timeout
        self.client: Client | None = None
        self.member: Participant | None = None
        self.session: Session | None = None
        self.own = False
        self.lost = ""
        self.closed = False
        self._thread = ThreadPoolExecutor(1, "jounce-remote")

    def ask(self, what: str, call: Callable[..., _R], *args: Any, **options: Any) -> _R:
        """Returns the call's result. Raises PartnerError if the step can be repeated, otherwise PartnerLost."""
        if self.lost:
            raise PartnerLost(self.lost)
        try:
            return self._thread.submit(call, *args, **options).result(self.timeout)
        except TooLong:
            self.lost = f"{what}: no answer within {self.timeout:g} s"
            self.close()
        except JounceError as error:
            if error.reason in _AGAIN:
                raise PartnerError(f"{what}: {error}") from None
            self.lost = f"{what}: {error}"
        raise PartnerLost(self.lost)

    def refused(self, what: str, call: Callable[..., _R], *args: Any) -> _R:
        """Like `ask`, for calls after whose refusal the instance can go on; any refusal is a PartnerError."""
        def guarded() -> _R | JounceError:
            try:
                return call(*args)
            except JounceError as error:
                return error

        reply = self.ask(what, guarded)
        if isinstance(reply, JounceError):
            raise PartnerError(f"{what}: {reply}")
        return reply

    def open(self, address: str) -> Client:
        """Connects to a server."""
        self.client = self.ask(f"server {address}", Client.connect, address, timeout=_SHARE * self.timeout)
        return self.client

    def leave(self) -> None:
        """Leaves the session and closes the link. Raises PartnerError."""
        try:
            if self.member:
                self.ask("leave", self.member.leave)
        finally:
            self.drop()

    def drop(self) -> None:
        """Deletes the session if this link created it and the server still answers; closes the connection."""
        if self.own and self.client and self.session and not self.closed:
            with suppress(JounceError, TooLong):
                self._thread.submit(self.client.delete_session, self.session).result(self.timeout)
        self.close()

    def close(self) -> None:
        """Closes the connection, which ends every call that waits on it."""
        self.closed = True
        self.lost = self.lost or "the link was closed"
        if self.client:
            self.client.close()
        self._thread.shutdown(wait=False, cancel_futures=True)


_VEHICLE = table(load_vehicle("hmmwv"))


class Remote(Partner):
    """A vehicle on a jounce server."""

    # The vehicle's ledger also holds the references of the parameters ``remote.*``.
    base = SignalTable("jounce_remote", tuple(_signals(_VEHICLE)), ledger=_VEHICLE.ledger)
    early: ClassVar[bool] = True

    @classmethod
    def capabilities(cls) -> dict[str, str]:
        """Attributes of CoSimulation: the step size is fixed, since one step is one period."""
        return {**super().capabilities(), "canHandleVariableCommunicationStepSize": "false"}

    def begin(self) -> None:
        """Connects, creates or finds the session, and joins."""
        link = Link(self["remote.timeout"])
        try:
            self._join(link)
        except PartnerError:
            link.drop()
            raise
        self._link = link
        weakref.finalize(self, Link.drop, link)
        member = self._member
        self._tick = link.session.tick_seconds if link.session else 0.0
        places = {s.name: i for i, s in enumerate(self.table.inputs)}
        self._columns = [places[name] for name in member.inputs]
        self.set_outputs(member.start.values)

    def advance(self, time: float, h: float) -> Array:
        """Delivers the inputs for the due tick, and waits for the outputs at the next one."""
        whole = self["remote.period"] * self._tick
        if h <= _EPS * whole:
            return np.array([self[s.name] for s in self.table.outputs])
        if abs(h - whole) > _EPS * whole:
            raise PartnerError(f"a step of {h!r} s: expected remote.period x the session's tick, {whole!r} s")
        state = self._link.ask(f"step from {time!r} s", self._member.step, self.inputs()[self._columns])
        return state.values

    def memory(self) -> bytes:
        """Returns the due tick and a snapshot of the whole session, packed."""
        client, session = self._session
        snapshot = self._link.refused("save", client.save, session)
        try:
            data = self._link.refused("save", client.download, session, snapshot)
        finally:
            self._link.refused("save", client.delete_snapshot, session, snapshot)
        return _DUE.pack(self._member.due) + data

    def recall(self, memory: bytes) -> None:
        """Restores the whole session to a ``memory``; its other participants get an event."""
        client, session = self._session
        snapshot = self._link.refused("restore", client.upload, session, memory[_DUE.size:])
        self._link.refused("restore", client.restore, session, snapshot)
        self._link.refused("restore", client.delete_snapshot, session, snapshot)
        self._link.ask("restore", self._member.sync)
        if self._member.due != _DUE.unpack_from(memory)[0]:
            raise PartnerLost(f"restored at tick {self._member.due}, saved at {_DUE.unpack_from(memory)[0]}")

    def terminate(self) -> None:
        """Leaves the session."""
        super().terminate()
        if self.begun:
            try:
                self._link.leave()
            except PartnerError as error:
                self.log(f"{self.instance_name}: {error}")

    @property
    def _session(self) -> tuple[Client, Session]:
        link = self._link
        if link.client is None or link.session is None:
            raise PartnerLost(link.lost)
        return link.client, link.session

    def _join(self, link: Link) -> None:
        client = link.open(self["remote.address"])
        if self["remote.session"]:
            self._refuse_changes()
            session = Session(self["remote.session"], self["remote.token"])
            found = link.ask("session", client.get_session, session)
            session = Session(session.id, session.token, found.tick_seconds, found.model)
        else:
            name = self["remote.participant"]
            others = _words(self["remote.others"])
            vehicle = table(load_vehicle("hmmwv"))
            # Only parameters that differ are sent; all others keep the server's data of the vehicle.
            given = {s.name: self[s.name] for s in vehicle.parameters if self[s.name] != s.start}
            first = {s.name: self[s.name] for s in vehicle.inputs if self[s.name] != s.start}
            session = link.ask("create a session", client.create_session, self["remote.model"], given,
                               start_inputs=first, participants=[name, *others], controllers=[name])
            link.own = True
            self.log(f"{self.instance_name}: created session {session.id}; others join with token {session.join_token}")
        link.session = session
        owns = ["*"] if self["remote.owns"] == "*" else _words(self["remote.owns"])
        wants = [s.name for s in self.table.outputs]
        self._member = link.member = link.ask(
            "join", client.join, session, self["remote.participant"], owns=owns, wants=wants,
            period=int(self["remote.period"]), barrier_timeout=_SHARE * link.timeout)

    def _refuse_changes(self) -> None:
        """Raises PartnerError if parameters differ from their starts: a joined session has its creator's parameters."""
        made = [s for s in self.table.parameters if not s.name.startswith("remote.")]
        if wrong := [s.name for s in made if self[s.name] != s.start]:
            raise PartnerError(f"{', '.join(wrong)}: the parameters of a joined session are set by its creator; "
                               "leave remote.session empty to create one")


def _words(text: str) -> list[str]:
    return [word for word in (w.strip() for w in text.split(",")) if word]
