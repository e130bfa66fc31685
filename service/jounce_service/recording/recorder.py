"""Writes recordings: the session only appends to a queue, one thread for all recordings packs and writes.

The thread writes what has come every ``FLUSH`` seconds as a chunk of its own, so that a file whose writer was killed
is whole up to then. It works in slices with pauses between them: it must not keep the interpreter from a session that
has a tick to release.
"""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Final

from google.protobuf import descriptor_pb2

from jounce.signals import SignalTable
from jounce_proto import jounce_pb2 as pb
from jounce_service.recording.mcap_file import McapFile
from jounce_service.recording.vectors import Vector, VectorCodec

#: Time [s] between two writes: what is older than that survives a kill.
FLUSH: Final = 0.25
#: Messages that the thread packs at a time [1], and the pause after that [s].
_SLICE: Final = 16
_PAUSE: Final = 0.0002
#: Greatest chunk, before compression [bytes].
_CHUNK: Final = 1 << 20
#: Most that may wait for the thread [bytes]; a session that is still faster loses its recording, not its pace.
_QUEUE: Final = 128 << 20
_MODEL, _EVENTS, _INPUTS, _OUTPUTS = "/model", "/events", "/inputs", "/outputs"


class Recording:
    """One session's recording. Methods but ``drain`` are the session's, which calls one at a time."""

    def __init__(self, path: Path, table: SignalTable, every: int, most: int) -> None:
        """Makes the file, which must not be there; raises OSError. ``every`` [ticks], ``most`` [bytes]."""
        self.name = path.name
        self.every = every
        #: Tick [1] at which outputs are wanted next; none before. The session compares, and goes on.
        self.next_tick: float = 0
        #: Written so far [bytes], and why it ended early.
        self.size = 0
        self.failure = ""
        #: Called once, from any thread, when it ends early; whether its session fails then.
        self.on_failure: Callable[[], object] | None = None
        self.required = False
        #: Done when its beginning is written, or has failed, and when all is.
        self.begun: Future[None] = Future()
        self.closed: Future[None] = Future()
        self._most = most
        self._queue: deque[tuple[str, int, bytes]] = deque()
        # Bytes appended by the session, and taken by the thread: each has one writer.
        self._in = self._out = 0
        self._last = b""
        self._ended = False
        # Log time [ns] of tick 0 of the present epoch, and of the last message.
        self._base_ns = self._log_ns = 0
        self._tick_ns = 0.0
        self._file = path.open("xb")
        wire = descriptor_pb2.FileDescriptorProto()
        pb.DESCRIPTOR.CopyToProto(wire)
        files = descriptor_pb2.FileDescriptorSet(file=[wire]).SerializeToString()
        self._codecs = {
            _INPUTS: VectorCodec("Inputs", [s.name for s in table.inputs]),
            _OUTPUTS: VectorCodec("Outputs", [s.name for s in table.outputs]),
        }
        channels = [
            (_MODEL, pb.DescribeModelResponse.DESCRIPTOR.full_name, files),
            (_EVENTS, pb.RecordedEvent.DESCRIPTOR.full_name, files),
            *((t, c.name, c.schema()) for t, c in self._codecs.items()),
        ]
        self._channels = {topic: number for number, (topic, _, _) in enumerate(channels, 1)}
        self._writer = McapFile(self._file, channels)

    # ------------------------------------------------------------ the session

    def model(self, described: pb.DescribeModelResponse) -> None:
        """The signals, once."""
        self._put(_MODEL, 0, described.SerializeToString())

    def event(self, event: pb.RecordedEvent, outputs: Vector | None = None) -> None:
        """Something happened; ``outputs`` where a new past begins with it."""
        event.unix_ns = time.time_ns()
        self._put(_EVENTS, event.tick, event.SerializeToString())
        if outputs is not None:
            self._last = b""
            self.outputs(event.tick, outputs)

    def inputs(self, tick: int, values: Vector) -> None:
        """The inputs that act from ``tick`` on; kept where one has changed."""
        data = values.tobytes()
        if data != self._last:
            self._last = data
            self._put(_INPUTS, tick, data)

    def outputs(self, tick: int, values: Vector) -> None:
        """The clock stands at ``tick`` >= ``next_tick``."""
        self.next_tick = (tick // self.every + 1) * self.every
        self._put(_OUTPUTS, tick, values.tobytes())

    def close(self) -> None:
        """Ends the recording; ``closed`` is done when all is written."""
        self._ended = True

    def status(self) -> pb.RecordingStatus:
        """How it stands."""
        return pb.RecordingStatus(name=self.name, size=self.size, failure=self.failure)

    def _put(self, topic: str, tick: int, data: bytes) -> None:
        if self.failure:
            return
        self._in += len(data)
        if self._in - self._out > _QUEUE:
            self.fail(f"at tick {tick}: the disk is slower than the session")
            return
        self._queue.append((topic, tick, data))

    def fail(self, text: str) -> None:
        """It ends here, with that reason."""
        if not self.failure:
            self.failure = text
            if self.on_failure is not None:
                self.on_failure()

    # ------------------------------------------------------------ the thread

    def drain(self) -> bool:
        """Writes what has come; whether there will be no more."""
        ended = self._ended or bool(self.failure)
        try:
            while self._queue:
                for _ in range(min(_SLICE, len(self._queue))):
                    self._write(*self._queue.popleft())
                time.sleep(_PAUSE)
            self._writer.end_chunk()
            self.size = self._file.tell()
            if self.size > self._most:
                self.fail(f"{self.size} bytes; expected at most {self._most}")
                ended = True
            if ended:
                self._writer.finish()
        except OSError as error:
            self.fail(str(error))
            ended = True
        if not self.begun.done():
            self.begun.set_result(None)
        if ended:
            # What the writer still buffers could not be written before, and cannot now.
            with contextlib.suppress(OSError):
                self._file.close()
            self._queue.clear()
            self.closed.set_result(None)
        return ended

    def _write(self, topic: str, tick: int, data: bytes) -> None:
        self._out += len(data)
        if topic == _EVENTS and (event := pb.RecordedEvent.FromString(data)).HasField("origin"):
            self._tick_ns = event.origin.tick_seconds * 1e9
            self._base_ns = max(self._log_ns - round(tick * self._tick_ns), 0)
        self._log_ns = self._base_ns + round(tick * self._tick_ns)
        codec = self._codecs.get(topic)
        message = data if codec is None else codec.encode(tick, data)
        self._writer.add(self._channels[topic], self._log_ns, message)
        if self._writer.pending > _CHUNK:
            self._writer.end_chunk()


class Recorder:
    """The folder of a server's recordings, and the thread that writes them."""

    def __init__(self, folder: Path, every: int, most: int) -> None:
        """``every`` [ticks] where a session does not say, ``most`` [bytes] per file. OSError, ModuleNotFoundError."""
        import mcap.records  # noqa: F401  # a missing extra shows at start

        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.every = every
        self._most = most
        self._recordings: list[Recording] = []
        self._wake = threading.Event()
        self._stopping = False
        self._thread: threading.Thread | None = None

    def open(self, session_id: str, model: str, table: SignalTable, every: int) -> Recording:
        """A new file, named by time, model and session; raises OSError."""
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        name = f"{stamp}-{re.sub('[^A-Za-z0-9_]', '_', model)}-{session_id}.mcap"
        recording = Recording(self.folder / name, table, every or self.every, self._most)
        self._recordings.append(recording)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
            self._thread.start()
        return recording

    def begin(self, recording: Recording) -> Future[None]:
        """Writes what a recording has by now; done when that is written, or has failed."""
        self._wake.set()
        return recording.begun

    def close(self, recording: Recording) -> Future[None]:
        """Ends a recording; done when its file is whole."""
        recording.close()
        self._wake.set()
        return recording.closed

    def stop(self) -> None:
        """Ends the thread, and every recording that is still open."""
        for recording in self._recordings:
            recording.close()
        self._stopping = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        try:
            while not self._stopping or self._recordings:
                self._wake.wait(FLUSH)
                self._wake.clear()
                for recording in list(self._recordings):
                    if recording.drain():
                        self._recordings.remove(recording)
        finally:
            # After a defect nothing is written any more: end all recordings, so that no caller waits for ever.
            for recording in self._recordings:
                recording.fail("the recorder has stopped")
                for waited_for in (recording.begun, recording.closed):
                    if not waited_for.done():
                        waited_for.set_result(None)
