"""What a powertrain adds to the model of a vehicle: signals, states, steps of the recursion, and their references."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from jounce.axles import AXLES, MOST, WHEELS, Axle
from jounce.data import Vehicle
from jounce.dynamics.schedule import Call, Glue, Step, Vector, made, numbers
from jounce.models.double_wishbone.schedule import EVALUATION
from jounce.powertrain.kinds import ELECTRIC, Powertrain, powertrain_kind
from jounce.powertrain.layouts import BEYOND, COLUMN_STATES
from jounce.powertrain.train import TWO, train_of
from jounce.references import Kind, Ledger
from jounce.signals import Signal, State

__all__ = ["AGAIN", "ARM", "ARM_INERTIA", "LEDGER", "RATES", "VECTORS", "driven", "evaluation", "inputs", "ledger",
           "memory", "of_first", "outputs", "powertrain", "states", "states_size", "wheel_inputs",
           "wheel_outputs"]  # fmt: skip

#: References of what a powertrain adds.
LEDGER = Path(__file__).parent / "references_powertrain.txt"
#: First reference of what a wheel has of it, and of the rest; those of wheels have whole strides of their own.
_FIRST: dict[Kind, tuple[int, int]] = {
    "input": (1_450, 1_460), "output": (14_900, 14_920), "parameter": (190_000, 190_000), "state": (290_000, 290_000)
}  # fmt: skip
_END: dict[Kind, int] = {"input": 1_500, "output": 15_000, "parameter": 200_000, "state": 300_000}
#: Vectors beside those of the vehicle's own schedule.
VECTORS: dict[str, Vector] = {
    "shaft numbers": numbers("D_SHAFTS", per_wheel=True),
    "half speed": made("half_speed"),
    "port": made("port"),
    "arm port": made("arm_port"),
    "arm inertia": made("arm_inertia"),
    "wheel loads": made("wheel + JN_CORNERS * JN_WHEEL_loads"),
}
#: State -> C expression of its rates.
RATES = {"powertrain": "e->power", "column": "e->column"}


def powertrain(vehicle: Vehicle) -> Powertrain | None:
    """Its kind and its driven axles; None without a powertrain. Raises AxleError."""
    kind = powertrain_kind(vehicle.powertrain)
    return Powertrain(kind, train_of(vehicle.axles)) if kind else None


def states(of: Powertrain) -> tuple[State, ...]:
    """The states of powertrain and steering column, behind those of the wheels."""
    return tuple(replace(s, name=f"state.{s.name}") for s in (*of.states, *COLUMN_STATES))


def states_size(of: Powertrain) -> dict[str, int]:
    """Parts of the state vector, by name, that the states are."""
    return {"powertrain": len(of.states), "column": len(COLUMN_STATES)}


def memory(of: Powertrain) -> dict[str, int]:
    """The same of what the powertrain's controller remembers."""
    return {"gearbox": of.kind.memory.size}


def driven(vehicle: Vehicle) -> tuple[int, ...]:
    """Number of the wheel at each of the half shafts, -1 where there is none."""
    wheels = [2 * k + side for k, axle in enumerate(vehicle.axles) if axle.driven for side in (0, 1)]
    return (*wheels, *[-1] * (TWO.shafts - len(wheels)))


def evaluation() -> tuple[Step, ...]:
    """The recursion's steps from states to accelerations, with the powertrain's between them."""
    steps: list[Step] = []
    given = "fill_given(x, u, d, e->half_shafts.given);"
    speeds = "half_shaft_speeds(e->half_speed, e->half_shafts.speed);"
    for step in EVALUATION:
        match step:
            case Glue(value="fill_wheel_inputs(u, d, e->wheel_inputs);"):
                # chains of divisions, beside those of the steering linkage
                steps += [Glue(given, given), step, Glue("press_brakes(x, u, d, e->wheel_inputs);",
                                     "press_brakes(x, u, d, e->wheel_inputs);\n"
                                     "    press_brakes_forward(x, u, d, d_x, d_u, d_e->wheel_inputs);")]  # fmt: skip
            case Call("wheel"):
                # the wheels do not read what discs and driveline begin with, whose long chains run beside them
                steps += [Call("half_speed", ("corner", "corner state", "arm", "shaft numbers"), ("half speed",)),
                          Glue(f"{speeds}\n    fill_held(x, d, &e->half_shafts);\n    JN_NAME(brake_discs)(x, d, e);",
                               f"{speeds}\n    JN_NAME(brake_discs_forward)(x, d, d_x, e, d_e);"),
                          step,
                          Glue("JN_NAME(take_discs)(d, e);\n    JN_NAME(drive_half_shafts)(x, d, e);",
                               "JN_NAME(take_discs)(d, e);\n    JN_NAME(take_discs)(d, d_e);\n"
                               "    drive_half_shafts_forward(x, d, d_x, d_u, e, d_e);")]  # fmt: skip
            case Call("chassis"):
                steps += [Call("port", ("corner", "articulated_body", "axial", "angular", "shaft numbers"), ("port",)),
                          Glue("react_on_chassis(e->power, d, loads);\n"
                               "    if (full == BY_TORQUE) JN_NAME(arm_ports)(arm, x, d, e);\n"
                               "    JN_NAME(join)(x, u, d, total, loads, full, e);",
                               "react_on_chassis(e->power, d, loads);\n"
                               "    react_on_chassis(d_e->power, d, d_loads);\n"
                               "    join_forward(x, d, d_x, total, d_total, loads, d_loads, e, d_e);")]  # fmt: skip
            case _:
                steps.append(step)
    return tuple(steps)


#: The corner again, for another acceleration of the Pitman arm; the arm's inertia where a function gives it, which it
#: does for double wishbones; and what the arm shows to the column.
AGAIN = tuple(s for s in EVALUATION if isinstance(s, Call) and s.function in ("steering", "inner", "corner"))
ARM_INERTIA = (Call("arm_inertia", ("corner state", "inner", "corner numbers"), ("arm inertia",)),)
ARM = (Call("arm_port", ("corner", "wheel loads", "articulated_body", "axial", "shaft numbers"), ("arm port",)),)


def inputs(of: Powertrain) -> Iterator[Signal]:
    """Pedals, selector and switches."""

    def share(name: str, text: str, start: float = 0.0) -> Signal:
        return Signal(name, "input", "1", text, start=(start,), minimum=-BEYOND, maximum=1.0 + BEYOND, frame="")

    def choice(name: str, low: float, high: float, start: float, text: str) -> Signal:
        return Signal(name, "input", "1", f"{text}; the nearest whole number counts", start=(start,),
                      minimum=low - BEYOND, maximum=high + BEYOND, frame="")  # fmt: skip

    yield share("throttle", "accelerator pedal, 0 to 1")
    yield share("brake_pedal", "brake pedal, 0 to 1")
    yield share("hand_brake", "hand brake, 0 to 1, at the wheels behind the first axle")
    yield choice("gear_selector", -2.0, 1.0, 1.0, "selector: -2 P, -1 R, 0 N, 1 D")
    electric = of.kind is ELECTRIC
    if electric:
        yield share("regeneration", "share of the motors' regeneration that acts, 0 to 1", 1.0)
    else:
        yield choice("gear_request", 0.0, 6.0, 0.0, "gear asked by hand in D, 0: automatic")
        yield choice("transfer_range", 0.0, 4.0, 1.0, "transfer case: 1 high, 2 high and locked, 3 low and locked, 4 "
                     "neutral, 0 as it is; changes below 1 m/s with the gearbox in neutral")  # fmt: skip
    for axle in of.train.axles:
        yield share(f"{axle}.diff_lock", f"lock of the {axle} differential, 0 to 1")
    if not electric:
        yield share("centre.diff_lock", "lock of the centre differential, 0 to 1")
        for split in of.train.through:
            yield share(f"{split.axle}.interaxle_lock", f"lock of the inter-axle differential at {split.axle}, 0 to 1")
        yield share("engine.run", "ignition: 1 the engine may run", 1.0)
        yield share("engine.start", "starter")
    yield Signal("steering_wheel_torque", "input", "N.m", "driver's torque on the steering wheel, left positive, used "
                 "where steering.mode is TORQUE", minimum=-200.0, maximum=200.0, frame="steering", nominal=10.0,
                 used_where=("steering.mode", "TORQUE"))  # fmt: skip


def wheel_inputs(prefix: str) -> Iterator[Signal]:
    """Brake pressures of one wheel, for anti-lock and stability controllers."""
    yield Signal(f"{prefix}.brake_pressure_limit", "input", "Pa", "most of the circuit's pressure that gets to the "
                 "wheel", start=(1e9,), minimum=-1.0, maximum=1.01e9, frame="", nominal=1e6)  # fmt: skip
    yield Signal(f"{prefix}.brake_pressure", "input", "Pa", "pressure added at the wheel", minimum=-1.0, maximum=1e9,
                 frame="", nominal=1e6)  # fmt: skip


def wheel_outputs(prefix: str) -> Iterator[Signal]:
    """Torques and pressure of one wheel."""
    yield Signal(f"{prefix}.drive_torque_total", "output", "N.m", "drive torque on the wheel, powertrain and input",
                 frame="wheel", nominal=1e3)  # fmt: skip
    yield Signal(f"{prefix}.brake_torque_total", "output", "N.m", "torque of the brake on the wheel, against its spin",
                 frame="wheel", nominal=1e3)  # fmt: skip
    yield Signal(f"{prefix}.brake_pressure_actual", "output", "Pa", "pressure at the wheel's brake", frame="",
                 nominal=1e6)  # fmt: skip


#: Name, unit, nominal and meaning of the outputs of each kind, then of those that every powertrain has.
_OUTPUTS = {
    "automatic": (
        ("engine.speed", "rad/s", 100.0, "engine speed"),
        ("engine.torque", "N.m", 100.0, "torque of engine and starter, drag and fuel, without accessories"),
        ("engine.fuel_rate", "kg/s", 1e-3, "fuel flow"),
        ("engine.fuel", "kg", 0.1, "fuel burnt since the start"),
        ("gearbox.gear", "1", 1.0, "gear: -1 R, 0 N or P, 1 and up"),
        ("gearbox.turbine_speed", "rad/s", 100.0, "gearbox input speed"),
        ("gearbox.torque", "N.m", 1e3, "torque at the gearbox's output"),
        ("gearbox.refused", "1", 1.0, "1 while a wish is refused: P or R above 1 m/s, which leaves N; D or a "
         "gear too low for the speed; a gear above the highest; a range that is not asked for at rest in N"),
        ("converter.speed_ratio", "1", 1.0, "turbine over pump speed, within -1 to 2"),
        ("converter.lock", "1", 1.0, "share of its capacity that the lock-up clutch has"),
        ("driveline.output_speed", "rad/s", 100.0, "speed of the gearbox's output shaft"),
        ("energy.driveline", "J", 1e5, "energy in engine, converter, shafts and their wind-up"),
        ("energy.engine", "J", 1e5, "work of engine and starter since the start"),
        ("energy.losses", "J", 1e5, "work lost in accessories, converter, clutches, gears and differentials"),
        ("energy.delivered", "J", 1e5, "work at the half shafts since the start"),
    ),
    "electric": (
        *((f"motor.{axle}.{name}", unit, 100.0, f"{text} of the {axle} axle's motor, or {of} of both")
          for axle in AXLES for name, unit, text, of in (("speed", "rad/s", "speed", "mean"),
                                                         ("torque", "N.m", "torque", "sum"))),
        ("battery.power", "W", 1e4, "power that the battery gives, below 0 what it takes"),
        ("battery.charge", "1", 1.0, "share of its capacity that the battery has"),
        ("gearbox.gear", "1", 1.0, "direction: -1 R, 0 N or P, 1 D"),
        ("gearbox.refused", "1", 1.0, "1 while a wish is refused: P or R above 1 m/s, which leaves N"),
        ("energy.driveline", "J", 1e5, "energy in rotors, carriers and wind-ups"),
        ("energy.battery", "J", 1e5, "energy that the battery has given since the start, less what it took back"),
        ("energy.recovered", "J", 1e5, "energy that it took back"),
        ("energy.losses", "J", 1e5, "heat of motors, gears and differentials, and what else the battery feeds"),
        ("energy.delivered", "J", 1e5, "work at the half shafts since the start"),
    ),
}  # fmt: skip
_OF_STEERING = (
    ("steering.wheel_torque", "N.m", 10.0, "driver's torque on the steering wheel, left positive"),
    ("steering.wheel_angle", "rad", 1.0, "angle of the steering wheel, left positive"),
)


def outputs(of: Powertrain) -> Iterator[Signal]:
    """What the driver and controllers read."""
    for name, unit, nominal, text in (*_OUTPUTS[of.kind.name], *_OF_STEERING):
        yield Signal(name, "output", unit, text, frame="", nominal=nominal)


#: Inputs of an axle among more than two driven ones. Those of the first have references in the ledger; each further
#: axle's are as many strides higher.
_INPUT = re.compile(r"axle_(\d+)\.(diff_lock|interaxle_lock)")
#: What else such an axle has. The ledger has it of every axle that may be.
_OTHER = re.compile(r"((?:state\.)?differential\.axle_)\d+(\.\w+)")


def of_first(axles: Sequence[Axle], name: str) -> tuple[str, int] | None:
    """(input of a driven axle as the front one's, by how many strides its reference is higher); None for others."""
    if sum(axle.driven for axle in axles) <= len(TWO.axles) or not (found := _INPUT.fullmatch(name)):
        return None
    return f"{TWO.axles[0]}.{found.group(2)}", int(found.group(1)) - 1


def ledger(vehicles: Iterable[Vehicle]) -> Ledger:
    """The committed ledger with the names that it lacks of vehicles with a powertrain."""
    known = dict(Ledger.read(LEDGER).references) if LEDGER.exists() else {}
    for vehicle in vehicles:
        _reference(vehicle, known)
    return Ledger(known)


def _reference(vehicle: Vehicle, known: dict[str, int]) -> None:
    """Adds what is missing of a vehicle."""
    of = powertrain(vehicle)
    if of is None:
        return
    ins = (*chain(*(wheel_inputs(f"wheel_{w}") for w in WHEELS)), *inputs(of))
    outs = (*chain(*(wheel_outputs(f"wheel_{w}") for w in WHEELS)), *outputs(of))
    groups: tuple[tuple[Kind, Iterable[str]], ...] = (
        ("input", (s.name for s in ins)), ("output", (s.name for s in outs)), ("parameter", vehicle.powertrain),
        ("state", (s.name for s in states(of))),
    )  # fmt: skip
    for kind, names in groups:
        of_wheels, of_others = _FIRST[kind]
        for own in names:
            name, _ = of_first(vehicle.axles, own) or (own, 0)
            each = _OTHER.fullmatch(name)
            for every in [f"{each.group(1)}{k}{each.group(2)}" for k in range(1, MOST + 1)] if each else [name]:
                low, high = (of_wheels, of_others) if every.startswith("wheel_") else (of_others, _END[kind])
                taken = (r for r in known.values() if low <= r < high)
                known.setdefault(every, max(taken, default=low - 1) + 1)
