"""The vehicle with extreme parameters and inputs, other compilers and sanitizers: finite numbers, or a clear error."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jounce.axles import WHEELS
from jounce.signals import Scalar
from jounce_fmu.build.pack import export_fmu
from jounce_fmu.importer.host import FmuError, open_builtin
from jounce_fmu.importer.tables import checked_sources

FACTORY = open_builtin()


def _odd(scalar: Scalar) -> st.SearchStrategy[float]:
    """Values within the bounds: near the start, at a bound, anywhere."""
    low = max(scalar.minimum, -1e4)
    high = min(scalar.maximum, max(1e4, 10.0 * low))
    near = st.floats(0.3, 3.0).map(lambda f: min(max(scalar.start * f, low), high))
    return st.one_of(near, st.sampled_from([low, high]), st.floats(low, high))


REALS = [s for s in FACTORY.table.parameters if s.signal.type == "Real" and s.name != "tick"]
parameters = st.lists(st.sampled_from(REALS), max_size=5, unique=True).flatmap(
    lambda chosen: st.fixed_dictionaries({s.name: _odd(s) for s in chosen})
)
inputs = st.lists(st.sampled_from(FACTORY.table.inputs), max_size=8, unique=True).flatmap(
    lambda chosen: st.fixed_dictionaries({s.name: _odd(s) for s in chosen})
)
NAMED = ("parameters refused: ", "no start state: ", "step failed: ",
         "expected a vector of any length", "terrain_normal.z = ")


@settings(max_examples=80)
@given(parameters=parameters)
def test_any_parameters_within_bounds_run_or_are_refused_with_a_name(parameters: dict[str, float]) -> None:
    with FACTORY.instance("odd") as fmu:
        try:
            fmu.setup(parameters)
            fmu.step(50)
        except FmuError as error:
            assert any(text in str(error) for text in NAMED), error
            return
        assert np.isfinite(fmu.get_outputs()).all()


@settings(max_examples=80)
@given(odd=inputs, external=st.booleans())
def test_any_inputs_within_bounds_give_numbers_or_a_named_failure_and_the_snapshot_revives(
    odd: dict[str, float], external: bool
) -> None:
    source = "EXTERNAL" if external else "PLANE"
    with FACTORY.instance("odd") as fmu:
        fmu.setup({"terrain_source": source, "init.speed": 8.0})
        fmu.step(20)
        before, saved = fmu.get_outputs(), fmu.get_state()
        try:
            fmu.set_values(odd)
            fmu.step(30)
        except FmuError as error:
            assert any(text in str(error) for text in NAMED), error
            fmu.set_state(saved)
            assert np.array_equal(fmu.get_outputs(), before)
            return
        assert np.isfinite(fmu.get_outputs()).all()


def test_a_linkage_out_of_range_names_corner_angle_and_loop() -> None:
    with FACTORY.instance("a") as fmu:
        fmu.setup({"tire_source": "EXTERNAL"})
        fmu.step(5)
        saved = fmu.get_state()
        fmu.set_values({"wheel_RL.force.z": -9e5})
        with pytest.raises(FmuError, match=r"wheel_RL.arm_angle = -0\.\d+: linkage out of range: at corner RL the"):
            fmu.step(200)
        fmu.set_state(saved)
        fmu.step(5)


def test_a_terrain_normal_that_points_down_is_refused_and_changes_nothing() -> None:
    with FACTORY.instance("a") as fmu, FACTORY.instance("b") as other:
        for one in (fmu, other):
            one.setup({"terrain_source": "EXTERNAL"})
            one.step(10)
        with pytest.raises(FmuError, match=r"wheel_FR.terrain_normal.z = -1: expected 0 or more"):
            fmu.set_values({"wheel_FR.terrain_normal.z": -1.0})
        for one in (fmu, other):
            one.step(10)
        assert np.array_equal(fmu.get_outputs(), other.get_outputs())


def test_external_terrain_equal_to_the_plane_is_the_plane() -> None:
    slope, bank = 0.1, -0.05
    normal = np.array([-np.tan(slope), -np.tan(bank), 1.0])
    with FACTORY.instance("plane") as plane, FACTORY.instance("external") as external:
        plane.setup({"terrain.slope": slope, "terrain.bank": bank, "init.speed": 0.5})
        u = {f"wheel_{w}.terrain_normal.{a}": v / 2.0 for w in WHEELS for a, v in zip("xyz", normal, strict=True)}
        names = [s.name for s in FACTORY.table.outputs]

        def heights(y: np.ndarray) -> dict[str, float]:
            at = {w: [y[names.index(f"wheel_{w}.query_point.{a}")] for a in "xy"] for w in WHEELS}
            return {f"wheel_{w}.terrain_height": x * np.tan(slope) + v * np.tan(bank) for w, (x, v) in at.items()}

        y = plane.get_outputs()
        external.setup({"terrain_source": "EXTERNAL", "init.speed": 0.5}, {**u, **heights(y)})
        for _ in range(300):
            external.set_values(heights(external.get_outputs()))
            external.step(1)
        plane.step(300)
        a, b = plane.get_outputs(), external.get_outputs()
        # the master's heights are those of one tick ago: 0.05 mm lower at this speed
        assert np.abs(a[:3] - b[:3]).max() < 2e-4
        for w in WHEELS:
            at = names.index(f"wheel_{w}.tire_force.z")
            assert a[at] == pytest.approx(b[at], rel=1e-2)


GROWTH = """
import resource
from jounce_fmu.importer.host import open_builtin
factory = open_builtin()
def cycle(n):
    for _ in range(n):
        with factory.instance("same name") as fmu:
            fmu.setup()
            fmu.step(1)
            fmu.get_outputs()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
first = cycle(200)
print((cycle(2000) - first) * 1024 / 2000)
"""


@pytest.mark.slow
def test_two_thousand_instances_grow_by_less_than_a_kilobyte_each() -> None:
    done = subprocess.run([sys.executable, "-c", GROWTH], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 1024.0


@pytest.fixture(scope="module")
def compiler() -> str:
    found = shutil.which("cc")
    if found is None:
        pytest.skip("no C compiler on this machine")
    return found


DRIVER = r"""
#include <stdio.h>
#include <string.h>
#include "double_wishbone.h"
static double p[JN_N_P], u[JN_N_U], y[JN_N_Y], d[JN_N_D], x[JN_X_N], dx[JN_X_N];
static double columns[(JN_X_N - 2) * (JN_X_N - 2)]; /* two states are what it remembers of the steering */
int main(void) {
    jn_fault f;
    double first[JN_N_Y];
    int v, r, n, k;
    for (v = 0; jn_models[v]; v++) {
        const jn_model *m = jn_models[v];
        if (!jn_variant_supported(v)) continue;
        for (r = 0; r < m->n_signals; r++) {
            const jn_signal *g = m->signals + r;
            if (g->kind != 'y') (g->kind == 'u' ? u : p)[g->index] = g->start;
        }
        p[JN_P_init_speed] = 5.0;
        p[JN_P_terrain_slope] = 0.1;
        if (m->derive(p, d, &f) || m->start(p, d, u, x, &f)) { puts(f.text); return 1; }
        m->finish(x, u, p);
        for (n = 0; n < 500; n++) {
            u[JN_U_steering_wheel_angle] = 0.01 * n;
            u[JN_U_wheel_RL_brake_torque] = 4.0 * n;
            if (m->rhs(0.0, x, u, p, d, dx, &f)) { puts(f.text); return 2; }
            for (k = 0; k < JN_X_N; k++) x[k] += 2e-4 * dx[k];
            m->finish(x, u, p);
            if (m->outputs(x, u, p, d, n, y, NULL, &f)) return 3;
            if (n % 50) continue;
            if (m->jacobian(x, u, p, d, columns, dx, &f) || m->directional(x, u, p, d, x, u, dx, y, &f)) return 6;
        }
        if (v == 0) memcpy(first, y, sizeof y);
        else if (memcmp(first, y, sizeof y)) { puts("the lane widths differ"); return 4; }
    }
    x[JN_X_theta] = -0.9;
    return jn_models[0]->rhs(0.0, x, u, p, d, dx, &f) == 1 ? 0 : 5;
}
"""


@pytest.mark.slow
def test_the_model_is_clean_under_the_address_and_undefined_behaviour_sanitizers(compiler: str, tmp_path: Path) -> None:
    _, sources = checked_sources()
    for name, data in sources.packed().items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "driver.c").write_text(DRIVER)
    files = [n for n in sources.packed() if n.endswith(".c")]
    command = [compiler, "-std=c99", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-o", "driver",
               "driver.c", *files, "-lm"]  # fmt: skip
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    if "cannot find" in done.stderr:
        pytest.skip("the sanitizers are not installed")
    assert done.returncode == 0, done.stderr
    ran = subprocess.run(["./driver"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_a_path_with_unicode_and_spaces_and_a_read_only_folder_hold_an_fmu(tmp_path: Path) -> None:
    table, sources = checked_sources()
    odd = tmp_path / "Straße #1 %41"
    odd.mkdir()
    assert export_fmu(odd / "gelände wagen.fmu", table, sources).stat().st_size > 100_000
