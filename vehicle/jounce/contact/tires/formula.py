"""What the Magic Formula's versions share: slips, forces, the longitudinal curve, the weights of combined slip.

Axes are ISO-W, those of the contact frame: x along the wheel's heading, y to the left, z along the normal. The slip is
-V_sx / |V_x|, the slip angle atan(V_y / |V_x|), the inclination is positive about x. Names of coefficients and letters
are those of the sources.

Sources: MSC Software, "Adams/Tire", chapter on the PAC2002 tire model; H. B. Pacejka, I. J. M. Besselink, "Tire and
Vehicle Dynamics", 3rd edition 2012, section 4.3 (4.E1 to 4.E78).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import casadi as ca

from jounce.math.algebra import SX

__all__ = ["TINY", "Common", "Forces", "Longitudinal", "Numbers", "Slips", "by_pressure", "common", "cos_atan", "curve",
           "longitudinal", "negative", "off_zero", "sign", "sliding_curve", "weight"]  # fmt: skip

SMALL: Final = 1e-12
"""Keeps divisors away from zero: ratios of forces, slips."""
TINY: Final = SMALL * SMALL
"""The same for squares."""

Numbers = Mapping[str, SX]


@dataclass(frozen=True)
class Slips:
    """What the formula is evaluated at."""

    load: SX
    """Vertical force [N], > 0."""
    slip: SX
    """Longitudinal slip [1]; positive where the wheel drives."""
    tan: SX
    """Tangent of the slip angle [1]: V_y / |V_x|."""
    inclination: SX
    """Inclination [rad], positive about x."""
    pressure: SX
    """Inflation pressure [Pa]; its terms count where the file has a nominal one."""
    speed: SX
    """|V_x| [m/s], for the rolling resistance."""
    friction: SX
    """Friction coefficient of the ground over that of the measurement."""
    sine: SX
    """Sine of the inclination [1]."""


@dataclass(frozen=True)
class Forces:
    """What the formula gives."""

    fx: SX
    """[N]."""
    fy: SX
    """[N]."""
    overturning: SX
    """M_x [N.m]."""
    resistance: SX
    """Rolling resistance [N.m]: the magnitude, which opposes the spin."""
    aligning: SX
    """M_z [N.m] of a wheel that rolls forward, without that of F_x."""
    arm: SX
    """What F_x has as its arm [m]: M_z is aligning + arm F_x."""
    stiffness_x: SX
    """dF_x / dslip where F_x0 has no shift [N]."""
    stiffness_y: SX
    """dF_y / dalpha there [N/rad]; negative in ISO-W."""
    length_x: SX
    """Relaxation length of the longitudinal slip [m]; 0 where the file has none."""
    length_y: SX
    """That of the slip angle [m]."""
    peak_x: SX
    """Peak force along x [N]."""
    peak_y: SX
    """The same along y."""
    sliding: SX
    """Force of a locked wheel, at slip -1, without the curve's shifts [N]."""
    clipped: SX
    """How many of the two weights of combined slip would be below 0, and are 0 [1]."""

    @property
    def peak(self) -> SX:
        """The smaller one of the two peak forces [N]."""
        return ca.fmin(self.peak_x, self.peak_y)


@dataclass(frozen=True)
class Common:
    """Load and pressure over their nominal values."""

    f0: SX
    """Fz0' = LFZO FNOMIN [N]."""
    dfz: SX
    dpi: SX


@dataclass(frozen=True)
class Longitudinal:
    """The curve of pure longitudinal slip."""

    force: SX
    mu: SX
    stiffness: SX
    slip: SX
    """Slip with its horizontal shift."""
    vertical: SX
    """Vertical shift [N]."""
    sliding: SX
    """Force at slip -1 without shifts, >= 0 [N]."""


def sign(x: SX) -> SX:
    """1, -1; 0 at zero, the mean of the two branches."""
    return ca.if_else(x > 0.0, 1.0, 0.0) - ca.if_else(x < 0.0, 1.0, 0.0)


def off_zero(x: SX) -> SX:
    """x, but at least SMALL away from zero."""
    return ca.if_else(x < 0.0, ca.fmin(x, -SMALL), ca.fmax(x, SMALL))


def cos_atan(x: SX) -> SX:
    """cos(atan x)."""
    return 1.0 / ca.sqrt(1.0 + x * x)


def _bend(b: SX, e: SX, x: SX) -> SX:
    bx = b * x
    return ca.atan(bx - e * (bx - ca.atan(bx)))


def curve(b: SX, c: SX, e: SX, x: SX) -> SX:
    """sin(C atan(B x - E (B x - atan B x)))."""
    return ca.sin(c * _bend(b, e, x))


def sliding_curve(b: SX, c: SX, e: SX, x: SX) -> SX:
    """cos(C atan(B x - E (B x - atan B x)))."""
    return ca.cos(c * _bend(b, e, x))


def weight(b: SX, c: SX, e: SX, x: SX, shift: SX) -> SX:
    """Weight of combined slip, 1 at x = 0 (4.E51, 4.E59); below 0 it stands for 0."""
    return sliding_curve(b, c, e, x + shift) / off_zero(sliding_curve(b, c, e, shift))


def negative(*weights: SX) -> SX:
    """How many weights are below 0."""
    return sum((ca.if_else(w < 0.0, 1.0, 0.0) for w in weights), SX(0))


def common(at: Slips, c: Numbers) -> Common:
    """dfz (4.E2a) and dpi (4.E2b)."""
    f0 = c["LFZO"] * c["FNOMIN"]
    nominal = c["NOMPRES"]
    return Common(f0, at.load * (1.0 / f0) - 1.0, (at.pressure - nominal) * by_pressure(nominal))


def by_pressure(nominal: SX) -> SX:
    """One over the nominal pressure [1/Pa], 0 where a file has none.

    Without a truth, so that it is computed once, as all that depends on parameters alone.
    """
    return ca.fmin(nominal, 1.0) / ca.fmax(nominal, 1.0)


def longitudinal(at: Slips, inclination: SX, n: Common, c: Numbers) -> Longitudinal:
    """Pure longitudinal slip (4.E9 to 4.E18, the same in PAC2002, where the inclination has a factor)."""
    fz, dfz, dpi = at.load, n.dfz, n.dpi
    mu = ca.fabs((c["PDX1"] + c["PDX2"] * dfz) * (1.0 + (c["PPX3"] + c["PPX4"] * dpi) * dpi))
    mu *= (1.0 - c["PDX3"] * inclination * inclination) * c["LMUX"] * at.friction
    shape = c["PCX1"] * c["LCX"]
    stiffness = fz * (c["PKX1"] + c["PKX2"] * dfz) * ca.exp(c["PKX3"] * dfz)
    stiffness *= (1.0 + (c["PPX1"] + c["PPX2"] * dpi) * dpi) * c["LKX"]
    vertical = fz * (c["PVX1"] + c["PVX2"] * dfz) * c["LVX"] * c["LMUX"] * at.friction
    slip = at.slip + (c["PHX1"] + c["PHX2"] * dfz) * c["LHX"]
    bend = (c["PEX1"] + (c["PEX2"] + c["PEX3"] * dfz) * dfz) * c["LEX"]
    b = stiffness / off_zero(shape * mu * fz)
    e = ca.fmin(bend * (1.0 - c["PEX4"] * sign(slip)), 1.0)
    sliding = ca.fabs(mu * fz * curve(b, shape, ca.fmin(bend * (1.0 + c["PEX4"]), 1.0), SX(1.0)))
    return Longitudinal(mu * fz * curve(b, shape, e, slip) + vertical, mu, stiffness, slip, vertical, sliding)
