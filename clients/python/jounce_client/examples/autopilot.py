"""An autopilot at 50 Hz that drives the ISO 3888-1 double lane change at constant speed.

The control law is `jounce.driver`, so this example needs jounce (``pip install .`` in the clone) beside the client.
"""

from __future__ import annotations

import math
import sys

import numpy as np

from jounce_client import Client, JounceError

try:
    from jounce.axles import WHEELS
    from jounce.course import DoubleLaneChange
    from jounce.driver import GIVES, PERIOD, Autopilot, sight
    from jounce_client.examples._program import Recorder, arguments, parse, session_of
except ModuleNotFoundError as error:
    if __name__ != "__main__":
        raise
    sys.exit(f"autopilot: there is no {error.name} here: pip install . in the clone")

WANTS = ["speed", "sideslip", "ref_frame.yaw", "ref_frame.roll", "ref_frame.pos", "ref_frame.ang_vel", "com.lin_acc",
         "steering.load_torque", *(f"wheel_{w}.pos" for w in WHEELS), *(f"wheel_{w}.omega" for w in WHEELS),
         *(f"wheel_{w}.slip" for w in WHEELS), *(f"wheel_{w}.tire_force" for w in WHEELS)]


def main(argv: list[str] | None = None) -> int:
    """Joins a session as ``autopilot`` and drives."""
    parser = arguments("Autopilot: ISO 3888-1 double lane change at 50 Hz.")
    parser.add_argument("--speed", type=float, default=12.0, help="speed to keep [m/s] (default %(default)s)")
    parser.add_argument("--track-start", type=float, default=20.0, help="x of the first cones [m]")
    options = parse(parser, argv)
    course = DoubleLaneChange(start=options.track_start)
    pilot = Autopilot(course, options.speed)
    with Client.connect(options.address) as client, session_of(options, client) as session:
        tick = client.get_session(session).tick_seconds
        period, last = round(PERIOD / tick), round(options.duration / tick)
        with client.join(session, "autopilot", owns=GIVES, wants=WANTS, period=period, barrier_timeout=60.0) as member:
            pilot.take_over(member.held)
            recorder = Recorder(member, [*GIVES, *member.outputs, "lateral_error"])
            state, errors = member.start, []
            while True:
                seen = sight(state)
                inputs = pilot.command(seen)
                errors.append(course.lateral_error(seen.x, seen.y))
                recorder.row(state.time, [*inputs, *state.values, errors[-1]])
                if state.tick >= last:  # The last row is the final state; its inputs are not sent.
                    break
                state = recorder.step(inputs)
    recorder.save(options.log, options.summary, ticks=state.tick,
                  lateral_error_rms=math.sqrt(float(np.mean(np.square(errors)))),
                  lateral_error_max=float(np.max(np.abs(errors))))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except JounceError as error:
        sys.exit(f"autopilot: {error}")
