"""More functions of 1.15's modules with TensorFlow 2's arguments (`..._v2`)."""

from __future__ import annotations

from typing import Any

import tensorloom as tf
from tensorloom.framework.runtime import random_seed


def convert_to_tensor_v2(
    value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None
) -> Any:
    """`tf.convert_to_tensor` with `dtype_hint` as the third argument."""
    return tf.convert_to_tensor(value, dtype, name, dtype_hint=dtype_hint)


def device_v2(device_name: Any) -> Any:
    """`tf.device` of a name or a DeviceSpec.

    Raises:
      RuntimeError: it is a function, which TensorFlow 1 allows.
    """
    if callable(device_name):
        raise RuntimeError("tf.device does not support functions.")
    return tf.device(device_name)


def batch_to_space_v2(
    input: Any, block_shape: Any, crops: Any, name: str | None = None
) -> Any:
    """`tf.batch_to_space_nd`, where one number is the size of square blocks."""
    if isinstance(block_shape, int):
        block_shape = tf.constant([block_shape, block_shape], tf.int64)
    return tf.batch_to_space_nd(input, block_shape, crops, name)


def sample_distorted_bounding_box_v2(
    image_size: Any,
    bounding_boxes: Any,
    seed: int = 0,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = None,
    area_range: Any = None,
    max_attempts: int | None = None,
    use_image_if_no_bounding_boxes: bool | None = None,
    name: str | None = None,
) -> Any:
    """`tf.image.sample_distorted_bounding_box` with one seed."""
    first, second = random_seed.get_seed(seed) if seed else (0, 0)
    return tf.image.sample_distorted_bounding_box(
        image_size,
        bounding_boxes,
        seed=first,
        seed2=second,
        min_object_covered=min_object_covered,
        aspect_ratio_range=aspect_ratio_range,
        area_range=area_range,
        max_attempts=max_attempts,
        use_image_if_no_bounding_boxes=use_image_if_no_bounding_boxes,
        name=name,
    )


def sparse_reduce_max_v2(
    sp_input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """`tf.sparse.reduce_max`, or, sparse, `tf.sparse.reduce_max_sparse`."""
    sparse, dense = tf.sparse.reduce_max_sparse, tf.sparse.reduce_max
    return _named(sparse if output_is_sparse else dense, name, sp_input, axis, keepdims)


def sparse_reduce_sum_v2(
    sp_input: Any,
    axis: Any = None,
    keepdims: bool | None = None,
    output_is_sparse: bool = False,
    name: str | None = None,
) -> Any:
    """`tf.sparse.reduce_sum`, or, sparse, `tf.sparse.reduce_sum_sparse`."""
    sparse, dense = tf.sparse.reduce_sum_sparse, tf.sparse.reduce_sum
    return _named(sparse if output_is_sparse else dense, name, sp_input, axis, keepdims)


def _named(reduce: Any, name: str | None, *args: Any) -> Any:
    """The older reductions take no name: a scope is all that names their operations."""
    if name is None:
        return reduce(*args)
    with tf.name_scope(name):
        return reduce(*args)
