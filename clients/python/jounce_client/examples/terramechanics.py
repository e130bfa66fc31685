"""A terramechanics program at 1 kHz: the contact of four rigid wheels with soft soil.

It takes the motion of the wheels and returns contact wrenches in the world frame, which act one tick later. The soil is
flat, at height 0. The law is `jounce.contact.soil`, so this example needs jounce (``pip install .`` in the clone)
beside the client.
"""

from __future__ import annotations

import sys

import numpy as np

from jounce_client import Client, JounceError

try:
    from jounce.axles import WHEELS
    from jounce.contact.rolling import roll_in
    from jounce.contact.soil import GIVES, SOILS, TAKES, SoilContact, motion_of
    from jounce_client.examples._program import Recorder, arguments, parse, session_of
except ModuleNotFoundError as error:
    if __name__ != "__main__":
        raise
    sys.exit(f"terramechanics: there is no {error.name} here: pip install . in the clone")

#: Ticks between two rows of the log.
_LOG_EVERY = 10


def main(argv: list[str] | None = None) -> int:
    """Joins a session as ``terramechanics`` and computes the contact forces."""
    parser = arguments("Terramechanics: Bekker and Janosi-Hanamoto contact of four wheels at 1 kHz.")
    parser.add_argument("--soil", choices=sorted(SOILS), default="sandy_loam", help="default %(default)s")
    options = parse(parser, argv)
    contact = SoilContact(SOILS[options.soil])
    with Client.connect(options.address) as client, session_of(options, client) as session:
        tick = client.get_session(session).tick_seconds
        last = round(options.duration / tick)
        with client.join(session, "terramechanics", owns=GIVES, wants=TAKES, barrier_timeout=60.0) as member:
            columns = [f"{what}_{w}" for what in ("load", "slip", "sinkage") for w in WHEELS]
            recorder = Recorder(member, columns)
            state, sinkages = member.start, []
            if state.tick == 0:
                roll_in(contact, motion_of(state.values))
            while state.tick < last:
                wrench = contact.advance(motion_of(state.values), tick)
                if state.tick % _LOG_EVERY == 0:
                    recorder.row(state.time, [*wrench.load, *wrench.slip, *wrench.sinkage])
                    sinkages.append(wrench.sinkage)
                state = recorder.step(wrench.packed())
    recorder.save(options.log, options.summary, ticks=state.tick, sinkage_mean=float(np.mean(sinkages)))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except JounceError as error:
        sys.exit(f"terramechanics: {error}")
