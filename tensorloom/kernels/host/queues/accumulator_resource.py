"""Conditional accumulators as resources: dense and sparse sums of gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.kernels.host.control_flow.waiting import WaitableResource
from tensorloom.kernels.torch.state.variable_value import format_shape

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.framework.types.tensor_shape import TensorShape

_Array = NDArray[Any]


class Accumulator(WaitableResource):
    """Counts gradients and keeps the step; subclasses keep the sum."""

    def __init__(
        self,
        container: str,
        name: str,
        dtype: DType,
        shape: TensorShape,
        takes_mean: bool,
    ) -> None:
        super().__init__(container, name)
        self.dtype = dtype
        self.shape = shape
        self.takes_mean = takes_mean
        self.count = 0
        self.global_step = 0
        # How many gradients those want that wait; the others need not be woken.
        self._wanted: list[int] = []

    def apply(self, local_step: int, gradient: Any) -> None:
        """Adds a gradient; one of an older step is dropped.

        Raises:
          errors.InvalidArgumentError: it does not fit.
        """
        with self.changed:
            if local_step < self.global_step:
                return
            self._add(gradient)
            self.count += 1
            if any(self.count >= wanted for wanted in self._wanted):
                self.changed.notify_all()

    def take(self, required: int, context: Any) -> Any:
        """The mean or sum of at least `required` gradients; starts the next step.

        Raises:
          errors.InvalidArgumentError: `required` is not positive.
        """
        if required <= 0:
            raise invalid_argument(
                f"Argument num_required must be positive, but was {required}"
            )
        with self.changed:
            self._wanted.append(required)
            try:
                self.wait_until(lambda: self.count >= required, context, "TakeGrad")
            finally:
                self._wanted.remove(required)
            result = self._result()
            self.count = 0
            self.global_step += 1
            return result

    def set_global_step(self, step: int) -> None:
        """Sets the step; gradients of older ones will be dropped."""
        with self.changed:
            self.global_step = step

    def num_accumulated(self) -> int:
        """How many gradients are in the sum."""
        with self.changed:
            return self.count

    def _add(self, gradient: Any) -> None:
        raise NotImplementedError

    def _result(self) -> Any:
        raise NotImplementedError


class DenseAccumulator(Accumulator):
    """A sum of tensors."""

    # Its own memory: gradients are added into it.
    _sum: _Array | None = None

    def _add(self, gradient: _Array) -> None:
        found = np.shape(gradient)
        expected = self.shape.dims_tuple if self._sum is None else self._sum.shape
        if expected not in (None, found) and (
            len(found) != len(expected)
            or any(e not in (None, f) for e, f in zip(expected, found, strict=True))
        ):
            shown = ",".join("?" if d is None else str(d) for d in expected)
            raise invalid_argument(
                f"Shape mismatch: expected [{shown}], got {format_shape(found)}"
            )
        if self._sum is None:
            self._sum = np.array(gradient)
        else:
            np.add(self._sum, gradient, out=self._sum)

    def _result(self) -> Any:
        total, self._sum = self._sum, None
        assert total is not None
        if self.takes_mean:
            np.divide(total, np.asarray(self.count, total.dtype), out=total)
        return total[()]


Rows = tuple[_Array, _Array, "list[int] | None"]  # indices, values, shape


class SparseAccumulator(Accumulator):
    """A sum of rows; each row counts by itself."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._indices: NDArray[np.int64] = np.empty(0, np.int64)
        self._values: _Array = np.empty(0)
        self._counts: NDArray[np.int64] = np.empty(0, np.int64)

    def _add(self, gradient: Rows) -> None:
        indices, values, shape = gradient
        self._check(indices, values, shape)
        if not self.count:
            self._indices, self._values = indices.copy(), values.copy()
            self._counts = np.ones(len(indices), np.int64)
            return
        both, mine, theirs = merge_sorted(self._indices, indices)
        total = np.zeros((len(both), *values.shape[1:]), values.dtype)
        counts = np.zeros(len(both), np.int64)
        total[mine] += self._values
        total[theirs] += values
        counts[mine] += self._counts
        counts[theirs] += 1
        self._indices, self._values, self._counts = both, total, counts

    def _result(self) -> tuple[_Array, _Array, _Array]:
        values = self._values
        if self.takes_mean:
            counts = self._counts.reshape(-1, *[1] * (values.ndim - 1))
            values = (values / counts.astype(values.dtype)).astype(values.dtype)
        dims = self.shape.dims_tuple
        rows = -1 if not dims or dims[0] is None else dims[0]
        return self._indices, values, np.array([rows, *values.shape[1:]], np.int64)

    def _check(self, indices: _Array, values: _Array, shape: list[int] | None) -> None:
        if indices.ndim != 1:
            raise invalid_argument(
                "Input indices should be vector but received shape: "
                f"{format_shape(indices.shape)}"
            )
        if not values.ndim:
            raise invalid_argument("Values cannot be 0-dimensional.")
        if len(values) != len(indices):
            raise invalid_argument(
                f"Expected {len(indices)} non-empty input values, got {len(values)}"
            )
        limits = self.shape.dims_tuple
        if limits is not None:
            self._check_limits(limits, indices, shape)
            if values.ndim < len(limits):
                raise invalid_argument(
                    "Shape mismatch: expected values rank at least "
                    f"{len(limits)}, got {values.ndim}"
                )
            self._check_row(limits[1:], values)
        if self.count:
            rows = self._values.shape[1:]
            self._check_row(rows, values)
            if len(rows) != values.ndim - 1:
                raise invalid_argument(
                    f"Shape mismatch: expected values rank {len(rows) + 1}, got "
                    f"{values.ndim}"
                )

    def _check_limits(
        self, limits: Any, indices: _Array, shape: list[int] | None
    ) -> None:
        if shape and len(shape) < len(limits):
            raise invalid_argument(
                "Shape mismatch: expected shape rank at least "
                f"{len(limits)}, got {len(shape)}"
            )
        for i, (limit, size) in enumerate(zip(limits, shape or (), strict=False)):
            if limit is not None and size not in (-1, limit):
                raise invalid_argument(
                    f"Shape mismatch: expected shape dim {i} to be {limit}, got {size}"
                )
        if limits and limits[0] is not None:
            beyond = np.flatnonzero((indices >= limits[0]) | (indices < 0))
            if len(beyond):
                raise invalid_argument(
                    f"Shape mismatch: index of slice {beyond[0]} exceeded limits of "
                    f"shape; index is {indices[beyond[0]]} exceeded {limits[0]}"
                )

    def _check_row(self, expected: Any, values: _Array) -> None:
        for i, (want, size) in enumerate(zip(expected, values.shape[1:], strict=False)):
            if want is not None and want != size:
                raise invalid_argument(
                    f"Shape mismatch: expected values dim {i + 1} to be {want}, got "
                    f"{size}"
                )


def merge_sorted(a: _Array, b: _Array) -> tuple[_Array, _Array, _Array]:
    """Two runs of indices as one, and where the elements of each went.

    Both are expected to rise. TensorFlow merges what does not as it comes, and so
    does this.
    """
    if _rises(a) and _rises(b):
        both = np.union1d(a, b)
        return both, np.searchsorted(both, a), np.searchsorted(both, b)
    merged: list[int] = []
    mine, theirs = [], []
    left, right = a.tolist(), b.tolist()
    i = j = 0
    while i < len(left) or j < len(right):
        takes_a = j == len(right) or (i < len(left) and left[i] <= right[j])
        takes_b = i == len(left) or (j < len(right) and right[j] <= left[i])
        merged.append(left[i] if takes_a else right[j])
        if takes_a:
            mine.append(len(merged) - 1)
            i += 1
        if takes_b:
            theirs.append(len(merged) - 1)
            j += 1
    return np.array(merged, np.int64), np.array(mine, int), np.array(theirs, int)


def _rises(indices: _Array) -> bool:
    return bool((indices[1:] > indices[:-1]).all())
