"""`tf.estimator.inputs.pandas_input_fn`: a data frame as input of an Estimator."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorloom.estimator.inputs.enqueuing import enqueue_data
from tensorloom.framework.export import export


@export("estimator.inputs.pandas_input_fn")
def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int | None = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Callable[[], Any]:
    """Makes an input function of a data frame's rows.

    Args:
      x: a `DataFrame`; each column is a feature.
      y: labels: None, a `Series` or a `DataFrame`, with the index of `x`.
      batch_size: rows in a batch.
      num_epochs: how often each row comes; without end when None.
      shuffle: whether rows come in random order; must be given.
      queue_capacity: rows that wait in the queue; four times all when None and
        shuffled, else all.
      num_threads: threads that fill it; one, if the order matters.
      target_column: the name of the labels while they are with the features.

    Returns:
      A function that gives features, or features and labels, as tensors.

    Raises:
      TypeError: there is no pandas, or `target_column` is no text.
      ValueError: `shuffle` is not given, the indices differ, or a feature has the name
        of the labels.
    """
    if "pandas" not in sys.modules:
        raise TypeError("pandas_input_fn should not be called without pandas installed")
    if not isinstance(shuffle, bool):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended "
            f"to set it as True for training); got {shuffle}"
        )
    if not isinstance(target_column, str):
        raise TypeError(f"target_column must be a string type; got {target_column!r}")
    table = x.copy()
    # The columns of the labels in the table; their own names.
    targets = {} if y is None else _add_labels(table, x, y, target_column)
    if queue_capacity is None:
        queue_capacity = (4 if shuffle else 1) * len(x)
    capacity = queue_capacity

    def input_fn() -> Any:
        queue = enqueue_data(
            table,
            capacity,
            shuffle=shuffle,
            min_after_dequeue=max(capacity / 4, 1),
            num_threads=num_threads,
            enqueue_size=batch_size,
            num_epochs=num_epochs,
        )
        if num_epochs is None:
            tensors = queue.dequeue_many(batch_size)
        else:
            tensors = queue.dequeue_up_to(batch_size)
        # The first one is the index.
        features = dict(zip(table.columns, tensors[1:], strict=True))
        if y is None:
            return features
        labels = {name: features.pop(column) for column, name in targets.items()}
        if hasattr(y, "columns"):
            return features, labels
        return features, labels[target_column]

    return input_fn


def _add_labels(table: Any, x: Any, y: Any, target_column: str) -> dict[str, str]:
    """Adds the labels to the table; their names by their columns there."""
    if target_column in x:
        raise ValueError(
            f"Cannot use name {target_column} for target column: DataFrame already "
            f"has a column with that name: {x.columns}"
        )
    if not np.array_equal(x.index, y.index):
        raise ValueError(
            "Index for x and y are mismatched.\n"
            f"Index for x: {x.index}\nIndex for y: {y.index}\n"
        )
    if not hasattr(y, "columns"):
        table[target_column] = y
        return {target_column: target_column}
    targets = {_free_name(x, name): name for name in y}
    table[list(targets)] = y
    return targets


def _free_name(x: Any, name: str) -> str:
    return f"{name}_{uuid.uuid4()}" if name in x else name
