"""A vehicle of mechanisms in numpy: the recursion of Jain 2016 (Eqs. 4-7) over the embedding's corner functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.dynamics.embedding import Embedding
from jounce.dynamics.mechanism import Mechanism
from jounce.math.layout import Layout
from jounce.suspension.double_wishbone import OUTPUTS
from jounce.suspension.embedded import PAIR_OUTPUTS, close_function, corner_function, pair_function

Array = NDArray[np.float64]


def _named(layout: Layout, raw: object) -> dict[str, Array]:
    flat = np.array(raw).ravel()
    return {n: flat[layout.first[n] : layout.first[n] + size] for n, size in layout.sizes.items()}


def _six(mass: float, moment: Array, inertia: Array) -> Array:
    """Spatial inertia [angular; linear] about the chassis origin."""
    xx, yy, zz, xy, xz, yz = inertia
    x, y, z = moment
    s = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.block([[np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), s], [-s, mass * np.eye(3)]])


@dataclass
class Terms:
    """What the recursion takes from an aggregate."""

    inertia: Array
    h: Array
    d: Array
    bias: Array
    bias_theta: Array
    lanes: list[dict[str, Array]]

    def partial(self, wheel: int, what: str) -> Array:
        """(3, n) partial velocities of a wheel: `centre` or `upright`."""
        own = self.lanes[wheel][f"{what}_partial"]
        if len(self.lanes) == 1:
            return own[:, None]
        columns = [own, self.lanes[wheel][f"{what}_other"]]
        return np.column_stack(columns if wheel == 0 else columns[::-1])


class Aggregate:
    """One mechanism on one side."""

    def __init__(self, mechanism: Mechanism, side: int = 1) -> None:
        self.mechanism, self.side, self.embedding = mechanism, side, Embedding(mechanism)
        self.wheels, self.n = len(mechanism.wheels), len(mechanism.independent)
        self.numbers = ca.evalf(mechanism.numbers(side if self.wheels == 1 else 1))
        self.step = close_function(self.embedding)
        self.function = (corner_function if self.wheels == 1 else pair_function)(self.embedding)
        self.axial = [(float(w.along), float(w.shaft)) for w in mechanism.wheels]

    @property
    def still(self) -> Array:
        """INNER of each wheel with the prescribed points at rest in the design position."""
        places = [np.concatenate([np.asarray(p, float) * [1, self.side, 1], np.zeros(9)])
                  for p in self.mechanism.prescribed.values()]  # fmt: skip
        return np.concatenate([*places, np.zeros(24)])[: 12 * self.wheels]

    def _lanes(self, theta: Array, rate: Array, spin: Array, inner: Array) -> list[Array]:
        states = [np.array([theta[k], rate[k], spin[k]]) for k in range(self.wheels)]
        return [*states, *inner.reshape(self.wheels, 12)]

    def follow(self, theta: Array, inner: Array, parts: int = 10) -> Array:
        """u by continuation from the design position."""
        u, rest = np.zeros(len(self.embedding.dependent)), self.still
        for k in range(1, parts + 1):
            u = self.close(u, theta * k / parts, rest + (inner - rest) * k / parts, 4)
        return u

    def close(self, u: Array, theta: Array, inner: Array, steps: int = 2) -> Array:
        """u after some Newton steps."""
        zero = np.zeros(self.n)
        for _ in range(steps):
            u = np.array(self.step(u, *self._lanes(theta, zero, zero, inner), self.numbers)).ravel()
        return u

    def terms(self, theta: Array, rate: Array, spin: Array, inner: Array, omega: Array, u: Array) -> Terms:
        """Everything at a state."""
        out = self.function(*self._lanes(theta, rate, spin, inner), omega, self.numbers, u)
        if self.wheels == 1:
            lanes = [_named(OUTPUTS, out)]
            d = lanes[0]["d"][:, None]
        else:
            lanes = [_named(PAIR_OUTPUTS, o) for o in out]
            cross = lanes[0]["cross"][0]
            d = np.array([[lanes[0]["d"][0], cross], [cross, lanes[1]["d"][0]]])
        first = lanes[0]
        return Terms(
            _six(first["mass"][0], first["moment"], first["inertia"]), np.column_stack([x["momentum"] for x in lanes]),
            d, first["bias"], np.array([x["bias_theta"][0] for x in lanes]), lanes,
        )  # fmt: skip


@dataclass
class Loads:
    """Of one aggregate's wheels, chassis axes."""

    force: Array
    moment: Array
    drive: Array
    brake: Array


def accelerations(
    own: tuple[float, Array, Array], omega: Array, aggregates: list[Aggregate], terms: list[Terms],
    loads: list[Loads] | None = None,
) -> tuple[Array, list[Array], list[Array]]:  # fmt: skip
    """([angular; linear less free fall] of the chassis, theta'' and spin'' of each aggregate).

    own: mass, centre of mass, inertia (3, 3) about it.
    """
    mass, com, inertia = own
    about = inertia + mass * (com @ com * np.eye(3) - np.outer(com, com))
    packed = about[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    whole = _six(mass, mass * com, packed)
    bias = np.concatenate([np.cross(omega, about @ omega), np.cross(omega, np.cross(omega, mass * com))])
    kept = []
    for k, (aggregate, t) in enumerate(zip(aggregates, terms, strict=True)):
        q, applied, torques = np.zeros(aggregate.n), np.zeros(6), []
        for w, lane in enumerate(t.lanes):
            load = loads[k] if loads else Loads(np.zeros((2, 3)), np.zeros((2, 3)), np.zeros(2), np.zeros(2))
            axis, (along, shaft) = lane["axis"], aggregate.axial[w]
            torque = axis @ load.moment[w] + load.drive[w] + load.brake[w]
            left = load.moment[w] - axis * along / (along + shaft) * torque
            q += t.partial(w, "upright").T @ (left + axis * load.drive[w]) + t.partial(w, "centre").T @ load.force[w]
            applied += np.concatenate([left + np.cross(lane["centre"], load.force[w]), load.force[w]])
            torques.append(torque)
        epsilon = q - t.bias_theta
        whole = whole + t.inertia - t.h @ np.linalg.solve(t.d, t.h.T)
        bias = bias + t.bias - applied + t.h @ np.linalg.solve(t.d, epsilon)
        kept.append((epsilon, torques))
    a = np.linalg.solve(whole, -bias)
    thetas, spins = [], []
    for aggregate, t, (epsilon, torques) in zip(aggregates, terms, kept, strict=True):
        theta = np.linalg.solve(t.d, epsilon - t.h.T @ a)
        thetas.append(theta)
        turns = [lane["axis"] @ (a[:3] + t.partial(w, "upright") @ theta) + lane["axis_bias"][0]
                 for w, lane in enumerate(t.lanes)]  # fmt: skip
        free = zip(torques, turns, aggregate.axial, strict=True)
        spins.append(np.array([(torque - along * x) / (along + shaft) for torque, x, (along, shaft) in free]))
    return a, thetas, spins


def runge_kutta(f: Callable[[Array], Array], x: Array, h: float) -> Array:
    """One step of the classical method of fourth order."""
    k1 = f(x)
    k2 = f(x + h / 2 * k1)
    k3 = f(x + h / 2 * k2)
    k4 = f(x + h * k3)
    return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
