"""The contact of a wheel whose tire is of one of several laws (`jounce.contact.tires.mixed`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields

import casadi as ca

from jounce.contact.tires.law import Contact, Hub, Law, Plane, Started, Starting, vectors
from jounce.contact.tires.mixed import WHICH, mixed
from jounce.math.algebra import SX

Numbers = Mapping[str, SX]


def _picked(par: Numbers, values: Sequence[SX]) -> SX:
    """The value of the law that the wheel has; the others may be no numbers."""
    found = values[0]
    for k, value in enumerate(values[1:], 1):
        found = ca.if_else(par[WHICH] > k + 0.5, value, found)
    return found


def _of(law: Law, laws: Sequence[Law], par: Numbers) -> Numbers:
    """The numbers that one law would have alone."""
    of_any = {n for each in laws for n in (*each.parameters, *each.sided, *(s.name for s in each.inputs))}
    own = {*law.parameters, *law.sided, *(s.name for s in law.inputs)}
    return {n: v for n, v in par.items() if n in own or n not in of_any}


def _states(law: Law, laws: Sequence[Law], states: SX) -> SX:
    """Those of one law as those of all; the others' are 0."""
    whole, own = vectors(mixed(*laws).states), law.layout.split(states)
    return whole.join(**{n: own.get(n, SX(size, 1)) for n, size in whole.sizes.items()})


def contact(laws: Sequence[Law], hub: Hub, terrain: Plane, state: SX, par: Numbers) -> Contact:
    """What the tire does by its own law."""
    all_of, made = mixed(*laws), []
    parts = all_of.layout.split(state)
    for law in laws:
        own = law.layout.join(**{n: parts[n] for n in law.layout.sizes})
        made.append(law.contact(hub, terrain, own, _of(law, laws, par)))
    rates = [_states(law, laws, c.rate) for law, c in zip(laws, made, strict=True)]
    names = [field.name for field in fields(Contact) if field.name not in ("rate", "outputs")]
    outputs = {s.name: _picked(par, [c.outputs.get(s.name, SX(0)) for c in made]) for s in all_of.outputs}
    return Contact(rate=_picked(par, rates), outputs=outputs,
                   **{name: _picked(par, [getattr(c, name) for c in made]) for name in names})  # fmt: skip


def query_point(laws: Sequence[Law], hub: Hub, par: Numbers) -> SX:
    """Where the terrain is looked up."""
    return _picked(par, [law.query_point(hub, _of(law, laws, par)) for law in laws])


def start(laws: Sequence[Law], starting: Starting, par: Numbers) -> Started:
    """How the tire starts."""
    made = [law.started(starting, _of(law, laws, par)) for law in laws]
    ends = [[_states(law, laws, getattr(s, name)) for law, s in zip(laws, made, strict=True)]
            for name in ("resting", "rolling")]  # fmt: skip
    return Started(_picked(par, [s.grip for s in made]), *(_picked(par, end) for end in ends))
