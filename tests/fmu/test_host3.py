"""The host with FMUs of FMI 3: our own, with arrays, and one with a signal of each kind of type."""

from __future__ import annotations

import subprocess
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import oscillator
import pytest

from jounce_fmu.build.library import Sources, compiler, fmi_headers
from jounce_fmu.build.pack import export_fmu
from jounce_fmu.importer.foreign import library_path
from jounce_fmu.importer.host import Factory, FmuError, FmuInstance, open_fmu

DESCRIPTION = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="types3" instantiationToken="{types3}">
  <CoSimulation modelIdentifier="types3" fixedInternalStepSize="0.25"/>
  <UnitDefinitions><Unit name="m"><BaseUnit m="1"/></Unit></UnitDefinitions>
  <TypeDefinitions>
    <Float64Type name="Length" unit="m" max="50"/>
    <EnumerationType name="Mode"><Item name="A" value="1"/><Item name="B" value="2"/></EnumerationType>
  </TypeDefinitions>
  <ModelVariables>
    <Float64 name="time" valueReference="0" causality="independent" variability="continuous"/>
    <Float32 name="f32" valueReference="1" causality="input" start="0.5" max="9"/>
    <Float64 name="matrix" valueReference="2" causality="input" declaredType="Length" start="1 2 3 4">
      <Dimension start="2"/><Dimension start="2"/></Float64>
    <Int8 name="i8" valueReference="3" causality="input" start="-3"/>
    <UInt64 name="u64" valueReference="4" causality="input" start="7"/>
    <Boolean name="truth" valueReference="5" causality="input" start="true false"><Dimension start="2"/></Boolean>
    <Enumeration name="mode" valueReference="6" causality="input" declaredType="Mode" start="2"/>
    <Float64 name="k" valueReference="7" causality="parameter" variability="fixed" start="1 2 3">
      <Dimension start="3"/></Float64>
    <String name="file" valueReference="9" causality="parameter" variability="fixed"><Start value="/etc"/></String>
    <Float32 name="of32" valueReference="101" causality="output"/>
    <Float64 name="omatrix" valueReference="102" causality="output"><Dimension start="2"/><Dimension start="2"/>
    </Float64>
    <Int8 name="oi8" valueReference="103" causality="output"/>
    <UInt64 name="ou64" valueReference="104" causality="output"/>
    <Boolean name="otruth" valueReference="105" causality="output"><Dimension start="2"/></Boolean>
    <Enumeration name="omode" valueReference="106" causality="output" declaredType="Mode"/>
    <Float64 name="sum" valueReference="108" causality="output"/>
  </ModelVariables>
  <ModelStructure/>
</fmiModelDescription>
"""


@pytest.fixture(scope="module")
def types(tmp_path_factory: pytest.TempPathFactory) -> Factory:
    folder = tmp_path_factory.mktemp("types3")
    source, library = Path(__file__).parent / "models" / "types3.c", folder / "types3.so"
    flags = ["-O1", "-ffp-contract=off", "-std=c99", "-shared", "-fPIC", f"-I{fmi_headers()}"]
    subprocess.run([*compiler(), *flags, "-o", str(library), str(source)], check=True)
    with zipfile.ZipFile(folder / "types3.fmu", "w") as archive:
        archive.writestr("modelDescription.xml", DESCRIPTION)
        archive.write(library, str(library_path(Path(), "types3", 3)))
    return open_fmu(folder / "types3.fmu")


@pytest.fixture
def made(types: Factory) -> Iterator[FmuInstance]:
    with types.instance("a") as instance:
        yield instance


def test_the_description_gives_types_bounds_units_and_elements_of_arrays(types: Factory) -> None:
    found = {s.name: s for s in types.table.signals}
    assert "file" not in found
    matrix, i8, u64, truth, mode = (found[n] for n in ("matrix", "i8", "u64", "truth", "mode"))
    assert matrix.components == ("[1,1]", "[1,2]", "[2,1]", "[2,2]")
    assert (matrix.start, matrix.unit, matrix.minimum, matrix.maximum) == ((1.0, 2.0, 3.0, 4.0), "m", -np.inf, 50.0)
    assert (i8.type, i8.minimum, i8.maximum, i8.start) == ("Integer", -128.0, 127.0, (-3.0,))
    assert (u64.minimum, u64.maximum) == (0.0, 2.0**53)
    assert (truth.type, truth.start, truth.components) == ("Boolean", (1.0, 0.0), ("[1]", "[2]"))
    assert (mode.type, mode.items, mode.minimum, mode.maximum) == ("Enumeration", ("A", "B"), 1.0, 2.0)
    assert (found["f32"].maximum, found["f32"].minimum) == (9.0, -np.inf)
    assert [s.name for s in types.table.inputs][:3] == ["f32", "matrix[1,1]", "matrix[1,2]"]
    assert (types.tick_length, types.interface.tick_parameter, types.interface.keeps_state) == (0.25, False, False)


def test_values_of_every_type_go_in_and_come_out(made: FmuInstance) -> None:
    made.setup()
    values = [0.1, 1.5, 2.5, 3.5, 4.5, -128.0, 2.0**53, 0.0, 1.0, 2.0]
    made.set_inputs(np.array(values))
    made.step(1)
    assert made.time == 0.25
    assert made.get_outputs().tolist() == [float(np.float32(0.1)), *values[1:], 321.0]


def test_one_element_of_a_parameter_array_may_be_set_and_the_others_keep_their_start(made: FmuInstance) -> None:
    made.setup({"k[2]": 5.0})
    assert made.get_outputs()[-1] == 1.0 + 50.0 + 300.0


def test_start_inputs_of_an_array_and_an_enumerations_item_are_set_by_name(made: FmuInstance) -> None:
    made.setup({}, {"matrix[2,1]": -7.0, "truth[2]": True, "mode": "A"})
    made.step(1)
    assert made.get_outputs().tolist()[1:5] == [1.0, 2.0, -7.0, 4.0]
    assert made.get_outputs().tolist()[7:10] == [1.0, 1.0, 1.0]
    for name, value in (("i8", 128.0), ("i8", 0.5), ("mode", "C"), ("matrix", 1.0)):
        with pytest.raises(FmuError, match=name):
            made.set_values({name: value})


def test_a_step_that_ends_a_rounding_early_has_ended(made: FmuInstance) -> None:
    made.setup()
    values = np.array([s.start for s in made.table.inputs])
    values[5] = 96
    made.set_inputs(values)
    made.step(4)
    assert made.ticks == 4


@pytest.mark.parametrize(("i8", "words"), [
    (95, r"^fmi3DoStep: fmi3Discard \(refused, or not taken to its end\) without a message$"), (97, "^100 % refused$"),
    (98, "returned early"), (99, "requested the end of the simulation at 0.25 s"),
])  # fmt: skip
def test_a_step_that_does_not_end_where_it_should_is_an_error(made: FmuInstance, i8: int, words: str) -> None:
    made.setup()
    values = np.array([s.start for s in made.table.inputs])
    values[5] = i8
    made.set_inputs(values)
    with pytest.raises(FmuError, match=words):
        made.step(1)
    assert made.ticks == 0


def test_an_fmu_without_states_says_so(made: FmuInstance) -> None:
    made.setup()
    for call in (made.get_state, lambda: made.set_state(b"")):
        with pytest.raises(FmuError, match="types3 cannot save its state"):
            call()


@pytest.mark.parametrize("scalars", [False, True])
def test_our_own_fmu_of_fmi_3_gives_the_bits_of_fmi_2_by_ticks_and_from_a_state(
        oscillator_sources: Sources, native: Path, tmp_path: Path, factory: Factory, scalars: bool,
        ) -> None:  # fmt: skip
    path = export_fmu(tmp_path / "o.fmu", oscillator.TABLE, oscillator_sources, library_folder=native, fmi=3,
                      scalars=scalars)  # fmt: skip
    foreign = open_fmu(path)
    assert len(foreign.table.signals) == len(oscillator.TABLE.signals if not scalars else oscillator.TABLE.scalars)
    assert foreign.interface.tick_parameter and foreign.interface.keeps_state
    forces: Callable[[int], np.ndarray[tuple[int], np.dtype[np.float64]]]
    forces = lambda k: np.array([3.0 * np.sin(0.1 * k), 1.0, 2.0, float(k)])  # noqa: E731
    with foreign.instance("three") as three, factory.instance("two") as two:
        three.by_tick = True
        for made in (three, two):
            made.setup({"mass": 3.0, "tick": 0.002, "cubic": True, "direction": "LEFT"})
        for k in range(50):
            for made in (three, two):
                made.set_inputs(forces(k))
                made.step(3)
            assert three.get_outputs().tolist() == two.get_outputs().tolist()
        state = three.get_state()
        three.step(7)
        after = three.get_outputs().tolist()
        three.set_state(state)
        assert (three.ticks, three.time) == (150, 0.3)
        three.step(7)
        assert three.get_outputs().tolist() == after
