"""FMUs with a terrain file among their resources: FMI 2 and 3, odd folders, model exchange, derivatives."""

from __future__ import annotations

import ctypes as ct
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from raw import OK
from sensitivity import Vehicle, differences, same_in_fmi_3, steps

import jounce
from jounce.data import load_vehicle
from jounce.terrain.packed import Terrain, save
from jounce_fmu.build import builtin
from jounce_fmu.build.builtin import export_builtin
from jounce_fmu.build.pack import export_fmu
from jounce_fmu.importer.host import FmuError, open_builtin, open_fmu
from jounce_fmu.importer.linear import Exchange
from jounce_fmu.importer.tables import checked_table
from jounce_fmu.models import find
from jounce_fmu.models.roads import on_road, road_resources


@pytest.fixture(scope="module")
def rough(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The HMMWV on smooth waves, so that differences across no line between cells disturb."""
    x, y = np.meshgrid(np.arange(160), np.arange(60), indexing="ij")
    z = 0.03 * np.sin(0.31 * x + 0.2 * y) + 0.02 * np.cos(0.27 * y)
    folder = tmp_path_factory.mktemp("a folder, 100% öd")
    return str(on_road("hmmwv", save(Terrain("HEIGHTMAP", z, 0.5, 0.5, (-15.0, -15.0), smooth=True), folder / "w.jnt")))


def fmu(path: Path, rough: str, fmi: int) -> Path:
    """An FMU with the library that jounce itself loads, and the terrain file; it starts on the plane."""
    model = find("hmmwv")
    return export_fmu(path, checked_table(model), model.sources, library_folder=model.libraries, fmi=fmi,
                      scalars=fmi == 3, resources=road_resources(rough))  # fmt: skip


@pytest.mark.parametrize("fmi", [2, 3])
def test_an_fmu_brings_its_terrain_and_has_the_bits_of_a_run_in_process(tmp_path: Path, rough: str, fmi: int) -> None:
    path, speed = fmu(tmp_path / "on a road.fmu", rough, fmi), {"init.speed": 6.0}
    with zipfile.ZipFile(path) as archive:
        assert "resources/terrain.jnt" in archive.namelist()
    factory = open_fmu(path)
    with factory.instance("fmu") as there, jounce.join(rough, wants=["*"], period=100, **speed) as here:
        there.setup({"terrain_source": 3, **speed}, {})
        there.step(100)
        values = dict(zip((s.name for s in there.table.outputs), there.get_outputs(), strict=True))
        assert [values[n] for n in here.outputs] == list(here.step().values)


@pytest.mark.slow
@pytest.mark.parametrize("fmi", [2, 3])
def test_an_exported_vehicle_on_a_road_starts_on_it(tmp_path: Path, rough: str, fmi: int) -> None:
    factory = open_fmu(export_builtin(tmp_path / "road.fmu", rough, fmi=fmi, scalars=fmi == 3))
    with factory.instance("road") as there:
        there.setup({}, {})
        with jounce.join(rough, wants=["*"]) as here:
            values = dict(zip((s.name for s in there.table.outputs), there.get_outputs(), strict=True))
            assert [values[n] for n in here.outputs] == list(here.start.values)


def test_the_file_of_a_vehicle_with_a_model_of_its_own_has_its_terrain_too(
    tmp_path: Path, rough: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as the car, or one on other tires: it is its model's first data set, which has the model's own library."""
    given: dict[str, object] = {}
    monkeypatch.setattr(builtin, "export_fmu", lambda *_, **options: given.update(options))
    road = load_vehicle(rough).road
    export_builtin(tmp_path / "car.fmu", on_road("car", road))
    assert given["resources"] == {"terrain.jnt": Path(road).read_bytes()}


@pytest.mark.slow  # compiles it
def test_a_vehicle_with_a_model_of_its_own_starts_on_the_terrain_that_it_brings(tmp_path: Path, rough: str) -> None:
    car = on_road("car", load_vehicle(rough).road)
    factory = open_fmu(export_builtin(tmp_path / "car.fmu", car))
    with factory.instance("car") as there, jounce.join(str(car), wants=["*"]) as here:
        there.setup({}, {})
        values = dict(zip((s.name for s in there.table.outputs), there.get_outputs(), strict=True))
        assert [values[n] for n in here.outputs] == list(here.start.values)


def test_an_fmu_without_its_terrain_file_does_not_start_on_a_plane(tmp_path: Path, rough: str) -> None:
    path = fmu(tmp_path / "whole.fmu", rough, 2)
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(tmp_path / "less.fmu", "w") as less:
        for name in whole.namelist():
            if name != "resources/terrain.jnt":
                less.writestr(name, whole.read(name))
    factory = open_fmu(tmp_path / "less.fmu")
    with (factory.instance("less") as there,
          pytest.raises(FmuError, match=r"terrain\.jnt: No such file")):  # fmt: skip
        there.setup({"terrain_source": 3}, {})


def grounds(folder: Path) -> dict[str, tuple[str, dict[str, float]]]:
    """Vehicles on each kind of ground, and the parameters of their runs."""
    x, y = np.meshgrid(np.arange(160), np.arange(60), indexing="ij")
    z = 0.03 * np.sin(0.31 * x + 0.2 * y) + 0.02 * np.cos(0.27 * y)
    u = np.arange(0.0, 60.0)
    line = np.stack([u - 15.0, 20.0 - np.sqrt(1600.0 - u * u / 4.0), 0.01 * np.sin(u), 0.02 + 0 * u], 1)
    made = {
        "bilinear": Terrain("HEIGHTMAP", z, 0.5, 0.5, (-15.0, -15.0)),
        "cubic": Terrain("HEIGHTMAP", z, 0.5, 0.5, (-15.0, -15.0), smooth=True),
        "road": Terrain("ROAD", 0.5 * z[:60, :20], 1.0, v=np.linspace(-8.0, 8.0, 20), line=line),
        "profile": Terrain("PROFILE", z[:, :2], 0.5, 1.82, (-15.0, -0.91)),
    }  # fmt: skip
    cars = {name: (str(on_road("hmmwv", save(t, folder / f"{name}.jnt"))), {}) for name, t in made.items()}
    waves, soft = cars["cubic"][0], {"terrain.soil": 2.0}
    return {**cars, "area": (waves, {"tire.contact": 2.0}), "soil": (waves, soft), "soil on the plane": ("hmmwv", soft)}


@pytest.mark.parametrize("name", ["bilinear", "cubic", "road", "profile", "area", "soil", "soil on the plane"])
def test_derivatives_on_any_ground_are_those_of_difference_quotients(tmp_path: Path, name: str) -> None:
    """Of fourth order, away from the lines between cells and from where a point of the rim begins to touch."""
    car, parameters = grounds(tmp_path)[name]
    factory = open_builtin(car)
    n, close = len(factory.table.states), 0
    with Exchange(factory.library, factory.interface, "exchange", factory.resources) as at:
        at.defaults = factory.defaults
        at.setup({"init.speed": 5.0, **parameters})
        x = np.zeros(n)
        at._call("GetContinuousStates", ct.c_void_p(x.ctypes.data), ct.c_size_t(n))
        x[:3] += [0.13, 0.21, -0.01]
        known = np.array(factory.table.state_references, np.uint32)
        unknown = np.array(factory.table.rate_references, np.uint32)

        def rates(k: int, by: float) -> np.ndarray:
            moved = x.copy()
            moved[k] += by
            at.set_states(moved)
            return at.get_rates().copy()

        def quotient(k: int, h: float) -> np.ndarray:
            return (8.0 * (rates(k, h) - rates(k, -h)) - (rates(k, 2 * h) - rates(k, -2 * h))) / (12.0 * h)

        for k in range(13):  # those that move the wheels over the ground
            fine, wide = quotient(k, 2e-5), quotient(k, 4e-5)
            at.set_states(x)
            column = at.directional(unknown, known[k : k + 1], np.ones(1))
            assert np.abs(column).max() > 0.1 or k < 3
            noise = 1e-6 * np.abs(fine).max() + 2e-6
            if np.abs(fine - wide).max() > noise:
                continue  # a kink within the steps
            close += 1
            assert np.abs(column - fine).max() < noise
    assert close >= 10


@pytest.mark.parametrize("name", ["cubic", "road", "profile", "area", "soil"])
@pytest.mark.parametrize("exchange", [True, False], ids=["model exchange", "co-simulation"])
def test_derivatives_in_co_simulation_and_in_fmi_3(tmp_path: Path, name: str, exchange: bool) -> None:
    """By inputs against difference quotients of the outputs after a step; FMI 3 has the bits of FMI 2."""
    car, parameters = grounds(tmp_path)[name]
    factory, inside = open_builtin(car), {"steering_wheel_angle": 0.5, "drive_torque": 100.0}
    table, choices = factory.table, {n.replace(".", "__"): int(v) for n, v in parameters.items()}
    choices["terrain_source"] = int(factory.defaults.get("terrain_source", 1))
    two = Vehicle(str(factory.library), factory.interface.guid, table, kind=0 if exchange else 1, init__speed=5.0,
                  resources=factory.resources, **choices)  # fmt: skip
    u = np.array([inside.get(s.name.partition(".")[2] or s.name, s.start) for s in table.inputs])
    two.put(two.read(two.states) if exchange else np.zeros(0), u)
    if not exchange:
        assert two.call("DoStep", ct.c_double(0.0), ct.c_double(0.5), 1) == OK
        known = [k for k, s in enumerate(table.inputs) if "brake" not in s.name and "terrain" not in s.name]
        size = steps(table)[len(table.states) :][known]

        def at(values: np.ndarray) -> np.ndarray:
            moved = u.copy()
            moved[known] = values
            return two.at(np.zeros(0), moved)

        quotient, spread = differences(at, u[known], size)
        two.put(np.zeros(0), u)
        unknown = [*two.rates, *two.outputs]
        exact = np.array([two.directional(unknown, [two.inputs[k]], np.ones(1)) for k in known]).T
        keep = np.array([r != table.by_name("closure_residual").value_reference for r in unknown])
        smooth = spread <= 1e-7 * np.abs(quotient) + 1e-6
        near = np.abs(exact - quotient) <= 1e-6 * np.abs(quotient) + 1e-5
        assert (near | ~smooth)[keep].all() and smooth[keep].mean() > 0.9
    same_in_fmi_3(factory, two, u, 5.0, **choices)
    two.free()


def test_resources_are_found_by_every_form_of_a_uri(tmp_path: Path, rough: str) -> None:
    """FMI 2 has URIs; one that names no folder is told as the path that was sought."""
    factory = open_fmu(fmu(tmp_path / "on a road.fmu", rough, 2))
    folder = tmp_path / "a b%c öd"
    folder.mkdir()
    (folder / "terrain.jnt").write_bytes(road_resources(rough)["terrain.jnt"])
    plain = str(folder)
    quoted = folder.as_uri().removeprefix("file://")
    uris = [f"file://{quoted}", f"file:{quoted}", f"file://localhost{quoted}", f"file://{quoted}/", f"FILE://{quoted}",
            f"file://LocalHost{quoted}", f"file:///{quoted[1:].replace('/', '%2F')}"]  # fmt: skip
    for place in (*uris, plain, f"{plain}/"):
        with replace(factory, resources=place).instance("here") as there:
            there.setup({"terrain_source": 3}, {})
    for place, told in (("file:///C:/no%20drive", "C:/no drive/terrain.jnt"), ("file:/no", "/no/terrain.jnt"),
                        ("file:///c%3A/no", "c:/no/terrain.jnt"), ("file://D:/no/", "D:/no/terrain.jnt"),
                        ("file:D:/no/", "D:/no/terrain.jnt"), ("file://server/share", "//server/share/terrain.jnt"),
                        ("file:////server/share", "//server/share/terrain.jnt"), ("C:\\no\\", r"C:\\no\\terrain.jnt"),
                        ("file:///n%", "/n%/terrain.jnt"), ("file:///n%zz%00", "/n%zz%00/terrain.jnt")):  # fmt: skip
        with (replace(factory, resources=place).instance("nowhere") as there,
              pytest.raises(FmuError, match=rf"terrain file {told}: No such file")):  # fmt: skip
            there.setup({"terrain_source": 3}, {})
