"""The impulse engine for any multibody, without an FMU: for tests, benchmarks and the modes of its tick."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shlex
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce.architecture.layout import Layout
from jounce_fmu.build.library import NATIVE, BuildError, compiler, flags, library_suffix

Array = NDArray[np.float64]

FOLDER = Path(__file__).parent
FAULTS = ("", "the pivot of {what} has vanished: its rows are singular", "{what} is not finite any more",
          "{what} is {value:.3g} m below the road", "what {what} does has not settled for 10 ticks",
          "joint {what} has come apart by {value:.3g}")  # fmt: skip


class EngineFault(RuntimeError):
    """A tick that was not done; the message names the body, joint or wheel."""


@cache
def library() -> ctypes.CDLL:
    """The compiled engine. Raises BuildError."""
    parts = sorted([*FOLDER.glob("*.inc"), FOLDER / "impulse.h", FOLDER / "impulse_door.c"])
    digest = hashlib.sha256(repr(flags()).encode() + b"".join(p.read_bytes() for p in parts)).hexdigest()[:16]
    made = NATIVE / f"impulse_engine-{digest}{library_suffix()}"
    if not made.is_file():
        made.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=made.parent, prefix=".build-") as folder:
            part = Path(folder) / made.name
            command = [*compiler(), *flags(), "-shared", "-o", str(part), str(FOLDER / "impulse_door.c"), "-lm"]
            result = subprocess.run(command, capture_output=True, text=True, check=False)
            if result.returncode:
                raise BuildError(f"compiling the engine failed:\n{shlex.join(command)}\n{result.stderr}")
            os.replace(part, made)
    return ctypes.CDLL(str(made))


def _pointer(array: NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


class Engine:
    """A multibody and its state x, which `start` makes and `run` advances."""

    def __init__(self, layout: Layout, tick_length: float = 1e-3) -> None:
        """At the drawn pose, at rest. ``tick_length`` in s. Raises BuildError."""
        self.layout, self.tick_length = layout, tick_length
        self._table = np.array(layout.topology, dtype=np.int32)
        sizes = (ctypes.c_int * 3)()
        library().imp_door_sizes(_pointer(self._table), sizes)
        if tuple(sizes) != (layout.work, layout.states, len(layout.numbers)):
            raise BuildError(f"{layout.model.name}: the engine works with {tuple(sizes)} doubles, states, "
                             f"numbers; expected {layout.work}, {layout.states}, {len(layout.numbers)}")  # fmt: skip
        self.numbers = np.ascontiguousarray(layout.numbers)
        self._work = np.zeros(sizes[0])
        self.motors = np.zeros((max(len(layout.motors), 1), 2))
        """(motors, 2) target [rad/s] and bound [N m]."""
        self.friction = np.array([w.friction for w, _ in layout.contacts] or [0.0])
        """(contacts,) coefficient of friction."""
        self.sweeps = 0
        """0: the direct solver; else sequential impulses, that many sweeps over the rows."""
        self.warm = np.zeros(layout.hard + len(layout.model.springs) + 3 * len(layout.contacts))
        """(rows,) impulses with which the sweeps of the next tick begin, and those of the last one."""
        self.x = layout.drawn()
        self.bodies = self.x[: 13 * len(layout.model.bodies)].reshape(-1, 13)
        """(bodies, 13) centre, quaternion, velocity, angular velocity: part of x."""

    def start(self) -> None:
        """Takes the velocities as those at the time of the pose, and moves them half a tick back.

        Raises EngineFault.
        """
        kind, value = (ctypes.c_int * 2)(), ctypes.c_double()
        if library().imp_door_start(*self._common(), _pointer(self.x), _pointer(self._work), kind, ctypes.byref(value)):
            raise self._fault(kind[0], kind[1], value.value)

    def run(self, ticks: int, watch: Sequence[int] = (), ground: Array | None = None) -> Array:
        """(ticks, len(watch)) values of these states after each tick. Raises EngineFault.

        ``ground`` (ticks, contacts, 2) is how high the road is lifted at each [m], and its rate in the tick [m/s].
        """
        kind, value = (ctypes.c_int * 2)(), ctypes.c_double()
        places, seen = np.array(watch, dtype=np.int32), np.empty((ticks, len(watch)))
        lifted = None if ground is None else np.ascontiguousarray(ground, dtype=float)
        if lifted is not None and lifted.shape != (ticks, len(self.layout.contacts), 2):
            raise ValueError(f"ground: shape {lifted.shape}, expected {(ticks, len(self.layout.contacts), 2)}")
        done = library().imp_door_ticks(
            *self._common(), _pointer(self.x), _pointer(self._work), ticks,
            _pointer(places), len(places), _pointer(seen), kind, ctypes.byref(value),
            None if lifted is None else _pointer(lifted),
        )  # fmt: skip
        if done < ticks:
            raise self._fault(kind[0], kind[1], value.value)
        return seen

    @property
    def motion(self) -> Array:
        """The states of the motion: all that the next tick reads."""
        return self.x[: self.layout.motion]

    @property
    def before(self) -> Array:
        """(bodies, 6) velocities before the last tick."""
        at = self.layout.motion
        return self.x[at : at + 6 * len(self.bodies)].reshape(-1, 6)

    def _tail(self, behind: int, n: int) -> Array:
        end = len(self.x) - behind
        return self.x[end - n : end]

    @property
    def forces(self) -> Array:
        """(contacts, 4) force of the ground forward, left and along its normal [N], and deflection of the tire [m]."""
        return self._tail(4, 4 * len(self.layout.contacts)).reshape(-1, 4)

    @property
    def closure(self) -> float:
        """Largest residual of a joint after the last tick, before the projection [m] or [1]."""
        return float(self.x[-4])

    def _common(self) -> tuple[ctypes.c_void_p | ctypes.c_double | int, ...]:
        arrays: tuple[NDArray[Any], ...] = (self._table, self.numbers, self.motors, self.friction)
        return *map(_pointer, arrays), ctypes.c_double(self.tick_length), self.sweeps, _pointer(self.warm)

    def _fault(self, kind: int, place: int, value: float) -> EngineFault:
        layout = self.layout
        joints = [j.name for j in layout.model.joints for _ in range(j.rows)]
        rows = [*joints, *(f"{kind} {k + 1}" for kind, k in layout.motors), *(s.name for s in layout.model.limits)]
        what = ""
        if kind in (3, 4) and 0 <= place < len(layout.contacts):
            what = f"wheel {layout.contacts[place][0].name}"
        elif kind == 4:
            what = rows[-2 - place]
        elif place < layout.velocities:
            spin = place - 6 * len(layout.model.bodies)
            name = layout.model.wheels[layout.spins[spin]].name if spin >= 0 else layout.model.bodies[place // 6].name
            what = f"the motion of {name}"
        else:
            row = place - layout.velocities
            what = rows[row] if row < len(rows) else f"row {row}"
        return EngineFault(FAULTS[kind].format(what=what, value=abs(value)))
