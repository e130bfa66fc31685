"""Co-simulation partners written in Python: driver, terrain and the remote vehicle, packed with pythonfmu.

An FMU holds a module of a few lines, which imports the installed jounce; the importer's Python must have it.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from pythonfmu.builder import FmuBuilder

from jounce import __version__
from jounce.values import Value
from jounce_fmu.build.library import BuildError
from jounce_fmu.build.pack import write_archive
from jounce_fmu.description.fmi2 import NameStyle, interface_guid, model_description
from jounce_fmu.description.starts import changed
from jounce_fmu.partners.slave import Partner

#: Name -> class, in the module of that name.
PARTNERS = {"driver": "Driver", "terrain": "Terrain", "remote": "Remote"}

# pythonfmu 0.6 looks for a class whose base is spelled Fmi2Slave, hence the alias. pythonfmu 0.7 runs this text once
# per instance and then releases a reference to the module's globals that it does not own (``findClass``).
_MODULE = '''"""Made by jounce {version}: the code is that of the installed jounce."""

import ctypes

from jounce_fmu.partners.{name} import {kind} as Fmi2Slave

ctypes.pythonapi.Py_IncRef(ctypes.py_object(globals()))


class jounce_{name}(Fmi2Slave):
    interface = {guid!r}
    starts = {starts!r}
'''


def partner_class(name: str) -> type[Partner]:
    """The class of a partner. Raises BuildError for an unknown name."""
    if name not in PARTNERS:
        raise BuildError(f"partner {name!r}: expected {', '.join(PARTNERS)}")
    found: type[Partner] = getattr(import_module(f"jounce_fmu.partners.{name}"), PARTNERS[name])
    return found


def export_partner(
    path: str | os.PathLike[str],
    name: str,
    *,
    starts: Mapping[str, Value] | None = None,
    names: NameStyle = "structured",
) -> Path:
    """Writes the FMU of a partner and returns the path; ``starts`` replaces start values.

    Equal arguments give equal bytes. Raises BuildError.
    """
    kind = partner_class(name)
    table = changed(kind.base, starts or {})
    text = _MODULE.format(version=__version__, name=name, kind=kind.__name__, guid=interface_guid(table),
                          starts=dict(starts or {}))
    # Importers run all FMUs in one interpreter, so modules with different text need different names.
    module = f"jounce_{name}_{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    content = _built(module, text)
    content["modelDescription.xml"] = model_description(
        table, f"jounce_{name}", names=names, capabilities=kind.capabilities()
    )
    content["resources/requirements.txt"] = f"jounce=={__version__}\n".encode()
    return write_archive(Path(path), content)


def _built(module: str, text: str) -> dict[str, bytes]:
    """The files that pythonfmu packs, except the sources of its wrapper."""
    before = list(sys.path)
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / f"{module}.py"
        script.write_text(text)
        try:
            fmu = FmuBuilder.build_FMU(script, Path(folder) / "made")
        finally:
            sys.path[:] = before
            sys.modules.pop(module, None)
        with zipfile.ZipFile(fmu) as archive:
            return {n: archive.read(n) for n in archive.namelist() if not n.startswith("sources/")}
