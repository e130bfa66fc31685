"""Forward-mode derivatives of expressions: each operation computes a tangent beside its value.

CasADi's own derivatives multiply a branch that is not taken by zero, and divide by the root of the sliding speed, which
is zero at rest. Both give 0 times infinity at states that occur in a vehicle. Here a branch that is not taken has no
tangent. At a kink the tangent is the mean of those on both sides, which is the limit of a central difference and the
gain of a small sinusoid. sqrt(x) has no finite derivative at x = 0, where its tangent is set to 0.

Source: A. Griewank, A. Walther 2008, "Evaluating Derivatives", section 3.1 (forward mode), chapter 14 (kinks).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca

from jounce.math.algebra import SX


def chosen(truth: SX, value: SX) -> SX:
    """`value` if the truth holds, otherwise 0, even if `value` is not finite."""
    return SX.binary(ca.OP_IF_ELSE_ZERO, truth, value)


def _extreme(a_wins: SX, b_wins: SX, tie: SX, da: SX, db: SX) -> SX:
    return chosen(a_wins, da) + chosen(b_wins, db) + chosen(tie, 0.5 * (da + db))


def _angle(y: SX, x: SX, dy: SX, dx: SX) -> SX:
    square = x * x + y * y
    return chosen(square > 0, (x * dy - y * dx) / square)


#: Operation -> function that gives its tangent from its operands, its value and the operands' tangents.
_UNARY: dict[int, Callable[[SX, SX, SX], SX]] = {
    ca.OP_ASSIGN: lambda _a, _v, da: da,
    ca.OP_NEG: lambda _a, _v, da: -da,
    ca.OP_SQ: lambda a, _v, da: 2 * a * da,
    ca.OP_TWICE: lambda _a, _v, da: 2 * da,
    ca.OP_INV: lambda _a, v, da: -v * v * da,
    ca.OP_SQRT: lambda a, v, da: chosen(a > 0, da / (2 * v)),
    ca.OP_FABS: lambda a, _v, da: chosen(a > 0, da) - chosen(a < 0, da),
    ca.OP_FLOOR: lambda _a, _v, da: 0 * da,
    ca.OP_SIN: lambda a, _v, da: ca.cos(a) * da,
    ca.OP_COS: lambda a, _v, da: -ca.sin(a) * da,
    ca.OP_ATAN: lambda a, _v, da: da / (1 + a * a),
    ca.OP_ASIN: lambda a, _v, da: da / ca.sqrt((1 - a) * (1 + a)),
    ca.OP_TAN: lambda _a, v, da: (1 + v * v) * da,
    ca.OP_EXP: lambda _a, v, da: v * da,
    ca.OP_LOG: lambda a, _v, da: da / a,
}
_BINARY: dict[int, Callable[[SX, SX, SX, SX, SX], SX]] = {
    ca.OP_ADD: lambda _a, _b, _v, da, db: da + db,
    ca.OP_SUB: lambda _a, _b, _v, da, db: da - db,
    ca.OP_MUL: lambda a, b, _v, da, db: da * b + a * db,
    ca.OP_DIV: lambda _a, b, v, da, db: (da - v * db) / b,
    ca.OP_FMIN: lambda a, b, _v, da, db: _extreme(a < b, b < a, a == b, da, db),
    ca.OP_FMAX: lambda a, b, _v, da, db: _extreme(b < a, a < b, a == b, da, db),
    ca.OP_IF_ELSE_ZERO: lambda a, _b, _v, _da, db: chosen(a, db),
    ca.OP_ATAN2: lambda a, b, _v, da, db: _angle(a, b, da, db),
}
#: Operations whose result is a truth value.
TRUTHS = {ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE, ca.OP_AND, ca.OP_OR, ca.OP_NOT}


def tangents(function: ca.Function, inputs: Sequence[SX], seeds: Sequence[SX]) -> tuple[list[SX], list[SX]]:
    """(outputs, their tangents) of an SX function for inputs with the tangents ``seeds``.

    Raises NotImplementedError for an operation without a rule.
    """
    values: dict[int, SX] = {}
    rates: dict[int, SX] = {}
    outputs = [SX.zeros(function.size1_out(k)) for k in range(function.n_out())]
    moved = [SX.zeros(function.size1_out(k)) for k in range(function.n_out())]
    for k in range(function.n_instructions()):
        op = function.instruction_id(k)
        source, target = function.instruction_input(k), function.instruction_output(k)
        if op == ca.OP_OUTPUT:
            outputs[target[0]][target[1]], moved[target[0]][target[1]] = values[source[0]], rates[source[0]]
            continue
        if op == ca.OP_CONST:
            value, rate = SX(function.instruction_constant(k)), SX(0)
        elif op == ca.OP_INPUT:
            value, rate = inputs[source[0]][source[1]], seeds[source[0]][source[1]]
        else:
            of, by = [values[s] for s in source], [rates[s] for s in source]
            value = SX.binary(op, *of) if len(of) == 2 else SX.unary(op, *of)
            if op in TRUTHS or all(r.is_zero() for r in by):
                rate = SX(0)
            elif op in _BINARY:
                rate = _BINARY[op](of[0], of[1], value, by[0], by[1])
            elif op in _UNARY:
                rate = _UNARY[op](of[0], value, by[0])
            else:
                raise NotImplementedError(f"{function.name()}: operation {op} has no tangent")
        values[target[0]], rates[target[0]] = value, rate
    return outputs, moved


def forward(function: ca.Function, *, constant: Sequence[int] = ()) -> ca.Function:
    """NAME_forward(inputs, seeds) -> (outputs, their tangents); inputs in ``constant`` have no seed."""
    inputs = [SX.sym(f"v{k}", function.size1_in(k)) for k in range(function.n_in())]
    seeds = [SX.zeros(s.shape[0]) if k in constant else SX.sym(f"s{k}", s.shape[0]) for k, s in enumerate(inputs)]
    outputs, moved = tangents(function, inputs, seeds)
    active = [s for k, s in enumerate(seeds) if k not in constant]
    together = ca.cse(ca.vertcat(*outputs, *moved))
    cuts = [0]
    for size in [v.shape[0] for v in (*outputs, *moved)]:
        cuts.append(cuts[-1] + size)
    return ca.Function(f"{function.name()}_forward", [*inputs, *active], ca.vertsplit(together, cuts))
