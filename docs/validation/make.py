"""Measures and draws docs/validation.md anew: tables into the page, pictures beside this file. Takes some minutes.

Runs from a clone with jounce and its test extra installed: python docs/validation/make.py
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "tests" / "vehicle")]
import draw  # noqa: E402
import judge  # noqa: E402
import linkage  # noqa: E402
import measure  # noqa: E402
import numpy as np  # noqa: E402
import rollover  # noqa: E402
from coast import STEP, WHEELS  # noqa: E402
from linkage import KINEMATIC_GOALS, Sweep  # noqa: E402
from measure import RATES, Array, Record  # noqa: E402

PAGE = HERE.parent / "validation.md"
Rows = Iterator[str]


def number(x: float, digits: int = 2) -> str:
    """Rounded to some digits, short."""
    if x == 0.0 or 1e-4 <= abs(x) < 1e5:
        return np.format_float_positional(x, precision=digits, fractional=False, trim="-")
    mantissa, exponent = f"{x:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def row(*cells: object) -> str:
    """One row of a table; numbers are rounded."""
    return "| " + " | ".join(number(float(c)) if isinstance(c, float) else str(c) for c in cells) + " |"


def head(*cells: str) -> Rows:
    """Head of a table."""
    yield row(*cells)
    yield "|---" * len(cells) + "|"


@cache
def sweeps(name: str, delay: float = 0.0) -> dict[str, Sweep]:
    """All wheels over one of Chrono's sweeps."""
    return {w: linkage.sweep(name, k, delay) for k, w in enumerate(WHEELS)}


CHRONO_STEP = 1e-4


def kinematics() -> Rows:
    """Largest differences of the linkage."""
    yield from head("sweep", "wheel", *draw.ERRORS)
    yield row("goal", "", *KINEMATIC_GOALS)
    for name, found in (("`kc_jounce`", sweeps("kc_jounce")), ("`kc_steer`", sweeps("kc_steer")),
                        ("`kc_steer`, steering of 1e-4 s earlier", sweeps("kc_steer", CHRONO_STEP))):  # fmt: skip
        for w, s in found.items():
            yield row(name, w, *s.errors.max(0))


def free_coast() -> Rows:
    """Largest differences of the free coast."""
    c = measure.free_coast()
    plain, couple = (c.at_records(ours) for ours in (c.plain, c.with_couple))
    rows = {
        "Chrono 1e-3 against 1e-4: the goal": (c.coarse, c.fine),
        "FMU against Chrono 1e-4": (plain, c.fine),
        "FMU with the couple of Chrono's idler against Chrono 1e-4": (couple, c.fine),
        "the same against Chrono's limit for small steps": (couple, c.limit),
        "FMU against the symbolic model": (c.plain, c.symbolic),
    }
    yield from head("", *draw.PATH, *(f"load {w} [N], t > 1 s" for w in WHEELS), "largest load [N], t <= 1 s")
    for name, (ours, other) in rows.items():
        t = np.linspace(0.0, c.time[-1], ours[0].shape[1])
        late = t > measure.LANDED
        yield row(name, *measure.distances(ours, other, late), measure.distances(ours, other, ~late)[3:].max())


def coast_range() -> Rows:
    """How far the free coast goes."""
    record = measure.coastfree()
    late = record.time > measure.LANDED
    found = {
        "lateral acceleration [m/s2]": record("com.lin_acc.y"),
        "slip angle [deg]": np.degrees(record.wheels("slip_angle")),
        "longitudinal slip [1]": record.wheels("slip"),
        "wheel travel from the design position [mm]": 1e3 * record.wheels("travel"),
    }
    yield from head("the FMU after landing", "least", "largest")
    for name, values in found.items():
        yield row(name, float(values[late].min()), float(values[late].max()))


def steering_rate() -> Rows:
    """What the steering rate that the master gives is worth."""
    symbolic = measure.free_coast().symbolic
    yield from head("`steering_wheel_rate`, against the symbolic model", *draw.PATH, "largest load [N]")
    for name in RATES:
        found = measure.distances(measure.traces(measure.coastfree(name)), symbolic)
        yield row(name, *found[:3], found[3:].max())


def parked() -> dict[str, Record]:
    """Records on the slope."""
    return {way: measure.parked(way) for way in measure.WAYS}


@cache
def stopped() -> dict[float, tuple[Record, Array]]:
    """(record, brake torque delivered (n, 4) [N.m]) of each stop."""
    return {torque: (measure.stop(torque), measure.brake_torque(measure.stop(torque))) for torque in measure.TORQUES}


def standstill() -> Rows:
    """Creep and the equilibrium start."""
    yield from head("30 % slope, mu 0.8, 60 s", "creep [m]", "goal [m]")
    for name, record in parked().items():
        yield row(name, number(measure.creep(record).max(), 1), 1e-3)
    yield ""
    yield from head("start at equilibrium, 2 s", "largest [m/s]", "goal [m/s]")
    rest = measure.at_rest()
    yield row("speed of the chassis", number(rest.speed().max(), 1), 1e-6)
    yield row("wheel travel", number(np.abs(rest.wheels("travel_rate")).max(), 1), 1e-6)


def shaken() -> Rows:
    """Drift of the parked vehicle that is shaken."""
    yield from head("shaken by", "amplitude", "frequency [Hz]", "drift in 60 s [m]", "goal [m]")
    for name, (_, shake) in measure.SHAKES.items():
        [unit] = {_unit(signal) for signal in shake.amplitudes}
        amplitude = f"{number(max(shake.amplitudes.values()), 3)} {unit}"
        yield row(name, amplitude, shake.frequency, number(measure.drift(measure.shaken(name)), 1), 1e-3)


def _unit(signal: str) -> str:
    return measure.factory("hmmwv").table.by_name(signal).signal.unit


def stops() -> Rows:
    """Stops from 20 km/h."""
    runs = stopped()
    yield from head("", *(f"{torque:.0f} N.m per wheel" for torque in runs), "goal")
    least = measure.TOWN**2 / (2 * 0.8 * 9.81)
    columns = [_stop(record, brake) for record, brake in runs.values()]
    goals = (f"> {number(least)} (mu 0.8)", "", "", "> 10", "< 1e-4", "", "0", "0")
    for name, goal in zip(columns[0], goals, strict=True):
        yield row(name, *(column[name] for column in columns), goal)


def _stop(record: Record, brake: Array) -> dict[str, str]:
    n = round(10.0 / STEP)
    rest, end = measure.rest_time(record), float(record.time[-1])
    spinning = np.nonzero(np.abs(record.wheels("omega")).max(1) > 0.1)[0]
    return {
        "stopping distance [m]": number(float(np.ptp(record("ref_frame.pos.x")))),
        "wheel spin below 0.1 rad/s for good after [s]": number(float(record.time[spinning[-1]])),
        "chassis below 1e-4 m/s for good after [s]": number(rest),
        "that is, to the end of the run, for [s]": number(end - rest),
        "largest speed in the last 10 s [m/s]": number(float(record.speed()[-n:].max()), 1),
        "range of a brake torque in the last 10 s [N.m]": number(float(np.ptp(brake[-n:], axis=0).max()), 1),
        "reversals of a brake torque within a tick, after 0.1 s, above 10 N.m": str(
            measure.reversals(brake[round(0.1 / STEP) :], 10.0)
        ),
        "the same in the last 10 s, above 1e-6 N.m": str(measure.reversals(brake[-n:], 1e-6)),
    }


def rollovers() -> Rows:
    """Vehicles that roll over."""
    yield from head("10 s", "largest tilt [deg]", "tilt at the end [deg]", "speed at the end [m/s]",
                    "energy at first [kJ]", "largest rise of the energy [J]")  # fmt: skip
    for name, way in rollover.WAYS.items():
        record = rollover.thrown(name)
        energy, tilt = rollover.energy(record, way.vehicle), rollover.tilt(record)
        yield row(name, float(tilt.max()), float(tilt[-1]), float(record.speed()[-1]), 1e-3 * float(energy[0]),
                  rollover.rise(energy))  # fmt: skip


@cache
def balance_errors() -> dict[str, Array]:
    """Errors of the balances."""
    return judge.balances()


def balances() -> Rows:
    """Errors of the balances over the step."""
    yield from head("relative error at a step of", *(f"{1e3 * h:g} ms" for h in judge.STEPS))
    for name, errors in balance_errors().items():
        yield row(name, *errors)


def accelerations() -> Rows:
    """Against the maximal-coordinate system."""
    yield from head("acceleration", "largest relative difference", "goal")
    for name, error in judge.accelerations().items():
        yield row(name.replace("_dd", "").replace("_", " "), number(error, 1), 1e-9)


#: Name in the page's markers -> rows; the first QUICK are quick to repeat.
QUICK = 4
TABLES: dict[str, Callable[[], Rows]] = {
    "kinematics": kinematics,
    "free_coast": free_coast,
    "coast_range": coast_range,
    "steering_rate": steering_rate,
    "standstill": standstill,
    "shaken": shaken,
    "stops": stops,
    "rollovers": rollovers,
    "balances": balances,
    "accelerations": accelerations,
}


def filled(text: str, names: Sequence[str]) -> str:
    """The page with these tables measured anew."""
    for name in names:
        between = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text, count = between.subn(lambda m, name=name: m[1] + "".join(r + "\n" for r in TABLES[name]()) + m[2], text)
        if count != 1:
            raise ValueError(f"the markers of table {name!r} are there {count} times: expected once")
    return text


def pictures() -> None:
    """Draws every picture."""
    drawn = {
        "kc_jounce": draw.jounce(sweeps("kc_jounce")),
        "kc_steer": draw.steer(sweeps("kc_steer"), sweeps("kc_steer", CHRONO_STEP)),
        "coast": draw.coast(measure.free_coast(), measure.coastfree()),
        "coast_differences": draw.coast_differences(measure.free_coast()),
        "standstill": draw.standstill(parked(), measure.at_rest()),
        "shaken": draw.shaken({name: measure.shaken(name) for name in measure.SHAKES}),
        "stops": draw.stops({t: r for t, (r, _) in stopped().items()}, {t: b for t, (_, b) in stopped().items()}),
        "rollovers": draw.rollovers({name: rollover.thrown(name) for name in rollover.WAYS}),
        "balances": draw.balances(balance_errors()),
    }
    for name, figure in drawn.items():
        draw.save(figure, HERE / f"{name}.png")


def main() -> None:
    """Rewrites the page's tables and the pictures."""
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), list(TABLES)), encoding="utf-8")
    pictures()


if __name__ == "__main__":
    main()
