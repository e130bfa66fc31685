"""Terrain files under the vehicle: the same as the plane where they are one, in every kind of run."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import jounce
from jounce.axles import WHEELS
from jounce.data import DataError
from jounce.terrain.obstacles import half_round
from jounce.terrain.packed import Terrain, save
from jounce_fmu.importer.host import FmuError
from jounce_fmu.models.roads import on_road

QUICK = {"init.speed": 8.0}


def sloped(edge: str = "CLAMP") -> Terrain:
    """A slope of 1/16 along x and 1/32 along y, whose heights are exact in float32."""
    x, y = np.meshgrid(np.arange(-16.0, 65.0), np.arange(-32.0, 33.0), indexing="ij")
    return Terrain("HEIGHTMAP", x / 16 + y / 32, 1.0, 1.0, (-16.0, -32.0), edge=edge)  # type: ignore[arg-type]


def straight() -> Terrain:
    """The same slope as a road along x: slope in the reference line, bank across."""
    u = np.arange(-16.0, 65.0)
    line = np.stack([u, 0 * u, u / 16, 0 * u + 1 / 32], 1)
    return Terrain("ROAD", np.zeros((len(u), 3)), 1.0, v=np.array([-32.0, 1.0, 32.0]), line=line)


def vehicle(folder: Path, terrain: Terrain, name: str = "ground") -> str:
    return str(on_road("hmmwv", save(terrain, folder / f"{name}.jnt")))


@pytest.mark.parametrize("terrain", [sloped(), straight()], ids=["HEIGHTMAP", "ROAD"])
def test_a_plane_as_a_file_drives_as_the_plane_of_the_parameters(tmp_path: Path, terrain: Terrain) -> None:
    inputs = {"steering_wheel_angle": 0.6, **{f"wheel_{w}.drive_torque": 150.0 for w in WHEELS[2:]}}
    plane = {"terrain.slope": math.atan(1 / 16), "terrain.bank": math.atan(1 / 32)}
    there = jounce.simulate("hmmwv", inputs, 1.0, **QUICK, **plane)
    here = jounce.simulate(vehicle(tmp_path, terrain), inputs, 1.0, **QUICK)
    same = [not name.startswith("road.") for name in here.names]  # a place that the plane has not
    scale = np.maximum(np.abs(there.values).max(0), 1.0)
    assert np.max((np.abs(here.values - there.values) / scale)[:, same]) < 1e-9
    assert here["ref_frame.pos"][-1, 0] > 7.0


def test_on_a_road_the_vehicle_knows_its_place(tmp_path: Path) -> None:
    """A straight road along x that begins at u = 100 m and x = -16 m; on the plane there is none."""
    inputs = {"steering_wheel_angle": 0.6}
    car = vehicle(tmp_path, replace(straight(), start=100.0))
    run = jounce.simulate(car, inputs, 0.5, **QUICK)
    assert run["road.u"] == pytest.approx(run["ref_frame.pos"][:, 0] + 116.0, abs=1e-9)
    assert run["road.v"] == pytest.approx(run["ref_frame.pos"][:, 1], abs=1e-9)
    assert run["road.u"][-1] > 119.0
    assert not jounce.simulate(car, inputs, 0.01, terrain_source="PLANE")["road.u"].any()


def test_waves_press_the_tires_as_a_partner_does_that_answers_the_query(tmp_path: Path) -> None:
    """In the design position a partner gives height and normal at the query points that the model reports."""
    x, y = np.meshgrid(np.arange(-8.0, 8.1, 0.1), np.arange(-8.0, 8.1, 0.1), indexing="ij")
    terrain = Terrain("HEIGHTMAP", 0.02 * np.sin(x) + 0.01 * np.cos(2 * y), 0.1, 0.1, (-8.0, -8.0), smooth=True)
    still = {"init.equilibrium": 0, "init.z": 0.48}
    ground, names = {}, WHEELS
    with jounce.join(vehicle(tmp_path, terrain), wants=["*"], **still) as car:
        here = car.start
    for w in names:
        px, py, _ = here[f"wheel_{w}.query_point"]
        ground |= {f"wheel_{w}.terrain_height": 0.02 * math.sin(px) + 0.01 * math.cos(2 * py),
                   f"wheel_{w}.terrain_normal.x": -0.02 * math.cos(px),
                   f"wheel_{w}.terrain_normal.y": 0.02 * math.sin(2 * py)}  # fmt: skip
    with jounce.join("hmmwv", wants=["*"], start_inputs=ground, terrain_source="EXTERNAL", **still) as car:
        there = car.start
    for w in names:  # Here the spline leaves the waves by less than 2e-6 m.
        assert here[f"wheel_{w}.tire_force"] == pytest.approx(there[f"wheel_{w}.tire_force"], rel=1e-3, abs=2.0)
    assert sum(there[f"wheel_{w}.tire_force"][2] for w in names) > 5000.0


def test_a_snapshot_on_a_terrain_continues_in_another_instance_with_the_same_bits(tmp_path: Path) -> None:
    x, y = np.meshgrid(np.arange(80), np.arange(40), indexing="ij")
    rough = Terrain("HEIGHTMAP", 0.02 * np.sin(1.7 * x + 0.9 * y), 0.5, 0.5, (-10.0, -10.0))
    name = vehicle(tmp_path, rough)
    with (jounce.join(name, wants=["*"], period=50, **QUICK) as first,
          jounce.join(name, wants=["*"], period=50) as other):  # fmt: skip
        first.step()
        saved = first.save()
        ahead = first.step()
        other.restore(saved)
        assert np.array_equal(other.step().values, ahead.values)


def test_a_snapshot_of_another_terrain_is_refused(tmp_path: Path) -> None:
    one, two = vehicle(tmp_path, sloped(), "one"), vehicle(tmp_path, straight(), "two")
    with jounce.join(one) as first, jounce.join(two) as second, jounce.join("hmmwv") as third:
        saved = first.save()
        with pytest.raises(FmuError, match="another resource"):
            second.restore(saved)
        with pytest.raises(FmuError, match="no terrain file"):
            third.restore(saved)
        second.step()
        third.step()


def test_a_wheel_beyond_a_fatal_edge_stops_the_run_with_its_place(tmp_path: Path) -> None:
    with (jounce.join(vehicle(tmp_path, sloped("FAULT")), period=100, **{"init.x": 60.0, "init.speed": 20.0}) as car,
          pytest.raises(FmuError, match=r"wheel_F[LR]\.query_point\.x = 64\.0\d*: wheel F[LR] has left the terrain")):
        for _ in range(5):
            car.step()


@pytest.mark.parametrize(("damage", "text"), [
    (lambda b: b[:-100], "cut or too long"),
    (lambda b: b + b"\0" * 64, "cut or too long"),
    (lambda b: b[:-1] + bytes([b[-1] ^ 1]), "damaged: its SHA-256"),
    (lambda b: b[:8] + b"\x09" + b[9:], "another version"),
    (lambda b: b"", "empty|Invalid|not a packed"),
    (lambda b: None, "No such file"),
], ids=["cut", "long", "bit", "version", "empty", "missing"])  # fmt: skip
def test_a_bad_file_is_refused_with_its_path_and_never_a_plane_instead(tmp_path: Path, damage, text: str) -> None:  # type: ignore[no-untyped-def]
    name = vehicle(tmp_path, sloped())
    from jounce_fmu.importer.host import open_builtin

    factory = open_builtin(name)
    path = tmp_path / "ground.jnt"
    data = damage(path.read_bytes())
    if data is None:
        path.unlink()
    else:
        path.write_bytes(data)
    said = f"{re.escape(path.name)}: .*({text})"
    with factory.instance("bad") as instance, pytest.raises(FmuError, match=said):
        instance.setup({}, {})
    with pytest.raises(DataError, match=said):
        on_road("hmmwv", path)


def test_an_edge_under_a_point_of_contact_is_told_once_with_what_to_set(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    car = vehicle(tmp_path, sloped().with_obstacles(half_round(40.0, 0.1)))
    for how in ({}, {"tire.contact": "AREA"}, {"terrain_source": "PLANE"}, {"terrain.soil": "BEKKER"}):
        caplog.clear()
        jounce.simulate(car, {}, 0.01, **how)
        told = [r.getMessage() for r in caplog.records if "tire.contact" in r.getMessage()]
        assert len(told) == (not how)
        assert how or ("obstacle 1 (HALF_ROUND at x = 40.000" in told[0] and "set tire.contact to AREA" in told[0])


@pytest.mark.parametrize(("edge", "start", "text"), [
    ("CLAMP", {"init.x": -60.0}, "at -44 m along it, which has 0 to 80 m"),
    ("CLAMP", {"init.y": 40.0}, "at 72 m across it, which has 0 to 64 m"),
    ("CLAMP", {}, ""), ("PLANE", {"init.x": -60.0}, ""),
])  # fmt: skip
def test_a_start_beside_a_terrain_that_goes_on_as_at_its_edge_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, edge: str, start: dict[str, float], text: str
) -> None:
    jounce.simulate(vehicle(tmp_path, sloped(edge)), {}, 0.01, **start)
    told = [r.getMessage() for r in caplog.records if "init.x" in r.getMessage()]
    assert len(told) == bool(text)
    assert not text or ("starts beside the terrain file" in told[0] and text in told[0])


def test_a_file_of_another_kind_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(FmuError, match="is for terrain_source HEIGHTMAP"):
        jounce.join(vehicle(tmp_path, sloped()), terrain_source="ROAD")


def test_a_file_source_without_a_file_says_what_is_missing() -> None:
    with pytest.raises(FmuError, match="there is no terrain file"):
        jounce.join("hmmwv", terrain_source="HEIGHTMAP")


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="memory is counted as Linux tells it")
def test_two_instances_share_the_memory_of_one_file(tmp_path: Path) -> None:
    """16 MB: together they hold what one does."""
    size = 2000
    file = save(Terrain("HEIGHTMAP", np.zeros((size, size)), 0.1, 0.1, (-100.0, -100.0)), tmp_path / "large.jnt")
    car = str(on_road("hmmwv", file))

    def held() -> int:
        """kB of all mappings of the file, shared pages counted once."""
        total, inside = 0, False
        for line in Path("/proc/self/smaps").read_text().splitlines():
            key, _, rest = line.partition(":")
            if "-" in key:
                inside = line.endswith(file.name)
            elif inside and key == "Pss":
                total += int(rest.split()[0])
        return total

    with jounce.join(car):
        one = held()
        with jounce.join(car):
            two = held()
    assert 15_000 < one < 17_500
    assert two < 1.1 * one


@pytest.mark.parametrize("smooth", [False, True])
@pytest.mark.parametrize("where", [(0.0, 0.0, 0.0), (0.4, 0.0, 0.5), (3.3, 2.0, 2.0)])
def test_a_vehicle_comes_to_rest_on_waves_that_leave_a_wheel_of_the_first_guess_in_the_air(
    tmp_path: Path, smooth: bool, where: tuple[float, float, float]
) -> None:
    """Waves of 30 mm: the wheels' heights differ by more than the tires give way."""
    x, y = np.meshgrid(np.arange(-10.0, 10.1, 0.5), np.arange(-10.0, 10.1, 0.5), indexing="ij")
    waves = Terrain("HEIGHTMAP", 0.03 * np.sin(x) * np.cos(y), 0.5, 0.5, (-10.0, -10.0), smooth=smooth)
    start = dict(zip(("init.x", "init.y", "init.yaw"), where, strict=True))
    brakes = {f"wheel_{w}.brake_torque": 4000.0 for w in WHEELS}
    run = jounce.simulate(vehicle(tmp_path, waves), brakes, 0.2, **start)
    assert np.abs(run["ref_frame.pos"] - run["ref_frame.pos"][0]).max() < 1e-5
