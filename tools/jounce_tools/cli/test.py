"""``jounce test``: standard manoeuvres with metrics, limits and a report."""

from __future__ import annotations

import argparse
import math
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from jounce import __version__
from jounce.values import number
from jounce_client import Client, JounceError, Tls
from jounce_tools.cli.assignments import add_vehicle
from jounce_tools.cli.main import FAILED, INTERRUPTED
from jounce_tools.errors import UsageError
from jounce_tools.interrupt import asked_to_stop
from jounce_tools.manoeuvres import files, measured
from jounce_tools.manoeuvres.bench import Bench, Interrupted, Log, measure
from jounce_tools.manoeuvres.found import Plot
from jounce_tools.manoeuvres.manoeuvre import Manoeuvre, find, manoeuvres, settings_of, with_limits
from jounce_tools.manoeuvres.places import STEP_ERRORS, Here, There
from jounce_tools.pairs import pairs

#: Signals without which no manoeuvre can be driven.
_NEEDED: Final = ("ref_frame.pos.x", "com.lin_acc.y", "speed", "sideslip", "rolled_over")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options."""
    parser.add_argument("names", nargs="+", metavar="NAME", help="manoeuvres, `all`, or `list` to see them")
    add_vehicle(parser)
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="parameter of the vehicle, may repeat"
    )
    parser.add_argument(
        "--setting",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="setting of the manoeuvre (see `list`), may repeat",
    )
    parser.add_argument(
        "--limit",
        action="append",
        default=[],
        metavar="NAME<=VALUE",
        help="limit of a metric, NAME<=VALUE or NAME>=VALUE, may repeat",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FOLDER",
        help="folder to write (default: NAME-VEHICLE; with several manoeuvres, one folder for each in it)",
    )
    parser.add_argument(
        "--compare", metavar="OTHER", help="another vehicle, or the folder of an earlier run, on the same pages"
    )
    parser.add_argument("--measured", type=Path, metavar="FILE", help="CSV of measured outputs over the time of the "
                        "main run, laid over bands around it (docs/manoeuvres.md)")  # fmt: skip
    parser.add_argument("--band", default="0.1", metavar="SHARE", help="half of the width of those bands over the "
                        "largest magnitude of each signal (default: %(default)s)")  # fmt: skip
    parser.add_argument("--address", help="run on this server, host:port or unix:/path, instead of in this process")
    parser.add_argument("--token", default="", help="bearer token for the server")
    parser.add_argument("--tls-ca", type=Path, metavar="FILE", help="PEM file of the authority of the server's TLS")


def run(arguments: argparse.Namespace) -> int:
    """Drives the manoeuvres one after the other; what is finished stays when a later one fails."""
    if arguments.names == ["list"]:
        sys.stdout.write(listed())
        return 0
    chosen = list(manoeuvres().values()) if arguments.names == ["all"] else [find(n) for n in arguments.names]
    parameters = {n: _value(v) for n, v in pairs(arguments.set).items()}
    own = {n: _setting(n, v) for n, v in pairs(arguments.setting, "--setting").items()}
    chosen = [with_limits(m, arguments.limit) for m in chosen]
    settings = [settings_of(m, own) for m in chosen]
    folders = _folders(arguments.output, chosen, arguments.vehicle)
    earlier = _earlier(arguments.compare, chosen)
    share = _number("--band ", arguments.band)
    if share <= 0.0:
        raise UsageError(f"--band {arguments.band}: expected a number above 0")
    if arguments.measured and len(chosen) > 1:
        raise UsageError(f"--measured {arguments.measured}: expected one manoeuvre with it")
    code = 0
    with asked_to_stop() as stop:
        place = _place(arguments, arguments.vehicle)
        other = _place(arguments, arguments.compare) if arguments.compare and not earlier else None
        try:
            data = measured.read(arguments.measured, place.units) if arguments.measured else None
            for m, s, folder in zip(chosen, settings, folders, strict=True):
                job = _Job(m, s, parameters, arguments, stop)
                done = job.drive(place, folder)
                results, logs = [done.result], [done.log]
                if other is not None:
                    second = job.drive(other, folder / "compared")
                    results, logs = [*results, second.result], [*logs, second.log]
                elif m.name in earlier:
                    results = [earlier[m.name], *results]
                    logs = []
                beside = measured.judged(data, done.log, place.units, share) if data else None
                _write_report(m, results, logs, folder, beside)
                code = code or (0 if done.result.passed else FAILED)
        except Interrupted:
            sys.stderr.write("jounce test: interrupted; what was finished is kept\n")
            return INTERRUPTED
        finally:
            place.close()
            if other is not None:
                other.close()
    return code


def listed() -> str:
    """Every manoeuvre with its source, its settings and its limits."""
    lines = []
    for m in manoeuvres().values():
        lines.append(f"{m.name}: {m.title} ({m.source})")
        lines += [f"    --setting {n}={s.value:g}  {s.unit}: {s.text}" for n, s in m.settings.items()]
        lines += [f"    --limit '{n}{c}'  {x.unit}: {x.text}" for n, x in m.metrics.items() if x.limited
                  for c in x.limits().replace(" ", "").split("and")]  # fmt: skip
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class _Driven:
    result: files.Result
    log: Log


@dataclass(frozen=True)
class _Job:
    """One manoeuvre with its settings, for one vehicle or two."""

    manoeuvre: Manoeuvre
    settings: dict[str, float]
    parameters: dict[str, Any]
    arguments: argparse.Namespace
    stop: Any

    def drive(self, place: Here | There, folder: Path) -> _Driven:
        """Drives and writes all files but the report."""
        m = self.manoeuvre
        if missing := [n for n in _NEEDED if n not in place.outputs]:
            raise UsageError(f"{place.vehicle}: no output {missing[0]}; expected a vehicle with a chassis in space")
        bench = Bench(place, self.parameters, measure(place, self.parameters), self._tell, self.stop, STEP_ERRORS)
        try:
            found = m.run(bench, self.settings)
        except Interrupted:
            self._keep(bench.logs, place, folder)
            raise
        log = found.main or bench.logs[-1]
        told = {
            "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M}", "command": self._command(place.vehicle),
            "version": __version__, "settings": self.settings, "parameters": self.parameters,
            "place": f"on the server {self.arguments.address}" if self.arguments.address else "in process",
        }  # fmt: skip
        result = files.result(m, place, bench.car, found, bench.logs, told)
        folder.mkdir(parents=True, exist_ok=True)
        files.write_json(result, folder / "metrics.json")
        files.write_csv(log, place.units, folder / "run.csv")
        files.write_mcap(log, place, folder / files.MCAP)
        return _Driven(result, log)

    def _tell(self, text: str) -> None:
        self.arguments.progress.note(f"{self.manoeuvre.name}: {text}")

    def _keep(self, logs: Sequence[Log], place: Here | There, folder: Path) -> None:
        if logs:
            folder.mkdir(parents=True, exist_ok=True)
        for k, log in enumerate(logs, 1):
            files.write_csv(log, place.units, folder / f"interrupted-{k}.csv")

    def _command(self, vehicle: str) -> str:
        a = self.arguments
        words = ["jounce", "test", self.manoeuvre.name, "--vehicle", vehicle]
        for option, values in (("--set", a.set), ("--setting", a.setting), ("--limit", a.limit)):
            words += [w for v in values for w in (option, v)]
        return shlex.join([*words, *(["--address", a.address] if a.address else [])])


def _write_report(m: Manoeuvre, results: Sequence[files.Result], logs: Sequence[Log], folder: Path,
                  beside: tuple[list[measured.Judged], list[Plot]] | None) -> None:  # fmt: skip
    from jounce_tools.manoeuvres import report  # matplotlib takes a second to import

    report.write(m, results, logs, folder / "report.html", beside)
    sys.stdout.write("".join(f"{report.printed(r)}\n" for r in results))
    for j in beside[0] if beside else ():
        sys.stdout.write(f"  {j.signal}: {100.0 * j.inside:.1f} % of the measured samples within {j.band:.4g} "
                         f"{j.unit}, largest difference {j.largest:.4g}\n")  # fmt: skip
    sys.stdout.write(
        f"  {report.verdict(results[-1])}\nwrote {folder / 'report.html'}, metrics.json, run.csv, {files.MCAP}\n"
    )
    sys.stdout.flush()


def _folders(output: Path | None, chosen: Sequence[Manoeuvre], vehicle: str) -> list[Path]:
    if output is not None and output.exists() and not output.is_dir():
        raise UsageError(f"-o {output}: expected a folder")
    if output is not None and not output.parent.is_dir():
        raise UsageError(f"-o {output}: expected a folder in one that exists")
    if output is not None and len(chosen) == 1:
        return [output]
    name = Path(vehicle).parent.name if Path(vehicle).suffix else Path(vehicle).name
    return [(output / m.name if output else Path(f"{m.name}-{name}")) for m in chosen]


def _earlier(other: str | None, chosen: Sequence[Manoeuvre]) -> dict[str, files.Result]:
    """Results of an earlier run, by manoeuvre, if OTHER is such a folder."""
    if other is None or not (Path(other) / "metrics.json").is_file():
        return {}
    found = files.read_json(Path(other))
    if [m.name for m in chosen] != [found.manoeuvre]:
        raise UsageError(f"--compare {other}: has {found.manoeuvre}; expected {', '.join(m.name for m in chosen)}")
    return {found.manoeuvre: found}


def _place(arguments: argparse.Namespace, vehicle: str) -> Here | There:
    if not arguments.address:
        return Here(vehicle)
    try:
        tls = Tls(ca=arguments.tls_ca) if arguments.tls_ca else None
        return There(Client.connect(arguments.address, token=arguments.token, tls=tls), vehicle)
    except JounceError as error:
        raise UsageError(f"--address {arguments.address}: {error}") from error


def _value(text: str) -> float | str | bool:
    """A number, true, false, or an item of an enumeration."""
    try:
        return number(text)
    except ValueError:
        return {"true": True, "false": False}.get(text.lower(), text)


def _setting(name: str, text: str) -> float:
    return _number(f"--setting {name}=", text)


def _number(where: str, text: str) -> float:
    try:
        value = number(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UsageError(f"{where}{text}: expected a number")
    return value
