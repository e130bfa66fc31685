"""Vehicles on any number of axles, made of the HMMWV's: written as a user would write them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from jounce.axles import DEFAULT, Axle
from jounce.data import Entry, load_vehicle

HMMWV = load_vehicle("hmmwv").entries
RACK = {n: e for n, e in load_vehicle("car").entries.items() if n.startswith("steering.")}
#: Distance between axles [m].
SPACING = 1.6
#: Six wheels fill one and a half times four lanes, so that two lanes are copies. The second axle steers half as much,
#: the third, which is not driven, the other way. The second one's drive torque reacts on the uprights.
SIX = (
    Axle("first", steered="pitman"),
    Axle("second", steered="pitman", gain=0.5, drive_reaction="carrier"),
    Axle("third", steered="pitman", gain=-0.3, driven=False),
)


def eight_by_eight() -> tuple[Axle, ...]:
    """Four axles, the first two steered, the second by 0.7 of the first."""
    return (Axle("first", steered="pitman"), Axle("second", steered="pitman", gain=0.7), Axle("third"), Axle("fourth"))


def straight(count: int) -> tuple[Axle, ...]:
    """That many axles, the first steered."""
    return tuple(Axle(f"axle_{k}", steered="none" if k else "pitman") for k in range(count))


def entry_of(axle: Axle, name: str) -> Entry:
    """An entry of the HMMWV's front axle where the axle is steered, else of its rear one."""
    return HMMWV[f"{'front' if axle.steered != 'none' else 'rear'}.{name}"]


def entries(axles: Sequence[Axle]) -> dict[str, float | Entry]:
    """Entries of a vehicle on double wishbones whose axles stand `SPACING` apart about the chassis origin."""
    both = tuple(f"{prefix}{a.name}." for a in DEFAULT for prefix in ("", "chassis.outline."))
    racked = any(axle.steered == "rack" for axle in axles)
    others = (*both, "steering.") if racked else both
    found: dict[str, float | Entry] = {n: e for n, e in HMMWV.items() if not n.startswith(others)}
    own = [n.removeprefix("front.") for n in HMMWV if n.startswith("front.")]
    outline = [n.removeprefix("chassis.outline.front.") for n in HMMWV if n.startswith("chassis.outline.front.")]
    for k, axle in enumerate(axles):
        x = SPACING * ((len(axles) - 1) / 2 - k)
        found |= {f"{axle.name}.{n}": entry_of(axle, n) for n in own} | {f"{axle.name}.origin.x": x}
        found |= {f"chassis.outline.{axle.name}.{n}": HMMWV[f"chassis.outline.front.{n}"] for n in outline}
        found |= {f"chassis.outline.{axle.name}.{p}.x": x for p in ("low", "upper", "roof")}
    shift = SPACING * (len(axles) - 1) / 2 - HMMWV["front.origin.x"].value
    if racked:  # the tierods stand behind the axle
        found |= RACK | {"steering.rack_gain": -0.12, "steering.max_arm_angle": 0.5}
    else:
        found["steering.origin.x"] = HMMWV["steering.origin.x"].value + shift
    for name, power in (("mass", 1), ("inertia.xx", 1), ("inertia.yy", 3), ("inertia.zz", 3)):
        found[f"chassis.{name}"] = HMMWV[f"chassis.{name}"].value * (len(axles) / 2) ** power
    return found


def write(folder: Path, axles: Sequence[Axle], changes: Mapping[str, float] | None = None, name: str = "own") -> Path:
    """A vehicle's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f'name = "{name}"', 'files = ["data.toml"]']
    for axle in axles:
        given = {k: v for k, v in vars(axle).items() if v != getattr(Axle("x"), k)}
        lines += ["[[axles]]", *(f"{k} = {json.dumps(v)}" for k, v in given.items())]
    (folder / "vehicle.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    data = []
    for key, entry in (entries(axles) | dict(changes or {})).items():
        value, shape = (entry.value, entry) if isinstance(entry, Entry) else (entry, like(axles, key))
        shown = shape.items[int(value) - 1] if shape.items else value
        items = f", items = {json.dumps(shape.items)}" if shape.items else ""
        data.append(f'{key} = {{ value = {json.dumps(shown)}, unit = "{shape.unit}", source = "made of the HMMWV", '
                    f'description = {json.dumps(shape.description)}{items} }}')  # fmt: skip
    (folder / "data.toml").write_text("\n".join(data) + "\n", encoding="utf-8")
    return folder


def like(axles: Sequence[Axle], name: str) -> Entry:
    for axle in axles:
        for prefix in ("", "chassis.outline."):
            if name.startswith(f"{prefix}{axle.name}."):
                return HMMWV[f"{prefix}front." + name.removeprefix(f"{prefix}{axle.name}.")]
    return RACK[name] if name in RACK else HMMWV[name]
