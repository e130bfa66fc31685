"""Measures what FMI and Python add to a step of 1 ms.

The bare core, the built FMU library in a C master, and the same library through jounce's own host and through fmpy.
"""

from __future__ import annotations

import ctypes as ct
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import fmpy
import fmpy.fmi2
import numpy as np
from native import STEP, STEP_ALL, STEP_OUTPUTS, Core, compile_c, measure
from timing import Samples, interleave, loops, machine, table, versions

from jounce.axles import WHEELS
from jounce_fmu.build.builtin import export_builtin
from jounce_fmu.build.library import fmi_headers
from jounce_fmu.importer.foreign import Variable
from jounce_fmu.importer.host import Factory, open_builtin

SPEED = 15.0  # m/s
DRIVE = 45.0  # N.m a wheel, about the rolling resistance
TICK = 1e-3  # s
STARTS = {"init.speed": SPEED, **{f"wheel_{w}.drive_torque": DRIVE for w in WHEELS}}
PARTS = ("step", "step + outputs", "inputs + step + outputs")


def core_subjects(folder: Path) -> list[Callable[..., Samples]]:
    """Steps of the core without any FMI."""
    core = Core(folder)
    instance = core.open(core.variants - 1, STARTS)
    return [partial(core.measure, instance, kind) for kind in (STEP, STEP_OUTPUTS, STEP_ALL)]


def fmi_subjects(folder: Path, factory: Factory) -> list[Callable[..., Samples]]:
    """The same steps through the FMI functions of the built library, from C."""
    library = compile_c("bench_do_step", folder, [f"-I{fmi_headers()}", "-ldl"])
    library.fmu_open.restype = ct.c_char_p
    interface = factory.interface
    variables = {v.name: v for v in (*interface.inputs, *interface.parameters)}
    starts = [variables[name] for name in STARTS]
    inputs, outputs = _reals(interface.inputs), _reals(interface.outputs)
    error = library.fmu_open(
        str(factory.library).encode(), interface.guid.encode(), ct.c_double(TICK), *_list(inputs), *_list(outputs),
        *_list(starts), (ct.c_double * len(starts))(*STARTS.values()),
    )
    if error:
        raise RuntimeError(error.decode())
    return [partial(measure, library.fmu_run, kind) for kind in range(3)]


def host_subjects(factory: Factory) -> list[Callable[..., Samples]]:
    """The same steps through jounce's Python host: vectors in and out."""
    instance = factory.instance("host")
    names = {v.name for v in factory.interface.parameters}
    parameters = {n: v for n, v in STARTS.items() if n in names}
    forces = {n: v for n, v in STARTS.items() if n not in names}
    instance.setup(parameters, forces)
    u = np.array([forces.get(s.name, s.start) for s in factory.table.inputs], dtype=np.float64)

    def outputs() -> None:
        instance.step()
        instance.get_outputs()

    def everything() -> None:
        instance.set_inputs(u)
        outputs()

    return [partial(_python, call) for call in (instance.step, outputs, everything)]


def fmpy_subjects(folder: Path) -> list[Callable[..., Samples]]:
    """The same steps through fmpy's binding: lists in and out."""
    path = export_builtin(folder / "vehicle.fmu")
    description: Any = fmpy.read_model_description(str(path))
    variables = {v.name: v for v in description.modelVariables}
    slave: Any = fmpy.fmi2.FMU2Slave(
        guid=description.guid, unzipDirectory=fmpy.extract(str(path), str(folder / "vehicle")),
        modelIdentifier=description.coSimulation.modelIdentifier, instanceName="fmpy",
    )
    slave.instantiate()
    slave.setupExperiment(startTime=0.0)
    slave.setReal([variables[n].valueReference for n in STARTS], list(STARTS.values()))
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    real = [v for v in description.modelVariables if v.type == "Real" and v.name != "time"]
    inputs = [v.valueReference for v in real if v.causality == "input"]
    wanted = [v.valueReference for v in real if v.causality == "output"]
    u, ticks = slave.getReal(inputs), 0

    def step() -> None:
        nonlocal ticks
        slave.doStep(ticks * TICK, TICK)
        ticks += 1

    def outputs() -> None:
        step()
        slave.getReal(wanted)

    def everything() -> None:
        slave.setReal(inputs, u)
        outputs()

    return [partial(_python, call) for call in (step, outputs, everything)]


def _reals(variables: Sequence[Variable]) -> list[Variable]:
    return [v for v in variables if v.signal.type == "Real"]


def _list(variables: Sequence[Variable]) -> tuple[Any, Any]:
    return ct.c_size_t(len(variables)), (ct.c_uint * len(variables))(*(v.reference for v in variables))


def _python(call: Callable[[], object], *, blocks: int, calls: int) -> Samples:
    samples = Samples()
    for _ in range(blocks):
        cpu, wall = time.thread_time_ns(), time.perf_counter_ns()
        for _ in range(calls):
            call()
        samples.wall.append((time.perf_counter_ns() - wall) / calls)
        samples.cpu.append((time.thread_time_ns() - cpu) / calls)
    return samples


def main() -> None:
    """Command line."""
    parser = loops(__doc__, 200)
    parser.add_argument("--blocks", type=int, default=5, help="blocks a round")
    options = parser.parse_args()
    options.build.mkdir(parents=True, exist_ok=True)
    print(machine(), versions("jounce", "fmpy"), sep="; ")
    factory = open_builtin()
    with tempfile.TemporaryDirectory() as folder:
        groups = {
            "core, C": core_subjects(options.build),
            "fmi2, C": fmi_subjects(options.build, factory),
            "fmi2, jounce_fmu.importer.host": host_subjects(factory),
            "fmi2, fmpy": fmpy_subjects(Path(folder)),
        }
        subjects = {
            f"{group}: {part}": partial(subject, blocks=options.blocks, calls=options.calls)
            for group, members in groups.items()
            for part, subject in zip(PARTS, members, strict=True)
        }
        times = interleave(subjects, options.rounds)
    rows = []
    for name, samples in times.items():
        bare = times[f"core, C:{name.partition(':')[2]}"]
        over = [samples.best() - bare.best(), min(samples.cpu) - min(bare.cpu)]
        rows.append([
            name, *(f"{t / 1e3:.2f}" for t in (samples.best(), samples.percentile(50), min(samples.cpu), *over)),
            f"{samples.best() / bare.best():.2f}", f"{samples.percentile(50) / bare.percentile(50):.2f}",
        ])
    print(table(["us a step", "best", "median", "best cpu", "over core", "cpu over", "ratio", "median"], rows))
    print(machine())


if __name__ == "__main__":
    main()
