"""Vehicles on three and four axles: energy and momenta over a second, bits on one lane and four, snapshots."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import own_axles
import pytest
from flight import Flight, check_conservation
from numpy.typing import NDArray
from own_axles import SIX
from processes import check_another_process
from programs import program

from jounce.data import Vehicle, load_vehicle
from jounce.reference import kkt
from jounce_fmu.importer.host import Factory, open_builtin
from jounce_fmu.models import find

Array = NDArray[np.float64]
NAMES = ("six", "truck8x8")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str | Path]:
    folder = own_axles.write(tmp_path_factory.mktemp("six") / "v", SIX, name="six")
    return lambda name: folder if name == "six" else name


class Judged(Flight):
    """Whose momenta are those of the judge."""

    def __init__(self, vehicle: Vehicle, factory: Factory) -> None:
        super().__init__(factory, tuple(a.name for a in vehicle.axles))
        self.vehicle = vehicle

    def momenta(self, x: Array) -> Array:
        """(6,) linear [N.s], angular about the world's origin [N.m.s]: body by body, as the judge moves them."""
        m = kkt.Minimal(
            position=x[self.rows(*(f"pos.{a}" for a in "xyz"))],
            quaternion=x[self.rows(*(f"rot.e{k}" for k in range(4)))],
            theta=x[self.of_wheels("arm_angle")], spin=x[self.of_wheels("spin")],
            angular_velocity=x[self.rows(*(f"ang_vel.{a}" for a in "xyz"))],
            linear_velocity=x[self.rows(*(f"lin_vel.{a}" for a in "xyz"))],
            theta_rate=x[self.of_wheels("arm_rate")], spin_rate=x[self.of_wheels("omega")],
        )  # fmt: skip
        s = kkt.state_from_minimal(self.vehicle, m)
        turning = sum((s.inertia(i) @ s.w[i] for i in range(len(s.w))), np.zeros(3))
        moving = np.cross(s.com, s.design.mass[:, None] * s.v).sum(axis=0)
        return np.concatenate([s.design.mass @ s.v, turning + moving])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["six", "truck8x8"])
def test_energy_and_momenta_of_the_free_vehicle_stay_over_a_second_with_the_fourth_order(
    path: Callable[[str], str | Path], name: str
) -> None:
    flight = Judged(load_vehicle(path(name)), open_builtin(path(name)))
    error = check_conservation(flight, 1.2)
    assert error[4e-3][0] > 12.0**2 * error[1e-3][0] > 0.0
    end = flight.after(flight.start(1.2), 4e-3, 1.0)
    assert np.ptp(end[flight.of_wheels("arm_angle")]) > 0.03


@pytest.mark.slow(but="six")
@pytest.mark.parametrize("name", NAMES)
def test_another_process_goes_on_bit_for_bit(path: Callable[[str], str | Path], tmp_path: Path, name: str) -> None:
    check_another_process(path(name), tmp_path)


DRIVER = r"""
#include <stdio.h>
#include <string.h>
#include "double_wishbone.h"
static double p[JN_N_P], u[JN_N_U], y[JN_N_Y], d[JN_N_D], x[N_STATES + N_MEMORY], dx[N_STATES + N_MEMORY];
static double columns[N_STATES * N_STATES];
static void dump(const double *v, size_t n) { fwrite(v, sizeof *v, n, stdout); }
int main(int argc, char **argv) {
    const int v = argv[argc - 1][0] - '0';
    const jn_model *m = jn_models[v];
    jn_fault f;
    int r, n, k;
    if (!jn_variant_supported(v)) return 9;
    for (r = 0; r < m->n_signals; r++) {
        const jn_signal *g = m->signals + r;
        if (g->kind != 'y') (g->kind == 'u' ? u : p)[g->index] = g->start;
    }
    p[JN_P_init_speed] = 5.0;
    p[JN_P_terrain_slope] = 0.1;
    if (m->derive(p, d, &f) || m->start(p, d, u, x, &f)) { fputs(f.text, stderr); return 1; }
    m->finish(x, u, p);
    for (n = 0; n < 200; n++) {
        u[JN_U_steering_wheel_angle] = 0.02 * n;
        u[JN_U_WHEEL_drive_torque] = 4.0 * n;
        if (m->begin(u, p, d, x, &f) || m->rhs(0.0, x, u, p, d, dx, &f)) { fputs(f.text, stderr); return 2; }
        for (k = 0; k < N_STATES; k++) x[k] += 4e-4 * dx[k];
        m->finish(x, u, p);
        if (m->outputs(x, u, p, d, n, y, NULL, &f)) return 3;
        dump(y, JN_N_Y);
        if (n % 50) continue;
        if (m->jacobian(x, u, p, d, columns, dx, &f)) return 4;
        dump(columns, N_STATES * N_STATES), dump(dx, N_STATES);
        if (m->directional(x, u, p, d, x, u, dx, y, &f)) return 5;
        dump(dx, N_STATES), dump(y, JN_N_Y);
    }
    return 0;
}
"""


@pytest.mark.parametrize("name", [*NAMES, *(pytest.param(n, marks=pytest.mark.slow) for n in ("pickup", "offroader"))])
def test_one_lane_and_four_give_the_same_bits(path: Callable[[str], str | Path], tmp_path: Path, name: str) -> None:
    made = program(tmp_path, find(path(name)).sources, DRIVER)
    run = partial(subprocess.run, capture_output=True, check=False)
    one, four = (run([made, str(variant)]) for variant in (0, 1))
    if four.returncode == 9:
        pytest.skip("this processor has no four lanes")
    assert one.returncode == four.returncode == 0, one.stderr + four.stderr
    values = np.frombuffer(one.stdout)
    assert values.size > 50_000 and np.isfinite(values).all()
    assert one.stdout == four.stdout
