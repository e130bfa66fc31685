"""Descriptions of FMUs with something wrong in them: real ones, changed in a place by a seeded generator."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from xml.etree import ElementTree as ET

#: What other tools, or nobody, would write as the value of an attribute.
VALUES = (
    "", " ", "0", "-1", "1", "2", "3.5", "1e400", "-1e400", "NaN", "INF", "-INF", "1,5", "0x10", "true", "TRUE", "1_0",
    "\N{ARABIC-INDIC DIGIT ONE}", "continuous", "discrete", "constant", "fixed", "tunable", "calculated", "exact",
    "approx", "input", "output", "parameter", "structuralParameter", "calculatedParameter", "independent", "local",
    "4294967295", "4294967296", "99999999999999999999", "-9223372036854775809", "1 2 3", "x" * 5000,
    "../../etc/passwd", "a/b", "Real", "None", "1.0", "2.0", "3.0", "3.0.1", "time", "tick", "%s%n", "{}", "inf nan",
)  # fmt: skip


def texts(source: bytes, count: int, seed: int) -> Iterator[bytes]:
    """``count`` descriptions, each with one to three changes."""
    chance = random.Random(seed)
    for _ in range(count):
        root = ET.fromstring(source)
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            chance.choice(_CHANGES)(root, chance)
        text = ET.tostring(root, encoding="utf-8", xml_declaration=True)
        yield _torn(text, chance) if chance.random() < 0.1 else text


def _torn(text: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(text))
    return chance.choice((text[:at], text[:at] + bytes([chance.randrange(256)]) + text[at + 1 :], text[:at] + text))


def _anything(root: ET.Element, chance: random.Random) -> ET.Element:
    return chance.choice(list(root.iter()))


def _set(root: ET.Element, chance: random.Random) -> None:
    element = _anything(root, chance)
    if element.attrib:
        element.set(chance.choice(list(element.attrib)), chance.choice(VALUES))


def _add(root: ET.Element, chance: random.Random) -> None:
    names = sorted({name for element in root.iter() for name in element.attrib})
    _anything(root, chance).set(chance.choice(names), chance.choice(VALUES))


def _drop(root: ET.Element, chance: random.Random) -> None:
    element = _anything(root, chance)
    if element.attrib:
        del element.attrib[chance.choice(list(element.attrib))]


def _remove(root: ET.Element, chance: random.Random) -> None:
    parent = chance.choice([e for e in root.iter() if len(e)])
    parent.remove(chance.choice(list(parent)))


def _double(root: ET.Element, chance: random.Random) -> None:
    parent = chance.choice([e for e in root.iter() if len(e)])
    parent.insert(chance.randrange(len(parent) + 1), deepcopy(chance.choice(list(parent))))


def _move(root: ET.Element, chance: random.Random) -> None:
    _anything(root, chance).append(deepcopy(_anything(root, chance)))


def _rename(root: ET.Element, chance: random.Random) -> None:
    _anything(root, chance).tag = chance.choice([*{e.tag for e in root.iter()}, "Real", "Float64", "Binary", "Clock"])


def _swap(root: ET.Element, chance: random.Random) -> None:
    """Takes an attribute's value from another element."""
    name = chance.choice(sorted({name for element in root.iter() for name in element.attrib}))
    one, other = chance.choices([e for e in root.iter() if name in e.attrib], k=2)
    one.set(name, other.attrib[name])


def _dimension(root: ET.Element, chance: random.Random) -> None:
    variables = root.find("ModelVariables")
    if variables is not None and len(variables):
        size = chance.choice(("0", "-1", "2", "1000000000", "99999999999999999999", ""))
        ET.SubElement(chance.choice(list(variables)), "Dimension", start=size)


_CHANGES: tuple[Callable[[ET.Element, random.Random], None], ...] = (
    _set, _set, _set, _add, _add, _drop, _drop, _remove, _double, _move, _rename, _swap, _swap, _dimension,
)  # fmt: skip
