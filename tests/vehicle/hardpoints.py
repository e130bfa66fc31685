"""Axles of the reference hardpoints (Project Chrono's generic suspensions) as vehicle entries, for tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray

from jounce.axles import Axle
from jounce.data import Entry, Vehicle, load_vehicle
from jounce.dynamics.mechanism import Mechanism
from jounce.suspension.kinematics import Axle as Kinematics
from jounce.suspension.kinematics import kinematics_of
from jounce.suspension.mechanisms.templates import mechanism_of

DATA = yaml.safe_load((Path(__file__).parents[1] / "data" / "suspension-hardpoints.yaml").read_text())
#: Radius of the wheels that goes with the reference numbers [m].
RADIUS = 0.35
Array = NDArray[np.float64]
Maker = Callable[[], "Vehicle"]
HMMWV = load_vehicle("hmmwv")


def vehicle(kind: str, numbers: dict[str, Any]) -> Vehicle:
    """A vehicle whose one axle `rear` has those entries and the hmmwv's springs and wheels."""
    flat: dict[str, float] = {"rear.origin.x": 0.0, "rear.origin.y": 0.0, "rear.origin.z": 0.0}
    for name, entry in HMMWV.entries.items():
        if name.startswith(("rear.spring.", "rear.shock.", "rear.stop.", "rear.shock_", "wheel.", "driveline.")):
            flat[name] = entry.value
    for name, value in numbers.items():
        if isinstance(value, list) and "inertia" in name:
            flat |= {f"rear.{name}.{a}": v for a, v in zip(("xx", "yy", "zz"), value, strict=True)}
        elif isinstance(value, list):
            flat |= {f"rear.{name}.{a}": v for a, v in zip("xyz", value, strict=True)}
        else:
            flat[f"rear.{name}"] = value
    entries = {name: Entry(float(value), "1", "test", "test") for name, value in flat.items()}
    return Vehicle(kind, entries, axles=(Axle("rear", kind),))


def _spindle(data: dict[str, Any]) -> dict[str, Any]:
    wheel = DATA["wheel_assumed"]
    return {"SPINDLE": data["SPINDLE"], "spindle.mass": wheel["mass"], "spindle.inertia": wheel["inertia"]}


def macpherson() -> Vehicle:
    """Chrono's generic MacPherson strut."""
    d = DATA["macpherson"]
    lca, upright, upper = d["lca"], d["upright"], d["strut"]["upper"]
    points = {k: d[k] for k in ("LCA_F", "LCA_B", "LCA_U", "STRUT_C", "STRUT_U", "TIEROD_C", "TIEROD_U")}
    return vehicle("macpherson", points | _spindle(d) | {
        "LCA.mass": lca["mass"], "LCA.inertia": lca["inertia"], "LCA_CM": lca["com"],
        "upright.mass": upright["mass"], "upright.inertia": upright["inertia"], "UPRIGHT": upright["com"],
        "strut.mass": upper["mass"], "strut.com_from_top": upper["com_from_top"],
        "strut.inertia": [upper["inertia_across"], upper["inertia_across"], 0.0],
        "tierod.mass": d["tierod"]["mass"], "tierod.inertia.xx": d["tierod"]["inertia_across"]})  # fmt: skip


def five_link() -> Vehicle:
    """Chrono's generic multilink suspension, its upper arm as two links without mass."""
    d = DATA["five_link"]
    ends = {"UPPER_F": ("UF", "UU", 0.0), "UPPER_B": ("UB", "UU", 0.0), "LATERAL": ("LC", "LU", 1.91),
            "TRAILING": ("RC", "RU", 15.2), "TIEROD": ("TC", "TU", 1.0)}  # fmt: skip
    numbers: dict[str, Any] = {}
    for name, (inner, outer, mass) in ends.items():
        numbers |= {f"{name}_C": d[inner], f"{name}_U": d[outer]}
        length = float(np.linalg.norm(np.subtract(d[inner], d[outer])))
        owner = "tierod" if name == "TIEROD" else name
        numbers |= {f"{owner}.mass": mass, f"{owner}.inertia.xx": mass * length**2 / 12}
    upright = d["upright"]
    return vehicle("multilink", numbers | _spindle(d) | {
        "upright.mass": upright["mass"], "upright.inertia": upright["inertia"], "UPRIGHT": upright["com"],
        "SPRING_C": d["SPRING_C"], "SPRING_A": d["SPRING_U"], "SHOCK_C": d["SPRING_C"], "SHOCK_A": d["SPRING_U"]})


def solid_axle(**changes: Any) -> Vehicle:
    """Chrono's generic solid axle on four links."""
    d = DATA["solid_axle"]
    axle = d["axle"]
    return vehicle("solid_axle", {"UL_A": d["UA"], "UL_C": d["UC"], "LL_A": d["LA"], "LL_C": d["LC"]} | _spindle(d) | {
        "UL.mass": 1.446, "UL.inertia.xx": 0.011, "LL.mass": 2.892, "LL.inertia.xx": 0.0514,
        "axle.mass": axle["mass"], "axle.inertia": axle["inertia"], "AXLE_CM": axle["com"],
        "SPRING_A": d["SPRING_A"], "SPRING_C": d["SPRING_C"], "SHOCK_A": d["SPRING_A"], "SHOCK_C": d["SPRING_C"],
    } | changes)  # fmt: skip


def trailing_arm() -> Vehicle:
    """An assumed semi-trailing arm."""
    d = DATA["semi_trailing_arm"]
    arm = d["arm"]
    return vehicle("trailing_arm", _spindle(d) | {
        "TA_O": d["outer"], "TA_I": d["inner"], "ARM_CM": arm["com"], "arm.mass": arm["mass"],
        "arm.inertia": arm["inertia"], "SPRING_A": d["SPRING_A"], "SPRING_C": d["SPRING_C"],
        "SHOCK_A": d["SPRING_A"], "SHOCK_C": d["SPRING_C"]})  # fmt: skip


def mechanism(v: Vehicle, axle: str = "rear") -> Mechanism:
    """Its mechanism."""
    return mechanism_of(v, axle, next(a.kind for a in v.axles if a.name == axle))


def kinematics(v: Vehicle, axle: str = "rear") -> Kinematics:
    """Its kinematics in numbers."""
    return kinematics_of(v, next(a for a in v.axles if a.name == axle))
