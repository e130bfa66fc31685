"""A vehicle that leaves its wheels: it rolls over, lands in any attitude, bottoms out, and goes on with finite numbers.

Energy is the judge: kinetic and potential energy (with springs, stops, shock ends and the body on the ground) and what
tires and rims store never rise again, but for what the law of the rolling tire makes (`RISE`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from measure import Record
from numpy.typing import NDArray
from rollover import energy, rise

from jounce.axles import AXLES, WHEELS
from jounce.data import load_vehicle
from jounce_fmu.importer.host import Factory, FmuError, open_builtin
from jounce_fmu.importer.instance import FmuInstance

Array = NDArray[np.float64]
Inputs = Callable[[float], dict[str, float]]

VEHICLES = ("hmmwv", "hmmwv_chrono", "utv")
RISE = 0.02  # of the energy at the start
SCALE = {"hmmwv": 1.0, "hmmwv_chrono": 1.0, "utv": 0.64}
FOLD = {"F": -0.461, "R": -0.501}  # lower-arm angle where the upper arm and the upright lie in line


class Car:
    """One instance in motion, with its outputs by name."""

    def __init__(self, factory: Factory, fmu: FmuInstance, vehicle: str) -> None:
        self.fmu, self.vehicle, self.data = fmu, vehicle, load_vehicle(vehicle)
        self.at = {s.name: k for k, s in enumerate(factory.table.outputs)}

    def __getitem__(self, name: str) -> float:
        return float(self.fmu.get_outputs()[self.at[name]])

    def run(self, seconds: float, inputs: Inputs | None = None, every: int = 10) -> tuple[Array, bool]:
        """(energies, did it roll over?); every output is read and finite."""
        tick, rows = self.fmu.tick_length, [self.fmu.get_outputs()]
        for k in range(round(seconds / (tick * every))):
            if inputs:
                self.fmu.set_values(inputs(k * every * tick))
            self.fmu.step(every)
            rows.append(self.fmu.get_outputs())
        record = Record(tick * every * np.arange(len(rows)), np.array(rows), self.at)
        assert np.isfinite(record.values).all()
        assert (record.wheels("arm_angle") > [FOLD[w[0]] for w in WHEELS]).all()
        return energy(record, self.vehicle), bool(record("rolled_over").max())


@pytest.fixture
def car(request: pytest.FixtureRequest) -> Iterator[Callable[..., Car]]:
    made: list[FmuInstance] = []

    def make(vehicle: str, parameters: dict[str, float], inputs: dict[str, float] | None = None) -> Car:
        factory = open_builtin(vehicle)
        fmu = factory.instance("car")
        made.append(fmu)
        fmu.setup(parameters, inputs or {})
        return Car(factory, fmu, vehicle)

    yield make
    for fmu in made:
        fmu.free()


def j_turn(car: Callable[..., Car], vehicle: str, seed: int) -> bool:
    r = np.random.default_rng(seed)
    angle, ramp = r.uniform(3.0, 9.0) * r.choice([-1.0, 1.0]), r.uniform(0.1, 0.6)
    one = car(vehicle, {"terrain.mu": r.uniform(1.2, 2.0), "init.speed": r.uniform(15.0, 30.0)})
    energies, over = one.run(6.0, lambda t: {"steering_wheel_angle": angle * min(1.0, t / ramp),
                                             "steering_wheel_rate": angle / ramp if t < ramp else 0.0})  # fmt: skip
    assert rise(energies) < RISE * energies[0]
    return over


def drop(car: Callable[..., Car], vehicle: str, seed: int, **parameters: float) -> bool:
    """Thrown into a spin about any axis, then let fall."""
    r, scale = np.random.default_rng(seed), SCALE[vehicle]
    moment = r.normal(size=3)
    moment *= r.uniform(4e3, 24e3) * scale**4 / np.linalg.norm(moment)
    push = r.uniform(0.1, 0.5)
    one = car(vehicle, {"init.equilibrium": 0.0, "init.z": r.uniform(2.5, 6.0) * scale, "terrain.mu": r.uniform(0, 1.5),
                        "init.speed": r.uniform(-10.0, 10.0), **parameters})  # fmt: skip
    one.run(push, lambda _: {f"chassis.ext_moment.{a}": m for a, m in zip("xyz", moment, strict=True)})
    one.fmu.set_values({f"chassis.ext_moment.{a}": 0.0 for a in "xyz"})
    energies, over = one.run(7.0)
    assert rise(energies) < RISE * energies[0]
    return over


@pytest.mark.parametrize("vehicle", VEHICLES)
def test_j_turns_that_roll_the_vehicle_over_go_on_and_make_no_energy(car: Callable[..., Car], vehicle: str) -> None:
    assert all([j_turn(car, vehicle, seed) for seed in range(3)])


@pytest.mark.slow
@pytest.mark.parametrize("vehicle", VEHICLES)
def test_two_hundred_j_turns(car: Callable[..., Car], vehicle: str) -> None:
    assert sum(j_turn(car, vehicle, 100 + seed) for seed in range(200)) > 150


@pytest.mark.parametrize("vehicle", VEHICLES)
def test_drops_in_any_attitude_go_on_and_make_no_energy(car: Callable[..., Car], vehicle: str) -> None:
    assert any([drop(car, vehicle, seed) for seed in (0, 1, 2, 122)])  # 122: a spinning wheel lies on its side


@pytest.mark.parametrize("seed", [103, 124, 175])
def test_an_implicit_step_makes_no_energy_where_its_matrix_is_nearly_singular(
    car: Callable[..., Car], seed: int
) -> None:
    """A light wheel spins while it lies nearly flat: one tick of 2 ms made up to 6.7 times the energy of the fall."""
    drop(car, "utv", seed, tick=0.002, integrator=2.0)


@pytest.mark.slow
@pytest.mark.parametrize("vehicle", VEHICLES)
@pytest.mark.parametrize("way", [{}, {"tick": 0.002}, {"tick": 0.002, "integrator": 2.0},
                                 {"terrain_source": 2.0}], ids=str)  # fmt: skip
def test_a_hundred_drops(car: Callable[..., Car], vehicle: str, way: dict[str, float]) -> None:
    assert any([drop(car, vehicle, 100 + seed, **way) for seed in range(100)])


def _laid(car: Callable[..., Car], roll_moment: float, seconds: float) -> Car:
    one = car("hmmwv", {"init.equilibrium": 0.0, "init.z": 2.5, "terrain.mu": 0.8})
    one.run(0.3, lambda _: {"chassis.ext_moment.x": roll_moment})
    one.fmu.set_values({"chassis.ext_moment.x": 0.0})
    one.run(seconds)
    return one


def _masses(one: Car) -> list[float]:
    """Of all bodies [kg]."""
    masses = {n: e.value for n, e in one.data.entries.items() if n.endswith("mass")}
    return [m * (2 if n.startswith(("front.", "rear.")) else 4 if n.startswith("wheel.") else 1)
            for n, m in masses.items()]  # fmt: skip


def test_a_vehicle_on_its_side_or_roof_comes_to_rest_and_its_weight_is_on_its_body(car: Callable[..., Car]) -> None:
    lying = [one for one in (_laid(car, m, 12.0) for m in (30e3, 32e3)) if one["rolled_over"] == 1.0]
    assert lying, "none of the throws ended on a side or on the roof"
    for one in lying:
        total = sum(_masses(one))
        carried = one["chassis.ground_force.z"] + sum(one[f"wheel_{w}.tire_force.z"] for w in WHEELS)
        assert abs(one["speed"]) < 0.01
        assert np.linalg.norm([one[f"ref_frame.lin_vel.{a}"] for a in "xyz"]) < 0.01
        assert carried == pytest.approx(9.81 * total, rel=0.01)
        assert one["chassis.ground_force.z"] > 0.5 * carried


@pytest.mark.parametrize("terrain", ["PLANE", "EXTERNAL"])
def test_a_body_whose_wheels_a_partner_carries_lies_on_the_terrain_that_is_known(
    car: Callable[..., Car], terrain: str
) -> None:
    """No partner here gives a force: the hull falls from 2 m onto ground that is 1 m high, and carries all."""
    heights = {f"wheel_{w}.terrain_height": 1.0 for w in WHEELS} if terrain == "EXTERNAL" else {}
    one = car("hmmwv", {"tire_source": "EXTERNAL", "terrain_source": terrain, "init.equilibrium": 0.0, "init.z": 3.0,
                        "terrain.height": 1.0 - len(heights)}, heights)  # fmt: skip
    one.run(6.0)
    low = min(one.data[f"chassis.outline.{end}.low.z"] for end in AXLES)
    assert one["ref_frame.pos.z"] + low == pytest.approx(1.0, abs=0.05)
    assert abs(one["ref_frame.lin_vel.z"]) < 0.01
    assert one["chassis.ground_force.z"] == pytest.approx(sum(_masses(one)) * 9.81, rel=0.01)


def test_a_body_that_starts_in_the_ground_is_refused_with_the_ways_out(car: Callable[..., Car]) -> None:
    """As under a partner whose terrain lies lower than the plane that is known."""
    start = {"tire_source": "EXTERNAL", "init.equilibrium": 0.0, "init.z": -5.0}
    with pytest.raises(FmuError, match=r"init.z = -5: the body starts .* in the terrain; expected .*terrain.height"):
        car("hmmwv", start)
    one = car("hmmwv", {**start, "chassis.contact.stiffness": 0.0})
    one.run(0.2)
    assert one["chassis.ground_force.z"] == 0.0


@pytest.mark.parametrize("moment", [500.0, 1000.0, -1000.0, 2e4])
@pytest.mark.parametrize("wheel", WHEELS[:2])
def test_a_camber_moment_on_a_hanging_wheel_is_held_by_the_shocks_end(
    car: Callable[..., Car], wheel: str, moment: float
) -> None:
    one = car("hmmwv", {"tire_source": "EXTERNAL", "init.equilibrium": 0.0, "init.z": 100.0},
              {f"wheel_{wheel}.moment.x": moment})  # fmt: skip
    one.run(1.5, every=1)


@pytest.mark.parametrize("force", [7e5, -7e5])
@pytest.mark.parametrize("axis", "xyz")
@pytest.mark.parametrize("wheel", ["FL", "RR"])
def test_seven_hundred_kilonewton_on_a_wheel_reach_no_fold(
    car: Callable[..., Car], wheel: str, axis: str, force: float
) -> None:
    one = car("hmmwv", {"tire_source": "EXTERNAL", "init.equilibrium": 0.0, "init.z": 100.0})
    centre = [f"wheel_{wheel}.pos.{a}" for a in "xyz"]
    one.run(0.1, lambda _: {f"wheel_{wheel}.force.{axis}": force, **{
        f"wheel_{wheel}.point.{a}": one[name] for a, name in zip("xyz", centre, strict=True)}}, every=1)  # fmt: skip


def test_rolled_over_is_told_from_eighty_degrees_off_the_terrains_normal(car: Callable[..., Car]) -> None:
    one, most = car("hmmwv", {"init.equilibrium": 0.0, "init.z": 30.0, "gravity": 0.0}), 0.0
    for _ in range(200):
        one.fmu.set_values({"chassis.ext_moment.x": 2e3})
        one.fmu.step(10)
        q = [one[f"ref_frame.rot.e{k}"] for k in range(4)]
        tilt = np.degrees(np.arccos(1.0 - 2.0 * (q[1] ** 2 + q[2] ** 2)))
        if abs(tilt - 80.0) > 0.01:
            assert one["rolled_over"] == (tilt > 80.0)
        most = max(most, tilt)
    assert most > 100.0


def test_a_step_that_succeeded_can_always_be_read(car: Callable[..., Car]) -> None:
    for wheel, force in (("FL", 4e6), ("RR", 4e6), ("FR", -3e6)):
        one = car("hmmwv", {"tire_source": "EXTERNAL", "init.equilibrium": 0.0, "init.z": 100.0})
        one.fmu.set_values({f"wheel_{wheel}.force.z": np.sign(force) * 1e6, f"wheel_{wheel}.moment.x": force / 4.0})
        with pytest.raises(FmuError, match=r"fmi2DoStep: step failed: wheel_"):
            for _ in range(2000):
                one.fmu.step(1)
                assert np.isfinite(one.fmu.get_outputs()).all()


@pytest.mark.parametrize(("vehicle", "z"), [("hmmwv", -1.0), ("hmmwv", 0.2), ("utv", -1.0), ("utv", 0.1)])
def test_a_start_with_the_rims_in_the_ground_is_refused_with_wheel_depth_and_limit(
    car: Callable[..., Car], vehicle: str, z: float
) -> None:
    data = load_vehicle(vehicle)
    deepest = min(data[f"{a}.origin.z"] + data[f"{a}.SPINDLE.z"] for a in AXLES)
    depth = 1e3 * (data["tire.unloaded_radius"] - deepest - z)
    limit = 1e3 * (data["tire.unloaded_radius"] - data["tire.rim_radius"])
    told = rf"init.z = {z:g}: tire .. starts {depth:.0f} mm deep .* at most {limit:.0f} mm"
    with pytest.raises(FmuError, match=told):
        car(vehicle, {"init.equilibrium": 0.0, "init.z": z})


def test_ground_that_rises_through_a_wheel_is_a_fault_that_names_the_wheel_and_its_deflection(
    car: Callable[..., Car],
) -> None:
    one = car("hmmwv", {"terrain_source": "EXTERNAL"})
    one.fmu.set_values({"wheel_RL.terrain_height": 0.6})
    with pytest.raises(FmuError, match=r"wheel_RL.deflection = 0\.\d+: tire RL is pressed in .* at most 470 mm"):
        one.fmu.step(1)


def test_a_hard_landing_bottoms_on_the_rims_and_throws_no_higher(car: Callable[..., Car]) -> None:
    one = car("hmmwv", {"init.equilibrium": 0.0, "init.z": 9.0})
    deepest, highest = 0.0, 0.0
    for k in range(1800):
        one.fmu.step(2)
        deepest = max(deepest, one["wheel_FL.deflection"])
        if k > 800:
            highest = max(highest, one["ref_frame.pos.z"])
    assert deepest > one.data["tire.unloaded_radius"] - one.data["tire.rim_radius"]
    assert highest < 6.0


STIFF = [("front.shock.rebound", 1e7), ("rear.shock.compression", 1e7), ("front.shock.end_stiffness", 1e10),
         ("rear.stop.force.10", 1e8), ("tire.vertical_damping", 1e7),
         ("tire.rim_stiffness", 1e10), ("tire.vertical_stiffness", 1e9),
         ("chassis.contact.stiffness", 1e10), ("chassis.contact.friction_damping", 1e7)]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), STIFF)
def test_what_is_too_stiff_for_rk4_is_refused_by_its_name_and_runs_at_half_the_limit_of_the_message(
    car: Callable[..., Car], name: str, value: float
) -> None:
    expected = rf"{name} = .*: too stiff for RK4 at a tick of 1000 us; expected at most"
    with pytest.raises(FmuError, match=expected) as told:
        car("hmmwv", {name: value})
    limit = float(str(told.value).split("at most ")[1].split(",")[0])
    one = car("hmmwv", {name: 0.5 * limit, "init.equilibrium": 0.0, "init.z": 0.6})
    energies, _ = one.run(0.6)
    assert energies[-1] < energies[0]


def test_a_shock_far_beyond_the_limit_diverges_so_that_the_limit_means_something(car: Callable[..., Car]) -> None:
    with pytest.raises(FmuError, match="front.shock.rebound") as told:
        car("hmmwv", {"front.shock.rebound": 1e9})
    limit = float(str(told.value).split("at most ")[1].split(",")[0])
    finer = car("hmmwv", {"front.shock.rebound": 1.9 * limit, "tick": 5e-4, "init.equilibrium": 0.0, "init.z": 0.8})
    finer.run(0.3)
    with pytest.raises(FmuError, match="too stiff"):
        car("hmmwv", {"front.shock.rebound": 2.1 * limit, "tick": 5e-4})
