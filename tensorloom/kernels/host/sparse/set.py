"""Set operations in host memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.array.allocation import shape_text
from tensorloom.kernels.host.sparse.indices import (
    check_bounds,
    check_order,
    check_parts,
)

_Array = NDArray[Any]
# Which values stay: those of the first set alone, of both, and of the second alone.
_OPERATIONS: Final[dict[str, tuple[bool, bool, bool]]] = {
    "intersection": (False, True, False),
    "union": (True, True, True),
    "a-b": (True, False, False),
    "b-a": (False, False, True),
}
# For each element there may be so many sets before those that are empty are left out.
_SETS_OF_ELEMENT: Final = 8


@dataclass(frozen=True)
class _Elements:
    """The elements of the sets of an operand."""

    groups: tuple[int, ...]  # the shape of the sets
    values: _Array  # [n]
    places: _Array | None  # [n, rank] of their sets; None if there are equally many


def _elements(values: list[Any], in_order: bool = True) -> _Elements:
    """The elements of a dense or a sparse operand.

    Args:
      in_order: whether a sparse one has to be in order, none of its indices twice.
    """
    places, elements = None, values[0]
    if len(values) > 1:
        indices, elements, sparse_shape = values
        check_parts(indices, elements, sparse_shape)
        shape = tuple(sparse_shape.tolist())
        if in_order and math.prod(shape) < 2**63:
            check_order(indices, sparse_shape)
        else:
            check_bounds(indices, sparse_shape)
        places = indices[:, :-1]
    else:
        shape = np.shape(elements)
    if len(shape) < 2:
        raise invalid_argument(f"Invalid rank {len(shape)}, sets need at least 2.")
    return _Elements(shape[:-1], np.reshape(elements, -1), places)


def _numbers(operand: _Elements) -> _Array:
    """The row-major number of the set of each element."""
    if operand.places is None:
        count = math.prod(operand.groups)
        return np.repeat(np.arange(count), len(operand.values) // max(count, 1))
    result = np.zeros(len(operand.places), np.int64)
    for axis, size in enumerate(operand.groups):
        result = result * size + operand.places[:, axis]
    return result


class _Numbering:
    """One number from 0 for each set, in the order of their places."""

    def __init__(self, operands: list[_Elements]) -> None:
        self._groups = operands[0].groups
        self.count = math.prod(self._groups)
        self._places: _Array | None = None
        total = sum(len(x.values) for x in operands)
        if self.count <= _SETS_OF_ELEMENT * (total + 1):
            self.of = [_numbers(x) for x in operands]
            return
        # Most sets are empty: only the others are counted. All operands are sparse.
        together = np.concatenate([x.places for x in operands if x.places is not None])
        self._places, numbers = np.unique(together, axis=0, return_inverse=True)
        self.count = len(self._places)
        ends = np.cumsum([len(x.values) for x in operands])
        self.of = np.split(numbers.reshape(-1), ends[:-1])

    def places(self, numbers: _Array) -> _Array:
        """Where the sets of these numbers are, [n, rank]."""
        if self._places is not None:
            return self._places[numbers]
        return np.stack(np.unravel_index(numbers, self._groups), axis=1)


def _coded(operands: list[_Elements]) -> tuple[list[_Array], _Array | None]:
    """The values as int64 in the same order, and what these stand for if not that."""
    values = [x.values for x in operands]
    if values[0].dtype != object:
        return [x.astype(np.int64) for x in values], None
    different = sorted({text for some in values for text in some.tolist()})
    places = {text: i for i, text in enumerate(different)}
    texts = np.fromiter(different, object, len(different))
    return [
        np.fromiter(map(places.__getitem__, x.tolist()), np.int64, len(x))
        for x in values
    ], texts


def _sets(values: _Array, numbers: _Array, count: int) -> tuple[_Array, _Array]:
    """(different values of each set in order, one behind the other; their starts)."""
    # Loaded here: it takes some tenths of a second.
    from tensorloom.kernels.loops.sparse import sets

    starts = np.zeros(count + 1, np.int64)
    if (numbers[1:] >= numbers[:-1]).all():
        starts[1:] = np.bincount(numbers, minlength=count).cumsum()
    else:
        given, values = values, np.empty_like(values)
        sets.group(numbers, given, starts, values)
    sets.make_distinct(values, starts)
    return values, starts


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
    # Loaded here: it takes some tenths of a second.
    from tensorloom.kernels.loops.sparse import sets

    name = c["set_operation"].decode()
    keeps = _OPERATIONS.get(name)
    if keeps is None:
        raise invalid_argument(f"Invalid set_operation {name}.")
    split = 3 if c.op.startswith("Sparse") else 1

    def compute(*inputs: Any) -> tuple[_Array, _Array, _Array]:
        operands = [
            # Whatever validate_indices is; of two sparse sets TensorFlow checks one.
            _elements(list(inputs[:split])),
            _elements(list(inputs[split:]), c.op.startswith("Dense")),
        ]
        groups = operands[0].groups
        if groups != operands[1].groups:
            raise invalid_argument(
                f"Mismatched group shapes {shape_text(groups)} and "
                f"{shape_text(operands[1].groups)}."
            )
        numbering = _Numbering(operands)
        (a, b), texts = _coded(operands)
        a, a_starts = _sets(a, numbering.of[0], numbering.count)
        b, b_starts = _sets(b, numbering.of[1], numbering.count)
        places = np.empty((a_starts[-1] + b_starts[-1], 2), np.int64)
        values = np.empty(len(places), np.int64)
        count = sets.combine(a, a_starts, b, b_starts, keeps, places, values)
        places, values = places[:count], values[:count]
        longest = int(places[:, 1].max(initial=-1)) + 1
        dtype = operands[0].values.dtype
        return (
            np.column_stack([numbering.places(places[:, 0]), places[:, 1]]),
            values.astype(dtype) if texts is None else texts[values],
            np.array([*groups, longest], np.int64),
        )

    return compute


@host_kernel("SetSize", large=True)
def set_size(c: OpKernelConstruction) -> Compute:
    """Different elements of each row."""

    def compute(indices: _Array, values: _Array, shape: _Array) -> _Array:
        operands = [_elements([indices, values, shape])]
        sizes = np.zeros(operands[0].groups, np.int32)
        numbering = _Numbering(operands)
        (codes,), _ = _coded(operands)
        _, starts = _sets(codes, numbering.of[0], numbering.count)
        places = numbering.places(np.arange(numbering.count))
        sizes[tuple(places.T)] = np.diff(starts)
        return sizes

    return compute
