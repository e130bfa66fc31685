"""The model's soft soil by itself, compiled from its C, and the same integrals by another quadrature."""

from __future__ import annotations

import ctypes as ct
import math
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from jounce.contact.soil import SOILS, Soil
from jounce_fmu.build.library import FLAGS, PACKAGE, compiler, library_suffix

Array = NDArray[np.float64]

RADIUS, WIDTH = 0.4699, 0.3175
_GAUSS = np.polynomial.legendre.leggauss(120)
#: A tire this stiff is a rigid wheel.
RIGID = 1e12
#: Numbers that a wheel remembers, and those of the ruts of one side.
MEMORY, RUT = 11, 2 + 3 * 1024 + 4 * 32

_FUNCTIONS = """
#include <math.h>
#include <stdint.h>
#include <string.h>
#define JN_LANES 1
#include "jn_lanes.h"
#include "jn_power.inc"
double exponential(double x) { return jn_power_exp_1(x); }
double power(double x, double n) { return jn_power_1(x, n); }
"""


def build(folder: Path) -> ct.CDLL:
    """The law as a library in a folder."""
    library, models, functions = folder / f"soil{library_suffix()}", PACKAGE / "models", folder / "functions.c"
    functions.write_text(_FUNCTIONS)
    command = [*compiler(), *(f for f in FLAGS if f != "-fvisibility=hidden"), "-shared"]
    command += [f"-I{models / folder}" for folder in ("terrain", "common")]
    command += [
        "-o",
        str(library),
        str(functions),
        *(str(models / "terrain" / f"jn_{n}.c") for n in ("soil", "rut")),
        "-lm",
    ]
    subprocess.run(command, check=True)
    made = ct.CDLL(str(library))
    for name in ("exponential", "power"):
        getattr(made, name).restype, getattr(made, name).argtypes = ct.c_double, [ct.c_double] * (1 + (name == "power"))
    return made


class _Motion(ct.Structure):
    _fields_ = [("depth", ct.c_double), ("velocity", ct.c_double * 3), ("spin", ct.c_double),
                ("shear", ct.c_double * 2), ("rolled", ct.c_double)]  # fmt: skip


class _Contact(ct.Structure):
    _fields_ = [("sinkage", ct.c_double), ("deflection", ct.c_double), ("force", ct.c_double * 3),
                ("moment", ct.c_double * 3), ("resistance", ct.c_double), ("rates", ct.c_double * 3),
                ("slip", ct.c_double)]  # fmt: skip


_DOUBLES = ct.POINTER(ct.c_double)


class _Wheel(ct.Structure):
    _fields_ = [("soil", _DOUBLES), ("memory", _DOUBLES), ("motion", _Motion), ("contact", _Contact),
                ("branch", ct.c_int)]


@dataclass
class Wheel:
    """One wheel on one soil, with what it remembers and the rut of its side."""

    library: ct.CDLL
    soil: Soil
    stiffness: float = RIGID
    damping: float = 0.0

    def __post_init__(self) -> None:
        s = self.soil
        of_soil = (s.n, s.modulus(WIDTH), s.cohesion, math.tan(s.friction), s.shear_modulus, s.unload)
        self.numbers = (ct.c_double * 13)(*of_soil, RADIUS, WIDTH, self.stiffness, 0.0, self.damping, 1.0, 0.0)
        self.memory, self.rut = (ct.c_double * MEMORY)(), (ct.c_double * RUT)()
        self.states = np.zeros(3)

    @property
    def settled(self) -> float:
        """The state `rolled` of a wheel that has rolled on for long."""
        return 0.1 * RADIUS

    def contact(self, depth: float, velocity: tuple[float, ...] = (0.0, 0.0, 0.0), spin: float = 0.0) -> _Contact:
        """The contact at a depth of the lowest point, with the present states."""
        return contacts([(self, depth, velocity, spin)])[0]

    def pressed(self, deepest: float, before: float = 0.0) -> None:
        """Soil that has been pressed down to a depth, in a rut of another depth."""
        self.memory[0], self.memory[1] = deepest, before
        self._load()

    def _load(self) -> None:
        pointers = (_DOUBLES * 1)(ct.cast(self.numbers, _DOUBLES)), (_DOUBLES * 1)(ct.cast(self.memory, _DOUBLES))
        self.library.jn_soil_load(*pointers, 1)

    def steady(self, depth: float, slip: float, side: float = 0.0) -> _Contact:
        """Rolling on for long at 2 m/s of the rim with that slip, and a speed to the side [m/s]."""
        radius, length = RADIUS, 0.5 * RADIUS
        spin = 2.0 / radius
        self.states = np.array([slip * length, -side / 2.0 * length, self.settled])
        return self.contact(depth, ((1.0 - slip) * 2.0, side, 0.0), spin)

    def remember(self, x: float, sinkage: float, way: float = 1.0) -> None:
        """The end of a tick at x."""
        ahead, numbers = (ct.c_double * 3)(1.0, 0.0, 0.0), (ct.c_double(v) for v in (way, sinkage))
        self.library.jn_soil_remember(self.numbers, self.memory, self.rut, ct.c_double(x), ct.c_double(0.0), ahead,
                                      *numbers)  # fmt: skip
        self._load()


def contacts(wheels: list[tuple[Wheel, float, tuple[float, ...], float]]) -> list[_Contact]:
    """The contacts of one wheel, or of four on four lanes: depths of their lowest points, velocities and spins."""
    made = (_Wheel * len(wheels))()
    for w, (wheel, depth, velocity, spin) in zip(made, wheels, strict=True):
        w.soil, w.memory = ct.cast(wheel.numbers, _DOUBLES), ct.cast(wheel.memory, _DOUBLES)
        states = (ct.c_double * 2)(*wheel.states[:2]), wheel.states[2]
        w.motion = _Motion(depth, (ct.c_double * 3)(*velocity), spin, *states)
    wheels[0][0].library.jn_soil(made, len(made))
    return [w.contact for w in made]


def over_arc(sinkage: float, f: Callable[[float, float, float], float]) -> float:
    """Integral of f(angle, entry, depth there) R d(angle) over the arc, from the lowest point to the entry."""
    entry = math.acos(1.0 - sinkage / RADIUS)
    total = 0.0
    for node, weight in zip(*_GAUSS, strict=True):
        s = 0.5 * (1.0 + node)
        theta = entry * (1.0 - s * s)  # z^n has no smooth end at the entry; in s it has
        depth = 2.0 * RADIUS * math.sin(0.5 * (entry + theta)) * math.sin(0.5 * (entry - theta))
        total += 0.5 * weight * 2.0 * s * entry * RADIUS * f(theta, entry, depth)
    return total


def root(f: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function vanishes, by halving."""
    for _ in range(80):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if f(middle) < 0.0 else (low, middle)
    return 0.5 * (low + high)


def carried(soil: Soil, sinkage: float) -> float:
    """Load [N] of a rigid wheel: b R integral of p cos(theta), p = (k_c / b + k_phi) z^n."""
    return WIDTH * over_arc(sinkage, lambda theta, _, z: soil.modulus(WIDTH) * z**soil.n * math.cos(theta))


def pull(soil: Soil, sinkage: float, slip: float) -> tuple[float, float]:
    """Drawbar pull [N] and torque [N.m]: Wong and Reece's integrals with Janosi and Hanamoto's shear."""

    def tau(theta: float, entry: float, z: float) -> float:
        j = RADIUS * ((entry - theta) - (1.0 - slip) * (math.sin(entry) - math.sin(theta)))
        p = soil.modulus(WIDTH) * z**soil.n
        return (soil.cohesion + p * math.tan(soil.friction)) * (1.0 - math.exp(-j / soil.shear_modulus))

    def along(theta: float, entry: float, z: float) -> float:
        return tau(theta, entry, z) * math.cos(theta) - soil.modulus(WIDTH) * z**soil.n * math.sin(theta)

    return WIDTH * over_arc(sinkage, along), WIDTH * RADIUS * over_arc(sinkage, tau)


__all__ = [
    "MEMORY", "RADIUS", "RIGID", "RUT", "SOILS", "WIDTH", "Soil", "Wheel", "build", "carried", "contacts", "over_arc",
    "pull", "root",
]  # fmt: skip
