"""Directional derivatives of the vehicle are those of the values that an importer reads, in FMI 2 and 3."""

from __future__ import annotations

import ctypes as ct
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from raw import ERROR, NAN, OK, Raw
from raw3 import Raw3
from sensitivity import Array, Vehicle, differences, random_point, steps

from jounce.axles import WHEELS
from jounce_fmu.description.fmi2 import model_description
from jounce_fmu.description.fmi3 import model_description3
from jounce_fmu.importer.host import Factory, open_builtin

FACTORY = open_builtin()
TABLE = FACTORY.table
STATES = len(TABLE.states)
EXTERNAL = 2
#: Rounding alone: the largest of four numbers near 1e-16.
NOISE = "closure_residual"


def vehicle(kind: int = 0, **parameters: float) -> Vehicle:
    return Vehicle(str(FACTORY.library), FACTORY.interface.guid, TABLE, kind, **parameters)


@pytest.fixture
def moving() -> Iterator[Vehicle]:
    made = vehicle()
    x, u = random_point(made, made.read(made.states), np.random.default_rng(5))
    made.put(x, u)
    yield made
    made.free()


def rounding(values: Array, step: Array) -> Array:
    """Error of difference quotients by rounding; differences of forces of 10 kN hide behind small rates."""
    return 2e-16 * (np.abs(values)[:, None] + 1e4) / step


@pytest.mark.parametrize(
    ("where", "points"), [({}, 18), ({"terrain_source": EXTERNAL}, 16), ({"tire_source": EXTERNAL}, 16)]
)
def test_every_derivative_is_that_of_central_differences_at_random_states(where: dict[str, float], points: int) -> None:
    made = vehicle(**where)
    rest, rng, step = made.read(made.states), np.random.default_rng(11), steps(TABLE)
    kept = [i for i, r in enumerate([*made.rates, *made.outputs]) if r != TABLE.by_name(NOISE).value_reference]
    found = drawn = 0
    while found < points:
        drawn += 1
        z = np.concatenate(random_point(made, rest, rng))
        quotient, spread = differences(lambda z: made.at(z[:STATES], z[STATES:])[kept], z, step)
        noise = rounding(made.at(z[:STATES], z[STATES:])[kept], step)
        if (spread > 1e-6 * np.abs(quotient) + noise).any():
            continue  # a kink within the steps: the quotients do not agree among themselves
        found += 1
        exact = made.jacobian()[kept]
        wrong = np.argwhere(np.abs(exact - quotient) > 1e-6 * np.abs(quotient) + noise)
        assert not len(wrong), [(*at, exact[*at], quotient[*at], noise[*at], spread[*at]) for at in wrong]
        assert (exact != 0.0).sum() > 1900
    assert drawn < 4 * points
    made.free()


def _on_its_body(made: Vehicle, rest: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """On its side or roof, pressed some millimetres into the ground and sliding."""
    x, u = random_point(made, rest, rng)
    roll, pitch = rng.uniform(1.5, 3.1) * rng.choice([-1.0, 1.0]), 0.1 * rng.normal()
    about_x, about_y = (np.cos(roll / 2), np.sin(roll / 2)), (np.cos(pitch / 2), np.sin(pitch / 2))
    x[3:7] = [about_x[0] * about_y[0], about_x[1] * about_y[0], about_x[0] * about_y[1], -about_x[1] * about_y[1]]
    x[10:13] = rng.normal(size=3) * [1.0, 1.0, 0.3]
    for x[2] in np.arange(3.0, 0.0, -0.01):
        made.put(x, u)
        if made.read([TABLE.by_name("chassis.ground_force.z").value_reference])[0] > 0.0:
            break
    x[2] -= rng.uniform(0.002, 0.02)
    return x, u


def _on_the_shocks_ends(made: Vehicle, rest: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """In the air, the wheels hanging from shocks that are drawn out by up to a millimetre beyond their length."""
    x, u = random_point(made, rest, rng)
    x[2] += 2.0
    x[ARM : ARM + 4] = -0.38
    for _ in range(8):  # secant steps to the length wanted
        made.put(x, u)
        long = made.read(SHOCKS)
        x[ARM : ARM + 4] += 1e-4
        made.put(x, u)
        slope = (made.read(SHOCKS) - long) / 1e-4
        x[ARM : ARM + 4] += (0.4505 - long) / slope - 1e-4
    x[ARM : ARM + 4] += 2e-4 * rng.normal(size=4) / slope
    return x, u


ARM = next(i for i, s in enumerate(TABLE.states) if s.name == "state.wheel_FL.arm_angle")
SHOCKS = [TABLE.by_name(f"wheel_{w}.shock_length").value_reference for w in WHEELS]


@pytest.mark.parametrize("place", [_on_its_body, _on_the_shocks_ends])
def test_derivatives_hold_while_the_body_lies_on_the_ground_and_while_shocks_are_at_their_ends(
    place: Callable[[Vehicle, Array, np.random.Generator], tuple[Array, Array]],
) -> None:
    made = vehicle()
    rest, rng, step = made.read(made.states), np.random.default_rng(3), steps(TABLE)
    step[ARM : ARM + 4] = 1e-6  # a steel rod's force turns over on a tenth of a millimetre
    kept = [i for i, r in enumerate([*made.rates, *made.outputs]) if r != TABLE.by_name(NOISE).value_reference]
    ground, found = TABLE.by_name("chassis.ground_force.z").value_reference, 0
    for _ in range(12):
        z = np.concatenate(place(made, rest, rng))
        quotient, spread = differences(lambda z: made.at(z[:STATES], z[STATES:])[kept], z, step)
        noise = rounding(made.at(z[:STATES], z[STATES:])[kept], step)
        met = made.read([ground])[0] > 1e3 if place is _on_its_body else (made.read(SHOCKS) > 0.45).all()
        if not met or (spread > 1e-6 * np.abs(quotient) + noise).any():
            continue  # a kink within the steps
        found += 1
        exact = made.jacobian()[kept]
        wrong = np.argwhere(np.abs(exact - quotient) > 1e-6 * np.abs(quotient) + noise)
        assert not len(wrong), [(*at, exact[*at], quotient[*at], noise[*at], spread[*at]) for at in wrong]
    assert found >= 6
    made.free()


def test_a_direction_is_the_sum_of_its_parts(moving: Vehicle) -> None:
    known, unknown = [*moving.states, *moving.inputs], [*moving.rates, *moving.outputs]
    seed = np.random.default_rng(0).normal(size=len(known))
    expected = moving.jacobian() @ seed
    assert moving.directional(unknown, known, seed) == pytest.approx(expected, rel=1e-9, abs=1e-6)
    assert moving.directional(unknown[:3], known, seed) == pytest.approx(expected[:3], rel=1e-9, abs=1e-9)


def test_asking_for_derivatives_changes_nothing(moving: Vehicle) -> None:
    before = moving.read([*moving.states, *moving.rates, *moving.outputs])
    moving.jacobian()
    assert moving.read([*moving.states, *moving.rates, *moving.outputs]).tobytes() == before.tobytes()


def test_the_length_of_the_quaternion_moves_nothing(moving: Vehicle) -> None:
    along = moving.read(moving.states[3:7])
    moved = moving.directional([*moving.rates, *moving.outputs], moving.states[3:7], along)
    assert np.abs(moved).max() < 1e-7


def test_a_parked_vehicle_has_finite_derivatives() -> None:
    for made in (vehicle(), vehicle(terrain__slope=0.2)):
        assert np.isfinite(made.jacobian()).all()
        made.free()


def test_in_co_simulation_outputs_follow_the_inputs_of_the_next_tick() -> None:
    made = vehicle(1, init__speed=12.0)
    inside = {"steering_wheel_angle": 1.5, "steering_wheel_rate": 0.4, "brake_torque": 500.0, "terrain_normal.z": 0.9}
    u = np.array([inside.get(s.name.partition(".")[2] or s.name, s.start) for s in TABLE.inputs])
    made.put(np.zeros(0), u)
    assert made.call("DoStep", ct.c_double(0.0), ct.c_double(0.5), 1) == OK
    step = steps(TABLE)[STATES:]
    quotient, _ = differences(lambda u: made.at(np.zeros(0), u), u, step)
    made.put(np.zeros(0), u)
    unknown = [*made.rates, *made.outputs]
    exact = np.array([made.directional(unknown, [k], np.ones(1)) for k in made.inputs]).T
    keep = [i for i, r in enumerate(unknown) if r != TABLE.by_name(NOISE).value_reference]
    # a sliding brake is at its limit: its torque takes the moment along at once when it falls, soon after when it rises
    known = [k for k, s in enumerate(TABLE.inputs) if not s.name.endswith("brake_torque")]
    assert quotient[np.ix_(keep, known)] == pytest.approx(exact[np.ix_(keep, known)], rel=1e-6, abs=1e-6)
    assert np.abs(exact[:STATES, 1]).max() > 1.0  # the arm's acceleration comes from the jump of its rate
    made.free()


# ---- FMI 3 ----------------------------------------------------------------------------------------------------------


class Three(Raw3):
    def derivative(self, call: str, unknown: list[int], known: list[int], seed: Array, size: int,
                   expect: int = OK) -> Array:  # fmt: skip
        result = np.full(size, np.nan)
        unknowns, knowns = (ct.c_uint * len(unknown))(*unknown), (ct.c_uint * len(known))(*known)
        status = self.call(
            f"Get{call}Derivative",
            unknowns,
            ct.c_size_t(len(unknown)),
            knowns,
            ct.c_size_t(len(known)),
            ct.c_void_p(seed.ctypes.data),
            ct.c_size_t(len(seed)),
            ct.c_void_p(result.ctypes.data),
            ct.c_size_t(size),
        )
        assert status == expect, self.log
        return result


def test_fmi_3_gives_the_same_by_arrays_and_the_adjoint_is_the_transpose(moving: Vehicle) -> None:
    three = Three(str(FACTORY.library), FACTORY.interface.guid, exchange=True)
    three.ready()
    assert three.call("EnterContinuousTimeMode") == OK
    x = moving.read(moving.states)
    assert three.call("SetContinuousStates", ct.c_void_p(x.ctypes.data), ct.c_size_t(len(x))) == OK
    for s in TABLE.signals:
        if s.causality == "input":
            parts = [TABLE.by_name(s.name + c).value_reference for c in s.components]
            u = moving.read(parts)
            assert three.values("Set", "Float64", [parts[0]], (ct.c_double * len(u))(*u)) == OK
    force, height = TABLE.by_name("chassis.ext_force.x").value_reference, moving.states[2]
    known, unknown = [0, force, height], [moving.rates[11], TABLE.by_name("wheel_FR.tire_force.x").value_reference]
    expand = [force, force + 1, force + 2, height], [unknown[0], unknown[1], unknown[1] + 1, unknown[1] + 2]
    jacobian = np.array([moving.directional(expand[1], [k], np.ones(1)) for k in expand[0]]).T
    rng = np.random.default_rng(2)
    seed, weight = rng.normal(size=5), rng.normal(size=4)
    forward = three.derivative("Directional", unknown, known, seed, 4)
    assert forward == pytest.approx(jacobian @ seed[1:], rel=1e-12)
    adjoint = three.derivative("Adjoint", unknown, known, weight, 5)
    assert adjoint[0] == 0.0  # the time
    assert adjoint[1:] == pytest.approx(weight @ jacobian, rel=1e-9)
    three.derivative("Directional", unknown, known, seed[:4], 4, expect=ERROR)
    three.derivative("Adjoint", unknown, known, weight, 4, expect=ERROR)
    three.derivative("Directional", unknown, [force + 1], seed[:1], 4, expect=ERROR)
    assert "part of a vector" in three.log[-1]
    three.free()


# ---- refusals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("unknown", "known", "text"), [
    (["rate"], [TABLE.by_name("chassis.mass").value_reference], "knowns are inputs, states and the time"),
    (["rate"], [TABLE.by_name("speed").value_reference], "knowns are"),
    (["rate"], [300_000], "knowns are"),
    ([1000], ["state"], "unknowns are outputs and derivatives"),
    ([200_000], ["state"], "unknowns are"),
    (["rate"], [TABLE.by_name("terrain_source").value_reference], "is of type Enumeration"),
    (["rate"], [200_000 + STATES], "unknown"),
    (["rate"], [4_000_000_000], "unknown"),
])  # fmt: skip
def test_what_is_no_known_or_unknown_is_refused_by_reference(
    moving: Vehicle, unknown: list[int | str], known: list[int | str], text: str
) -> None:
    names: dict[int | str, int] = {"rate": moving.rates[0], "state": moving.states[0]}
    result = moving.directional([names.get(r, r) for r in unknown], [names.get(r, r) for r in known], np.ones(1), ERROR)  # type: ignore[misc]
    assert np.isnan(result).all()
    assert text in moving.log[-1]


def test_bad_seeds_and_null_arrays_are_refused(moving: Vehicle) -> None:
    moving.directional(moving.rates, moving.states[:1], np.array([NAN]), ERROR)
    assert "seed 0 = nan" in moving.log[-1]
    one = (ct.c_uint * 1)(moving.rates[0])
    size, none = ct.c_size_t(1), ct.c_void_p()
    assert moving.call("GetDirectionalDerivative", one, size, none, size, none, none) == ERROR
    assert moving.call("GetDirectionalDerivative", none, size, none, ct.c_size_t(0), none, none) == ERROR
    assert moving.call("GetDirectionalDerivative", none, ct.c_size_t(0), none, ct.c_size_t(0), none, none) == OK


def test_a_point_outside_the_model_is_discarded(moving: Vehicle) -> None:
    x = moving.read(moving.states)
    x[[s.name for s in TABLE.states].index("state.wheel_FL.arm_angle")] = 3.0
    moving.put(x, moving.read(moving.inputs))
    moving.directional(moving.rates, moving.states[:1], np.ones(1), 2)
    assert "arm_angle" in moving.log[-1]


def test_before_the_end_of_initialization_there_are_none() -> None:
    raw = Raw(str(FACTORY.library), FACTORY.interface.guid)
    assert raw.setup() == OK
    assert raw.call("EnterInitializationMode") == OK
    refs = (ct.c_uint * 1)(10_000), (ct.c_uint * 1)(1_000)
    one, box = ct.c_size_t(1), (ct.c_double * 1)(1.0)
    assert raw.call("GetDirectionalDerivative", refs[0], one, refs[1], one, box, box) == ERROR
    assert "initialization mode" in raw.log[-1]
    raw.free()


def test_a_model_without_derivatives_neither_advertises_nor_gives_them(turntable_factory: Factory) -> None:
    factory = turntable_factory
    raw = Raw(str(factory.library), factory.interface.guid)
    raw.ready()
    refs = (ct.c_uint * 1)(10_000), (ct.c_uint * 1)(1_000)
    one, box = ct.c_size_t(1), (ct.c_double * 1)(1.0)
    assert raw.call("GetDirectionalDerivative", refs[0], one, refs[1], one, box, box) == ERROR
    assert "not supported" in raw.log[-1]
    raw.free()
    for table, wanted in ((factory.table, b"false"), (TABLE, b"true")):
        two, three = model_description(table, "m"), model_description3(table, "m")
        assert two.count(b'providesDirectionalDerivative="' + wanted) == 2
        assert three.count(b'providesDirectionalDerivatives="' + wanted) == 2
        assert three.count(b'providesAdjointDerivatives="' + wanted) == 2
