"""Set operations in host memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework import errors
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, host_kernel
from tensorloom.kernels.host.allocation import shape_text
from tensorloom.kernels.host.sparse_ops import check_bounds, check_parts

_Array = NDArray[Any]
_Rows = dict[tuple[int, ...], set[Any]]
_OPERATIONS: Final[dict[str, Callable[[set[Any], set[Any]], set[Any]]]] = {
    "intersection": lambda a, b: a & b,
    "union": lambda a, b: a | b,
    "a-b": lambda a, b: a - b,
    "b-a": lambda a, b: b - a,
}


def _sparse_rows(indices: _Array, values: _Array) -> _Rows:
    rows: _Rows = {}
    for place, value in zip(indices[:, :-1].tolist(), values.tolist(), strict=True):
        rows.setdefault(tuple(place), set()).add(value)
    return rows


def _dense_rows(value: _Array) -> _Rows:
    return {place: set(value[place].tolist()) for place in np.ndindex(value.shape[:-1])}


def _parts(values: list[Any]) -> tuple[_Rows, tuple[int, ...]]:
    """(the sets, the shape of the groups) of a dense or a sparse operand."""
    if len(values) == 1:
        dense = np.asarray(values[0])
        shape = dense.shape
        rows = _dense_rows(dense) if len(shape) >= 2 else {}
    else:
        indices, elements, sparse_shape = values
        check_parts(indices, elements, sparse_shape)
        check_bounds(indices, sparse_shape)
        shape = tuple(sparse_shape.tolist())
        rows = _sparse_rows(indices, elements) if len(shape) >= 2 else {}
    if len(shape) < 2:
        raise errors.InvalidArgumentError(
            None, None, f"Invalid rank {len(shape)}, sets need at least 2."
        )
    return rows, shape[:-1]


@host_kernel(
    [
        "DenseToDenseSetOperation",
        "DenseToSparseSetOperation",
        "SparseToSparseSetOperation",
    ],
    large=True,
)
def set_operation(c: OpKernelConstruction) -> Compute:
    """Elements of each row's result, in rising order."""
    name = c["set_operation"].decode()
    operate = _OPERATIONS.get(name)
    if operate is None:
        raise errors.InvalidArgumentError(None, None, f"Invalid set_operation {name}.")
    split = 3 if c.op.startswith("Sparse") else 1
    dtype = c["T"].as_numpy_dtype

    def compute(*inputs: Any) -> tuple[_Array, _Array, _Array]:
        a, groups_a = _parts(list(inputs[:split]))
        b, groups_b = _parts(list(inputs[split:]))
        if groups_a != groups_b:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Mismatched group shapes {shape_text(groups_a)} and "
                f"{shape_text(groups_b)}.",
            )
        indices: list[tuple[int, ...]] = []
        values: list[Any] = []
        longest = 0
        for place in sorted(a.keys() | b.keys()):
            elements = sorted(operate(a.get(place, set()), b.get(place, set())))
            longest = max(longest, len(elements))
            indices += [(*place, i) for i in range(len(elements))]
            values += elements
        rank = len(groups_a) + 1
        return (
            np.array(indices, np.int64).reshape(-1, rank),
            np.array(values, dtype),
            np.array([*groups_a, longest], np.int64),
        )

    return compute


@host_kernel("SetSize", large=True)
def set_size(c: OpKernelConstruction) -> Compute:
    """Different elements of each row."""

    def compute(indices: _Array, values: _Array, shape: _Array) -> _Array:
        rows, groups = _parts([indices, values, shape])
        sizes = np.zeros(groups, np.int32)
        for place, elements in rows.items():
            sizes[place] = len(elements)
        return sizes

    return compute
