"""The articulated-body recursion for an axle with two wheels and two coordinates (Jain 2016, Eqs. 4, 6, 7).

Like its outputs (`jounce.suspension.embedded.PAIR_OUTPUTS`), the axle stands on two lanes. What it is on the chassis is
on the left lane, with zeros on the right; epsilon and torque are each lane's own.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from jounce.dynamics.articulated import ARTICULATED_BODY, LOADS, lower, spatial_inertia
from jounce.math.algebra import SX, cross, dot
from jounce.suspension.double_wishbone import DYNAMICS
from jounce.suspension.embedded import TAIL

#: Where the drive torque reacts: 1 on the axle itself (a rigid driven axle with its differential), 0 on the chassis;
#: and the final drive's ratio, by which the propeller shaft turns the axle about -x and the chassis back (engines turn
#: counter-clockwise seen from the flywheel, SAE J824; x is the chassis's).
REACTION = 2


@dataclass(frozen=True)
class Lane:
    """One lane of an axle."""

    out: dict[str, SX]
    own: int
    """Its coordinate."""

    def partial(self, what: str) -> list[SX]:
        """Partial velocities of its wheel by both coordinates: `centre` or `upright`."""
        pair = [self.out[f"{what}_partial"], self.out[f"{what}_other"]]
        return pair if self.own == 0 else pair[::-1]


def lanes_of(left: dict[str, SX], right: dict[str, SX]) -> list[Lane]:
    """The lanes of the left and the right wheel, whose outputs are given."""
    return [Lane(left, 0), Lane(right, 1)]


def shafts(out: dict[str, SX], drive: SX, reaction: SX) -> SX:
    """Moment [N.m] on a wheel's carrier where the drive reacts on the chassis: the shaft turns the wheel past it."""
    return (1 - reaction[0]) * out["axis"] * drive


def propeller(drive: SX, reaction: SX) -> SX:
    """Moment [N.m] of the propeller shaft on the axle's body where the drive reacts on the axle."""
    return reaction[0] * ca.vertcat(-drive / reaction[1], 0, 0)


def solved(lanes: list[Lane], first: SX, second: SX) -> tuple[SX, SX]:
    """D^-1 (first, second), by L D L* (no square root)."""
    d, e, cross_term = lanes[0].out["d"], lanes[1].out["d"], lanes[0].out["cross"]
    factor = cross_term / d
    rest = (second - factor * first) / (e - factor * cross_term)
    return first / d - factor * rest, rest


def inward_sweep(lanes: list[Lane], loads: list[dict[str, SX]], axial: list[SX], reaction: SX) -> list[SX]:
    """ARTICULATED_BODY of the left and right lane.

    axial: [wheel's, shaft's inertia about the spin axis] of each; reaction: `REACTION` numbers.
    """
    q, applied, torques = [SX(0), SX(0)], SX(6, 1), []
    for lane, load, inertia in zip(lanes, loads, axial, strict=True):
        out, along, shaft = lane.out, inertia[0], inertia[1]
        torque = dot(out["axis"], load["moment"]) + load["drive"] + load["brake"]
        left = load["moment"] - out["axis"] * (along / (along + shaft) * torque)
        turned = left + shafts(out, load["drive"], reaction)
        applied += ca.vertcat(left + cross(out["centre"], load["force"]), load["force"])
        by_turn, by_centre = lane.partial("upright"), lane.partial("centre")
        q = [q[k] + dot(by_turn[k], turned) + dot(by_centre[k], load["force"]) for k in range(2)]
        torques.append(torque)
    turning = propeller(loads[0]["drive"] + loads[1]["drive"], reaction)
    epsilon = [q[k] + dot(lane.out["body_partial"], turning) - lane.out["bias_theta"] for k, lane in enumerate(lanes)]
    h = [lane.out["momentum"] for lane in lanes]
    first = lanes[0].out
    rows = [ca.vertcat(*v) for v in zip(*(solved(lanes, h[0][k], h[1][k]) for k in range(6)), strict=True)]
    inertia = spatial_inertia(first["mass"], first["moment"], first["inertia"]) - h[0] @ rows[0].T - h[1] @ rows[1].T
    by = solved(lanes, epsilon[0], epsilon[1])
    bias = first["bias"] - applied + h[0] * by[0] + h[1] * by[1]
    return [ARTICULATED_BODY.join(inertia=lower(inertia), bias=bias, epsilon=epsilon[0], torque=torques[0]),
            ARTICULATED_BODY.join(inertia=SX(21, 1), bias=SX(6, 1), epsilon=epsilon[1], torque=torques[1])]  # fmt: skip


def outward_sweep(lanes: list[Lane], bodies: list[dict[str, SX]], acceleration: SX, axial: list[SX]) -> list[SX]:
    """(acceleration of the lane's coordinate, of its wheel's spin) of left and right (Eq. 7)."""
    both = list(zip(lanes, bodies, strict=True))
    right = [body["epsilon"] - dot(lane.out["momentum"], acceleration) for lane, body in both]
    theta = solved(lanes, right[0], right[1])
    found = []
    for k, (lane, body) in enumerate(both):
        turns = lane.partial("upright")
        turn = acceleration[:3] + turns[0] * theta[0] + turns[1] * theta[1]
        about, along, shaft = dot(lane.out["axis"], turn) + lane.out["axis_bias"], axial[k][0], axial[k][1]
        found.append(ca.vertcat(theta[k], (body["torque"] - along * about) / (along + shaft)))
    return found


def _symbols() -> tuple[list[SX], list[Lane]]:
    """(PAIR_OUTPUTS left and right as the lean functions give them: DYNAMICS left, right, TAIL left, right; lanes)."""
    inputs = [SX.sym(f"c{k}", layout.size) for k, layout in enumerate((DYNAMICS, DYNAMICS, TAIL, TAIL))]
    split = [layout.split(v) for layout, v in zip((DYNAMICS, DYNAMICS, TAIL, TAIL), inputs, strict=True)]
    return inputs, lanes_of(split[0] | split[2], split[1] | split[3])


def inward_sweep_function(name: str = "inward_sweep_pair") -> ca.Function:
    """NAME(DYNAMICS l, r, TAIL l, r, LOADS l, r, axial l, r, REACTION) -> ARTICULATED_BODY l, r.

    DYNAMICS and TAIL stand in PAIR_OUTPUTS, first and last.
    """
    inputs, lanes = _symbols()
    loads, axial = ([SX.sym(f"{n}{k}", size) for k in range(2)] for n, size in (("u", LOADS.size), ("w", 2)))
    reaction = SX.sym("r", REACTION)
    out = inward_sweep(lanes, [LOADS.split(u) for u in loads], axial, reaction)
    return ca.Function(name, [*inputs, *loads, *axial, reaction], _shared(out))


def outward_sweep_function(name: str = "outward_sweep_pair") -> ca.Function:
    """NAME(DYNAMICS l, r, TAIL l, r, ARTICULATED_BODY l, r, acceleration 6, axial l, r) -> (theta'', spin'') l, r."""
    inputs, lanes = _symbols()
    bodies, axial = ([SX.sym(f"{n}{k}", size) for k in range(2)] for n, size in
                     (("g", ARTICULATED_BODY.size), ("w", 2)))  # fmt: skip
    acceleration = SX.sym("a", 6)
    out = outward_sweep(lanes, [ARTICULATED_BODY.split(g) for g in bodies], acceleration, axial)
    return ca.Function(name, [*inputs, *bodies, acceleration, *axial], _shared(out))


def _shared(outputs: list[SX]) -> list[SX]:
    cuts = [0, outputs[0].shape[0], 2 * outputs[0].shape[0]]
    found: list[SX] = ca.vertsplit(ca.cse(ca.densify(ca.vertcat(*outputs))), cuts)
    return found

