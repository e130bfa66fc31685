"""Vehicles with rigid axles: `pickup` on leaf springs, `offroader` on links and steered by knuckles."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import fmpy
import judged
import numpy as np
import pytest
import statics
from flight import Flight, check_conservation
from fmpy.validation import validate_fmu
from quotients import check_linear_model
from rested import named, rested

from jounce.axles import WHEELS, Axle
from jounce.data import Vehicle, load_vehicle, vehicle_file
from jounce.suspension.characteristics import characteristics
from jounce.suspension.kinematics import kinematics_of
from jounce_fmu.build.builtin import export_builtin
from jounce_fmu.importer.host import Factory, FmuError, open_builtin
from jounce_fmu.importer.linear import Exchange
from jounce_tools.vehicle.rest import standing
from jounce_tools.vehicle.sweeps import Springs

#: The steered axle's code takes half a minute to compile.
NAMES = ("pickup", pytest.param("offroader", marks=pytest.mark.slow))


@pytest.mark.parametrize("name", NAMES)
def test_accelerations_are_those_of_the_maximal_coordinate_system(name: str) -> None:
    for seed in range(3):
        off = judged.difference(load_vehicle(name), open_builtin(name), seed, 0.05)
        assert off.pop("closure") < 1e-13
        assert max(off.values()) < 1e-10, off


@pytest.mark.parametrize("name", NAMES)
def test_it_rests_where_the_check_says(name: str) -> None:
    """The check takes left and right to be alike, and what hangs on links to be at the axles."""
    vehicle = load_vehicle(name)
    stands, y, _ = rested(open_builtin(name), vehicle, 1e-9)
    wheels = vehicle.wheels
    for k in range(2):
        left, right = wheels[2 * k : 2 * k + 2]
        travel = 0.5 * (y[f"wheel_{left}.travel"] + y[f"wheel_{right}.travel"])
        assert travel == pytest.approx(stands.travel[k], abs=1e-3)
        mean = 0.5 * (y[f"wheel_{left}.tire_force.z"] + y[f"wheel_{right}.tire_force.z"])
        assert mean == pytest.approx(stands.load[k], rel=6e-3)


@pytest.mark.parametrize("name", NAMES)
def test_the_implicit_integrator_drives_the_same_way(name: str) -> None:
    """Its Jacobian has the columns of both wheels of an axle."""
    factory, found = open_builtin(name), []
    for integrator in ("RK4", "ROSENBROCK"):
        with factory.instance(integrator) as instance:
            instance.setup({"init.speed": 8.0, "integrator": integrator})
            instance.set_values({"steering_wheel_angle": 1.5, "wheel_RL.drive_torque": 200.0})
            instance.step(1000)
            found.append(named(factory, instance.get_outputs()))
    for signal in ("ref_frame.yaw", "ref_frame.roll", "ref_frame.pos.x", "ref_frame.pos.y", "wheel_RL.arm_angle",
                   "wheel_RR.arm_angle"):  # fmt: skip
        assert found[1][signal] == pytest.approx(found[0][signal], rel=1e-4, abs=1e-7), signal
    assert abs(found[0]["ref_frame.yaw"]) > 0.1


@pytest.mark.parametrize("name", NAMES)
def test_energy_and_momenta_stay_over_a_second_with_the_fourth_order(name: str) -> None:
    check_conservation(Flight(open_builtin(name), tuple(a.name for a in load_vehicle(name).axles)), 0.3)


@pytest.mark.parametrize("name", NAMES)
def test_linear_models_are_those_of_difference_quotients(name: str) -> None:
    check_linear_model(open_builtin(name), 0.5, 500)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("heave", "roll"), [(0.005, 0.0), (-0.005, 0.0), (0.0, 0.005), (0.0, -0.005), (0.003, 0.003)])
def test_beyond_its_box_an_axle_is_refused_before_its_links_are_anywhere_else(
    name: str, heave: float, roll: float
) -> None:
    """From the middle outwards: closed, and both wheels where exact kinematics, followed from there, have them."""
    factory, vehicle = open_builtin(name), load_vehicle(name)
    place = {s.name: k for k, s in enumerate(factory.table.states)}
    exact, coordinates = kinematics_of(vehicle, vehicle.axles[1]), np.array([heave, roll])
    with replace(factory, kind=Exchange).instance("box") as instance:
        instance.setup({"tire_source": "EXTERNAL", "init.equilibrium": False, "init.z": 50.0})
        x, closed = np.zeros(len(place)), 0
        x[place["state.rot.e0"]] = 1.0
        with pytest.raises(FmuError, match=r"(RL|RR).*of the axle \((m|rad)\)"):
            for k in range(200):
                x[[place[f"state.wheel_{w}.arm_angle"] for w in WHEELS[2:]]] = k * coordinates
                instance.set_states(x)
                y = named(factory, instance.get_outputs())
                assert y["closure_residual"] < 1e-9
                for w, wheel in zip(WHEELS[2:], exact.position(k * coordinates).wheels, strict=True):
                    assert [y[f"wheel_{w}.pos.{a}"] for a in "xyz"] == pytest.approx(wheel.centre, abs=1e-8)
                closed += 1
        assert closed > 10


@pytest.mark.parametrize("fmi", [2, 3])
def test_its_fmu_is_valid_and_runs_in_fmpy(tmp_path: Path, fmi: int) -> None:
    path = export_builtin(tmp_path / "pickup.fmu", "pickup", fmi=fmi)
    assert validate_fmu(str(path)) == []
    result = fmpy.simulate_fmu(str(path), stop_time=0.02, step_size=0.001, output=["speed"], fmi_type="CoSimulation",
                               start_values={"init.speed": 5.0})  # fmt: skip
    assert result["speed"][-1] == pytest.approx(5.0, abs=0.05)


def resting(factory: Factory, **inputs: float) -> dict[str, float]:
    with factory.instance("load") as instance:
        instance.setup({}, inputs)
        return named(factory, instance.get_outputs())


def test_the_leaf_axle_has_the_leaves_rate_in_heave_and_its_lever_in_roll() -> None:
    """By hand: two leaves of k N/m that stand upright under their seats carry the load in heave, a wheel k; in roll
    they act at half their distance s, so that the moment of the wheel loads is 2 k s^2 a radian."""
    vehicle, factory = load_vehicle("pickup"), open_builtin("pickup")
    k, s, half = vehicle["rear.spring.k1"], vehicle["rear.SPRING_A.y"], vehicle["rear.SPINDLE.y"]
    back = vehicle["rear.origin.x"]
    free = resting(factory)
    loaded = resting(factory, **{"chassis.ext_force.z": -1000.0, "chassis.ext_moment.y": back * 1000.0})
    d = {n: loaded[n] - free[n] for n in free}
    load = 0.5 * (d["wheel_RL.tire_force.z"] + d["wheel_RR.tire_force.z"])
    assert load == pytest.approx(500.0, rel=0.02)
    assert load / d["wheel_RL.arm_angle"] == pytest.approx(k, rel=0.01)  # the heave of the axle
    turned = resting(factory, **{"chassis.ext_moment.x": 1500.0})
    d = {n: turned[n] - free[n] for n in free}
    moment = half * (d["wheel_RL.tire_force.z"] - d["wheel_RR.tire_force.z"])
    assert moment / d["wheel_RR.arm_angle"] == pytest.approx(2 * k * s * s, rel=0.01)  # the roll of the axle


def test_side_forces_at_the_roll_centre_do_not_roll_the_axle() -> None:
    """By hand: the leaves' side stiffness stands at the clamps, so the roll centre is at their height."""
    vehicle = load_vehicle("pickup")
    clamp = vehicle["rear.origin.z"] + vehicle["rear.LEAF_A.z"]
    assert statics.roll_centre("pickup", "rear") == pytest.approx(clamp, abs=2e-3)


def reacting(folder: Path, reaction: str) -> Path:
    """The pickup with that drive_reaction at the rear."""
    shutil.copytree(vehicle_file("pickup").parent, folder)
    file = folder / "vehicle.toml"
    text = file.read_text(encoding="utf-8").replace('drive_reaction = "carrier"', f'drive_reaction = "{reaction}"')
    file.write_text(text, encoding="utf-8")
    return folder


def pulling(factory: Factory, torque: float) -> dict[str, float]:
    """Steadily, after three seconds."""
    with factory.instance("pull") as instance:
        instance.setup({"init.speed": 5.0})
        instance.set_values({f"wheel_{w}.drive_torque": torque for w in WHEELS[2:]})
        instance.step(3000)
        return named(factory, instance.get_outputs())


def wheel_rate(vehicle: Vehicle, axle: Axle, coordinates: list[float]) -> float:
    """Force at a wheel centre per metre of travel [N/m], of springs and kinematics in numbers."""
    kinematics = kinematics_of(vehicle, axle)
    springs, h = Springs(kinematics), 2e-3
    ends = []
    for sign in (1.0, -1.0):
        at = kinematics.at_travel((sign * h, sign * h), 0.0, np.array(coordinates))
        ends.append(float(springs.at_wheels(kinematics, at)[0]))
    return (ends[0] - ends[1]) / (2 * h)


@pytest.mark.slow(but="chassis")
@pytest.mark.parametrize("reaction", ["carrier", "chassis"])
def test_squat_at_launch_is_that_of_statics_by_hand(tmp_path: Path, reaction: str) -> None:
    """Virtual work of a rise dz of the axle against the chassis, per wheel, in the frame of the steady acceleration a.

    Contact load dN, traction F at the wheel centre (with the driven wheel free to turn) along the slope of the centre's
    path, inertia of what rides on the wheel; where the drive reacts on the axle its torque -T turns the axle, too, by
    the difference of the slopes of centre and contact over the radius. The springs take all of it.
    """
    path = reacting(tmp_path / "v", reaction)
    vehicle, factory, torque = load_vehicle(path), open_builtin(path), 400.0
    before, y = pulling(factory, 0.0), pulling(factory, torque)
    d = {n: y[n] - before[n] for n in y}
    front, rear = vehicle.axles
    kinematics = kinematics_of(vehicle, rear)
    radius = y["wheel_RL.pos.z"]
    sides = characteristics(kinematics.position([y["wheel_RL.arm_angle"], y["wheel_RR.arm_angle"]]), radius)
    centre, contact = (0.5 * (sides[0][n] + sides[1][n]) for n in ("centre_rate", "wheelbase_rate"))
    unsprung = 0.5 * (124.0 + 2 * (vehicle["wheel.mass"] + vehicle["rear.spindle.mass"]))
    load, traction = (0.5 * (d[f"wheel_RL.tire_force.{a}"] + d[f"wheel_RR.tire_force.{a}"]) for a in "zx")
    work = load + (traction - unsprung * d["com.lin_acc.x"]) * centre
    if reaction == "carrier":
        work -= torque * (centre - contact) / radius
    travel = 0.5 * (d["wheel_RL.travel"] + d["wheel_RR.travel"])
    assert travel == pytest.approx(work / wheel_rate(vehicle, rear, [0.0, 0.0]), rel=0.015)
    # the front axle is not driven; the chassis pitches by springs and tires
    front_load = 0.5 * (d["wheel_FL.tire_force.z"] + d["wheel_FR.tire_force.z"])
    front_travel = front_load / wheel_rate(vehicle, front, [0.0, 0.0])
    base = vehicle["front.origin.x"] - vehicle["rear.origin.x"]
    tires = (load - front_load) / vehicle["tire.vertical_stiffness"]
    assert d["ref_frame.pitch"] == pytest.approx((front_travel - travel - tires) / base, rel=0.04)
    # load transfer: mass times acceleration at the height of the centre of mass, about 0.6 m, over the wheelbase
    height = (vehicle["chassis.mass"] * y["com.pos.z"] + 4 * 75.0 * radius) / (vehicle["chassis.mass"] + 4 * 75.0)
    assert load == pytest.approx(standing(vehicle).mass * d["com.lin_acc.x"] * height / base / 2, rel=0.12)


def test_the_propeller_shaft_loads_the_left_rear_wheel(tmp_path: Path) -> None:
    """Where the drive reacts on the axle. By hand: the moments of both axles' load differences about x are the torque
    of the shaft, (T_l + T_r) / final drive, which turns the axle one way and the chassis the other."""
    factory = open_builtin(reacting(tmp_path / "v", "carrier"))
    before, y = pulling(factory, 0.0), pulling(factory, 400.0)
    d = {n: y[n] - before[n] for n in y}
    half = 0.8
    front, rear = (half * (d[f"wheel_{a}L.tire_force.z"] - d[f"wheel_{a}R.tire_force.z"]) for a in "FR")
    shaft = 2 * 400.0 / 4.1
    assert rear > 0.7 * shaft and front < 0.0
    # nothing from outside turns the vehicle about x
    assert rear + front == pytest.approx(0.0, abs=0.02 * shaft)
