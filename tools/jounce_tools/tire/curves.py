"""Steady forces of the tire of a file, as a vehicle on it has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.contact.tires import find
from jounce.contact.tires.from_tir import law_of, tire_entries
from jounce.contact.tires.magic_formula import AT, GIVES, steady
from jounce.contact.tires.tir import TireFile, read_tir
from jounce.contact.tires.vertical import load_at
from jounce.entries import Entry

Array = NDArray[np.float64]
SETTLED = 0.08
"""Deflection at nominal load over the radius, of a file that has no vertical law."""


class Tire:
    """The tire of a file."""

    def __init__(self, path: Path) -> None:
        """Raises TireFileError."""
        file = read_tir(path)
        self.carries = "VERTICAL_STIFFNESS" in file.values or "Q_FZ1" in file.values or bool(file.curve)
        """Whether it has a vertical law. A file of coefficients alone has forces, but carries no vehicle."""
        nominal = file.values["FNOMIN"] / (SETTLED * file.values["UNLOADED_RADIUS"])
        spring = {} if self.carries else {"VERTICAL_STIFFNESS": nominal}
        self.file: TireFile = replace(file, values={**file.values, **spring})
        self.entries: Mapping[str, Entry] = tire_entries(self.file)
        self.law = find(law_of(self.file))

    def __getitem__(self, name: str) -> float:
        """Value of `tire.NAME`."""
        return self.entries[f"tire.{name}"].value

    @cached_property
    def _steady(self) -> tuple[ca.Function, list[float]]:
        numbers = [self[name] for name in self.law.parameters]
        return steady(self.law), [*numbers, *(1.0 for _ in self.law.sided)]  # the side of the file as it stands

    @property
    def point(self) -> dict[str, float]:
        """Where it is evaluated unless told otherwise: nominal load, pressure of the file, speed of the measurement."""
        return dict.fromkeys(AT.sizes, 0.0) | {"load": self["FNOMIN"], "pressure": self["pressure"],
                                               "speed": self["LONGVL"], "friction": 1.0}  # fmt: skip

    def at(self, **point: float | Array) -> dict[str, Array]:
        """Forces [N], moments [N.m], stiffnesses and lengths by name, at points that may be arrays of one shape."""
        columns = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in (self.point | point).values()))
        function, numbers = self._steady
        flat = np.stack([c.ravel() for c in columns])
        out = np.array(function.map(flat.shape[1])(flat, np.tile(np.array(numbers)[:, None], flat.shape[1])))
        return {name: row.reshape(columns[0].shape) for name, row in zip(GIVES.sizes, out, strict=True)}

    def load(self, deflection: float) -> float:
        """Vertical load at a deflection [N]."""
        return load_at(lambda name: n.value if (n := self.entries.get(f"tire.{name}")) else None, deflection)

    def deflection(self, load: float) -> float:
        """Deflection under a load [m], by bisection."""
        low, high = 0.0, self["unloaded_radius"]
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.load(middle) < load else (low, middle)
        return 0.5 * (low + high)

    def peaks(self, load: float) -> dict[str, tuple[float, float]]:
        """Largest |F_x| and |F_y| of pure slip over the load, and the slip [1] or slip angle [rad] there."""
        found = {}
        for name, force in (("slip", "fx"), ("slip_angle", "fy")):
            at = np.linspace(0.0, 1.0, 2001)[1:]
            sizes = np.abs(self.at(load=load, **{name: at})[force])
            found[force] = (float(sizes.max()) / load, float(at[int(sizes.argmax())]))
        return found
