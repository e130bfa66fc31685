"""A model's recursion as data: which function takes what from where, once.

From one schedule are made the C that calls the functions for values, tangents and Jacobian
(`jounce.codegen.recursion`), their inputs that all wheels share and that never move, and the composition of the
CasADi functions (`compose`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import casadi as ca


@dataclass(frozen=True)
class Vector:
    """Numbers that pass from one function to another."""

    place: str
    """C expression of the first one."""
    per_wheel: bool = False
    """One such vector for each wheel; in C number k of wheel c lies at [wheels k + c]."""
    moves: bool = True
    """Has a tangent, whose C expression is that of the place after ``d_``; numbers of the vehicle have none."""
    size: int = 0
    """How many numbers every function takes, where that is said."""
    of_axle: bool = False
    """Of one per wheel: where two wheels share a body there is one for both, in the left one's place."""

    @property
    def tangent(self) -> str:
        """C expression of the tangent's first number."""
        return f"d_{self.place}"


def state(name: str, *, per_wheel: bool = False, size: int = 0) -> Vector:
    """Part of the state vector from that name on."""
    return Vector(f"x + JN_X_{name}", per_wheel, size=size)


def made(name: str, *, per_wheel: bool = True) -> Vector:
    """What a function of the recursion makes, kept in the evaluation."""
    return Vector(f"e->{name}", per_wheel)


def local(name: str, *, per_wheel: bool = False) -> Vector:
    """The same, in a variable of the calling function."""
    return Vector(name, per_wheel)


def numbers(place: str, *, per_wheel: bool = False) -> Vector:
    """Derived numbers of the vehicle, from that place in d on."""
    return Vector(f"d + {place}", per_wheel, moves=False)


def of_axle(vector: Vector) -> Vector:
    """The same, of which there is one for two wheels that share a body."""
    return replace(vector, of_axle=True)


@dataclass(frozen=True)
class Call:
    """One call of an emitted function, for each wheel where any of its outputs is one per wheel."""

    function: str
    inputs: tuple[str, ...]
    """Names of vectors; a function reads the first of their numbers, as many as it takes."""
    outputs: tuple[str, ...]
    lean: bool = False
    """There is a function NAME_dynamics with the first outputs alone, for where no more is asked."""
    lanes: int = 0
    """Number of lanes where these are not those of the wheels."""
    zero_with: str = ""
    """Name of an input with which all outputs are zero: the call is left out where that is."""
    before: tuple[str, ...] = ()
    """Hand-written C before the call in the loop over the wheels, for lanes c to c + JN_LANES; and its form with
    tangents."""


@dataclass(frozen=True)
class Sum:
    """Sum of a vector's first numbers over the wheels."""

    of: str
    into: str


@dataclass(frozen=True)
class Rows:
    """A vector's numbers from one on, as a vector of their own; C has a place for them and needs no step."""

    of: str
    first: int
    into: str


@dataclass(frozen=True)
class Glue:
    """Hand-written C between the calls; ``forward`` is its form with tangents."""

    value: str
    forward: str


Step = Call | Sum | Rows | Glue


@dataclass(frozen=True)
class Schedule:
    """Steps in order, over named vectors."""

    vectors: Mapping[str, Vector]
    steps: tuple[Step, ...]

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls among the steps."""
        return tuple(s for s in self.steps if isinstance(s, Call))

    def per_wheel(self, call: Call) -> bool:
        """Whether the call is one for each wheel."""
        return any(self.vectors[name].per_wheel for name in call.outputs)

    def shared(self) -> dict[str, tuple[int, ...]]:
        """Function -> its inputs that are the same for all wheels."""
        found: dict[str, tuple[int, ...]] = {}
        for call in filter(self.per_wheel, self.calls):
            same = tuple(k for k, name in enumerate(call.inputs) if not self.vectors[name].per_wheel)
            names = (call.function, f"{call.function}_dynamics") if call.lean else (call.function,)
            found |= {name: same for name in names if same}
        return found

    def constant(self) -> dict[str, tuple[int, ...]]:
        """Function -> its inputs that never move. Lean functions have no tangents."""
        return {c.function: tuple(k for k, n in enumerate(c.inputs) if not self.vectors[n].moves) for c in self.calls}

    def check(self, functions: Mapping[str, ca.Function]) -> None:
        """Raise ValueError where a call does not fit its function, or takes what nothing has made before."""
        made = {name for s in self.steps for name in _outputs(s)}
        for step in self.steps:
            if isinstance(step, Call):
                f = functions[step.function]
                own, wanted = (f.n_in(), f.n_out()), (len(step.inputs), len(step.outputs))
                if own != wanted:
                    raise ValueError(f"{step.function} takes and makes {own} vectors; the schedule has {wanted}")
                for k, name in enumerate(step.inputs):
                    if self.vectors[name].size not in (0, f.size1_in(k)):
                        raise ValueError(f"{step.function} takes {f.size1_in(k)} numbers of {name!r}")
            if late := [name for name in _inputs(step) if name in made]:
                raise ValueError(f"{late[0]!r} is taken before it is made")
            made -= set(_outputs(step))


def _inputs(step: Step) -> tuple[str, ...]:
    return step.inputs if isinstance(step, Call) else (step.of,) if isinstance(step, Sum | Rows) else ()


def _outputs(step: Step) -> tuple[str, ...]:
    return step.outputs if isinstance(step, Call) else (step.into,) if isinstance(step, Sum | Rows) else ()


def compose(
    steps: Iterable[Step], functions: Mapping[str, ca.Function], vectors: MutableMapping[str, Any]
) -> None:
    """Call the steps' functions on symbols or numbers, and add what they make to ``vectors``.

    A list has an item for each wheel. What is there already is not made again.
    """
    for step in steps:
        if not set(_outputs(step)) - vectors.keys():
            continue
        match step:
            case Call(function, inputs, outputs):
                made = _called(functions[function], [vectors[name] for name in inputs])
                vectors.update(zip(outputs, made, strict=True))
            case Sum(of, into):
                vectors[into] = sum(vectors[of][1:], vectors[of][0])
            case Rows(of, first, into):
                vectors[into] = vectors[of][first:]


def _called(f: ca.Function, inputs: list[Any]) -> list[Any]:
    """Outputs of a function, for each wheel where any input is one per wheel."""
    wheels = max((len(v) for v in inputs if isinstance(v, list)), default=0)
    made = []
    for c in range(max(wheels, 1)):
        each = [v[c] if isinstance(v, list) else v for v in inputs]
        out = f(*(v[: f.size1_in(k)] for k, v in enumerate(each)))
        made.append(out if isinstance(out, tuple) else (out,))
    return [[out[k] for out in made] if wheels else made[0][k] for k in range(f.n_out())]
