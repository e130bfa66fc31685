"""The integer tables and numbers by which the impulse engine knows a multibody (``models/impulse/impulse.h``).

A wheel that a hinge alone holds, with its centre of mass on the axle and symmetric about it, becomes a rotor of
its carrier, which takes its mass and its inertia but that about the axle. The equations are the same, without the five
rows and five of the six coordinates.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from jounce.architecture.order import Factors, OrderError, ordered
from jounce.architecture.spin import merged
from jounce.architecture.tables import LayoutError, Parts
from jounce.architecture.target import Multibody, Wheel

Array = NDArray[np.float64]

#: What the paper does otherwise -> bit of the option: joints' rows without their velocity-product term, no projection,
#: dampers at the velocity before the tick, tires that push before they touch.
PAPER = {"joints": 1, "drift": 2, "dampers": 4, "touch": 8}
#: Pieces of the road that the numbers have room for, and the numbers of each.
PIECES, PIECE = 8, 7
#: Most bodies and rows, as in ``impulse.h``.
BODIES, ROWS = 64, 512
#: States that a tick writes beside those of the motion.
MISC = 4

@dataclass(frozen=True)
class Piece:
    """Part of the road: height times the power of the distance behind a place, or a bump (1 - cos)/2 of a length."""

    place: float
    height: float
    """Of a bump [m]; or the factor [m^(1 - order)]."""
    order: int = 4
    """1 to 3; 4: a bump."""
    length: float = 1.0
    """Of a bump [m]."""
    side: int = 0
    """1: for wheels on the left alone, -1: on the right alone."""
    pitch: float = 0.0
    """From a bump to the next [m]."""
    count: int = 1
    """Of bumps."""


@dataclass(frozen=True)
class Layout:
    """Tables of a multibody."""

    model: Multibody
    """With its wheels' bodies merged into their carriers."""
    spins: tuple[int, ...]
    """Wheels that are rotors of their carriers, by place in `model.wheels`."""
    factors: Factors
    topology: tuple[int, ...]
    """All integer tables, one after the other."""
    numbers: Array
    hard: int
    """Rows of K: of joints, motors, limits, rigid contacts."""
    motors: tuple[tuple[str, int], ...]
    """Of each motor row, what it is ("motor", "drive", "brake") and the place of its motor or wheel."""

    @property
    def contacts(self) -> tuple[tuple[Wheel, float], ...]:
        """Wheel and offset of each contact."""
        return tuple(self.model.contacts())

    @property
    def velocities(self) -> int:
        """Number of coordinates of the velocity."""
        return 6 * len(self.model.bodies) + len(self.spins)

    @property
    def motion(self) -> int:
        """Number of states of the motion; those behind are what the last tick found."""
        return 13 * len(self.model.bodies) + 2 * len(self.spins) + 2 * len(self.contacts)

    @property
    def states(self) -> int:
        """Number of all states."""
        return self.motion + self.velocities + self.hard + len(self.model.springs) + 4 * len(self.contacts) + MISC

    @property
    def work(self) -> int:
        """Number of doubles that a tick works with, as ``imp_lay_out`` counts them."""
        bodies, springs, contacts = len(self.model.bodies), len(self.model.springs), len(self.contacts)
        values = self.topology[10]
        rows = self.hard + springs + 3 * contacts
        return (18 * (bodies + 1) + 16 * rows + 2 * values + 2 * self.velocities + self.factors.entries
                + 3 * (self.velocities + self.hard) + 2 * self.hard + springs + 6 * contacts + 3 * bodies)  # fmt: skip

    @property
    def limits(self) -> list[Array]:
        """Numbers of each limit."""
        size, behind = 14, PIECES * PIECE + 12 * len(self.contacts)
        end = len(self.numbers) - behind
        return list(self.numbers[end - size * len(self.model.limits) : end].reshape(-1, size))

    def drawn(self) -> Array:
        """(states,) drawn pose, without motion."""
        x = np.zeros(self.states)
        for k, body in enumerate(self.model.bodies):
            x[13 * k : 13 * k + 3], x[13 * k + 3] = body.com, 1.0
        return x

    def with_road(self, pieces: Sequence[Piece]) -> Layout:
        """The same on another road. Raises LayoutError."""
        numbers = self.numbers.copy()
        numbers[-PIECES * PIECE :] = _road(pieces)
        return replace(self, numbers=numbers)


def layout(model: Multibody, *, spins: bool = True, wheel_motors: bool = False, rigid: bool = False,
           stuck: bool = False, regularized: float = 0.0, restitution: float = 0.0, road: Sequence[Piece] = (),
           paper: Collection[str] = ()) -> Layout:  # fmt: skip
    """Tables of a trimmed model.

    ``wheel_motors`` gives every wheel a brake and the driven ones a drive; ``rigid`` makes contacts rows without
    stiffness (the paper's), ``stuck`` those along the ground alone, with ``regularized`` [1/kg] as their compliance
    over h; ``paper`` names what is to be as in the paper, of `PAPER`. Raises LayoutError.
    """
    if stuck and not regularized > 0:
        raise LayoutError(f"{model.where}: friction without stiffness and regularized = {regularized}: the rows of the "
                          "wheels of one axle depend on others; expected regularized > 0")  # fmt: skip
    own, spun = merged(model) if spins else (model, ())
    driven = [k for k, w in enumerate(model.wheels) if w.driven]
    motors = [("motor", k) for k in range(len(model.motors))]
    if wheel_motors:
        motors += [("drive", k) for k in driven] + [("brake", k) for k in range(len(model.wheels))]
    parts = Parts(own, tuple(spun), tuple(motors), rigid, stuck, regularized, restitution,
                   sum(PAPER[name] for name in paper))
    numbers = np.concatenate([*parts.numbers(), _road(road)])
    names = list(parts.row_names())
    if rigid and not regularized:
        parts.check_rigid(names)
    rows = len(names) + len(own.springs) + 3 * sum(len(w.offsets) for w in own.wheels)
    if len(own.bodies) > BODIES or rows > ROWS:
        raise LayoutError(f"{model.where}: {len(own.bodies)} bodies and {rows} rows; expected at most {BODIES} and "
                          f"{ROWS}")  # fmt: skip
    matrices, full = parts.matrices()
    try:
        factors = ordered(matrices, full, parts.velocities)
    except OrderError as error:
        k = error.unknown - parts.velocities
        what = names[k] if k >= 0 else own.bodies[min(error.unknown // 6, len(own.bodies) - 1)].name
        raise LayoutError(f"{model.where}: the rows of {what} depend on others; expected each motion to be held "
                          "once") from error  # fmt: skip
    return Layout(own, tuple(spun), factors, tuple(parts.topology(factors, full)), numbers, len(names),
                  tuple(motors))  # fmt: skip


def _road(pieces: Sequence[Piece]) -> Array:
    if len(pieces) > PIECES:
        raise LayoutError(f"road of {len(pieces)} pieces: expected at most {PIECES}")
    numbers = np.zeros((PIECES, PIECE))
    for k, p in enumerate(pieces):
        if p.order not in (1, 2, 3, 4) or not p.length > 0:
            raise LayoutError(f"piece {k + 1} of the road: order {p.order}, length {p.length}: expected an order of 1 "
                              "to 3, or 4 and a length above 0: a bump; a step has no slope")  # fmt: skip
        numbers[k] = p.order, p.place, p.height, p.length, p.side, p.pitch, p.count
    return numbers.ravel()
