"""The C of a vehicle in an augmented formulation: its corners, its numbers, its states at rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce.axles import CORNERS
from jounce.codegen.emitter import emit_file
from jounce.contact import tires
from jounce.contact.states import inner
from jounce.contact.wheel import CHASSIS, STARTING, Wheel
from jounce.data import Vehicle
from jounce.formulations.augmented import Augmented
from jounce.formulations.cartesian import Cartesian
from jounce.models.double_wishbone import outputs as reports
from jounce.models.double_wishbone.axles_c import enumerators, identifier
from jounce.models.double_wishbone.functions import functions, numbers
from jounce.models.double_wishbone.signals import STATE_NAMES
from jounce.models.formulation import rest
from jounce.models.formulation.equations import Closing, Corner, coordinates, corners, gathered_layout
from jounce.signals import SignalTable, State
from jounce.steering.pitman import INNER, LINK
from jounce.suspension.double_wishbone import OUTPUTS
from jounce.suspension.mechanisms.templates import mechanism_of

Array = NDArray[np.float64]
GENERATOR = "jounce.models.formulation.emit"
_BANNER = f"/* Emitted by {GENERATOR}; do not edit. */\n"
#: Functions of the constraint-embedded vehicle that are emitted as they are.
SHARED = ("steering", "inner", "wheel", "external", "chassis", "motion", "report", "chassis_report", "angle")
#: Signals of the vehicle that this model has beside those of wheels and chassis that it fills from their layouts.
_INPUTS = ("steering_wheel_angle", "steering_wheel_rate", "chassis.ext_force", "chassis.ext_moment")
_OUTPUTS = ("steering.pitman_angle", "energy.kinetic", "energy.potential", "closure_residual", "tick_count")
_PARAMETERS = ("tick", "init.x", "init.y", "init.z", "init.yaw", "init.speed", "init.equilibrium", "tire_source",
               "terrain.height", "terrain.mu")  # fmt: skip


@dataclass(frozen=True)
class Code:
    """What is emitted for one vehicle in one formulation."""

    vehicle: Vehicle
    formulation: str

    @cached_property
    def forms(self) -> list[Augmented]:
        """The corners' equations, in the order of the wheels."""
        return corners(self.vehicle, self.formulation)

    @cached_property
    def wheel(self) -> Wheel:
        """Its wheels, with the law of their tires."""
        return Wheel(tires.find(self.vehicle.tire))

    def signals(self) -> list[str]:
        """Names of the vehicle's signals that the model has."""
        law = self.wheel.law
        of_wheel = (*self.wheel.signals.values(), *reports.of_wheel(law).sizes)
        own = [f"wheel_{w}.{name}" for w in self.vehicle.wheels for name in of_wheel]
        return [*_INPUTS, *own, *reports.CHASSIS.sizes, *_OUTPUTS, *_PARAMETERS]

    def states(self) -> Iterator[State]:
        """The states in the order of the state vector: chassis, then of each wheel q, q', spin and inner states."""
        for name, suffixes, unit, text in (
            ("pos", ".x .y .z", "m", "chassis reference point, world"),
            ("rot", ".e0 .e1 .e2 .e3", "1", "chassis orientation, w x y z"),
            ("ang_vel", ".x .y .z", "rad/s", "angular velocity of the chassis, chassis axes"),
            ("lin_vel", ".x .y .z", "m/s", "velocity of the reference point, chassis axes"),
        ):
            yield from (State(f"state.{name}{suffix}", unit, text) for suffix in suffixes.split())
        for wheel, form in zip(self.vehicle.wheels, self.forms, strict=True):
            prefix = f"state.wheel_{wheel}"
            for names, text in zip(coordinates(form), ("coordinate of a joint or body", "its rate"), strict=True):
                yield from (State(f"{prefix}.{name}", "1", text) for name in names)
            yield State(f"{prefix}.spin", "rad", "spin angle relative to the upright")
            yield State(f"{prefix}.omega", "rad/s", "spin rate relative to the upright", 10.0)
            for state in inner(self.wheel.law):
                yield replace(state, name=f"{prefix}.{STATE_NAMES.get(state.name, state.name)}")

    def files(self, table: SignalTable) -> dict[str, str]:
        """File name -> C text. Raises DataError for a vehicle that finds no rest."""
        return {
            "formulation_functions.inc": self._functions(),
            "formulation_layout.h": self._layouts(table),
            "formulation_numbers.inc": self._numbers(),
        }

    @cached_property
    def _corners(self) -> list[Corner]:
        return [Corner(form, tag) for form, tag in zip(self.forms, self.vehicle.wheels, strict=True)]

    def _functions(self) -> str:
        shared = functions(self.wheel.law)
        own = [f for corner in self._corners for f in corner.functions()]
        return emit_file([*(shared[name] for name in SHARED), self.wheel.start_function(), *own], GENERATOR)

    def _layouts(self, table: SignalTable) -> str:
        form, wheel = self.forms[0], self.wheel
        lines = [f"    N_WHEELS = {len(self.forms)},", f"    N_PLACES = {form.places},", f"    N_RATES = {form.size},",
                 f"    N_INNER = {wheel.rates.size},", f"    POSES = {int(isinstance(form, Cartesian))},"]  # fmt: skip
        for prefix, layout in {"X": CHASSIS, "LINK": LINK, "INNER": INNER, "CORNER": OUTPUTS, "WHEEL": wheel.results,
                               "WHEEL_INPUT": wheel.inputs, "WHEEL_NUMBER": wheel.numbers, "STARTING": STARTING,
                               "GATHERED": gathered_layout(form), "REPORT": reports.of_wheel(wheel.law),
                               "SHARE": reports.SHARE, "CHASSIS_NUMBER": reports.NUMBERS}.items():  # fmt: skip
            lines += enumerators(prefix, layout)
        for letter, group in (("U", table.inputs), ("Y", table.outputs)):
            first, second = ({n: s.index for s in group if (n := s.name.removeprefix(f"wheel_{w}.")) != s.name}
                             for w in self.vehicle.wheels[:2])  # fmt: skip
            lines.append(f"    {letter}_WHEEL = {next(iter(second.values())) - next(iter(first.values()))},")
            lines += [f"    JN_{letter}_WHEEL_{identifier(name)} = {at}," for name, at in first.items()]
        body = "\n".join(lines).rstrip(",")
        names = ", ".join(f'"{w}"' for w in self.vehicle.wheels)
        return f"{_BANNER}#define JN_WHEEL_NAMES {names}\nenum {{\n{body}\n}};\n"

    def _numbers(self) -> str:
        vehicle, wheel, vectors = self.vehicle, self.wheel, self._vectors
        com = [vehicle[f"chassis.com.{a}"] for a in "xyz"]
        own = [*_flat(vectors["chassis numbers"]), *com, *[0.0] * 3, rest.gravity(vehicle)]
        wheels = [[vehicle[n] for n in wheel.entries(side, vehicle.tires(a)).values()] for a, side in CORNERS]
        rows = _array("linkage", vectors["linkage"]) + _array("chassis_numbers", own)
        rows += _table("inner_numbers", vectors["inner numbers"]) + _table("wheel_numbers", wheels)
        rows += _table("axial", vectors["axial"])
        rows += _array("inner_start", [state.start for state in inner(wheel.law)])
        told = self._told()
        closing = [Closing(form, mechanism_of(vehicle, axle, "double_wishbone"), side)
                   for form, (axle, side) in zip(self.forms, CORNERS, strict=True)]  # fmt: skip
        stands = rest.find(vehicle)
        rows += _array("rest_pose", [stands.height, *stands.quaternion])
        for name, angles in (("design", [0.0] * len(closing)), ("rest", stands.angles)):
            places = [c.position(a, t) for c, a, t in zip(closing, angles, told, strict=True)]
            rows += _table(f"{name}_places", places)
        calls = ", ".join(f"{{hub_{w}_1, gather_{w}_1, place_{w}_1, close_{w}_1, gap_{w}_1, report_corner_{w}_1}}"
                          for w in vehicle.wheels)  # fmt: skip
        copies = "".join(
            f"    memcpy(to + JN_WHEEL_INPUT_{name}, u + JN_U_WHEEL_{signal}{'_x' * (size > 1)} + w * U_WHEEL, "
            f"{size} * sizeof *to);\n"
            for name, signal in wheel.signals.items() if (size := wheel.inputs.sizes[name])
        )  # fmt: skip
        return (f"{_BANNER}{rows}static const corner_functions corners[N_WHEELS] = {{{calls}}};\n"
                f"static const double steering_ratio = {vehicle['steering_ratio']!r};\n"
                f"static void copy_wheel_inputs(const double *u, int w, double *to) {{\n{copies}}}\n")  # fmt: skip

    def _told(self) -> list[Array]:
        """INNER of the corners with the Pitman arm straight ahead."""
        made = functions(self.wheel.law)
        link = made["steering"]([0.0, 0.0, 0.0], self._vectors["linkage"])
        return [_flat(made["inner"](link, n)) for n in self._vectors["inner numbers"]]

    @cached_property
    def _vectors(self) -> dict[str, Any]:
        return numbers(self.vehicle)


def _flat(values: Any) -> Array:
    return np.array(values, dtype=float).ravel()


def _row(values: Any) -> str:
    return ", ".join(repr(float(v)) for v in _flat(values))


def _array(name: str, values: Any) -> str:
    return f"static const double {name}[] = {{{_row(values)}}};\n"


def _table(name: str, rows: Sequence[Any]) -> str:
    body = ",\n    ".join(f"{{{_row(r)}}}" for r in rows)
    return f"static const double {name}[][{_flat(rows[0]).size}] = {{\n    {body},\n}};\n"
