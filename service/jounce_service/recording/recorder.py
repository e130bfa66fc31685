"""Writes recordings. Sessions only append to a queue; one thread encodes and writes all recordings.

Every ``FLUSH`` seconds the thread writes the queue as one chunk, so the file of a killed server is readable up to the
last chunk. The thread works in short slices with pauses between them, so that it does not hold the interpreter lock
while a session has a tick to release.
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

#: Time between two chunks [s]; if the server is killed, at most this much is lost.
FLUSH: Final = 0.25
#: Messages that the thread encodes in one slice [1], and the pause after a slice [s].
_SLICE: Final = 16
_PAUSE: Final = 0.0002
#: Size before compression at which a chunk ends [bytes].
_CHUNK: Final = 1 << 20
#: Largest queue [bytes]. The recording of a session that fills it ends; the session is not slowed down.
_QUEUE: Final = 128 << 20
_MODEL, _EVENTS, _INPUTS, _OUTPUTS = "/model", "/events", "/inputs", "/outputs"


class Recording:
    """One session's recording. The session calls its methods, one at a time; the thread calls ``drain``."""

    def __init__(self, path: Path, table: SignalTable, every: int, most: int) -> None:
        """Creates the file; raises OSError, also if it exists.

        Outputs are recorded every ``every`` [ticks]; the recording ends at ``most`` [bytes].
        """
        self.name = path.name
        self.every = every
        #: Next tick at which the session should record outputs.
        self.next_tick: float = 0
        #: Bytes written so far, and the reason for which the recording ended early.
        self.size = 0
        self.failure = ""
        #: Called once, from any thread, if the recording ends early.
        self.on_failure: Callable[[], object] | None = None
        #: Whether the session fails if the recording ends early.
        self.required = False
        #: Done when the first chunk is written or has failed.
        self.begun: Future[None] = Future()
        #: Done when the file is closed.
        self.closed: Future[None] = Future()
        self._most = most
        self._queue: deque[tuple[str, int, bytes]] = deque()
        # Bytes appended by the session and taken by the thread. Each has one writer, so no lock is needed.
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
        """Records the signal table; the session calls it first."""
        self._put(_MODEL, 0, described.SerializeToString())

    def event(self, event: pb.RecordedEvent, outputs: Vector | None = None) -> None:
        """Records an event; ``outputs`` are given with an event that begins an epoch."""
        event.unix_ns = time.time_ns()
        self._put(_EVENTS, event.tick, event.SerializeToString())
        if outputs is not None:
            self._last = b""
            self.outputs(event.tick, outputs)

    def inputs(self, tick: int, values: Vector) -> None:
        """Records the inputs that act from ``tick`` on, if one of them has changed."""
        data = values.tobytes()
        if data != self._last:
            self._last = data
            self._put(_INPUTS, tick, data)

    def outputs(self, tick: int, values: Vector) -> None:
        """Records the outputs at ``tick``, which must be at least ``next_tick``."""
        self.next_tick = (tick // self.every + 1) * self.every
        self._put(_OUTPUTS, tick, values.tobytes())

    def close(self) -> None:
        """Ends the recording; ``closed`` is done when everything is written."""
        self._ended = True

    def status(self) -> pb.RecordingStatus:
        """Name, size and failure, for GetSession."""
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
        """Writes the queue as a chunk; returns whether the recording has ended."""
        ended = self._ended or bool(self.failure)
        try:
            while self._queue:
                for _ in range(min(_SLICE, len(self._queue))):
                    self._write(*self._queue.popleft())
                time.sleep(_PAUSE)
            self._writer.end_chunk()
            self.size = self._file.tell()
            if self.size > self._most:
                self.fail(f"the file has {self.size} bytes; expected at most {self._most}")
                ended = True
            if ended:
                self._writer.finish()
        except OSError as error:
            self.fail(str(error))
            ended = True
        if not self.begun.done():
            self.begun.set_result(None)
        if ended:
            # After a failed write, closing fails as well, since it flushes the rest of the buffer.
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
        """``every`` [ticks] is the default between outputs, ``most`` [bytes] the largest file.

        Raises OSError if the folder cannot be made, and ModuleNotFoundError without mcap.
        """
        import mcap.records  # noqa: F401  # So that a missing extra is reported at the start.

        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.every = every
        self._most = most
        self._recordings: list[Recording] = []
        self._wake = threading.Event()
        self._stopping = False
        self._thread: threading.Thread | None = None

    def open(self, session_id: str, model: str, table: SignalTable, every: int) -> Recording:
        """Starts a recording in a new file, named after time, model and session; raises OSError."""
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
        name = f"{stamp}-{re.sub('[^A-Za-z0-9_]', '_', model)}-{session_id}.mcap"
        recording = Recording(self.folder / name, table, every or self.every, self._most)
        self._recordings.append(recording)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
            self._thread.start()
        return recording

    def begin(self, recording: Recording) -> Future[None]:
        """Lets the thread write now what is queued; the future is done when that is written or has failed."""
        self._wake.set()
        return recording.begun

    def close(self, recording: Recording) -> Future[None]:
        """Ends a recording; the future is done when its file is complete."""
        recording.close()
        self._wake.set()
        return recording.closed

    def stop(self) -> None:
        """Ends every open recording, and then the thread."""
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
            # If the thread dies from a defect, no recording is written any more: end all, so that no caller waits.
            for recording in self._recordings:
                recording.fail("the recorder has stopped")
                for waited_for in (recording.begun, recording.closed):
                    if not waited_for.done():
                        waited_for.set_result(None)
