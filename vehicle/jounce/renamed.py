"""Names that parameters had before, with the names of today.

The one table for every way in: vehicle data, `--set`, `jounce.simulate`, sessions, sweeps, hosted FMUs. A former name
is taken with a warning. The value reference stayed with the parameter.
"""

from __future__ import annotations

import warnings
from collections.abc import Container, Iterable, Mapping
from typing import Final

_TIRE = {
    "pn": "nominal_load",
    "pn_max": "max_load",
    "mu_0": "nominal_friction",
    "vertical_stiffness_linear_N_m": "vertical_stiffness",
    "vertical_damping_Ns_m": "vertical_damping",
    "vnum": "min_slip_speed",
    "frblend_begin_mps": "blend_begin",
    "frblend_end_mps": "blend_end",
    "dahl_sigma0": "tread_stiffness",
    "dahl_sigma1": "tread_damping",
}
#: Letters of TMeasy's curves, at the nominal load (pn) and at twice that load (p2n).
_CURVES = {
    "dfx0": "slip_stiffness_x", "fxm": "peak_force_x", "fxs": "sliding_force_x", "sxm": "peak_slip_x",
    "sxs": "sliding_slip_x", "dfy0": "slip_stiffness_y", "fym": "peak_force_y", "fys": "sliding_force_y",
    "sym": "peak_slip_y", "sys": "sliding_slip_y", "nL0": "trail", "sq0": "trail_zero_slip", "sqe": "trail_end_slip",
}  # fmt: skip
_LOADS = {"pn": "nominal", "p2n": "double"}

#: Former name -> name of today.
FORMER: Final[Mapping[str, str]] = {
    **{f"tire.{old}": f"tire.{new}" for old, new in _TIRE.items()},
    **{f"tire.{old}_{load}": f"tire.{new}_{now}" for old, new in _CURVES.items() for load, now in _LOADS.items()},
}


def present(name: str, known: Container[str]) -> str:
    """The name of today, where that is among the ``known`` ones and this one is not.

    A former name gives a FutureWarning, which Python shows to users by default.
    """
    if name in known or FORMER.get(name) not in known:
        return name
    warnings.warn(f"{name}: the name is {FORMER[name]} now", FutureWarning, stacklevel=3)
    return FORMER[name]


def twice(names: Iterable[str], known: Container[str]) -> str:
    """What is wrong with names of which two mean one parameter, a former one and that of today; else nothing."""
    given = set(names)
    both = sorted(old for old in given if old not in known and FORMER.get(old) in given)
    return f"{both[0]} and {FORMER[both[0]]} are one parameter; expected the second name alone" if both else ""
