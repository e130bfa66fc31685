"""A driver at 50 Hz who drives a vehicle with a powertrain along a straight track, by pedals and steering wheel.

The law is `jounce.pedals`, so this example needs jounce (``pip install .`` in the clone) beside the client.
"""

from __future__ import annotations

import argparse
import sys

from jounce_client import Client, JounceError

try:
    from jounce.axles import WHEELS
    from jounce.driver import PERIOD, sight
    from jounce.pedals import GIVES, PedalDriver
    from jounce_client.examples._program import Recorder, arguments, parse, session_of
except ModuleNotFoundError as error:
    if __name__ != "__main__":
        raise
    sys.exit(f"pedals: there is no {error.name} here: pip install . in the clone")

WANTS = ["speed", "ref_frame.yaw", "ref_frame.pitch", "ref_frame.roll", "ref_frame.pos", "ref_frame.ang_vel",
         "com.lin_acc", "engine.speed", "gearbox.gear", "gearbox.turbine_speed", "engine.fuel",
         *(f"wheel_{w}.{name}" for w in WHEELS for name in ("pos", "omega", "slip", "tire_force"))]  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    """Joins a session as ``driver`` and drives until the vehicle is parked or the time is over."""
    parser = arguments("Driver by pedals, at 50 Hz.")
    parser.add_argument("--stretch", type=_stretch, nargs="+", default=[(0.0, 8.0), (80.0, 0.0)], metavar="X:SPEED",
                        help="from x [m] on the speed wanted [m/s], ascending; 0 stops (default: 0:8 80:0)")
    options = parse(parser, argv)
    try:
        driver = PedalDriver(options.stretch)
    except ValueError as error:
        parser.error(str(error))
    with Client.connect(options.address) as client, session_of(options, client) as session:
        tick = client.get_session(session).tick_seconds
        period, last = round(PERIOD / tick), round(options.duration / tick)
        with client.join(session, "driver", owns=GIVES, wants=WANTS, period=period, barrier_timeout=60.0) as member:
            recorder = Recorder(member, [*GIVES, *member.outputs, "wanted"])
            state = member.start
            while True:
                seen = sight(state)
                inputs = driver.command(seen)
                recorder.row(state.time, [*inputs, *state.values, driver.wanted(seen.x)])
                if state.tick >= last or driver.parked_for(1.0):
                    break
                state = recorder.step(inputs)
    recorder.save(options.log, options.summary, ticks=state.tick)
    return 0


def _stretch(text: str) -> tuple[float, float]:
    x, _, speed = text.partition(":")
    try:
        return float(x), float(speed)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text}: expected X:SPEED, two numbers in m and m/s") from None


if __name__ == "__main__":
    try:
        sys.exit(main())
    except JounceError as error:
        sys.exit(f"pedals: {error}")
