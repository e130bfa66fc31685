"""The kinds of suspension that an axle may have: what the model needs to know of each beside its equations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["KINDS", "Kind"]

Pairs = tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class Kind:
    """One kind of suspension. Entries are named without their axle."""

    name: str
    """As in vehicle.toml."""
    example: tuple[str, str]
    """Vehicle and axle whose entries are those of the kind, with their units."""
    apart: Pairs
    """Two points that must lie apart, and what they are; by the rows of their x."""
    bodies: tuple[str, ...]
    """Rigid bodies, whose moments of inertia must be those of a body of positive density."""
    loops: tuple[str, str]
    """Names of the loops whose margins the corner gives: the one of `margin_upper`, the one of `margin_tierod`."""
    coordinate: tuple[str, str] = ("rad", "lower-arm angle")
    """Unit and name of its independent coordinate."""

    @property
    def function(self) -> str:
        """Name of its corner function."""
        return "corner" if self.name == "double_wishbone" else f"corner_{self.name}"


#: What every spring and shock must obey: an entry, the one that it must be above, and what is expected.
RISING: Pairs = (
    *((f"stop.depth.{k}", f"stop.depth.{k - 1}", "expected depths that rise along the table") for k in range(1, 11)),
    ("spring.max_length", "spring.min_length", "expected lengths above spring.min_length"),
    ("shock.max_length", "shock.min_length", "expected lengths above shock.min_length"),
    ("shock.extended_length", "shock.closed_length", "expected a length above shock.closed_length"),
)
_STRUTS: Pairs = (
    ("SHOCK_A", "SHOCK_C", "the ends of the shock"),
    ("SPRING_A", "SPRING_C", "the ends of the spring"),
)

_ALL = (
    Kind(
        "double_wishbone",
        ("hmmwv", "front"),
        (
            ("LCA_F", "LCA_B", "the chassis joints of the lower arm"),
            ("UCA_F", "UCA_B", "the chassis joints of the upper arm"),
            ("LCA_U", "LCA_B", "the outer and an inner joint of the lower arm"),
            ("LCA_U", "LCA_F", "the outer and an inner joint of the lower arm"),
            ("UCA_U", "UCA_B", "the outer and an inner joint of the upper arm"),
            ("UCA_U", "UCA_F", "the outer and an inner joint of the upper arm"),
            ("LCA_U", "UCA_U", "the two ball joints"),
            ("TIEROD_C", "TIEROD_U", "the ends of the tierod"),
            *_STRUTS,
        ),
        ("UCA", "LCA", "upright", "spindle", "tierod", "shock_lower", "shock_upper"),
        ("upper-arm", "tierod"),
    ),
)
#: By name.
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _ALL}
