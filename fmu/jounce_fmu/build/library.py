"""Compiles a model and the C runtime into one native library, and rebuilds it when its sources change.

The module uses only the standard library, so that the packaging hook can run it before anything is installed. A
library is current if it contains the sha256 of its sources. If compiling fails, the error has the compiler's output.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

_log = logging.getLogger(__name__)
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
# No flag changes a result. Without errno, sqrt is one instruction. Without TER, gcc keeps the order of straight-line
# code and spills fewer values to memory, which saves 4 % of a step; clang, which has no such pass, would warn.
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
#: Variable of the environment with another level of optimization for what is compiled. The bits are the same, so it is
#: no part of the build hash. Such libraries lie in a folder of their own, so that nobody else gets slower ones.
OPTIMIZE = "JOUNCE_OPTIMIZE"
LEVELS = ("0", "1", "2", "3", "g")
#: Folders of C that a model takes beside its own.
_SHARED = {"double_wishbone": ("terrain",)}
HASH_FILE = "jn_build_hash.c"


class Platform(NamedTuple):
    """A platform: how its library is cross-compiled, and the folder of an FMU in which each standard expects it."""

    suffix: str
    target: str
    """Target of ``zig cc``; an old glibc, so that a library for Linux runs on old and new systems."""
    fmi2: str
    fmi3: str


#: FMI 2 has one folder for macOS, so the libraries of both processors go into one universal file. It has no name for
#: Linux on ARM, for which the name of FMI 3 is used.
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
    """The native library could not be made; the message includes the compiler's output if there is any."""


class BadRequest(BuildError):
    """The request is wrong: the data, a name or an option."""


def _code(folder: Path) -> list[Path]:
    return [f for f in folder.rglob("*") if f.suffix in (".c", ".h", ".inc")]


@dataclass(frozen=True)
class Sources:
    """The C files of one model; the build adds the runtime's files."""

    identifier: str
    """FMI model identifier, which is the library's file name without suffix."""
    files: tuple[Path, ...]
    """The model's .c, .h and .inc files including its emitted table. They include each other by bare name."""

    def __post_init__(self) -> None:
        names = [f.name for f in self.all_files()]
        if len(set(names)) != len(names):
            raise BuildError(f"{self.identifier}: two source files share a name among {sorted(names)}")

    def all_files(self) -> tuple[Path, ...]:
        """Files of the runtime and of the model, sorted by name."""
        return tuple(sorted([*_code(RUNTIME), *self.files], key=lambda f: f.name))

    def build_hash(self) -> str:
        """sha256 of the names and contents of all sources and of the compiler flags, as 64 hex digits."""
        digest = hashlib.sha256(" ".join(FLAGS).encode())
        for path in self.all_files():
            data = path.read_bytes()
            digest.update(f"\0{path.name}\0{len(data)}\0".encode() + data)
        return digest.hexdigest()

    def packed(self) -> dict[str, bytes]:
        """Everything that a C99 compiler needs, as file name -> content: sources, the hash file, FMI headers."""
        content = {f.name: f.read_bytes() for f in self.all_files()}
        for header in FMI_HEADERS:
            content[header] = (fmi_headers() / header).read_bytes()
        content[HASH_FILE] = (
            f'#include "jn_model.h"\n\nconst char jn_build_hash_text[] = "{self.build_hash()}";\n'.encode()
        )
        return dict(sorted(content.items()))


def identifier(name: str) -> str:
    """FMI model identifier of a data set, from its name."""
    return "jounce_" + re.sub(r"\W", "_", name, flags=re.ASCII)


def builtin_sources(model: str = "double_wishbone", name: str = "hmmwv") -> Sources:
    """Sources of a model that comes with the package, for the library of its data set ``name``."""
    files = [f for folder in ("common", *_SHARED.get(model, ()), model) for f in _code(PACKAGE / "models" / folder)]
    if not any(f.name.endswith("_table.c") for f in files):
        raise BuildError(f"no *_table.c among the files of {model}: run python -m jounce_fmu.build.generate first")
    return Sources(f"jounce_{name}", tuple(files))


def fmi_headers() -> Path:
    """Folder of the FMI headers, which come with the installed fmpy."""
    spec = importlib.util.find_spec("fmpy")
    if spec is None or not spec.submodule_search_locations:
        raise BuildError("the FMI headers are part of the package fmpy, which is not installed")
    return Path(spec.submodule_search_locations[0]) / "c-code"


def has_cc() -> bool:
    """Whether this machine has a C compiler (``$CC`` or ``cc``)."""
    return bool(os.environ.get("CC")) or shutil.which("cc") is not None


def compiler(target: str = "") -> list[str]:
    """Start of the compile command: ``$CC`` or ``cc``, or else ziglang, which also serves for a zig ``target``."""
    if not target and has_cc():
        return shlex.split(os.environ.get("CC", "")) or ["cc"]
    if importlib.util.find_spec("ziglang") is None:
        what = f"no cross-compiler for {target}" if target else "no C compiler: there is no cc"
        raise BuildError(f"{what}; the package ziglang has one: {PLATFORMS_INSTALL}")
    # zig cc adds traps for undefined behaviour to builds without optimization; keep them out of all builds.
    command = [sys.executable, "-m", "ziglang", "cc", "-fno-sanitize=undefined"]
    return [*command, "-target", target] if target else command


def level() -> str:
    """The compiler option of the level that JOUNCE_OPTIMIZE asks for, else that of FLAGS. Raises BadRequest."""
    asked = os.environ.get(OPTIMIZE) or "2"
    if asked not in LEVELS:
        raise BadRequest(f"{OPTIMIZE} = {asked!r}: expected {', '.join(LEVELS)}")
    return f"-O{asked}"


def flags() -> list[str]:
    """FLAGS with that level; with -Og, what is seldom called is not optimized (JN_SOON). Raises BadRequest."""
    asked = level()
    return [asked if flag.startswith("-O") else flag for flag in FLAGS] + ["-DJN_SOON"] * (asked == "-Og")


def compile_library(sources: Sources, destination: Path, target: str = "", kept: Path | None = None) -> None:
    """Compiles all sources into ``destination``, which is replaced atomically. Raises BuildError.

    The folder ``kept`` caches object files: libraries of one model with different data differ in one small file, and
    the others take twenty seconds to compile. Processes that want the same object wait for the first. zig has its own
    cache.
    """
    with tempfile.TemporaryDirectory(dir=destination.parent, prefix=".build-") as folder:
        packed = sources.packed()
        for name, data in packed.items():
            (Path(folder) / name).write_bytes(data)
        listed = [name for name in packed if name.endswith(".c")]
        math_library = [] if "windows" in target else ["-lm"]
        strip = ["-s"] if target else []  # zig's debug information would name the temporary folder
        library = sources.identifier + library_suffix(target)  # The final name, since a library contains its name.
        command = [*compiler(target), *flags(), *strip]

        def run(*arguments: str) -> None:
            full = [*command, *arguments]
            result = subprocess.run(full, cwd=folder, capture_output=True, text=True, check=False)
            if result.returncode:
                raise BuildError(f"compiling {sources.identifier} failed:\n{shlex.join(full)}\n{result.stderr}")

        for k, name in enumerate(listed if kept else ()):
            place = Path(kept or "") / f"{name}-{_key(command, name, packed)}.o"
            made = Path(folder) / f"{name}.o"
            with alone(place):
                if not _copied(place, made):
                    run("-c", "-o", made.name, name)
                    _keep(made, place)
            listed[k] = made.name
        run("-shared", "-o", library, *listed, *math_library)
        os.replace(Path(folder) / library, destination)


def _key(command: list[str], file: str, packed: dict[str, bytes]) -> str:
    """Hash, 64 hex digits, of what an object depends on: the command, the file, and all that it includes."""
    found = [file]
    for name in found:  # The list grows during the loop.
        names = re.findall(r'^#\s*include "([^"]+)"', packed[name].decode(), re.MULTILINE)
        found += (n for n in dict.fromkeys(names) if n in packed and n not in found)
    return hashlib.sha256("\0".join(command).encode() + b"\0".join(packed[n] for n in found)).hexdigest()


def _copied(source: Path, destination: Path) -> bool:
    with suppress(OSError):
        shutil.copyfile(source, destination)
        with suppress(OSError):
            os.utime(source)  # `_keep` removes what was not used for longest
        return True
    return False


def _keep(made: Path, place: Path, most: int = 500) -> None:
    """Puts a copy into the cache atomically and keeps the ``most`` last used; does nothing if it may not write.

    A library has some twenty objects, all of them small but one of a megabyte.
    """
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
        part = place.with_name(f".{place.name}.{os.getpid()}")
        shutil.copyfile(made, part)
        os.replace(part, place)
        for old in sorted(place.parent.glob("*.o"), key=os.path.getmtime)[:-most]:
            old.unlink()


def library_suffix(target: str = "") -> str:
    """Suffix of a library for a zig ``target``, or for this machine if it is empty."""
    for p in PLATFORMS.values():
        if p.target == target:
            return p.suffix
    return {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")


def is_current(library: Path, build_hash: str) -> bool:
    """Whether ``library`` was made from sources with that hash."""
    return library.is_file() and build_hash.encode() in library.read_bytes()


def ensure_library(sources: Sources, folder: Path = NATIVE) -> Path:
    """Path of the current native library, which is built first if it is missing or stale.

    One of another `level` is built only where there is no current one of the usual level, in a folder within
    ``folder``. If several processes call it at once, one builds under a lock file and the others wait. Raises
    BuildError.
    """
    library = folder / (sources.identifier + library_suffix())
    build_hash = sources.build_hash()
    if is_current(library, build_hash):
        return library
    if level() not in FLAGS:
        folder = folder / level().lstrip("-")
        library = folder / library.name
        if is_current(library, build_hash):
            return library
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder / f"{sources.identifier}.lock"):
            if not is_current(library, build_hash):
                _log.info("compiling %s", sources.identifier)
                compile_library(sources, library, kept=OBJECTS if has_cc() else None)
                _log.info("compiled %s", sources.identifier)
    except OSError as error:
        raise BuildError(f"{library} was not made from the present sources and cannot be rebuilt: {error}") from error
    if not is_current(library, build_hash):
        raise BuildError(f"{library} does not contain the hash of its sources after the build")
    return library


@contextmanager
def alone(place: Path) -> Iterator[None]:
    """Holds the lock of a file in a cache; does without one where it may not write."""
    lock = place.with_suffix(".lock")
    with ExitStack() as stack:
        with suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(_locked(lock))
        try:
            yield
        finally:
            with suppress(OSError):  # who waits for it finds the file
                lock.unlink()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as handle:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
