"""The signal table of an architecture in minimal coordinates: that of the impulse engine, as far as it applies.

Signals of the same name have the same meaning, so that both engines can be driven by the same inputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from jounce.models.ce.forest import Forest
from jounce.models.ce.states import states
from jounce.models.impulse import signals as impulse
from jounce.references import Ledger
from jounce.signals import Signal, SignalTable

#: References of the trucks that come with jounce; `python -m jounce_fmu.build.generate` writes new ones into it.
LEDGER = Path(__file__).parent / "references.txt"
#: Time with which the steering wheel follows its input [s].
FOLLOWS = 0.01
#: Damping of tires along the ground over their stiffness there [s]: the loss tangent of rubber over its frequency.
DAMPED = 1e-3


def table(of: impulse.Truck, forest: Forest) -> SignalTable:
    """The signal table of a truck."""
    ledger = Ledger.read(LEDGER) if LEDGER.exists() else Ledger()
    return SignalTable(of.vehicle, tuple(_signals(of)), tuple(states(of, forest)), ledger=ledger, derivatives=True)


def _signals(of: impulse.Truck) -> Iterator[Signal]:
    for s in impulse.table(of).signals:
        if s.name in ("active_set_changes", "solver", "sweeps"):
            continue
        if s.name == "tick":
            yield replace(s, description="internal step of the integrator")
            yield Signal("integrator", "parameter", "1", "explicit of order 4, or L-stable of order 2 for long ticks",
                         start=(1.0,), minimum=1.0, maximum=2.0, type="Enumeration", variability="fixed",
                         items=("RK4", "ROSENBROCK"), frame="")  # fmt: skip
        elif s.name == "road":
            text = "damping of the tires along the ground over their stiffness there: 0.1 of their force at 15 Hz"
            yield Signal("tire_damping_time", "parameter", "s", text, start=(DAMPED,), minimum=0.0, maximum=0.1,
                         variability="fixed", nominal=DAMPED, frame="")  # fmt: skip
            yield s
        elif s.name == "steering.rate_max":
            yield replace(s, description=f"of the steering wheel, which follows its input within {FOLLOWS:g} s")
        elif s.name.endswith(".lin_acc"):
            yield replace(s, description="acceleration of pos")
        elif s.name == "closure_residual":
            yield replace(s, description="largest gap of a joint")
        else:
            yield s
