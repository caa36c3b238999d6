"""Specs of BlockLSTM, BlockLSTMGrad, BlockLSTMGradV2, BlockLSTMV2, ...."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.peer.ops.draw import K
from tests.peer.ops.program import Program
from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.sums import SUMS

# --- recurrent blocks ------------------------------------------------------------


def _cell_inputs(d: Draw, steps: tuple[int, ...]) -> list[Any]:
    batch, width, units = 2, 3, 2

    def some(*shape: int) -> Any:
        return d.array(shape, low=-1, high=1)

    return [
        some(*steps, batch, width),
        some(batch, units),
        some(batch, units),
        some(width + units, 4 * units),
        *(some(units) for _ in range(3)),
        some(4 * units),
    ]


def _block(d: Draw) -> Any:
    attrs: dict[str, Any] = {
        "use_peephole": d.maybe(),
        "cell_clip": d.choice((-1.0, 0.5)),
    }
    if not d.op.endswith("V2"):
        attrs["forget_bias"] = 1.0
    if d.op == "LSTMBlockCell":
        return call(*_cell_inputs(d, ()), **attrs)
    # What lies beyond a shorter sequence is memory that TensorFlow does not set.
    return call(K(3, "int64"), *_cell_inputs(d, (3,)), **attrs)


def _block_gradient(d: Draw) -> Program:
    p = Program(differentiate=False)
    forward = d.op.replace("Grad", "")
    peephole = d.maybe()
    steps = () if forward == "LSTMBlockCell" else (3,)
    given: list[Any] = [p.feed(one) for one in _cell_inputs(d, steps)]
    if steps:
        given.insert(0, p.const(3, "int64"))
    made = p.op(forward, *given, use_peephole=peephole, cell_clip=-1.0)
    outputs = list(made.outputs) if steps else list(made.outputs)[:6]
    back = [p.feed(d.array((*steps, 2, 2), low=-1, high=1)) for _ in range(2)]
    p.run(p.op(d.op, *given, *outputs, *back, use_peephole=peephole))
    return p


def _gru_gradient(d: Draw) -> Program:
    p = Program(differentiate=False)
    shapes = [(2, 3), (2, 2), (5, 4), (5, 2), (4,), (2,)]
    given = [p.feed(d.array(shape, low=-1, high=1)) for shape in shapes]
    made = p.op("GRUBlockCell", *given)
    back = p.feed(d.array((2, 2), low=-1, high=1))
    p.run(p.op(d.op, *given, *list(made.outputs)[:3], back))
    return p


spec(
    "BlockLSTM BlockLSTMV2",
    _block,
    tolerance=SUMS,
    gradient=False,
    mutate=("dtype",),
)


spec(
    "BlockLSTMGrad BlockLSTMGradV2 LSTMBlockCellGrad",
    _block_gradient,
    tolerance=SUMS,
    mutate=(),
)


spec("GRUBlockCellGrad", _gru_gradient, tolerance=SUMS, mutate=())
