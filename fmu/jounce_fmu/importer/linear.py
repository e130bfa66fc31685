"""Linearizes a model at an operating point (x, u) with its directional derivatives.

With the rates r = x' and the outputs y there, x' = r + A dx + B du and the outputs are y + C dx + D du. The states are
those of model exchange, and the derivatives are taken at the projected states: the length of a quaternion has no effect
and gives A an eigenvalue 0, as position and spin angles do.
"""

from __future__ import annotations

import ctypes as ct
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce_fmu.importer.host import Factory, Fmu2Instance, FmuError, FmuInstance, Value

Array = NDArray[np.float64]
Matrix = NDArray[np.float64]

#: Smallest imaginary part [rad/s] of an eigenvalue that counts as an oscillating mode.
SWINGING = 1e-3


class Exchange(Fmu2Instance):
    """A model-exchange instance of one of our own models; it is evaluated at given states and inputs."""

    kind = 0

    def setup(
        self,
        parameters: Mapping[str, Value] | None = None,
        start_inputs: Mapping[str, Value] | None = None,
        start_time: float = 0.0,
    ) -> None:
        """Initializes, and enters continuous-time mode."""
        super().setup(parameters, start_inputs, start_time)
        info = (ct.c_double * 8)()  # Room for an fmi2EventInfo, which is five ints and a double.
        self._call("NewDiscreteStates", info)
        self._call("EnterContinuousTimeMode")

    def set_states(self, x: Array) -> None:
        """Sets the continuous states, shape (states,) [unit of each], in the order of the table."""
        values = np.ascontiguousarray(x, dtype=np.float64)
        self._call("SetContinuousStates", ct.c_void_p(values.ctypes.data), ct.c_size_t(len(values)))

    def get_rates(self) -> Array:
        """Returns the derivatives of the states, shape (states,) [unit of each per s]."""
        rates = np.zeros(len(self.table.states))
        self._call("GetDerivatives", ct.c_void_p(rates.ctypes.data), ct.c_size_t(len(rates)))
        return rates

    def directional(self, unknown: NDArray[np.uint32], known: NDArray[np.uint32], seed: Array) -> Array:
        """Returns the derivatives of the unknowns along ``seed``; knowns and unknowns are value references."""
        tangent = np.zeros(len(unknown))
        self._call("GetDirectionalDerivative", *_list(unknown), *_list(known), ct.c_void_p(seed.ctypes.data),
                   ct.c_void_p(tangent.ctypes.data))  # fmt: skip
        return tangent


def _list(references: NDArray[np.uint32]) -> tuple[Any, Any]:
    return ct.c_void_p(references.ctypes.data), ct.c_size_t(len(references))


def read_states(instance: FmuInstance) -> Array:
    """Reads the continuous states of an instance, also in co-simulation."""
    n = len(instance.table.states)
    references, x = np.array(instance.table.state_references, np.uint32), np.zeros(n)
    instance._call("GetReal", *_list(references), ct.c_void_p(x.ctypes.data))
    return x


@dataclass(frozen=True)
class Mode:
    """An oscillating mode, which is a pair of complex eigenvalues."""

    frequency: float
    """Damped frequency [Hz]."""
    damping: float
    """Damping ratio [1]; negative for an unstable mode."""
    states: tuple[str, ...]
    """The four states with the largest participation factors, largest first."""


@dataclass(frozen=True)
class Linear:
    """A linearized model; the operating point is (x, u) with the outputs y and the derivatives ``rate`` of the states.

    Shapes: A (states, states), B (states, inputs), C (outputs, states), D (outputs, inputs).
    """

    A: Matrix
    B: Matrix
    C: Matrix
    D: Matrix
    x: Array
    u: Array
    y: Array
    rate: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]

    def save(self, path: Path) -> None:
        """Writes an .npz file with the names of the fields; the file is written whole or not at all."""
        part = path.with_name(path.name + ".part")
        try:
            with part.open("wb") as file:
                np.savez(file, **{k: np.asarray(v) for k, v in asdict(self).items()})  # type: ignore[arg-type]
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)

    def response(self, frequency: float, given: str, shown: str) -> complex:
        """Frequency response of the output ``shown`` to the input ``given`` at ``frequency`` [Hz] [unit per unit]."""
        s, k, i = 2j * np.pi * frequency, self.inputs.index(given), self.outputs.index(shown)
        x = np.linalg.solve(s * np.eye(len(self.x)) - self.A, self.B[:, k])
        return complex(self.C[i] @ x + self.D[i, k])

    @cached_property
    def modes(self) -> tuple[Mode, ...]:
        """The oscillating modes, slowest first.

        Participation factors: Perez-Arriaga, Verghese, Schweppe 1982, "Selective modal analysis", part I, Eq. 6.
        """
        values, right = np.linalg.eig(self.A)
        left = np.linalg.pinv(right)
        found = []
        for k, value in enumerate(values):
            if value.imag > SWINGING:
                share = np.abs(right[:, k] * left[k])
                names = tuple(self.states[i] for i in np.argsort(share)[::-1][:4])
                found.append(Mode(value.imag / (2 * np.pi), float(-value.real / np.abs(value)), names))
        return tuple(sorted(found, key=lambda m: m.frequency))


def linearize(factory: Factory, parameters: Mapping[str, Value], x: Array, u: Array) -> Linear:
    """Linearizes a model at the states x and the inputs u. Raises FmuError, also for a model without derivatives."""
    table = factory.table
    if not table.states or not table.derivatives:
        raise FmuError(f"{table.name}: a model without states or derivatives cannot be linearized")
    n = len(table.states)
    outputs = [s for s in table.outputs if s.signal.type == "Real" and s.signal.variability == "continuous"]
    knowns = np.array([*table.state_references, *(s.value_reference for s in table.inputs)], np.uint32)
    unknowns = np.array([*table.rate_references, *(s.value_reference for s in outputs)], np.uint32)
    with Exchange(factory.library, factory.interface, "linearize", factory.resources) as at:
        at.defaults = factory.defaults
        at.setup(parameters)
        at.set_inputs(u)
        at.set_states(x)
        y = at.get_outputs()[[s.index for s in outputs]]
        jacobian = np.array([at.directional(unknowns, knowns[k : k + 1], np.ones(1)) for k in range(len(knowns))]).T
        rate = at.get_rates()
    return Linear(
        A=jacobian[:n, :n], B=jacobian[:n, n:], C=jacobian[n:, :n], D=jacobian[n:, n:], x=x, u=u, y=y, rate=rate,
        states=tuple(s.name for s in table.states), inputs=tuple(s.name for s in table.inputs),
        outputs=tuple(s.name for s in outputs),
    )  # fmt: skip
