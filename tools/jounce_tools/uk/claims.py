"""The paper's sentences and prints, each with what a run shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from jounce.reference.halfcar_prints import rest, run
from jounce_tools.uk.loads import load_map
from jounce_tools.uk.runs import Case, case, state_at


@dataclass(frozen=True)
class Claim:
    """A sentence or a print of the paper, what was found, and whether it holds."""

    claim: str
    found: str
    holds: bool


def sentences(progress: Callable[[float], None]) -> list[Claim]:
    """Ten sentences of section 4, judged by runs of the paper's law (RELAXED) and of Coulomb's (SATURATED)."""
    paper = {t: case("RELAXED", t, 20.0) for t in (150.0, 550.0, 700.0)}
    coulomb = {t: case("SATURATED", t, 20.0) for t in (150.0, 550.0, 700.0)}
    progress(0.5)
    slow, fast = paper[150.0], paper[700.0]
    spin = {g: case("RELAXED", 550.0, g).at("rear.slip", 5) for g in (20.0, 100.0, 200.0, 2000.0)}
    fixed = load_map(state_at(15.4, "RELAXED", 550.0), 550.0, paper[550.0].at("rear.mu", 15.4))[2]
    progress(1.0)
    lifted = {t: _time_lifted(c) for t, c in paper.items()}
    return [
        Claim("150 N.m: the rear wheel speeds up where friction is low",
              f"slip {slow.at('rear.slip', 15):.2f} rad/s at 15 s; Coulomb {coulomb[150.0].at('rear.slip', 15):.0f}",
              slow.at("rear.slip", 15) > 1.0),
        Claim("150 N.m: traction is saturated by the friction limit",
              f"up to {slow.most('traction.ideal', 'rear'):.2f} mu N by the ideal part, "
              f"{slow.most('traction', 'rear'):.2f} in all", slow.most("traction", "rear") <= 1.0),
        Claim("550 N.m: the wheel spins already where friction is high",
              f"slip {paper[550.0].at('rear.slip', 5):.2f} rad/s at 5 s; "
              f"Coulomb {coulomb[550.0].at('rear.slip', 5):.0f}", paper[550.0].at("rear.slip", 5) > 1.0),
        Claim("550 N.m: traction is distinctly saturated",
              f"up to {paper[550.0].most('traction.ideal', 'rear'):.2f} mu N by the ideal part, "
              f"{paper[550.0].most('traction', 'rear'):.2f} in all", paper[550.0].most("traction", "rear") <= 1.0),
        Claim("700 N.m: the vehicle slows down in the slippery phase",
              f"{fast.at('speed', 13):.2f} m/s at 13 s, {fast.at('speed', 17):.2f} at 17 s; Coulomb "
              f"{coulomb[700.0].at('speed', 13):.2f} and {coulomb[700.0].at('speed', 17):.2f}",
              fast.at("speed", 17) < fast.at("speed", 13)),
        Claim("700 N.m: the rear traction is zeroed",
              f"{fast.at('rear.traction.ideal', 15):.0f} N by the ideal part, {fast.at('rear.traction', 15):.0f} in "
              f"all at 15 s, of mu N = {fast.at('rear.limit', 15):.0f}", abs(fast.at("rear.traction", 15)) < 40.0),
        Claim("700 N.m: the front reaction turns negative (as torque on the wheel)",
              f"{-fast.at('front.traction.ideal', 15):.2f} N by the ideal part at 15 s, "
              f"{-fast.at('front.traction', 15):.2f} in all", -fast.at("front.traction.ideal", 15) < 0.0),
        Claim("150 N.m: no sliding friction on the front wheel",
              f"at most {_largest(slow, 'front.traction.non_ideal'):.2f} N",
              _largest(slow, "front.traction.non_ideal") < 5.0),
        Claim("a larger gamma attenuates the relaxation",
              "slip at 5 s: " + ", ".join(f"{s:.3g} at {g:g}/s" for g, s in spin.items()),
              list(spin.values()) == sorted(spin.values(), reverse=True)),
        Claim("the computation is smooth, without upsetting the numerical processes",
              f"{len(fixed)} wheel loads satisfy the equations at 15.4 s (550 N.m): "
              f"{', '.join(f'{n:.0f}' for n in fixed)} N; a load is below 0 for "
              + ", ".join(f"{s:.2f} s at {t:g} N.m" for t, s in lifted.items()),
              len(fixed) == 1 and max(lifted.values()) == 0.0),
    ]  # fmt: skip


def _largest(c: Case, name: str) -> float:
    during = (c.run.time > 0.05) & (c.run.time <= 15.0)
    return float(np.abs(c.run[name][during]).max())


def _time_lifted(c: Case) -> float:
    low = np.minimum(c.run["front.normal_force"], c.run["rear.normal_force"]) < 0.0
    return float(np.sum(low) * (c.run.time[1] - c.run.time[0]))


def prints(progress: Callable[[float], None]) -> list[Claim]:
    """Eleven prints, each run as it stands beside the mended one; ``holds`` is whether the print can be used."""
    mended = run(0, rest(), 30.0)
    progress(0.2)
    braked = (0.0, 700.0, 700.0, 0.85, 0.85)
    brake = {e: run(e, rest(20.0), 1.0, inputs=braked) for e in (0, 4)}
    low = run(1, rest(), 30.0)
    late, minus = run(2, rest(), 30.0), run(3, rest(), 15.0)
    progress(0.6)
    alone, both = run(5, rest(), 5.0, torque_max=550.0), run(0, rest(), 5.0, torque_max=550.0)
    strut = run(0, rest(), 0.5, torque_max=0.0, rear__strut__x=0.4)
    back = {e: run(e, rest(-20.0), 2.0, torque_max=0.0) for e in (0, 7)}
    raised = rest()
    raised[1] += 0.01
    height = {e: run(e, raised, 2.0, torque_max=0.0)["rear.height"][-1] for e in (0, 8)}
    wide = run(11, rest(), 12.0)
    progress(1.0)

    def at(r: dict[str, np.ndarray], name: str, time: float) -> float:
        return float(np.interp(time, r["time"], r[name]))

    rows: Sequence[tuple[str, str]] = (
        ("Eq. 32: N = diag(s_f^2, s_r^2, s_f^2, s_r^2); mended: diag(s_f^2, 1, s_r^2, 1)",
         f"the rear wheel has left the road's height by {1e3 * abs(at(low, 'rear.height', 5) - 0.25):.0f} mm after 5 s "
         f"and falls by {abs(low['rear.height'] - 0.25).max():.0f} m until 30 s"),
        ("Eq. 35: both factors have a plus; mended: the second has a minus",
         f"no brake: {at(late, 'speed', 30):.2f} m/s at 30 s, mended {at(mended, 'speed', 30):.2f}"),
        ("Eq. 33: minus; mended: plus",
         f"slip {at(minus, 'rear.slip', 15):.1f} rad/s at 15 s, mended {at(mended, 'rear.slip', 15):.1f}; friction "
         f"{at(minus, 'rear.friction', 15):.0f} N on a driven wheel"),
        ("Eq. 33: tanh of the torque with its sign; mended: of its size",
         f"a braked front wheel is pushed forward with {brake[4]['front.friction'][-1]:.0f} N; 20 m/s become "
         f"{brake[4]['speed'][-1]:.2f} in 1 s, mended {brake[0]['speed'][-1]:.2f}"),
        ("C has 6 entries and acts on q1; mended: 7, at the contacts (A^T F)",
         f"{alone['speed'][-1]:.1f} m/s at 5 s (550 N.m), mended {both['speed'][-1]:.1f}"),
        ("Table 1: P3x = 0.4; mended: -0.4",
         f"the design position is not at rest: the rear load moves by {np.ptp(strut['rear.load']):.0f} N"),
        ("Eq. 37: -v^2, -w^2; mended: -v|v|, -w|w|",
         f"a car that rolls back at 20 m/s has {back[7]['speed'][-1]:.3f} m/s after 2 s, mended "
         f"{back[0]['speed'][-1]:.3f}"),
        ("Eq. 4: h + 2 gamma h + gamma^2 h; mended: with two and one derivative, for rows that have a position",
         f"with gamma h' alone a wheel 10 mm too high is {1e3 * (height[8] - 0.25):.1f} mm too high after 2 s, mended "
         f"{1e3 * (height[0] - 0.25):.1g}"),
        ("Eq. 27: = 0, and x_P4' = x_P4' + ... below Eq. 28; mended: no zero, x_P1'",
         f"the top of a rolling wheel moves at {2 * at(mended, 'speed', 10):.1f} m/s at 10 s"),
        ("proof: lambda_0 is the largest eigenvalue, gamma_0 that of (N^1/2)^+; mended: the smallest other than 0",
         "gamma_0 is 1000/s at s = 0.001 and has no bound as s goes to 0: no stability is proved near full slip"),
        ("Eq. 36: tanh(x)^4; read as (tanh x)^4, not tanh(x^4)",
         f"slip {at(wide, 'rear.slip', 12):.2f} rad/s at 12 s by the other reading, {at(mended, 'rear.slip', 12):.2f}"),
    )  # fmt: skip
    return [Claim(claim, found, False) for claim, found in rows]
