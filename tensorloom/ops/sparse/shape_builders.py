"""`tf.sparse`: other shapes, parts and joins of sparse tensors."""

from __future__ import annotations

import math
import numbers
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import (
    constant_value,
    constant_value_as_shape,
)
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.argument_aliases import either
from tensorloom.ops.array.constant import constant
from tensorloom.ops.math import math_ops
from tensorloom.ops.sparse.sparse_builders import as_sparse, sparse_reorder
from tensorloom.ops.sparse.sparse_ops import apply_sparse

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType


@export("sparse.reshape", "sparse_reshape")
def sparse_reshape(sp_input: Any, shape: Any, name: str | None = None) -> SparseTensor:
    """The same elements in another shape, where one size may be -1.

    Raises:
      ValueError: the number of elements is known to differ.
    """
    sparse = as_sparse(sp_input)
    shape = math_ops.cast(shape, dtype=dtypes.int64)
    with name_scope(name, "SparseReshape", [sparse]) as scope:
        indices, new_shape = apply_op(
            "SparseReshape",
            input_indices=sparse.indices,
            input_shape=sparse.dense_shape,
            new_shape=shape,
            name=scope,
        )
        static = _static_shape(sparse, shape)
        if static is not None:
            new_shape = constant(static, dtype=dtypes.int64)
        return SparseTensor(indices, array_ops.identity(sparse.values), new_shape)


def _static_shape(sparse: SparseTensor, shape: Tensor) -> list[int] | None:
    """The new shape, if it can be known."""
    target = constant_value_as_shape(shape)
    if target.rank is None or not sparse.shape.is_fully_defined():
        return None
    given = constant_value(shape)
    if given is not None and sum(d == -1 for d in given) > 1:
        raise ValueError(f"At most one dimension can be inferred (-1). Found: {given}")
    dims: Any = target.as_list()
    stored: Any = sparse.shape.as_list()
    total = math.prod(stored)
    if dims.count(None) > 1:
        return None
    filled: list[int] = list(dims)
    if None in dims:
        known = math.prod(d for d in dims if d is not None)
        filled[dims.index(None)] = total // known if known else 0
    size = math.prod(filled)
    if size != total:
        raise ValueError(
            f"Cannot reshape a tensor with {total} elements to shape {dims} "
            f"({size} elements)."
        )
    return filled


@export("sparse.transpose", "sparse_transpose")
def sparse_transpose(
    sp_input: Any, perm: Any = None, name: str | None = None
) -> SparseTensor:
    """Dimensions in the order perm, by default reversed."""
    with name_scope(name, "SparseTranspose", [sp_input]):
        is_known = perm is not None
        if perm is None:
            rank = array_ops.rank(sp_input)
            perm = (rank - 1) - math_ops.range(0, rank, 1)
        turned = array_ops.transpose(sp_input.indices)
        indices = array_ops.transpose(array_ops.gather(turned, perm))
        known = constant_value(convert_to_tensor(perm)) if is_known else None
        static = sp_input.get_shape()
        shape: Any
        if known is not None and static.is_fully_defined():
            old = static.as_list()
            shape = [old[p] for p in known]
        else:
            shape = array_ops.gather(sp_input.dense_shape, perm)
        return sparse_reorder(SparseTensor(indices, sp_input.values, shape))


@export("sparse.expand_dims")
def sparse_expand_dims(
    sp_input: Any, axis: Any = None, name: str | None = None
) -> SparseTensor:
    """A dimension of size 1 inserted at an axis, by default the last.

    Raises:
      TypeError: the axis is neither an integer nor a tensor.
    """
    rank = sp_input.dense_shape.shape[0]
    axis = -1 if axis is None else axis
    with name_scope(name, "expand_dims", [sp_input]):
        if isinstance(axis, numbers.Integral):
            axis = convert_to_tensor(axis, name="axis", dtype=dtypes.int32)
        elif not isinstance(axis, Tensor):
            raise TypeError(
                "axis must be an integer value in range [-rank(sp_input) - 1, "
                "rank(sp_input)]"
            )
        axis = array_ops.where_v2(axis >= 0, axis, axis + rank + 1)
        count = array_ops.shape(sp_input.indices)[0]
        zeros = array_ops.zeros([count, 1], dtype=dtypes.int64)
        before = array_ops.slice(sp_input.indices, [0, 0], [-1, axis])
        after = array_ops.slice(sp_input.indices, [0, axis], [-1, -1])
        indices = array_ops.concat([before, zeros, after], axis=1)
        shape_before = array_ops.slice(sp_input.dense_shape, [0], [axis])
        shape_after = array_ops.slice(sp_input.dense_shape, [axis], [-1])
        one = convert_to_tensor([1], name="new_shape", dtype=dtypes.int64)
        shape = array_ops.concat([shape_before, one, shape_after], axis=0)
        return SparseTensor(indices, sp_input.values, shape)


@export("sparse.eye")
def sparse_eye(
    num_rows: Any,
    num_columns: Any = None,
    dtype: DType = dtypes.float32,
    name: str | None = None,
) -> SparseTensor:
    """A sparse matrix with ones in the diagonal."""
    with name_scope(name, "eye", [num_rows, num_columns]):
        rows = _int64(num_rows, "num_rows")
        columns = rows if num_columns is None else _int64(num_columns, "num_columns")
        size = math_ops.minimum(rows, columns)
        diagonal = math_ops.range(size, dtype=dtypes.int64)
        return SparseTensor(
            array_ops.stack([diagonal, diagonal], axis=1),
            array_ops.ones(size, dtype=dtype),
            [rows, columns],
        )


def _int64(value: Any, name: str) -> Tensor:
    if isinstance(value, numbers.Integral):
        return convert_to_tensor(value, name=name, dtype=dtypes.int64)
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be an integer value")
    return math_ops.cast(value, dtypes.int64)  # type: ignore[no-any-return]


@export("sparse.concat", "sparse_concat")
def sparse_concat(
    axis: Any,
    sp_inputs: Any,
    name: str | None = None,
    expand_nonconcat_dim: bool = False,
    concat_dim: Any = None,
    expand_nonconcat_dims: bool | None = None,
) -> SparseTensor:
    """Sparse tensors joined along an axis.

    Args:
      expand_nonconcat_dim: let the other dimensions differ and take the largest.

    Raises:
      TypeError: the inputs are no list of sparse tensors.
    """
    axis = either("axis", axis, "concat_dim", concat_dim)
    expand = expand_nonconcat_dim
    if expand_nonconcat_dims is not None:
        expand = expand_nonconcat_dims
    if not isinstance(sp_inputs, (list, tuple)):
        raise TypeError("Inputs must be a list or tuple.")
    parts = [as_sparse(part) for part in sp_inputs]
    if len(parts) == 1:
        return parts[0]
    shapes = [part.dense_shape for part in parts]
    if expand:
        shapes = _expanded(shapes, axis)
    indices, values, shape = apply_op(
        "SparseConcat",
        indices=[part.indices for part in parts],
        values=[part.values for part in parts],
        shapes=shapes,
        concat_dim=axis,
        name=name,
    )
    known = [constant_value(one) for one in shapes]
    if all(one is not None for one in known):
        total = known[0].copy()
        total[axis] = sum(one[axis] for one in known)
        shape = convert_to_tensor(total)
    return SparseTensor(indices, values, shape)


def _expanded(shapes: list[Tensor], axis: int) -> list[Tensor]:
    rows = [array_ops.reshape(shape, [1, -1]) for shape in shapes]
    largest = math_ops.reduce_max(array_ops.concat(rows, 0), 0)
    expanded = []
    for shape in shapes:
        before = largest[:axis]
        own = shape[-1:] if axis == -1 else shape[axis : axis + 1]
        after: Any = [] if axis == -1 else largest[axis + 1 :]
        expanded.append(array_ops.concat([before, own, after], 0))
    return expanded


class _KeywordRequired:
    """The default of an argument that nobody may give: what follows has names."""

    def __repr__(self) -> str:
        return "KeywordRequired()"


@export("sparse.split", "sparse_split")
def sparse_split(
    keyword_required: Any = _KeywordRequired(),  # noqa: B008
    sp_input: Any = None,
    num_split: int | None = None,
    axis: Any = None,
    name: str | None = None,
    split_dim: Any = None,
) -> list[SparseTensor]:
    """The tensor cut along an axis; the first parts may be one longer.

    Raises:
      ValueError: an argument is missing, or was given without its name.
    """
    if not isinstance(keyword_required, _KeywordRequired):
        raise ValueError("Keyword arguments are required for this function.")
    if sp_input is None:
        raise ValueError("sp_input is required")
    if num_split is None:
        raise ValueError("num_split is required")
    axis = either("axis", axis, "split_dim", split_dim)
    if axis is None:
        raise ValueError("axis is required")
    sparse = as_sparse(sp_input)
    parts = apply_op(
        "SparseSplit",
        split_dim=axis,
        indices=sparse.indices,
        values=sparse.values,
        shape=sparse.dense_shape,
        num_split=num_split,
        name=name,
    )
    return [SparseTensor(*part) for part in zip(*parts, strict=True)]


@export("sparse.slice", "sparse_slice")
def sparse_slice(
    sp_input: Any, start: Any, size: Any, name: str | None = None
) -> SparseTensor:
    """The elements in the box of a size from a corner on."""
    sparse = as_sparse(sp_input)
    start = convert_to_tensor(start, dtypes.int64)
    size = convert_to_tensor(size, dtypes.int64)
    with name_scope(name, "SparseSlice", [sparse]) as scope:
        return SparseTensor(
            *apply_sparse("SparseSlice", sparse, scope, start=start, size=size)
        )
