"""Vehicle data: TOML files with value, unit and source per entry.

A vehicle is a folder with a `vehicle.toml`, or such a file. The file either lists data files (`files = [...]`, read in
that order), or names a `base` vehicle and has a table `[overrides]` with new values (`"chassis.mass" = 2500`) or keys
of entries. In a data file every table with a `value` key is an entry; its name is the dotted path to it
(`front.spring.k1`). Where its value is a list, it is one entry for each (`gearbox.up.1.0`, `gearbox.up.1.1`, ...), in
`[overrides]` as well. All values are in SI units; the value of a choice (`items`) is a name. Arrays of tables
(`[[rear.joint]]`) are lists without numeric entries; only axles of kind `graph` have them. Tables `[[axles]]` beside
`files` describe the axles (`jounce.axles`); a vehicle without them has two axles on double wishbones, the front one
steered. `tire` names the law of the tires (`jounce.contact.tires`), else it is that of the base, else tmeasy.
`tire_file` names a tire file (.tir), which gives the law and all parameters of the tires, or is a table with a file for
each axle (`tire_file = {front = "a.tir", rear = "b.tir"}`), which then has entries of its own, such as
`tire.front.FNOMIN`. Overrides count after it. `powertrain` names a data file with the entries of a powertrain
(`jounce.powertrain`), which the vehicle then has, or lists several, some of which may be those of another vehicle.
`road` names a packed terrain file (.jnt) on which the vehicle starts.
"""

from __future__ import annotations

import pickle
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from types import UnionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jounce.axles import DEFAULT, Axle, AxleError, axles_of, wheel_names
from jounce.contact.tires.from_tir import tires_of_axles
from jounce.contact.tires.tir import TireFileError
from jounce.entries import DataError, Entry, Lists, checked, fields_of, take
from jounce.renamed import FORMER, present, twice
from jounce.terrain.packed import TerrainError, kind_of

__all__ = ["DataError", "Entry", "Vehicle", "example_names", "load_vehicle", "vehicle_file", "vehicle_names",
           "of_any_tires", "with_road", "with_tire_files"]  # fmt: skip

_BUILTIN = Path(__file__).parent / "vehicles"
#: Vehicles of other kinds of axles, to start from: found by name, not among those that a server hosts by itself.
_EXAMPLES = Path(__file__).parent / "examples"
#: Most letters of a name in a vehicle.toml.
_LONGEST = 200
#: Key of a vehicle.toml -> (type, its name in messages).
_HEAD: dict[str, tuple[type | UnionType, str]] = {
    "name": (str, "a text"),
    "description": (str, "a text"),
    "base": (str, "a text"),
    "overrides": (dict, "a table"),
    "files": (list, "a list of file names"),
    "axles": (list, "tables [[axles]]"),
    "tire": (str, "the name of a tire law"),
    "tire_file": (str | dict, "the name of a tire file (.tir), or a table with one for each axle"),
    "powertrain": (str | list, "the name of a data file with the powertrain's entries, or a list of such names"),
    "road": (str, "the name of a packed terrain file (.jnt)"),
}


@dataclass(frozen=True)
class Vehicle:
    """A constant set of vehicle data; entries keep the order of the files."""

    name: str
    """Name of the vehicle or variant."""
    entries: dict[str, Entry]
    """Entries by dotted name."""
    description: str = ""
    """One line of text for users."""
    axles: tuple[Axle, ...] = DEFAULT
    """From the front."""
    lists: Mapping[str, tuple[Mapping[str, Any], ...]] = field(default_factory=dict)
    """Arrays of tables by dotted name, as they stand in the files."""
    tire: str = "tmeasy"
    """Name of the law of its tires."""
    powertrain: tuple[str, ...] = ()
    """Names of its powertrain's entries; none where wheel torques drive it."""
    road: str = ""
    """Path of the terrain file that it is on; empty: the plane of the parameters."""

    @property
    def wheels(self) -> tuple[str, ...]:
        """Names of the wheels: of the first axle before those of the next, left before right."""
        return wheel_names(len(self.axles))

    def __getitem__(self, name: str) -> float:
        """Value of the entry `name`; raises DataError for an unknown name."""
        entry = self.entries.get(name)
        if entry is None:
            raise DataError(f"{self.name}: no entry {name!r}")
        return entry.value

    def vector(self, name: str) -> NDArray[np.float64]:
        """The (3,) vector of the entries `name`.x, .y, .z."""
        return np.array([self[f"{name}.{axis}"] for axis in "xyz"])

    def tires(self, axle: Axle | str) -> str:
        """What the names of the entries of an axle's tires begin with: `tire.front` if it has its own, else `tire`."""
        own = f"tire.{axle if isinstance(axle, str) else axle.name}"
        return own if any(name.startswith(f"{own}.") for name in self.entries) else "tire"

    def of_tires(self, axle: Axle | str, name: str) -> float:
        """Value of the entry `name` of an axle's tires: `tire.unloaded_radius` or `tire.front.unloaded_radius`."""
        return self[f"{self.tires(axle)}.{name}"]

    @property
    def sets_of_tires(self) -> tuple[str, ...]:
        """All that `tires` gives, from the front."""
        return tuple(dict.fromkeys(map(self.tires, self.axles)))

    def replaced(self, values: Mapping[str, float], *, name: str | None = None) -> Vehicle:
        """A copy with other values. Raises DataError for an unknown name or a value out of bounds."""
        entries = dict(self.entries)
        for key, value in values.items():
            if key not in entries:
                raise DataError(f"{self.name}: no entry {key!r}")
            entries[key] = checked(key, replace(entries[key], value=float(value)))
        return replace(self, name=name or self.name, entries=entries)


def load_vehicle(name: str | Path) -> Vehicle:
    """Loads a vehicle by its built-in name, such as "hmmwv", or by the path of its folder or vehicle.toml.

    Raises DataError for a missing file, an unknown key, a missing unit or source, or a value out of bounds.
    """
    return _load(vehicle_file(name), ())


def with_tire_files(vehicle: Vehicle, files: Mapping[str, str | Path]) -> Vehicle:
    """A vehicle with the tires of files (.tir): by the names of axles, or by "" for the axles without one of their own.

    Axles for which there is none keep their tires. Raises DataError: with line and key of what is wrong in a file, and
    for an axle that there is not.
    """
    names = [axle.name for axle in vehicle.axles]
    if odd := next((name for name in files if name and name not in names), ""):
        raise DataError(f"{vehicle.name}: a tire file of the axle {odd!r}; expected {', '.join(names)}")
    axles = {name: files.get(name, files.get("")) for name in names} if any(files) else files
    before = {axle: vehicle.tires(axle) if axle else vehicle.sets_of_tires[0] for axle in axles}
    entries = {n: e for n, e in vehicle.entries.items() if not n.startswith("tire.")}
    try:
        law, own = tires_of_axles(vehicle.tire, vehicle.entries, before, axles)
    except (TireFileError, DataError) as error:
        raise DataError(f"{vehicle.name}: {error}") from error
    return replace(vehicle, entries=entries | own, tire=law)


def of_any_tires(parameters: Mapping[str, float], name: str) -> float | None:
    """The largest number of that name of a vehicle's tires, among its parameters by name; None without any."""
    found = [v for n, v in parameters.items() if n.startswith("tire.") and n.rpartition(".")[2] == name]
    return max(found, default=None)


def with_road(vehicle: Vehicle, path: str | Path) -> Vehicle:
    """A vehicle on the terrain of a packed file (.jnt). Raises DataError where it is none."""
    try:
        kind_of(path)
    except TerrainError as error:
        raise DataError(f"{vehicle.name}: {error}") from error
    return replace(vehicle, road=str(Path(path).resolve()))


def vehicle_names() -> tuple[str, ...]:
    """Names of the vehicles that come with jounce, sorted."""
    return tuple(sorted(p.parent.name for p in _BUILTIN.glob("*/vehicle.toml")))


def example_names() -> tuple[str, ...]:
    """Names of the example vehicles by axles, sorted."""
    return tuple(sorted(p.parent.name for p in _EXAMPLES.glob("*/vehicle.toml")))


def with_pedals(name: str) -> str:
    """The example that is this vehicle with a powertrain, if there is one, else the name."""
    driven = f"{name}_pedals"
    return driven if driven in example_names() else name


def vehicle_file(name: str | Path) -> Path:
    """The vehicle.toml of a built-in vehicle or example, by its name, or of a user's own, by its path.

    Raises DataError.
    """
    own = (Path(name) / "vehicle.toml", Path(name))
    for path in (_BUILTIN / str(name) / "vehicle.toml", *own, _EXAMPLES / str(name) / "vehicle.toml"):
        if _is_file(path):
            return path
    known = ", ".join((*vehicle_names(), *example_names()))
    raise DataError(f"vehicle {str(name)!r}: expected a file that exists, or one of {known}")


def _load(manifest: Path, seen: tuple[Path, ...]) -> Vehicle:
    if manifest in seen:
        raise DataError(f"{manifest.parent.name}: its chain of base vehicles leads back to itself")
    head = _read(manifest)
    _check_head(manifest, head)
    vehicle = _loaded(manifest, head, seen)
    return with_road(vehicle, manifest.parent / head["road"]) if "road" in head else vehicle


def _loaded(manifest: Path, head: Mapping[str, Any], seen: tuple[Path, ...]) -> Vehicle:
    name, description = head.get("name", manifest.parent.name), head.get("description", "")
    if "base" in head:
        base = _on_tires(manifest, head, replace(_load(_base(manifest, head["base"]), (*seen, manifest)), name=name))
        entries = {n: e for n, e in base.entries.items() if n not in base.powertrain or "powertrain" not in head}
        powertrain = _add_powertrain(manifest, head, name, entries) or base.powertrain
        try:
            for key, changed in _overrides(head.get("overrides", {}), entries):
                fields: dict[str, Any] = {"source": f"{manifest.name} of {name}", "file": manifest.name}
                fields |= fields_of(key, changed, entries[key].items)
                entries[key] = checked(key, replace(entries[key], **fields))
        except DataError as error:
            raise DataError(f"{manifest}: [overrides]: {error}") from error
        return Vehicle(name, entries, description, base.axles, base.lists, head.get("tire", base.tire), powertrain,
                       base.road)
    entries, tire = {}, head.get("tire", Vehicle.tire)
    today = set(FORMER.values()) if tire == Vehicle.tire else ()  # another law's parameters may have any name
    lists: Lists = {}
    for file in head.get("files", ()):
        content = _read(manifest.parent / file)
        try:
            take(content, file, entries, lists, today)
        except DataError as error:
            raise DataError(f"{name}: {file}: {error}") from error
    try:
        axles = axles_of(head["axles"]) if "axles" in head else DEFAULT
    except AxleError as error:
        raise DataError(f"{manifest}: {error}") from error
    if odd := next((k for k in lists if k.partition(".")[0] not in {a.name for a in axles if a.kind == "graph"}), ""):
        raise DataError(f"{name}: list [[{odd}]]: expected lists of axles of kind graph alone")
    powertrain = _add_powertrain(manifest, head, name, entries)
    return _on_tires(manifest, head, Vehicle(name, entries, description, axles, lists, tire, powertrain))


def _on_tires(manifest: Path, head: Mapping[str, Any], vehicle: Vehicle) -> Vehicle:
    """The vehicle on the tires of the files that its manifest names."""
    if "tire_file" not in head:
        return vehicle
    files = head["tire_file"] if isinstance(head["tire_file"], dict) else {"": head["tire_file"]}
    return with_tire_files(vehicle, {axle: manifest.parent / file for axle, file in files.items()})


def _add_powertrain(
    manifest: Path, head: Mapping[str, Any], name: str, entries: dict[str, Entry]
) -> tuple[str, ...]:
    """Adds the entries of the powertrain's files to those of the vehicle; their names, none without a file."""
    if "powertrain" not in head:
        return ()
    files = [head["powertrain"]] if isinstance(head["powertrain"], str) else head["powertrain"]
    own = dict(entries)
    for file in files:
        lists: Lists = {}
        content = _read(manifest.parent / file)
        try:
            take(content, file, own, lists)
            if lists:
                raise DataError(f"list [[{min(lists)}]]: expected entries alone")
        except DataError as error:
            raise DataError(f"{name}: {file}: {error}") from error
    found = tuple(n for n in own if n not in entries)
    if not found:
        raise DataError(f"{name}: {', '.join(files)}: no entries; expected those of a powertrain")
    entries.update(own)
    return found


def _check_head(manifest: Path, head: Mapping[str, Any]) -> None:
    for key, value in head.items():
        if key not in _HEAD:
            raise DataError(f"{manifest}: unknown key {key!r}; expected {', '.join(_HEAD)}")
        kind, words = _HEAD[key]
        inner: list[Any] = []
        if isinstance(value, list) and key in ("files", "powertrain"):
            inner = value
        elif isinstance(value, dict) and key == "tire_file":
            inner = list(value.values())
        if not isinstance(value, kind) or not all(isinstance(f, str) for f in inner):
            raise DataError(f"{manifest}: {key} = {value!r:.80}: expected {words}")
        if key in ("tire_file", "powertrain") and not value:
            raise DataError(f"{manifest}: {key} = {value!r}: expected {words}")
        texts = [f for f in (value, *inner) if isinstance(f, str)]
        odd = next((f for f in texts if not (f.isprintable() and 0 < len(f) <= _LONGEST)), None)
        if key == "name" and {"/", "\\"} & set(head["name"]):
            raise DataError(f"{manifest}: name = {value!r:.80}: expected a text without / and \\: files have this name")
        if odd is not None and key != "description":
            raise DataError(f"{manifest}: {key} = {odd!r:.80}: expected {words}, of 1 to {_LONGEST} letters without "
                            "control characters")  # fmt: skip
    if ("base" in head) == ("files" in head):
        raise DataError(f"{manifest}: expected either base, with a table [overrides], or files")
    if "tire" in head and "tire_file" in head:
        raise DataError(f"{manifest}: tire beside tire_file; expected the file alone, which tells the law")
    if "axles" in head and "base" in head:
        raise DataError(f"{manifest}: [[axles]] beside base; expected the axles of the base, or files in its place")
    if "overrides" in head and "base" not in head:
        raise DataError(f"{manifest}: [overrides] without a base; expected base = the name of a vehicle")


def _base(manifest: Path, name: str) -> Path:
    """The manifest of a base vehicle: a folder beside the vehicle's, or inside it, or else a built-in vehicle."""
    for place in (manifest.parent.parent / name, manifest.parent / name):
        for path in (place / "vehicle.toml", place):
            if _is_file(path):
                return path
    return vehicle_file(name)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


@lru_cache(maxsize=64)
def _parsed(text: str) -> bytes:
    """The tables of a TOML text, pickled, so that each caller gets its own.

    A vehicle is loaded many times in a run, and parsing its files takes five times as long as the rest.
    """
    return pickle.dumps(tomllib.loads(text))


def _read(path: Path) -> dict[str, Any]:
    try:
        tables: dict[str, Any] = pickle.loads(_parsed(path.read_text(encoding="utf-8")))
        return tables
    except FileNotFoundError as error:
        near = get_close_matches(path.name, [p.name for p in path.parent.glob("*.toml")], n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise DataError(f"{path}: expected a file that exists{hint}") from error
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}; expected a file with entries (TOML)") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: byte {error.start} is not UTF-8; expected a text (TOML)") from error
    except ValueError as error:  # not TOML, or a path that none can have
        raise DataError(f"{path}: {error}") from error


def _overrides(
    table: Mapping[str, Any], entries: Mapping[str, Entry], prefix: str = ""
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yields (entry name, changed keys); a plain number is a value, and names may be quoted or nested tables."""
    names = [prefix + key for key in table]
    if fault := twice(names, entries):
        raise DataError(fault)
    for key, item in table.items():
        name = present(prefix + key, entries)
        if name in entries:
            alone = str if entries[name].items else int | float
            if isinstance(item, bool) or not isinstance(item, alone | dict):
                wanted = "a name" if alone is str else "a number"
                raise DataError(f"{name} = {item!r}: expected {wanted}, or a table with a value")
            yield name, item if isinstance(item, dict) else {"value": item}
        elif isinstance(item, list) and f"{name}.{len(item) - 1}" in entries and f"{name}.{len(item)}" not in entries:
            yield from _overrides({str(k): value for k, value in enumerate(item)}, entries, f"{name}.")
        elif isinstance(item, dict) and any(n.startswith(f"{name}.") for n in entries):
            yield from _overrides(item, entries, f"{name}.")
        else:
            near = get_close_matches(name, entries, n=3)
            hint = f"did you mean {' or '.join(near)}?" if near else "`jounce describe` lists them"
            raise DataError(f"override of unknown entry {name!r}; {hint}")
