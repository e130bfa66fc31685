"""The Magic Formula 6.1, and the forces of 6.2, without turn slip."""

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

__all__ = ["mf61"]


def mf61(at: Slips, c: Numbers) -> Forces:
    """Forces, moments and relaxation lengths; ``c`` has `coefficients.MF61` by name.

    COMBINED is 1 where one slip acts on the force of the other one, else 0.
    Source: Pacejka and Besselink 2012, 4.E9 to 4.E78 with all zeta = 1; what QSX12 to QSX14 of MF 6.2 add to M_x, and
    the carcass stiffnesses PCFX, PCFY: TNO, "MF-Tyre/MF-Swift 6.2 equation manual".
    """
    n, fz, r0 = common(at, c), at.load, c["UNLOADED_RADIUS"]
    f0, dfz, dpi = n.f0, n.dfz, n.dpi
    alpha, cos, g = at.tan, cos_atan(at.tan), at.sine
    across, along = c["COMBINED"] * alpha, c["COMBINED"] * at.slip
    x = longitudinal(at, at.inclination, n, c)

    upright = _lateral(at, SX(0.0), c)
    y = _lateral(at, g, c)
    b = (c["RBX1"] + c["RBX3"] * g * g) * cos_atan(c["RBX2"] * at.slip) * c["LXAL"]
    gx = weight(b, c["RCX1"], ca.fmin(c["REX1"] + c["REX2"] * dfz, 1.0), across, c["RHX1"])
    fx = x.force * ca.fmax(gx, 0.0)
    b = (c["RBY1"] + c["RBY4"] * g * g) * cos_atan(c["RBY2"] * (alpha - c["RBY3"])) * c["LYKA"]
    bare = weight(b, c["RCY1"], ca.fmin(c["REY1"] + c["REY2"] * dfz, 1.0), along, c["RHY1"] + c["RHY2"] * dfz)
    gy = ca.fmax(bare, 0.0)
    shift = y["mu"] * fz * (c["RVY1"] + c["RVY2"] * dfz + c["RVY3"] * g) * cos_atan(c["RVY4"] * alpha)
    shift *= ca.sin(c["RVY5"] * ca.atan(c["RVY6"] * along)) * c["LVYKA"]
    fy = gy * y["force"] + shift

    grip = c["LMUY"] * at.friction
    turned = alpha + c["QHZ1"] + c["QHZ2"] * dfz + (c["QHZ3"] + c["QHZ4"] * dfz) * g
    residual = alpha + y["shift"] + y["vertical"] / off_zero(y["stiffness"])
    slips = x.stiffness / off_zero(y["stiffness"]) * along
    bt = (c["QBZ1"] + (c["QBZ2"] + c["QBZ3"] * dfz) * dfz) * (1.0 + c["QBZ4"] * g + c["QBZ5"] * ca.fabs(g))
    bt *= c["LKY"] / grip
    et = c["QEZ1"] + (c["QEZ2"] + c["QEZ3"] * dfz) * dfz
    et *= 1.0 + (c["QEZ4"] + c["QEZ5"] * g) * (2.0 / math.pi) * ca.atan(bt * c["QCZ1"] * turned)
    turned, residual = (sign(a) * ca.sqrt(a * a + slips * slips + TINY) for a in (turned, residual))
    trail = fz * r0 / f0 * (c["QDZ1"] + c["QDZ2"] * dfz) * (1.0 - c["PPZ1"] * dpi) * c["LTR"] * cos
    trail *= 1.0 + c["QDZ3"] * ca.fabs(g) + c["QDZ4"] * g * g
    trail *= sliding_curve(bt, c["QCZ1"], ca.fmin(et, 1.0), turned)
    lean = (c["QDZ8"] + c["QDZ9"] * dfz) * (1.0 + c["PPZ2"] * dpi) + (c["QDZ10"] + c["QDZ11"] * dfz) * ca.fabs(g)
    left = fz * r0 * grip * cos * ((c["QDZ6"] + c["QDZ7"] * dfz) * c["LRES"] + lean * g * c["LKZC"])
    left *= cos_atan((c["QBZ9"] * c["LKY"] / grip + c["QBZ10"] * y["b"] * c["PCY1"] * c["LCY"]) * residual)
    arm = r0 * (c["SSZ1"] + c["SSZ2"] * fy / f0 + (c["SSZ3"] + c["SSZ4"] * dfz) * at.inclination)
    arm *= c["LS"] * c["COMBINED"]

    carcass_x = c["LONGITUDINAL_STIFFNESS"] * (1.0 + (c["PCFX1"] + c["PCFX2"] * dfz) * dfz + c["PCFX3"] * dpi)
    carcass_y = c["LATERAL_STIFFNESS"] * (1.0 + (c["PCFY1"] + c["PCFY2"] * dfz) * dfz + c["PCFY3"] * dpi)
    return Forces(
        fx=fx, fy=fy, overturning=_overturning(at, fy, dpi, c), resistance=_rolling(at, fx, c),
        aligning=-trail * gy * upright["force"] + left, arm=arm,
        stiffness_x=x.stiffness, stiffness_y=y["stiffness"],
        length_x=_length(x.stiffness, carcass_x), length_y=_length(y["stiffness"], carcass_y),
        peak_x=x.mu * fz, peak_y=y["mu"] * fz, sliding=x.sliding, clipped=negative(gx, bare),
    )  # fmt: skip


def _lateral(at: Slips, g: SX, c: Numbers) -> dict[str, SX]:
    """Pure lateral slip (4.E19 to 4.E30) at the sine of an inclination."""
    n, fz = common(at, c), at.load
    dfz, dpi, grip = n.dfz, n.dpi, c["LMUY"] * at.friction
    mu = ca.fabs((c["PDY1"] + c["PDY2"] * dfz) * (1.0 + (c["PPY3"] + c["PPY4"] * dpi) * dpi))
    mu *= (1.0 - c["PDY3"] * g * g) * grip
    bent = fz / n.f0 / off_zero((c["PKY2"] + c["PKY5"] * g * g) * (1.0 + c["PPY2"] * dpi))
    stiffness = c["PKY1"] * n.f0 * (1.0 + c["PPY1"] * dpi) * (1.0 - c["PKY3"] * ca.fabs(g)) * c["LKY"]
    stiffness *= ca.sin(c["PKY4"] * ca.atan(bent))
    lean = fz * (c["PVY3"] + c["PVY4"] * dfz) * g * c["LKYC"] * grip
    vertical = fz * (c["PVY1"] + c["PVY2"] * dfz) * c["LVY"] * grip + lean
    camber = fz * (c["PKY6"] + c["PKY7"] * dfz) * (1.0 + c["PPY5"] * dpi) * c["LKYC"]
    shift = (c["PHY1"] + c["PHY2"] * dfz) * c["LHY"] + (camber * g - lean) / off_zero(stiffness)
    angle = at.tan + shift
    bend = (c["PEY1"] + c["PEY2"] * dfz) * c["LEY"]
    bend *= 1.0 + c["PEY5"] * g * g - (c["PEY3"] + c["PEY4"] * g) * sign(angle)
    shape = c["PCY1"] * c["LCY"]
    b = stiffness / off_zero(shape * mu * fz)
    force = mu * fz * curve(b, shape, ca.fmin(bend, 1.0), angle) + vertical
    return {"force": force, "mu": mu, "stiffness": stiffness, "shift": shift, "vertical": vertical, "b": b}


def _overturning(at: Slips, fy: SX, dpi: SX, c: Numbers) -> SX:
    """M_x (4.E69)."""
    g, over, load = at.inclination, fy / c["FNOMIN"], at.load / c["FNOMIN"]
    bent = c["QSX6"] * load
    wave = c["QSX4"] * ca.cos(c["QSX5"] * ca.atan(bent * bent))
    wave *= ca.sin(c["QSX7"] * g + c["QSX8"] * ca.atan(c["QSX9"] * over))
    parts = c["QSX1"] * c["LVMX"] - c["QSX2"] * g * (1.0 + c["PPMX1"] * dpi) - c["QSX12"] * g * ca.fabs(g)
    parts += c["QSX3"] * over + wave + c["QSX10"] * ca.atan(c["QSX11"] * load) * g
    more = fy * (c["QSX13"] + c["QSX14"] * ca.fabs(g))
    return c["UNLOADED_RADIUS"] * c["LMX"] * (at.load * parts + more)


def _rolling(at: Slips, fx: SX, c: Numbers) -> SX:
    """Magnitude of M_y (4.E70)."""
    v, g, nominal = at.speed / c["LONGVL"], at.inclination, c["FNOMIN"]
    load, squares = at.load / nominal, v * v
    parts = c["QSY1"] + c["QSY2"] * fx / nominal + c["QSY3"] * v + c["QSY4"] * squares * squares
    parts += (c["QSY5"] + c["QSY6"] * load) * g * g
    known = ca.fmin(c["NOMPRES"], 1.0)
    pressure = at.pressure / ca.fmax(c["NOMPRES"], 1.0) * known + (1.0 - known)
    powers = ca.exp(c["QSY7"] * ca.log(load) + c["QSY8"] * ca.log(pressure))
    return c["UNLOADED_RADIUS"] * nominal * c["LMY"] * parts * powers


def _length(stiffness: SX, carcass: SX) -> SX:
    """|stiffness| / carcass stiffness [m]; 0 where the file has none."""
    return ca.if_else(carcass > 0.0, ca.fabs(stiffness) / ca.fmax(carcass, 1.0), 0.0)
