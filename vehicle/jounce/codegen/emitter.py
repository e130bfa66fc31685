"""CasADi functions as plain C for one or four lanes.

A function is written in single-assignment form over a number type T: a double, or four doubles side by
side (one a corner). Numbers of one lane lie JN_STRIDE doubles apart, so the same text serves both. The file
is included once for every T by `jn_lanes.h` of the runtime's vehicle models, which defines T and the
operations; every operation is exact IEEE arithmetic in both, hence the same bits.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping

import casadi as ca

from jounce.codegen.forward import TRUTHS
from jounce.codegen.ordering import ordered
from jounce.codegen.pieces import LONG, in_pieces

_BINARY: dict[int, Callable[[str, str], str]] = {
    ca.OP_ADD: lambda a, b: f"{a} + {b}",
    ca.OP_SUB: lambda a, b: f"{a} - {b}",
    ca.OP_MUL: lambda a, b: f"{a} * {b}",
    ca.OP_DIV: lambda a, b: f"{a} / {b}",
    ca.OP_FMIN: lambda a, b: f"JN_MIN({a}, {b})",
    ca.OP_FMAX: lambda a, b: f"JN_MAX({a}, {b})",
    ca.OP_LT: lambda a, b: f"JN_LT({a}, {b})",
    ca.OP_LE: lambda a, b: f"JN_LE({a}, {b})",
    ca.OP_EQ: lambda a, b: f"JN_EQ({a}, {b})",
    ca.OP_NE: lambda a, b: f"JN_NE({a}, {b})",
    ca.OP_AND: lambda a, b: f"JN_AND({a}, {b})",
    ca.OP_OR: lambda a, b: f"JN_OR({a}, {b})",
    ca.OP_IF_ELSE_ZERO: lambda a, b: f"JN_IF({a}, {b})",
    ca.OP_ATAN2: lambda a, b: f"JN_ATAN2({a}, {b})",
}
_UNARY: dict[int, Callable[[str], str]] = {
    ca.OP_ASSIGN: lambda a: a,
    ca.OP_NEG: lambda a: f"-{a}",
    ca.OP_SQ: lambda a: f"{a} * {a}",
    ca.OP_TWICE: lambda a: f"{a} + {a}",
    ca.OP_INV: lambda a: f"JN_CONST(1.0) / {a}",
    ca.OP_SQRT: lambda a: f"JN_SQRT({a})",
    ca.OP_FABS: lambda a: f"JN_ABS({a})",
    ca.OP_FLOOR: lambda a: f"JN_FLOOR({a})",
    ca.OP_SIN: lambda a: f"JN_SIN({a})",
    ca.OP_COS: lambda a: f"JN_COS({a})",
    ca.OP_ATAN: lambda a: f"JN_ATAN({a})",
    ca.OP_ASIN: lambda a: f"JN_ASIN({a})",
    ca.OP_TAN: lambda a: f"JN_TAN({a})",
    ca.OP_EXP: lambda a: f"JN_EXP({a})",
    ca.OP_LOG: lambda a: f"JN_LOG({a})",
    ca.OP_NOT: lambda a: f"JN_NOT({a})",
}
#: Those that have a shorter form for functions that call many of them (`jn_quick.h`).
_QUICK = {ca.OP_SIN: "JN_QUICK_SIN", ca.OP_COS: "JN_QUICK_COS", ca.OP_ATAN: "JN_QUICK_ATAN"}
#: Operations that read truths: all operands, or the first alone.
_READS_TRUTH = {ca.OP_AND: 2, ca.OP_OR: 2, ca.OP_NOT: 1, ca.OP_IF_ELSE_ZERO: 1}


def emit_function(
    function: ca.Function, shared: Collection[int] = (), *, quick: bool = False, pieces: bool = False
) -> str:
    """C text of an SX function: ``JN_FN void name(const double *in0, ..., double *out0, ...)``.

    Inputs and outputs are flat, in the function's order; ``shared`` inputs are the same for all lanes. ``quick`` calls
    the trigonometry of `jn_quick.h` and selects with one operation, which changes last bits. ``pieces`` emits a long
    function as several (`jounce.codegen.pieces`), but not a ``quick`` one, which has branches. Raises
    NotImplementedError for an operation that has no counterpart in the lane header, ValueError for a sparse vector.
    """
    if not all(s.is_dense() for s in (*map(function.sparsity_in, range(function.n_in())),
                                      *map(function.sparsity_out, range(function.n_out())))):  # fmt: skip
        raise ValueError(f"{function.name()}: an input or output has structural zeros, which have no place in C")
    ins = [f"const double *JN_RESTRICT i{k}" for k in range(function.n_in())]
    outs = [f"double *JN_RESTRICT o{k}" for k in range(function.n_out())]
    lines: list[str] = []
    current: dict[int, str] = {}
    inverse: dict[str, str] = {}
    truths: set[str] = set()
    conditional: dict[str, tuple[str, str]] = {}
    opposite: dict[str, str] = {}
    repeated = _shared_divisors(function)
    count = 0

    def operand(op: int, source: list[int], place: int) -> str:
        name = current[source[place]]
        if place < _READS_TRUTH.get(op, 0):
            if name not in truths:
                raise NotImplementedError(f"{function.name()}: a number is used as a truth")
            return name
        return f"JN_ONE({name})" if name in truths else name

    def chosen(source: list[int]) -> str:
        """The selection that a sum of two numbers is of which one is 0, else an empty text."""
        (truth, value), (other, alternative) = (conditional.get(current[s], ("", "")) for s in source)
        if truth and opposite.get(truth) == other:
            return f"JN_CHOOSE({other}, {alternative}, {value})"
        return f"JN_CHOOSE({truth}, {value}, {alternative})" if truth and opposite.get(other) == truth else ""

    for k in range(function.n_instructions()):
        op = function.instruction_id(k)
        source, target = function.instruction_input(k), function.instruction_output(k)
        if op == ca.OP_OUTPUT:
            lines.append(f"    JN_PUT(o{target[0]}, {target[1]}, {current[source[0]]});")
            continue
        if op == ca.OP_CONST:
            text = f"JN_CONST({_number(function.instruction_constant(k))})"
        elif op == ca.OP_INPUT:
            text = f"{'JN_SAME' if source[0] in shared else 'JN_GET'}(i{source[0]}, {source[1]})"
        elif op == ca.OP_DIV and k in repeated:
            divisor = current[source[1]]
            if divisor not in inverse:
                inverse[divisor] = f"r{len(inverse)}"
                lines.append(f"    const T {inverse[divisor]} = JN_CONST(1.0) / {divisor};")
            text = f"{operand(op, source, 0)} * {inverse[divisor]}"
        elif quick and op == ca.OP_ADD and (choice := chosen(source)):
            text = choice
        elif quick and op in _QUICK:
            text = f"{_QUICK[op]}({operand(op, source, 0)})"
        elif op in _BINARY:
            text = _BINARY[op](operand(op, source, 0), operand(op, source, 1))
        elif op in _UNARY:
            text = _UNARY[op](operand(op, source, 0))
        else:
            raise NotImplementedError(f"{function.name()}: operation {op} has no C counterpart")
        name = f"t{count}"
        count += 1
        if op in TRUTHS:
            truths.add(name)
        if op == ca.OP_IF_ELSE_ZERO:
            conditional[name] = (operand(op, source, 0), operand(op, source, 1))
        elif op == ca.OP_NOT:
            opposite[name] = operand(op, source, 0)
        lines.append(f"    const {'JN_MASK' if op in TRUTHS else 'T'} {name} = {text};")
        current[target[0]] = name
    if pieces and not quick and len(lines) >= LONG:
        return in_pieces(function.name(), ins + outs, lines)
    head = [f"JN_FN void JN_NAME({function.name()})({', '.join(ins + outs)}) {{"]
    head += [f"    (void)i{k};" for k in range(function.n_in())]
    return "\n".join([*head, *(ordered(lines) if quick else lines), "}"]) + "\n"


def _shared_divisors(function: ca.Function) -> set[int]:
    """Instructions that divide by a number others divide by, too: they multiply by one inverse instead."""
    value: dict[int, int] = {}  # work place to the instruction that wrote it
    users: dict[int, list[int]] = {}
    for k in range(function.n_instructions()):
        op = function.instruction_id(k)
        if op == ca.OP_OUTPUT:
            continue
        if op == ca.OP_DIV:
            users.setdefault(value[function.instruction_input(k)[1]], []).append(k)
        value[function.instruction_output(k)[0]] = k
    return {k for same in users.values() if len(same) > 1 for k in same}


def emit_file(
    functions: list[ca.Function], generator: str, shared: Mapping[str, Collection[int]] | None = None,
    quick: Collection[str] = (), *, pieces: bool = False,
) -> str:
    """A lane-independent C file of those functions; the head names the generator and the text's hash.

    ``shared``: inputs that are the same for all lanes, by function name; ``quick``: names of the functions emitted so;
    ``pieces``: whether long ones are emitted in pieces.
    """
    body = "\n".join(emit_function(f, (shared or {}).get(f.name(), ()), quick=f.name() in quick, pieces=pieces)
                     for f in functions)  # fmt: skip
    digest = hashlib.sha256(body.encode()).hexdigest()
    return (
        f"/* Emitted by {generator}; do not edit. sha256 of what follows: {digest}\n"
        " * Included with T and the JN_ operations defined; see jn_lanes.h. */\n"
        f"{body}"
    )


def _number(value: float) -> str:
    text = repr(float(value))
    return text if any(c in text for c in ".en") else text + ".0"
