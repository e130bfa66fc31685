from __future__ import annotations

import sys
from pathlib import Path

import pytest

from jounce_fmu.build.library import Sources, ensure_library
from jounce_fmu.build.pack import export_fmu
from jounce_fmu.importer.foreign import Interface
from jounce_fmu.importer.host import Factory

sys.path.insert(0, str(Path(__file__).parent))
import oscillator
import turntable as turning


@pytest.fixture(scope="session")
def oscillator_sources(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    return oscillator.sources(tmp_path_factory.mktemp("oscillator"))


@pytest.fixture(scope="session")
def native(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("native")


@pytest.fixture(scope="session")
def factory(oscillator_sources: Sources, native: Path) -> Factory:
    library = ensure_library(oscillator_sources, native)
    return Factory("oscillator", library, Interface.of_table(oscillator.TABLE))


@pytest.fixture(scope="session")
def turntable_sources(tmp_path_factory: pytest.TempPathFactory) -> Sources:
    return turning.sources(tmp_path_factory.mktemp("turntable"))


@pytest.fixture(scope="session")
def turntable_factory(turntable_sources: Sources, native: Path) -> Factory:
    """A model without directional derivatives."""
    return Factory("turntable", ensure_library(turntable_sources, native), Interface.of_table(turning.TABLE))


@pytest.fixture(scope="session")
def fmu(oscillator_sources: Sources, native: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fmu") / "oscillator.fmu"
    return export_fmu(path, oscillator.TABLE, oscillator_sources, library_folder=native)
