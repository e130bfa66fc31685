"""Constraint rows of the maximal-coordinate reference: G v = b, G vdot = gamma.

Columns 6 i .. 6 i + 5 belong to body i: velocity of the centre of mass and then angular velocity, both in world axes.
They are followed by one column per axle-shaft rotor. The arguments r, a and b are present world components.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from jounce.reference.kkt_geometry import skew

Array = NDArray[np.float64]


@dataclass
class Rows:
    """Rows under construction for bodies with angular velocity w (n, 3) and velocity v (n, 3) [world]."""

    size: int
    v: Array
    w: Array
    matrix: list[Array] = field(default_factory=list)
    rate: list[float] = field(default_factory=list)
    gamma: list[float] = field(default_factory=list)
    start: dict[str, int] = field(default_factory=dict)

    def _add(self, row: Array, gamma: float, rate: float = 0.0) -> None:
        self.matrix.append(row)
        self.gamma.append(gamma)
        self.rate.append(rate)

    def name(self, label: str) -> None:
        """Names the next row as the first one of `label`."""
        self.start[label] = len(self.matrix)

    def spherical(self, i: int, r_i: Array, j: int, r_j: Array, drive: tuple[Array, Array] | None = None) -> None:
        """3 rows: point r_i of body i coincides with point r_j of body j; the multiplier is the force on body i.

        `drive` is the (velocity, acceleration) of the point relative to body j, in world components.
        """
        block = np.zeros((3, self.size))
        block[:, 6 * i : 6 * i + 3], block[:, 6 * i + 3 : 6 * i + 6] = np.eye(3), -skew(r_i)
        block[:, 6 * j : 6 * j + 3], block[:, 6 * j + 3 : 6 * j + 6] = -np.eye(3), skew(r_j)
        w_i, w_j = self.w[i], self.w[j]
        gamma = np.cross(w_j, np.cross(w_j, r_j)) - np.cross(w_i, np.cross(w_i, r_i))
        rate = np.zeros(3)
        if drive is not None:
            rate = drive[0]
            gamma = gamma + 2.0 * np.cross(w_j, drive[0]) + drive[1]
        for k in range(3):
            self._add(block[k], float(gamma[k]), float(rate[k]))

    def perpendicular(self, i: int, a: Array, j: int, b: Array) -> None:
        """1 row: a, fixed in body i, stays normal to b, fixed in body j."""
        row, normal = np.zeros(self.size), np.cross(a, b)
        row[6 * i + 3 : 6 * i + 6], row[6 * j + 3 : 6 * j + 6] = normal, -normal
        turning = np.cross(np.cross(self.w[i], a), b) + np.cross(a, np.cross(self.w[j], b))
        self._add(row, -float((self.w[i] - self.w[j]) @ turning))

    def revolute(self, i: int, r_i: Array, j: int, r_j: Array, axis: Array) -> None:
        """5 rows: common point and common axis (unit vector)."""
        self.spherical(i, r_i, j, r_j)
        for b in normals(axis):
            self.perpendicular(i, axis, j, b)

    def prismatic(self, i: int, j: int, offset: Array, axis: Array) -> None:
        """5 rows: no relative rotation; body j slides along `axis`; offset = centre of j - centre of i."""
        x, y = normals(axis)
        for a, b in ((x, y), (y, axis), (axis, x)):
            self.perpendicular(i, a, j, b)
        w, dv = self.w[i], self.v[j] - self.v[i]
        for b in (x, y):
            row = np.zeros(self.size)
            row[6 * i : 6 * i + 3], row[6 * j : 6 * j + 3], row[6 * i + 3 : 6 * i + 6] = (
                -b,
                b,
                np.cross(b, offset),
            )
            bdot = np.cross(w, b)
            self._add(row, -float(2.0 * dv @ bdot + offset @ np.cross(w, bdot)))

    def on_line(self, i: int, r_i: Array, j: int, r_j: Array, apart: Array, axis: Array) -> None:
        """2 rows: point r_j of body j, `apart` from point r_i of i, is on the line through that along `axis` of i."""
        w_i, w_j = self.w[i], self.w[j]
        moving = self.v[j] + np.cross(w_j, r_j) - self.v[i] - np.cross(w_i, r_i)
        turning = np.cross(w_j, np.cross(w_j, r_j)) - np.cross(w_i, np.cross(w_i, r_i))
        for n in normals(axis):
            row, n_rate = np.zeros(self.size), np.cross(w_i, n)
            row[6 * j : 6 * j + 3], row[6 * j + 3 : 6 * j + 6] = n, np.cross(r_j, n)
            row[6 * i : 6 * i + 3], row[6 * i + 3 : 6 * i + 6] = -n, np.cross(n, r_i + apart)
            self._add(row, -float(n @ turning + 2.0 * n_rate @ moving + np.cross(w_i, n_rate) @ apart))

    def no_spin(self, i: int, axis: Array) -> None:
        """1 row: the angular velocity of a slender body has no component along `axis`, which is fixed in the body.

        The derivative of the axis is w x axis, which is normal to w, so gamma is 0. For a body that is symmetric about
        the axis the multiplier is 0: the row removes a rotation without energy, and adds no torque.
        """
        row = np.zeros(self.size)
        row[6 * i + 3 : 6 * i + 6] = axis
        self._add(row, 0.0)

    def rotor(self, i: int, j: int, axis: Array, column: int) -> None:
        """1 row: the rotor coordinate is the spin rate of i relative to j about their revolute axis."""
        row = np.zeros(self.size)
        row[6 * i + 3 : 6 * i + 6], row[6 * j + 3 : 6 * j + 6], row[column] = axis, -axis, -1.0
        self._add(row, -float((self.w[i] - self.w[j]) @ np.cross(self.w[j], axis)))


def normals(axis: Array) -> tuple[Array, Array]:
    """Two unit vectors that make a right-handed frame with the unit vector `axis`."""
    helper = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(helper, axis)
    x = x / np.linalg.norm(x)
    return x, np.cross(axis, x)
