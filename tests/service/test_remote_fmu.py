"""The remote vehicle: an FMU that joins a session of a real server, in a process of its own."""

from __future__ import annotations

import math
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fmpy.fmi1 import FMICallException

from jounce.data import load_vehicle
from jounce.models.double_wishbone.signals import LEDGER, table
from jounce.references import Ledger
from jounce_client import Client, JounceError, Session
from jounce_fmu.importer.host import Factory, open_builtin
from jounce_fmu.partners import export_partner
from jounce_fmu.partners.remote import Remote
from jounce_tools.demo.run import Child, serving

sys.path.insert(0, str(Path(__file__).parents[1] / "fmu"))
from slave import Slave, opened

TABLE = table(load_vehicle("hmmwv"))
OUTPUTS = [s.name for s in TABLE.outputs if s.signal.type == "Real"]
PLACES = [i for i, s in enumerate(TABLE.outputs) if s.signal.type == "Real"]
START = {"init.speed": 9.0, "terrain.bank": 0.05}


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_partner(tmp_path_factory.mktemp("remote") / "remote.fmu", "remote")


@pytest.fixture(scope="module")
def address(factory: Factory, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("s")) as (_, address):
        yield address


@pytest.fixture(scope="module")
def factory() -> Factory:
    return open_builtin("hmmwv")


def steering(k: int) -> dict[str, float]:
    angle = 1.5 * math.sin(0.02 * k)
    return {"steering_wheel_angle": angle, "wheel_RL.drive_torque": 300.0 + 10.0 * k, "wheel_FR.brake_torque": 2.0 * k}


def native(factory: Factory, ticks: int, every: int = 1) -> list[list[float]]:
    """Outputs of the native FMU at every ``every``-th tick."""
    with factory.instance("native") as instance:
        instance.setup(START)
        rows = [instance.get_outputs()[PLACES].tolist()]
        for k in range(0, ticks, every):
            instance.set_values(steering(k))
            instance.step(every)
            rows.append(instance.get_outputs()[PLACES].tolist())
    return rows


def drive(slave: Slave, first: int, last: int, every: int = 1) -> list[list[float]]:
    rows = []
    for k in range(first, last, every):
        slave.set(steering(k))
        slave.fmu.doStep(0.001 * k, 0.001 * every)
        rows.append(slave.get(OUTPUTS))
    return rows


@pytest.mark.parametrize("every", [1, 5])
def test_the_remote_vehicle_gives_the_bits_of_the_native_one(
        every: int, address: str, factory: Factory, archive: Path, tmp_path: Path) -> None:
    slave = Slave(archive, tmp_path / "r")
    slave.fmu.setupExperiment(startTime=0.0)
    slave.set({"remote.address": address, "remote.period": every, **START})
    slave.fmu.enterInitializationMode()
    first = slave.get(OUTPUTS)
    slave.fmu.exitInitializationMode()
    assert [first, *drive(slave, 0, 300, every)] == native(factory, 300, every)
    slave.fmu.terminate()
    assert slave.get(["speed"]) == [native(factory, 300, every)[-1][OUTPUTS.index("speed")]]
    slave.fmu.freeInstance()


def test_its_variables_have_the_value_references_of_the_native_fmu(archive: Path, tmp_path: Path) -> None:
    slave = Slave(archive, tmp_path / "r")
    assert {s.name: s.value_reference for s in TABLE.scalars}.items() <= {
        n.replace("[", ".").replace("]", ""): v.valueReference for n, v in slave.variables.items()}.items()
    slave.fmu.freeInstance()


def test_its_own_variables_have_references_in_the_ledger_of_the_vehicle() -> None:
    own = {s.name for s in Remote.base.scalars} - {s.name for s in TABLE.scalars}
    assert own and own <= Ledger.read(LEDGER).references.keys()


def test_a_state_is_restored_bit_for_bit_in_the_same_and_in_another_session(
        address: str, factory: Factory, archive: Path, tmp_path: Path) -> None:
    expected = native(factory, 120)[1:]
    values = {"remote.address": address, **START}
    with opened(archive, tmp_path / "one", values=values) as slave:
        assert drive(slave, 0, 40) == expected[:40]
        state = slave.save()
        assert drive(slave, 40, 120) == expected[40:]
        slave.restore(state)
        assert slave.get(OUTPUTS) == expected[39]
        assert drive(slave, 40, 120) == expected[40:]
        slave.fmu.terminate()
    other = Slave(archive, tmp_path / "two")
    other.fmu.setupExperiment(startTime=0.0)
    other.restore(state)
    assert drive(other, 40, 120) == expected[40:]
    del other.log[:]
    with pytest.raises(FMICallException):
        other.restore(state[:-1])
    assert "checksum" in other.log[-1] and other.get(OUTPUTS) == expected[119]
    other.fmu.terminate()
    other.fmu.freeInstance()


def test_it_joins_a_session_as_one_of_two_and_waits_no_longer_than_its_timeout(
        address: str, factory: Factory, archive: Path, tmp_path: Path) -> None:
    expected = native(factory, 40)[1:]
    mine = ["wheel_RL.drive_torque", "wheel_FR.brake_torque"]
    with Client.connect(address) as client:
        session = client.create_session("hmmwv", START, participants=["tool", "pilot"])
        shared = session.for_participants()
        pilot = client.join(shared, "pilot", owns=["steering_wheel_angle"], wants=["speed"], period=1)
        values = {"remote.address": address, "remote.session": shared.id, "remote.token": shared.token,
                  "remote.participant": "tool", "remote.owns": ", ".join(mine), "remote.timeout": 2.0}
        with opened(archive, tmp_path / "r", values=values) as slave:
            def step(k: int) -> None:
                slave.set(steering(k))
                slave.fmu.doStep(0.001 * k, 0.001)

            def pilots(first: int, last: int) -> None:
                for k in range(first, last):
                    pilot.step({"steering_wheel_angle": steering(k)["steering_wheel_angle"]})

            helper = threading.Thread(target=pilots, args=(0, 20))
            helper.start()
            for k in range(20):
                step(k)
                assert slave.get(OUTPUTS) == expected[k]
            helper.join()
            begun = time.monotonic()
            with pytest.raises(FMICallException, match="discard"):
                step(20)
            assert time.monotonic() - begun < 8.0
            assert "BARRIER_TIMEOUT" in slave.log[-1] and "pilot" in slave.log[-1]
            assert slave.get(OUTPUTS) == expected[19]
            helper = threading.Thread(target=pilots, args=(20, 40))
            helper.start()
            for k in range(20, 40):
                step(k)
            helper.join()
            assert slave.get(OUTPUTS) == expected[39]
            # A participant that is no controller must not set a shared session back.
            with pytest.raises(FMICallException):
                slave.save()
            assert "save: " in slave.log[-1]
            slave.fmu.terminate()
        client.delete_session(session)


@pytest.mark.parametrize(("values", "word"), [
    ({"remote.session": "nobody", "remote.token": "x"}, "UNKNOWN_SESSION"),
    ({"remote.session": "nobody", "init.speed": 3.0}, "init.speed"),
    ({"remote.model": "tank"}, "UNKNOWN_MODEL"),
    ({"remote.owns": "wheel_FL.force, rudder"}, "rudder"),
    ({"imu.pos.x": math.nan}, "a finite number"),
])
def test_what_the_session_cannot_do_is_refused_in_initialization_with_the_reason(
        values: dict[str, object], word: str, address: str, archive: Path, tmp_path: Path) -> None:
    slave = Slave(archive, tmp_path / "r")
    with pytest.raises(FMICallException):
        slave.setup({"remote.address": address, **values})
    assert word in "\n".join(slave.log)
    slave.fmu.freeInstance()
    _gone(slave, address)


def test_a_wrong_step_is_refused_and_the_right_one_still_works(address: str, archive: Path, tmp_path: Path) -> None:
    with opened(archive, tmp_path / "r", values={"remote.address": address}) as slave:
        slave.fmu.doStep(0.0, 1.03e-13)  # what is left of a summed time
        for h in (0.002, 0.0005, -0.001):
            with pytest.raises(FMICallException, match="discard"):
                slave.fmu.doStep(0.0, h)
        slave.fmu.doStep(0.0, 0.001)
        slave.fmu.terminate()


def test_a_server_that_is_not_there_is_an_error_within_the_timeout(archive: Path, tmp_path: Path) -> None:
    slave = Slave(archive, tmp_path / "r")
    begun = time.monotonic()
    with pytest.raises(FMICallException):
        slave.setup({"remote.address": f"unix:{tmp_path}/nobody", "remote.timeout": 0.5})
    assert time.monotonic() - begun < 8.0
    assert "nobody" in slave.log[-1]
    slave.fmu.freeInstance()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_server_that_dies_or_hangs_is_an_error_within_the_timeout(
        how: signal.Signals, factory: Factory, archive: Path, tmp_path: Path) -> None:
    slave = Slave(archive, tmp_path / "r")
    with serving(tmp_path) as (server, address):
        slave.setup({"remote.address": address, "remote.timeout": 1.0})
        drive(slave, 0, 20)
        before = slave.get(OUTPUTS)
        _signal(server, how)
        for _ in range(3):
            begun = time.monotonic()
            with pytest.raises(FMICallException):
                slave.fmu.doStep(0.02, 0.001)
            assert time.monotonic() - begun < 8.0
            assert "step from" in slave.log[-1]
        assert slave.get(OUTPUTS) == before
        slave.fmu.terminate()
        slave.fmu.freeInstance()
        server.process.kill()
        server.process.wait()


def _gone(slave: Slave, address: str) -> None:
    """The session that the FMU told of in its log is closed."""
    told = re.findall(r"created session (\w+); others join with token (\S+)", "\n".join(slave.log))
    with Client.connect(address) as client:
        for session, token in told:
            with pytest.raises(JounceError, match="UNKNOWN_SESSION"):
                client.get_session(Session(session, token))


def test_an_instance_that_is_freed_without_an_end_closes_its_session(
        address: str, archive: Path, tmp_path: Path) -> None:
    slave = Slave(archive, tmp_path / "r")
    slave.setup({"remote.address": address})
    assert "session" in slave.log[-1]
    slave.fmu.freeInstance()
    _gone(slave, address)


def _signal(server: Child, how: signal.Signals) -> None:
    os.kill(server.process.pid, how)
    if how is signal.SIGKILL:
        server.process.wait()
