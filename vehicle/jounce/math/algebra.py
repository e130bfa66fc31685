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


def clipped(value: SX, low: SX | float, high: SX | float) -> SX:
    """The value within its bounds."""
    return ca.fmin(ca.fmax(value, low), high)


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
