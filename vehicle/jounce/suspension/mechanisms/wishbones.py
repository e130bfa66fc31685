"""A double-wishbone corner as a mechanism: what `double_wishbone` has in closed form, for checks and reports."""

from __future__ import annotations

from collections.abc import Mapping

from jounce.dynamics.graph import ROOT
from jounce.dynamics.mechanism import End, Joint, Mechanism, Value
from jounce.suspension.mechanisms.entries import Entries, chassis


def mechanism(p: Mapping[str, Value], axle: str) -> Mechanism:
    """Arms on their hinges, the upright on the lower one; the upper ball joint and the tierod close the loops."""
    e = Entries(p, axle)
    at = e.point
    return Mechanism(
        axle, ("lower_arm",),
        (e.arm("LCA"), e.arm("UCA"), e.body("upright", "UPRIGHT")),
        (
            Joint("lower_arm", "revolute", ROOT, "LCA", at("LCA_B"), at("LCA_F") - at("LCA_B")),
            Joint("upper_arm", "revolute", ROOT, "UCA", at("UCA_B"), at("UCA_F") - at("UCA_B")),
            Joint("lower_ball", "spherical", "LCA", "upright", at("LCA_U")),
            Joint("upper_ball", "spherical", "UCA", "upright", at("UCA_U"), cut=True),
        ),
        rods=(e.rod("tierod", End("TIEROD_C", at("TIEROD_C")), End("upright", at("TIEROD_U"))),),
        wheels=(e.wheel("upright"),),
        tubes=(e.shock_tubes(End("LCA", at("SHOCK_A")), chassis(at("SHOCK_C"))),),
        forces=e.forces((End("LCA", at("SPRING_A")), chassis(at("SPRING_C"))),
                        (End("LCA", at("SHOCK_A")), chassis(at("SHOCK_C")))),
        prescribed={"TIEROD_C": at("TIEROD_C")},
    )  # fmt: skip
