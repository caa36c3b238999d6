"""Pooling of images and volumes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.program.arg_scope import add_arg_scope
from tensorloom.contrib.layers.collections import collect_named_outputs
from tensorloom.contrib.layers.layer_ends import check_format
from tensorloom.contrib.layers.static_arguments import n_positive_integers
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.layers.pooling import (
    AveragePooling2D,
    AveragePooling3D,
    MaxPooling2D,
    MaxPooling3D,
)
from tensorloom.ops.pooling.pool_nd import pool as pool_nd

_IMAGES = ("NCHW", "NHWC")
_VOLUMES = ("NCDHW", "NDHWC")


def _pool(
    layer_class: Callable[..., Any],
    formats: tuple[str, ...],
    name: str,
    inputs: Any,
    window: tuple[Any, Any, str, str],
    outputs_collections: Any,
    scope: str | None,
) -> Any:
    kernel_size, stride, padding, data_format = window
    layers_format = check_format(data_format, formats)
    with name_scope(scope, name, [inputs]) as sc:
        layer = layer_class(
            pool_size=kernel_size,
            strides=stride,
            padding=padding,
            data_format=layers_format,
            _scope=sc,
        )
        outputs = layer.apply(convert_to_tensor(inputs))
        return collect_named_outputs(outputs_collections, sc, outputs)


@export("contrib.layers.avg_pool2d")
@add_arg_scope
def avg_pool2d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """Means over windows of images.

    Args:
      inputs: of rank 4, laid out as `data_format` ("NHWC" or "NCHW") says.
      kernel_size, stride: an integer, or height and width.
      padding: "VALID" or "SAME".
      outputs_collections: of the result.
      scope: a name.

    Raises:
      ValueError: the format is unknown.
    """
    window = (kernel_size, stride, padding, data_format)
    return _pool(
        AveragePooling2D,
        _IMAGES,
        "AvgPool2D",
        inputs,
        window,
        outputs_collections,
        scope,
    )


@export("contrib.layers.max_pool2d")
@add_arg_scope
def max_pool2d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """Maxima over windows of images; arguments as of `avg_pool2d`."""
    window = (kernel_size, stride, padding, data_format)
    return _pool(
        MaxPooling2D, _IMAGES, "MaxPool2D", inputs, window, outputs_collections, scope
    )


@export("contrib.layers.avg_pool3d")
@add_arg_scope
def avg_pool3d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NDHWC",
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """Means over windows of volumes; arguments as of `avg_pool2d`."""
    window = (kernel_size, stride, padding, data_format)
    return _pool(
        AveragePooling3D,
        _VOLUMES,
        "AvgPool3D",
        inputs,
        window,
        outputs_collections,
        scope,
    )


@export("contrib.layers.max_pool3d")
@add_arg_scope
def max_pool3d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NDHWC",
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """Maxima over windows of volumes; arguments as of `avg_pool2d`."""
    window = (kernel_size, stride, padding, data_format)
    return _pool(
        MaxPooling3D, _VOLUMES, "MaxPool3D", inputs, window, outputs_collections, scope
    )


@export("contrib.slim.pool")
@add_arg_scope
def pool(
    inputs: Any,
    kernel_size: Any,
    pooling_type: str,
    padding: str = "VALID",
    data_format: str | None = None,
    dilation_rate: Any = 1,
    stride: Any = 1,
    outputs_collections: Any = None,
    scope: str | None = None,
) -> Any:
    """Means or maxima over windows of any rank.

    Args:
      inputs: of one axis for batches, one for channels and some between.
      kernel_size, dilation_rate, stride: an integer, or one for each of these.
      pooling_type: "AVG" or "MAX".
      padding: "VALID" or "SAME".
      data_format: where channels are: second where it begins with "NC", else last.
      outputs_collections: of the result.
      scope: names the operations.

    Raises:
      ValueError: the rank is unknown or below 3, or a size is no positive integer.
    """
    with name_scope(scope, f"{pooling_type.lower()}_pool", [inputs]) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if rank is None:
            raise ValueError("Rank of inputs must be known")
        if rank < 3:
            raise ValueError(f"Rank of inputs must be >= 3, got {rank}")
        outputs = pool_nd(
            input=inputs,
            window_shape=n_positive_integers(rank - 2, kernel_size),
            pooling_type=pooling_type,
            padding=padding,
            data_format=data_format,
            dilation_rate=n_positive_integers(rank - 2, dilation_rate),
            strides=n_positive_integers(rank - 2, stride),
            name=sc,
        )
        return collect_named_outputs(outputs_collections, sc, outputs)
