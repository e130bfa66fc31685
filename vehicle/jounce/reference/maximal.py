"""Any vehicle of mechanisms in maximal coordinates: an independent judge of `jounce.dynamics.embedding`.

Every body, wheel, rod and tube has six coordinates, every joint constraint rows with Lagrange multipliers,

    M a + G^T lambda = f,   G a = gamma

(the fully augmented form that Jain 2016, section 3, compares with), solved densely. The records of a mechanism are read
as data; no equation is shared with the embedding. Rods and tubes do not spin about their axis, and may have no mass. A
wheel turns on its carrier; the shaft is a rotor with its spin rate. Rows: `kkt_joints`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from jounce.dynamics.mechanism import End
from jounce.reference.kkt_steering import turn
from jounce.reference.maximal_bodies import Array, Chassis, Part, System, array, mirrored_axis, mirrored_point, unit
from jounce.reference.maximal_rows import Constraints

#: Parts of the way from the design position, and Newton steps in each.
PARTS, ITERATIONS = 5, 5


def _placed(chassis: Chassis, parts: Sequence[Part]) -> System:
    """Bodies at the parts' coordinates, by continuation from the design position."""
    s = System(chassis, parts)
    still = np.zeros((len(s.solids), 3))
    theta = np.concatenate([part.theta for part in parts])
    design = [np.array([mirrored_point(p, part.side) for p in part.mechanism.prescribed.values()]).ravel()
              for part in parts]  # fmt: skip
    for step in range(1, PARTS + 1):
        told = []
        for part, rest in zip(parts, design, strict=True):
            now = np.array(part.told, dtype=float)
            for n in range(len(rest) // 3):
                first = rest[3 * n : 3 * n + 3]
                now[12 * n : 12 * n + 3] = first + (now[12 * n : 12 * n + 3] - first) * step / PARTS
            told.append(now)
        for _ in range(ITERATIONS):
            c = Constraints(s, still, still, told)
            move = c.solve(-np.array(c.residual), theta * step / PARTS - np.array(c.values))
            for solid, by in zip(s.solids, move[: 6 * len(s.solids)].reshape(-1, 6), strict=True):
                solid.place = solid.place + by[:3]
                if (angle := float(np.linalg.norm(by[3:]))) > 0.0:
                    solid.rotation = turn(by[3:] / angle, angle) @ solid.rotation
    if (gap := float(np.abs(Constraints(s, still, still, [p.told for p in parts]).residual).max())) > 1e-11:
        raise ArithmeticError(f"the loops do not close: {gap:.1e} m")
    return s


def accelerations(chassis: Chassis, parts: Sequence[Part]) -> dict[str, Any]:
    """Solve the vehicle.

    Returns, in chassis axes: `angular` [rad/s2] and `linear` [m/s2] acceleration of the chassis origin (true, less
    free fall); `spin` list per part of (wheels,) [rad/s2]; `theta` list per part of (n,) accelerations of the
    independent coordinates, not a number for an angle of a free body; `carrier` list per part of (wheels, 6)
    accelerations of the carriers: angular, then of the wheel centre, less free fall. Raises ArithmeticError where a
    loop does not close.
    """
    s = _placed(chassis, parts)
    n = len(s.solids)
    told = [p.told for p in parts]
    still = np.zeros((n, 3))
    c = Constraints(s, still, still, told)
    rate = c.solve(np.array(c.rows.rate), np.concatenate([p.rate for p in parts]))
    own = rate[: 6 * n].reshape(n, 6)
    place = np.array([x.place for x in s.solids])
    w = own[:, 3:] + chassis.omega
    v = own[:, :3] + np.cross(chassis.omega, place)  # the linear velocity of the origin moves all alike
    wheels = [(k, x, s.index[k, x.name], s.index[k, x.on]) for k, p in enumerate(parts) for x in p.mechanism.wheels]
    spins = np.concatenate([p.spin for p in parts])
    for (k, x, i, j), spin in zip(wheels, spins, strict=True):
        w[i] = w[j] + s.way(j, unit(mirrored_axis(x.axis, parts[k].side))) * spin
    c = Constraints(s, v, w, told)
    mass, force = np.zeros((s.size, s.size)), np.zeros(s.size)
    for i, solid in enumerate(s.solids):
        inertia = solid.rotation @ solid.inertia @ solid.rotation.T
        mass[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = solid.mass * np.eye(3)
        mass[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = inertia
        force[6 * i : 6 * i + 3] = solid.mass * np.asarray(chassis.gravity)
        force[6 * i + 3 : 6 * i + 6] = -np.cross(w[i], inertia @ w[i])
    for n_rotor, (_, x, _, _) in enumerate(wheels):
        mass[6 * n + n_rotor, 6 * n + n_rotor] = float(x.shaft)
    _load(s, parts, v, w, force)
    g, gamma = np.array(c.rows.matrix), np.array(c.rows.gamma)
    system = np.block([[mass, g.T], [g, np.zeros((len(g), len(g)))]])
    right = np.concatenate([force, gamma])
    inverse = np.linalg.pinv(system, rcond=1e-14)
    found = inverse @ right
    for _ in range(2):
        found = found + inverse @ (right - system @ found)
    a = found[: s.size]
    fall = np.asarray(chassis.gravity)

    def at(i: int, point: Array) -> Array:
        arm = point - s.solids[i].place
        linear = a[6 * i : 6 * i + 3] + np.cross(a[6 * i + 3 : 6 * i + 6], arm) + np.cross(w[i], np.cross(w[i], arm))
        return np.asarray(linear - fall)

    thetas = np.array([row @ a for row in c.coordinates])
    thetas[c.tilts] = np.nan
    for number, (i, point, along) in c.slides.items():  # as seen from the chassis, which turns
        arm, there = s.arm(i, point), s.at(i, point)
        slid = own[i, :3] + np.cross(own[i, 3:], arm)
        frame = np.cross(chassis.omega, np.cross(chassis.omega, there)) + 2 * np.cross(chassis.omega, slid)
        thetas[number] = along @ (at(i, there) - at(0, np.zeros(3)) - np.cross(a[3:6], there) - frame)
    carriers, of_spin = [], []
    for k, _ in enumerate(parts):
        mine = [(x, i, j, r) for r, (p, x, i, j) in enumerate(wheels) if p == k]
        carriers.append(np.array([np.concatenate([a[6 * j + 3 : 6 * j + 6], at(j, s.solids[i].place)])
                                  for _, i, j, _ in mine]))  # fmt: skip
        of_spin.append(np.array([a[6 * n + r] for *_, r in mine]))
    return {"angular": a[3:6], "linear": at(0, np.zeros(3)), "spin": of_spin, "carrier": carriers,
            "theta": np.split(thetas, np.cumsum([len(p.theta) for p in parts])[:-1])}  # fmt: skip


def _load(s: System, parts: Sequence[Part], v: Array, w: Array, force: Array) -> None:
    """Adds the applied forces to ``force``."""

    def push(i: int, point: Array, by: Array) -> None:
        force[6 * i : 6 * i + 3] += by
        force[6 * i + 3 : 6 * i + 6] += np.cross(point - s.solids[i].place, by)

    for k, part in enumerate(parts):
        m = part.mechanism
        ends = {name: part.told[12 * n : 12 * n + 3] for n, name in enumerate(m.prescribed)}

        def place(end: End, k: int = k, part: Part = part, ends: dict[str, Array] = ends) -> tuple[int, Array]:
            if end.on in ends:
                return 0, ends[end.on]
            i = s.index[k, end.on]
            return i, s.at(i, mirrored_point(end.point, part.side))

        def act(one: End, other: End, apart: float, place: Any = place) -> None:
            (i, a), (j, b) = place(one), place(other)
            push(i, a, -apart * unit(b - a))
            push(j, b, apart * unit(b - a))

        for element in m.forces:
            act(element.lower, element.upper, part.push.get((element.kind, element.wheel), 0.0))
        for rod in m.rods:
            if rod.compliant:
                (i, a), (j, b) = place(rod.a), place(rod.b)
                design = float(np.linalg.norm(array(rod.a.point) - array(rod.b.point)))
                moving = v[j] + np.cross(w[j], b - s.solids[j].place) - v[i] - np.cross(w[i], a - s.solids[i].place)
                stretch = float(np.linalg.norm(b - a)) - design
                damping = 0.0 if rod.damping is None else float(rod.damping)
                act(rod.a, rod.b, -float(rod.stiffness) * stretch - damping * float(unit(b - a) @ moving))
        for n, wheel in enumerate(m.wheels):
            i, j = s.index[k, wheel.name], s.index[k, wheel.on]
            axis = s.way(j, unit(mirrored_axis(wheel.axis, part.side)))
            force[6 * i : 6 * i + 3] += part.force[n]
            force[6 * i + 3 : 6 * i + 6] += part.moment[n] + (part.drive[n] + part.brake[n]) * axis
            force[3:6] -= part.drive[n] * axis
            force[6 * j + 3 : 6 * j + 6] -= part.brake[n] * axis
        first = s.index[k, m.bodies[0].name]
        force[6 * first + 3 : 6 * first + 6] += part.propeller
        force[3:6] -= part.propeller
