"""How a suspension template reads the vehicle's entries: points, masses and laws of one axle, by their names.

Every kind of axle names its entries alike: `<axle>.origin`, points `<axle>.NAME.x|y|z` of the left side in the
suspension frame (chassis axes, from `origin`), `<axle>.BODY.mass`, `<axle>.BODY.inertia.xx|yy|zz`, and the spring, its
stops and the shock under the names that `jounce.suspension.springs` explains.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca

from jounce.dynamics.graph import ROOT
from jounce.dynamics.mechanism import Body, End, Force, Rod, Tubes, Value, Wheel
from jounce.math.algebra import SX, cross, dot, unit

AXES = ("x", "y", "z")
MOMENTS = ("xx", "yy", "zz")
#: Name in the law -> entry.
_SPRING = {name: f"spring.{name}" for name in ("k1", "k3", "table_step", "rest_length", "preload", "min_length",
                                               "max_length")}  # fmt: skip
_SHOCK = {
    "compression": "shock.compression", "rebound": "shock.rebound", "bump_compression": "shock.bump_compression",
    "bump_rebound": "shock.bump_rebound", "shock_min": "shock.min_length", "shock_max": "shock.max_length",
    "shock_closed": "shock.closed_length", "shock_extended": "shock.extended_length",
    "end_stiffness": "shock.end_stiffness", "end_damping": "shock.end_damping",
}  # fmt: skip
#: Points of the table of a stop.
STOP_POINTS = 11


@dataclass(frozen=True)
class Entries:
    """The entries of one axle."""

    p: Mapping[str, Value]
    """All entries of the vehicle by their full names: symbols or numbers."""
    axle: str
    """Name of the axle."""

    def has(self, name: str) -> bool:
        """Whether the axle has that entry, or the point of that name."""
        return f"{self.axle}.{name}" in self.p or f"{self.axle}.{name}.x" in self.p

    def number(self, name: str) -> SX:
        """Value of the axle's entry; raises KeyError with its full name."""
        return SX(self.p[f"{self.axle}.{name}"])

    def point(self, name: str, side: float = 1.0) -> SX:
        """A point in the chassis frame [m] in the design position, on that side."""
        found = ca.vertcat(*(self.number(f"{name}.{a}") for a in AXES))
        return (ca.vertcat(*(self.number(f"origin.{a}") for a in AXES)) + found) * SX([1, side, 1])

    def moments(self, body: str) -> SX:
        """Principal moments of inertia about the centre of mass [kg m2]."""
        return ca.vertcat(*(self.number(f"{body}.inertia.{a}") for a in MOMENTS))

    def body(self, name: str, com: str) -> Body:
        """A body whose principal axes are those of the chassis in the design position."""
        return Body(name, self.number(f"{name}.mass"), self.point(com), self.moments(name))

    def arm(self, name: str) -> Body:
        """A control arm; its moments stand in its own frame, x along the hinge, z across the plane of its joints."""
        front, back, ball = (self.point(f"{name}_{k}") for k in "FBU")
        x = unit(front - back)
        z = unit(cross(back - ball, front - ball))
        axes = ca.horzcat(x, cross(z, x), z)
        full = axes @ ca.diag(self.moments(name)) @ axes.T
        six = ca.vertcat(full[0, 0], full[1, 1], full[2, 2], full[0, 1], full[0, 2], full[1, 2])
        return Body(name, self.number(f"{name}.mass"), self.point(f"{name}_CM"), six)

    def rod(self, name: str, a: End, b: End, entries: str = "") -> Rod:
        """A rod with its mass, where it has one; compliant where there is an entry `<name>.stiffness`."""
        read = {}
        for key, entry in (("mass", "mass"), ("across", "inertia.xx"), ("stiffness", "stiffness"),
                           ("damping", "damping")):  # fmt: skip
            for owner in (name, entries):
                if owner and self.has(f"{owner}.{entry}"):
                    read[key] = self.number(f"{owner}.{entry}")
                    break
        return Rod(name, a, b, **read)

    def shock_tubes(self, lower: End, upper: End, name: str = "shock") -> Tubes:
        """The tubes of a shock, half the design length each with the centre of mass in their middle."""
        along = upper.point - lower.point
        quarter = ca.sqrt(dot(along, along)) / 4
        low, up = "shock_lower", "shock_upper"
        return Tubes(name, lower, upper, quarter, self.number(f"{low}.mass"), self.number(f"{low}.inertia.xx"),
                     self.number(f"{low}.inertia.zz"), quarter, self.number(f"{up}.mass"),
                     self.number(f"{up}.inertia.xx"), self.number(f"{up}.inertia.zz"))  # fmt: skip

    def forces(self, spring: tuple[End, End], shock: tuple[End, End], wheel: int = 0) -> tuple[Force, Force]:
        """Spring and shock of one wheel, each between its lower and its upper end."""
        law = {key: self.number(entry) for key, entry in _SPRING.items()}
        for key in ("depth", "force"):
            law[f"stop_{key}"] = ca.vertcat(*(self.number(f"stop.{key}.{k}") for k in range(STOP_POINTS)))
        damper = {key: self.number(entry) for key, entry in _SHOCK.items()}
        return Force("spring", wheel, *spring, law), Force("shock", wheel, *shock, damper)

    def wheel(self, on: str, side: float = 1.0, name: str = "wheel", point: str = "SPINDLE") -> Wheel:
        """Wheel, tire and spindle as one, with the centre at that point, the spin axis along chassis y."""
        p = {k: SX(v) for k, v in self.p.items() if k.startswith(("wheel.", "driveline."))}
        mass = p["wheel.mass"] + self.number("spindle.mass")
        along = p["wheel.inertia.yy"] + self.number("spindle.inertia.yy")
        across = p["wheel.inertia.xx"] + self.number("spindle.inertia.xx")
        return Wheel(name, on, self.point(point, side), SX([0, 1, 0]), mass, along, across, p["driveline.inertia"])


def chassis(point: SX) -> End:
    """A point of the chassis."""
    return End(ROOT, point)
