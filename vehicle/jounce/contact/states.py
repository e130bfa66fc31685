"""The inner states of a wheel: those of its tire's law and that of its brake."""

from __future__ import annotations

from jounce.contact.tires import Law
from jounce.signals import State

#: Of the brake.
WIND_UP = State("wind_up", "rad", "elastic wind-up of the brake", 1e-3)


def inner(law: Law) -> tuple[State, ...]:
    """The states of a wheel after its spin rate: the tire's, the brake's behind the first vector of them.

    That order is older than the registry of laws; another one gives other last bits of implicit steps.
    """
    first = next(iter(law.layout.sizes.values()), 0)
    return (*law.states[:first], WIND_UP, *law.states[first:])
