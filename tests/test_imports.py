"""Who imports whom: arrows run down only, nobody reaches into another module, no circles.

    jounce  <-  jounce_fmu  <-  jounce_service  <-  tools  <-  their command line
    jounce_proto  <-  jounce_client  <-  examples

The graph is read from the text, with imports inside functions and those for types alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

#: Module -> what it imports: module, name taken from it or "", line.
Graph = Mapping[str, list[tuple[str, str, int]]]

ROOT = Path(__file__).parents[1]
PACKAGES = {"jounce": "vehicle", "jounce_fmu": "fmu", "jounce_service": "service", "jounce_tools": "tools",
            "jounce_client": "clients/python", "jounce_proto": "proto/python"}  # fmt: skip
#: Rooms that are told apart within a package: the longest name that begins a module's is its room.
ROOMS = (
    *PACKAGES,
    # Programs above the client and the laws that they run.
    "jounce_client.examples",
    # An environment that runs a vehicle in its process or at a server.
    "jounce_client.gym",
    # The one FMU that is a client.
    "jounce_fmu.partners.remote",
    # Arguments, printing, progress, interrupts: what the tools do is below, for programs that call them.
    "jounce_tools.cli",
    # Prints tables of all of them for the pages.
    "jounce_tools.docs",
)  # fmt: skip
#: Modules in a folder, at most: a newcomer reads its list at a glance.
MOST = 16
#: What each room may import, besides itself.
ALLOWED: Mapping[str, set[str]] = {
    "jounce": set(),
    "jounce_proto": set(),
    "jounce_client": {"jounce_proto"},
    "jounce_client.examples": {"jounce_client", "jounce"},
    "jounce_client.gym": {"jounce_client", "jounce_proto", "jounce"},
    "jounce_fmu": {"jounce"},
    "jounce_fmu.partners.remote": {"jounce", "jounce_fmu", "jounce_client"},
    "jounce_service": {"jounce", "jounce_fmu", "jounce_proto"},
    "jounce_tools": {
        "jounce", "jounce_fmu", "jounce_service", "jounce_proto", "jounce_client", "jounce_client.examples"
    },
    "jounce_tools.cli": {"jounce", "jounce_fmu", "jounce_service", "jounce_client", "jounce_tools"},
    "jounce_tools.docs": {"jounce_service", "jounce_tools", "jounce_tools.cli"},
}


def modules(root: Path = ROOT) -> dict[str, Path]:
    """Every module of the packages, by name."""
    found = {}
    for package, folder in PACKAGES.items():
        for path in (root / folder / package).rglob("*.py"):
            parts = path.relative_to(root / folder).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports(name: str, path: Path, known: Mapping[str, Path]) -> Iterator[tuple[str, str, int]]:
    """(module, what is taken from it or "", line) of every import of one of ours, wherever it stands."""
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            taken = [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            source = ".".join([*base, *filter(None, [node.module])])
            taken = [(f"{source}.{a.name}", "") if f"{source}.{a.name}" in known else (source, a.name)
                     for a in node.names]  # fmt: skip
        else:
            continue
        yield from ((module, what, node.lineno) for module, what in taken if module.partition(".")[0] in PACKAGES)


def graph_of(known: Mapping[str, Path]) -> Graph:
    return {name: list(imports(name, path, known)) for name, path in known.items()}


KNOWN = modules()


@cache
def ours() -> Graph:
    """The graph of our modules; not when the tests are collected, which each worker does."""
    return graph_of(KNOWN)


def room(module: str) -> str:
    return max((r for r in ROOMS if f"{module}.".startswith(f"{r}.")), key=len)


def upward(graph: Graph) -> list[str]:
    return [f"{name}:{line} imports {module}" for name, found in graph.items() for module, _, line in found
            if room(module) != room(name) and room(module) not in ALLOWED[room(name)]]  # fmt: skip


def circles(graph: Graph) -> list[list[str]]:
    """Groups of modules of which each imports each other, directly or by way of the rest."""
    def reached(name: str) -> set[str]:
        found, ahead = set(), [name]
        while ahead:
            new = {m for m, _, _ in graph[ahead.pop()] if m in graph} - found
            found |= new
            ahead += new
        return found

    after = {name: reached(name) for name in graph}
    groups = {frozenset({name, *(m for m in after[name] if name in after[m])}) for name in graph}
    return sorted(sorted(group) for group in groups if len(group) > 1)


def private(graph: Graph) -> list[str]:
    """Imports of names that begin with an underscore from another module, and of such modules of another package."""
    def hidden(name: str) -> bool:
        return name.startswith("_") and not name.endswith("__")

    def foreign(name: str, module: str) -> bool:
        return module.partition(".")[0] != name.partition(".")[0] and any(map(hidden, module.split(".")))

    return [f"{name}:{line} takes {module} {what}" for name, found in graph.items() for module, what, line in found
            if hidden(what) or foreign(name, module)]  # fmt: skip


def test_every_import_is_of_a_module_that_exists() -> None:
    assert len(KNOWN) > 150 and all(ours()[n] for n in ("jounce_fmu.importer.host", "jounce_service.session.session"))
    missing = [f"{n}:{line} {m}" for n, found in ours().items() for m, _, line in found if m not in KNOWN]
    assert missing == []


def test_no_import_runs_up() -> None:
    assert upward(ours()) == []


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert circles(ours()) == []


def test_no_folder_has_more_modules_than_one_can_see_at_a_glance() -> None:
    folders: dict[Path, int] = {}
    for path in KNOWN.values():
        if path.name != "__init__.py":
            folders[path.parent] = folders.get(path.parent, 0) + 1
    assert {f.name: n for f, n in folders.items() if n > MOST} == {}


def test_no_module_takes_private_names_of_another() -> None:
    assert private(ours()) == []


@pytest.fixture
def made(tmp_path: Path) -> Graph:
    """A tree with one import of every kind."""
    texts = {
        "vehicle/jounce/__init__.py": "",
        "vehicle/jounce/low.py": "def later():\n    import jounce_service.high\n",
        "vehicle/jounce/deep/__init__.py": "from . import one\n",
        "vehicle/jounce/deep/one.py": "from ..low import later\nfrom .two import x\n",
        "vehicle/jounce/deep/two.py": "if TYPE_CHECKING:\n    from jounce.deep import one\n",
        "vehicle/jounce/deep/three.py": "from .two import _hidden\n",
        "service/jounce_service/__init__.py": "",
        "service/jounce_service/high.py": "from jounce import _secret, low\nimport numpy\n",
        "tools/jounce_tools/cli/__init__.py": "try:\n    from jounce_service import high\nfinally:\n    pass\n",
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return graph_of(modules(tmp_path))


def test_imports_are_seen_wherever_they_stand(made: Graph) -> None:
    assert made["jounce.low"] == [("jounce_service.high", "", 2)]
    assert made["jounce.deep"] == [("jounce.deep.one", "", 1)]
    assert made["jounce.deep.one"] == [("jounce.low", "later", 1), ("jounce.deep.two", "x", 2)]
    assert made["jounce.deep.two"] == [("jounce.deep.one", "", 2)]
    assert made["jounce_service.high"] == [("jounce", "_secret", 1), ("jounce.low", "", 1)]
    assert made["jounce_tools.cli"] == [("jounce_service.high", "", 2)]


def test_an_arrow_that_runs_up_and_a_circle_are_found(made: Graph) -> None:
    assert upward(made) == ["jounce.low:2 imports jounce_service.high"]
    assert circles(made) == [["jounce.deep.one", "jounce.deep.two"], ["jounce.low", "jounce_service.high"]]
    assert sorted(private(made)) == ["jounce.deep.three:1 takes jounce.deep.two _hidden",
                                     "jounce_service.high:1 takes jounce _secret"]
