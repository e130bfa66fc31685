"""The schedule of the recursion: one table from which C, tangents and the CasADi composition are made."""

from __future__ import annotations

from dataclasses import replace

import casadi as ca
import pytest

from jounce.axles import DEFAULT
from jounce.codegen.recursion import Group, Recursion
from jounce.data import load_vehicle
from jounce.dynamics.schedule import Call, Rows, Schedule, Sum, Vector, compose, local, made, numbers, state
from jounce.models.double_wishbone import axles_c, recursion
from jounce.models.double_wishbone.emit import CONSTANT, SHARED, Code
from jounce.models.double_wishbone.functions import functions
from jounce.models.double_wishbone.lanes import Lanes
from jounce.models.double_wishbone.schedule import EVALUATION, RATES, SCHEDULE

F = functions()
CODE = Code(load_vehicle("hmmwv"))
X = ca.SX.sym("x", 3)
SMALL = Schedule(
    {"at": state("at", per_wheel=True), "size": numbers("D_SIZE", per_wheel=True), "body": state("body"),
     "spin": state("spin", per_wheel=True, size=2), "force": made("force"),
     "all": local("total"), "part": Vector("total + 1")},
    (Call("pull", ("at", "body", "size"), ("force",), lean=True), Sum("force", "all"), Rows("all", 1, "part")),
)  # fmt: skip
FOUR = (Group(0, 4),)
PULL = ca.Function("pull", [X, ca.SX.sym("b", 1), ca.SX.sym("n", 1)], [2 * X])


def test_the_vehicles_schedule_fits_its_functions() -> None:
    SCHEDULE.check({f.name(): f for f in (*CODE.lanes, *CODE.scalars)})
    SCHEDULE.check(F)
    assert {c.function for c in SCHEDULE.calls} == F.keys()


def test_inputs_that_all_wheels_share_and_that_never_move_follow_from_the_vectors() -> None:
    assert SMALL.shared() == {"pull": (1,), "pull_dynamics": (1,)}
    assert SMALL.constant() == {"pull": (2,)}
    assert SHARED["corner"] == SHARED["corner_dynamics"] == (2,)
    assert CONSTANT["wheel"] == (4,) and CONSTANT["external"] == ()


def test_wheels_are_called_in_a_loop_with_their_own_numbers_and_the_others_once() -> None:
    text = Recursion(SMALL, FOUR).values(SMALL.steps, lean=True)
    assert "(full ? JN_NAME(pull) : JN_NAME(pull_dynamics))(x + JN_X_at + c, x + JN_X_body, d + D_SIZE + c," in text
    assert text.index("for (c") < text.index("e->force + c") < text.index("JN_NAME(sums)(e->force, total);")


def test_wheels_of_each_group_have_a_loop_of_their_own_with_its_functions() -> None:
    text = Recursion(SMALL, (Group(0, 8), Group(8, 12, {"pull": "push"}))).values(SMALL.steps, lean=True)
    first, second = text.index("for (c = 0; c < 8;"), text.index("for (c = 8; c < 12;")
    assert first < text.index("(full ? JN_NAME(pull) : JN_NAME(pull_dynamics))") < second
    assert second < text.index("(full ? JN_NAME(push) : JN_NAME(push_dynamics))")


def test_a_call_may_have_a_number_of_lanes_of_its_own() -> None:
    steps = (replace(SMALL.calls[0], lanes=4),)
    assert "for (c = 0; c < 4;" in Recursion(SMALL, (Group(0, 16),)).tangents(steps)


def test_a_tangent_stands_beside_each_value_but_for_numbers_of_the_vehicle() -> None:
    text = Recursion(SMALL, FOUR).tangents(SMALL.steps)
    assert "d_x + JN_X_at + c" in text and "d_e->force + c" in text and "d_d" not in text
    assert "JN_NAME(sums)(d_e->force, d_total);" in text


def test_a_composition_takes_the_first_numbers_of_each_wheel_and_sums_them() -> None:
    vectors = {"at": [ca.DM([k, 1, 2, 9]) for k in range(4)], "body": ca.DM([5, 6]), "size": ca.DM(1)}
    compose(SMALL.steps, {"pull": PULL}, vectors)
    assert [float(v[0]) for v in vectors["force"]] == [0, 2, 4, 6]
    assert vectors["all"].full().ravel().tolist() == [12, 8, 16]
    assert vectors["part"].full().ravel().tolist() == [8, 16]


def test_what_is_there_already_is_not_made_again() -> None:
    given = [ca.DM([1, 1, 1])] * 4
    vectors = {"force": given}
    compose(SMALL.steps, {}, vectors)
    assert vectors["force"] is given and float(vectors["all"][0]) == 4


@pytest.mark.parametrize(("steps", "message"), [
    ((Sum("force", "all"), Call("pull", ("at", "body", "size"), ("force",))), "'force' is taken before it is made"),
    ((Call("pull", ("spin", "body", "size"), ("force",)),), "pull takes 3 numbers of 'spin'"),
    ((Call("pull", ("at", "body"), ("force",)),), r"pull takes and makes \(3, 1\) vectors; the schedule has \(2, 1\)"),
])  # fmt: skip
def test_a_schedule_that_cannot_run_is_refused(steps: tuple[Call | Sum, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(SMALL, steps=steps).check({"pull": PULL})


def test_a_force_element_in_the_schedule_reaches_values_tangents_and_the_jacobians_pass() -> None:
    """A new call of the wheels needs no line of C."""
    vectors = {**SCHEDULE.vectors, "more": made("more")}
    at = next(k for k, s in enumerate(EVALUATION) if isinstance(s, Call) and s.function == "inward_sweep")
    steps = (*EVALUATION[:at], Call("rubber", ("corner", "wheel numbers"), ("more",)), *EVALUATION[at:])
    c = Recursion(Schedule(vectors, steps), FOUR)
    value = "JN_NAME(rubber)(e->corner + c, d + D_WHEELS + c, e->more + c);"
    moved = "JN_NAME(rubber_forward)(e->corner + c, d + D_WHEELS + c, d_e->corner + c, e->more + c, d_e->more + c);"
    assert value in c.values(steps) and moved in c.tangents(steps)
    assert moved in c.one_pass(steps, {"inner": "still", "acceleration": "no_acceleration"}, {})


def test_every_rate_of_a_wheels_state_has_a_place() -> None:
    inner = axles_c.inner(CODE.vehicle)
    states = axles_c.states(Lanes(DEFAULT), inner)
    made_by_motion = {"position", "quaternion", "linear"}
    memory = {"arm_rate", "arm_acceleration", "arm_angle"}
    assert RATES.keys() | {*inner} | made_by_motion | memory == states.sizes.keys()


def test_a_force_on_the_chassis_in_the_schedule_reaches_values_tangents_and_the_jacobian(
        monkeypatch: pytest.MonkeyPatch) -> None:
    """A call between the wheels' sums and the chassis needs no line of C, its vector's declaration included."""
    vectors = {**SCHEDULE.vectors, "more": Vector("with_more", size=6)}
    at = next(k for k, s in enumerate(EVALUATION) if isinstance(s, Call) and s.function == "chassis")
    steps = (*EVALUATION[:at], Call("gust", ("quaternion", "wrench"), ("more",)), *EVALUATION[at:])
    monkeypatch.setattr(recursion, "EVALUATION", steps)
    monkeypatch.setattr(recursion, "SCHEDULE", Schedule(vectors, (*steps, *SCHEDULE.steps[len(EVALUATION) :])))
    text = recursion.text(Lanes(DEFAULT), axles_c.inner(CODE.vehicle))
    value, tangent, jacobian = (
        text.partition(f"JN_NAME({name})(const")[2].partition("\n}\n")[0]
        for name in ("evaluate", "evaluate_forward", "follow_chassis"))
    assert "gust_1(x + JN_X_quaternion, loads, with_more);" in value and ", with_more[6];" in value
    for forward in (tangent, jacobian):
        assert "gust_forward_1(x + JN_X_quaternion, loads, d_x + JN_X_quaternion, d_loads, with_more," in forward
        assert ", with_more[6], d_with_more[6];" in forward
