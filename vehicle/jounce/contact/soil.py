"""Rigid wheels on deformable soil: Bekker sinkage and Janosi-Hanamoto shear over the contact arc.

Every wheel has a strip of soil cells under it, fixed to the ground along the path of the wheel. A cell stores its
deepest sinkage and its elastic shear displacement. The contact arc is therefore symmetric at rest and one-sided when
rolling, without separate cases for slip, braking or standstill.

    normal pressure   p = (k_c / b + k_phi) z^n                    (loading, Bekker)
                      p = p(z_max) - k_u (z_max - z) >= 0           (unloading and reloading, elastic)
    shear stress      tau = (c + p tan phi) s / K,  ds/dt = v - |v| s / K

For monotone shearing over a displacement j the last line is exactly Janosi and Hanamoto's law
tau = tau_max (1 - exp(-j / K)). On reversal it unloads elastically with the initial modulus and stays passive (it is
Dahl's friction law), so a wheel at rest stays at rest and does not creep.

Wong and Reece follow a point of the rim from its entry; here a soil element is followed, since the state belongs to the
soil. The two agree at small slip. At slip i a soil element is in contact 1 / (1 - i) times longer than a rim point, so
thrust rises somewhat faster with slip (``wong_displacement``, ``soil_displacement``).

Not modelled: bulldozing in front of and beside the wheel, tread lugs, multi-pass (every wheel meets undisturbed soil),
and slopes. A cambered wheel is treated as a cylinder with the same track on the ground.

Sources: Bekker, Introduction to Terrain-Vehicle Systems (1969); Janosi and Hanamoto, 1st ISTVS conference,
Turin (1961); Wong and Reece, J. Terramechanics 4(1), 1967 (stress over the arc); Wong, Theory of Ground
Vehicles, chapter 2 (soil table; elastic unloading); Dahl, Aerospace Corporation TOR-158 (1968).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from jounce.axles import WHEELS

Array = npt.NDArray[np.float64]

_TABLE = "Wong, Theory of Ground Vehicles, table 2.3"


@dataclass(frozen=True)
class Soil:
    """One soil.

    ``n`` [1], ``k_c`` [N/m^(n+1)] and ``k_phi`` [N/m^(n+2)] are Bekker's; ``cohesion`` [Pa], ``friction`` [rad]
    and ``shear_modulus`` K [m] are Mohr-Coulomb's and Janosi's. ``unload`` k_u [Pa/m] and ``damping``
    [Pa.s/m, on the sinking speed] are assumptions that ``source`` does not cover.
    """

    name: str
    n: float
    k_c: float
    k_phi: float
    cohesion: float
    friction: float
    shear_modulus: float
    source: str
    unload: float = 2.0e7
    damping: float = 1.0e5

    def modulus(self, width: float) -> float:
        """Bekker's k = k_c / b + k_phi [Pa/m^n] for a contact of width b [m]."""
        return self.k_c / width + self.k_phi


#: Published soils. K is not in Wong's table: his text gives 10 to 25 mm for sand and about 6 mm for clay at
#: maximum compaction; the values here lie inside that range.
SOILS = {
    soil.name: soil
    for soil in (
        Soil("dry_sand", 1.1, 0.99e3, 1528.43e3, 1.04e3, math.radians(28.0), 0.025,
             f"{_TABLE}: dry sand (Land Locomotion Laboratory)"),
        Soil("sandy_loam", 0.7, 5.27e3, 1515.04e3, 1.72e3, math.radians(29.0), 0.025,
             f"{_TABLE}: sandy loam, 15 % moisture (Land Locomotion Laboratory)"),
        Soil("clayey_soil", 0.5, 13.19e3, 692.15e3, 4.14e3, math.radians(13.0), 0.010,
             f"{_TABLE}: clayey soil, 38 % moisture (Thailand)"),
    )
}


@dataclass(frozen=True)
class WheelGeometry:
    """A rigid cylindrical wheel: ``radius`` [m], ``width`` [m]."""

    radius: float = 0.47
    width: float = 0.3175


@dataclass(frozen=True)
class WheelMotion:
    """Motion of n wheels, in world axes.

    ``position`` (n, 3) of the wheel centre [m]; ``velocity`` (n, 3) [m/s]; ``axis`` (n, 3) unit spin axis,
    pointing left; ``omega`` (n,) spin [rad/s], forward positive.
    """

    position: Array
    velocity: Array
    axis: Array
    omega: Array


@dataclass(frozen=True)
class ContactWrench:
    """Forces of the soil on n wheels.

    ``force`` (n, 3) [N], ``moment`` (n, 3) [N.m] about ``point``, ``point`` (n, 3) [m], all in world axes;
    ``sinkage`` (n,) [m]; ``load`` (n,) vertical force [N]; ``slip`` (n,) longitudinal slip [1], driving
    positive, regularised near standstill.
    """

    force: Array
    moment: Array
    point: Array
    sinkage: Array
    load: Array
    slip: Array

    def packed(self) -> Array:
        """(9 n,) in the order of ``GIVES``: force, moment, point per wheel."""
        return np.concatenate([self.force, self.moment, self.point], axis=1).ravel()


#: Signals of the vehicle that the soil uses, for `motion_of`, and that it sets, for `ContactWrench.packed`.
TAKES = [f"wheel_{w}.{what}" for w in WHEELS for what in ("pos", "rot", "lin_vel", "omega")]
GIVES = [f"wheel_{w}.{what}" for w in WHEELS for what in ("force", "moment", "point")]

#: Shear damping time at standstill [s]. It and the damping of rocking in the rut fade out over a speed [m/s], because
#: rolling itself dissipates. Both are numerical aids, not soil data.
_SHEAR_DAMPING_TIME = 0.005
_CREEP_SPEED = 0.1
#: Damping of rocking back and forth in the wheel's own rut, as a multiple of the soil's damping.
_ROCKING = 10.0
#: Speed [m/s] below which the reported slip is regularised.
_SLIP_SPEED = 0.5


class SoilContact:
    """Contact of ``wheels`` wheels with flat soil at height ``ground`` [m], with the state of the soil cells."""

    def __init__(self, soil: Soil, wheel: WheelGeometry | None = None, *, wheels: int = 4, ground: float = 0.0,
                 cell: float = 0.005) -> None:
        """``cell`` [m] is the length of a soil cell along the path."""
        self.soil = soil
        self.wheel = wheel or WheelGeometry()
        self.ground = ground
        self.wheels = wheels
        self._dx = cell
        self._half = int(0.95 * self.wheel.radius / cell)
        cells = 2 * self._half + 1
        self._slot = np.arange(cells)
        self._travel = np.zeros(wheels)
        self._key = np.full((wheels, cells), np.iinfo(np.int64).min)
        self._deepest = np.zeros((wheels, cells))
        self._shear_x = np.zeros((wheels, cells))
        self._shear_y = np.zeros((wheels, cells))

    @property
    def _memory(self) -> tuple[npt.NDArray[np.generic], ...]:
        return self._travel, self._key, self._deepest, self._shear_x, self._shear_y

    def memory(self) -> bytes:
        """The state of all soil cells, as bytes."""
        return b"".join(array.tobytes() for array in self._memory)

    def recall(self, memory: bytes) -> None:
        """Restores a ``memory``; raises ValueError, with nothing changed, for that of another number of cells."""
        size = sum(array.nbytes for array in self._memory)
        if len(memory) != size:
            raise ValueError(f"soil memory of {len(memory)} bytes: expected {size}")
        for array in self._memory:
            array[...] = np.frombuffer(memory, array.dtype, array.size).reshape(array.shape)
            memory = memory[array.nbytes:]

    def advance(self, motion: WheelMotion, dt: float) -> ContactWrench:
        """Advances the soil to ``motion``, ``dt`` [s] after the last call, and returns the wrench.

        Source: module docstring; the resultants are Wong and Reece (1967) with r cos(theta) d(theta) = dx.
        """
        r, b = self.wheel.radius, self.wheel.width
        heading, side = _contact_axes(motion.axis)
        v_x = np.einsum("ij,ij->i", motion.velocity, heading)
        v_y = np.einsum("ij,ij->i", motion.velocity, side)
        v_z = motion.velocity[:, 2]
        upright = np.sqrt(np.maximum(0.0, 1.0 - motion.axis[:, 2] ** 2))
        sinkage = r * upright - (motion.position[:, 2] - self.ground)

        x = self._move_cells(v_x * dt)
        depth_below_centre = np.sqrt(r * r - x * x)  # r cos(theta)
        tangent = x / depth_below_centre  # tan(theta)
        cosine = depth_below_centre / r
        z = depth_below_centre - r + sinkage[:, None]

        fade = (1.0 / (1.0 + (v_x**2 + v_y**2) / _CREEP_SPEED**2))[:, None]
        p = self._pressure(z, -v_z[:, None], _ROCKING * fade * v_x[:, None] * tangent)
        slip_x = (v_x[:, None] + v_z[:, None] * tangent) * cosine - (r * motion.omega)[:, None]
        slip_y = np.broadcast_to(v_y[:, None], slip_x.shape)
        z_rate = v_x[:, None] * tangent - v_z[:, None]
        tau_x, tau_y = self._shear(p, slip_x, slip_y, dt * _contact_fraction(z, z_rate, dt),
                                   _SHEAR_DAMPING_TIME * fade)

        # Per cell, in axes heading, side, up, over the area b dx of its projection on the ground.
        area = b * self._dx
        f_x = area * (tau_x - p * tangent)
        f_y = area * tau_y / cosine
        f_z = area * (p + tau_x * tangent)
        force_c = np.stack([f_x.sum(1), f_y.sum(1), f_z.sum(1)], axis=1)
        moment_c = np.stack([(depth_below_centre * f_y).sum(1),
                             -(r * area * tau_x / cosine).sum(1),
                             (x * f_y).sum(1)], axis=1)
        up = np.array([0.0, 0.0, 1.0])
        axes = np.stack([heading, side, np.broadcast_to(up, heading.shape)], axis=1)
        force = np.einsum("ij,ijk->ik", force_c, axes)
        arm = -r * up
        moment = np.einsum("ij,ijk->ik", moment_c, axes) - np.cross(arm, force)
        slip = (r * motion.omega - v_x) / np.maximum(np.maximum(np.abs(v_x), np.abs(r * motion.omega)), _SLIP_SPEED)
        return ContactWrench(force, moment, motion.position + arm, np.maximum(sinkage, 0.0), force[:, 2], slip)

    def _move_cells(self, step: Array) -> Array:
        """Shifts the strips by ``step`` (n,) [m]; returns the cells' x ahead of the wheel centre (n, cells) [m]."""
        self._travel += step
        cells = self._slot.size
        first = np.floor(self._travel / self._dx).astype(np.int64)[:, None] - self._half
        key = first + (self._slot - first) % cells
        fresh = key != self._key
        self._key = key
        for state in (self._deepest, self._shear_x, self._shear_y):
            state[fresh] = 0.0
        x: Array = (key + 0.5) * self._dx - self._travel[:, None]
        return x

    def _pressure(self, z: Array, rate: Array, rocking: Array) -> Array:
        """Normal pressure [Pa] of every cell at sinkage ``z`` [m]; stores the deepest sinkage.

        ``rate`` [m/s] is the vertical speed of sinking; ``rocking`` [m/s] damps cells that were loaded deeper.
        """
        rate = rate + np.where(z < self._deepest, rocking, 0.0)
        np.maximum(self._deepest, z, out=self._deepest)
        virgin = self.soil.modulus(self.wheel.width) * self._deepest ** self.soil.n
        static = virgin - self.soil.unload * (self._deepest - z)
        p: Array = np.where(static > 0.0, np.maximum(static + self.soil.damping * rate, 0.0), 0.0)
        return p

    def _shear(self, p: Array, slip_x: Array, slip_y: Array, time: Array, lead: Array) -> tuple[Array, Array]:
        """Shear stress on the wheel [Pa] along and across, after ``time`` [s] of slipping; ``lead`` [s] damps."""
        k = self.soil.shear_modulus
        rate = np.hypot(slip_x, slip_y)
        inverse = 1.0 / np.maximum(rate, 1e-12)
        decay = np.exp(-rate * time / k)
        # Exact solution of ds/dt = v - |v| s / K over the interval, for constant v.
        gain = k * (1.0 - decay) * inverse
        touching = p > 0.0
        self._shear_x = np.where(touching, self._shear_x * decay + gain * slip_x, 0.0)
        self._shear_y = np.where(touching, self._shear_y * decay + gain * slip_y, 0.0)
        s_x = self._shear_x + lead * slip_x
        s_y = self._shear_y + lead * slip_y
        limit = np.where(touching, self.soil.cohesion + p * math.tan(self.soil.friction), 0.0)
        scale = -limit / np.maximum(k, np.hypot(s_x, s_y))
        return scale * s_x, scale * s_y


def motion_of(values: Array) -> WheelMotion:
    """Wheel motion from the values of ``TAKES`` (11 n,); the spin axis is the y axis of ``rot``, which has no spin."""
    rows = values.reshape(-1, 11)
    return WheelMotion(rows[:, 0:3], rows[:, 7:10], _left_axis(rows[:, 3:7]), rows[:, 10])


def plate_sinkage(soil: Soil, load: float, length: float, width: float) -> float:
    """Sinkage [m] of a rectangular plate under ``load`` [N]: z = (W / (b l (k_c/b + k_phi)))^(1/n), Bekker."""
    return float((load / (length * width * soil.modulus(width))) ** (1.0 / soil.n))


def towed_wheel_sinkage(soil: Soil, load: float, wheel: WheelGeometry) -> float:
    """Sinkage [m] of a rolling rigid wheel, Bekker's closed form for small sinkage.

    z = (3 W / (b (3 - n) (k_c/b + k_phi) sqrt(D)))^(2 / (2n + 1)); Wong, Theory of Ground Vehicles, eq. 2.37.
    """
    denominator = wheel.width * (3.0 - soil.n) * soil.modulus(wheel.width) * math.sqrt(2.0 * wheel.radius)
    return float((3.0 * load / denominator) ** (2.0 / (2.0 * soil.n + 1.0)))


def wong_displacement(theta: Array, entry: float, slip: float, radius: float) -> Array:
    """Shear displacement [m] of a rim point, at ``theta`` [rad], entry angle ``entry``, slip i, radius r.

    j = r ((theta_1 - theta) - (1 - i)(sin theta_1 - sin theta)); Wong and Reece (1967), eq. 9.
    """
    j: Array = radius * ((entry - theta) - (1.0 - slip) * (np.sin(entry) - np.sin(theta)))
    return j


def soil_displacement(theta: Array, entry: float, slip: float, radius: float) -> Array:
    """Shear displacement [m] of a soil element, which the wheel passes in the time dx / v; see the module.

    The integral of the slip speed r omega - v cos(theta) over r cos(theta) d(theta) / v, v = (1 - i) r omega.
    """
    passed = np.sin(entry) - np.sin(theta)
    swept = 0.5 * (entry - theta + math.sin(entry) * math.cos(entry) - np.sin(theta) * np.cos(theta))
    j: Array = radius * (passed / (1.0 - slip) - swept)
    return j


def _contact_axes(axis: Array) -> tuple[Array, Array]:
    """Heading and left axis in the ground plane (n, 3) of wheels with spin axis ``axis`` (n, 3)."""
    heading = np.stack([axis[:, 1], -axis[:, 0], np.zeros(len(axis))], axis=1)
    heading /= np.linalg.norm(heading, axis=1, keepdims=True)
    side = np.stack([-heading[:, 1], heading[:, 0], np.zeros(len(axis))], axis=1)
    return heading, side


def _left_axis(quaternion: Array) -> Array:
    """Second column (n, 3) of the rotation matrix of quaternions (n, 4) w x y z."""
    w, x, y, z = quaternion.T
    return np.stack([2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)], axis=1)


def _contact_fraction(z: Array, z_rate: Array, dt: float) -> Array:
    """Fraction of the interval for which a cell at sinkage ``z``, sinking at ``z_rate``, has been touched."""
    entering = z_rate * dt
    fraction: Array = np.where(entering > z, z / np.maximum(entering, 1e-12), 1.0)
    return np.clip(fraction, 0.0, 1.0)
