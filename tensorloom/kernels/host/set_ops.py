"""Set operations in host memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, host_kernel
from tensorloom.kernels.host.allocation import shape_text
from tensorloom.kernels.host.sparse_indices import check_bounds, check_parts
from tensorloom.kernels.host.stable_order import starts_of_runs

_Array = NDArray[Any]
# From two arrays of keys, the keys of the result in order.
_OPERATIONS: Final[dict[str, Callable[[_Array, _Array], _Array]]] = {
    "intersection": np.intersect1d,
    "union": np.union1d,
    "a-b": np.setdiff1d,
    "b-a": lambda a, b: np.setdiff1d(b, a),
}
# A group's number and that of a value make one key.
_MOST_GROUPS: Final = 1 << 31


@dataclass(frozen=True)
class _Sets:
    """The elements of the sets of an operand."""

    groups: tuple[int, ...]  # the shape of the sets
    values: _Array  # [n]
    places: _Array | None  # [n, rank] of their sets; None if there are equally many

    def numbers(self) -> _Array:
        """The number of the set of each element, where there are not too many."""
        if self.places is not None:
            return _numbers(self.places, self.groups)
        count = math.prod(self.groups)
        return np.repeat(np.arange(count), len(self.values) // max(count, 1))


def _numbers(places: _Array, groups: tuple[int, ...]) -> _Array:
    result = np.zeros(len(places), np.int64)
    for axis, size in enumerate(groups):
        result = result * size + places[:, axis]
    return result


def _sets(values: list[Any]) -> _Sets:
    """The sets of a dense or a sparse operand."""
    places, elements = None, values[0]
    if len(values) > 1:
        indices, elements, sparse_shape = values
        check_parts(indices, elements, sparse_shape)
        check_bounds(indices, sparse_shape)
        shape = tuple(sparse_shape.tolist())
        places = indices[:, :-1]
    else:
        shape = np.shape(elements)
    if len(shape) < 2:
        raise invalid_argument(f"Invalid rank {len(shape)}, sets need at least 2.")
    return _Sets(shape[:-1], np.reshape(elements, -1), places)


class _Keys:
    """One number for each set and value, in the order of both."""

    def __init__(self, operands: list[_Sets]) -> None:
        self.groups = operands[0].groups
        self._places: _Array | None = None
        if math.prod(self.groups) < _MOST_GROUPS:
            sets = np.concatenate([x.numbers() for x in operands])
        else:
            places = [x.places for x in operands if x.places is not None]
            together = np.concatenate(places)
            self._places, sets = np.unique(together, axis=0, return_inverse=True)
        values = np.concatenate([x.values for x in operands])
        self._values, codes = _in_order(values)
        self.keys = sets.reshape(-1) * max(len(self._values), 1) + codes

    def decode(self, keys: _Array) -> tuple[_Array, _Array, _Array]:
        """(numbers of the sets, their places [n, rank], values) of keys."""
        sets, codes = np.divmod(keys, max(len(self._values), 1))
        if self._places is not None:
            places = self._places[sets]
        else:
            places = np.stack(np.unravel_index(sets, self.groups), axis=1)
        return sets, places, self._values[codes]


def _in_order(values: _Array) -> tuple[_Array, _Array]:
    """(the different values in order, which of these each one is)."""
    if values.dtype != object:
        ordered, codes = np.unique(values, return_inverse=True)
        return ordered, codes.reshape(-1)
    texts = values.tolist()
    different = sorted(set(texts))
    places = {text: i for i, text in enumerate(different)}
    ordered = np.fromiter(different, object, len(different))
    return ordered, np.fromiter(map(places.get, texts), np.int64, len(texts))


def _places_in_runs(numbers: _Array) -> _Array:
    """The place of each number of a rising array in the run of its equals."""
    at = np.arange(len(numbers))
    begins = starts_of_runs(numbers)
    return at - np.maximum.accumulate(np.where(begins, at, 0))


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
        raise invalid_argument(f"Invalid set_operation {name}.")
    split = 3 if c.op.startswith("Sparse") else 1

    def compute(*inputs: Any) -> tuple[_Array, _Array, _Array]:
        a, b = _sets(list(inputs[:split])), _sets(list(inputs[split:]))
        if a.groups != b.groups:
            raise invalid_argument(
                f"Mismatched group shapes {shape_text(a.groups)} and "
                f"{shape_text(b.groups)}."
            )
        both = _Keys([a, b])
        count = len(a.values)
        found = operate(both.keys[:count], both.keys[count:])
        sets, places, values = both.decode(found)
        last = _places_in_runs(sets)
        longest = int(last.max()) + 1 if len(last) else 0
        return (
            np.column_stack([places, last]),
            values,
            np.array([*a.groups, longest], np.int64),
        )

    return compute


@host_kernel("SetSize", large=True)
def set_size(c: OpKernelConstruction) -> Compute:
    """Different elements of each row."""

    def compute(indices: _Array, values: _Array, shape: _Array) -> _Array:
        sets = _sets([indices, values, shape])
        sizes = np.zeros(sets.groups, np.int32)
        keys = _Keys([sets])
        number, _, _ = keys.decode(np.unique(keys.keys))
        sizes.reshape(-1)[:] = np.bincount(number, minlength=sizes.size)
        return sizes

    return compute
