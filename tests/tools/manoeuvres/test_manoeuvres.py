"""Manoeuvres on the vehicles: against the linear model, by hand, at the limit, in process and on a server."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from jounce.axles import WHEELS
from jounce.data import load_vehicle
from jounce.suspension.kinematics import kinematics_of
from jounce_client import Client
from jounce_tools.demo.run import serving
from jounce_tools.manoeuvres.bench import Bench, Car, measure
from jounce_tools.manoeuvres.found import DEGREE, G
from jounce_tools.manoeuvres.manoeuvre import manoeuvres, settings_of
from jounce_tools.manoeuvres.places import STEP_ERRORS, Here, There
from jounce_tools.manoeuvres.standard import braking, cornering, driving, lane_change, linear, transient
from jounce_tools.manoeuvres.standard.signals import gradient_at

VEHICLES = ("hmmwv", "utv")
#: Settings that make each manoeuvre short.
SHORT: dict[str, dict[str, float]] = {
    "acceleration": {"time": 1.0},
    "brake-in-turn": {"settle": 1.5, "time": 0.5, "hardest": 1.0, "deceleration": 1.0},
    "brake-split-mu": {"speed": 4.0},
    "brake-straight": {"speed": 5.0},
    "coastdown": {"speed": 2.0, "time": 4.0},
    "double-lane-change": {"low": 28.0, "high": 29.0, "resolution": 1.0},
    "frequency-response": {"count": 2.0, "lowest": 2.0, "periods": 1.0, "rate": 3.0},
    "gradeability": {"steepest": 0.1, "time": 1.0},
    "kc": {"time": 0.5},
    "on-centre": {"frequency": 1.0, "periods": 2.0},
    "park": {"time": 0.3, "after": 0.1},
    "ride": {"length": 20.0, "highest": 4.0, "slowest": 14.0},
    "sine-with-dwell": {"increment": 5.0, "ramp_rate": 200.0},
    "steady-circle": {"hold": 1.5, "rate": 4.0, "time": 2.0},
    "step-steer": {"time": 1.2, "rate": 3.0},
    "top-speed": {"time": 1.0},
}


def bench(place: Here | There, **parameters: Any) -> Bench:
    """A place without anybody who watches."""
    return Bench(place, parameters, measure(place, parameters), errors=STEP_ERRORS)


@pytest.fixture(scope="module")
def here() -> dict[str, Here]:
    """The vehicles in this process."""
    return {name: Here(name) for name in VEHICLES}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server."""
    with serving(tmp_path_factory.mktemp("server")) as (_, where):
        yield where


def test_every_manoeuvre_of_the_list_is_short_here() -> None:
    assert set(SHORT) == set(manoeuvres())


@pytest.mark.slow(but=("lane-change", "split-mu", "coastdown", "speed", "grade", "park", "kc", "centre"))
@pytest.mark.parametrize("name", sorted(SHORT))
def test_a_manoeuvre_has_the_same_bits_on_a_server(name: str, here: dict[str, Here], address: str) -> None:
    vehicle = VEHICLES[sorted(SHORT).index(name) % 2]
    m = manoeuvres()[name]
    there = There(Client.connect(address), vehicle)
    try:
        own, other = bench(here[vehicle]), bench(there)
        found, served = (m.run(b, settings_of(m, SHORT[name])) for b in (own, other))
    finally:
        there.close()
    assert own.car == other.car
    judged = [log for log in own.logs if log.title != "small step"]  # beside the linear model, which a server has not
    assert [log.title for log in judged] == [log.title for log in other.logs]
    for a, b in zip(judged, other.logs, strict=True):
        assert a.u.tobytes() == b.u.tobytes() and a.y.tobytes() == b.y.tobytes() and a.end == b.end
    assert {k: found.metrics[k] for k, v in served.metrics.items() if v == v}.items() <= served.metrics.items()
    assert all(m.metric(k) for k in found.metrics)


@pytest.mark.slow
@pytest.mark.parametrize("vehicle", VEHICLES)
@pytest.mark.parametrize("name", sorted(SHORT))
def test_a_manoeuvre_runs_as_it_stands(name: str, vehicle: str, here: dict[str, Here]) -> None:
    m = manoeuvres()[name]
    found = m.run(bench(here[vehicle]), settings_of(m, {}))
    assert sum(math.isfinite(v) for v in found.metrics.values()) >= len(found.metrics) / 2
    for key in ("understeer_error", "linear_error"):
        assert abs(found.metrics.get(key, 0.0)) < 2.0


@pytest.mark.parametrize("vehicle", VEHICLES)
def test_the_understeer_gradient_at_a_tenth_of_g_is_that_of_the_linear_model(
    vehicle: str, here: dict[str, Here]
) -> None:
    own = bench(here[vehicle])
    angle = cornering.AT * own.car.wheelbase / 400.0 * own.car.ratio * 1.15
    a, steering, _, _ = cornering.steady_turns(own, 20.0, 6.0, angle)
    slope = gradient_at(a, steering, cornering.AT, cornering.AROUND)
    model = linear.at(own, 20.0, float(np.interp(cornering.AT, a, steering)))
    assert model is not None
    understeer = slope / own.car.ratio - own.car.wheelbase / 400.0
    assert understeer == pytest.approx(linear.understeer(model, own.car, 20.0), rel=0.02)


def test_the_gain_of_a_turn_is_that_of_the_frequency_response_straight_ahead(here: dict[str, Here]) -> None:
    model = linear.at(bench(here["hmmwv"]), 20.0)
    assert model is not None
    slow = linear.gain(model, 1e-4, "ref_frame.ang_vel.z").real
    assert linear.turning_gain(model) == pytest.approx(slow, rel=1e-4)


@pytest.mark.parametrize("vehicle", VEHICLES)
def test_a_small_step_answers_like_the_linear_model(vehicle: str, here: dict[str, Here]) -> None:
    m = manoeuvres()["step-steer"]
    settings = settings_of(m, {"rate": 2.0, "time": 4.0})
    found = m.run(bench(here[vehicle]), settings)
    assert found.metrics["linear_error"] < 2.0


def centre_of_gravity(place: Here, car: Car) -> float:
    """Height [m], by hand: on a slope the axles' loads shift by m g sin(slope) h / L."""
    slope = math.atan(0.2)
    loads = []
    for angle in (0.0, slope):
        with place.seat([], 0.01, {"init.speed": 0.0, "terrain.slope": angle}, {}) as seat:
            loads.append([float(seat.start[f"wheel_{w}.tire_force"][2]) for w in car.wheels])
    (flat, steep), wheelbase = loads, car.axles[0] - car.axles[1]
    rear = sum(steep[2:]) - sum(flat[2:]) / sum(flat) * sum(steep)
    return rear * wheelbase / (car.mass * car.gravity * math.sin(slope))


@pytest.mark.parametrize("vehicle", VEHICLES)
def test_the_stopping_distance_of_locked_wheels_is_that_by_hand(vehicle: str, here: dict[str, Here]) -> None:
    """v^2 / 2a with the sliding force of the tire at each axle's load, which shifts by m a h / L (Rill 2012, ch. 3).

    TMeasy interpolates a force between 0, the nominal load and twice that by a parabola.
    """
    place = here[vehicle]
    own, p = bench(place), place.parameters
    car = own.car
    height, wheelbase = centre_of_gravity(place, car), car.axles[0] - car.axles[1]
    once, twice, nominal = (
        p[f"tire.{n}"] for n in ("sliding_force_x_nominal", "sliding_force_x_double", "nominal_load")
    )

    def sliding(load: float) -> float:
        part = load / nominal
        return part * (2 * once - 0.5 * twice - (once - 0.5 * twice) * part)

    weight, a = car.mass * car.gravity, 0.0
    for _ in range(50):
        front = weight * (car.ahead + a / car.gravity * height) / wheelbase
        a = 2 * (sliding(front / 2) + sliding((weight - front) / 2)) / car.mass
    m = manoeuvres()["brake-straight"]
    found = m.run(own, settings_of(m, {"slip": 1.0, "speed": 15.0}))
    # the force goes over its peak while the wheels come to a stop, so the way counts from there
    log = own.logs[0]
    locked = int(np.argmax(np.all([log[f"wheel_{w}.slip"] < -0.99 for w in car.wheels], axis=0)))
    v, way = float(log["speed"][locked]), float(log["ref_frame.pos.x"][-1] - log["ref_frame.pos.x"][locked])
    assert v > 13.0 and way == pytest.approx(v * v / (2 * a), rel=0.02)
    assert found.metrics["mfdd"] == pytest.approx(a, rel=0.02)


@pytest.mark.parametrize("vehicle", VEHICLES)
def test_the_coast_down_is_that_of_a_point_mass_with_rolling_wheels(vehicle: str, here: dict[str, Here]) -> None:
    """(m + sum I / r^2) v' = -F - 1/2 rho c_d A v^2, whose time from 60 to 40 km/h is an arctangent.

    F is the torque f F_z r_0 of the rolling resistance over the loaded radius, and the drag C toe^2 of wheels that toe
    in, with the cornering stiffness C at the static load (the parabola through 0, nominal and double load).
    """
    place = here[vehicle]
    own, p = bench(place), place.parameters
    car, drag = own.car, 2.0
    inertia = (p["wheel.inertia.yy"] + p["front.spindle.inertia.yy"] + p["driveline.inertia"]) * len(car.wheels)
    mass = car.mass + inertia / car.radius**2
    f0 = p["tire.rolling_resistance"] * car.mass * car.gravity * p["tire.unloaded_radius"] / car.radius
    once, twice = p["tire.slip_stiffness_y_nominal"], p["tire.slip_stiffness_y_double"]
    with place.seat([], 0.01, {"init.speed": 0.0}, {}) as seat:
        for w in car.wheels:
            part = float(seat.start[f"wheel_{w}.tire_force"][2]) / p["tire.nominal_load"]
            f0 += (
                part
                * (2 * once - 0.5 * twice - (once - 0.5 * twice) * part)
                * float(seat.start[f"wheel_{w}.steer"]) ** 2
            )
    f2 = 0.5 * driving.AIR * drag
    c = math.sqrt(f0 / f2)
    by_hand = mass / (c * f2) * (math.atan(60 / 3.6 / c) - math.atan(40 / 3.6 / c))
    m = manoeuvres()["coastdown"]
    found = m.run(own, settings_of(m, {"speed": 17.5, "drag_area": drag, "time": 45.0}))
    assert found.metrics["time_60_40"] == pytest.approx(by_hand, rel=0.01)


def test_a_roll_over_is_a_result(here: dict[str, Here]) -> None:
    own = bench(here["hmmwv"], **{"chassis.com.z": 1.2})
    m = manoeuvres()["sine-with-dwell"]
    found = m.run(own, settings_of(m, {"increment": 5.0, "ramp_rate": 40.0}))
    assert found.metrics["runs_lost"] >= 1.0 and any("rolled over" in note for note in found.notes)
    assert not m.metric("runs_lost").passes(found.metrics["runs_lost"])


def test_a_vehicle_that_leaves_the_course_is_a_result(here: dict[str, Here]) -> None:
    own = bench(here["hmmwv"], **{"terrain.mu": 0.15})
    m = manoeuvres()["double-lane-change"]
    found = m.run(own, settings_of(m, {"low": 20.0}))
    assert math.isnan(found.metrics["entry_speed"]) and found.metrics["cones"] > 0.0
    assert "lowest speed" in found.notes[0]


def test_a_step_that_the_model_refuses_ends_the_run_as_a_result(here: dict[str, Here]) -> None:
    own = bench(here["hmmwv"])

    def command(state: Any) -> list[float]:
        return [1e3 if state.time > 0.1 else 0.0, *[0.0] * 8]

    own.errors = (*own.errors, ValueError)
    log = own.drive("beyond the end stop", command, 1.0)
    assert not log.whole and "failed" in log.end and len(log.time) == len(log.u) == len(log.y)


@pytest.mark.parametrize("vehicle", VEHICLES)
def test_the_lane_change_finds_its_highest_speed_and_repeats_it(vehicle: str, here: dict[str, Here]) -> None:
    m = manoeuvres()["double-lane-change"]
    settings = settings_of(m, {"low": 16.0, "resolution": 0.5})
    first = m.run(own := bench(here[vehicle]), settings)
    again = m.run(bench(here[vehicle]), settings)
    assert first.metrics == again.metrics and first.metrics["repeats"] == 1.0 and first.metrics["cones"] == 0.0
    course = lane_change.TRACKS[1](own.car.width, own.car.front, own.car.back, 20.0)
    faster = lane_change.through(own, course, first.metrics["entry_speed"] / 3.6 + 0.5)
    assert lane_change.cones(faster, course, own.car) > 0


def test_a_slip_limit_of_one_locks_and_one_below_the_peak_does_not(here: dict[str, Here]) -> None:
    m = manoeuvres()["brake-straight"]
    stops = {}
    for slip in (0.08, 1.0):
        own = bench(here["hmmwv"])
        found = m.run(own, settings_of(m, {"speed": 12.0, "slip": slip}))
        log = own.logs[0].part(1.5)
        moving = log["speed"] > 3.0
        stops[slip] = found.metrics["distance"]
        worst = min(float(log[f"wheel_{w}.slip"][moving].min()) for w in own.car.wheels)
        assert worst < -0.99 if slip == 1.0 else worst > -0.2
    assert stops[0.08] < 0.75 * stops[1.0]


def test_braking_on_split_friction_keeps_the_vehicle_straight(here: dict[str, Here]) -> None:
    m = manoeuvres()["brake-split-mu"]
    found = m.run(bench(here["utv"]), settings_of(m, {}))
    assert found.metrics["yaw_deviation"] < 10.0 and found.metrics["lateral_deviation"] < 1.0
    # between both sides at the low friction, and the mean of both
    assert 0.2 * G < found.metrics["mfdd"] < 0.5 * G


def test_the_vehicle_is_measured_standing(here: dict[str, Here]) -> None:
    car = bench(here["hmmwv"]).car
    assert car.wheelbase == pytest.approx(3.302, abs=0.02) and car.steered == WHEELS[:2]
    assert car.driven == car.wheels and car.gravity == 9.81
    small = bench(here["utv"]).car
    for name, power in (("wheelbase", 1), ("track", 1), ("mass", 3), ("radius", 1), ("width", 1), ("ahead", 1)):
        assert getattr(small, name) / getattr(car, name) == pytest.approx(0.64**power, rel=1e-3)


def test_amplitudes_give_the_lateral_acceleration_that_was_asked_for(here: dict[str, Here]) -> None:
    m = manoeuvres()["step-steer"]
    settings = settings_of(m, {"lateral": 3.0})
    own = bench(here["utv"])
    height = transient.amplitude(own, settings["speed"], 3.0, settings)
    log = transient._step(own, "step", settings, height)
    assert float(log["com.lin_acc.y"][-1]) == pytest.approx(3.0, rel=0.03)
    assert height / DEGREE < 90.0 and braking.STANDS < 0.1


@pytest.mark.parametrize("vehicle", VEHICLES)
def test_bump_steer_and_camber_are_those_of_the_linkage_alone(vehicle: str, here: dict[str, Here]) -> None:
    """`jounce.suspension.kinematics` moves the wheels of one axle in their linkage, without forces."""
    own = bench(here[vehicle])
    m = manoeuvres()["kc"]
    found = m.run(own, settings_of(m, {"time": 20.0})).metrics
    data = load_vehicle(vehicle)
    rest = own.logs[0]
    for k, axle in enumerate(data.axles):
        kinematics, wheel = kinematics_of(data, axle), own.car.wheels[2 * k]
        travel, h = float(rest[f"wheel_{wheel}.travel"][0]), 0.005
        axes = []
        for t in (travel - h, travel + h):
            at = kinematics.position(kinematics.at_travel((t, t), 0.0, np.zeros(2))).wheels[0].axis
            axes.append((math.atan2(at[0], at[1]), math.asin(at[2])))
        toe, camber = ((axes[1][i] - axes[0][i]) / (2 * h) / DEGREE / 10.0 for i in range(2))
        assert found[f"bump_steer_{k + 1}"] == pytest.approx(toe, rel=0.02, abs=0.01)
        assert found[f"bump_camber_{k + 1}"] == pytest.approx(camber, rel=0.02, abs=0.01)
    # the utv is the hmmwv at 0.64: stiffness goes with its square, moment over angle with its fourth power
    assert found["wheel_rate_1"] / 1e3 < 0.2


def test_roll_stiffness_carries_the_moment_that_rolls_the_body(here: dict[str, Here]) -> None:
    own = bench(here["hmmwv"])
    m = manoeuvres()["kc"]
    found = m.run(own, settings_of(m, {"time": 20.0, "roll": 0.1})).metrics
    log, car = own.logs[1], own.car
    top = int(np.argmax(log["ref_frame.roll"]))
    moment, angle = -float(log["chassis.ext_moment.x"][top - 1]), float(log["ref_frame.roll"][top])
    # the weight, above the axis about which the body rolls, adds to the moment: less than a tenth
    carried = (found["roll_stiffness_1"] + found["roll_stiffness_2"]) / DEGREE * angle
    assert abs(moment) < carried < 1.2 * abs(moment)
    assert car.gravity == 9.81
