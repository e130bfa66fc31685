"""ROSENBROCK with long ticks follows RK4 with short ones, is of order two and L-stable, and refuses what it must."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from jounce.axles import WHEELS
from jounce.values import double
from jounce_fmu.importer.host import Factory, Fmu2Instance, FmuError, Value, open_builtin

FACTORY = open_builtin()
TABLE = FACTORY.table
Array = NDArray[np.float64]
Profile = Callable[[float], float]


def nothing(_: float) -> float:
    return 0.0


def lane_change(t: float) -> float:
    return 2.5 * math.sin(math.pi * (t - 0.5)) if 0.5 < t < 2.5 else 0.0


def drive(
    parameters: Mapping[str, Value], tick: float, end: float, *, steer: Profile = nothing, brake: float = 0.0,
    torque: float = 0.0, every: float = 0.02,
) -> Array:  # fmt: skip
    """Outputs every 20 ms. Steering is given with its rate, so that it is linear over each tick.

    They are read after the inputs of that moment are set: right after a step they belong to the inputs of its start,
    and a steering angle one tick old is worth 1.4 % of a front tire's side force at ticks of 5 ms, whatever the method.
    """
    u = np.array([s.start for s in TABLE.inputs])
    for w in WHEELS:
        u[TABLE.by_name(f"wheel_{w}.brake_torque").index] = brake
        u[TABLE.by_name(f"wheel_{w}.drive_torque").index] = torque
    rows, n = [], round(end / tick)
    with FACTORY.instance("rosenbrock") as made:
        made.setup({**parameters, "tick": tick})
        for k in range(n + 1):
            t = k * tick
            u[0], u[1] = steer(t), (steer(t + tick) - steer(t)) / tick
            made.set_inputs(u)
            if k and k % round(every / tick) == 0:
                rows.append(made.get_outputs())
            if k < n:
                made.step()
    return np.array(rows)


CASES: dict[str, tuple[dict[str, Value], dict[str, object]]] = {
    "parked on a 30 % slope": ({"terrain.slope": math.atan(0.3)}, {"brake": 8000.0}),
    "crawling in a bend": ({"init.speed": 0.5}, {"torque": 60.0, "steer": lambda t: min(t, 1.0)}),
    "lane change at 20 m/s": ({"init.speed": 20.0}, {"torque": 45.0, "steer": lane_change}),
}


@pytest.mark.parametrize("name", CASES)
def test_rosenbrock_at_5_ms_is_within_one_percent_of_rk4_at_a_tenth(name: str) -> None:
    """Of every real output: each sample, relative to the output's range over the run or its nominal value."""
    parameters, inputs = CASES[name]
    fine = drive(parameters, 1e-4, 3.0, **inputs)  # type: ignore[arg-type]
    coarse = drive({**parameters, "integrator": "ROSENBROCK"}, 5e-3, 3.0, **inputs)  # type: ignore[arg-type]
    for s in TABLE.outputs:
        if s.name != "tick_count":
            scale, error = max(np.ptp(fine[:, s.index]), s.signal.nominal), coarse[:, s.index] - fine[:, s.index]
            assert math.sqrt(np.mean(error**2)) < 0.001 * scale, s.name
            assert np.abs(error).max() < 0.005 * scale, s.name  # the goal is 0.01


def test_halving_the_tick_quarters_the_error() -> None:
    bend = {"init.speed": 15.0}
    y = TABLE.by_name("ref_frame.pos.y").index

    def end(tick: float, integrator: str) -> float:
        return float(drive({**bend, "integrator": integrator}, tick, 0.8, steer=lambda t: 0.3 * t * t)[-1, y])

    exact = end(2.5e-4, "RK4")
    errors = [abs(end(tick, "ROSENBROCK") - exact) for tick in (0.01, 0.005, 0.0025)]
    assert 3.0 < errors[0] / errors[1] < 5.5
    assert 3.0 < errors[1] / errors[2] < 5.5


def test_a_tick_of_20_ms_stands_still_where_rk4_would_break_down() -> None:
    parked = {"terrain.slope": 0.29, "integrator": "ROSENBROCK"}
    rows = drive(parked, 0.02, 60.0, brake=8000.0, every=0.1)
    x = rows[:, TABLE.by_name("ref_frame.pos.x").index]
    assert np.abs(x[100:] - x[100]).max() < 1e-4


def test_a_stop_ends_at_rest_as_with_rk4() -> None:
    at = TABLE.by_name("speed").index
    rk4, rosenbrock = (
        drive({"init.speed": 3.0, "integrator": integrator}, tick, 6.0, brake=1500.0)[60:, at]
        for integrator, tick in (("RK4", 0.001), ("ROSENBROCK", 0.005))
    )
    assert abs(rosenbrock[-1]) < 1e-5
    assert np.abs(rosenbrock - rk4).max() < 0.01 * np.abs(rk4).max()


def test_the_memory_of_the_steering_serves_rosenbrock_too() -> None:
    """The arm's acceleration comes from the jump of its rate, over the tick that follows it."""
    load = TABLE.by_name("steering.load_torque").index
    rows = {}
    for integrator in ("RK4", "ROSENBROCK"):
        rows[integrator] = drive({"integrator": integrator}, 0.002, 0.1, steer=lambda t: 4.0 * t * t)[:, load]
    assert rows["ROSENBROCK"] == pytest.approx(rows["RK4"], rel=0.01)


def state_after(made: Fmu2Instance, ticks: int) -> bytes:
    made.step(ticks)
    return made.get_outputs().tobytes()


def test_a_snapshot_goes_on_with_the_same_bits() -> None:
    setup: dict[str, Value] = {"init.speed": 10.0, "integrator": "ROSENBROCK", "tick": 0.005}
    with FACTORY.instance("a") as one, FACTORY.instance("b") as other:
        one.setup(setup)
        one.step(50)
        blob = one.get_state()
        other.set_state(blob)
        assert state_after(other, 100) == state_after(one, 100)


def test_a_failed_step_leaves_the_state_before_it() -> None:
    with FACTORY.instance("a") as made:
        made.setup({"integrator": "ROSENBROCK", "tick": 0.02, "init.equilibrium": False, "init.z": 40.0})
        before = made.get_outputs()
        with pytest.raises(FmuError, match="the state is that of tick 0"):
            made.step(1000)
        assert made.get_outputs().tobytes() == before.tobytes()


@pytest.mark.parametrize(("parameters", "text"), [
    ({"tick": 0.005}, r"tick = 0.005.* up to 0.002 s for RK4"),
    ({"tick": 0.02}, "RK4"),
    ({"tick": 0.03, "integrator": "ROSENBROCK"}, "tick = 0.03: expected "),
    ({"integrator": 3}, "integrator"),
    ({"integrator": "EULER"}, "expected RK4, ROSENBROCK"),
])  # fmt: skip
def test_a_tick_too_long_for_its_integrator_is_refused(parameters: dict[str, Value], text: str) -> None:
    with FACTORY.instance("a") as made, pytest.raises(FmuError, match=text):
        made.setup(parameters)


def test_a_model_without_a_jacobian_has_rk4_alone(factory: Factory) -> None:
    assert "integrator" not in {s.name for s in factory.table.parameters}


def test_the_former_name_is_taken_with_a_warning_that_tells_the_present_one() -> None:
    states = []
    for name in ("ROSENBROCK", "ROS2"):
        with FACTORY.instance("a") as made:
            if name == "ROS2":
                with pytest.warns(FutureWarning, match="integrator = ROS2: the name is ROSENBROCK now"):
                    made.setup({"integrator": name, "tick": 0.005, "init.speed": 5.0})
            else:
                made.setup({"integrator": name, "tick": 0.005, "init.speed": 5.0})
            made.step(20)
            states.append(made.get_outputs().tobytes())
    assert states[0] == states[1]
    with pytest.warns(FutureWarning, match="ROSENBROCK now"):
        assert double(TABLE.by_name("integrator"), "ROS2") == 2.0
