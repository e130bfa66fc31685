"""Start states for wheels that already roll in their ruts, so that a vehicle on soil does not drop at the start.

``equilibrium`` computes the sinkage at which soil carries a load at a speed, and the torque against the rolling
resistance. ``roll_in`` sets the soil's state as if the wheels had rolled before.
"""

from __future__ import annotations

import numpy as np

from jounce.contact.soil import Array, ContactWrench, Soil, SoilContact, WheelGeometry, WheelMotion

#: Number of steps over one wheel diameter, after which all cells under a wheel are new.
_STEPS = 100
#: Speed [m/s] below which the wheel only presses on the soil.
_AT_REST = 0.01
_ITERATIONS = 40
#: Largest step of the slip [1], and the tolerance of the forces relative to the load [1].
_STEP, _TOLERANCE = 0.05, 1e-6
#: Steps of the difference quotients: sinkage [m], slip [1].
_DZ, _DS = 1e-6, 1e-5


def roll_in(contact: SoilContact, motion: WheelMotion) -> ContactWrench:
    """Rolls the wheels to ``motion`` along a straight line of one diameter, at that height and velocity.

    Their spin on the way is that of free rolling, without longitudinal force. Returns the wrench at the end.
    """
    slip = np.zeros(len(motion.omega))
    for _ in range(_ITERATIONS if _rolls(motion) else 0):
        force, more = (_forward(_stretch(_like(contact), motion, s), motion) for s in (slip, slip + _DS))
        step = np.where(more > force, force * _DS / np.where(more > force, more - force, 1.0), 0.0)
        slip = slip - np.clip(step, -_STEP, _STEP)
        if np.abs(step).max() < _TOLERANCE:
            break
    return _stretch(contact, motion, slip)


def equilibrium(soil: Soil, loads: Array, speed: float, wheel: WheelGeometry | None = None) -> tuple[Array, Array]:
    """Sinkage (n,) [m] and drive torque (n,) [N.m] of wheels that carry ``loads`` (n,) [N] at ``speed`` [m/s], level.

    It uses Newton's method for load and forward force as functions of sinkage and slip. Raises ValueError if the soil
    does not carry a load.
    """
    n, wheel = len(loads), wheel or WheelGeometry()
    loads = np.maximum(loads, 1.0)  # A wheel without load touches the ground.

    def rolled(z: Array, s: Array) -> tuple[ContactWrench, WheelMotion]:
        position = np.zeros((n, 3))
        position[:, 2] = wheel.radius - z
        velocity, axis = (np.tile(v, (n, 1)) for v in ([speed, 0.0, 0.0], [0.0, 1.0, 0.0]))
        motion = WheelMotion(position, velocity, axis, np.zeros(n))
        return _stretch(SoilContact(soil, wheel, wheels=n), motion, s), motion

    def forces(z: Array, s: Array) -> Array:
        wrench, motion = rolled(z, s)
        return np.stack([wrench.load - loads, _forward(wrench, motion)])

    refusal = ValueError(f"{soil.name} does not carry wheels with {loads} N at {speed} m/s")
    z, s = np.full(n, 0.02), np.zeros(n)
    now = forces(z, s)
    for _ in range(_ITERATIONS):
        if np.abs(now).max() < _TOLERANCE * np.max(loads, initial=1.0):
            break
        by_z = (forces(z + _DZ, s) - now) / _DZ
        if speed > _AT_REST:
            by_s = (forces(z, s + _DS) - now) / _DS
            determinant = by_z[0] * by_s[1] - by_s[0] * by_z[1]
            z_step = (now[0] * by_s[1] - by_s[0] * now[1]) / determinant
            s = s - np.clip((by_z[0] * now[1] - now[0] * by_z[1]) / determinant, -_STEP, _STEP)
        else:
            z_step = now[0] / by_z[0]
        z = np.clip(z - z_step, 0.2 * z, 3.0 * z)
        if z.max() > 0.5 * wheel.radius:
            raise refusal
        now = forces(z, s)
    else:
        raise refusal
    # Without a forward force, the moment about the contact point equals that about the axle.
    return z, -rolled(z, s)[0].moment[:, 1]


def _rolls(motion: WheelMotion) -> bool:
    return float(np.abs(motion.velocity[:, :2]).max()) > _AT_REST


def _like(contact: SoilContact) -> SoilContact:
    return SoilContact(contact.soil, contact.wheel, wheels=contact.wheels, ground=contact.ground)


def _heading(motion: WheelMotion) -> Array:
    heading = np.stack([motion.axis[:, 1], -motion.axis[:, 0]], axis=1)
    unit: Array = heading / np.linalg.norm(heading, axis=1, keepdims=True)
    return unit


def _stretch(contact: SoilContact, motion: WheelMotion, slip: Array) -> ContactWrench:
    """The wrench after one diameter at ``slip`` (n,), as r omega / v - 1."""
    level = motion.velocity * [1.0, 1.0, 0.0]
    forward = np.einsum("ij,ij->i", level[:, :2], _heading(motion))
    steady = WheelMotion(motion.position, level, motion.axis, forward * (1.0 + slip) / contact.wheel.radius)
    if not _rolls(motion):
        return contact.advance(steady, 1.0)
    time = 2.0 * contact.wheel.radius / float(np.abs(forward).max())
    for _ in range(_STEPS):
        wrench = contact.advance(steady, time / _STEPS)
    return wrench


def _forward(wrench: ContactWrench, motion: WheelMotion) -> Array:
    force: Array = np.einsum("ij,ij->i", wrench.force[:, :2], _heading(motion))
    return force
