"""How often numbers occur: in rows of sparse, dense and ragged tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.registry.shape_inference import InferenceContext

_KEYS = "{int32, int64}"
_NUMBERS = "{int32, int64, float, double}"
_OUTPUTS = [
    "output_indices: int64",
    "output_values: output_type",
    "output_dense_shape: int64",
]
_ATTRS = [
    f"T: {_KEYS}",
    "minlength: int >= -1 = -1",
    "maxlength: int >= -1 = -1",
    "binary_output: bool",
    f"output_type: {_NUMBERS}",
]


def _shapes(rank: int | None) -> list[TensorShape]:
    return [
        TensorShape.of((None, rank)),
        TensorShape.of((None,)),
        TensorShape.of((rank,)),
    ]


def _dense_shape(c: InferenceContext) -> list[TensorShape]:
    c.with_rank_at_least(0, 1)
    c.with_rank_at_most(0, 2)
    return _shapes(c.input_shape(0).rank)


def _sparse_shape(c: InferenceContext) -> list[TensorShape]:
    dims = c.with_rank(0, 2).dims_tuple
    return _shapes(None if dims is None else dims[1])


def _ragged_shape(c: InferenceContext) -> list[TensorShape]:
    rank = c.input_shape(1).rank
    return _shapes(None if rank is None else rank + 1)


def _bincount_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(3, 0)
    size = c.input_value(3)
    if size is not None and size < 0:
        c.fail(f"Input size must be non-negative, got {int(size)}.")
    dense = c.input_value(2)
    if size is None or dense is None or dense.shape not in ((1,), (2,)):
        return TensorShape.of(None)
    return TensorShape.of((*dense[:-1].tolist(), int(size)))


register_op(
    "DenseCountSparseOutput",
    inputs=["values: T", "weights: output_type"],
    outputs=_OUTPUTS,
    attrs=_ATTRS,
    shape_fn=_dense_shape,
    doc="How often each number occurs in a vector, or in each row of a matrix.",
)
register_op(
    "SparseCountSparseOutput",
    inputs=[
        "indices: int64",
        "values: T",
        "dense_shape: int64",
        "weights: output_type",
    ],
    outputs=_OUTPUTS,
    attrs=_ATTRS,
    shape_fn=_sparse_shape,
    doc="How often each number occurs in a sparse vector, or in each row.",
)
register_op(
    "RaggedCountSparseOutput",
    inputs=["splits: int64", "values: T", "weights: output_type"],
    outputs=_OUTPUTS,
    attrs=_ATTRS,
    shape_fn=_ragged_shape,
    doc="How often each number occurs in each row.",
)
register_op(
    "SparseBincount",
    inputs=[
        "indices: int64",
        "values: Tidx",
        "dense_shape: int64",
        "size: Tidx",
        "weights: T",
    ],
    outputs=["output: T"],
    attrs=[f"Tidx: {_KEYS}", f"T: {_NUMBERS}", "binary_output: bool = false"],
    shape_fn=_bincount_shape,
    doc="How often each number below size occurs, as a dense tensor.",
)
