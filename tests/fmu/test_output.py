"""What others print becomes lines of a log, whatever they print and however much."""

from __future__ import annotations

import os
import re

from hypothesis import given
from hypothesis import strategies as st

from jounce_fmu.importer.output import LINES, LONGEST, Output


def said(*pieces: bytes) -> list[str]:
    """Lines passed on of what is written in these pieces."""
    end, start = os.pipe()
    lines: list[str] = []
    output = Output(os.fdopen(end, "rb", buffering=0), lines.append)
    output.start()
    with os.fdopen(start, "wb", buffering=0) as pipe:
        for piece in pieces:
            pipe.write(piece)
    output.join(60)
    assert not output.is_alive()
    return lines


def test_lines_come_whole_however_they_are_written() -> None:
    assert said(b"one\ntw", b"o\r\n\n", b"three") == ["one", "two", "three"]
    assert said() == said(b"\n\n") == []


def test_bytes_that_are_no_text_are_shown_all_the_same() -> None:
    assert said(b"\xff\x00a\n") == ["\ufffd\x00a"]


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_no_byte_of_a_few_short_lines_is_lost(pieces: list[bytes]) -> None:
    whole = b"".join(pieces).split(b"\n")
    assert said(*pieces) == [x.decode(errors="replace").rstrip("\r") for x in whole if x]


def test_a_line_without_an_end_is_cut_and_not_kept() -> None:
    lines = said(*[b"x" * 50_000] * 20)
    assert 1 <= len(lines) <= 20 and all(set(line) == {"x"} and len(line) <= LONGEST for line in lines)


def test_of_a_flood_a_second_gives_some_lines_and_the_number_of_the_others() -> None:
    lines = said(*[b"flood\n" * 1000] * 300)
    more = [int(m[1]) for m in (re.fullmatch(r"\((\d+) more lines\)", line) for line in lines) if m]
    plain = lines.count("flood")
    assert plain + sum(more) == 300_000 and plain + len(more) == len(lines)
    assert LINES <= plain <= LINES * (len(more) + 1)


def test_who_writes_too_much_waits_and_nothing_is_lost() -> None:
    end, start = os.pipe()
    lines: list[str] = []
    output = Output(os.fdopen(end, "rb", buffering=0), lines.append, 1000.0)
    output.start()
    with os.fdopen(start, "wb", buffering=0) as pipe:
        for k in range(3):
            pipe.write(b"%d\n" % k + b"." * 70_000 + b"\n")
    output.join(60)
    assert [line for line in lines if line.isdigit()] == ["0", "1", "2"]
