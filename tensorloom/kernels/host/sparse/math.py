"""Sums, extrema, reductions and softmax of sparse tensors in host memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_shape, shape_text
from tensorloom.kernels.host.sparse.indices import (
    check_bounds,
    check_dense_side,
    check_parts,
    lexical_order,
    linear,
    places_inside,
    unravel,
)

_Array = NDArray[Any]


def _merged(a: _Array, b: _Array) -> tuple[_Array, _Array, _Array]:
    """(union of the rows in order, place of each row of a in it, of each of b)."""
    # Loaded here: it takes some tenths of a second.
    from tensorloom.kernels.loops.sparse import sparse

    rows = np.empty((len(a) + len(b), a.shape[1]), np.int64)
    from_a, from_b = np.empty(len(a), np.int64), np.empty(len(b), np.int64)
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    count = sparse.merge(a, b, rows, from_a, from_b)
    return rows[:count], from_a, from_b


def _check_shapes(a: _Array, b: _Array) -> None:
    if len(a) != len(b):
        raise invalid_argument(
            f"Ranks of input tensors must match, but saw ranks: {len(a)} and {len(b)}"
        )
    for i, (x, y) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        if x != y:
            raise invalid_argument(
                f"Input shapes must match: got {x} and {y} for dimension {i}"
            )


@host_kernel("SparseAdd", large=True)
def sparse_add(c: OpKernelConstruction) -> Compute:
    """Sums whose size reaches the threshold."""

    def compute(
        ai: _Array, av: _Array, ash: _Array, bi: _Array, bv: _Array, bsh: _Array, t: Any
    ) -> tuple[Any, Any, Any]:
        check_parts(ai, av, ash)
        check_parts(bi, bv, bsh)
        _check_shapes(ash, bsh)
        if np.ndim(t):
            raise invalid_argument(
                "The magnitude threshold must be a scalar: got shape "
                f"{shape_text(np.shape(t))}"
            )
        rows, from_a, from_b = _merged(ai, bi)
        sums = np.zeros(len(rows), av.dtype)
        sums[from_a] = av
        sums[from_b] += bv
        kept = np.abs(sums) >= t
        # Behind the last row of either side TensorFlow compares no more.
        kept[min(from_a.max(initial=-1), from_b.max(initial=-1)) + 1 :] = True
        if kept.all():
            return rows, sums, ash
        return rows.compress(kept, axis=0), sums.compress(kept), ash

    return compute


@host_kernel("SparseAddGrad", large=True)
def sparse_add_grad(c: OpKernelConstruction) -> Compute:
    """The sum's gradient at the elements of both terms, zero where it has none."""

    def compute(grad: _Array, a: _Array, b: _Array, total: _Array) -> tuple[Any, Any]:
        if grad.ndim != 1:
            raise invalid_argument(
                "Input backprop_val_grad should be a vector but received shape: "
                f"{shape_text(grad.shape)}"
            )
        if not a.ndim == b.ndim == total.ndim == 2:
            raise invalid_argument(
                "Input a_indices, b_indices and sum_indices should be matrices but "
                f"received shapes: {shape_text(a.shape)}, {shape_text(b.shape)} and "
                f"{shape_text(total.shape)}"
            )
        if not a.shape[1] == b.shape[1] == total.shape[1]:
            raise invalid_argument(
                "The densified operands should have the same ndims; for A, B, sum "
                f"got: {a.shape[1]}, {b.shape[1]} and {total.shape[1]}"
            )
        if len(grad) != len(total):
            raise invalid_argument(
                f"# elements in backprop_val_grad and # rows in sum_indices should "
                f"match ({len(grad)} vs. {len(total)})"
            )
        return _pick(grad, a, total), _pick(grad, b, total)

    return compute


def _pick(grad: _Array, wanted: _Array, rows: _Array) -> _Array:
    # Loaded here: it takes some tenths of a second.
    from tensorloom.kernels.loops.sparse import sparse

    places = np.empty(len(wanted), np.int64)
    sparse.find(np.ascontiguousarray(wanted), np.ascontiguousarray(rows), places)
    # Place -1 is the last one.
    return np.append(grad, grad.dtype.type(0)).take(places)


@host_kernel("SparseTensorDenseAdd", large=True)
def sparse_tensor_dense_add(c: OpKernelConstruction) -> Compute:
    """A dense tensor plus stored elements."""

    def compute(indices: _Array, values: _Array, shape: _Array, b: _Array) -> _Array:
        check_parts(indices, values, shape)
        dense = np.asarray(b)
        if tuple(np.asarray(shape).tolist()) != dense.shape:
            raise invalid_argument(
                f"Dimensions of the sparse tensor "
                f"{shape_text(tuple(np.asarray(shape).tolist()))} and of the dense "
                f"one {shape_text(dense.shape)} differ"
            )
        places = places_inside(indices, shape)
        result = dense.copy()
        np.add.at(result.reshape(-1), places, values)
        return result

    return compute


@host_kernel(["SparseSparseMaximum", "SparseSparseMinimum"], large=True)
def sparse_extremum(c: OpKernelConstruction) -> Compute:
    """Elementwise extrema, missing elements being zero."""
    # Not np.maximum: against NaN, TensorFlow's take the left side.
    behind = np.less if c.op == "SparseSparseMaximum" else np.greater

    def compute(
        ai: _Array, av: _Array, ash: _Array, bi: _Array, bv: _Array, bsh: _Array
    ) -> tuple[Any, Any]:
        check_parts(ai, av, ash)
        check_parts(bi, bv, bsh)
        _check_shapes(ash, bsh)
        rows, from_a, from_b = _merged(ai, bi)
        left, right = np.zeros(len(rows), av.dtype), np.zeros(len(rows), bv.dtype)
        left[from_a], right[from_b] = av, bv
        return rows, np.where(behind(left, right), right, left)

    return compute


def _groups(
    indices: _Array, values: _Array, shape: _Array, axes: Any, maximum: bool
) -> tuple[_Array, _Array, list[int]]:
    """(places of the groups that have elements, their results, kept axes)."""
    rank = len(shape)
    if np.ndim(axes) > 1:
        raise invalid_argument(
            "Expected reduction_axes to be a scalar or a vector; got shape: "
            f"{shape_text(np.shape(axes))}"
        )
    given = np.asarray(axes).reshape(-1).tolist()
    for axis in given:
        if not -rank <= axis < rank:
            raise invalid_argument(
                f"Invalid reduction dimension {axis}, for input with {rank} dimensions."
            )
    reduced = {axis % rank for axis in given}
    kept = [i for i in range(rank) if i not in reduced]
    check_bounds(indices[:, kept], shape[kept])
    places = linear(indices[:, kept], shape[kept])
    found, group = np.unique(places, return_inverse=True)
    if maximum:
        order = np.argsort(group, kind="stable")
        starts = np.searchsorted(group[order], np.arange(len(found)))
        ordered = values[order]
        nan = ordered != ordered
        if nan.any():
            ordered[nan] = -np.inf  # TensorFlow's maxima pass over those
        results = np.maximum.reduceat(ordered, starts) if len(found) else ordered
    else:
        results = np.zeros(len(found), values.dtype)
        np.add.at(results, group, values)
    return found, results, kept


@host_kernel(["SparseReduceSum", "SparseReduceMax"], large=True)
def sparse_reduce(c: OpKernelConstruction) -> Compute:
    """Reductions to a dense tensor, zero where nothing is stored."""
    keep, maximum = c["keep_dims"], c.op == "SparseReduceMax"
    dtype, device = c["T"], c.device

    def compute(indices: _Array, values: _Array, shape: _Array, axes: Any) -> _Array:
        check_parts(indices, values, shape)
        found, results, kept = _groups(indices, values, shape, axes, maximum)
        dims = tuple(shape[kept].tolist())
        check_shape(dims, dtype, device)
        dense = np.zeros(dims, values.dtype)
        dense.reshape(-1)[found] = results
        if keep:
            ones = [d if i in kept else 1 for i, d in enumerate(shape.tolist())]
            return dense.reshape(ones)
        return dense[()] if not dims else dense

    return compute


@host_kernel(["SparseReduceSumSparse", "SparseReduceMaxSparse"], large=True)
def sparse_reduce_sparse(c: OpKernelConstruction) -> Compute:
    """Reductions to a sparse tensor."""
    keep, maximum = c["keep_dims"], c.op == "SparseReduceMaxSparse"

    def compute(
        indices: _Array, values: _Array, shape: _Array, axes: Any
    ) -> tuple[Any, Any, Any]:
        check_parts(indices, values, shape)
        found, results, kept = _groups(indices, values, shape, axes, maximum)
        places = unravel(found, shape[kept])
        if not keep:
            return places, results, shape[kept]
        full = np.zeros((len(found), len(shape)), np.int64)
        full[:, kept] = places
        ones = np.array(
            [d if i in kept else 1 for i, d in enumerate(shape.tolist())], np.int64
        )
        return full, results, ones

    return compute


@host_kernel("SparseSoftmax", large=True)
def sparse_softmax(c: OpKernelConstruction) -> Compute:
    """Softmax of the stored elements of each row."""

    def compute(indices: _Array, values: _Array, shape: _Array) -> _Array:
        check_parts(indices, values, shape)
        if len(shape) < 2:
            raise invalid_argument(
                f"Input should have rank >= 2, but received shape "
                f"{shape_text(tuple(shape.tolist()))}"
            )
        order = lexical_order(indices)
        if order is not None:  # the results are in order, too
            indices, values = indices.take(order, axis=0), values.take(order)
        rows = linear(indices[:, :-1], shape[:-1])
        found, group = np.unique(rows, return_inverse=True)
        largest = np.full(len(found), -np.inf, values.dtype)
        np.maximum.at(largest, group, values)
        exponentials = np.exp(values - largest[group])
        sums = np.zeros(len(found), values.dtype)
        np.add.at(sums, group, exponentials)
        return exponentials / sums[group]  # type: ignore[no-any-return]

    return compute


# --- with a dense tensor, for dtypes that torch cannot add or multiply ---------

_WIDE_UNSIGNED = {"T": {dtypes.uint16, dtypes.uint32, dtypes.uint64}}


@host_kernel(
    ["SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv"],
    types=_WIDE_UNSIGNED,
    large=True,
)
def sparse_dense(c: OpKernelConstruction) -> Compute:
    """Stored elements with the dense ones that they meet."""
    function = {"Add": np.add, "Mul": np.multiply, "Div": np.floor_divide}[c.op[-3:]]

    def compute(indices: _Array, values: _Array, shape: _Array, dense: Any) -> _Array:
        check_parts(indices, values, shape)
        check_bounds(indices, shape)
        check_dense_side(shape.tolist(), np.shape(dense))
        whole = np.broadcast_to(dense, tuple(shape.tolist()))
        met = whole[tuple(indices.T)]
        return np.asarray(function(values, met)).astype(values.dtype)

    return compute
