"""Two tires side by side on a wheel, against two single wheels that a test puts together by rigid-body kinematics."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jounce.axles import AxleError, axles_of
from jounce.contact import tires
from jounce.contact.wheel import CHASSIS, HUB, STARTING, Wheel
from jounce.data import Vehicle, load_vehicle, with_tire_files
from jounce.math.layout import Layout
from jounce.models.double_wishbone.arrange import arranged
from jounce.models.double_wishbone.signals import table
from jounce.suspension.mechanisms.templates import with_dual_wheels

Array = np.ndarray
SINGLE, DUAL = Wheel(tires.TMEASY), Wheel(tires.find("tmeasy_dual"))
FILE = Path(__file__).parents[1] / "data" / "tires" / "synthetic_mf61_large.tir"
VEHICLES = {"tmeasy": load_vehicle("hmmwv"), "mf61": with_tire_files(load_vehicle("hmmwv"), {"": FILE})}
NUMBERS = {law: np.array([vehicle[name] for name in Wheel(tires.find(law)).entries(1.0).values()])
           for law, vehicle in VEHICLES.items()}  # fmt: skip
RADIUS = load_vehicle("hmmwv")["tire.unloaded_radius"]  # that of the file, too


@cache
def function(name: str) -> ca.Function:
    return Wheel(tires.find(name)).function()


def wheel(of: Wheel, hub: Array, chassis: Array, states: Array, inputs: Array, numbers: Array) -> dict[str, Array]:
    out = np.array(function(of.law.name)(hub, chassis, states, inputs, numbers)).ravel()
    return {name: out[k : k + size] for (name, size), k in zip(of.results.sizes.items(), of.results.first.values(),
                                                               strict=True)}  # fmt: skip


def at(layout: Layout, values: dict[str, object]) -> Array:
    return np.concatenate([np.broadcast_to(np.asarray(values.get(n, 0.0), float), (size,))
                           for n, size in layout.sizes.items()])  # fmt: skip


class Case:
    """A leaning, turning and rolling wheel on a tilted plane; ``seed`` of its numbers."""

    def __init__(self, seed: int, apart: float, law: str = "tmeasy") -> None:
        self.law, self.single, self.dual = law, Wheel(tires.find(law)), Wheel(tires.find(f"{law}_dual"))
        r = np.random.default_rng(seed)
        axis = np.array([0.05 * r.normal(), 1.0, 0.05 * r.normal()])
        self.axis, self.apart = axis / np.linalg.norm(axis), apart
        self.centre, self.velocity, self.turn = 0.3 * r.normal(size=3), 0.2 * r.normal(size=3), 0.2 * r.normal(size=3)
        q = np.array([1.0, *(0.02 * r.normal(size=3))])
        self.quaternion, self.omega = q / np.linalg.norm(q), np.array([0.1, 0.1, 0.6]) * r.normal(size=3)
        self.linear = np.array([8.0, 0.3, 0.02]) * r.uniform(0.5, 1.5, 3)
        self.height = RADIUS - r.uniform(0.03, 0.07)
        self.spin = self.linear[0] / RADIUS * r.uniform(0.8, 1.2)
        self.normal = np.array([0.03 * r.normal(), 0.03 * r.normal(), 1.0])
        self.normal /= np.linalg.norm(self.normal)
        self.inner = [1e-3 * r.normal(size=size) for size in self.single.rates.sizes.values()]
        self.second = [1e-3 * r.normal(size=size) for size in self.single.rates.sizes.values()]

    def hub(self, along: float) -> Array:
        """Of a wheel's centre at that distance along the spin axis."""
        lever = along * self.axis
        return at(HUB, {"centre": self.centre + lever, "axis": self.axis,
                        "centre_velocity": self.velocity + np.cross(self.turn, lever),
                        "upright_velocity": self.turn})  # fmt: skip

    def chassis(self) -> Array:
        place = {"position": np.array([1.0, 2.0, self.height]) - self.rotation() @ self.centre}
        return at(CHASSIS, place | {"quaternion": self.quaternion, "angular": self.omega, "linear": self.linear})

    def rotation(self) -> Array:
        w, v = self.quaternion[0], self.quaternion[1:]
        cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
        return np.asarray(np.eye(3) + 2 * w * cross + 2 * cross @ cross)

    def plane(self, drop: float = 0.0) -> dict[str, object]:
        return {"ground": [1.0, 2.0, -drop], "normal": self.normal, "friction": 0.7}

    def one(self, along: float, states: list[Array], drop: float = 0.0) -> dict[str, Array]:
        named = dict(zip(self.single.rates.sizes, states, strict=True))
        state = at(self.single.states, {"spin_rate": self.spin, **named, "wind_up": 0.0})
        inputs = at(self.single.inputs, self.plane(drop))
        return wheel(self.single, self.hub(along), self.chassis(), state, inputs, NUMBERS[self.law])

    def two(self, **inputs: object) -> dict[str, Array]:
        named = dict(zip(self.single.rates.sizes, self.inner, strict=True)) | {"wind_up": 0.0}
        own = {f"inner_{n}": v for n, v in zip(self.single.rates.sizes, self.second, strict=True) if n != "wind_up"}
        state = at(self.dual.states, {"spin_rate": self.spin, **named, **own})
        given = at(self.dual.inputs, self.plane() | inputs)
        return wheel(self.dual, self.hub(0.0), self.chassis(), state, given, np.append(NUMBERS[self.law], self.apart))


def loads(found: dict[str, Array]) -> tuple[Array, Array]:
    return found["loads"][:3], found["loads"][3:6]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.sampled_from([0.3, -0.32, 0.1]), st.sampled_from(["tmeasy", "mf61"]))
def test_two_tires_push_as_two_wheels_that_turn_together(seed: int, apart: float, law: str) -> None:
    case = Case(seed, apart, law)
    found, half = case.two(), 0.5 * apart
    outer, inner = case.one(half, case.inner), case.one(-half, case.second)
    assert max(outer["force"][2], inner["force"][2]) > 100.0
    (f1, m1), (f2, m2) = loads(outer), loads(inner)
    lever = half * case.axis
    force, moment = loads(found)
    scale = 1.0 + np.abs(f1).max() + np.abs(f2).max()
    assert force == pytest.approx(f1 + f2, abs=1e-11 * scale)
    assert moment == pytest.approx(m1 + m2 + np.cross(lever, f1) + np.cross(-lever, f2), abs=1e-11 * scale)
    names = [n for n in case.single.rates.sizes if n != "wind_up"]
    first = {n: (case.single.rates.first[n], case.single.rates.sizes[n]) for n in names}
    for name, (k, size) in first.items():
        for single, prefix in ((outer, ""), (inner, "inner_")):
            at_two, rates = case.dual.rates.first[f"{prefix}{name}"], single["rates"][k : k + size]
            assert found["rates"][at_two : at_two + size] == pytest.approx(rates, rel=1e-10, abs=1e-10)
    for tire, single in (("outer", outer), ("inner", inner)):
        assert found[f"{tire}.load"] == pytest.approx(single["force"][2:3], rel=1e-11, abs=1e-8)
        assert found[f"{tire}.slip"] == pytest.approx(single["slip"], rel=1e-11, abs=1e-12)
    assert found["deflection"][0] == pytest.approx(max(outer["deflection"][0], inner["deflection"][0]))
    assert found["force"][2] == pytest.approx(outer["force"][2] + inner["force"][2], rel=1e-11, abs=1e-8)


def test_without_a_distance_there_is_one_tire() -> None:
    case = Case(3, 0.0)
    found, single = case.two(), case.one(0.0, case.inner)
    assert single["force"][2] > 100.0
    for name in ("loads", "force", "moment", "slip", "deflection", "query"):
        assert found[name] == pytest.approx(single[name], rel=1e-12, abs=1e-12), name
    assert found["inner.load"] == 0.0 and np.all(found["rates"][SINGLE.rates.size :] == 0.0)


def test_the_inner_tire_stands_on_ground_of_its_own() -> None:
    case = Case(5, 0.3)
    inner = case.one(-0.15, case.second, drop=0.02)
    # a plane 20 mm lower, as height below its query point and a normal of any length
    query = np.array([case.two()[f"inner.query_point.{a}"][0] for a in "xyz"])
    height = -0.02 - (case.normal[:2] @ (query[:2] - [1.0, 2.0])) / case.normal[2]
    given = {f"inner.terrain_normal.{a}": 0.4 * v for a, v in zip("xyz", case.normal, strict=True)}
    found = case.two(inner_own=1.0, **{"inner.terrain_height": height, "inner.terrain_mu": 0.7}, **given)
    assert found["inner.load"][0] == pytest.approx(inner["force"][2], rel=1e-9)
    assert found["outer.load"][0] == pytest.approx(case.one(0.15, case.inner)["force"][2], rel=1e-11)
    assert abs(found["inner.load"][0] - found["outer.load"][0]) > 1000.0


def test_the_slips_of_both_tires_differ_by_yaw_rate_times_distance_over_speed() -> None:
    """By hand: both turn together; the outer one, to the left, is slower by yaw rate times distance in a left turn."""
    case = Case(0, 0.3)
    case.axis, case.quaternion, case.normal = np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0, 0.0]), np.eye(3)[2]
    case.omega, case.velocity, case.turn = np.array([0.0, 0.0, 0.5]), np.zeros(3), np.zeros(3)
    case.centre, case.linear, case.height = np.zeros(3), np.array([10.0, 0.0, 0.0]), RADIUS - 0.02
    case.spin = 10.0 / RADIUS
    found, v = case.two(), (10.0 - 0.5 * 0.15, 10.0 + 0.5 * 0.15)
    rolled = [(1.0 + found[f"{tire}.slip"][0]) * speed for tire, speed in zip(("outer", "inner"), v, strict=True)]
    assert rolled[0] == pytest.approx(rolled[1], rel=1e-9)
    assert found["outer.slip"][0] - found["inner.slip"][0] == pytest.approx(0.5 * 0.3 / 10.0, rel=0.03)


def test_both_tires_start_with_half_of_the_load_each() -> None:
    start = DUAL.start_function()
    single = SINGLE.start_function()
    given = at(STARTING, {"load": 8000.0, "friction": 0.8, "deflection": 0.02, "force": [300.0, -200.0]})
    half = at(STARTING, {"load": 4000.0, "friction": 0.8, "deflection": 0.02, "force": [150.0, -100.0]})
    grip, resting, _ = (np.array(v).ravel() for v in start(given, np.append(NUMBERS["tmeasy"], 0.3)))
    one, alone, _ = (np.array(v).ravel() for v in single(half, NUMBERS["tmeasy"]))
    assert grip == pytest.approx(2.0 * one)
    assert resting[: DUAL.rates.first["wind_up"]] == pytest.approx(alone[:2])
    assert resting[DUAL.rates.first["inner_bristle"] :][:2] == pytest.approx(alone[:2])


def dually() -> Vehicle:
    pickup = load_vehicle("pickup")
    table = [{"name": "front", "steered": "pitman", "driven": False},
             {"name": "rear", "kind": "leaf_axle", "drive_reaction": "carrier", "final_drive": 4.1, "dual": 0.3}]
    return Vehicle(pickup.name, pickup.entries, axles=axles_of(table))


def test_two_wheels_of_a_side_are_one_body_by_steiners_theorem() -> None:
    vehicle = dually()
    single, double = (with_dual_wheels(vehicle, axle.name) for axle in vehicle.axles)
    mass = single["wheel.mass"]
    assert double["wheel.mass"] == 2 * mass
    assert double["wheel.inertia.yy"] == 2 * single["wheel.inertia.yy"]
    assert double["wheel.inertia.xx"] == pytest.approx(2 * (single["wheel.inertia.xx"] + mass * 0.15**2))
    assert single == {name: entry.value for name, entry in vehicle.entries.items()}


def test_signals_of_both_tires_have_references_of_their_own() -> None:
    signals = table(arranged(dually()))
    names = {s.name for s in signals.signals}
    assert {"wheel_RL.inner.load", "wheel_RL.outer.load", "wheel_RR.inner.terrain_height"} <= names
    references = [s.value_reference for s in (*signals.inputs, *signals.outputs, *signals.parameters)]
    assert len(set(references)) == len(references)
    soft = (".sinkage", ".soil_resistance")  # dual wheels do not stand on soft soil
    before = {s.name: s.value_reference for s in table(arranged(load_vehicle("pickup"))).outputs
              if not s.name.endswith(soft)}  # fmt: skip
    now = {s.name: s.value_reference for s in signals.outputs}
    assert before.items() <= now.items()


@pytest.mark.parametrize(("value", "message"), [
    (True, "dual = True: expected a number"), (-0.1, "expected the distance of two tires"), (3.0, "up to 2 m"),
])  # fmt: skip
def test_what_is_no_distance_is_refused(value: object, message: str) -> None:
    with pytest.raises(AxleError, match=message):
        axles_of([{"name": "front"}, {"name": "rear", "dual": value}])
