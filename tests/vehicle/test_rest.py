"""The rest on level ground that the formulations begin with is that of the vehicle's own start."""

from __future__ import annotations

from pathlib import Path

import pytest

from jounce.data import DataError, load_vehicle
from jounce.models.formulation import rest
from jounce_fmu.importer.host import open_builtin
from jounce_fmu.importer.linear import read_states


@pytest.mark.parametrize("name", ["hmmwv", "utv"])
def test_the_rest_is_where_the_emitted_vehicle_finds_it(name: str) -> None:
    with open_builtin(name).instance("rest") as instance:
        instance.setup()
        states = dict(zip((s.name for s in instance.table.states), read_states(instance), strict=True))
    vehicle = load_vehicle(name)
    found = rest.find(vehicle)
    assert found.height == pytest.approx(states["state.pos.z"], abs=1e-12)
    assert list(found.quaternion) == pytest.approx([states[f"state.rot.e{k}"] for k in range(4)], abs=1e-12)
    arms = [states[f"state.wheel_{w}.arm_angle"] for w in vehicle.wheels]
    assert list(found.angles) == pytest.approx(arms, abs=1e-12)


def test_a_vehicle_that_its_springs_do_not_carry_is_refused(tmp_path: Path) -> None:
    (tmp_path / "vehicle.toml").write_text(
        'name = "soft"\nbase = "hmmwv"\n[overrides]\n"chassis.mass" = 90000.0\n', encoding="utf-8"
    )
    with pytest.raises(DataError, match="soft: no rest on level ground"):
        rest.find(load_vehicle(tmp_path))
