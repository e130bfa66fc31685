"""The driveline's equations: power in is stored, lost or delivered; the shafts' inertia is that of the whole system."""

from __future__ import annotations

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
    SHAFTS,
)
from jounce.powertrain.numbers import numbers
from jounce.suspension.double_wishbone import DYNAMICS, OUTPUTS

Array = np.ndarray

DRIVELINE, JOINED = driveline.whole_function(), joined.whole_function()
_, PORT_OF, ARM_PORT_OF = ports.corner_functions()


def values_of(vehicle: str) -> Array:
    p = {name: ca.SX(entry.value) for name, entry in load_vehicle(vehicle).entries.items()}
    return np.array(ca.evalf(numbers(p, ca.SX(1)))).ravel()


N = values_of("hmmwv_pedals")


def part(layout: Layout, vector: Array, name: str) -> float:
    return float(vector[layout.first[name]])


def run(x: dict[str, float], h: Array, g: dict[str, float]) -> tuple[Array, Array, Array]:
    state, given_ = np.zeros(driveline.STATES.size), np.zeros(GIVEN.size)
    for layout, vector, values in ((driveline.STATES, state, x), (GIVEN, given_, g)):
        for name, value in values.items():
            vector[layout.first[name]] = value
    halves, rates, report = (np.array(v).ravel() for v in DRIVELINE(state, h, given_, N))
    return halves, rates, report


GOING = {"run": 1.0, "ratio": 2.48, "transfer": 1.0, "clutch": 1.0, "full_load": 500.0, "closed": -60.0,
         "coefficient": 0.0139, "torque_ratio": 1.4}  # fmt: skip
SMALL = st.floats(-1.0, 1.0)


@settings(max_examples=60, deadline=None)
@given(st.lists(SMALL, min_size=16, max_size=16), st.sampled_from([2.48, 0.75, -2.08]), st.sampled_from([1.0, 2.72]))
def test_power_of_the_engine_is_stored_lost_or_delivered(z: list[float], ratio: float, transfer: float) -> None:
    """Rate of the stored energy by differences of the report along the rates, against the rates of the energies."""
    h = 40.0 * np.array(z[:4])
    x = {"engine.speed": 200 + 100 * z[4], "converter.turbine_speed": 150 * z[5], "engine.load": 0.5 + 0.5 * z[6],
         "gearbox.clutch_windup": 0.3 * z[7], "converter.lock_windup": 0.02 * z[8], "gearbox.engaged": abs(z[9]),
         "differential.front.windup": 2e-3 * z[10], "differential.rear.windup": 2e-3 * z[11],
         "differential.centre.windup": 2e-3 * z[12], "gearbox.pawl_windup": 0.01 * z[13],
         "gearbox.parked": abs(z[14]), "converter.locked": abs(z[15])}  # fmt: skip
    g = GOING | {"ratio": ratio, "transfer": transfer, "front_lock": abs(z[0]), "throttle": 0.5}
    _, rates, report = run(x, h, g)
    step = 1e-6

    def stored(sign: float) -> float:
        moved = {n: v + sign * step * part(driveline.STATES, rates, n) for n, v in x.items()}
        return part(REPORT, run(moved, h, g)[2], "stored")

    growth = (stored(1.0) - stored(-1.0)) / (2 * step)
    flows = [part(driveline.STATES, rates, f"energy.{name}") for name in ("engine", "losses", "delivered")]
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


@settings(max_examples=40, deadline=None)
@given(st.lists(SMALL, min_size=22, max_size=22))
def test_the_driveline_in_parts_is_the_whole_one(z: list[float]) -> None:
    """Clutches and differentials held side by side, on lanes."""
    scalars, lanes = driveline.part_functions()
    held, rest = scalars
    r = np.array(z)
    x = np.zeros(driveline.STATES.size)
    x[:10] = r[:10] * [200, 200, 1, 0.3, 0.02, 2e-3, 2e-3, 2e-3, 0.01, 1]
    x[10:12] = abs(r[10:12])
    g = np.zeros(GIVEN.size)
    for k, (name, value) in enumerate((GOING | {"centre_lock": 0.5, "front_lock": 1.0, "throttle": 0.5}).items()):
        g[GIVEN.first[name]] = value * (1 + 0.1 * r[12 + k % 10])
    h = 40 * r[18:22]
    law = [part(NUMBERS, N, "damping"), part(NUMBERS, N, "rate_limit")]
    holds = []
    for hold, rows in zip(lanes, held(x, h, g, N), strict=True):
        sides = np.array(rows).reshape(driveline.HELD.size, driveline.LANES)
        holds.append(np.hstack([np.array(hold(side, law)) for side in sides.T]).ravel())
    for found, wanted in zip(rest(x, h, g, N, *holds), DRIVELINE(x, h, g, N), strict=True):
        wanted_ = np.array(wanted).ravel()
        assert np.array(found).ravel() == pytest.approx(wanted_, rel=1e-9, abs=1e-12 * (1 + abs(wanted_).max()))


class Vehicle:
    """Random chassis, corners, wheels and steering arm: one matrix of all coordinates, and what the recursion has."""

    def __init__(self, seed: int) -> None:
        r = np.random.default_rng(seed)
        root = r.normal(size=(6, 6))
        self.transfer, self.omega = 2.72, r.normal(size=3)
        # q: chassis 6, theta 4, wheel spin relative to the upright 4, arm
        mass, self.rows, self.force = np.zeros((15, 15)), np.zeros((4, 15)), r.normal(size=15)
        mass[:6, :6], mass[14, 14] = root @ root.T + 6 * np.eye(6), 20.0
        hub, sense = part(NUMBERS, N, "hub"), part(NUMBERS, N, "sense")
        steers = 0.3 * r.normal(size=(4, 7))  # of the chassis and theta with the arm, without the wheels' turn
        self.spins, wheels = [], []
        for k in range(SHAFTS):
            axis, partial, steer = r.normal(size=(3, 3))
            axis /= np.linalg.norm(axis)
            along, shaft, own = r.uniform(5, 9), r.uniform(0.2, 0.6), r.uniform(8, 12)
            mass[6 + k, 6 + k] = own
            mass[:6, 6 + k] += 0.5 * r.normal(size=6)
            mass[6 + k, :6] = mass[:6, 6 + k]
            for row, column, value in ((slice(0, 6), 14, steers[k, :6]), (6 + k, 14, steers[k, 6])):
                mass[row, column] += value
                mass[column, row] += value
            turn = np.zeros(15)
            turn[:3], turn[6 + k], turn[10 + k], turn[14] = axis, axis @ partial, 1.0, axis @ steer
            mass += along * np.outer(turn, turn)
            mass[10 + k, 10 + k] += shaft
            self.rows[k, 6 + k], self.rows[k, 10 + k] = sense * (axis @ partial), hub
            self.rows[k, 14] = sense * (axis @ steer)
            self.spins.append((along, shaft))
            wheels.append((axis, partial, steer))
        self.mass = mass
        self._eliminate(wheels, hub, sense)

    def _eliminate(self, wheels: list[tuple[Array, Array, Array]], hub: float, sense: float) -> None:
        """The spins, then the thetas, as the recursion does."""
        reduced, force = self.mass.copy(), self.force.copy()
        for k, (along, shaft) in enumerate(self.spins):
            column = self.mass[:, 10 + k] / (along + shaft)
            reduced -= np.outer(column, self.mass[10 + k])
            force -= column * self.force[10 + k]
        corners, d, epsilon = reduced[:6, 6:10], np.diag(reduced)[6:10], force[6:10]
        self.body = articulated.lower(ca.SX(reduced[:6, :6] - corners / d @ corners.T))
        self.bias = self.force[:6] - force[:6] + corners @ (epsilon / d)
        self.ports, self.arms = [], []
        for k, ((along, shaft), (axis, partial, steer)) in enumerate(zip(self.spins, wheels, strict=True)):
            known = {n: np.zeros(size) for n, size in OUTPUTS.sizes.items()}
            known |= {"axis": axis, "upright_partial": partial, "momentum": corners[:, k], "d": d[k],
                      "steer_momentum": self._steers(reduced, k), "steer_theta": reduced[14, 6 + k],
                      "upright_steer": steer}  # fmt: skip
            body = articulated.ARTICULATED_BODY.join(
                inertia=np.zeros(21), bias=np.zeros(6), epsilon=epsilon[k], torque=self.force[10 + k])  # fmt: skip
            shafts = SHAFT.join(hub=hub, sense=sense, upright=sense, roll=0.0)
            lean = DYNAMICS.join(**{n: known[n] for n in DYNAMICS.sizes})
            self.ports.append(np.array(ca.evalf(PORT_OF(lean, body, [along, shaft], self.omega, shafts))).ravel())
            load = articulated.LOADS.join(force=np.zeros(3), moment=np.zeros(3), drive=0.0, brake=0.0)
            arm = ARM_PORT_OF(OUTPUTS.join(**known), load, body, [along, shaft], shafts)
            self.arms.append(np.array(ca.evalf(arm)).ravel())
        self.arm_force, self.arm_inertia = force[14], reduced[14, 14]

    def _steers(self, reduced: Array, k: int) -> Array:
        """A quarter of the coupling of chassis and arm: of the sum over the corners alone it matters."""
        return reduced[:6, 14] / SHAFTS

    def carriers(self, name: str, ports: list[Array], layout: Layout) -> Array:
        """Mean of a part over each axle's half shafts, by columns."""
        at = slice(layout.first[name], layout.first[name] + layout.sizes[name])
        each = np.array([p[at] for p in ports])
        return np.concatenate([each[k : k + 2].mean(axis=0) for k in (0, 2)])

    def shafts(self) -> Array:
        """Their inertia on the half shafts, from how these turn each of them."""
        n = {name: part(NUMBERS, N, name) for name in NUMBERS.sizes}
        front, rear = np.array([0.5, 0.5, 0.0, 0.0]), np.array([0.0, 0.0, 0.5, 0.5])
        props = n["front_ratio"] * front, n["rear_ratio"] * rear
        output = self.transfer * (n["share"] * props[0] + (1 - n["share"]) * props[1])
        turns = ((n["output_inertia"], output), (n["front_inertia"], props[0]), (n["rear_inertia"], props[1]),
                 (n["carrier_inertia"], front), (n["carrier_inertia"], rear))  # fmt: skip
        return sum(inertia * np.outer(turn, turn) for inertia, turn in turns)

    @property
    def given(self) -> list[object]:
        """The first inputs of `joined`, and those of its ports."""
        pushes = self.carriers("push", self.ports, PORT)
        ports_ = [pushes, self.carriers("rate", self.ports, PORT), 0.5 * self.carriers("yields", self.ports, PORT)]
        return [np.zeros(10), self.omega, ca.vertcat(self.body, self.bias), self.force[:6], *ports_, self.transfer, N]


@pytest.mark.parametrize("seed", range(5))
def test_the_shafts_inertia_is_joined_as_in_one_system_of_all_coordinates(seed: int) -> None:
    """Against the direct solve of chassis, four corners and four wheels with the shafts' inertia in the matrix."""
    v = Vehicle(seed)
    js, rows = v.shafts(), v.rows[:, :14]
    whole = np.linalg.solve(v.mass[:14, :14] + rows.T @ js @ rows, v.force[:14])
    found = np.array(ca.evalf(JOINED(*v.given))).ravel()
    assert np.repeat(found[:2], 2) == pytest.approx(-js @ rows @ whole, rel=1e-9, abs=1e-9)
    assert found[2:] == pytest.approx(whole[:6], rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("seed", range(5))
def test_steered_by_torque_the_column_is_joined_as_in_one_system_of_all_coordinates(seed: int) -> None:
    """The column's own inertia beside the arm's, no friction, assist or damping; the parts on four right-hand sides."""
    v, ratio, inertia, torque = Vehicle(seed), 26.0, 0.05, 3.0
    js = v.shafts()
    column = np.zeros(COLUMN_NUMBERS.size)
    for name, value in {"ratio": ratio, "stop": 10.0, "inertia": inertia, "friction_angle": 0.02, "fast": 20.0,
                        "stop_onset": 0.01}.items():  # fmt: skip
        column[COLUMN_NUMBERS.first[name]] = value
    mass, force = v.mass + v.rows.T @ js @ v.rows, v.force.copy()
    mass[14, 14] += inertia * ratio**2
    force[14] += torque * ratio
    whole = np.linalg.solve(mass, force)
    [factor, _, by_torque], solver = joined.part_functions()
    own, omega, body, external, pushes, rates, yields, transfer, numbers_ = v.given
    made, wrench = factor(own, omega, body, external)
    arm_push = sum(p[ARM_PORT.first["push"] :][:6] for p in v.arms)
    # the arm's own row: what no corner has of its force and inertia
    load, coupled = (sum(p[ARM_PORT.first[n]] for p in v.arms) for n in ("load", "inertia"))
    linkage = [load + v.arm_force, v.arm_inertia + coupled]
    sides = ca.horzcat(wrench, *np.split(pushes, 2), arm_push)
    solved = ca.horzcat(*(solver(made, sides[:, k]) for k in range(joined.SIDES)))

    def by_rows(m: ca.SX) -> ca.SX:
        return ca.reshape(m.T, -1, 1)

    by = v.carriers("by", v.arms, ARM_PORT)
    out, _ = by_torque(by_rows(sides), by_rows(solved), rates, yields, transfer, numbers_, by, linkage,
                       np.zeros(len(COLUMN_STATES)), [torque, 0.0], column)  # fmt: skip
    found = np.array(ca.evalf(out)).ravel()
    assert np.repeat(found[:2], 2) == pytest.approx(-js @ v.rows @ whole, rel=1e-9, abs=1e-9)
    assert found[2:8] == pytest.approx(whole[:6], rel=1e-9, abs=1e-11)
    assert found[8] == pytest.approx(whole[14], rel=1e-9)
