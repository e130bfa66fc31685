"""The HMMWV by pedals as importers use it: snapshots, model exchange with its events, derivatives, bounds of inputs."""

from __future__ import annotations

import ctypes as ct
import math

import numpy as np
import pytest
from drives import Array, factory

from jounce.axles import WHEELS
from jounce_fmu.importer.host import FmuError
from jounce_fmu.importer.linear import Exchange, read_states


def test_single_ticks_long_steps_and_a_snapshot_amid_a_shift_give_the_same_bits() -> None:
    with factory().instance("a") as one, factory().instance("b") as many:
        for fmu in (one, many):
            fmu.setup({"throttle": 1.0, "init.speed": 11.6})
        one.step(600)
        states = []
        for k in range(600):
            many.step(1)
            if k % 50 == 0:
                states.append(many.get_state())
                many.step(7)
                many.set_state(states[-1])
        y = one.get_outputs().copy()
        assert y.tobytes() == many.get_outputs().tobytes()
        names = [s.name for s in factory().table.outputs]
        assert y[names.index("gearbox.gear")] == 2.0


@pytest.mark.parametrize(("begin", "h"), [(0.0, 1e-3), (0.0043, 1e-3), (-3.005, 1e-3), (0.0, 1.5e-3)])
def test_model_exchange_with_its_time_events_goes_through_the_same_gears(begin: float, h: float) -> None:
    """RK4 by hand at the tick of co-simulation, with an event at the end of the step in which the model asks for one.

    Also where multiples of the gearbox's period are no ticks.
    """
    made = factory()

    class Events(Exchange):
        def event(self) -> float:
            info = (ct.c_int * 10)()
            self._call("EnterEventMode")
            self._call("NewDiscreteStates", info)
            self._call("EnterContinuousTimeMode")
            assert info[4] == 1
            return float(ct.c_double.from_buffer(info, 24).value)

        def set_time(self, t: float) -> None:
            self._call("SetTime", ct.c_double(t))

    names = [s.name for s in made.table.outputs]
    gear, start = names.index("gearbox.gear"), {"throttle": 1.0, "init.speed": 11.6}
    with made.instance("steps") as steps, Events(made.library, made.interface, "events") as events:
        steps.setup({**start, "tick": h}, start_time=begin)
        events.defaults = made.defaults
        events.setup(start, start_time=begin)
        x, gears, next_event = read_states(steps), [], 0.01 * (math.floor(begin / 0.01 + 1e-6) + 1)
        for k in range(800):
            t = begin + k * h

            def rate(at: Array, tau: float, t: float = t) -> Array:
                events.set_time(t + tau)
                events.set_states(at)
                return events.get_rates()

            k1 = rate(x, 0.0)
            k2 = rate(x + 0.5 * h * k1, 0.5 * h)
            k3 = rate(x + 0.5 * h * k2, 0.5 * h)
            k4 = rate(x + h * k3, h)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            events.set_time(t + h)
            events.set_states(x)
            if t + h > next_event - 1e-9:
                next_event = events.event()
                assert 1e-9 < next_event - (t + h) < 0.01 + 1e-9
                assert next_event / 0.01 == pytest.approx(round(next_event / 0.01), abs=1e-9)
            steps.step(1)
            gears.append((events.get_outputs()[gear], steps.get_outputs()[gear]))
        assert len(set(gears)) == 2 and all(a == b for a, b in gears)
        assert np.abs(x - read_states(steps)).max() < 1e-6 * np.abs(x).max()


@pytest.mark.parametrize("mode", ["ANGLE", "TORQUE"])
def test_derivatives_are_those_of_central_differences_away_from_events(mode: str) -> None:
    made, rng = factory(), np.random.default_rng(3)
    table = made.table
    n, wrong = len(table.states), []
    names = [s.name for s in table.states]
    with made.instance("a") as fmu:
        fmu.setup({"throttle": 0.6, "brake_pedal": 0.05, "steering_wheel_angle": 0.5, "steering.mode": mode})
        fmu.step(1500)
        x = read_states(fmu)
    for name, value in (("gearbox.parked", 0.2), ("converter.locked", 0.3), ("gearbox.engaged", 0.95)):
        x[names.index(f"state.{name}")] = value
    for name, spread in (("gearbox.clutch_windup", 0.05), ("converter.lock_windup", 1e-3),
                         ("differential.front.windup", 2e-4), ("differential.rear.windup", 2e-4),
                         ("differential.centre.windup", 2e-4), ("gearbox.pawl_windup", 1e-3)):  # fmt: skip
        x[names.index(f"state.{name}")] += spread * rng.normal()
    for wheel in WHEELS:  # not on the border of yielding
        x[names.index(f"state.wheel_{wheel}.brake_wind_up")] = 1e-4 * rng.normal()
    u = np.array([s.start for s in table.inputs])
    for name, value in (("throttle", 0.6), ("brake_pedal", 0.05), ("front.diff_lock", 0.1), ("rear.diff_lock", 0.2),
                        ("centre.diff_lock", 0.1), ("engine.start", 0.3), ("hand_brake", 0.05),
                        ("wheel_FL.brake_pressure", 1e5)):  # fmt: skip
        u[table.by_name(name).index] = value
    own = names.index("state.engine.speed")
    wheels = [k for k, name in enumerate(names) if name.endswith((".omega", ".arm_rate", "ang_vel.y"))]
    columns = [*wheels, *range(own, n), *(n + table.by_name(name).index for name in (
        "throttle", "brake_pedal", "front.diff_lock", "centre.diff_lock", "engine.start",
        "wheel_FL.brake_pressure", "wheel_RL.drive_torque", "hand_brake", "steering_wheel_torque"))]  # fmt: skip
    outputs = [s for s in table.outputs if s.signal.variability == "continuous" and s.name != "closure_residual"]
    step = {"Pa": 100.0, "J": 1.0, "N.m": 1.0, "m": 1e-7}
    references = np.array([*table.state_references, *(s.value_reference for s in table.inputs)], np.uint32)
    unknown = np.array([*table.rate_references, *(s.value_reference for s in outputs)], np.uint32)
    with Exchange(made.library, made.interface, "lin") as at:
        at.defaults = made.defaults
        at.setup({"steering.mode": mode, "engine.reaction": float(mode == "TORQUE")})

        def values(z: Array) -> Array:
            at.set_inputs(z[n:].copy())
            at.set_states(z[:n].copy())
            return np.concatenate([at.get_rates(), at.get_outputs()[[s.index for s in outputs]]])

        labels = [s.name for s in (*table.states, *outputs)]
        z = np.concatenate([x, u])
        base = values(z)
        for k in columns:
            unit = table.states[k].unit if k < n else table.inputs[k - n].signal.unit
            h = 1e-7 if k < n and table.states[k].nominal < 0.02 else step.get(unit, 1e-5)
            e = np.zeros(len(z))

            def quotient(h: float, e: Array = e, k: int = k) -> Array:
                e[k] = h
                return (8 * (values(z + e) - values(z - e)) - (values(z + 2 * e) - values(z - 2 * e))) / (12 * h)

            whole, half = quotient(h), quotient(0.5 * h)
            values(z)
            exact = at.directional(unknown, references[k : k + 1], np.ones(1))
            noise = 4e-15 * (np.abs(base) + 1e4) / h
            smooth = np.abs(whole - half) <= 1e-6 * np.abs(half) + noise
            bad = smooth & (np.abs(exact - half) > 1e-6 * np.abs(half) + noise + np.abs(whole - half))
            wrong += [(labels[i], labels[k], exact[i], half[i]) for i in np.flatnonzero(bad)]
            assert smooth.mean() > 0.9, table.states[k].name if k < n else table.inputs[k - n].name
    assert not wrong


def test_no_input_is_on_a_bound_where_importers_take_difference_quotients() -> None:
    """At its start, and at 0 of all inputs, where PathSim does it before it starts."""
    for s in factory().table.inputs:
        low, high = s.signal.minimum, s.signal.maximum
        used = not s.signal.used_where
        assert low is None or low < s.start, s.name
        assert high is None or high > s.start, s.name
        assert not used or low is None or low < 0.0, s.name
    with factory().instance("x") as fmu:
        fmu.setup({})
        fmu.set_values({s.name: -1e-3 if s.signal.minimum == -0.01 else 0.0 for s in factory().table.inputs
                        if not s.signal.used_where})  # fmt: skip
        fmu.step(20)
        with pytest.raises(FmuError, match=r"throttle = 1\.1: expected -0\.01 to 1\.01"):
            fmu.set_values({"throttle": 1.1})
