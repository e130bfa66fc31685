"""MuJoCo with the vehicle's tree, its loops as soft connect constraints, and four wheels on a plane."""

from __future__ import annotations

import ctypes as ct
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from native import compile_c, measure, package_folder
from timing import Samples
from vehicle_tree import Array, Tree

from jounce.data import Vehicle

FORWARD, STEP = range(2)
EULER, RK4, IMPLICIT_FAST = 0, 1, 3

#: Share of a soft constraint's force that meets the asked acceleration at once (MuJoCo's d), for the tires.
_IMPEDANCE = 0.9


@dataclass(frozen=True)
class Rest:
    """Spring of one corner in the equilibrium of jounce: MuJoCo's is linear about it."""

    length: float
    """[m]"""
    force: float
    """[N], > 0 pushes the ends apart"""
    stiffness: float
    """[N/m] here"""


@dataclass(frozen=True)
class Driving:
    """State of MuJoCo's vehicle while it is measured."""

    height: float
    """Chassis frame above the ground [m]"""
    speed: float
    """[m/s]"""
    hub: float
    """First wheel's centre above the ground [m]"""
    gap: float
    """Widest gap of a cut loop [m]"""
    iterations: float
    """Solver iterations in the last step [1]"""


def mjcf(vehicle: Vehicle, tree: Tree, rests: Mapping[str, Rest], speed: float, height: float, tire: float) -> str:
    """The model file, which starts rolling at `speed` [m/s] with the chassis frame at `height` [m].

    `tire` [1/kg] turns the tire's stiffness and damping into those of MuJoCo's soft contact.
    """
    root = ET.Element("mujoco", model=vehicle.name)
    ET.SubElement(root, "compiler", angle="radian", boundinertia="1e-5", autolimits="true")
    ET.SubElement(root, "option", timestep="0.001", gravity="0 0 -9.81")
    world = ET.SubElement(root, "worldbody")
    ET.SubElement(world, "geom", name="ground", type="plane", size="0 0 1", contype="1", conaffinity="1")
    elements: list[ET.Element] = []
    radius = vehicle["tire.unloaded_radius"]
    stiffness, damping = vehicle["tire.vertical_stiffness"], vehicle["tire.vertical_damping"]
    for b in tree.bodies:
        base = tree.bodies[b.parent].point if b.parent >= 0 else np.array([0.0, 0.0, -height])
        mother = elements[b.parent] if b.parent >= 0 else world
        element = ET.SubElement(mother, "body", name=b.name, pos=_text(b.point - base))
        elements.append(element)
        i = b.inertia
        ET.SubElement(element, "inertial", pos=_text(b.com - b.point), mass=repr(b.mass),
                      fullinertia=_text([i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]]))
        if b.kind == "free":
            ET.SubElement(element, "freejoint", name=b.name)
        elif b.kind == "ball":
            ET.SubElement(element, "joint", name=b.name, type="ball")
        for k, axis in enumerate(b.axes):
            joint = ET.SubElement(element, "joint", name=f"{b.name}_{k}", axis=_text(axis), armature=repr(b.armature),
                                  type="slide" if b.kind == "slide" else "hinge")
            if b.kind == "slide":
                shock = ("front" if b.name[-2] == "F" else "rear") + ".shock"
                joint.set("damping", repr((vehicle[f"{shock}.compression"] + vehicle[f"{shock}.rebound"]) / 2))
        if b.name.startswith("wheel"):
            # one contact point, as the tire model has
            ET.SubElement(element, "geom", type="sphere", size=repr(radius), contype="0", conaffinity="1", condim="3",
                          friction="0.9", mass="0", solref=_text([-tire * stiffness, -tire * damping]),
                          solimp=f"{_IMPEDANCE} {_IMPEDANCE} 0.001")
    _loops_and_springs(root, elements, tree, rests)
    _start(root, tree, speed, radius, height)
    return ET.tostring(root, encoding="unicode")


def _loops_and_springs(root: ET.Element, elements: list[ET.Element], tree: Tree, rests: Mapping[str, Rest]) -> None:
    closures = ET.SubElement(root, "equality")
    for c in tree.closures:
        a, b = (tree.bodies[i] for i in c.bodies)
        # as stiff as the time step allows
        ET.SubElement(closures, "connect", body1=a.name, body2=b.name, anchor=_text(c.point - a.point),
                      solref="0.002 1", solimp="0.99 0.99 0.001")
    tendons = ET.SubElement(root, "tendon")
    for corner, (wheel, rest) in zip(tree.design.corners, rests.items(), strict=True):
        spring = ET.SubElement(tendons, "spatial", name=f"spring_{wheel}", stiffness=repr(rest.stiffness),
                               springlength=repr(rest.length + rest.force / rest.stiffness))
        for owner, point in (("chassis", "SPRING_C"), (f"LCA_{wheel}", "SPRING_A")):
            i = tree.index(owner)
            name = f"{point}_{wheel}"
            ET.SubElement(elements[i], "site", name=name, pos=_text(corner.points[point] - tree.bodies[i].point))
            ET.SubElement(spring, "site", site=name)


def _start(root: ET.Element, tree: Tree, speed: float, radius: float, height: float) -> None:
    """A keyframe: in the design position, rolling."""
    position, velocity = [0.0, 0.0, height, 1.0, 0.0, 0.0, 0.0], [speed, 0.0, 0.0, 0.0, 0.0, 0.0]
    for b in tree.bodies[1:]:
        position += [1.0, 0.0, 0.0, 0.0] if b.kind == "ball" else [0.0] * len(b.axes)
        velocity += [0.0] * 3 if b.kind == "ball" else [0.0] * len(b.axes)
        if b.name.startswith("wheel"):
            velocity[-1] = speed / radius
    frames = ET.SubElement(root, "keyframe")
    ET.SubElement(frames, "key", qpos=_text(position), qvel=_text(velocity))


class MuJoCo:
    """MuJoCo's own library, called from C."""

    def __init__(self, folder: Path, vehicle: Vehicle, tree: Tree, rests: Mapping[str, Rest], *, speed: float,
                 height: float, hub: float) -> None:
        """Compiles into `folder` and opens the vehicle, rolling at `speed` [m/s].

        The contact's stiffness is fitted so that the first wheel's centre rests at `hub` [m]. Raises Unavailable.
        """
        package = package_folder("mujoco")
        library = next(package.glob("libmujoco.so*"))
        flags = [f"-I{package / 'include'}", str(library), f"-Wl,-rpath,{package}"]
        self._library = compile_c("bench_mujoco", folder, flags)
        self._library.mujoco_open.restype = ct.c_char_p
        path, tire = folder / "vehicle.xml", 1e-3
        for _ in range(2):
            path.write_text(mjcf(vehicle, tree, rests, speed, height, tire))
            error = self._library.mujoco_open(str(path).encode())
            if error:
                raise RuntimeError(f"MuJoCo refuses the model: {error.decode()}")
            radius = vehicle["tire.unloaded_radius"]
            # soft contacts are linear: deflection is inverse to stiffness
            tire *= (radius - self.drive(3000).hub) / (radius - hub)

    def choose(self, integrator: int, settle: int = 3000) -> Driving:
        """mjtIntegrator from here on; starts again and drives `settle` steps."""
        self._library.mujoco_set(integrator)
        return self.drive(settle)

    def drive(self, steps: int) -> Driving:
        """Go on for so many steps and tell how the vehicle stands."""
        if self._library.mujoco_steps(steps):
            raise RuntimeError("MuJoCo's simulation has diverged")
        values = [ct.c_double() for _ in range(5)]
        self._library.mujoco_state(*map(ct.byref, values))
        return Driving(*(v.value for v in values))

    def sizes(self) -> tuple[int, int]:
        """Velocities, and constraint rows now."""
        nv, rows = ct.c_int(), ct.c_int()
        self._library.mujoco_sizes(ct.byref(nv), ct.byref(rows))
        return nv.value, rows.value

    def measure(self, kind: int, *, blocks: int, calls: int) -> Samples:
        """Times of FORWARD or STEP."""
        return measure(self._library.mujoco_run, kind, blocks=blocks, calls=calls)


def _text(values: Array | list[float]) -> str:
    return " ".join(repr(float(v)) for v in values)
