"""What a tire law is: the record that a module of this folder fills in, and the words that it speaks in.

A law is a function of the motion of the wheel centre and the plane of the terrain. The wheel (`jounce.contact.wheel`)
and the emitted model know nothing else of a tire, but for its `GEOMETRY`. The record is read where CasADi is not
installed; its functions are called where it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal

from jounce.contact.tires.coefficients import JUDGED, Factor
from jounce.math.layout import Layout
from jounce.signals import Signal, State

if TYPE_CHECKING:
    from jounce.math.algebra import SX

__all__ = ["GEOMETRY", "TILT_MIN", "Contact", "Hub", "Law", "Plane", "Started", "Starting", "Stiffness",
           "later", "lowest_point", "vectors"]  # fmt: skip

GEOMETRY: Final = ("unloaded_radius", "rim_radius")
"""Parameters that every law has: the radius [m] of the disc that asks for the terrain, and that of the rim, which lies
on the ground once the deflection is the difference of the two."""
TILT_MIN: Final = 1e-6
"""Least squared sine between spin axis and normal: a wheel flat on its side has no heading."""

Numbers = Mapping[str, "SX"]


@dataclass(frozen=True)
class Hub:
    """Motion of the wheel centre, in world axes."""

    position: SX
    """Wheel centre (3) [m]."""
    velocity: SX
    """Velocity of the wheel centre (3) [m/s]."""
    axis: SX
    """Unit spin axis (3), to the left."""
    turning: SX
    """Angular velocity of the wheel (3) [rad/s], spin included."""


@dataclass(frozen=True)
class Plane:
    """Terrain under one wheel, taken as a plane, in world axes."""

    point: SX
    """Any point of the plane (3) [m]; for uneven terrain the ground below the law's query point."""
    normal: SX
    """Unit normal (3), upwards."""
    friction: SX
    """Coefficient of friction."""


@dataclass(frozen=True)
class Contact:
    """What the tire does. Contact frame: x along the wheel's heading in the plane, y to the left, z the normal."""

    force: SX
    """Force on the wheel (3) [N], world axes."""
    moment: SX
    """Moment on the wheel about its centre (3) [N.m], world axes."""
    rate: SX
    """Rates of the law's states."""
    contact_force: SX
    """Force (3) [N], contact frame."""
    contact_moment: SX
    """Moment about the contact point (3) [N.m], contact frame."""
    slip: SX
    """Longitudinal slip -(v_x - R_eff omega) / |v_x|, as reported by Chrono."""
    slip_angle: SX
    """Slip angle atan(v_y / |v_x|) [rad]."""
    deflection: SX
    """Radial deflection [m], >= 0."""
    contact_point: SX
    """Contact point (3) [m], world axes."""
    heading: SX
    """x axis of the contact frame (3), world axes."""
    left: SX
    """y axis of the contact frame (3), world axes."""
    stored_energy: SX
    """Elastic energy in the states [J]."""
    outputs: Mapping[str, SX] = field(default_factory=dict)
    """The law's own outputs, by name."""


@dataclass(frozen=True)
class Starting:
    """A contact at the start of a run."""

    load: SX
    """Normal force [N]."""
    friction: SX
    """Coefficient of friction."""
    deflection: SX
    """Radial deflection [m]."""
    force: SX
    """Force that it is to carry at rest (2) [N], along x and y of the contact frame."""
    way: SX
    """1 where the wheel has rolled forward for long, -1 backward."""


@dataclass(frozen=True)
class Started:
    """How a law starts."""

    grip: SX
    """Largest force that the contact carries at rest [N]."""
    resting: SX
    """The states at rest that carry `Starting.force`."""
    rolling: SX
    """The states of a wheel that has rolled on for long without force."""


@dataclass(frozen=True)
class Stiffness:
    """A parameter that makes the contact stiff, for the check that the integrator holds it at its tick."""

    parameter: str
    """Its name under `tire.`."""
    kind: Literal["spring", "damper"]
    """[N/m] or [N.s/m], times `factor` deflection^`power`."""
    where: Literal["normal", "tread"]
    """Along the normal, where it meets the mass of the wheel, or along the tread, where it meets its spin."""
    factor: float = 1.0
    power: int = 0


def lowest_point(hub: Hub, par: Numbers) -> SX:
    """Lowest point of the wheel disc (3) [m], world axes: where the terrain is to be looked up."""
    import casadi as ca

    up = ca.vertcat(0, 0, 1) - hub.axis[2] * hub.axis
    return hub.position - par["unloaded_radius"] * up / ca.sqrt(ca.fmax(ca.dot(up, up), TILT_MIN))


def vectors(states: Sequence[State]) -> Layout:
    """States as vectors: those named `vector.x`, `vector.y` are one."""
    return Layout(**Counter(state.name.partition(".")[0] for state in states))


def later(module: str, function: str) -> Callable[..., Any]:
    """A function of a module that is imported when it is called."""

    def call(*arguments: Any) -> Any:
        return getattr(import_module(module), function)(*arguments)

    return call


@dataclass(frozen=True)
class Law:
    """One tire law."""

    name: str
    """As in `tire = "name"` of a vehicle.toml."""
    parameters: tuple[str, ...]
    """Names under `tire.` of the vehicle data that it reads, those of `GEOMETRY` among them."""
    contact: Callable[[Hub, Plane, SX, Numbers], Contact]
    """(hub, plane, states, numbers by name of the parameters and inputs) -> contact."""
    sided: tuple[str, ...] = ()
    """Parameters that the wheels of the left and the right side have for themselves: the vehicle data have `NAME_left`
    and `NAME_right`, the function finds NAME among its numbers."""
    states: tuple[State, ...] = ()
    """Its states in their order; components of one vector are named `vector.x`, `vector.y`."""
    inputs: tuple[Signal, ...] = ()
    """Inputs of its own, one number for each wheel, named without `wheel_XX.`."""
    outputs: tuple[Signal, ...] = ()
    """Outputs of its own, likewise."""
    start: Callable[[Starting, Numbers], Started] | None = None
    """None: the states start as they say themselves, and the contact carries no force along the plane at rest."""
    query_point: Callable[[Hub, Numbers], SX] = lowest_point
    """(hub, numbers) -> where the terrain is looked up (3) [m], world axes."""
    bounded: tuple[tuple[str, str], ...] = ()
    """Inputs whose bounds are those of a parameter's entry, each with the parameter. 0 is allowed besides."""
    rising: tuple[tuple[str, str], ...] = ()
    """Pairs of parameters of which the second must be above the first."""
    stiffnesses: tuple[Stiffness, ...] = ()
    """What the integrator must hold."""
    factors: tuple[Factor, ...] = ()
    """What keeps its sign; a law with any has the parameters of `coefficients.JUDGED`."""
    parts: tuple[Law, ...] = ()
    """The laws that it is made of, of which each axle has one (`jounce.contact.tires.mixed`)."""
    dual: bool = False
    """Two tires side by side; the distance of the outer from the inner one along the spin axis is among its numbers as
    `dual`, and `inner_own` tells whether the inner one has ground of its own (`jounce.contact.tires.dual`)."""
    quick: bool = False
    """Whether its C is emitted with short trigonometry (`jn_quick.h`): for laws that call much of it."""

    def __post_init__(self) -> None:
        used = {*(n for pair in self.rising for n in pair), *(s.parameter for s in self.stiffnesses), *GEOMETRY}
        used |= {*(n for factor in self.factors for n in factor.keys), *(JUDGED if self.factors else ())}
        if missing := sorted(used - set(self.parameters)):
            raise ValueError(f"tire law {self.name}: {', '.join(missing)} expected among its parameters")
        for kind, signals in (("input", self.inputs), ("output", self.outputs)):
            if odd := [s.name for s in signals if s.causality != kind or s.shape]:
                raise ValueError(f"tire law {self.name}: {odd[0]}: expected an {kind} of one number")

    @property
    def entries(self) -> tuple[str, ...]:
        """Names under `tire.` of the vehicle data that it reads."""
        return (*self.parameters, *(f"{name}_{side}" for name in self.sided for side in ("left", "right")))

    def entries_of(self, side: float, tires: str = "tire") -> dict[str, str]:
        """`tire.NAME` of its parameters -> the entry that a wheel of the side (1 left, -1 right) has for it.

        ``tires``: what the entries begin with, where an axle has its own: `tire.front`.
        """
        which = "left" if side > 0 else "right"
        own = {f"tire.{name}": f"{tires}.{name}" for name in self.parameters}
        return own | {f"tire.{name}": f"{tires}.{name}_{which}" for name in self.sided}

    @cached_property
    def layout(self) -> Layout:
        """Its states as vectors."""
        return vectors(self.states)

    def started(self, starting: Starting, par: Numbers) -> Started:
        """How it starts, of whatever kind it is."""
        if self.start is not None:
            return self.start(starting, par)
        from casadi import DM, SX

        at_first = SX(DM([s.start for s in self.states]))
        return Started(SX(0), at_first, at_first)
