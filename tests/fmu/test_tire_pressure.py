"""Inflation pressure of each wheel, and the vertical law of a file, in the model."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from jounce.axles import WHEELS
from jounce.data import load_vehicle, with_tire_files
from jounce.values import OutOfRange, check
from jounce_fmu.importer.host import Factory, FmuError, open_builtin
from jounce_fmu.models.tires import on_tires
from jounce_service.hosting.values import check as check_all
from jounce_service.hosting.values import select
from jounce_service.transport.errors import InputOutOfRange
from jounce_tools.vehicle.rest import standing

pytestmark = pytest.mark.slow  # a vehicle of its own is emitted and compiled

DATA = Path(__file__).parents[1] / "data" / "tires"
FEDA = DATA / "335_65R22_5_G275MSA_60psi.tir"
NOMINAL, TERMS = 800000.0, {"PPX1": -0.3, "PPX3": 0.2, "PPY1": 0.4, "PFZ1": 0.7}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The HMMWV's tire with terms of pressure and a range of it."""
    text = (DATA / "HMMWV_Pac02Tire.tir").read_text()
    for key in TERMS:
        text = re.sub(rf"^{key} .*\n", "", text, flags=re.MULTILINE)
    own = "".join(f"{key} = {value}\n" for key, value in TERMS.items())
    text = text.replace("[LONGITUDINAL_COEFFICIENTS]\n", f"[LONGITUDINAL_COEFFICIENTS]\n{own}")
    text += "[INFLATION_PRESSURE_RANGE]\nPRESMIN = 400000\nPRESMAX = 1000000\n"
    path = tmp_path_factory.mktemp("tires") / "pressure.tir"
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def car(file: Path) -> Factory:
    pytest.importorskip("casadi")
    return open_builtin(on_tires("hmmwv", file))


def driven(
    factory: Factory, pressure: dict[str, float], ticks: int = 800, **parameters: float
) -> dict[str, float]:
    """Outputs while it brakes in a curve, with pressures by wheel."""
    with factory.instance("x") as fmu:
        fmu.setup({"init.speed": 15.0, **{n.replace("__", "."): v for n, v in parameters.items()}})
        inputs = {s.name: s.start for s in factory.table.inputs} | {"steering_wheel_angle": 1.0}
        inputs |= {f"wheel_{w}.tire_pressure": v for w, v in pressure.items()}
        inputs |= {f"wheel_{w}.brake_torque": 400.0 for w in WHEELS}
        fmu.set_inputs(np.array(list(inputs.values())))
        fmu.step(ticks)
        return dict(zip([s.name for s in factory.interface.outputs], fmu.get_outputs(), strict=True))


def test_the_inputs_do_what_the_parameter_does_and_zero_leaves_it_to_the_parameter(car: Factory) -> None:
    """From a start in the air, which no pressure settles: bit for bit."""
    start = {"init__equilibrium": 0.0, "init__z": 0.6}
    by_input = driven(car, dict.fromkeys(WHEELS, 5e5), **start)
    assert by_input == driven(car, {}, tire__pressure=5e5, **start)
    assert by_input == driven(car, dict.fromkeys(WHEELS, 5e5), tire__pressure=9e5, **start)
    assert by_input != driven(car, {}, **start)


def test_the_pressure_of_a_wheel_acts_on_that_wheel(car: Factory) -> None:
    plain, soft = driven(car, {}, ticks=1), driven(car, {"RL": 4e5}, ticks=1)
    assert soft["wheel_RL.tire_force.z"] < 0.95 * plain["wheel_RL.tire_force.z"]
    for w in ("FL", "FR", "RR"):
        assert soft[f"wheel_{w}.tire_force.z"] == pytest.approx(plain[f"wheel_{w}.tire_force.z"], rel=1e-3)


@pytest.mark.parametrize("pressure", [4e5, 8e5, 1e6])
def test_at_rest_the_tire_is_pressed_in_by_its_load_over_its_stiffness(car: Factory, pressure: float) -> None:
    """k = LCZ VERTICAL_STIFFNESS (1 + PFZ1 (p - p0) / p0) (MF-Tyre 6.2)."""
    with car.instance("x") as fmu:
        fmu.setup({"tire.pressure": pressure})
        out = dict(zip([s.name for s in car.interface.outputs], fmu.get_outputs(), strict=True))
    stiffness = 0.4419e6 * (1.0 + 0.7 * (pressure - NOMINAL) / NOMINAL)
    for w in WHEELS:
        assert out[f"wheel_{w}.tire_force.z"] == pytest.approx(stiffness * out[f"wheel_{w}.deflection"], rel=1e-9)


@pytest.mark.parametrize("pressure", [2.4, 3.9e5, 1.01e6])
def test_a_pressure_outside_the_range_of_the_file_is_refused(car: Factory, pressure: float) -> None:
    """2.4 is a pressure in bar."""
    place = car.table.by_name("wheel_FR.tire_pressure")
    with pytest.raises(OutOfRange, match="expected 0 or a finite number from 400000.0 to 1000000.0 Pa"):
        check(place, pressure)
    assert check(place, 0.0) == 0.0
    with car.instance("x") as fmu:
        fmu.setup({})
        u = np.array([s.start for s in car.table.inputs])
        u[place.index] = pressure
        with pytest.raises(FmuError, match=r"wheel_FR\.tire_pressure = .*: expected 0, or 400000 to 1000000"):
            fmu.set_inputs(u)
    every = select(car.table.inputs, ("*",), "input")
    assert check_all(every, [s.start for s in car.table.inputs]).tolist() == [s.start for s in car.table.inputs]
    with pytest.raises(InputOutOfRange, match="wheel_FR.tire_pressure"):
        check_all(every, u)
    with car.instance("x") as fmu, pytest.raises(FmuError, match=r"tire\.pressure = .*: expected 400000 to 1000000"):
        fmu.setup({"tire.pressure": pressure})


@pytest.fixture(scope="module")
def curved() -> Factory:
    pytest.importorskip("casadi")
    return open_builtin(on_tires("hmmwv", FEDA))


@pytest.mark.slow  # compiles the law with a curve; tests/vehicle/test_magic_formula_motion.py has its equations
@pytest.mark.parametrize("height", [0.62, 0.6, 0.55, 0.5, 0.47])
def test_the_load_is_that_of_the_curve_with_bottoming(curved: Factory, height: float) -> None:
    """Held still above the ground, so that neither dampers nor the rim act."""
    curve = np.array([[float(v) for v in row.split()] for row in table("DEFLECTION_LOAD_CURVE")]).T
    bottoming = np.array([[float(v) for v in row.split()] for row in table("BOTTOMING_CURVE")]).T
    with curved.instance("x") as fmu:
        fmu.setup({"init.equilibrium": 0.0, "init.z": height})
        out = dict(zip([s.name for s in curved.interface.outputs], fmu.get_outputs(), strict=True))
    for w in WHEELS:
        d, load = out[f"wheel_{w}.deflection"], out[f"wheel_{w}.tire_force.z"]
        beyond = max(d - 0.1, 0.0) * (54758.0 - 52776.807) / 0.005
        assert load == pytest.approx(np.interp(d, *curve) + beyond + np.interp(d, *bottoming), rel=1e-9, abs=1e-9)


def table(section: str) -> list[str]:
    """Rows of the first section of that name."""
    rows = FEDA.read_text().split(f"[{section}]\n")[1].split("[")[0].splitlines()
    return [row for row in rows if row.strip() and row[0] != "{"]


def test_it_rests_where_the_check_of_vehicles_says(curved: Factory) -> None:
    vehicle = with_tire_files(load_vehicle("hmmwv"), {"": FEDA})
    stands = standing(vehicle)
    with curved.instance("x") as fmu:
        fmu.setup({})
        out = dict(zip([s.name for s in curved.interface.outputs], fmu.get_outputs(), strict=True))
    for axle, w in enumerate(("FL", "RL")):
        assert out[f"wheel_{w}.tire_force.z"] == pytest.approx(stands.load[axle], rel=1e-3)
        assert out[f"wheel_{w}.travel"] == pytest.approx(stands.travel[axle], abs=5e-4)
    assert out["ref_frame.pos.z"] == pytest.approx(stands.height, abs=5e-4)
