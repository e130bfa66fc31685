"""The planar closed form of the double wishbone's three loops (Jain 2016, sections 5.1-5.3), as printed.

Tests compare it with the spatial closed form of `jounce.suspension.double_wishbone` for planar linkages;
`planar_corner` applies the loops to vehicle data. The letters are those of the paper (Figs. 5 and 6): lower arm A-D,
upright D-F, upper arm F-G, shock B-J, spindle arm E-K, tierod K-L. The angles of section 5.1 are measured from the
direction from G to A, those of section 5.2 from a quarter turn beyond it. The paper prints velocities (X, Eqs. 23-32)
and leaves X-dot theta-dot to Eq. 14, which is written out here for each loop.

The paper (and the 2015 conference paper) has these errors, each of which is shown in tests/vehicle/test_planar.py:

- Eqs. 19, 21 and sections 5.2, 5.3 print tan^-1(y/x), but need the two-argument arctangent: x of Eq. 19 changes its
  sign within the travel of the HMMWV.
- Section 5.2 sets eta = theta - pi/2, which holds only if B is on A-D; otherwise the constant angle DAB is added.
- Section 5.2 prints z = (x cos(beta) - y cos(eta)) / cos(gamma), 0/0 for a shock along the imaginary axis; here z is
  the modulus of Eq. 28, the same number.
- Eq. 29 prints gamma zdot exp(i gamma) as its last term; the next line correctly omits the factor gamma.
- Section 5.2 prints "rdot r = zdot", and Eq. 30 therefore a division by r. From r = z - (|BI| + |HJ|) follows
  rdot = zdot: the second row is y sin(eta - gamma).
- Section 5.3 prints X with EK(z) EK0(z); it must be EL(z) EK0(z). The difference is zero if EK is normal to D-F.
- Section 5.3 calls the columns of J_EL "the cross product of the vector [...] and the hinge axis"; the velocity is
  axis x vector, the vector being E-L for alpha but K-L for chi and zeta.
- Eq. 32 balances the velocity of E. But the upright also rotates, so the Jacobians of the hinges A and D must be taken
  at L (J_AL, J_DL); otherwise p thetadot (hinge axis x EL) is missing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["FourBar", "ShockLoop", "Spindle"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class FourBar:
    """The control-arm loop A-D-F-G (section 5.1). Lengths in m, angles in rad."""

    a: float
    """|GA|"""
    b: float
    """|AD|"""
    c: float
    """|DF|"""
    d: float
    """|FG|"""
    branch: float
    """+1 or -1: the sign of Eq. 20"""

    def angles(self, theta: float) -> tuple[float, float]:
        """(theta_3, theta_4): directions of F-D and G-F, Eqs. 15-21.

        Raises ArithmeticError where the loop does not close.
        """
        x, y = self.a + self.b * np.cos(theta), self.b * np.sin(theta)  # Eq. 17
        gamma = np.arctan2(y, x)  # Eq. 19
        cosine = (x * x + y * y + self.d**2 - self.c**2) / (2.0 * self.d * np.hypot(x, y))
        if not abs(cosine) <= 1.0:
            raise ArithmeticError(f"the four-bar does not close at theta = {theta} rad")
        theta_4 = gamma + self.branch * np.arccos(cosine)  # Eq. 20
        theta_3 = np.arctan2(y - self.d * np.sin(theta_4), x - self.d * np.cos(theta_4))  # Eq. 21
        return float(theta_3), float(theta_4)

    def coordinates(self, theta: float) -> Array:
        """(3,) generalized coordinates NDO, OFG, RGA, Eq. 22."""
        theta_3, theta_4 = self.angles(theta)
        return np.array([np.pi - (theta - theta_3), theta_4 - theta_3, np.pi - theta_4])

    def ratios(self, theta: float) -> tuple[float, float]:
        """(p, q): rates of theta_3 and theta_4 per unit rate of theta, Eqs. 25 and 26."""
        theta_3, theta_4 = self.angles(theta)
        p = self.b * np.sin(theta - theta_4) / (self.c * np.sin(theta_3 - theta_4))
        q = self.b * np.sin(theta - theta_3) / (self.d * np.sin(theta_4 - theta_3))
        return float(p), float(q)

    def x_column(self, theta: float) -> Array:
        """(3,) the loop's part of X, Eq. 27 (with Eq. 23)."""
        p, q = self.ratios(theta)
        return np.array([p - 1.0, q - p, -q])

    def velocity_product(self, theta: float, rate: float) -> Array:
        """(3,) the loop's part of X-dot theta-dot [rad/s2].

        Eq. 14 for Eq. 24: the second derivative of Eq. 15 at zero acceleration of theta, turned by -theta_4 and
        by -theta_3, real parts.
        """
        theta_3, theta_4 = self.angles(theta)
        p, q = self.ratios(theta)
        b, c, d = self.b * rate**2, self.c * (p * rate) ** 2, self.d * (q * rate) ** 2
        second_3 = (b * np.cos(theta - theta_4) - c * np.cos(theta_3 - theta_4) - d) / (
            self.c * np.sin(theta_3 - theta_4)
        )
        second_4 = (b * np.cos(theta - theta_3) - d * np.cos(theta_4 - theta_3) - c) / (
            self.d * np.sin(theta_4 - theta_3)
        )
        return np.array([second_3, second_4 - second_3, -second_4])


@dataclass(frozen=True)
class ShockLoop:
    """The shock loop A-B-J (section 5.2). Lengths in m, angles in rad, turned by pi/2 from those of `FourBar`."""

    x: float
    """|AJ|"""
    y: float
    """|AB|"""
    beta: float
    """direction of A-J"""
    lever: float
    """angle DAB; 0 in the paper"""
    closed: float
    """|BI| + |HJ|: the length at which r is 0"""

    def eta(self, theta: float) -> float:
        """Direction of A-B."""
        return theta - np.pi / 2.0 + self.lever

    def polar(self, theta: float) -> tuple[float, float]:
        """(gamma, z): direction and length of B-J, from Eq. 28."""
        eta = self.eta(theta)
        across = self.x * np.cos(self.beta) - self.y * np.cos(eta)
        up = self.x * np.sin(self.beta) - self.y * np.sin(eta)
        return float(np.arctan2(up, across)), float(np.hypot(across, up))

    def coordinates(self, theta: float) -> Array:
        """(2,) generalized coordinates DBJ (BJ against the line A-B) and r."""
        gamma, z = self.polar(theta)
        return np.array([gamma - self.eta(theta), z - self.closed])

    def x_column(self, theta: float) -> Array:
        """(2,) the loop's part of X, Eq. 30 without its division by r."""
        gamma, z = self.polar(theta)
        eta = self.eta(theta)
        return np.array([-(1.0 + self.y * np.cos(eta - gamma) / z), self.y * np.sin(eta - gamma)])

    def velocity_product(self, theta: float, rate: float) -> Array:
        """(2,) the loop's part of X-dot theta-dot: the derivative of Eq. 29 turned by -gamma (Eq. 14)."""
        gamma, z = self.polar(theta)
        eta = self.eta(theta)
        turning, slide = self.x_column(theta) * rate
        gamma_rate = turning + rate
        centripetal = self.y * rate**2
        return np.array([
            (centripetal * np.sin(eta - gamma) - 2.0 * gamma_rate * slide) / z,
            centripetal * np.cos(eta - gamma) + z * gamma_rate**2,
        ])  # fmt: skip


@dataclass(frozen=True)
class Spindle:
    """The spindle and tierod loop E-K-L (section 5.3), in space.

    Vectors are in the paper's "vertical arm frame", which is fixed to the upright with z along D-F. The coordinates are
    alpha (angle of the spindle about z), chi and zeta (elevation and azimuth of K-L relative to the spindle).
    """

    ek0: Array
    """(3,) E-K at alpha = 0 [m]"""
    kl: float
    """|KL| [m]"""
    branch: float
    """+1 or -1: the sign before the inverse cosine"""

    def coordinates(self, el: Array) -> Array:
        """(3,) alpha, chi, zeta [rad] for E-L (3,) [m].

        Raises ArithmeticError where the loop does not close.
        """
        ek0 = self.ek0
        a = el[0] * ek0[0] + el[1] * ek0[1]
        b = -el[0] * ek0[1] + el[1] * ek0[0]
        x = 0.5 * (el @ el + ek0 @ ek0 - self.kl**2) - el[2] * ek0[2]
        if not abs(x) <= np.hypot(a, b):
            raise ArithmeticError(f"the tierod loop does not close for EL = {el} m")
        alpha = np.arctan2(b, a) + self.branch * np.arccos(x / np.hypot(a, b))
        kl = self.rotation(alpha).T @ el - ek0
        return np.array([alpha, np.arcsin(kl[2] / np.linalg.norm(kl)), np.arctan2(kl[1], kl[0])])

    @staticmethod
    def rotation(alpha: float) -> Array:
        """(3, 3) R(alpha), Eq. 31."""
        c, s = np.cos(alpha), np.sin(alpha)
        return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])

    def tierod(self, q: Array) -> Array:
        """(3,) K-L [m] for the coordinates alpha, chi, zeta."""
        alpha, chi, zeta = q
        level = np.array([np.cos(zeta) * np.cos(chi), np.sin(zeta) * np.cos(chi), np.sin(chi)])
        return np.asarray(self.kl * self.rotation(alpha) @ level)

    def jacobian(self, q: Array) -> Array:
        """(3, 3) J_EL: velocity of L relative to the upright per rate of alpha, chi, zeta."""
        alpha, _, zeta = q
        z, kl = np.array([0.0, 0.0, 1.0]), self.tierod(q)
        level = self.rotation(alpha) @ np.array([np.sin(zeta), -np.cos(zeta), 0.0])
        el = self.rotation(alpha) @ self.ek0 + kl
        return np.column_stack([np.cross(z, el), np.cross(level, kl), np.cross(z, kl)])

    def rates(self, q: Array, velocity: Array) -> Array:
        """(3,) rates of the coordinates [rad/s] for the velocity (3,) [m/s] of L relative to the upright.

        Eq. 32, with -(J_AL + (p - 1) J_DL) thetadot (and the steering's velocity of L) in place of -v_E.
        """
        return np.asarray(np.linalg.solve(self.jacobian(q), velocity))

    def accelerations(self, q: Array, rates: Array, acceleration: Array) -> Array:
        """(3,) second derivatives of the coordinates for the acceleration (3,) [m/s2] of L relative to the upright.

        Eq. 14: the part of the acceleration that follows from the rates is subtracted, and the rest is solved as in
        Eq. 32.
        """
        alpha, chi, zeta = q
        turning = rates[0] + rates[2]
        height, width = np.sin(chi) * self.kl, np.cos(chi) * self.kl
        radial = -width * (turning**2 + rates[1] ** 2)
        tangential = -2.0 * height * rates[1] * turning
        c, s = np.cos(alpha + zeta), np.sin(alpha + zeta)
        own = np.array([radial * c - tangential * s, radial * s + tangential * c, -height * rates[1] ** 2])
        spindle = self.rotation(alpha) @ (self.ek0 * [1.0, 1.0, 0.0])
        return np.asarray(np.linalg.solve(self.jacobian(q), acceleration - own + rates[0] ** 2 * spindle))
