"""Draws the picture of docs/driving-by-pedals.md and prints its tables: python docs/pedals/draw.py

Needs jounce and matplotlib (``pip install '.[test]'``).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib
import numpy as np

from jounce.axles import WHEELS
from jounce_fmu.importer.host import FmuInstance, open_builtin

matplotlib.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).resolve().parent
VEHICLE, LOADED, AIR = open_builtin("hmmwv_pedals"), 3009.0, 1.2
Plan = Sequence[tuple[float, Mapping[str, float]]]


def run(
    plan: Plan, end: float, parameters: Mapping[str, float] | None = None, *, area: float = 0.0, step: float = 0.01
) -> dict[str, np.ndarray]:
    """Outputs by name; ``area``: drag area [m2] of the air, along the road."""
    steps = [(t, dict(values)) for t, values in plan]
    names = [s.name for s in VEHICLE.table.outputs]
    with VEHICLE.instance("pedals") as fmu:
        fmu.setup({**(parameters or {}), **steps.pop(0)[1]})
        ticks, rows = round(step / fmu.tick_length), [fmu.get_outputs().copy()]
        for k in range(round(end / step)):
            while steps and steps[0][0] <= k * step + 1e-9:
                fmu.set_values(steps.pop(0)[1])
            if area:
                _blow(fmu, area, rows[-1][names.index("speed")])
            fmu.step(ticks)
            rows.append(fmu.get_outputs().copy())
    table = np.array(rows)
    return {**dict(zip(names, table.T, strict=True)), "time": step * np.arange(len(table))}


def _blow(fmu: FmuInstance, area: float, speed: float) -> None:
    fmu.set_values({"chassis.ext_force.x": -0.5 * AIR * area * speed * abs(speed)})


def whole_mass() -> float:
    """Mass of the vehicle [kg]: what its wheels stand on the ground with."""
    o = run([(0.0, {})], 0.01)
    gravity = VEHICLE.table.by_name("gravity").start
    return float(sum(o[f"wheel_{w}.tire_force.z"][0] for w in WHEELS) / gravity)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


def drive() -> plt.Figure:
    """From rest to 45 km/h and back, at two ticks."""
    figure, axes = plt.subplots(2, 2, figsize=(10, 5.6), layout="constrained", sharex=True)
    plan = [(0.0, {"throttle": 0.5}), (9.0, {"throttle": 0.0}), (11.0, {"brake_pedal": 0.4})]
    for tick, style in ((1e-3, "-"), (2.5e-4, "--")):
        o = run(plan, 17.0, {"tick": tick})
        shown = {"speed": "speed [m/s]", "gearbox.gear": "gear", "engine.speed": "engine, turbine [rad/s]",
                 "converter.speed_ratio": "converter: speed ratio"}  # fmt: skip
        for ax, (name, label) in zip(axes.flat, shown.items(), strict=True):
            what = "engine, " if name == "engine.speed" else ""
            ax.plot(o["time"], o[name], style, label=f"{what}tick {1e3 * tick:g} ms")
            ax.set_ylabel(label)
        axes[1, 0].plot(o["time"], o["gearbox.turbine_speed"], style, label=f"turbine, tick {1e3 * tick:g} ms")
    axes[0, 1].yaxis.get_major_locator().set_params(integer=True)
    for ax in axes.flat:
        ax.legend(fontsize=8)
    for ax in axes[1]:
        ax.set_xlabel("time [s]")
    return figure


def performance() -> None:
    """Times to speeds, and the speed that it reaches."""
    mass, whole = VEHICLE.table.by_name("chassis.mass").start, whole_mass()
    for load, area in ((0.0, 0.0), (LOADED - whole, 1.6), (LOADED - whole, 2.0)):
        o = run([(0.0, {"brake_pedal": 0.3}), (1.0, {"brake_pedal": 0.0, "throttle": 1.0})], 90.0,
                {"chassis.mass": mass + load}, area=area)  # fmt: skip
        v = o["speed"] * 3.6
        at = [o["time"][np.argmax(v > wanted)] - 1.0 for wanted in (50.0, 96.6)]
        _say(f"{whole + load:.0f} kg, drag area {area} m2: 0-50 {at[0]:.1f} s, 0-96.6 {at[1]:.1f} s, "
              f"after 90 s {v[-1]:.0f} km/h in gear {o['gearbox.gear'][-1]:.0f}")  # fmt: skip


def why() -> None:
    """What each assumption is worth: 0 to 96.6 km/h with load and a drag area of 1.8 m2, and the speed after 90 s."""
    start = {s.name: s.start for s in VEHICLE.table.parameters}
    load = LOADED - whole_mass()
    base = {"chassis.mass": start["chassis.mass"] + load}
    torques = [n for n in start if n.startswith("engine.full_load.torque.")]
    cases = {
        "as it is": {},
        "engine 10 % weaker": {n: 0.9 * start[n] for n in torques},
        "engine of 112 kW (150 hp) for 145": {n: 112 / 145 * start[n] for n in torques},
        "efficiency 0.75 for 0.85": {"driveline.efficiency": 0.75},
        "accessories 60 N.m for 25": {"engine.accessories": 60.0},
        "rolling resistance 0.03 for 0.015": {"tire.rolling_resistance": 0.03},
        "up at 2800 rpm for 3200, and down as much earlier": {n: start[n] * 2800 / 3200 for n in start
                                                             if n.startswith(("gearbox.up.", "gearbox.down."))},
        "4.0 t for 3.0": {"chassis.mass": start["chassis.mass"] + load + 991.0},
    }  # fmt: skip
    for name, changed in cases.items():
        o = run([(0.0, {"brake_pedal": 0.3}), (1.0, {"brake_pedal": 0.0, "throttle": 1.0})], 90.0, base | changed,
                area=1.8)  # fmt: skip
        v = o["speed"] * 3.6
        _say(f"{name}: 0-96.6 {o['time'][np.argmax(v > 96.6)] - 1.0:.1f} s, after 90 s {v[-1]:.0f} km/h")


def grades() -> None:
    """Speed along the slope after 10 s of pulling away on a slope, at the throttle that is best of four."""
    mass = VEHICLE.table.by_name("chassis.mass").start + LOADED - whole_mass()
    for grade in (0.2, 0.3, 0.4, 0.5, 0.6, 0.65):
        for high, low in ((1.0, "H"), (3.0, "L")):
            found = {}
            for throttle in (0.4, 0.5, 0.6, 1.0):
                plan = [(0.0, {"brake_pedal": 1.0, "gear_selector": 0.0, "transfer_range": high}),
                        (0.5, {"gear_selector": 1.0}), (1.0, {"throttle": throttle}),
                        (1.6, {"brake_pedal": 0.0})]  # fmt: skip
                o = run(plan, 11.6, {"chassis.mass": mass, "terrain.slope": math.atan(grade)})
                found[throttle] = o["ref_frame.lin_vel.x"][-1] * math.hypot(1.0, grade)
            best = max(found, key=found.__getitem__)
            _say(f"{grade:.0%} {low}: {found[best]:.1f} m/s at throttle {best}")


def parked() -> None:
    """How far it moves in a minute on 30 %, at rest and shaken."""
    held = {"P": {"gear_selector": -2.0}, "brake pedal 0.8, D at idle": {"brake_pedal": 0.8},
            "hand brake, N": {"gear_selector": 0.0, "hand_brake": 1.0}}  # fmt: skip
    for name, inputs in held.items():
        for push in (0.0, 2000.0):
            names = [s.name for s in VEHICLE.table.outputs]
            place = [names.index(f"ref_frame.pos.{a}") for a in "xyz"]
            with VEHICLE.instance("parked") as fmu:
                fmu.setup({"terrain.slope": math.atan(0.3), **inputs})
                rows = []
                for k in range(6500):
                    force = push * math.sin(6 * math.pi * 0.01 * k)
                    fmu.set_values({"chassis.ext_force.x": force, "chassis.ext_force.y": force / 2})
                    fmu.step(10)
                    if k % 100 == 99:
                        rows.append(fmu.get_outputs()[place].copy())
            p = np.array(rows)
            _say(f"{name}, {'shaken' if push else 'at rest'}: {1e3 * np.abs(p[5:] - p[4]).max():.1e} mm")


def main() -> None:
    """The picture and the tables."""
    figure = drive()
    for ax in figure.axes:
        ax.grid(visible=True, alpha=0.3)
    figure.savefig(HERE / "drive.png", dpi=110, metadata={"Software": None})
    performance()
    why()
    grades()
    parked()


if __name__ == "__main__":
    main()
