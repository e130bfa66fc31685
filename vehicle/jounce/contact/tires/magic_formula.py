"""Tires of the Magic Formula on a plane, with bristles in its place near standstill.

Above `blend_end` the forces are those of the formula at slips that lag behind the motion. With the transport speed
T = |V_x|, the sliding velocity V_s, its speed |V_s| and relaxation lengths s_x, s_y, the states xi, eta follow

    xi' = r_x (-V_sx - L xi) / s_x,   eta' = r_y (-V_sy - L eta) / s_y,   L = T + |V_s|,   r = 1 / (1 + L / (s 500 / s))
    slip = xi / (1 - q),   tan(slip angle) = -eta / (1 - q),   q = |(xi, eta)| < 1

In steady rolling xi = -V_sx / L, so that the slip is -V_sx / |V_x| at every speed. For small slips it is the stretched
string, whose states follow over the travel s (Pacejka and Besselink 2012, section 7.2, Eqs. 7.7 and 7.9). L and r are
our own: they bound the states at any speed and keep their eigenvalues below 500 1/s.

Below `blend_begin` the forces are those of `jounce.contact.standstill`, as in TMeasy's law, with the formula's
stiffness and friction: break-away on the ellipse of the two peaks, in the direction in which the tread is bent, and
sliding at the force of a locked wheel. The bore torque has the smaller peak.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import casadi as ca

from jounce.contact.standstill import SOFT, STATES, Hold, Motion, Standstill, rolled_on, standstill
from jounce.contact.tires import mf61, pac2002
from jounce.contact.tires.coefficients import (
    ASYMMETRIC,
    ASYMMETRIC_TRAIL,
    MF61,
    MOST_SLIP,
    PAC2002,
    PLAIN,
    POINTS,
    SOFTEST,
    STEEPEST_ANGLE,
)
from jounce.contact.tires.formula import TINY, Forces, Slips, by_pressure
from jounce.contact.tires.law import Contact, Hub, Law, Plane, Started, Starting
from jounce.contact.tires.patch import patch, spring
from jounce.math.algebra import SX, cross, dot
from jounce.math.layout import Layout

__all__ = ["AT", "GIVES", "SHORTEST", "contact_mf61", "contact_pac2002", "start_mf61", "start_pac2002", "steady"]

Numbers = Mapping[str, SX]
Formula = Callable[[Slips, Numbers], Forces]

LAGGED: Final = Layout(**STATES.sizes, slip=2)
"""The states: those near standstill, and xi and eta."""
RATE_LIMIT: Final = 500.0
"""Largest eigenvalue of the lagged slips [1/s]."""
SHORTEST: Final = 0.05
"""Least relaxation length [m]."""
FLIGHT_RATE: Final = 50.0
"""Rate at which the states go back to zero off the ground [1/s]."""
FRICTION_MIN: Final = 0.01
"""Least friction of the formula; below it the forces fade to zero."""
ROLLING_SPIN: Final = 1.0
"""Spin rate [rad/s] above which the rolling resistance of a fast wheel has its full value."""
SPEED_MIN: Final = 1e-4
"""Speed [m/s] below which the reported slips fade to zero."""
STEEPEST: Final = 14.1
"""Tangent of the largest slip angle [1]."""
NO_PRESSURE: Final = 1.0
"""Pressure of an input [Pa] up to which the parameter's counts."""
ROUND: Final = 1e-12
"""Added to squares of deflections [m2]: one of a micrometre has hardly a direction."""
SMALL_SLIP: Final = 1e-3
"""Slip below which the force over slip is taken from the slope at zero."""


def _pac2002(at: Slips, par: Numbers) -> Forces:
    named = _named(PAC2002, ASYMMETRIC | ASYMMETRIC_TRAIL, par)
    return pac2002.pac2002(at, named | {"ELLIPSE": par["combined_slip"] - 1.0})


def _mf61(at: Slips, par: Numbers) -> Forces:
    return mf61.mf61(at, _named(MF61, ASYMMETRIC, par))


def _named(names: Sequence[str], asymmetric: Container[str], par: Numbers) -> dict[str, SX]:
    """The formula's numbers; those that are not symmetric are 0 where ``mirror`` says so."""
    kept = 3.0 - ca.fmax(par["mirror"], 2.0)  # of numbers alone
    own = {name: kept * par[name] if name in asymmetric else par[name] for name in names}
    return own | {file: par[name] for file, name in PLAIN.items()} | {"COMBINED": _mode(par).combined}


class _Mode(NamedTuple):
    """What `use_mode` says: shares, 0 or 1, made of numbers alone, so that they are computed once."""

    x: SX
    """Of F_x and M_y."""
    y: SX
    """Of F_y, M_x and M_z."""
    combined: SX
    """Of what one slip does to the other one's force."""
    lags: SX
    """Of the relaxation lengths."""


def _mode(par: Numbers) -> _Mode:
    """Units: 0 F_z alone, 1 F_x and M_y, 2 F_y, M_x and M_z, 3 all, 4 combined; tens: 0 without relaxation."""
    mode = ca.floor(par["use_mode"] + 0.5)
    tens = ca.floor(mode * 0.1)
    units = mode - 10.0 * tens
    both = ca.fmax(ca.fmin(units - 2.0, 1.0), 0.0)
    x, y = (both + ca.fmax(1.0 - ca.fabs(units - k), 0.0) for k in (1.0, 2.0))
    return _Mode(x, y, ca.fmax(ca.fmin(units - 3.0, 1.0), 0.0), ca.fmin(tens, 1.0))


def contact_pac2002(hub: Hub, terrain: Plane, state: SX, par: Numbers) -> Contact:
    """Force and moment on the wheel, and the rates of its states, after PAC2002; arguments are those of a law."""
    return _contact(_pac2002, hub, terrain, state, par)


def contact_mf61(hub: Hub, terrain: Plane, state: SX, par: Numbers) -> Contact:
    """The same after MF 6.1/6.2."""
    return _contact(_mf61, hub, terrain, state, par)


def start_pac2002(starting: Starting, par: Numbers) -> Started:
    """How a tire after PAC2002 starts."""
    return _start(_pac2002, starting, par)


def start_mf61(starting: Starting, par: Numbers) -> Started:
    """How a tire after MF 6.1/6.2 starts."""
    return _start(_mf61, starting, par)


#: What `steady` is evaluated at, and what it gives (axes of the contact frame, SI).
AT: Final = Layout(load=1, slip=1, slip_angle=1, inclination=1, pressure=1, speed=1, friction=1)
GIVES: Final = Layout(fx=1, fy=1, overturning=1, resistance=1, aligning=1, stiffness_x=1, stiffness_y=1, length_x=1,
                      length_y=1, peak=1)  # fmt: skip


def steady(law: Law) -> ca.Function:
    """steady(AT, numbers of `law`'s parameters and sides, as it has them) -> GIVES, of a wheel that rolls forward.

    ``law`` is one of the Magic Formula. Loads beyond those of the data count as in the vehicle.
    """
    formula = _mf61 if law.name.startswith("mf61") else _pac2002
    point, numbers = SX.sym("at", AT.size), SX.sym("n", len(law.parameters) + len(law.sided))
    par = dict(zip((*law.parameters, *law.sided), ca.vertsplit(numbers), strict=True))
    p = AT.split(point)
    load, mu = _within(p["load"], par), ca.fmax(p["friction"] / par["reference_friction"], FRICTION_MIN)
    slips = Slips(load, p["slip"], ca.tan(p["slip_angle"]), p["inclination"], p["pressure"], p["speed"], mu,
                  ca.sin(p["inclination"]))  # fmt: skip
    f, more = _evaluated(formula, _limited(slips, par), par), p["load"] / load
    out = GIVES.join(
        fx=more * f.fx, fy=more * f.fy, overturning=more * f.overturning, resistance=more * f.resistance,
        aligning=more * (f.aligning + f.arm * f.fx), stiffness_x=more * f.stiffness_x,
        stiffness_y=more * f.stiffness_y, length_x=f.length_x, length_y=f.length_y, peak=more * f.peak,
    )  # fmt: skip
    return ca.Function("steady", [point, numbers], [ca.densify(ca.cse(out))])


def _within(load: SX, par: Numbers) -> SX:
    """Load [N] in the range of the data; forces grow in proportion beyond it."""
    return ca.fmax(ca.fmin(load, par["max_load"]), par["min_load"])


def _side(par: Numbers) -> SX:
    """1 for a wheel on whose side the data stand, -1 where they are mirrored; `mirror` NEVER: 1."""
    never = ca.fmax(1.0 - ca.fabs(par["mirror"] - 2.0), 0.0)
    own = par["side"] + 2.0 * never  # of numbers alone
    return ca.if_else(own < 0.0, -1.0, 1.0)


def _ranges(par: Numbers, limits: SX) -> tuple[SX, SX, SX, SX]:
    """(least, largest slip, least, largest tangent of the slip angle): the file's if ``limits`` is 1, of numbers alone.

    If it is 0 they are what the formula gets at most.
    """
    slips = [side * (MOST_SLIP + limits * (ca.fmin(side * par[name], MOST_SLIP) - MOST_SLIP))
             for side, name in ((-1.0, "min_slip"), (1.0, "max_slip"))]  # fmt: skip
    tangents = [side * (STEEPEST + limits * (ca.tan(ca.fmin(side * par[name], STEEPEST_ANGLE)) - STEEPEST))
                for side, name in ((-1.0, "min_slip_angle"), (1.0, "max_slip_angle"))]  # fmt: skip
    return slips[0], slips[1], tangents[0], tangents[1]


def _limited(at: Slips, par: Numbers) -> Slips:
    """The slips within their ranges; those of the slip angle are of the side that the data are of."""
    least, most, left, right = _ranges(par, par["limits"] - 1.0)
    side = _side(par)
    slip = ca.fmax(ca.fmin(at.slip, most), least)
    return replace(at, slip=slip, tan=side * ca.fmax(ca.fmin(side * at.tan, right), left))


def _outside(load: SX, at: Slips, forces: Forces, rolls: SX, par: Numbers) -> SX:
    """How many of load, inclination, slip, slip angle and weights are outside of the file's ranges.

    ``rolls``: whether the slips count, which the formula has no use for near standstill.
    """
    least, most, left, right = _ranges(par, SX(1))
    tan = _side(par) * at.tan
    of_slips = (at.slip < least, at.slip > most, tan < left, tan > right)
    others = (load < par["min_load"], load > par["max_load"], ca.fabs(at.inclination) > par["max_inclination"])
    counts = [ca.if_else(ca.logic_and(rolls, over), 1.0, 0.0) for over in of_slips]
    counts += [ca.if_else(over, 1.0, 0.0) for over in others]
    return sum(counts, ca.if_else(rolls, _mode(par).combined * forces.clipped, 0.0))


def _evaluated(formula: Formula, at: Slips, par: Numbers) -> Forces:
    """The formula on this side of the vehicle, with the forces that the mode has."""
    most, side, mode = par["max_inclination"], _side(par), _mode(par)
    camber = ca.fmax(ca.fmin(at.inclination, most), -most) * side
    sine = ca.fmax(ca.fmin(at.sine, ca.sin(most)), -ca.sin(most)) * side
    f = formula(replace(at, tan=at.tan * side, inclination=camber, sine=sine), par)
    across = mode.y * side
    return replace(f, fx=f.fx * mode.x, resistance=f.resistance * mode.x, fy=f.fy * across, arm=f.arm * side,
                   overturning=f.overturning * across, aligning=f.aligning * across)  # fmt: skip


def _rolling_radius(load: SX, stiffer: SX, par: Numbers) -> SX:
    """R_e = Q_RE0 R_0 - F_z0 / k (D atan(B F_z / F_z0) + F F_z / F_z0) [m] (MF-Tyre 6.2: DREFF, BREFF, FREFF)."""
    ratio = load / par["FNOMIN"]
    share = par["DREFF"] * ca.atan(par["BREFF"] * ratio) + par["FREFF"] * ratio
    settled = par["FNOMIN"] / ca.fmax(par["vertical_stiffness"], SOFT)  # of numbers alone, as the next: prepared once
    return par["Q_RE0"] * par["unloaded_radius"] - settled * share / stiffer


def _radial(deflection: SX, par: Numbers) -> SX:
    """Force of the radial spring [N] at nominal pressure and rest.

    With a curve it is linear between the curve's points: each has the stiffness from there on.
    """
    if "load_curve_stiffness_0" not in par:
        return spring(deflection, par)
    force, before = par["vertical_stiffness_quadratic"] * deflection * deflection, SX(0)
    for k in range(POINTS):
        stiffness = par[f"load_curve_stiffness_{k}"]
        force += (stiffness - before) * ca.fmax(deflection - par[f"load_curve_deflection_{k}"], 0.0)
        before = stiffness
    return force


def _pressures(par: Numbers) -> tuple[SX, SX]:
    """(inflation pressure [Pa], its factor on the vertical stiffness: 1 + PFZ1 dp, MF-Tyre 6.2)."""
    asked, nominal = par["tire_pressure"], par["NOMPRES"]
    pressure = ca.if_else(asked > NO_PRESSURE, ca.fmax(asked, par["least_pressure"]), par["pressure"])
    per_pressure = par["PFZ1"] * by_pressure(nominal)
    return pressure, ca.fmax(1.0 + per_pressure * (pressure - nominal), SOFTEST)


def _lag(slip: SX, sliding: SX, pace: SX, length: SX) -> SX:
    """Rate of a lagged slip [1/s]."""
    return (-sliding - pace * slip) / (length + pace / RATE_LIMIT)


def _contact(formula: Formula, hub: Hub, terrain: Plane, state: SX, par: Numbers) -> Contact:
    pressure, stiffer = _pressures(par)
    radius, n = par["unloaded_radius"], terrain.normal
    spin = dot(hub.axis, hub.turning)
    fast = ca.fabs(spin) * (radius / par["LONGVL"])
    stiff = stiffer * (1.0 + par["Q_V2"] * fast)  # Pacejka and Besselink 2012, Eq. 4.E68, without its shear terms
    at = patch(hub, terrain, par, lambda deflection: stiff * _radial(deflection, par))
    touching = at.load > 0.0
    load = _within(at.load, par)
    more = at.load / load
    friction = terrain.friction / par["reference_friction"]
    mu = ca.fmax(friction, FRICTION_MIN)
    vx, vy, speed = at.velocity[0], at.velocity[1], ca.fabs(at.velocity[0])
    u = ca.fmax(ca.fmin((speed - par["blend_begin"]) / (par["blend_end"] - par["blend_begin"]), 1.0), 0.0)
    blend = u * u * (3.0 - 2.0 * u)
    rest_of = 1.0 - blend

    # as TMeasy's: a contact that has not rolled on hangs on the wheel by radii that do not change
    parts = LAGGED.split(state)
    length = 2.0 * ca.sqrt(radius * at.deflection)
    trail = length / 6.0  # of a brush with a parabolic pressure (Pacejka and Besselink 2012, Eq. 3.15)
    settled = par["FNOMIN"] / ca.fmax(par["vertical_stiffness"], SOFT)
    on = ca.fmax(rolled_on(parts["travelled"], trail), blend)
    at_rest = _rolling_radius(par["FNOMIN"], SX(1), par)
    rolling_radius = at_rest + on * (_rolling_radius(load, stiffer, par) - at_rest)
    rolling_radius += blend * par["Q_V1"] * radius * fast * fast
    rolling_radius = ca.if_else(at.flat, at.height * at.upright, rolling_radius * at.by_level)
    lateral_radius = radius - settled
    turn = dot(hub.turning, n)
    yaw = (turn - spin * at.lean) * at.by_tilted * at.by_tilted
    tilting = lateral_radius * dot(hub.turning, cross(at.down, at.left))
    swung = ca.if_else(at.flat, 0.0, rest_of * (rolling_radius - lateral_radius) * at.lean)
    sliding = ca.vertcat(vx - rolling_radius * spin + swung * yaw, vy + rest_of * tilting)

    xi, eta = parts["slip"][0], parts["slip"][1]
    by_rest = 1.0 / ca.fmax(1.0 - ca.sqrt(xi * xi + eta * eta), SMALL_SLIP)
    met = Slips(load, xi * by_rest, -eta * by_rest, at.camber, pressure, speed, mu, at.lean)
    counted = _limited(met, par)
    f, mode = _evaluated(formula, counted, par), _mode(par)
    pace = speed + ca.sqrt(dot(sliding, sliding) + TINY)
    lag = ca.vertcat(_lag(xi, sliding[0], pace, ca.fmax(mode.lags * f.length_x, SHORTEST)),
                     _lag(eta, sliding[1], pace, ca.fmax(mode.lags * f.length_y, SHORTEST)))  # fmt: skip

    # a direction without force has no motion to hold, and so no energy
    motion = Motion(ca.vertcat(mode.x * sliding[0], mode.y * sliding[1]), mode.x * dot(hub.turning, at.left),
                    spin - yaw * at.lean, mode.y * turn, mode.x * mode.y * yaw)  # fmt: skip
    fade = friction / mu
    held = Hold(
        friction=f.peak * more * fade, load=at.load, length=length, trail=trail, radius=rolling_radius,
        slope_x=_secant(f.fx, counted.slip, f.stiffness_x) * more,
        slope_y=_secant(f.fy, counted.tan, f.stiffness_y) * more,
        sliding=ca.fmin(f.sliding, f.peak) * more * fade,
        tread=_bent_at(parts["bristle"], f) * more * fade,
    )  # fmt: skip
    near = ca.logic_and(touching, rest_of > 0.0)
    rest = _standing(near, standstill({n: parts[n] for n in STATES.sizes}, motion, held, _near_rest(par)), state)
    rolling = blend * fade * more
    fx = rolling * f.fx - rest_of * rest.force[0]
    fy = rolling * f.fy - rest_of * rest.force[1]

    # as TMeasy's: near standstill the forces do their work at these radii, not at the arm
    turned = (rest_of * rest.lever * rest.force[1] + swung * fx) * at.by_tilted * at.by_tilted
    lever = ca.if_else(at.flat, 0.0, rest_of * (at.arm - rolling_radius) * fx)
    overturning = rolling * f.overturning + rest_of * (lateral_radius - at.arm) * fy
    w = ca.fmax(ca.fmin(spin / ROLLING_SPIN, 1.0), -1.0)
    resistance = -blend * more * f.resistance * w * (3.0 - w * w) / 2.0 - rest_of * rest.resistance
    resistance += lever * at.upright - turned * at.lean * at.upright
    forward = vx / ca.fmax(speed, par["blend_begin"])
    aligning = rolling * (forward * f.aligning + f.arm * f.fx) - rest_of * rest.bore
    aligning += lever * at.lean + turned * at.upright * at.upright

    force = fx * at.heading + fy * at.left + at.load * n
    contact_moment = ca.vertcat(overturning, resistance, aligning)  # without load there is none
    moment = contact_moment[0] * at.heading + contact_moment[1] * at.left + contact_moment[2] * n
    shown = ca.fmax(speed, SPEED_MIN)
    rates = ca.vertcat(rest.rates, ca.if_else(touching, lag, -FLIGHT_RATE * parts["slip"]))
    return Contact(
        force=force, moment=moment + cross(at.reach, force), rate=rates,
        contact_force=ca.vertcat(fx, fy, at.load), contact_moment=contact_moment,
        slip=ca.if_else(touching, -sliding[0] / shown, 0.0), slip_angle=ca.if_else(touching, ca.atan(vy / shown), 0.0),
        deflection=at.deflection, contact_point=hub.position + at.reach, heading=at.heading, left=at.left,
        stored_energy=rest.energy,
        outputs={"tire_outside": ca.if_else(touching, _outside(at.load, met, f, blend > 0.0, par), 0.0)},
    )  # fmt: skip


def _standing(near: SX, rest: Standstill, state: SX) -> Standstill:
    """What the contact near standstill does: elsewhere it has no force, and its states go back to zero."""
    counted = {name: ca.if_else(near, value, 0.0) for name, value in vars(rest).items()}
    rates = ca.if_else(near, rest.rates, -FLIGHT_RATE * state[: STATES.size])
    return Standstill(**counted | {"rates": rates})


def _bent_at(bent: SX, f: Forces) -> SX:
    """Radius [N] of the ellipse of the two peaks in the direction of a deflection (2) [m]; of none, between the two."""
    x, y = bent[0] * bent[0] + ROUND, bent[1] * bent[1] + ROUND
    along, across = f.peak_x * f.peak_x, f.peak_y * f.peak_y
    return f.peak_x * f.peak_y * ca.sqrt((x + y) / (across * x + along * y + TINY))


def _secant(force: SX, slip: SX, slope: SX) -> SX:
    """Size of force over slip [N], that of the slope where both are small."""
    size = ca.fabs(slip)
    return (ca.fabs(force) + SMALL_SLIP * ca.fabs(slope)) / (size + SMALL_SLIP)


def _near_rest(par: Numbers) -> Numbers:
    """The numbers of `standstill`, some of which the formula's have other names for."""
    return {**par, "nominal_load": par["FNOMIN"], "nominal_friction": ca.fabs(par["PDX1"])}


def _start(formula: Formula, starting: Starting, par: Numbers) -> Started:
    """The tread bent by the force that it carries; where the wheel has rolled on, its rolling resistance and travel."""
    load = _within(starting.load, par)
    friction = starting.friction / par["reference_friction"]
    mu = ca.fmax(friction, FRICTION_MIN)
    none, zero = LAGGED.split(SX(LAGGED.size, 1)), SX(0)
    f = _evaluated(formula, Slips(load, zero, zero, zero, par["pressure"], zero, mu, zero), par)
    mode = _mode(par)
    bent = ca.vertcat(*(-share * force / ca.fmax(par["tread_stiffness"], SOFT)
                        for share, force in zip((mode.x, mode.y), ca.vertsplit(starting.force), strict=True)))
    radius = par["unloaded_radius"]
    rolled = mode.x * starting.way * (starting.load / par["FNOMIN"]) * par["rolling_deflection"] / radius
    travelled = starting.way * ca.sqrt(radius * starting.deflection) / 3.0
    return Started(
        grip=ca.fmax(mode.x, mode.y) * f.peak * starting.load / load * friction / mu,
        resting=LAGGED.join(**none | {"bristle": bent}),
        rolling=LAGGED.join(**none | {"rolled": rolled, "travelled": travelled}),
    )
