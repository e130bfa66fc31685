"""Vehicles on three and four axles: energy and momenta over a second, bits on one lane and four, snapshots."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import own_axles
import pytest
from numpy.typing import NDArray

from jounce.axles import AXLES, Axle
from jounce.data import Vehicle, load_vehicle
from jounce.reference import kkt
from jounce_fmu.importer.host import Factory, open_builtin
from jounce_fmu.importer.linear import Exchange
from jounce_fmu.models import find

Array = NDArray[np.float64]
#: As in test_axles_model.py, so that the library is compiled once.
SIX = (
    Axle("first", steered="pitman"),
    Axle("second", steered="pitman", gain=0.5, drive_reaction="carrier"),
    Axle("third", steered="pitman", gain=-0.3, driven=False),
)
NAMES = ("six", "truck8x8")
#: Shocks and springs without a kink: no shock, and a linear spring that rests in the design position.
SHOCKS = ("rebound", "compression", "bump_rebound", "bump_compression", "end_stiffness", "end_damping")
RESTING = dict(zip(AXLES, (0.2465, 0.306), strict=True))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str | Path]:
    folder = own_axles.write(tmp_path_factory.mktemp("six") / "v", SIX, name="six")
    return lambda name: folder if name == "six" else name


def smooth(vehicle: Vehicle) -> dict[str, float]:
    """Parameters of a vehicle with the hmmwv's axles, with springs and without shocks."""
    found = {}
    for axle in vehicle.axles:
        length = RESTING["front" if axle.steered != "none" else "rear"]
        found |= {f"{axle.name}.shock.{k}": 0.0 for k in SHOCKS}
        found |= {f"{axle.name}.spring.k3": 0.0, f"{axle.name}.spring.rest_length": length}
    return found


class Flight:
    """A vehicle in the air, without gravity and without loads, integrated by the classical Runge-Kutta method."""

    def __init__(self, vehicle: Vehicle, factory: Factory) -> None:
        self.vehicle, self.table, self.wheels = vehicle, factory.table, vehicle.wheels
        self.place = {s.name: k for k, s in enumerate(self.table.states)}
        self.instance = replace(factory, kind=Exchange).instance("flight")
        self.instance.setup({"gravity": 0.0, "tire_source": "EXTERNAL", "init.equilibrium": False, "init.z": 50.0,
                             **smooth(vehicle)})  # fmt: skip

    def rows(self, *names: str) -> list[int]:
        return [self.place[f"state.{n}"] for n in names]

    def of_wheels(self, name: str) -> list[int]:
        return self.rows(*(f"wheel_{w}.{name}" for w in self.wheels))

    def start(self) -> Array:
        """Everything moves: the chassis turns, wheels spin, springs swing."""
        r, n, x = np.random.default_rng(8), len(self.wheels), np.zeros(len(self.table.states))
        x[self.rows("pos.z", "rot.e0")] = 50.0, 1.0
        x[self.rows(*(f"ang_vel.{a}" for a in "xyz"))] = 0.5 * r.normal(size=3)
        x[self.rows(*(f"lin_vel.{a}" for a in "xyz"))] = r.normal(size=3)
        x[self.of_wheels("arm_rate")] = 1.2 * r.uniform(-1, 1, n)
        x[self.of_wheels("omega")] = 10 * r.normal(size=n)
        return x

    def rate(self, x: Array) -> Array:
        self.instance.set_states(x)
        return self.instance.get_rates()  # type: ignore[attr-defined,no-any-return]

    def after(self, x: Array, step: float, time: float) -> Array:
        f, h = self.rate, step
        for _ in range(round(time / step)):
            k1 = f(x)
            k2 = f(x + h / 2 * k1)
            k3 = f(x + h / 2 * k2)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + f(x + h * k3))
        return x

    def energy(self, x: Array) -> float:
        self.instance.set_states(x)
        y = dict(zip((s.name for s in self.table.outputs), self.instance.get_outputs(), strict=True))
        return float(y["energy.kinetic"] + y["energy.potential"])

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


@pytest.mark.parametrize("name", ["six", pytest.param("truck8x8", marks=pytest.mark.slow)])
def test_energy_and_momenta_of_the_free_vehicle_stay_over_a_second_with_the_fourth_order(
    path: Callable[[str], str | Path], name: str
) -> None:
    vehicle = load_vehicle(path(name))
    flight = Flight(vehicle, open_builtin(path(name)))
    start = flight.start()
    energy, momenta = flight.energy(start), flight.momenta(start)
    error = {}
    for step in (4e-3, 2e-3, 1e-3):
        end = flight.after(start, step, 1.0)
        off = flight.momenta(end) - momenta
        parts = [np.linalg.norm(off[part]) / np.linalg.norm(momenta[part]) for part in (slice(3), slice(3, 6))]
        error[step] = np.array([abs(flight.energy(end) - energy) / energy, *parts])
    assert np.all(error[1e-3] < 1e-8)
    assert np.ptp(end[flight.of_wheels("arm_angle")]) > 0.03
    # of the whole, down to rounding
    assert np.all(error[4e-3] > np.minimum(12.0 * error[2e-3], 1e-11))
    assert error[4e-3][0] > 12.0**2 * error[1e-3][0] > 0.0


@pytest.mark.parametrize("name", NAMES)
def test_another_process_goes_on_bit_for_bit(path: Callable[[str], str | Path], tmp_path: Path, name: str) -> None:
    with open_builtin(path(name)).instance("here") as here:
        here.setup({"init.speed": 8.0})
        here.set_values({"steering_wheel_angle": 1.0})
        here.step(50)
        (tmp_path / "blob").write_bytes(here.get_state())
        here.step(50)
        wanted = here.get_outputs().tobytes()
    script = (
        "import sys; from pathlib import Path; from jounce_fmu.importer.host import open_builtin\n"
        "folder = Path(sys.argv[1])\n"
        "with open_builtin(sys.argv[2]).instance('there') as there:\n"
        "    there.set_state((folder / 'blob').read_bytes()); there.step(50)\n"
        "    (folder / 'outputs').write_bytes(there.get_outputs().tobytes())\n"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path), str(path(name))], check=True)
    assert (tmp_path / "outputs").read_bytes() == wanted


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
        if (m->outputs(x, u, p, d, n, y, &f)) return 3;
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


@pytest.mark.parametrize("name", [*NAMES, "pickup", pytest.param("offroader", marks=pytest.mark.slow)])
def test_one_lane_and_four_give_the_same_bits(path: Callable[[str], str | Path], tmp_path: Path, name: str) -> None:
    if (cc := shutil.which("cc")) is None:
        pytest.skip("no C compiler on this machine")
    sources = find(path(name)).sources
    for file, data in sources.packed().items():
        (tmp_path / file).write_bytes(data)
    (tmp_path / "driver.c").write_text(DRIVER)
    files = [n for n in sources.packed() if n.endswith(".c")]
    command = [cc, "-std=c99", "-O0", "-ffp-contract=off", "-w", "-o", "driver", "driver.c", *files, "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    run = partial(subprocess.run, cwd=tmp_path, capture_output=True, check=False)
    one, four = (run(["./driver", str(variant)]) for variant in (0, 1))
    if four.returncode == 9:
        pytest.skip("this processor has no four lanes")
    assert one.returncode == four.returncode == 0, one.stderr + four.stderr
    values = np.frombuffer(one.stdout)
    assert values.size > 50_000 and np.isfinite(values).all()
    assert one.stdout == four.stdout
