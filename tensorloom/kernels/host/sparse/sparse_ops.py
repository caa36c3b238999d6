"""Kernels of the sparse ops, in host memory: indices [n, rank], values [n]."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import (
    check_dimensions,
    check_shape,
    shape_text,
)
from tensorloom.kernels.host.sparse.indices import (
    are_inside,
    check_bounds,
    check_order,
    check_parts,
    lexical_order,
    linear,
    unravel,
)

_Array = NDArray[Any]


# --- to dense ----------------------------------------------------------------


@host_kernel("SparseToDense", large=True)
def sparse_to_dense(c: OpKernelConstruction) -> Compute:
    """Values scattered over a default."""
    validate, dtype, device = c["validate_indices"], c["T"], c.device

    def compute(indices: Any, shape: _Array, values: Any, default: Any) -> _Array:
        dims = _dense_dims(shape)
        places = _index_matrix(np.asarray(indices), len(dims))
        given = np.asarray(values)
        if given.shape not in ((), (len(places),)):
            raise invalid_argument(
                f"sparse_values has incorrect shape {shape_text(given.shape)}, should "
                f"be [] or [{len(places)}]"
            )
        if np.ndim(default):
            raise invalid_argument("default_value should be a scalar.")
        check_shape(dims, dtype, device)
        if (
            validate
            and _MANY <= len(places) <= math.prod(dims) <= _MOST
            and given.dtype in _LOOP_TYPES
        ):
            dense = np.full(dims, default, given.dtype)
            if _put_in_order(places, given, dense):
                return dense
        if validate:
            at = check_order(places, np.array(dims, np.int64))
        elif are_inside(places, np.array(dims)):
            at = linear(places, np.array(dims))
        else:
            raise invalid_argument("Indices are not valid (out of bounds).")
        dense = np.full(dims, np.asarray(default)[()], given.dtype)
        dense.reshape(-1)[at] = given
        return dense

    return compute


# So many values are put by a loop; its Python is done with fewer as soon, and needed
# for a moment only.
_MANY: Final = 64
# Into so many elements, so that nobody waits until the loop is compiled.
_MOST: Final = 1 << 13
_LOOP_TYPES: Final = frozenset(map(np.dtype, ("f4", "f8", "i4", "i8")))


def _put_in_order(places: _Array, values: _Array, dense: _Array) -> bool:
    """Whether all places are inside and in order; if not, not all values are put."""
    # Loaded here: it takes some tenths of a second.
    from tensorloom.kernels.loops.sparse import sparse

    return bool(
        sparse.put_in_order(
            np.ascontiguousarray(places, np.int64),
            np.ascontiguousarray(np.broadcast_to(values, len(places))),
            np.array(dense.shape, np.int64),
            dense.reshape(-1),
        )
    )


def _dense_dims(shape: _Array) -> tuple[int, ...]:
    if np.ndim(shape) != 1:
        raise invalid_argument(
            f"output_shape should be a vector, got shape {shape_text(np.shape(shape))}"
        )
    return tuple(np.asarray(shape).tolist())


def _index_matrix(indices: _Array, rank: int) -> _Array:
    if indices.ndim > 2:
        raise invalid_argument(
            "sparse_indices should be a scalar, vector, or matrix, got shape "
            f"{shape_text(indices.shape)}"
        )
    matrix = indices.reshape(-1, 1) if indices.ndim < 2 else indices
    if matrix.shape[1] != rank:
        raise invalid_argument(
            "output_shape has incorrect number of elements: "
            f"{rank} should be: {matrix.shape[1]}"
        )
    return matrix


@host_kernel("SparseTensorDenseMatMul", large=True)
def sparse_tensor_dense_mat_mul(c: OpKernelConstruction) -> Compute:
    """Rows of b scaled by the stored elements, added up in the rows of a."""
    adjoint_a, adjoint_b = c["adjoint_a"], c["adjoint_b"]

    def compute(indices: _Array, values: _Array, shape: _Array, b: _Array) -> _Array:
        check_parts(indices, values, shape)
        if len(shape) != 2 or np.ndim(b) != 2:
            raise invalid_argument("Tensors 'a_shape' and 'b' must stand for matrices")
        rows, columns = indices[:, 0], indices[:, 1]
        size, inner = shape.tolist()
        if adjoint_a:
            rows, columns, values = columns, rows, np.conj(values)
            size, inner = inner, size
        right = np.conj(b.T) if adjoint_b else b
        if len(right) != inner:
            raise invalid_argument(
                f"Cannot multiply A and B because inner dimension does not match: "
                f"{inner} vs. {len(right)}.  Did you forget a transpose?  Dimensions "
                f"of A: [{size}, {inner}).  Dimensions of B: {shape_text(b.shape)}"
            )
        return _product(rows, columns, values, right, size, int(adjoint_a))

    return compute


def _product(
    rows: _Array,
    columns: _Array,
    values: _Array,
    right: _Array,
    size: int,
    row_axis: int,
) -> _Array:
    # Loaded here: it takes some tenths of a second.
    from tensorloom.kernels.loops.sparse import sparse

    dtype = right.dtype
    # What has no machine code is half as long.
    to = dtype if dtype.isbuiltin == 1 and dtype.char != "e" else np.dtype(np.float32)
    result = np.zeros((size, right.shape[1]), to)
    bad = sparse.multiply(
        np.ascontiguousarray(rows, np.int64),
        np.ascontiguousarray(columns, np.int64),
        np.ascontiguousarray(values, to),
        np.ascontiguousarray(right, to),
        result,
    )
    if bad >= 0:
        column = int(columns[bad])
        if 0 <= column < len(right):
            name, place, axis, limit = "m", int(rows[bad]), row_axis, size
        else:
            name, place, axis, limit = "k", column, 1 - row_axis, len(right)
        raise invalid_argument(
            f"{name} ({place}) from index[{bad},{axis}] out of bounds (>={limit})"
        )
    return result.astype(dtype, copy=False)


# --- order, shape, parts -----------------------------------------------------


@host_kernel("SparseReorder", large=True)
def sparse_reorder(c: OpKernelConstruction) -> Compute:
    """Elements by row-major index."""

    def compute(indices: _Array, values: _Array, shape: _Array) -> tuple[Any, Any]:
        check_parts(indices, values, shape)
        order = lexical_order(indices)
        if order is None:
            return indices.copy(), values.copy()
        return indices.take(order, axis=0), values.take(order)

    return compute


@host_kernel("SparseReshape", large=True)
def sparse_reshape(c: OpKernelConstruction) -> Compute:
    """Indices in another shape."""

    def compute(indices: _Array, shape: _Array, new_shape: _Array) -> tuple[Any, Any]:
        if np.ndim(indices) != 2 or np.ndim(shape) != 1 or np.ndim(new_shape) != 1:
            raise invalid_argument(
                "Input indices should be a matrix, both shapes vectors"
            )
        if indices.shape[1] != len(shape):
            raise invalid_argument(
                f"Input tensor rank must match shape length: {indices.shape[1]} vs. "
                f"{len(shape)}"
            )
        old = shape.tolist()
        target = _target_shape(old, new_shape.tolist())
        if target.tolist() == old:  # as TensorFlow, without a look at the indices
            return indices, target
        return unravel(linear(indices, shape), target), target

    return compute


def _target_shape(shape: list[int], new_shape: list[int]) -> NDArray[np.int64]:
    total = math.prod(shape)
    if new_shape.count(-1) > 1:
        raise invalid_argument("only one output dimension may be -1, not both")
    if any(d < -1 for d in new_shape):
        raise invalid_argument(f"size {min(new_shape)} must be non-negative")
    known = math.prod(d for d in new_shape if d != -1)
    target = list(new_shape)
    if -1 in target:
        if known == 0:
            raise invalid_argument(
                "reshape cannot infer the missing input size for an empty "
                "tensor unless all specified input sizes are non-zero"
            )
        if total % known:
            raise invalid_argument(
                f"Input to reshape is a SparseTensor with {total} dense values, but "
                f"the requested shape requires a multiple of {known}."
            )
        target[target.index(-1)] = total // known
    elif known != total:
        raise invalid_argument(
            f"Input to reshape is a tensor with {total} dense values, but the "
            f"requested shape has {known}."
        )
    return np.array(target, np.int64)


@host_kernel("SparseFillEmptyRows", large=True)
def sparse_fill_empty_rows(c: OpKernelConstruction) -> Compute:
    """A default in each row that has no element."""
    # Loaded here: it takes some tenths of a second.
    from tensorloom.kernels.loops.sparse import sparse

    def compute(
        indices: _Array, values: _Array, shape: _Array, default: Any
    ) -> tuple[Any, ...]:
        check_parts(indices, values, shape)
        if np.ndim(default):
            dims = ",".join(map(str, np.shape(default)))
            raise invalid_argument(f"default_value must be a scalar, saw: [{dims}]")
        if not len(shape):
            raise invalid_argument("Dense shape cannot be empty.")
        count = int(shape[0])
        check_shape((count,), dtypes.int64, c.device)
        indices = np.ascontiguousarray(indices)
        stored = np.zeros(count, np.int64)
        bad = sparse.count_rows(indices, stored)
        if bad >= 0:
            raise row_outside(bad, indices, count)
        is_empty = stored == 0
        ends = np.maximum(stored, 1).cumsum()
        filled = np.zeros((ends[-1] if count else 0, indices.shape[1]), np.int64)
        places = np.empty(len(indices), np.int64)
        sparse.fill_empty_rows(indices, ends, filled, places)
        filled_values = np.full(len(filled), np.asarray(default)[()], values.dtype)
        filled_values[places] = values
        return filled, filled_values, is_empty, places

    return compute


def row_outside(bad: int, indices: _Array, count: int) -> errors.InvalidArgumentError:
    """The error about the row of one of the indices, of which there are `count`."""
    return invalid_argument(
        f"indices({bad}, 0) is invalid: {indices[bad, 0]} >= {count}"
        if count
        else "Received SparseTensor with dense_shape[0] = 0 but "
        f"indices.shape[0] = {len(indices)}"
    )


@host_kernel("SparseFillEmptyRowsGrad", large=True)
def sparse_fill_empty_rows_grad(c: OpKernelConstruction) -> Compute:
    """Gradients of the given elements, and the sum of those that were added."""

    def compute(reverse: _Array, grad: _Array) -> tuple[Any, Any]:
        for name, given in (("reverse_index_map", reverse), ("grad_values", grad)):
            if np.ndim(given) != 1:
                shape = ",".join(str(size) for size in np.shape(given))
                raise invalid_argument(f"{name} must be a vector, saw: [{shape}]")
        if len(reverse) and not 0 <= reverse.min() <= reverse.max() < len(grad):
            raise invalid_argument(
                "Elements in reverse index must be in [0, "
                f"{len(grad)}) but got {reverse.max()}"
            )
        added = np.ones(len(grad), bool)
        added[reverse] = False
        return grad[reverse], grad[added].sum(dtype=grad.dtype)

    return compute


@host_kernel("SparseConcat", large=True)
def sparse_concat(c: OpKernelConstruction) -> Compute:
    """Elements of all parts, each part's indices moved along."""
    count, dim = c["N"], c["concat_dim"]

    def compute(*inputs: _Array) -> tuple[Any, Any, Any]:
        indices, values = inputs[:count], inputs[count : 2 * count]
        shapes = inputs[2 * count :]
        for parts in zip(indices, values, shapes, strict=True):
            check_parts(*parts)
        rank = len(shapes[0])
        axis = dim + rank if dim < 0 else dim
        if not 0 <= axis < rank:
            raise invalid_argument(
                f"Concat dimension must be in range [{-rank}, {rank}), got {dim}"
            )
        _check_concat(shapes, axis)
        sizes = [int(s[axis]) for s in shapes]
        check_dimensions((*shapes[0].tolist(), *sizes, 0))
        shape = shapes[0].copy()
        if sum(sizes) >= 2**63:
            raise invalid_argument(f"Dimension {sum(sizes)} is too large")
        shape[axis] = sum(sizes)
        check_dimensions(tuple(shape.tolist()))
        offsets = np.cumsum([0, *sizes])
        moved = [i.copy() for i in indices]
        for part, offset in zip(moved, offsets, strict=False):
            part[:, axis] += offset
        every, all_values = np.concatenate(moved), np.concatenate(values)
        order = lexical_order(every)
        if order is not None:
            every, all_values = every.take(order, axis=0), all_values.take(order)
        return every, all_values, shape

    return compute


def _check_concat(shapes: tuple[_Array, ...], axis: int) -> None:
    first = shapes[0]
    for i, shape in enumerate(shapes):
        if len(shape) != len(first):
            raise invalid_argument(
                f"Ranks of all input tensors must match: expected {len(first)} but "
                f"got {len(shape)} at position {i}"
            )
        for j, (got, expected) in enumerate(zip(shape, first, strict=True)):
            if j != axis and got != expected:
                raise invalid_argument(
                    f"Input shapes must match: expected {expected} for dimension {j} "
                    f"but got {got} at position {i}"
                )


@host_kernel("SparseSplit", large=True)
def sparse_split(c: OpKernelConstruction) -> Compute:
    """Parts of nearly equal length."""
    count = c["num_split"]

    def compute(
        split_dim: Any, indices: _Array, values: _Array, shape: _Array
    ) -> tuple[Any, ...]:
        check_parts(indices, values, shape)
        rank = len(shape)
        if np.ndim(split_dim) or not -rank <= split_dim < rank:
            raise invalid_argument(
                f"Input split_dim should be a scalar between {-rank} and rank ({rank}),"
                f" got {np.asarray(split_dim).tolist()}"
            )
        axis = int(split_dim) % rank
        length = int(shape[axis])
        if not 1 <= count <= length:
            raise invalid_argument(
                f"Input num_split should be between 1 and the splitting "
                f"dimension size ({length}), got {count}"
            )
        check_bounds(indices[:, axis : axis + 1], shape[axis : axis + 1])
        size, extra = divmod(length, count)
        sizes = [size + 1] * extra + [size] * (count - extra)
        starts = np.cumsum([0, *sizes])
        part_of = np.searchsorted(starts, indices[:, axis], side="right") - 1
        parts = [np.flatnonzero(part_of == i) for i in range(count)]
        all_indices, all_values, shapes = [], [], []
        for i, chosen in enumerate(parts):
            moved = indices[chosen]
            moved[:, axis] -= starts[i]
            part_shape = shape.copy()
            part_shape[axis] = sizes[i]
            all_indices.append(moved)
            all_values.append(values[chosen])
            shapes.append(part_shape)
        return (*all_indices, *all_values, *shapes)

    return compute


@host_kernel("SparseSlice", large=True)
def sparse_slice(c: OpKernelConstruction) -> Compute:
    """Elements in a box."""

    def compute(
        indices: _Array, values: _Array, shape: _Array, start: _Array, size: _Array
    ) -> tuple[Any, Any, Any]:
        check_parts(indices, values, shape)
        for name, vector in (("start", start), ("size", size)):
            if vector.shape != shape.shape:
                raise invalid_argument(
                    f"Expected {name} to be a vector of length {len(shape)}, got shape "
                    f"{shape_text(vector.shape)}"
                )
        end = start + size
        inside = np.ones(len(indices), bool)
        for axis in range(len(shape)):
            column = indices[:, axis]
            inside &= (column >= start[axis]) & (column < end[axis])
        kept = np.flatnonzero(inside)
        clipped = np.maximum(np.minimum(end, shape) - start, 0)
        return indices.take(kept, axis=0) - start, values[kept], clipped

    return compute


@host_kernel("SparseSliceGrad", large=True)
def sparse_slice_grad(c: OpKernelConstruction) -> Compute:
    """Gradients at the elements that the slice kept, zero elsewhere."""

    def compute(grad: _Array, indices: _Array, start: _Array, output: _Array) -> _Array:
        _check_slice_grad(grad, indices, start, output)
        # Loaded here: it takes some tenths of a second.
        from tensorloom.kernels.loops.sparse import sparse

        places = np.empty(len(output), np.int64)
        kept = np.ascontiguousarray(output + start)
        found = sparse.subsequence(np.ascontiguousarray(indices), kept, places)
        if found < len(grad):
            raise errors.InternalError(
                None,
                None,
                "Elements of backprop_val_grad aren't all propagated. Num elements:"
                f"{len(grad)}, used: {found}",
            )
        result = np.zeros(len(indices), grad.dtype)
        result[places] = grad
        return result

    return compute


def _check_slice_grad(
    grad: _Array, indices: _Array, start: _Array, output: _Array
) -> None:
    if grad.ndim != 1:
        raise invalid_argument(
            "Input backprop_val_grad should be a vector but received shape: "
            f"{shape_text(grad.shape)}"
        )
    if not indices.ndim == output.ndim == 2:
        raise invalid_argument(
            "Input and output indices should be matrices but received shapes: "
            f"{shape_text(indices.shape)} and {shape_text(output.shape)}"
        )
    if start.ndim != 1:
        raise invalid_argument(
            "The input_start should be a vector but received shape "
            f"{shape_text(start.shape)}"
        )
    if len(grad) != len(output):
        raise invalid_argument(
            "# elements of backprop_val_grad and # rows of output_indices should match "
            f"(#nnz of sum): got {len(grad)} and {len(output)}"
        )
    if indices.shape[1] != output.shape[1]:
        raise invalid_argument(
            "The input and output should have the same ndims: got: "
            f"{indices.shape[1]} and {output.shape[1]}"
        )
    if indices.shape[1] != len(start):
        raise invalid_argument(
            f"Expected a input_start of length {indices.shape[1]}, got {len(start)}"
        )
