"""What the papers claim, each with what this vehicle shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from jounce_tools.compare.records import Records
from jounce_tools.compare.tasks import EMBEDDED

#: Largest relative difference of accelerations that is rounding.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Claim:
    """A sentence of a paper, where it stands, what was measured, and whether it holds."""

    claim: str
    source: str
    measured: str
    verdict: str
    """yes, no, in part."""


def judge(r: Records) -> list[Claim]:
    """All claims that the records can judge."""
    return [c for make in (_same, _synthesis, _large, _small, _drift, _corrections, _accuracy, _least, _closed, _cheap,
                           _numerical, _recursion, _bushings, _first_order, _ratio) for c in make(r)]  # fmt: skip


def _verdict(holds: bool, in_part: bool = False) -> str:
    return "yes" if holds else "in part" if in_part else "no"


def _same(r: Records) -> Iterator[Claim]:
    if not (worst := r.found.results.get("same")):
        return
    measured = ", ".join(f"{f} {v:.1e}" for f, v in worst.items())
    yield Claim("all formulations are the same mechanics: their accelerations are equal", "Jain 2016, section 3",
                f"largest difference from the embedding over 20 states, relative: {measured}",
                _verdict(max(worst.values()) < ROUNDING))  # fmt: skip


def _synthesis(r: Records) -> Iterator[Claim]:
    if (worst := r.found.results.get("synthesized")) is None:
        return
    yield Claim("both forms of subsystem synthesis give the chassis the same effective mass and force",
                "Song and Kim, Eqs. 15-20, 29-32",
                f"6x6 and force of both against the tree's: {worst:.1e} relative",
                _verdict(worst < ROUNDING))  # fmt: skip


def _large(r: Records) -> Iterator[Claim]:
    size, rows, entries = (r.cost("fa", k) for k in ("coordinates", "rows", "entries"))
    if not (size and rows and entries):
        return
    n = size + rows
    share = entries / (n * (n - 1) / 2)
    yield Claim("FA is large and sparse; its M is block diagonal and constant", "Jain 2016, section 3",
                f"{size:.0f} coordinates and {rows:.0f} rows a corner, M is diagonal in principal axes; L has "
                f"{entries:.0f} elements, {100 * share:.0f} % of a full one", _verdict(share < 0.25))  # fmt: skip


def _small(r: Records) -> Iterator[Claim]:
    size, large = r.cost("ta", "coordinates"), r.cost("fa", "coordinates")
    rows, entries = r.cost("ta", "rows"), r.cost("ta", "entries")
    if not (size and large and rows and entries):
        return
    n = size + rows
    share = entries / (n * (n - 1) / 2)
    yield Claim("TA is much smaller than FA, with much less sparsity", "Jain 2015, section 3",
                f"{size:.0f} coordinates for {large:.0f}; L has {100 * share:.0f} % of a full one's elements",
                _verdict(size < large))  # fmt: skip


def _drift(r: Records) -> Iterator[Claim]:
    for form in ("ta", "ta-two-point"):
        run, coarse = r.released(form, "nothing"), r.released(form, "nothing", coarse=True)
        if run is None or coarse is None:
            continue
        gap, middle = run["closure"][-1], run["closure"][len(run["closure"]) // 2]
        ratio = coarse["closure"][-1] / max(gap, 1e-300)
        end = run["time"][-1]
        grows, seen = gap > 1.2 * middle, gap > 1e-3
        per_hour = 3600 * gap / end
        yield Claim("TA and FA need a solver for constraints and control of the drift", "Jain 2016, sections 1 and 3",
                    f"{form} without it: {1e3 * gap:.1e} mm after {end:g} s, {'growing' if grows else 'not growing'}; "
                    f"{ratio:.1f} times that at the longest tick; {1e3 * per_hour:.2g} mm in an hour at this rate",
                    _verdict(grows and seen, grows))  # fmt: skip
        return


def _corrections(r: Records) -> Iterator[Claim]:
    worst = {}
    for form in r.found.choice.augmented:
        for correction in ("Baumgarte", "projection"):
            run, alone = r.released(form, correction), r.released(form, "nothing")
            if run and alone:
                worst[f"{form} {correction}"] = (run["closure"][-1], alone["closure"][-1])
    if worst:
        yield Claim("Baumgarte's rows or a projection control the drift", "Baumgarte 1972; Jain 2016, section 1",
                    "residual at the end: " + ", ".join(f"{n} {1e3 * a:.0e} mm" for n, (a, _) in worst.items()),
                    _verdict(all(a < 0.1 * b for a, b in worst.values())))  # fmt: skip


def _accuracy(r: Records) -> Iterator[Claim]:
    judge = r.released(EMBEDDED, "nothing")
    apart = {f: float(np.linalg.norm(np.subtract(run["path"], judge["path"]), axis=1).max())
             for f in r.found.choice.augmented if judge and (run := r.released(f, "nothing"))}  # fmt: skip
    if apart:
        end = judge["time"][-1]
        yield Claim("the drift and its control cost accuracy", "Jain 2016, section 1",
                    f"chassis' path of {end:g} s without correction, against the embedding: "
                    + ", ".join(f"{f} {1e3 * v:.1e} mm" for f, v in apart.items()),
                    _verdict(max(apart.values()) > 1e-3, max(apart.values()) > 1e-5))  # fmt: skip


def _least(r: Records) -> Iterator[Claim]:
    states = {f: r.size(f, "states") for f in r.found.choice.driven}
    if all(states.values()) and len(states) > 1:
        yield Claim("CE is an ODE in the least coordinates, without rows", "Jain 2016, sections 1 and 3.1",
                    "mechanical states: " + ", ".join(f"{f} {n}" for f, n in states.items()),
                    _verdict(states[EMBEDDED] == min(v for v in states.values() if v)))  # fmt: skip


def _closed(r: Records) -> Iterator[Claim]:
    if (ratio := r.ratio("ce-newton")) is not None:
        yield Claim("closed-form kinematics is faster and more accurate than iteration", "Jain 2016, section 3.3",
                    f"a first guess and two Newton steps take {ratio:.2f} times as long; both close the loops to "
                    "rounding",
                    _verdict(False, ratio > 1.0))  # fmt: skip


def _cheap(r: Records) -> Iterator[Claim]:
    ratios = {f: r.ratio(f) for f in r.found.choice.augmented}
    if ratios and all(ratios.values()):
        yield Claim("CE is cheaper than TA and FA", "Jain 2016, section 1",
                    "times the embedding in closed form: " + ", ".join(f"{f} {v:.1f}" for f, v in ratios.items()),
                    _verdict(all(v > 1.0 for v in ratios.values() if v)))  # fmt: skip


def _numerical(r: Records) -> Iterator[Claim]:
    if (ratio := r.ratio("ta-two-point", "ce-newton")) is not None:
        yield Claim("CE is cheaper than TA where its kinematics is iterative, too", "Jain 2016, section 1",
                    f"TA with two-point rods takes {ratio:.2f} times as long as CE by a first guess and two Newton "
                    "steps: the closed form is what pays", _verdict(ratio > 1.5, ratio > 1.05))  # fmt: skip


def _recursion(r: Records) -> Iterator[Claim]:
    if (ratio := r.ratio("bushing-dense", "bushing", "operations")) is not None:
        yield Claim("a tree can use the O(N) recursion, a dense M cannot", "Jain 2016, sections 2, 3 and 4",
                    f"14 coordinates a corner: L D L^T of the whole takes {ratio:.2f} times the recursion's operations",
                    _verdict(ratio > 1.0))  # fmt: skip


def _bushings(r: Records) -> Iterator[Claim]:
    if not r.limits:
        return
    stiff = min(r.limits, key=lambda row: abs(np.log(row["stiffness"] / 2e7)))
    step = max(stiff["steps"].values())
    damped = f"; damping of 0.05 K leaves {1e6 * stiff['steps']['0.05 K']:.1f} us"
    yield Claim("bushings give a tree and an ODE; rigid joints allow larger steps", "Jain 2016, section 4",
                f"at {stiff['stiffness']:.0e} N/m RK4 takes {1e3 * step:.2f} ms, with rigid joints "
                f"{1e3 * r.rigid_step:.0f} ms{damped}",
                _verdict(step < r.rigid_step))  # fmt: skip


def _first_order(r: Records) -> Iterator[Claim]:
    if len(r.limits) < 3:
        return
    a, b = sorted(r.limits, key=lambda row: row["stiffness"])[-2:]
    left = np.subtract(np.multiply(b["stiffness"], b["apart"]), np.multiply(a["stiffness"], a["apart"]))
    limit = float(np.linalg.norm(left / (b["stiffness"] - a["stiffness"])))
    yield Claim("the rigid mechanism is the limit of stiff bushings", "Jain 2016, section 4",
                f"extrapolated to 1/K = 0 the wheel's centre is {1e3 * limit:.1e} mm from the rigid one",
                _verdict(limit < 1e-6))  # fmt: skip


def _ratio(r: Records) -> Iterator[Claim]:
    if not r.counted:
        return
    ratios = {c: r.total(c, "cartesian") / r.total(c, "joint") for c in r.counted}
    low, high = min(ratios.values()), max(ratios.values())
    yield Claim("the joint form is cheaper than the Cartesian by 1.55", "Song and Kim, Table 1",
                "by " + ", ".join(f"{v:.2f} ({c})" for c, v in ratios.items())
                + ": the ratio belongs to the linear algebra more than to the formulation",
                _verdict(abs(low - 1.55) < 0.05 and abs(high - 1.55) < 0.05, low > 1.0))  # fmt: skip
