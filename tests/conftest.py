"""Settings of the whole suite."""

import asyncio
import os
import re
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from lark import Lark, ParseTree

# CI machines are shared: an example that takes long says nothing about the code. The examples are the same in every
# run, so that a change fails by what it changes; `pytest --hypothesis-profile=explore` tries others.
SLOW = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
settings.register_profile("jounce", deadline=None, derandomize=True, suppress_health_check=SLOW)
settings.register_profile("explore", deadline=None, suppress_health_check=SLOW)
settings.load_profile("jounce")


# Vehicles that only tests build compile in half the time; tests/fmu/test_build.py shows that the bits are the same.
os.environ.setdefault("JOUNCE_OPTIMIZE", "g")
# The workers share the cores already. Threads that wait for each other within products of small matrices made some
# tests five times as long.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Processes that tests start by fork and exec need no gRPC; its handlers of a fork have ended such a child at its start.
os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")

_parse: Callable[..., ParseTree] = Lark.parse
_parsed: dict[tuple[str, str], ParseTree] = {}


def parse(parser: Lark, text: str, *options: Any, **named: Any) -> ParseTree:
    """Lark.parse, once for each grammar and form of a text.

    fmpy's checker needs 10 ms for each of a vehicle's 800 names. Without quotes and der() a word in one is as good as
    any other, and it does not read the tree.
    """
    form = text
    if "bname" in parser.source_grammar and re.fullmatch(r"[\w.,\[\]]+", text, re.ASCII):
        form = re.sub(r"(?<!\w)[A-Za-z_]\w*", "a", text, flags=re.ASCII)
    key = parser.source_grammar, form
    if key not in _parsed:
        _parsed[key] = _parse(parser, form, *options, **named)
    return _parsed[key]


Lark.parse = parse  # type: ignore[method-assign]

#: Files that take longest. They start first, in this order: else a core may wait for one of them at the end.
LONGEST = ("clients/test_cpp_client.py", "docs/test_commands.py", "clients/test_compliance.py",
           "clients/test_end_to_end.py", "docker/test_container.py", "docs/test_pages.py", "fmu/test_tire_file.py",
           "service/test_bitwise_identity.py", "benchmarks/test_soak.py")  # fmt: skip


@pytest.hookimpl(optionalhook=True)  # the compliance suite's tests run it without plugins
def pytest_xdist_auto_num_workers() -> int:
    """Two more than the cores: a good part of the tests waits for servers, containers and clocks."""
    return (os.cpu_count() or 1) + 2


def pytest_configure(config: pytest.Config) -> None:
    """Workers begin to collect at different folders: in a fresh clone each rewrites a part of the asserts for all."""
    here, worker = Path(__file__).parent, os.environ.get("PYTEST_XDIST_WORKER")
    if worker is not None and [Path(a).resolve() for a in config.args] == [here]:
        parts = sorted(str(p) for p in here.iterdir() if p.is_dir() and p.name != "__pycache__" or p.match("test_*.py"))
        first = len(parts) * int(worker.removeprefix("gw")) // int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
        config.args[:] = parts[first:] + parts[:first]


def is_slow(item: pytest.Item) -> bool:
    """Whether it is marked so: all cases of a test, or with ``but`` all cases without these words in their ids."""
    mark = item.get_closest_marker("slow")
    if mark is None:
        return False
    but = mark.kwargs.get("but", ())
    return not any(words in item.name for words in ([but] if isinstance(but, str) else but))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with what takes longest; skip what takes minutes, unless JOUNCE_SLOW is set."""
    places = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: (places.get(item.path, len(places)), item.path))
    for item in items:
        if "JOUNCE_SLOW" not in os.environ and is_slow(item):
            item.add_marker(pytest.mark.skip(reason="is slow; set JOUNCE_SLOW to run it"))


@pytest.fixture(scope="session")
def finish() -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """asyncio.run beside servers on loops of their own, but that its loop stays open.

    All loops of a process share grpc.aio's queue. An event of a call that has ended may come late; where that call's
    loop is closed by then, handing it over fails, and the events of other loops behind it are lost.
    """
    return asyncio.new_event_loop().run_until_complete
