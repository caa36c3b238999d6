"""The largest elements of rows, and whether a target is among them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Operation, Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import UNKNOWN, TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

# --- shape functions ---------------------------------------------------------


def _top_k_shape(c: InferenceContext) -> list[TensorShape]:
    shape = c.with_rank_at_least(0, 1)
    k = _top_k_count(c)
    dims = shape.dims_tuple
    if dims is None:
        return [UNKNOWN, UNKNOWN]
    last = dims[-1]
    if last is not None and k is not None and last < k:
        c.fail(f"input must have last dimension >= k = {k} but is {last}")
    result = TensorShape.of((*dims[:-1], k))
    return [result, result]


def _top_k_count(c: InferenceContext) -> int | None:
    if "k" in c.attrs:
        return int(c.attrs["k"])
    value = c.input_value(1)
    if value is None:
        return None
    if value.ndim:
        c.fail(f"Input must be scalar but has rank {value.ndim}")
    k = int(value)
    if k < 0:
        c.fail(
            f"Dimension size, given by scalar input 1, must be non-negative but is {k}"
        )
    return k


def _in_top_k_shape(c: InferenceContext) -> TensorShape:
    predictions, targets = c.with_rank(0, 2).dims_tuple, c.with_rank(1, 1).dims_tuple
    assert predictions is not None
    assert targets is not None
    return TensorShape.of((c.merge_dim(predictions[0], targets[0]),))


# --- gradients ---------------------------------------------------------------


def _top_k_grad(op: Operation, grad: Tensor, _: Tensor | None) -> list[Tensor]:
    """Scatters the gradient of the values to where they came from."""
    in_shape = array_ops.shape(op.inputs[0])
    ind_shape = array_ops.shape(op.outputs[1])
    ind_last = array_ops.gather(
        math_ops.cast(ind_shape, dtypes.int64), array_ops.size(ind_shape) - 1
    )
    ind_2d = array_ops.reshape(op.outputs[1], array_ops.stack([-1, ind_last]))
    in_last = array_ops.gather(
        math_ops.cast(in_shape, dtypes.int64), array_ops.size(in_shape) - 1
    )
    rows = array_ops.shape(ind_2d)[0]
    row_starts = math_ops.range(0, math_ops.cast(rows, dtypes.int64) * in_last, in_last)
    offsets = math_ops.cast(array_ops.expand_dims(row_starts, -1), ind_2d.dtype)
    flat = array_ops.reshape(ind_2d + offsets, [-1])
    scattered = array_ops.scatter_nd(
        array_ops.expand_dims(flat, -1),
        array_ops.reshape(grad, [-1]),
        [math_ops.reduce_prod(in_shape)],
    )
    result = [array_ops.reshape(scattered, in_shape)]
    # The count, where it is an input, has a zero gradient of its own dtype's kind.
    result.append(array_ops.zeros([], dtype=dtypes.int32))
    return result[: len(op.inputs)]


# --- ops ---------------------------------------------------------------------

_NUMBERS = (
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, "
    "uint32, uint64}"
)

register_op(
    "TopKV2",
    inputs=["input: T", "k: Tk"],
    outputs=["values: T", "indices: index_type"],
    # The last two are of TensorFlow 2; see `newer_attrs.ADDED`.
    attrs=[
        "sorted: bool = true",
        _NUMBERS,
        "Tk: {int16, int32, int64} = DT_INT32",
        "index_type: {int16, int32, int64} = DT_INT32",
    ],
    shape_fn=_top_k_shape,
    gradient=_top_k_grad,
    doc="The k largest elements of each row, with their indices.",
)

register_op(
    "TopK",
    inputs=["input: T"],
    outputs=["values: T", "indices: int32"],
    attrs=["k: int >= 0", "sorted: bool = true", _NUMBERS],
    shape_fn=_top_k_shape,
    gradient=_top_k_grad,
    deprecated=(7, "Use TopKV2 instead"),
    doc="The k largest elements of each row, with their indices.",
)

register_op(
    "InTopK",
    inputs=["predictions: float", "targets: T"],
    outputs=["precision: bool"],
    attrs=["k: int", "T: {int32, int64} = DT_INT32"],
    shape_fn=_in_top_k_shape,
    doc="Whether each row's target class is among its k largest predictions.",
)

register_op(
    "InTopKV2",
    inputs=["predictions: float", "targets: T", "k: T"],
    outputs=["precision: bool"],
    attrs=["T: {int32, int64} = DT_INT32"],
    shape_fn=_in_top_k_shape,
    doc="Whether each row's target class is among its k largest predictions.",
)

# --- builders ----------------------------------------------------------------


@export("math.top_k", "nn.top_k")
def top_k(input: Any, k: Any = 1, sorted: bool = True, name: str | None = None) -> Any:
    """The k largest elements of the last dimension: (values, indices).

    Of equal elements the one with the lower index comes first.
    """
    return apply_op("TopKV2", input=input, k=k, sorted=sorted, name=name)


@export("math.in_top_k", "nn.in_top_k")
def in_top_k(predictions: Any, targets: Any, k: Any, name: str | None = None) -> Tensor:
    """Whether each target class is among the k largest of its row, bool [batch].

    Classes that tie at the boundary are all in.
    """
    with name_scope(name, "in_top_k"):
        return apply_op(  # type: ignore[no-any-return]
            "InTopKV2", predictions=predictions, targets=targets, k=k, name=name
        )
