"""A trailing or semi-trailing arm: one body on a hinge, no loop."""

from __future__ import annotations

from collections.abc import Mapping

from jounce.dynamics.graph import ROOT
from jounce.dynamics.mechanism import End, Joint, Mechanism, Value
from jounce.suspension.mechanisms.entries import Entries, chassis


def mechanism(p: Mapping[str, Value], axle: str) -> Mechanism:
    """TA_O and TA_I are the outer and the inner bearing of the hinge; the arm points rearwards, jounce is positive."""
    e = Entries(p, axle)
    at = e.point
    shock = (End("arm", at("SHOCK_A")), chassis(at("SHOCK_C")))
    return Mechanism(
        axle, ("hinge",), (e.body("arm", "ARM_CM"),),
        # a turn about the axis from the inner to the outer bearing (y on the left) lifts what is behind the hinge
        (Joint("hinge", "revolute", ROOT, "arm", at("TA_O"), at("TA_O") - at("TA_I")),),
        wheels=(e.wheel("arm"),), tubes=(e.shock_tubes(*shock),),
        forces=e.forces((End("arm", at("SPRING_A")), chassis(at("SPRING_C"))), shock),
    )  # fmt: skip
