"""Small vector and mechanism helpers on CasADi expressions."""

from __future__ import annotations

import casadi as ca

SX = ca.SX


def dot(a: SX, b: SX) -> SX:
    """Scalar product of two 3-vectors."""
    return ca.dot(a, b)


def cross(a: SX, b: SX) -> SX:
    """Vector product of two 3-vectors."""
    return ca.cross(a, b)


def unit(a: SX) -> SX:
    """a / |a|."""
    return a / ca.sqrt(dot(a, a))


def turned(a: SX, cos: SX, sin: SX, axis: SX) -> SX:
    """Vector a [any unit], rotated about the unit axis by the angle with that cosine and sine (Rodrigues)."""
    along = axis * dot(axis, a)
    across = a - along
    return along + across * cos + cross(axis, a) * sin


def circle_sphere(a: SX, b: SX, c: SX, branch: SX) -> tuple[SX, SX, SX]:
    """(cos x, sin x, discriminant) of the solution x of a cos x + b sin x = c.

    It is the solution of Jain 2016, Eqs. 18-20 and section 5.3, without acos and atan2: it takes one square root and a
    branch sign, which is fixed at the design position. The discriminant a^2 + b^2 - c^2 is negative if the linkage
    cannot close. The root of zero is then used, and the caller must report the fault.
    """
    r2 = a * a + b * b
    disc = r2 - c * c
    root = branch * ca.sqrt(ca.fmax(disc, 0.0))
    return (a * c - b * root) / r2, (b * c + a * root) / r2, disc


def symmetric(m: SX) -> SX:
    """(6,) elements xx yy zz xy xz yz of a symmetric 3x3 matrix."""
    return ca.vertcat(m[0, 0], m[1, 1], m[2, 2], m[0, 1], m[0, 2], m[1, 2])


def matrix(v: SX) -> SX:
    """The symmetric 3x3 matrix with the elements xx yy zz xy xz yz."""
    return ca.blockcat([[v[0], v[3], v[4]], [v[3], v[1], v[5]], [v[4], v[5], v[2]]])


def rotation(q: SX) -> SX:
    """(3, 3) rotation from chassis axes to world axes, of the unit quaternion w x y z."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    return ca.blockcat([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def tanh(x: SX) -> SX:
    """Hyperbolic tangent [1], within 4e-16 of it, by + - * / alone: the same bits under every C library.

    Lambert's continued fraction to x^13 for a 32nd of the argument; then, five times,
    tanh 2a = 2 tanh a / (1 + tanh^2 a).
    """
    a = ca.fmin(ca.fmax(x, -20.0), 20.0) / 32
    z = a * a
    t = a * (135135 + z * (17325 + z * (378 + z))) / (135135 + z * (62370 + z * (3150 + 28 * z)))
    for _ in range(5):
        t = 2 * t / (1 + t * t)
    return t


def exp(x: SX) -> SX:
    """e^x [1], within 2e-13 of it for |x| <= 20, which x is clipped to, by + - * / alone: the same bits everywhere.

    Series of the 64th part to the 11th power, which is then squared six times.
    """
    y = ca.fmin(ca.fmax(x, -20.0), 20.0) / 64
    series = SX(1.0)
    for k in range(11, 0, -1):
        series = 1.0 + y / k * series
    for _ in range(6):
        series = series * series
    return series


def log(x: SX) -> SX:
    """Natural logarithm [1] of 1e-6 <= x <= 1e6, which x is clipped to, within 1e-13, by + - * / and sqrt alone.

    Five square roots; then ln y = 2 artanh z, z = (y - 1) / (y + 1), as a series to z^21.
    """
    y = ca.fmin(ca.fmax(x, 1e-6), 1e6)
    for _ in range(5):
        y = ca.sqrt(y)
    z = (y - 1.0) / (y + 1.0)
    z2, series = z * z, SX(0.0)
    for k in range(21, 0, -2):
        series = 1.0 / k + z2 * series
    return 64.0 * z * series


def atan(x: SX) -> SX:
    """Arc tangent [rad], within 3e-16 of it, by + - * / alone, with two divisions: faster in C than `casadi.atan`.

    Three ranges, in which atan x = k pi/4 + atan y with |y| <= 0.66, and a rational function there. Source:
    S. L. Moshier, "Methods and Programs for Mathematical Functions", 1989 (Cephes library, atan.c), coefficients.
    """
    size = ca.fabs(x)
    far, middle = size > 2.41421356237309504880, size > 0.66
    above = ca.if_else(far, -1.0, ca.if_else(middle, size - 1.0, size))
    below = ca.if_else(far, size, ca.if_else(middle, size + 1.0, 1.0))
    y = above / below
    z = y * y
    p, q = SX(-8.750608600031904122785e-1), z + 2.485846490142306297962e1
    for a in (-1.615753718733365076637e1, -7.500855792314704667340e1, -1.228866684490136173410e2,
              -6.485021904942025371773e1):  # fmt: skip
        p = p * z + a
    for a in (1.650270098316988542046e2, 4.328810604912902668951e2, 4.853903996359136964868e2,
              1.945506571482613964425e2):  # fmt: skip
        q = q * z + a
    shift = ca.if_else(far, 1.57079632679489661923, ca.if_else(middle, 0.78539816339744830962, 0.0))
    angle = shift + (y * (z * p / q) + y)
    return ca.if_else(x < 0.0, -angle, angle)
