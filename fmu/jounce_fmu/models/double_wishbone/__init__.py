"""The vehicle on four double wishbones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from jounce.axles import DEFAULT
from jounce.contact import tires
from jounce.data import DataError, Vehicle, load_vehicle, vehicle_names
from jounce.models.double_wishbone.arrange import check_entries, check_sides, with_powertrain
from jounce.models.double_wishbone.signals import LEDGER, table
from jounce.powertrain.kinds import powertrain_kind
from jounce.signals import SignalTable
from jounce_fmu.build.library import PACKAGE, BadRequest, Sources, builtin_sources
from jounce_fmu.build.table_c import emit_header, emit_table
from jounce_fmu.models import powertrain
from jounce_fmu.models.model import Model

NAME, BASE = "double_wishbone", "hmmwv"
#: Folder of the emitted files.
GENERATED = PACKAGE / "models" / NAME / "generated"


def emit(signals: SignalTable | None = None) -> Mapping[Path, str]:
    """Path of each emitted file to its text, for the vehicle's table or a rearranged one. Needs CasADi."""
    signals = read(BASE) if signals is None else signals
    return _emitted(load_vehicle(BASE), signals, GENERATED, LEDGER)


def _emitted(vehicle: Vehicle, signals: SignalTable, folder: Path, ledger: Path) -> Mapping[Path, str]:
    from jounce.models.double_wishbone import emit as double_wishbone

    kind = powertrain_kind(vehicle.powertrain)
    read_by = powertrain.entries()[f"vehicle_{kind.name}"] if kind else ()
    code = {
        **double_wishbone.files(signals, vehicle, read_by),
        f"{NAME}_table.c": emit_table(signals, NAME),
        f"{NAME}_table.h": emit_header(signals, NAME),
    }
    return {ledger: signals.ledger.text(), **{folder / name: text for name, text in code.items()}}


def read(name: str | Path, base: str | Path = BASE, ledger: Path = LEDGER) -> SignalTable:
    """Table of a vehicle: the same entries in the base's order, with bounds of its own.

    ``name`` is that of a built-in vehicle, or the path of a folder or its vehicle.toml; ``ledger`` is that of the
    model of ``base``. Raises BuildError, DataError.
    """
    own, common = with_powertrain(load_vehicle(name)), with_powertrain(load_vehicle(base))
    wanted = common.entries
    if own.tire != common.tire:
        known = ", ".join(law.name for law in tires.laws())
        raise BadRequest(f"vehicle {own.name!r}: tire = {own.tire!r}, and this model is emitted for {common.tire} "
                         f"(docs/model/tire-laws.md); laws are {known}")  # fmt: skip
    try:
        check_entries(own, wanted)
        check_sides(own)
    except DataError as error:
        raise BadRequest(str(error)) from error
    return table(replace(own, entries={n: own.entries[n] for n in wanted}), ledger)


def model_of(vehicle: str | Path, folder: Path) -> Model:
    """The model of a vehicle whose tires follow another law, for `jounce_fmu.models.register`. Needs CasADi.

    Its C is emitted into ``folder``, which must exist, and its library built there; value references that it has
    beside those of the vehicles that come with jounce are kept in ``references.txt`` there. Raises BuildError,
    DataError.
    """
    own, ledger = with_powertrain(load_vehicle(vehicle)), folder / LEDGER.name
    if not ledger.exists():
        ledger.write_text(LEDGER.read_text(encoding="utf-8"), encoding="utf-8")

    def emit_own() -> Mapping[Path, str]:
        return _emitted(own, read(vehicle, vehicle, ledger), folder, ledger)

    files = emit_own()
    for path, text in files.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:  # another process may compile it now
            path.write_text(text, encoding="utf-8")
    by_hand = [f for f in builtin_sources().files if f.parent != GENERATED]
    by_hand += powertrain.code(own)
    return Model(
        name=f"{NAME}_{own.name}",
        data_sets=(own.name,),
        sources=Sources(f"jounce_{own.name}", (*by_hand, *(f for f in files if f != ledger))),
        read=lambda name: read(vehicle if name == own.name else name, vehicle, ledger),
        emit=emit_own,
        libraries=folder,
    )


def _reads(path: Path) -> bool:
    return path.suffix == ".toml" or (path / "vehicle.toml").is_file()


MODEL = Model(
    name=NAME,
    data_sets=(BASE, *(n for n in vehicle_names() if n != BASE and load_vehicle(n).axles == DEFAULT)),
    sources=builtin_sources(),
    read=read,
    emit=emit,
    reads=_reads,
)
