"""The functions of a four-corner double-wishbone vehicle and the orders of their numbers, as C.

``python -m jounce_fmu.build.generate`` writes them; a test fails when the committed files differ from these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, zip_longest

import casadi as ca

from jounce.axles import WHEELS
from jounce.codegen.emitter import emit_file
from jounce.codegen.forward import forward
from jounce.codegen.prepare import first_rows, prepare
from jounce.contact import body as outline
from jounce.contact import tires, wheel
from jounce.contact.wheel import Wheel
from jounce.data import Vehicle
from jounce.dynamics import articulated
from jounce.math.layout import Layout
from jounce.models.double_wishbone import axles_c, parameters, powered, recursion
from jounce.models.double_wishbone import outputs as reports
from jounce.models.double_wishbone.axles_c import enumerators, identifier
from jounce.models.double_wishbone.functions import functions
from jounce.models.double_wishbone.lanes import Lanes
from jounce.models.double_wishbone.schedule import SCHEDULE
from jounce.signals import SignalTable
from jounce.steering import pitman as steering
from jounce.suspension import double_wishbone as corner
from jounce.terrain import signals as ground

GENERATOR = "jounce.models.double_wishbone.emit"
_BANNER = f"/* Emitted by {GENERATOR}; do not edit. */\n"
#: Inputs of the emitted functions that are the same for all wheels, and those that have no tangents. The points of the
#: outline are no part of the schedule: the glue asks them only where the body is near the ground.
SHARED, CONSTANT = SCHEDULE.shared() | {"outline": (0, 3)}, SCHEDULE.constant() | {"outline": (2, 3)}

@dataclass(frozen=True)
class Code:
    """What is emitted for a vehicle: its functions, and the orders of their numbers."""

    vehicle: Vehicle
    pieces: bool = False
    """Whether long tangents are emitted in pieces (`jounce.codegen.pieces`)."""

    @cached_property
    def wheel(self) -> Wheel:
        """Its wheels, with the law of their tires."""
        return Wheel(tires.find(self.vehicle.tire))

    @cached_property
    def functions(self) -> dict[str, ca.Function]:
        """Those of the schedule, by name."""
        return functions(self.wheel.law)

    @cached_property
    def corner(self) -> tuple[ca.Function, ca.Function]:
        """The corner with the numbers that it shares between evaluations prepared, and how these are prepared."""
        return prepare(self.functions["corner"], 3)

    @cached_property
    def prepared_wheel(self) -> tuple[ca.Function, ca.Function]:
        """The same of the wheel."""
        return prepare(self.functions["wheel"], 4)

    @property
    def quick(self) -> tuple[str, ...]:
        """Functions emitted with short trigonometry."""
        return ("wheel", "wheel_dynamics", "wheel_forward") if self.wheel.law.quick else ()

    @cached_property
    def layouts(self) -> dict[str, Layout]:
        """Those that the C glue reads, by prefix."""
        corners, wheels, of_wheel = self.corner[0].size1_in(3), self.prepared_wheel[0].size1_in(4), self.wheel
        return {
            "LINKAGE": steering.NUMBERS, "LINK": steering.LINK, "INNER": steering.INNER,
            "INNER_NUMBER": steering.INNER_NUMBERS, "CORNER": corner.OUTPUTS,
            "CORNER_NUMBER": Layout(**corner.NUMBERS.sizes, prepared=corners - corner.NUMBERS.size),
            "CHASSIS": wheel.CHASSIS, "WHEEL_INPUT": of_wheel.inputs,
            "WHEEL_NUMBER": Layout(**of_wheel.numbers.sizes, prepared=wheels - of_wheel.numbers.size),
            "WHEEL": of_wheel.results, "STARTING": wheel.STARTING, "ARTICULATED_BODY": articulated.ARTICULATED_BODY,
            "REPORT": reports.of_wheel(of_wheel.law), "SHARE": reports.SHARE, "CHASSIS_NUMBER": reports.NUMBERS,
            "OUTLINE": outline.RESULTS, "POINT": outline.POINT, "CONTACT": outline.CONTACT,
        }  # fmt: skip

    @cached_property
    def lanes(self) -> list[ca.Function]:
        """Evaluated for each corner, four lanes at once where the processor can."""
        f, corner_function, wheel_function = self.functions, self.corner[0], self.prepared_wheel[0]
        return [f["inner"], first_rows(corner_function, "corner_dynamics", corner.DYNAMICS.size), corner_function,
                first_rows(wheel_function, "wheel_dynamics", self.wheel.dynamics.size), wheel_function,
                f["inward_sweep"], f["outward_sweep"], f["report"], f["angle"], outline.function()]  # fmt: skip

    @cached_property
    def scalars(self) -> list[ca.Function]:
        """Evaluated once per vehicle."""
        once = [self.functions[call.function] for call in SCHEDULE.calls if not SCHEDULE.per_wheel(call)]
        return [*once, *self.derived, self.wheel.start_function()]

    @cached_property
    def derived(self) -> list[ca.Function]:
        """Derives the numbers of all axles; empty where each axle has functions of its own."""
        if any(f"tire.{name}" not in self.vehicle.entries for name in self.wheel.law.entries):
            return []
        return [parameters.derive_function(self.vehicle, self.corner[1], self.prepared_wheel[1])]

    def files(self) -> dict[str, str]:
        """File name to text of the functions, and of what the glue reads of their numbers."""
        lanes, scalars = self.lanes, self.scalars
        SCHEDULE.check({f.name(): f for f in (*lanes, *scalars)})
        return {
            "double_wishbone_inputs.inc": emit_inputs(self.wheel),
            "double_wishbone_lanes.inc": emit_file(lanes, GENERATOR, SHARED, self.quick),
            "double_wishbone_scalar.inc": emit_file(scalars, GENERATOR, pieces=True),
            "double_wishbone_lanes_forward.inc": emit_file(forward_functions(lanes), GENERATOR, shared_forward(lanes),
                                                               self.quick, pieces=self.pieces),
            "double_wishbone_scalar_forward.inc": emit_file(forward_functions(scalars), GENERATOR),
            "double_wishbone_layout.h": emit_layouts(self),
        }


def forward_functions(functions: list[ca.Function]) -> list[ca.Function]:
    """Those with tangents, for directional derivatives."""
    return [forward(f, constant=CONSTANT[f.name()]) for f in functions if f.name() in CONSTANT]


def shared_forward(functions: list[ca.Function]) -> dict[str, list[int]]:
    """SHARED of their forward functions: such an input and its tangent."""
    shared = {}
    for f in functions:
        same, constant = SHARED.get(f.name(), ()), CONSTANT.get(f.name(), ())
        seeds = [k for k in range(f.n_in()) if k not in constant]
        shared[f"{f.name()}_forward"] = [*same, *(f.n_in() + seeds.index(k) for k in same if k in seeds)]
    return shared


def emit_layouts(code: Code) -> str:
    """C header with the index of every named part."""
    lines: list[str] = []
    for prefix, layout in code.layouts.items():
        lines += enumerators(prefix, layout)
    lines[-1] = lines[-1].rstrip(",")
    body = "\n".join(lines)
    return f"{_BANNER}enum {{\n{body}\n}};\n"


def emit_inputs(of: Wheel) -> str:
    """C functions that copy the inputs of a wheel that need no conversion: its scalars, and the external wrench."""
    copies: dict[bool, str] = {False: "", True: ""}
    for name, signal in of.signals.items():
        size = of.inputs.sizes[name]
        place = f"{size}, JN_WHEEL_INPUT_{identifier(name)}"
        copies[size > 1] += (
            f"    copy_inputs(u, c, JN_U_WHEEL_{identifier(signal)}{'_x' * (size > 1)}, {place}, wheel_inputs);\n"
        )
    functions = (f"static void copy_{what}(const double *u, int c, double *wheel_inputs) {{\n{copies[wrench]}}}\n"
                 for what, wrench in (("wheel_inputs", False), ("wrench", True)))  # fmt: skip
    return _BANNER + "/* The inputs that are used as they are. */\n" + "\n".join(functions)


def check_reports(table: SignalTable, law: tires.Law = tires.TMEASY) -> None:
    """Raises ValueError if the order of a report differs from that of the output signals."""
    behind = ((*ground.wheel_outputs(p, law), *powered.wheel_outputs(p)) for p in (f"wheel_{w}" for w in WHEELS))
    apart = {s.name for signals in behind for s in signals}  # behind the report, by the glue
    wanted = [s.name for s in table.signals if s.causality == "output" and s.name not in apart]
    first = [*reports.CHASSIS.sizes, *(f"wheel_{w}.{name}" for w in WHEELS for name in reports.of_wheel(law).sizes)]
    if wanted[: len(first)] != first:
        odd = next((a, b) for a, b in zip(first, wanted, strict=False) if a != b)
        raise ValueError(f"the report has {odd[0]} where the signal table has {odd[1]}")


def check_inputs(table: SignalTable) -> None:
    """Raises ValueError unless each wheel has the inputs of the first in the same order, wheel after wheel.

    The C glue knows the first wheel's by name and the others by their distance.
    """
    first, *others = ([s.removeprefix(p) for s in _inputs(table, p)] for p in (f"wheel_{w}." for w in WHEELS))
    for wheel_name, names in zip(WHEELS[1:], others, strict=True):
        if names != first:
            odd = next((a, b) for a, b in zip_longest(first, names) if a != b)
            raise ValueError(f"wheel_{wheel_name} has the input {odd[1]} where wheel_{WHEELS[0]} has {odd[0]}")
    starts = [s.index for s in table.inputs if s.name == f"{_owner(s.name)}.{first[0]}"]
    if [b - a for a, b in pairwise(starts)] != [len(first)] * (len(WHEELS) - 1):
        raise ValueError("the inputs of the wheels do not follow each other")


def _owner(name: str) -> str:
    return name.partition(".")[0]


def _inputs(table: SignalTable, prefix: str) -> list[str]:
    return [s.name for s in table.inputs if s.name.startswith(prefix)]


def files(table: SignalTable, vehicle: Vehicle, of_powertrain: Sequence[str] = ()) -> dict[str, str]:
    """File name to C text, for a double-wishbone vehicle and its signal table.

    ``of_powertrain``: the entries that the powertrain's numbers are made of, where it has one.
    """
    code = Code(vehicle)
    check_reports(table, code.wheel.law)
    check_inputs(table)
    inner = axles_c.inner(vehicle)
    steps = recursion.text(Lanes(vehicle.axles), inner, powered.powertrain(vehicle))
    return {
        "double_wishbone_axles.h": axles_c.header(vehicle, table, inner),
        "double_wishbone_axles.inc": axles_c.tables(vehicle, table),
        "double_wishbone_derive.inc": axles_c.whole_derivation(vehicle, table, of_powertrain),
        "double_wishbone_recursion.inc": steps,
        **code.files(),
    }
