"""Powertrain, Magic Formula and terrain files in one vehicle: one lane and four have the same bits."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from programs import program

from jounce.terrain.crg import read_crg
from jounce.terrain.iso8608 import iso_road
from jounce.terrain.obstacles import half_round
from jounce.terrain.packed import Terrain, save
from jounce_fmu.models import find
from jounce_fmu.models.tires import on_tires

DATA = Path(__file__).parents[1] / "data"
DRIVER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "jn_core.h"
static void set(jn_instance *s, char *assignment) {
    char *value = strchr(assignment, '=');
    int row = 0;
    *value++ = 0;
    while (strcmp(s->model->signals[row].name, assignment)) row++;
    if (jn_check(s, row, atof(value))) exit(3);
    jn_apply(s, row, atof(value));
}
int main(int argc, char **argv) { /* variant, place of the terrain, ticks, name=value ... */
    jn_instance *s = jn_create(jn_models[atoi(argv[1])], 0);
    int i, n = atoi(argv[3]);
    if (!jn_variant_supported(atoi(argv[1]))) return 9;
    if (jn_set_folder(s, argv[2])) return 4;
    for (i = 4; i < argc; i++) set(s, argv[i]);
    if (jn_setup(s, 0.0, 0, 0.0)) return 5;
    s->state = JN_INITIALIZING;
    if (jn_finish_init(s)) { fputs(s->error, stderr); return 6; }
    for (i = 0; i < n; i++) {
        if (jn_advance(s, 1, 0) < 0 || jn_refresh(s)) { fputs(s->error, stderr); return 7; }
        fwrite(s->x, sizeof *s->x, (size_t)s->model->n_x, stdout);
        fwrite(s->y, sizeof *s->y, (size_t)s->model->n_y, stdout);
    }
    return 0;
}
"""
HEIGHTMAP, ROAD, PROFILE = ({"terrain_source": float(k)} for k in (3, 4, 5))
FAST = {"init.speed": 15.0}
CASES: dict[str, tuple[str, Mapping[str, float]]] = {
    "driven": ("waves", FAST | {"throttle": 0.5, "steering_wheel_angle": 0.5}),
    "wheels locked": ("waves", FAST | {"brake_pedal": 1.0, "steering_wheel_angle": 1.0}),
    "steered by torque": ("waves", FAST | {"throttle": 0.5, "steering.mode": 2.0, "steering_wheel_torque": 2.0}),
    "reverse": ("waves", {"init.speed": -3.0, "gear_selector": -1.0, "throttle": 0.5}),
    "at rest": ("waves", {"hand_brake": 1.0}),
    "across the border": ("waves", FAST | {"init.x": 17.0, "init.y": 18.5, "init.yaw": 0.4, "throttle": 0.3}),
    "onto the plane beyond": ("plane", FAST | {"init.x": 17.0, "init.y": 18.5, "init.yaw": 0.4, "brake_pedal": 0.5}),
    "over a half-round": ("obstacles", FAST | {"throttle": 0.2, "brake_pedal": 0.6}),
    "splines": ("splines", FAST | {"throttle": 0.5}),
    "off the valid part of a road": ("nan_border", FAST | {"steering_wheel_angle": 2.0, "brake_pedal": 0.3}),
    "off a closed road": ("closed", FAST | {"steering_wheel_angle": -2.0}),
    "random road": ("profile", FAST | {"throttle": 0.5, "brake_pedal": 1.0}),
}


def _terrain(name: str) -> tuple[Terrain, dict[str, float]]:
    """A terrain, and where the vehicle starts on it."""
    if name == "profile":
        return iso_road("D", 2, 60.0), PROFILE | {"init.x": 5.0}
    if name in ("nan_border", "closed"):
        road = read_crg(DATA / "roads" / f"{name}.crg")
        (x, y), along = road.line[20, :2], road.line[21, :2] - road.line[20, :2]
        return road, ROAD | {"init.x": x, "init.y": y, "init.yaw": float(np.arctan2(*along[::-1]))}
    x = 0.5 * np.arange(80)
    waves = Terrain("HEIGHTMAP", 0.05 * np.sin(0.5 * x)[:, None] * np.sin(0.4 * x)[None, :], 0.5, 0.5, (-20.0, -20.0),
                    friction=np.random.default_rng(1).uniform(0.2, 0.9, (80, 80)))  # fmt: skip
    others = {"waves": waves, "plane": replace(waves, edge="PLANE", height=-0.1),
              "splines": replace(waves, smooth=True),
              "obstacles": waves.with_obstacles(half_round(4.0, 0.1, yaw=0.2))}  # fmt: skip
    return others[name], HEIGHTMAP


@pytest.fixture(scope="module")
def vehicle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The vehicle with a main function."""
    sources = find(on_tires("hmmwv_pedals", DATA / "tires" / "HMMWV_Pac02Tire.tir")).sources
    return program(tmp_path_factory.mktemp("whole"), sources, DRIVER)


@pytest.mark.parametrize("name", CASES)
def test_a_whole_vehicle_has_the_same_bits_on_one_lane_and_on_four(vehicle: Path, tmp_path: Path, name: str) -> None:
    kind, values = CASES[name]
    terrain, start = _terrain(kind)
    place = save(terrain, tmp_path / "t.jnt").as_uri()
    assignments = [f"{n}={v!r}" for n, v in {**start, **values}.items()]
    run = partial(subprocess.run, capture_output=True, check=False)
    one, four = (run([vehicle, str(variant), place, "400", *assignments]) for variant in (0, 1))
    if four.returncode == 9:
        pytest.skip("this processor has no four lanes")
    assert one.returncode == four.returncode == 0, (one.stderr + four.stderr).decode()
    numbers = np.frombuffer(one.stdout).reshape(400, -1)
    assert np.isfinite(numbers).all()
    assert np.ptp(numbers, axis=0).max() > 1e-9
    assert one.stdout == four.stdout
