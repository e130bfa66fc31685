"""The comparison: its runs on all cores, then what must be timed alone, and what they leave."""

from __future__ import annotations

import multiprocessing
import signal
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from jounce_tools.compare import cost, tasks
from jounce_tools.compare.tasks import CORRECTIONS, EMBEDDED, Task

#: Formulations that can be asked for, and those of them that are vehicles with rows.
AUGMENTED = ("ta-two-point", "ta", "fa")
FORMULATIONS = (EMBEDDED, *AUGMENTED, "bushing", "synthesis")
LABELS = {
    EMBEDDED: "constraint embedding", "ce-newton": "embedding, first guess and Newton",
    "ta-two-point": "tree-augmented, two-point rods", "ta": "tree-augmented", "fa": "fully augmented",
    "bushing": "bushing tree, O(N)", "bushing-dense": "bushing tree, L D L^T", "synthesis": "subsystem synthesis",
}  # fmt: skip
#: The same for the axes of plots.
SHORT = {EMBEDDED: "CE", "ce-newton": "CE, Newton", "ta-two-point": "TA, two-point", "ta": "TA", "fa": "FA",
         "bushing": "bushings, O(N)", "bushing-dense": "bushings, L D L^T"}  # fmt: skip
#: Share of the work that the runs on all cores are; the rest is timed alone.
_TOGETHER = 0.85
#: A task of that weight is short [s].
_SHORT = 3.0


@dataclass(frozen=True)
class Choice:
    """What is compared."""

    vehicle: str
    formulations: Sequence[str] = FORMULATIONS
    seconds: float = 5.0
    ticks: Sequence[float] = (0.0005, 0.001, 0.002)
    quick: bool = False

    @property
    def middle(self) -> float:
        """Tick of the runs that are shown over time [s]."""
        return self.ticks[(len(self.ticks) - 1) // 2]

    @property
    def augmented(self) -> list[str]:
        """Formulations with rows that are asked for."""
        return [f for f in AUGMENTED if f in self.formulations]

    @property
    def driven(self) -> list[str]:
        """Formulations of which a whole vehicle is driven."""
        return [EMBEDDED, *self.augmented]

    @property
    def costs(self) -> list[str]:
        """Formulations of a corner that are counted and timed."""
        own = (EMBEDDED, cost.NEWTON, *(cost.DENSE,) * ("bushing" in self.formulations))
        return [c for c in cost.COSTS if c in own or c in self.formulations]

    def model(self, form: str) -> str:
        """Name of the whole vehicle in a formulation."""
        return self.vehicle if form == EMBEDDED else f"{self.vehicle}-{form}"


@dataclass
class Found:
    """Results by the names of their tasks, and why some have none."""

    choice: Choice
    results: dict[str, Any] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False

    def of(self, kind: str) -> Iterator[tuple[list[str], Any]]:
        """(parts of the name behind the kind, result) of all tasks of a kind."""
        for name, result in self.results.items():
            first, *parts = name.split("/")
            if first == kind:
                yield parts, result


def planned(choice: Choice, folder: str) -> list[Task]:
    """All tasks that can run side by side: short ones first, so that Ctrl-C finds results, then the longest."""
    v, forms, found = choice.vehicle, choice.driven, list[Task]()
    fine, coarse = choice.middle, choice.ticks[-1]
    found += [Task(f"compiled/{f}", tasks.compiled, (choice.model(f),), {"fa": 45.0, "ta": 15.0}.get(f, 7.0))
              for f in forms]  # fmt: skip
    for f in forms:
        for correction in CORRECTIONS if f != EMBEDDED else ["nothing"]:
            weight = choice.seconds * (4.0 if correction == "projection" else 1.5)
            found.append(Task(f"released/{f}/{correction}/{fine:g}", tasks.released,
                              (v, f, correction, fine, choice.seconds), weight))  # fmt: skip
        found.append(Task(f"released/{f}/nothing/{coarse:g}", tasks.released, (v, f, "nothing", coarse, choice.seconds),
                          choice.seconds))  # fmt: skip
        kinds = ("nothing", "Baumgarte") if f != EMBEDDED else ("nothing",)
        found += [Task(f"conservative/{f}/{c}", tasks.conservative, (v, f, c, fine, choice.seconds),
                       1.5 * choice.seconds) for c in kinds]  # fmt: skip
    found += [Task(f"corner/{c}", tasks.corner, (v, c, folder), 3.0) for c in choice.costs]
    found += [Task(f"sizes/{f}", tasks.sizes, (v, f), 2.0) for f in forms]
    found.append(Task("same", tasks.same, (v, forms), 3.0))
    if "bushing" in choice.formulations:
        found.append(Task("limits", tasks.limits, (v,), 10.0))
    if "synthesis" in choice.formulations:
        found += [Task("synthesized", tasks.synthesized, (v,), 1.0), Task("counts", tasks.counts, (v,), 2.0)]
    return sorted({t.name: t for t in found}.values(), key=lambda t: (t.weight > _SHORT, -t.weight))


def alone(choice: Choice, found: Found) -> list[Task]:
    """What is timed, one after the other, once nothing else runs."""
    blocks = (10, 500) if choice.quick else (cost.BLOCKS, cost.CALLS)
    corners = {parts[0]: result for parts, result in found.of("corner")}
    timed = [Task("times", cost.times, (corners, *blocks), 1.0)] if corners else []
    repeat = 1 if choice.quick else 3
    reference = Task("reference", tasks.driven, (choice.vehicle, tasks.REFERENCE, choice.seconds, {}), 1.0)
    for parts, _ in found.of("compiled"):
        form = parts[0]
        for correction in CORRECTIONS if form != EMBEDDED else ["nothing"]:
            alpha, project = CORRECTIONS[correction]
            parameters = {} if form == EMBEDDED else {"baumgarte": alpha, "projection": float(project)}
            timed += [Task(f"driven/{form}/{correction}/{tick:g}", tasks.driven,
                           (choice.model(form), tick, choice.seconds, parameters, repeat), 1.0)
                      for tick in choice.ticks]  # fmt: skip
    return [reference, *timed]


def compare(choice: Choice, progress: Callable[[float], None], stopped: Callable[[], bool]) -> Found:
    """Runs everything; ``progress`` is told the share that is done. Ends early where ``stopped`` says so."""
    found = Found(choice)
    with tempfile.TemporaryDirectory(prefix="jounce-compare-") as folder:
        plan = planned(choice, folder)
        whole, done = sum(t.weight for t in plan), 0.0
        for task, result in _together(plan, stopped):
            _note(found, task, result)
            done += task.weight
            progress(_TOGETHER * done / whole)
        timed = alone(choice, found)
        for k, task in enumerate(timed):
            if stopped():
                break
            _note(found, task, _tried(task))
            progress(_TOGETHER + (1.0 - _TOGETHER) * (k + 1) / len(timed))
    found.interrupted = stopped()
    return found


def _note(found: Found, task: Task, result: Any) -> None:
    if isinstance(result, Exception):
        found.failures[task.name] = f"{type(result).__name__}: {result}"
    else:
        found.results[task.name] = result


def _tried(task: Task) -> Any:
    """Its result, or the error that says why this vehicle has none."""
    try:
        return task.run()
    except (ValueError, ArithmeticError, RuntimeError, OSError) as error:
        return error


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _together(plan: Sequence[Task], stopped: Callable[[], bool]) -> Iterator[tuple[Task, Any]]:
    """(task, result) as they finish on all cores; ends early, with what runs ended, where ``stopped`` says so."""
    with multiprocessing.Pool(initializer=_ignore_interrupts) as pool:  # ended with what runs where the block is left
        waiting = {task.name: (task, pool.apply_async(_tried, (task,))) for task in plan}
        while waiting and not stopped():
            ready = [name for name, (_, result) in waiting.items() if result.ready()]
            for name in ready:
                task, result = waiting.pop(name)
                yield task, result.get()
            if not ready:
                next(iter(waiting.values()))[1].wait(0.2)
