"""The C of the vehicle's recursion, made from its schedule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from jounce.codegen.recursion import Recursion
from jounce.dynamics.schedule import Call, Step, Sum
from jounce.models.double_wishbone import powered
from jounce.models.double_wishbone.arrange import gear_of
from jounce.models.double_wishbone.axles_c import states
from jounce.models.double_wishbone.lanes import Lanes
from jounce.models.double_wishbone.schedule import EVALUATION, INNER_RATES, MOTION, RATES, REPORTS, SCHEDULE
from jounce.powertrain.kinds import Powertrain

_EVALUATE = """\
/* All of e for a Pitman arm's angle, rate and acceleration; `full` adds what only the outputs and the start need. */
JN_FN int JN_NAME(evaluate)(const double *arm, const double *x, const double *u, const double *d, int full,
                            jn_evaluation *e, jn_fault *f) {{
    double loads[6], link[JN_LINK_N], total[JN_SUMS]{locals};
    int c;
{values}    return 0;
}}

/* The same with its tangents d_e, for tangents of arm, states and inputs. */
JN_FN int JN_NAME(evaluate_forward)(const double *arm, const double *d_arm, const double *x, const double *u,
                                    const double *d, const double *d_x, const double *d_u, jn_evaluation *e,
                                    jn_evaluation *d_e, jn_fault *f) {{
    double link[JN_LINK_N], d_link[JN_LINK_N], loads[6], d_loads[6], total[JN_SUMS], d_total[JN_SUMS]{d_locals};
    int c;
{tangents}    return 0;
}}
"""
_ARM = """\
/* What the arm shows to the column, of an evaluation in which it does not accelerate: the linkage's torque is linear in
 * its acceleration, and so is all it moves. */
JN_FN void JN_NAME(arm_ports)(const double *arm, const double *x, const double *d, jn_evaluation *e) {{
{inertia}{ports}}}
"""
_AGAIN = """\
/* Corners where the Pitman arm accelerates otherwise; no more of e. */
JN_FN void JN_NAME(corners_again)(const double *arm, const double *x, const double *d, jn_evaluation *e) {{
    double link[JN_LINK_N];
    int c;
{again}}}

"""
#: The arm's inertia by corners where no function gives it.
_DIFFERENCE = """\
    const double moved[3] = {arm[0], arm[1], 1.0};
    jn_evaluation other;
    int c;
    JN_NAME(corners_again)(moved, x, d, &other);
    for (c = 0; c < JN_CORNERS; c++)
        e->arm_inertia[c] = other.corner[JN_CORNERS * JN_CORNER_steer_bias + c] -
                            e->corner[JN_CORNERS * JN_CORNER_steer_bias + c];
"""
_RATES = """\
/* Rates of the states that are there already. Linear: for values and tangents. */
JN_FN void JN_NAME(collect_rates)(const double *x, const jn_evaluation *e, double *dx) {{
{copies}}}

JN_FN void JN_NAME(rates)(const double *x, const double *u, const double *d, const jn_evaluation *e, double *dx) {{
    (void)u; /* a step of the schedule may read it */
{values}    JN_NAME(collect_rates)(x, e, dx);
}}

/* Tangents of those that are not there already. */
JN_FN void JN_NAME(motion_rates_forward)(const double *x, const double *u, const double *d, const double *d_x,
                                         const double *d_u, const jn_evaluation *e, const jn_evaluation *d_e,
                                         double *d_dx) {{
    double dx[JN_X_N];
    (void)u, (void)d_u;
{tangents}}}
"""
_REPORTS = """\
JN_FN void JN_NAME(reports)(const double *x, const double *d, const jn_evaluation *e, double *report, double *share,
                            double *y, double *body, double *angles) {{
    double adjacent[N_ANGLES], opposite[N_ANGLES];
    int c;
{values}}}

JN_FN void JN_NAME(reports_forward)(const double *x, const double *d, const double *d_x, const jn_evaluation *e,
                                    const jn_evaluation *d_e, double *report, double *d_report, double *share,
                                    double *d_share, double *d_y, double *d_body, double *d_angles) {{
    double adjacent[N_ANGLES], d_adjacent[N_ANGLES], opposite[N_ANGLES], d_opposite[N_ANGLES], angles[N_ANGLES];
    double y[JN_Y_WHEEL_pos_x], body[2];
    int c;
{tangents}}}
"""
_PASS = """\
/* Does a corner itself move with that state? Some act on its wheel or on the chassis alone. */
JN_FN int JN_NAME(moves_corner)(int state) {{ return {moves}; }}

/* Tangents on the corners for seeds d_x while the chassis does not accelerate. */
JN_FN void JN_NAME(pass)(const double *x, const double *d, const double *d_x, int corner_moves, jn_evaluation *e,
                         jn_evaluation *d_e) {{
    static const double still[JN_CORNERS * JN_INNER_N] = {{0.0}}, no_acceleration[6] = {{0.0}};
    int c;
    if (!corner_moves) memset(d_e->corner, 0, sizeof d_e->corner);
{calls}}}

/* Tangents of the chassis's acceleration for those of the wheels' sums, with inputs that do not move. */
JN_FN void JN_NAME(follow_chassis)(const double *x, const double *u, const double *d, const double *d_x,
                                   const double *total, const double *d_total, jn_evaluation *e, jn_evaluation *d_e) {{
    static const double d_u[JN_N_U] = {{0.0}};
    double loads[6], d_loads[6]{d_locals};
{follow}}}
"""
#: Vectors of the evaluation that the texts above declare.
_DECLARED = {"arm", "link", "loads", "total"}


def text(lanes: Lanes, inner: Iterable[str], powertrain: Powertrain | None = None) -> str:
    """C of evaluation, rates, reports and the Jacobian's pass, for those lanes and inner states of a wheel."""
    once = {} if gear_of(lanes.axles) == "pitman" else {"steering": gear_of(lanes.axles)}
    schedule = replace(SCHEDULE, vectors={**SCHEDULE.vectors, **powered.VECTORS}) if powertrain else SCHEDULE
    c, inner = Recursion(schedule, lanes.groups, once), tuple(inner)
    sizes = states(lanes, inner, powertrain).sizes
    evaluation = powered.evaluation() if powertrain else EVALUATION
    rates = {**RATES, **{n: INNER_RATES.format(k=k) for k, n in enumerate(inner)}}
    rates |= powered.RATES if powertrain else {}
    copies = (f"    memcpy(dx + JN_X_{n}, {place}, {sizes[n]} * sizeof *dx);\n" for n, place in rates.items())
    own = {"locals": _declared("{0}"), "d_locals": _declared("{0}, d_{0}")}
    still, guarded = {"inner": "still", "acceleration": "no_acceleration"}, {"corner": "corner_moves"}
    return "\n".join((
        "/* Made from the schedule of the recursion; do not edit. */\n",
        *([_of_arm(lanes, c)] if powertrain else []),
        _EVALUATE.format(values=c.values(evaluation, lean=True), tangents=c.tangents(evaluation), **own),
        _RATES.format(copies="".join(copies), values=c.values(MOTION), tangents=c.tangents(MOTION)),
        _REPORTS.format(values=c.values(REPORTS), tangents=c.tangents(REPORTS)),
        _PASS.format(moves=_read("corner", len(lanes)), calls=c.one_pass(EVALUATION, still, guarded),
                     follow=c.tangents(_after_the_sums()), d_locals=own["d_locals"]),
    ))  # fmt: skip


def _of_arm(lanes: Lanes, c: Recursion) -> str:
    """C of what the steering arm shows to the column."""
    ports = c.values(powered.ARM)
    if any(group.own for group in lanes.groups):
        return _AGAIN.format(again=c.values(powered.AGAIN)) + _ARM.format(inertia=_DIFFERENCE, ports=ports)
    return _ARM.format(inertia="    int c;\n    (void)arm;\n" + c.values(powered.ARM_INERTIA), ports=ports)


def _declared(form: str) -> str:
    """Declarations of the further local vectors that the schedule's evaluation makes; ``form`` has the name as {0}."""
    made = (SCHEDULE.vectors[name] for step in EVALUATION if isinstance(step, Call) for name in step.outputs)
    own = [f"{v.place}[{v.size}]" for v in made if v.place.isidentifier() and v.place not in _DECLARED]
    return "".join(f", {form.format(v)}" for v in own)


def _after_the_sums() -> list[Step]:
    """The steps from the sums over the wheels to the acceleration of the chassis."""
    steps: list[Step] = list(EVALUATION)
    first = next(k for k, step in enumerate(steps) if isinstance(step, Sum)) + 1
    last = next(k for k, step in enumerate(steps) if isinstance(step, Call) and "acceleration" in step.outputs)
    return steps[first : last + 1]


def _read(function: str, lanes: int) -> str:
    """C condition under which the function reads a state."""
    [call] = [c for c in SCHEDULE.calls if c.function == function]
    found = []
    for vector in (SCHEDULE.vectors[name] for name in call.inputs):
        if vector.place.startswith("x + "):
            first, size = vector.place.removeprefix("x + "), vector.size * (lanes if vector.per_wheel else 1)
            found.append(f"(state >= {first} && state < {first} + {size})")
    return " || ".join(found)
