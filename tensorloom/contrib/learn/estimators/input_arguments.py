"""What models take as input: arrays, or input functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.contrib.layers.columns.parsing import infer_real_valued_columns
from tensorloom.contrib.learn.io.data_feeder import setup_train_data_feeder
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Graph
from tensorloom.framework.graph.tensor import is_tensor


def verify_input_args(
    x: Any, y: Any, input_fn: Any, feed_fn: Any, batch_size: int | None
) -> None:
    """Raises ValueError unless there is either `x` or `input_fn`."""
    if input_fn is not None:
        if x is not None or y is not None:
            raise ValueError("Can not provide both input_fn and x or y.")
        if batch_size is not None:
            raise ValueError("Can not provide both input_fn and batch_size.")
        return
    if x is None:
        raise ValueError("Either x or input_fn must be provided.")
    if is_tensor(x) or (y is not None and is_tensor(y)):
        raise ValueError("Inputs cannot be tensors. Please provide input_fn.")
    if feed_fn is not None:
        raise ValueError("Can not provide both feed_fn and x or y.")


def get_input_fn(
    x: Any,
    y: Any,
    input_fn: Any,
    feed_fn: Any,
    batch_size: int | None,
    shuffle: bool = False,
    epochs: int | None = 1,
) -> tuple[Any, Any]:
    """The input function, and what feeds its placeholders, or None.

    Args:
      x: features as arrays.
      y: labels as arrays.
      input_fn: or the input function.
      feed_fn: and what feeds it.
      batch_size: of the arrays.
      shuffle: whether arrays come in random order.
      epochs: how often arrays come; without end when None.

    Raises:
      ValueError: there is not either `x` or `input_fn`.
    """
    verify_input_args(x, y, input_fn, feed_fn, batch_size)
    if input_fn is not None:
        return input_fn, feed_fn
    feeder = setup_train_data_feeder(
        x, y, n_classes=None, batch_size=batch_size, shuffle=shuffle, epochs=epochs
    )
    return feeder.input_builder, feeder.get_feed_dict_fn()


@export("contrib.learn.infer_real_valued_columns_from_input_fn")
def infer_real_valued_columns_from_input_fn(input_fn: Callable[[], Any]) -> list[Any]:
    """A real-valued column of `tf.contrib.layers` for each feature.

    Args:
      input_fn: gives (features, labels); it is called in a graph of its own.

    Raises:
      TypeError: a feature is no dense tensor of numbers.
    """
    with Graph().as_default():
        features, _ = input_fn()
        return infer_real_valued_columns(features)


@export("contrib.learn.infer_real_valued_columns_from_input")
def infer_real_valued_columns_from_input(x: Any) -> list[Any]:
    """A real-valued column of `tf.contrib.layers` for each array of features."""
    input_fn, _ = get_input_fn(
        x=x, y=None, input_fn=None, feed_fn=None, batch_size=None
    )
    return infer_real_valued_columns_from_input_fn(input_fn)
