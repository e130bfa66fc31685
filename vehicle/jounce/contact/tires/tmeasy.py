"""TMeasy tire on a plane, with bristles in its place near standstill.

Contact frame: x along the wheel's heading in the terrain plane, y to the left, z along the terrain normal.
The patch is a single point: where the disc's own radius towards the plane meets it. Above `blend_end`
the forces are the steady-state TMeasy curves (no relaxation). Below `blend_begin` they are those of bristles
(`jounce.contact.bristle`) that hold at rest:

- tread (x, y): as far as the wheel rolls it relaxes to the same curves; at rest it breaks away at the ground's friction
  coefficient times the load; a contact that keeps sliding falls to the curves' sliding force, so that a locked wheel
  feels the same friction at every speed;
- rolled: the rolling resistance, which holds at rest. Where it has yielded the wheel rolls, else it rocks;
- turned: the bore torque about the normal, which fades where the contact rolls or slides.

Sources: G. Rill, "Road Vehicle Dynamics: Fundamentals and Modeling", ch. 3 (contact, slips, steady-state curve
with its hyperbola, parabolas and cubic, combined slip with normalized slips, dynamic offset, bore torque, load
interpolation, friction: forces and slips of the curve times mu / mu_0); G. Rill, "An Engineer's Guess on Tyre
Parameters made possible with TMeasy", 2015. Choices where the book leaves room (rolling radius, overturning stiffness)
are those of Project Chrono's ChTMeasyTire, to which the high-speed forces are compared in the tests. Chrono does not
normalize the slips: `combined_slip` PLAIN.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import casadi as ca

from jounce.contact.standstill import SOFT, STATES, Hold, Motion, rolled_on, standstill
from jounce.contact.tires.law import Contact, Hub, Plane, Started, Starting
from jounce.contact.tires.patch import LEAN, patch
from jounce.math.algebra import SX, cross, dot

__all__ = ["STATES", "start", "tmeasy"]

#: Numerical safeguards, not properties of the tire.
ROLLING_SPIN: Final = 1.0
"""Spin rate [rad/s] above which the rolling resistance of a fast wheel has its full value."""
FLIGHT_RATE: Final = 50.0
"""Rate at which the bristle springs back off the ground [1/s]."""
MU_MIN: Final = 0.01
"""Least friction coefficient of the curve; keeps the slip scale off zero. Below it the forces fade to zero."""
SPEED_MIN: Final = 1e-4
"""Speed [m/s] below which the reported slips fade to zero."""
TINY: Final = 1e-24
"""Added to squared slips, so that the direction of zero slip is defined."""
GAP: Final = 1e-6
"""Least width of a slip interval of the curve, over its own slip."""
FLOOR: Final = 0.05
"""Least curve value over its value at nominal load, where the load parabola would turn negative."""


@dataclass(frozen=True)
class _Curves:
    """Curve parameters at the load, in Rill's letters. Forces and slopes are over pn q; slips scale with friction."""

    dfx0: SX
    fxm: SX
    fxs: SX
    sxm: SX
    sxs: SX
    dfy0: SX
    fym: SX
    fys: SX
    sym: SX
    sys: SX
    nL0: SX
    sq0: SX
    sqe: SX


def _curves(q: SX, scale: SX, par: Mapping[str, SX]) -> _Curves:
    """Parameters at the load ratio q = F_z / nominal_load; quadratic (through zero) for forces, linear for slips."""

    def quadratic(name: str) -> SX:
        first, second = par[f"{name}_nominal"], par[f"{name}_double"]
        value = 2.0 * first - 0.5 * second - (first - 0.5 * second) * q
        return ca.fmax(value, FLOOR * first)

    def linear(name: str) -> SX:
        first, second = par[f"{name}_nominal"], par[f"{name}_double"]
        return ca.fmax(first + (second - first) * (q - 1.0), FLOOR * first)

    return _Curves(
        dfx0=quadratic("slip_stiffness_x"),
        fxm=scale * quadratic("peak_force_x"),
        fxs=scale * quadratic("sliding_force_x"),
        sxm=scale * linear("peak_slip_x"),
        sxs=scale * linear("sliding_slip_x"),
        dfy0=quadratic("slip_stiffness_y"),
        fym=scale * quadratic("peak_force_y"),
        fys=scale * quadratic("sliding_force_y"),
        sym=scale * linear("peak_slip_y"),
        sys=scale * linear("sliding_slip_y"),
        nL0=linear("trail"),
        sq0=linear("trail_zero_slip"),
        sqe=linear("trail_end_slip"),
    )


def _secant(s: SX, df0: SX, fm: SX, sm: SX, fs: SX, ss: SX) -> SX:
    """Force over slip F(s) / s of the steady-state curve (Rill, ch. 3: hyperbola, two parabolas or a cubic).

    Written with few divisions, which cost most: df0 appears as df0 sm, the parabola's curvature c = fm^2 / (sm^2 df0
    sm) and its length (fm - fs) / (c width) by one inverse, and the branch's numerator and denominator are chosen
    before they are divided.
    """
    start = ca.fmax(df0 * sm, 2.0 * fm)
    fall = fm - fs
    width = ca.fmax(ss - sm, GAP * sm)
    q, square = sm * sm * start, fm * fm
    inverse = 1.0 / (q * square * width)
    per_width = q * square * inverse
    curvature = square * square * width * inverse
    knee = fall * q * q * inverse
    rest = ca.fmax(width - knee, GAP * sm)
    over = ca.fmax(s - sm, 0.0)
    left = ca.fmax(width - over, 0.0)
    x = ca.fmin(over * per_width, 1.0)
    cubic = fm - fall * x * x * (3.0 - 2.0 * x)
    first, second = (fm - curvature * over * over) * rest, fs * rest + fall * per_width * left * left
    slide = ca.if_else(knee <= width, ca.if_else(over <= knee, first, second), cubic * rest)
    rise = (start * fm * sm, fm * sm * sm + ((s - 2.0 * sm) * fm + start * sm) * s)
    return ca.if_else(s < sm, rise[0], slide) / ca.if_else(s < sm, rise[1], rest * ca.fmax(s, sm))


@dataclass(frozen=True)
class _Steady:
    """The curve at a slip; forces over pn q."""

    secant_x: SX
    """Force over slip along x."""
    secant_y: SX
    sliding: SX
    """Force of full sliding in the direction of the slip."""


def _steady(sx: SX, sy: SX, c: _Curves, par: Mapping[str, SX]) -> _Steady:
    """TMeasy forces for combined slip.

    NORMALIZED: the slips are divided by factors that make the two curves alike before they are combined (Rill, ch. 3,
    "generalized slip"): sx_hat = sxm / (sxm + sym) + (fxm / dfx0) / (fxm / dfx0 + fym / dfy0), sy_hat = 2 - sx_hat.
    PLAIN: both are 1.
    """
    plain, unit = par["combined_slip"] - 1.0, par["nominal_load"] * par["nominal_load"]
    here, there, slips = c.fxm * c.dfy0 / unit, c.fym * c.dfx0 / unit, c.sxm + c.sym
    # The factors have a common denominator, which cancels: slips of any scale combine to the same forces.
    half = slips * (here + there)
    hat_x = c.sxm * (here + there) + here * slips
    hat_x += plain * (half - hat_x)
    hat_y = 2.0 * half - hat_x
    inverse = 1.0 / (hat_x * hat_y)
    by_x, by_y = hat_y * inverse, hat_x * inverse
    x, y = sx * by_x, sy * by_y
    x2, y2 = x * x + TINY, y * y + TINY
    total = x2 + y2
    x2, y2 = x2 / total, y2 / total

    def combined(x: SX, y: SX) -> SX:
        return ca.sqrt(x * x * x2 + y * y * y2)

    sliding = combined(c.fxs, c.fys)
    secant = _secant(
        ca.sqrt(total),
        combined(c.dfx0 * hat_x, c.dfy0 * hat_y),
        combined(c.fxm, c.fym),
        combined(c.sxm * by_x, c.sym * by_y),
        sliding,
        combined(c.sxs * by_x, c.sys * by_y),
    )
    return _Steady(secant * by_x, secant * by_y, sliding)


def _offset(sy: SX, c: _Curves) -> SX:
    """Dynamic tire offset over the contact length: falls to zero at sq0, negative up to sqe, zero beyond."""
    slip = ca.fabs(sy)
    end = ca.fmax(c.sqe, c.sq0 * (1.0 + GAP))
    span = end - c.sq0
    inverse = 1.0 / (c.sq0 * end * span)  # one division for three
    per_zero = end * span * inverse
    weight = c.sq0 * c.sq0 * span * inverse
    x = ca.fmin(slip * per_zero, 1.0)
    line, bend = 1.0 - x, 1.0 - (3.0 - 2.0 * x) * x * x
    tail = ca.fmax(ca.fmin((end - slip) * (c.sq0 * end * inverse), 1.0), 0.0)
    beyond = (1.0 - weight) * ca.fmax(slip - c.sq0, 0.0) * per_zero * tail * tail
    return c.nL0 * ((1.0 - weight) * line + weight * bend - beyond)


def tmeasy(hub: Hub, terrain: Plane, state: SX, par: Mapping[str, SX]) -> Contact:
    """Tire force and moment on the wheel, and the rates of its states.

    Args:
        hub: motion of the wheel centre, world axes.
        terrain: the plane under the wheel, world axes.
        state: the tire's STATES (5).
        par: the numbers of the law's parameters (`tire.<name>` of the vehicle data), SI.

    Source: see the head of this module.
    """
    at = patch(hub, terrain, par)
    radius, n, lean, upright, left = par["unloaded_radius"], terrain.normal, at.lean, at.upright, at.left
    deflection, load, arm, by_tilted, flat = at.deflection, at.load, at.arm, at.by_tilted, at.flat
    vx, vy = at.velocity[0], at.velocity[1]
    touching = load > 0.0
    grip = ca.fmin(load, par["max_load"])
    mu = ca.fmax(terrain.friction, MU_MIN)
    q = grip / par["nominal_load"]
    curves = _curves(q, mu / par["nominal_friction"], par)

    speed = ca.fabs(vx)
    begin, end = par["blend_begin"], par["blend_end"]
    u = ca.fmax(ca.fmin((speed - begin) / (end - begin), 1.0), 0.0)
    blend = u * u * (3.0 - 2.0 * u)
    length = 2.0 * ca.sqrt(radius * deflection)
    parts = STATES.split(state)
    trail = length * curves.nL0
    # A contact that has not rolled on hangs on the wheel by radii that do not change: its place is one of the wheel's
    # pose, and a wheel that rocks and bounces at once leaves it where it is.
    settled = par["nominal_load"] / ca.fmax(par["vertical_stiffness"], SOFT)
    on = ca.fmax(rolled_on(parts["travelled"], trail), blend)
    # Chrono's heading has the length `upright`, which makes the rolling radius R_eff / upright.
    # Where the data end, which is at pn_max, what lies between it and the radial distance stays: it makes energy.
    normal = ca.fmin(deflection, par["max_load"] / ca.fmax(par["vertical_stiffness"], SOFT))
    rolling_radius = radius - (settled + on * (normal - settled)) / 3.0 - on * (deflection - normal)
    # one that lies flat does not roll: the lever of its side about the axis, so that F_x does the spin's work
    rolling_radius = ca.if_else(flat, at.height * upright, rolling_radius * at.by_level)
    lateral_radius = radius - settled
    spin, turn = dot(hub.axis, hub.turning), dot(hub.turning, n)
    yaw = (turn - spin * lean) * by_tilted * by_tilted
    tilting = lateral_radius * dot(hub.turning, cross(at.down, left))
    # a wheel that leans swings its contact about the normal by the radius that it tilts by, and rolls by the other
    swung = ca.if_else(flat, 0.0, (1.0 - blend) * (rolling_radius - lateral_radius) * lean)
    sliding = ca.vertcat(vx - rolling_radius * spin + swung * yaw, vy + (1.0 - blend) * tilting)
    transport = ca.fabs(rolling_radius * spin) + par["min_slip_speed"]
    sx, sy = -sliding[0] / transport, -sliding[1] / transport

    curve = _steady(sx, sy, curves, par)
    motion = Motion(sliding, dot(hub.turning, left), spin - yaw * lean, turn, yaw)
    held = Hold(
        friction=terrain.friction * grip, load=load, length=length, trail=trail, radius=rolling_radius,
        slope_x=q * curve.secant_x, slope_y=q * curve.secant_y, sliding=q * curve.sliding,
    )  # fmt: skip
    rest = standstill(parts, motion, held, par)
    fade = terrain.friction / mu
    fx = blend * fade * held.slope_x * sx - (1.0 - blend) * rest.force[0]
    fy = blend * fade * held.slope_y * sy - (1.0 - blend) * rest.force[1]

    camber = ca.fmax(ca.fmin(at.camber, LEAN), -LEAN)  # beyond, the tread stands on its edge
    overturning = -(par["width"] ** 2) / 12.0 * camber
    overturning *= par["vertical_stiffness"]
    overturning += -(par["width"] ** 2) / 6.0 * camber * par["vertical_stiffness_quadratic"] * deflection
    aligning = -blend * vx / ca.fmax(speed, begin) * fy * length * _offset(sy, curves) - (1.0 - blend) * rest.bore
    # about what `yaw` turns: square to the spin axis
    turned = ((1.0 - blend) * rest.lever * rest.force[1] + swung * fx) * by_tilted * by_tilted
    # near standstill the forces do their work at these radii, not at the arm
    lever = ca.if_else(flat, 0.0, (1.0 - blend) * (arm - rolling_radius) * fx)
    w = ca.fmax(ca.fmin(spin / ROLLING_SPIN, 1.0), -1.0)
    resistance = -par["rolling_resistance"] * load * radius * blend * w * (3.0 - w * w) / 2.0
    resistance += lever * upright - (1.0 - blend) * rest.resistance - turned * lean * upright
    aligning += lever * lean + turned * upright * upright
    overturning += (1.0 - blend) * (lateral_radius - arm) * fy

    force = fx * at.heading + fy * left + load * n
    contact_moment = ca.if_else(touching, ca.vertcat(overturning, resistance, aligning), ca.SX.zeros(3))
    moment = contact_moment[0] * at.heading + contact_moment[1] * left + contact_moment[2] * n
    shown = ca.fmax(speed, SPEED_MIN)
    return Contact(
        force=force,
        moment=moment + cross(at.reach, force),
        rate=ca.if_else(touching, rest.rates, -FLIGHT_RATE * state),
        contact_force=ca.vertcat(fx, fy, load),
        contact_moment=contact_moment,
        slip=ca.if_else(touching, -sliding[0] / shown, 0.0),
        slip_angle=ca.if_else(touching, ca.atan(vy / shown), 0.0),
        deflection=deflection,
        contact_point=hub.position + at.reach,
        heading=at.heading,
        left=left,
        stored_energy=rest.energy,
    )


def start(starting: Starting, par: Mapping[str, SX]) -> Started:
    """The tread bent by the force that it carries; where the wheel has rolled on, its rolling resistance and travel."""
    radius, none = par["unloaded_radius"], STATES.split(SX(STATES.size, 1))
    # a divisor for each: of one that they share the emitter makes an inverse, with other last bits
    bent = ca.vertcat(*(-force / ca.fmax(par["tread_stiffness"], SOFT) for force in ca.vertsplit(starting.force)))
    rolled = starting.way * (starting.load / par["nominal_load"]) * par["rolling_deflection"] / radius
    travelled = starting.way * 2.0 * ca.sqrt(radius * starting.deflection) * par["trail_nominal"]
    return Started(
        grip=starting.friction * ca.fmin(starting.load, par["max_load"]),
        resting=STATES.join(**none | {"bristle": bent}),
        rolling=STATES.join(**none | {"rolled": rolled, "travelled": travelled}),
    )
