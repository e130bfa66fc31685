"""``jounce serve --vehicle``: vehicles of the user's own beside those that come with jounce."""

from __future__ import annotations

from pathlib import Path

import pytest

from jounce_fmu.importer.host import open_builtin
from jounce_service.hosting.fmu_model import FmuModel, registry
from jounce_service.hosting.models import Registry
from jounce_service.server.config import ServerConfig
from jounce_service.transport.errors import ModelUnavailable
from jounce_service.transport.security import ConfigError


def vehicle(path: Path, name: str = "mine", overrides: str = '"chassis.mass" = 2500') -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'name = "{name}"\nbase = "hmmwv"\n[overrides]\n{overrides}\n')
    return str(path)


def hosted(*vehicles: str, workers: bool = False) -> Registry:
    return registry(ServerConfig(vehicle=vehicles, workers=workers))


@pytest.mark.parametrize("workers", [False, True])
def test_vehicles_are_hosted_under_their_names_with_their_numbers(tmp_path: Path, workers: bool) -> None:
    folder = tmp_path / "second"
    files = vehicle(tmp_path / "a.toml"), vehicle(folder / "vehicle.toml", "other", "steering_ratio = 20")
    models = hosted(files[0], str(folder), workers=workers)
    assert {"hmmwv", "utv", "mine", "other"} <= set(models.names) and models.open_all() == {}
    masses = {}
    for name in ("hmmwv", "mine"):
        made = models.get(name).create("x", {}, {})
        loads = [s.index for s in models.get(name).table.outputs if s.name.endswith("tire_force.z")]
        masses[name] = made.get_outputs()[loads].sum() / 9.81
        made.free()
    assert masses["mine"] - masses["hmmwv"] == pytest.approx(2500.0 - 2086.52, rel=1e-6)
    assert models.get("other").table.by_name("steering_ratio").start == 20.0


def test_one_that_cannot_be_read_or_started_is_unavailable_and_the_others_serve(tmp_path: Path) -> None:
    broken, wrong = tmp_path / "broken.toml", vehicle(tmp_path / "wrong.toml", "wrong", '"chassis.mass" = -1')
    broken.write_text("name = \n")
    models = hosted(str(broken), wrong, vehicle(tmp_path / "a.toml"))
    failures = models.open_all()
    assert failures.keys() == {"broken", "wrong"} and "chassis.mass" in failures["wrong"]
    with pytest.raises(ModelUnavailable, match="broken"):
        models.get("broken")
    assert models.get("mine").table.by_name("chassis.mass").start == 2500.0


def test_a_missing_file_and_a_name_that_is_taken_are_refused_at_the_start(tmp_path: Path) -> None:
    for place, text in ((str(tmp_path / "no.toml"), "no.toml.: expected a file that exists, or one of .*hmmwv_pedals"),
                        (vehicle(tmp_path / "u.toml", "utv"), "there is a model named utv already")):  # fmt: skip
        with pytest.raises(ConfigError, match=text):
            hosted(place)
    with pytest.raises(ConfigError, match="named mine already"):
        hosted(vehicle(tmp_path / "a.toml"), vehicle(tmp_path / "b.toml"))
    assert {"hmmwv", "hmmwv_pedals", "car"} <= {*hosted("hmmwv", "hmmwv_pedals", "car").names}  # examples by name


def test_other_numbers_are_another_build_also_in_a_library_that_is_shared(tmp_path: Path) -> None:
    """A snapshot, a recording, a sweep of one vehicle does not go on with another's numbers."""
    path = tmp_path / "a.toml"
    builds = [FmuModel(open_builtin("hmmwv")).build]
    for mass in (2500, 2501, 2500):
        vehicle(path, overrides=f'"chassis.mass" = {mass}')
        builds.append(FmuModel(open_builtin(path)).build)
    assert builds[1] == builds[3] and len(set(builds)) == 3
