"""Every input of the vehicle as importers set it: zeros, difference quotients, roundings, and what is not used."""

from __future__ import annotations

import ctypes as ct
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from raw import DISCARD, ERROR, OK, Raw

from jounce.axles import WHEELS
from jounce.signals import Scalar
from jounce_fmu.importer.host import FmuInstance, open_builtin
from jounce_fmu.importer.instance import FmuError
from jounce_fmu.models import data_sets

FACTORY = open_builtin()
TABLE = FACTORY.table
New = Callable[..., Raw]


@pytest.fixture
def new() -> Iterator[New]:
    made: list[Raw] = []

    def start(kind: int = 1, **parameters: float) -> Raw:
        raw = Raw(str(FACTORY.library), FACTORY.interface.guid, kind=kind)
        made.append(raw)
        for name, value in parameters.items():
            reference, box = ct.c_uint(TABLE.by_name(name).value_reference), ct.c_int(int(value))
            assert raw.call("SetInteger", ct.byref(reference), ct.c_size_t(1), ct.byref(box)) == OK
        return raw

    yield start
    for raw in made:
        raw.free()


def put(raw: Raw, values: dict[str, float]) -> int:
    references = (ct.c_uint * len(values))(*(TABLE.by_name(n).value_reference for n in values))
    return raw.call("SetReal", references, ct.c_size_t(len(values)), (ct.c_double * len(values))(*values.values()))


def read(raw: Raw, *names: str) -> list[float]:
    references, values = (ct.c_uint * len(names))(*(TABLE.by_name(n).value_reference for n in names)), ()
    values = (ct.c_double * len(names))()
    assert raw.call("GetReal", references, ct.c_size_t(len(names)), values) == OK, raw.log
    return list(values)


def normal(wheel: str, x: float, y: float, z: float) -> dict[str, float]:
    return {f"wheel_{wheel}.terrain_normal.{a}": v for a, v in zip("xyz", (x, y, z), strict=True)}


@pytest.mark.parametrize("name", data_sets())
def test_no_input_starts_on_a_bound_that_a_difference_quotient_crosses(name: str) -> None:
    for s in open_builtin(name).table.inputs:
        step = 1e-3 * s.signal.nominal  # quotients take the root of the precision, 1.5e-8 of the nominal, or more
        assert s.minimum <= s.start - step and s.start + step <= s.maximum, s.name


@pytest.mark.parametrize("sources", [{}, {"terrain_source": 2}, {"tire_source": 2}])
def test_every_input_may_move_from_its_start_by_a_little_to_both_sides(new: New, sources: dict[str, int]) -> None:
    raw = new(**sources)
    raw.ready()
    t = 0.0
    for s in TABLE.inputs:
        for step in (1e-12, -1e-12, 1.5e-8 * s.signal.nominal, -1.5e-8 * s.signal.nominal):
            assert put(raw, {s.name: s.start + step}) == OK, raw.log[-1]
            read(raw, "speed")
        assert raw.step(t, 0.001) == OK, raw.log[-1]
        t += 0.001
        assert put(raw, {s.name: s.start}) == OK


@pytest.mark.parametrize("kind", [1, 0])
def test_an_importer_may_set_every_input_to_zero_where_the_ground_is_the_plane(new: New, kind: int) -> None:
    raw = new(kind)
    for phase in ("before", "after"):
        assert put(raw, dict.fromkeys((s.name for s in TABLE.inputs), 0.0)) == OK, raw.log[-1]
        if phase == "before":
            raw.ready()
    assert raw.step(0.0, 0.1) == OK if kind else read(raw, "speed") is not None


@pytest.mark.parametrize(("source", "names"), [
    ("terrain_source", ("terrain_height", "terrain_normal.x", "terrain_normal.z", "terrain_mu")),
    ("tire_source", ("force.x", "moment.z", "point.y")),
])  # fmt: skip
def test_only_what_is_used_is_judged(new: New, source: str, names: tuple[str, ...]) -> None:
    unused, used = new(), new(**{source: 2})
    for raw in (unused, used):
        raw.ready()
    for name in names:
        for value in (-1e12, 1e12):
            assert put(unused, {f"wheel_RL.{name}": value}) == OK, unused.log[-1]
        assert put(unused, {f"wheel_RL.{name}": float("nan")}) == ERROR
        if not name.startswith("terrain_normal"):
            assert put(used, {f"wheel_RL.{name}": -1e12}) == ERROR
            assert f"wheel_RL.{name} = -1" in used.log[-1] and "expected " in used.log[-1]
    assert unused.step(0.0, 0.01) == OK
    same = new()
    same.ready()
    assert same.step(0.0, 0.01) == OK
    assert read(same, "com.pos.z", "speed") == read(unused, "com.pos.z", "speed")


def test_what_becomes_used_is_judged_at_the_end_of_initialization(new: New) -> None:
    raw = new()
    assert put(raw, {"wheel_FR.terrain_mu": 7.0}) == OK
    switch, two = ct.c_uint(TABLE.by_name("terrain_source").value_reference), ct.c_int(2)
    assert raw.call("SetInteger", ct.byref(switch), ct.c_size_t(1), ct.byref(two)) == OK
    assert raw.setup() == OK and raw.call("EnterInitializationMode") == OK
    assert raw.call("ExitInitializationMode") == ERROR
    assert "wheel_FR.terrain_mu = 7: expected 0 to 2" in raw.log[-1]
    assert put(raw, {"wheel_FR.terrain_mu": 0.7}) == OK
    assert raw.call("ExitInitializationMode") == OK


def turned(yaw: float) -> tuple[float, float, float]:
    """Third column of the rotation matrix of a pure yaw, by the formula that importers use: z may be 1 + 2e-16."""
    e0, e3 = np.cos(0.5 * yaw), np.sin(0.5 * yaw)
    return 0.0, 0.0, float(e0 * e0 + e3 * e3)


@given(st.floats(-3.2, 3.2))
def test_a_normal_made_of_any_yaw_is_taken(yaw: float) -> None:
    with _grounded() as fmu:
        fmu.set_values(normal("FL", *turned(yaw)))
        fmu.step(1)


def _grounded() -> FmuInstance:
    fmu = FACTORY.instance("ground")
    fmu.setup({"terrain_source": "EXTERNAL"})
    return fmu


@pytest.mark.parametrize("length", [5e-324, 1e-200, 1e-3, 1.0, 7.0, 1e200, 1e299])
def test_the_length_of_a_normal_means_nothing(length: float) -> None:
    """Also not at the start, where the four are averaged."""
    unit = (0.0, 0.01 if length > 1e-300 else 0.0, 1.0)
    outputs = []
    for size in (1.0, length):
        with FACTORY.instance("n") as fmu:
            slope = {k: v for w in WHEELS for k, v in normal(w, *(size * x for x in unit)).items()}
            fmu.setup({"terrain_source": "EXTERNAL"}, slope | normal("RR", *unit))
            fmu.step(20)
            outputs.append(fmu.get_outputs())
    np.testing.assert_allclose(outputs[1], outputs[0], rtol=1e-6, atol=1e-9)


def test_a_normal_may_come_component_by_component(new: New) -> None:
    raw = new(terrain_source=2)
    raw.ready()
    for name, value in normal("RL", 5.0, 0.0, 50.0).items():
        assert put(raw, {name: value}) == OK
    assert raw.step(0.0, 0.001) == OK


@pytest.mark.parametrize("bad", [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (30.0, 0.0, 1.0)])
@pytest.mark.parametrize("kind", [1, 0])
def test_a_normal_that_points_nowhere_is_refused_and_the_instance_goes_on(
        new: New, bad: tuple[float, float, float], kind: int) -> None:
    raw = new(kind, terrain_source=2)
    raw.ready()
    before = read(raw, "com.pos.z")
    assert put(raw, normal("RL", *bad)) == OK
    if kind:
        assert raw.step(0.0, 0.001) == ERROR
    else:
        n = TABLE.states
        rates = (ct.c_double * len(n))()
        assert raw.call("GetDerivatives", rates, ct.c_size_t(len(n))) == DISCARD
    assert "wheel_RL.terrain_normal.x, .y, .z = " in raw.log[-1] and "a vector of any length" in raw.log[-1]
    assert put(raw, normal("RL", 0.0, 0.0, 2.0)) == OK
    assert read(raw, "com.pos.z") == before
    assert not kind or raw.step(0.0, 0.001) == OK


def test_a_restored_state_is_judged_again() -> None:
    with _grounded() as fmu:
        fmu.set_values(normal("RL", 0.0, 0.0, 0.0))
        saved = fmu.get_state()
        fmu.set_values(normal("RL", 0.0, 0.0, 1.0))
        fmu.step(1)
        fmu.set_state(saved)
        with pytest.raises(FmuError, match="any length"):
            fmu.step(1)


@pytest.mark.parametrize("s", [s for s in TABLE.inputs if not s.signal.least_up][:20], ids=lambda s: s.name)
def test_rounding_beyond_a_bound_is_that_bound_and_more_is_refused(new: New, s: Scalar) -> None:
    raw = new(terrain_source=2, tire_source=2)
    raw.ready()
    for bound, out in ((s.minimum, -1.0), (s.maximum, 1.0)):
        rounding = 1e-9 * abs(bound or s.signal.nominal)
        assert put(raw, {s.name: bound + out * 0.9 * rounding}) == OK, raw.log[-1]
        assert read(raw, s.name) == [bound]
        assert put(raw, {s.name: bound + out * 1.1 * rounding}) == ERROR
        assert read(raw, s.name) == [bound]


def test_a_brake_torque_below_zero_counts_as_zero() -> None:
    outputs = []
    for torque in (0.0, -1e-12, -0.5):
        with FACTORY.instance("b") as fmu:
            fmu.setup({"init.speed": 5.0}, {f"wheel_{w}.brake_torque": torque for w in WHEELS})
            fmu.step(50)
            outputs.append(fmu.get_outputs())
    assert np.array_equal(outputs[0], outputs[1]) and np.array_equal(outputs[0], outputs[2])


def test_every_output_is_real_and_the_ticks_are_counted_among_them() -> None:
    assert {s.signal.type for s in TABLE.outputs} == {"Real"}
    with FACTORY.instance("t") as fmu:
        fmu.setup()
        fmu.step(1234)
        assert fmu.get_outputs()[TABLE.by_name("tick_count").index] == 1234.0
    assert TABLE.by_name("tick_count").value_reference == 10186
