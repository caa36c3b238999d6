"""Non-maximum suppression of boxes [n, (y1, x1, y2, x2)] by their scores [n]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import NOT_DIFFERENTIABLE, register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import SCALAR, TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext


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


def _padded_shape(c: InferenceContext) -> TensorShape:
    """[max_output_size] where the outputs are filled up to it."""
    shape = _suppression_shape(c)
    if not c.attrs["pad_to_max_output_size"]:
        return shape
    most = c.input_value(2)
    return shape if most is None else TensorShape.of((int(most),))


def _padded_shapes(c: InferenceContext) -> list[TensorShape]:
    return [_padded_shape(c), SCALAR]


def _scored_shapes(c: InferenceContext) -> list[TensorShape]:
    shape = _padded_shape(c)
    return [shape, shape, SCALAR]


def _overlaps_shape(c: InferenceContext) -> TensorShape:
    overlaps = c.with_rank(0, 2).dims_tuple
    scores = c.with_rank(1, 1).dims_tuple
    for index in range(2, c.num_inputs):
        c.with_rank(index, 0)
    assert overlaps is not None
    assert scores is not None
    c.merge_dim(overlaps[0], scores[0])
    c.merge_dim(overlaps[0], overlaps[1])
    return TensorShape.of((None,))


def _non_negative(c: InferenceContext, index: int) -> int | None:
    value = c.input_value(index)
    if value is not None and value < 0:
        c.fail(
            f"Dimension size, given by scalar input {index}, must be non-negative but "
            f"is {int(value)}"
        )
    return None if value is None else int(value)


def _combined_shapes(c: InferenceContext) -> list[TensorShape]:
    boxes = c.with_rank(0, 4).dims_tuple
    scores = c.with_rank(1, 3).dims_tuple
    for index in range(2, c.num_inputs):
        c.with_rank(index, 0)
    assert boxes is not None
    assert scores is not None
    c.merge_dim(boxes[0], scores[0])
    c.merge_dim(boxes[1], scores[1])
    if (
        boxes[2] is not None
        and scores[2] is not None
        and boxes[2] not in (1, scores[2])
    ):
        c.fail(
            "third dimension of boxes must be either 1 or equal to the third dimension "
            "of scores"
        )
    c.with_value(boxes[3], 4)
    total = _non_negative(c, 3)
    if total == 0:
        c.fail("max_total_size should be > 0")
    _non_negative(c, 2)
    if c.attrs["pad_per_class"]:
        of_class = _non_negative(c, 2)
        if total is not None and of_class is not None and scores[2] is not None:
            total = min(total, of_class * scores[2])
        else:
            total = None
    batch = boxes[0]
    flat = TensorShape.of((batch, total))
    return [TensorShape.of((batch, total, 4)), flat, flat, TensorShape.of((batch,))]


register_op(
    "NonMaxSuppressionV4",
    inputs=[*_INPUTS, "iou_threshold: T_threshold", "score_threshold: T_threshold"],
    outputs=["selected_indices: int32", "valid_outputs: int32"],
    attrs=[*_ATTRS, "pad_to_max_output_size: bool = false"],
    shape_fn=_padded_shapes,
    doc="NonMaxSuppressionV3 with the number of boxes, filled up with 0 if asked for.",
)
register_op(
    "NonMaxSuppressionV5",
    inputs=[*_INPUTS, "iou_threshold: T", "score_threshold: T", "soft_nms_sigma: T"],
    outputs=["selected_indices: int32", "selected_scores: T", "valid_outputs: int32"],
    attrs=["T: {half, float} = DT_FLOAT", "pad_to_max_output_size: bool = false"],
    shape_fn=_scored_shapes,
    doc="Soft suppression: scores of overlapping boxes fall with a Gaussian.",
)
register_op(
    "NonMaxSuppressionWithOverlaps",
    inputs=[
        "overlaps: float",
        "scores: float",
        "max_output_size: int32",
        "overlap_threshold: float",
        "score_threshold: float",
    ],
    outputs=["selected_indices: int32"],
    shape_fn=_overlaps_shape,
    gradient=NOT_DIFFERENTIABLE,
    doc="NonMaxSuppression with the overlaps [n, n] given.",
)
register_op(
    "CombinedNonMaxSuppression",
    inputs=[
        "boxes: float",
        "scores: float",
        "max_output_size_per_class: int32",
        "max_total_size: int32",
        "iou_threshold: float",
        "score_threshold: float",
    ],
    outputs=[
        "nmsed_boxes: float",
        "nmsed_scores: float",
        "nmsed_classes: float",
        "valid_detections: int32",
    ],
    attrs=["pad_per_class: bool = false", "clip_boxes: bool = true"],
    shape_fn=_combined_shapes,
    doc="The best boxes of all classes of each image of a batch.",
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
        iou_threshold = convert_to_tensor(iou_threshold, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, name="score_threshold")
        return apply_op(  # type: ignore[no-any-return]
            "NonMaxSuppressionV3",
            boxes=boxes,
            scores=scores,
            max_output_size=max_output_size,
            iou_threshold=iou_threshold,
            score_threshold=score_threshold,
        )


@export("image.non_max_suppression_with_scores")
def non_max_suppression_with_scores(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    soft_nms_sigma: Any = 0.0,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """(indices of the chosen boxes, their scores after soft suppression)."""
    with name_scope(name, "non_max_suppression_with_scores"):
        iou_threshold = convert_to_tensor(iou_threshold, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, name="score_threshold")
        soft_nms_sigma = convert_to_tensor(soft_nms_sigma, name="soft_nms_sigma")
        indices, chosen_scores, _ = apply_op(
            "NonMaxSuppressionV5",
            boxes=boxes,
            scores=scores,
            max_output_size=max_output_size,
            iou_threshold=iou_threshold,
            score_threshold=score_threshold,
            soft_nms_sigma=soft_nms_sigma,
            pad_to_max_output_size=False,
        )
        return indices, chosen_scores


@export("image.non_max_suppression_padded")
def non_max_suppression_padded(
    boxes: Any,
    scores: Any,
    max_output_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_to_max_output_size: bool = False,
    name: str | None = None,
) -> Any:
    """(indices of the chosen boxes, how many they are); filled up with 0 if asked."""
    with name_scope(name, "non_max_suppression_padded"):
        iou_threshold = convert_to_tensor(iou_threshold, name="iou_threshold")
        score_threshold = convert_to_tensor(score_threshold, name="score_threshold")
        return apply_op(
            "NonMaxSuppressionV4",
            boxes=boxes,
            scores=scores,
            max_output_size=max_output_size,
            iou_threshold=iou_threshold,
            score_threshold=score_threshold,
            pad_to_max_output_size=pad_to_max_output_size,
        )


@export("image.non_max_suppression_overlaps")
def non_max_suppression_with_overlaps(
    overlaps: Any,
    scores: Any,
    max_output_size: Any,
    overlap_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    name: str | None = None,
) -> Tensor:
    """Indices of the chosen boxes, whose overlaps [n, n] are given."""
    with name_scope(name, "non_max_suppression_overlaps"):
        threshold = convert_to_tensor(overlap_threshold, name="overlap_threshold")
        return apply_op(  # type: ignore[no-any-return]
            "NonMaxSuppressionWithOverlaps",
            overlaps=overlaps,
            scores=scores,
            max_output_size=max_output_size,
            overlap_threshold=threshold,
            score_threshold=score_threshold,
        )


@export("image.combined_non_max_suppression")
def combined_non_max_suppression(
    boxes: Any,
    scores: Any,
    max_output_size_per_class: Any,
    max_total_size: Any,
    iou_threshold: Any = 0.5,
    score_threshold: Any = float("-inf"),
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> Any:
    """(boxes, scores, classes, counts) of the best boxes of all classes.

    Args:
      boxes: [batch, n, classes or 1, 4]; scores: [batch, n, classes].
    """
    with name_scope(name, "combined_non_max_suppression"):
        iou_threshold = convert_to_tensor(
            iou_threshold, dtype=dtypes.float32, name="iou_threshold"
        )
        score_threshold = convert_to_tensor(
            score_threshold, dtype=dtypes.float32, name="score_threshold"
        )
        return apply_op(
            "CombinedNonMaxSuppression",
            boxes=boxes,
            scores=scores,
            max_output_size_per_class=max_output_size_per_class,
            max_total_size=max_total_size,
            iou_threshold=iou_threshold,
            score_threshold=score_threshold,
            pad_per_class=pad_per_class,
            clip_boxes=clip_boxes,
        )
