"""The system package: complete, connected by name, and run by a tool with the bits of a master of our own."""

from __future__ import annotations

import importlib.util
import sys
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy import read_model_description
from fmpy.ssp.ssd import read_ssd

from jounce.axles import WHEELS
from jounce.contact.soil import SOILS, SoilContact, motion_of
from jounce.course import DoubleLaneChange
from jounce.driver import GIVES, Autopilot, Sight
from jounce_fmu.build.library import BuildError
from jounce_fmu.importer.host import open_builtin
from jounce_fmu.partners.ssp import export_ssp
from jounce_tools.cli.main import main

pytest.importorskip("libcosimpy")
_FILE = Path(__file__).parents[2] / "docs" / "ssp" / "coupling.py"
TICKS = 60


@pytest.fixture(scope="module")
def coupling() -> Any:
    spec = importlib.util.spec_from_file_location("coupling", _FILE)
    assert spec and spec.loader
    sys.modules["coupling"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["coupling"])
    return sys.modules["coupling"]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("ssp") / "system.ssp"
    assert main(["export", "--ssp", "--set=driver.target_speed=11.5", str(out)]) == 0
    return out


def test_the_package_is_valid_and_each_connection_joins_an_output_and_an_input_of_one_unit(
        package: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(package) as archive:
        archive.extractall(tmp_path)
    system = read_ssd(str(package)).system  # checks the schema
    variables = {c.name: {v.name: v for v in read_model_description(str(tmp_path / c.source)).modelVariables}
                 for c in system.elements}
    ends = set()
    for c in system.connections:
        source = variables[c.startElement][c.startConnector]
        target = variables[c.endElement][c.endConnector]
        assert (source.causality, target.causality) == ("output", "input") and source.unit == target.unit
        ends.add((c.endElement, c.endConnector))
    assert len(ends) == len(system.connections), "an input with two sources"
    for partner in ("driver", "terrain"):
        assert {(partner, v.name) for v in variables[partner].values() if v.causality == "input"
                and v.name not in ("ref_frame.ang_vel.x",)} <= ends
    wanted = {f"wheel_{w}.{kind}.{a}" for w in WHEELS for kind in ("force", "moment", "point") for a in "xyz"}
    assert {("vehicle", n) for n in {*wanted, *GIVES}} <= ends
    starts = {v.name: v.start for part in variables.values() for v in part.values() if v.causality == "parameter"}
    assert (float(starts["init.speed"]), float(starts["driver.target_speed"])) == (12.0, 11.5)
    assert int(starts["tire_source"]) == 2


def test_the_communication_step_is_told_where_omsimulator_and_libcosim_look_for_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(export_ssp(tmp_path / "system.ssp", step=0.002)) as archive:
        root = ET.fromstring(archive.read("SystemStructure.ssd"))
    spaces = {"ssd": "http://ssp-standard.org/SSP1/SystemStructureDescription",
              "ssc": "http://ssp-standard.org/SSP1/SystemStructureCommon",
              "oms": "https://raw.githubusercontent.com/OpenModelica/OMSimulator/master/schema/oms.xsd",
              "osp": "http://opensimulationplatform.com/SSP/OSPAnnotations"}  # fmt: skip
    # The path of OMSimulator 3: in its own exports the annotation is the last element of the system.
    system = root.find("ssd:System", spaces)
    assert system is not None and system[-1].tag == f"{{{spaces['ssd']}}}Annotations"
    masters = system.findall("ssd:Annotations/ssc:Annotation[@type='org.openmodelica']/oms:Annotations/"
                             "oms:SimulationInformation/oms:FixedStepMaster", spaces)  # fmt: skip
    assert [float(m.get("stepSize", "nan")) for m in masters] == [0.002]
    steps = root.findall("ssd:DefaultExperiment/ssd:Annotations/ssc:Annotation/osp:Algorithm/osp:FixedStepAlgorithm",
                         spaces)  # fmt: skip
    assert [float(s.get("baseStepSize", "nan")) for s in steps] == [0.002]


def test_libcosim_runs_the_package_with_the_bits_of_a_parallel_master(package: Path, coupling: Any) -> None:
    theirs = coupling.libcosim(package, 0.001, 0.001 * TICKS)
    ours = coupling.benched(package, coupling.Bench.parallel, 0.001, 0.001 * TICKS)
    assert theirs.tolist() == ours[1:].tolist()
    assert theirs[-1, 5] > 1000.0  # the soil carries the vehicle


#: Outputs that follow from the vehicle's state alone, and the driver's command.
OF_THE_STATE = [("vehicle", f"ref_frame.{what}.{axis}") for what in ("pos", "lin_vel", "ang_vel") for axis in "xyz"]
OF_THE_STATE += [("vehicle", "wheel_FL.omega"), ("driver", "steering_wheel_angle")]


def test_ecos_runs_the_package_with_the_bits_of_a_parallel_master(package: Path, coupling: Any) -> None:
    """Ecos shows outputs that depend on inputs with those of the next step: compared is what the state gives."""
    ecospy = pytest.importorskip("ecospy")
    theirs, ours = [], []
    with ecospy.EcosSimulation(step_size=0.001, ssp_path=str(package)) as simulation:
        simulation.init()
        for _ in range(TICKS):
            simulation.step(1)
            theirs.append([simulation.get_real(f"{part}::{name}") for part, name in OF_THE_STATE])
    with coupling.opened(package) as parts:
        bench = coupling.Bench(parts, 0.001)
        for _ in range(TICKS):
            bench.parallel()
            ours.append([bench.read(part, name) for part, name in OF_THE_STATE])
    assert theirs == ours


def test_partners_first_gives_the_bits_of_the_lockstep_loop(package: Path, coupling: Any) -> None:
    rows = coupling.benched(package, coupling.Bench.partners_first, 0.001, 0.001 * TICKS)
    expected = lockstep()
    assert rows[1:, [1, 4, 5, 7]].tolist() == expected
    parallel = coupling.benched(package, coupling.Bench.parallel, 0.001, 0.001 * TICKS)
    assert parallel[1:, 5].tolist() != rows[1:, 5].tolist()


def lockstep() -> list[list[float]]:
    """wheel_FL.pos.y, com.lin_acc.y, wheel_FL.tire_force.z, speed after each tick: the demo's programs, in process."""
    pilot, contact = Autopilot(DoubleLaneChange(), 11.5), SoilContact(SOILS["sandy_loam"])
    rows = []
    with open_builtin("hmmwv").instance("vehicle") as vehicle:
        vehicle.setup({"init.speed": 12.0, "tire_source": "EXTERNAL"})
        names = [v.name for v in vehicle.interface.outputs]
        for k in range(TICKS):
            y = dict(zip(names, vehicle.get_outputs().tolist(), strict=True))

            def rows_of(what: str, parts: tuple[str, ...], y: dict[str, float] = y) -> np.ndarray:
                return np.array([[y[f"wheel_{w}.{what}{p}"] for p in parts] for w in WHEELS])

            if k % 20 == 0:
                front = [0.5 * (y[f"wheel_FL.pos.{a}"] + y[f"wheel_FR.pos.{a}"]) for a in "xy"]
                seen = Sight(*front, y["ref_frame.yaw"], y["ref_frame.ang_vel.z"], y["speed"])
                vehicle.set_values(dict(zip(GIVES, pilot.command(seen).tolist(), strict=True)))
            wheels = [rows_of("pos", (".x", ".y", ".z")), rows_of("rot", (".e0", ".e1", ".e2", ".e3")),
                      rows_of("lin_vel", (".x", ".y", ".z")), rows_of("omega", ("",))]
            motion = motion_of(np.hstack(wheels))
            wrench = contact.advance(motion, 0.001)
            vehicle.set_values({f"wheel_{w}.{what}.{a}": value[i][j] for i, w in enumerate(WHEELS)
                                for what, value in (("force", wrench.force), ("moment", wrench.moment),
                                                    ("point", wrench.point)) for j, a in enumerate("xyz")})
            vehicle.step()
            y = dict(zip(names, vehicle.get_outputs().tolist(), strict=True))
            rows.append([y["wheel_FL.pos.y"], y["com.lin_acc.y"], y["wheel_FL.tire_force.z"], y["speed"]])
    return rows


@pytest.mark.parametrize(("name", "value", "word"), [
    ("steering_wheel_angle", "0.1", "0 of vehicle"), ("no.such", "1", "0 of vehicle"), ("soil", "snow", "dry_sand"),
    ("driver.target_speed", "-1", "0 to 40"),
])
def test_a_start_value_that_no_part_takes_is_refused(name: str, value: str, word: str, tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=word):
        export_ssp(tmp_path / "x.ssp", starts={name: value})
    assert not (tmp_path / "x.ssp").exists()
