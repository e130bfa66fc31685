"""The kinds of powertrain that a vehicle on axles may have: which one its data are of, and what belongs to each.

Without CasADi.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from jounce.math.layout import Layout
from jounce.powertrain import electric_layouts, layouts
from jounce.powertrain.train import Train
from jounce.signals import State

__all__ = ["AUTOMATIC", "ELECTRIC", "POWERTRAIN_OF_MORE", "Powertrain", "PowertrainKind", "powertrain_kind"]

POWERTRAIN_OF_MORE = "truck8x8_pedals"
"""That of automatic gearboxes with more than two driven axles: it has an inter-axle differential."""


@dataclass(frozen=True)
class PowertrainKind:
    """One of them."""

    name: str
    """Also the folder of its C."""
    example: str
    """The vehicle whose entries of a powertrain are those of every powertrain of this kind on one or two axles."""
    states_of: Callable[[Train], tuple[State, ...]]
    """Its states, before those of the steering column."""
    memory: Layout
    """What its controller remembers."""

    @property
    def function(self) -> str:
        """Name in C of the function that makes its numbers from the entries."""
        return f"vehicle_{self.name}"


@dataclass(frozen=True)
class Powertrain:
    """That of a vehicle."""

    kind: PowertrainKind
    train: Train

    @property
    def states(self) -> tuple[State, ...]:
        """Its states, before those of the steering column."""
        return self.kind.states_of(self.train)


#: Engine, torque converter and automatic gearbox.
AUTOMATIC = PowertrainKind("automatic", "hmmwv_pedals", layouts.states_of, layouts.MEMORY)
#: Electric motors on one or two axles, or at their wheels.
ELECTRIC = PowertrainKind("electric", "hmmwv_electric", lambda _: electric_layouts.STATES, electric_layouts.MEMORY)


def powertrain_kind(entries: Iterable[str]) -> PowertrainKind | None:
    """The kind of the powertrain with those entries: electric where one begins with `motor.`; None without entries."""
    names = tuple(entries)
    if not names:
        return None
    return ELECTRIC if any(name.startswith("motor.") for name in names) else AUTOMATIC
