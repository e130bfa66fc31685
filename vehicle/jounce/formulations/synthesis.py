"""Subsystem synthesis of one corner in its two forms, by the rows of Song and Kim's Table 1.

Joint form (Eqs. 21-32): relative joint coordinates, u dependent and v independent. Cartesian form (Eqs. 3-20): poses of
three bodies relative to the chassis and one driving row, Gamma = angle of the independent joint - theta, so that
N = Psi^-1 [0; 1] and p = Psi^-1 [gamma; 0]. Rods and shocks are two-point bodies in both.

Constraint embedding has the same quantities under other names: N and [-Phi_u^-1 Phi_v; 1] are X, p and Phi_u^-1 gamma
are X' theta', M* is D, Q_y*^T is h, M~c is P+ and P~c is -z+ (Jain 2016, Eqs. 4, 6, 13, 14).

The print of Q_y* has u and v exchanged; it is (M_yqv - M_yqu Phi_u^-1 Phi_v)^T.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.dynamics.embedding import by_points
from jounce.dynamics.graph import ROOT
from jounce.dynamics.lu import factorize, pivot_order
from jounce.dynamics.masses import total_of
from jounce.dynamics.mechanism import End, Mechanism, Rod
from jounce.formulations.augmented import Inputs, Terms, Tree, triangle
from jounce.formulations.cartesian import Cartesian
from jounce.math.algebra import SX, dot

Array = NDArray[np.float64]
#: Linear spring [N/m] and damper [N s/m] of the quarter car.
STIFFNESS, DAMPING = 441.3e3, 17.5e3
#: Rows of Table 1.
ROWS = ("position", "velocity", "rhs", "mass and force", "effective", "acceleration")
_PRODUCTS = (ca.OP_MUL, ca.OP_DIV, ca.OP_SQ, ca.OP_INV)
_SUMS = (ca.OP_ADD, ca.OP_SUB, ca.OP_TWICE)
_OTHERS = (ca.OP_SIN, ca.OP_COS, ca.OP_SQRT, ca.OP_ATAN2)


@dataclass(frozen=True)
class Count:
    """Operations of one row of the table."""

    products: int
    """M.D: multiplications and divisions."""
    sums: int
    """A.S: additions and subtractions; twice a number is one."""
    others: int
    """Sines, cosines and roots, which the paper does not count."""

    def __sub__(self, other: Count) -> Count:
        """What comes on top of the other."""
        return Count(self.products - other.products, self.sums - other.sums, self.others - other.others)


@dataclass(frozen=True)
class Chain:
    """One form, row by row: what each row of the table adds, as expressions of the inputs."""

    inputs: Inputs
    acceleration: SX
    """Symbol of the chassis' acceleration [angular; linear less gravity]."""
    theta_rate: SX
    """Rate of the independent coordinate."""
    steps: tuple[tuple[SX, ...], ...]
    """By ROWS."""
    inertia: SX
    """M~c, Eqs. 19 and 31."""
    force: SX
    """P~c, Eqs. 20 and 32."""
    independent: SX
    """Acceleration of the independent coordinate, Eqs. 18 and 29."""
    coupling: SX
    """M_E theta (6,), Q_y* transposed."""
    rates: SX
    """All rates from the independent one. The rows after it take the rates as inputs, as they do all that an earlier
    row has made."""

    def function(self) -> ca.Function:
        """chain(Inputs, chassis' acceleration) -> (M~c, P~c, acceleration of the independent coordinate, coupling)."""
        out = (self.inertia, self.force, self.independent, self.coupling)
        return ca.Function("chain", [*self.inputs.all(), self.acceleration], [ca.densify(v) for v in out])

    def rates_function(self) -> ca.Function:
        """rates(position, INNER, rate of the independent coordinate) -> all rates, Eqs. 15 and 30."""
        c = self.inputs
        return ca.Function("rates", [c.position, c.inner, self.theta_rate], [ca.densify(self.rates)])

    def counts(self, *, cse: bool) -> dict[str, Count]:
        """Operations that each row adds to those before it; what an earlier row has computed is not computed again."""
        inputs = [*self.inputs.all(), self.acceleration]
        if not ca.depends_on(self.inputs.rates, self.theta_rate):
            inputs.append(self.theta_rate)
        outputs = [ca.vertcat(*(ca.vec(ca.densify(v)) for v in step)) for step in self.steps]
        if cse:
            outputs = ca.cse(outputs)
        found, before = {}, Count(0, 0, 0)
        for k, name in enumerate(ROWS):
            whole = counted(ca.Function("f", inputs, outputs[: k + 1]))
            found[name], before = whole - before, whole
        return found


def counted(function: ca.Function) -> Count:
    """Operations of an SX function by its instructions."""
    kinds = [function.instruction_id(k) for k in range(function.n_instructions())]
    return Count(*(sum(kind in group for kind in kinds) for group in (_PRODUCTS, _SUMS, _OTHERS)))


def dense_lu(size: int, right: int) -> Count:
    """Operations of L U of a full matrix and of that many right-hand sides (Golub and Van Loan, section 3.2)."""
    divisions = size * (size - 1) // 2
    products = sum((size - k) ** 2 for k in range(1, size + 1))
    solves = size * size * right
    return Count(divisions + products + solves, products + size * (size - 1) * right, 0)


def quarter_car(mechanism: Mechanism) -> Mechanism:
    """The corner as the paper's: arms, knuckle, tierod on the chassis, a linear spring and damper for the shock."""
    def fixed(end: End) -> End:
        return replace(end, on=ROOT) if end.on in mechanism.prescribed else end

    rods = tuple(replace(rod, a=fixed(rod.a), b=fixed(rod.b), mass=None, across=None) for rod in mechanism.rods)
    shock = next(f for f in mechanism.forces if f.kind == "shock")
    unit = Rod("strut", shock.lower, shock.upper, stiffness=STIFFNESS, damping=DAMPING)
    return replace(mechanism, rods=(*rods, unit), tubes=(), forces=(), prescribed={})


def table(mechanism: Mechanism) -> dict[str, dict[str, dict[str, list[int]]]]:
    """Operations [M.D, A.S, sines, cosines and roots] by convention, form and row of the paper's quarter car.

    `as written`: sparse L U in Markowitz's order; `shared`: the same after common subexpressions are shared; `dense`:
    as written, but the operations of a full L U of Psi (18 x 18, two right-hand sides) or Phi_u (4 x 4) added in the
    row velocity.
    """
    plain = quarter_car(mechanism)
    found: dict[str, dict[str, dict[str, list[int]]]] = {"as written": {}, "shared": {}, "dense": {}}
    for name, chain in (("cartesian", cartesian_form(plain)), ("joint", joint_form(plain))):
        for convention, rows in found.items():
            counts = chain.counts(cse=convention == "shared")
            if convention == "dense":
                full = dense_lu(*((18, 2) if name == "cartesian" else (4, 2)))
                counts["velocity"] = counts["velocity"] - Count(-full.products, -full.sums, 0)
            rows[name] = {row: [c.products, c.sums, c.others] for row, c in counts.items()}
    return found


def mass_of(t: Terms, size: int) -> SX:
    """M as a full matrix."""
    m = SX(size, size)
    for (i, j), v in t.mass.items():
        m[i, j] = m[j, i] = v
    return m


def _sized(rows: Sequence[dict[int, SX]], columns: Sequence[int]) -> SX:
    y = SX(len(rows), len(columns))
    for i, row in enumerate(rows):
        for j, k in enumerate(columns):
            if k in row:
                y[i, j] = row[k]
    return y


def joint_form(mechanism: Mechanism, side: float = 1.0) -> Chain:
    """Relative joint coordinates, Eqs. 29-32; the mechanism has one independent coordinate."""
    tree = Tree(mechanism, side)
    c = tree.symbols()
    [v] = (tree.names.index(name) for name in mechanism.independent)
    u = [k for k in range(tree.size) if k != v]
    t = tree.terms(c)
    left = [{u.index(k): e for k, e in row.items() if k in u} for row in t.jacobian]
    at = {k: 0.03 * np.sin(1.0 + 2.3 * k) for k in range(tree.size)}
    numbers = ca.Function("y", c.all(), [_sized(t.jacobian, u)])
    order = pivot_order(np.array(numbers(*_generic(c, mechanism, ca.DM(list(at.values()))))))
    factors = factorize(left, order)
    phi_v = [row.get(v, SX(0)) for row in t.jacobian]
    gamma, told = t.gamma(SX(0)), _told(t)
    k = ca.vertcat(*factors.solve(phi_v))
    slope = -k * c.rates[v] - ca.vertcat(*factors.solve(told))
    p = ca.vertcat(*factors.solve([gamma[i] for i in range(len(u))]))
    mass, a0 = mass_of(t, tree.size), SX.sym("a0", 6)
    muu, mvu, mvv = mass[u, u], mass[v, u], mass[v, v]
    yu, yv, pu, pv, py = t.h[:, u], t.h[:, v], t.force[u], t.force[v], -t.bias
    m_star = mvv - 2 * mvu @ k + k.T @ muu @ k
    q_star = pv - mvu @ p - k.T @ pu + k.T @ (muu @ p)
    coupling = yv - yu @ k
    inertia = t.inertia - coupling @ coupling.T / m_star
    force = py - yu @ p - coupling @ (q_star / m_star)
    independent = (q_star - dot(coupling, a0)) / m_star
    dependent = p - k * independent
    position = [t.residual, *(pose.rotation for pose in t.moved.placed.poses.values()),
                *(pose.shift for pose in t.moved.placed.poses.values())]  # fmt: skip
    steps = (tuple(position), (k, slope, *_rates(t)), (gamma, p), (mass, t.h, t.inertia, t.force, t.bias),
             (m_star, q_star, coupling, inertia, force), (independent, dependent))  # fmt: skip
    rates = ca.vertcat(*(slope[u.index(j)] if j in u else c.rates[v] for j in range(tree.size)))
    return Chain(c, a0, c.rates[v], steps, inertia, force, independent, coupling, rates)


def cartesian_form(mechanism: Mechanism, side: float = 1.0) -> Chain:
    """Relative Cartesian coordinates, Eqs. 15-20, with the angle of the independent revolute joint as theta."""
    alone = not mechanism.tubes and all(rod.mass is None for rod in mechanism.rods)
    form = Cartesian(mechanism, side, two_point=True) if alone else Bodies(mechanism, side)
    c = form.symbols()
    [joint] = (j for j in form.mechanism.joints if j.name in mechanism.independent)
    t = form.terms(c)
    size = form.size
    body = [p.name for p in form.parts].index(joint.b)
    axes = t.moved.placed.poses[joint.b].rotation @ form.parts[body].axes
    drive = {6 * body + 3 + k: dot(axes[:, k], SX(joint.axis)) for k in range(3)}
    rows = [*t.jacobian, drive]
    numbers = np.vstack([form.generic, np.zeros(size)])
    for k in range(3):
        numbers[-1, 6 * body + 3 + k] = float(form.parts[body].axes[:, k].T @ ca.evalf(joint.axis))
    factors = factorize(rows, pivot_order(numbers))
    gamma, own = t.gamma(SX(0)), SX.sym("theta_rate")
    n = ca.vertcat(*factors.solve([SX(0)] * (size - 1) + [SX(1)]))
    rates = n * own - ca.vertcat(*factors.solve([*_told(t), SX(0)]))
    p = ca.vertcat(*factors.solve([gamma[i] for i in range(size - 1)] + [SX(0)]))
    mass, a0 = mass_of(t, size), SX.sym("a0", 6)
    coupling, d = t.h @ n, n.T @ mass @ n
    g_e, g_theta = -t.bias - t.h @ p, n.T @ (t.force - mass @ p)
    inertia = t.inertia - coupling @ coupling.T / d
    force = g_e - coupling @ (g_theta / d)
    independent = (g_theta - dot(coupling, a0)) / d
    position = [t.residual, *(pose.rotation for pose in t.moved.placed.poses.values()),
                *(pose.shift for pose in t.moved.placed.poses.values())]  # fmt: skip
    steps = (tuple(position), (n, rates, *_rates(t)), (gamma, p), (mass, t.h, t.inertia, t.force, t.bias),
             (coupling, d, g_e, g_theta, inertia, force), (independent, n * independent + p))  # fmt: skip
    return Chain(c, a0, own, steps, inertia, force, independent, coupling, rates)


class Bodies(Cartesian):
    """Poses of the bodies that are there; rods and tubes stay two-point bodies, whose mass rides on them."""

    def __init__(self, mechanism: Mechanism, side: float = 1.0) -> None:
        """As `Cartesian`."""
        super().__init__(mechanism, side, two_point=True)

    def terms(self, c: Inputs) -> Terms:
        """The equations: sums over all bodies, of which the two-point ones couple those that carry them."""
        placed = self.placed(c)
        moved, moving, rows = self._moved(placed, self._told(c), c.rates)
        sums = total_of(moved, c.omega)
        return self._closed(c, self._complete(c, moved, moving, rows, sums, triangle(sums["d"], self.size)))


def _rates(t: Terms) -> tuple[SX, ...]:
    return tuple(v for m in t.moved.twists.values() for v in (m[2].w, m[2].v))


def _told(t: Terms) -> list[SX]:
    """Phi_t of every row: what the prescribed points do."""
    return by_points(t.rows, {name: told.rate for name, told in t.moved.told.items()})


def _generic(c: Inputs, mechanism: Mechanism, position: ca.DM) -> list[ca.DM]:
    told = [ca.vertcat(ca.evalf(SX(p)), ca.DM.zeros(9)) for p in mechanism.prescribed.values()]
    values = {"position": position, "inner": ca.vertcat(*told) if told else ca.DM(0, 1)}
    return [values.get(name, ca.DM.zeros(getattr(c, name).shape))
            for name in ("position", "rates", "spin_rate", "inner", "omega", "loads", "alpha")]  # fmt: skip
