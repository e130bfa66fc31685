"""What an architecture becomes: bodies, and what acts between them.

All points and axes are in world axes (ISO 8855: x forward, y left, z up), of the drawn vehicle. A body's frame has its
origin in the centre of mass and is parallel to the world in the drawn pose; so a point fixed in body b is
`point - bodies[b].com` in its frame. Bodies are named by their place in `bodies`; `GROUND` is the world. SI units.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

#: In place of a body: the world.
GROUND: Final = -1
#: Kind of joint -> how many rows hold it.
ROWS: Final = {"ball": 3, "hinge": 5, "slider": 5, "line": 2, "rod": 1}
#: Standard gravity [m/s2].
G: Final = 9.81


@dataclass(frozen=True)
class Body:
    """One rigid body: a component, or several that are rigidly connected."""

    name: str
    """Of the first of its components."""
    mass: float
    """[kg]"""
    com: Array
    """(3,) centre of mass in the drawn pose [m]."""
    inertia: Array
    """(3, 3) about the centre of mass, world axes of the drawn pose [kg m2]."""
    members: tuple[str, ...] = ()
    """Names of its components."""


@dataclass(frozen=True)
class Joint:
    """Rows that hold two bodies together.

    ball: point_a on point_b. hinge: ball, and no turn but about the axis. slider: no turn, point_a stays on the line
    through point_b along the axis. line: point_a stays on that line, all turns are free. rod: length between the
    points. The axis is fixed in a for a hinge, in b for a slider and a line.
    """

    name: str
    kind: str
    """One of `ROWS`."""
    a: int
    b: int
    point_a: Array
    """(3,) [m]"""
    point_b: Array
    """(3,) [m]"""
    axis: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    """(3,) unit vector; without meaning for ball and rod."""
    length: float = 0.0
    """Of a rod [m]."""
    steer: Array = field(default_factory=lambda: np.zeros(3))
    """What moves point_b in its body, per radian of the steering wheel [m/rad]."""

    @property
    def rows(self) -> int:
        """Number of its rows."""
        return ROWS[self.kind]


@dataclass(frozen=True)
class Spring:
    """Spring and damper along a line.

    Its length s is the distance of the points or, with `along`, along . (p_a - p_b). It pushes the points apart by
    preload - stiffness (s - drawn s) - damping s'. With `along`, which is fixed in b, both bodies are pushed at p_a:
    that is the force whose power is that of s', and its two halves lie on one line.
    """

    name: str
    a: int
    b: int
    point_a: Array
    """(3,) [m]"""
    point_b: Array
    """(3,) [m]"""
    stiffness: float
    """[N/m]"""
    damping: float
    """[N s/m]"""
    along: Array | None = None
    """(3,) unit vector fixed in b; None: from point to point."""
    preload: float = 0.0
    """Force in the drawn pose, pushing apart [N]."""
    seated: bool = True
    """Whether it can only push, as a coil between its seats; a bushing or a mount also pulls."""


@dataclass(frozen=True)
class Motor:
    """Drives the turn of a against b about an axis to a rate, with no more than its bound."""

    name: str
    a: int
    b: int
    axis: Array
    """(3,) unit vector fixed in a."""
    bound: float
    """Largest torque [N m]."""


@dataclass(frozen=True)
class Limit:
    """Stop of a measure between two bodies: along . (p_a - p_b), the distance of the points, or the turn [rad]."""

    name: str
    measure: str
    """"along", "distance" or "angle"."""
    a: int
    b: int
    point_a: Array
    """(3,) [m]"""
    point_b: Array
    """(3,) [m]"""
    axis: Array
    """(3,) unit vector fixed in b; without meaning for a distance."""
    lower: float
    """[m] or [rad], as measured in the drawn pose (angle: from it); -inf for none."""
    upper: float
    """[m] or [rad]; inf for none."""


@dataclass(frozen=True)
class Wheel:
    """Tire contacts of one body that turns about an axis in its carrier."""

    name: str
    body: int
    carrier: int
    centre: Array
    """(3,) [m]"""
    axis: Array
    """(3,) unit vector, to the left."""
    radius: float
    """Free radius of the tire [m]."""
    stiffness: float
    """Of each contact along the ground's normal [N/m]."""
    damping: float
    """Of each contact [N s/m]."""
    lateral_stiffness: float
    """Of each contact along the ground [N/m]."""
    relaxation: float
    """Relaxation length [m]."""
    friction: float
    """Coefficient of friction [1]."""
    offsets: tuple[float, ...] = (0.0,)
    """Of the contacts from the centre along the axis [m]: two of a dual wheel."""
    load: float = 0.0
    """On all its contacts in the drawn pose, once trimmed [N]."""
    driven: bool = False
    steered: bool = False


@dataclass(frozen=True)
class Multibody:
    """Bodies, and what acts between them."""

    name: str
    bodies: tuple[Body, ...]
    joints: tuple[Joint, ...] = ()
    springs: tuple[Spring, ...] = ()
    motors: tuple[Motor, ...] = ()
    limits: tuple[Limit, ...] = ()
    wheels: tuple[Wheel, ...] = ()
    gravity: float = G
    """Downwards [m/s2]."""
    file: str = ""
    """Name of the file that it is from."""

    @property
    def where(self) -> str:
        """File and name, for messages."""
        return f"{self.file}: {self.name}" if self.file else self.name

    @property
    def mass(self) -> float:
        """Of all bodies [kg]."""
        return sum(body.mass for body in self.bodies)

    @property
    def rows(self) -> int:
        """Of all joints."""
        return sum(joint.rows for joint in self.joints)

    def index(self, name: str) -> int:
        """The body that has the component of that name. Raises KeyError."""
        for k, body in enumerate(self.bodies):
            if name == body.name or name in body.members:
                return k
        raise KeyError(name)

    def contacts(self) -> Iterator[tuple[Wheel, float]]:
        """Wheel and offset of every contact, in order."""
        return ((wheel, offset) for wheel in self.wheels for offset in wheel.offsets)
