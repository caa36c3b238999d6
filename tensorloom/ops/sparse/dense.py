"""Elementwise ops of a sparse and a dense tensor, on the stored elements alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import GradientFn, register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext
    from tensorloom.framework.types.sparse_tensor import SparseTensor

_NUMBERS: Final = (
    "float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, "
    "qint32, bfloat16, uint16, complex128, half, uint32, uint64, qint16, quint16"
)


def _stored_shape(c: InferenceContext) -> TensorShape:
    dims = c.with_rank(0, 2).dims_tuple
    return TensorShape.of((None,) if dims is None else (dims[0],))


def _dense_elements(op: Operation) -> tuple[Tensor, Tensor]:
    """(the dense element that meets each stored one, its place in the dense tensor)."""
    indices, _, shape, dense = op.inputs
    dense_shape = math_ops.cast(array_ops.shape(dense), dtypes.int64)
    missing = array_ops.expand_dims(
        array_ops.size(shape) - array_ops.size(dense_shape), 0
    )
    full_shape = array_ops.concat(
        [array_ops.ones(missing, dtypes.int64), dense_shape], 0
    )
    # An axis along which the dense tensor is repeated has one place for all.
    places = indices // (shape // full_shape)
    start = array_ops.concat([[0], missing], 0)
    places = array_ops.slice(places, start, [-1, -1])
    return array_ops.gather_nd(dense, places), places


def _dense_grad(op: Operation, places: Tensor, grad: Tensor) -> Tensor:
    """Gradients of the stored elements, added up at their dense places."""
    shape = math_ops.cast(array_ops.shape(op.inputs[3]), dtypes.int64)
    total: Tensor = apply_op("ScatterNd", indices=places, updates=grad, shape=shape)
    return total


def _mul_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    dense, places = _dense_elements(op)
    values_grad = grad * dense
    return [None, values_grad, None, _dense_grad(op, places, grad * op.inputs[1])]


def _div_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    dense, places = _dense_elements(op)
    values_grad = grad / dense
    slope = -op.inputs[1] / math_ops.square(dense)
    return [None, values_grad, None, _dense_grad(op, places, grad * slope)]


def _add_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    # As TensorFlow says it: programs look for this class.
    raise NotImplementedError(
        "Gradient for SparseDenseCwiseAdd is currently not implemented yet."
    )


def _register(op: str, gradient: GradientFn | None, sign: str) -> None:
    register_op(
        op,
        inputs=["sp_indices: int64", "sp_values: T", "sp_shape: int64", "dense: T"],
        outputs=["output: T"],
        attrs=[f"T: {{{_NUMBERS}}}"],
        shape_fn=_stored_shape,
        gradient=gradient,
        doc=f"sparse {sign} dense, for the stored elements of the sparse tensor.",
    )


_register("SparseDenseCwiseMul", _mul_grad, "*")
_register("SparseDenseCwiseDiv", _div_grad, "/")
_register("SparseDenseCwiseAdd", _add_grad, "+")


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
