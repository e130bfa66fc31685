"""What each driven wheel, and the steering arm, show to what is joined to all wheels: the shafts, and the column.

A half shaft turns relative to the chassis, where its torque reacts; through geared hubs (ratio i, sense s) a part of it
reacts on the upright instead. With the wheel's spin, the upright's velocity u to the chassis and the spin axis e,

    h = i spin + s e . u

is the speed that a torque T on the half shaft works on: it turns the wheel by i T, and the upright by (s - i) T past
it. On a driven axle that is one body with its differential the torque reacts on that body, whose propeller shaft turns
it about -x by T over the final drive's ratio r: then h = i spin - s body_x / r.

The recursion of the vehicle (`jounce.dynamics.articulated`) is linear in T and in the acceleration p of the arm. For a
corner with the momentum m, the inertia d of its coordinate (Jain 2016, Eqs. 6, 7) and the wheel's inertia J, S of its
shaft, both about the spin axis, k = i J / (J + S), by = (s - k) (e . partial velocity of the upright):

    h' = h0' - push . a + T (i^2 / (J + S) + by^2 / d) + by_arm p,    push = [k e; 0] + m by / d

where a is the acceleration of the chassis, on which T acts by -push. `jounce.powertrain.joined` solves the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from jounce.dynamics.articulated import ARTICULATED_BODY, LOADS
from jounce.dynamics.articulated_pair import Lane, lanes_of, propeller, shafts, solved
from jounce.math.algebra import SX, cross, dot
from jounce.powertrain.layouts import ARM_PORT, PORT, SHAFT
from jounce.suspension.double_wishbone import DYNAMICS, OUTPUTS
from jounce.suspension.embedded import STATES, TAIL

__all__ = ["corner_functions", "pair_functions"]

Parts = dict[str, SX]


def _rate(lane: Lane | Parts, turn: SX, spin: SX, omega: SX, body: SX, n: Parts) -> SX:
    """h' [rad/s2] of a half shaft, from the upright's acceleration about the axis by coordinates, spin and body."""
    c = lane.out if isinstance(lane, Lane) else lane
    about = turn + c["axis_bias"] - dot(c["axis"], cross(omega, c["upright_velocity"]))
    return n["hub"] * spin + n["upright"] * about + n["roll"] * body


def _port(c: Parts, body: Parts, axial: SX, omega: SX, n: Parts) -> SX:
    """PORT of an independent wheel."""
    along, both = axial[0], axial[0] + axial[1]
    turn, kept = dot(c["axis"], c["upright_partial"]), n["hub"] * along / both
    by = (n["upright"] - kept) * turn
    push = ca.vertcat(kept * c["axis"], SX(3, 1)) + c["momentum"] * (by / c["d"])
    theta = turn * body["epsilon"] / c["d"]
    spin = (body["torque"] - along * (theta + c["axis_bias"])) / both
    return PORT.join(push=push, rate=_rate(c, theta, spin, omega, SX(0), n), by=by,
                     yields=n["hub"] ** 2 / both + by * by / c["d"])  # fmt: skip


def _arm(c: Parts, load: Parts, body: Parts, axial: SX, n: Parts) -> SX:
    """ARM_PORT of an independent wheel."""
    along, both = axial[0], axial[0] + axial[1]
    turn, steered = dot(c["axis"], c["upright_partial"]), dot(c["axis"], c["upright_steer"])
    kept = n["hub"] * along / both
    torque = dot(c["axis"], load["moment"]) + load["drive"] + load["brake"]
    applied = dot(c["upright_steer"], load["moment"]) + dot(c["centre_steer"], load["force"])
    applied += steered * (load["drive"] - along / both * torque)
    follows = c["steer_theta"] / c["d"]
    return ARM_PORT.join(
        push=c["steer_momentum"] - c["momentum"] * follows, by=(n["upright"] - kept) * (steered - turn * follows),
        load=applied - follows * body["epsilon"] - c["steer_bias"], inertia=-c["steer_theta"] * follows, turn=steered,
    )  # fmt: skip


def _responses(lanes: Sequence[Lane], axial: Sequence[SX], epsilon: Sequence[SX], steered: Sequence[SX], bodily: SX,
               n: Sequence[Parts]) -> tuple[tuple[SX, SX], list[SX]]:  # fmt: skip
    """(accelerations of the coordinates by the loads ``epsilon`` on them, h' with them): no bias, no torque on wheels.

    ``steered``: the uprights' acceleration about the axes beside that, ``bodily``: that of the body about x.
    """
    theta = solved(list(lanes), epsilon[0], epsilon[1])
    rolls = bodily + sum((lane.out["body_partial"][0] * t for lane, t in zip(lanes, theta, strict=True)), SX(0))
    rates = []
    for lane, w, about, numbers in zip(lanes, axial, steered, n, strict=True):
        by = lane.partial("upright")
        turn = dot(lane.out["axis"], by[0] * theta[0] + by[1] * theta[1]) + about
        rates.append(numbers["upright"] * turn - numbers["hub"] * w[0] / (w[0] + w[1]) * turn + numbers["roll"] * rolls)
    return theta, rates


def _pair_port(lanes: Sequence[Lane], bodies: Sequence[Parts], axial: Sequence[SX], omega: SX,
               n: Sequence[Parts]) -> list[SX]:  # fmt: skip
    """PORT of both wheels of a body: those of the same torque on both half shafts, the sums on the left lane."""
    by, applied = [SX(0), SX(0)], SX(3, 1)
    for lane, w, numbers in zip(lanes, axial, n, strict=True):
        kept = numbers["hub"] * w[0] / (w[0] + w[1]) * lane.out["axis"]
        turned = numbers["upright"] * lane.out["axis"] - kept
        applied -= kept
        by = [v + dot(turned, partial) for v, partial in zip(by, lane.partial("upright"), strict=True)]
        by = [v + numbers["roll"] * to.out["body_partial"][0] for v, to in zip(by, lanes, strict=True)]
    still = [SX(0), SX(0)]
    theta, rates = _responses(lanes, axial, by, still, SX(0), n)
    push = ca.vertcat(-applied, SX(3, 1)) + sum((lane.out["momentum"] * t for lane, t in
                                                 zip(lanes, theta, strict=True)), SX(6, 1))  # fmt: skip
    yields = sum((rate + numbers["hub"] ** 2 / (w[0] + w[1]) for rate, numbers, w in
                  zip(rates, n, axial, strict=True)), SX(0))  # fmt: skip
    free = solved(list(lanes), *(body["epsilon"] for body in bodies))
    rolls = lanes[0].out["body_bias"] + sum((lane.out["body_partial"][0] * t for lane, t in
                                             zip(lanes, free, strict=True)), SX(0))  # fmt: skip
    found = []
    for k, (lane, body, w, numbers) in enumerate(zip(lanes, bodies, axial, n, strict=True)):
        partial = lane.partial("upright")
        turn = dot(lane.out["axis"], partial[0] * free[0] + partial[1] * free[1])
        spin = (body["torque"] - w[0] * (turn + lane.out["axis_bias"])) / (w[0] + w[1])
        rate = _rate(lane, turn, spin, omega, rolls, numbers)
        whole = {"push": push, "yields": yields} if k == 0 else {"push": SX(6, 1), "yields": SX(0)}
        found.append(PORT.join(rate=rate, by=by[k], **whole))
    return found


def _pair_arm(lanes: Sequence[Lane], loads: Sequence[Parts], bodies: Sequence[Parts], axial: Sequence[SX],
              reaction: SX, n: Sequence[Parts]) -> list[SX]:  # fmt: skip
    """ARM_PORT of both wheels of a body, the sums on the left lane."""
    first = lanes[0].out
    steered = [dot(lane.out["axis"], lane.out["upright_steer"]) for lane in lanes]
    theta, rates = _responses(lanes, axial, [-lane.out["steer_theta"] for lane in lanes], steered,
                              first["body_steer"][0], n)  # fmt: skip
    push = sum((lane.out["momentum"] * t for lane, t in zip(lanes, theta, strict=True)), first["steer_momentum"])
    load, inertia = -first["steer_bias"], SX(0)
    for lane, of, body, w, t in zip(lanes, loads, bodies, axial, theta, strict=True):
        c = lane.out
        torque = dot(c["axis"], of["moment"]) + of["drive"] + of["brake"]
        left = of["moment"] - c["axis"] * (w[0] / (w[0] + w[1]) * torque) + shafts(c, of["drive"], reaction)
        load += dot(c["upright_steer"], left) + dot(c["centre_steer"], of["force"])
        load += dot(first["body_steer"], propeller(of["drive"], reaction)) + t * body["epsilon"]
        inertia += c["steer_theta"] * t
    whole = {"push": push, "load": load, "inertia": inertia}
    none = {"push": SX(6, 1), "load": SX(0), "inertia": SX(0)}
    return [ARM_PORT.join(**own, by=rate, turn=turn)
            for own, rate, turn in zip((whole, none), rates, steered, strict=True)]  # fmt: skip


def corner_functions() -> list[ca.Function]:
    """Of a wheel with one coordinate.

    half_speed(DYNAMICS, STATES, arm 3, SHAFT) -> speed of its half shaft [rad/s];
    port(DYNAMICS, ARTICULATED_BODY, [along, shaft], angular velocity 3, SHAFT) -> PORT;
    arm_port(OUTPUTS, LOADS, ARTICULATED_BODY, [along, shaft], SHAFT) -> ARM_PORT.
    """
    lean, c, x, arm = (SX.sym("c", size) for size in (DYNAMICS.size, OUTPUTS.size, STATES.size, 3))
    g, w, omega, number, u = (SX.sym("g", size) for size in (ARTICULATED_BODY.size, 2, 3, SHAFT.size, LOADS.size))
    n, body, part = SHAFT.split(number), ARTICULATED_BODY.split(g), DYNAMICS.split(lean)
    speed = n["hub"] * x[2] + n["upright"] * dot(part["axis"], part["upright_velocity"])
    return [
        ca.Function("half_speed", [lean, x, arm, number], [ca.cse(speed)]),
        ca.Function("port", [lean, g, w, omega, number], [ca.cse(_port(part, body, w, omega, n))]),
        ca.Function("arm_port", [c, u, g, w, number], [ca.cse(_arm(OUTPUTS.split(c), LOADS.split(u), body, w, n))]),
    ]


def pair_functions() -> list[ca.Function]:
    """The same of an axle with two wheels and two coordinates: each vector left and right, then TAIL of both.

    `half_speed_pair`, `port_pair`, `arm_port_pair`, the last one with the REACTION of `articulated_pair`.
    """

    def pair(size: int) -> list[SX]:
        return [SX.sym(f"v{side}", size) for side in "lr"]

    lean, c, tails, x = pair(DYNAMICS.size), pair(OUTPUTS.size), pair(TAIL.size), pair(STATES.size)
    g, w, number, u = pair(ARTICULATED_BODY.size), pair(2), pair(SHAFT.size), pair(LOADS.size)
    arm, omega, reaction = SX.sym("a", 3), SX.sym("o", 3), SX.sym("r", 2)
    n, bodies = [SHAFT.split(v) for v in number], [ARTICULATED_BODY.split(v) for v in g]
    few, whole = (lanes_of(*(layout.split(v) | TAIL.split(t) for v, t in zip(of, tails, strict=True)))
                  for layout, of in ((DYNAMICS, lean), (OUTPUTS, c)))  # fmt: skip
    rolls = few[0].out["body_steer"][0] * arm[1]
    rolls += sum((lane.out["body_partial"][0] * v[1] for lane, v in zip(few, x, strict=True)), SX(0))
    speeds = [m["hub"] * v[2] + m["upright"] * dot(lane.out["axis"], lane.out["upright_velocity"]) + m["roll"] * rolls
              for lane, v, m in zip(few, x, n, strict=True)]  # fmt: skip

    def function(name: str, inputs: list[SX], outputs: list[SX]) -> ca.Function:
        cuts = [0, outputs[0].shape[0], 2 * outputs[0].shape[0]]
        return ca.Function(name, inputs, ca.vertsplit(ca.cse(ca.densify(ca.vertcat(*outputs))), cuts))

    return [
        function("half_speed_pair", [*lean, *tails, *x, arm, *number], speeds),
        function("port_pair", [*lean, *tails, *g, *w, omega, *number], _pair_port(few, bodies, w, omega, n)),
        function("arm_port_pair", [*c, *tails, *u, *g, *w, reaction, *number],
                 _pair_arm(whole, [LOADS.split(v) for v in u], bodies, w, reaction, n)),
    ]  # fmt: skip
