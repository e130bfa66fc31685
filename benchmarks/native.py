"""The C and C++ harnesses: compiled into a folder, loaded, and asked for times."""

from __future__ import annotations

import ctypes as ct
import hashlib
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from timing import Samples

from jounce_fmu.build.library import Sources, builtin_sources, compiler, ensure_library

FOLDER = Path(__file__).parent / "native"
RHS, OUTPUTS, STEP, STEP_OUTPUTS, STEP_ALL = range(5)


class Unavailable(RuntimeError):
    """A peer cannot be measured here; the text says why."""


def compile_c(name: str, folder: Path, flags: Sequence[str] = ()) -> ct.CDLL:
    """Compile one C file of `native/` alone."""
    return _compile([*compiler(), "-std=c99", "-O2"], FOLDER / f"{name}.c", folder, [*flags, "-lm"])


def compile_cpp(name: str, folder: Path, flags: Sequence[str]) -> ct.CDLL:
    """Compile one C++ file of `native/`. Raises Unavailable."""
    if not (os.environ.get("CXX") or shutil.which("c++")):
        raise Unavailable("no C++ compiler (CXX or c++)")
    command = shlex.split(os.environ.get("CXX", "")) or ["c++"]
    return _compile([*command, "-std=c++17", "-O3", "-DNDEBUG", "-w"], FOLDER / f"{name}.cpp", folder, flags)


def _compile(command: Sequence[str], source: Path, folder: Path, flags: Sequence[str]) -> ct.CDLL:
    """The library of one source, compiled unless `folder` has it from the same text and command."""
    full = [*command, "-fPIC", "-shared", str(source), *flags]
    key = hashlib.sha256(shlex.join(full).encode() + source.read_bytes() + (FOLDER / "bench.h").read_bytes())
    library = folder / f"{source.stem}-{key.hexdigest()[:12]}.so"
    if not library.exists():
        sys.stderr.write(f"compiling {source.name}\n")
        part = library.with_suffix(".part")
        done = subprocess.run([*full, "-o", str(part)], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{shlex.join(full)}\n{done.stderr[:4000]}")
        part.replace(library)
    return ct.CDLL(str(library))


def package_folder(package: str) -> Path:
    """Folder of an installed package, which is not imported. Raises Unavailable."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise Unavailable(f"the package {package} is not installed")
    return Path(spec.submodule_search_locations[0])


def measure(function: Any, *first: Any, blocks: int, calls: int) -> Samples:
    """Times of `function(*first, blocks, calls, wall, cpu)`; one call a block gives wall times only."""
    wall, cpu = np.zeros(blocks), np.zeros(blocks)
    pointer = ct.POINTER(ct.c_double)
    both = calls > 1
    cpu_pointer = cpu.ctypes.data_as(pointer) if both else pointer()
    if function(*first, blocks, calls, wall.ctypes.data_as(pointer), cpu_pointer):
        raise RuntimeError("the subject failed while it was measured")
    return Samples(wall.tolist(), cpu.tolist() if both else [])


class Core:
    """A model and the package's core, compiled from their sources with their flags and `bench_core.c`."""

    def __init__(self, folder: Path, model: Sources | None = None) -> None:
        """Compiles into `folder`; the model is the built-in vehicles' where none is given."""
        model = model or builtin_sources()
        own = (FOLDER / "bench_core.c", FOLDER / "bench.h")
        sources = Sources(f"bench_{model.identifier}", (*model.files, *own))
        self._library = ct.CDLL(str(ensure_library(sources, folder)))
        self._library.core_output.restype = ct.c_double
        self._library.core_error.restype = ct.c_char_p
        #: Number of variants that this processor runs: one lane, four lanes.
        self.variants = int(self._library.core_variants())

    def open(self, variant: int, values: Mapping[str, float], resource: str = "") -> int:
        """An initialized instance of the variant with these inputs and parameters, and the URI of its resource."""
        names = (ct.c_char_p * len(values))(*(n.encode() for n in values))
        numbers = (ct.c_double * len(values))(*values.values())
        instance = int(self._library.core_open(variant, resource.encode(), len(values), names, numbers))
        if instance < 0:
            raise RuntimeError(self._library.core_error(-1).decode())
        return instance

    def measure(self, instance: int, kind: int, *, blocks: int, calls: int) -> Samples:
        """Times of RHS, OUTPUTS, STEP, ..."""
        return measure(self._library.core_run, instance, kind, blocks=blocks, calls=calls)

    def output(self, instance: int, name: str) -> float:
        """An output now."""
        return float(self._library.core_output(instance, name.encode()))
