"""A session: control of the clock, snapshots, viewers, the recording, and its end.

The participants' side is in ``participation.py``.
"""

from __future__ import annotations

import math
import time

import numpy as np

from jounce.values import in_use
from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.models import HostedInstance
from jounce_service.hosting.values import Selector
from jounce_service.lockstep.participant import Columns, Vector
from jounce_service.recording.recorder import Recording
from jounce_service.server.config import ServerConfig
from jounce_service.server.metrics import Meter
from jounce_service.server.stalls import Stalls
from jounce_service.session.participation import Participation
from jounce_service.session.session_spec import Setup
from jounce_service.session.snapshots import Store, check_dues, load_clock, note_clock
from jounce_service.session.states import SessionState
from jounce_service.session.watch import Viewer
from jounce_service.transport import describe, errors


class Session(Participation):
    """One hosted instance, which is advanced by participants or by Advance calls."""

    def __init__(
        self,
        session_id: str,
        setup: Setup,
        instance: HostedInstance,
        config: ServerConfig,
        stalls: Stalls | None = None,
    ) -> None:
        """Starts at tick 0; ``instance`` is initialized and owned by the session. ``stalls`` are the server's."""
        super().__init__(session_id, setup, instance, config, stalls)
        self.last_used = 0.0
        self.created_ns = time.time_ns()
        #: The owner (`Caller.owner`), None on a server without tenants.
        self.owner: bytes | None = None
        #: The last Advance with a request number, and its reply.
        self.last_advance: tuple[pb.AdvanceRequest, pb.AdvanceResponse] | None = None
        # The server's stalls before this session began.
        self._stalls_before = self._engine.stalls.count, self._engine.stalls.seconds
        self._snapshots = Store(config.max_snapshots, config.max_snapshot_bytes)

    @property
    def meter(self) -> Meter | None:
        """The session's counters, if the server has metrics."""
        return self._engine.meter

    @property
    def recording(self) -> Recording | None:
        """The session's recording, if it is recorded."""
        return self._engine.recording

    def status(self) -> pb.GetSessionResponse:
        """The GetSession reply."""
        self.require("GetSession")
        stalls, pacer = self._engine.stalls, self._engine.pacer
        return pb.GetSessionResponse(
            session_id=self.id,
            model=self.setup.name,
            state=pb.SessionState.Name(self.state.value),
            epoch=self.epoch,
            tick=self.tick,
            sim_ns=self.sim_ns,
            tick_seconds=self.tick_length,
            participants=describe.participants(self._barrier, self.table, self._engine.session_time.now()),
            failure=self.failure,
            failure_reason=self.failure_reason,
            pacing=None if pacer is None else pacer.status(),
            frames_dropped=self._viewers.dropped,
            evictions=self._evictions,
            stalls=stalls.count - self._stalls_before[0],
            stalled_seconds=stalls.seconds - self._stalls_before[1],
            recording=None if self.recording is None else self.recording.status(),
        )

    def wall_time(self, ticks: int) -> float:
        """Wall-clock time [s] of ``ticks`` at the session's pace; 0 if it is free."""
        return 0.0 if self._engine.pacer is None else self._engine.pacer.duration(ticks)

    # ------------------------------------------------------------ the clock

    async def drive(self, columns: Columns, values: Vector, ticks: int) -> Vector:
        """Sets inputs, advances, and returns all outputs. Within ``exclusive``, for a session without participants.

        CallTooLong changes nothing; any other error has made the session fail.
        """
        barrier = self._barrier
        barrier.settle()
        before = self.state, barrier.inputs.copy()
        barrier.inputs[columns] = values
        try:
            if not ticks:
                return await self._engine.show(barrier)
            self.state = SessionState.RUNNING
            await self._moves.move(ticks, self.config.max_call_seconds or math.inf)
            return self.outputs()
        except errors.CallTooLong:
            self.state, barrier.inputs[:] = before
            raise
        except errors.FATAL as error:
            self.fail(error)
            raise

    def pause(self) -> None:
        """Stops leases, timers and the pace. Within ``exclusive``."""
        self.state = SessionState.PAUSED
        self._engine.stop_time()
        self.record(pb.EVENT_KIND_PAUSED)

    def resume(self) -> None:
        """Lets leases, timers and the pace go on. Within ``exclusive``."""
        self.state = SessionState.RUNNING if self.tick else SessionState.CREATED
        self._engine.let_time_go()
        self.record(pb.EVENT_KIND_RESUMED)

    # ------------------------------------------------------------ snapshots

    def past(self) -> pb.Snapshot:
        """The origin of a recording at tick 0: parameters and start inputs, which determine the state."""
        return pb.Snapshot(
            model=self.setup.name,
            build=self.setup.model.build,
            tick_seconds=self.tick_length,
            tick=self.tick,
            parameters=self.setup.parameters,
            start_inputs=self.setup.start.tolist(),
            inputs=self._barrier.inputs.tolist(),
        )

    async def snapshot(self) -> pb.Snapshot:
        """Returns a snapshot of the complete state. Within ``exclusive``."""
        self._barrier.settle()
        snapshot = self.past()
        snapshot.state = await self._engine.ask_or(self.fail, self._engine.instance.get_state)
        note_clock(snapshot, self._barrier)
        return snapshot

    async def restore(self, snapshot: pb.Snapshot) -> None:
        """Restores a snapshot; changes nothing if the model refuses it. Within ``exclusive``."""
        check_dues(snapshot, self._barrier)
        await self._engine.ask_or(self.fail, self._engine.instance.set_state, snapshot.state)
        self._adopt(snapshot)

    def revive(self, snapshot: pb.Snapshot) -> None:
        """Takes over the rest of a snapshot, whose state the new session's instance has already."""
        self._adopt(snapshot)
        # The epochs of the new session start at 1.
        self._barrier.epoch = 1

    def replace(self, instance: HostedInstance, setup: Setup, inputs: Vector, tick: int) -> None:
        """Replaces instance, settings, inputs and tick, in a new epoch. Within ``exclusive``."""
        self._engine.replace(instance)
        self.setup = setup
        # The parameters determine which inputs are used, and checked.
        self._inputs = Selector(in_use(self.table, setup.parameters), "input")
        for member in self._members:
            member.inputs = self._inputs(member.inputs.names)
        self._barrier.restart(inputs, tick, self._engine.session_time.now())
        for member in self._members:
            member.reply, member.seen = None, tick
        self._viewers.restart()
        self.failure = self.failure_reason = ""
        if self.state is not SessionState.PAUSED:
            self.state = SessionState.RUNNING if tick else SessionState.CREATED

    def check_room(self, size: int) -> None:
        """Raises TooManySnapshots if there is no room for a snapshot of that size [bytes]."""
        self._snapshots.check_room(size)

    def keep_snapshot(self, data: bytes) -> str:
        """Keeps a snapshot and returns its id. Raises TooManySnapshots."""
        return self._snapshots.keep(data)

    def find_snapshot(self, snapshot_id: str) -> bytes:
        """Returns a kept snapshot; raises UnknownSnapshot."""
        return self._snapshots.find(snapshot_id)

    def delete_snapshot(self, snapshot_id: str) -> None:
        """Deletes a snapshot; raises UnknownSnapshot."""
        self._snapshots.delete(snapshot_id)

    # ------------------------------------------------------------ viewers and recording

    def watch(self, request: pb.WatchRequest) -> Viewer:
        """Adds a viewer. Raises UnknownSignal, BadField or TooManyViewers."""
        self.require("Watch")
        viewer = Viewer(self._outputs(request.outputs), request.every_ticks or 1, present=request.present)
        self._viewers.add(viewer, self.config.max_viewers)
        self._show_present()
        return viewer

    def unwatch(self, viewer: Viewer) -> None:
        """Removes a viewer."""
        self._viewers.remove(viewer)

    def end_views(self) -> None:
        """Ends the stream of every viewer."""
        self._viewers.end()

    def record_to(self, recording: Recording) -> None:
        """Starts to record the session."""
        self._engine.recording = recording

    # ------------------------------------------------------------ end

    def interrupt(self) -> None:
        """Ends a call that is under way in a worker, and the worker with it."""
        self._engine.interrupt()

    def abandon(self) -> None:
        """Frees a session whose creation failed."""
        self._engine.close()

    async def close(self) -> None:
        """Closes the session, and refuses all waits."""
        async with self.exclusive():
            self.require("DeleteSession")
            self.state = SessionState.CLOSED
            closed = errors.SessionClosed(
                "the session was deleted", field="session_id", requested=self.id, allowed="an open session"
            )
            self._members.refuse(closed, closed.message)
            for member in self._members:
                member.rest()
            self._viewers.end()
            self.record(pb.EVENT_KIND_CLOSED)
            self._engine.close()

    # ------------------------------------------------------------ inside

    def _adopt(self, snapshot: pb.Snapshot) -> None:
        setup = self.setup.with_past(dict(snapshot.parameters), np.array(snapshot.start_inputs))
        self.replace(self._engine.instance, setup, np.array(snapshot.inputs), snapshot.tick)
        load_clock(snapshot, self._barrier)
