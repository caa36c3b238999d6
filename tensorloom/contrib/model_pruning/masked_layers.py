"""Convolutions and fully connected layers whose weights have masks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from tensorloom.client.program.arg_scope import add_arg_scope
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.layers.dense import XAVIER, ZEROS
from tensorloom.contrib.layers.layer_ends import (
    finish_layer,
    layers_format,
    weight_options,
    weights_getter,
)
from tensorloom.contrib.model_pruning.masks import (
    add_layer_mask,
    collect,
    mask_layer_weights,
)
from tensorloom.framework.export import export
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import as_shape
from tensorloom.keras.engine.input_spec import InputSpec
from tensorloom.keras.layers.weight_options import add_weight
from tensorloom.layers.convolutional import Conv2D
from tensorloom.layers.core import Dense
from tensorloom.ops.convolution.atrous import convolution
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.nn.activation import relu

_FORMATS: Final = (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW")
_INTEGERS: Final[tuple[type, ...]] = (int, np.integer)


class MaskedConv2D(Conv2D):
    """`tf.layers.Conv2D` with a mask over its kernel."""

    def build(self, input_shape: Any) -> None:
        """Makes mask, kernel, threshold and bias.

        Raises:
          ValueError: the number of channels is unknown.
        """
        axis, channels = self.channels_of(as_shape(input_shape))
        shape = (*self.kernel_size, channels, self.filters)
        self.mask = add_layer_mask(self, shape)
        self.kernel = add_weight(self, "kernel", shape)
        self.threshold, self.masked_kernel = mask_layer_weights(
            self, self.mask, self.kernel
        )
        collect(self.mask, self.threshold, self.masked_kernel, self.kernel)
        self._add_bias((self.filters,))
        self.input_spec = InputSpec(ndim=4, axes={axis: channels})
        self.built = True

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """The convolution of the inputs and the masked kernel."""
        is_first = self.data_format == "channels_first"
        data_format = "NCHW" if is_first else "NHWC"
        outputs = convolution(
            input=inputs,
            filter=self.masked_kernel,
            dilation_rate=self.dilation_rate,
            strides=self.strides,
            padding=self.padding.upper(),
            data_format=data_format,
        )
        if self.use_bias:
            outputs = nn_ops.bias_add(outputs, self.bias, data_format=data_format)
        return self.activation(outputs)


class MaskedFullyConnected(Dense):
    """`tf.layers.Dense` with a mask over its kernel."""

    def build(self, input_shape: Any) -> None:
        """Makes kernel, mask, threshold and bias.

        Raises:
          ValueError: the inputs' last dimension is unknown.
        """
        depth = as_shape(input_shape).as_list()[-1]
        if depth is None:
            raise ValueError(
                "The last dimension of the inputs to `Dense` should be defined. Found "
                f"`None` (layer {self.name!r}, inputs of shape {input_shape})."
            )
        self.input_spec = InputSpec(min_ndim=2, axes={-1: depth})
        shape = [depth, self.units]
        self.kernel = add_weight(self, "kernel", shape)
        self.mask = add_layer_mask(self, shape)
        self.threshold, self.masked_kernel = mask_layer_weights(
            self, self.mask, self.kernel
        )
        collect(self.mask, self.threshold, self.masked_kernel, self.kernel)
        self.bias = add_weight(self, "bias", [self.units]) if self.use_bias else None
        self.built = True

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        """[..., depth] -> [..., units]."""
        inputs = convert_to_tensor(inputs, dtype=self.dtype)
        shape = inputs.get_shape().as_list()
        if len(shape) > 2:
            axes = [[len(shape) - 1], [0]]
            outputs = math_ops.tensordot(inputs, self.masked_kernel, axes)
            outputs.set_shape([*shape[:-1], self.units])
        else:
            outputs = math_ops.matmul(inputs, self.masked_kernel)
        if self.use_bias:
            outputs = nn_ops.bias_add(outputs, self.bias)
        return self.activation(outputs)


@export(
    "contrib.model_pruning.masked_convolution", "contrib.model_pruning.masked_conv2d"
)
@add_arg_scope
def masked_convolution(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Any = 1,
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
    """`tf.contrib.layers.conv2d` whose weights are multiplied by a mask.

    Args:
      inputs: images, `[batch, height, width, channels]` or as `data_format` says.
      data_format: "NHWC" or "NCHW"; the first when None.
      num_outputs, kernel_size, stride, padding, rate, activation_fn, normalizer_fn,
        normalizer_params, weights_initializer, weights_regularizer,
        biases_initializer, biases_regularizer, reuse, variables_collections,
        outputs_collections, trainable, scope: see there.

    Raises:
      ValueError: the inputs are no images, the format is unknown, or `stride` and
        `rate` are both above 1.
    """
    if data_format not in _FORMATS:
        raise ValueError(f"Invalid data_format: {data_format!r}")
    with variable_scope(
        scope, "Conv", [inputs], reuse=reuse, custom_getter=weights_getter
    ) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if rank != 4:
            raise ValueError(
                f"Sparse Convolution not supported for input with rank {rank}"
            )
        if data_format not in (None, "NHWC", "NCHW"):
            raise ValueError(f"Unsupported data format {data_format}")
        layer = MaskedConv2D(
            filters=num_outputs,
            kernel_size=kernel_size,
            strides=stride,
            padding=padding,
            data_format=layers_format(data_format),
            dilation_rate=rate,
            **weight_options(
                sc,
                inputs,
                normalizer_fn,
                (weights_initializer, weights_regularizer),
                (biases_initializer, biases_regularizer),
                trainable,
                reuse,
            ),
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
        )


@export("contrib.model_pruning.masked_fully_connected")
@add_arg_scope
def masked_fully_connected(
    inputs: Any,
    num_outputs: int,
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
    """`tf.contrib.layers.fully_connected` whose weights are multiplied by a mask.

    Args:
      inputs, num_outputs, activation_fn, normalizer_fn, normalizer_params,
        weights_initializer, weights_regularizer, biases_initializer,
        biases_regularizer, reuse, variables_collections, outputs_collections,
        trainable, scope: see there.

    Raises:
      ValueError: the rank is below 2, the depth unknown, or `num_outputs` no integer.
    """
    if not isinstance(num_outputs, _INTEGERS):
        raise ValueError(f"num_outputs should be int or long, got {num_outputs}.")
    with variable_scope(
        scope, "fully_connected", [inputs], reuse=reuse, custom_getter=weights_getter
    ) as sc:
        inputs = convert_to_tensor(inputs)
        layer = MaskedFullyConnected(
            units=num_outputs,
            **weight_options(
                sc,
                inputs,
                normalizer_fn,
                (weights_initializer, weights_regularizer),
                (biases_initializer, biases_regularizer),
                trainable,
                reuse,
            ),
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
        )
