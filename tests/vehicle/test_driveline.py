"""The driveline's equations: power in is stored, lost or delivered; the shafts' inertia is that of the whole system."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jounce.data import load_vehicle
from jounce.dynamics import articulated
from jounce.math.layout import Layout
from jounce.powertrain import driveline, joined, ports
from jounce.powertrain.layouts import (
    ARM_PORT,
    COLUMN_NUMBERS,
    COLUMN_STATES,
    GIVEN,
    NUMBERS,
    PORT,
    REPORT,
    SHAFT,
    given_of,
    numbers_of,
)
from jounce.powertrain.numbers import numbers
from jounce.powertrain.train import TWO, Train
from jounce.suspension.double_wishbone import DYNAMICS, OUTPUTS

Array = np.ndarray

#: A 6x6, an 8x8 with two axles from each output of the transfer case, and one with three from the rear one.
SIX, EIGHT, LONG = (Train(tuple(f"axle_{k}" for k in range(1, n + 1)), front) for n, front in ((3, 1), (4, 2), (4, 1)))
TRAINS = {"4x4": TWO, "6x6": SIX, "8x8": EIGHT, "8x8 with three behind": LONG}
DRIVELINE, JOINED = driveline.whole_function(), joined.whole_function()
_, PORT_OF, ARM_PORT_OF = ports.corner_functions()


@cache
def values_of(train: Train = TWO) -> Array:
    """The numbers of the example with as many axles; with more than two every axle has its own ratio and share."""
    p = {n: e.value for n, e in load_vehicle("hmmwv_pedals" if train.two else "truck8x8_pedals").entries.items()}
    if not train.two:
        p["transfer.share"] = 0.4
        for k, axle in enumerate(train.axles):
            p |= {f"differential.{axle}.ratio": 2.7 + 0.1 * k, f"differential.{axle}.share": 0.5 + 0.05 * k,
                  f"differential.{axle}.bias": 1.0 + 0.5 * k}  # fmt: skip
    return np.array(ca.evalf(numbers({n: ca.SX(v) for n, v in p.items()}, ca.SX(1), train))).ravel()


N = values_of()


def part(layout: Layout, vector: Array, name: str) -> float:
    return float(vector[layout.first[name]])


def filled(layout: Layout, values: dict[str, float]) -> Array:
    vector = np.zeros(layout.size)
    for name, value in values.items():
        vector[layout.first[name]] = value
    return vector


def run(x: dict[str, float], h: Array, g: dict[str, float]) -> tuple[Array, Array, Array]:
    halves, rates, report = (np.array(v).ravel() for v in
                             DRIVELINE(filled(driveline.STATES, x), h, filled(GIVEN, g), N))  # fmt: skip
    return halves, rates, report


GOING = {"run": 1.0, "ratio": 2.48, "transfer": 1.0, "clutch": 1.0, "full_load": 500.0, "closed": -60.0,
         "coefficient": 0.0139, "torque_ratio": 1.4}  # fmt: skip
SMALL = st.floats(-1.0, 1.0)


@cache
def whole(train: Train) -> ca.Function:
    return driveline.whole_function(train)


@pytest.mark.parametrize("train", TRAINS.values(), ids=TRAINS)
@settings(max_examples=25, deadline=None)
@given(st.lists(SMALL, min_size=9, max_size=9), st.lists(SMALL, min_size=22, max_size=22),
       st.sampled_from([2.48, 0.75, -2.08]), st.sampled_from([1.0, 2.72]))  # fmt: skip
def test_power_of_the_engine_is_stored_lost_or_delivered(
    train: Train, z: list[float], axles: list[float], ratio: float, transfer: float
) -> None:
    """Rate of the stored energy by differences of the report along the rates, against the rates of the energies."""
    states, switches = driveline.states(train), given_of(train)
    h = 40.0 * np.array(axles[: train.shafts])
    x = {"engine.speed": 200 + 100 * z[0], "converter.turbine_speed": 150 * z[1], "engine.load": 0.5 + 0.5 * z[2],
         "gearbox.clutch_windup": 0.3 * z[3], "converter.lock_windup": 0.02 * z[4], "gearbox.engaged": abs(z[5]),
         "gearbox.pawl_windup": 0.01 * z[6], "gearbox.parked": abs(z[7]), "converter.locked": abs(z[8])}  # fmt: skip
    of_differentials = [name for name in states.sizes if name.startswith("differential.")]
    assert len(of_differentials) == train.held == 2 * len(train.axles) - 1
    x |= {name: 2e-3 * v for name, v in zip(of_differentials, axles[train.shafts :], strict=False)}
    locks = {name: abs(v) for name, v in zip((n for n in switches.sizes if n.endswith("_lock")), axles, strict=False)}
    g, n = GOING | locks | {"ratio": ratio, "transfer": transfer, "throttle": 0.5}, values_of(train)

    def at(x: dict[str, float]) -> list[Array]:
        return [np.array(v).ravel() for v in whole(train)(filled(states, x), h, filled(switches, g), n)]

    _, rates, report = at(x)
    step = 1e-6

    def stored(sign: float) -> float:
        return part(REPORT, at({n: v + sign * step * part(states, rates, n) for n, v in x.items()})[2], "stored")

    growth = (stored(1.0) - stored(-1.0)) / (2 * step)
    flows = [part(states, rates, f"energy.{name}") for name in ("engine", "losses", "delivered")]
    size = np.abs(flows).sum() + abs(part(REPORT, report, "stored"))
    assert growth == pytest.approx(flows[0] - flows[1] - flows[2], abs=1e-6 * size)
    assert flows[1] >= -1e-9 * size  # nothing on the way makes energy


def test_torque_on_the_axles_is_that_of_the_gears() -> None:
    """Turbine torque through 2.48, 2.73 twice halved: no friction acts where all speeds are in step."""
    w, h = 10.0, 10.0
    turbine = 2.48 * 2.73 * h
    k = part(NUMBERS, N, "clutch_stiffness")
    halves, _, _ = run({"engine.speed": 200.0, "converter.turbine_speed": turbine, "gearbox.engaged": 1.0,
                        "gearbox.clutch_windup": 300.0 / k}, np.full(4, w), GOING)  # fmt: skip
    assert halves == pytest.approx(300.0 * 2.48 * 0.85 * 2.73 / 4 * np.ones(4), rel=1e-9)


@pytest.mark.parametrize("bias", [1.0, 2.5, 4.0])
def test_the_slower_wheel_gets_the_bias_ratio_times_the_torque_of_the_faster(bias: float) -> None:
    n = N.copy()
    n[NUMBERS.first["front_bias"]], n[NUMBERS.first["axle_friction"]] = bias, 0.0
    k, torque = part(NUMBERS, n, "clutch_stiffness"), 400.0
    front = torque * 2.48 * 0.85 * 2.73 / 2
    reach = 0.5 * front * (bias - 1) / (bias + 1) / part(NUMBERS, n, "axle_stiffness_front")
    x = np.zeros(driveline.STATES.size)
    for name, value in (("engine.speed", 200.0), ("converter.turbine_speed", 2.48 * 2.73 * 20.0),
                        ("gearbox.engaged", 1.0), ("gearbox.clutch_windup", torque / k),
                        ("differential.front.windup", reach)):  # fmt: skip
        x[driveline.STATES.first[name]] = value
    g = np.zeros(GIVEN.size)
    for name, value in GOING.items():
        g[GIVEN.first[name]] = value
    halves = np.array(DRIVELINE(x, [30.0, 10.0, 20.0, 20.0], g, n)[0]).ravel()
    assert halves[0] + halves[1] == pytest.approx(front, rel=1e-9)
    assert halves[1] / halves[0] == pytest.approx(bias, rel=1e-6)


#: What each axle gets of the torque on the gearbox's output, from its shares: by hand.
SPREAD: dict[str, Callable[[float, Callable[[int], float]], list[float]]] = {
    "6x6": lambda b, s: [b, (1 - b) * s(2), (1 - b) * (1 - s(2))],
    "8x8": lambda b, s: [b * (1 - s(2)), b * s(2), (1 - b) * s(3), (1 - b) * (1 - s(3))],
    "8x8 with three behind": lambda b, s: [b, (1 - b) * s(2), (1 - b) * (1 - s(2)) * s(3),
                                           (1 - b) * (1 - s(2)) * (1 - s(3))],
}  # fmt: skip


@pytest.mark.parametrize("kind", SPREAD)
def test_open_differentials_share_the_torque_as_their_gears_do(kind: str) -> None:
    """Whatever the speeds: no friction, no bias, no torque on inertias, a clutch that holds 300 N.m."""
    train = TRAINS[kind]
    states, layout, n = driveline.states(train), numbers_of(train), values_of(train).copy()
    for name in layout.sizes:
        if name.endswith("_friction") or name.endswith("_bias"):
            n[layout.first[name]] = float(name.endswith("_bias"))
    h = np.random.default_rng(1).uniform(5.0, 15.0, train.shafts)
    ratios = [part(layout, n, f"{axle}_ratio") for axle in train.axles]
    carriers = 0.5 * (h[::2] + h[1::2])
    parts = SPREAD[kind](part(layout, n, "share"), lambda k: part(layout, n, f"axle_{k}_share"))
    turbine = 2.48 * sum(p * i * w for p, i, w in zip(parts, ratios, carriers, strict=True))
    x = {"engine.speed": 200.0, "converter.turbine_speed": turbine, "gearbox.engaged": 1.0,
         "gearbox.clutch_windup": 300.0 / part(layout, n, "clutch_stiffness")}  # fmt: skip
    halves, _, _ = (np.array(v).ravel() for v in
                    whole(train)(filled(states, x), h, filled(given_of(train), GOING), n))  # fmt: skip
    wanted = [0.5 * 300.0 * 2.48 * 0.85 * p * i for p, i in zip(parts, ratios, strict=True) for _ in range(2)]
    assert halves == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(("name", "at"), [("differential.axle_2.interaxle_windup", (2, 1)),
                                          ("differential.axle_3.interaxle_windup", (3, 4)),
                                          ("differential.centre.windup", None)])  # fmt: skip
@pytest.mark.parametrize("bias", [1.0, 2.5])
def test_the_slower_shaft_gets_the_bias_ratio_times_the_torque_of_the_faster(
    name: str, at: tuple[int, int] | None, bias: float
) -> None:
    """At equal shares, of an 8x8's differential between shafts whose far output is the faster one."""
    train, layout = EIGHT, numbers_of(EIGHT)
    p = {n: ca.SX(e.value) for n, e in load_vehicle("truck8x8_pedals").entries.items()}
    split = next(s for s in train.splits if s.windup == name)
    p |= {f"differential.{kind}_friction": ca.SX(0) for kind in ("centre", "interaxle", "axle")}
    p[f"differential.{split.kind}_bias"] = ca.SX(bias)
    n = np.array(ca.evalf(numbers(p, ca.SX(1), train))).ravel()
    torque, gear = 400.0, 2.48 * 0.85
    onto = torque * gear * (0.5 if at else 1.0)
    reach = 0.5 * onto * (bias - 1) / (bias + 1) / part(layout, n, split.stiffness)
    w = np.full(4, 20.0)
    faster = [at[1] - 1] if at else [2, 3]
    w[faster] = 30.0
    x = {"engine.speed": 200.0, "converter.turbine_speed": 2.48 * 2.73 * w.mean(), "gearbox.engaged": 1.0,
         "gearbox.clutch_windup": torque / part(layout, n, "clutch_stiffness"), name: -reach}  # fmt: skip
    halves = np.array(whole(train)(filled(driveline.states(train), x), np.repeat(w, 2),
                                   filled(given_of(train), GOING), n)[0]).ravel()  # fmt: skip
    axles = halves[::2] + halves[1::2]
    near, far = (axles[at[0] - 1], axles[at[1] - 1]) if at else (axles[:2].sum(), axles[2:].sum())
    assert near + far == pytest.approx(onto * 2.73, rel=1e-9)
    assert near / far == pytest.approx(bias, rel=1e-6)


@pytest.mark.parametrize("train", TRAINS.values(), ids=TRAINS)
@settings(max_examples=15, deadline=None)
@given(st.lists(SMALL, min_size=32, max_size=32))
def test_the_driveline_in_parts_is_the_whole_one(train: Train, z: list[float]) -> None:
    """Clutches and differentials held side by side, on lanes."""
    held, rest, lanes = parts_of(train)
    states, n = driveline.states(train), values_of(train)
    r = iter(z)
    sizes = {"engine.speed": 200.0, "converter.turbine_speed": 200.0, "engine.load": 1.0, "gearbox.clutch_windup": 0.3,
             "converter.lock_windup": 0.02, "gearbox.pawl_windup": 0.01}  # fmt: skip
    sizes |= {name: 2e-3 for name in states.sizes if name.startswith("differential.")}
    values = {name: size * next(r) for name, size in sizes.items()}
    values |= {name: abs(next(r)) for name in ("gearbox.engaged", "gearbox.parked", "converter.locked")}
    x = filled(states, values)
    locks = {name: 0.5 for name in given_of(train).sizes if name.endswith("_lock")}
    g = filled(given_of(train), GOING | locks | {"throttle": 0.5})
    h = 40 * np.array([next(r) for _ in range(train.shafts)])
    holds = []
    for hold, rows, damping in zip(lanes, held(x, h, g, n), ("damping", "differential_damping"), strict=True):
        law = [part(numbers_of(train), n, damping), part(numbers_of(train), n, "rate_limit")]
        sides = np.array(rows).reshape(driveline.HELD.size, driveline.sides(train))
        holds.append(np.hstack([np.array(hold(side, law)) for side in sides.T]).ravel())
    for found, wanted in zip(rest(x, h, g, n, *holds), whole(train)(x, h, g, n), strict=True):
        wanted_ = np.array(wanted).ravel()
        assert np.array(found).ravel() == pytest.approx(wanted_, rel=1e-9, abs=1e-12 * (1 + abs(wanted_).max()))


@cache
def parts_of(train: Train) -> tuple[ca.Function, ca.Function, list[ca.Function]]:
    (held, rest), lanes = driveline.part_functions(train)
    return held, rest, lanes


class Vehicle:
    """Random chassis, corners, wheels and steering arm: one matrix of all coordinates, and what the recursion has."""

    def __init__(self, seed: int, kind: str = "4x4") -> None:
        r = np.random.default_rng(seed)
        root = r.normal(size=(6, 6))
        self.transfer, self.omega = 2.72, r.normal(size=3)
        self.kind, self.train = kind, TRAINS[kind]
        self.layout, self.n = numbers_of(self.train), values_of(self.train)
        # q: chassis 6, theta of each wheel, its spin relative to the upright, arm
        many = self.many = self.train.shafts
        size = self.arm = 6 + 2 * many
        mass, self.rows = np.zeros((size + 1, size + 1)), np.zeros((many, size + 1))
        self.force = r.normal(size=size + 1)
        mass[:6, :6], mass[size, size] = root @ root.T + 6 * np.eye(6), 20.0
        hub, sense = part(self.layout, self.n, "hub"), part(self.layout, self.n, "sense")
        steers = 0.3 * r.normal(size=(many, 7))  # of the chassis and theta with the arm, without the wheels' turn
        self.spins, wheels = [], []
        for k in range(many):
            axis, partial, steer = r.normal(size=(3, 3))
            axis /= np.linalg.norm(axis)
            along, shaft, own = r.uniform(5, 9), r.uniform(0.2, 0.6), r.uniform(8, 12)
            mass[6 + k, 6 + k] = own
            mass[:6, 6 + k] += 0.5 * r.normal(size=6)
            mass[6 + k, :6] = mass[:6, 6 + k]
            for row, column, value in ((slice(0, 6), size, steers[k, :6]), (6 + k, size, steers[k, 6])):
                mass[row, column] += value
                mass[column, row] += value
            turn, spin = np.zeros(size + 1), 6 + many + k
            turn[:3], turn[6 + k], turn[spin], turn[size] = axis, axis @ partial, 1.0, axis @ steer
            mass += along * np.outer(turn, turn)
            mass[spin, spin] += shaft
            self.rows[k, 6 + k], self.rows[k, spin] = sense * (axis @ partial), hub
            self.rows[k, size] = sense * (axis @ steer)
            self.spins.append((along, shaft))
            wheels.append((axis, partial, steer))
        self.mass = mass
        self._eliminate(wheels, hub, sense)

    def _eliminate(self, wheels: list[tuple[Array, Array, Array]], hub: float, sense: float) -> None:
        """The spins, then the thetas, as the recursion does."""
        reduced, force = self.mass.copy(), self.force.copy()
        first = 6 + self.many
        for k, (along, shaft) in enumerate(self.spins):
            column = self.mass[:, first + k] / (along + shaft)
            reduced -= np.outer(column, self.mass[first + k])
            force -= column * self.force[first + k]
        corners, d, epsilon = reduced[:6, 6:first], np.diag(reduced)[6:first], force[6:first]
        self.body = articulated.lower(ca.SX(reduced[:6, :6] - corners / d @ corners.T))
        self.bias = self.force[:6] - force[:6] + corners @ (epsilon / d)
        self.ports, self.arms = [], []
        for k, ((along, shaft), (axis, partial, steer)) in enumerate(zip(self.spins, wheels, strict=True)):
            known = {n: np.zeros(size) for n, size in OUTPUTS.sizes.items()}
            known |= {"axis": axis, "upright_partial": partial, "momentum": corners[:, k], "d": d[k],
                      "steer_momentum": self._steers(reduced, k), "steer_theta": reduced[self.arm, 6 + k],
                      "upright_steer": steer}  # fmt: skip
            body = articulated.ARTICULATED_BODY.join(
                inertia=np.zeros(21), bias=np.zeros(6), epsilon=epsilon[k], torque=self.force[first + k])  # fmt: skip
            shafts = SHAFT.join(hub=hub, sense=sense, upright=sense, roll=0.0)
            lean = DYNAMICS.join(**{n: known[n] for n in DYNAMICS.sizes})
            self.ports.append(np.array(ca.evalf(PORT_OF(lean, body, [along, shaft], self.omega, shafts))).ravel())
            load = articulated.LOADS.join(force=np.zeros(3), moment=np.zeros(3), drive=0.0, brake=0.0)
            arm = ARM_PORT_OF(OUTPUTS.join(**known), load, body, [along, shaft], shafts)
            self.arms.append(np.array(ca.evalf(arm)).ravel())
        self.arm_force, self.arm_inertia = force[self.arm], reduced[self.arm, self.arm]

    def _steers(self, reduced: Array, k: int) -> Array:
        """An equal part of the coupling of chassis and arm: of the sum over the corners alone it matters."""
        return reduced[:6, self.arm] / self.many

    def carriers(self, name: str, ports: list[Array], layout: Layout) -> Array:
        """Mean of a part over each axle's half shafts, by columns."""
        at = slice(layout.first[name], layout.first[name] + layout.sizes[name])
        each = np.array([p[at] for p in ports])
        return np.concatenate([each[k : k + 2].mean(axis=0) for k in range(0, self.many, 2)])

    def shafts(self) -> Array:
        """Their inertia on the half shafts, from how these turn each of them."""
        n = {name: part(self.layout, self.n, name) for name in self.layout.sizes}
        carriers = [0.5 * np.repeat(row, 2) for row in np.eye(self.many // 2)]
        p = [n[f"{axle}_ratio"] * w for axle, w in zip(self.train.axles, carriers, strict=True)]
        s = {k: n.get(f"axle_{k}_share", 0.0) for k in (2, 3)}
        last = s[3] * p[2] + (1 - s[3]) * p[3] if self.many == 8 else p[-1]
        front, rear, through = {
            "4x4": (p[0], p[1], []), "6x6": (p[0], s[2] * p[1] + (1 - s[2]) * p[-1], [p[-1]]),
            "8x8": (s[2] * p[1] + (1 - s[2]) * p[0], last, [p[0], p[-1]]),
            "8x8 with three behind": (p[0], s[2] * p[1] + (1 - s[2]) * last, [last, p[-1]]),
        }[self.kind]  # fmt: skip
        output = self.transfer * (n["share"] * front + (1 - n["share"]) * rear)
        turns = [(n["output_inertia"], output), (n["front_inertia"], front), (n["rear_inertia"], rear),
                 *((n["carrier_inertia"], w) for w in carriers),
                 *((n["through_inertia"], w) for w in through)]  # fmt: skip
        return sum(inertia * np.outer(turn, turn) for inertia, turn in turns)

    @property
    def given(self) -> list[object]:
        """The first inputs of `joined`, and those of its ports."""
        pushes = self.carriers("push", self.ports, PORT)
        ports_ = [pushes, self.carriers("rate", self.ports, PORT), 0.5 * self.carriers("yields", self.ports, PORT)]
        body = ca.vertcat(self.body, self.bias)
        return [np.zeros(10), self.omega, body, self.force[:6], *ports_, self.transfer, self.n]


@pytest.mark.parametrize("kind", TRAINS)
@pytest.mark.parametrize("seed", range(5))
def test_the_shafts_inertia_is_joined_as_in_one_system_of_all_coordinates(seed: int, kind: str) -> None:
    """Against the direct solve of chassis, corners and wheels with the shafts' inertia in the matrix."""
    v = Vehicle(seed, kind)
    js, rows, size = v.shafts(), v.rows[:, : v.arm], len(v.train.axles)
    direct = np.linalg.solve(v.mass[: v.arm, : v.arm] + rows.T @ js @ rows, v.force[: v.arm])
    found = np.array(ca.evalf(joined.whole_function(v.train)(*v.given))).ravel()
    torques = -js @ rows @ direct
    assert np.repeat(found[:size], 2) == pytest.approx(torques, rel=1e-12, abs=1e-12 * np.abs(torques).max())
    assert found[size:] == pytest.approx(direct[:6], rel=1e-12, abs=1e-12 * np.abs(direct[:6]).max())


@pytest.mark.parametrize("kind", TRAINS)
@pytest.mark.parametrize("seed", range(5))
def test_steered_by_torque_the_column_is_joined_as_in_one_system_of_all_coordinates(seed: int, kind: str) -> None:
    """The column's own inertia beside the arm's, no friction, assist or damping; right-hand sides by rows."""
    v, ratio, inertia, torque = Vehicle(seed, kind), 26.0, 0.05, 3.0
    size, row = len(v.train.axles), driveline.sides(v.train)
    js = v.shafts()
    column = np.zeros(COLUMN_NUMBERS.size)
    for name, value in {"ratio": ratio, "stop": 10.0, "inertia": inertia, "friction_angle": 0.02, "fast": 20.0,
                        "stop_onset": 0.01}.items():  # fmt: skip
        column[COLUMN_NUMBERS.first[name]] = value
    mass, force = v.mass + v.rows.T @ js @ v.rows, v.force.copy()
    mass[v.arm, v.arm] += inertia * ratio**2
    force[v.arm] += torque * ratio
    direct = np.linalg.solve(mass, force)
    [factor, _, by_torque], solver = joined.part_functions(v.train)
    own, omega, body, external, pushes, rates, yields, transfer, numbers_ = v.given
    made, wrench = factor(own, omega, body, external)
    arm_push = sum(p[ARM_PORT.first["push"] :][:6] for p in v.arms)
    # the arm's own row: what no corner has of its force and inertia
    load, coupled = (sum(p[ARM_PORT.first[n]] for p in v.arms) for n in ("load", "inertia"))
    linkage = [load + v.arm_force, v.arm_inertia + coupled]
    left = [np.zeros(6)] * (row - size - 2)
    sides = ca.horzcat(wrench, *np.split(pushes, size), arm_push, *left)
    solved = ca.horzcat(*(solver(made, sides[:, k]) for k in range(row)))

    def by_rows(m: ca.SX) -> ca.SX:
        return ca.reshape(m.T, -1, 1)

    by = v.carriers("by", v.arms, ARM_PORT)
    out, _ = by_torque(by_rows(sides), by_rows(solved), rates, yields, transfer, numbers_, by, linkage,
                       np.zeros(len(COLUMN_STATES)), [torque, 0.0], column)  # fmt: skip
    found = np.array(ca.evalf(out)).ravel()
    assert np.repeat(found[:size], 2) == pytest.approx(-js @ v.rows @ direct, rel=1e-9, abs=1e-9)
    assert found[size : size + 6] == pytest.approx(direct[:6], rel=1e-9, abs=1e-11)
    assert found[size + 6] == pytest.approx(direct[v.arm], rel=1e-9)
