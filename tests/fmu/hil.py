"""Builds the FMU's sources as a hardware-in-the-loop target does, and measures allocation, stack and instructions.

``python tests/fmu/hil.py`` prints the figures of docs/hil.md.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from jounce_fmu.importer.tables import checked_sources

FLAGS = ("-std=c99", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror")
DRIVER = Path(__file__).parent / "models" / "hil.c"
#: In C: a function, the call of a member, or of one of two functions; a member's function; a list of functions alone.
BODY = re.compile(r"^(?:__attribute__\(\(.*?\)\) )*[\w *]+?(\w+)\([^;{}]*\) \{(?:[^\n]*\}$|.*?^\})", re.S | re.M)
CALLED, EITHER = r"(?:->|\.)(\w+)\(", r"\? (\w+) : (\w+)\)\("
MEMBER, LISTED = r"\.(\w+) = (\w+|\(\(void \*\)0\))", r"const \w+ \w+(?:\[\w*\])? = \{([\w, ]+)\};"


def run(command: list[str], folder: Path) -> str:
    """Standard output of a command that must succeed."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def build(folder: Path, level: str = "-O2") -> None:
    """The sources, gcc's call graph with stack sizes, and the program ``hil`` in ``folder``."""
    _, sources = checked_sources()
    for name, data in sources.packed().items():
        (folder / name).write_bytes(data)
    listed = sorted(f.name for f in folder.glob("*.c"))
    run(["gcc", *FLAGS, level, "-fcallgraph-info=su,da", "-c", *listed], folder)
    run(["gcc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{folder}", str(DRIVER),
         *(n.replace(".c", ".o") for n in listed), "-o", "hil", "-Wl,--wrap=jn_variant_supported", "-lm", "-lpthread"],
        folder)  # fmt: skip


def pointed_at(folder: Path, calls: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Function -> names of those that it calls through pointers, itself or in what is compiled into it.

    Those are the members of tables in any file, what the file's tables without members' names list, and one of two.
    ``calls``: function -> names of those that it calls directly, which are not compiled into it.
    """
    texts = [run(["gcc", *FLAGS, "-E", "-P", f.name], folder) for f in folder.glob("*.c")]
    members: dict[str, set[str]] = defaultdict(set)
    for text in texts:
        for member, function in re.findall(MEMBER, text):
            members[member].add(function)
    found: dict[str, set[str]] = defaultdict(set)
    for text in texts:
        bodies = {m[1]: m[0] for m in BODY.finditer(text)}
        listed = {f for one in re.findall(LISTED, text) for f in one.split(", ")}
        for name in bodies.keys() & calls.keys():
            inside, left = {name}, {name}
            while left:
                named = {word for one in left for word in re.findall(r"\w+", bodies[one])}
                left = named & bodies.keys() - calls[name] - inside
                inside |= left
            for one in inside:
                for member in re.findall(CALLED, bodies[one]):
                    found[name] |= members.get(member, listed)
                found[name] |= {f for two in re.findall(EITHER, bodies[one]) for f in two}
    return found


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

    name_of = {title: title.rpartition(":")[2].partition(".")[0] for title in own}
    direct: dict[str, set[str]] = defaultdict(set)
    for title, name in name_of.items():
        direct[name] |= {name_of.get(t, t) for t in calls[title]}
    pointed = pointed_at(folder, direct)

    def called(name: str) -> set[str]:
        if ":send" in name:  # the importer's logger: its stack, not ours
            return calls[name] - {"__indirect_call"}
        if "__indirect_call" not in calls[name]:
            return calls[name]
        assert pointed[name_of[name]], f"{name} calls something through a pointer that is in no table"
        return calls[name] - {"__indirect_call"} | {t for t in own if name_of[t] in pointed[name_of[name]]}

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
        bounds = stack_bounds(place)
        print("stack bound:", max(bounds.values()))
        for call, (size, _) in sorted(bounds.items(), key=lambda item: -item[1][0]):
            print(f"{call}: {size}")
        for width in (1, 4):
            for what in ("fmi2DoStep", "hil_tick"):
                found = instructions(place, width, what)
                print(f"{width} lanes, {what}: most {max(found)}, least {min(found)}")
