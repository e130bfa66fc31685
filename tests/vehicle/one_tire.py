"""One TMeasy tire of the HMMWV, evaluated wherever a test puts it."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.contact.tires import TMEASY
from jounce.contact.tires.law import Hub, Plane
from jounce.contact.tires.tmeasy import STATES, tmeasy
from jounce.data import load_vehicle

Array = NDArray[np.float64]
VEHICLE = load_vehicle("hmmwv")
PAR = {name: VEHICLE[f"tire.{name}"] for name in TMEASY.parameters}
RADIUS, PN, CZ = PAR["unloaded_radius"], PAR["nominal_load"], PAR["vertical_stiffness"]
K = PAR["tread_stiffness"]
LOAD = CZ * (RADIUS - 0.4499)
RESISTING = PAR["rolling_resistance"] * PN * RADIUS**2 / PAR["rolling_deflection"]  # N.m/rad


def bore_radius(load: float) -> float:
    """2/3 (L/2 + B/2) / 2 of Rill's round contact, L = 2 sqrt(R deflection) [m]."""
    return 2 / 3 * (np.sqrt(RADIUS * load / CZ) + PAR["width"] / 2) / 2


TWIST = PAR["nominal_friction"] * PN * bore_radius(PN) / PAR["bore_deflection"]  # N.m/rad
OUTPUTS = (
    "force", "moment", "rate", "contact_force", "contact_moment", "slip", "slip_angle", "deflection",
    "contact_point", "stored_energy",
)  # fmt: skip


def _build() -> ca.Function:
    position, velocity, axis, point, normal, turning = (ca.SX.sym(s, 3) for s in ("r", "v", "e", "p", "n", "w"))
    friction, state, plain = ca.SX.sym("mu"), ca.SX.sym("z", STATES.size), ca.SX.sym("c")
    out = tmeasy(Hub(position, velocity, axis, turning), Plane(point, normal, friction), state,
                 {**PAR, "combined_slip": plain})  # fmt: skip
    inputs = [position, velocity, axis, turning, point, normal, friction, state, plain]
    return ca.Function("tire", inputs, [getattr(out, name) for name in OUTPUTS])


TIRE = _build()
ROLLING = {"travelled": 0.5}
"""State of a wheel that rolls forward: beyond its limit."""


def tire(
    position: object = (0.0, 0.0, 0.4499),
    velocity: object = (0.0, 0.0, 0.0),
    spin: float = 0.0,
    state: dict[str, object] | None = None,
    *,
    axis: object = (0.0, 1.0, 0.0),
    turning: object = (0.0, 0.0, 0.0),
    point: object = (0.0, 0.0, 0.0),
    normal: object = (0.0, 0.0, 1.0),
    mu: float = 0.9,
    plain: bool = False,
) -> dict[str, Array]:
    """Outputs for a wheel that turns by `turning` and by `spin` about its axis."""
    z = np.zeros(STATES.size)
    for name, value in (state or {}).items():
        z[STATES.first[name] : STATES.first[name] + STATES.sizes[name]] = value
    omega = np.asarray(turning) + spin * np.asarray(axis)
    values = TIRE(*(np.asarray(v, float) for v in (position, velocity, axis, omega, point, normal, mu, z, 1.0 + plain)))
    return {name: np.asarray(value).ravel() for name, value in zip(OUTPUTS, values, strict=True)}


def bristle_rate(out: dict[str, Array]) -> Array:
    return out["rate"][:2]


def settled(velocity: tuple[float, float, float], seconds: float, mu: float, **given: Any) -> dict[str, Array]:
    """The contact of a wheel that goes on moving so, from no stretch, by explicit Euler at 0.1 ms."""
    z = np.zeros(STATES.size)
    for _ in range(round(seconds / 1e-4)):
        parts = {name: z[k : k + STATES.sizes[name]] for name, k in STATES.first.items()}
        out = tire(velocity=velocity, state=parts, mu=mu, **given)
        z = z + 1e-4 * out["rate"]
    return out
