"""PAC2002: the Magic Formula 5.2 with the pressure terms and the friction ellipse of Adams/Tire."""

from __future__ import annotations

import math

import casadi as ca

from jounce.contact.tires.formula import (
    TINY,
    Forces,
    Numbers,
    Slips,
    common,
    cos_atan,
    curve,
    longitudinal,
    negative,
    off_zero,
    sign,
    sliding_curve,
    weight,
)
from jounce.math.algebra import SX

__all__ = ["pac2002"]


def pac2002(at: Slips, c: Numbers) -> Forces:
    """Forces, moments and relaxation lengths; ``c`` has `coefficients.PAC2002` and those of Slips by name.

    Combined slip is by cosine weighting where ELLIPSE is 0, by the friction ellipse where it is 1. COMBINED is 1 where
    one slip acts on the force of the other one, else 0.
    Source: MSC Software, "Adams/Tire", PAC2002, the equations for pure slip, combined slip (Magic Formula; friction
    ellipse) and transient behaviour. PDY1 < 0 is taken as its absolute value.
    """
    n, fz, r0 = common(at, c), at.load, c["UNLOADED_RADIUS"]
    f0, dfz, dpi = n.f0, n.dfz, n.dpi
    alpha, cos = ca.atan(at.tan), cos_atan(at.tan)
    grip = c["LMUY"] * at.friction
    x = longitudinal(at, at.inclination * c["LGAX"], n, c)

    g = at.inclination * c["LGAY"]
    mu = ca.fabs((c["PDY1"] + c["PDY2"] * dfz) * (1.0 + (c["PPY3"] + c["PPY4"] * dpi) * dpi))
    mu *= (1.0 - c["PDY3"] * g * g) * grip
    ratio = fz / off_zero(c["PKY2"] * f0 * (1.0 + c["PPY2"] * dpi))
    ky = c["PKY1"] * f0 * _sin_twice_atan(ratio) * (1.0 + c["PPY1"] * dpi)
    ky *= (1.0 - c["PKY3"] * ca.fabs(g)) * c["LKY"]
    vertical = (c["PVY1"] + c["PVY2"] * dfz) * c["LVY"] + (c["PVY3"] + c["PVY4"] * dfz) * g * c["LKYG"]
    vertical *= fz * grip
    ay = alpha + (c["PHY1"] + c["PHY2"] * dfz) * c["LHY"] + c["PHY3"] * g * c["LKYG"]
    bend = (c["PEY1"] + c["PEY2"] * dfz) * (1.0 - (c["PEY3"] + c["PEY4"] * g) * sign(ay)) * c["LEY"]
    shape = c["PCY1"] * c["LCY"]
    by = ky / off_zero(shape * mu * fz)
    bare = mu * fz * curve(by, shape, ca.fmin(bend, 1.0), ay)
    residual = ay + vertical / off_zero(ky)

    ellipse = c["ELLIPSE"] > 0.5
    across, along = c["COMBINED"] * alpha, c["COMBINED"] * at.slip
    bare_x, bare_y, shift = _weights(at.slip, alpha, across, along, dfz, c)
    gx, gy = ca.fmax(bare_x, 0.0), ca.fmax(bare_y, 0.0)
    shift *= mu * fz * (c["RVY1"] + c["RVY2"] * dfz + c["RVY3"] * g)
    shift = ca.if_else(ellipse, 0.0, shift)
    kc = x.slip + x.vertical / off_zero(x.stiffness)
    sx, sy = _ellipse(kc, ca.sin(residual), (x.force - x.vertical) / fz, bare / fz, x.mu, mu, c["COMBINED"])
    fx = ca.if_else(ellipse, sx, gx) * x.force
    fy = ca.if_else(ellipse, sy, gy) * (bare + vertical) + shift

    gz = at.inclination * c["LGAZ"]
    turned = alpha + c["QHZ1"] + c["QHZ2"] * dfz + (c["QHZ3"] + c["QHZ4"] * dfz) * gz
    stiffnesses = x.stiffness / off_zero(ky) * along
    bt = (c["QBZ1"] + (c["QBZ2"] + c["QBZ3"] * dfz) * dfz) * (1.0 + c["QBZ4"] * gz + c["QBZ5"] * ca.fabs(gz))
    bt *= c["LKY"] / grip
    et = c["QEZ1"] + (c["QEZ2"] + c["QEZ3"] * dfz) * dfz
    et *= 1.0 + (c["QEZ4"] + c["QEZ5"] * gz) * (2.0 / math.pi) * ca.atan(bt * c["QCZ1"] * turned)
    turned, residual = (ca.if_else(ellipse, a, _equivalent(a, stiffnesses)) for a in (turned, residual))
    trail = fz * (c["QDZ1"] + c["QDZ2"] * dfz) * (1.0 + (c["QDZ3"] + c["QDZ4"] * gz) * gz)
    trail *= (1.0 - c["QPZ1"] * dpi) * r0 / f0 * c["LTR"] * cos
    trail *= sliding_curve(bt, c["QCZ1"], ca.fmin(et, 1.0), turned)
    left = (c["QDZ6"] + c["QDZ7"] * dfz) * c["LRES"] + (c["QDZ8"] + c["QDZ9"] * dfz) * (1.0 + c["QPZ2"] * dpi) * gz
    left *= fz * r0 * grip * cos * cos_atan((c["QBZ9"] * c["LKY"] / grip + c["QBZ10"] * by * shape) * residual)
    arm = r0 * (c["SSZ1"] + c["SSZ2"] * fy / f0 + (c["SSZ3"] + c["SSZ4"] * dfz) * gz) * (c["LS"] * c["COMBINED"])

    v = at.speed / c["LONGVL"]
    squares = v * v
    rolling = c["QSY1"] + c["QSY2"] * fx / c["FNOMIN"] + c["QSY3"] * v + c["QSY4"] * squares * squares
    length = fz * (c["PTX1"] + c["PTX2"] * dfz) * ca.exp(-c["PTX3"] * dfz) * r0 / f0 * c["LSGKP"]
    lateral = c["PTY1"] * _sin_twice_atan(fz / off_zero(c["PTY2"] * f0)) * (1.0 - c["PKY3"] * ca.fabs(g))
    return Forces(
        fx=fx, fy=fy,
        overturning=r0 * fz * c["LMX"] * (c["QSX1"] * c["LVMX"] - c["QSX2"] * at.inclination + c["QSX3"] * fy / f0),
        resistance=fz * r0 * c["LMY"] * rolling,
        aligning=-trail * (fy - shift) + left, arm=ca.if_else(ellipse, 0.0, arm),
        stiffness_x=x.stiffness, stiffness_y=ky, length_x=length,
        length_y=lateral * r0 * c["LFZO"] * c["LSGAL"],
        peak_x=x.mu * fz, peak_y=mu * fz, sliding=x.sliding,
        clipped=ca.if_else(ellipse, 0.0, negative(bare_x, bare_y)),
    )  # fmt: skip


def _sin_twice_atan(x: SX) -> SX:
    return 2.0 * x / (1.0 + x * x)


def _weights(slip: SX, alpha: SX, across: SX, along: SX, dfz: SX, c: Numbers) -> tuple[SX, SX, SX]:
    """Weights of F_x0 and F_y0, and what multiplies D_Vyk in the lateral force that slip brings.

    across, along: slip angle and slip, or 0 where the slips are not combined.
    """
    b = c["RBX1"] * cos_atan(c["RBX2"] * slip) * c["LXAL"]
    gx = weight(b, c["RCX1"], ca.fmin(c["REX1"] + c["REX2"] * dfz, 1.0), across, c["RHX1"])
    b = c["RBY1"] * cos_atan(c["RBY2"] * (alpha - c["RBY3"])) * c["LYKA"]
    gy = weight(b, c["RCY1"], ca.fmin(c["REY1"] + c["REY2"] * dfz, 1.0), along, c["RHY1"] + c["RHY2"] * dfz)
    shift = cos_atan(c["RVY4"] * alpha) * ca.sin(c["RVY5"] * ca.atan(c["RVY6"] * along)) * c["LVYKA"]
    return gx, gy, shift


def _ellipse(slip: SX, sine: SX, own_x: SX, own_y: SX, most_x: SX, most_y: SX, combined: SX) -> tuple[SX, SX]:
    """Shares of F_x0 and F_y0, from slip and sine of the slip angle, with |sine| / |slip| for the tangent of beta.

    ``own`` are the friction coefficients of the pure slips as they are, ``most`` the largest; ``combined`` 0: no share.
    """
    x = ca.fabs(slip) * most_y / ca.sqrt((slip * most_y) ** 2 + combined * (sine * own_x) ** 2 + TINY)
    y = ca.fabs(sine) * most_x / ca.sqrt((sine * most_x) ** 2 + combined * (slip * own_y) ** 2 + TINY)
    return x, y


def _equivalent(angle: SX, slip: SX) -> SX:
    """Slip angle that stands for both slips in the moment."""
    tangent = ca.tan(angle)
    return sign(angle) * ca.atan(ca.sqrt(tangent * tangent + slip * slip + TINY))
