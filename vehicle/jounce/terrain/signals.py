"""Signals of the ground: what the model used under each wheel, and soft soil."""

from __future__ import annotations

import math
from collections.abc import Iterator

from jounce.contact.tires import Law
from jounce.signals import XYZ, Signal

#: Items of `terrain.soil`.
SOILS = ("RIGID", "BEKKER")
#: Items of `tire.contact`.
CONTACTS = ("POINT", "AREA")
#: States of a tire's law that hold the shear of the soil and the distance rolled on it.
_STATES = {"bristle.x", "bristle.y", "travelled"}
_PARAMETERS = {"width", "vertical_stiffness", "vertical_stiffness_quadratic", "vertical_damping", "rim_stiffness"}


def takes_soil(law: Law) -> bool:
    """Whether wheels with tires of that law can stand on soft soil: single ones with a spring and those states."""
    if law.parts:
        return not law.dual and all(map(takes_soil, law.parts))
    return not law.dual and {s.name for s in law.states} >= _STATES and set(law.parameters) >= _PARAMETERS


def contact_parameters(law: Law) -> Iterator[Signal]:
    """What may be under wheels with tires of that law beside hard ground; dual wheels have one choice of each.

    Other laws that take no soft soil have the choice all the same, so that the model refuses it with the reason.
    Bekker's, Mohr and Coulomb's and Janosi's numbers begin as those of a sandy loam.

    Source of the values: Wong, Theory of Ground Vehicles, table 2.3 (sandy loam, 15 % moisture); K and k_u are
    assumptions, as in `jounce.contact.soil`.
    """

    def choice(name: str, items: tuple[str, ...], text: str) -> Signal:
        text, items = (f"{text}; dual wheels have {items[0]} alone", items[:1]) if law.dual else (text, items)
        return Signal(name, "parameter", "1", text, start=(1.0,), minimum=1.0, maximum=float(len(items)),
                      type="Enumeration", variability="fixed", items=items, frame="")  # fmt: skip

    yield choice("terrain.soil", SOILS, "soil under the wheels: hard ground, or soft by Bekker, Wong and Janosi")
    yield choice("tire.contact", CONTACTS, "how a tire touches a terrain file: in the point below, or with the area of "
                 "its disc, for edges and short waves")  # fmt: skip
    yield Signal("tire.contact_points", "parameter", "1", "points of the rim that feel the ground where tire.contact "
                 "is AREA, an odd number; 63 or more for edges narrower than a tenth of the wheel", start=(31.0,),
                 minimum=15.0, maximum=127.0, type="Integer", variability="fixed", frame="")  # fmt: skip
    if not takes_soil(law):
        return
    for name, unit, start, low, high, text in (
        ("n", "1", 0.7, 0.1, 2.0, "exponent of sinkage"),
        ("k_c", "1", 5.27e3, 0.0, 1e9, "cohesive modulus of sinkage [N/m^(n+1)]"),
        ("k_phi", "1", 1515.04e3, 0.0, 1e10, "frictional modulus of sinkage [N/m^(n+2)]"),
        ("c", "Pa", 1.72e3, 0.0, 1e7, "cohesion"),
        ("phi", "rad", math.radians(29.0), 0.0, 1.2, "angle of internal friction"),
        ("K", "m", 0.025, 1e-3, 1.0, "shear deformation modulus"),
        ("k_u", "Pa/m", 2e7, 1e5, 1e9, "stiffness of unloading and loading again"),
    ):
        yield Signal(f"soil.{name}", "parameter", unit, f"{text}, used where terrain.soil is BEKKER", start=(start,),
                     minimum=low, maximum=high, nominal=abs(start), variability="fixed", frame="")  # fmt: skip


def road_outputs() -> Iterator[Signal]:
    """Where a vehicle is on a road from a file."""
    yield Signal("road.u", "output", "m", "place of the reference frame along the road's reference line; 0 where "
                 "terrain_source is not ROAD", frame="road", nominal=100.0)  # fmt: skip
    yield Signal("road.v", "output", "m", "its distance from that line, to the left", frame="road")


def wheel_outputs(prefix: str, law: Law) -> Iterator[Signal]:
    """What the model used under one wheel."""

    def out(name: str, unit: str, text: str, comp: tuple[str, ...] = ("",), nominal: float = 1.0,
            frame: str = "world") -> Signal:
        return Signal(f"{prefix}.{name}", "output", unit, text, comp, frame=frame, nominal=nominal)

    yield out("contact_point", "m", "point in the wheel's disc at which the contact force acts", XYZ)
    yield out("contact_normal", "1", "unit normal of the ground under the wheel", XYZ)
    yield out("ground_height", "m", "height of the ground at the query point")
    yield out("ground_mu", "1", "friction of the ground there", frame="")
    if takes_soil(law):
        yield out("sinkage", "m", "depth to which the wheel has sunk into soft soil", nominal=0.1, frame="contact")
        yield out("soil_resistance", "N", "motion resistance by compaction of the soil", nominal=1e3, frame="contact")
