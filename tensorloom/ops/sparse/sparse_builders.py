"""`tf.sparse`: what is made of the sparse ops."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.sparse_tensor import (
    SparseTensor,
    SparseTensorValue,
    is_sparse,
)
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.argument_aliases import either
from tensorloom.ops.array.constant import constant
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.sparse.sparse_ops import apply_sparse


def as_sparse(value: Any) -> SparseTensor:
    """A SparseTensor, or one made of a SparseTensorValue.

    Raises:
      TypeError: the value is neither.
    """
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    if not isinstance(value, SparseTensor):
        raise TypeError("Input must be a SparseTensor.")
    return value


# --- dense and back ----------------------------------------------------------


@export("sparse_to_dense")
def sparse_to_dense(
    sparse_indices: Any,
    output_shape: Any,
    sparse_values: Any,
    default_value: Any = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """A dense tensor of values at places, and a default elsewhere.

    Args:
      sparse_indices: [n, rank], [n] or a scalar; in row-major order without repeats
        when validate_indices is set.
      sparse_values: [n], or a scalar for all places.
    """
    result: Tensor = apply_op(
        "SparseToDense",
        sparse_indices=sparse_indices,
        output_shape=output_shape,
        sparse_values=sparse_values,
        default_value=default_value,
        validate_indices=validate_indices,
        name=name,
    )
    return result


@export("sparse.to_dense", "sparse_tensor_to_dense")
def sparse_tensor_to_dense(
    sp_input: Any,
    default_value: Any = None,
    validate_indices: bool = True,
    name: str | None = None,
) -> Tensor:
    """The dense tensor that a sparse one stands for."""
    sparse = as_sparse(sp_input)
    if default_value is None:
        default_value = array_ops.zeros([], dtype=sparse.dtype)
    return sparse_to_dense(
        sparse.indices,
        sparse.dense_shape,
        sparse.values,
        default_value=default_value,
        validate_indices=validate_indices,
        name=name,
    )


@export("sparse.from_dense")
def from_dense(tensor: Any, name: str | None = None) -> SparseTensor:
    """The elements of a dense tensor that are not zero."""
    with name_scope(name, "dense_to_sparse"):
        tensor = convert_to_tensor(tensor)
        is_stored = math_ops.not_equal(tensor, constant(0, tensor.dtype))
        indices = array_ops.where_v2(is_stored)
        values = array_ops.gather_nd(tensor, indices)
        return SparseTensor(
            indices, values, array_ops.shape(tensor, out_type=dtypes.int64)
        )


@export("sparse.sparse_dense_matmul", "sparse.matmul", "sparse_tensor_dense_matmul")
def sparse_tensor_dense_matmul(
    sp_a: Any,
    b: Any,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The dense product of a sparse matrix and a dense one."""
    sparse = as_sparse(sp_a)
    with name_scope(
        name, "SparseTensorDenseMatMul", [sparse.indices, sparse.values, b]
    ):
        b = convert_to_tensor(b, name="b")
        result: Tensor = apply_sparse(
            "SparseTensorDenseMatMul",
            sparse,
            b=b,
            adjoint_a=adjoint_a,
            adjoint_b=adjoint_b,
        )
        return result


@export("sparse.add", "sparse_add")
def sparse_add(a: Any, b: Any, threshold: Any = None, thresh: Any = None) -> Any:
    """a + b: a SparseTensor of two of them, a Tensor of a sparse and a dense one.

    Args:
      threshold: sums of two sparse tensors that are smaller are left out.

    Raises:
      TypeError: neither term is sparse.
    """
    threshold = either("threshold", threshold, "thresh", thresh)
    if not (is_sparse(a) or is_sparse(b)):
        raise TypeError(
            "At least one input should be SparseTensor; do you mean to use tf.add()?"
        )
    if not (is_sparse(a) and is_sparse(b)):
        a, b = (b, a) if is_sparse(b) else (a, b)
        return apply_sparse("SparseTensorDenseAdd", a, b=b)
    a, b = as_sparse(a), as_sparse(b)
    threshold = convert_to_tensor(
        0 if threshold is None else threshold,
        dtype=a.values.dtype.real_dtype.base_dtype,
        name="threshold",
    )
    indices, values, shape = _apply_to_pair("SparseAdd", a, b, thresh=threshold)
    a.get_shape().assert_is_compatible_with(b.get_shape())
    static = array_ops.broadcast_static_shape(a.get_shape(), b.get_shape())
    return SparseTensor(
        indices, values, static.as_list() if static.is_fully_defined() else shape
    )


def _apply_to_pair(
    op: str, a: SparseTensor, b: SparseTensor, name: Any = None, **args: Any
) -> Any:
    return apply_op(
        op,
        name=name,
        a_indices=a.indices,
        a_values=a.values,
        a_shape=a.dense_shape,
        b_indices=b.indices,
        b_values=b.values,
        b_shape=b.dense_shape,
        **args,
    )


def _extremum(op: str, sp_a: Any, sp_b: Any, name: str | None) -> SparseTensor:
    inputs = [sp_a.indices, sp_a.values, sp_b.indices, sp_b.values]
    with name_scope(name, op, inputs) as scope:
        indices, values = _apply_to_pair(op, sp_a, sp_b, name=scope)
    return SparseTensor(indices, values, sp_a.dense_shape)


@export("sparse.maximum", "sparse_maximum")
def sparse_maximum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The larger of two elements, missing ones being zero."""
    return _extremum("SparseSparseMaximum", sp_a, sp_b, name)


@export("sparse.minimum", "sparse_minimum")
def sparse_minimum(sp_a: Any, sp_b: Any, name: str | None = None) -> SparseTensor:
    """The smaller of two elements, missing ones being zero."""
    return _extremum("SparseSparseMinimum", sp_a, sp_b, name)


@export("sparse.softmax", "sparse_softmax")
def sparse_softmax(sp_input: Any, name: str | None = None) -> SparseTensor:
    """Softmax over the stored elements of each innermost row."""
    with name_scope(name, "SparseSoftmax", [sp_input.indices, sp_input.values]):
        values = apply_sparse("SparseSoftmax", sp_input)
        return SparseTensor(sp_input.indices, values, sp_input.dense_shape)


# --- reductions --------------------------------------------------------------


def _reduce(
    op: str, sparse: Any, axis: Any, keepdims: Any, old_axes: Any, keep_dims: Any
) -> Any:
    keepdims = bool(either("keepdims", keepdims, "keep_dims", keep_dims))
    axes = either("axis", axis, "reduction_axes", old_axes)
    if axes is None:
        rank = sparse.dense_shape.shape[0].value
        if rank is None:
            axes = math_ops.range(0, array_ops.rank(sparse))
        else:
            axes = constant(np.arange(rank), dtype=dtypes.int32)
    return apply_sparse(op, sparse, reduction_axes=axes, keep_dims=keepdims)


@export("sparse.reduce_sum", "sparse_reduce_sum")
def sparse_reduce_sum(
    sp_input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    reduction_axes: Any = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """Sums of stored elements along axes (all by default), as a dense tensor."""
    args = (sp_input, axis, keepdims, reduction_axes, keep_dims)
    result: Tensor = _reduce("SparseReduceSum", *args)
    return result


@export("sparse.reduce_max", "sparse_reduce_max")
def sparse_reduce_max(
    sp_input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    reduction_axes: Any = None,
    keep_dims: bool | None = None,
) -> Tensor:
    """The largest stored elements along axes (all by default), dense."""
    args = (sp_input, axis, keepdims, reduction_axes, keep_dims)
    result: Tensor = _reduce("SparseReduceMax", *args)
    return result


@export("sparse.reduce_sum_sparse", "sparse_reduce_sum_sparse")
def sparse_reduce_sum_sparse(
    sp_input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    reduction_axes: Any = None,
    keep_dims: bool | None = None,
) -> SparseTensor:
    """Sums of stored elements along axes (all by default), sparse."""
    args = (sp_input, axis, keepdims, reduction_axes, keep_dims)
    return SparseTensor(*_reduce("SparseReduceSumSparse", *args))


@export("sparse.reduce_max_sparse", "sparse_reduce_max_sparse")
def sparse_reduce_max_sparse(
    sp_input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    reduction_axes: Any = None,
    keep_dims: bool | None = None,
) -> SparseTensor:
    """The largest stored elements along axes (all by default), sparse."""
    args = (sp_input, axis, keepdims, reduction_axes, keep_dims)
    return SparseTensor(*_reduce("SparseReduceMaxSparse", *args))


# --- elements ----------------------------------------------------------------


@export("sparse.retain", "sparse_retain")
def sparse_retain(sp_input: Any, to_retain: Any) -> SparseTensor:
    """The stored elements for which to_retain, bool [n], is true."""
    sparse = as_sparse(sp_input)
    to_retain = convert_to_tensor(to_retain)
    to_retain.shape.assert_has_rank(1)
    values_shape = sparse.values.shape
    if values_shape.rank is not None and to_retain.shape.rank is not None:
        values_shape[0].merge_with(to_retain.shape[0])
    kept = array_ops.reshape(array_ops.where_v2(to_retain), [-1])
    indices = array_ops.gather(sparse.indices, kept)
    values = array_ops.gather(sparse.values, kept)
    return SparseTensor(indices, values, array_ops.identity(sparse.dense_shape))


@export("sparse.fill_empty_rows", "sparse_fill_empty_rows")
def sparse_fill_empty_rows(
    sp_input: Any, default_value: Any, name: str | None = None
) -> tuple[SparseTensor, Tensor]:
    """(the tensor with the default in empty rows, which rows were empty)."""
    sparse = as_sparse(sp_input)
    with name_scope(name, "SparseFillEmptyRows", [sparse]):
        default = convert_to_tensor(default_value, dtype=sparse.values.dtype)
        indices, values, is_empty, _ = apply_sparse(
            "SparseFillEmptyRows", sparse, default_value=default
        )
        return SparseTensor(indices, values, sparse.dense_shape), is_empty


@export("sparse.merge", "sparse_merge")
def sparse_merge(
    sp_ids: Any,
    sp_values: Any,
    vocab_size: Any,
    name: str | None = None,
    already_sorted: bool = False,
) -> SparseTensor:
    """Values placed by ids: the ids take the place of the last dimension.

    Raises:
      TypeError: vocab_size is neither integers nor tensors.
      ValueError: there are as many ids as sizes.
    """
    if is_sparse(sp_ids):
        _check_size(vocab_size)
        sp_ids, vocab_size = [sp_ids], [vocab_size]
    else:
        for size in vocab_size:
            _check_size(size)
    if len(sp_ids) != len(vocab_size):
        raise ValueError("sp_ids and vocab_size have to have equal lengths.")
    with name_scope(name, "SparseMerge", [sp_ids, sp_values]):
        parts = [as_sparse(ids) for ids in sp_ids]
        values = as_sparse(sp_values)
        columns = []
        for part in parts:
            ids = part.values
            if part.dtype != dtypes.int64:
                ids = math_ops.cast(ids, dtypes.int64)
            columns.append(array_ops.expand_dims(ids, axis=1))
        sizes = [math_ops.cast(size, dtypes.int64) for size in vocab_size]
        kept = parts[0].indices[:, :-1]
        indices = array_ops.concat([kept, *columns], 1)
        shape = array_ops.concat([parts[0].dense_shape[:-1], sizes], 0)
        result = SparseTensor(indices, values.values, shape)
        if already_sorted:
            return result
        ordered = sparse_reorder(result)
        return SparseTensor(ordered.indices, ordered.values, shape)


def _check_size(size: Any) -> None:
    if not isinstance(size, (Tensor, numbers.Integral)):
        raise TypeError(
            f"vocab_size has to be a Tensor or Python int. Found {type(size)}"
        )


@export("sparse.to_indicator", "sparse_to_indicator")
def sparse_to_indicator(
    sp_input: Any, vocab_size: Any, name: str | None = None
) -> Tensor:
    """A bool tensor whose last dimension tells which ids a row has."""
    sparse = as_sparse(sp_input)
    with name_scope(name, "SparseToIndicator", [sparse]) as scope:
        count = array_ops.shape(sparse.indices)[0]
        true = array_ops.fill(array_ops.expand_dims(count, 0), True)
        values = SparseTensor(sparse.indices, true, sparse.dense_shape)
        merged = sparse_merge(sparse, values, vocab_size, scope)
        return sparse_tensor_to_dense(
            merged, default_value=False, validate_indices=False, name=scope
        )


@export("sparse.reorder", "sparse_reorder")
def sparse_reorder(sp_input: Any, name: str | None = None) -> SparseTensor:
    """The elements in row-major order."""
    sparse = as_sparse(sp_input)
    indices, values = apply_sparse("SparseReorder", sparse, name)
    static = sparse.get_shape()
    if static.is_fully_defined():
        return SparseTensor(indices, values, static.as_list())
    return SparseTensor(indices, values, array_ops.identity(sparse.dense_shape))


@export("sparse.reset_shape", "sparse_reset_shape")
def sparse_reset_shape(sp_input: Any, new_shape: Any = None) -> SparseTensor:
    """The same elements in a larger shape, or in the smallest that holds them.

    Raises:
      ValueError: the new shape is known to be too small.
    """
    sparse = as_sparse(sp_input)
    indices = array_ops.identity(sparse.indices)
    values = array_ops.identity(sparse.values)
    shape = array_ops.identity(sparse.dense_shape)
    if new_shape is None:
        bound = math_ops.reduce_max(indices, axis=0)
        zero = constant(0, dtype=dtypes.int64)
        smallest = math_ops.add(bound, array_ops.ones_like(shape))
        return SparseTensor(indices, values, math_ops.maximum(zero, smallest))
    target: Any = convert_to_tensor(new_shape)
    target.shape.assert_has_rank(1)
    target = math_ops.cast(target, dtypes.int64)
    if target.shape.rank is not None:
        target.shape[0].merge_with(shape.shape[0])
    known, static = constant_value(target), sparse.get_shape()
    if known is not None and static.is_fully_defined():
        given = np.array(static.as_list())
        if not np.all(given <= known):
            raise ValueError(
                "Requested new_shape should have dimension sizes >= sp_input.shape."
                f"  Found new_shape ({given}), sp_input.shape ({known})."
            )
        return SparseTensor(indices, values, known)
    checks = [check_ops.assert_equal(array_ops.shape(shape), array_ops.shape(target))]
    with control_dependencies(checks):
        target = array_ops.identity(target)
    with control_dependencies([check_ops.assert_less_equal(shape, target)]):
        target = array_ops.identity(target)
    return SparseTensor(indices, values, target)
