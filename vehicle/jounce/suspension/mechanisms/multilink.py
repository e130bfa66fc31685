"""A multilink corner: the upright on five links, or on an upper A-arm and three links."""

from __future__ import annotations

from collections.abc import Mapping

from jounce.dynamics.graph import ROOT
from jounce.dynamics.mechanism import End, Joint, Mechanism, Rod, Value
from jounce.suspension.mechanisms.entries import Entries, chassis

#: Links by name, each with a point X_C on the chassis and X_U on the upright; the A-arm's two share UCA_U.
LINKS = ("LATERAL", "TRAILING")
UPPER = ("UPPER_F", "UPPER_B")


def mechanism(p: Mapping[str, Value], axle: str) -> Mechanism:
    """The upright is free and the links hold it; the coordinate is the height of the wheel centre.

    Links: LATERAL, TRAILING and TIEROD, whose inner end the steering may move, with UPPER_F and UPPER_B, or with an
    A-arm of its own mass: UCA_F and UCA_B on the chassis, UCA_U on the upright.
    """
    e = Entries(p, axle)
    at = e.point
    arm = e.has("UCA_U")

    def link(name: str) -> Rod:
        return e.rod(name, chassis(at(f"{name}_C")), End("upright", at(f"{name}_U")))

    joints = [Joint("hub", "free", ROOT, "upright", at("SPINDLE"))]
    if arm:
        joints += [
            Joint("upper_arm", "revolute", ROOT, "UCA", at("UCA_B"), at("UCA_F") - at("UCA_B")),
            Joint("upper_ball", "spherical", "UCA", "upright", at("UCA_U"), cut=True),
        ]
    shock = (End("upright", at("SHOCK_A")), chassis(at("SHOCK_C")))
    return Mechanism(
        axle, ("hub.z",),
        (e.body("upright", "UPRIGHT"), *((e.arm("UCA"),) if arm else ())),
        tuple(joints),
        rods=(*map(link, LINKS if arm else (*UPPER, *LINKS)),
              e.rod("tierod", End("TIEROD_C", at("TIEROD_C")), End("upright", at("TIEROD_U")))),
        wheels=(e.wheel("upright"),), tubes=(e.shock_tubes(*shock),),
        forces=e.forces((End("upright", at("SPRING_A")), chassis(at("SPRING_C"))), shock),
        prescribed={"TIEROD_C": at("TIEROD_C")},
    )  # fmt: skip
