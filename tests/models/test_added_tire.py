"""A tire law of another module: one file (`linear_tire.py`) and one line that registers it, no line of C."""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import fmpy.validation
import numpy as np
import pytest
from numpy.typing import NDArray

import jounce
from jounce.axles import WHEELS
from jounce.contact import tires
from jounce.data import DataError, load_vehicle
from jounce_fmu.build.builtin import export_builtin
from jounce_fmu.build.library import BuildError
from jounce_fmu.importer.foreign import Interface
from jounce_fmu.importer.host import Factory, FmuError
from jounce_fmu.importer.instance import FmuInstance
from jounce_fmu.importer.tables import checked_table, model_table
from jounce_fmu.models import find, register, unregister
from jounce_fmu.models.double_wishbone import model_of

sys.path.insert(0, str(Path(__file__).parent))
import linear_tire

Array = NDArray[np.float64]
HMMWV = Path(jounce.__file__).parent / "vehicles" / "hmmwv"
K, CX, CY, SIGMA, RADIUS, COOLING = 4e5, 1.2e5, 9e4, 0.5, 0.47, 0.7
TIRE = "[tire]\n" + "".join(
    f'{name} = {{ value = {value}, unit = "{unit}", source = "test", description = "{name}", minimum = 1e-3 }}\n'
    for name, value, unit in (
        ("unloaded_radius", RADIUS, "m"), ("rim_radius", 0.25, "m"), ("stiffness", K, "N/m"),
        ("longitudinal_stiffness", CX, "N"), ("cornering_stiffness", CY, "N"), ("relaxation_length", SIGMA, "m"),
        ("cooling", COOLING, "s"),
    ))  # fmt: skip


def a_car(folder: Path, law: str = "linear") -> Path:
    """The HMMWV on other tires."""
    shutil.copytree(HMMWV, folder)
    (folder / "tire.toml").write_text(TIRE)
    head = (folder / "vehicle.toml").read_text().replace('name = "hmmwv"', f'name = "linear_car"\ntire = "{law}"')
    (folder / "vehicle.toml").write_text(head)
    return folder


@pytest.fixture(scope="module")
def car(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Factory]:
    folder = tmp_path_factory.mktemp("tires")
    tires.register(linear_tire.LAW)
    register(model_of(a_car(folder / "car"), folder))
    try:
        table = checked_table(find("linear_car"))
        yield Factory("linear_car", find("linear_car").library(), Interface.of_table(table))
    finally:
        unregister("double_wishbone_linear_car")
        tires.unregister("linear")


class Run:
    """A vehicle that moves, with its inputs and outputs by name."""

    def __init__(self, car: Factory, **parameters: object) -> None:
        self.fmu: FmuInstance = car.instance("car")
        self.fmu.setup({name.replace("__", "."): value for name, value in parameters.items()})  # type: ignore[misc]
        self.inputs = {s.name: s.start for s in self.fmu.table.inputs}

    def go(self, ticks: int, **inputs: float) -> SimpleNamespace:
        self.inputs |= {name.replace("__", "."): value for name, value in inputs.items()}
        self.fmu.set_inputs(np.array(list(self.inputs.values())))
        self.fmu.step(ticks)
        y = dict(zip([s.name for s in self.fmu.interface.outputs], self.fmu.get_outputs(), strict=True))
        return SimpleNamespace(y=y, wheels=[Wheel(y, w) for w in WHEELS])


class Wheel:
    """What the outputs say of a wheel, and from that, on level ground, the slips of the law, in numpy."""

    def __init__(self, y: dict[str, float], name: str) -> None:
        def vector(signal: str, parts: str = "xyz") -> Array:
            return np.array([y[f"wheel_{name}.{signal}.{p}"] for p in parts])

        self.force, self.deflection = vector("tire_force"), y[f"wheel_{name}.deflection"]
        w, x, qy, z = (y[f"wheel_{name}.rot.e{k}"] for k in range(4))
        axis = np.array([2 * (x * qy - w * z), 1 - 2 * (x * x + z * z), 2 * (qy * z + w * x)])  # y of the wheel
        heading = np.cross(axis, [0.0, 0.0, 1.0]) / np.hypot(axis[0], axis[1])
        velocity, self.height = vector("lin_vel"), vector("pos")[2]
        self.vx, self.vy = velocity @ heading, velocity @ np.cross([0.0, 0.0, 1.0], heading)
        self.rolling = RADIUS * axis @ vector("ang_vel")

    @property
    def slip_x(self) -> float:
        assert self.vx > linear_tire.SLOW
        return float((self.vx - self.rolling) / self.vx)

    @property
    def slip_y(self) -> float:
        return float(self.vy / self.vx)


@pytest.mark.slow
def test_it_stands_on_its_springs(car: Factory) -> None:
    hmmwv = Factory("hmmwv", find("hmmwv").library(), Interface.of_table(model_table("hmmwv")))
    weight = sum(w.force[2] for w in Run(hmmwv).go(1).wheels)  # whatever its tires
    run = Run(car)
    for ticks in (1, 500):
        now = run.go(ticks)
        assert sum(w.force[2] for w in now.wheels) == pytest.approx(weight, rel=1e-6)
        for w in now.wheels:
            assert w.force == pytest.approx([0.0, 0.0, K * w.deflection], abs=1e-3)
            assert w.deflection == pytest.approx(RADIUS - w.height, abs=1e-12)


@pytest.mark.slow
def test_its_forces_are_the_laws_while_the_vehicle_brakes_and_steers(car: Factory) -> None:
    run = Run(car, init__speed=12.0)
    for ticks, angle, brake in ((300, 0.5, 0.0), (700, 0.5, 300.0), (1, -2.0, 300.0)):
        now = run.go(ticks, steering_wheel_angle=angle, **{f"wheel_{w}__brake_torque": brake for w in WHEELS})
        for w in now.wheels:
            assert w.force[2] == pytest.approx(K * max(RADIUS - w.height, 0.0), rel=1e-9)
            assert w.force[0] == pytest.approx(-CX * w.slip_x, rel=1e-6, abs=1e-3)
    before, after = run.go(1), run.go(1)
    assert abs(after.wheels[0].force[1] - before.wheels[0].force[1]) > 10.0  # on its way after the jump of the steering
    for a, b in zip(before.wheels, after.wheels, strict=True):  # d Fy = |vx| / sigma (-Cy s_y - Fy) dt
        slope = [abs(w.vx) / SIGMA * (-CY * w.slip_y - w.force[1]) for w in (a, b)]
        assert b.force[1] - a.force[1] == pytest.approx(0.0005 * sum(slope), rel=1e-3, abs=1e-3)


def test_a_steady_turn_takes_the_lateral_force_that_the_slip_angles_give(car: Factory) -> None:
    run = Run(car, init__speed=10.0)
    now = run.go(6000, steering_wheel_angle=0.8)
    for w in now.wheels:
        assert w.force[1] == pytest.approx(-CY * w.slip_y, rel=2e-2)
    centripetal = now.y["speed"] * now.y["ref_frame.ang_vel.z"]
    mass = sum(w.force[2] for w in now.wheels) / 9.81
    assert centripetal > 0.5
    assert sum(w.force[1] for w in now.wheels) / mass == pytest.approx(centripetal, rel=2e-2)


@pytest.mark.parametrize("integrator", ["RK4", "ROSENBROCK"])
def test_an_input_a_state_and_an_output_of_its_own_are_part_of_the_vehicle(car: Factory, integrator: str) -> None:
    """The state starts where the law says and relaxes to the input: T = T_air + (300 K - T_air) exp(-t / tau)."""
    run = Run(car, integrator=integrator)
    y = run.go(0).y
    assert [y[f"wheel_{w}.tire_temperature"] for w in WHEELS] == [300.0] * 4
    air = dict(zip(WHEELS, (250.0, 300.0, 350.0, 400.0), strict=True))
    y = run.go(900, **{f"wheel_{w}__air_temperature": t for w, t in air.items()}).y
    for w, t in air.items():
        assert y[f"wheel_{w}.tire_temperature"] == pytest.approx(t + (300.0 - t) * math.exp(-0.9 / COOLING), abs=1e-4)


def test_the_implicit_step_knows_its_tangents(car: Factory) -> None:
    ends = []
    for integrator, tick in (("RK4", 0.0005), ("ROSENBROCK", 0.0005)):
        run = Run(car, init__speed=12.0, integrator=integrator, tick=tick)
        ends.append(run.go(2000, steering_wheel_angle=0.5).y)
    for name in ("speed", "ref_frame.ang_vel.z", "ref_frame.yaw", "com.pos.x", "wheel_FL.tire_force.y"):
        assert ends[0][name] == pytest.approx(ends[1][name], rel=1e-4), name


def test_it_runs_by_name_and_as_a_file(car: Factory, tmp_path: Path) -> None:
    run = jounce.simulate("linear_car", duration=0.2, outputs=["speed"], **{"init.speed": 10.0})
    path = export_builtin(tmp_path / "linear_car.fmu", "linear_car")
    assert not fmpy.validation.validate_fmu(str(path))
    result = fmpy.simulate_fmu(str(path), stop_time=0.2, output_interval=0.01, start_values={"init.speed": 10.0})
    assert result["speed"][-1] == run.values[-1, 0] < 10.0


def test_the_stiffness_that_it_names_is_held_to_what_the_step_holds(car: Factory) -> None:
    with pytest.raises(FmuError, match=r"tire\.stiffness = 1000000000: too stiff for RK4"):
        Run(car, tire__stiffness=1e9)


def test_its_states_and_parameters_are_described_and_the_old_references_stay(car: Factory) -> None:
    table, hmmwv = find("linear_car").read("linear_car"), model_table("hmmwv")
    assert [s.name for s in table.states if "lateral" in s.name] == [f"state.wheel_{w}.lateral" for w in WHEELS]
    assert not [s.name for s in table.states if "bristle" in s.name]
    known = {s.name: s.value_reference for s in hmmwv.scalars}
    ours = {s.name: s.value_reference for s in table.scalars}
    assert {n: ours[n] for n in ours.keys() & known.keys()} == {n: known[n] for n in ours.keys() & known.keys()}
    assert min(ours[f"tire.{n}"] for n in ("stiffness", "relaxation_length")) > max(known.values())
    assert ours["wheel_FL.air_temperature"] not in known.values()


def test_a_vehicle_of_another_law_is_refused_with_the_laws(tmp_path: Path) -> None:
    path = a_car(tmp_path / "car", "brush")
    assert load_vehicle(path).tire == "brush"
    with pytest.raises(BuildError, match=r"tire = 'brush', and this model is emitted for tmeasy.*laws are tmeasy"):
        model_table(path)
    with pytest.raises(DataError, match="unknown tire law 'brush'; known are tmeasy"):
        model_of(path, tmp_path)
