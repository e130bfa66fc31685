"""``jounce spectrum``: natural frequencies of a truck, by its engine's step and by a run, on one page."""

from __future__ import annotations

import argparse
import csv
import io
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib.figure import Figure

from jounce import dft
from jounce.architecture import composite, trim
from jounce.architecture.load import truck_names
from jounce.architecture.tables import LayoutError
from jounce.spectrum import Mode
from jounce.values import number
from jounce_fmu.models.impulse.engine import EngineFault
from jounce_tools.architecture import frequencies
from jounce_tools.architecture.frequencies import Frequencies, Road, Transfer
from jounce_tools.errors import UsageError
from jounce_tools.page import Page

#: As in `jounce_tools.cli.main`.
FAILED: Final = 1
#: Highest frequency drawn [Hz].
_DRAWN: Final = 20.0
#: Bodies whose spectra are drawn: those with the most mass.
_BODIES: Final = 6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the command."""
    parser.add_argument("architecture", metavar="TRUCK",
                        help=f"TOML file, its folder, or a built-in one: {', '.join(truck_names())}")  # fmt: skip
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR", help="folder for page and CSV files")
    for name, default, text in (
        ("tick", 1e-3, "length of a tick [s]"), ("damping", 1.0, "factor on all dampers and tires' damping; small "
         "ones make peaks of modes that are damped away"), ("speed", Road.speed, "over the bumps [m/s]"),
        ("height", Road.height, "of a bump [m]"), ("length", Road.length, "of a bump [m]"),
        ("pitch", Road.pitch, "from bump to bump [m]"), ("duration", 20.0, "of the run that is transformed [s]"),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=number, default=default, help=f"{text} (default: %(default)s)")
    parser.add_argument("--road", dest="excitation", choices=("bumps", "white"), default="bumps",
                        help="white: also transfer functions, from a road whose rate is white (default: %(default)s)")
    parser.add_argument("--bumps", type=int, default=1, help="one rings on; more excite v / pitch (default: 1)")


def run(arguments: argparse.Namespace) -> int:
    """Studies and writes."""
    output: Path = arguments.output
    if output.exists() and not output.is_dir():
        raise UsageError(f"-o {output}: expected a folder")
    if not output.parent.is_dir():
        raise UsageError(f"-o {output}: expected a folder in one that exists")
    for name in ("tick", "speed", "height", "length", "pitch", "duration"):
        if not getattr(arguments, name) > 0:
            raise UsageError(f"--{name} {getattr(arguments, name)}: expected more than 0")
    if not arguments.damping > 0:
        raise UsageError(f"--damping {arguments.damping}: expected more than 0; 1 is what the dampers have")
    if not 1000 <= arguments.duration / arguments.tick <= 1e7:
        raise UsageError(f"--duration {arguments.duration}: expected 1000 to 10 million ticks of {arguments.tick} s")
    model = frequencies.damped(trim.trimmed(composite.build(arguments.architecture)[1]), arguments.damping)
    road = Road(arguments.speed, arguments.height, arguments.length, arguments.bumps, arguments.pitch)
    try:
        found = frequencies.study(model, tick_length=arguments.tick, road=road, duration=arguments.duration)
        white = frequencies.transfer(
            model, tick_length=arguments.tick, speed=arguments.speed, duration=arguments.duration
        ) if arguments.excitation == "white" else None  # fmt: skip
    except (LayoutError, EngineFault) as error:
        sys.stderr.write(f"jounce spectrum: {error}\n")
        return FAILED
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=f".{output.name}") as temporary:
        paths = write(found, Path(temporary), arguments.damping, white)
        output.mkdir(exist_ok=True)
        for path in paths:
            os.replace(path, output / path.name)
    for mode in found.modes:
        sys.stdout.write(f"{mode.frequency:.5f} Hz, damping ratio {mode.damping:.3f}, {moving(found, mode)}\n")
    sys.stdout.write("".join(f"wrote {output / p.name}\n" for p in paths))
    return 0


def moving(found: Frequencies, mode: Mode) -> str:
    """The body that has most of a mode's kinetic energy, and along or about which axis it moves most."""
    bodies = found.bodies
    shape = np.abs(mode.shape[: 6 * len(bodies)].reshape(-1, 6))
    share = shape**2 * [[b.mass] * 3 + list(np.diag(b.inertia)) for b in bodies]
    body, axis = np.unravel_index(int(share.argmax()), share.shape)
    words = ("along x", "along y", "up and down", "in roll", "in pitch", "in yaw")
    return f"{bodies[body].name} {words[axis]}"


def write(found: Frequencies, folder: Path, damping: float = 1.0, white: Transfer | None = None) -> list[Path]:
    """Writes spectrum.html, modes.csv, spectra.csv and, with transfer functions, transfer.csv into an existing folder.

    Their paths.
    """
    page, modes, spectra = (folder / n for n in ("spectrum.html", "modes.csv", "spectra.csv"))
    rows = [(f"{m.frequency:.6g}", f"{m.damping:.4f}", moving(found, m)) for m in found.modes]
    modes.write_text(_csv([("frequency [Hz]", "damping ratio [1]", "moves most"), *rows]), encoding="utf-8")
    lines = np.column_stack([found.spectra[0].frequency, *(s.magnitude for s in found.spectra)])
    lines = lines[lines[:, 0] <= _DRAWN]
    head = ("frequency [Hz]", *(f"{name} [m/s2]" for name in found.names))
    spectra.write_text(_csv([head, *[[f"{v:.6g}" for v in line] for line in lines]]), encoding="utf-8")
    drawn = _page(found, damping, rows)
    paths = [page, modes, spectra]
    if white is not None:
        _white(drawn, found, white)
        table = np.column_stack([white.frequency, np.abs(white.gain).T])
        head = ("frequency [Hz]", *(f"{name} [1/s]" for name in found.names))
        paths.append(folder / "transfer.csv")
        paths[-1].write_text(_csv([head, *[[f"{v:.6g}" for v in line] for line in table]]), encoding="utf-8")
    drawn.write(page)
    return paths


def _white(page: Page, found: Frequencies, white: Transfer) -> None:
    page.heading("Transfer functions").text(
        f"From the vertical rate of the road under the first wheels, at {found.road.speed:.2f} m/s, to vertical "
        "accelerations of bodies. Each wheel meets the road later by its distance, which makes dips where axles cancel "
        "each other out. The road repeats itself, its rate has the same amplitude at every line."
    )
    for b in sorted(range(len(found.names)), key=lambda b: -found.bodies[b].mass)[:_BODIES]:
        figure = Figure(figsize=(8.0, 2.8), layout="constrained")
        axes = figure.subplots()
        shown = white.frequency <= _DRAWN
        axes.semilogy(white.frequency[shown], np.abs(white.gain[b, shown]), color="tab:blue")
        for mode in found.modes:
            axes.axvline(mode.frequency, color="0.6", linestyle="--", linewidth=0.8)
        axes.set(xlim=(0, _DRAWN), xlabel="frequency [Hz]", ylabel="acceleration / rate [1/s]")
        page.figure(figure, f"{found.names[b]}: transfer function; dashed: modes")


def _csv(rows: Sequence[Sequence[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _page(found: Frequencies, damping: float, modes: Sequence[Sequence[str]]) -> Page:
    road, name = found.road, found.model.name
    page = Page(f"Natural frequencies of {name}")
    page.text(
        f"Modes: eigenvalues of the derivative of one tick of {1e3 * found.tick_length:g} ms about rest, with weight, "
        "contact, tires and the step itself. Its own share is (w h)^2 / 24 of a frequency."
    )
    if damping != 1:
        page.text(f"All dampers and tires have {damping:g} of their damping.")
    page.table(("frequency [Hz]", "damping ratio", "moves most"), modes)
    excited = "the first body is pushed" if not found.model.wheels else (
        f"{road.bumps} bump{'s' * (road.bumps > 1)} of {road.height:g} m x {road.length:g} m at {found.speed:.2f} m/s"
        + (f", {road.pitch:g} m apart" if road.bumps > 1 else "")
    )  # fmt: skip
    resolution = found.spectra[0].resolution
    page.heading("Spectra of vertical accelerations").text(
        f"Excitation: {excited}. Two peaks closer than 2 / T = {resolution:.3f} Hz are one."
    )
    heaviest = sorted(range(len(found.names)), key=lambda b: -found.bodies[b].mass)[:_BODIES]
    for b in heaviest:
        page.figure(_figure(found, b), f"{found.names[b]}: magnitude over frequency; dashed: modes"
                    + ("; dotted: v / pitch and its multiples, which are no modes" if found.lines else ""))  # fmt: skip
    page.heading("Peaks")
    page.table(("body", "peak [Hz]", "magnitude [m/s2]", "nearest mode [Hz]", "of the excitation"), [
        (found.names[b], f"{f:.3f}", f"{m:.3g}", _nearest(found, f), "yes" if _excited(found, f) else "")
        for b in heaviest for f, m in dft.peaks(found.spectra[b]) if f <= _DRAWN
    ])  # fmt: skip
    return page


def _nearest(found: Frequencies, frequency: float) -> str:
    return f"{min((m.frequency for m in found.modes), key=lambda f: abs(f - frequency)):.3f}" if found.modes else ""


def _excited(found: Frequencies, frequency: float) -> bool:
    line, resolution = found.lines, found.spectra[0].resolution
    return bool(line) and abs(frequency - round(frequency / line) * line) < resolution / 2


def _figure(found: Frequencies, body: int) -> Figure:
    spectrum = found.spectra[body]
    figure = Figure(figsize=(8.0, 2.8), layout="constrained")
    axes = figure.subplots()
    shown = spectrum.frequency <= _DRAWN
    axes.semilogy(spectrum.frequency[shown], np.maximum(spectrum.magnitude[shown], 1e-9), color="tab:blue")
    for mode in found.modes:
        axes.axvline(mode.frequency, color="0.6", linestyle="--", linewidth=0.8)
    if found.lines:
        for k in range(1, int(_DRAWN / found.lines) + 1):
            axes.axvline(k * found.lines, color="tab:orange", linestyle=":", linewidth=0.9)
    axes.set(xlim=(0, _DRAWN), xlabel="frequency [Hz]", ylabel="acceleration [m/s2]")
    top = float(spectrum.magnitude[shown].max())
    axes.set_ylim(1e-4 * top, 2 * top)
    return figure
