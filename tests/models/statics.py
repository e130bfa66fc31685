"""What a side force does to a rigid axle."""

from __future__ import annotations

from dataclasses import replace

from flight import FREE

from jounce.data import load_vehicle
from jounce_fmu.importer.host import open_builtin
from jounce_fmu.importer.linear import Exchange


def roll_centre(name: str, axle: str) -> float:
    """Height over the chassis origin [m] at which a side force over the wheels' centres does not turn the rigid axle.

    The chassis is made so heavy that it stays where it is; the tires are outside the model.
    """
    vehicle, factory = load_vehicle(name), open_builtin(name)
    left, right = vehicle.wheels[2 * [a.name for a in vehicle.axles].index(axle) :][:2]
    heavy = {"chassis.mass": 1e12, **{f"chassis.inertia.{a}": 1e12 for a in ("xx", "yy", "zz")}}
    row = [s.name for s in factory.table.states].index(f"state.wheel_{right}.arm_rate")

    def roll(height: float, force: float) -> float:
        with replace(factory, kind=Exchange).instance("side") as instance:
            instance.setup(FREE | {"init.z": 10.0} | heavy)
            point = (vehicle[f"{axle}.origin.x"], 0.0, 10.0 + height)
            instance.set_values({f"wheel_{w}.point.{a}": v for w in (left, right)
                                 for a, v in zip("xyz", point, strict=True)})  # fmt: skip
            instance.set_values({f"wheel_{left}.force.y": force})
            return float(instance.get_rates()[row])

    low, high = (roll(z, 1000.0) - roll(z, 0.0) for z in (-0.4, 0.4))
    assert low * high < 0.0
    return -0.4 + 0.8 * low / (low - high)
