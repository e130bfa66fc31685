"""Converts vectors, rotations, quaternions and Euler angles between the axes of different programs.

Axes are named by the directions of x, y and z, with one letter each: on the vehicle Forward or Back, Left or Right, Up
or Down; in the world East or West, North or South, Up or Down. ``FLU`` are the axes of ISO 8855, ``FRD`` those of
aerospace and of SAE J670 with z down, ``FRU`` the left-handed ones of CARLA and Unreal. A convention is the axes of
the body together with those of the world.

Vectors are arrays (..., 3), rotations (..., 3, 3), quaternions (..., 4) with w first, Euler angles (..., 3). A rotation
and its quaternion map body components to world components. The component formulas hold in left-handed axes as well. A
change of handedness reverses the sign of rotations, which `pseudovector` and `quaternion` take into account. Lengths
keep their unit. All functions raise ValueError for arrays of another shape.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

_BODY = {"F": (0, 1.0), "B": (0, -1.0), "L": (1, 1.0), "R": (1, -1.0), "U": (2, 1.0), "D": (2, -1.0)}
_WORLD = {"E": (0, 1.0), "W": (0, -1.0), "N": (1, 1.0), "S": (1, -1.0), "U": (2, 1.0), "D": (2, -1.0)}
_UNIT = 1e-6  # Tolerance for unit quaternions and for rotations.


class Convention(NamedTuple):
    """Axes of the body and of the world, by their directions."""

    body: str
    world: str


#: The convention of jounce: x forward, y left, z up. The standard does not fix the direction of x in the world; here it
#: is east. For a world whose x points north, use ``Convention("FLU", "NWU")``.
ISO_8855 = Convention("FLU", "ENU")
#: REP 103 and 105 (base_link in map or odom): the same axes; quaternions on the wire are x y z w.
ROS = Convention("FLU", "ENU")
#: REP 103, frames with the suffix _optical: z forward, x right, y down.
ROS_OPTICAL = Convention("RDF", "ENU")
#: Aerospace, and REP 103 with the suffix _ned.
AEROSPACE = Convention("FRD", "NED")
#: CARLA and Unreal, left-handed. Maps made from OpenDRIVE (x east, y north) have y reversed: x east, y south.
CARLA = Convention("FRU", "ESU")
#: Unreal uses centimetres, CARLA metres: multiply a position by this for Unreal.
UNREAL_PER_METRE = 100.0


def axes(of: str, to: str) -> Array:
    """(3, 3) matrix that maps components along the axes ``of`` to components along ``to``.

    Its determinant is -1 if the handedness changes. Raises ValueError if a name is not three directions of one kind, or
    if one is of a body and the other of the world.
    """
    one, other = _directions(of), _directions(to)
    if one[0] is not other[0]:
        raise ValueError(f"axes {of!r} and {to!r}: one is of a body, the other of the world")
    return other[1] @ one[1].T


def vector(values: ArrayLike, of: str, to: str) -> Array:
    """(..., 3) components along the axes ``to`` of a position, velocity, acceleration or force."""
    return _of_shape(values, 3) @ axes(of, to).T


def pseudovector(values: ArrayLike, of: str, to: str) -> Array:
    """(..., 3) components along the axes ``to`` of an angular velocity, angular acceleration or moment.

    A mirror reverses it: omega' = det(M) M omega (Goldstein, Classical Mechanics, 3rd ed., section 5.1).
    """
    m = axes(of, to)
    return _of_shape(values, 3) @ (_hand(m) * m).T


def rotation(values: ArrayLike, of: Convention, to: Convention) -> Array:
    """(..., 3, 3) body to world in the axes ``to``: R' = W R B^T. Raises ValueError as `quaternion` does."""
    world, body = _changes(of, to)
    return world @ proper(values) @ body.T


def quaternion(values: ArrayLike, of: Convention, to: Convention) -> Array:
    """(..., 4) w first, body to world in the axes ``to``.

    The result is a product with constant quaternions, so a continuous motion stays continuous. Converting there and
    back may give -q, which is the same rotation. A mirror M of both body and world is the rotation -M of both, since -1
    commutes with R. Raises ValueError if only one of body and world changes handedness, or if ``values`` are not unit
    quaternions.
    """
    world, body = (quaternion_of(_hand(m) * m) for m in _changes(of, to))
    return product(product(world, unit(values)), conjugate(body))


# ---------------------------------------------------------------------------------------------- quaternions


def unit(q: ArrayLike) -> Array:
    """(..., 4) quaternions, normalized. Raises ValueError unless their length is within 1e-6 of 1."""
    q = _of_shape(q, 4)
    length = np.linalg.norm(q, axis=-1, keepdims=True)
    off = ~(np.abs(length - 1.0) <= _UNIT)
    if off.any():
        raise ValueError(f"quaternion of length {float(length[off][0])!r}: expected 1")
    return np.asarray(q / length)


def wxyz(xyzw: ArrayLike) -> Array:
    """(..., 4) w first, from x y z w as in ROS, Unreal, Eigen's memory layout and SciPy."""
    return np.roll(_of_shape(xyzw, 4), 1, axis=-1)


def xyzw(wxyz: ArrayLike) -> Array:
    """(..., 4) w last, from w x y z."""
    return np.roll(_of_shape(wxyz, 4), -1, axis=-1)


def conjugate(q: ArrayLike) -> Array:
    """(..., 4) the inverse of a unit quaternion."""
    return np.asarray(_of_shape(q, 4) * (1.0, -1.0, -1.0, -1.0))


def product(p: ArrayLike, q: ArrayLike) -> Array:
    """(..., 4) Hamilton product p q: the rotation q followed by p."""
    p, q = _of_shape(p, 4), _of_shape(q, 4)
    pw, pv, qw, qv = p[..., :1], p[..., 1:], q[..., :1], q[..., 1:]
    w = pw * qw - np.sum(pv * qv, axis=-1, keepdims=True)
    return np.concatenate([w, pw * qv + qw * pv + np.cross(pv, qv)], axis=-1)


def rotated(q: ArrayLike, v: ArrayLike) -> Array:
    """(..., 3) q v q*: world components of the vectors with body components v."""
    v = _of_shape(v, 3)
    q = unit(q)
    return product(product(q, np.concatenate([np.zeros_like(v[..., :1]), v], axis=-1)), conjugate(q))[..., 1:]


def rotation_of(q: ArrayLike) -> Array:
    """(..., 3, 3) rotations of quaternions (..., 4): R v = q v q*. The columns are the body's axes."""
    q = unit(q)
    return np.stack([rotated(q, e) for e in np.eye(3)], axis=-1)


def quaternion_of(r: ArrayLike) -> Array:
    """(..., 4) quaternions of rotations (..., 3, 3), with w >= 0. Raises ValueError as `proper` does.

    Of four equivalent formulas it uses the one that divides by the largest component (Shepperd, Quaternion from
    rotation matrix, J. Guidance and Control 1 (1978) 223-224).
    """
    r = proper(r)
    d = np.einsum("...ii->...i", r)
    trace = d.sum(axis=-1, keepdims=True)
    squares = 1.0 + np.concatenate([trace, 2.0 * d - trace], axis=-1)  # 4 w^2, 4 x^2, 4 y^2, 4 z^2
    x, y, z = (r[..., k, j] - r[..., j, k] for j, k in ((1, 2), (2, 0), (0, 1)))  # 4 w x, 4 w y, 4 w z
    u, v, w = (r[..., k, j] + r[..., j, k] for j, k in ((1, 2), (2, 0), (0, 1)))  # 4 y z, 4 z x, 4 x y
    s = np.moveaxis(squares, -1, 0)
    rows = np.stack([np.stack(row, axis=-1) for row in
                     ([s[0], x, y, z], [x, s[1], w, v], [y, w, s[2], u], [z, v, u, s[3]])], axis=-2)  # 4 q q^T
    best = np.argmax(squares, axis=-1)[..., None, None]
    q = np.take_along_axis(rows, best, axis=-2)[..., 0, :]
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    return np.asarray(np.where(q[..., :1] < 0.0, -q, q))


def proper(r: ArrayLike) -> Array:
    """(..., 3, 3) the rotations, unchanged. Raises ValueError unless R R^T = 1 within 1e-6 and det R > 0."""
    r = _of_shape(r, 3, 3)
    off = np.abs(r @ np.swapaxes(r, -1, -2) - np.eye(3))
    if not (np.all(off <= _UNIT) and np.all(np.linalg.det(r) > 0.0)):
        raise ValueError("not a rotation: expected R R^T = 1 and det R = 1")
    return r


# ---------------------------------------------------------------------------------------------- Euler angles


def rotation_zyx(angles: ArrayLike) -> Array:
    """(..., 3, 3) rotations of yaw, pitch, roll [rad]: R = Rz(yaw) Ry(pitch) Rx(roll), in the order of ISO 8855.

    This equals REP 103's rotations about the fixed axes x, y, z by roll, pitch, yaw. In ``FLU`` positive yaw is to the
    left, positive pitch nose down, positive roll right side down; in ``FRD`` to the right, nose up, right side down.
    """
    (cy, cp, cr), (sy, sp, sr) = (np.moveaxis(f(_of_shape(angles, 3)), -1, 0) for f in (np.cos, np.sin))
    rows = ([cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr])
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def zyx(r: ArrayLike) -> Array:
    """(..., 3) yaw, pitch, roll [rad] of rotations (..., 3, 3); the inverse of `rotation_zyx`.

    Pitch is between -pi/2 and pi/2. If x points straight up or down, only the sum or difference of yaw and roll is
    defined, and roll is 0.
    """
    r = proper(r)
    level = np.hypot(r[..., 0, 0], r[..., 1, 0])  # cosine of pitch
    upright = level < 1e-12
    yaw = np.where(upright, np.arctan2(-r[..., 0, 1], r[..., 1, 1]), np.arctan2(r[..., 1, 0], r[..., 0, 0]))
    roll = np.where(upright, 0.0, np.arctan2(r[..., 2, 1], r[..., 2, 2]))
    return np.stack([yaw, np.arctan2(-r[..., 2, 0], level), roll], axis=-1)


def rotation_of_rotator(degrees: ArrayLike) -> Array:
    """(..., 3, 3) rotations in the axes of `CARLA`, of pitch, yaw, roll [deg] as in carla.Rotation and FRotator.

    Positive angles are nose up, to the right, right side down. Source: carla/geom/Transform.h, GetMatrix.
    """
    pitch, yaw, roll = np.moveaxis(np.radians(_of_shape(degrees, 3)), -1, 0)
    return rotation_zyx(np.stack([yaw, -pitch, -roll], axis=-1))


def rotator(r: ArrayLike) -> Array:
    """(..., 3) pitch, yaw, roll [deg] of rotations in the axes of `CARLA`; the inverse of `rotation_of_rotator`."""
    yaw, pitch, roll = np.moveaxis(np.degrees(zyx(r)), -1, 0)
    return np.stack([-pitch, yaw, -roll], axis=-1)


# ---------------------------------------------------------------------------------------------- checks


def _directions(name: str) -> tuple[dict[str, tuple[int, float]], Array]:
    """(table of the kind: body or world, (3, 3) axes as rows in components along FLU or ENU)."""
    for kind in (_BODY, _WORLD):
        found = [kind[letter] for letter in name if letter in kind]
        if len(name) == len(found) == len({place for place, _ in found}) == 3:
            return kind, np.array([sign * np.eye(3)[place] for place, sign in found])
    raise ValueError(f"axes {name!r}: expected three letters, one of each pair, of F B, L R, U D (a body) or of "
                     "E W, N S, U D (the world)")


def _changes(of: Convention, to: Convention) -> tuple[Array, Array]:
    """(world, body): the matrices of `axes`. Raises ValueError if only one of them changes handedness."""
    world, body = axes(of.world, to.world), axes(of.body, to.body)
    if _hand(world) != _hand(body):
        raise ValueError(f"from {of} to {to}: expected that both body and world change handedness, or neither")
    return world, body


def _hand(m: Array) -> float:
    """1 if the axes keep their handedness, otherwise -1."""
    return float(np.sign(np.linalg.det(m)))


def _of_shape(values: ArrayLike, *shape: int) -> Array:
    array = np.asarray(values, dtype=np.float64)
    if array.shape[-len(shape):] != shape:
        raise ValueError(f"array of shape {array.shape}: expected (..., {', '.join(map(str, shape))})")
    return array
