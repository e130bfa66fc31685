"""A real FMU behind the server gives the bits that it gives in process."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest

from jounce_fmu.build.library import BuildError, ensure_library
from jounce_fmu.importer.foreign import Interface
from jounce_fmu.importer.host import Factory
from jounce_proto import jounce_pb2 as pb
from jounce_service import JounceServer, ServerConfig
from jounce_service.hosting.fmu_model import FmuModel, builtin_registry
from jounce_service.hosting.models import Registry

sys.path.insert(0, str(Path(__file__).parents[1] / "fmu"))
import oscillator


@pytest.fixture(scope="module")
def factory(tmp_path_factory: pytest.TempPathFactory) -> Factory:
    library = ensure_library(oscillator.sources(tmp_path_factory.mktemp("o")), tmp_path_factory.mktemp("native"))
    return Factory("oscillator", library, Interface.of_table(oscillator.TABLE))


@pytest.fixture
def server(serve: Any, factory: Factory) -> Any:
    running = serve()
    running.server.manager.registry = Registry({"oscillator": lambda: FmuModel(factory)})
    return running


def test_two_hundred_lockstep_ticks_equal_the_run_in_process_to_the_last_bit(server: Any, factory: Factory) -> None:
    session = server.stub.CreateSession(pb.CreateSessionRequest(model="oscillator"))
    names = [s.name for s in oscillator.TABLE.inputs]
    member = server.member(session, "a", inputs=names)
    with factory.instance("alone") as alone:
        alone.setup()
        for k in range(200):
            u = [0.5 + 0.25 * math.sin(k + i) for i in range(len(names))]
            alone.set_inputs(np.array(u))
            alone.step(1)
            assert list(member.step(*u).state.outputs) == alone.get_outputs().tolist()


def test_a_long_advance_equals_single_ticks(server: Any) -> None:
    ends = []
    for parts in ([300], [1] * 10 + [90, 200]):
        session = server.stub.CreateSession(pb.CreateSessionRequest(model="oscillator"))
        for n in parts:
            reply = server.stub.Advance(pb.AdvanceRequest(session_id=session.session_id, token=session.token,
                                                          n_ticks=n, output_names=["*"]))
        ends.append((reply.tick, list(reply.outputs)))
    assert ends[0] == ends[1]


def test_every_vehicle_that_ships_is_in_the_registry() -> None:
    assert {"hmmwv", "hmmwv_chrono"} <= set(builtin_registry().names)


def test_a_model_that_cannot_be_built_is_listed_with_the_reason_and_refused_by_the_table(
        server: Any, info: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> Factory:
        raise BuildError("the compiler's own words")

    monkeypatch.setattr("jounce_service.hosting.fmu_model.open_builtin", fail)
    registry = builtin_registry()
    assert "the compiler's own words" in registry.open_all()["hmmwv"]
    server.server.manager.registry = registry
    listed = server.stub.ListModels(pb.ListModelsRequest()).models
    assert "the compiler's own words" in next(m for m in listed if m.name == "hmmwv").unavailable
    for call, request in ((server.stub.DescribeModel, pb.DescribeModelRequest(model="hmmwv")),
                          (server.stub.CreateSession, pb.CreateSessionRequest(model="hmmwv"))):
        with pytest.raises(grpc.RpcError) as caught:
            call(request)
        assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION
        assert (info(caught.value).reason, info(caught.value).given) == ("MODEL_UNAVAILABLE", "hmmwv")
        assert "the compiler's own words" in info(caught.value).message


def test_a_server_without_a_start_stops_quietly(finish: Any) -> None:
    finish(JounceServer(builtin_registry(), ServerConfig()).stop())


def test_an_unknown_parameter_of_a_real_model_is_named(server: Any, info: Any) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        server.stub.CreateSession(pb.CreateSessionRequest(model="oscillator", parameters={"x": pb.Value(number=1.0)}))
    assert (info(caught.value).reason, info(caught.value).field) == ("UNKNOWN_SIGNAL", "x")
