"""What a comparison leaves: the page, its pictures, and the numbers behind them."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jounce_tools.compare import claims, plots
from jounce_tools.compare.records import Records
from jounce_tools.compare.study import Found
from jounce_tools.page import Page


def write(found: Found, folder: Path) -> int:
    """Writes index.html, compare.json, CSVs and PNGs into an existing folder; how many files. Raises OSError."""
    records = Records(found)
    made = [_text(folder / "compare.json", json.dumps(records.summary(), indent=1) + "\n")]
    made += [_text(folder / f"{name}.csv", _csv(rows)) for name, rows in records.tables().items() if rows]
    out = Page(f"The formulations of the papers, on {found.choice.vehicle}")
    out.text(
        "One vehicle with the same bodies, springs and tires, and five ways to treat its joints: multipliers on a pose "
        "for every body (fully augmented, FA), multipliers on the coordinates of a spanning tree (tree-augmented, TA), "
        "joints that are bushings (a tree without loops), subsystem synthesis, and constraint embedding (CE). This "
        "page measures what Jain 2015 and 2016 and Song and Kim say of them."
    )
    if found.interrupted:
        out.text("The comparison was interrupted. What was not run is missing here.")
    judged = claims.judge(records)
    out.heading("The claims").table(
        ("claim", "source", "measured", "holds?"), [(c.claim, c.source, c.measured, c.verdict) for c in judged],
        [c.verdict == "yes" for c in judged],
    )  # fmt: skip
    for name, figure in _figures(records):
        heading, caption = _WORDS[name]
        picture = io.BytesIO()
        figure.savefig(picture, format="png", dpi=110)
        made.append(_bytes(folder / f"{name}.png", picture.getvalue()))
        out.heading(heading).figure(figure, caption)
        for columns, rows in records.shown(name):
            out.table(columns, rows)
    if found.failures:
        out.heading("What this vehicle has not").table(("run", "reason"), sorted(found.failures.items()))
    out.write(folder / "index.html")
    return len(made) + 1


#: Name of a figure -> (heading, caption).
_WORDS = {
    "cost": ("What an evaluation costs",
             "Tests Jain 2016, sections 1 and 5: the embedding is cheaper, and closed-form kinematics pays. One corner "
             "up to its accelerations, springs included, in the product's emitted C on one lane; in parentheses the "
             "ratio to the embedding in closed form. Right: the driven vehicle as a model, the embedding on all lanes "
             "of this processor."),
    "drift": ("How closed the loops stay",
              "Tests Jain 2016, section 1: TA and FA drift and need control of it. Released above the ground at "
              "10 m/s, linear struts, Pitman arm by +-10 degrees from 1 s, RK4. What is below 1e-14 m is rounding."),
    "precision": ("Work and precision",
                  "Tests Jain 2016, section 1: does the drift, or its control, cost accuracy? The vehicle on its "
                  "tires, yawed by torques and pushed from both sides; error of the path's end against the embedding "
                  "at a tick of 0.1 ms. One marker per tick; to the left is cheaper, down is better."),
    "energy": ("Energy",
               "Springs and tires without damping, no steering: the energy should stay, so its change (left) is the "
               "integrator's. Right: how far each run's energy is from the embedding's. It shows what the drift, and "
               "what Baumgarte's rows, put in or take out."),
    "limits": ("Bushings: step and distance from rigid joints",
               "Tests Jain 2016, section 4: bushings make a tree and an ODE, rigid joints allow larger steps. Front "
               "corner under a load of 9 kN, every bushing of the same stiffness. Damping, not stiffness, sets the "
               "step; 'loss' is a loss factor of 2 % at 1 kHz."),
    "counts": ("Operations by Song and Kim's rows",
               "Tests Song and Kim, Table 1: the joint form is cheaper by 1.55. Multiplications, divisions, additions "
               "and subtractions of the paper's quarter car on this vehicle's front corner, by row; 'dense' adds a "
               "full L U of the rows."),
    "sizes": ("States, rows, and how sparse they are",
              "Tests Jain 2015, section 3: FA is large and sparse, TA smaller and less sparse, the embedding an ODE in "
              "the least coordinates. Spin angles and rates of the wheels count as states."),
}  # fmt: skip


def _figures(r: Records) -> Iterable[tuple[str, Any]]:
    """(name, figure) of each plot that has its numbers."""
    found = r.found
    if r.costs:
        yield "cost", plots.cost(r.costs, r.steps)
    if r.drift:
        yield "drift", plots.closure(found)
    if r.precision:
        yield "precision", plots.precision(r.precision)
    if r.energy:
        yield "energy", plots.energy(found)
    if r.limits:
        yield "limits", plots.limits(r.limits, r.rigid_step)
    if r.counted:
        yield "counts", plots.counts(r.printed, r.counted)
    if r.sizes and r.costs:
        yield "sizes", plots.sizes(found, r.costs)


def _text(path: Path, text: str) -> Path:
    return _bytes(path, text.encode())


def _bytes(path: Path, data: bytes) -> Path:
    part = path.with_name(path.name + ".part")
    part.write_bytes(data)
    os.replace(part, path)
    return path


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(rows[0])
    writer.writerows([v if not isinstance(v, float) else repr(v) for v in row.values()] for row in rows)
    return out.getvalue()
