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
from jounce.powertrain import driveline, ports
from jounce.powertrain.layouts import GIVEN, NUMBERS, PORT, REPORT, SHAFTS
from jounce.powertrain.numbers import numbers

Array = np.ndarray

DRIVELINE, PORTS = driveline.function(), ports.function()


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


@pytest.mark.parametrize("seed", range(5))
def test_the_shafts_inertia_is_joined_as_in_one_system_of_all_coordinates(seed: int) -> None:
    """Against the direct solve of chassis, four corners and four wheels with the shafts' inertia in the matrix."""
    r = np.random.default_rng(seed)
    root = r.normal(size=(6, 6))
    chassis = root @ root.T + 6 * np.eye(6)
    hub, sense = part(NUMBERS, N, "hub"), part(NUMBERS, N, "sense")
    omega, transfer = r.normal(size=3), 2.72
    js = np.zeros((SHAFTS, SHAFTS))  # of output shaft, propeller shafts and carriers, by how the half shafts turn each
    front, rear = np.array([0.5, 0.5, 0.0, 0.0]), np.array([0.0, 0.0, 0.5, 0.5])
    n = {name: part(NUMBERS, N, name) for name in NUMBERS.sizes}
    props = n["front_ratio"] * front, n["rear_ratio"] * rear
    output = transfer * (n["share"] * props[0] + (1 - n["share"]) * props[1])
    for inertia, turn in ((n["output_inertia"], output), (n["front_inertia"], props[0]), (n["rear_inertia"], props[1]),
                          (n["carrier_inertia"], front), (n["carrier_inertia"], rear)):  # fmt: skip
        js += inertia * np.outer(turn, turn)
    # q: chassis 6, theta 4, wheel spin relative to the upright 4; rows of what a wheel's spin axis turns by
    mass, rows, force = np.zeros((14, 14)), np.zeros((4, 14)), r.normal(size=14)
    mass[:6, :6] = chassis
    wheels, halves = [], []
    for k in range(SHAFTS):
        axis, partial = r.normal(size=3), r.normal(size=3)
        axis /= np.linalg.norm(axis)
        along, shaft, own = r.uniform(5, 9), r.uniform(0.2, 0.6), r.uniform(8, 12)
        momentum = 0.5 * r.normal(size=6)  # of the corner without the wheel's turn about its axis
        mass[6 + k, 6 + k] = own
        mass[:6, 6 + k] = mass[6 + k, :6] = momentum
        turn = np.zeros(14)
        turn[:3], turn[6 + k], turn[10 + k] = axis, axis @ partial, 1.0
        mass += along * np.outer(turn, turn)
        mass[10 + k, 10 + k] += shaft
        rows[k, 6 + k], rows[k, 10 + k] = sense * (axis @ partial), hub
        halves.append((along, shaft))
        wheels.append((axis, partial))
    free = np.linalg.solve(mass, force)
    whole = np.linalg.solve(mass + rows.T @ js @ rows, force)
    # the recursion's numbers: the spin is eliminated from corner and chassis
    reduced = mass[:10, :10].copy()
    for k, (along, shaft) in enumerate(halves):
        reduced -= np.outer(mass[:10, 10 + k], mass[:10, 10 + k]) / (along + shaft)
    corners = reduced[:6, 6:]
    body = reduced[:6, :6] - corners / np.diag(reduced)[6:] @ corners.T
    own = np.zeros(10)
    flat = []
    for k, ((along, shaft), (axis, partial)) in enumerate(zip(halves, wheels, strict=True)):
        flat.append(PORT.join(axis=axis, upright_partial=partial, upright_velocity=np.zeros(3),
                              along=along, shaft=shaft, momentum=corners[:, k], d=reduced[6 + k, 6 + k],
                              axis_bias=0.0, theta=free[6 + k], spin=free[10 + k]))  # fmt: skip
    made = PORTS(own, articulated.lower(ca.SX(body)), ca.vertcat(*flat), omega, transfer, N)
    torque, change = (np.array(ca.evalf(v)).ravel() for v in made)
    assert torque == pytest.approx(-js @ rows @ whole, rel=1e-9, abs=1e-9)
    assert change == pytest.approx(whole[:6] - free[:6], rel=1e-9, abs=1e-11)
