"""Draws the picture of half-rounds in docs/roads.md: python docs/roads/area.py

Needs jounce and matplotlib (``pip install '.[test]'``).
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import matplotlib
import numpy as np

import jounce
from jounce_fmu.models.roads import on_road

matplotlib.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).resolve().parent
INCH, G = 0.0254, 9.81


def crossed(folder: Path, inches: int, speed: float, contact: str) -> jounce.Run:
    """The HMMWV over a half-round of that radius."""
    text = f'[ground]\nlength = 60.0\n[[obstacle]]\nkind = "half_round"\nx = 6.0\nradius = {inches * INCH}\n'
    (folder / f"round{inches}.toml").write_text(text)
    vehicle = on_road("hmmwv", folder / f"round{inches}.toml")
    return jounce.simulate(vehicle, {}, round(8.0 / speed + 0.5, 3), **{"init.speed": speed, "tire.contact": contact})


def main() -> None:
    """Writes area.png."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
    with tempfile.TemporaryDirectory() as folder:
        for inches, colour in ((4, "tab:green"), (8, "tab:blue"), (12, "tab:red")):
            speeds, most = (2.0, 3.0, 4.0, 5.0, 6.0), []
            for speed in speeds:
                run = crossed(Path(folder), inches, speed, "AREA")
                most.append(np.abs(run["imu.specific_force"][:, 2] - G).max() / G)
            right.plot(speeds, most, "o-", color=colour, label=f"{inches} in")
        for contact, line in (("AREA", "-"), ("POINT", ":")):
            run = crossed(Path(folder), 4, 4.0, contact)
            left.plot(run["ref_frame.pos"][:, 0], 1e-3 * run["wheel_FL.tire_force"][:, 2], line, label=contact)
    left.set(xlabel="distance [m]", ylabel="load of the front left tire [kN]", title="4 in at 4 m/s", ylim=(0, 70))
    left.set(xlim=(3, 8))
    right.set(xlabel="speed [m/s]", ylabel="vertical acceleration [g]", title="largest at the reference frame, AREA")
    right.axhline(2.5, color="gray", linewidth=1, label="2.5 g")
    for axes in (left, right):
        axes.legend()
        axes.grid(alpha=0.3)
    figure.savefig(HERE / "area.png", dpi=90)


if __name__ == "__main__":
    main()
