"""Elementwise ops of a sparse and a dense tensor, on the stored elements alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext
    from tensorloom.framework.types.sparse_tensor import SparseTensor

_NUMBERS: Final = (
    "float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, "
    "qint32, bfloat16, uint16, complex128, half, uint32, uint64, qint16, quint16"
)


def _stored_shape(c: InferenceContext) -> TensorShape:
    dims = c.with_rank(0, 2).dims_tuple
    return TensorShape.of((None,) if dims is None else (dims[0],))


def _register(op: str, sign: str) -> None:
    register_op(
        op,
        inputs=["sp_indices: int64", "sp_values: T", "sp_shape: int64", "dense: T"],
        outputs=["output: T"],
        attrs=[f"T: {{{_NUMBERS}}}"],
        shape_fn=_stored_shape,
        doc=f"sparse {sign} dense, for the stored elements of the sparse tensor.",
    )


_register("SparseDenseCwiseMul", "*")
_register("SparseDenseCwiseDiv", "/")
_register("SparseDenseCwiseAdd", "+")


def sparse_dense_op(op: str, sparse: SparseTensor, dense: Any, name: Any) -> Tensor:
    """The stored elements of `sparse` combined with the dense ones that they meet."""
    return apply_op(  # type: ignore[no-any-return]
        op,
        name,
        sp_indices=sparse.indices,
        sp_values=sparse.values,
        sp_shape=sparse.dense_shape,
        dense=dense,
    )
