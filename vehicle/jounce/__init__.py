"""jounce: the equations, data and signals of the vehicle (symbolic; no I/O, no C, no network).

``jounce.simulate`` and ``jounce.join`` run a vehicle in this process; see ``docs/in-process.md``.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

#: Names of higher packages that users find here; see docs/decisions/0035-jounce-simulate.md.
_ABOVE = {"simulate": "jounce_fmu.importer.inprocess", "join": "jounce_fmu.importer.inprocess"}


def __getattr__(name: str) -> Any:
    """Imports a name of a higher package at its first use, so that this package does not depend on it."""
    if name not in _ABOVE:
        raise AttributeError(f"module 'jounce' has no attribute {name!r}")
    return getattr(import_module(_ABOVE[name]), name)


def __dir__() -> list[str]:
    """Lists the module's names and those of higher packages."""
    return sorted([*globals(), *_ABOVE])
