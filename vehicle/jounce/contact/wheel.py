"""What acts on one wheel: its tire or an external contact wrench, drive and brake torque.

The door between the corner (hub motion) and the recursion (loads): internal tires, an external
terramechanics model and a test bench all enter here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca

from jounce.brakes import disc as brake
from jounce.contact.states import WIND_UP, inner
from jounce.contact.tires.law import Hub, Law, Plane, Starting, vectors
from jounce.dynamics import articulated
from jounce.math.algebra import SX, cross, rotation
from jounce.math.layout import Layout

#: From the corner function, in chassis axes.
HUB = Layout(centre=3, axis=3, centre_velocity=3, upright_velocity=3)
#: Chassis pose and motion, the same for every wheel.
CHASSIS = Layout(position=3, quaternion=4, angular=3, linear=3)
#: Inputs: torques [N.m], external wrench about its point (world), terrain plane (world), whether only the
#: height of `ground` counts, right below or above the query point (1), and whether the contact wrench is the
#: external one (1) or the tire's (0).
INPUTS = Layout(drive=1, brake=1, force=3, moment=3, point=3, ground=3, normal=3, friction=1, height_only=1, external=1)
#: Those of them that are signals `wheel_XX.*` as they are; the others follow from terrain and sources.
SIGNALS = {"drive": "drive_torque", "brake": "brake_torque", "force": "force", "moment": "moment", "point": "point"}
#: What a wheel tells the start of its contact: normal force, friction, deflection, force to carry at rest, way.
STARTING = Layout(load=1, friction=1, deflection=1, force=2, way=1)


@dataclass(frozen=True)
class Wheel:
    """A wheel with a tire of one law: the orders of its numbers, and its functions."""

    law: Law

    @cached_property
    def rates(self) -> Layout:
        """Rates of the inner states."""
        return vectors(inner(self.law))

    @cached_property
    def states(self) -> Layout:
        """Spin rate relative to the upright [rad/s] and the inner states."""
        return Layout(spin_rate=1, **self.rates.sizes)

    @cached_property
    def numbers(self) -> Layout:
        """Numbers of the tire and the brake, as the vehicle data name them, and the distance of two tires."""
        return Layout(**dict.fromkeys(self.entries(1.0), 1), **({"dual": 1} if self.law.dual else {}))

    def entries(self, side: float, tires: str = "tire") -> dict[str, str]:
        """These numbers -> the entry of the vehicle data that a wheel of the side (1 left, -1 right) has for each.

        ``tires``: what the entries of its tire begin with (`jounce.data.Vehicle.tires`).
        """
        return self.law.entries_of(side, tires) | {name: name for name in brake.PARAMETERS}

    @cached_property
    def inputs(self) -> Layout:
        """INPUTS and those of the tire's law."""
        return _joined(INPUTS, [*(s.name for s in self.law.inputs), *(["inner_own"] if self.law.dual else [])])

    @property
    def signals(self) -> dict[str, str]:
        """Inputs that are signals `wheel_XX.*` as they are, and these."""
        return SIGNALS | {s.name: s.name for s in self.law.inputs}

    @cached_property
    def dynamics(self) -> Layout:
        """What the equations of motion need.

        Loads for `articulated.inward_sweep`, rates of the inner states, and the tire's deflection, which has a limit.
        """
        return Layout(loads=8, rates=self.rates.size, deflection=1)

    @cached_property
    def results(self) -> Layout:
        """First those, then what only the output signals and the start need; the outputs of the tire's law last."""
        common = Layout(**self.dynamics.sizes, force=3, moment=3, slip=1, slip_angle=1, query=3, centre=3, velocity=3,
                        heading=3, left=3)  # fmt: skip
        return _joined(common, [s.name for s in self.law.outputs])

    def function(self) -> ca.Function:
        """wheel(HUB, CHASSIS, states, inputs, numbers) -> results."""
        parts = (HUB, CHASSIS, self.states, self.inputs, self.numbers)
        flat = [SX.sym(f"v{k}", part.size) for k, part in enumerate(parts)]
        hub, chassis, state, inputs, number = (part.split(v) for part, v in zip(parts, flat, strict=True))
        r = rotation(chassis["quaternion"])
        omega, law = chassis["angular"], self.law
        centre = chassis["position"] + r @ hub["centre"]
        velocity = r @ (chassis["linear"] + cross(omega, hub["centre"]) + hub["centre_velocity"])
        turning = omega + hub["upright_velocity"] + hub["axis"] * state["spin_rate"]
        body = Hub(centre, velocity, r @ hub["axis"], r @ turning)
        par = self._of_tire(number)
        query = law.query_point(body, par)
        below = ca.vertcat(query[:2], inputs["ground"][2])
        ground = ca.if_else(inputs["height_only"] > 0.5, below, inputs["ground"])
        plane = Plane(ground, inputs["normal"], inputs["friction"])
        par |= {name: inputs[name] for name in self.inputs.sizes if name not in INPUTS.sizes}
        contact = law.contact(body, plane, law.layout.join(**{name: state[name] for name in law.layout.sizes}), par)
        outside = inputs["external"] > 0.5
        frame = ca.horzcat(contact.heading, contact.left, plane.normal)
        force = ca.if_else(outside, inputs["force"], contact.force)
        lever = cross(inputs["point"] - centre, inputs["force"])
        moment = ca.if_else(outside, inputs["moment"] + lever, contact.moment)
        torque, wind_up = brake.brake(
            state["spin_rate"], inputs["brake"], state["wind_up"], {name: number[name] for name in brake.PARAMETERS}
        )  # fmt: skip
        loads = articulated.LOADS.join(force=r.T @ force, moment=r.T @ moment, drive=inputs["drive"], brake=torque)
        rates = law.layout.split(ca.if_else(outside, SX(law.layout.size, 1), contact.rate)) | {"wind_up": wind_up}
        out = self.results.join(
            loads=loads, rates=self.rates.join(**rates),
            force=ca.if_else(outside, frame.T @ inputs["force"], contact.contact_force),
            moment=ca.if_else(outside, frame.T @ inputs["moment"], contact.contact_moment), slip=contact.slip,
            slip_angle=contact.slip_angle, deflection=ca.if_else(outside, 0.0, contact.deflection), query=query,
            centre=centre, velocity=velocity, heading=contact.heading, left=contact.left,
            **contact.outputs,
        )  # fmt: skip
        return ca.Function("wheel", flat, [ca.cse(out)])

    def start_function(self) -> ca.Function:
        """wheel_start(STARTING, numbers) -> grip [N], inner states at rest, inner states of a wheel that rolls."""
        given, numbers = SX.sym("s", STARTING.size), SX.sym("n", self.numbers.size)
        started = self.law.started(Starting(**STARTING.split(given)), self._of_tire(self.numbers.split(numbers)))
        ends = [self.rates.join(**self.law.layout.split(states), wind_up=WIND_UP.start)
                for states in (started.resting, started.rolling)]  # fmt: skip
        return ca.Function("wheel_start", [given, numbers], [ca.densify(v) for v in (started.grip, *ends)])

    def _of_tire(self, numbers: dict[str, SX]) -> dict[str, SX]:
        own = {name: numbers[f"tire.{name}"] for name in (*self.law.parameters, *self.law.sided)}
        return own | ({"dual": numbers["dual"]} if self.law.dual else {})


def _joined(common: Layout, more: list[str]) -> Layout:
    """The layout with more numbers behind it. Raises ValueError where a name is taken."""
    if taken := sorted(set(more) & common.sizes.keys()):
        raise ValueError(f"a tire law cannot call an input or output {taken[0]!r}: the wheel has one of that name")
    return Layout(**common.sizes, **dict.fromkeys(more, 1))
