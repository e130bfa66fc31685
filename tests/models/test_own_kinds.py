"""Axles that are no copy of an example: graphs, and variants of a kind with other links, emitted for the user."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import judged
import pytest

import jounce
from jounce.data import DataError, load_vehicle
from jounce.models.double_wishbone.arrange import arranged
from jounce.models.double_wishbone.signals import table
from jounce_fmu.importer.host import open_builtin
from jounce_tools.vehicle import new

EXTRA = 'EXTRA.x = { value = 1.0, unit = "m", source = "-", description = "-" }\n'
EXAMPLES = Path(jounce.__file__).parent / "examples"


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    """The car whose front axle is written as bodies, joints and rods."""
    new.write("graph", tmp_path / "mine")
    return tmp_path / "mine"


@pytest.fixture
def armed(tmp_path: Path) -> Path:
    """The car whose rear uprights hang on an A-arm in place of two upper links."""
    folder = tmp_path / "armed"
    shutil.copytree(EXAMPLES / "car", folder)
    text = (folder / "rear.toml").read_text()
    for link, end in (("UPPER_F", "F"), ("UPPER_B", "B")):
        body, ball = ("UCA.", "UCA_U.") if end == "F" else ("gone.", "gone.")
        for old, now in ((f"{link}_C.", f"UCA_{end}."), (f"{link}_U.", ball), (f"{link}.", body)):
            text = text.replace(old, now)
    lines = [line for line in text.splitlines() if not line.startswith("gone")]
    middle = [line.replace("UCA_F.", "UCA_CM.") for line in lines if line.startswith("UCA_F.")]
    (folder / "rear.toml").write_text("\n".join([*lines, *middle]) + "\n")
    return folder


def edited(folder: Path, file: str, *changes: tuple[str, str]) -> Path:
    text = (folder / file).read_text()
    for pattern, by in changes:
        text, count = re.subn(pattern, by, text)
        assert count
    (folder / file).write_text(text)
    return folder


def test_a_graph_has_signals_of_its_coordinate_and_the_references_of_nothing_else(graph: Path) -> None:
    mine, car = table(arranged(load_vehicle(graph))), table(arranged(load_vehicle("car")))
    [text] = [s.description for s in mine.signals if s.name == "wheel_FL.arm_angle"]
    assert text == "coordinate lower_arm theta, jounce positive"
    assert {s.name for s in mine.parameters} == {s.name for s in car.parameters}
    others = {s.name: s.value_reference for s in car.parameters if not s.name.startswith("front.")}
    assert {s.name: s.value_reference for s in mine.parameters if s.name in others} == others
    references = [s.value_reference for s in mine.parameters]
    assert len(set(references)) == len(references)


def test_the_name_of_an_own_kind_tells_its_numbers_and_nothing_of_the_rest(graph: Path) -> None:
    """The order of its pivots follows from the numbers; the code must be the same whatever was made before."""
    first = arranged(load_vehicle(graph)).axles[0].kind
    edited(graph, "chassis.toml", (r"(mass = \{ value = )1442.1", r"\g<1>1500.0"))
    assert arranged(load_vehicle(graph)).axles[0].kind == first
    edited(graph, "front.toml", (r"(strut.mass = \{ value = )13.5", r"\g<1>14.0"))
    assert arranged(load_vehicle(graph)).axles[0].kind != first


@pytest.mark.parametrize(("change", "message"), [
    (lambda f: edited(f, "front.toml", (r"strut\.mass", "struts.mass")), r"no entry front\.strut\.mass"),
    (lambda f: edited(f, "front.toml", (r"\Z", EXTRA)), r"unknown entry 'front\.EXTRA\.x'"),
    (lambda f: edited(f, "front.toml", (r'(LCA_F\.x = .*?unit = ")m"', r'\g<1>mm"')),
     r"front\.LCA_F\.x is in mm; expected m"),
    (lambda f: edited(f, "front_graph.toml", (r"(?s)\[\[front\.spring\]\].*?\n\n", "")), r"wheel 1 has no spring"),
    (lambda f: edited(f, "front_graph.toml", (r"(?s)\[\[front\.rod\]\].*?\n\n", "")), r"axle front.*motions"),
    (lambda f: edited(f, "front_graph.toml", (r"(?s)(\[\[front\.coordinate\]\].*?\n)\n", r'\1\n[[front.coordinate]]\n'
                                              r'name = "lower_ball.x"\n\n')), r"2 independent coordinates of 1 wheels"),
])  # fmt: skip
def test_what_does_not_fit_together_is_refused_by_name(
    graph: Path, change: Callable[[Path], Path], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        arranged(load_vehicle(change(graph)))


def test_five_rigid_links_are_refused_by_the_model_with_the_words_of_the_check(tmp_path: Path) -> None:
    folder = tmp_path / "five"
    shutil.copytree(EXAMPLES / "offroader", folder)
    text = (folder / "rear.toml").read_text()
    rod = "\n".join(line.replace("UL_", "PAN_").replace("UL.", "PAN.") for line in text.splitlines()
                    if line.startswith(("UL_", "UL.")))  # fmt: skip
    rod = re.sub(r"(PAN_C\.y = \{ value = )[\d.]+", r"\g<1>-0.42", rod)
    (folder / "rear.toml").write_text(f"{text}{rod}\n")
    with pytest.raises(DataError, match="axle rear: five rigid links leave 1 motion, 2 are needed; make one of"):
        arranged(load_vehicle(folder))


def test_without_casadi_a_graph_says_what_it_needs(graph: Path, armed: Path) -> None:
    code = (
        "import sys; sys.modules['casadi'] = None\n"
        "from jounce_fmu.models import find\n"
        "for path in sys.argv[1:]:\n"
        "    try: find(path)\n"
        "    except Exception as error: print(error)\n"
    )
    command = [sys.executable, "-c", code, str(graph), str(armed)]
    done = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert re.search(r"axle front is a graph: its equations are made with CasADi: pip install casadi", done[0])
    assert re.search(r"axle rear \(multilink\) has other entries than the example car rear \(it has UCA\.inertia\.xx\)",
                     done[1])  # fmt: skip


@pytest.mark.slow
def test_a_graph_drives_as_the_kind_that_it_describes(graph: Path) -> None:
    factory = open_builtin(graph)
    off = judged.difference(load_vehicle(graph), factory, 0, 0.05)
    assert off.pop("closure") < 1e-13
    assert max(off.values()) < 1e-10, off
    found = []  # but for the lower arm's moments of inertia, which a graph's body has about the chassis's axes
    for one in (factory, open_builtin("car")):
        with one.instance("both") as instance:
            instance.setup({"init.speed": 15.0}, {"steering_wheel_angle": 0.4})
            instance.step(1000)
            found.append(instance.get_outputs())
    place = [s.index for s in factory.table.outputs if s.name.startswith("ref_frame.pos") or "tire_force.z" in s.name]
    assert found[0][place] == pytest.approx(found[1][place], rel=1e-4) and found[0][1] > 0.5


@pytest.mark.slow
def test_uprights_on_an_arm_and_three_links_drive_as_the_judge_says(armed: Path) -> None:
    off = judged.difference(load_vehicle(armed), open_builtin(armed), 0, 0.04)
    assert off.pop("closure") < 1e-13
    assert max(off.values()) < 1e-10, off


@pytest.mark.slow
def test_a_rigid_axle_with_a_compliant_panhard_rod_drives_as_the_judge_says(tmp_path: Path) -> None:
    """The pickup on the off-roader's rear axle, whose Panhard rod holds by its bushings' stiffness."""
    folder = tmp_path / "panhard"
    shutil.copytree(EXAMPLES / "pickup", folder)
    text = (EXAMPLES / "offroader" / "rear.toml").read_text()
    rod = "\n".join(line.replace("UL_", "PAN_") for line in text.splitlines() if line.startswith("UL_"))
    rod = re.sub(r"(PAN_C\.y = \{ value = )[\d.]+", r"\g<1>-0.42", rod)
    soft = "\n".join(f'PAN.{n} = {{ value = {v}, unit = "{u}", source = "test", description = "rubber bushings" }}'
                     for n, v, u in (("stiffness", 2e6, "N/m"), ("damping", 2e3, "N.s/m")))  # fmt: skip
    (folder / "rear.toml").write_text(f"{text}{rod}\n{soft}\n")
    edited(folder, "vehicle.toml", (r'kind = "leaf_axle"', 'kind = "solid_axle"'))
    vehicle, factory = load_vehicle(folder), open_builtin(folder)
    for seed in range(2):
        off = judged.difference(vehicle, factory, seed, 0.03)
        assert off.pop("closure") < 1e-13
        assert max(off.values()) < 1e-10, off
    with factory.instance("turn") as instance:
        instance.setup({"init.speed": 10.0}, {"steering_wheel_angle": 2.0})
        instance.step(2000)
        y = dict(zip((s.name for s in factory.table.outputs), instance.get_outputs(), strict=True))
    assert y["ref_frame.ang_vel.z"] > 0.1 and y["closure_residual"] < 1e-12
