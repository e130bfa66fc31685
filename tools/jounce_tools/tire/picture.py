"""Pictures of tires' forces."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from jounce_tools.tire.curves import Tire

Array = NDArray[np.float64]
_SHOWN = (("fx", "$F_x$ in kN", 1e-3), ("fy", "$F_y$ in kN", 1e-3), ("aligning", "$M_z$ in N m", 1.0))
_LABELS = {"slip": "longitudinal slip", "alpha": "slip angle in rad", "camber": "inclination in rad",
           "load": "load in N",
           "pressure": "pressure in Pa", "speed": "speed in m/s", "friction": "friction"}  # fmt: skip
#: Curves of one further range, at most.
_FEW = 7


def curves(name: str, asked: Mapping[str, Array], found: Mapping[str, Array]) -> Figure:
    """Forces over the longest range, a curve for each load and for some values of the other ranges."""
    order = list(asked)
    along = max(order, key=lambda n: len(asked[n]))
    others = [n for n in order if n != along and len(asked[n]) > 1]
    figure = Figure(figsize=(12, 4), layout="constrained")
    figure.suptitle(name)
    few = [np.unique(np.linspace(0, len(asked[n]) - 1, min(len(asked[n]), _FEW)).round().astype(int)) for n in others]
    for axes, (force, label, factor) in zip(figure.subplots(1, 3), _SHOWN, strict=True):
        for chosen in product(*few):
            at = dict(zip(others, chosen, strict=True))
            place = tuple(slice(None) if n == along else at.get(n, 0) for n in order)
            text = ", ".join(f"{n} {asked[n][k]:.4g}" for n, k in at.items())
            marker = "" if len(asked[along]) > 1 else "o"
            axes.plot(asked[along], factor * found[force][place], label=text, marker=marker)
        _finish(axes, _LABELS[along], label)
    if others:
        _explain(figure)
    return figure


def both(tires: tuple[Tire, Tire], loads: Array) -> Figure:
    """Pure forces and aligning moment of two tires, the second one dashed."""
    figure = Figure(figsize=(12, 4), layout="constrained")
    slip, angle = np.linspace(-1.0, 1.0, 401), np.linspace(-0.35, 0.35, 401)
    for axes, (force, label, factor) in zip(figure.subplots(1, 3), _SHOWN, strict=True):
        name, at = ("slip", slip) if force == "fx" else ("slip_angle", angle)
        for k, load in enumerate(loads):
            for tire, style in zip(tires, ("-", "--"), strict=True):
                axes.plot(at, factor * tire.at(load=float(load), **{name: at})[force], style, color=f"C{k}",
                          label=f"{tire.file.path.name}, {load:g} N")  # fmt: skip
        _finish(axes, _LABELS["slip" if force == "fx" else "alpha"], label)
    _explain(figure)
    return figure


def _explain(figure: Figure) -> None:
    """The legend of the first axes, which is that of all, below them."""
    lines, texts = figure.axes[0].get_legend_handles_labels()
    figure.legend(lines, texts, loc="outside lower center", ncols=min(len(texts), 4), fontsize="small")


def _finish(axes: Axes, x: str, y: str) -> None:
    axes.set(xlabel=x, ylabel=y)
    axes.grid(alpha=0.3)
