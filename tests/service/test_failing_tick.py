"""A session that fails in the middle of a move names the tick at which it failed, wherever its model runs.

The tick is found by single ticks: the one that is refused.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest

from jounce_fmu.build.library import Sources, ensure_library
from jounce_fmu.build.pack import export_fmu
from jounce_fmu.importer.foreign import Interface
from jounce_fmu.importer.host import Factory, FmuError, open_fmu
from jounce_fmu.importer.process import FmuProcess, Limits
from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.fmu_model import FmuModel, registry
from jounce_service.hosting.models import Registry
from jounce_service.server.config import ServerConfig

sys.path.insert(0, str(Path(__file__).parents[1] / "fmu"))
import oscillator

#: It swings up, and is refused beyond 1000 m.
GROWING = {"damping": -100.0}
BEFORE = 10
HOSTS = ("in process", "in a worker", "as a foreign FMU 2", "as a foreign FMU 3")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    return oscillator.sources(tmp_path_factory.mktemp("o"))


@pytest.fixture(scope="module")
def factory(sources: Sources, tmp_path_factory: pytest.TempPathFactory) -> Factory:
    library = ensure_library(sources, tmp_path_factory.mktemp("native"))
    return Factory("oscillator", library, Interface.of_table(oscillator.TABLE))


@pytest.fixture(scope="module")
def failing(factory: Factory) -> int:
    """The tick that is refused."""
    with factory.instance("alone") as fmu:
        fmu.setup(GROWING)
        for tick in range(1000):
            try:
                fmu.step()
            except FmuError as error:
                assert error.done == 0
                return tick
    raise AssertionError("it does not fail")


@pytest.fixture(scope="module")
def archives(sources: Sources, factory: Factory, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return [export_fmu(tmp_path_factory.mktemp("a") / f"o{fmi}.fmu", oscillator.TABLE, sources,
                       library_folder=factory.library.parent, fmi=fmi) for fmi in (2, 3)]


@pytest.fixture(params=HOSTS)
def session(request: pytest.FixtureRequest, serve: Any, factory: Factory, archives: list[Path]) -> Any:
    """A server whose moves may be long, and a session at tick ``BEFORE``."""
    server = serve(max_call_seconds=request.node.callspec.params.get("limit", 0.0), offload_ticks=100)
    kind = HOSTS.index(request.param)
    if kind < 2:
        model = FmuModel(factory, Limits() if kind else None)
        server.server.manager.registry = Registry({"oscillator": lambda: model})
        name = "oscillator"
    else:
        config = ServerConfig(fmu=(str(archives[kind - 2]),))
        server.server.manager.registry = registry(config)
        name = archives[kind - 2].stem
    made = server.stub.CreateSession(pb.CreateSessionRequest(
        model=name, parameters={n: pb.Value(number=v) for n, v in GROWING.items()}))
    server.advance(made, BEFORE)
    return server, made


def told(session: Any) -> tuple[str, int]:
    """Until where the failure names its tick, and where the clock stands."""
    server, made = session
    status = server.status(made)
    assert status.failure_reason == "SOLVER_FAILED"
    return status.failure.partition(":")[0], status.tick


@pytest.mark.parametrize("limit", [0.0, 60.0])
def test_of_an_advance(session: Any, failing: int, limit: float) -> None:
    server, made = session
    with pytest.raises(grpc.RpcError):
        server.advance(made, 3000)
    assert told(session) == (f"at tick {failing}", BEFORE)


@pytest.mark.parametrize("ramped", [False, True])
def test_of_a_lockstep_move(session: Any, failing: int, ramped: bool) -> None:
    server, made = session
    # Along a line each tick has inputs of its own, from the second delivery on.
    member = server.member(made, "a", inputs=["force"], period=90 if ramped else 1000,
                           first_order_inputs=["force"] if ramped else [])
    refused, force = member.step(0.0), 0.0
    while refused.HasField("state"):
        force += 1e-12
        refused = member.step(force)
    assert refused.error.reason == "SOLVER_FAILED"
    words, clock = told(session)
    assert words == f"at tick {failing}"
    assert refused.error.message.startswith(f"at tick {failing}: ")
    # The last due tick, or where all began.
    assert clock == (270 if ramped else BEFORE) and failing not in (270, 271)


def test_an_error_of_an_instance_tells_how_many_ticks_of_the_call_were_complete(
        factory: Factory, archives: list[Path], failing: int) -> None:
    ticking = replace(factory, by_tick=True)
    made = [factory.instance("a"), ticking.instance("b"), FmuProcess(factory, "c", Limits()),
            FmuProcess(ticking, "d", Limits()), *(replace(open_fmu(a), by_tick=True).instance("e") for a in archives)]
    for instance in made:
        instance.setup(GROWING, {})
        instance.step(BEFORE)
        with pytest.raises(FmuError) as caught:
            instance.step(3000)
        assert caught.value.done == failing - BEFORE
        instance.free()


def test_a_model_of_another_kind_tells_it_too(server: Any) -> None:
    # 1 cm a tick: after the fifth it is beyond 0.045 m.
    session = server.create(limit=0.045)
    server.advance(session, 1, **{"velocity.x": 10.0})
    with pytest.raises(grpc.RpcError):
        server.advance(session, 100)
    status = server.status(session)
    assert (status.failure, status.tick) == ("at tick 4: position.x passed 0.045", 1)
