"""Model exchange: an importer's integrator reaches what the core's own steps and the exact solution give."""

from __future__ import annotations

import ctypes as ct
from collections.abc import Iterator
from pathlib import Path

import fmpy
import numpy as np
import oscillator
import pytest
import turntable
from fmpy.validation import validate_fmu
from raw import ERROR, OK, Raw
from raw3 import Raw3

from jounce.signals import SignalTable
from jounce_fmu.build.library import Sources, ensure_library
from jounce_fmu.build.pack import export_fmu
from jounce_fmu.build.table_c import emit_table
from jounce_fmu.description.fmi2 import interface_guid, model_description
from jounce_fmu.importer.host import Factory

EXCHANGE, DISCARD = 0, 2


class EventInfo(ct.Structure):
    _fields_ = (*((f"flag{i}", ct.c_int) for i in range(5)), ("time", ct.c_double))


class Exchange(Raw):
    def __init__(self, library: str, guid: str, n: int = 2) -> None:
        super().__init__(library, guid, kind=EXCHANGE)
        assert self.component
        self.n = n

    def vector(self, call: str, *values: float, expect: int = OK) -> list[float]:
        box = (ct.c_double * self.n)(*values)
        assert self.call(call, box, ct.c_size_t(self.n)) == expect, self.log
        return list(box)

    def event(self) -> int:
        info = EventInfo(1, 1, 1, 1, 1, 5.0)
        status = self.call("NewDiscreteStates", ct.byref(info))
        if status == OK:
            assert [getattr(info, f"flag{i}") for i in range(5)] == [0] * 5
        return status

    def start(self) -> None:
        self.ready()
        assert self.event() == OK
        assert self.call("EnterContinuousTimeMode") == OK

    def reals(self, *references: int) -> list[float]:
        refs, box = (ct.c_uint * len(references))(*references), (ct.c_double * len(references))()
        assert self.call("GetReal", refs, ct.c_size_t(len(references)), box) == OK, self.log
        return list(box)


@pytest.fixture
def raw(factory: Factory) -> Iterator[Exchange]:
    made = Exchange(str(factory.library), factory.interface.guid)
    yield made
    made.free()


@pytest.fixture
def spinning(turntable_sources: Sources, native: Path) -> Iterator[Exchange]:
    made = Exchange(str(ensure_library(turntable_sources, native)), interface_guid(turntable.TABLE), 4)
    yield made
    made.free()


# ---- with an importer -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def archives(fmu: Path, oscillator_sources: Sources, native: Path, tmp_path_factory: pytest.TempPathFactory
             ) -> dict[int, Path]:
    third = tmp_path_factory.mktemp("me") / "three.fmu"
    return {2: fmu, 3: export_fmu(third, oscillator.TABLE, oscillator_sources, library_folder=native, fmi=3)}


@pytest.mark.parametrize("fmi", [2, 3])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8])
def test_cvode_reaches_the_exact_solution_to_its_tolerance(
    archives: dict[int, Path], fmi: int, tolerance: float
) -> None:
    result = fmpy.simulate_fmu(str(archives[fmi]), fmi_type="ModelExchange", stop_time=2.0, output_interval=0.04,
                               relative_tolerance=tolerance)
    expected = [oscillator.exact(t) for t in result["time"]]
    error = np.abs(result["position"] - expected).max()
    assert result["time"][-1] == pytest.approx(2.0)
    assert error < 20 * tolerance


@pytest.mark.parametrize("fmi", [2, 3])
def test_cvode_and_the_fixed_steps_agree_under_jumping_inputs(archives: dict[int, Path], fmi: int) -> None:
    times = [0.0, 0.5, 0.5, 1.2, 1.2, 3.0]
    forces = [0.0, 0.0, 8.0, 8.0, -3.0, -3.0]
    table = np.array(list(zip(times, forces, strict=True)), dtype=[("time", "f8"), ("force", "f8")])
    options = {"stop_time": 3.0, "output_interval": 0.01, "input": table,
               "start_values": {"x0": 0.0, "cubic": True, "direction": 2}}
    exchange = fmpy.simulate_fmu(str(archives[fmi]), fmi_type="ModelExchange", relative_tolerance=1e-9,
                                 record_events=False, **options)
    steps = fmpy.simulate_fmu(str(archives[fmi]), fmi_type="CoSimulation", **options)
    at = np.isin(np.round(steps["time"], 9), np.round(exchange["time"], 9))
    position = np.interp(steps["time"][at], exchange["time"], exchange["position"])
    assert at.sum() > 290
    assert np.abs(position - steps["position"][at]).max() < 1e-6
    assert np.ptp(position) > 0.3


@pytest.mark.parametrize("fmi", [2, 3])
def test_cvode_turns_a_quaternion_without_a_step_event(
    turntable_sources: Sources, native: Path, tmp_path: Path, fmi: int
) -> None:
    path = export_fmu(tmp_path / "t.fmu", turntable.TABLE, turntable_sources, library_folder=native, fmi=fmi)
    assert validate_fmu(str(path)) == []
    result = fmpy.simulate_fmu(str(path), fmi_type="ModelExchange", stop_time=40.0, relative_tolerance=1e-6,
                               start_values={"speed": 0.15, "heading_start": -3.0})
    assert result["heading"][-1] == pytest.approx(3.0, abs=1e-4)
    assert np.abs(result["length"] - 1.0).max() < 1e-15


# ---- call by call --------------------------------------------------------------------------------------------------


def test_derivatives_outputs_and_references_belong_to_the_states_set(raw: Exchange) -> None:
    raw.start()
    assert raw.vector("GetContinuousStates") == [0.1, 0.0]
    assert raw.vector("GetNominalsOfContinuousStates") == [0.1, 1.0]
    raw.vector("SetContinuousStates", 0.2, 3.0)
    assert raw.call("SetTime", ct.c_double(4.5)) == OK
    acceleration = (-0.8 * 3.0 - 50.0 * 0.2) / 2.0
    assert raw.vector("GetDerivatives") == [3.0, pytest.approx(acceleration)]
    assert raw.get("position", "acceleration") == [0.2, pytest.approx(acceleration)]
    assert raw.reals(300001, 200000, 200001, 300000) == [pytest.approx(acceleration), 0.2, 3.0, 3.0]
    assert raw.set(force=10.0) == OK
    assert raw.vector("GetDerivatives")[1] == pytest.approx(acceleration + 5.0)
    assert raw.get("acceleration") == [pytest.approx(acceleration + 5.0)]


def test_states_are_read_in_co_simulation_too_and_never_set_by_reference(factory: Factory) -> None:
    plain = Raw(str(factory.library), factory.interface.guid)
    refs, box = (ct.c_uint * 3)(200000, 300000, 300001), (ct.c_double * 3)()
    assert plain.call("GetReal", refs, ct.c_size_t(3), box) == ERROR
    assert plain.setup() == OK
    assert plain.call("EnterInitializationMode") == OK
    assert plain.call("GetReal", refs, ct.c_size_t(3), box) == OK
    assert list(box) == [0.1, 0.0, -2.5]
    assert plain.call("SetReal", refs, ct.c_size_t(1), box) == ERROR
    assert "is a state" in plain.log[-1]
    for beyond in (200002, 299999, 300002):
        refs[0] = beyond
        assert plain.call("GetReal", refs, ct.c_size_t(1), box) == ERROR
    plain.free()


def test_a_tunable_parameter_takes_effect_in_event_mode(raw: Exchange) -> None:
    raw.start()
    assert raw.set(force=2.0) == OK
    assert raw.set(gain=3.0) == ERROR
    assert "continuous-time mode" in raw.log[-1]
    before = raw.vector("GetDerivatives")[1]
    assert raw.call("EnterEventMode") == OK
    assert raw.set(gain=3.0) == OK
    assert raw.vector("GetDerivatives")[1] == before
    assert raw.event() == OK
    assert raw.call("EnterContinuousTimeMode") == OK
    assert raw.vector("GetDerivatives")[1] == pytest.approx(before + 2.0)
    assert raw.get("acceleration") == [pytest.approx(before + 2.0)]


def test_a_point_outside_the_model_is_discarded_and_a_nearer_one_goes_on(raw: Exchange) -> None:
    raw.start()
    raw.vector("SetContinuousStates", 2000.0, 0.0)
    raw.vector("GetDerivatives", expect=DISCARD)
    assert "beyond 1000 m" in raw.log[-1]
    raw.vector("SetContinuousStates", 0.5, 0.0)
    assert raw.vector("GetDerivatives")[1] == -12.5


def test_a_snapshot_keeps_states_time_inputs_and_mode(raw: Exchange, factory: Factory) -> None:
    raw.start()
    assert raw.set(force=2.0) == OK
    raw.vector("SetContinuousStates", 0.3, -1.0)
    assert raw.call("SetTime", ct.c_double(7.0)) == OK
    blob = raw.save()
    rates = raw.vector("GetDerivatives")
    other = Exchange(str(factory.library), factory.interface.guid)
    assert other.load(blob) == OK
    assert other.vector("GetContinuousStates") == [0.3, -1.0]
    assert other.vector("GetDerivatives") == rates
    assert other.call("EnterEventMode") == OK
    assert other.save() != blob
    assert raw.save() == blob
    other.free()
    with factory.instance("cs") as steps:
        steps.setup()
        of_steps = steps.get_state()
        with pytest.raises(Exception, match="kind of instance does not have"):
            steps.set_state(of_steps[:24] + blob)
        assert raw.load(of_steps[24:]) == ERROR
        assert "kind of instance" in raw.log[-1]


def test_the_length_of_a_quaternion_acts_on_nothing_and_is_kept(spinning: Exchange) -> None:
    spinning.start()
    refs = (ct.c_uint * 1)(1000)
    assert spinning.call("SetReal", refs, ct.c_size_t(1), (ct.c_double * 1)(2.0)) == OK
    spinning.vector("SetContinuousStates", 0.6, 0.0, 0.0, 0.8)
    rates, outputs = spinning.vector("GetDerivatives"), spinning.reals(10000, 10001, 10002)
    assert rates == pytest.approx([-0.8, 0.0, 0.0, 0.6])
    assert outputs == [pytest.approx(2.0 * np.arctan2(0.8, 0.6)), pytest.approx(1.0), 0.0]
    spinning.vector("SetContinuousStates", 1.8, 0.0, 0.0, 2.4)
    assert spinning.vector("GetDerivatives") == pytest.approx(rates)
    assert spinning.reals(10000, 10001, 10002) == pytest.approx(outputs)
    assert spinning.vector("GetContinuousStates") == [1.8, 0.0, 0.0, 2.4]
    spinning.vector("SetContinuousStates", 0.0, 0.0, 0.0, 0.0)
    spinning.vector("GetDerivatives", expect=DISCARD)


@pytest.mark.parametrize("count", [1, 3])
def test_a_table_with_another_number_of_states_than_the_model_is_refused(tmp_path: Path, count: int) -> None:
    wrong = SignalTable("o", oscillator.TABLE.signals, (oscillator.TABLE.states * 2)[:count])
    made = oscillator.sources(tmp_path)
    (tmp_path / "oscillator_table.c").write_text(emit_table(wrong, "oscillator"))
    broken = Raw(str(ensure_library(made, tmp_path)), interface_guid(wrong))
    assert not broken.component
    assert "table is broken" in broken.log[-1]


def test_a_table_without_states_is_described_for_co_simulation_alone() -> None:
    plain = SignalTable("o", oscillator.TABLE.signals)
    assert b"ModelExchange" not in model_description(plain, "o")
    assert b"ModelExchange" in model_description(oscillator.TABLE, "o")
    assert interface_guid(plain) != interface_guid(oscillator.TABLE)


# ---- the same through FMI 3 ----------------------------------------------------------------------------------------


def vector3(raw: Raw3, call: str, *values: float, expect: int = OK) -> list[float]:
    box = (ct.c_double * 2)(*values)
    assert raw.call(call, box, ct.c_size_t(2)) == expect, raw.log
    return list(box)


def test_fmi_3_evaluates_as_fmi_2_does(raw: Exchange, factory: Factory) -> None:
    raw.start()
    three = Raw3(str(factory.library), factory.interface.guid, exchange=True)
    three.ready()
    assert three.update() == (OK, [False] * 5, 0.0)
    assert three.call("EnterContinuousTimeMode") == OK
    sizes = [ct.c_size_t(9), ct.c_size_t(9)]
    assert three.call("GetNumberOfContinuousStates", ct.byref(sizes[0])) == OK
    assert three.call("GetNumberOfEventIndicators", ct.byref(sizes[1])) == OK
    assert [s.value for s in sizes] == [2, 0]
    assert raw.set(force=4.0) == OK
    assert three.set("force", 4.0) == OK
    raw.vector("SetContinuousStates", 0.2, 3.0)
    vector3(three, "SetContinuousStates", 0.2, 3.0)
    assert three.call("SetTime", ct.c_double(4.5)) == OK
    assert vector3(three, "GetContinuousStateDerivatives") == raw.vector("GetDerivatives")
    assert vector3(three, "GetNominalsOfContinuousStates") == [0.1, 1.0]
    values = (ct.c_double * 6)()
    assert three.values("Get", "Float64", [0, 200001, 300001, 10004], values) == OK
    assert list(values) == [4.5, 3.0, raw.reals(300001)[0], 4.0, 0.0, 0.0]
    flags = ct.c_bool(True), ct.c_bool(True)
    assert three.call("CompletedIntegratorStep", ct.c_bool(True), *map(ct.byref, flags)) == OK
    assert [f.value for f in flags] == [False, False]
    blob = three.save()
    assert raw.load(blob) == OK  # a snapshot goes from one standard to the other
    assert raw.vector("GetContinuousStates") == [0.2, 3.0]
    vector3(three, "SetContinuousStates", 2000.0, 0.0)
    vector3(three, "GetContinuousStateDerivatives", expect=DISCARD)
    three.free()


def test_fmi_3_takes_tunable_parameters_in_event_mode(factory: Factory) -> None:
    three = Raw3(str(factory.library), factory.interface.guid, exchange=True)
    three.ready()
    assert three.call("EnterContinuousTimeMode") == OK
    assert three.set("force", 2.0) == OK
    assert three.set("gain", 3.0) == ERROR
    before = vector3(three, "GetContinuousStateDerivatives")[1]
    assert three.call("EnterEventMode") == OK
    assert three.set("gain", 3.0) == OK
    assert three.update()[0] == OK
    assert vector3(three, "GetContinuousStateDerivatives")[1] == pytest.approx(before + 2.0)
    assert three.call("Terminate") == OK
    assert three.get("acceleration") == [pytest.approx(before + 2.0)]
    three.free()
