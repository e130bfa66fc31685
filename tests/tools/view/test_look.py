"""The look of models that are not of this repository."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from jounce.architecture.load import architecture_file
from jounce.axles import WHEELS
from jounce_fmu.importer.host import open_builtin
from jounce_proto import jounce_pb2 as pb
from jounce_service.hosting.fmu_model import FmuModel
from jounce_service.transport.describe import described
from jounce_tools.architecture.figure import own_truck
from jounce_tools.errors import UsageError
from jounce_tools.view.links import links_of
from jounce_tools.view.look import Tires, look_of, undrawn
from jounce_tools.view.surface import mesh


def _model(wheels: tuple[str, ...], leave_out: str = "") -> pb.DescribeModelResponse:
    """A model with the outputs that a picture needs, and no parameters."""
    model = pb.DescribeModelResponse(model="foreign")
    place, turn = ".x .y .z", ".e0 .e1 .e2 .e3"
    outputs = {"ref_frame.pos": place, "ref_frame.rot": turn, "ref_frame.yaw": "", "speed": ""}
    for w in wheels:
        own = {"pos": place, "rot": turn, "angle": "", "tire_force": place}
        outputs |= {f"wheel_{w}.{name}": suffixes for name, suffixes in own.items()}
    for name, suffixes in outputs.items():
        if name != leave_out:
            components = suffixes.split() or [""]
            model.signals.append(pb.Signal(name=name, causality=pb.CAUSALITY_OUTPUT, components=components))
    return model


@pytest.mark.parametrize("wheels", [(), ("F", "RL", "RR"), WHEELS, tuple("ABCDEFGH")])
def test_a_vehicle_without_hardpoints_or_outline_is_a_box_on_its_wheels(wheels: tuple[str, ...]) -> None:
    look = look_of(_model(wheels), {"terrain.slope": 0.1})
    assert look.wheels == wheels and look.links == () and look.ground == (0.0, 0.1, 0.0)
    corners = np.concatenate(look.parts[0].faces)
    assert corners.min(axis=0) == pytest.approx([-2.2, -0.9, 0.0])
    assert corners.max(axis=0) == pytest.approx([2.2, 0.9, 1.1])


@pytest.mark.parametrize("missing", ["ref_frame.pos", "ref_frame.rot", "ref_frame.yaw", "speed", "wheel_RL.angle"])
def test_a_model_that_cannot_be_drawn_is_refused_by_the_name_of_what_it_lacks(missing: str) -> None:
    with pytest.raises(UsageError, match=rf"foreign: no output {missing}.*expected a vehicle with a chassis in space"):
        look_of(_model(WHEELS, missing), {})


def test_another_terrain_than_a_plane_is_not_drawn_as_one() -> None:
    assert look_of(_model(()), {"terrain_source": 3.0, "terrain.height": 1.5}).ground is None


def test_a_wheel_without_axes_of_its_own_has_those_of_its_knuckle_or_axle() -> None:
    model = _model(WHEELS)
    for signal in [s for s in model.signals if s.name in ("wheel_FL.rot", "wheel_RL.rot", "wheel_RR.rot")]:
        model.signals.remove(signal)
    for name in ("body_front.knuckle_L.rot", "body_rear.rot"):
        model.signals.add(name=name, causality=pb.CAUSALITY_OUTPUT, components=[".e0", ".e1", ".e2", ".e3"])
    carriers = ["body_front.knuckle_L", "wheel_FR", "body_rear", "body_rear"]
    assert look_of(model, {}).carriers == dict(zip(WHEELS, carriers, strict=True))
    del model.signals[-1]
    assert look_of(model, {}).carriers["RL"] == "ref_frame"


def test_links_are_found_by_the_names_of_their_ends() -> None:
    """A rod and a spring on a rear axle of a user; the right side is the mirror image of the left."""
    points = {"origin": (-1.0, 0.0, 0.2), "SPINDLE": (0.0, 0.8, 0.0), "TOE_C": (0.1, 0.3, 0.0),
              "TOE_U": (0.1, 0.7, 0.1),
              "SPRING_C": (0.0, 0.5, 0.4), "SPRING_A": (0.0, 0.6, 0.0), "LONE_C": (0.0, 0.0, 0.0)}
    values = {f"rear.{n}.{a}": v for n, p in points.items() for a, v in zip("xyz", p, strict=True)}
    found = {link.name: link for link in links_of(values, {}, WHEELS)}
    assert set(found) == {"TOE RL", "SPRING RL", "TOE RR", "SPRING RR"}
    assert found["SPRING RL"].kind == "spring" and found["TOE RL"].kind == "rod"
    inner, outer = found["TOE RR"].ends
    assert (inner.body, outer.body, outer.wheels) == ("chassis", "wheel", ("RR",))
    assert inner.point == pytest.approx((-0.9, -0.3, 0.2)) and outer.point == pytest.approx((0.1, 0.1, 0.1))


@pytest.fixture(scope="module")
def class3() -> pb.DescribeModelResponse:
    """The description of a truck."""
    return described(FmuModel(open_builtin("class3")), "class3")


def test_a_truck_shows_its_components_springs_and_tires(class3: pb.DescribeModelResponse) -> None:
    look = look_of(class3, {"road": 2.0})
    cab = next(p for p in look.parts if p.body == "body_cab")
    assert np.ptp(np.concatenate(cab.faces), axis=0) == pytest.approx([2.4, 1.75, 1.4])  # cab.shell, as its file says
    assert {link.kind for link in look.links} == {"rod", "shock", "spring"}
    assert look.tires["FL"].radius == pytest.approx(0.4189, abs=1e-3) and look.carriers["FL"] == "body_front.knuckle_L"
    assert look.ground is None and look.road is not None and look_of(class3, {}).road is None
    assert set(look.bodies) >= {"ref_frame", "body_frame", "body_cab", "body_engine", "body_rear"}
    net = mesh(look, None, np.array([0.0, -1.0]), np.array([12.0, 1.0]))
    assert net is not None and net[..., 2].max() == pytest.approx(0.12, abs=1e-4) and net[..., 2].min() == 0.0


def test_a_truck_of_ones_own_shows_its_parts_with_its_file(
    class3: pb.DescribeModelResponse, tmp_path: Path
) -> None:
    """The built-in truck under another name."""
    text = architecture_file("class3").read_text()
    (tmp_path / "mine.toml").write_text(text.replace('name = "class3"', 'name = "mine"'))
    model = pb.DescribeModelResponse()
    model.CopyFrom(class3)
    model.model = "mine"
    assert "mine is drawn as a box; --vehicle" in undrawn(look_of(model, {}))
    look = look_of(model, {}, own_truck(tmp_path / "mine.toml"))
    assert undrawn(look) == "" and len(look.parts) == 18
    with pytest.raises(UsageError, match=r"mine: no output body_front.pos.x; expected the outputs of the truck class7"):
        look_of(model, {}, own_truck("class7"))


def test_each_tire_of_a_dual_wheel_is_drawn() -> None:
    left, right = Tires(0.5, 0.25, (-0.16, 0.16)).rings
    assert [ring[0][0][1] for ring in (left, right)] == pytest.approx([-0.035, 0.285])
    assert np.hypot(left[1][:, 0], left[1][:, 2]) == pytest.approx(0.5)
