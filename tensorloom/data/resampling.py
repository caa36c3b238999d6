"""Rejection sampling: elements dropped until classes come as often as wanted.

With p the frequencies that classes have and t those wanted, an element of class i is
kept with probability (t_i/p_i - m) / (M - m), where m and M are the least and greatest
t_i/p_i; and with probability m no choice is made at all, which drops the fewest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.data.dataset import Dataset
from tensorloom.data.experimental_nesting import sample_from_datasets, scan
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.random import random_ops

if TYPE_CHECKING:
    from tensorloom.data.experimental import Transformation
    from tensorloom.framework.graph.tensor import Tensor

# Each class counts as seen so often before the first element, and estimates change
# with every so many elements.
_PRIOR = 10
_ESTIMATION_BATCH = 32


@export("data.experimental.rejection_resample")
def rejection_resample(
    class_func: Callable[..., Any],
    target_dist: Any,
    initial_dist: Any = None,
    seed: Any = None,
) -> Transformation:
    """Drops elements so that classes come with the wanted frequencies.

    Args:
      class_func: maps an element to its class, an int32 scalar.
      target_dist: float [classes], the wanted frequencies.
      initial_dist: the frequencies that elements have; estimated without it.

    The elements are pairs of a class and an element.
    """

    def apply(dataset: Dataset) -> Dataset:
        return _resample(dataset, class_func, target_dist, initial_dist, seed)

    return apply


def _resample(
    dataset: Dataset,
    class_func: Callable[..., Any],
    target_dist: Any,
    initial_dist: Any,
    seed: Any,
) -> Dataset:
    """Pairs of class and element; see `rejection_resample`."""
    target = convert_to_tensor(target_dist, name="target_dist")
    classes = dataset.map(class_func)
    static: Any = None
    if initial_dist is not None:
        initial = convert_to_tensor(initial_dist, name="initial_dist")
        accept, keep = _probabilities(initial, target)
        initials = Dataset.from_tensors(initial).repeat()
        accepts = Dataset.from_tensors(accept).repeat()
        keeps = Dataset.from_tensors(keep).repeat()
        static = _static_ratio(initial, target)
    else:
        initials = _estimates(target, classes)
        pairs = initials.map(lambda initial: _probabilities(initial, target))
        accepts = pairs.map(lambda accept, _: accept)
        keeps = pairs.map(lambda _, keep: keep)
    filtered = _filtered(dataset, accepts, initials, classes, seed).prefetch(3)
    everything = Dataset.zip((classes, dataset))
    if static == 1:
        return everything
    if static == 0:
        return filtered
    return sample_from_datasets(
        [everything, filtered],
        weights=keeps.map(lambda keep: [(keep, 1.0 - keep)]),
        seed=seed,
    )


def _static_ratio(initial: Tensor, target: Tensor) -> Any:
    have, want = constant_value(initial), constant_value(target)
    if have is None or want is None:
        return None
    with np.errstate(all="ignore"):
        return np.min(want / have)


def _probabilities(initial: Any, target: Any) -> tuple[Any, Any]:
    """(probability of keeping an element of each class, of making no choice)."""
    tiny = np.finfo(initial.dtype.as_numpy_dtype).tiny
    ratio = target / (initial + tiny)
    greatest, least = math_ops.reduce_max(ratio), math_ops.reduce_min(ratio)
    return (ratio - least) / (greatest - least), least


def _filtered(
    dataset: Dataset, accepts: Dataset, initials: Dataset, classes: Dataset, seed: Any
) -> Dataset:
    accepts = Dataset.zip((accepts, initials)).map(lambda accept, _: accept)
    both = Dataset.zip((classes, accepts, dataset)).map(
        lambda kind, accept, data: (kind, array_ops.gather(accept, kind), data)
    )
    kept = both.filter(
        lambda _, accept, data: random_ops.random_uniform([], seed=seed) < accept
    )
    return kept.map(lambda kind, _, data: (kind, data))


def _estimates(target: Tensor, classes: Dataset) -> Dataset:
    """The frequencies of classes, estimated from those seen so far."""
    size = target.shape.as_list()[0]
    count: Any = size if size is not None else array_ops.shape(target)[0]
    seen = array_ops.fill([count], np.int64(_PRIOR))

    def update(seen: Any, batch: Any) -> tuple[Any, Any]:
        hits = array_ops.one_hot(batch, count, dtype=dtypes.int64)
        seen = seen + math_ops.reduce_sum(hits, 0)
        share = math_ops.truediv(seen, math_ops.reduce_sum(seen))
        row = array_ops.expand_dims(math_ops.cast(share, dtypes.float32), 0)
        return seen, array_ops.tile(row, [_ESTIMATION_BATCH, 1])

    return classes.batch(_ESTIMATION_BATCH).apply(scan(seen, update)).unbatch()
