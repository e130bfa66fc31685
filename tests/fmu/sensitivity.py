"""The vehicle as model exchange at random points, its derivatives and independent difference quotients."""

from __future__ import annotations

import ctypes as ct
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from raw import OK, Raw
from raw3 import Raw3

from jounce.references import RATE_OFFSET
from jounce.signals import SignalTable
from jounce_fmu.importer.host import Factory

Array = NDArray[np.float64]


class Vehicle(Raw):
    """Model exchange in continuous-time mode; reals are read and written by value reference."""

    def __init__(self, library: str, guid: str, table: SignalTable, kind: int = 0, *,
                 resources: str = "", **parameters: float) -> None:  # fmt: skip
        super().__init__(library, guid, kind=kind, resources=resources.encode() or None)
        assert self.component, self.log
        self.table, self.kind = table, kind
        self.states = list(table.state_references)
        self.rates = [r + RATE_OFFSET for r in self.states]
        self.inputs = [s.value_reference for s in table.inputs]
        self.outputs = [s.value_reference for s in table.outputs if s.signal.type == "Real"]
        for name, value in parameters.items():
            scalar = table.by_name(name.replace("__", "."))
            call = "Real" if scalar.signal.type == "Real" else "Integer"
            number = ct.c_double(value) if call == "Real" else ct.c_int(int(value))
            reference = ct.c_uint(scalar.value_reference)
            assert self.call(f"Set{call}", ct.byref(reference), ct.c_size_t(1), ct.byref(number)) == OK, self.log
        self.ready()
        if kind == 0:
            assert self.call("EnterContinuousTimeMode") == OK

    def read(self, references: list[int]) -> Array:
        values = np.zeros(len(references))
        refs = (ct.c_uint * len(references))(*references)
        status = self.call("GetReal", refs, ct.c_size_t(len(references)), ct.c_void_p(values.ctypes.data))
        assert status == OK, self.log
        return values

    def put(self, x: Array, u: Array) -> None:
        refs = (ct.c_uint * len(u))(*self.inputs)
        assert self.call("SetReal", refs, ct.c_size_t(len(u)), ct.c_void_p(u.ctypes.data)) == OK, self.log
        if self.kind == 0:
            status = self.call("SetContinuousStates", ct.c_void_p(x.ctypes.data), ct.c_size_t(len(x)))
            assert status == OK, self.log

    def at(self, x: Array, u: Array) -> Array:
        """Rates of the states and Real outputs there."""
        self.put(np.ascontiguousarray(x), np.ascontiguousarray(u))
        return self.read([*self.rates, *self.outputs])

    def directional(self, unknown: list[int], known: list[int], seed: Array, expect: int = OK) -> Array:
        result = np.full(len(unknown), np.nan)
        unknowns, knowns = (ct.c_uint * len(unknown))(*unknown), (ct.c_uint * len(known))(*known)
        status = self.call("GetDirectionalDerivative", unknowns, ct.c_size_t(len(unknown)), knowns,
                           ct.c_size_t(len(known)), ct.c_void_p(seed.ctypes.data), ct.c_void_p(result.ctypes.data))
        assert status == expect, self.log
        return result

    def jacobian(self) -> Array:
        """Rates and outputs (rows) by states and inputs (columns), a direction each."""
        known, unknown = [*self.states, *self.inputs], [*self.rates, *self.outputs]
        columns = [self.directional(unknown, [k], np.ones(1)) for k in known]
        return np.array(columns).T


def differences(f: Callable[[Array], Array], at: Array, step: Array) -> tuple[Array, Array]:
    """Central differences of f, of fourth order, and how far those of half the step are from them."""

    def quotient(k: int, h: float) -> Array:
        e = np.zeros(len(at))
        e[k] = h
        return (8.0 * (f(at + e) - f(at - e)) - (f(at + 2 * e) - f(at - 2 * e))) / (12.0 * h)

    whole = np.array([quotient(k, h) for k, h in enumerate(step)]).T
    half = np.array([quotient(k, 0.5 * h) for k, h in enumerate(step)]).T
    return half, np.abs(whole - half)


def same_in_fmi_3(factory: Factory, two: Vehicle, u: Array, speed: float, *, seconds: float = 0.5,
                  by: Sequence[int] | None = None, **parameters: int) -> None:
    """Asserts that FMI 3 gives the bits of FMI 2 where `two` is: rates by inputs, in model exchange by some states too.

    In co-simulation that is `seconds` after the start with that speed [m/s] and those inputs; `by`: states, references.
    """
    exchange, table = two.kind == 0, factory.table
    three = Raw3(str(factory.library), factory.interface.guid, exchange=exchange,
                 resources=factory.resources.encode() or None)  # fmt: skip
    first = table.by_name("init.speed").value_reference
    assert three.values("Set", "Float64", [first], (ct.c_double * 1)(speed)) == OK
    for name, value in parameters.items():
        reference = table.by_name(name.replace("__", ".")).value_reference
        assert three.values("Set", "Int64", [reference], (ct.c_int64 * 1)(value)) == OK, three.log
    three.ready()
    if exchange:
        assert three.call("EnterContinuousTimeMode") == OK
    at = 0
    for s in table.signals:
        if s.causality == "input":
            part = u[at : at + len(s.components)]
            at += len(part)
            first = table.by_name(s.name + s.components[0]).value_reference
            assert three.values("Set", "Float64", [first], (ct.c_double * len(part))(*part)) == OK, three.log
    if not exchange:
        assert three.step(0.0, seconds) == OK
    else:
        x = two.read(two.states)
        assert three.call("SetContinuousStates", ct.c_void_p(x.ctypes.data), ct.c_size_t(len(x))) == OK
    single = [s.value_reference for s in table.inputs if s.signal.components == ("",)]
    assert len(single) > 10
    some = two.states[::7] if by is None else by
    for known in [*single, *(some if exchange else [])]:
        found, seed, unknown = np.full(len(two.rates), np.nan), np.ones(1), (ct.c_uint * len(two.rates))(*two.rates)
        size, number = ct.c_size_t(len(two.rates)), ct.c_void_p(found.ctypes.data)
        status = three.call("GetDirectionalDerivative", unknown, size, (ct.c_uint * 1)(known), ct.c_size_t(1),
                            ct.c_void_p(seed.ctypes.data), ct.c_size_t(1), number, size)  # fmt: skip
        assert status == OK, three.log
        assert found.tobytes() == two.directional(two.rates, [known], seed).tobytes()
    three.free()


#: Input by the last part of its name: mean and spread of the random ones.
_INPUTS = {
    "steering_wheel_angle": (0.0, 2.0), "steering_wheel_rate": (0.0, 1.0), "drive_torque": (0.0, 500.0),
    "brake_torque": (800.0, 100.0), "force": (0.0, 300.0), "moment": (0.0, 30.0), "point": (0.0, 0.3),
    "terrain_height": (0.0, 0.005), "terrain_normal": (0.0, 0.05), "terrain_mu": (0.8, 0.1), "ext_force": (0.0, 300.0),
    "ext_moment": (0.0, 30.0), "tire_pressure": (0.0, 0.0),
}  # fmt: skip


def random_point(vehicle: Vehicle, rest: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """States of a vehicle in motion on its wheels, its quaternion of any length, and inputs of every kind."""
    first = {s.name: i for i, s in reversed([*enumerate(vehicle.table.states)])}
    x, speed = rest.copy(), rng.choice([rng.uniform(0.2, 3.0), rng.uniform(3.0, 25.0)])

    def put(name: str, values: Array) -> None:
        x[first[f"state.{name}"] :][: len(values)] = values

    x[:3] += rng.normal(size=3) * [1.0, 1.0, 0.002] - [0.0, 0.0, 0.012]
    turn = np.concatenate([[1.0], 0.003 * rng.normal(size=2), [rng.normal()]])
    put("rot.e0", rng.uniform(0.5, 2.0) * turn / np.linalg.norm(turn))
    put("ang_vel.x", 0.3 * rng.normal(size=3))
    put("lin_vel.x", speed * np.array([1.0, 0.03, 0.01]) * [1.0, *rng.normal(size=2)])
    x[first["state.wheel_FL.arm_angle"] :][:4] += 0.01 * rng.normal(size=4)
    put("wheel_FL.arm_rate", 0.5 * rng.normal(size=4))
    put("wheel_FL.omega", speed / 0.47 * (1.0 + 0.05 * rng.normal(size=4)))
    put("wheel_FL.bristle.x", 1e-3 * rng.normal(size=8))
    put("wheel_FL.brake_wind_up", 1e-4 * rng.normal(size=4))
    put("wheel_FL.rolled", 1e-3 * rng.normal(size=8))
    put("wheel_FL.travelled", 0.02 * rng.normal(size=4))
    put("wheel_FL.sliding", rng.uniform(size=4))
    u = np.zeros(len(vehicle.table.inputs))
    for s in vehicle.table.inputs:
        mean, spread = _INPUTS[s.signal.name.rpartition(".")[2]]
        u[s.index] = 0.9 if s.name.endswith("normal.z") else mean + spread * rng.normal()
    return x, u


#: Step of the difference quotients by unit.
_STEPS = {"rad": 1e-4, "rad/s": 1e-3, "m": 1e-4, "m/s": 1e-3, "N.m": 1.0, "N": 1.0, "1": 1e-4, "Pa": 100.0}


def steps(table: SignalTable) -> Array:
    """For states and then inputs; bristles and wind-up turn over on a millimetre and a milliradian."""
    of_states = [1e-5 if s.nominal < 0.01 else _STEPS[s.unit] for s in table.states]
    return np.array([*of_states, *(_STEPS[s.signal.unit] for s in table.inputs)])
