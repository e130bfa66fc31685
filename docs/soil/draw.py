"""Draws the picture of docs/soil.md and prints its table: python docs/soil/draw.py

Needs jounce and matplotlib (``pip install '.[test]'``).
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import numpy as np

import jounce
from jounce.axles import WHEELS
from jounce.contact.soil import SOILS, Soil

matplotlib.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).resolve().parent
COLOURS = {"dry_sand": "tab:orange", "sandy_loam": "tab:green", "clayey_soil": "tab:blue"}
WEIGHT = 25.3e3  # of the vehicle [N]


def parameters(soil: Soil) -> dict[str, float | str]:
    """The model's parameters for a soil."""
    return {"terrain.soil": "BEKKER", "soil.n": soil.n, "soil.k_c": soil.k_c, "soil.k_phi": soil.k_phi,
            "soil.c": soil.cohesion, "soil.phi": soil.friction, "soil.K": soil.shear_modulus,
            "soil.k_u": soil.unload}  # fmt: skip


def pulls(soil: Soil, speed: float = 1.5, seconds: float = 40.0) -> np.ndarray:
    """Mean slip of the wheels and drawbar pull [N] while the pull rises and the rims keep that speed."""
    torques, rows = [f"wheel_{w}.drive_torque" for w in WHEELS], []
    wants = ["speed", *(f"wheel_{w}.{what}" for w in WHEELS for what in ("omega", "slip"))]
    own = [*torques, "chassis.ext_force.x"]
    with jounce.join("hmmwv", owns=own, wants=wants, period=10, **parameters(soil), **{"init.speed": speed}) as car:
        state, kept = car.start, np.zeros(4)
        for k in range(round(100 * seconds)):
            spins = np.array([state[f"wheel_{w}.omega"] for w in WHEELS])
            off = speed - 0.46 * spins
            kept += 40.0 * off
            pull = max(k / 100.0 - 4.0, 0.0) * 350.0
            state = car.step([*np.clip(400.0 * off + kept, -5000.0, 5000.0), -pull])
            rows.append((np.mean([state[f"wheel_{w}.slip"] for w in WHEELS]), pull))
            if state["speed"] < 0.05 * speed:
                break
    return np.array(rows)


def main() -> None:
    """Writes soil.png."""
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
    for name, soil in SOILS.items():
        run = jounce.simulate("hmmwv", {}, 3.0, **parameters(soil), **{"init.speed": 5.0})
        way, colour = run["ref_frame.pos"][:, 0], COLOURS[name]
        left.plot(way, run["speed"], color=colour, label=name.replace("_", " "))
        for w, line in (("FL", "-"), ("RL", "--")):
            middle.plot(way, 1e3 * run[f"wheel_{w}.sinkage"], line, color=colour)
            sunk, resisted = (run[f"wheel_{w}.{what}"][1000] for what in ("sinkage", "soil_resistance"))
            sys.stdout.write(f"{name} {w}: {1e3 * sunk:.1f} mm, {resisted:.0f} N\n")
        slip, pull = pulls(soil).T
        right.plot(100 * slip[400:], 1e-3 * pull[400:], color=colour)
        sys.stdout.write(f"{name}: pulls {pull.max() / WEIGHT:.2f} of the weight\n")
    left.set(xlabel="way [m]", ylabel="speed [m/s]", title="coasting from 5 m/s")
    middle.set(xlabel="way [m]", ylabel="sinkage [mm]", title="front (line), rear in its rut (dashed)")
    right.set(xlabel="slip of the wheels [%]", ylabel="drawbar pull [kN]", title="pulling", xlim=(0, 100))
    middle.invert_yaxis()
    left.legend()
    for axes in (left, middle, right):
        axes.grid(alpha=0.3)
    figure.savefig(HERE / "soil.png", dpi=90)


if __name__ == "__main__":
    main()
