"""The runs of the comparison. Each is a function of names and numbers, so that another process can run it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from jounce.data import load_vehicle
from jounce.formulations import synthesis
from jounce.formulations.limits import Corner
from jounce.formulations.whole import FORMS, Closure, Whole, straight, whole
from jounce.suspension.mechanisms.templates import mechanism_of
from jounce_fmu.importer.host import open_builtin
from jounce_fmu.models import find
from jounce_tools.compare import cost

Array = NDArray[np.float64]
SX = ca.SX
#: How the loops are kept closed, by name: alpha of Baumgarte [1/s], and whether positions and rates are projected.
CORRECTIONS = {"nothing": (0.0, False), "Baumgarte": (100.0, False), "projection": (0.0, True)}
EMBEDDED = "ce"
#: Speed at which the driven vehicle starts [m/s], and its inputs: yaw by unequal torques, pushes from both sides. They
#: are constant between whole multiples of 2 ms, so that every tick sees the same; brakes would add an event whose place
#: in a tick decides the error.
SPEED = 10.0
DRIVE = {0.0: {"wheel_RL.drive_torque": 400.0, "wheel_RR.drive_torque": 100.0}, 0.5: {"chassis.ext_force.y": 3000.0},
         1.5: {"chassis.ext_force.y": -3000.0}}  # fmt: skip
#: Tick of the run that the others are judged by [s].
REFERENCE = 1e-4


@dataclass(frozen=True)
class Task:
    """A run in another process: a function of this module with its arguments."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    weight: float
    """About how long it takes [s]."""

    def run(self) -> Any:
        """Its result."""
        return self.function(*self.arguments)


@cache
def _whole(vehicle: str, form: str, conservative: bool) -> Whole:
    return whole(load_vehicle(vehicle), form, conservative=conservative)


def sizes(vehicle: str, form: str) -> dict[str, int]:
    """Mechanical states, coordinates and rows of the whole vehicle."""
    w = _whole(vehicle, form, False)
    corners = w.corners
    rows = sum(f.rows_function().size1_out(1) for f in corners)
    return {"states": w.size + len(corners), "coordinates": sum(f.size for f in corners), "rows": rows}


def corner(vehicle: str, name: str, folder: str) -> cost.Evaluation:
    """Of the front left corner."""
    return cost.evaluation(load_vehicle(vehicle), name, Path(folder))


def released(vehicle: str, form: str, correction: str, tick_length: float, seconds: float) -> dict[str, Any]:
    """A run of `jounce.formulations.whole` from the release: closure, path and energy over time."""
    return _run(_whole(vehicle, form, False), correction, tick_length, seconds)


def conservative(vehicle: str, form: str, correction: str, tick_length: float, seconds: float) -> dict[str, Any]:
    """The same with springs only and the Pitman arm at rest."""
    return _run(_whole(vehicle, form, True), correction, tick_length, seconds, straight)


def _run(w: Whole, correction: str, tick_length: float, seconds: float, *steer: Any) -> dict[str, Any]:
    alpha, project = CORRECTIONS[correction]
    run = w.run(seconds, tick_length, Closure(alpha, project), *steer)
    return {"time": run.time, "closure": run.closure, "path": [p.tolist() for p in run.path], "energy": run.energy}


def same(vehicle: str, forms: Sequence[str], states: int = 20) -> dict[str, float]:
    """Largest difference of accelerations from the embedding's, as part of their largest, over random states.

    Corners in the design position, chassis anywhere near the ground and in any motion.
    """
    r, worst = np.random.default_rng(0), dict.fromkeys((f for f in forms if f != EMBEDDED), 0.0)
    for _ in range(states):
        chassis = np.concatenate([r.normal(size=2), [r.uniform(0.5, 0.7)], [1.0], 0.1 * r.normal(size=3),
                                  r.normal(size=3), 5 * r.normal(size=3)])  # fmt: skip
        chassis[3:7] /= np.linalg.norm(chassis[3:7])
        found = {form: _accelerations(_whole(vehicle, form, False), chassis) for form in (EMBEDDED, *worst)}
        judge = found[EMBEDDED]
        for form in worst:
            worst[form] = max(worst[form], float(np.abs(found[form] - judge).max() / np.abs(judge).max()))
    return worst


def _accelerations(w: Whole, chassis: Array) -> Array:
    x = w.start()
    x[:13] = chassis
    return np.array(w.rates(x, w.told((0.0, 0.0, 0.0)), 0.0)).ravel()[7:13]


def synthesized(vehicle: str) -> float:
    """Largest relative difference of both subsystem forms' 6x6 and force from the tree's, in a turning chassis."""
    mechanism = mechanism_of(load_vehicle(vehicle), "front", "double_wishbone")
    tree, worst = FORMS["ta-two-point"](mechanism, 1.0), 0.0
    ends = [ca.vertcat(ca.evalf(SX(p)), ca.DM.zeros(9)) for p in mechanism.prescribed.values()]
    loads = ca.DM([100.0, 200.0, 4000.0, 5.0, 6.0, 7.0, 8.0, -9.0])
    tail = [ca.DM(3.0), ca.evalf(SX(ca.vertcat(*ends))), ca.DM([0.1, -0.2, 0.3]), loads, ca.DM(0.0)]
    inertia, bias, *_ = tree.gather_function()(ca.DM.zeros(tree.size), ca.DM.zeros(tree.size), *tail)
    for chain, q in ((synthesis.joint_form(mechanism), ca.DM.zeros(tree.size)),
                     (synthesis.cartesian_form(mechanism), synthesis.Bodies(mechanism).design)):  # fmt: skip
        m, p, *_ = chain.function()(q, ca.DM.zeros(chain.inputs.rates.numel()), *tail, ca.DM.zeros(6))
        for ours, judged in ((m, inertia), (p, -bias)):
            a, b = np.array(ours), np.array(judged)
            worst = max(worst, float(np.abs(a - b).max() / np.abs(b).max()))
    return worst


def limits(vehicle: str) -> dict[str, Any]:
    """Bushings of the front corner (`jounce.formulations.limits`), and the longest step with rigid joints [s]."""
    of = Corner(load_vehicle(vehicle))
    rows = [{"stiffness": r.stiffness, "distance": float(np.linalg.norm(r.apart)), "camber": r.camber,
             "fastest": r.fastest, "steps": r.steps, "apart": r.apart.tolist()} for r in of.limits()]  # fmt: skip
    return {"rows": rows, "rigid_step": of.rigid.step}


def counts(vehicle: str) -> dict[str, Any]:
    """Operations by Song and Kim's rows (`synthesis.table`)."""
    return synthesis.table(mechanism_of(load_vehicle(vehicle), "front", "double_wishbone"))


def compiled(name: str) -> str:
    """Emits and compiles a whole vehicle; path of its library."""
    return str(find(name).library())


def driven(
    name: str, tick_length: float, seconds: float, parameters: dict[str, float], repeat: int = 1
) -> dict[str, Any]:
    """A whole vehicle driven by `DRIVE`: path at the end [m], CPU time [s] (the best of ``repeat``) and ticks."""
    factory, best = open_builtin(name), np.inf
    inputs = [s.name for s in factory.table.inputs]
    outputs = {s.name: s.index for s in factory.table.outputs}
    for _ in range(repeat):
        with factory.instance("compare") as instance:
            instance.setup({"tick": tick_length, "init.speed": SPEED, **parameters})
            u, cpu, at = np.array([s.start for s in factory.table.inputs]), 0.0, 0.0
            times = [t for t in DRIVE if t < seconds]
            for begin, end in zip(times, [*times[1:], seconds], strict=True):
                for signal, value in DRIVE[begin].items():
                    u[inputs.index(signal)] = value
                instance.set_inputs(u)
                before = time.process_time()
                instance.step(round((end - at) / tick_length))
                cpu += time.process_time() - before
                at = end
            y, best = instance.get_outputs(), min(best, cpu)
    return {"end": [float(y[outputs[f"ref_frame.pos.{a}"]]) for a in "xyz"], "cpu": best,
            "ticks": round(seconds / tick_length), "gap": float(y[outputs["closure_residual"]])}  # fmt: skip
