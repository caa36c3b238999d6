"""Examples from a generator."""

from __future__ import annotations

from collections.abc import Callable, Container
from types import FunctionType, GeneratorType
from typing import Any

from tensorloom.estimator.inputs.enqueuing import enqueue_data
from tensorloom.framework.export import export


@export("contrib.learn.io.generator_input_fn")
def generator_input_fn(
    x: Callable[[], Any],
    target_key: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    pad_value: Any = None,
) -> Callable[[], Any]:
    """Makes an input function of a generator of dicts, one an example.

    Args:
      x: a function that makes the generator.
      target_key: the key of the labels, or several keys.
      batch_size: examples in a batch.
      num_epochs: how often each example comes; without end when None.
      shuffle: whether they come in random order.
      queue_capacity: examples that wait in the queue.
      num_threads: threads that fill it.
      pad_value: what shorter rows are filled up with.

    Returns:
      A function that gives features, or features and labels, as tensors.

    Raises:
      TypeError: `x` makes no generator of dicts, or `target_key` is no str.
      KeyError: examples do not have a target's key.
    """
    input_keys = _keys(x)
    targets = _target_keys(target_key, input_keys)

    def input_fn() -> Any:
        queue = enqueue_data(
            x,
            queue_capacity,
            shuffle=shuffle,
            num_threads=num_threads,
            enqueue_size=batch_size,
            num_epochs=num_epochs,
            pad_value=pad_value,
        )
        take = queue.dequeue_many if num_epochs is None else queue.dequeue_up_to
        tensors = take(batch_size)
        if not isinstance(tensors, list):
            tensors = [tensors]
        features = dict(zip(input_keys, tensors, strict=False))
        if targets is None:
            return features
        if len(targets) > 1:
            return features, {key: features.pop(key) for key in targets}
        return features, features.pop(targets[0])

    return input_fn


def _keys(x: Any) -> list[str]:
    """The keys of the generator's examples."""
    if not isinstance(x, FunctionType):
        raise TypeError(f"x must be generator function; got {type(x).__name__}")
    generator = x()
    if not isinstance(generator, GeneratorType):
        raise TypeError(f"x() must be generator; got {type(generator).__name__}")
    example = next(generator)
    if not isinstance(example, dict):
        raise TypeError(f"x() must yield dict; got {type(example).__name__}")
    return sorted(example)


def _target_keys(target_key: Any, input_keys: list[str]) -> list[str] | None:
    if target_key is None:
        return None
    if isinstance(target_key, str):
        return [target_key]
    if not isinstance(target_key, Container):
        raise TypeError(
            "target_key must be str or Container of str; got "
            f"{type(target_key).__name__}"
        )
    targets: list[str] = list(target_key)  # type: ignore[call-overload]
    for item in targets:
        if not isinstance(item, str):
            raise TypeError(
                f"target_key must be str or Container of str; got {type(item).__name__}"
            )
        if item not in input_keys:
            raise KeyError(
                f"target_key not in yielded dict. Expected {input_keys} keys; "
                f"got {item}"
            )
    return targets
