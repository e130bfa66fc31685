"""Architectures that nobody meant: one line with file, entry, value and what is allowed, or a finite vehicle."""

from __future__ import annotations

import json
import math
import random
import tomllib
import warnings
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from jounce.architecture import composite
from jounce.architecture.load import architecture_file
from jounce.architecture.read import ArchitectureError
from jounce.architecture.tables import LayoutError
from jounce.architecture.trim import trimmed
from jounce.models.impulse import emit
from jounce.models.impulse.signals import table, truck

ODD = [math.nan, math.inf, -math.inf, -1.0, 0.0, 0, 1e308, 1e-308, 10**400, True, "", "x", "ground", "frame", 'a"b',
       "a\nb", "a\\b", "%s%n", "ü", "x" * 400, "../x", [], [[]], [1], [0, 0, 0], [1e308] * 3, {}, {"value": 1.0}, [{}],
       1e9, -5, {"value": math.nan, "unit": "m"}, {"value": [1, 2], "source": 3}, "rigid", "ball"]  # fmt: skip
KEYS = ("unknown", "mas", "a", "b", "axis", "kind", "name", "source", "pulls", "dual", "bound", "lower", "measure")


def _toml(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json.dumps(k)} = {_toml(v)}' for k, v in value.items())}}}"
    return json.dumps(value)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container with each of its keys."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(inside):
        yield value, key
        yield from _places(item)


def _mutated(document: dict[str, Any], r: random.Random) -> None:
    for _ in range(r.choice([1, 1, 2, 3])):
        parent, key = r.choice(list(_places(document)))
        what = r.randrange(6)
        if what == 0:
            del parent[key]
        elif what == 1 and isinstance(parent, dict):
            parent[r.choice(KEYS)] = deepcopy(r.choice(ODD))
        elif what == 2 and isinstance(parent, list):
            parent.append(deepcopy(parent[key]))
        elif what == 3 and type(parent[key]) in (int, float):
            parent[key] *= r.choice([-1, 0, 1e-9, 1e9, 1.1, 1e3, -1e-3, 1e200])
        else:
            parent[key] = deepcopy(r.choice(ODD))


def _document(name: str) -> dict[str, Any]:
    return tomllib.loads(architecture_file(name).read_text(encoding="utf-8"))


def _refusal(document: dict[str, Any], folder: Path) -> str:
    """What is said against it; "" where it is a vehicle, all of whose numbers are finite."""
    path = folder / "sketch.toml"
    path.write_text("".join(f"{json.dumps(k)} = {_toml(v)}\n" for k, v in document.items()), encoding="utf-8")
    try:
        made, drawn = composite.build(path)
        built = truck(made, drawn)
    except (ArchitectureError, LayoutError) as error:
        return str(error)
    text = emit.header(built, table(built))
    assert not any(word in text for word in (" nan", " inf", "-inf", "{nan", "{inf"))
    assert all(math.isfinite(s.preload) for s in trimmed(drawn).springs)
    return ""


@pytest.mark.parametrize("seeds", [range(24), pytest.param(range(24, 1000), marks=pytest.mark.slow)])
def test_any_change_of_a_truck_is_a_vehicle_or_refused_in_one_line(seeds: range, tmp_path: Path) -> None:
    names = ("class3", "class7", "frame4")
    documents = {name: _document(name) for name in names}
    for seed in seeds:
        r = random.Random(seed)
        document = deepcopy(documents[r.choice(names)])
        _mutated(document, r)
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a number that overflows
            said = _refusal(document, tmp_path)
        assert not said or said.startswith("sketch.toml: ") or "/sketch.toml: " in said, (seed, said)
        assert "\n" not in said and len(said) < 1000, (seed, said)


def _springs_without_names(d: dict[str, Any]) -> None:
    for c in d["connection"]:
        c.pop("name")


def _wheels_gone(d: dict[str, Any]) -> None:
    d["suspension"], _ = [], d.pop("powertrain")


def _set(*path: Any) -> Callable[[dict[str, Any]], None]:
    *inside, key, value = path

    def change(d: dict[str, Any]) -> None:
        at: Any = d
        for k in inside:
            at = at[k]
        at[key] = value

    return change


@pytest.mark.parametrize(("change", "said"), [
    (_springs_without_names, ""),
    (_set("assembly", 0, "connection", 0, "a", "payload"), ""),  # rail and front_clip hang together another way
    (_set("connection", 1, "name", "cab_spring_FR"), "connection cab_spring_FR: name 'cab_spring_FR' is taken"),
    (_set("connection", 0, "a", "frame"), "connection cab_guide: frame.rail and frame.rail are both part of body"),
    (_set("name", "../../evil"), "name = '../../evil': expected at most 80 letters, digits and _"),
    (_set("connection", 1, "name", 'x"; system("'), "connection 2 (cab - frame): name = 'x\"; system(\"': expected"),
    (_set("connection", 1, "stiffness", 1e300), "connection cab_spring_FL: stiffness = 1e+300: expected a number, at"),
    (_set("connection", 1, "stiffness", 5e-324), "stiffness = 4.94066e-324 N/m: expected more than 0, 1e-09 or more"),
    (_set("connection", 1, "a", "cap"), "'cap' is no component or assembly; expected one of frame.rail, "),
    (_set("connection", 1, "a", "cab.shel"), "'cab.shel' is no component or assembly; did you mean cab.shell?"),
    (_set("assembly", 2, "component", 0, "mass", -480.0), "component block: mass = -480 kg: expected more than 0"),
    (_wheels_gone, "class3: body frame.rail cannot stand still as drawn"),
    (_set("suspension", []), "powertrain: no wheel is driven"),
    (_set("component", [{"name": "spare", "kind": "box", "mass": 30, "com": [0, 0, 1], "size": [1, 1, 1]}]),
     "component spare: no connection leads from frame.rail to spare"),
])  # fmt: skip
def test_faults_that_a_sketch_has_are_named_with_their_entry(
    change: Callable[[dict[str, Any]], None], said: str, tmp_path: Path
) -> None:
    document = _document("class3")
    change(document)
    found = _refusal(document, tmp_path)
    assert found.startswith("sketch.toml: ") if said else not found
    assert said in found
