"""A session's parts are its own: other modules call its methods, and none asks where a model runs."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2] / "service" / "jounce_service"
MODULES = {str(p.relative_to(ROOT)): ast.parse(p.read_text(encoding="utf-8")) for p in sorted(ROOT.rglob("*.py"))}
#: The classes of a session's parts, and of what a model runs in.
PARTS = {"Barrier", "Engine", "Members", "Moves", "Notices", "BarrierTimeouts", "Pacer", "Store", "Viewers", "Ramps",
         "HostedInstance", "WorkerHost", "FmuHost"}  # fmt: skip
HOSTS = {"InProcess", "FmuHost", "WorkerHost"}
#: Lines of a module, at most.
LONGEST = 400


def names(node: ast.AST | None) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} if node is not None else set()


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def foreign_privates(tree: ast.Module) -> Iterator[str]:
    """Private attributes of anything but the module's own objects: ``self._x``, ``cls._x``, ``Class._x``."""
    own = {"self", "cls"} | {n.name for n in ast.walk(tree) if isinstance(n, ast.ClassDef)}
    for node in ast.walk(tree):
        if (isinstance(node, ast.Attribute) and is_private(node.attr)
                and not (isinstance(node.value, ast.Name) and node.value.id in own)):
            yield f"{node.lineno}: {ast.unparse(node)}"


def public_parts(tree: ast.Module, owners: set[str]) -> Iterator[str]:
    """Public attributes and properties of the classes that hand out one of ``PARTS``, however it is held."""
    for owner in (n for n in ast.walk(tree) if isinstance(n, ast.ClassDef) and n.name in owners):
        for node in ast.walk(owner):
            if isinstance(node, ast.AnnAssign | ast.Assign):
                targets = [node.target] if isinstance(node, ast.AnnAssign) else node.targets
                kinds = names(node.value) | (names(node.annotation) if isinstance(node, ast.AnnAssign) else set())
                public = [t for target in targets for t in ast.walk(target) if isinstance(t, ast.Attribute)
                          and isinstance(t.value, ast.Name) and t.value.id == "self" and not is_private(t.attr)]
                yield from (f"{node.lineno}: {ast.unparse(t)}" for t in public if kinds & {*PARTS, "Member"})
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and names(node.returns) & PARTS:
                # A single Member is what a stream is given; all of them are the session's.
                yield from () if is_private(node.name) else (f"{node.lineno}: {node.name}()",)


def host_checks(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        asks = isinstance(node, ast.Call) and names(node.func) & {"isinstance", "issubclass"}
        if asks and any(names(a) & HOSTS for a in node.args):
            yield f"{node.lineno}: {ast.unparse(node)}"


def found(where: Mapping[str, ast.Module], rule: object, *more: object) -> list[str]:
    assert callable(rule)
    return [f"{name}:{what}" for name, tree in where.items() for what in rule(tree, *more)]


def test_no_module_of_the_service_touches_private_parts_of_anothers_objects() -> None:
    assert found(MODULES, foreign_privates) == []


def test_a_session_hands_out_none_of_its_parts() -> None:
    sessions = {n: t for n, t in MODULES.items() if n.startswith("session/")}
    classes = {n.name: n for t in sessions.values() for n in ast.walk(t) if isinstance(n, ast.ClassDef)}
    # The session, and what it is built on.
    owners = {"Session"}.union(*(names(base) for base in classes["Session"].bases))
    assert found(sessions, public_parts, owners) == []


def test_nobody_asks_in_what_kind_of_host_a_model_runs() -> None:
    assert found(MODULES, host_checks) == []


def test_no_module_is_too_long_to_read() -> None:
    lines = {n: len((ROOT / n).read_text(encoding="utf-8").splitlines()) for n in MODULES}
    assert {n: length for n, length in lines.items() if length > LONGEST} == {}


def test_what_is_forbidden_is_found() -> None:
    tree = ast.parse(
        "class Session:\n"
        "    def __init__(self, session):\n"
        "        self.barrier = Barrier()\n"
        "        self.members: dict[str, Member] = {}\n"
        "        self._engine = session._engine\n"
        "    @property\n"
        "    def instance(self) -> HostedInstance:\n"
        "        return Session._kept if isinstance(self._engine, (int, WorkerHost)) else self._engine._instance\n"
    )
    assert sorted(public_parts(tree, {"Session"})) == ["3: self.barrier", "4: self.members", "7: instance()"]
    assert sorted(foreign_privates(tree)) == ["5: session._engine", "8: self._engine._instance"]
    assert list(host_checks(tree)) == ["8: isinstance(self._engine, (int, WorkerHost))"]
