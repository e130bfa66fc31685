"""Descriptions of models."""

from __future__ import annotations

import pytest

from jounce_client.compliance.rig import Server, refusal
from jounce_proto import jounce_pb2 as pb


@pytest.fixture
def description(server: Server) -> pb.DescribeModelResponse:
    """The signal table of the model under test."""
    reply: pb.DescribeModelResponse = server.stub.DescribeModel(pb.DescribeModelRequest(model=server.model.name))
    return reply


class TestModels:
    """ListModels and DescribeModel."""

    def test_the_list_counts_the_scalars_that_the_description_has(self, server: Server,
                                                                  description: pb.DescribeModelResponse) -> None:
        summary = next(m for m in server.stub.ListModels(pb.ListModelsRequest()).models
                       if m.name == server.model.name)
        for causality, count in ((pb.CAUSALITY_INPUT, summary.input_count),
                                 (pb.CAUSALITY_OUTPUT, summary.output_count),
                                 (pb.CAUSALITY_PARAMETER, summary.parameter_count)):
            assert sum(len(s.components) for s in description.signals if s.causality == causality) == count

    def test_every_scalar_has_one_name_and_one_place_in_the_vector_of_its_causality(
            self, description: pb.DescribeModelResponse) -> None:
        names = [s.name + suffix for s in description.signals for suffix in s.components]
        assert len(set(names)) == len(names)
        for causality in (pb.CAUSALITY_INPUT, pb.CAUSALITY_OUTPUT, pb.CAUSALITY_PARAMETER):
            place = 0
            for signal in (s for s in description.signals if s.causality == causality):
                assert signal.first_index == place, signal.name
                place += len(signal.components)

    def test_every_signal_has_a_unit_a_type_and_starts_within_its_bounds(
            self, description: pb.DescribeModelResponse) -> None:
        for signal in description.signals:
            assert signal.causality and signal.type and signal.unit, signal.name
            assert signal.minimum <= signal.maximum, signal.name
            assert len(signal.components) == (signal.shape[0] if signal.shape else 1), signal.name
            if signal.causality != pb.CAUSALITY_OUTPUT:
                assert len(signal.start) == len(signal.components), signal.name
                assert all(signal.minimum <= v <= signal.maximum for v in signal.start), signal.name

    def test_a_new_session_is_at_tick_zero_with_the_tick_length_described(
            self, server: Server, description: pb.DescribeModelResponse) -> None:
        session = server.create()
        assert description.tick_seconds > 0.0
        assert (session.tick, session.tick_seconds) == (0, description.tick_seconds)
        assert session.epoch >= 1 and session.token and session.join_token
        assert session.token != session.join_token
        status = server.status(session)
        assert (status.model, status.tick, status.sim_ns) == (server.model.name, 0, 0)

    def test_inputs_start_at_the_values_described_or_at_those_given(self, server: Server) -> None:
        given = {i.name: i.high for i in server.model.inputs[:3]}
        joined = server.member(server.create(start_inputs=given), "a", ["*"] if server.model.inputs else []).joined
        wanted = [given.get(i.name, i.start) for i in server.model.inputs]
        assert list(joined.inputs) == [i.name for i in server.model.inputs]
        assert list(joined.input_values) == wanted
        assert len(joined.output_values) == len(joined.outputs) == server.model.output_count

    def test_a_model_that_is_not_hosted_is_not_found(self, server: Server) -> None:
        request = pb.DescribeModelRequest(model="no such model")
        assert refusal(lambda: server.stub.DescribeModel(request)).reason == "UNKNOWN_MODEL"
