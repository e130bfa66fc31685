"""What has mass in an aggregate, in parts whose sums are short (`jounce.dynamics.aggregate.total`).

Everything between two points is taken apart by its energy, of which as much as possible rides on the bodies at its
ends, as numbers of the vehicle:

- A rigid rod of mass m, length L and inertia J across has the energy of three points on it: 2 J / L2 at each end (the
  difference of its ends' velocities is across it) and the rest M halfway, that is M/4 at each end and M/4 va.vb.
- Two tubes along the unit vector e, which does not spin, with their centres of mass at f + l e and t - u e: the terms
  with e' are a square, I/2 |e' + (m l / I) vf - (n u / I) vt|^2 with I = J + m l^2 + n u^2, but for what f and t have
  of it, which is m - (m l)^2 / I, n - (n u)^2 / I and (m l n u / I) vf.vt. The inertia along the tubes is left.

What is left of several such elements are products c va.vb of the velocities of points of the chassis and of one body.
With the centres A and B of all a and b by their weights c they are those of one rod, sum(c) vA.vB, and a turn's
(`Across`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca

from jounce.dynamics.aggregate import Across, Axial, Body, Fixed, Part, rod_turn, slender, together, total, unit_motion
from jounce.dynamics.embedding import Moved
from jounce.dynamics.graph import ROOT
from jounce.dynamics.loops import rod_length2
from jounce.dynamics.mechanism import End, Rod, Tubes, Wheel
from jounce.math.algebra import SX, dot, matrix

#: Elements between the chassis and one body from which their products are shorter together.
SEVERAL = 3
#: Added to divisors that are zero where an element has no mass; no other number is changed by it.
TINY = 1e-300


def parts_of(moved: Moved) -> list[Part]:
    """Everything with mass, wheels on the bodies that carry them with what their spin's elimination leaves."""
    return _Parts(moved).all()


def total_of(moved: Moved, omega: SX) -> dict[str, SX]:
    """Their sums (`jounce.dynamics.aggregate.total`) on a chassis that turns at ``omega``."""
    return total(parts_of(moved), omega, moved.x.shape[1])


def spinless(wheel: Wheel) -> SX:
    """Inertia about the spin axis that is left once the spin is eliminated.

    (J + Js) spin'' + J e.(rest) = torque leaves J Js / (J + Js) of the wheel's J; Js is the shaft's.
    """
    return SX(wheel.along * wheel.shaft / (wheel.along + wheel.shaft))


@dataclass
class _Parts:
    moved: Moved
    found: list[Part] = field(default_factory=list)
    riding: dict[str, list[tuple[SX, SX, SX]]] = field(default_factory=dict)
    """Body or chassis -> (mass, centre of mass in the design position, inertia) of what is fixed on it."""
    products: dict[str, list[tuple[SX, SX, SX]]] = field(default_factory=dict)
    """Body -> (c, point of the chassis, point of the body in the design position)."""

    def all(self) -> list[Part]:
        m = self.moved.placed.mechanism
        self.riding = {name: [] for name in (ROOT, *(b.name for b in m.bodies))}
        for w in m.wheels:
            self.riding[w.on].append((w.mass, SX(w.centre), slender(SX(w.axis), w.across, spinless(w))))
        several = self._several()
        for rod in m.rods:
            if rod.mass is not None:
                self._rod(rod, several)
        for tubes in m.tubes:
            self._tubes(tubes, several)
        for body, products in self.products.items():
            self._together(body, products)
        self._bodies()
        return self.found

    def _several(self) -> set[str]:
        """Bodies whose products with the chassis are taken together."""
        m = self.moved.placed.mechanism
        pairs = [(r.a, r.b) for r in m.rods if r.mass is not None and not r.compliant]
        pairs += [(t.lower, t.upper) for t in m.tubes if not t.single]
        on = [body for a, b in pairs if (body := self._beside_chassis(a, b))]
        masses = {b.name for b in m.bodies if b.mass is not None}
        return {body for body in masses if on.count(body) >= SEVERAL}

    def _beside_chassis(self, a: End, b: End) -> str:
        """The body of which one end is where the other is on the chassis; an empty text if there is none."""
        on = {a.on, b.on} - {ROOT}
        return on.pop() if len(on) == 1 and ROOT in (a.on, b.on) and on <= self.riding.keys() else ""

    def _ride(self, end: End, mass: SX) -> None:
        if mass.is_zero():
            return
        if end.on in self.riding:
            self.riding[end.on].append((mass, SX(end.point), SX(3, 3)))
        else:
            place, motion = self.moved.end(end)
            self.found.append(Body(mass, place, motion, None, motion))

    def _product(self, a: End, b: End, c: SX, several: set[str]) -> bool:
        """Adds c va.vb; whether by a point halfway, which needs -c on both ends."""
        if (body := self._beside_chassis(a, b)) in several:
            fixed, moving = (a, b) if a.on == ROOT else (b, a)
            self.products.setdefault(body, []).append((c, SX(fixed.point), SX(moving.point)))
            return False
        here, at_here = self.moved.end(a)
        there, at_there = self.moved.end(b)
        motion = (at_here + at_there) * 0.5
        self.found.append(Body(4 * c, 0.5 * (here + there), motion, None, motion))
        return True

    def _rod(self, rod: Rod, several: set[str]) -> None:
        if rod.compliant:
            self.found.append(self._stretching(rod))
            return
        tip = SX(0) if rod.across is None else 2 * rod.across / rod_length2(rod)
        c = (rod.mass - 2 * tip) / 4
        halfway = self._product(rod.a, rod.b, c, several)
        for end in (rod.a, rod.b):
            self._ride(end, tip if halfway else tip + c)

    def _stretching(self, rod: Rod) -> Body:
        """A rod that can be stretched: its inertia is that of its design length."""
        a, at_a = self.moved.end(rod.a)
        b, at_b = self.moved.end(rod.b)
        length = ca.sqrt(dot(a - b, a - b))
        axis, across = (a - b) / length, SX(0) if rod.across is None else rod.across
        turn, motion = rod_turn(axis, length, at_a - at_b), (at_a + at_b) * 0.5
        return Body(rod.mass, 0.5 * (a + b), motion, slender(axis, across, SX(0)), turn, principal=across)

    def _tubes(self, t: Tubes, several: set[str]) -> None:
        foot, at_foot = self.moved.end(t.lower)
        top, at_top = self.moved.end(t.upper)
        length = ca.sqrt(dot(top - foot, top - foot))
        axis = (top - foot) / length
        motion = unit_motion(axis, length, at_top - at_foot)
        low, up = (SX(0) if t.single else t.lower_mass * t.lower_com), t.upper_mass * t.upper_com
        own = t.upper_across + up * t.upper_com
        along = t.upper_along
        if not t.single:
            own, along = own + t.lower_across + low * t.lower_com, along + t.lower_along
        a, b = low / (own + TINY), up / (own + TINY)
        whole = motion + at_foot * a - at_top * b
        self.found += [Body(own, axis + foot * a - top * b, whole, None, whole, weight=a - b),
                       Axial(along, axis, motion)]  # fmt: skip
        self._ride(t.upper, t.upper_mass - up * b)
        if not t.single:
            left = low * b if self._product(t.lower, t.upper, low * b, several) else SX(0)
            self._ride(t.lower, t.lower_mass - low * a - left)
            self._ride(t.upper, -left)

    def _together(self, body: str, products: list[tuple[SX, SX, SX]]) -> None:
        """One rod between the centres, and the turn's product."""
        whole = sum((c for c, _, _ in products), SX(0))
        a, b = (sum((p[0] * p[k] for p in products), SX(3, 1)) / (whole + TINY) for k in (1, 2))
        turned = sum((c * ((p - a) @ (q - b).T) for c, p, q in products), SX(3, 3))
        self._product(End(ROOT, a), End(body, b), whole, set())
        for end in (End(ROOT, a), End(body, b)):
            self._ride(end, -whole)
        self.found.append(Across(turned @ self.moved.placed.poses[body].rotation.T, self.moved.turn(body)))

    def _bodies(self) -> None:
        m = self.moved.placed.mechanism
        if self.riding[ROOT]:
            self.found.append(Fixed.of(self.riding[ROOT]))
        for body in m.bodies:
            own = [] if body.mass is None else [(body.mass, SX(body.com), matrix(SX(body.inertia)))]
            if not own and not self.riding[body.name]:
                continue
            mass, com, inertia = together(own + self.riding[body.name])
            turned, now = self.moved.placed.poses[body.name].rotation, self.moved.placed.carried(body.name, com)
            moved = self.moved.motion(body.name, now)
            self.found.append(Body(mass, now, moved, turned @ inertia @ turned.T, self.moved.turn(body.name)))
