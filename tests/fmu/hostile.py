"""An FMU that segfaults, loops, eats memory, exits or refuses when its input ``act`` says so."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

from jounce_fmu.build.library import compiler, fmi_headers
from jounce_fmu.importer.foreign import library_path

GOOD, SEGFAULT, LOOP, MEMORY, EXIT, REFUSE, PRINT, SLOW = range(8)
STEP = 0.002

DESCRIPTION = f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="hostile" guid="{{hostile}}">
  <CoSimulation modelIdentifier="IDENTIFIER" canHandleVariableCommunicationStepSize="true"/>
  <UnitDefinitions><Unit name="m"><BaseUnit m="1"/></Unit></UnitDefinitions>
  <TypeDefinitions>
    <SimpleType name="Length"><Real unit="m" min="-5" max="5"/></SimpleType>
    <SimpleType name="Act"><Enumeration>
      <Item name="GOOD" value="0"/><Item name="SEGFAULT" value="1"/><Item name="LOOP" value="2"/>
      <Item name="MEMORY" value="3"/><Item name="EXIT" value="4"/><Item name="REFUSE" value="5"/>
      <Item name="PRINT" value="6"/><Item name="SLOW" value="7"/>
    </Enumeration></SimpleType>
  </TypeDefinitions>
  <DefaultExperiment stepSize="{STEP}"/>
  <ModelVariables>
    <ScalarVariable name="x" valueReference="0" causality="input" description="in">
      <Real declaredType="Length" start="0.5"/></ScalarVariable>
    <ScalarVariable name="y" valueReference="1" causality="output"><Real unit="m"/></ScalarVariable>
    <ScalarVariable name="gain" valueReference="2" causality="parameter" variability="fixed">
      <Real start="1" min="0" max="10"/></ScalarVariable>
    <ScalarVariable name="act" valueReference="0" causality="input" variability="discrete">
      <Enumeration declaredType="Act" start="0"/></ScalarVariable>
    <ScalarVariable name="steps" valueReference="1" causality="output" variability="discrete"><Integer/>
    </ScalarVariable>
    <ScalarVariable name="flip" valueReference="0" causality="input" variability="discrete"><Boolean start="true"/>
    </ScalarVariable>
    <ScalarVariable name="flipped" valueReference="1" causality="output" variability="discrete"><Boolean/>
    </ScalarVariable>
    <ScalarVariable name="path" valueReference="0" causality="parameter" variability="fixed"><String start="/etc"/>
    </ScalarVariable>
  </ModelVariables>
  <ModelStructure><Outputs><Unknown index="2"/><Unknown index="5"/><Unknown index="7"/></Outputs></ModelStructure>
</fmiModelDescription>
"""


def build(path: Path, identifier: str = "hostile") -> Path:
    """Compiles and packs it; the description says ``identifier``, the library is always ``hostile``."""
    source = Path(__file__).parent / "models" / "hostile.c"
    library = path.with_suffix(".so")
    flags = ["-O1", "-ffp-contract=off", "-std=c99", "-shared", "-fPIC", f"-I{fmi_headers()}"]
    subprocess.run([*compiler(), *flags, "-o", str(library), str(source)], check=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("modelDescription.xml", DESCRIPTION.replace("IDENTIFIER", identifier))
        archive.write(library, str(library_path(Path(), "hostile")))
    library.unlink()
    return path


def after(n: int, x: float, gain: float = 1.0, y: float = 0.0) -> float:
    """``y`` after n steps, in the order of operations of the C code."""
    for _ in range(n):
        y = y + STEP * (gain * x - 30.0 * y)
    return y
