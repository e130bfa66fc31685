"""The study: runs, judgements, and their page."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from jounce_tools.page import Page
from jounce_tools.uk import claims, loads, plots
from jounce_tools.uk.runs import GAMMA_TORQUE, Case, all_cases, state_at

#: Shares of the work, for the progress that is shown.
_RUNS, _SENTENCES, _PRINTS, _PLOTS = 0.3, 0.15, 0.3, 0.25


@dataclass(frozen=True)
class Study:
    """What was run and judged."""

    cases: tuple[Case, ...]
    sentences: tuple[claims.Claim, ...]
    prints: tuple[claims.Claim, ...]

    def at_torque(self, torque: float) -> list[Case]:
        """The laws at one torque, with the paper's gamma."""
        return [c for c in self.cases if c.torque == torque and c.gamma == 20.0]

    @property
    def of_gamma(self) -> list[Case]:
        """The runs of the study of gamma."""
        return [c for c in self.cases if c.torque == GAMMA_TORQUE and c.law != "ROLLING"]


def study(torques: Sequence[float], gammas: Sequence[float], progress: Callable[[float], None]) -> Study:
    """Run everything; ``progress`` is told the share of the whole command."""
    cases = all_cases(torques, gammas, lambda s: progress(_RUNS * s))
    sentences = claims.sentences(lambda s: progress(_RUNS + _SENTENCES * s))
    prints = claims.prints(lambda s: progress(_RUNS + _SENTENCES + _PRINTS * s))
    return Study(tuple(cases), tuple(sentences), tuple(prints))


def write(found: Study, folder: Path, progress: Callable[[float], None]) -> None:
    """Write index.html, study.json and a CSV a run to an existing folder. Raises OSError."""
    for c in found.cases:
        _replace(folder / f"{c.law.lower()}-{c.torque:g}-gamma{c.gamma:g}.csv", _csv(c))
    _replace(folder / "study.json", json.dumps(_summary(found), indent=1) + "\n")
    page(found, lambda s: progress(1.0 - _PLOTS + _PLOTS * s)).write(folder / "index.html")


def _replace(path: Path, text: str) -> None:
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8")
    os.replace(part, path)


def _csv(c: Case) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["time [s]", *(f"{n} [{c.run.units[n]}]" for n in c.run.names)])
    for time, row in zip(c.run.time, c.run.values, strict=True):
        writer.writerow([repr(float(time)), *map(repr, row.tolist())])
    return out.getvalue()


_COLUMNS = ("law", "T_max [N.m]", "gamma [1/s]", "slip at 5 s [rad/s]", "slip at 15 s [rad/s]", "speed at 5 s [m/s]",
            "speed at 15 s [m/s]", "largest force over mu N", "of the ideal part")  # fmt: skip


def _row(c: Case) -> tuple[object, ...]:
    return (c.law, c.torque, c.gamma, c.at("rear.slip", 5), c.at("rear.slip", 15), c.at("speed", 5),
            c.at("speed", 15), c.most("traction", "rear"), c.most("traction.ideal", "rear"))  # fmt: skip


def _summary(found: Study) -> dict[str, object]:
    return {
        "runs": [dict(zip(_COLUMNS, _row(c), strict=True)) | {"ended": c.ended} for c in found.cases],
        "sentences": [asdict(c) for c in found.sentences],
        "prints": [asdict(c) for c in found.prints],
    }


def page(found: Study, progress: Callable[[float], None]) -> Page:
    """The page of a study."""
    out = Page("The rolling wheel with relaxed constraints, on a half car")
    out.text(
        "Ikoki 2022 roll a wheel by the equations of Udwadia and Kalaba and let it slip by weights on its "
        "rolling condition. This page runs their half car with four laws: RELAXED is the paper's with its prints "
        "mended, CONTINUOUS has the same weights without their jump, SATURATED cuts the traction off at the friction "
        "limit (Coulomb's law), ROLLING never slips. Slip is the angular velocity of the rear wheel less "
        "that of rolling."
    )
    out.heading("What was found").table(_COLUMNS, map(_row, found.cases))
    torques = sorted({c.torque for c in found.cases if c.gamma == 20.0})
    out.heading("Sentences of the paper").table(
        ("sentence", "run", "holds"), [(c.claim, c.found, "yes" if c.holds else "no") for c in found.sentences],
        [c.holds for c in found.sentences],
    )  # fmt: skip
    out.heading("Prints that were mended").table(
        ("print", "what it does"), [(c.claim, c.found) for c in found.prints]
    )
    out.heading("Torques and friction (Fig. 5)")
    first = found.at_torque(torques[0])[0]
    out.figure(plots.profiles(first), "The motor drives the rear wheel; friction is lowest at 15 s.")
    out.heading("Speeds (Figs. 6, 7, 9)")
    for k, torque in enumerate(torques):
        out.figure(plots.speeds(found.at_torque(torque)), f"Four laws at {torque:g} N.m. Grey: a law has lost the load "
                   "of a wheel, and the model glues it to the road.")  # fmt: skip
        progress(0.5 * (k + 1) / len(torques))
    out.heading("Reactions (Figs. 8, 10 to 12)")
    for torque in torques:
        for c in found.at_torque(torque):
            if c.law in ("RELAXED", "SATURATED"):
                out.figure(plots.reactions(c), f"{c.title}: force of the ground on the car, and what friction allows.")
    progress(0.8)
    out.heading("Stabilisation (Figs. 13, 14)")
    out.figure(plots.gammas(found.of_gamma), "In RELAXED and CONTINUOUS gamma is a viscosity of the wheel's slip; in "
               "SATURATED it changes nothing.")  # fmt: skip
    out.heading("Force against weight")
    out.figure(plots.force_by_weight(*loads.force_by_weight(GAMMA_TORQUE)), "At rest, 550 N.m: as its weight goes to 0 "
               "RELAXED keeps a force, and drops it at exactly 0. CONTINUOUS has no jump.")  # fmt: skip
    out.heading("Wheel loads that satisfy the paper's equations")
    x = state_at(15.4, "RELAXED", GAMMA_TORQUE)
    by_load = loads.load_map(x, GAMMA_TORQUE, first.at("rear.mu", 15.4))
    out.figure(plots.load_map(*by_load), "550 N.m at 15.4 s: weight and friction need the "
               "load, which depends on them. Where the lines cross, the equations hold.")  # fmt: skip
    progress(1.0)
    return out
