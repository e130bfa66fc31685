"""The recursion over the chassis and its four corners: which function takes what from where.

Jain 2016: inward sweep (Eqs. 4 and 6), chassis, outward sweep (Eq. 7); then the rates of the states, and the outputs.
"""

from __future__ import annotations

from jounce.dynamics.schedule import Call, Glue, Rows, Schedule, Sum, Vector, local, made, numbers, of_axle, state

VECTORS: dict[str, Vector] = {
    # states and inputs
    "chassis": Vector("x"),
    "quaternion": state("quaternion"),
    "angular": state("angular", size=3),
    "corner state": state("theta", per_wheel=True, size=3),
    "wheel state": state("spin_rate", per_wheel=True),
    "own state": state("spin", per_wheel=True),
    "arm": local("arm"),
    "wheel inputs": made("wheel_inputs"),
    "world wrench": Vector("u + JN_U_chassis_ext_force_x"),
    # numbers of the vehicle
    "linkage": numbers("D_LINKAGE"),
    "inner numbers": numbers("D_INNER", per_wheel=True),
    "corner numbers": of_axle(numbers("D_CORNERS", per_wheel=True)),
    "close numbers": of_axle(numbers("D_CLOSE", per_wheel=True)),
    "guess numbers": of_axle(numbers("D_GUESS", per_wheel=True)),
    "reaction": of_axle(Vector("jn_reaction", per_wheel=True, moves=False)),
    "wheel numbers": numbers("D_WHEELS", per_wheel=True),
    "axial": numbers("D_AXIAL", per_wheel=True),
    "chassis numbers": numbers("D_CHASSIS"),
    "gravity": numbers("D_CHASSIS + JN_CHASSIS_NUMBER_gravity"),
    # made on the way
    "link": local("link"),
    "inner": made("inner"),
    "corner": made("corner"),
    "corner tail": made("corner + JN_CORNERS * JN_CORNER_N"),  # of axles whose wheels share a body
    # dependent coordinates of kinds without a closed form
    "first guess": of_axle(made("first")),
    "second guess": of_axle(made("second")),
    "u": of_axle(made("u")),
    "wheel": made("wheel"),
    "articulated_body": made("articulated_body"),
    "total": local("total"),
    "wrench": local("loads"),
    "acceleration": made("acceleration", per_wheel=False),
    "felt": Vector("e->acceleration + 3"),
    "back": made("back"),
    "rate of position": local("dx + JN_X_position"),
    "rate of quaternion": local("dx + JN_X_quaternion"),
    "rate of linear": local("dx + JN_X_linear"),
    "report": local("report", per_wheel=True),
    "share": local("share", per_wheel=True),
    "chassis report": local("y"),
    "body": local("body"),
    "adjacent": local("adjacent"),
    "opposite sides": local("opposite", per_wheel=True),  # four angles on the lanes of four wheels
    "adjacent sides": local("adjacent", per_wheel=True),
    "angles": local("angles", per_wheel=True),
}

#: From the states to the accelerations.
EVALUATION = (
    Call("steering", ("arm", "linkage"), ("link",)),
    Glue("if (!(link[JN_LINK_discriminant] > SINGULAR)) return refuse_steering(u, f);",
         "if (!(link[JN_LINK_discriminant] > SINGULAR)) return refuse_steering(u, f);"),
    Glue("fill_wheel_inputs(u, d, e->wheel_inputs);",
         "fill_wheel_inputs(u, d, e->wheel_inputs);\n    fill_wheel_inputs_forward(u, d, d_u, d_e->wheel_inputs);"),
    Call("inner", ("link", "inner numbers"), ("inner",)),
    Call("corner", ("corner state", "inner", "angular", "corner numbers"), ("corner",), lean=True),
    Call("wheel", ("corner", "chassis", "wheel state", "wheel inputs", "wheel numbers"), ("wheel",),
         lean=True, before=("if (d[D_TERRAIN] != 0.0) find_ground(x, d, c, JN_LANES, e);",
                            "if (d[D_TERRAIN] != 0.0) find_ground_forward(x, d, d_x, c, JN_LANES, e, d_e);")),
    Call("inward_sweep", ("corner", "wheel", "axial"), ("articulated_body",),
         before=("if (d[D_SOIL] + d[D_AREA] != 0.0) press(x, d, c, JN_LANES, e);",
                 "if (d[D_SOIL] + d[D_AREA] != 0.0) press_forward(x, d, d_x, c, JN_LANES, e, d_e);")),
    Glue("if (refuse_range(x, e, f) || refuse_off(e, d, f)) return 1;",
         "if (refuse_range(x, e, f) || refuse_off(e, d, f)) return 1;"),
    Sum("articulated_body", "total"),
    Call("external", ("quaternion", "world wrench"), ("wrench",), zero_with="world wrench"),
    Glue("JN_NAME(load_body)(x, d, e, loads);", "JN_NAME(load_body_forward)(x, d, d_x, e, d_e, loads, d_loads);"),
    Call("chassis", ("chassis numbers", "angular", "total", "wrench"), ("acceleration",)),
    Call("outward_sweep", ("corner", "articulated_body", "acceleration", "axial"), ("back",)),
)  # fmt: skip

#: From there to the rates that are not states or accelerations themselves (`RATES`).
MOTION = (
    Rows("acceleration", 3, "felt"),
    Call("motion", ("chassis", "felt", "gravity"), ("rate of position", "rate of quaternion", "rate of linear")),
)

#: From there to the outputs.
REPORTS = (
    Call("report", ("corner", "wheel", "articulated_body", "chassis", "own state", "acceleration", "axial"),
         ("report", "share")),
    Call("chassis_report", ("chassis", "acceleration", "chassis numbers"), ("chassis report", "body", "adjacent")),
    Glue("take_angles(y, opposite);", "take_angles(y, opposite);\n    take_angles(d_y, d_opposite);"),
    Call("angle", ("opposite sides", "adjacent sides"), ("angles",), lanes=4),
)  # fmt: skip

SCHEDULE = Schedule(VECTORS, EVALUATION + MOTION + REPORTS)

#: State -> C expression of its rates, where they are there already. The rest are made by `MOTION`; memory has none.
RATES = {
    "theta": "x + JN_X_theta_rate",
    "spin": "x + JN_X_spin_rate",
    "angular": "e->acceleration",
    "theta_rate": "e->back",
    "spin_rate": "e->back + JN_CORNERS",
}
#: The same of inner state number k of the wheels.
INNER_RATES = "e->wheel + JN_CORNERS * (JN_WHEEL_rates + {k})"
