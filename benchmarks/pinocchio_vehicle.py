"""Pinocchio with the vehicle's tree and closures, checked against the maximal-coordinate reference."""

from __future__ import annotations

import ctypes as ct
from pathlib import Path
from typing import Any

import numpy as np
from native import Unavailable, compile_cpp, measure, package_folder
from timing import Samples
from vehicle_tree import KINDS, Probe, Tree

OPEN_TREE, CONSTRAINED, LOOP_ABA, STEP_CONSTRAINED, STEP_LOOP_ABA = range(5)


class Pinocchio:
    """The library that comes with the package pin, called from C++."""

    def __init__(self, folder: Path, tree: Tree, probe: Probe) -> None:
        """Compiles into `folder` (minutes, once) and opens the vehicle. Raises Unavailable."""
        package_folder("pinocchio")
        prefix = next((p for p in map(Path, _site_folders()) if (p / "include/pinocchio").is_dir()), None)
        if prefix is None or not (prefix / "include/eigen3").is_dir():
            raise Unavailable("the C++ headers of pin and cmeel-eigen are not installed")
        include = prefix / "include"
        # as in pinocchio's own build: its joint variant has more types than Boost's lists have by default
        defines = ["-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
                   "-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION"]
        library = prefix / "lib" / "libpinocchio_default.so"
        flags = [*defines, f"-I{include}", f"-I{include / 'eigen3'}", str(library), f"-Wl,-rpath,{library.parent}"]
        self._library = compile_cpp("bench_pinocchio", folder, flags)
        self.nv = self._open(tree, probe)

    def _open(self, tree: Tree, probe: Probe) -> int:
        kinds = [KINDS.index(b.kind) for b in tree.bodies]
        numbers = []
        for b in tree.bodies:
            base = tree.bodies[b.parent].point if b.parent >= 0 else np.zeros(3)
            axes = np.zeros(6)
            axes[: 3 * len(b.axes)] = np.concatenate(b.axes) if b.axes else []
            i = b.inertia
            moments = [i[0, 0], i[0, 1], i[1, 1], i[0, 2], i[1, 2], i[2, 2]]
            numbers += [*(b.point - base), *axes, b.mass, *(b.com - b.point), *moments, b.armature]
        pairs = [i for c in tree.closures for i in c.bodies]
        points = [x for c in tree.closures for i in c.bodies for x in c.point - tree.bodies[i].point]
        parents = [b.parent for b in tree.bodies]
        return int(self._library.pinocchio_open(
            len(tree.bodies), _ints(kinds), _ints(parents), _doubles(numbers), len(tree.closures),
            _ints(pairs), _doubles(points), _doubles(probe.velocity), _doubles(probe.torque),
        ))

    def error(self, kind: int, probe: Probe) -> float:
        """Largest difference from the reference's accelerations, relative to the largest of them."""
        found = np.zeros(self.nv)
        self._library.pinocchio_solve(kind, found.ctypes.data_as(ct.POINTER(ct.c_double)))
        return float(np.max(np.abs(found[probe.places] - probe.expected)) / np.max(np.abs(probe.expected)))

    def iterations(self) -> int:
        """Iterations of the last loop-constrained recursion."""
        return int(self._library.pinocchio_iterations())

    def measure(self, kind: int, *, blocks: int, calls: int) -> Samples:
        """Times of one kind of call."""
        return measure(self._library.pinocchio_run, kind, blocks=blocks, calls=calls)


def _site_folders() -> list[str]:
    import site
    import sysconfig

    return [f"{folder}/cmeel.prefix" for folder in (*site.getsitepackages(), sysconfig.get_paths()["purelib"])]


def _ints(values: Any) -> Any:
    return (ct.c_int * len(values))(*values)


def _doubles(values: Any) -> Any:
    return (ct.c_double * len(values))(*map(float, values))
