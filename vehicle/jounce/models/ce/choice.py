"""Which equations of motion an architecture runs on, and why."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from jounce.architecture.graph import Architecture
from jounce.architecture.load import ENGINES
from jounce.architecture.read import ArchitectureError
from jounce.architecture.spin import merged
from jounce.architecture.target import Multibody
from jounce.models.ce.forest import Branch, NotMinimal, forest

#: The engines that there are, as ends of a vehicle's name: `class3-impulse`.
SUFFIXES: Final = tuple(f"-{engine}" for engine in ENGINES if engine != "auto")


def split(name: str | Path) -> tuple[str, str]:
    """(architecture, engine) of a name; the engine is empty where the name asks for none."""
    text = str(name)
    for suffix in SUFFIXES:
        if text.endswith(suffix) and len(text) > len(suffix):
            return text.removesuffix(suffix), suffix[1:]
    return text, ""


def prevents(model: Multibody, has_functions: Callable[[Branch], bool]) -> str:
    """What minimal coordinates cannot take, by name; empty where they can run the vehicle.

    ``has_functions``: whether there are emitted functions of a branch, or CasADi to emit them.
    """
    own, spun = merged(model)
    if len(spun) < len(model.wheels):
        wheel = next(w.name for k, w in enumerate(model.wheels) if k not in spun)
        return f"wheel {wheel} is held by more than a hinge along its axle"
    try:
        branches = forest(own).branches
    except NotMinimal as error:
        return str(error)
    if lacks := [b.name for b in branches if not has_functions(b)]:
        return f"the joints of {lacks[0]} are of none of jounce's own trucks, and need CasADi once: pip install casadi"
    return ""


def engine_of(
    made: Architecture, model: Multibody, has_functions: Callable[[Branch], bool], asked: str = ""
) -> tuple[str, str]:
    """(engine, why), for what a command or the vehicle's name asks for, else the file's `engine`.

    Raises ArchitectureError where that engine cannot run it.
    """
    wanted = asked if asked not in ("", "auto") else made.engine
    because = "asked for" if wanted == asked else f"{made.name} asks for it"
    if wanted == "impulse":
        return wanted, because
    against = prevents(model, has_functions)
    if wanted == "ce" and against:
        raise ArchitectureError(f"{made.name}: engine ce: {against}; expected engine impulse")
    if wanted == "ce":
        return wanted, because
    if against:
        return "impulse", against
    return "ce", "its joints leave coordinates of their own to every suspension, cab and mount"
