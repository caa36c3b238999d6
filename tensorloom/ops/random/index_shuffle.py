"""RandomIndexShuffle: where an index goes in a shuffled sequence; of TensorFlow 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.registry.shape_inference import format_shape
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

_INTEGERS: Final = "{int32, uint32, int64, uint64}"


def _shape(c: InferenceContext) -> TensorShape:
    """A scalar, or a vector where one of the inputs has a row for each index."""
    shapes = [c.with_rank_at_most(0, 1), c.with_rank_at_most(1, 2)]
    shapes.append(c.with_rank_at_most(2, 1))
    if any(shape.rank is None for shape in shapes):
        return TensorShape.of(None)
    index, seed, most = (shape.dims_tuple for shape in shapes)
    assert index is not None
    assert seed is not None
    assert most is not None
    if not seed or seed[-1] != 3:
        told = format_shape(TensorShape.of(seed)).replace("?", "-1")
        c.fail(f"Seed must have shape [3] or [n, 3] but got {told}.")
    if index and index[0] and len(seed) == 2 and index != seed[:1]:
        texts = [format_shape(TensorShape.of(dims)) for dims in (seed, index)]
        c.fail(
            f"Seed has shape {texts[0]} but must have shape {texts[1][:-1]}, 3]. "
            f"since index had shape {texts[1]}."
        )
    if index and index[0] and most and most[0] not in (None, 0, 1) and index != most:
        texts = [format_shape(TensorShape.of(dims)) for dims in (most, index)]
        c.fail(f"Max index has shape {texts[0]} but must have shape {texts[1]}.")
    batch: tuple[int | None, ...] = ()
    for dims in (index, seed[:-1], most):
        batch = batch or dims  # whether they agree is known when the op runs
    return TensorShape.of(batch)


register_op(
    "RandomIndexShuffle",
    inputs=["index: dtype", "seed: Tseed", "max_index: dtype"],
    outputs=["output: dtype"],
    attrs=["rounds: int = 4", f"dtype: {_INTEGERS}", f"Tseed: {_INTEGERS}"],
    shape_fn=_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="The place of an index in a permutation of 0 to max_index, by a seed.",
)
