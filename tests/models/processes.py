"""Another process goes on from a snapshot."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from jounce_fmu.importer.host import open_builtin

_THERE = """
import sys
from pathlib import Path
from jounce_fmu.importer.host import open_builtin
folder = Path(sys.argv[1])
with open_builtin(sys.argv[2]).instance("there") as there:
    there.set_state((folder / "blob").read_bytes())
    there.step(50)
    (folder / "outputs").write_bytes(there.get_outputs().tobytes())
"""


def check_another_process(vehicle: str | Path, folder: Path) -> None:
    """Asserts that a vehicle in a turn has the same bits there, 50 ticks after its snapshot."""
    with open_builtin(vehicle).instance("here") as here:
        here.setup({"init.speed": 8.0})
        here.set_values({"steering_wheel_angle": 1.0})
        here.step(50)
        (folder / "blob").write_bytes(here.get_state())
        here.step(50)
        wanted = here.get_outputs().tobytes()
    subprocess.run([sys.executable, "-c", _THERE, str(folder), str(vehicle)], check=True)
    assert (folder / "outputs").read_bytes() == wanted
