"""Sums of gradients and hessians by leaf, feature and dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.kernels.host.boosted_trees.resource import named_resource
from tensorloom.kernels.host.gradient_trees.stamped_resource import StampedResource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction

_Array = NDArray[Any]


class Slots(NamedTuple):
    """Sums, those of leaf after leaf; in a leaf by dimension, then by feature."""

    partitions: _Array  # int32 [slots]
    features: _Array  # int64 [slots, 2]: feature and dimension
    gradients: _Array  # float32 [slots, ...]
    hessians: _Array  # float32 [slots, ...]


def _none(gradient_shape: Sequence[int], hessian_shape: Sequence[int]) -> Slots:
    return Slots(
        np.zeros(0, np.int32),
        np.zeros((0, 2), np.int64),
        np.zeros((0, *gradient_shape), np.float32),
        np.zeros((0, *hessian_shape), np.float32),
    )


def add_up(slots: Slots) -> Slots:
    """Sums of what belongs together, in the order of the rows.

    Raises:
      errors.InvalidArgumentError: the parts have different numbers of rows.
    """
    partitions, features, gradients, hessians = slots
    count = len(partitions)
    if features.ndim != 2 or features.shape[1] != 2:
        raise invalid_argument(
            f"feature_ids must be of shape [n, 2], got {list(features.shape)}"
        )
    if not count:
        return Slots(partitions, features[:0], gradients[:0], hessians[:0])
    for name, part in zip(Slots._fields, slots, strict=True):
        if len(part) != count:
            raise invalid_argument(
                f"{name} must have {count} rows, as many as partition_ids, got "
                f"{len(part)}"
            )
    order = np.lexsort((features[:, 0], features[:, 1], partitions))
    keys = partitions[order], features[order, 0], features[order, 1]
    is_new = np.ones(count, bool)
    is_new[1:] = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    places = np.empty(count, np.int64)
    places[order] = np.cumsum(is_new) - 1
    first = order[is_new]
    return Slots(
        partitions[first],
        features[first],
        _sums(gradients, places, first),
        _sums(hessians, places, first),
    )


def _sums(values: _Array, places: _Array, first: _Array) -> _Array:
    """The first value of each place, and the others added to it one by one."""
    sums = values[first]
    others = np.ones(len(values), bool)
    others[first] = False
    np.add.at(sums, places[others], values[others])
    return sums


class Accumulator(StampedResource):
    """Sums, and how often something was added."""

    kind = "StatsAccumulatorResource"

    def __init__(self, container: str, name: str) -> None:
        super().__init__(container, name)
        self.updates = 0
        self.slots = _none((), ())
        self._shapes: tuple[tuple[int, ...], ...] = ((), ())

    def create(self, stamp: int, *shapes: Sequence[int]) -> None:
        """Begins, unless it has begun.

        Args:
          stamp: the first one.
          *shapes: of a gradient and a hessian.
        """
        if not self.is_created:
            self._shapes = tuple(tuple(map(int, shape)) for shape in shapes)
            self.is_created, self.stamp = True, stamp
            self.clear()

    def clear(self) -> None:
        """Begins anew."""
        self.updates, self.slots = 0, _none(*self._shapes)

    def add(self, slots: Slots) -> None:
        """Adds rows.

        Raises:
          errors.InvalidArgumentError: a gradient or hessian is of another shape.
        """
        for what, part, shape in zip(
            ("Gradients", "Hessian"), slots[2:], self._shapes, strict=True
        ):
            if part.shape[1:] != shape:
                raise invalid_argument(
                    f"{what} dimensions must match: {list(part.shape[1:])}, "
                    f"{list(shape)}"
                )
        self.updates += 1
        if len(slots.partitions):
            joined = [
                np.concatenate(parts) for parts in zip(self.slots, slots, strict=True)
            ]
            self.slots = add_up(Slots(*joined))


def _kernels(kind: str, is_scalar: bool) -> None:
    """The kernels of accumulators of numbers, or of vectors and matrices."""
    name = f"StatsAccumulator{kind}"

    @host_kernel(f"{name}ResourceHandleOp", large=True)
    def handle(c: OpKernelConstruction) -> Compute:
        return named_resource(c, Accumulator)

    @host_kernel(f"{name}IsInitialized", large=True)
    def is_initialized(c: OpKernelConstruction) -> Compute:
        return lambda accumulator: np.bool_(accumulator.is_created)

    @host_kernel(f"CreateStatsAccumulator{kind}", large=True)
    def create(c: OpKernelConstruction) -> Compute:
        def compute(accumulator: Accumulator, stamp: Any, *shapes: _Array) -> None:
            with accumulator.lock:
                accumulator.create(int(stamp), *(((), ()) if is_scalar else shapes))

        return compute

    @host_kernel(f"{name}MakeSummary", large=True)
    def make_summary(c: OpKernelConstruction) -> Compute:
        return lambda *parts: tuple(add_up(Slots(*map(np.asarray, parts))))

    for suffix, build in (
        ("Add", _add),
        ("Flush", _flush),
        ("Serialize", _serialize),
        ("Deserialize", _deserialize),
    ):
        host_kernel(f"{name}{suffix}", large=True)(build)


def _add(c: OpKernelConstruction) -> Compute:
    """Adds rows to each accumulator; what comes with an old stamp is dropped."""
    count = c["num_resource_handles"]

    def compute(*inputs: Any) -> None:
        accumulators, stamp, parts = inputs[:count], inputs[count], inputs[count + 1 :]
        for index, accumulator in enumerate(accumulators):
            with accumulator.lock:
                accumulator.check_created()
                if accumulator.stamp == int(stamp):
                    accumulator.add(Slots(*map(np.asarray, parts[index::count])))

    return compute


def _flush(c: OpKernelConstruction) -> Compute:
    """(how often something was added, the sums), which then begin anew."""

    def compute(accumulator: Accumulator, stamp: Any, after: Any) -> Any:
        with accumulator.lock:
            accumulator.move_on(int(stamp), int(after))
            out = np.int64(accumulator.updates), *accumulator.slots
            accumulator.clear()
            return out

    return compute


def _serialize(c: OpKernelConstruction) -> Compute:
    """(stamp, how often something was added, the sums)."""

    def compute(accumulator: Accumulator) -> Any:
        with accumulator.lock:
            accumulator.check_created()
            numbers = np.int64(accumulator.stamp), np.int64(accumulator.updates)
            return *numbers, *accumulator.slots

    return compute


def _deserialize(c: OpKernelConstruction) -> Compute:
    """Replaces the sums and their stamp."""

    def compute(
        accumulator: Accumulator, stamp: Any, updates: Any, *parts: _Array
    ) -> None:
        with accumulator.lock:
            accumulator.check_created()
            accumulator.clear()
            accumulator.stamp = int(stamp)
            accumulator.add(Slots(*map(np.asarray, parts)))
            accumulator.updates = int(updates)

    return compute


_kernels("Scalar", is_scalar=True)
_kernels("Tensor", is_scalar=False)
