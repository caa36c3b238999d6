"""Functions of `nn_ops` and `nn_impl` with the arguments of TensorFlow 2 (`..._v2`)."""

from __future__ import annotations

from typing import Any

import tensorloom as tf
from tensorloom.framework.types import dtypes


def softmax_v2(logits: Any, axis: int | None = None, name: str | None = None) -> Any:
    """`tf.nn.softmax` without its old name for `axis`."""
    return tf.nn.softmax(logits, -1 if axis is None else axis, name)


def log_softmax_v2(
    logits: Any, axis: int | None = None, name: str | None = None
) -> Any:
    """`tf.nn.log_softmax` without its old name for `axis`."""
    return tf.nn.log_softmax(logits, -1 if axis is None else axis, name)


def dropout_v2(
    x: Any,
    rate: Any,
    noise_shape: Any = None,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """`tf.nn.dropout` that is told what part of the elements becomes zero."""
    return tf.nn.dropout(x, rate=rate, noise_shape=noise_shape, seed=seed, name=name)


def l2_normalize_v2(
    x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None
) -> Any:
    """`tf.nn.l2_normalize` without its old name for `axis`."""
    return tf.nn.l2_normalize(x, axis, epsilon, name)


def moments_v2(
    x: Any, axes: Any, shift: Any = None, keepdims: bool = False, name: Any = None
) -> Any:
    """`tf.nn.moments` with its newer name for `keep_dims`."""
    return tf.nn.moments(x=x, axes=axes, shift=shift, name=name, keep_dims=keepdims)


def nce_loss_v2(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    name: str = "nce_loss",
) -> Any:
    """`tf.nn.nce_loss` of partitions of one number after the other (`div`)."""
    return tf.nn.nce_loss(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true=num_true,
        sampled_values=sampled_values,
        remove_accidental_hits=remove_accidental_hits,
        partition_strategy="div",
        name=name,
    )


def sampled_softmax_loss_v2(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    seed: int | None = None,
    name: str = "sampled_softmax_loss",
) -> Any:
    """`tf.nn.sampled_softmax_loss` of partitions of one number after the other."""
    return tf.nn.sampled_softmax_loss(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true=num_true,
        sampled_values=sampled_values,
        remove_accidental_hits=remove_accidental_hits,
        partition_strategy="div",
        name=name,
        seed=seed,
    )


def conv2d_transpose_v2(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: Any = "SAME",
    data_format: str = "NHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """`tf.nn.conv2d_transpose` with the newer order of its arguments."""
    return tf.nn.conv2d_transpose(
        input,
        filters,
        output_shape,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


def conv3d_transpose_v2(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: str = "SAME",
    data_format: str = "NDHWC",
    dilations: Any = None,
    name: str | None = None,
) -> Any:
    """`tf.nn.conv3d_transpose` with the newer order of its arguments."""
    return tf.nn.conv3d_transpose(
        input,
        filters,
        output_shape,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


def dilation2d_v2(
    input: Any,
    filters: Any,
    strides: Any,
    padding: str,
    data_format: str,
    dilations: Any,
    name: str | None = None,
) -> Any:
    """`tf.nn.dilation2d` with `data_format`, which is "NHWC".

    Raises:
      ValueError: another `data_format`.
    """
    _check_channels_last(data_format)
    return tf.nn.dilation2d(
        input,
        filter=filters,
        strides=strides,
        rates=dilations,
        padding=padding,
        name=name,
    )


def erosion2d_v2(
    value: Any,
    filters: Any,
    strides: Any,
    padding: str,
    data_format: str,
    dilations: Any,
    name: str | None = None,
) -> Any:
    """`tf.nn.erosion2d` with `data_format`, which is "NHWC".

    Raises:
      ValueError: another `data_format`.
    """
    _check_channels_last(data_format)
    return tf.nn.erosion2d(value, filters, strides, dilations, padding, name)


def max_pool_with_argmax_v2(
    input: Any,
    ksize: Any,
    strides: Any,
    padding: str,
    data_format: str = "NHWC",
    output_dtype: Any = dtypes.int64,
    include_batch_in_index: bool = False,
    name: str | None = None,
) -> Any:
    """`tf.nn.max_pool_with_argmax` whose sizes may be one number, or two.

    Raises:
      ValueError: `data_format` is not "NHWC", or a size has another length.
    """
    _check_channels_last(data_format)
    return tf.nn.max_pool_with_argmax(
        input,
        _four_sizes(ksize, "ksize"),
        _four_sizes(strides, "strides"),
        padding,
        output_dtype=output_dtype,
        include_batch_in_index=include_batch_in_index,
        name=name,
    )


def _four_sizes(sizes: Any, what: str) -> list[Any]:
    """[1, height, width, 1] from what the caller wrote."""
    given = list(sizes) if isinstance(sizes, list | tuple) else [sizes]
    if len(given) == 4:
        return given
    if len(given) not in (1, 2):
        raise ValueError(f"{what} should be of length 1, 2 or 4 but was {len(given)}")
    return [1, given[0], given[-1], 1]


def _check_channels_last(data_format: str) -> None:
    if data_format != "NHWC":
        raise ValueError(
            f"data_format is {data_format!r}; data formats other than NHWC are not yet "
            "supported"
        )
