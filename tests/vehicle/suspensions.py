"""Suspensions as mechanisms, for tests: the HMMWV's corners in two sets of coordinates, Project Chrono's generic ones.

Points of the generic ones: Project Chrono (BSD-3), data/vehicle/generic/suspension, MacPhersonStrut.json and
MultiLink.json at 24ceac10, SolidAxle.json at 04feadbf; left side, suspension frame. Masses and springs that those files
do not have are assumed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce.data import Vehicle
from jounce.dynamics.mechanism import Body, End, Force, Joint, Mechanism, Rod, Tubes, Wheel

Array = NDArray[np.float64]
WHEEL = {"axis": [0, 1, 0], "mass": 20.0, "along": 1.0, "across": 0.6, "shaft": 0.4}
#: Without a cubic part: its table would have knots, at which differences and tangents differ.
SPRING: dict[str, Any] = {"k1": 4e4, "k3": 0.0, "table_step": 1e-3, "rest_length": 0.5, "preload": 1e3,
                          "min_length": 0.05, "max_length": 0.9, "stop_depth": np.linspace(0, 0.1, 11),
                          "stop_force": np.linspace(0, 1e4, 11)}  # fmt: skip
SHOCK: dict[str, Any] = {"compression": 2e3, "rebound": 5e3, "bump_compression": 2e3, "bump_rebound": 5e3,
                         "shock_min": 0.25, "shock_max": 0.45, "shock_closed": 0.22, "shock_extended": 0.48,
                         "end_stiffness": 1e6, "end_damping": 1e3}  # fmt: skip


def _unit(v: Array) -> Array:
    return np.asarray(v / np.linalg.norm(v))


def _six(j: Array) -> list[float]:
    return [j[0, 0], j[1, 1], j[2, 2], j[0, 1], j[0, 2], j[1, 2]]


def _normals(axis: Array) -> tuple[Array, Array]:
    x = _unit(np.cross(np.eye(3)[int(np.argmin(np.abs(axis)))], axis))
    return x, np.cross(axis, x)


def _mirror(p: object) -> Array:
    return np.asarray(p, dtype=float) * [1, -1, 1]


def hmmwv(vehicle: Vehicle, axle: str, *, ten: bool = False) -> Mechanism:
    """Left corner; with rods and tubes between points, or with the ten coordinates of the paper's seven bodies."""

    def p(name: str) -> Array:
        return vehicle.vector(f"{axle}.origin") + vehicle.vector(f"{axle}.{name}")

    def n(name: str) -> float:
        return vehicle[f"{axle}.{name}"]

    def principal(body: str) -> Array:
        return np.diag([n(f"{body}.inertia.{k}") for k in ("xx", "yy", "zz")])

    def arm(name: str) -> Body:
        f, b, u = (p(f"{name}_{k}") for k in "FBU")
        x, z = _unit(f - b), _unit(np.cross(b - u, f - u))
        axes = np.column_stack([x, np.cross(z, x), z])
        return Body(name, n(f"{name}.mass"), p(f"{name}_CM"), _six(axes @ principal(name) @ axes.T))

    def slender(name: str, com: Array, axis: Array) -> Body:
        across, along = n(f"{name}.inertia.xx"), n(f"{name}.inertia.zz")
        return Body(name, n(f"{name}.mass"), com, _six(across * np.eye(3) + (along - across) * np.outer(axis, axis)))

    foot, top, outer, inner = (p(name) for name in ("SHOCK_A", "SHOCK_C", "TIEROD_U", "TIEROD_C"))
    strut, rod, quarter = _unit(top - foot), _unit(inner - outer), float(np.linalg.norm(top - foot)) / 4
    bodies = [arm("LCA"), arm("UCA"), Body("upright", n("upright.mass"), p("UPRIGHT"), _six(principal("upright")))]
    joints = [Joint("lower", "revolute", "chassis", "LCA", p("LCA_B"), p("LCA_F") - p("LCA_B")),
              Joint("upper", "revolute", "chassis", "UCA", p("UCA_B"), p("UCA_F") - p("UCA_B")),
              Joint("lower ball", "spherical", "LCA", "upright", p("LCA_U")),
              Joint("upper ball", "spherical", "UCA", "upright", p("UCA_U"), cut=True)]  # fmt: skip
    rods: tuple[Rod, ...] = ()
    tubes: tuple[Tubes, ...] = ()
    if ten:
        bodies += [slender("tierod", (outer + inner) / 2, rod), slender("shock_lower", foot + quarter * strut, strut),
                   slender("shock_upper", top - quarter * strut, strut)]  # fmt: skip
        joints += [Joint("outer ball", "universal", "upright", "tierod", outer, *_normals(rod)),
                   Joint("inner ball", "spherical", "tierod", "inner", inner),
                   Joint("foot", "universal", "LCA", "shock_lower", foot, *_normals(strut)),
                   Joint("stroke", "prismatic", "shock_lower", "shock_upper", top, strut),
                   Joint("top", "spherical", "shock_upper", "chassis", top, cut=True)]  # fmt: skip
    else:
        rods = (Rod("tierod", End("upright", outer), End("inner", inner), n("tierod.mass"), n("tierod.inertia.xx")),)
        of = {f"{end}_{k}": n(f"shock_{end}.{entry}") for end in ("lower", "upper")
              for k, entry in (("mass", "mass"), ("across", "inertia.xx"), ("along", "inertia.zz"))}  # fmt: skip
        tubes = (Tubes("shock", End("LCA", foot), End("chassis", top), lower_com=quarter, upper_com=quarter, **of),)
    spring = {k: n(f"spring.{k}") for k in ("k1", "k3", "table_step", "rest_length", "preload", "min_length",
                                            "max_length")}  # fmt: skip
    stops = {f"stop_{k}": [n(f"stop.{k}.{i}") for i in range(11)] for k in ("depth", "force")}
    entries = {k: k for k in ("compression", "rebound", "bump_compression", "bump_rebound", "end_stiffness",
                              "end_damping")}  # fmt: skip
    entries |= {"shock_min": "min_length", "shock_max": "max_length", "shock_closed": "closed_length",
                "shock_extended": "extended_length"}  # fmt: skip
    shock = {k: n(f"shock.{entry}") for k, entry in entries.items()}
    along, across = (vehicle[f"wheel.inertia.{k}"] + n(f"spindle.inertia.{k}") for k in ("yy", "xx"))
    wheel = Wheel("wheel", "upright", p("SPINDLE"), [0, 1, 0], vehicle["wheel.mass"] + n("spindle.mass"), along, across,
                  vehicle["driveline.inertia"])  # fmt: skip
    forces = (Force("spring", 0, End("LCA", p("SPRING_A")), End("chassis", p("SPRING_C")), {**spring, **stops}),
              Force("shock", 0, End("LCA", foot), End("chassis", top), shock))  # fmt: skip
    return Mechanism(axle, ("lower",), tuple(bodies), tuple(joints), rods, (wheel,), tubes, forces, {"inner": inner})


def macpherson() -> Mechanism:
    """Arm, upright with strut tube, strut rod as one of two tubes."""
    arm, ball, mount = np.array([0.22, 0.52, -0.156]), [-0.02165371, 0.94057703, -0.17402826], [-0.115, 0.785, 0.579]
    foot, inner = [-0.07402507, 0.8532915, 0.2484536], [-0.3, 0.52, -0.059]
    bodies = (Body("arm", 5.091, [-0.031, 0.646, -0.156], [0.0269, 0.06058, 0.03377]),
              Body("upright", 20.0, [-0.04, 0.91, -0.026], [0.4, 0.6, 0.4]))  # fmt: skip
    joints = (Joint("hinge", "revolute", "chassis", "arm", [-0.3, 0.507, -0.137], arm - [-0.3, 0.507, -0.137]),
              Joint("ball", "spherical", "arm", "upright", ball),
              Joint("mount", "point_on_line", "upright", "chassis", mount, np.subtract(mount, foot),
                    cut=True))  # fmt: skip
    strut = (End("upright", foot), End("chassis", mount))
    tubes = (Tubes("strut", *strut, 0.0, 0.0, 0.0, 0.0, 0.12, 5.0, 0.02, 0.0, single=True),)
    rods = (Rod("tierod", End("upright", [-0.2373756, 0.89495045, -0.01605418]), End("inner", inner), 1.5, 0.02),)
    wheel = Wheel("wheel", "upright", [-0.040004, 1.1, -0.026025], **{**WHEEL, "mass": 21.103})
    forces = (Force("spring", 0, *strut, SPRING), Force("shock", 0, *strut, SHOCK))
    return Mechanism("macpherson", ("hinge",), bodies, joints, rods, (wheel,), tubes, forces,
                     {"inner": inner})  # fmt: skip


def five_link(*, arm: bool = False, shift: Array | None = None) -> Mechanism:
    """Upright on five rods; with ``arm`` two of them are a massless A-arm. ``shift`` (10, 3) moves the rods' ends."""
    moved = np.zeros((10, 3)) if shift is None else shift
    names = ("UF", "UB", "lateral", "trailing", "tierod")
    inner = np.array([[0.060, 0.547, 0.082], [-0.157, 0.508, 0.062], [0.036, 0.338, -0.133], [0.723, 0.599, -0.072],
                      [-0.257, 0.320, -0.116]]) + moved[:5]  # fmt: skip
    outer = np.array([[0.056, 0.864, 0.151], [0.056, 0.864, 0.151], [0.029, 0.842, -0.093], [0.0, 0.864, -0.156],
                      [-0.144, 0.862, -0.056]]) + moved[5:]  # fmt: skip
    masses = dict(zip(names, (None, None, 1.91, 15.2, 1.0), strict=True))
    rods = []
    for name, a, b in zip(names, inner, outer, strict=True):
        mass, on = masses[name], "inner" if name == "tierod" else "chassis"
        across = None if mass is None else mass * float((a - b) @ (a - b)) / 12
        rods.append(Rod(name, End("upright", b), End(on, a), mass, across))
    centre = [0.0, 0.95, 0.0]
    bodies = [Body("upright", 3.201, [0.0, 0.91, 0.0], [0.025, 0.0065, 0.0284])]
    joints = [Joint("wheel height", "free", "chassis", "upright", centre)]
    if arm:
        bodies.append(Body("upper arm"))
        joints += [Joint("hinge", "revolute", "chassis", "upper arm", inner[1], inner[0] - inner[1]),
                   Joint("top ball", "spherical", "upper arm", "upright", outer[0], cut=True)]  # fmt: skip
        rods = rods[2:]
    forces = tuple(Force(kind, 0, End("upright", [0.02, 0.80, -0.10]), End("chassis", [0.181, 0.641, 0.110]), law)
                   for kind, law in (("spring", SPRING), ("shock", SHOCK)))  # fmt: skip
    wheel = Wheel("wheel", "upright", centre, **{**WHEEL, "mass": 21.103})
    return Mechanism("five-link", ("wheel height.z",), tuple(bodies), tuple(joints), tuple(rods), (wheel,), (), forces,
                     {"inner": inner[4]})  # fmt: skip


def solid_axle(*, panhard: bool = False, compliant: str = "", steered: bool = False) -> Mechanism:
    """Axle on four inclined links; with ``panhard`` on a fifth rod, of which the one named may be compliant."""
    ends = {"UL": ([-0.055, 0.475, 0.15], [0.355, 0.5, 0.15], 1.446), "LL": ([0.01, 0.6, -0.075], [0.45, 0.35, -0.045],
                                                                             2.892)}  # fmt: skip

    def rod(name: str, on: object, to: object, mass: float) -> Rod:
        across = mass * float(np.sum(np.subtract(on, to) ** 2)) / 12
        if name == compliant:
            return Rod(name, End("axle", on), End("chassis", to), stiffness=2e7, damping=1e4)
        return Rod(name, End("axle", on), End("chassis", to), mass, across)

    rods = [rod(f"{name}_{side}", flip(on), flip(to), mass) for name, (on, to, mass) in ends.items()
            for side, flip in (("L", np.asarray), ("R", _mirror))]  # fmt: skip
    if panhard:
        rods.append(rod("PAN", [-0.1, 0.45, 0.0], [-0.1, -0.45, 0.02], 2.0))
    lower, upper, centre = [-0.065, 0.575, -0.025], [-0.08, 0.56, 0.3], [0.0, 0.91, 0.0]
    flips = (np.asarray, _mirror)
    forces = tuple(Force(kind, k, End("axle", flip(lower)), End("chassis", flip(upper)), law)
                   for k, flip in enumerate(flips) for kind, law in (("spring", SPRING), ("shock", SHOCK)))  # fmt: skip
    bodies = [Body("axle", 44.958, [0, 0, 0], [7.744, 0.3, 7.744])]
    joints = [Joint("suspension", "free", "chassis", "axle", [0, 0, 0])]
    on, prescribed = ["axle", "axle"], {}
    if steered:
        drag = [0.6, 0.5, 0.15]
        on, prescribed = ["left knuckle", "right knuckle"], {"drag": drag}
        for name, flip in zip(on, flips, strict=True):
            bodies.append(Body(name, 12.0, flip([0.0, 0.8, 0.0]), [0.3, 0.25, 0.3]))
            axis = flip([-0.05, -0.15, 1.0])
            joints.append(Joint(f"{name} pin", "revolute", "axle", name, flip([0.0, 0.72, 0.0]), axis))
        rods += [Rod("tierod", End(on[0], [-0.15, 0.68, 0.0]), End(on[1], [-0.15, -0.68, 0.0]), 3.0, 0.4),
                 Rod("draglink", End(on[0], [0.0, 0.53, 0.15]), End("drag", drag), 2.0, 0.03)]  # fmt: skip
    wheels = tuple(Wheel(f"wheel {k + 1}", on[k], flip(centre), **WHEEL) for k, flip in enumerate(flips))
    coordinates, parts = ("suspension.z", "suspension.rx"), (tuple(bodies), tuple(joints), tuple(rods), wheels)
    return Mechanism("axle rear", coordinates, *parts, forces=forces, prescribed=prescribed)

