"""Derived numbers of one axle at a time as C, so that a vehicle on any axles is made without CasADi.

Beside the functions goes a list of the entries that each reads, in its order: the C for a vehicle's axles
(`jounce.models.double_wishbone.axles_c`) takes them from the vehicle's own parameters.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import casadi as ca

from jounce.codegen.emitter import emit_file
from jounce.codegen.forward import forward
from jounce.contact import body as outline
from jounce.data import Vehicle, load_vehicle
from jounce.dynamics.articulated_pair import inward_sweep_function, outward_sweep_function
from jounce.dynamics.embedding import Embedding
from jounce.math.algebra import SX
from jounce.models.double_wishbone import parameters
from jounce.models.double_wishbone.arrange import COMMON, GEARS
from jounce.models.double_wishbone.axles_c import AXLE, FIRST_STEERED, PAIRS, WHEEL
from jounce.models.double_wishbone.emit import Code
from jounce.models.double_wishbone.outputs import pair_function
from jounce.steering import pitman, rack
from jounce.suspension.double_wishbone import NUMBERS
from jounce.suspension.embedded import SLIDES, TURNS, close_function, probe_function
from jounce.suspension.embedded_code import EmbeddedCode, embedded_code
from jounce.suspension.kinds import KINDS, Kind, Variant
from jounce.suspension.mechanisms.templates import mechanism_of

GENERATOR = "jounce.models.double_wishbone.emit_axles"
#: Entry that counts on driven axles alone.
SHAFT = "driveline.inertia"
#: What is emitted for vehicles with the tires of that one.
CODE = Code(load_vehicle(COMMON))


class _Entries(dict[str, SX]):
    """Symbols of the entries that a function asks for, in the order of the asking."""

    def __missing__(self, name: str) -> SX:
        self[name] = SX.sym(name)
        return self[name]


def of_entries(
    name: str, make: Callable[[Mapping[str, SX], Sequence[SX]], Sequence[SX]], more: Sequence[str] = ()
) -> tuple[ca.Function, list[str]]:
    """(function of the entries that ``make`` reads and of ``more``, in one vector; the names of those entries)."""
    entries, own = _Entries(), [SX.sym(n) for n in more]
    outputs = [ca.densify(ca.cse(v)) for v in make(entries, own)]
    return ca.Function(name, [ca.vertcat(*entries.values(), *own)], outputs), list(entries)


def _corner(p: Mapping[str, SX], more: Sequence[SX]) -> Sequence[SX]:
    side, driven = more
    entries = _Driven(p, driven)
    numbers = parameters.corner_numbers(entries, AXLE, side)
    axial = ca.vertcat(*(numbers[NUMBERS.first[name]] for name in ("wheel_along", "shaft")))
    return CODE.corner[1](numbers), axial


class _Driven(dict[str, SX]):
    """Entries of an axle whose shafts count where it is driven."""

    def __init__(self, entries: Mapping[str, SX], driven: SX) -> None:
        super().__init__()
        self._entries, self._driven = entries, driven

    def __missing__(self, name: str) -> SX:
        value = self._entries[name]
        return value * self._driven if name == SHAFT else value


def _outline(p: Mapping[str, SX], more: Sequence[SX]) -> Sequence[SX]:
    return [ca.vertcat(*(parameters.outline_points(p, name, AXLE, more[0]) for name in outline.POINTS))]


def _geared(p: Mapping[str, SX], more: Sequence[SX]) -> Sequence[SX]:
    return [pitman.geared_numbers(p, AXLE, more[0], FIRST_STEERED, more[1])]


def _racked(p: Mapping[str, SX], more: Sequence[SX]) -> Sequence[SX]:
    return [rack.inner_numbers(pitman.design_end(p, AXLE, more[0]), more[1])]


def _fixed(p: Mapping[str, SX], more: Sequence[SX]) -> Sequence[SX]:
    return [pitman.fixed_numbers(p, AXLE, more[0])]


def _wheel(code: Code, p: Mapping[str, SX], more: Sequence[SX]) -> Sequence[SX]:
    return [code.prepared_wheel[1](ca.vertcat(*(p[name] for name in code.wheel.entries(1.0)), *more))]


def _common(gear: str, p: Mapping[str, SX], _more: Sequence[SX]) -> Sequence[SX]:
    contact = ca.vertcat(*(p[f"chassis.contact.{name}"] for name in outline.CONTACT.sizes))
    if gear == "rack":  # its numbers stand at the beginning of a linkage's place
        numbers = ca.vertcat(rack.numbers(p), SX.zeros(pitman.NUMBERS.size - rack.NUMBERS.size))
    else:
        numbers = pitman.linkage_numbers(p)
    return numbers, parameters.chassis_inertia(p, linkage=gear == "pitman"), contact


@dataclass(frozen=True)
class Made:
    """What is emitted of one variant of a kind that is made from a mechanism."""

    kind: Kind
    variant: Variant
    vehicle: Vehicle
    """Of whose numbers the order of the pivots is chosen."""
    axle: str
    """Name of the axle of that variant."""

    @cached_property
    def embedding(self) -> Embedding:
        """Of the vehicle's numbers."""
        return Embedding(mechanism_of(self.vehicle, self.axle, self.kind.name))

    @cached_property
    def code(self) -> EmbeddedCode:
        """Its lane functions."""
        return embedded_code(self.embedding, self.variant.function)

    @cached_property
    def numbers(self) -> tuple[ca.Function, list[str]]:
        """axle_NAME(entries, side, driven) -> corner numbers, axial of its wheels, numbers of close."""
        vehicle, axle = self.vehicle, self.axle
        symbols = {n: SX.sym(n) for n in vehicle.entries}
        side, driven = SX.sym("side"), SX.sym("driven")
        given = symbols | {SHAFT: symbols[SHAFT] * driven}
        mechanism = mechanism_of(vehicle, axle, self.kind.name, given)
        if self.kind.paired:
            plain = mechanism.numbers()
        else:
            left, right = (0.5 * (1 + sign * side) for sign in (1, -1))
            plain = left * mechanism.numbers(1.0) + right * mechanism.numbers(-1.0)
        first = self.embedding.layout.first
        axial = ca.vertcat(*(plain[first[f"{n}{k}"]] for k in self.wheels for n in ("wheel_along", "shaft")))
        made = [self.code.corner_numbers(plain), axial, *([self.code.close_numbers(plain)] if self.code.loops else [])]
        out = [ca.densify(ca.cse(v)) for v in made]
        used = [n for n, v in symbols.items() if any(ca.depends_on(o, v) for o in out)]
        entries = ca.vertcat(*(symbols[n] for n in used), side, driven)
        function = ca.Function(f"axle_{self.variant.name}", [entries], out)
        return function, [n.replace(f"{axle}.", f"{AXLE}.", 1) if n.startswith(f"{axle}.") else n for n in used]

    @property
    def wheels(self) -> tuple[str, ...]:
        """Ends of the names of its wheels' numbers."""
        return ("", "_2") if self.kind.paired else ("",)

    @property
    def scalars(self) -> list[ca.Function]:
        """What derives the numbers."""
        if not self.code.loops:
            return [self.numbers[0]]
        name = self.variant.function
        return [self.numbers[0], close_function(self.embedding, f"{name}_step"),
                probe_function(self.embedding, f"{name}_probe")]  # fmt: skip

    @property
    def sizes(self) -> dict[str, object]:
        """What the C around it needs to know."""
        first = self.embedding.layout.first
        return {
            "corner": self.code.corner_numbers.size1_out(0),
            "close": self.code.close_numbers.size1_out(0) if self.code.loops else 0,
            "dependent": len(self.embedding.dependent),
            "limits": [SLIDES if kind == "P" else TURNS for kind in self.embedding.kinds],
            "preload": [first[f"preload{k}"] for k in self.wheels],
            "height": first["wheel_centre"] + 2,
        }

    def files(self) -> dict[str, str]:
        """File name to text."""
        f, code, shared = self.variant.function, self.code, self.code.shared
        position = [f for f in (code.close, code.closed) if f is not None]
        values = [*position, code.dynamics, code.outputs]
        tangents = [code.close_forward, code.forward] if code.close_forward else [code.forward]
        return {
            f"{f}_scalar.inc": emit_file(self.scalars, GENERATOR),
            f"{f}_lanes.inc": emit_file(values, GENERATOR, shared),
            f"{f}_lanes_forward.inc": emit_file(tangents, GENERATOR, shared, pieces=True),
        }


def variants() -> tuple[Made, ...]:
    """Every variant that is made from a mechanism."""
    return tuple(Made(kind, variant, load_vehicle(variant.example[0]), variant.example[1])
                 for kind in KINDS.values() if kind.embedded for variant in kind.variants)  # fmt: skip


def emitted(made: Made) -> tuple[dict[str, list[str]], dict[str, object], dict[str, str]]:
    """(entries that its functions read, sizes, file name to text) of a variant."""
    function, names = made.numbers
    return {function.name(): names}, {made.variant.name: made.sizes}, made.files()


def pair_files(code: Code) -> dict[str, str]:
    """What all axles take whose wheels share a body: both sweeps and the report."""
    values = [inward_sweep_function(), outward_sweep_function(), pair_function(code.wheel)]
    constant = {"inward_sweep_pair": (6, 7, 8), "outward_sweep_pair": (7, 8), "report_pair": (12, 13, 14)}
    shared = {"outward_sweep_pair": (6,), "report_pair": (8, 11)}
    tangents = [forward(f, constant=constant[f.name()]) for f in values]
    return {
        f"{PAIRS}_lanes.inc": emit_file(values, GENERATOR, shared),
        f"{PAIRS}_lanes_forward.inc": emit_file(tangents, GENERATOR, shared_seeds(values, shared, constant)),
    }


def shared_seeds(
    functions: Sequence[ca.Function], shared: Mapping[str, Sequence[int]], constant: Mapping[str, Sequence[int]]
) -> dict[str, list[int]]:  # fmt: skip
    """Inputs of the functions with tangents that all lanes share."""
    found = {}
    for f in functions:
        same, still = shared.get(f.name(), ()), constant.get(f.name(), ())
        seeds = [k for k in range(f.n_in()) if k not in still]
        found[f"{f.name()}_forward"] = [*same, *(f.n_in() + seeds.index(k) for k in same if k in seeds)]
    return found


def functions(code: Code) -> tuple[tuple[ca.Function, list[str]], ...]:
    """Every function of the axles that all vehicles with such wheels share, with the entries that it reads."""
    return (
        of_entries("axle_double_wishbone", _corner, ("side", "driven")),
        of_entries("axle_outline", _outline, ("side",)),
        of_entries("axle_pitman", _geared, ("side", "gain")),
        of_entries("axle_rack", _racked, ("side", "gain")),
        of_entries("axle_none", _fixed, ("side", "gain")),
        of_entries(WHEEL, partial(_wheel, code), ("dual",) if code.wheel.law.dual else ()),
        *(of_entries(f"vehicle_{gear}", partial(_common, gear)) for gear in GEARS),
    )


def _scalars(code: Code) -> tuple[dict[str, list[str]], str]:
    """(function -> entries that it reads, text of axles_scalar.inc) with the wheels of ``code``."""
    made, gear = functions(code), rack.function()
    text = emit_file([*(f for f, _ in made), gear, forward(gear, constant=(1,))], GENERATOR)
    return {f.name(): names for f, names in made}, text


def of_law(name: str) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Of vehicles on tires of another law: function -> entries that it reads, file name -> text.

    These files stand in the place of those of the same name that come with jounce.
    """
    code = Code(replace(load_vehicle(COMMON), tire=name), pieces=True)
    entries, text = _scalars(code)
    return entries, {"axles_scalar.inc": text, **pair_files(code), **code.files()}


def files() -> dict[str, str]:
    """File name to text."""
    kinds = variants()
    entries, text = _scalars(CODE)
    entries |= {f.name(): names for f, names in (kind.numbers for kind in kinds)}
    sizes = {kind.variant.name: kind.sizes for kind in kinds}
    return {
        "axles_scalar.inc": text,
        "axles_entries.json": json.dumps({"entries": entries, "sizes": sizes}, indent=1) + "\n",
        **pair_files(CODE),
        **{name: text for kind in kinds for name, text in kind.files().items()},
    }
