"""The signal table of a vehicle in an augmented formulation: that of the vehicle, as far as this model has it.

Signals of the same name have the same meaning and the same reference, so that both can be driven by the same inputs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from jounce.data import Vehicle
from jounce.models.double_wishbone import signals
from jounce.references import Ledger
from jounce.signals import Signal, SignalTable, State

#: Name -> what it is. The names end those of the models: ``hmmwv-ta``.
FORMULATIONS = {
    "fa": "fully augmented: a pose for every body, every joint as rows with multipliers",
    "ta": "tree-augmented: coordinates of the spanning tree, its cut joints as rows",
    "ta-two-point": "tree-augmented, rods and shock tubes without coordinates of their own",
}

#: Longest tick of RK4 [s].
LONGEST_TICK = 0.002


def table(vehicle: Vehicle, name: str, kept: Collection[str], states: Sequence[State]) -> SignalTable:
    """The signal table of the model ``name`` of a vehicle, with those of the vehicle's signals that are ``kept``.

    Raises DataError where the vehicle's data do not fit its tires.
    """
    found = tuple(_own(s) for s in signals.table(vehicle).signals if s.name in kept)
    return SignalTable(name, (*found, *_parameters()), tuple(states), ledger=Ledger.read(signals.LEDGER))


def _own(s: Signal) -> Signal:
    """What is other in this model."""
    if s.name == "tick":
        return replace(s, description="internal step of RK4", maximum=LONGEST_TICK)
    if s.name == "init.equilibrium":
        return replace(s, description="true: at rest on the level ground; false: suspension in design position at "
                       "init.z, released")  # fmt: skip
    if s.name == "closure_residual":
        return replace(s, description="largest gap in any loop: the drift", nominal=1e-9)
    return s


def _parameters() -> Iterator[Signal]:
    yield Signal("baumgarte", "parameter", "1/s", "rate at which gaps of loops close (Baumgarte 1972); 0: they stay",
                 start=(100.0,), minimum=0.0, maximum=1e6, variability="fixed", frame="")  # fmt: skip
    yield Signal("projection", "parameter", "1", "true: positions and velocities are put back on the loops before "
                 "every tick, by the least change; not in model exchange", start=(0.0,), type="Boolean", minimum=0.0,
                 maximum=1.0, variability="fixed", frame="")  # fmt: skip
