"""The axles of a vehicle, and the names of its wheels: front before rear, left before right.

Every vector with a value per wheel, every signal of a wheel and every entry of the vehicle data goes by them. Two axles
have the wheels FL FR RL RR; any other number has 1L 1R, 2L 2R and so on from the front.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

__all__ = ["AXLES", "CORNERS", "DEFAULT", "MOST", "STEERED", "WHEELS", "Axle", "AxleError", "axles_of", "corners",
           "pairs", "wheel_names", "wheels_in"]  # fmt: skip

#: Most axles that a vehicle may have.
MOST = 8
#: What may turn the wheels of an axle: a Pitman arm, a rack, or nothing.
STEERED = ("pitman", "rack", "none")
#: What the drive torque of an axle reacts on.
REACTIONS = ("chassis", "carrier")
#: Output of the transfer case that drives an axle; auto: the front one drives the first half of the driven axles.
OUTPUTS = ("auto", "front", "rear")
#: Names that the entries of the vehicle data use otherwise.
_TAKEN = ("chassis", "wheel", "steering", "brake", "driveline", "tire", "state", "init", "terrain", "imu", "tick",
          "gravity", "integrator")  # fmt: skip


class AxleError(ValueError):
    """An axle that cannot be; the text names it, its key and what is expected."""


@dataclass(frozen=True)
class Axle:
    """One axle, as in ``[[axles]]`` of a vehicle.toml."""

    name: str
    """Prefix of its entries in the vehicle data: ``front.spring.k1``."""
    kind: str = "double_wishbone"
    """Its suspension."""
    steered: str = "none"
    """One of `STEERED`."""
    gain: float = 1.0
    """Motion of its inner tierod ends over that of the first steered axle; negative steers to the other side."""
    driven: bool = True
    """Takes drive torque, and has axle shafts."""
    dual: float = 0.0
    """Distance of the two tires on each side [m]; 0: one tire."""
    drive_reaction: str = "chassis"
    """One of `REACTIONS`."""
    final_drive: float = 1.0
    """Ratio of the differential; matters where the reaction is on the carrier."""
    driven_from: str = "auto"
    """One of `OUTPUTS`; matters where a powertrain drives it."""


#: The axles of a vehicle that names none.
DEFAULT = (Axle("front", steered="pitman"), Axle("rear"))


def wheel_names(axles: int) -> tuple[str, ...]:
    """Names of the wheels of that many axles, left before right."""
    prefixes = "FR" if axles == len(DEFAULT) else range(1, axles + 1)
    return tuple(f"{prefix}{side}" for prefix in prefixes for side in "LR")


def corners(axles: Iterable[Axle]) -> tuple[tuple[Axle, float], ...]:
    """(axle, side) of each wheel: 1 on the left, -1 on the right, where y and pseudo-vectors change sign."""
    return tuple((axle, side) for axle in axles for side in (1.0, -1.0))


def wheels_in(names: Iterable[str]) -> tuple[str, ...]:
    """The wheels that signals of those names belong to, in their order: ``wheel_FL.pos`` is one of FL."""
    found = (re.match(r"wheel_(\w+)\.", name) for name in names)
    return tuple(dict.fromkeys(m.group(1) for m in found if m))


def pairs(wheels: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Name of each axle, as signals have it, with its left and right wheel: front and rear, or axle_1, axle_2 ..."""
    each = [(wheels[k], wheels[k + 1]) for k in range(0, len(wheels), 2)]
    names = [axle.name for axle in DEFAULT] if tuple(wheels) == WHEELS else [f"axle_{k + 1}" for k in range(len(each))]
    return dict(zip(names, each, strict=True))


def axles_of(tables: object) -> tuple[Axle, ...]:
    """The axles of ``[[axles]]``. Raises AxleError, which names the axle, the key and what is expected."""
    if not isinstance(tables, list) or not 1 <= len(tables) <= MOST:
        raise AxleError(f"axles: expected 1 to {MOST} tables [[axles]]")
    axles = tuple(_axle(k, table) for k, table in enumerate(tables, start=1))
    names = [a.name for a in axles]
    if twice := next((n for i, n in enumerate(names) if n in names[:i]), ""):
        raise AxleError(f"axles: two have the name {twice!r}")
    if len({a.steered for a in axles} - {"none"}) > 1:
        raise AxleError("axles: one is steered by a pitman arm and one by a rack; expected one kind of steering gear")
    return axles


#: Choices of the keys that have some, and the type of every key, also in words.
_CHOICES = {"steered": STEERED, "drive_reaction": REACTIONS, "driven_from": OUTPUTS}
_TYPES: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    "str": (str, "a text"), "float": ((int, float), "a number"), "bool": (bool, "true or false"),
}  # fmt: skip


def _axle(number: int, table: object) -> Axle:
    where = f"axle {number}"
    if not isinstance(table, dict):
        raise AxleError(f"{where} = {table!r}: expected a table")
    known = {f.name: str(f.type) for f in fields(Axle)}
    own: dict[str, Any] = {}
    for key, value in table.items():
        if key not in known:
            raise AxleError(f"{where}: unknown key {key!r}; expected {', '.join(known)}")
        kind, words = _TYPES[known[key]]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise AxleError(f"{where}: {key} = {value!r}: expected {words}")
        if key in _CHOICES and value not in _CHOICES[key]:
            raise AxleError(f"{where}: {key} = {value!r}: expected {', '.join(_CHOICES[key])}")
        own[key] = value if isinstance(value, str | bool) else float(str(value))
    name = own.get("name", "")
    if not re.fullmatch("[a-z][a-z0-9_]*", name) or name in _TAKEN:
        raise AxleError(
            f"{where}: name = {name!r}: expected a name of small letters, digits and _, other than {', '.join(_TAKEN)}"
        )
    if not abs(own.get("gain", 1.0)) <= 10.0:
        raise AxleError(f"{where}: gain = {own['gain']!r}: expected -10 to 10")
    if not 0.0 <= own.get("dual", 0.0) <= 2.0:
        raise AxleError(f"{where}: dual = {own['dual']!r}: expected the distance of two tires, up to 2 m")
    if not 0.1 <= own.get("final_drive", 1.0) <= 100.0:
        raise AxleError(f"{where}: final_drive = {own['final_drive']!r}: expected 0.1 to 100")
    return Axle(**own)


#: Of a vehicle with the axles of `DEFAULT`: axle -> its left and right wheel, the wheels, and (axle, side) of each.
WHEELS = wheel_names(len(DEFAULT))
AXLES = {axle.name: (WHEELS[2 * k], WHEELS[2 * k + 1]) for k, axle in enumerate(DEFAULT)}
CORNERS = tuple((axle.name, side) for axle, side in corners(DEFAULT))
