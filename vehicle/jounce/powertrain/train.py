"""The axles that a powertrain drives, and the differentials on the way to them. Without CasADi.

The gearbox drives the transfer case, whose centre differential has two outputs. One drives the axles in front of it,
one those behind. Each group is driven through: its axle next to the transfer case has an inter-axle differential,
which keeps a share of the torque for the axle and passes the rest on to the next one. Every axle has a differential of
its own between its wheels. So n axles have n - 1 differentials between shafts:

    1 2 | 3 4     the shaft to the front ends at axle 2, which drives axle 1; that to the rear at axle 3, which drives 4

Two driven axles, or one, are called front and rear; more are axle_1, axle_2 ... by their place in the vehicle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jounce.axles import DEFAULT, Axle, AxleError

__all__ = ["TWO", "Split", "Train", "train_of"]


@dataclass(frozen=True)
class Split:
    """A differential between shafts: the near output turns against the far one by friction alone."""

    axle: str
    """Name of the axle at which it stands; "" of the centre differential, whose near output is the front."""
    near: int | Split
    """Number of the driven axle, or the differential, that the near output drives."""
    far: int | Split

    @property
    def windup(self) -> str:
        """Name of the state of its friction."""
        return f"differential.{self.axle}.interaxle_windup" if self.axle else "differential.centre.windup"

    @property
    def lock(self) -> str:
        """Name of its lock."""
        return f"{self.axle}_interaxle_lock" if self.axle else "centre_lock"

    @property
    def share(self) -> str:
        """Name of the share of the torque that its near output gets."""
        return f"{self.axle}_share" if self.axle else "share"

    @property
    def share_entry(self) -> str:
        """The same among the entries of the vehicle data."""
        return f"differential.{self.axle}.share" if self.axle else "transfer.share"

    @property
    def stiffness(self) -> str:
        """Name of the stiffness of its friction."""
        return f"{self.axle}_interaxle_stiffness" if self.axle else "centre_stiffness"

    @property
    def kind(self) -> str:
        """What its friction, bias and capacity of the lock are named after: inter-axle differentials share them."""
        return "interaxle" if self.axle else "centre"


@dataclass(frozen=True)
class Train:
    """Names of the driven axles from the front, and how many of them the front output drives."""

    axles: tuple[str, ...]
    front: int

    @property
    def two(self) -> bool:
        """Whether it is that of two axles, or of one, which then stands in the front's place."""
        return self == TWO

    @property
    def shafts(self) -> int:
        """Number of half shafts."""
        return 2 * len(self.axles)

    @cached_property
    def centre(self) -> Split:
        """The centre differential, and what its outputs drive."""
        numbers = range(len(self.axles))
        return Split("", self._group(numbers[self.front - 1 :: -1]), self._group(numbers[self.front :]))

    def _group(self, numbers: Sequence[int]) -> int | Split:
        """What drives these axles, which begin next to the transfer case."""
        first, *others = numbers
        return Split(self.axles[first], first, self._group(others)) if others else first

    @cached_property
    def splits(self) -> tuple[Split, ...]:
        """All differentials between shafts, each behind the one that drives it."""

        def below(of: int | Split) -> Iterator[Split]:
            if isinstance(of, Split):
                yield of
                yield from below(of.near)
                yield from below(of.far)

        return tuple(below(self.centre))

    @property
    def through(self) -> tuple[Split, ...]:
        """The inter-axle differentials."""
        return self.splits[1:]

    @property
    def held(self) -> int:
        """Number of all differentials."""
        return len(self.splits) + len(self.axles)

    def speed(self, of: int | Split, axles: Sequence[Any], share: Callable[[Split], Any]) -> Any:
        """Speed of the shaft to an axle or a differential, of the speeds of the shafts to the axles."""
        if isinstance(of, int):
            return axles[of]
        near, far = self.speed(of.near, axles, share), self.speed(of.far, axles, share)
        return share(of) * near + (1 - share(of)) * far

    def shares(self, share: Callable[[Split], Any], of: int | Split | None = None) -> list[Any]:
        """What each axle gets of the torque that comes to the centre differential, or to another one; 0 elsewhere."""
        found: list[Any] = [0] * len(self.axles)

        def go(to: int | Split, part: Any) -> None:
            if isinstance(to, int):
                found[to] = 1 if part is None else part
                return
            near, far = share(to), 1 - share(to)
            go(to.near, near if part is None else part * near)
            go(to.far, far if part is None else part * far)

        go(self.centre if of is None else of, None)
        return found


#: Of one or two driven axles.
TWO = Train(tuple(axle.name for axle in DEFAULT), 1)


def train_of(axles: Sequence[Axle]) -> Train:
    """How the driven ones among a vehicle's axles are driven. Raises AxleError, which names the axle and its key."""
    driven = [(k, axle) for k, axle in enumerate(axles, 1) if axle.driven]
    if not driven:
        raise AxleError("no axle is driven; expected one or more with a powertrain")
    front = _front([axle for _, axle in driven]) if len(driven) > 1 else 1
    if len(driven) <= len(TWO.axles):
        return TWO
    return Train(tuple(f"axle_{k}" for k, _ in driven), front)


def _front(driven: Sequence[Axle]) -> int:
    """How many of two or more axles the front output drives: of those that leave it open the first half of all."""
    fronts = [k for k, axle in enumerate(driven) if axle.driven_from == "front"]
    rears = [k for k, axle in enumerate(driven) if axle.driven_from == "rear"]
    least, most = (fronts[-1] + 1 if fronts else 0), (rears[0] if rears else len(driven))
    if least > most:
        raise AxleError(f'axle {driven[least - 1].name}: driven_from = "front" behind axle {driven[most].name}, which '
                        "is driven from the rear output; expected the axles of the front output in front")  # fmt: skip
    front = min(max(len(driven) // 2, least), most)
    if front in (0, len(driven)):
        only = "front" if front else "rear"
        raise AxleError(f"axle {driven[0].name}: driven_from: all driven axles are driven from the {only} output; "
                        "expected one or more from each")  # fmt: skip
    return front
