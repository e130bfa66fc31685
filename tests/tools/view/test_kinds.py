"""Links, scrubbing and drawn wheels for every kind of axle."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from browser import Browser, eventually

import jounce
from jounce_fmu.importer.host import open_builtin
from jounce_service.hosting.fmu_model import FmuModel
from jounce_service.transport.describe import described
from jounce_tools.view import page
from jounce_tools.view.look import look_of
from jounce_tools.view.scene import Scene

EXAMPLES = Path(jounce.__file__).parent / "examples"
VEHICLES = {
    **{n: n for n in ("hmmwv", "utv", "class3")},
    **{n: str(EXAMPLES / n) for n in ("car", "microbus", "pickup", "offroader", "truck8x8")},
}


@pytest.fixture(scope="module", params=[
    pytest.param(n, marks=pytest.mark.slow) if n == "offroader" else n for n in VEHICLES  # it is compiled for this
])  # fmt: skip
def scene(request: pytest.FixtureRequest) -> Scene:
    """Half a second over a push of the steering wheel."""
    vehicle = VEHICLES[request.param]
    inputs = {"steering_wheel_angle": ([0.0, 0.3], [0.0, 3.0])}
    run = jounce.simulate(vehicle, inputs, duration=0.5, outputs=["*"],
                          output_interval=0.05, **{"init.speed": 8.0})  # fmt: skip
    look = look_of(described(FmuModel(open_builtin(vehicle)), request.param), {})
    values = np.column_stack([run[n] for n in look.names])
    return Scene(**{f: getattr(look, f) for f in look.__dataclass_fields__}, time=run.time, values=values)


def test_rods_keep_their_length_and_springs_and_shocks_have_theirs(scene: Scene) -> None:
    """Design lengths from the data, lengths of springs and shocks from the model's own outputs."""
    design = scene.lines(0.0)
    length = np.linalg.norm(design[:, 1] - design[:, 0], axis=1)
    for time in scene.time:
        now = scene.lines(float(time))
        for link, (a, b), first in zip(scene.links, now, length, strict=True):
            name, wheel = link.name.split()
            found = float(np.linalg.norm(b - a))
            if name in ("SPRING", "SHOCK") and f"wheel_{wheel}.{name.lower()}_length" in scene.names:
                own = scene.at(f"wheel_{wheel}.{name.lower()}_length", float(time))
                assert found == pytest.approx(own, abs=1e-6), link.name
            elif link.kind == "rod" and name != "STRUT":
                assert found == pytest.approx(first, abs=1e-6), link.name


def test_every_axle_has_links(scene: Scene) -> None:
    names = {link.name.split()[0] for link in scene.links}
    expected = {"hmmwv": {"UCA_F", "LCA_B", "upright", "TIEROD", "SPRING", "SHOCK"},
                "utv": {"UCA_F", "LCA_B", "TIEROD", "SPRING", "SHOCK"},
                "car": {"STRUT", "LCA_F", "TIEROD", "UPPER_F", "LATERAL", "TRAILING", "SPRING"},
                "microbus": {"TA_O", "TA_I", "UCA_F", "SPRING", "SHOCK"},
                "pickup": {"SPRING_F", "SPRING_R", "axle", "UCA_F"},
                "offroader": {"UL", "LL", "CL", "PAN", "DRAGLINK", "axle", "TIEROD"},
                "truck8x8": {"UCA_F", "LCA_B", "TIEROD", "SPRING", "SHOCK"},
                "class3": {"front.strut_L", "front.tie_rod_R", "rear.spring_L"}}[scene.name]  # fmt: skip
    assert names >= expected
    once = [link.name for link in scene.links if link.name.split()[0] in ("PAN", "DRAGLINK", "CL")]
    assert len(once) == len(set(once)) == (3 if scene.name == "offroader" else 0)
    ends = [link for link in scene.links if link.kind == "shock"]
    assert scene.name in ("car", "class3") or len(ends) == len(scene.wheels)


@pytest.mark.slow(but=("[hmmwv]", "class3"))
def test_a_scrubbed_page_draws_wheels_and_links_where_the_signals_are(
    scene: Scene, browser: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "run.html"
    page.write_html([scene], path)
    shown = browser.open(f"{path.as_uri()}#t=0&links=1")
    for time in (0.45, 0.1):
        shown.ask(f"view.go({time} + 1e-6)")
        eventually(lambda t=time: shown.ask("view.drawn.time") == pytest.approx(t, abs=1e-9))
        matrices = shown.ask("Object.fromEntries(Object.entries(view.drawn.wheels).map(([w, m]) => [w, [...m]]))")
        about = scene.vector("ref_frame.pos", time)
        assert list(matrices) == list(scene.wheels)
        for wheel, numbers in matrices.items():
            drawn = np.array(numbers).reshape(4, 4).T
            _, axes = scene.pose(f"wheel_{wheel}", time)
            angle = math.atan2(drawn[:3, 2] @ axes[:, 0], drawn[:3, 2] @ axes[:, 2])
            off = math.remainder(angle - scene.at(f"wheel_{wheel}.angle", time), 2 * math.pi)
            assert off == pytest.approx(0.0, abs=1e-4)
            assert drawn[:3, 3] + about == pytest.approx(scene.vector(f"wheel_{wheel}.pos", time), abs=1e-4)
        script = """(() => { const k = view.series.frame(view.drawn.time);
            const { chassis, bodies } = view.drawing.figure.poses(view.series, k);
            return view.look.links.map((link) => linkPlace(link, chassis, bodies)); })()"""
        assert np.reshape(shown.ask(script), (-1, 2, 3)) == pytest.approx(scene.lines(time), abs=1e-4)
    assert shown.console == []
    shown.close()
