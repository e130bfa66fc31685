"""Two tires of one law side by side on a wheel, as one law: dual wheels.

Each tire has its own states, load, slips and ground. They turn together. Half their distance (`dual` among the wheel's
numbers, [m]) goes along the spin axis, which points left: positive on the left wheel, so that the first tire is the
outer one on both sides. Where it is 0 there is one tire, in the middle.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import Final

from jounce.contact.tires.law import Law, later
from jounce.signals import Signal

__all__ = ["ENDING", "INNER", "dual"]

#: Ends the name of such a law; begins the names of the inner tire's states; of its inputs and outputs.
ENDING: Final = "_dual"
INNER_STATE, INNER = "inner_", "inner."
_EXTERNAL = ("terrain_source", "EXTERNAL")


def _input(name: str, unit: str, text: str, start: float, low: float, high: float, frame: str = "world") -> Signal:
    return Signal(f"{INNER}{name}", "input", unit, f"{text} under the inner of two tires, used where terrain_source is "
                  "EXTERNAL", start=(start,), minimum=low, maximum=high, frame=frame, used_where=_EXTERNAL)  # fmt: skip


#: The ground under the inner tire. Its normal may have any length.
_INPUTS: Final = (
    _input("terrain_height", "m", "terrain height at the query point", 0.0, -1e6, 1e6),
    *(_input(f"terrain_normal.{axis}", "1", f"{axis} of the terrain normal", float(axis == "z"), low, 1.0)
      for axis, low in (("x", -1.0), ("y", -1.0), ("z", 0.05))),
    _input("terrain_mu", "1", "terrain friction", 0.8, 0.0, 2.0, ""),
)  # fmt: skip
#: What each tire tells for itself: name -> (unit, text, nominal).
EACH: Final = {
    "load": ("N", "normal force", 1e3),
    "force.x": ("N", "contact force along the heading", 1e3),
    "force.y": ("N", "contact force to the left", 1e3),
    "slip": ("1", "longitudinal slip, driving positive", 1.0),
    "slip_angle": ("rad", "slip angle", 1.0),
    "deflection": ("m", "deflection", 0.01),
}
TIRES: Final = ("outer", "inner")


def _outputs() -> tuple[Signal, ...]:
    alone = {"outer": "of a single wheel that of its tire", "inner": "0 of a single wheel"}
    own = [Signal(f"{tire}.{name}", "output", unit, f"{text} of the {tire} tire; {alone[tire]}", frame="contact",
                  nominal=nominal) for tire in TIRES for name, (unit, text, nominal) in EACH.items()]  # fmt: skip
    query = [Signal(f"{INNER}query_point.{axis}", "output", "m", f"{axis} of the point at which the inner tire asks "
                    "for the terrain", frame="world") for axis in "xyz"]  # fmt: skip
    return (*own, *query)


@cache
def dual(law: Law) -> Law:
    """The law of two tires of that law."""
    module = "jounce.contact.tires.two_contacts"
    return replace(
        law, name=f"{law.name}{ENDING}", dual=True,
        contact=partial(later(module, "contact"), law), start=partial(later(module, "start"), law),
        query_point=partial(later(module, "query_point"), law),
        states=(*law.states, *(replace(s, name=f"{INNER_STATE}{s.name}", description=f"{s.description}; inner tire")
                               for s in law.states)),
        inputs=(*law.inputs, *_INPUTS), outputs=(*law.outputs, *_outputs()),
    )  # fmt: skip
