"""``impulse_model.h``: what ``impulse.c`` must know of one vehicle, as constants."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from jounce.architecture.tables import MOTORS
from jounce.models.impulse.signals import TERMS, Truck, frame_of
from jounce.signals import SignalTable


def header(of: Truck, signals: SignalTable) -> str:
    """Text of the file."""
    lines = ["/* Emitted by jounce.models.impulse.emit. Do not edit. */", "#ifndef IMPULSE_MODEL_H",
             "#define IMPULSE_MODEL_H", "", f"#define IMP_POWERED {int(of.made.powertrain is not None)}", "",
             "enum {", *(f"    {n} = {v}," for n, v in _sizes(of, signals)),
             *(f"    IMP_BY_{name.upper()} = {k}," for k, name in enumerate(MOTORS)), "    IMP_N_DONE", "};",
             *_arrays(of), "", "#endif", ""]  # fmt: skip
    return "\n".join(lines)


def _sizes(of: Truck, signals: SignalTable) -> Iterator[tuple[str, int]]:
    own, wheels = of.layout, of.model.wheels
    model = own.model
    yield "IMP_N_BODIES", len(model.bodies)
    yield "IMP_N_SPINS", len(own.spins)
    yield "IMP_N_ORIGINAL", len(of.model.bodies)
    yield "IMP_N_COMPONENTS", len(of.made.components)
    yield "IMP_N_MOTORS", len(own.motors)
    yield "IMP_N_DRIVES", max(sum(kind == "drive" for kind, _ in own.motors), 1)
    yield "IMP_N_WHEELS", len(wheels)
    yield "IMP_N_CONTACTS", len(own.contacts)
    yield "IMP_N_NUMBERS", len(own.numbers)
    yield "IMP_N_STATES", own.states
    yield "IMP_N_WORK", own.work
    yield "IMP_N_ROWS", own.hard + len(model.springs) + 3 * len(own.contacts)
    size = 6 * len(model.bodies) + model.rows
    yield "IMP_N_DENSE", size * (size + 1)
    yield "IMP_N_TERMS", TERMS
    yield "IMP_STEERED", int(of.steered)
    yield "IMP_FRAME", frame_of(of)
    first = next(iter(of.made.components))
    yield "IMP_P_COMPONENT", signals.by_name(f"{first}.mass").index
    yield "IMP_P_JOINT", _first(signals.parameters, "joint_")
    yield "IMP_P_SPRING", _first(signals.parameters, "spring_")
    yield "IMP_P_WHEEL", _first(signals.parameters, "wheel_")
    train = of.made.powertrain
    yield "IMP_N_GEARS", len(train.ratios) if train else 0
    yield "IMP_N_CURVE", len(train.curve) if train else 0
    yield "IMP_P_TRAIN", _first(signals.parameters, "powertrain.")
    yield "IMP_U_PEDALS", _first(signals.inputs, "throttle")
    yield "IMP_Y_TRAIN", _first(signals.outputs, "engine.speed")
    front = max((w.centre[0] - w.radius for w in wheels), default=0.0)
    yield "IMP_N_FRONT", sum(w.centre[0] > front for w in wheels)
    yield "IMP_U_STEER", _first(signals.inputs, "steering_wheel_angle")
    yield "IMP_U_WHEEL", _first(signals.inputs, "wheel_")
    yield "IMP_U_MOTOR", _first(signals.inputs, "motor_")
    yield "IMP_Y_BODY", _first(signals.outputs, "body_")
    yield "IMP_Y_WHEEL", _first(signals.outputs, "wheel_")
    yield "IMP_Y_JOINT", _first(signals.outputs, "joint_")
    yield "IMP_Y_SPRING", _first(signals.outputs, "spring_")


def _first(scalars: Sequence, prefix: str) -> int:  # type: ignore[type-arg]
    return next((int(s.index) for s in scalars if s.name.startswith(prefix)), 0)


def _arrays(of: Truck) -> Iterator[str]:
    own, model, wheels = of.layout, of.model, of.model.wheels
    place = {name: k for k, body in enumerate(model.bodies) for name in body.members or (body.name,)}
    components = list(of.made.components)
    spun = {wheels[k].body: s for s, k in enumerate(own.spins)}
    carrier = {wheels[k].body: wheels[k].carrier for k in own.spins}
    kept = [k for k in range(len(model.bodies)) if k not in spun]
    merged = [kept.index(carrier.get(k, k)) for k in range(len(model.bodies))]
    starts = [sum(len(w.offsets) for w in wheels[:k]) for k in range(len(wheels))]
    contact_wheel = [k for k, w in enumerate(wheels) for _ in w.offsets]
    rows = [j.name for j in own.model.joints for _ in range(j.rows)]
    rows += [f"{kind} of {model.motors[k].name if kind == 'motor' else wheels[k].name}" for kind, k in own.motors]
    rows += [limit.name for limit in model.limits]
    yield ints("IMP_TABLE", own.topology)
    yield ints("IMP_COMPONENT", (place[name] for name in components))
    yield ints("IMP_FIRST", (components.index(next(n for n in components if place[n] == k))
                              for k in range(len(model.bodies))))  # fmt: skip
    yield ints("IMP_MERGED", merged)
    yield ints("IMP_SPIN_OF", (spun.get(k, -1) for k in range(len(model.bodies))))
    yield ints("IMP_SPIN_WHEEL", own.spins)
    yield ints("IMP_WHEEL_OF", contact_wheel)
    yield _table("int", "IMP_WHEEL", [(w.body, merged[w.body], own.spins.index(k), starts[k], len(w.offsets))
                                      for k, w in enumerate(wheels)], 5)  # fmt: skip
    yield ints("IMP_DRIVEN", (int(w.driven) for w in wheels))
    yield _table("int", "IMP_MOTOR", [(MOTORS.index(kind), k) for kind, k in own.motors], 2)
    axes = [model.motors[k].axis if kind == "motor" else wheels[k].axis for kind, k in own.motors]
    yield _table("double", "IMP_MOTOR_AXIS", axes)
    yield _reals("IMP_MOTOR_BOUND", (m.bound for m in model.motors))
    yield _table("double", "IMP_SPIN_AXIS", [wheels[k].axis for k in own.spins])
    yield _table("double", "IMP_WHEEL_AXIS", [w.axis for w in wheels])
    yield _reals("IMP_OFFSET", (o for w in wheels for o in w.offsets))
    yield _table("double", "IMP_JOINT_AXIS", [j.axis for j in own.model.joints])
    yield _table("double", "IMP_JOINT_STEER", [j.steer for j in own.model.joints])
    along = [(0.0, 0.0, 0.0) if s.along is None else s.along for s in model.springs]
    yield _table("double", "IMP_SPRING_ALONG", along)
    yield ints("IMP_SEATED", (int(s.seated) for s in model.springs))
    drawn = [(*s.point_a, *s.point_b, *numbers[6:]) for s, numbers in zip(model.limits, own.limits, strict=True)]
    yield _table("double", "IMP_LIMIT_DRAWN", drawn, 14)
    yield _names("IMP_BODY_NAME", (b.name for b in own.model.bodies))
    yield _names("IMP_ORIGINAL_NAME", (b.name for b in model.bodies))
    yield _names("IMP_WHEEL_NAME", (w.name for w in wheels))
    yield _names("IMP_ROW_NAME", rows)
    yield _names("IMP_JOINT_NAME", (j.name for j in own.model.joints))
    yield _names("IMP_SPRING_NAME", (s.name for s in model.springs))


def _wrapped(items: Iterable[str]) -> str:
    return textwrap.fill(", ".join(items), 116, initial_indent="    ", subsequent_indent="    ")


def ints(name: str, values: Iterable[int]) -> str:
    """C of an array, with a 0 more than there are so that none is empty."""
    return f"static const int {name}[] = {{\n{_wrapped(str(int(v)) for v in (*values, 0))}\n}};"


def _real(value: float) -> str:
    """Of a limit that there is not, a number that is never reached: C has no name for infinity in constants."""
    return repr(min(max(float(value), -1e30), 1e30))


def _reals(name: str, values: Iterable[float]) -> str:
    return f"static const double {name}[] = {{\n{_wrapped(_real(v) for v in (*values, 0.0))}\n}};"


def _table(kind: str, name: str, rows: Sequence[Iterable[float]], width: int = 3) -> str:
    """One row more than there are, so that no array is empty."""
    texts = [[str(int(v)) if kind == "int" else _real(v) for v in row] for row in rows]
    width = len(texts[0]) if texts else width
    body = ",\n".join(f"    {{{', '.join(row)}}}" for row in (*texts, ["0"] * width))
    return f"static const {kind} {name}[][{width}] = {{\n{body}\n}};"


def _names(name: str, values: Iterable[str]) -> str:
    body = ",\n".join(f'    "{v}"' for v in (*values, ""))
    return f"static const char *const {name}[] = {{\n{body}\n}};"
