"""C of a vehicle from an architecture in minimal coordinates: its branches, and tables that place them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import accumulate
from typing import Any

from jounce.models.ce.forest import Branch, Forest, first_joint, sources
from jounce.models.ce.signals import FOLLOWS
from jounce.models.ce.states import places
from jounce.models.impulse.emit import ints
from jounce.models.impulse.signals import Truck

GENERATOR = "jounce.models.ce.emit"


def emitted(branch: Branch) -> dict[str, Any]:
    """Text of a branch's functions, sizes of the numbers they read, and of what they give. Needs CasADi."""
    from jounce.codegen.emitter import emit_file
    from jounce.models.ce import functions

    made = functions.of(branch)
    return {"text": emit_file(made.all(), GENERATOR), "numbers": made.own.layout.sizes,
            "results": functions.results(branch).size}  # fmt: skip


def root() -> str:
    """Text of the function that solves for the acceleration of a root. Needs CasADi."""
    from jounce.codegen.emitter import emit_file
    from jounce.models.ce import functions

    return emit_file([functions.root_function()], GENERATOR)


def header(of: Truck, forest: Forest, kinds: Mapping[str, Mapping[str, Any]]) -> str:
    """Text of ``ce_model.h``; ``kinds``: `emitted` by name of the function."""
    at, own = places(of, forest), of.layout
    records: list[tuple[int, ...]] = []
    numbers: list[tuple[int, int, int]] = []
    bodies: list[int] = []
    told: list[int] = []
    joints: list[int] = []
    first = list(accumulate((j.rows for j in own.model.joints), initial=0))
    out = 0
    for branch, x in zip(forest.branches, at.branches, strict=True):
        kind = kinds[branch.function]
        records.append((forest.roots.index(branch.root), len(bodies), len(branch.bodies), branch.independent,
                        branch.dependent, len(told), len(branch.told), x, len(numbers), out, len(joints) // 2,
                        len(branch.joints)))  # fmt: skip
        numbers += list(sources(branch, kind["numbers"], len(own.spins)))
        bodies += branch.bodies
        told += [branch.joints[k] for k in branch.told]
        joints += [v for k in branch.joints for v in (k, first[k])]
        out += kind["results"]
    sizes = {
        "CE_N_ROOTS": len(forest.roots), "CE_N_BRANCHES": len(forest.branches), "CE_N_NUMBERS": len(numbers),
        "CE_N_OUT": out, "CE_N_TOLD": max([len(b.told) for b in forest.branches] or [0]),
        "CE_N_OWN": max([b.independent for b in forest.branches] or [0]),
        "CE_N_LOOP": max([b.dependent for b in forest.branches] or [0]),
        "CE_N_BEHIND": max([len(b.bodies) for b in forest.branches] or [0]),
        "CE_N_ROWS": max([sum(own.model.joints[k].rows for k in b.joints) for b in forest.branches] or [0]),
        "CE_N_SPRINGS": len(own.model.springs), "CE_D_JOINT": first_joint(forest.model, len(own.spins)),
        "CE_X_SPIN": at.spin, "CE_X_BRAKE": at.brake, "CE_X_TIRE": at.tire, "CE_X_STEER": at.steer,
        "CE_X_ENGINE": at.engine, "CE_N_X": at.size,
    }  # fmt: skip
    functions = [b.function for b in forest.branches]
    close = [f"{b.function}_close_1" if b.dependent else "0" for b in forest.branches]
    lines = ["/* Emitted by jounce.models.ce.emit. Do not edit. */", "#ifndef CE_MODEL_H", "#define CE_MODEL_H", "",
             f"#define CE_FOLLOWS {FOLLOWS!r} /* with which the steering wheel follows its input [s] */", "enum {",
             *(f"    {name} = {value}," for name, value in sizes.items()), "    CE_N_DONE", "};",
             ints("CE_ROOT", forest.roots), ints("CE_BODY", bodies), ints("CE_TOLD", told),
             ints("CE_JOINT", joints),
             ints("CE_BRANCH", (v for r in records for v in r)), ints("CE_NUMBER", (v for n in numbers for v in n)),
             "", "/* Where ce_functions.inc is included. */",
             f"#define CE_FUNCTIONS {{{_listed(f'{name}_1' for name in functions)}}}",
             f"#define CE_CLOSE {{{_listed(close)}}}", "", "#endif", ""]  # fmt: skip
    return "\n".join(lines)


def _listed(names: Iterable[str]) -> str:
    return ", ".join((*names, "0"))
