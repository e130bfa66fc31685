"""The linear model of `jounce linearize`, as a judge of manoeuvres with small lateral accelerations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jounce_fmu.importer.linear import Linear, linearize
from jounce_tools.linearize import settle
from jounce_tools.manoeuvres.bench import PERIOD, Bench, Car
from jounce_tools.manoeuvres.found import Array

#: Time in which the vehicle settles at its speed [s].
_SETTLES = 25.0
_STEERING = "steering_wheel_angle"


def at(bench: Bench, speed: float, steering: float = 0.0) -> Linear | None:
    """The linear model at that speed [m/s] and steering-wheel angle [rad]; None on a server, which has none."""
    factory: Any = getattr(bench.place, "factory", None)
    if factory is None:
        return None
    bench.told(f"linear model at {speed * 3.6:.0f} km/h")
    x, u = settle(factory, bench.parameters, {_STEERING: steering}, speed=speed, time=_SETTLES)
    return linearize(factory, bench.parameters, x, u)


def understeer(model: Linear, car: Car, speed: float) -> float:
    """Understeer gradient [rad per m/s2] from the steady yaw-rate gain G: K = 1 / (G i v) - L / v^2.

    Source: Rajamani, Vehicle Dynamics and Control (2012), section 3.3: steady state of the bicycle model.
    """
    return 1.0 / (turning_gain(model) * car.ratio * speed) - car.wheelbase / speed**2


def turning_gain(model: Linear) -> float:
    """Change of the steady yaw rate with the steering-wheel angle at constant speed [1/s], about straight or a turn.

    In a steady turn position, heading and spin angles go on, and all other states stand still in axes that turn with
    the heading. So the states' rates other than those, and the rates of roll and pitch, must stay 0:

        roll'  = p + (q sin(roll) + r cos(roll)) tan(pitch),   pitch' = q cos(roll) - r sin(roll),
        yaw'   = (q sin(roll) + r cos(roll)) / cos(pitch),

    with the angular velocity (p, q, r) in chassis axes, while equal drive torques hold the speed. These conditions are
    linear in the changes of the states, roll, pitch and torque. Source of the kinematics: ISO 8855 angles; Stevens,
    Lewis and Johnson, Aircraft Control and Simulation (2016), Eq. 1.4-4; trim as in their section 3.6.
    """
    names = list(model.states)
    turned = [names.index(f"state.rot.e{k}") for k in range(4)]
    moving = {"state.pos.x", "state.pos.y", *(names[i] for i in turned)}
    kept = [i for i, n in enumerate(names) if n not in moving and not n.endswith((".spin", ".travelled"))]
    rates = [names.index(f"state.ang_vel.{a}") for a in "xyz"]
    _, q, r = model.x[rates]
    yaw, pitch, roll = _angles(model.x[turned])
    h = 1e-6
    by_angles = np.column_stack([
        (_quaternion(yaw, pitch, roll + h) - _quaternion(yaw, pitch, roll - h)) / (2.0 * h),
        (_quaternion(yaw, pitch + h, roll) - _quaternion(yaw, pitch - h, roll)) / (2.0 * h)])  # fmt: skip
    drive = [k for k, n in enumerate(model.inputs) if n.endswith(".drive_torque")]
    n, spot, speed = len(kept), [kept.index(i) for i in rates], model.outputs.index("speed")
    conditions, right = np.zeros((n + 3, n + 3)), np.zeros(n + 3)
    conditions[:n, :n] = model.A[np.ix_(kept, kept)]
    conditions[:n, n : n + 2] = model.A[np.ix_(kept, turned)] @ by_angles
    conditions[:n, n + 2] = model.B[np.ix_(kept, drive)].sum(axis=1)
    right[:n] = -model.B[kept, model.inputs.index(_STEERING)]
    c, s, t = np.cos(roll), np.sin(roll), np.tan(pitch)
    conditions[n, spot] = 1.0, s * t, c * t
    conditions[n, n : n + 2] = (q * c - r * s) * t, (q * s + r * c) / np.cos(pitch) ** 2
    conditions[n + 1, spot] = 0.0, c, -s
    conditions[n + 1, n] = -q * s - r * c
    conditions[n + 2, :n] = model.C[speed, kept]
    conditions[n + 2, n : n + 2] = model.C[speed, turned] @ by_angles
    found = np.linalg.lstsq(conditions, right, rcond=1e-13)[0]
    _, dq, dr = found[spot]
    change = (s * dq + c * dr + (q * c - r * s) * found[n]) / np.cos(pitch)
    return float(change + t * (q * s + r * c) / np.cos(pitch) * found[n + 1])


def _angles(q: Array) -> tuple[float, float, float]:
    """(yaw, pitch, roll) of a quaternion w x y z [rad]."""
    w, x, y, z = (q / np.linalg.norm(q)).tolist()
    return (float(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))), float(np.arcsin(2 * (w * y - z * x))),
            float(np.arctan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))))  # fmt: skip


def _quaternion(yaw: float, pitch: float, roll: float) -> Array:
    """The quaternion w x y z of these angles [rad]."""
    (cy, sy), (cp, sp), (cr, sr) = ((np.cos(a / 2), np.sin(a / 2)) for a in (yaw, pitch, roll))
    return np.array([cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy,
                     cr * sp * cy + sr * cp * sy, cr * cp * sy - sr * sp * cy])  # fmt: skip


def gain(model: Linear, frequency: float, output: str) -> complex:
    """Frequency response to the steering wheel at ``frequency`` [Hz]."""
    return model.response(frequency, _STEERING, output)


def step_response(model: Linear, steering: Array, output: str) -> Array:
    """The output, less its value at rest, for steering held over each period; exact at the samples.

    The exponential of [[A, B], [0, 0]] is by scaling and squaring of its series (Moler and Van Loan 2003, method 3).
    """
    n, k, i = len(model.x), model.inputs.index(_STEERING), model.outputs.index(output)
    block = np.zeros((n + 1, n + 1))
    block[:n, :n], block[:n, n] = model.A, model.B[:, k]
    size = float(np.abs(block * PERIOD).sum(axis=0).max())
    scale = max(0, math.ceil(math.log2(max(size, 1e-300))) + 6)
    small, term, exponential = block * (PERIOD / 2**scale), np.eye(n + 1), np.eye(n + 1)
    for order in range(1, 9):
        term = term @ small / order
        exponential = exponential + term
    for _ in range(scale):
        exponential = exponential @ exponential
    x, y = np.zeros(n), np.zeros(len(steering))
    for row, u in enumerate(steering):
        # what the log has: the outputs before the command that is logged with them
        y[row] = model.C[i] @ x + model.D[i, k] * (steering[row - 1] if row else 0.0)
        x = exponential[:n, :n] @ x + exponential[:n, n] * u
    return y
