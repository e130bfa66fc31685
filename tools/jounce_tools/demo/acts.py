"""The demonstration as a whole: what is run, and where its files go."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from jounce.optional import missing
from jounce_client import JounceError
from jounce_tools.demo import rough
from jounce_tools.demo.run import GROUNDS, DemoError, Result, Settings, recording, run_ground, serving
from jounce_tools.interrupt import asked_to_stop

#: The double lane changes, and the drive over the rough road.
ACTS: Final = ("lanes", "rough")


def demonstrate(
    settings: Settings, own: str, acts: tuple[str, ...], progress: Callable[[str], None]
) -> tuple[list[Result], rough.Drive | None]:
    """Runs the acts, and writes logs and recordings into ``settings.out``. ``own``: the vehicle, by name or path.

    Raises DemoError.
    """
    settings.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="jounce-") as name, asked_to_stop(at_once=True) as seen:
        try:
            results, drive = _run(settings, own, acts, Path(name), progress)
        except (JounceError, DemoError) as error:
            if seen():  # Ctrl-C ends the servers, too, and what they still were to do fails
                raise KeyboardInterrupt from error
            if isinstance(error, DemoError):
                raise
            raise DemoError(f"the server refused: {error}") from error
        for result in results:
            _keep(Path(name), result.recorded, settings.out, result.ground)
        if drive:
            _keep(Path(name), drive.recorded, settings.out, "rough")
    return results, drive


def _run(
    settings: Settings, own: str, acts: tuple[str, ...], folder: Path, progress: Callable[[str], None]
) -> tuple[list[Result], rough.Drive | None]:
    records = () if missing("mcap") else (f"--record={folder / 'recordings'}",)
    results: list[Result] = []
    with contextlib.ExitStack() as stack:
        started = stack.enter_context(rough.behind_the_scenes(folder, own, *records)) if "rough" in acts else None
        if "lanes" in acts:
            with serving(folder, *records, *settings.options) as (server, address):
                try:
                    results = [run_ground(g, settings, server, address, folder, progress) for g in GROUNDS]
                except JounceError:
                    server.running()  # it says why it has ended, if it has
                    raise
        return results, rough.drive(settings, own, started, folder, progress) if started else None


def _keep(folder: Path, recorded: str, out: Path, name: str) -> None:
    """The recording, which is whole now that the servers have ended."""
    if recorded:
        shutil.move(folder / "recordings" / recorded, recording(out, name))
