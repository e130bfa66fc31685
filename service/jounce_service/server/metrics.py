"""Counters of the sessions, and their sums as Prometheus metrics.

A session only adds to its own plain numbers. The sums are made at each scrape, on the endpoint's thread.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from jounce import __version__
from jounce_service.server.stalls import Stalls
from jounce_service.session.pacing import Pacer

#: Upper bounds [s] of the histogram buckets for the duration of a move.
BOUNDS: Final = (5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2, 0.1, 1.0, 10.0)


#: Name of a counter of incidents in sessions -> its help text.
INCIDENTS: Final = {
    "failed_sessions": "Sessions that failed",
    "missed_ticks": "Due ticks that passed without a participant's inputs",
    "barrier_timeouts": "Steps and Syncs that waited for others until the barrier timeout",
    "evictions": "Participants evicted or taken over",
}


class Meter:
    """One session's counters; its session writes, the endpoint reads."""

    def __init__(self, tick_seconds: float, pacer: Pacer | None) -> None:
        """``tick_seconds`` [s] is the tick's length; ``pacer`` is that of a paced session."""
        self.tick_seconds = tick_seconds
        self.ticks = 0
        self.seconds = 0.0
        self.buckets = [0] * (len(BOUNDS) + 1)
        #: Ticks at the last scrape.
        self.seen = 0
        self._pacer = pacer
        #: By the names of ``INCIDENTS``.
        self.incidents: Counter[str] = Counter()

    def add(self, ticks: int, seconds: float) -> None:
        """Counts a move of ``ticks`` that took ``seconds`` of wall-clock time."""
        self.ticks += ticks
        self.seconds += seconds
        self.buckets[bisect_left(BOUNDS, seconds)] += 1

    @property
    def overruns(self) -> int:
        """Late ticks of a paced session [1]."""
        return 0 if self._pacer is None else self._pacer.overruns


class Totals:
    """The meters of open sessions and the sums of closed ones, so that no counter ever decreases."""

    def __init__(self, stalls: Stalls | None = None) -> None:
        """``stalls`` counts the server's own stalls."""
        self._stalls = stalls
        self._lock = threading.Lock()
        self._open: list[Meter] = []
        self._ticks = self._overruns = 0
        self._seconds = 0.0
        self._buckets = [0] * (len(BOUNDS) + 1)
        self._looked = time.monotonic()
        self._incidents: Counter[str] = Counter()
        #: Number of recordings that ended before their sessions [1].
        self.lost_recordings = 0

    def opened(self, meter: Meter) -> None:
        """Adds the meter of a new session."""
        with self._lock:
            self._open.append(meter)

    def closed(self, meter: Meter) -> None:
        """Removes the meter of a closed session and keeps its sums."""
        with self._lock:
            self._open.remove(meter)
            self._ticks += meter.ticks
            self._overruns += meter.overruns
            self._seconds += meter.seconds
            self._incidents += meter.incidents
            self._buckets = [a + b for a, b in zip(self._buckets, meter.buckets, strict=True)]

    def collect(self) -> Iterator[Any]:
        """Yields the metric families; prometheus_client calls it at each scrape."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

        with self._lock:
            meters = list(self._open)
            ticks = self._ticks + sum(m.ticks for m in meters)
            overruns = self._overruns + sum(m.overruns for m in meters)
            seconds = self._seconds + sum(m.seconds for m in meters)
            counts = [sum(column) for column in zip(self._buckets, *(m.buckets for m in meters), strict=True)]
            factor = self._slowest(meters)
            incidents = sum((m.incidents for m in meters), self._incidents)
        for name, text in INCIDENTS.items():
            yield CounterMetricFamily(f"jounce_{name}", text, value=incidents[name])
        buckets, total = [], 0
        for bound, count in zip([*map(str, BOUNDS), "+Inf"], counts, strict=True):
            total += count
            buckets.append((bound, total))
        yield HistogramMetricFamily(
            "jounce_step_duration_seconds", "Time that a model takes from one stop of the clock to the next",
            buckets=buckets, sum_value=seconds,
        )
        yield CounterMetricFamily("jounce_steps", "Ticks that the sessions have advanced", value=ticks)
        yield CounterMetricFamily("jounce_overruns", "Late ticks of paced sessions", value=overruns)
        yield CounterMetricFamily(
            "jounce_lost_recordings", "Recordings that ended before their sessions", value=self.lost_recordings
        )
        yield GaugeMetricFamily("jounce_sessions", "Open sessions", value=len(meters))
        yield GaugeMetricFamily(
            "jounce_realtime_factor",
            "Simulated seconds per wall-clock second since the last scrape, of the slowest session that moved",
            value=factor,
        )
        if self._stalls is not None:
            count, seconds = self._stalls.count, self._stalls.seconds
            yield CounterMetricFamily("jounce_stalls", "Times that the server process did not run", value=count)
            yield CounterMetricFamily("jounce_stalled_seconds", "Seconds without the server running", value=seconds)
        build = GaugeMetricFamily("jounce_build_info", "Always 1; the label has the version", labels=["version"])
        build.add_metric([__version__], 1)
        yield build

    def _slowest(self, meters: list[Meter]) -> float:
        now = time.monotonic()
        elapsed, self._looked = max(now - self._looked, 1e-9), now
        moved = []
        for meter in meters:
            ticks, meter.seen = meter.ticks - meter.seen, meter.ticks
            if ticks:
                moved.append(ticks * meter.tick_seconds / elapsed)
        return min(moved, default=0.0)
