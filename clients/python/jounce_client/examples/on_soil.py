"""Start inputs on soil at the equilibrium of sinkage and load, so that the vehicle does not drop at the start.

A session starts at the equilibrium of its own tires. This module sets the terrain height under each wheel so that the
soil carries the same load at the start speed, and the drive torques that overcome the rolling resistance there.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from jounce.axles import WHEELS
from jounce.contact.rolling import equilibrium
from jounce.contact.soil import Soil, WheelGeometry
from jounce_client import Client, ParameterValue

#: Parameters of a session in which a terramechanics program computes the contact forces from the first tick on.
PARAMETERS: Mapping[str, ParameterValue] = {"tire_source": "EXTERNAL", "terrain_source": "EXTERNAL"}


def start_on_soil(client: Client, model: str, parameters: Mapping[str, ParameterValue], soil: Soil,
                  speed: float) -> dict[str, float]:
    """Start inputs of a session of ``model`` with ``parameters`` and ``PARAMETERS`` at its equilibrium on ``soil``.

    Loads and heights are those of the vehicle's own start, read in a temporary session. Raises JounceError or
    ValueError.
    """
    wants = [f"wheel_{w}.{what}" for w in WHEELS for what in ("pos.z", "tire_force.z")]
    own = {**parameters, "tire_source": "TMEASY", "terrain_source": "PLANE", "terrain.height": 0.0}
    with client.create_session(model, own) as session:
        heights, loads = client.advance(session, 0, outputs=wants).values.reshape(len(WHEELS), 2).T
    wheel = WheelGeometry()
    sinkage, torque = equilibrium(soil, loads, speed, wheel)
    inputs = {f"wheel_{w}.terrain_height": wheel.radius - z - height
              for w, z, height in zip(WHEELS, sinkage, heights, strict=True)}
    return {**inputs, **{f"wheel_{w}.drive_torque": float(np.mean(torque)) for w in WHEELS}}
