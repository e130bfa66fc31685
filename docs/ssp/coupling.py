"""One manoeuvre coupled in three ways, as numbers and a picture for docs/ssp.md. Takes some minutes.

Runs from a clone with jounce and its test extra installed: python docs/ssp/coupling.py
"""

from __future__ import annotations

import re
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimLogging import CosimLogLevel, log_output_level
from libcosimpy.CosimObserver import CosimObserver
from numpy.typing import NDArray

from jounce.course import DoubleLaneChange
from jounce_client import Client
from jounce_fmu.importer.host import Factory, Fmu2Instance, open_fmu
from jounce_fmu.partners.ssp import export_ssp
from jounce_tools.demo.run import GROUNDS, Child, Settings, load, serving

Array = NDArray[np.float64]
HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "ssp.md"
PARTS = ("vehicle", "driver", "terrain")
#: What is recorded: component and variable.
RECORDED = (("vehicle", "wheel_FL.pos.x"), ("vehicle", "wheel_FL.pos.y"), ("vehicle", "wheel_FR.pos.x"),
            ("vehicle", "wheel_FR.pos.y"), ("vehicle", "com.lin_acc.y"), ("vehicle", "wheel_FL.tire_force.z"),
            ("driver", "steering_wheel_angle"), ("vehicle", "speed"))
TICK, PERIOD, DURATION = 0.001, 0.02, 20.0
STEPS = (0.001, 0.002, 0.005)


@contextmanager
def opened(package: Path) -> Iterator[dict[str, Fmu2Instance]]:
    """The package's FMUs by component, initialized."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        with zipfile.ZipFile(package) as archive:
            archive.extractall(folder)
        factories: dict[str, Factory] = {p: open_fmu(Path(folder) / "resources" / f"{p}.fmu") for p in PARTS}
        parts = {p: stack.enter_context(f.instance(p)) for p, f in factories.items()}
        for part in parts.values():
            part.setup()
        yield parts


class Bench:
    """A master of a few lines: every input takes the output of its name."""

    def __init__(self, parts: Mapping[str, Fmu2Instance], step: float) -> None:
        """``step`` [s] is the communication step."""
        self.parts, self._step = parts, step
        self._outputs = {p: [v.name for v in f.interface.outputs] for p, f in parts.items()}
        self._inputs = {p: {v.name: i for i, v in enumerate(f.interface.inputs)} for p, f in parts.items()}
        self.values = {p: f.get_outputs() for p, f in parts.items()}
        self._u = {p: np.array([s.start for s in f.table.inputs]) for p, f in parts.items()}
        self._wires = {
            (source, target): ([i for i, n in enumerate(names) if n in self._inputs[target]],
                               [self._inputs[target][n] for n in names if n in self._inputs[target]])
            for source, names in self._outputs.items() for target in parts if target != source
        }

    def transfer(self, targets: Sequence[str]) -> None:
        """Outputs as they are now to the inputs of ``targets``."""
        for (source, target), (outputs, inputs) in self._wires.items():
            if target in targets:
                self._u[target][inputs] = self.values[source][outputs]
        for target in targets:
            self.parts[target].set_inputs(self._u[target])

    def step(self, targets: Sequence[str]) -> None:
        """One communication step of ``targets``."""
        for target in targets:
            part = self.parts[target]
            part.step(round(self._step / part.tick_length))
            self.values[target] = part.get_outputs()

    def parallel(self) -> None:
        """Everyone at once, from the values at the step's beginning: what a tool does with an SSP (Jacobi)."""
        self.transfer(PARTS)
        self.step(PARTS)

    def partners_first(self) -> None:
        """Driver and terrain first, then the vehicle with what they found: what a lockstep session does."""
        self.transfer(PARTS[1:])
        self.step(PARTS[1:])
        self.transfer(PARTS[:1])
        self.step(PARTS[:1])

    def row(self) -> list[float]:
        """The recorded values."""
        return [self.read(part, name) for part, name in RECORDED]

    def read(self, part: str, name: str) -> float:
        """An output of a part."""
        return float(self.values[part][self._outputs[part].index(name)])


def benched(package: Path, way: Callable[[Bench], None], step: float, duration: float = DURATION) -> Array:
    """(n + 1, recorded) rows at every step of ``step`` [s]."""
    with opened(package) as parts:
        bench = Bench(parts, step)
        rows = [bench.row()]
        for _ in range(round(duration / step)):
            way(bench)
            rows.append(bench.row())
    return np.array(rows)


def libcosim(package: Path, step: float, duration: float = DURATION) -> Array:
    """(n, recorded) rows after every step of ``step`` [s]: the package in libcosim."""
    log_output_level(CosimLogLevel.ERROR)
    execution = CosimExecution.from_ssp_file(str(package), round(step * 1e9))
    observer = CosimObserver.create_last_value()
    assert execution.add_observer(observer)
    index = {s.name.decode(): s.index for s in execution.slave_infos()}
    reference = {p: {v.name.decode(): v.reference for v in execution.slave_variables(index[p])} for p in PARTS}
    rows = []
    for _ in range(round(duration / step)):
        assert execution.step()
        rows.append([observer.last_real_values(index[p], [reference[p][n]])[0] for p, n in RECORDED])
    return np.array(rows)


def in_session(folder: Path) -> Array:
    """(n, recorded) rows at the driver's samples: the demonstration's programs in a lockstep session, three processes.

    The session starts as the package does, while the demonstration looks for the rest on the soil first.
    """
    ground = GROUNDS[0]
    speed, _ = ground.at(Settings(folder))
    own = {"autopilot": f"--speed={speed}", "terramechanics": f"--soil={Settings(folder).soil}"}
    with serving(folder) as (_, address), Client.connect(address) as client:
        start = {"init.speed": speed, **ground.parameters}
        with client.create_session("hmmwv", start, participants=list(own)) as session:
            common = [f"--address={address}", f"--session={session.id}", f"--token={session.join_token}",
                      f"--duration={DURATION}"]  # fmt: skip
            children = [Child(name, [f"jounce_client.examples.{name}", *common, option, f"--log={folder / name}.csv",
                                     f"--summary={folder / name}.json"], folder)
                        for name, option in own.items()]  # fmt: skip
            try:
                while any([child.running() for child in children]):
                    time.sleep(0.1)
            finally:
                for child in children:
                    child.stop()
    run = load(folder / "autopilot.csv")
    return np.column_stack([run[n] for _, n in RECORDED])[:-1]  # the last row is the end, whose command is not sent


def facts(rows: Array, reference: Array) -> list[float]:
    """Lateral error rms and max [m], peak lateral acceleration [m/s2], mean speed [m/s]; largest differences from the
    reference: y at the same x [m], steering wheel [rad], load of the left front wheel after the first second [N]."""
    course = DoubleLaneChange()
    x, y = front(rows)
    there, other = front(reference)
    error = np.array([course.lateral_error(*p) for p in zip(x, y, strict=True)])
    inside = (x >= there[0]) & (x <= there[-1])
    aside = np.abs(y - np.interp(x, there, other))[inside].max()
    by = np.abs(rows - reference)
    return [float(np.sqrt(np.mean(error**2))), float(np.abs(error).max()), float(np.abs(rows[:, 4]).max()),
            float(rows[:, 7].mean()), float(aside), float(by[:, 6].max()), float(by[50:, 5].max())]


def front(rows: Array) -> tuple[Array, Array]:
    """x and y of the front axle's middle [m]."""
    return 0.5 * (rows[:, 0] + rows[:, 2]), 0.5 * (rows[:, 1] + rows[:, 3])


def main() -> None:
    """Measures, writes the table into the page and draws."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        package = export_ssp(folder / "demo.ssp")
        session = in_session(folder)
        runs = {"lockstep session over gRPC": session,
                "FMUs, partners first, 1 ms": sampled(benched(package, Bench.partners_first, TICK), TICK)}
        for step in STEPS:
            start = runs["FMUs, partners first, 1 ms"][:1]
            rows = np.concatenate([start, libcosim(package, step)])
            runs[f"SSP in libcosim, {1e3 * step:g} ms"] = sampled(rows, step)
        early = libcosim(package, TICK, 0.04), benched(package, Bench.partners_first, TICK, 0.04)[1:]
    table = [f"| {label} | " + " | ".join(f"{v:.4g}" for v in facts(rows, session)) + " |"
             for label, rows in runs.items()]
    page = PAGE.read_text(encoding="utf-8")
    page = re.sub(r"(<!-- coupling -->\n(?:\|.*\n){2})(?:\|.*\n)*", lambda m: m[1] + "\n".join(table) + "\n", page)
    PAGE.write_text(page, encoding="utf-8")
    draw(runs, early)


def sampled(rows: Array, step: float) -> Array:
    """Rows at the driver's samples, without the end: with the command found there, which an FMU puts out at the end of
    its step."""
    every = round(PERIOD / step)
    chosen = rows[:-1:every].copy()
    chosen[:, 6] = rows[1::every, 6]
    return chosen


def draw(runs: Mapping[str, Array], early: tuple[Array, Array]) -> None:
    """The path's difference over x, the steering where it is busiest, and a wheel's load at the start."""
    figure, axes = plt.subplots(1, 3, figsize=(12.5, 3.8), layout="constrained")
    session = runs["lockstep session over gRPC"]
    t = PERIOD * np.arange(len(session))
    there, other = front(session)
    for label, rows in list(runs.items())[2:]:
        x, y = front(rows)
        inside = x <= there[-1]
        aside = 1e3 * (y - np.interp(x, there, other))
        axes[0].plot(x[inside], aside[inside], label=label.removeprefix("SSP in "))
    axes[0].set(xlabel="x [m]", ylabel="y - y of the session at the same x [mm]")
    for label, rows in runs.items():
        if "ms" not in label or label.endswith((" 1 ms", " 5 ms")):
            axes[1].plot(t, rows[:, 6], "--" if "first" in label else "-", label=label, linewidth=1.2)
    axes[1].set(xlabel="time [s]", ylabel="steering-wheel angle, left positive [rad]", xlim=(3.0, 5.0))
    ms = 1.0 + np.arange(len(early[0]))
    axes[2].plot(ms, 1e-3 * early[1][:, 5], label="partners first (session)")
    axes[2].plot(ms, 1e-3 * early[0][:, 5], label="SSP in libcosim, 1 ms")
    axes[2].set(xlabel="time [ms]", ylabel="load of the left front wheel [kN]", xlim=(0.0, 40.0))
    for ax in axes:
        ax.grid(alpha=0.3)
        ax.legend(fontsize=7)
    figure.savefig(HERE / "coupling.png", dpi=90)
    plt.close(figure)


if __name__ == "__main__":
    main()
