"""Splits off the part of a function that depends only on the vehicle's numbers, so that it is computed once.

The emitted right-hand side then has a tenth fewer operations and few divisions.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from jounce.codegen.forward import TRUTHS
from jounce.math.algebra import SX


@dataclass
class _Value:
    expression: SX
    fixed: bool
    """Whether it depends only on fixed numbers."""
    known: SX | None = None
    """Its symbol in the lean function; None until it is used there."""
    inverse: SX | None = None


def prepare(function: ca.Function, place: int) -> tuple[ca.Function, ca.Function]:
    """(lean function, function from numbers to prepared numbers) of an SX function whose input ``place`` is fixed.

    The lean function has the name and the inputs of the given one, with prepared numbers in that input: the plain
    numbers, and then every expression of them that a variable quantity is combined with. Division by such an expression
    becomes multiplication by its inverse.
    """
    inputs = [SX.sym(f"v{k}", function.size1_in(k)) for k in range(function.n_in())]
    outputs = [SX.zeros(function.size1_out(k)) for k in range(function.n_out())]
    symbols: list[SX] = []
    prepared: list[SX] = []

    def keep(expression: SX) -> SX:
        symbols.append(SX.sym(f"k{len(symbols)}"))
        prepared.append(expression)
        return symbols[-1]

    def seen(v: _Value) -> SX:
        if not v.fixed:
            return v.expression
        if v.known is None:
            v.known = keep(v.expression)
        return v.known

    def divided(a: _Value, b: _Value) -> SX:
        if not b.fixed:
            return seen(a) / seen(b)
        if b.expression.is_constant():
            return seen(a) * (1 / b.expression)
        if b.inverse is None:
            b.inverse = keep(1 / b.expression)
        return seen(a) * b.inverse

    values: dict[int, _Value] = {}
    for k in range(function.n_instructions()):
        op = function.instruction_id(k)
        source, target = function.instruction_input(k), function.instruction_output(k)
        if op == ca.OP_OUTPUT:
            outputs[target[0]][target[1]] = seen(values[source[0]])
        elif op == ca.OP_CONST:
            number = SX(function.instruction_constant(k))
            values[target[0]] = _Value(number, True, number)
        elif op == ca.OP_INPUT:
            entry = inputs[source[0]][source[1]]
            values[target[0]] = _Value(entry, source[0] == place, entry)
        else:
            of = [values[s] for s in source]
            fixed = all(v.fixed for v in of) and op not in TRUTHS
            if op == ca.OP_DIV and not fixed:
                values[target[0]] = _Value(divided(*of), False)
                continue
            operands = [v.expression if fixed else seen(v) for v in of]
            value = SX.binary(op, *operands) if len(of) == 2 else SX.unary(op, *operands)
            values[target[0]] = _Value(value, fixed)
    numbers = inputs[place]
    inputs[place] = ca.vertcat(numbers, *symbols)
    lean = ca.Function(function.name(), inputs, [ca.cse(v) for v in outputs])
    return lean, ca.Function(f"{function.name()}_numbers", [numbers], [ca.cse(ca.vertcat(numbers, *prepared))])


def first_rows(function: ca.Function, name: str, rows: int) -> ca.Function:
    """The function NAME with only the first ``rows`` of the single output of ``function``."""
    inputs = [SX.sym(f"v{k}", function.size1_in(k)) for k in range(function.n_in())]
    return ca.Function(name, inputs, [ca.cse(function(*inputs)[:rows])])


def with_inverses(function: ca.Function) -> ca.Function:
    """The same SX function with products in place of quotients: the inverse of each divisor is made once.

    A processor has one slow divider. CasADi itself turns x * (1 / y) into x / y wherever it can, so this comes last.
    """
    inputs = [SX.sym(f"v{k}", function.size1_in(k)) for k in range(function.n_in())]
    outputs = [SX.zeros(function.size1_out(k)) for k in range(function.n_out())]
    values: dict[int, SX] = {}
    inverses: dict[int, SX] = {}
    simplifies = ca.GlobalOptions.getSimplificationOnTheFly()
    ca.GlobalOptions.setSimplificationOnTheFly(False)
    try:
        for k in range(function.n_instructions()):
            op = function.instruction_id(k)
            source, target = function.instruction_input(k), function.instruction_output(k)
            if op == ca.OP_OUTPUT:
                outputs[target[0]][target[1]] = values[source[0]]
                continue
            if op == ca.OP_CONST:
                value = SX(function.instruction_constant(k))
            elif op == ca.OP_INPUT:
                value = inputs[source[0]][source[1]]
            elif op in (ca.OP_DIV, ca.OP_INV) and not values[source[-1]].is_constant():
                divisor = values[source[-1]]
                key = divisor.element_hash()
                if key not in inverses:
                    inverses[key] = SX.unary(ca.OP_INV, divisor)
                value = inverses[key]
                if op == ca.OP_DIV:
                    value = SX.binary(ca.OP_MUL, values[source[0]], value)
            else:
                of = [values[s] for s in source]
                value = SX.binary(op, *of) if len(of) == 2 else SX.unary(op, *of)
            values[target[0]] = value
        return ca.Function(function.name(), inputs, outputs)
    finally:
        ca.GlobalOptions.setSimplificationOnTheFly(simplifies)
