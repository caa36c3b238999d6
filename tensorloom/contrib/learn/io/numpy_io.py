"""Examples in NumPy arrays."""

from __future__ import annotations

from typing import Any

from tensorloom.estimator.inputs import numpy_io as core
from tensorloom.framework.export import export


@export("contrib.learn.io.numpy_input_fn")
def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: int | None = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Any:
    """`tf.estimator.inputs.numpy_input_fn`, which here shuffles unless told not to."""
    return core.numpy_input_fn(
        x=x,
        y=y,
        batch_size=batch_size,
        shuffle=shuffle,
        num_epochs=num_epochs,
        queue_capacity=queue_capacity,
        num_threads=num_threads,
    )
