"""Vehicles at rest, and the model's outputs by name."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from jounce.data import Vehicle
from jounce_fmu.importer.host import Factory
from jounce_tools.vehicle.rest import Standing, standing


def named(factory: Factory, y: NDArray[np.float64]) -> dict[str, float]:
    """Outputs by name."""
    return dict(zip((s.name for s in factory.table.outputs), y, strict=True))


def rested(factory: Factory, vehicle: Vehicle, heave: float) -> tuple[Standing, dict[str, float], dict[str, float]]:
    """What `jounce vehicle check` says, and the outputs at the start and after 0.3 s.

    The tires carry the weight, and the height stays within ``heave`` [m].
    """
    stands = standing(vehicle)
    with factory.instance("rest") as instance:
        instance.setup()
        y = named(factory, instance.get_outputs())
        instance.step(300)
        later = named(factory, instance.get_outputs())
    assert sum(y[f"wheel_{w}.tire_force.z"] for w in vehicle.wheels) == pytest.approx(9.81 * stands.mass, rel=1e-9)
    assert later["ref_frame.pos.z"] == pytest.approx(y["ref_frame.pos.z"], abs=heave)
    return stands, y, later
