"""A program made of the objects that a vehicle's library has too."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from jounce_fmu.build.library import Sources, ensure_library


def program(folder: Path, sources: Sources, driver: str) -> Path:
    """Path of the program ``driver`` with these sources; ``main`` is the one function in it that is not static.

    It stands in a library, so that objects which were compiled before are taken.
    """
    if (cc := shutil.which("cc")) is None:
        pytest.skip("no C compiler on this machine")
    source = folder / "driver.c"
    source.write_text('__attribute__((visibility("default"))) int main(int, char **);\n' + driver)
    library = ensure_library(replace(sources, files=(*sources.files, source)), folder / "library")
    subprocess.run([cc, "-o", folder / "driver", library, f"-Wl,-rpath,{library.parent}"], check=True)
    return folder / "driver"
