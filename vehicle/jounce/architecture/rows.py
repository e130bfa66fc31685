"""Rows of joints and springs at any pose: residuals and Jacobians.

A row's velocity is J v with v = (v, w) of every body: velocity of its centre of mass and angular velocity, world axes.
The arm r runs from the centre of mass to the point, so a point's velocity is v + w x r and a row along n is [n, r x n]
(Lesiv 2011, Eqs. 9-12, 20 print v + r x w, which is right only for the opposite arm; its Eq. 22 has r1 where r2 must
be). Kinds of rows as in Haug 1989, "Computer aided kinematics and dynamics of mechanical systems", sections 9.4-9.6.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jounce.architecture.target import GROUND, Joint, Multibody, Spring

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Pose:
    """Where the bodies are."""

    x: Array
    """(n, 3) centres of mass [m]."""
    turn: Array
    """(n, 3, 3) rotations from the drawn pose."""

    def moved(self, step: Array) -> Pose:
        """After the displacement and turn vector (6 n) of all bodies."""
        step = step.reshape(-1, 6)
        return Pose(self.x + step[:, :3], np.array([turned(s[3:]) @ r for s, r in zip(step, self.turn, strict=True)]))


@dataclass(frozen=True)
class Row:
    """One scalar condition between two bodies."""

    residual: float
    on_a: Array
    """(6,) partial derivatives by a's velocity and angular velocity."""
    on_b: Array
    """(6,)"""


def drawn(model: Multibody) -> Pose:
    """The drawn pose."""
    return Pose(np.array([b.com for b in model.bodies]), np.tile(np.eye(3), (len(model.bodies), 1, 1)))


def turned(vector: Array) -> Array:
    """(3, 3) rotation about a vector by its length [rad] (Rodrigues)."""
    angle = float(np.linalg.norm(vector))
    k = cross_matrix(vector)
    if angle < 1e-8:
        return np.eye(3) + k + k @ k / 2
    rotation: Array = np.eye(3) + np.sin(angle) / angle * k + (1 - np.cos(angle)) / angle**2 * k @ k
    return rotation


def cross_matrix(a: Array) -> Array:
    """(3, 3) matrix of b -> a x b."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def cross(a: Array, b: Array) -> Array:
    """a x b of two vectors (3,): the bits of numpy.cross, which takes thirty times as long for so few numbers."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])


def normals(axis: Array) -> tuple[Array, Array]:
    """Two unit vectors that make a right-handed triad with the unit axis."""
    first = cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    first /= np.linalg.norm(first)
    return first, cross(axis, first)


class Placed:
    """Points and directions of the bodies at a pose."""

    def __init__(self, model: Multibody, pose: Pose) -> None:
        """Of that model."""
        self._model, self._pose = model, pose

    def centre(self, body: int) -> Array:
        """Centre of mass; of the ground, the origin."""
        return np.zeros(3) if body == GROUND else self._pose.x[body]

    def point(self, body: int, at: Array) -> Array:
        """A body's point that is at `at` in the drawn pose."""
        return at if body == GROUND else self._pose.x[body] + self.direction(body, at - self._model.bodies[body].com)

    def direction(self, body: int, axis: Array) -> Array:
        """A body's direction that is `axis` in the drawn pose."""
        return axis if body == GROUND else self._pose.turn[body] @ axis

    def across(self, a: int, b: int, p: Array, q: Array, n: Array) -> tuple[Array, Array]:
        """Jacobian of n . (point p of a - point q of b) along a fixed n."""
        return (np.concatenate([n, cross(p - self.centre(a), n)]),
                -np.concatenate([n, cross(q - self.centre(b), n)]))  # fmt: skip


def joint_rows(model: Multibody, pose: Pose, joint: Joint) -> Iterator[Row]:
    """The rows of a joint, in order: those of points, then those of directions."""
    at = Placed(model, pose)
    a, b = joint.a, joint.b
    p, q = at.point(a, joint.point_a), at.point(b, joint.point_b)
    d = p - q
    if joint.kind == "rod":
        yield Row(float(d @ d - joint.length**2) / (2 * joint.length), *at.across(a, b, p, q, d / joint.length))
        return
    if joint.kind in ("ball", "hinge"):
        for n in np.eye(3):
            yield Row(float(n @ d), *at.across(a, b, p, q, n))
    else:
        for n in normals(joint.axis):  # n is fixed in b, so that b's point that counts is the one at p
            n = at.direction(b, n)
            yield Row(float(n @ d), *at.across(a, b, p, p, n))
    first, second = normals(joint.axis)
    pairs = {"hinge": ((joint.axis, first), (joint.axis, second)),
             "slider": ((joint.axis, first), (joint.axis, second), (first, second))}  # fmt: skip
    for on_a, on_b in pairs.get(joint.kind, ()):
        u, w = at.direction(a, on_a), at.direction(b, on_b)
        turn = np.concatenate([np.zeros(3), cross(u, w)])
        yield Row(float(u @ w), turn, -turn)


def spring_row(model: Multibody, pose: Pose, spring: Spring) -> Row:
    """A spring's length as the residual, with its derivatives."""
    at = Placed(model, pose)
    p, q = at.point(spring.a, spring.point_a), at.point(spring.b, spring.point_b)
    if spring.along is not None:
        n = at.direction(spring.b, spring.along)
        return Row(float(n @ (p - q)), *at.across(spring.a, spring.b, p, p, n))
    length = float(np.linalg.norm(p - q))
    return Row(length, *at.across(spring.a, spring.b, p, q, (p - q) / length))


def stacked(model: Multibody, rows: list[tuple[int, int, Row]]) -> Array:
    """(rows, 6 n) Jacobian of rows between the bodies a and b."""
    matrix = np.zeros((len(rows), 6 * len(model.bodies)))
    for k, (a, b, row) in enumerate(rows):
        for body, part in ((a, row.on_a), (b, row.on_b)):
            if body != GROUND:
                matrix[k, 6 * body : 6 * body + 6] += part
    return matrix


def joints(model: Multibody, pose: Pose) -> tuple[Array, Array]:
    """(rows,) residuals [m] or [1], and the (rows, 6 n) Jacobian, of all joints in order."""
    rows = [(j.a, j.b, row) for j in model.joints for row in joint_rows(model, pose, j)]
    return np.array([row.residual for *_, row in rows]), stacked(model, rows)


def springs(model: Multibody, pose: Pose) -> tuple[Array, Array]:
    """(springs,) lengths [m], and their (springs, 6 n) Jacobian."""
    rows = [(s.a, s.b, spring_row(model, pose, s)) for s in model.springs]
    return np.array([row.residual for *_, row in rows]), stacked(model, rows)


def contacts(model: Multibody) -> Array:
    """(contacts, 6 n) velocity of every contact of the wheels along the vertical, in the drawn pose."""
    up = np.array([0.0, 0.0, 1.0])
    found = list(model.contacts())
    matrix = np.zeros((len(found), 6 * len(model.bodies)))
    for row, (wheel, offset) in zip(matrix, found, strict=True):
        arm = wheel.centre + offset * wheel.axis - model.bodies[wheel.body].com
        row[6 * wheel.body : 6 * wheel.body + 6] = np.concatenate([up, cross(arm, up)])
    return matrix


def loads(model: Multibody) -> Array:
    """(wheels, 6 n) the same, the mean of each wheel's contacts: its transpose times the loads is what they push."""
    each = iter(contacts(model))
    means = [sum((next(each) for _ in w.offsets), np.zeros(6 * len(model.bodies))) / len(w.offsets)
             for w in model.wheels]  # fmt: skip
    return np.array(means).reshape(len(model.wheels), 6 * len(model.bodies))
