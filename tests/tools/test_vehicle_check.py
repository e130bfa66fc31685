"""What `jounce vehicle check` accepts the model loads; what the model refuses the check refuses with its words."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jounce.data import load_vehicle
from jounce_fmu.build.library import BuildError
from jounce_fmu.importer.host import FmuError, open_builtin
from jounce_tools.cli.main import main
from jounce_tools.vehicle import check

#: How many files are tried, with JOUNCE_SLOW and always.
COUNT = 100 if os.environ.get("JOUNCE_SLOW") else 8
#: Entries of the car that a limit of the model is about: of the step, of an order, of a body, of the start at rest.
LIMITED = ("rear.spring.k1", "rear.spring.k3", "front.shock.rebound", "rear.shock.end_stiffness", "rear.stop.force.1",
           "tire.vertical_stiffness", "tire.vertical_damping", "tire.tread_stiffness", "tire.rim_radius",
           "brake.capacity", "brake.spin_limit", "chassis.mass", "chassis.inertia.xy", "chassis.contact.stiffness",
           "rear.spring.min_length", "front.shock.closed_length", "rear.upright.mass", "rear.upright.inertia.xx",
           "rear.TIEROD_U.x", "rear.spring.preload")  # fmt: skip


def written(folder: Path, changes: Mapping[str, float]) -> Path:
    """A vehicle of one's own: the car with other values."""
    lines = [f'"{name}" = {value!r}' for name, value in changes.items()]
    path = folder / "vehicle.toml"
    path.write_text("\n".join(['name = "mine"', 'base = "car"', "[overrides]", *lines, ""]), encoding="utf-8")
    return path


def refused(path: Path) -> str:
    """What the model says of the data, if it refuses them."""
    with open_builtin(path).instance("judge") as instance:
        try:
            instance.setup()
        except FmuError as error:
            return str(error)
    return ""


@pytest.mark.parametrize(("changes", "words"), [
    ({"front.shock.rebound": 1e6}, "front.shock.rebound = 1000000: too stiff for RK4"),
    ({"brake.capacity": 1e9}, "brake.capacity = 1000000000: expected up to"),
    ({"chassis.inertia.xy": 1e6}, "chassis.inertia is not positive definite"),
    ({"tire.rim_radius": 1.0}, "expected a value above tire.rim_radius"),
    ({"chassis.mass": 1e6}, "no static equilibrium"),
])  # fmt: skip
def test_the_check_knows_what_the_model_refuses(tmp_path: Path, changes: dict[str, float], words: str) -> None:
    path = written(tmp_path, changes)
    assert any(words in fault for fault in check.refusals(load_vehicle(path), path, []))


@pytest.mark.slow
def test_a_limit_of_the_integrator_is_a_fault_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, {"rear.spring.k1": 1e9})
    assert main(["vehicle", "check", str(path)]) == 1
    words = "rear.spring.k1 = 1000000000: too stiff for RK4 at a tick of 1000 us"
    assert words in capsys.readouterr().err and words in refused(path)


def test_without_a_compiler_the_check_says_that_it_did_not_try_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: object) -> None:
        raise BuildError("no C compiler")

    monkeypatch.setattr(check, "open_builtin", fails)
    warnings: list[str] = []
    assert check.refusals(load_vehicle("car"), "car", warnings) == []
    assert warnings == ["whether the model takes the data was not tried: no C compiler"]


@pytest.mark.slow
@settings(max_examples=COUNT)
@given(st.dictionaries(st.sampled_from(LIMITED), st.floats(-4.0, 4.0), min_size=1, max_size=3))
def test_the_check_and_the_model_agree_on_files_with_other_values(decades: dict[str, float]) -> None:
    car = load_vehicle("car")
    changes = {}
    for name, decade in decades.items():
        entry = car.entries[name]
        value = (entry.value or math.copysign(100.0, decade)) * 10.0**decade
        changes[name] = min(max(value, entry.minimum), entry.maximum)
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), changes)
        said, warnings = refused(path), list[str]()
        faults = check.refusals(load_vehicle(path), path, warnings)
    assert warnings == []
    assert bool(faults) == bool(said)
    assert all(fault in said for fault in faults)


@pytest.mark.slow
def test_on_tires_of_a_file_it_is_told_where_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rear tires of a file with a load curve, front ones of the vehicle's own law; loads carry the weight."""
    file = Path(__file__).parents[1] / "data" / "tires" / "335_65R22_5_G275MSA_60psi.tir"
    path = tmp_path / "vehicle.toml"
    path.write_text(f'base = "hmmwv"\ntire_file = {{rear = "{file}"}}\n')
    monkeypatch.setattr(check, "refusals", lambda *_: [])  # the model is compiled by slow tests
    rest = check.check(path).rest
    assert rest is not None
    assert 2.0 * sum(rest.load) == pytest.approx(rest.mass * 9.81, rel=1e-3)
