"""Constraint rows of vehicles in maximal coordinates, joint by joint, and their independent coordinates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jounce.dynamics.mechanism import End, Joint
from jounce.reference.kkt_joints import Rows, normals
from jounce.reference.maximal_bodies import Array, Part, System, mirrored_axis, mirrored_point, unit


class Constraints:
    """Rows of a system with velocities, their residuals, and what the independent coordinates are."""

    def __init__(self, s: System, v: Array, w: Array, told: Sequence[Array]) -> None:
        """``v``, ``w``: (bodies, 3) velocities of the centres of mass and angular velocities; ``told`` as in `Part`."""
        self.s, self.rows = s, Rows(s.size, v, w)
        self.residual: list[float] = []
        self.coordinates: list[Array] = []
        self.values: list[float] = []
        #: Number of a coordinate that is a height or the like -> body, its point in the design position, direction.
        self.slides: dict[int, tuple[int, Array, Array]] = {}
        #: Numbers of those that are angles of a free body.
        self.tilts: list[int] = []
        for k, part in enumerate(s.parts):
            self._part(k, part, told[k])
        for n, (k, name) in enumerate(s.rotors):
            wheel = next(x for x in s.parts[k].mechanism.wheels if x.name == name)
            i, j = s.index[k, name], s.index[k, wheel.on]
            axis = s.way(j, unit(mirrored_axis(wheel.axis, s.parts[k].side)))
            self.rows.rotor(i, j, axis, 6 * len(s.solids) + n)
            self.residual.append(0.0)

    def _part(self, k: int, part: Part, told: Array) -> None:
        m = part.mechanism
        self.ends = {name: told[12 * n : 12 * n + 12] for n, name in enumerate(m.prescribed)}
        for joint in m.joints:
            self._joint(k, part, joint)
        for wheel in m.wheels:
            i, j = self.s.index[k, wheel.name], self.s.index[k, wheel.on]
            self._hinge(i, j, mirrored_point(wheel.centre, part.side), unit(mirrored_axis(wheel.axis, part.side)))
        for rod in m.rods:
            if rod.compliant:
                continue
            i = self.s.index[k, rod.name]
            a, b = (mirrored_point(end.point, part.side) for end in (rod.a, rod.b))
            self._ball(i, a, *self._end(k, rod.a, part.side))
            self._ball(i, b, *self._end(k, rod.b, part.side))
            self._no_spin(i, unit(a - b))
        for t in m.tubes:
            i, j = (self.s.index[k, f"{t.name} {end}"] for end in ("lower", "upper"))
            foot, top = mirrored_point(t.lower.point, part.side), mirrored_point(t.upper.point, part.side)
            self._ball(i, foot, *self._end(k, t.lower, part.side))
            self._ball(j, top, *self._end(k, t.upper, part.side))
            self._slide(i, j, unit(top - foot))
            self._no_spin(i, unit(top - foot))
        names = {j.name: j for j in m.joints}
        for name in m.independent:
            self._coordinate(k, part, names[name.split(".")[0]], name.partition(".")[2])

    def _end(self, k: int, end: End, side: int) -> tuple[int, Array, Array | None]:
        """(body, point of it in the design position, motion of a prescribed point)."""
        if end.on in self.ends:
            return 0, self.ends[end.on][:3], self.ends[end.on]
        return self.s.index[k, end.on], mirrored_point(end.point, side), None

    def _ball(self, i: int, p_i: Array, j: int, p_j: Array, told: Array | None) -> None:
        drive = None if told is None else (told[6:9], told[9:12])
        self.rows.spherical(i, self.s.arm(i, p_i), j, self.s.arm(j, p_j), drive)
        self.residual += list(self.s.at(i, p_i) - self.s.at(j, p_j))

    def _perpendicular(self, i: int, a: Array, j: int, b: Array) -> None:
        self.rows.perpendicular(i, self.s.way(i, a), j, self.s.way(j, b))
        self.residual.append(float(self.s.way(i, a) @ self.s.way(j, b) - a @ b))

    def _hinge(self, i: int, j: int, point: Array, axis: Array) -> None:
        self._ball(i, point, j, point, None)
        for n in normals(axis):
            self._perpendicular(i, axis, j, n)

    def _on_line(self, i: int, p_i: Array, j: int, p_j: Array, axis: Array) -> None:
        apart, along = self.s.at(j, p_j) - self.s.at(i, p_i), self.s.way(i, axis)
        self.rows.on_line(i, self.s.arm(i, p_i), j, self.s.arm(j, p_j), apart, along)
        self.residual += [float(n @ apart) for n in normals(along)]

    def _slide(self, i: int, j: int, axis: Array) -> None:
        x, y = normals(axis)
        for a, b in ((x, y), (y, axis), (axis, x)):
            self._perpendicular(i, a, j, b)
        self._on_line(i, self.s.solids[j].com, j, self.s.solids[j].com, axis)

    def _no_spin(self, i: int, axis: Array) -> None:
        self.rows.no_spin(i, self.s.way(i, axis))
        self.residual.append(0.0)

    def _joint(self, k: int, part: Part, joint: Joint) -> None:
        side, point = part.side, mirrored_point(joint.point, part.side)
        if told := {joint.a, joint.b} & self.ends.keys():
            other = joint.a if joint.b in told else joint.b
            self._ball(self.s.index[k, other], point, *self._end(k, End(told.pop(), joint.point), side))
            return
        a, b = self.s.index[k, joint.a], self.s.index[k, joint.b]
        axis, second = (None if x is None else unit(mirrored_axis(x, side)) for x in (joint.axis, joint.axis2))
        match joint.kind, axis, second:
            case "revolute", along, None if along is not None:
                self._hinge(b, a, point, along)
            case "spherical", None, None:
                self._ball(b, point, a, point, None)
            case "universal", one, two if one is not None and two is not None:
                self._ball(b, point, a, point, None)
                self._perpendicular(a, one, b, two)
            case "prismatic", along, None if along is not None:
                self._slide(a, b, along)
            case "cylindrical", along, None if along is not None:
                self._on_line(a, point, b, point, along)
                for n in normals(along):
                    self._perpendicular(b, along, a, n)
            case "point_on_line", along, None if along is not None:
                self._on_line(a, point, b, point, along)

    def _coordinate(self, k: int, part: Part, joint: Joint, which: str) -> None:
        """Row and value of an independent coordinate: a hinge's angle, or a free body's x, y, z or rx."""
        a, b = self.s.index[k, joint.a], self.s.index[k, joint.b]
        row = np.zeros(self.s.size)
        if joint.kind == "revolute":
            a, b = (b, a) if joint.b == "chassis" else (a, b)
            design = unit(mirrored_axis(joint.axis, part.side))
            axis, n = self.s.way(a, design), normals(design)
            row[6 * b + 3 : 6 * b + 6], row[6 * a + 3 : 6 * a + 6] = axis, -axis
            turned = self.s.solids[a].rotation.T @ self.s.way(b, n[0])
            self.values.append(float(np.arctan2(turned @ n[1], turned @ n[0])))
        elif joint.kind == "free" and which in "xyz":
            e, point = np.eye(3)["xyz".index(which)], mirrored_point(joint.point, part.side)
            row[6 * b : 6 * b + 3], row[6 * b + 3 : 6 * b + 6] = e, np.cross(self.s.arm(b, point), e)
            self.values.append(float(e @ (self.s.at(b, point) - point)))
            self.slides[len(self.coordinates)] = b, point, e
        elif joint.kind == "free" and which == "rx":
            r = self.s.solids[b].rotation  # Rx Ry Rz
            angle = float(np.arctan2(-r[1, 2], r[2, 2]))
            y, z = np.array([0.0, np.cos(angle), np.sin(angle)]), r[:, 2]
            across = np.cross(y, z)
            self.tilts.append(len(self.coordinates))
            row[6 * b + 3 : 6 * b + 6] = across / across[0]
            self.values.append(angle)
        else:
            raise NotImplementedError(f"{joint.name}.{which} as an independent coordinate")
        self.coordinates.append(row)

    def solve(self, rates: Array, coordinates: Array) -> Array:
        """Velocities with those rates of the rows and of the coordinates, the chassis at rest."""
        still = np.eye(6, self.s.size)
        rotors = np.eye(self.s.size)[6 * len(self.s.solids) :]
        left = np.vstack([np.array(self.rows.matrix), np.array(self.coordinates), still, rotors])
        right = np.concatenate([rates, coordinates, np.zeros(6 + len(rotors))])
        return np.asarray(np.linalg.lstsq(left, right, rcond=1e-12)[0])
