"""``jounce view``: a session or a recorded run as a page in 3-D, a recorded one also as a picture or a film."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from jounce.architecture.load import FILE, is_architecture
from jounce.models.impulse.signals import Truck
from jounce.optional import missing
from jounce.terrain.files import read as read_terrain
from jounce.terrain.packed import Terrain, TerrainError
from jounce.values import number
from jounce_service.recording.reader import RecordingError
from jounce_tools.architecture.figure import own_truck
from jounce_tools.errors import UsageError, check_output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("recording", type=Path, nargs="?",
                        help="MCAP file of `jounce serve --record` or `jounce test`; without it a session is shown")
    parser.add_argument("--road", dest="terrain", type=Path, metavar="FILE",
                        help="terrain under the vehicle (.jnt, .crg, .toml, .npy), if the run is not on a plane")
    parser.add_argument("--vehicle", metavar="VEHICLE",
                        help="with --demo: what to drive (default: hmmwv); else the architecture, file or folder, of "
                        "a truck that does not come with jounce, so that its parts are drawn")  # fmt: skip
    recorded = parser.add_argument_group("a recording")
    recorded.add_argument("-o", "--output", type=Path, metavar="PAGE.html",
                          help="write one page with the run in 3-D, which any browser opens offline")
    recorded.add_argument("--compare", type=Path, metavar="MCAP",
                          help="a second recording, drawn pale on the same page")
    recorded.add_argument("--png", type=Path, metavar="FILE", help="write a picture")
    recorded.add_argument("--mp4", type=Path, metavar="FILE", help="write a film in real time (needs ffmpeg)")
    recorded.add_argument("--at", type=number, metavar="T", help="time of --png in s (default: the middle of the run)")
    recorded.add_argument("--camera", choices=("chase", "side", "front", "top"), default="chase",
                          help="of --png and --mp4 (default: %(default)s)")
    live = parser.add_argument_group("a session")
    live.add_argument("--address", metavar="HOST:PORT", help="server of the session, host:port or unix:/path")
    live.add_argument("--session", metavar="ID", help="session to show (default: the only one)")
    live.add_argument("--session-token", default="", metavar="TOKEN",
                      help="token of the session; with it the page may pause and step it")
    live.add_argument("--token", default="", help="bearer token of the server")
    live.add_argument("--tls-ca", type=Path, metavar="FILE", help="certificate of the server's authority; turns TLS on")
    live.add_argument("--set", action="append", default=[], metavar="NAME=VALUE",
                      help="parameter of the session that the picture needs, such as terrain.slope; may repeat")
    live.add_argument("--demo", action="store_true", help="start a server and drive a vehicle, to see the page")
    live.add_argument("--host", default="127.0.0.1",
                      help="address on which the page is offered; 0.0.0.0 lets others on the network see it and, with "
                      "--session-token, pause the session (default: %(default)s)")  # fmt: skip
    live.add_argument("--port", type=int, default=8780, help="0 takes any free one (default: %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Reads the recording and writes what was asked for, or shows a session until Ctrl-C."""
    live = [n for n in ("address", "demo") if getattr(arguments, n)]
    if arguments.recording is not None and live:
        raise UsageError(f"a recording and --{live[0]}: expected one of them")
    if arguments.recording is not None:
        return _recorded(arguments)
    if len(live) != 1:
        raise UsageError("expected a recording, --address of a server, or --demo")
    if text := missing("websockets"):
        raise UsageError(f"--{live[0]}: {text}")
    if not 0 <= arguments.port < 65536:
        raise UsageError(f"--port {arguments.port}: expected 0 to 65535")
    from jounce_tools.view.run import demonstrated, watched

    arguments.progress.be_quiet()
    show = demonstrated if arguments.demo else watched
    return show(arguments, terrain_of(arguments), truck_of(arguments))


def terrain_of(arguments: argparse.Namespace) -> Terrain | None:
    """The terrain of --road. Raises UsageError."""
    if arguments.terrain is None:
        return None
    try:
        return read_terrain(arguments.terrain)
    except (TerrainError, OSError) as error:
        raise UsageError(f"--road: {error}") from error


def truck_of(arguments: argparse.Namespace) -> Truck | None:
    """The architecture of --vehicle. Raises ArchitectureError, LayoutError, UsageError where it must be one."""
    if arguments.vehicle is None:
        return None
    path = Path(arguments.vehicle)
    if arguments.demo and not (path / FILE).is_file() and not is_architecture(path):
        return None
    return own_truck(arguments.vehicle)


def _recorded(arguments: argparse.Namespace) -> int:
    wanted = [(arguments.output, ".html"), (arguments.png, ".png"), (arguments.mp4, ".mp4")]
    if not any(path for path, _ in wanted):
        raise UsageError("expected at least one of -o PAGE.html, --png FILE and --mp4 FILE")
    for path, suffix in wanted:
        if path is not None:
            check_output(path, suffix)
    from jounce_tools.view import page, picture  # matplotlib takes a second to import
    from jounce_tools.view.look import undrawn
    from jounce_tools.view.scene import read

    try:
        scene = read(arguments.recording, terrain_of(arguments), truck_of(arguments))
        scenes = [scene, read(arguments.compare)] if arguments.compare else [scene]
    except RecordingError as error:
        raise UsageError(str(error)) from error
    if told := undrawn(scene):
        sys.stderr.write(f"{told}\n")
    first, last = float(scene.time[0]), float(scene.time[-1])
    at = 0.5 * (first + last) if arguments.at is None else arguments.at
    if not first <= at <= last:
        raise UsageError(f"--at {at:g} s: expected a time from {first:g} to {last:g} s")
    if arguments.output is not None:
        page.write_html(scenes, arguments.output)
        sys.stdout.write(f"wrote {arguments.output}; open it in a browser\n")
    if arguments.png is not None:
        picture.write_png(scene, at, arguments.camera, arguments.png)
        sys.stdout.write(f"wrote {arguments.png}, t = {scene.nearest(at):g} s\n")
    if arguments.mp4 is not None:
        picture.write_mp4(scene, arguments.camera, arguments.mp4, told=arguments.progress.at)
        sys.stdout.write(f"wrote {arguments.mp4}\n")
    return 0
