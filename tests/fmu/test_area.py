"""Contact with the area of the wheel's disc: flat ground, slopes, energy over edges, and the vehicle over obstacles."""

from __future__ import annotations

import ctypes as ct
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import jounce
from jounce.axles import WHEELS
from jounce.data import load_vehicle
from jounce_fmu.build.library import FLAGS, PACKAGE, compiler, library_suffix
from jounce_fmu.importer.host import FmuError
from jounce_fmu.importer.trajectory import InputError
from jounce_fmu.models.roads import on_road

RADIUS, STIFFNESS = 0.4699, 411e3
Ground = Callable[[np.ndarray], np.ndarray]


class _Area(ct.Structure):
    _fields_ = [("deflection", ct.c_double), ("ahead", ct.c_double), ("up", ct.c_double), ("share", ct.c_double),
                ("aside", ct.c_double), ("part", ct.c_double * 3)]  # fmt: skip


class Disc:
    """A wheel's disc over a profile of the ground, felt at so many points of its rim."""

    def __init__(self, library: ct.CDLL, points: int = 31) -> None:
        self.library, self.points, self.rim = library, points, (ct.c_double * (2 * points))()
        library.jn_area_rim(self.rim, points)
        self.x, self.z = RADIUS * np.array(self.rim).reshape(2, -1)

    def area(self, above: np.ndarray) -> _Area | None:
        """Of heights above the points of the rim [m], a row for each strip."""
        out, heights = _Area(), np.ascontiguousarray(above, dtype=float).ravel()
        touches = self.library.jn_area_of(self.rim, self.points, ct.c_double(RADIUS), 0, self.points,
                                          heights.ctypes.data_as(ct.POINTER(ct.c_double)), heights.size // self.points,
                                          ct.byref(out))  # fmt: skip
        return out if touches else None

    def __call__(self, ground: Ground, x: float, height: float) -> tuple[float, np.ndarray]:
        """Deflection [m] and force [N] ahead and up, with the centre at x and that height."""
        out = self.area(ground(x + self.x) - (height - self.z))
        if out is None:
            return 0.0, np.zeros(2)
        return out.deflection, STIFFNESS * out.deflection * out.share * np.array([out.ahead, out.up])


@pytest.fixture(scope="module")
def law(tmp_path_factory: pytest.TempPathFactory) -> ct.CDLL:
    """The law in C."""
    folder, models = tmp_path_factory.mktemp("area"), PACKAGE / "models"
    library = folder / f"area{library_suffix()}"
    command = [*compiler(), *(f for f in FLAGS if f != "-fvisibility=hidden"), "-shared"]
    command += [f"-I{models / name}" for name in ("terrain", "common")]
    subprocess.run([*command, "-o", str(library), str(models / "terrain" / "jn_area.c"), "-lm"], check=True)
    return ct.CDLL(str(library))


@pytest.fixture(scope="module")
def disc(law: ct.CDLL) -> Disc:
    """With the usual number of points."""
    return Disc(law)


@pytest.mark.parametrize("deflection", [1e-4, 0.003, 0.02, 0.07, 0.15])
def test_flat_ground_presses_as_a_point(disc: Disc, deflection: float) -> None:
    found, force = disc(np.zeros_like, 0.0, RADIUS - deflection)
    assert found == pytest.approx(deflection, rel=1e-12)
    assert force == pytest.approx([0.0, STIFFNESS * deflection], rel=1e-12, abs=1e-9)


@pytest.mark.parametrize("points, within", [(31, 1e-3), (63, 2e-4), (127, 6e-5)])
@pytest.mark.parametrize("slope", [0.1, 0.3, 0.6])
def test_a_slope_presses_along_its_normal(law: ct.CDLL, points: int, slope: float, within: float) -> None:
    """A plane at a distance R - 20 mm from the centre; the study has 4e-3, 1.8e-3 and 2e-4 of the load."""
    disc = Disc(law, points)
    length = np.hypot(1.0, slope)
    found, force = disc(lambda x: slope * x, 0.0, (RADIUS - 0.02) * length)
    assert found == pytest.approx(0.02, rel=1e-2)
    load = STIFFNESS * 0.02
    assert force == pytest.approx([-slope / length * load, load / length], abs=within * load)


def pushed(disc: Disc, ground: Ground) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Way [m], deflections and forces of a wheel whose axle is held 20 mm deep and moved over that ground."""
    way = np.linspace(-1.0, 1.0, 8001)
    found = [disc(ground, x, RADIUS - 0.02) for x in way]
    return way, np.array([d for d, _ in found]), np.array([f for _, f in found])


def test_work_over_a_step_is_the_energy_in_the_tire(disc: Disc) -> None:
    """100 mm high and upright: 2869.1 J in the tire, to 0.05 %; a point would meet the wall with 189 kN."""
    way, deflection, force = pushed(disc, lambda x: np.where(x > 0.0, 0.1, 0.0))
    stored = 0.5 * STIFFNESS * (deflection[-1] ** 2 - deflection[0] ** 2)
    work = -np.sum(0.5 * (force[1:, 0] + force[:-1, 0]) * np.diff(way))
    assert stored == pytest.approx(0.5 * STIFFNESS * (0.12**2 - 0.02**2), rel=1e-9)
    assert work == pytest.approx(stored, rel=6e-4)
    assert np.abs(force[:, 0]).max() < 25e3


def test_a_half_round_gives_back_what_it_takes(disc: Disc) -> None:
    """Radius 152 mm; the page's study has 7.6 kN along for a single-point contact's 175 kN."""
    way, _, force = pushed(disc, lambda x: np.sqrt(np.maximum(0.152**2 - x**2, 0.0)))
    steps = 0.5 * (force[1:, 0] + force[:-1, 0]) * np.diff(way)
    assert abs(steps.sum()) < 0.01  # J, of 4 kJ
    assert np.abs(force[:, 0]).max() == pytest.approx(7.6e3, rel=0.02)


def lifted(disc: Disc, ground: Ground, way: np.ndarray, load: float = 6300.0) -> np.ndarray:
    """How much higher [m] than on level ground the axle stands over each place, under that load [N]."""
    heights = []
    for x in (10.0, *way):  # level ground is far away
        low, high = RADIUS - 0.1, RADIUS + 0.2
        for _ in range(40):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if disc(ground, x, middle)[1][1] > load else (low, middle)
        heights.append(low)
    return np.array(heights[1:]) - heights[0]


def below(level: float, height: float, low: np.ndarray | float, high: np.ndarray | float) -> np.ndarray:
    """Area [m2] of a disc at that height that lies below a level, from place to place along x: by its integral."""
    rise = height - level
    half = np.sqrt(max(RADIUS**2 - rise**2, 0.0)) if rise > 0.0 else RADIUS

    def until(x: np.ndarray | float) -> np.ndarray:
        x = np.clip(x, -half, half)
        return 0.5 * (x * np.sqrt(RADIUS**2 - x**2) + RADIUS**2 * np.arcsin(x / RADIUS)) - rise * x

    return until(high) - until(low)


def risen(place: float, width: float, height: float, load: float = 6300.0) -> float:
    """How much an axle rises at a place beside a cleat of width and height, for a disc that feels every point.

    Another formulation than the model's: the height at which energy E(d) of a spring on d, the deflection with the same
    area on flat ground, and load z are least, areas by their integrals, forces by differences of energies.
    """

    def deflection(area: float) -> float:
        low, high = 0.0, RADIUS
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if below(0.0, RADIUS - middle, -1.0, 1.0) < area else (low, middle)
        return low

    def energy(z: float) -> float:
        sides = (place - 0.5 * width, place + 0.5 * width)
        area = below(0.0, z, -1.0, 1.0) + below(height, z, *sides) - below(0.0, z, *sides)
        return 0.5 * STIFFNESS * deflection(float(area)) ** 2 + load * z

    low, high = RADIUS - 0.05, RADIUS + 0.02
    for _ in range(40):
        z = 0.5 * (low + high)
        low, high = (z, high) if energy(z + 1e-6) < energy(z - 1e-6) else (low, z)
    return low - (RADIUS - load / STIFFNESS)


def test_more_points_lift_an_axle_over_a_cleat_as_a_disc_that_feels_every_point(law: ct.CDLL) -> None:
    """20 x 50 mm at 6300 N. The limit is 4.57 mm, at 125 mm before and behind the middle of the cleat.

    31 points are 44 mm apart, so that one or two are on the cleat: they lift by a third too much.
    """
    limit = max(risen(x, 0.05, 0.02) for x in np.linspace(0.1, 0.15, 11))
    assert limit == pytest.approx(4.572e-3, abs=2e-6)
    way, off = np.linspace(-0.2, 0.2, 81), []
    for points in (31, 63, 127):
        found = lifted(Disc(law, points), lambda x: np.where(np.abs(x) < 0.025, 0.02, 0.0), way)
        off.append(found.max() / limit - 1.0)
    assert off[0] == pytest.approx(0.33, abs=0.01)
    assert abs(off[1]) < 0.11 and abs(off[2]) < 0.03


def test_obstacles_lift_a_loaded_axle_as_in_the_study(disc: Disc) -> None:
    """6300 N: a cleat of 20 x 50 mm over 0.38 m of way (a rigid disc: 0.30 m), a half-round of 152 mm by 127 mm."""
    way = np.linspace(-0.4, 0.4, 161)
    felt = way[lifted(disc, lambda x: np.where(np.abs(x) < 0.025, 0.02, 0.0), way) > 1e-4]
    assert felt[-1] - felt[0] == pytest.approx(0.38, abs=0.03)
    over = lifted(disc, lambda x: np.sqrt(np.maximum(0.152**2 - x**2, 0.0)), way[::4])
    assert over.max() == pytest.approx(0.127, abs=2e-3)


def test_three_strips_share_the_load_and_the_higher_side_carries_it(disc: Disc) -> None:
    """Equal strips are one; ground that one strip alone touches carries a third of the area at that strip."""
    above = 0.02 - (RADIUS - disc.z)
    one, three = disc.area(above), disc.area(np.tile(above, 3))
    assert one and three
    for name in ("deflection", "ahead", "up", "share"):
        assert getattr(three, name) == pytest.approx(getattr(one, name), rel=1e-12, abs=1e-12)
    assert abs(three.aside) < 1e-12
    left = disc.area(np.concatenate([np.full(62, -0.1), above]))
    assert left and left.aside == 1.0
    assert 0.4 * one.deflection < left.deflection < 0.6 * one.deflection  # area grows with the power 3/2


def course(folder: Path, name: str, text: str) -> str:
    """The HMMWV on a described ground with upright edges."""
    (folder / f"{name}.toml").write_text(f"steepest = 1000.0\n[ground]\nlength = 60.0\n{text}")
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


@pytest.mark.parametrize("text, speed, duration, peak", [
    (HALF_ROUND, 4.0, 1.5, 13244.0),
    ('[[obstacle]]\nkind = "step"\nx = 5.975\nheight = 0.02\nlength = 0.05\n', 10.0, 0.6, 10305.0),
], ids=["half-round of 102 mm", "cleat of 20 x 50 mm"])  # fmt: skip
def test_rolling_over_an_obstacle_needs_few_points(tmp_path: Path, text: str, speed: float, duration: float,
                                                   peak: float) -> None:  # fmt: skip
    """Against 127 points and ticks of 0.1 ms. The study's quarter car with 255 points has those peaks [N].

    At 1 ms its axle is 0.7 and 0.3 mm off with 31 and 63 points over the half-round, 0.09 and 0.03 mm over the cleat.
    """
    over, runs = course(tmp_path, "over", text), []
    for points, tick in ((127, 1e-4), (31, 1e-3), (63, 1e-3)):
        how = {"init.speed": speed, "tire.contact_points": points, "tick": tick}
        run = jounce.simulate(over, {}, duration, **AREA, **how)
        axle = run["wheel_FL.query_point"][:, 2]
        runs.append((run["wheel_FL.tire_force"][:, 2].max(), axle.max() - axle[0]))
    reference, few, more = runs
    assert reference[0] == pytest.approx(peak, rel=0.05)
    assert few[0] == pytest.approx(reference[0], rel=0.07) and more[0] == pytest.approx(reference[0], rel=0.04)
    assert few[1] == pytest.approx(reference[1], abs=1e-3) and more[1] == pytest.approx(reference[1], abs=2e-4)


def test_an_even_number_of_points_and_too_many_are_refused() -> None:
    with pytest.raises(FmuError, match="tire.contact_points = 32: expected an odd number"):
        jounce.simulate("hmmwv", {}, 0.01, **{"tire.contact_points": 32})
    for points in (13, 129, 31.5, np.nan):
        with pytest.raises(InputError, match=r"tire.contact_points = .*: expected a whole number from 15\.0 to 127\.0"):
            jounce.simulate("hmmwv", {}, 0.01, **{"tire.contact_points": points})


def test_an_undriven_crossing_of_a_frictionless_step_keeps_the_energy(tmp_path: Path) -> None:
    """60 mm at 6 m/s without dampers, both axles: kinetic and potential energy and that of the tires' springs."""
    data = load_vehicle("hmmwv").entries
    free = {name: 0.0 for name in data if ".shock." in name and re.search("compression|rebound|end_damping", name)}
    free |= {"tire.vertical_damping": 0.0, "tire.rolling_resistance": 0.0, "terrain.mu": 0.0, "init.speed": 6.0}
    over = course(tmp_path, "step", '[[obstacle]]\nkind = "step"\nx = 4.0\nheight = 0.06\n')
    run = jounce.simulate(over, {}, 1.2, **free, **AREA)
    stiffness = data["tire.vertical_stiffness"].value
    sprung = sum(0.5 * stiffness * np.maximum(run[f"wheel_{w}.deflection"], 0.0) ** 2 for w in WHEELS)
    total = run["energy.kinetic"] + run["energy.potential"] + sprung
    assert run["ref_frame.pos"][-1, 0] > 7.0 and run["wheel_FL.tire_force"][:, 2].min() == 0.0
    off = np.abs(total - total[0]) / run["energy.kinetic"][0]
    assert off.max() < 3e-3 and off[-1] < 5e-4  # within the crossing points meet an upright edge one by one


def test_an_edge_under_the_left_part_of_a_tire_turns_it_over(tmp_path: Path) -> None:
    """The force acts left of the middle, so that it has a moment about the heading; on level ground it has not."""
    edge = '[[obstacle]]\nkind = "ramp"\nx = 0.5\nheight = 0.02\nlength = 1.0\ntop = 20.0\ny = 1.91\nwidth = 2.0\n'
    run = jounce.simulate(course(tmp_path, "edge", edge), {}, 1.0, **QUICK, **AREA)
    left, right = (run[f"wheel_{w}.tire_moment"][-1, 0] for w in WHEELS[:2])
    load = run["wheel_FL.tire_force"][-1, 2]
    assert left - right > 0.01 * load
    assert left - right < 0.106 * load  # within the outer strip


def test_friction_is_that_under_each_strip_of_a_tire(tmp_path: Path) -> None:
    """The border lies under the left wheels, between their middle and left strips: one third is on ice."""
    level = course(tmp_path, "level", "")
    with jounce.join(level, wants=["wheel_FL.query_point"]) as car:
        y = car.start["wheel_FL.query_point"][1]
    width = load_vehicle("hmmwv").entries["tire.width"].value
    border = y + width / 6
    ice = f'[[friction]]\nx = 0.0\ny = {border + 1.0}\nlength = 9.0\nwidth = 2.0\nmu = 0.2\n'
    with jounce.join(course(tmp_path, "ice", ice), wants=["*"], **AREA) as car:
        assert car.start["wheel_FL.ground_mu"] == pytest.approx((0.8 + 0.8 + 0.2) / 3, abs=2e-3)
        assert car.start["wheel_FR.ground_mu"] == pytest.approx(0.8)


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
