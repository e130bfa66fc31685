"""One run, five ways: command, FMU in fmpy, FMU in libcosimpy, Advance, and a Lockstep stream in any order.

The same inputs give the same outputs to the last bit over thousands of ticks: all ways execute the same machine code.
"""

from __future__ import annotations

import asyncio
import csv
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fmpy import extract, read_model_description
from fmpy.fmi2 import FMU2Slave
from numpy.typing import NDArray

from jounce.axles import WHEELS
from jounce.data import load_vehicle
from jounce.models.double_wishbone.signals import table
from jounce_client import Client
from jounce_client.aio import AsyncClient
from jounce_fmu.build.builtin import export_builtin
from jounce_service.hosting.fmu_model import builtin_registry
from jounce_tools.cli.main import main

Array = NDArray[np.float64]
TICKS = 10_000 if "JOUNCE_SLOW" in os.environ else 5_000
START = {"init.speed": 9.0, "terrain.bank": 0.05, "imu.pos.x": 0.4}
TABLE = table(load_vehicle("hmmwv"))
OUTPUTS = [s.name for s in TABLE.outputs]

#: Who owns what, and its period [ticks].
OWNERS = {
    "steering": (1, ["steering_wheel_angle", "steering_wheel_rate"]),
    "torques": (20, [f"wheel_{w}.{kind}_torque" for w in WHEELS for kind in ("drive", "brake")]),
    "wind": (3, ["chassis.ext_force.x", "chassis.ext_force.y", "chassis.ext_moment.z"]),
}
NAMES = [name for _, names in OWNERS.values() for name in names]


def _inputs() -> Array:
    """(TICKS, inputs): each column changes with its owner's period; a sweep, drive, full brakes at the end."""
    t, drive = 0.001 * np.arange(TICKS), 0.0005 * TICKS
    columns = []
    for owner, (period, names) in OWNERS.items():
        own = t[np.arange(TICKS) // period * period]
        for k, name in enumerate(names):
            if owner == "steering":
                columns.append([2.0 * np.sin(1.7 * own), 3.4 * np.cos(1.7 * own)][k])
            elif owner == "wind":
                columns.append(800.0 * np.sin(0.9 * own + k))
            elif "drive" in name:
                columns.append(np.where(own < drive, 150.0 + 100.0 * np.sin(own + k), 0.0))
            else:
                columns.append(np.where(own < drive, 0.0, 2500.0 + 100.0 * k))
    return np.array(columns).T


@pytest.fixture(scope="module")
def inputs() -> Array:
    return _inputs()


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_builtin(tmp_path_factory.mktemp("fmu") / "hmmwv.fmu")


@pytest.fixture(scope="module")
def command(inputs: Array, tmp_path_factory: pytest.TempPathFactory) -> Array:
    """Outputs (TICKS + 1, outputs) of ``jounce simulate``, read back from its CSV."""
    folder = tmp_path_factory.mktemp("simulate")
    with (folder / "in.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["time", *NAMES])
        writer.writerows([repr(0.001 * k), *map(repr, row.tolist())] for k, row in enumerate(inputs))
    sets = [f"--set={name}={value}" for name, value in START.items()]
    files = [f"--inputs={folder / 'in.csv'}", f"-o{folder / 'out.csv'}", "--units=none"]
    assert main(["simulate", *files, f"--duration={TICKS // 1000}", *sets]) == 0
    with (folder / "out.csv").open(newline="") as file:
        assert next(csv.reader(file)) == ["time", *OUTPUTS]
        rows = np.array([[float(v) for v in row] for row in csv.reader(file)])
    assert np.array_equal(rows[:, 0], [k / 1000 for k in range(TICKS + 1)])
    return rows[:, 1:]


def test_the_run_is_not_trivial(command: Array) -> None:
    at = OUTPUTS.index
    assert command[2500, at("ref_frame.pos.x")] > 20.0
    assert np.abs(command[:, at("com.lin_acc.y")]).max() > 1.5
    assert abs(command[-1, at("speed")]) < 0.1  # it rocks on its springs


def test_fmpy_gives_the_commands_bits(inputs: Array, archive: Path, command: Array) -> None:
    description = read_model_description(str(archive))
    references = {v.name: v.valueReference for v in description.modelVariables}
    kinds = {v.name: v.type for v in description.modelVariables}
    fmu = FMU2Slave(guid=description.guid, unzipDirectory=extract(str(archive)), instanceName="a",
                    modelIdentifier=description.coSimulation.modelIdentifier)  # fmt: skip
    fmu.instantiate()
    fmu.setupExperiment(startTime=0.0)
    fmu.setReal([references[n] for n in START], list(START.values()))
    ours = [references[n] for n in NAMES]
    fmu.setReal(ours, inputs[0].tolist())
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    reals = [n for n in OUTPUTS if kinds[n] == "Real"]
    places = [OUTPUTS.index(n) for n in reals]
    wanted = [references[n] for n in reals]
    for k in range(TICKS):
        fmu.setReal(ours, inputs[k].tolist())
        fmu.doStep(k * 0.001, 0.001)
        if k % 50 == 49:
            assert np.array_equal(fmu.getReal(wanted), command[k + 1, places])
    assert fmu.getReal([references["tick_count"]]) == [TICKS]
    fmu.terminate()
    fmu.freeInstance()


def test_libcosimpy_gives_the_commands_bits(inputs: Array, archive: Path, command: Array) -> None:
    pytest.importorskip("libcosimpy", reason="libcosimpy is not installed")
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimManipulator import CosimManipulator
    from libcosimpy.CosimObserver import CosimObserver
    from libcosimpy.CosimSlave import CosimLocalSlave

    description = read_model_description(str(archive))
    references = {v.name: v.valueReference for v in description.modelVariables}
    reals = [v.name for v in description.modelVariables if v.type == "Real" and v.name in OUTPUTS]
    execution = CosimExecution.from_step_size(1_000_000)  # ns
    slave = execution.add_local_slave(CosimLocalSlave(str(archive), "vehicle"))
    manipulator, observer = CosimManipulator.create_override(), CosimObserver.create_last_value()
    execution.add_manipulator(manipulator)
    execution.add_observer(observer)
    for name, value in START.items():
        assert execution.real_initial_value(slave, references[name], value)
    ours, wanted = [references[n] for n in NAMES], [references[n] for n in reals]
    for reference, value in zip(ours, inputs[0], strict=True):
        assert execution.real_initial_value(slave, reference, float(value))
    places = [OUTPUTS.index(n) for n in reals]
    for k in range(TICKS):
        assert manipulator.slave_real_values(slave, ours, inputs[k].tolist())
        assert execution.step()
        if k % 50 == 49:
            assert np.array_equal(observer.last_real_values(slave, wanted), command[k + 1, places])


@pytest.fixture
def address(serve: Any, tmp_path: Path) -> str:
    running = serve()
    running.server.manager.registry = builtin_registry()
    return f"unix:{tmp_path / 'j.sock'}"



def test_advance_gives_the_commands_bits(inputs: Array, command: Array, address: str) -> None:
    with Client.connect(address) as client:
        session = client.create_session("hmmwv", START, start_inputs=dict(zip(NAMES, inputs[0].tolist(), strict=True)))
        for k in range(TICKS):
            # Only what changed: the rest is held.
            given = {NAMES[i]: inputs[k, i] for i in np.flatnonzero(inputs[k] != inputs[max(k - 1, 0)])}
            state = client.advance(session, 1, given, OUTPUTS if k % 50 == 49 else ())
            if k % 50 == 49:
                assert np.array_equal(state.values, command[k + 1])


def test_lockstep_gives_the_commands_bits_for_any_order_of_arrival(
    inputs: Array, command: Array, address: str, finish: Any
) -> None:
    finish(asyncio.wait_for(_lockstep(inputs, command, address), 300.0))


async def _lockstep(inputs: Array, command: Array, address: str) -> None:
    shuffle = random.Random(3).shuffle
    async with await AsyncClient.connect(address) as client:
        first = dict(zip(NAMES, inputs[0].tolist(), strict=True))
        session = await client.create_session("hmmwv", START, participants=list(OWNERS),
                                              start_inputs=first)
        members, states = {}, {}
        for owner, (period, names) in OWNERS.items():
            wants = OUTPUTS if owner != "wind" else ["speed"]
            members[owner] = await client.join(session, owner, owns=names, wants=wants, period=period)
            states[owner] = members[owner].start
        column = {owner: [NAMES.index(n) for n in names] for owner, (_, names) in OWNERS.items()}
        waiting: dict[str, asyncio.Task[Any]] = {}
        for k in range(TICKS):
            due = [owner for owner, (period, _) in OWNERS.items() if k % period == 0]
            for owner in due:
                if owner in waiting:
                    states[owner] = await waiting.pop(owner)
                    assert states[owner].tick == k
                    if owner != "wind":
                        assert np.array_equal(states[owner].values, command[k])
            shuffle(due)
            for owner in due:
                waiting[owner] = asyncio.ensure_future(members[owner].step(inputs[k, column[owner]]))
                await asyncio.sleep(0)
        last = await waiting["steering"]
        assert last.tick == TICKS
        assert np.array_equal(last.values, command[TICKS])
        for task in waiting.values():
            task.cancel()
