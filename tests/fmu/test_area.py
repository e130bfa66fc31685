"""Contact with the area of the wheel's disc: flat ground, slopes, energy over edges, and the vehicle over obstacles."""

from __future__ import annotations

import ctypes as ct
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import jounce
from jounce.axles import WHEELS
from jounce_fmu.build.library import FLAGS, PACKAGE, compiler, library_suffix
from jounce_fmu.importer.host import FmuError
from jounce_fmu.models.roads import on_road

RADIUS, STIFFNESS = 0.4699, 411e3
Ground = Callable[[np.ndarray], np.ndarray]


class _Area(ct.Structure):
    _fields_ = [("deflection", ct.c_double), ("ahead", ct.c_double), ("up", ct.c_double), ("share", ct.c_double)]


class Disc:
    """A wheel's disc over a profile of the ground."""

    def __init__(self, folder: Path) -> None:
        library, models = folder / f"area{library_suffix()}", PACKAGE / "models"
        command = [*compiler(), *(f for f in FLAGS if f != "-fvisibility=hidden"), "-shared"]
        command += [f"-I{models / name}" for name in ("terrain", "common")]
        subprocess.run([*command, "-o", str(library), str(models / "terrain" / "jn_area.c"), "-lm"], check=True)
        self.library, self.rim = ct.CDLL(str(library)), (ct.c_double * 62)()
        self.library.jn_area_rim(self.rim)
        self.x, self.z = RADIUS * np.array(self.rim).reshape(2, -1)

    def __call__(self, ground: Ground, x: float, height: float) -> tuple[float, np.ndarray]:
        """Deflection [m] and force [N] ahead and up, with the centre at x and that height."""
        above, out = ground(x + self.x) - (height - self.z), _Area()
        if not self.library.jn_area_of(self.rim, ct.c_double(RADIUS), (ct.c_double * 31)(*above), ct.byref(out)):
            return 0.0, np.zeros(2)
        return out.deflection, STIFFNESS * out.deflection * out.share * np.array([out.ahead, out.up])


@pytest.fixture(scope="module")
def disc(tmp_path_factory: pytest.TempPathFactory) -> Disc:
    """The law."""
    return Disc(tmp_path_factory.mktemp("area"))


@pytest.mark.parametrize("deflection", [1e-4, 0.003, 0.02, 0.07, 0.15])
def test_flat_ground_presses_as_a_point(disc: Disc, deflection: float) -> None:
    found, force = disc(np.zeros_like, 0.0, RADIUS - deflection)
    assert found == pytest.approx(deflection, rel=1e-12)
    assert force == pytest.approx([0.0, STIFFNESS * deflection], rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("slope, within", [(0.1, 5e-3), (0.3, 5e-3), (0.6, 1e-2)])
def test_a_slope_presses_along_its_normal(disc: Disc, slope: float, within: float) -> None:
    """A plane at a distance R - 20 mm from the centre."""
    length = np.hypot(1.0, slope)
    found, force = disc(lambda x: slope * x, 0.0, (RADIUS - 0.02) * length)
    assert found == pytest.approx(0.02, rel=within)
    load = STIFFNESS * 0.02
    assert force == pytest.approx([-slope / length * load, load / length], abs=within * load)


def pushed(disc: Disc, ground: Ground) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Way [m], deflections and forces of a wheel whose axle is held 20 mm deep and moved over that ground."""
    way = np.linspace(-1.0, 1.0, 8001)
    found = [disc(ground, x, RADIUS - 0.02) for x in way]
    return way, np.array([d for d, _ in found]), np.array([f for _, f in found])


def test_work_over_a_step_is_the_energy_in_the_tire(disc: Disc) -> None:
    """100 mm high and upright: 2869.1 J in the tire, to a thousandth; a point would meet the wall with 189 kN."""
    way, deflection, force = pushed(disc, lambda x: np.where(x > 0.0, 0.1, 0.0))
    stored = 0.5 * STIFFNESS * (deflection[-1] ** 2 - deflection[0] ** 2)
    work = -np.sum(0.5 * (force[1:, 0] + force[:-1, 0]) * np.diff(way))
    assert stored == pytest.approx(0.5 * STIFFNESS * (0.12**2 - 0.02**2), rel=1e-9)
    assert work == pytest.approx(stored, rel=2e-3)
    assert np.abs(force[:, 0]).max() < 25e3


def test_a_half_round_gives_back_what_it_takes(disc: Disc) -> None:
    """Radius 152 mm; the page's study has 7.6 kN along for a single-point contact's 175 kN."""
    way, _, force = pushed(disc, lambda x: np.sqrt(np.maximum(0.152**2 - x**2, 0.0)))
    steps = 0.5 * (force[1:, 0] + force[:-1, 0]) * np.diff(way)
    assert abs(steps.sum()) < 1e-3 * np.abs(steps).sum()
    assert np.abs(force[:, 0]).max() == pytest.approx(7.6e3, rel=0.15)


def course(folder: Path, name: str, text: str) -> str:
    """The HMMWV on a described ground."""
    (folder / f"{name}.toml").write_text(f"[ground]\nlength = 60.0\n{text}")
    return str(on_road("hmmwv", folder / f"{name}.toml"))


AREA, QUICK = {"tire.contact": "AREA"}, {"init.speed": 4.0}
HALF_ROUND = '[[obstacle]]\nkind = "half_round"\nx = 6.0\nradius = 0.102\n'


def test_on_level_ground_the_vehicle_drives_as_with_a_point(tmp_path: Path) -> None:
    level = course(tmp_path, "level", HALF_ROUND.replace("6.0", "50.0"))
    point = jounce.simulate(level, {"steering_wheel_angle": 1.0}, 0.8, **QUICK)
    area = jounce.simulate(level, {"steering_wheel_angle": 1.0}, 0.8, **QUICK, **AREA)
    scale = np.maximum(np.abs(point.values).max(0), 1.0)
    assert np.max(np.abs(area.values - point.values) / scale) < 1e-9


def test_a_half_round_presses_the_tire_as_the_study_says(tmp_path: Path) -> None:
    """102 mm at 4 m/s: a quarter car with N = 31 has 14.3 kN, exactly 13.2 kN; a point has more than 60 kN."""
    over = course(tmp_path, "over", HALF_ROUND)
    area, point = (jounce.simulate(over, {}, 1.2, **QUICK, **how) for how in (AREA, {}))
    assert 11e3 < area["wheel_FL.tire_force"][:, 2].max() < 16e3
    assert point["wheel_FL.tire_force"][:, 2].max() > 60e3
    total = area["energy.kinetic"] + area["energy.potential"]
    assert total.max() < total[0] + 50.0  # springs of tires are not in it
    assert 3.2 < area["speed"][-1] < 4.0


def test_a_snapshot_before_an_edge_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    over = course(tmp_path, "again", HALF_ROUND)
    wants = [f"wheel_{w}.tire_force" for w in WHEELS]
    with jounce.join(over, wants=wants, period=10, **QUICK, **AREA) as car:
        for _ in range(90):
            car.step()
        saved = car.save()
        ends = [car.step().values for _ in range(40)]
        with jounce.join(over, wants=wants, period=10) as fresh:
            fresh.restore(saved)
            assert np.array_equal([fresh.step().values for _ in range(40)], ends)


def test_area_is_refused_on_soft_soil(tmp_path: Path) -> None:
    with pytest.raises(FmuError, match=r"tire.contact = 2: expected POINT on soft soil"):
        jounce.simulate("hmmwv", {}, 0.1, **AREA, **{"terrain.soil": "BEKKER"})
