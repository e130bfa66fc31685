"""The kinds of suspension that an axle may have: what the model needs to know of each beside its equations.

A kind has one or more variants, which differ in what there is: a rigid axle on four links, one on three links and a
Panhard rod. An example has the entries of each, and its equations are emitted once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

__all__ = ["GRAPH", "KINDS", "MOMENTS", "Kind", "Pairs", "Variant", "bodies_of", "ends_of", "find", "remember",
           "suspension_of"]  # fmt: skip

Pairs = tuple[tuple[str, str, str], ...]
#: Moments of inertia of a body that has three.
MOMENTS = ("inertia.xx", "inertia.yy", "inertia.zz")


@dataclass(frozen=True)
class Variant:
    """One variant of a kind. Entries are named without their axle."""

    name: str
    """Part of its functions' names in C: corner_<name>, but for `double_wishbone`."""
    example: tuple[str, str]
    """Vehicle and axle whose entries are those of the variant, with their units."""
    inner: str = ""
    """The point of the axle that the steering moves, where there is one."""

    @property
    def function(self) -> str:
        """Name of its corner function."""
        return "corner" if self.name == "double_wishbone" else f"corner_{self.name}"


@dataclass(frozen=True)
class Kind:
    """One kind of suspension."""

    name: str
    """As in vehicle.toml."""
    variants: tuple[Variant, ...]
    coordinates: tuple[tuple[str, str], tuple[str, str]]
    """Unit and name of the independent coordinate of the left and of the right wheel's lane."""
    apart: Pairs = ()
    """Two points that must lie apart, and what they are, beside those of `ends_of`."""
    bodies: tuple[str, ...] = ()
    """Rigid bodies, whose moments of inertia must be those of a body of positive density; or those of `bodies_of`."""
    margins: tuple[str, str] = ("suspension", "suspension")
    """Names of the loops whose margins the corner gives: the one of `margin_upper`, the one of `margin_tierod`."""
    loops: bool = True
    """It has loops."""
    closed: bool = False
    """Its loops have a closed form, other than the double wishbone's."""
    paired: bool = False
    """Its two wheels share a body; the coordinates are those of the axle."""

    @property
    def embedded(self) -> bool:
        """Is it made from a mechanism (`jounce.suspension.mechanisms`)?"""
        return self.name != "double_wishbone"


def find(kind: str, entries: Iterable[str], among: Mapping[str, frozenset[str]]) -> Variant:
    """The variant of a kind that fits entries, or fits them best.

    ``among``: variant -> names of its entries.
    """
    own = frozenset(entries)
    return min(KINDS[kind].variants, key=lambda v: len(own ^ among[v.name]))


def ends_of(entries: Iterable[str]) -> Pairs:
    """The ends of rods, springs and shocks among the points of an axle's entries: X_C with X_A, X_U or X_K."""
    names = dict.fromkeys(n.removesuffix(".x") for n in entries if n.endswith(".x"))
    found = []
    for name in names:
        base = name.removesuffix("_C")
        for end in ("A", "U", "K"):
            if base != name and f"{base}_{end}" in names:
                found.append((f"{base}_{end}", name, f"the ends of {base.lower()}"))
    return tuple(found)


def bodies_of(entries: Iterable[str]) -> tuple[str, ...]:
    """Bodies with three moments of inertia."""
    names = tuple(entries)
    return tuple(n.removesuffix(f".{MOMENTS[0]}") for n in names if n.endswith(f".{MOMENTS[0]}")
                 and all(f"{n.removesuffix(MOMENTS[0])}{m}" in names for m in MOMENTS))  # fmt: skip


#: What every spring and shock must obey: an entry, the one that it must be above, and what is expected.
RISING: Pairs = (
    *((f"stop.depth.{k}", f"stop.depth.{k - 1}", "expected depths that rise along the table") for k in range(1, 11)),
    ("spring.max_length", "spring.min_length", "expected lengths above spring.min_length"),
    ("shock.max_length", "shock.min_length", "expected lengths above shock.min_length"),
    ("shock.extended_length", "shock.closed_length", "expected a length above shock.closed_length"),
)
_ARM = (("rad", "lower-arm angle"),) * 2
_AXLE = (("m", "heave of the axle"), ("rad", "roll of the axle"))

_ALL = (
    Kind(
        "double_wishbone",
        (Variant("double_wishbone", ("hmmwv", "front"), "TIEROD_C"),),
        _ARM,
        (
            ("LCA_F", "LCA_B", "the chassis joints of the lower arm"),
            ("UCA_F", "UCA_B", "the chassis joints of the upper arm"),
            ("LCA_U", "LCA_B", "the outer and an inner joint of the lower arm"),
            ("LCA_U", "LCA_F", "the outer and an inner joint of the lower arm"),
            ("UCA_U", "UCA_B", "the outer and an inner joint of the upper arm"),
            ("UCA_U", "UCA_F", "the outer and an inner joint of the upper arm"),
            ("LCA_U", "UCA_U", "the two ball joints"),
            ("TIEROD_C", "TIEROD_U", "the ends of the tierod"),
            ("SHOCK_A", "SHOCK_C", "the ends of the shock"),
            ("SPRING_A", "SPRING_C", "the ends of the spring"),
        ),
        ("UCA", "LCA", "upright", "spindle", "tierod", "shock_lower", "shock_upper"),
        ("upper-arm", "tierod"),
    ),
    Kind(
        "macpherson",
        (Variant("macpherson", ("car", "front"), "TIEROD_C"),),
        _ARM,
        (("LCA_F", "LCA_B", "the chassis joints of the lower arm"),),
        closed=True,
    ),
    Kind("multilink", (Variant("multilink", ("car", "rear"), "TIEROD_C"),), (("m", "wheel height"),) * 2),
    Kind("trailing_arm", (Variant("trailing_arm", ("microbus", "rear")),), (("rad", "arm angle"),) * 2,
         (("TA_O", "TA_I", "the joints of the arm"),), loops=False),
    Kind(
        "solid_axle",
        (Variant("solid_axle_four_links", ("offroader", "rear")),
         Variant("solid_axle_steered", ("offroader", "front"), "DRAGLINK_C")),
        _AXLE,
        (("KNUCKLE_L", "KNUCKLE_U", "the ends of the kingpin"),),
        paired=True,
    ),
    Kind("leaf_axle", (Variant("leaf_axle", ("pickup", "rear")),), _AXLE,
         (("SPRING_F", "LEAF_A", "the front eye and the clamp of the leaf"),), paired=True),
)  # fmt: skip
#: By name.
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _ALL}
#: The kind whose lists say what there is.
GRAPH = "graph"
#: Those of users' own axles, by names that hold a hash of what they are, so that none changes.
_OWN: dict[str, Kind] = {}


def suspension_of(name: str) -> Kind:
    """The kind of that name: one of `KINDS`, or one that `remember` was told of."""
    return _OWN[name] if name in _OWN else KINDS[name]


def remember(name: str, kind: Kind) -> None:
    """Makes an own kind known in this process (`jounce.suspension.mechanisms.own`)."""
    _OWN[name] = kind
