"""Runs the vehicle in importers that come as packages, all over one manoeuvre with inputs that jump between steps.

Each gives the outputs every 50 ms, as they are after a step: with the inputs of that step.

``python tests/fmu/importers.py`` writes the matrix into docs/importers.md.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import math
import platform
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import fmpy
import numpy as np

from jounce.axles import WHEELS
from jounce.terrain.packed import Terrain, save
from jounce_fmu.build.builtin import export_builtin
from jounce_fmu.importer.host import open_builtin
from jounce_fmu.models.roads import on_road
from jounce_fmu.models.tires import on_tires

DOCS = Path(__file__).parents[2] / "docs" / "importers.md"
TIRE = Path(__file__).parents[1] / "data" / "tires" / "HMMWV_Pac02Tire.tir"
PARAMETERS = {"init.speed": 10.0}
STEPS, TICKS = 20, 50  # 1 s
Array = np.ndarray
#: What follows from the states alone: in model exchange no tick passes.
CONTINUOUS = [i for i, s in enumerate(open_builtin().table.outputs) if s.name != "tick_count"]


Inputs = Callable[[int], dict[str, float]]


def torques(k: int) -> dict[str, float]:
    """Inputs of step k."""
    return {"steering_wheel_angle": 0.7 + 0.5 * math.sin(0.8 * k), "wheel_FL.brake_torque": 60.0 * (k % 3),
            "wheel_RL.drive_torque": 250.0 + 15.0 * k, "wheel_RR.drive_torque": 400.0 - 20.0 * k}  # fmt: skip


def pedals(k: int) -> dict[str, float]:
    """Inputs of step k of a vehicle with a powertrain; its gearbox shifts on the way."""
    return {"steering_wheel_angle": 0.7 + 0.5 * math.sin(0.8 * k), "throttle": 0.9 if k < 15 else 0.0,
            "brake_pedal": 0.02 * (k % 3) if k < 15 else 0.5, "hand_brake": float(k == 19),
            "rear.diff_lock": float(k > 9), **_STARTS}  # fmt: skip


#: Inputs that stay as they start, for importers that set those which are not connected to 0.
_STARTS = {"engine.run": 1.0, "gear_selector": 1.0, "transfer_range": 1.0,
           **{f"wheel_{w}.brake_pressure_limit": 1e9 for w in WHEELS}}  # fmt: skip
#: Vehicle -> its inputs by step; others have those of the hmmwv.
GIVEN: dict[str, Inputs] = {"hmmwv_pedals": pedals}


#: Tick [s] of the run that model exchange is held against: pressed brakes start to hold within a tick, an error of its
#: order.
FINE = {"hmmwv": 1e-4, "hmmwv_pedals": 1e-5}


def in_process(tick: float = 0.001, vehicle: str = "hmmwv") -> Array:
    """The same manoeuvre in our own host: shape (STEPS, outputs)."""
    factory, rows, inputs = open_builtin(vehicle), [], GIVEN.get(vehicle, torques)
    table = factory.table
    given = np.array([s.start for s in table.inputs])
    with factory.instance("reference") as fmu:
        fmu.setup({**PARAMETERS, "tick": tick}, inputs(0))
        for k in range(STEPS):
            for name, value in inputs(k).items():
                given[table.by_name(name).index] = value
            fmu.set_inputs(given)
            fmu.step(round(0.05 / tick))
            rows.append(fmu.get_outputs().copy())
    return np.array(rows)


def with_fmpy(path: Path, kind: str = "CoSimulation", inputs: Inputs = torques) -> Array:
    """``fmpy.simulate_fmu``; model exchange with its CVode, which starts anew where the inputs jump."""
    names = [v.name for v in fmpy.read_model_description(str(path)).modelVariables
             if v.causality == "output" and v.type in ("Real", "Float64")]  # fmt: skip
    # CVode gives up after 500 steps between two outputs, which the car takes in 0.05 s
    every = 0.05 if kind == "CoSimulation" else 0.01
    # a moment that comes twice is a jump
    held = [(t, *inputs(k).values()) for k in range(STEPS) for t in (0.05 * k, 0.05 * (k + 1))]
    result = fmpy.simulate_fmu(
        str(path), fmi_type=kind, stop_time=1.0, output_interval=every, start_values={**PARAMETERS, **inputs(0)},
        input=np.array(held, dtype=[(n, np.double) for n in ("time", *inputs(0))]), output=names,
        relative_tolerance=1e-8,
    )  # fmt: skip
    steps = result["time"] / 0.05
    result = result[np.abs(steps - np.round(steps)) < 1e-7]  # model exchange: without the events between
    _, first = np.unique(np.round(result["time"], 9), return_index=True)  # before and after each jump
    result = result[first]
    assert len(result) == STEPS + 1
    return np.concatenate([result[n].reshape(STEPS + 1, -1) for n in names], axis=1)[1:]


def with_libcosim(path: Path, _: str = "", inputs: Inputs = torques) -> Array:
    """libcosimpy: DNV's libcosim over FMI Library, with its strict check of the description."""
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimManipulator import CosimManipulator
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave

    execution = CosimExecution.from_step_size(1_000_000)  # ns
    slave = execution.add_local_slave(CosimLocalSlave(fmu_path=str(path), instance_name="vehicle"))
    variables = fmpy.read_model_description(str(path)).modelVariables
    references = {v.name: v.valueReference for v in variables}
    outputs = [v.valueReference for v in variables if v.causality == "output"]
    for name, value in {**PARAMETERS, **inputs(0)}.items():
        execution.real_initial_value(slave, references[name], value)
    observer, manipulator = CosimObserver.create_last_value(), CosimManipulator.create_override()
    execution.add_observer(observer)
    execution.add_manipulator(manipulator)
    rows = []
    for k in range(STEPS):
        given = inputs(k)
        assert manipulator.slave_real_values(slave, [references[n] for n in given], list(given.values()))
        assert execution.step(step_count=TICKS)
        rows.append(list(observer.last_real_values(slave, outputs)))
    return np.array(rows)


def with_ecos(path: Path, _: str = "", inputs: Inputs = torques) -> Array:
    """ecospy: Ecos, C++."""
    import ecospy

    rows = []
    with ecospy.EcosSimulationStructure() as structure:
        structure.add_model("v", str(path))
        starts = {f"v::{name}": value for name, value in {**PARAMETERS, **inputs(0)}.items()}
        structure.add_parameter_set("start", starts)
        with ecospy.EcosSimulation(structure=structure, step_size=0.001) as simulation:
            simulation.init(parameter_set="start")
            names = [f"v::{v.name}" for v in fmpy.read_model_description(str(path)).modelVariables
                     if v.causality == "output" and v.type in ("Real", "Float64")]  # fmt: skip
            for k in range(STEPS):
                for name, value in inputs(k).items():
                    simulation.set_real(f"v::{name}", value)
                simulation.step(TICKS)
                rows.append([simulation.get_real(n) for n in names])
    return np.array(rows)


def with_cofmupy(path: Path, _: str = "", inputs: Inputs = torques) -> Array:
    """CoFmuPy's own master, configured as its users do."""
    import cofmupy
    from cofmupy.master.default_master import DefaultMaster

    class WithNumbers(DefaultMaster):  # type: ignore[misc]
        """cofmupy 1.0.0 takes the smallest default step of texts, at which numpy 2 fails."""

        def _load_fmus(self) -> Any:
            handlers = super()._load_fmus()
            for handler in handlers.values():
                handler.default_step_size = float(handler.default_step_size)
            return handlers

    names = [v.name for v in fmpy.read_model_description(str(path)).modelVariables
             if v.causality == "output" and v.type in ("Real", "Float64")]  # fmt: skip
    config = {
        "fmus": [{"id": "v", "path": str(path), "initialization": {**PARAMETERS, **inputs(0)}}],
        "connections": [], "cosim_method": "jacobi",
    }  # fmt: skip
    coordinator: Any = cofmupy.Coordinator()
    with mock.patch("cofmupy.coordinator.DefaultMaster", WithNumbers):
        coordinator.start(config)
    rows = []
    for k in range(STEPS):
        given = {"v": {name: [value] for name, value in inputs(k).items()}}
        for _tick in range(TICKS):
            coordinator.master.do_step(0.001, input_dict=given)  # as Coordinator.do_step does with a data stream
        rows.append([np.ravel(coordinator.get_variable(("v", n)))[0] for n in names])
    return np.array(rows)


def with_pathsim(path: Path, kind: str = "CoSimulation", inputs: Inputs = torques) -> Array:
    """PathSim with the FMU blocks of pathsim_fmi; every input but the connected ones is 0."""
    import pathsim_fmi
    from pathsim import Connection, Simulation
    from pathsim.blocks import Source
    from pathsim.solvers import RKCK54

    step, now = 0.001, inputs(0)
    sources = {name: Source(lambda t, name=name: now[name]) for name in now}
    exchange = kind == "ModelExchange"
    made = pathsim_fmi.ModelExchangeFMU if exchange else partial(pathsim_fmi.CoSimulationFMU, dt=step)
    block = made(str(path), start_values={**PARAMETERS, **now})
    wires = [Connection(source, block[name]) for name, source in sources.items()]
    solver = {"Solver": RKCK54, "tolerance_lte_rel": 1e-8, "tolerance_lte_abs": 1e-10} if exchange else {}
    simulation = Simulation([block, *sources.values()], wires, dt=step, log=False, **solver)
    rows = []
    for k in range(STEPS):
        now.update(inputs(k))
        if exchange:
            simulation.run(0.05, reset=False, adaptive=True)
        else:
            for _tick in range(TICKS):
                simulation.timestep(step)
        rows.append(block.outputs.to_array().copy())
    return np.array(rows)


def with_fmuloader(path: Path, _: str = "", inputs: Inputs = torques) -> Array:
    """fmuloader, a thin binding; the loop with a summed time is that of its page."""
    from fmuloader import fmi2, fmi3

    description = fmpy.read_model_description(str(path))
    references = {v.name: v.valueReference for v in description.modelVariables}
    outputs = [v.valueReference for v in description.modelVariables if v.causality == "output"]
    name, guid = description.coSimulation.modelIdentifier, description.guid
    if description.fmiVersion == "2.0":
        slave = fmi2.Fmi2Slave(str(path), model_identifier=name)
        slave.instantiate("vehicle", fmi2.Fmi2Type.CO_SIMULATION, guid=guid)
        slave.setup_experiment(start_time=0.0, stop_time=1.0)
        slave.enter_initialization_mode()
        read, write = slave.get_real, slave.set_real
    else:
        slave = fmi3.Fmi3Slave(str(path), model_identifier=name)
        slave.instantiate_co_simulation("vehicle", instantiation_token=guid)
        slave.enter_initialization_mode(start_time=0.0, stop_time=1.0)
        read, write = slave.get_float64, slave.set_float64
    starts = {**PARAMETERS, **inputs(0)}
    write([references[n] for n in starts], list(starts.values()))
    slave.exit_initialization_mode()
    rows, t = [], 0.0
    for k in range(STEPS):
        write([references[n] for n in inputs(k)], list(inputs(k).values()))
        for _tick in range(TICKS):
            slave.do_step(t, 0.001)
            t += 0.001
        rows.append(read(outputs))
    slave.terminate()
    slave.free_instance()
    return np.array(rows)


#: Package -> how it is driven.
DRIVEN: dict[str, Callable[..., Array]] = {
    "fmpy": with_fmpy, "libcosimpy": with_libcosim, "ecospy": with_ecos, "cofmupy": with_cofmupy,
    "pathsim_fmi": with_pathsim, "fmuloader": with_fmuloader,
}  # fmt: skip
#: Package, FMI version, form, interface: all that the package can import.
CASES = [
    ("fmpy", 2, "scalars", "CoSimulation"), ("fmpy", 2, "scalars", "ModelExchange"),
    ("fmpy", 3, "arrays", "CoSimulation"), ("fmpy", 3, "arrays", "ModelExchange"),
    ("fmpy", 3, "scalars", "CoSimulation"), ("fmpy", 3, "scalars", "ModelExchange"),
    ("libcosimpy", 2, "scalars", "CoSimulation"),
    ("ecospy", 2, "scalars", "CoSimulation"), ("ecospy", 3, "scalars", "CoSimulation"),
    ("cofmupy", 2, "scalars", "CoSimulation"), ("cofmupy", 3, "scalars", "CoSimulation"),
    ("pathsim_fmi", 2, "scalars", "CoSimulation"), ("pathsim_fmi", 2, "scalars", "ModelExchange"),
    ("pathsim_fmi", 3, "scalars", "CoSimulation"), ("pathsim_fmi", 3, "scalars", "ModelExchange"),
    ("fmuloader", 2, "scalars", "CoSimulation"), ("fmuloader", 3, "scalars", "CoSimulation"),
]  # fmt: skip


def rough(folder: Path) -> str:
    """The hmmwv on tires of a file and a rough terrain, which its FMU brings along."""
    x, y = np.meshgrid(np.arange(160), np.arange(60), indexing="ij")
    z = 0.03 * np.sin(0.31 * x + 0.2 * y) + 0.02 * np.cos(0.27 * y)
    terrain = Terrain("HEIGHTMAP", z, 0.5, 0.5, (-15.0, -15.0), smooth=True)
    return str(on_road(on_tires("hmmwv", TIRE), save(terrain, folder / "rough.jnt")))


def export(folder: Path, fmi: int, form: str, vehicle: str = "hmmwv") -> Path:
    """The vehicle's FMU of one form, made once per folder."""
    path = folder / f"{Path(vehicle).parent.name or vehicle}_fmi{fmi}_{form}.fmu"
    return path if path.exists() else export_builtin(path, vehicle, fmi=fmi, scalars=form == "scalars")


def simulate(case: tuple[str, int, str, str], folder: Path, vehicle: str = "hmmwv") -> Array:
    """Outputs of one case, shape (STEPS, outputs); of vehicles with the hmmwv's wheels, whose signals are the same."""
    package, fmi, form, kind = case
    return DRIVEN[package](export(folder, fmi, form, vehicle), kind, GIVEN.get(vehicle, torques))


def matrix(folder: Path, vehicle: str = "hmmwv") -> str:
    """A table of docs/importers.md."""
    coarse, fine = in_process(vehicle=vehicle), in_process(FINE.get(vehicle, 1e-4), vehicle)
    counted = [i for i, s in enumerate(open_builtin(vehicle).table.outputs) if s.name != "tick_count"]
    lines = ["| importer | version | FMI | form | interface | outputs | against the run in process |",
             "|---|---|---|---|---|---|---|"]  # fmt: skip
    for case in CASES:
        package, fmi, form, kind = case
        if importlib.util.find_spec(package) is None:
            continue
        found = simulate(case, folder, vehicle)
        exact = kind == "CoSimulation"
        error = np.max((np.abs(found - (coarse if exact else fine)) / scale(fine, vehicle))[:, counted])
        says = "the same bits" if np.array_equal(found, coarse) else f"{error:.1e} of each output's size"
        version = importlib.metadata.version(package)
        lines.append(f"| {package} | {version} | {fmi}.0 | {form} | {kind} | {found.shape[1]} | {says} |")
    machine = f"Run on {platform.system()} {platform.machine()}, Python {platform.python_version()}."
    return "\n".join([*lines, "", machine])


def scale(rows: Array, vehicle: str = "hmmwv") -> Array:
    """Size of each output over the run, at least the signal's nominal value."""
    nominal = [max(s.signal.nominal, 1e-2) for s in open_builtin(vehicle).table.outputs]
    return np.maximum(np.max(np.abs(rows), axis=0), nominal)


def main() -> None:
    """Writes the tables."""
    text = DOCS.read_text()
    with tempfile.TemporaryDirectory() as made:
        vehicles = {"matrix": "hmmwv", "by pedals": "hmmwv_pedals", "on tires and terrain": rough(Path(made))}
        for mark, vehicle in vehicles.items():
            before, rest = text.split(f"<!-- {mark} -->\n", 1)
            _, after = rest.split("<!-- end -->\n", 1)
            text = f"{before}<!-- {mark} -->\n{matrix(Path(made), vehicle)}\n<!-- end -->\n{after}"
    DOCS.write_text(text)


if __name__ == "__main__":
    main()
