"""A terramechanics program at 1 kHz: the contact of four rigid wheels with soft soil, from ``soil``.

Wheel states in, contact wrenches in the world frame out, one tick later. The soil is flat, at height 0.
"""

from __future__ import annotations

import sys

import numpy as np

from jounce_client import Client, JounceError, State
from jounce_client.examples._program import Recorder, arguments, parse, session_of
from jounce_client.examples.soil import SOILS, Array, ContactWrench, SoilContact, WheelMotion

WHEELS = ("FL", "FR", "RL", "RR")
OWNS = [f"wheel_{w}.{what}" for w in WHEELS for what in ("force", "moment", "point")]
WANTS = [f"wheel_{w}.{what}" for w in WHEELS for what in ("pos", "rot", "lin_vel", "omega")]
#: Scalars per wheel: pos 3, rot 4, lin_vel 3, omega 1.
_PER_WHEEL = 11
#: Every how many ticks a row is logged.
_LOG_EVERY = 10


def motion(state: State) -> WheelMotion:
    """Wheel motion from the outputs ``WANTS``; the spin axis is the y axis of ``rot`` (which leaves out the spin)."""
    values = state.values.reshape(len(WHEELS), _PER_WHEEL)
    return WheelMotion(values[:, 0:3], values[:, 7:10], left_axis(values[:, 3:7]), values[:, 10])


def left_axis(quaternion: Array) -> Array:
    """Second column (n, 3) of the rotation matrix of quaternions (n, 4) w x y z."""
    w, x, y, z = quaternion.T
    return np.stack([2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)], axis=1)


def packed(wrench: ContactWrench) -> Array:
    """Inputs in the order of ``OWNS``: force, moment, point per wheel."""
    return np.concatenate([wrench.force, wrench.moment, wrench.point], axis=1).ravel()


def main(argv: list[str] | None = None) -> int:
    """Join a session as ``terramechanics`` and carry the vehicle."""
    parser = arguments("Terramechanics: Bekker and Janosi-Hanamoto contact of four wheels at 1 kHz.")
    parser.add_argument("--soil", choices=sorted(SOILS), default="sandy_loam", help="default %(default)s")
    given = parse(parser, argv)
    contact = SoilContact(SOILS[given.soil])
    with Client.connect(given.address) as client, session_of(given, client) as session:
        tick = client.get_session(session).tick_seconds
        last = round(given.duration / tick)
        with client.join(session, "terramechanics", owns=OWNS, wants=WANTS, barrier_timeout=60.0) as member:
            columns = [f"{what}_{w}" for what in ("load", "slip", "sinkage") for w in WHEELS]
            recorder = Recorder(member, columns)
            state, sinkages = member.start, []
            while state.tick < last:
                wrench = contact.advance(motion(state), tick)
                if state.tick % _LOG_EVERY == 0:
                    recorder.row(state.time, [*wrench.load, *wrench.slip, *wrench.sinkage])
                    sinkages.append(wrench.sinkage)
                state = recorder.step(packed(wrench))
    recorder.save(given.log, given.summary, ticks=state.tick, sinkage_mean=float(np.mean(sinkages)))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except JounceError as error:
        sys.exit(f"terramechanics: {error}")
