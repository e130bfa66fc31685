"""Integer tables, numbers and K of a multibody for the impulse engine, in the order of ``impulse.h``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from jounce.architecture import rows
from jounce.architecture.order import Factors
from jounce.architecture.spin import Carrier
from jounce.architecture.target import GROUND, Multibody

Array = NDArray[np.float64]

#: Numbers of the kinds in the tables.
JOINTS = ("ball", "hinge", "slider", "line", "rod")
MEASURES = ("along", "distance", "angle")
#: What a motor row can be: of a motor, of a driven wheel, a brake.
MOTORS = ("motor", "drive", "brake")
#: Length of a tick for which the order is chosen [s].
TICK = 1e-3
#: A damper or tire without damping has this much of its stiffness [s]: its row must have an end.
LEAST = 1e-9


class LayoutError(ValueError):
    """What the engine cannot take, and what is expected."""


def _ordered_triad(axis: Array) -> Array:
    return np.array([*rows.normals(axis), axis]).ravel()


@dataclass(frozen=True)
class Parts:
    """What the tables are made of."""

    model: Multibody
    spins: tuple[int, ...]
    motors: tuple[tuple[str, int], ...]
    rigid: bool
    stuck: bool
    regularized: float
    restitution: float
    options: int

    @property
    def velocities(self) -> int:
        """Number of coordinates of the velocity."""
        return 6 * len(self.model.bodies) + len(self.spins)

    @property
    def inside(self) -> bool:
        """Whether contacts have rows in K."""
        return self.rigid or self.stuck

    def com(self, body: int) -> Array:
        """(3,) drawn centre of mass; of the ground, the origin."""
        return np.zeros(3) if body == GROUND else self.model.bodies[body].com

    def spin(self, wheel: int) -> int:
        """Place of a wheel among the rotors, or -1."""
        return self.spins.index(wheel) if wheel in self.spins else -1

    def spin_inertia(self, wheel: int) -> float:
        """Of a wheel that is a rotor, about its axle [kg m2]."""
        carrier = self.model.bodies[self.model.wheels[wheel].body]
        assert isinstance(carrier, Carrier)
        return next(j for j, name in carrier.spinning if name == self.model.wheels[wheel].name)

    def motor(self, kind: str, k: int) -> tuple[int, int, int, Array]:
        """a, b, spin and axis."""
        if kind == "motor":
            motor = self.model.motors[k]
            return motor.a, motor.b, -1, motor.axis
        wheel = self.model.wheels[k]
        spin = self.spin(k)
        return wheel.body, GROUND if spin >= 0 else wheel.carrier, spin, wheel.axis

    def pairs(self) -> list[tuple[int, int]]:
        """Bodies that springs connect, the lower first."""
        return sorted({(min(s.a, s.b), max(s.a, s.b)) for s in self.model.springs if GROUND not in (s.a, s.b)})

    def row_names(self) -> Iterator[str]:
        """What each row of K belongs to."""
        for j in self.model.joints:
            yield from [j.name] * j.rows
        for kind, k in self.motors:
            yield self.model.motors[k].name if kind == "motor" else f"{kind} of {self.model.wheels[k].name}"
        yield from (limit.name for limit in self.model.limits)
        if self.inside:
            yield from (w.name for w, _ in self.model.contacts() for _ in range(3))

    def hard_bodies(self) -> list[tuple[int, int, int]]:
        """a, b and spin of each row of K."""
        found = [(j.a, j.b, -1) for j in self.model.joints for _ in range(j.rows)]
        for kind, k in self.motors:
            a, b, spin, _ = self.motor(kind, k)
            found.append((a, b, spin))
        found += [(limit.a, limit.b, -1) for limit in self.model.limits]
        if self.inside:
            found += [(b, GROUND, s) for b, s in self.contact_bodies() for _ in range(3)]
        return found

    def contact_bodies(self) -> list[tuple[int, int]]:
        """Body and spin of each contact."""
        return [(w.body, self.spin(k)) for k, w in enumerate(self.model.wheels) for _ in w.offsets]

    def topology(self, factors: Factors, full: NDArray[np.bool_]) -> Iterator[int]:
        """All integer tables, one after the other."""
        model, nb, pairs = self.model, len(self.model.bodies), self.pairs()
        bodies = self.hard_bodies()
        contacts = self.contact_bodies()
        first = len(bodies) - 3 * len(contacts)
        columns, values = self._columns(factors, full)
        counts = [nb, len(self.spins), len(model.joints), len(model.springs), len(self.motors), len(model.limits),
                  len(contacts), model.rows, len(bodies), self.velocities + len(bodies),
                  21 * nb + 36 * len(pairs) + 7 * len(self.spins) + 14 * len(bodies),
                  factors.entries, len(pairs), self.options]  # fmt: skip
        yield from counts
        yield from (model.wheels[k].body for k in self.spins)
        for j in model.joints:
            yield from (JOINTS.index(j.kind), j.a, j.b)
        for s in model.springs:
            pair = 0 if GROUND in (s.a, s.b) else 1 + pairs.index((min(s.a, s.b), max(s.a, s.b)))
            yield from (0 if s.along is not None else 1, s.a, s.b, pair if s.a < s.b else -pair)
        for kind, k in self.motors:
            yield from self.motor(kind, k)[:3]
        for limit in model.limits:
            yield from (MEASURES.index(limit.measure), limit.a, limit.b)
        stiffness = 1 if self.rigid else 2 if self.stuck else 0
        for k, (body, spin) in enumerate(contacts):
            yield from (body, spin, stiffness, first + 3 * k if self.inside else -1)
        place, unknown, pattern, columns_of_row, entries_of_row, start, row = factors.tables()
        yield from (*place, *unknown, *columns, *(r for r, _ in values), *(v for _, v in values))
        yield from (*pattern, *columns_of_row, *entries_of_row, *start, *row)
        for two in bodies:
            yield from two

    def _columns(self, factors: Factors, full: NDArray[np.bool_]) -> tuple[list[int], list[tuple[int, int]]]:
        """Where the upper columns of K begin, and (row, place of the value) of its entries."""
        place = np.argsort(factors.order)
        columns: list[list[tuple[int, int]]] = [[] for _ in factors.order]
        for (r, c), value in self.values().items():
            if full[r, c]:
                i, k = sorted((int(place[r]), int(place[c])))
                columns[k].append((i, value))
        starts = [0, *np.cumsum([len(c) for c in columns]).tolist()]
        return starts, [entry for column in columns for entry in sorted(column)]

    def values(self) -> dict[tuple[int, int], int]:
        """Pair of unknowns -> place of their value in K's values."""
        nb, pairs, bodies = len(self.model.bodies), self.pairs(), self.hard_bodies()
        found: dict[tuple[int, int], int] = {}
        for b in range(nb):
            found |= {(6 * b + r, 6 * b + c): 21 * b + r * (r + 1) // 2 + c for r in range(6) for c in range(r + 1)}
        for k, (a, b) in enumerate(pairs):
            found |= {(6 * a + r, 6 * b + c): 21 * nb + 36 * k + 6 * r + c for r in range(6) for c in range(6)}
        at = 21 * nb + 36 * len(pairs)
        for s, wheel in enumerate(self.spins):
            body = self.model.wheels[wheel].body
            found |= {(6 * nb + s, 6 * body + c): at + 7 * s + c for c in range(6)}
            found[6 * nb + s, 6 * nb + s] = at + 7 * s + 6
        at += 7 * len(self.spins)
        for k, (a, b, s) in enumerate(bodies):
            u, own = self.velocities + k, at + 14 * k
            if a != GROUND:
                found |= {(u, 6 * a + c): own + c for c in range(6)}
            if b != GROUND:
                found |= {(u, 6 * b + c): own + 6 + c for c in range(6)}
            if s >= 0:
                found[u, 6 * nb + s] = own + 12
            found[u, u] = own + 13
        return found

    def matrices(self) -> tuple[list[Array], NDArray[np.bool_]]:
        """K at a generic pose, as drawn, and as drawn with no wheel touching; where the first may differ from 0."""
        K, full = self._matrix()
        return [K, self._matrix(drawn=True)[0], self._matrix(drawn=True, touching=False)[0]], full

    def _matrix(self, *, drawn: bool = False, touching: bool = True) -> tuple[Array, NDArray[np.bool_]]:
        model, nv, n = self.model, self.velocities, self.velocities + len(self.hard_bodies())
        nb = len(model.bodies)
        step = 0.1 * np.sin(1.0 + 1.7 * np.arange(6 * nb))
        step.reshape(-1, 6)[:, :3] *= 0.1
        pose = rows.drawn(model) if drawn else rows.drawn(model).moved(step)
        K, full = np.zeros((n, n)), np.eye(n, dtype=bool)
        for b, body in enumerate(model.bodies):
            at = slice(6 * b + 3, 6 * b + 6)
            K[6 * b : 6 * b + 3, 6 * b : 6 * b + 3] = body.mass * np.eye(3)
            K[at, at] = pose.turn[b] @ body.inertia @ pose.turn[b].T
            full[at, at] = True
        for k, wheel in enumerate(self.spins):
            K[6 * nb + k, 6 * nb + k] = self.spin_inertia(wheel)
        _, springs = rows.springs(model, pose)
        for s, spring in zip(springs, model.springs, strict=True):
            K[: 6 * nb, : 6 * nb] += 0.5 * TICK * spring.damping * np.outer(s, s)
            for a in {spring.a, spring.b} - {GROUND}:
                for b in {spring.a, spring.b} - {GROUND}:
                    full[6 * a : 6 * a + 6, 6 * b : 6 * b + 6] = True
        K[nv : nv + model.rows, : 6 * nb] = rows.joints(model, pose)[1]
        K[nv + model.rows :, :nv], compliance = self._other_rows(pose)
        for row, by, (on, spin) in self._contact_rows(pose, 0.0 if drawn else 0.02) if touching else ():
            own = [*range(6 * on, 6 * on + 6), *([6 * nb + spin] if spin >= 0 else [])]
            if not self.inside:
                K[:nv, :nv] += by * np.outer(row, row)
                full[np.ix_(own, own)] = True
        rows_full = np.abs(K[nv:, :nv]) > 1e-9
        full[nv:, :nv] = rows_full
        for k, (a, b, spin) in enumerate(self.hard_bodies()):
            if k >= model.rows + len(self.motors):
                for on in {a, b} - {GROUND}:
                    full[nv + k, 6 * on : 6 * on + 6] = True
                if spin >= 0:
                    full[nv + k, 6 * nb + spin] = True
        K[np.arange(nv + model.rows, n), np.arange(nv + model.rows, n)] = -compliance
        K[:nv, nv:] = K[nv:, :nv].T
        full |= full.T
        return K, full

    def _other_rows(self, pose: rows.Pose, tilt: float = 0.02) -> tuple[Array, Array]:
        """Rows of motors, limits and rigid contacts, and their compliance over h."""
        model, nb, nv = self.model, len(self.model.bodies), self.velocities
        found: list[Array] = []
        compliance: list[float] = []
        for kind, k in self.motors:
            a, b, spin, axis = self.motor(kind, k)
            row, turned = np.zeros(nv), pose.turn[a] @ axis
            row[6 * a + 3 : 6 * a + 6] = -turned if spin >= 0 else turned
            if b != GROUND:
                row[6 * b + 3 : 6 * b + 6] = -turned
            if spin >= 0:
                row[6 * nb + spin] = 1.0
            found.append(row)
            compliance.append(1e-9 if spin >= 0 else 1e-12)
        for k, limit in enumerate(model.limits):
            row = np.zeros(nv)
            for body, sign in ((limit.a, 1.0), (limit.b, -1.0)):
                if body != GROUND:
                    row[6 * body : 6 * body + 6] = sign * np.sin(0.3 + k + np.arange(6))
            found.append(row)
            compliance.append(1e-12)
        if self.inside:
            for n, (row, by, _) in enumerate(self._contact_rows(pose, tilt)):
                found.append(row)
                compliance.append(1.0 / by if self.stuck and n % 3 == 0 else self.regularized)
        return np.array(found).reshape(-1, nv), np.array(compliance)

    def check_rigid(self, names: Sequence[str]) -> None:
        """Raises LayoutError if rows without compliance depend on each other as drawn: left and right wheel."""
        pose, nb = rows.drawn(self.model), len(self.model.bodies)
        J = np.zeros((len(names), self.velocities))
        J[: self.model.rows, : 6 * nb] = rows.joints(self.model, pose)[1]
        J[self.model.rows :] = self._other_rows(pose, 0.0)[0]
        _, sizes, directions = np.linalg.svd((J / np.linalg.norm(J, axis=1, keepdims=True)).T)
        if len(J) > self.velocities or sizes[-1] < 1e-9:
            k = int(np.abs(directions[-1]).argmax())
            raise LayoutError(f"{self.model.name}: the rows of {names[k]} depend on others; expected regularized > 0, "
                              "or contacts with stiffness along the ground")  # fmt: skip

    def _contact_rows(self, pose: rows.Pose, tilt: float = 0.02) -> list[tuple[Array, float, tuple[int, int]]]:
        """Row, 1 / cfm, and (body, spin) of the normal, forward and left of every contact, on flat ground."""
        model, nb = self.model, len(self.model.bodies)
        found = []
        for (wheel, offset), (body, spin) in zip(model.contacts(), self.contact_bodies(), strict=True):
            arm = pose.turn[body] @ (wheel.centre + offset * wheel.axis - model.bodies[body].com)
            axle = pose.turn[body] @ wheel.axis
            to = np.array([tilt, 0.0, -wheel.radius])
            for k, n in enumerate(np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]]) + tilt):
                row, m = np.zeros(self.velocities), np.cross(to, n)
                row[6 * body : 6 * body + 3] = n
                row[6 * body + 3 : 6 * body + 6] = np.cross(arm, n) + m - (axle * (axle @ m) if spin >= 0 else 0.0)
                if spin >= 0:
                    row[6 * nb + spin] = axle @ m
                by = TICK**2 * wheel.lateral_stiffness if k else 0.5 * TICK * wheel.damping
                found.append((row, by, (body, spin)))
        return found

    def numbers(self) -> Iterator[Array]:
        """Numbers in the order of ``impulse.h``, without the road."""
        model = self.model
        yield np.array([0.0, 0.0, -model.gravity])
        for body in model.bodies:
            i = body.inertia
            yield np.array([*body.com, body.mass, i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]])
        for k in self.spins:
            yield np.array([self.spin_inertia(k), *model.wheels[k].axis])
        for j in model.joints:
            yield np.concatenate([j.point_a - self.com(j.a), j.point_b - self.com(j.b), _ordered_triad(j.axis),
                                  _ordered_triad(j.axis), [j.length], j.steer])  # fmt: skip
        for s in model.springs:
            d = s.point_a - s.point_b
            along = np.zeros(3) if s.along is None else s.along
            length = float(np.linalg.norm(d)) if s.along is None else float(along @ d)
            damping = max(s.damping, LEAST * s.stiffness, 1e-30)
            yield np.concatenate([s.point_a - self.com(s.a), s.point_b - self.com(s.b), along,
                                  [s.stiffness, damping, s.preload, length]])  # fmt: skip
        for kind, k in self.motors:
            yield self.motor(kind, k)[3]
        for limit in model.limits:
            normal = rows.normals(limit.axis)[0] if limit.measure == "angle" else np.zeros(3)
            yield np.concatenate([limit.point_a - self.com(limit.a), limit.point_b - self.com(limit.b), limit.axis,
                                  [limit.lower, limit.upper], normal])  # fmt: skip
        for (w, offset), (on, _) in zip(model.contacts(), self.contact_bodies(), strict=True):
            yield np.concatenate([w.centre + offset * w.axis - self.com(on), w.axis,
                                  [w.radius, w.stiffness, max(w.damping, LEAST * w.stiffness)],
                                  [self.regularized if self.inside else w.lateral_stiffness],
                                  [w.relaxation, self.restitution]])  # fmt: skip
