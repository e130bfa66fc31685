"""A long emitted function as pieces that it calls one after the other.

The time and memory of a compiler grow faster than the length of a straight line of code, since every number that is
read again far below competes for a register. A piece takes what earlier ones have made from memory. The values are the
same bits.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

__all__ = ["LONG", "PIECE", "in_pieces"]

#: Lines of a function that is emitted in pieces, and of one piece: gcc 12 compiles the five-link's tangents of 9700
#: lines in 1.5 s, 4.0 s undivided, and they run a tenth faster.
LONG: Final = 3000
PIECE: Final = 600
_DEFINED: Final = re.compile(r"    const (?:T|JN_MASK) (\w+) = (.*);")
_NAME: Final = re.compile(r"\b[tr]\d+\b")
#: What each piece reads anew, where it first needs it.
_ANEW: Final = re.compile(r"JN_(?:CONST|GET|SAME)\([^()]*\)")


def in_pieces(name: str, parameters: Sequence[str], lines: Sequence[str], piece: int = PIECE) -> str:
    """C text of a function of these parameters, each with its type, and of a body of definitions and JN_PUT.

    ``piece``: lines of the body in each.
    """
    defined = [_DEFINED.match(line) for line in lines]
    place = {d[1]: k for k, d in enumerate(defined) if d}
    read = [dict.fromkeys(_NAME.findall(d[2] if d else line)) for d, line in zip(defined, lines, strict=True)]
    anew = {d[1] for d in defined if d and _ANEW.fullmatch(d[2])}
    late = {n for k, names in enumerate(read) for n in names if place[n] // piece < k // piece} - anew
    where = {n: k for k, n in enumerate(n for n in place if n in late)}
    arguments = [p.split()[-1] for p in parameters]
    pieces: list[str] = []
    calls: list[str] = []
    for first in range(0, len(lines), piece):
        pieces.append(f"JN_APART void JN_NAME({name}_{len(calls)})({', '.join([*parameters, 'T *w'])}) {{")
        pieces += [f"    (void){a};" for a in [*arguments, "w"]]
        there: set[str] = set()
        for d, line, names in list(zip(defined, lines, read, strict=True))[first : first + piece]:
            for n in names:
                if n not in there and (n in anew or place[n] < first):
                    kind = lines[place[n]].split()[1]
                    pieces.append(lines[place[n]] if n in anew else f"    const {kind} {n} = ({kind})w[{where[n]}];")
                there.add(n)
            if d and d[1] in anew:
                continue
            pieces.append(line)
            if d and d[1] in where:
                pieces.append(f"    w[{where[d[1]]}] = (T){d[1]};")
        pieces.append("}")
        calls.append(f"    JN_NAME({name}_{len(calls)})({', '.join([*arguments, 'w'])});")
    head = f"JN_FN void JN_NAME({name})({', '.join(parameters)}) {{"
    return "\n".join([*pieces, head, f"    T w[{max(1, len(where))}];", *calls, "}"]) + "\n"
