"""Builds the FMU's sources as a hardware-in-the-loop target does, and measures allocation, stack and instructions.

``python tests/fmu/hil.py`` prints the figures of docs/hil.md.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

from jounce_fmu.importer.tables import checked_sources

FLAGS = ("-std=c99", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror")
DRIVER = Path(__file__).parent / "models" / "hil.c"
#: What is called through pointers: by the model, and by the runtime (the functions of a jn_model).
MODEL_CALLS = ("corner_1", "corner_4", "corner_dynamics_")
#: What soft soil calls, on one lane or four.
SOIL_CALLS = ("find_surface_", "press_", "shear_")
#: What the runtime calls for a terrain file.
RESOURCE_CALLS = ("open_terrain", "close_terrain")
RUNTIME_CALLS = ("derive", "jn_start", "finish", "rhs_1", "rhs_4", "outputs_1", "outputs_4",
                 "directional_", "jacobian_")


def run(command: list[str], folder: Path) -> str:
    """Standard output of a command that must succeed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def build(folder: Path) -> None:
    """The sources, gcc's call graph with stack sizes, and the program ``hil`` in ``folder``."""
    _, sources = checked_sources()
    for name, data in sources.packed().items():
        (folder / name).write_bytes(data)
    listed = sorted(f.name for f in folder.glob("*.c"))
    run(["gcc", *FLAGS, "-fcallgraph-info=su,da", "-c", *listed], folder)
    run(["gcc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{folder}", str(DRIVER),
         *(n.replace(".c", ".o") for n in listed), "-o", "hil", "-Wl,--wrap=jn_variant_supported", "-lm", "-lpthread"],
        folder)  # fmt: skip


def stack_bounds(folder: Path) -> dict[str, tuple[int, list[str]]]:
    """Largest stack [bytes] of a chain of calls from each FMI function on, without libc's own part, and that chain.

    Fails on recursion and on frames whose size the compiler does not bound.
    """
    own: dict[str, int] = {}
    calls: dict[str, set[str]] = defaultdict(set)
    for file in folder.glob("*.ci"):
        text = file.read_text()
        for title, label in re.findall(r'node: \{ title: "([^"]+)" label: "([^"]*)"', text):
            size = re.search(r"(\d+) bytes \(([\w,]+)\)", label)
            if size:
                assert size[2] in ("static", "dynamic,bounded"), f"{title}: a frame of no known size ({size[2]})"
                own[title] = int(size[1])
        for source, target in re.findall(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', text):
            calls[source].add(target)

    def called(name: str) -> set[str]:
        if ":send" in name:  # the importer's logger: its stack, not ours
            return calls[name] - {"__indirect_call"}
        pointed = MODEL_CALLS if name.startswith("double_wishbone") else RUNTIME_CALLS
        if name.startswith("jn_soil"):
            pointed = SOIL_CALLS
        if name.rsplit(":", 1)[-1] in ("jn_open_resource", "jn_match_resource", "jn_destroy"):
            pointed = RESOURCE_CALLS
        through = {t for t in own if t.rsplit(":", 1)[-1].startswith(pointed)}
        return calls[name] - {"__indirect_call"} | (through if "__indirect_call" in calls[name] else set())

    best: dict[str, tuple[int, list[str]]] = {}

    def deepest(name: str, above: tuple[str, ...]) -> tuple[int, list[str]]:
        assert name not in above, f"recursion: {above} {name}"
        if name not in best:
            found = [deepest(n, (*above, name)) for n in called(name)]
            size, chain = max(found, default=(0, []))
            returns = 8 if name in own else 0
            best[name] = size + own.get(name, 0) + returns, [name, *chain]
        return best[name]

    return {n: deepest(n, ()) for n in own if n.startswith(("fmi2", "fmi3"))}


def stack_bound(folder: Path) -> tuple[int, list[str]]:
    """The largest of them."""
    return max(stack_bounds(folder).values())


def instructions(folder: Path, lanes: int, of: str, ticks: int = 200) -> list[int]:
    """Instructions of each call of the function ``of`` over a hard manoeuvre, under callgrind."""
    with tempfile.TemporaryDirectory(dir=folder) as counts:
        run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={counts}/c", f"--toggle-collect={of}",
             f"--dump-after={of}", "./hil", "ticks", str(lanes), str(ticks)], folder)  # fmt: skip
        parts = sorted(Path(counts).glob("c.*"), key=lambda p: int(p.suffix[1:]))
        numbers = [int(m[1]) for p in parts if (m := re.search(r"^totals: (\d+)", p.read_text(), re.M))]
    assert len(numbers) >= ticks
    return numbers[:ticks]


def has_valgrind() -> bool:
    """Can instructions be counted here?"""
    return shutil.which("valgrind") is not None


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        build(place)
        print("allocations after instantiation, bytes at instantiation:", run(["./hil", "alloc"], place).strip())
        print("stack measured:", run(["./hil", "stack"], place).strip())
        print("stack bound:", stack_bound(place))
        for call, (size, _) in sorted(stack_bounds(place).items(), key=lambda item: -item[1][0]):
            print(f"{call}: {size}")
        for width in (1, 4):
            for what in ("fmi2DoStep", "hil_tick"):
                found = instructions(place, width, what)
                print(f"{width} lanes, {what}: most {max(found)}, least {min(found)}")
