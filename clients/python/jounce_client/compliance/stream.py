"""A participant's stream with hand-made requests, so that tests can send what no client sends."""

from __future__ import annotations

import queue
from typing import Any

from jounce_proto import jounce_pb2 as pb


class Stream:
    """One stream; ``tick``, ``epoch`` and ``request`` are what its next good Step has."""

    def __init__(self, stub: Any, timeout: float | None = None) -> None:
        """Opens the stream, which is cancelled after ``timeout`` [s]."""
        self._requests: queue.Queue[pb.LockstepRequest | None] = queue.Queue()
        self.call = stub.Lockstep(iter(self._requests.get, None), timeout=timeout)
        self.tick, self.epoch, self.request = 0, 1, 0
        self.events: list[pb.Event] = []

    def send(self, **kind: Any) -> None:
        """Sends a request."""
        self._requests.put(pb.LockstepRequest(**kind))

    def ask(self, **kind: Any) -> pb.LockstepReply:
        """Sends a request and returns its reply."""
        self.send(**kind)
        return self.read()

    def read(self) -> pb.LockstepReply:
        """Returns the next reply; events before it are kept and applied."""
        reply: pb.LockstepReply
        while (reply := next(self.call)).HasField("event"):
            self.events.append(reply.event)
            self.tick, self.epoch = reply.event.due_tick, reply.event.epoch
        if reply.HasField("state"):
            self.tick = reply.state.tick
        return reply

    def join(self, session: pb.CreateSessionResponse, name: str, inputs: Any = (), outputs: Any = ("*",),
             period: int = 1, phase: int = 0, timeout: float = 20.0, **more: Any) -> pb.LockstepReply:
        """Sends a Join; ``more`` are further fields of it."""
        reply = self.ask(join=pb.Join(**({
            "session_id": session.session_id, "token": session.token, "name": name, "inputs": inputs,
            "outputs": outputs, "period_ticks": period, "phase_ticks": phase, "barrier_timeout": timeout} | more)))
        if reply.HasField("joined"):
            self.tick, self.epoch, self.request = reply.joined.tick, reply.joined.epoch, reply.joined.request
            self.joined = reply.joined
        return reply

    def deliver(self, *inputs: float, **changed: Any) -> None:
        """Sends the next Step, with some fields ``changed``."""
        self.request += 1
        given: dict[str, Any] = {"epoch": self.epoch, "tick": self.tick, "request": self.request, "inputs": inputs}
        self.send(step=pb.Step(**(given | changed)))

    def step(self, *inputs: float, **changed: Any) -> pb.LockstepReply:
        """Sends the next Step and returns its reply."""
        self.deliver(*inputs, **changed)
        return self.read()

    def refused(self, *inputs: float, **changed: Any) -> pb.ErrorInfo:
        """Sends a Step that must be refused; its request number can be used again."""
        reply = self.step(*inputs, **changed)
        self.request -= 1
        assert reply.HasField("error"), reply
        return reply.error

    def end(self) -> None:
        """Half-closes the stream."""
        self._requests.put(None)
