"""Finds missing optional packages, and gives the command that installs them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec


def missing(*modules: str) -> str:
    """A sentence that names the missing ``modules`` and the command that installs them; empty if none is missing."""
    absent = [m for m in modules if find_spec(m) is None]
    if not absent:
        return ""
    are = "is" if len(absent) == 1 else "are"
    return f"{' and '.join(absent)} {are} not installed: pip install {shlex.join(map(_requirement, absent))}"


#: Module -> the distribution that has it, where that has another name.
_DISTRIBUTIONS = {"osi3": "osi-python"}


def _requirement(module: str) -> str:
    """The requirement from the metadata of the installed package, or else the bare name."""
    wanted = _DISTRIBUTIONS.get(module, module)
    named = {re.split(r"[^\w.-]", r)[0].replace("-", "_"): r for r in _required()}
    return named.get(wanted.replace("-", "_"), wanted)


def _required() -> Iterator[str]:
    try:
        lines = requires("jounce") or []
    except PackageNotFoundError:
        lines = []
    yield from (line.partition(";")[0].strip() for line in lines)
