"""GatherTree: the tokens of beams, from what each step chose and continued."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext
    from tensorloom.framework.types.tensor_shape import TensorShape


def _gather_tree_shape(c: InferenceContext) -> TensorShape:
    shape = c.merge(c.with_rank(0, 3), c.with_rank(1, 3))
    c.with_rank(2, 1)
    c.with_rank(3, 0)
    return shape


register_op(
    "GatherTree",
    inputs=[
        "step_ids: T",
        "parent_ids: T",
        "max_sequence_lengths: int32",
        "end_token: T",
    ],
    outputs=["beams: T"],
    attrs=["T: {int32}"],
    shape_fn=_gather_tree_shape,
    doc=(
        "Follows [time, batch, beam] parents back from the last step. Of tf.contrib's "
        "seq2seq, whose graphs have it."
    ),
)
