"""The emitted functions of one corner in an augmented formulation, with the numbers of its vehicle built in.

Jain 2016, section 2 and Eq. 8 (`jounce.formulations.augmented`). Tires, brakes, steering, chassis and outputs are the
functions that the constraint-embedded vehicle has, so that only the treatment of the joints differs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.axles import CORNERS
from jounce.data import Vehicle
from jounce.dynamics.articulated import lower
from jounce.dynamics.masses import total_of
from jounce.dynamics.mechanism import Mechanism
from jounce.formulations.augmented import Augmented, Inputs, Tree
from jounce.formulations.bodies import with_bodies
from jounce.formulations.cartesian import Cartesian
from jounce.formulations.ldl import factorize
from jounce.formulations.whole import FORMS
from jounce.math.algebra import SX, cross, dot
from jounce.math.layout import Layout
from jounce.suspension.double_wishbone import OUTPUTS
from jounce.suspension.embedded import act_forces, act_spin
from jounce.suspension.mechanisms.templates import mechanism_of

Array = NDArray[np.float64]
#: The joint about which the lower arm swings, and its body.
ARM, ARM_BODY = "lower_arm", "LCA"
#: What a corner's report tells of the arm.
OWN = Layout(theta=1)


def corners(vehicle: Vehicle, formulation: str) -> list[Augmented]:
    """The four corners of a vehicle on double wishbones, in the order of its wheels. Raises DataError."""
    made = {axle: mechanism_of(vehicle, axle, "double_wishbone") for axle, _ in CORNERS}
    return [FORMS[formulation](made[axle], side) for axle, side in CORNERS]


def gathered_layout(form: Augmented) -> Layout:
    """What `gather_function` returns."""
    n = form.size
    return Layout(body=27, push=6 * n, rest=n, turn=n, axis_bias=1, torque=1)


@dataclass(frozen=True)
class Corner:
    """The functions of one corner; ``tag`` ends their names."""

    form: Augmented
    tag: str

    def functions(self) -> list[ca.Function]:
        """All that is emitted."""
        return [self.hub_function(), self.gather_function(), self.place_function(), self.close_function(),
                self.gap_function(), self.report_function()]  # fmt: skip

    def _function(self, name: str, inputs: list[SX], outputs: list[SX]) -> ca.Function:
        sizes = [0, *np.cumsum([v.numel() for v in outputs]).tolist()]
        flat = ca.cse(ca.densify(ca.vertcat(*(ca.vec(v) for v in outputs))))
        return ca.Function(f"{name}_{self.tag}", inputs, ca.vertsplit(flat, sizes))

    def _hub(self, c: Inputs) -> dict[str, SX]:
        """`contact.wheel.HUB` by name."""
        placed = self.form.placed(c)
        [wheel] = self.form.mechanism.wheels
        centre, twist = placed.carried(wheel.on, wheel.centre), placed.twist(wheel.on, c.rates)
        return {"centre": centre, "axis": placed.poses[wheel.on].rotation @ SX(wheel.axis),
                "centre_velocity": twist.at(centre), "upright_velocity": twist.w}  # fmt: skip

    def hub_function(self) -> ca.Function:
        """hub(q, q', INNER) -> HUB."""
        c = self.form.symbols()
        return self._function("hub", [c.position, c.rates, c.inner], [ca.vertcat(*self._hub(c).values())])

    def gather_function(self) -> ca.Function:
        """gather(q, q', spin rate, INNER, angular velocity 3, LOADS, alpha) -> `gathered_layout`.

        q'' = push A0 + rest by columns of push; the carrier turns about the wheel's axis with turn . q'' + axis_bias.
        """
        c = self.form.symbols()
        g, t = self.form.gathered(c), self.form.terms(c)
        [wheel] = self.form.mechanism.wheels
        turn, axis = t.moved.turn(wheel.on), self._hub(c)["axis"]
        loads = c.loads
        out = gathered_layout(self.form).join(
            body=ca.vertcat(lower(g.inertia), g.bias), push=ca.vec(g.x), rest=g.rest, turn=turn.partial.T @ axis,
            axis_bias=dot(axis, turn.bias + cross(c.omega, turn.rate)),
            torque=dot(axis, loads[3:6]) + loads[6] + loads[7],
        )  # fmt: skip
        return self._function("gather", c.all(), [out])

    def place_function(self) -> ca.Function:
        """place(q, q') -> rate of q."""
        c = self.form.symbols()
        return self._function("place", [c.position, c.rates], [self.form.position_rate(c)])

    def close_function(self) -> ca.Function:
        """close(q, q', INNER) -> (least change of q, as rates; least change of q') that put phi and delta to zero.

        Y^+ phi by [1 Y^T; Y 0] [change; -l] = [0; -phi]; Newton's step where phi is not small.
        """
        c = self.form.symbols()
        t, n = self.form.terms(c), self.form.size
        entries = {(j, j): SX(1) for j in range(n)}
        for i, row in enumerate(t.jacobian):
            entries |= {(n + i, k): v for k, v in row.items()}
        factors = factorize(n + len(t.rows), entries, {(n + i, k) for i, k in t.weak})
        still = [SX(0)] * n
        found = [ca.vertcat(*factors.solve([*still, *(-v for v in ca.vertsplit(right))])[:n])
                 for right in (t.residual, t.rate)]  # fmt: skip
        return self._function("close", [c.position, c.rates, c.inner], found)

    def gap_function(self) -> ca.Function:
        """gap(q, INNER) -> largest error of a row as a length [m]."""
        c = self.form.symbols()
        return self._function("gap", [c.position, c.inner], [self.form.terms(c).moved.closure])

    def report_function(self) -> ca.Function:
        """report_corner(q, q', spin rate, INNER, angular velocity 3) -> (double_wishbone.OUTPUTS, arm's angle).

        For the functions of the wheel and of the outputs. The travel's partial velocity is its rate, for a coordinate
        whose rate is one; what is not an output's is zero.
        """
        c = self.form.symbols()
        moved = self.form.terms(c).moved
        [wheel] = self.form.mechanism.wheels
        sums = total_of(moved, c.omega)
        act_spin(wheel, moved, c.omega, c.spin_rate, sums)
        [forces] = act_forces(moved, sums)
        hub = self._hub(c)
        known = {
            **hub, **forces, "mass": sums["mass"], "moment": sums["moment"], "inertia": sums["inertia"], "d": SX(1),
            "kinetic": sums["kin"], "linear_momentum": sums["lin"], "travel": hub["centre"][2] - SX(wheel.centre)[2],
            "travel_partial": hub["centre_velocity"][2], "closure": moved.closure,
            "upright_axes": ca.reshape(moved.placed.poses[wheel.on].rotation, 9, 1),
        }  # fmt: skip
        out = OUTPUTS.join(**{name: known.get(name, SX.zeros(size)) for name, size in OUTPUTS.sizes.items()})
        inputs = [c.position, c.rates, c.spin_rate, c.inner, c.omega]
        return self._function("report_corner", inputs, [out, self._arm(c)])


    def _arm(self, c: Inputs) -> SX:
        """Angle of the lower arm [rad]."""
        form = self.form
        if isinstance(form, Tree):
            return c.position[form.names.index(ARM)]
        assert isinstance(form, Cartesian)
        k = [part.name for part in form.parts].index(ARM_BODY)
        axis = next(SX(j.axis) for j in form.mechanism.joints if j.name == ARM)
        q = c.position[7 * k + 3 : 7 * k + 7]
        return 2 * ca.atan2(dot(q[1:], axis) / ca.norm_2(axis), q[0])


def coordinates(form: Augmented) -> tuple[list[str], list[str]]:
    """Names of the positions and of the rates of a corner, as FMI's structured names have them."""
    if isinstance(form, Tree):
        names = [re.sub(r"\.(?=\d)", "_", name) for name in form.names]
        return names, [f"{name}_rate" for name in names]
    assert isinstance(form, Cartesian)
    names = [part.name for part in form.parts]
    return ([f"{n}.{s}" for n in names for s in ("x", "y", "z", "e0", "e1", "e2", "e3")],
            [f"{n}.{s}" for n in names for s in ("vx", "vy", "vz", "wx", "wy", "wz")])  # fmt: skip


class Closing:
    """Closed positions of a corner by the angle of its lower arm."""

    def __init__(self, form: Augmented, mechanism: Mechanism, side: float) -> None:
        """``form``: a corner of that side of the mechanism."""
        self.form = form
        self.tree = form if isinstance(form, Tree) else Tree(with_bodies(mechanism), side)
        self._rows = self.tree.rows_function()

    def position(self, theta: float, inner: Array) -> Array:
        """Position at an arm's angle [rad], with the prescribed point at rest as INNER says, by continuation."""
        tree, n = self.tree, self.tree.size
        q, zero, own = np.zeros(n), np.zeros(n), self.tree.names.index(ARM)
        rest = [j for j in range(n) if j != own]
        for share in np.linspace(0.0, 1.0, 9):
            q[own] = theta * share
            for _ in range(8):
                phi, _, y, *_ = self._rows(q, zero, 0, inner, [0] * 3, [0] * 8, 0)
                q[rest] -= np.linalg.solve(np.array(y)[:, rest], np.array(phi).ravel())
        if not isinstance(self.form, Cartesian):
            return q
        places, _ = tree.poses_function(self.form)(q, zero, inner)
        return self.form.cartesian_position(np.array(places).ravel())
