"""The numbers of a comparison as rows of tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from jounce.formulations.synthesis import ROWS
from jounce_tools.compare.study import LABELS, Found
from jounce_tools.compare.tasks import CORRECTIONS, EMBEDDED

Row = dict[str, Any]
_COUNTED = ("operations", "divisions", "coordinates", "rows", "entries")
#: Song and Kim's Table 1: M.D and A.S of each row.
PRINTED = {
    "cartesian": dict(zip(ROWS, ([401, 302], [414, 302], [245, 196], [3594, 3241], [25, 24], [49, 42]), strict=True)),
    "joint": dict(zip(ROWS, ([764, 727], [290, 220], [127, 194], [1290, 1139], [177, 160], [311, 292]), strict=True)),
}


class Records:
    """Tables of a comparison; a table is empty where its runs are not there."""

    printed = PRINTED

    def __init__(self, found: Found) -> None:
        """``found``: what was run, whole or in part."""
        self.found = found

    @cached_property
    def costs(self) -> list[Row]:
        """Of one evaluation of one corner, in the order of the formulations' table."""
        rows = []
        results, of = self.found.results, {parts[0]: r for parts, r in self.found.of("corner")}
        for name in (n for n in self.found.choice.costs if n in of):
            row = {"formulation": name, **{k: getattr(of[name], k) for k in _COUNTED}}
            took = results.get("times", {}).get(name, {})
            if 1 in took:
                row |= {"best_ns": took[1].best, "median_ns": took[1].median}
            if 4 in took:
                row["four_lanes_ns"] = took[4].best
            rows.append(row)
        return rows

    def cost(self, name: str, key: str = "best_ns") -> float | None:
        """One number of `costs`."""
        return next((r.get(key) for r in self.costs if r["formulation"] == name), None)

    def ratio(self, name: str, to: str = EMBEDDED, key: str = "best_ns") -> float | None:
        """Ratio of two of them."""
        a, b = self.cost(name, key), self.cost(to, key)
        return a / b if a and b else None

    @cached_property
    def drift(self) -> list[Row]:
        """Closure, path and energy of every released run over time."""
        return list(self._runs("released"))

    @cached_property
    def energy(self) -> list[Row]:
        """The same with springs only."""
        return list(self._runs("conservative"))

    def _runs(self, kind: str) -> Iterator[Row]:
        for parts, run in self.found.of(kind):
            names = dict(zip(("formulation", "correction", "tick_s"), parts, strict=False))
            for time, gap, path, energy in zip(*(run[k] for k in ("time", "closure", "path", "energy")), strict=True):
                yield {**names, "time_s": time, "closure_m": gap, **dict(zip(("x_m", "y_m", "z_m"), path, strict=True)),
                       "energy_J": energy}  # fmt: skip

    def released(self, form: str, correction: str, *, coarse: bool = False) -> Any:
        """One run from the release at the middle tick, or at the longest."""
        tick = self.found.choice.ticks[-1] if coarse else self.found.choice.middle
        return self.found.results.get(f"released/{form}/{correction}/{tick:g}")

    @cached_property
    def precision(self) -> list[Row]:
        """Error of the driven vehicle's end and CPU time."""
        reference, rows = self.found.results.get("reference"), []
        if reference is None:
            return []
        for (form, correction, tick), run in self.found.of("driven"):
            error = float(np.linalg.norm(np.subtract(run["end"], reference["end"])))
            rows.append({"formulation": form, "correction": correction, "tick_s": float(tick), "error_m": error,
                         "cpu_s": run["cpu"], "step_s": run["cpu"] / run["ticks"], "gap_m": run["gap"]})  # fmt: skip
        return rows

    @cached_property
    def steps(self) -> list[tuple[str, float]]:
        """(formulation, time of a step [s]) of the driven vehicle, corrected by Baumgarte where it has rows."""
        best: dict[str, float] = {}
        for row in self.precision:
            if row["correction"] == ("nothing" if row["formulation"] == EMBEDDED else "Baumgarte"):
                best[row["formulation"]] = min(row["step_s"], best.get(row["formulation"], np.inf))
        return [(f, best[f]) for f in self.found.choice.driven if f in best]

    @cached_property
    def limits(self) -> list[Row]:
        """Of the bushings, by stiffness."""
        rows: list[Row] = self.found.results.get("limits", {}).get("rows", [])
        return rows

    @property
    def rigid_step(self) -> float:
        """Longest step with rigid joints [s]."""
        return float(self.found.results["limits"]["rigid_step"])

    @cached_property
    def counted(self) -> Mapping[str, Any]:
        """`synthesis.table`."""
        counts: Mapping[str, Any] = self.found.results.get("counts", {})
        return counts

    def total(self, convention: str, form: str) -> int:
        """M.D and A.S of all rows; ``convention``: one of `counted`, or printed."""
        table = PRINTED if convention == "printed" else self.counted[convention]
        return sum(sum(table[form][row][:2]) for row in ROWS)

    @cached_property
    def sizes(self) -> list[Row]:
        """Of the whole vehicle."""
        return [{"formulation": parts[0], **r} for parts, r in self.found.of("sizes")]

    def size(self, form: str, key: str) -> int | None:
        """One number of `sizes`."""
        return next((int(r[key]) for r in self.sizes if r["formulation"] == form), None)

    @staticmethod
    def _place(form: str, correction: str, tick: object) -> tuple[int, int, float]:
        """For the order of rows."""
        return list(LABELS).index(form), list(CORRECTIONS).index(correction), float(str(tick))

    def tables(self) -> dict[str, list[Row]]:
        """Name of the CSV -> rows."""
        tables = {"printed": PRINTED, **self.counted}
        count_rows = [{"convention": c, "form": f, "row": row, "products": t[f][row][0], "sums": t[f][row][1]}
                      for c, t in tables.items() for f in PRINTED for row in ROWS]  # fmt: skip
        flat = [{**{k: v for k, v in r.items() if k != "steps"}, **{f"step_s {n}": s for n, s in r["steps"].items()}}
                for r in self.limits]  # fmt: skip
        return {"cost": self.costs, "drift": self.drift, "energy": self.energy, "precision": self.precision,
                "limits": flat, "counts": count_rows if self.counted else [], "sizes": self.sizes}  # fmt: skip

    def summary(self) -> dict[str, Any]:
        """Everything but the runs over time, for compare.json."""
        choice = self.found.choice
        return {
            "vehicle": choice.vehicle, "formulations": list(choice.formulations), "seconds": choice.seconds,
            "ticks": list(choice.ticks), "interrupted": self.found.interrupted, "failures": self.found.failures,
            **{name: rows for name, rows in self.tables().items() if name not in ("drift", "energy")},
            "same accelerations": self.found.results.get("same"),
            "synthesis": self.found.results.get("synthesized"),
        }  # fmt: skip

    def shown(self, figure: str) -> Iterator[tuple[Sequence[str], Sequence[Sequence[object]]]]:
        """Tables under a figure: (columns, rows)."""
        label = LABELS.get
        if figure == "cost":
            columns = ("formulation", "operations", "divisions", "best [ns]", "median [ns]", "ratio",
                       "four lanes [ns]", "coordinates", "rows")  # fmt: skip
            yield columns, [
                (label(r["formulation"], r["formulation"]), r["operations"], r["divisions"], r.get("best_ns", "-"),
                 r.get("median_ns", "-"), round(self.ratio(r["formulation"]) or 0.0, 2), r.get("four_lanes_ns", "-"),
                 r["coordinates"], r["rows"])
                for r in self.costs]  # fmt: skip
        if figure == "drift":
            yield ("formulation", "correction", "tick", "residual at the end [mm]", "largest [mm]"), [
                (label(f, f), c, f"{1e3 * float(t):g} ms", 1e3 * run["closure"][-1], 1e3 * max(run["closure"]))
                for (f, c, t), run in sorted(self.found.of("released"), key=lambda item: self._place(*item[0]))
            ]  # fmt: skip
        if figure == "precision":
            yield ("formulation", "correction", "tick", "error [mm]", "us per step"), [
                (label(r["formulation"], r["formulation"]), r["correction"], f"{1e3 * r['tick_s']:g} ms",
                 1e3 * r["error_m"], 1e6 * r["step_s"])
                for r in sorted(self.precision, key=lambda r: self._place(*list(r.values())[:3]))]  # fmt: skip
        if figure == "limits":
            yield ("stiffness [N/m]", "wheel centre off [mm]", "camber [deg]", "fastest [1/s]",
                   *(f"step, damping {n} [ms]" for n in self.limits[0]["steps"])), [
                (float(r["stiffness"]), 1e3 * r["distance"], float(np.rad2deg(r["camber"])), r["fastest"],
                 *(1e3 * s for s in r["steps"].values())) for r in self.limits]  # fmt: skip
        if figure == "counts":
            yield ("convention", "Cartesian", "joint", "ratio"), [
                (c, self.total(c, "cartesian"), self.total(c, "joint"),
                 round(self.total(c, "cartesian") / self.total(c, "joint"), 2)) for c in ("printed", *self.counted)
            ]  # fmt: skip
