"""A vehicle on Magic Formula tires: locked on a step of friction, through zero speed and back, mirrored manoeuvres."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from jounce.axles import WHEELS
from jounce.contact.tires import find
from jounce.contact.tires.magic_formula import GIVES, steady
from jounce.data import load_vehicle, with_tire_files
from jounce_fmu.importer.host import Factory, open_builtin
from jounce_fmu.models.roads import on_road
from jounce_fmu.models.tires import on_tires

DATA = Path(__file__).parents[1] / "data" / "tires"
PAC2002, MF61 = DATA / "HMMWV_Pac02Tire.tir", DATA / "synthetic_mf61_large.tir"
Array = NDArray[np.float64]
FILES = [PAC2002, pytest.param(MF61, marks=pytest.mark.slow)]


@pytest.fixture(scope="module", params=FILES, ids=["pac2002", "mf61"])
def file(request: pytest.FixtureRequest) -> Path:
    pytest.importorskip("casadi")
    return Path(request.param)


@pytest.fixture(scope="module")
def car(file: Path) -> Factory:
    return open_builtin(on_tires("hmmwv", file))


def run(
    factory: Factory, parameters: dict[str, float], plan: Callable[[float], dict[str, float]], ticks: int, every: int
) -> dict[str, Array]:
    """Outputs by name, a row after every few ticks, each with the inputs that ``plan`` has for its begin."""
    rows, names = [], [s.name for s in factory.interface.outputs]
    inputs = {s.name: s.start for s in factory.table.inputs}
    with factory.instance("run") as fmu:
        fmu.setup(parameters)
        for k in range(ticks // every):
            inputs |= plan(1e-3 * k * every)
            fmu.set_inputs(np.array(list(inputs.values())))
            fmu.step(every)
            rows.append(fmu.get_outputs().copy())
    return dict(zip(names, np.array(rows).T, strict=True))


def test_locked_wheels_slide_by_the_formula_before_and_after_a_step_of_friction(car: Factory, file: Path) -> None:
    """Friction 0.8, from 1.5 s on 0.3; each wheel's force is that of the file at slip -1, within 0.2 % of its load."""
    vehicle = with_tire_files(load_vehicle("hmmwv"), {"": file})
    law = find(vehicle.tire)
    numbers = [vehicle[n] for n in law.entries_of(1.0).values()]

    def plan(t: float) -> dict[str, float]:
        mu, brake = (0.8 if t < 1.5 else 0.3), (2e4 if t > 0.2 else 0.0)
        return {f"wheel_{w}.{n}": v for w in WHEELS for n, v in (("terrain_mu", mu), ("brake_torque", brake))}

    given = {"init.speed": 25.0, "terrain_source": 2.0, "brake.capacity": 2e4}
    found = run(car, given, plan, 3000, 10)
    speed = found["speed"]
    assert (np.diff(speed[25:]) < 0.0).all()
    for k, mu in ((140, 0.8), (290, 0.3)):
        total = 0.0
        for w in WHEELS:
            of = {n: float(found[f"wheel_{w}.{n}"][k]) for n in ("tire_force.x", "tire_force.z", "slip", "slip_angle",
                                                                 "omega", "lin_vel.x", "inclination")}  # fmt: skip
            assert of["slip"] == pytest.approx(-1.0, abs=2e-3), (w, k)
            side = 1.0 if w.endswith("L") else -1.0
            at = [of["tire_force.z"], of["slip"], side * of["slip_angle"], side * of["inclination"],
                  vehicle["tire.pressure"], of["lin_vel.x"], mu]  # fmt: skip
            wanted = dict(zip(GIVES.sizes, np.array(steady(law)(at, numbers)).ravel(), strict=True))
            assert of["tire_force.x"] == pytest.approx(wanted["fx"], abs=2e-3 * of["tire_force.z"]), (w, k)
            total += of["tire_force.x"]
        assert total / sum(found[f"wheel_{w}.tire_force.z"][k] for w in WHEELS) < -0.1
        slowing = (speed[k + 5] - speed[k - 5]) / 0.1
        weight = sum(float(found[f"wheel_{w}.tire_force.z"][k]) for w in WHEELS)
        assert slowing == pytest.approx(total / weight * 9.81, rel=0.03)


@pytest.mark.slow  # compiles the vehicle on a road
def test_braked_over_an_edge_of_a_friction_map_the_wheels_lock_and_slide_by_the_formula(tmp_path: Path) -> None:
    """From 0.8 to 0.3 at 25 m: held at about 4 % slip before it, locked within 15 m, the front wheels first; then the
    force is that of the file at slip -1, within 1 % of it."""
    road = tmp_path / "edge.toml"
    patches = ((0.0, 50.0, 0.8), (100.0, 150.0, 0.3))
    road.write_text("[ground]\nlength = 400.0\n" + "".join(
        f"[[friction]]\nx = {x}\ny = 0.0\nlength = {length}\nwidth = 40.0\nmu = {mu}\n" for x, length, mu in patches))
    made = open_builtin(on_road(on_tires("hmmwv", PAC2002), road))

    def plan(t: float) -> dict[str, float]:
        return {f"wheel_{w}.brake_torque": 1500.0 if t > 0.3 else 0.0 for w in WHEELS}

    found = run(made, {"init.speed": 20.0}, plan, 2400, 5)
    vehicle = with_tire_files(load_vehicle("hmmwv"), {"": PAC2002})
    law = find(vehicle.tire)
    numbers = [vehicle[n] for n in law.entries_of(1.0).values()]
    locked = {}
    for w in WHEELS:
        of = {n: found[f"wheel_{w}.{n}"] for n in ("slip", "tire_force.x", "tire_force.z", "contact_point.x")}
        before = of["contact_point.x"] < 24.0
        assert of["slip"][before].min() > -0.12
        locked[w] = int(np.argmax(of["slip"] < -0.99))
        assert 25.0 < of["contact_point.x"][locked[w]] < 40.0
        at = [of["tire_force.z"][-1], -1.0, 0.0, 0.0, vehicle["tire.pressure"], found["speed"][-1], 0.3]
        wanted = dict(zip(GIVES.sizes, np.array(steady(law)(at, numbers)).ravel(), strict=True))
        assert of["tire_force.x"][-1] == pytest.approx(wanted["fx"], rel=0.01)
    assert locked["FL"] < locked["RL"]


def test_driven_back_through_zero_speed_it_does_not_chatter(car: Factory) -> None:
    """Forces and spin of half a second on both sides are smooth: no step of a tick is above 1 % of the load."""

    def plan(t: float) -> dict[str, float]:
        return {f"wheel_{w}.drive_torque": -250.0 if t < 6.0 else 250.0 for w in WHEELS}

    found = run(car, {"init.speed": 3.0}, plan, 10000, 1)
    speed = found["wheel_FL.lin_vel.x"]
    crossings = np.nonzero(np.diff(np.sign(speed)))[0]
    assert len(crossings) == 2
    for k in crossings:
        near = slice(k - 500, k + 500)
        for w in WHEELS:
            force, load = found[f"wheel_{w}.tire_force.x"][near], found[f"wheel_{w}.tire_force.z"][near]
            assert (np.abs(np.diff(force)) < 0.01 * load[1:]).all()
            assert np.ptp(force) < 300.0  # the drive is 250 N.m over 0.45 m; nothing swings by it
            assert (np.abs(np.diff(found[f"wheel_{w}.omega"][near])) < 0.02).all()


def test_in_a_mirror_the_hmmwv_with_its_linkage_on_the_other_side_does_the_same(car: Factory) -> None:
    """Its Pitman arm is on the left, so that a mirrored manoeuvre alone ends millimetres off, on whatever tires."""
    for factory in (car, open_builtin("hmmwv")):
        linkage = ("REV", "UNIV", "PITMANARM", "REVSPH_R", "REVSPH_S")
        start = {s.name: s.start for s in factory.table.parameters}
        swapped = {f"steering.{n}.y": -start[f"steering.{n}.y"] for n in linkage}

        def plan(t: float, sign: float) -> dict[str, float]:
            near, far = ("L", "R") if sign > 0 else ("R", "L")
            brakes = {f"wheel_{a}{s}.brake_torque": v if t > 2.0 else 0.0 for a in "FR"
                      for s, v in ((near, 400.0), (far, 150.0))}  # fmt: skip
            return {"steering_wheel_angle": sign * (2.0 * math.sin(2.0 * t) if t < 4.0 else 0.8), **brakes}

        given = {"init.speed": 15.0}
        one, same, other = (run(factory, given | own, lambda t, sign=sign: plan(t, sign), 5000, 50)  # type: ignore[misc]
                            for sign, own in ((1.0, {}), (-1.0, {}), (-1.0, swapped)))  # fmt: skip
        assert np.abs(one["ref_frame.pos.y"]).max() > 5.0
        assert np.abs(one["ref_frame.pos.y"] + same["ref_frame.pos.y"]).max() > 1e-4
        for name, sign in (("pos.x", 1.0), ("pos.y", -1.0), ("pos.z", 1.0), ("yaw", -1.0), ("roll", -1.0)):
            assert one[f"ref_frame.{name}"] == pytest.approx(sign * other[f"ref_frame.{name}"], abs=1e-11), name


@pytest.mark.slow
@pytest.mark.parametrize("sides", [(1.0, -1.0), (-1.0, 1.0), (1.0, 1.0)], ids=["LEFT", "RIGHT", "as they stand"])
def test_a_mirrored_manoeuvre_gives_the_mirrored_motion(file: Path, sides: tuple[float, float]) -> None:
    """The car, whose rack is symmetric: steered, braked more on one side, leaning; within 1e-12 m and 1e-9 of forces.

    Tires that stand on both sides as in the file are those of the other side in a mirror.
    """
    factory = open_builtin(on_tires("car", file))
    runs = []
    for sign in (1.0, -1.0):
        near, far = ("L", "R") if sign > 0 else ("R", "L")
        left, right = sides if sign > 0 else (-sides[1], -sides[0])

        def plan(t: float, sign: float = sign, near: str = near, far: str = far) -> dict[str, float]:
            steer = sign * (2.0 * math.sin(2.0 * t) if t < 4.0 else 0.8)
            brakes = {f"wheel_{a}{s}.brake_torque": v if t > 2.0 else 0.0 for a in "FR"
                      for s, v in ((near, 400.0), (far, 150.0))}  # fmt: skip
            return {"steering_wheel_angle": steer, **brakes}

        given = {"init.speed": 15.0, "tire.side_left": left, "tire.side_right": right}
        runs.append(run(factory, given, plan, 7000, 10))
    one, other = runs
    assert np.abs(one["ref_frame.pos.y"]).max() > 10.0
    for name, sign in (("pos.x", 1.0), ("pos.y", -1.0), ("pos.z", 1.0), ("yaw", -1.0), ("roll", -1.0)):
        assert one[f"ref_frame.{name}"] == pytest.approx(sign * other[f"ref_frame.{name}"], abs=1e-12), name
    for w, mirrored in zip(WHEELS, (WHEELS[1], WHEELS[0], *WHEELS[:1:-1]), strict=True):
        for name, sign in (("force.x", 1.0), ("force.y", -1.0), ("moment.x", -1.0), ("moment.z", -1.0)):
            here, there = one[f"wheel_{w}.tire_{name}"], other[f"wheel_{mirrored}.tire_{name}"]
            assert here == pytest.approx(sign * there, abs=1e-5)
