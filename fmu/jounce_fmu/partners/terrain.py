"""The terrain as an FMU: Bekker-Wong contact of four rigid wheels with soft soil."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from jounce.axles import WHEELS
from jounce.contact.soil import GIVES, SOILS, TAKES, SoilContact, WheelGeometry, motion_of
from jounce.data import load_vehicle
from jounce.models.double_wishbone.signals import table
from jounce.signals import Signal, SignalTable
from jounce_fmu.partners.slave import Array, Partner, PartnerError, turned

#: Longest step [s]; with longer ones the contact is unstable with any vehicle.
_LONGEST = 0.01
_SOILS = tuple(sorted(SOILS))


def _signals() -> Iterator[Signal]:
    vehicle = table(load_vehicle("hmmwv"))
    for signal in turned(vehicle, "input", TAKES):
        yield replace(signal, start=(1.0, 0.0, 0.0, 0.0)) if signal.name.endswith(".rot") else signal
    yield from turned(vehicle, "output", GIVES)
    for w in WHEELS:
        yield Signal(f"wheel_{w}.sinkage", "output", "m", "depth of the wheel's lowest point in the soil")
        yield Signal(f"wheel_{w}.load", "output", "N", "vertical force of the soil", nominal=1e4)
        yield Signal(f"wheel_{w}.soil_slip", "output", "1", "longitudinal slip, driving positive")

    def par(name: str, start: float, text: str, low: float, high: float) -> Signal:
        return Signal(name, "parameter", "m", text, start=(start,), minimum=low, maximum=high, variability="fixed")

    wheel = WheelGeometry()
    yield Signal("soil", "parameter", "1", "which published soil", start=(_SOILS.index("sandy_loam") + 1.0,),
                 minimum=1.0, maximum=float(len(_SOILS)), type="Enumeration", variability="fixed", items=_SOILS)
    yield par("soil.height", 0.0, "height of the undisturbed, flat soil", -1e6, 1e6)
    yield par("soil.wheel_radius", wheel.radius, "radius of the rigid wheels", 0.05, 5.0)
    yield par("soil.wheel_width", wheel.width, "width of the rigid wheels", 0.01, 5.0)


class Terrain(Partner):
    """Computes contact wrenches from the motion of the wheels, with the law of `jounce.contact.soil`."""

    base = SignalTable("jounce_terrain", tuple(_signals()))

    def begin(self) -> None:
        """Starts with undisturbed soil."""
        soil = SOILS[_SOILS[int(self["soil"]) - 1]]
        geometry = WheelGeometry(self["soil.wheel_radius"], self["soil.wheel_width"])
        self._contact = SoilContact(soil, geometry, ground=self["soil.height"])

    def advance(self, time: float, h: float) -> Array:
        """Returns the wrenches for the present wheel motion, ``h`` [s] after the previous one."""
        if h > _LONGEST:
            raise PartnerError(f"a step of {h!r} s: expected up to {_LONGEST} s")
        values = self.inputs()
        rot = values.reshape(len(WHEELS), -1)[:, 3:7]
        if not np.all(np.linalg.norm(rot, axis=1) > 0.5):
            # Unconnected inputs are zeros, which is no orientation: there are no wheels and no forces.
            return np.zeros(len(self.table.outputs))
        before = self._contact.memory()
        wrench = self._contact.advance(motion_of(values), h)
        more = np.stack([wrench.sinkage, wrench.load, wrench.slip], axis=1).ravel()
        outputs = np.concatenate([wrench.packed(), more])
        if not np.isfinite(outputs).all():
            self._contact.recall(before)
        return outputs

    def memory(self) -> bytes:
        """Returns the state of all soil cells, packed."""
        return self._contact.memory()

    def recall(self, memory: bytes) -> None:
        """Restores a ``memory``; raises PartnerError."""
        self.begin()
        try:
            self._contact.recall(memory)
        except ValueError as error:
            raise PartnerError(str(error)) from error
