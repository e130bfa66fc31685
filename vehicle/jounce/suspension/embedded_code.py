"""What is emitted of an axle by constraint embedding: its lane functions, and how their numbers are made."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from jounce.codegen.forward import forward
from jounce.codegen.prepare import first_rows, prepare, with_inverses
from jounce.dynamics.embedding import Embedding
from jounce.math.algebra import SX
from jounce.suspension.double_wishbone import DYNAMICS
from jounce.suspension.embedded import (
    close_forward_function,
    close_function,
    closed_function,
    corner_function,
    pair_dynamics_function,
    pair_function,
    probe_function,
)


@dataclass(frozen=True)
class EmbeddedCode:
    """Functions of one kind of axle, named NAME_close and so on.

    Vectors are those of `jounce.suspension.embedded`. `dynamics`, `outputs` and `forward` read the numbers that
    `corner_numbers` makes, the others those of `close_numbers`; both begin with the plain ones.
    """

    close: ca.Function | None
    """One Newton step; None where there are no loops, or these have a closed form."""
    closed: ca.Function | None
    """The closed form, where there is one."""
    close_forward: ca.Function | None
    """None where there are no loops, as the next one."""
    probe: ca.Function | None
    dynamics: ca.Function
    """What the equations of motion need."""
    outputs: ca.Function
    """All outputs."""
    forward: ca.Function
    """`outputs` with tangents; the numbers have none."""
    close_numbers: ca.Function
    """Plain numbers (`Mechanism.numbers`) -> numbers of `close` or `closed`."""
    corner_numbers: ca.Function

    @property
    def lanes(self) -> list[ca.Function]:
        """All lane functions."""
        return [*self.loops, self.dynamics, self.outputs, self.forward]

    @property
    def loops(self) -> list[ca.Function]:
        """Those that read the numbers of `close_numbers`."""
        return [f for f in (self.close, self.closed, self.close_forward, self.probe) if f is not None]

    @property
    def shared(self) -> dict[str, list[int]]:
        """Function -> inputs that all lanes share (`jounce.codegen.emitter`): the chassis's angular velocity."""
        wheels = 1 if self.outputs.n_out() == 1 else 2
        seeds = self.outputs.n_in() + 2 * wheels
        found = {f.name(): [2 * wheels] for f in (self.dynamics, self.outputs)}
        return found | {self.forward.name(): [2 * wheels, seeds]}


def embedded_code(embedding: Embedding, name: str) -> EmbeddedCode:
    """The functions of a mechanism with one wheel, or of an axle with two."""
    wheels = len(embedding.mechanism.wheels)
    place = 2 * wheels + 1  # of the numbers among the inputs
    full, corner_numbers = prepare((corner_function if wheels == 1 else pair_function)(embedding, name), place)
    if wheels == 1:
        lean = first_rows(full, f"{name}_dynamics", DYNAMICS.size)
    else:
        # the lean form prepares less, so that its numbers would lie elsewhere
        inputs = [SX.sym(f"v{k}", full.size1_in(k)) for k in range(full.n_in())]
        lanes, size = full(*inputs), DYNAMICS.size
        tail = lanes[0].shape[0] - pair_dynamics_function(embedding).size1_out(2)
        outputs = [part for cut in (slice(None, size), slice(tail, None)) for part in (lane[cut] for lane in lanes)]
        lean = ca.Function(f"{name}_dynamics", inputs, [ca.cse(v) for v in outputs])
    tangents = forward(full, constant=(place,))
    close = closed = close_forward = probe = None
    close_numbers = corner_numbers
    if embedding.dependent:
        if embedding.mechanism.closed_form is None:
            close, close_numbers = prepare(close_function(embedding, f"{name}_close"), place)
            close = with_inverses(close)
        else:
            closed, close_numbers = prepare(closed_function(embedding, f"{name}_closed"), place - 1)
            closed = with_inverses(closed)
        close_forward = with_inverses(close_forward_function(embedding, f"{name}_close_forward"))
        probe = probe_function(embedding, f"{name}_probe")
    return EmbeddedCode(close, closed, close_forward, probe, with_inverses(lean), with_inverses(full),
                        with_inverses(tangents), close_numbers, corner_numbers)  # fmt: skip
