"""`tf.estimator.inputs.numpy_input_fn`: arrays as input of an Estimator."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tensorloom.estimator.inputs.enqueuing import enqueue_data
from tensorloom.framework.export import export

_TARGET_KEY = "__target_key__"
_LONE_FEATURE_KEY = "__direct_np_input__"


@export("estimator.inputs.numpy_input_fn")
def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool | None = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Callable[[], Any]:
    """Makes an input function of arrays whose first dimension counts the examples.

    Args:
      x: an array or a dict of arrays.
      y: labels: None, an array or a dict of arrays.
      batch_size: examples in a batch.
      num_epochs: how often each example comes; without end when None.
      shuffle: whether they come in random order; must be given.
      queue_capacity: examples that wait in the queue.
      num_threads: threads that fill it; one, if the order matters.

    Returns:
      A function that gives features, or features and labels, as tensors.

    Raises:
      ValueError: `shuffle` is not given. The function: arrays are empty, of different
        lengths, or share a key.
      TypeError: the function: `x` is no array and no dict.
    """
    if not isinstance(shuffle, bool):
        raise ValueError(
            "shuffle must be provided and explicitly set as boolean (it is recommended "
            f"to set it as True for training); got {shuffle}"
        )

    def input_fn() -> Any:
        columns = _features(x)
        feature_keys = list(columns)
        target_keys = _add_labels(columns, y)
        _check_lengths(columns, feature_keys, target_keys)
        queue = enqueue_data(
            columns,
            queue_capacity,
            shuffle=shuffle,
            num_threads=num_threads,
            enqueue_size=batch_size,
            num_epochs=num_epochs,
        )
        if num_epochs is None:
            tensors = queue.dequeue_many(batch_size)
        else:
            tensors = queue.dequeue_up_to(batch_size)
        # The first one is the examples' numbers.
        batch = dict(zip(columns, tensors[1:], strict=True))
        features: Any = {key: batch[key] for key in feature_keys}
        if isinstance(x, np.ndarray):
            features = batch[_LONE_FEATURE_KEY]
        if target_keys is None:
            return features
        if isinstance(target_keys, str):
            return features, batch[target_keys]
        return features, {key: batch[key] for key in target_keys}

    return input_fn


def _features(x: Any) -> OrderedDict[str, Any]:
    """The features in the order of their keys."""
    if isinstance(x, dict):
        if not x:
            raise ValueError("x cannot be an empty dict")
        return OrderedDict(sorted(x.items()))
    if isinstance(x, np.ndarray):
        if x.size == 0:
            raise ValueError("x cannot be an empty array")
        return OrderedDict({_LONE_FEATURE_KEY: x})
    raise TypeError(f"x must be a dict or array; got {type(x).__name__}")


def _add_labels(columns: OrderedDict[str, Any], y: Any) -> list[str] | str | None:
    """Adds the labels; returns their key or keys."""
    if y is None:
        return None
    if not isinstance(y, dict):
        key = _TARGET_KEY
        while key in columns:
            key += "_n"
        columns[key] = y
        return key
    if not y:
        raise ValueError("y cannot be empty dict, use None instead.")
    duplicates = set(columns) & set(y)
    if duplicates:
        raise ValueError(
            f"{len(duplicates)} duplicate keys are found in both x and y: {duplicates}"
        )
    columns.update(sorted(y.items()))
    return sorted(y)


def _check_lengths(
    columns: Mapping[str, Any], feature_keys: list[str], target_keys: Any
) -> None:
    if len({column.shape[0] for column in columns.values()}) == 1:
        return
    shapes = {key: column.shape for key, column in columns.items()}
    if isinstance(target_keys, list):
        labels: Any = {key: shapes[key] for key in target_keys}
    else:
        labels = shapes.get(target_keys)
    raise ValueError(
        "Length of tensors in x and y is mismatched. All elements in x and y must have "
        "the same length.\n"
        f"Shapes in x: { {key: shapes[key] for key in feature_keys} }\n"
        f"Shapes in y: {labels}\n"
    )
