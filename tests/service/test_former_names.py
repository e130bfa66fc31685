"""Parameters by the names that they had before: every way in takes them with a warning, and refusals say today's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import jounce
from jounce.data import DataError, load_vehicle
from jounce.renamed import FORMER
from jounce.values import Value
from jounce_fmu.build.library import BadRequest
from jounce_fmu.description.starts import changed
from jounce_fmu.importer.tables import model_table
from jounce_fmu.importer.trajectory import InputError
from jounce_proto import jounce_pb2 as pb
from jounce_service.session.session_spec import Setup
from jounce_service.transport.errors import BadField, ServiceError
from jounce_tools.cli.assignments import scalar
from jounce_tools.errors import UsageError
from jounce_tools.sweep.plan import planned

TABLE = model_table("hmmwv")
OLD, NEW, LIMIT = "tire.mu_0", "tire.nominal_friction", "from 0.01"
WARNS = f"{OLD}: the name is {NEW} now"


def in_data(values: dict[str, Value], folder: Path) -> float:
    lines = [f'"{name}" = {value}\n' for name, value in values.items()]
    (folder / "mine.toml").write_text('name = "mine"\nbase = "hmmwv"\n[overrides]\n' + "".join(lines))
    return load_vehicle(folder / "mine.toml")[NEW]


def in_a_session(values: dict[str, Value], _folder: Path) -> float:
    model: Any = SimpleNamespace(table=TABLE, build="b")
    start = np.array([s.start for s in TABLE.inputs])
    setup = Setup(model, "hmmwv", {}, start).changed({n: pb.Value(number=float(v)) for n, v in values.items()}, {})
    [(name, value)] = setup.parameters.items()
    assert name == NEW
    return value


def in_an_export(values: dict[str, Value], _folder: Path) -> float:
    return changed(TABLE, values).by_name(NEW).start


def on_the_command_line(values: dict[str, Value], _folder: Path) -> float:
    found = dict(scalar(TABLE, f"{name}={value}", "parameter") for name, value in values.items())
    return found[NEW]


def in_a_sweep(values: dict[str, Value], folder: Path) -> float:
    content = {"vehicle": "hmmwv", "duration": 1.0, "set": dict(values), "output_interval": 0.1}
    model: Any = SimpleNamespace(table=TABLE, tick_length=0.001, build="b")
    _, [case] = planned(folder / "sweep.toml", content, lambda _: model)
    return case.parameters[NEW]


DOORS = (in_data, in_a_session, in_an_export, on_the_command_line, in_a_sweep)
Door = Callable[[dict[str, Value], Path], float]


@pytest.mark.parametrize("door", DOORS)
def test_a_former_name_is_taken_with_a_warning_that_says_todays(door: Door, tmp_path: Path) -> None:
    assert door({NEW: 0.7}, tmp_path) == 0.7
    with pytest.warns(FutureWarning, match=WARNS):
        assert door({OLD: 0.7}, tmp_path) == 0.7


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_refusal_says_the_name_of_today(door: Door, tmp_path: Path) -> None:
    with pytest.raises((DataError, ServiceError, BadRequest, UsageError), match=f"{NEW} = -1.0: expected"):
        door({OLD: -1.0}, tmp_path)


@pytest.mark.parametrize("door", [in_data, in_a_session, in_an_export])
@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_both_names_of_one_parameter_are_refused(door: Door, tmp_path: Path) -> None:
    with pytest.raises((DataError, BadField, BadRequest), match=f"{OLD} and {NEW} are one parameter; expected"):
        door({OLD: 0.7, NEW: 0.7}, tmp_path)


def test_simulate_takes_it_and_gives_the_same_bits() -> None:
    ends = [jounce.simulate("hmmwv", duration=0.1, outputs=["speed"], **{"init.speed": 9.0, NEW: 0.7}).values]
    with pytest.warns(FutureWarning, match=WARNS):
        ends.append(jounce.simulate("hmmwv", duration=0.1, outputs=["speed"], **{"init.speed": 9.0, OLD: 0.7}).values)
    assert np.array_equal(*ends)
    with pytest.raises(InputError, match="are one parameter"):
        jounce.simulate("hmmwv", duration=0.1, **{OLD: 0.7, NEW: 0.7})


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_data_files_with_former_names_are_those_of_today(tmp_path: Path) -> None:
    today = {new: old for old, new in FORMER.items()}
    for name, text in (("vehicle.toml", 'name = "own"\nfiles = ["tire.toml"]\n'), ("tire.toml", "[tire]\n" + "".join(
            f'{today.get(n, n).removeprefix("tire.")} = {{ value = {e.value}, unit = "{e.unit}", source = "s", '
            f'description = "d" }}\n' for n, e in load_vehicle("hmmwv").entries.items() if n.startswith("tire.")))):
        (tmp_path / name).write_text(text)
    with pytest.warns(FutureWarning, match=WARNS):
        own = load_vehicle(tmp_path)
    assert [*own.entries] == [n for n in load_vehicle("hmmwv").entries if n.startswith("tire.")]


def test_every_name_of_today_is_a_parameter_in_one_style_and_no_former_one_is() -> None:
    known = {s.name for s in TABLE.parameters}
    assert set(FORMER.values()) <= known and not known & FORMER.keys()
    tire = [n.removeprefix("tire.") for n in known if n.startswith("tire.")]
    assert [n for n in tire if n != n.lower() or n.endswith(("_m", "_mps", "_pn", "_p2n"))] == []


def test_a_model_that_has_a_parameter_of_a_former_name_keeps_it() -> None:
    from jounce.renamed import present

    assert present(OLD, {OLD, NEW}) == OLD and present(OLD, {"other"}) == OLD
