"""``jounce view``: a recorded run as a page in 3-D, as a picture or as a film."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from jounce.values import number
from jounce_service.recording.reader import RecordingError
from jounce_tools.errors import UsageError, check_output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("recording", type=Path, help="MCAP file of `jounce serve --record` or `jounce test`")
    parser.add_argument("-o", "--output", type=Path, metavar="PAGE.html",
                        help="write one page with the run in 3-D, which any browser opens offline")
    parser.add_argument("--png", type=Path, metavar="FILE", help="write a picture")
    parser.add_argument("--mp4", type=Path, metavar="FILE", help="write a film in real time (needs ffmpeg)")
    parser.add_argument("--at", type=number, metavar="T", help="time of --png in s (default: the middle of the run)")
    parser.add_argument("--camera", choices=("chase", "side", "front", "top"), default="chase",
                        help="of --png and --mp4 (default: %(default)s)")


def run(arguments: argparse.Namespace) -> int:
    """Reads the recording and writes what was asked for."""
    wanted = [(arguments.output, ".html"), (arguments.png, ".png"), (arguments.mp4, ".mp4")]
    if not any(path for path, _ in wanted):
        raise UsageError("expected at least one of -o PAGE.html, --png FILE and --mp4 FILE")
    for path, suffix in wanted:
        if path is not None:
            check_output(path, suffix)
    from jounce_tools.view import page, picture  # matplotlib takes a second to import
    from jounce_tools.view.scene import read

    try:
        scene = read(arguments.recording)
    except RecordingError as error:
        raise UsageError(str(error)) from error
    first, last = float(scene.time[0]), float(scene.time[-1])
    at = 0.5 * (first + last) if arguments.at is None else arguments.at
    if not first <= at <= last:
        raise UsageError(f"--at {at:g} s: expected a time from {first:g} to {last:g} s")
    if arguments.output is not None:
        page.write_html(scene, arguments.output)
        sys.stdout.write(f"wrote {arguments.output}; open it in a browser\n")
    if arguments.png is not None:
        picture.write_png(scene, at, arguments.camera, arguments.png)
        sys.stdout.write(f"wrote {arguments.png}, t = {scene.nearest(at):g} s\n")
    if arguments.mp4 is not None:
        picture.write_mp4(scene, arguments.camera, arguments.mp4, told=arguments.progress.at)
        sys.stdout.write(f"wrote {arguments.mp4}\n")
    return 0
