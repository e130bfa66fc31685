"""Descriptions that other tools write: what is mended with a warning, and what is refused whatever is wrong."""

from __future__ import annotations

import logging
from pathlib import Path

import hostile
import malformed
import oscillator
import pytest
from test_host3 import DESCRIPTION as TYPES3

from jounce_fmu.description.fmi2 import model_description
from jounce_fmu.description.fmi3 import model_description3
from jounce_fmu.importer.foreign import Interface, read_description

#: As pythonfmu 0.7.0 writes variables whose author names no variability.
NATURAL = """<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="Natural" guid="g" variableNamingConvention="structured">
  <CoSimulation modelIdentifier="Natural" canHandleVariableCommunicationStepSize="true"/>
  <ModelVariables>
    <ScalarVariable name="gain" valueReference="0" causality="parameter" initial="exact"><Real start="2.0"/>
    </ScalarVariable>
    <ScalarVariable name="count" valueReference="1" causality="output"><Integer/></ScalarVariable>
    <ScalarVariable name="on" valueReference="2" causality="output"><Boolean/></ScalarVariable>
    <ScalarVariable name="level" valueReference="3" causality="input"><Integer start="1"/></ScalarVariable>
    <ScalarVariable name="x" valueReference="4" causality="input"><Real start="0.5"/></ScalarVariable>
  </ModelVariables>
  <ModelStructure><Outputs><Unknown index="2"/><Unknown index="3"/></Outputs></ModelStructure>
</fmiModelDescription>
"""
DESCRIPTIONS = {
    "hostile": hostile.DESCRIPTION.replace("IDENTIFIER", "hostile").encode(),
    "types3": TYPES3.encode(),
    "oscillator, FMI 2": model_description(oscillator.TABLE, "oscillator"),
    "oscillator, FMI 3": model_description3(oscillator.TABLE, "oscillator"),
}


def interface(folder: Path, text: str | bytes) -> Interface:
    file = folder / "modelDescription.xml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Interface.of_description(read_description(file))


def test_variables_that_need_a_variability_and_have_none_get_it_with_a_warning(
        tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        found = interface(tmp_path, NATURAL)
    assert {s.name: (s.type, s.variability) for s in found.table.signals} == {
        "gain": ("Real", "fixed"), "count": ("Integer", "discrete"), "on": ("Boolean", "discrete"),
        "level": ("Integer", "discrete"), "x": ("Real", "continuous")}  # fmt: skip
    assert [r.getMessage().split(":")[0] for r in caplog.records] == ["Natural"] * 2
    assert caplog.text.count("count, on, level") == 1 and caplog.text.count(": gain") == 1


def test_a_description_that_needs_no_mending_gives_no_warning(
        tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for text in DESCRIPTIONS.values():
        interface(tmp_path, text)
    assert not caplog.records


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_whatever_is_wrong_with_a_description_is_a_value_error(name: str, tmp_path: Path) -> None:
    """200 of the kind each; `tests/fmu/malformed.py` makes any number."""
    refused = 0
    for text in malformed.texts(DESCRIPTIONS[name], 200, seed=7):
        try:
            found = interface(tmp_path, text)
        except ValueError as error:
            refused += 1
            assert str(error)
        else:
            assert found.tick_length > 0.0 and all(abs(s.start) < float("inf") for s in found.table.inputs)
    assert 50 < refused < 200


@pytest.mark.parametrize(("old", "new", "words"), [
    ('<Dimension start="3"/>', '<Dimension start="1000000000"/>', "expected 1 to 1000000 elements"),
    ('<Dimension start="3"/>', '<Dimension start="0"/>', "elements|Dimension"),
    ('start="0.5"', 'start="NaN"', "f32 starts at NaN: expected finite numbers"),
    ('max="9"', 'max="NaN"', "f32 has a bound NaN: expected a number"),
    ("<fmiModelDescription", '<!DOCTYPE x [<!ENTITY e SYSTEM "/etc/passwd">]><fmiModelDescription', "DOCTYPE"),
])  # fmt: skip
def test_what_a_schema_lets_pass_is_refused_in_words(old: str, new: str, words: str, tmp_path: Path) -> None:
    assert old in TYPES3
    with pytest.raises(ValueError, match=words):
        interface(tmp_path, TYPES3.replace(old, new, 1))
