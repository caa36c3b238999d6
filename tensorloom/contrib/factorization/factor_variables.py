"""The variables of a factorization, in shards, and their copies on the worker."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from tensorloom.client.variables.variables import Variable
from tensorloom.framework.graph.graph import (
    GraphKeys,
    colocate_with,
    control_dependencies,
)
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.fill import ones, zeros
from tensorloom.ops.control_flow.builders import group, no_op
from tensorloom.ops.indexing.partition import dynamic_partition
from tensorloom.ops.indexing.selection import where_v2
from tensorloom.ops.math.binary import maximum
from tensorloom.ops.math.cast import cast
from tensorloom.ops.random.random_ops import random_normal
from tensorloom.ops.state.reference_variable import assign
from tensorloom.ops.state.scatter import scatter_update as scatter


@dataclass(frozen=True)
class Sharding:
    """How rows are divided among shards: the first may have one more."""

    rows: int
    shards: int

    def sizes(self) -> list[int]:
        """How many rows each shard has."""
        size, more = divmod(self.rows, self.shards)
        return [size + 1] * more + [size] * (self.shards - more)

    def places(self, ids: Any) -> tuple[Any, Any]:
        """(the shard, the row in it) of rows int64 [n]; (None, rows) for one shard."""
        if self.shards == 1:
            return None, ids
        size, more = divmod(self.rows, self.shards)
        shard = maximum(ids // (size + 1), (ids - more) // size)
        return shard, where_v2(shard < more, ids % (size + 1), (ids - more) % size)


def _shards(
    name: str, sharding: Sharding, value: Callable[[int, int], Any]
) -> list[Variable]:
    def initializer(index: int, size: int) -> Callable[[], Any]:
        return lambda: value(index, size)

    return [
        Variable(initializer(i, size), dtype=dtypes.float32, name=f"{name}_shard_{i}")
        for i, size in enumerate(sharding.sizes())
    ]


def make_factors(
    sharding: Sharding, depth: int, init: Any, name: str
) -> list[Variable]:
    """Factors [rows, depth]; for the arguments see `WALSModel`."""
    if callable(init):
        init = init()
    is_random = isinstance(init, str) and init == "random"
    if not is_random and not isinstance(init, list) and sharding.shards == 1:
        init = [init]
    if isinstance(init, list):
        assert len(init) == sharding.shards

    def value(index: int, size: int) -> Any:
        return random_normal([size, depth]) if is_random else init[index]

    return _shards(name, sharding, value)


def make_weights(init: Any, sharding: Sharding, name: str) -> list[Variable] | None:
    """Weights [rows]; None for None. For the arguments see `WALSModel`.

    Raises:
      ValueError: they are neither a number that is not negative nor lists.
    """
    if init is None:
        return None
    if isinstance(init, Iterable):
        lists: Any = init
        if sharding.shards == 1 and len(lists) == sharding.rows:
            lists = [lists]
        assert len(lists) == sharding.shards
        return _shards(name, sharding, lambda index, _: lists[index])
    if isinstance(init, numbers.Real) and float(init) >= 0:
        return _shards(name, sharding, lambda _, size: init * ones([size]))
    raise ValueError(
        "Invalid weight initialization argument. Must be one of these: "
        "None, a real non-negative real number, or a list of lists of "
        "non-negative real numbers (or equivalent iterables) corresponding "
        "to sharded factors."
    )


def make_gramian(depth: int, name: str) -> Variable:
    """The product [depth, depth] of factors, transposed, and themselves."""
    return Variable(zeros([depth, depth]), dtype=dtypes.float32, name=name)


@dataclass(frozen=True)
class Cache:
    """A copy on the worker."""

    value: Any  # a variable or a list of variables; None of nothing
    fill: Any  # copies
    clear: Any  # frees the memory


def cached(value: Any, name: str, is_copied: bool) -> Cache:
    """A copy of a variable, or of a list of variables.

    Args:
      value: what is copied.
      name: of the copy.
      is_copied: whether it is to be copied at all.
    """
    if value is None:
        return Cache(None, None, None)
    if not is_copied:
        return Cache(value, no_op(), no_op())
    if isinstance(value, Variable):
        copy = _transient(name)
        with colocate_with(copy):
            fill = assign(copy, value, validate_shape=False)
            return Cache(copy, fill, assign(copy, 1.0, validate_shape=False))
    copies = [_transient(f"{name}_shard_{i}") for i in range(len(value))]
    fills: list[Any] = []
    clears = []
    for copy, shard in zip(copies, value, strict=True):
        # One after the other, for less memory at a time.
        with colocate_with(copy):
            with control_dependencies(fills[-1:]):
                fills.append(assign(copy, shard, validate_shape=False))
            clears.append(assign(copy, 1.0, validate_shape=False))
    return Cache(copies, fills[-1], group(*clears))


def _transient(name: str) -> Variable:
    return Variable(
        1.0,
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES],
        validate_shape=False,
        name=name,
    )


def scatter_update(
    factors: list[Variable],
    indices: Any,
    values: Any,
    places: Callable[[Any], tuple[Any, Any]],
    name: str | None = None,
) -> Any:
    """Stores rows in the shards that they belong to; see `WALSModel.scatter_update`."""
    if len(factors) == 1:
        with colocate_with(factors[0]):
            return scatter(factors[0], indices, values, name=name).op
    shard, rows = places(indices)
    shard = cast(shard, dtypes.int32)
    count = len(factors)
    parts = zip(
        factors,
        dynamic_partition(rows, shard, count),
        dynamic_partition(values, shard, count),
        strict=True,
    )
    return group(*[scatter(*part) for part in parts], name=name)
