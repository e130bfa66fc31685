"""``jounce spectrum``: modes and peaks of trucks, its page, and what it refuses."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from jounce import dft
from jounce.architecture import composite, trim
from jounce.architecture.layout import layout
from jounce.architecture.target import GROUND, Body, Joint, Multibody, Wheel
from jounce_tools.architecture import frequencies, spectrum
from jounce_tools.architecture.frequencies import Road
from jounce_tools.cli.main import main

#: Modes of both trucks [Hz] and their damping ratios where given, of a prototype (docs/architecture.md).
MODES = {
    "class3": "1.294 .188 1.662 .243 1.737 .027 2.767 - 3.799 .328 6.480 - 6.726 .178 7.185 .197 8.649 - 9.625 - "
    "10.407 - 10.829 - 10.868 .501 11.009 .573 11.163 - 15.46 -",
    "class7": "1.753 .211 1.941 .017 2.567 - 3.069 .281 3.352 .605 5.346 - 7.530 .157 7.716 - 7.724 - 8.152 - 8.241 - "
    "9.031 - 10.506 - 10.591 - 11.138 - 12.134 - 13.15 -",
}
#: Peaks of the prototype [Hz], with a tenth of the damping.
PEAKS = {"class3": (1.270, 1.625, 3.73), "class7": (1.696, 2.82, 8.33)}


@pytest.fixture(scope="module", params=MODES)
def truck(request: pytest.FixtureRequest) -> Multibody:
    return trim.trimmed(composite.build(request.param)[1])


def test_modes_of_a_trucks_tick_are_those_of_a_prototype(truck: Multibody) -> None:
    found = frequencies.modes(truck, 1e-3)
    numbers = MODES[truck.name].split()
    for mode, frequency, damping in zip(found, numbers[::2], numbers[1::2], strict=False):
        assert mode.frequency == pytest.approx(float(frequency), rel=1e-3)
        assert damping == "-" or mode.damping == pytest.approx(float(damping), abs=6e-4)


def test_modes_without_friction_and_dampers_are_those_of_a_prototype(truck: Multibody) -> None:
    """Design page, section 7: what the eigenvalues of springs alone miss is 3 % in the heave of class3."""
    found = [m.frequency for m in frequencies.modes(frequencies.damped(truck, 1e-3), 1e-3, friction=0.0)]
    for expected in {"class3": (1.2593, 1.6322, 3.7288, 4.2742, 6.6588),
                     "class7": (1.6959, 2.8183, 3.2514, 3.6973, 7.5019)}[truck.name]:  # fmt: skip
        assert min(abs(f - expected) for f in found) < 1e-3 * expected


def test_peaks_behind_a_bump_are_modes_within_what_the_time_resolves(truck: Multibody) -> None:
    found = frequencies.study(frequencies.damped(truck, 0.1), tick_length=1e-3, road=Road(), duration=15.0)
    every = np.array([f for s in found.spectra for f, _ in dft.peaks(s, 0.3)])
    resolution = found.spectra[0].resolution
    assert resolution == pytest.approx(2 / 15, rel=1e-3)
    modes = np.array([m.frequency for m in found.modes])
    for peak in PEAKS[truck.name]:
        assert np.abs(every - peak).min() < resolution  # the peak is there
        assert np.abs(modes - peak).min() < resolution  # and it is a mode


def test_a_row_of_bumps_excites_multiples_of_speed_over_pitch() -> None:
    """5 m/s over a bump every 4 m is 1.25 Hz; the resolution is that of the time over the bumps."""
    truck = trim.trimmed(composite.build("class3")[1])
    found = frequencies.study(truck, tick_length=1e-3, road=Road(bumps=8, pitch=4.0), duration=100.0)
    knuckle = found.spectra[found.names.index("front.knuckle_L")]
    assert found.speed == pytest.approx(5.0, rel=0.05)  # the wheels' drive holds it, but for their slip
    assert found.lines == pytest.approx(found.speed / 4.0)
    assert knuckle.resolution == pytest.approx(2 / ((8 * 4 + 3.6) / 5), rel=1e-3)
    highest = sorted(dft.peaks(knuckle, 0.2), key=lambda p: -p[1])[:3]
    for peak, _ in highest:
        assert peak == pytest.approx(round(peak / found.lines) * found.lines, abs=knuckle.resolution / 2)


def test_frame_on_four_wheels_on_one_page_with_the_frequencies_of_lagrange(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert main(["spectrum", "frame4", "-o", str(out), "--duration", "10"]) == 0
    printed = capsys.readouterr().out
    assert "1.18409 Hz, damping ratio 0.000, frame up and down" in printed
    with (out / "modes.csv").open() as file:
        modes = [float(row["frequency [Hz]"]) for row in csv.DictReader(file)]
    # Lagrange's equations in 10 coordinates with weight; the step adds (w h)^2 / 24.
    lagrange = np.array([1.184086, 1.496418, 1.696045, 10.527188, 10.539011, 12.076599, 12.079644])
    assert modes == pytest.approx(lagrange * (1 + (2 * np.pi * lagrange * 1e-3) ** 2 / 24), rel=4e-6)
    page = (out / "spectrum.html").read_text()
    assert page.count("data:image/png") == 5 and "http" not in page.replace("http://www.w3.org", "")
    assert {p.name for p in out.iterdir()} == {"spectrum.html", "modes.csv", "spectra.csv"}
    table = np.genfromtxt(out / "spectra.csv", delimiter=",", skip_header=1)
    assert table.shape[1] == 6 and np.isfinite(table).all() and table[-1, 0] <= 20


@pytest.mark.parametrize(("words", "message"), [
    ("class9 -o OUT", "architecture 'class9'"),
    ("frame4 -o OUT/a/b", "expected a folder in one that exists"),
    ("frame4 -o OUT --tick 0", "--tick 0.0: expected more than 0"),
    ("frame4 -o OUT --tick nan", "--tick nan: expected more than 0"),
    ("frame4 -o OUT --speed -1", "--speed -1.0: expected more than 0"),
    ("frame4 -o OUT --damping 0", "--damping 0.0: expected more than 0"),
    ("frame4 -o OUT --duration 0.1", "--duration 0.1: expected 1000 to 10 million ticks"),
    ("class3 -o OUT --bumps 0", "--bumps 0: expected 1 or more"),
    ("class3 -o OUT --bumps 2 --pitch 0.5", "a pitch of at least their length"),
])  # fmt: skip
def test_what_cannot_be_used_is_refused_and_writes_nothing(
    words: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["spectrum", *words.replace("OUT", str(tmp_path / "out")).split()]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_ends_in_a_fault_is_told_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["spectrum", "frame4", "-o", str(tmp_path / "out"), "--tick", "0.1", "--duration", "1000"]) == 1
    assert "jounce spectrum: joint guide_RL has come apart by " in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_mode_is_told_by_the_body_that_moves_most() -> None:
    model = trim.trimmed(composite.build("frame4")[1])
    found = frequencies.study(model, tick_length=1e-3, road=Road(), duration=2.0)
    assert [spectrum.moving(found, m) for m in found.modes[:3]] == [
        "frame up and down", "frame in roll", "frame in pitch",
    ]  # fmt: skip


def test_white_road_gives_the_transfer_function_of_a_mass_on_a_tire() -> None:
    """100 kg on 1e5 N/m and 800 N s/m: acceleration over rate of the road is s (c s + k) / (m s^2 + c s + k)."""
    centre, up = np.array([0.0, 0.0, 1.1]), np.array([0.0, 0.0, 1.0])
    wheel = Wheel("tire", 0, GROUND, centre, np.array([0.0, 1.0, 0.0]), 0.1, 1e5, 800.0, 1e5, 0.5, 0.0)
    guide = Joint("guide", "slider", 0, GROUND, centre, centre, up)
    model = Multibody("mass", (Body("mass", 100.0, centre, np.eye(3)),), (guide,), wheels=(wheel,))
    found = frequencies.transfer(trim.trimmed(model), tick_length=1e-3, speed=5.0, duration=10.0)
    s = 2j * np.pi * found.frequency
    exact = s * (800 * s + 1e5) / (100 * s * s + 800 * s + 1e5)
    assert len(s) == 250
    assert np.abs(found.gain[0] / exact - 1).max() < (2 * np.pi * 25e-3) ** 2 / 12  # twice the tick's own (w h)^2 / 24


def test_axles_half_a_wave_apart_do_not_lift_the_frame_and_peaks_of_a_white_road_are_modes() -> None:
    """class3's axles are 3.6 m apart: at 5 m/s and 0.694 Hz the second goes down as the first goes up."""
    truck = trim.trimmed(composite.build("class3")[1])
    found = frequencies.transfer(truck, tick_length=1e-3, speed=5.0, duration=15.0)
    names = [b.name for b in layout(truck).model.bodies]
    frame = np.abs(found.gain[names.index("frame.rail")])
    at = {f: frame[np.abs(found.frequency - f).argmin()] for f in (0.694, 1.389)}
    assert at[0.694] < 0.2 * at[1.389]
    knuckle = np.abs(found.gain[names.index("front.knuckle_L")])
    modes = np.array([m.frequency for m in frequencies.modes(truck, 1e-3)])
    assert np.abs(modes - found.frequency[knuckle.argmax()]).min() < 2 / 15


@pytest.mark.slow
def test_page_of_a_white_road_has_transfer_functions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["spectrum", "class3", "-o", str(tmp_path / "s"), "--road", "white", "--duration", "4"]) == 0
    lines = list(csv.reader((tmp_path / "s" / "transfer.csv").open()))
    assert len(lines) == 101
    assert lines[0][0] == "frequency [Hz]"
    assert all(float(v) >= 0 for line in lines[1:] for v in line)
    assert "Transfer functions" in (tmp_path / "s" / "spectrum.html").read_text()
    assert main(["spectrum", "frame4", "-o", str(tmp_path / "f"), "--road", "white"]) == 2
    assert "--road white: expected an architecture with wheels" in capsys.readouterr().err
    assert not (tmp_path / "f").exists()
