"""The C that depends on a vehicle's axles and the law of its tires: lanes, states, rows of their parameters.

Made from the signal table, without CasADi.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from jounce.axles import Axle
from jounce.contact import states as wheel_states
from jounce.contact import tires
from jounce.contact.tires.coefficients import JUDGED, RANGES, ROLLING
from jounce.contact.tires.law import GEOMETRY
from jounce.contact.tires.mixed import numbers_of
from jounce.data import Vehicle
from jounce.math.layout import Layout
from jounce.models.double_wishbone import powered
from jounce.models.double_wishbone.arrange import gear_of, variant_of
from jounce.models.double_wishbone.lanes import Lanes
from jounce.powertrain.kinds import Powertrain
from jounce.signals import SignalTable
from jounce.suspension.kinds import RISING, bodies_of, ends_of, suspension_of
from jounce.terrain.signals import takes_soil

#: What stands for an axle, and for the first steered one, in the names of entries that a function of an axle reads.
AXLE, FIRST_STEERED = "AXLE", "FIRST"
#: The point of an axle that a steering linkage moves.
INNER_END = "TIEROD_C"
GENERATOR = "jounce.models.double_wishbone.axles_c"
#: The function that makes the numbers of a wheel; its entries are named as the law names them.
WHEEL = "axle_wheel"
#: First part of the names of the files with the functions of axles whose wheels share a body.
PAIRS = "pair"
#: States of the chassis, as `jounce.contact.wheel.CHASSIS` has them.
CHASSIS = {"position": 3, "quaternion": 4, "angular": 3, "linear": 3}
#: States of a wheel before those of its tire and brake, and what the model remembers of the steering.
OF_WHEEL, MEMORY = ("spin", "theta", "theta_rate", "spin_rate"), {"arm_rate": 1, "arm_acceleration": 1, "arm_angle": 1}


def states(lanes: Lanes, inner: Iterable[str], powertrain: Powertrain | None = None) -> Layout:
    """The states inside the model: of a wheel there is one for each lane.

    In this order the lane functions read them as they are. The last ones, MEMORY and what a gearbox's controller
    remembers, change only between ticks.
    """
    more, remembered = (powered.states_size(powertrain), powered.memory(powertrain)) if powertrain else ({}, {})
    return Layout(**CHASSIS, **dict.fromkeys((*OF_WHEEL, *inner), len(lanes)), **more, **MEMORY, **remembered)


def identifier(name: str) -> str:
    """A name as part of one in C."""
    return re.sub("[^0-9A-Za-z]", "_", name)


def enumerators(prefix: str, layout: Layout) -> list[str]:
    """Lines of a C enum with the place of every part, and the size."""
    lines = [f"    JN_{prefix}_{identifier(k)} = {at}," for k, at in layout.first.items()]
    return [*lines, f"    JN_{prefix}_N = {layout.size},"]


def lanes_of(vehicle: Vehicle) -> Lanes:
    """The lanes of a vehicle with its entries in order."""
    return Lanes(vehicle.axles, tuple(variant_of(vehicle, axle).name for axle in vehicle.axles))


def header(vehicle: Vehicle, table: SignalTable, inner: Iterable[str], more: Iterable[str] = ()) -> str:
    """Text of double_wishbone_axles.h, for a table whose last parameters are the vehicle's entries.

    ``inner``: states of a wheel's tire and brake; ``more``: further macros.
    """
    lanes, wheels = lanes_of(vehicle), vehicle.wheels
    lines = [f"    JN_AXLES = {len(vehicle.axles)},", f"    JN_WHEELS = {len(wheels)},"]
    lines += [f"    JN_CORNERS = {len(lanes)}, /* lanes */", f"    JN_SPREAD = {int(not lanes.plain)},"]
    lines += ["    /* from one wheel's signals to the next one's, and the places of the first wheel's */"]
    for letter, group in (("U", table.inputs), ("Y", table.outputs)):
        places = [{n: s.index for s in group if (n := s.name.removeprefix(f"wheel_{w}.")) != s.name} for w in wheels]
        lines.append(f"    {letter}_WHEEL = {len(places[0])},")
        lines += [f"    JN_{letter}_WHEEL_{identifier(name)} = {at}," for name, at in places[0].items()]
    layout = states(lanes, inner, powered.powertrain(vehicle))
    lines += enumerators("X", layout)
    lines += [f"    JN_FIRST_INNER = {layout.first[OF_WHEEL[-1]] + len(lanes)}, /* state of tires and brakes */"]
    lines += [f"    JN_FIRST_MEMORY = {layout.first[next(iter(MEMORY))]},"]
    lines[-1] = lines[-1].rstrip(",")
    body = "\n".join(lines)
    soft = ["#define JN_SOIL 1"] if takes_soil(tires.find(vehicle.tire)) else []
    macros = "\n".join((*lanes.macros(wheels), *_half_shafts(vehicle, lanes), *_duals(vehicle), *soft, *more))
    return f"/* Emitted by {GENERATOR}; do not edit. */\n{macros}\n#define JN_STRIDE JN_CORNERS\nenum {{\n{body}\n}};\n"


def _duals(vehicle: Vehicle) -> list[str]:
    """C lines with the tires of each wheel of an axle, where any has two."""
    if not any(axle.dual for axle in vehicle.axles):
        return []
    each = ", ".join(str(2 if axle.dual else 1) for axle in vehicle.axles)
    return ["#define JN_DUAL 1", f"static const int jn_tires_of[] = {{{each}}};",
            "#define JN_TIRES(axle) jn_tires_of[axle]"]  # fmt: skip


def _half_shafts(vehicle: Vehicle, lanes: Lanes) -> list[str]:
    """C lines with the lane of the wheel at each half shaft, where there is a powertrain."""
    if not vehicle.powertrain:
        return []
    at = ", ".join(str(lanes.lane_of[w] if w >= 0 else w) for w in powered.driven(vehicle))
    return ["#define JN_POWERTRAIN 1", f"static const int jn_driven[] = {{{at}}};"]


def tables(vehicle: Vehicle, table: SignalTable, more: str = "") -> str:
    """Text of double_wishbone_axles.inc: which parameters of axles and tires must rise, and the like."""
    lanes, place = lanes_of(vehicle), {s.name: s.index for s in table.parameters}
    apart, rising, bodies, axles = [], [], [place[f"{b}.inertia.xx"] for b in ("chassis", "wheel")], []
    for k, axle in enumerate(vehicle.axles):
        kind, at = suspension_of(axle.kind), _places(axle, place)
        points = (*kind.apart, *(ends_of(at) if kind.embedded else ()))
        apart += [f'{{{at[f"{a}.x"]}, {at[f"{b}.x"]}, "{what}", "{axle.name}"}}' for a, b, what in points
                  if f"{a}.x" in at and f"{b}.x" in at]  # fmt: skip
        rising += [f'{{{at[high]}, {at[low]}, "{expected}"}}' for high, low, expected in RISING]
        bodies += [at[f"{body}.inertia.xx"] for body in kind.bodies or bodies_of(at)]
        rows = [at[n] for n in ("spring.k1", "spring.k3", "spring.rest_length", "spring.min_length", "stop.depth.0",
                                "stop.force.0", "shock.end_stiffness")]  # fmt: skip
        dampers = [at[f"shock.{n}"] for n in ("compression", "rebound", "bump_compression", "bump_rebound",
                                              "end_damping")]  # fmt: skip
        loops = ", ".join(f'"{name}"' for name in kind.margins)
        numbers = [lanes.lane_of[2 * k], *rows]
        axles.append(f"{{{_row(numbers)}, {{{_row(dampers)}}}, {{{loops}}}}}")
    law = tires.find(vehicle.tire)
    sets = [(vehicle.tires(axle), k) for k, axle in enumerate(vehicle.axles)]
    if len(vehicle.sets_of_tires) == 1:
        sets = [(sets[0][0], -1)]
    laws = [tires.own_law(law, vehicle.entries, of) for of, _ in sets]
    rising += [f'{{{place[f"{of}.{high}"]}, {place[f"{of}.{low}"]}, "expected a value above {of}.{low}"}}'
               for (of, _), own in zip(sets, laws, strict=True) for low, high in (*own.rising, GEOMETRY[::-1])]
    stiff = [f'{{{place[f"{of}.{s.parameter}"]}, {1 + (s.kind == "spring")}, {int(s.where == "tread")}, '
             f"{s.factor!r}, {s.power}, {axle}}}"
             for (of, axle), own in zip(sets, laws, strict=True) for s in own.stiffnesses]  # fmt: skip
    judged, factors = _factors(tuple((of, own) for (of, _), own in zip(sets, laws, strict=True)), place)
    parts = (*judged, ("jn_factor jn_factors", factors),
             ("jn_apart jn_aparts", apart), ("jn_rising jn_risings", rising), ("jn_axle jn_axles", axles),
             ("int jn_bodies", [_row(bodies)]), ("jn_stiffness jn_tire_stiffness", [*stiff, "{-1, 0, 0, 0.0, 0, -1}"]),
             ("double jn_state_starts", _starts(vehicle)))  # fmt: skip
    text = "\n".join(f"static const {name}[] = {{\n    {_lines(rows)},\n}};" for name, rows in parts)
    rolling = "\n".join(f"#define JN_{n}_ROLLING {v!r}" for n, v in zip(("LEAST", "MOST"), ROLLING, strict=True))
    return f"/* Emitted by {GENERATOR}; do not edit. */\n{rolling}\n{text}\n{more}"


def _factors(
    sets: Iterable[tuple[str, tires.Law]], place: Mapping[str, int]
) -> tuple[list[tuple[str, list[str]]], list[str]]:
    """What keeps its sign in the tires of each set, which begin with a name: arrays of rows, and rows of jn_factor."""
    judged, rows = [], []
    for k, (of, law) in enumerate(sets):
        at = {name: place[f"{of}.{name}"] for name in law.parameters} if law.factors else {}
        if at:
            judged.append((f"int jn_judged_{k}", [_row(at[name] for name in JUDGED)]))
        for f in law.factors:
            terms = [(at[name], times, power) for name, times, power in f.terms]
            numbers, times, powers = zip(*terms, *[(-1, 0.0, 0)] * (2 - len(terms)), strict=True)
            first = at[f.first] if f.first else -1
            rows.append(f'{{"{f.what}", {RANGES.index(f.over)}, {first}, {{{_row(numbers)}}}, {{{_row(times)}}}, '
                        f"{{{_row(powers)}}}, {f.least!r}, {int(f.waves)}, jn_judged_{k}}}")
    return judged, [*rows, "{NULL, 0, -1, {-1, -1}, {0.0, 0.0}, {0, 0}, 0.0, 0, NULL}"]


def inner(vehicle: Vehicle) -> tuple[str, ...]:
    """Names in C of the states of a wheel's tire and brake."""
    return tuple(identifier(state.name) for state in wheel_states.inner(tires.find(vehicle.tire)))


def _starts(vehicle: Vehicle) -> list[str]:
    """Where every state begins that the start does not solve for, one line for each name."""
    own = {identifier(s.name): s.start for s in wheel_states.inner(tires.find(vehicle.tire))}
    sizes = states(lanes_of(vehicle), own, powered.powertrain(vehicle)).sizes
    return [", ".join([repr(float(own.get(name, 0.0)))] * size) for name, size in sizes.items()]


def derivation(vehicle: Vehicle, table: SignalTable, entries: Mapping[str, Sequence[str]], own: str = "") -> str:
    """Text of double_wishbone_derive.inc where each axle has functions of its own.

    ``entries``: function -> the entries that it reads, of the vehicle or of `AXLE`, in its order; ``own``: further text
    (`jounce.models.double_wishbone.kinds_c.derivation`).
    """
    place, gear = {s.name: s.index for s in table.parameters}, gear_of(vehicle.axles)
    first = next((a.name for a in vehicle.axles if a.steered != "none"), "")
    rows: list[str] = []

    def part(function: str, axle: Axle | None, number: int = 0, inner: str = INNER_END,
             own: Mapping[str, str] | None = None) -> str:
        """Initializer of a jn_part; its rows go into an array of their own. ``own``: other names of entries."""
        if function not in entries:
            return "{NULL, 0}"
        found = ((own or {}).get(name) or _named(name, axle, first).replace(f".{INNER_END}.", f".{inner}.")
                 for name in entries[function])  # fmt: skip
        rows.append(f"static const int rows_{function}_{number}[] = {{{_row(place[name] for name in found)}}};")
        return f"{{rows_{function}_{number}, {len(entries[function])}}}"

    axles, law = [], tires.find(vehicle.tire)
    for k, axle in enumerate(vehicle.axles):
        variant = variant_of(vehicle, axle)
        kind, mover = f"axle_{variant.name}", f"axle_{axle.steered}" if variant.inner else ""
        parts = ", ".join((part(kind, axle, k), part(mover, axle, k, variant.inner), part("axle_outline", axle, k)))
        own_tires = [numbers_of(law, side, vehicle.tires(axle), place) for side in (1.0, -1.0)]
        of_wheels = ", ".join(part(WHEEL, None, 2 * k + right, own=names) for right, names in enumerate(own_tires))
        functions = f"numbers_{variant.name}, {f'{mover}_1' if mover else 'NULL'}"
        axles.append(f"{{{functions}, {parts}, {{{of_wheels}}}, {float(axle.driven)}, {axle.gain!r}, {axle.dual!r}}}")
    common = part(f"vehicle_{gear}", None)
    train = powered.powertrain(vehicle)
    powertrain = _powertrain(entries[train.kind.function], place) if train else ""
    text = "\n".join(rows)
    return (
        f"/* Emitted by {GENERATOR}; do not edit. */\n"
        f'#include "axles_scalar.inc"\n#include "axles_numbers.inc"\n{own}{text}\n\n'
        f"static const jn_part common_part = {common};\n{powertrain}"
        f"static const jn_derivation derivations[JN_AXLES] = {{\n    {_lines(axles)},\n}};\n"
        f"#define JN_DERIVE_COMMON vehicle_{gear}_1\n"
        '#include "axles_derive.inc"\n'
    )


def _named(name: str, axle: Axle | None, first: str) -> str:
    """An entry's name in the vehicle."""
    for general, own in ((AXLE, axle.name if axle else ""), (FIRST_STEERED, first)):
        name = re.sub(rf"^(chassis\.outline\.|){general}\.", rf"\g<1>{own}.", name)
    return name


def _powertrain(entries: Sequence[str], place: Mapping[str, int]) -> str:
    """The parameters that the powertrain's numbers are made of."""
    rows = _row(place[name] for name in entries)
    return (
        f"static const int rows_powertrain[] = {{{rows}}};\n"
        f"static const jn_part powertrain_part = {{rows_powertrain, {len(entries)}}};\n"
    )


def whole_derivation(vehicle: Vehicle, table: SignalTable, entries: Sequence[str] = ()) -> str:
    """Text of double_wishbone_derive.inc where one function makes the numbers of all axles.

    The entries of the vehicle data are the last parameters.

    ``entries``: those that the powertrain's numbers are made of, where there is one.
    """
    powertrain = _powertrain(entries, {s.name: s.index for s in table.parameters}) if entries else ""
    first = len(table.parameters) - len(vehicle.entries)
    return (
        f"/* Emitted by {GENERATOR}; do not edit. */\n"
        f"{powertrain}"
        "static void derive_axles(const double *p, double *d) {\n"
        f"    derive_1(p + {first}, d + D_CORNERS, d + D_AXIAL, d + D_WHEELS, d + D_INNER, d + D_OUTLINE,\n"
        "             d + D_LINKAGE, d + D_CHASSIS, d + D_CONTACT);\n"
        "}\n"
    )


def _places(axle: Axle, place: dict[str, int]) -> dict[str, int]:
    prefix = f"{axle.name}."
    return {name.removeprefix(prefix): at for name, at in place.items() if name.startswith(prefix)}


def _row(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def _lines(rows: Sequence[str]) -> str:
    return ",\n    ".join(rows)

