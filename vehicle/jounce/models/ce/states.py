"""The states of a vehicle in minimal coordinates, in the order of its state vector."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jounce.models.ce.forest import Forest
from jounce.models.impulse.signals import Truck
from jounce.signals import State


@dataclass(frozen=True)
class Places:
    """Where groups of states begin."""

    roots: tuple[int, ...]
    branches: tuple[int, ...]
    spin: int
    brake: int
    tire: int
    steer: int
    engine: int
    size: int
    """Without what a gearbox remembers."""


def places(of: Truck, forest: Forest) -> Places:
    """Of a truck's states."""
    roots = tuple(range(0, 13 * len(forest.roots), 13))
    at, branches = 13 * len(roots), []
    for b in forest.branches:
        branches.append(at)
        at += 2 * b.independent + b.dependent
    spins, contacts = len(of.layout.spins), len(of.layout.contacts)
    tire = at + 3 * spins
    steer = tire + 2 * contacts
    return Places(roots, tuple(branches), at, at + 2 * spins, tire, steer, steer + 1,
                  steer + 1 + (of.made.powertrain is not None))  # fmt: skip


def states(of: Truck, forest: Forest) -> Iterator[State]:
    """Roots, branches, turns of the wheels, windings of the brakes, deflections of tires, steering wheel, engine."""
    labels = of.labels
    for root in forest.roots:
        name = f"state.{labels[root]}"
        yield from _group(f"{name}.pos", ".x .y .z", "m", "centre of mass, world")
        yield from _group(f"{name}.rot", ".w .x .y .z", "1", "attitude")
        yield from _group(f"{name}.lin_vel", ".x .y .z", "m/s", "velocity of the centre of mass, world")
        yield from _group(f"{name}.ang_vel", ".x .y .z", "rad/s", "angular velocity, axes of the body")
    for b in forest.branches:
        name = f"state.{labels[b.bodies[0]]}"
        for group, count, text in (("q", b.independent, "coordinate"), ("loop", b.dependent, "dependent coordinate"),
                                   ("rate", b.independent, "rate of a coordinate")):  # fmt: skip
            yield from _group(f"{name}.{group}", [f"_{k + 1}" for k in range(count)], "1", text)
    wheels = of.model.wheels
    for k in of.layout.spins:
        yield State(f"state.wheel_{wheels[k].name}.angle", "rad", "turned against the carrier", 10.0)
        yield State(f"state.wheel_{wheels[k].name}.omega", "rad/s", "angular velocity about the axle, world", 10.0)
    for k in of.layout.spins:
        yield State(f"state.wheel_{wheels[k].name}.brake", "rad", "that the brake has wound up", 1e-3)
    counts: dict[str, int] = {}
    for wheel, _ in of.layout.contacts:
        k = counts[wheel.name] = counts.get(wheel.name, 0) + 1
        name = f"state.wheel_{wheel.name}.tire{'' if len(wheel.offsets) == 1 else f'_{k}'}"
        yield State(f"{name}.forward", "m", "deflection along the ground", 1e-3)
        yield State(f"{name}.left", "m", "deflection along the ground", 1e-3)
    yield State("state.steering_wheel_angle", "rad", "of the steering wheel, which follows its input")
    if of.made.powertrain is not None:
        yield State("state.engine.speed", "rad/s", "of the shaft", 100.0)


def _group(name: str, suffixes: str | Sequence[str], unit: str, text: str) -> Iterator[State]:
    for suffix in suffixes.split() if isinstance(suffixes, str) else suffixes:
        yield State(f"{name}{suffix}", unit, text)
