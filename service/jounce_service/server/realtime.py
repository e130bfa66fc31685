"""Real-time priority, locked memory and disabled CPU idle states, as far as the system grants them to the process."""

from __future__ import annotations

import contextlib
import ctypes as ct
import gc
import logging
import os
import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from jounce_service.server.config import ServerConfig
from jounce_service.transport.security import ConfigError

#: Range of SCHED_FIFO priorities [1]. Workers run one below the server; the kernel's own threads have 99.
_LOWEST, _HIGHEST = 2, 98
#: Flags of mlockall (Linux, <sys/mman.h>).
_MCL_CURRENT, _MCL_FUTURE = 1, 2
#: Bit of CAP_IPC_LOCK (Linux, <linux/capability.h>).
_IPC_LOCK: Final = 14
#: While a process holds this file open, the number written to it limits the wake-up latency of cores [us]
#: (Linux, Documentation/power/pm_qos_interface).
_LATENCY: Final = Path("/dev/cpu_dma_latency")
_log = logging.getLogger(__name__)


def check(config: ServerConfig) -> frozenset[int]:
    """Returns the cores to pin to, empty for none; raises ConfigError for wrong settings."""
    if not _LOWEST <= config.realtime_priority <= _HIGHEST:
        raise ConfigError(f"realtime_priority = {config.realtime_priority}: expected {_LOWEST} to {_HIGHEST}")
    if not config.realtime_cores:
        return frozenset()
    if not config.realtime:
        raise ConfigError(
            "realtime_cores: expected with realtime, since pinning without priority makes a server slower"
        )
    if not hasattr(os, "sched_getaffinity"):
        raise ConfigError(f"realtime_cores: {sys.platform} cannot pin a process to cores")
    return _cores(config.realtime_cores, os.sched_getaffinity(0))


def enter(config: ServerConfig) -> None:
    """Requests the settings and logs what was granted; what is missing is logged as a warning.

    Threads that start later inherit priority and cores. Whatever may compile or uses a BLAS must be done before.
    """
    cores = check(config)
    priority = _prioritize(config.realtime_priority)
    facts = {"priority": priority, "memory": _lock_memory(), "idle": _stay_awake()}
    if cores:
        facts["cores"] = _pin(cores) if priority.isdigit() else "not pinned without priority"
    whole = not any(fact.startswith(("refused", "not pinned")) for fact in facts.values())
    _log.log(logging.INFO if whole else logging.WARNING, "real time", extra=facts)


def settle() -> None:
    """Freezes the objects made so far, so that a full garbage collection (35 ms after the start) skips them."""
    gc.collect()
    gc.freeze()


def _cores(text: str, allowed: set[int]) -> frozenset[int]:
    """Parses a list such as ``0,2-3``; raises ConfigError."""
    found: set[int] = set()
    for part in text.split(","):
        ends = re.fullmatch(r"(\d{1,4})(?:-(\d{1,4}))?", part.strip(), re.ASCII)
        span = range(int(ends[1]), int(ends[2] or ends[1]) + 1) if ends else range(0)
        if not span or not allowed.issuperset(span):
            names = ",".join(map(str, sorted(allowed)))
            raise ConfigError(f"realtime_cores = {text!r}: expected cores of {names}, as in 0,2-3")
        found.update(span)
    return frozenset(found)


def _prioritize(priority: int) -> str:
    if not hasattr(os, "sched_setscheduler"):
        return f"refused: {sys.platform} has no SCHED_FIFO"
    try:
        _to_each_thread(lambda thread: os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(priority)))
    except OSError as error:
        return f"refused: {error.strerror}; it needs CAP_SYS_NICE or RLIMIT_RTPRIO"
    return str(priority)


def _lock_memory() -> str:
    if sys.platform != "linux":
        return f"refused: not tried on {sys.platform}"
    import resource

    # With a limit the lock would be granted now, and a later allocation would fail.
    if resource.getrlimit(resource.RLIMIT_MEMLOCK)[0] != resource.RLIM_INFINITY and not _may_lock():
        return "refused: it needs CAP_IPC_LOCK or an unlimited RLIMIT_MEMLOCK"
    if ct.CDLL(None, use_errno=True).mlockall(_MCL_CURRENT | _MCL_FUTURE):
        return f"refused: {os.strerror(ct.get_errno())}"
    return "locked"


def _stay_awake() -> str:
    """Disables CPU idle states until this process ends, so that a core needs no time to wake up."""
    try:
        os.write(os.open(_LATENCY, os.O_WRONLY), bytes(4))
    except OSError as error:
        return f"refused: {error.strerror}; it needs write access to {_LATENCY}"
    return "polling"


def _may_lock() -> bool:
    held = re.search(r"^CapEff:\s*([0-9a-f]+)$", Path("/proc/self/status").read_text(), re.MULTILINE)
    return held is not None and bool(int(held[1], 16) >> _IPC_LOCK & 1)


def _pin(cores: frozenset[int]) -> str:
    _to_each_thread(lambda thread: os.sched_setaffinity(thread, cores))
    return ",".join(map(str, sorted(cores)))


def _to_each_thread(act: Callable[[int], None]) -> None:
    """Calls ``act`` for every thread, also for those that others have started meanwhile."""
    done: set[int] = set()
    while new := set(_threads()) - done:
        for thread in new:
            with contextlib.suppress(ProcessLookupError):  # one that has just ended
                act(thread)
        done |= new


def _threads() -> Iterable[int]:
    """Ids of all threads of the process; 0, the calling thread, if the system does not list them."""
    folder = Path("/proc/self/task")
    return [int(p.name) for p in folder.iterdir()] if folder.is_dir() else [0]
