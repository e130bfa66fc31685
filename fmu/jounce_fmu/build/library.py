"""Compiles a model with the C runtime into one native library, and rebuilds it when its sources change.

Standard library only, so that the packaging hook can run it before anything is installed. A library counts as
current when it contains the sha256 of its sources; a failed compile raises with the compiler's own text.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

PACKAGE = Path(__file__).parents[1]
RUNTIME = PACKAGE / "runtime"
NATIVE = PACKAGE / "_native"
OBJECTS = NATIVE / "objects"
FMI_HEADERS = (
    "fmi2TypesPlatform.h",
    "fmi2FunctionTypes.h",
    "fmi2Functions.h",
    "fmi3PlatformTypes.h",
    "fmi3FunctionTypes.h",
    "fmi3Functions.h",
)
# No flag changes a value: without errno, sqrt is one instruction; without TER gcc keeps the order of straight-line
# code, and fewer values wait in memory (4 % of a step). clang has no such pass and would say so.
FLAGS = (
    "-std=c99",
    "-O2",
    "-ffp-contract=off",
    "-fno-math-errno",
    "-fno-tree-ter",
    "-Wno-ignored-optimization-argument",
    "-fvisibility=hidden",
    "-fPIC",
    "-Wall",
)
HASH_FILE = "jn_build_hash.c"


class Platform(NamedTuple):
    """Where a library runs, how it is cross-compiled and in which folder each standard looks for it."""

    suffix: str
    target: str
    """Target of ``zig cc``. The old glibc makes a Linux library portable."""
    fmi2: str
    fmi3: str


#: FMI 2 knows one folder for macOS, where both processors' libraries lie in one universal file. It has no name for
#: Linux on ARM; there that of FMI 3 serves.
PLATFORMS: dict[str, Platform] = {
    "linux64": Platform(".so", "x86_64-linux-gnu.2.17", "linux64", "x86_64-linux"),
    "win64": Platform(".dll", "x86_64-windows-gnu", "win64", "x86_64-windows"),
    "aarch64-linux": Platform(".so", "aarch64-linux-gnu.2.17", "aarch64-linux", "aarch64-linux"),
    "darwin64": Platform(".dylib", "x86_64-macos", "darwin64", "x86_64-darwin"),
    "aarch64-darwin": Platform(".dylib", "aarch64-macos", "darwin64", "aarch64-darwin"),
}


#: How to get the compiler for other platforms.
PLATFORMS_INSTALL = "pip install 'jounce[platforms]', or in a clone pip install -e '.[platforms]'"


class BuildError(RuntimeError):
    """The native library could not be made; the text is the compiler's output where there is any."""


class BadRequest(BuildError):
    """What was asked for cannot be built: the data, a name or an option, whatever the compiler."""


def _code(folder: Path) -> list[Path]:
    return [f for f in folder.rglob("*") if f.suffix in (".c", ".h", ".inc")]


@dataclass(frozen=True)
class Sources:
    """The C files of one model; the runtime's files are added by the build."""

    identifier: str
    """FMI model identifier: the library's file name without suffix."""
    files: tuple[Path, ...]
    """The model's .c, .h and .inc files, its emitted table included. Includes go by bare name."""

    def __post_init__(self) -> None:
        names = [f.name for f in self.all_files()]
        if len(set(names)) != len(names):
            raise BuildError(f"{self.identifier}: two source files share a name among {sorted(names)}")

    def all_files(self) -> tuple[Path, ...]:
        """Runtime and model files, ordered by name."""
        return tuple(sorted([*_code(RUNTIME), *self.files], key=lambda f: f.name))

    def build_hash(self) -> str:
        """sha256 over names and contents of all sources and the compiler flags, 64 hex digits."""
        digest = hashlib.sha256(" ".join(FLAGS).encode())
        for path in self.all_files():
            data = path.read_bytes()
            digest.update(f"\0{path.name}\0{len(data)}\0".encode() + data)
        return digest.hexdigest()

    def packed(self) -> dict[str, bytes]:
        """All that a bare C99 compiler needs, flat, by file name: sources, the hash file, FMI headers."""
        content = {f.name: f.read_bytes() for f in self.all_files()}
        for header in FMI_HEADERS:
            content[header] = (fmi_headers() / header).read_bytes()
        content[HASH_FILE] = (
            f'#include "jn_model.h"\n\nconst char jn_build_hash_text[] = "{self.build_hash()}";\n'.encode()
        )
        return dict(sorted(content.items()))


def builtin_sources(model: str = "double_wishbone", name: str = "hmmwv") -> Sources:
    """Sources of a model that ships with the package, for the library of one of its data sets."""
    files = [f for folder in ("common", model) for f in _code(PACKAGE / "models" / folder)]
    if not any(f.name.endswith("_table.c") for f in files):
        raise BuildError("no *_table.c among the files of {model}: emit the model first")
    return Sources(f"jounce_{name}", tuple(files))


def fmi_headers() -> Path:
    """Folder of the FMI headers, which come with the installed fmpy."""
    spec = importlib.util.find_spec("fmpy")
    if spec is None or not spec.submodule_search_locations:
        raise BuildError("the FMI headers come with the package fmpy, which is not installed")
    return Path(spec.submodule_search_locations[0]) / "c-code"


def has_cc() -> bool:
    """Is there a C compiler on this machine (``$CC`` or ``cc``)?"""
    return bool(os.environ.get("CC")) or shutil.which("cc") is not None


def compiler(target: str = "") -> list[str]:
    """Start of the compile command: ``$CC`` or ``cc``; without one, or for a zig ``target``, ziglang."""
    if not target and has_cc():
        return shlex.split(os.environ.get("CC", "")) or ["cc"]
    if importlib.util.find_spec("ziglang") is None:
        what = f"no cross-compiler for {target}" if target else "no C compiler: there is no cc"
        raise BuildError(f"{what}; the package ziglang is one: {PLATFORMS_INSTALL}")
    # zig adds undefined-behaviour traps to debug builds only when told; keep them out
    command = [sys.executable, "-m", "ziglang", "cc", "-fno-sanitize=undefined"]
    return [*command, "-target", target] if target else command


def compile_library(sources: Sources, destination: Path, target: str = "", kept: Path | None = None) -> None:
    """Compile all sources into ``destination`` (replaced in one move); BuildError carries the compiler's text.

    With the folder ``kept``, objects of earlier libraries are taken from there: those of one model with other numbers
    differ in one small file, and the others take twenty seconds. (zig keeps them itself.)
    """
    with tempfile.TemporaryDirectory(dir=destination.parent, prefix=".build-") as folder:
        packed = sources.packed()
        for name, data in packed.items():
            (Path(folder) / name).write_bytes(data)
        listed = [name for name in packed if name.endswith(".c")]
        math_library = [] if "windows" in target else ["-lm"]
        strip = ["-s"] if target else []  # zig's debug information names the folder
        library = sources.identifier + library_suffix(target)  # the file carries its name: let it be the final one
        command = [*compiler(target), *FLAGS, *strip]

        def run(*arguments: str) -> None:
            full = [*command, *arguments]
            result = subprocess.run(full, cwd=folder, capture_output=True, text=True, check=False)
            if result.returncode:
                raise BuildError(f"compiling {sources.identifier} failed:\n{shlex.join(full)}\n{result.stderr}")

        for k, name in enumerate(listed if kept else ()):
            place = Path(kept or "") / f"{name}-{_key(command, name, packed)}.o"
            made = Path(folder) / f"{name}.o"
            if not _copied(place, made):
                run("-c", "-o", made.name, name)
                _keep(made, place)
            listed[k] = made.name
        run("-shared", "-o", library, *listed, *math_library)
        os.replace(Path(folder) / library, destination)


def _key(command: list[str], file: str, packed: dict[str, bytes]) -> str:
    """What an object depends on, 64 hex digits: command, file, and what that includes, directly or not."""
    found = [file]
    for name in found:  # which grows
        names = re.findall(r'^#\s*include "([^"]+)"', packed[name].decode(), re.MULTILINE)
        found += (n for n in dict.fromkeys(names) if n in packed and n not in found)
    return hashlib.sha256("\0".join(command).encode() + b"\0".join(packed[n] for n in found)).hexdigest()


def _copied(source: Path, destination: Path) -> bool:
    with suppress(OSError):
        shutil.copyfile(source, destination)
        return True
    return False


def _keep(made: Path, place: Path, most: int = 100) -> None:
    """Leaves a copy, whole or not at all, and the ``most`` latest of its folder; nothing where that is forbidden."""
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        part = place.with_name(f".{place.name}.{os.getpid()}")
        shutil.copyfile(made, part)
        os.replace(part, place)
        for old in sorted(place.parent.glob("*.o"), key=os.path.getmtime)[:-most]:
            old.unlink()


def library_suffix(target: str = "") -> str:
    """Suffix of a library for a zig ``target``, or for this machine."""
    for p in PLATFORMS.values():
        if p.target == target:
            return p.suffix
    return {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")


def is_current(library: Path, build_hash: str) -> bool:
    """Was ``library`` made from sources of that hash?"""
    return library.is_file() and build_hash.encode() in library.read_bytes()


def ensure_library(sources: Sources, folder: Path = NATIVE) -> Path:
    """Path of the current native library, built first when it is missing or stale.

    Several processes may ask at once: one builds under a lock file, the others wait. Raises BuildError.
    """
    library = folder / (sources.identifier + library_suffix())
    build_hash = sources.build_hash()
    if is_current(library, build_hash):
        return library
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder / f"{sources.identifier}.lock"):
            if not is_current(library, build_hash):
                compile_library(sources, library, kept=OBJECTS if has_cc() else None)
    except OSError as error:
        raise BuildError(f"{library} is not that of the present sources and cannot be rebuilt: {error}") from error
    if not is_current(library, build_hash):
        raise BuildError(f"{library} does not carry the hash of its sources after the build")
    return library


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as handle:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
