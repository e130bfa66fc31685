"""What a session says of itself, and what a program says to it: sessions, states, events, pacing, late policies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
ParameterValue = float | bool | str
#: Names that a message lists; of more it gives those that are like the wrong one.
_SHOWN = 12


class _Participant(Protocol):
    @property
    def token(self) -> str: ...


@dataclass(frozen=True)
class Session:
    """A session: ``id``, its secret ``token``, the tick length ``tick_seconds`` [s] and the ``model``."""

    id: str
    token: str
    tick_seconds: float = 0.001
    model: str = ""
    join_token: str = ""

    def for_participants(self) -> Session:
        """The same session with the join token, for programs that may only join it."""
        return self._under(self.join_token)

    def controlled_by(self, participant: _Participant) -> Session:
        """The same session with a participant's own token.

        With it the participant may pause, reset, save, restore and fork the session, if it is among the
        ``controllers`` with which the session was created.
        """
        return self._under(participant.token)

    def _under(self, token: str) -> Session:
        return Session(self.id, token, self.tick_seconds, self.model, self.join_token)

    def __reduce__(self) -> tuple[type[Session], tuple[str, str, float, str, str]]:
        # Pickled as a plain Session: only the process that made it deletes it.
        return Session, (self.id, self.token, self.tick_seconds, self.model, self.join_token)


@dataclass(frozen=True)
class Pacing:
    """Real-time pacing.

    ``factor`` [1] is the simulated seconds per wall-clock second. ``overrun`` says what a late tick does: COUNT (later
    ticks catch up), SLIP (all later release times move) or FAIL (the session fails).
    """

    factor: float = 1.0
    overrun: str = "COUNT"


@dataclass(frozen=True)
class Late:
    """What the session does when a participant is late or gone.

    ``policy`` is BLOCK (the session waits), HOLD_LAST (its inputs are held; the session fails if they become older than
    ``max_age`` [ticks], 0 = without limit), SAFE_VALUE (its inputs become ``safe``, in their order [unit of each]) or
    FAIL. The participant is late ``after`` [s] of wall-clock time (None: the server's default), or when its connection
    has gone. It may then rejoin within ``lease`` [s] (None: without limit for HOLD_LAST and SAFE_VALUE, not at all for
    BLOCK).
    """

    policy: str = "BLOCK"
    after: float | None = None
    max_age: int = 0
    safe: Sequence[float] = ()
    lease: float | None = None


@dataclass(frozen=True)
class Snapshot:
    """A snapshot that a session keeps: its ``id`` within the session, and its ``tick``."""

    id: str
    tick: int


@dataclass(frozen=True)
class State:
    """Outputs at a tick.

    ``tick`` is the clock and the next due tick, ``time`` [s] the simulated time since tick 0, and ``values`` [unit of
    each] the outputs in the order of ``names``. ``state["ref_frame.yaw"]`` is a scalar, ``state["ref_frame.pos"]`` a
    vector. ``overruns`` [1] is the number of late ticks of a paced session, ``missed`` [1] the number of due ticks that
    passed without this participant's inputs. ``held`` names the participants whose inputs were held, or were their safe
    values, since the previous state.
    """

    tick: int
    sim_ns: int
    values: Array
    names: tuple[str, ...]
    _index: Mapping[str, int | slice] = field(repr=False, default_factory=dict)
    overruns: int = 0
    missed: int = 0
    held: tuple[str, ...] = ()

    @property
    def time(self) -> float:
        """Simulated time since tick 0 [s]."""
        return self.sim_ns / 1e9  # the nearest number, as no product with 1e-9 is

    def __getitem__(self, name: str) -> Array | np.float64:
        try:
            found: Array | np.float64 = self.values[self._index[name]]
        except KeyError:
            near = get_close_matches(str(name), self.names)
            hint = f"; did you mean {' or '.join(near)}?" if near else ""
            told = ", ".join(self.names) if len(self.names) <= _SHOWN else f"the {len(self.names)} names{hint}"
            raise KeyError(f"{name!r} is not among the requested outputs: {told}") from None
        return found

    def __contains__(self, name: object) -> bool:
        """Whether the output was asked for, scalar or vector."""
        return name in self._index


@dataclass(frozen=True)
class Frame(State):
    """A state for a viewer; ``epoch`` rises at resets and restores, ``dropped`` [1] is the number of lost frames."""

    epoch: int = 0
    dropped: int = 0


#: Events that a Join may request.
NOTICES = ("FAILED", "EVICTED", "MISSED", "BARRIER_TIMEOUT")


@dataclass(frozen=True)
class Event:
    """An event of the session.

    ``kind`` is PAUSED, RESUMED, RESET, RESTORED, DRAINING (the server is stopping; the session goes on for a while) or
    RECORDING_ENDED (before the session), and ``state`` is the state after it. The notices that the Join requested are
    FAILED, EVICTED, MISSED and BARRIER_TIMEOUT: ``text`` says what happened, ``participants`` names those concerned,
    and ``state`` is the last known state.
    """

    kind: str
    epoch: int
    due: int
    state: State
    text: str = ""
    participants: tuple[str, ...] = ()


def index_of(names: Sequence[str]) -> dict[str, int | slice]:
    """Index of every scalar, and slice of every vector whose components are adjacent."""
    index: dict[str, int | slice] = {name: i for i, name in enumerate(names)}
    start = 0
    for i, name in enumerate(names):
        stem = name.rpartition(".")[0]
        last = i + 1 == len(names) or names[i + 1].rpartition(".")[0] != stem
        if last:
            if stem and stem not in index:
                index[stem] = slice(start, i + 1)
            start = i + 1
    return index
