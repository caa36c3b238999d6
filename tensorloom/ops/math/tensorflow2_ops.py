"""Mathematics and queries of TensorFlow 2.x, in graphs that it made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import scalar_shape
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _sobol_shape(c: InferenceContext) -> TensorShape:
    for index in range(3):
        c.with_rank(index, 0)
    dim, count = c.input_value(0), c.input_value(1)
    return TensorShape.of(
        tuple([None if v is None or v < 0 else int(v) for v in (count, dim)])
    )


register_op(
    "SobolSample",
    inputs=["dim: int32", "num_results: int32", "skip: int32"],
    outputs=["samples: dtype"],
    attrs=["dtype: {float, double} = DT_FLOAT"],
    shape_fn=_sobol_shape,
    doc="Points of the Sobol sequence [num_results, dim], which begins after its 0.",
)


def _isotonic_gradient(op: Operation, grad: Tensor, _: Any) -> Tensor:
    """Each element of a segment has a share in the segment's mean."""
    segments = op.outputs[1]
    length = array_ops.shape(segments)[-1]
    flat = array_ops.reshape(segments, array_ops.stack([-1, length]))
    rows = math_ops.range(array_ops.shape(flat)[0]) * length
    ids = array_ops.reshape(flat + array_ops.expand_dims(rows, 1), [-1])
    means = math_ops.unsorted_segment_mean(
        array_ops.reshape(grad, [-1]), ids, array_ops.size(segments)
    )
    spread = array_ops.reshape(
        array_ops.gather(means, ids), array_ops.shape(op.inputs[0])
    )
    result: Tensor = math_ops.cast(spread, op.inputs[0].dtype)
    return result


register_op(
    "IsotonicRegression",
    inputs=["input: T"],
    outputs=["output: output_dtype", "segments: int32"],
    attrs=[
        "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, "
        "uint32, uint64}",
        "output_dtype: {half, bfloat16, float, double} = DT_FLOAT",
    ],
    shape_fn=lambda c: [c.input_shape(0), c.input_shape(0)],
    gradient=_isotonic_gradient,
    doc="The nearest sequence that never rises, of each row, and its constant parts.",
)


def _approximate_shape(c: InferenceContext) -> list[TensorShape]:
    dims = c.with_rank_at_least(0, 1).dims_tuple
    if dims is None:
        return [UNKNOWN, UNKNOWN]
    axis: int = c.attrs["reduction_dimension"]
    if not -len(dims) <= axis < len(dims):
        c.fail(f"Reduction dimension {axis} is not in [-{len(dims)}, {len(dims)})")
    size, k = dims[axis], c.attrs["k"]
    if size is not None and size < k:
        c.fail(f"input must have last dimension >= k = {k} but was {size}")
    sizes = list(dims)
    sizes[axis] = k
    return [TensorShape.of(tuple(sizes))] * 2


def _approximate_gradient(op: Operation, grad: Tensor, _: Any) -> Tensor:
    axis: int = op.get_attr("reduction_dimension")
    places = array_ops.one_hot(
        op.outputs[1], array_ops.shape(op.inputs[0])[axis], dtype=grad.dtype, axis=-1
    )
    # [..., k, ...] with the places behind it: the sum over k is the gradient.
    spread = places * array_ops.expand_dims(grad, -1)
    rank = op.inputs[0].shape.rank
    assert rank is not None  # the op's axis is checked against it
    order = list(range(rank - 1))
    order.insert(axis % rank, rank - 1)
    total = math_ops.reduce_sum(spread, axis % rank)
    return array_ops.transpose(total, order)


register_op(
    "ApproxTopK",
    inputs=["input: T"],
    outputs=["values: T", "indices: int32"],
    attrs=[
        "k: int >= 0",
        "reduction_dimension: int = -1",
        "recall_target: float = 0.95",
        "is_max_k: bool = true",
        "reduction_input_size_override: int = -1",
        "aggregate_to_topk: bool = true",
        "T: {half, bfloat16, float}",
    ],
    shape_fn=_approximate_shape,
    gradient=_approximate_gradient,
    doc="The k largest (or smallest) elements along a dimension; exact here.",
)
register_op(
    "DeviceIndex",
    outputs=["index: int32"],
    attrs=["device_names: list(string)"],
    shape_fn=scalar_shape,
    stateful=True,
    doc="Which of device_names is the type of the node's device; else their number.",
)
register_op(
    "ToBool",
    inputs=["input: T"],
    outputs=["output: bool"],
    attrs=["T: type"],
    shape_fn=scalar_shape,
    doc="Whether a scalar is not 0 or empty, or another tensor has elements.",
)
