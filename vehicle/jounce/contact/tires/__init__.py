"""The tire laws, by name. A new one is a module of this folder and its record in `LAWS`.

Other programs add theirs with `register`.
"""

from __future__ import annotations

from itertools import pairwise

from jounce.contact.tires.coefficients import MF61 as _MF61
from jounce.contact.tires.coefficients import MF61_FACTORS, PAC2002_FACTORS, POINTS
from jounce.contact.tires.coefficients import PAC2002 as _PAC2002
from jounce.contact.tires.dual import ENDING, dual
from jounce.contact.tires.law import Law, Stiffness, later
from jounce.contact.tires.mixed import JOINER, entries_of, mixed, own_law
from jounce.signals import Signal, State

__all__ = ["LAWS", "MF61", "MF61_CURVE", "PAC2002", "PAC2002_CURVE", "TMEASY", "Law", "dual", "entries_of",
           "find", "laws", "mixed", "own_law", "register", "unregister"]  # fmt: skip

_CURVES = (
    *(f"{of}_{axis}" for axis in "xy" for of in ("slip_stiffness", "peak_force", "sliding_force", "peak_slip",
                                                 "sliding_slip")),
    "trail", "trail_zero_slip", "trail_end_slip",
)  # fmt: skip

#: Curves and bristles after Rill; see `jounce.contact.tires.tmeasy`.
TMEASY = Law(
    name="tmeasy",
    parameters=(
        "unloaded_radius",
        "width",
        "rim_radius",
        "rim_stiffness",
        "rim_damping",
        "nominal_load",
        "max_load",
        "nominal_friction",
        "vertical_stiffness",
        "vertical_stiffness_quadratic",
        "vertical_damping",
        "rolling_resistance",
        "min_slip_speed",
        "blend_begin",
        "blend_end",
        "tread_stiffness",
        "tread_damping",
        "combined_slip",
        "rolling_deflection",
        "bore_deflection",
        *(f"{curve}_{load}" for curve in _CURVES for load in ("nominal", "double")),
    ),
    contact=later("jounce.contact.tires.tmeasy", "tmeasy"),
    states=(
        State("bristle.x", "m", "tire bristle, longitudinal", 1e-3),
        State("bristle.y", "m", "tire bristle, lateral", 1e-3),
        State("rolled", "rad", "elastic part of the rolling, which the rolling resistance holds", 1e-3),
        State("turned", "rad", "elastic part of the contact's turning about the normal", 1e-3),
        State("travelled", "m", "distance that the wheel has rolled over its tread, up to the trail", 0.01),
        State("sliding", "1", "share in which the contact's friction is that of sliding", 0.1),
    ),
    start=later("jounce.contact.tires.tmeasy", "start"),
    rising=(("blend_begin", "blend_end"),),
    stiffnesses=(
        Stiffness("vertical_stiffness", "spring", "normal"),
        Stiffness("vertical_stiffness_quadratic", "spring", "normal", factor=2.0, power=1),
        Stiffness("rim_stiffness", "spring", "normal"),
        Stiffness("vertical_damping", "damper", "normal"),
        Stiffness("rim_damping", "damper", "normal"),
        Stiffness("tread_damping", "damper", "tread"),
        Stiffness("tread_stiffness", "spring", "tread"),
    ),
)

#: What the laws of the Magic Formula read beside its coefficients.
MAGIC_FORMULA = (
    "unloaded_radius",
    "width",
    "rim_radius",
    "rim_stiffness",
    "rim_damping",
    "vertical_stiffness",
    "vertical_stiffness_quadratic",
    "vertical_damping",
    "min_load",
    "max_load",
    "max_inclination",
    "min_slip",
    "max_slip",
    "min_slip_angle",
    "max_slip_angle",
    "limits",
    "mirror",
    "use_mode",
    "pressure",
    "least_pressure",
    "reference_friction",
    "blend_begin",
    "blend_end",
    "tread_stiffness",
    "tread_damping",
    "rolling_resistance",
    "rolling_deflection",
    "bore_deflection",
    "FNOMIN",
    "NOMPRES",
    "LONGVL",
    "DREFF",
    "BREFF",
    "FREFF",
    "Q_RE0",
    "Q_V1",
    "Q_V2",
    "PFZ1",
)
_LAGGED = tuple(State(f"slip.{axis}", "1", f"lagged slip, {text}", 1e-2)
                for axis, text in (("x", "longitudinal"), ("y", "lateral")))  # fmt: skip


_PRESSURE = Signal("tire_pressure", "input", "Pa", "inflation pressure; 0: that of tire.pressure", minimum=-1.0,
                   frame="", nominal=1e5)  # fmt: skip
_OUTSIDE = Signal("tire_outside", "output", "1", "how many of load, inclination, slip, slip angle and weights of "
                  "combined slip are outside of the ranges of the tire's file", minimum=0.0, frame="")  # fmt: skip


def _magic_formula(name: str, more: tuple[str, ...], *, curve: bool = False) -> Law:
    module = "jounce.contact.tires.magic_formula"
    stiffnesses, rising = TMEASY.stiffnesses, (*TMEASY.rising, ("min_load", "max_load"), ("min_slip", "max_slip"),
                                                 ("min_slip_angle", "max_slip_angle"))
    if curve:
        parts = [(f"load_curve_deflection_{k}", f"load_curve_stiffness_{k}") for k in range(POINTS)]
        more = (*more, *(name for part in parts for name in part))
        rising = (*rising, *pairwise(deflection for deflection, _ in parts))
        stiffnesses = (*stiffnesses[1:], *(Stiffness(stiffness, "spring", "normal") for _, stiffness in parts))
    return Law(
        name=f"{name}_curve" if curve else name, parameters=(*MAGIC_FORMULA, *more), sided=("side",),
        contact=later(module, f"contact_{name}"), start=later(module, f"start_{name}"),
        states=(*TMEASY.states, *_LAGGED), inputs=(_PRESSURE,), outputs=(_OUTSIDE,),
        bounded=(("tire_pressure", "pressure"),), rising=rising, stiffnesses=stiffnesses, quick=True,
        factors=MF61_FACTORS if name == "mf61" else PAC2002_FACTORS,
    )  # fmt: skip


#: The Magic Formula; see `jounce.contact.tires.magic_formula`.
PAC2002 = _magic_formula("pac2002", ("combined_slip", *_PAC2002))
MF61 = _magic_formula("mf61", _MF61)
#: The same with a curve of the load over the deflection in place of a linear stiffness.
PAC2002_CURVE = _magic_formula("pac2002", ("combined_slip", *_PAC2002), curve=True)
MF61_CURVE = _magic_formula("mf61", _MF61, curve=True)

#: Those that come with jounce.
LAWS = (TMEASY, PAC2002, MF61, PAC2002_CURVE, MF61_CURVE)

_known = {law.name: law for law in LAWS}


def laws() -> tuple[Law, ...]:
    """Every known law: those that come with jounce, those added."""
    return tuple(_known.values())


def find(name: str) -> Law:
    """The law of that name, of two tires (`dual`) of one, or of several (`mixed`).

    Raises KeyError with the known names.
    """
    if name.endswith(ENDING) and name not in _known:
        return dual(find(name.removesuffix(ENDING)))
    if JOINER in name:
        return mixed(*map(find, name.split(JOINER)))
    if name not in _known:
        raise KeyError(f"unknown tire law {name!r}; known are {', '.join(_known)}")
    return _known[name]


def register(law: Law) -> None:
    """Add a law for this process. Raises ValueError where the name is taken, or stands for a law made of others."""
    if law.name in _known:
        raise ValueError(f"there is a tire law named {law.name!r} already")
    if JOINER in law.name or law.name.endswith(ENDING):
        raise ValueError(f"tire law {law.name!r}: expected a name without {JOINER!r} that does not end with {ENDING!r}")
    _known[law.name] = law


def unregister(name: str) -> None:
    """Take back a law that was added. Raises KeyError where none of that name was."""
    if name not in _known or any(law.name == name for law in LAWS):
        raise KeyError(f"no tire law named {name!r} was added")
    del _known[name]
