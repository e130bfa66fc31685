"""An axle of the user's own topology: bodies, joints, rods, springs by name, numbers as entries.

The lists of one axle stand in its data file as arrays of tables, beside the entries with the numbers:

    [[rear.coordinate]]             # one for a corner, two for a whole axle
    name = "LCA"                    # a joint's name, or `upright.z`
    [[rear.body]]
    name = "LCA"                    # entries rear.LCA.mass, rear.LCA.inertia.xx ..; chassis axes
    com = "LCA_CM"                  # a point: rear.LCA_CM.x ..
    [[rear.joint]]
    name = "LCA"
    type = "revolute"
    a = "chassis"
    b = "LCA"
    point = "LCA_B"
    axis = ["LCA_B", "LCA_F"]       # from one point to another, or "x", "y", "z"
    [[rear.rod]]
    name = "tierod"                 # entries rear.tierod.mass, .inertia.xx, .stiffness where it has them
    a = "steering"                  # a body, "chassis", or "steering": an end that the steering moves
    point_a = "TIEROD_C"
    b = "upright"
    point_b = "TIEROD_U"
    [[rear.strut]]                  # the upper tube of a strut, which slides on a body and hangs on the other end
    name = "strut"                  # entries rear.strut.mass, .com_from_top, .inertia.xx and .zz
    a = "upright"
    point_a = "STRUT_U"
    b = "chassis"
    point_b = "STRUT_C"
    [[rear.wheel]]
    on = "upright"
    [[rear.spring]]                 # the law's numbers are rear.spring.k1 .. as for every kind; [[rear.shock]] alike
    a = "LCA"
    point_a = "SPRING_A"
    b = "chassis"
    point_b = "SPRING_C"

A corner is its left side. A whole axle has both sides and two wheels: left first, `wheel = 2` for the second's spring,
points `.x .y .z` as they are; there a wheel's centre is its own `point`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from jounce.data import DataError
from jounce.dynamics.mechanism import Body, End, Force, Joint, Mechanism, Rod, Tubes, Value, Wheel
from jounce.math.algebra import SX
from jounce.suspension.mechanisms.entries import AXES, MOMENTS, Entries

STEERING: Final = "steering"
Table = Mapping[str, Any]
Lists = Mapping[str, Sequence[Table]]
#: List -> keys that its tables must have, keys that they may have.
_KEYS: Final[dict[str, tuple[set[str], set[str]]]] = {
    "coordinate": ({"name"}, set()),
    "body": ({"name", "com"}, set()),
    "joint": ({"name", "type", "a", "b", "point"}, {"axis", "axis2", "cut"}),
    "rod": ({"name", "a", "point_a", "b", "point_b"}, set()),
    "strut": ({"name", "a", "point_a", "b", "point_b"}, set()),
    "wheel": ({"on"}, {"point"}),
    "spring": ({"a", "point_a", "b", "point_b"}, {"wheel"}),
    "shock": ({"a", "point_a", "b", "point_b"}, {"wheel"}),
}
NAMES: Final = tuple(_KEYS)


def mechanism(p: Mapping[str, Value], axle: str, lists: Lists) -> Mechanism:
    """The mechanism that the lists describe; raises DataError that names list, place and what is expected."""
    return _Reader(Entries(p, axle), lists).mechanism()


class _Reader:
    def __init__(self, entries: Entries, lists: Lists) -> None:
        self.e, self.lists = entries, lists
        self.prescribed: dict[str, SX] = {}
        for name in lists:
            if name not in _KEYS:
                raise DataError(f"[[{entries.axle}.{name}]]: expected one of {', '.join(_KEYS)}")

    def mechanism(self) -> Mechanism:
        e = self.e
        self.prescribed = {}
        bodies = tuple(self._body(t, w) for t, w in self._all("body"))
        joints = tuple(self._joint(t, w) for t, w in self._all("joint"))
        rods = tuple(self._rod(t, w) for t, w in self._all("rod"))
        wheels = tuple(self._wheel(t, k, w) for k, (t, w) in enumerate(self._all("wheel")))
        forces = tuple(f for kind in ("spring", "shock") for f in self._forces(kind))
        tubes = [self._strut(t, w) for t, w in self._all("strut")]
        if e.has("shock_lower.mass"):
            tubes += [e.shock_tubes(f.lower, f.upper, f"shock_{f.wheel + 1}") for f in forces if f.kind == "shock"]
        independent = tuple(t["name"] for t, _ in self._all("coordinate"))
        try:
            return Mechanism(e.axle, independent, bodies, joints, rods, wheels, tuple(tubes), forces, self.prescribed)
        except ValueError as error:
            said = str(error).removeprefix(f"{e.axle}: ")
            raise DataError(f"axle {e.axle}: {said}") from error

    def _all(self, name: str) -> list[tuple[Table, str]]:
        """The tables of one list, checked, each with where it stands."""
        must, may = _KEYS[name]
        found = []
        for k, table in enumerate(self.lists.get(name, ()), 1):
            where = f"[[{self.e.axle}.{name}]] {k}"
            if "name" in table:
                where += f" ({table['name']!r})"
            if missing := sorted(must - table.keys()):
                raise DataError(f"{where}: lacks {', '.join(missing)}")
            if unknown := sorted(table.keys() - must - may):
                raise DataError(f"{where}: unknown key {unknown[0]!r}; expected {', '.join(sorted(must | may))}")
            for key, value in table.items():
                wanted: Any = {"cut": bool, "wheel": int, "axis": str | list, "axis2": str | list}.get(key, str)
                if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
                    words = {bool: "true or false", int: "a whole number", str: "a name"}
                    raise DataError(f"{where}: {key} = {value!r}: expected {words.get(wanted, 'an axis')}")
            found.append((table, where))
        return found

    def _point(self, name: str, where: str) -> SX:
        if not all(self.e.has(f"{name}.{a}") for a in AXES):
            raise DataError(f"{where}: point {name!r} has no entries {self.e.axle}.{name}.x, .y, .z")
        return self.e.point(name)

    def _number(self, name: str, where: str) -> SX:
        if not self.e.has(name):
            raise DataError(f"{where}: no entry {self.e.axle}.{name}")
        return self.e.number(name)

    def _body(self, table: Table, where: str) -> Body:
        name = table["name"]
        for entry in ("mass", *(f"inertia.{a}" for a in MOMENTS)):
            self._number(f"{name}.{entry}", where)
        return Body(name, self.e.number(f"{name}.mass"), self._point(table["com"], where), self.e.moments(name))

    def _axis(self, value: Any, where: str) -> SX | None:
        if value is None:
            return None
        if value in AXES:
            return SX([float(value == a) for a in AXES])
        if isinstance(value, list) and len(value) == 2 and all(isinstance(v, str) for v in value):
            return self._point(value[1], where) - self._point(value[0], where)
        raise DataError(f'{where}: axis = {value!r}: expected "x", "y", "z" or two names of points')

    def _joint(self, table: Table, where: str) -> Joint:
        return Joint(table["name"], table["type"], table["a"], table["b"], self._point(table["point"], where),
                     self._axis(table.get("axis"), where), self._axis(table.get("axis2"), where),
                     cut=table.get("cut", False))  # fmt: skip

    def _end(self, on: str, point: str, where: str) -> End:
        place = self._point(point, where)
        if on == STEERING:
            self.prescribed[point] = place
            return End(point, place)
        return End(on, place)

    def _rod(self, table: Table, where: str) -> Rod:
        a, b = (self._end(table[k], table[f"point_{k}"], where) for k in "ab")
        return self.e.rod(table["name"], a, b)

    def _strut(self, table: Table, where: str) -> Tubes:
        low, up = (self._end(table[k], table[f"point_{k}"], where) for k in "ab")
        com, mass, across, along = (self._number(f"{table['name']}.{entry}", where)
                                    for entry in ("com_from_top", "mass", "inertia.xx", "inertia.zz"))  # fmt: skip
        none = SX(0)
        return Tubes(table["name"], low, up, none, none, none, none, com, mass, across, along, single=True)

    def _wheel(self, table: Table, k: int, where: str) -> Wheel:
        name = table.get("point", "SPINDLE")
        self._point(name, where)
        return self.e.wheel(table["on"], name=f"wheel_{k + 1}", point=name)

    def _forces(self, kind: str) -> list[Force]:
        found: list[Force] = []
        for table, where in self._all(kind):
            force = self._force(kind, table, where)
            if any(f.wheel == force.wheel for f in found):
                raise DataError(f"{where}: wheel {force.wheel + 1} has a {kind} already: expected one on each wheel")
            found.append(force)
        return found

    def _force(self, kind: str, table: Table, where: str) -> Force:
        a, b = (self._end(table[k], table[f"point_{k}"], where) for k in "ab")
        wheels = len(self.lists.get("wheel", ()))
        wheel = table.get("wheel", 1)
        if not 1 <= wheel <= wheels:
            raise DataError(f"{where}: wheel = {wheel}: expected 1 to {wheels}")
        spring, shock = self.e.forces((a, b), (a, b), wheel - 1)
        return spring if kind == "spring" else shock
