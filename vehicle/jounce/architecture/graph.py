"""The graph of an architecture: components are its nodes, connections its edges (Lesiv 2011, Fig. 1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Final

import numpy as np
from numpy.typing import NDArray

from jounce.architecture import inertia
from jounce.architecture.inertia import Mass
from jounce.architecture.read import ArchitectureError, Table, shown
from jounce.powertrain.sketched import Powertrain

Array = NDArray[np.float64]

#: Name of the world as a side of a connection.
WORLD: Final = "ground"
_UP: Final = np.array([0.0, 0.0, 1.0])
#: Components that a message lists.
_LISTED: Final = 12


@dataclass(frozen=True)
class Component:
    """A node of the graph."""

    name: str
    """With its assembly's before it."""
    assembly: str
    mass: Mass
    where: str
    """Its entry, for messages."""


@dataclass(frozen=True)
class Edge:
    """A connection of two components; of its numbers those count that its kind has."""

    name: str
    kind: str
    a: str
    b: str
    where: str
    point_a: Array = field(default_factory=lambda: np.zeros(3))
    point_b: Array = field(default_factory=lambda: np.zeros(3))
    axis: Array = field(default_factory=lambda: _UP)
    along: Array | None = None
    """Of springs, dampers; None: from point to point."""
    length: float = 0.0
    stiffness: float = 0.0
    damping: float = 0.0
    seated: bool = True
    measure: str = ""
    lower: float = 0.0
    upper: float = 0.0
    """Of a limit; of a motor its bound."""
    steer: Array = field(default_factory=lambda: np.zeros(3))
    """What moves point_b, per radian of the steering wheel [m/rad]."""
    named: bool = True
    """Whether the file names it; else its name says what it connects."""


@dataclass(frozen=True)
class WheelType:
    """A wheel and its tire, which suspensions name."""

    radius: float
    stiffness: float
    damping: float
    friction: float
    lateral: float
    relaxation: float
    mass: float = 0.0
    inertia: tuple[float, float] = (0.0, 0.0)
    """Across its axle, about its axle [kg m2]."""


@dataclass(frozen=True)
class WheelOn:
    """A component that is a wheel."""

    name: str
    body: str
    kind: WheelType
    where: str
    offsets: tuple[float, ...] = (0.0,)
    driven: bool = False
    steered: bool = False


@dataclass
class Architecture:
    """Components and connections of a vehicle, to which suspensions have added theirs."""

    name: str
    description: str = ""
    components: dict[str, Component] = field(default_factory=dict)
    edges: list[Edge] = field(default_factory=list)
    wheels: list[WheelOn] = field(default_factory=list)
    wheel_types: dict[str, WheelType] = field(default_factory=dict)
    suspensions: dict[str, str] = field(default_factory=dict)
    """Name -> template."""
    sources: dict[str, str] = field(default_factory=dict)
    """Entry -> where its number is from."""
    engine: str = "auto"
    """Of `jounce.architecture.load.ENGINES`."""
    file: str = ""
    """Name of its file, for messages."""
    powertrain: Powertrain | None = None

    def add(self, component: Component) -> None:
        """Adds a component. Raises ArchitectureError where its name is taken."""
        if component.name in self.components or component.name == WORLD:
            raise ArchitectureError(f"{component.where}: name {component.name!r} is taken; expected a name of its own")
        if wrong := inertia.fault(component.mass):
            raise ArchitectureError(f"{component.where}: {wrong}")
        self.components[component.name] = component

    def resolved(self, name: str, table: Table) -> str:
        """The component of that name, or the first of the assembly of that name. Raises ArchitectureError."""
        if name in self.components or name == WORLD:
            return name
        for component in self.components.values():
            if component.assembly == name:
                return component.name
        near = get_close_matches(name, self.components, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        more = ", ..." if len(self.components) > _LISTED else ""
        raise table.fault(f"{shown(name)} is no component or assembly; {hint}expected one of "
                          f"{', '.join([*self.components][:_LISTED])}{more}")  # fmt: skip


def offsets(dual: float) -> tuple[float, ...]:
    """Of the contacts from a wheel's centre, for the distance of a dual wheel's tires [m]; 0 is a single one."""
    return (-dual / 2, dual / 2) if dual else (0.0,)
