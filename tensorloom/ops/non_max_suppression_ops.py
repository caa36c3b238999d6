"""Non-maximum suppression of boxes [n, (y1, x1, y2, x2)] by their scores [n]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph import name_scope
from tensorloom.framework.op_def_library import apply_op
from tensorloom.framework.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.shape_inference import InferenceContext
    from tensorloom.framework.tensor import Tensor


def _suppression_shape(c: InferenceContext) -> TensorShape:
    boxes = c.with_rank(0, 2).dims_tuple
    scores = c.with_rank(1, 1).dims_tuple
    for index in range(2, c.num_inputs):
        c.with_rank(index, 0)
    assert boxes is not None
    assert scores is not None
    c.merge_dim(boxes[0], scores[0])
    if boxes[1] is not None:
        c.with_value(boxes[1], 4)
    return TensorShape.of((None,))


_INPUTS = ["boxes: T", "scores: T", "max_output_size: int32"]
_ATTRS = [
    "T: {half, float} = DT_FLOAT",
    "T_threshold: {half, float} = DT_FLOAT",
]
register_op(
    "NonMaxSuppression",
    inputs=["boxes: float", "scores: float", "max_output_size: int32"],
    outputs=["selected_indices: int32"],
    attrs=["iou_threshold: float = 0.5"],
    shape_fn=_suppression_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="Boxes by score, without those that overlap a better one.",
)
register_op(
    "NonMaxSuppressionV2",
    inputs=[*_INPUTS, "iou_threshold: T_threshold"],
    outputs=["selected_indices: int32"],
    attrs=_ATTRS,
    shape_fn=_suppression_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="NonMaxSuppression with the threshold as a tensor.",
)
register_op(
    "NonMaxSuppressionV3",
    inputs=[*_INPUTS, "iou_threshold: T_threshold", "score_threshold: T_threshold"],
    outputs=["selected_indices: int32"],
    attrs=_ATTRS,
    shape_fn=_suppression_shape,
    doc="NonMaxSuppression of the boxes whose score is high enough.",
)


@export("image.non_max_suppression")
def non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    name: str | None = None,
) -> Tensor:
    """Indices of the chosen boxes, best first, int32."""
    with name_scope(name, "non_max_suppression"):
        return apply_op(  # type: ignore[no-any-return]
            "NonMaxSuppressionV3",
            boxes=boxes,
            scores=scores,
            max_output_size=max_output_size,
            iou_threshold=iou_threshold,
            score_threshold=score_threshold,
        )
