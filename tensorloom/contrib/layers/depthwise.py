"""Convolutions of each channel by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tensorloom.client.program.arg_scope import add_arg_scope
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.framework.model_variables import (
    model_variable,
    model_variable_getter,
)
from tensorloom.contrib.layers.collections import get_variable_collections
from tensorloom.contrib.layers.dense import XAVIER, ZEROS
from tensorloom.contrib.layers.layer_ends import (
    check_format,
    finish_layer,
    finish_outputs,
)
from tensorloom.framework.export import export
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.layers.separable_layers import SeparableConv2D
from tensorloom.ops.array.pad import tile
from tensorloom.ops.convolution.builders import depthwise_conv2d
from tensorloom.ops.nn.activation import relu
from tensorloom.ops.nn.bias import bias_add

_separable_getter = model_variable_getter(
    {
        "bias": "biases",
        "depthwise_kernel": "depthwise_weights",
        "pointwise_kernel": "pointwise_weights",
    }
)


@export(
    "contrib.layers.separable_convolution2d",
    "contrib.layers.separable_conv2d",
)
@add_arg_scope
def separable_convolution2d(
    inputs: Any,
    num_outputs: int | None,
    kernel_size: Any,
    depth_multiplier: int = 1,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    rate: Any = 1,
    activation_fn: Callable[[Any], Any] | None = relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Any = XAVIER,
    pointwise_initializer: Any = None,
    weights_regularizer: Any = None,
    biases_initializer: Any = ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """A convolution of each channel, then one of 1x1 over all.

    Args:
      inputs: `[batch, height, width, channels]`.
      num_outputs: channels of the result; None leaves the second convolution out.
      depth_multiplier: how many channels the first one makes of each.
      pointwise_initializer: of the second one's weights; `weights_initializer` when
        None.
      kernel_size, ...: as of `convolution`.

    Raises:
      ValueError: the format is unknown.
    """
    layers_format = check_format(data_format, ("NCHW", "NHWC"))
    with variable_scope(
        scope, "SeparableConv2d", [inputs], reuse=reuse, custom_getter=_separable_getter
    ) as sc:
        inputs = convert_to_tensor(inputs)
        if num_outputs is not None:
            layer = SeparableConv2D(
                filters=num_outputs,
                kernel_size=kernel_size,
                strides=stride,
                padding=padding,
                data_format=layers_format,
                dilation_rate=_two(rate),
                activation=None,
                depth_multiplier=depth_multiplier,
                use_bias=bool(not normalizer_fn and biases_initializer),
                depthwise_initializer=weights_initializer,
                pointwise_initializer=pointwise_initializer or weights_initializer,
                bias_initializer=biases_initializer,
                depthwise_regularizer=weights_regularizer,
                pointwise_regularizer=weights_regularizer,
                bias_regularizer=biases_regularizer,
                activity_regularizer=None,
                trainable=trainable,
                name=sc.name,
                dtype=inputs.dtype.base_dtype,
                _scope=sc,
                _reuse=reuse,
            )
            return finish_layer(
                layer,
                layer.apply(inputs),
                sc,
                normalizer_fn,
                normalizer_params,
                activation_fn,
                variables_collections,
                outputs_collections,
                kernels=("depthwise_kernel", "pointwise_kernel"),
            )
        axis = 1 if data_format == "NCHW" else 3
        channels = _channels(inputs, axis)
        weights = model_variable(
            "depthwise_weights",
            shape=[*_two(kernel_size), channels, depth_multiplier],
            dtype=inputs.dtype.base_dtype,
            initializer=weights_initializer,
            regularizer=weights_regularizer,
            trainable=trainable,
            collections=get_variable_collections(variables_collections, "weights"),
        )
        height, width = _two(stride)
        is_first = data_format == "NCHW"
        strides = [1, 1, height, width] if is_first else [1, height, width, 1]
        outputs = depthwise_conv2d(
            inputs, weights, strides, padding, rate=_two(rate), data_format=data_format
        )
        if normalizer_fn is None and biases_initializer is not None:
            biases = _biases(
                depth_multiplier * channels,
                inputs,
                (biases_initializer, biases_regularizer),
                variables_collections,
                trainable,
            )
            outputs = bias_add(outputs, biases, data_format=data_format)
        return finish_outputs(
            outputs,
            sc.name,
            normalizer_fn,
            normalizer_params,
            activation_fn,
            outputs_collections,
        )


separable_conv2d = separable_convolution2d


@export("contrib.layers.convolution2d_in_plane", "contrib.layers.conv2d_in_plane")
@add_arg_scope
def convolution2d_in_plane(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    activation_fn: Callable[[Any], Any] | None = relu,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Any = XAVIER,
    weights_regularizer: Any = None,
    biases_initializer: Any = ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """The same small convolution of every channel, `[batch, height, width, channels]`.

    Arguments as of `convolution`.
    """
    with variable_scope(scope, "ConvInPlane", [inputs], reuse=reuse) as sc:
        channels = _channels(inputs, 3)
        weights = model_variable(
            "weights",
            shape=[*_two(kernel_size), 1, 1],
            dtype=inputs.dtype.base_dtype,
            initializer=weights_initializer,
            regularizer=weights_regularizer,
            collections=get_variable_collections(variables_collections, "weights"),
            trainable=trainable,
        )
        height, width = _two(stride)
        spread = tile(weights, [1, 1, channels, 1])
        outputs = depthwise_conv2d(inputs, spread, [1, height, width, 1], padding)
        if normalizer_fn is None and biases_initializer is not None:
            biases = _biases(
                channels,
                inputs,
                (biases_initializer, biases_regularizer),
                variables_collections,
                trainable,
            )
            outputs = bias_add(outputs, biases)
        return finish_outputs(
            outputs,
            sc.name,
            normalizer_fn,
            normalizer_params,
            activation_fn,
            outputs_collections,
        )


conv2d_in_plane = convolution2d_in_plane


def _biases(
    size: int,
    inputs: Any,
    start: tuple[Any, Any],
    variables_collections: Any,
    trainable: bool,
) -> Any:
    return model_variable(
        "biases",
        shape=[size],
        dtype=inputs.dtype.base_dtype,
        initializer=start[0],
        regularizer=start[1],
        trainable=trainable,
        collections=get_variable_collections(variables_collections, "biases"),
    )


def _channels(inputs: Any, axis: int) -> int:
    """The static number of channels of images. Raises ValueError if it is unknown."""
    shape = inputs.get_shape()
    if shape.ndims is None or shape.ndims < 4:
        raise ValueError(f"rank of shape must be at least 4 not: {shape.ndims}")
    channels = shape.dims[axis].value
    if channels is None:
        raise ValueError(f"dimension {axis} shape must be known but is None")
    return int(channels)


def _two(value: Any) -> tuple[int, int]:
    """Height and width. Raises ValueError unless there are one or two numbers."""
    if isinstance(value, list | tuple):
        if len(value) != 2:
            raise ValueError(f"Must be a list with 2 elements: {value}")
        return int(value[0]), int(value[1])
    return int(value), int(value)
