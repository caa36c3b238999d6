"""Convolutions, and what undoes their shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tensorloom.client.program.arg_scope import add_arg_scope
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.layers.dense import XAVIER, ZEROS
from tensorloom.contrib.layers.layer_ends import (
    check_format,
    finish_layer,
    layers_format,
    weight_options,
    weights_getter,
)
from tensorloom.framework.export import export
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.layers.conv_transpose_layers import Conv2DTranspose, Conv3DTranspose
from tensorloom.layers.convolutional import Conv1D, Conv2D, Conv3D
from tensorloom.ops.nn.activation import relu

_FORMATS: Final = (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW")
_LAYERS: Final = {3: Conv1D, 4: Conv2D, 5: Conv3D}


@export("contrib.layers.convolution")
@add_arg_scope
def convolution(
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
    conv_dims: int | None = None,
) -> Any:
    """activation(convolution of inputs and weights + biases).

    Args:
      inputs: of rank 3, 4 or 5, one more axis for batches and one for channels.
      num_outputs: how many channels the result has.
      kernel_size, stride, rate: an integer, or one for each axis of the window.
      padding: "SAME" or "VALID".
      data_format: where channels are: "NHWC" or "NCHW" and the like; last when None.
      conv_dims: how many axes the window must have.
      activation_fn, ...: as of `fully_connected`.

    Raises:
      ValueError: the rank or the format is impossible, or `stride` and `rate` are both
        above 1.
    """
    if data_format not in _FORMATS:
        raise ValueError(f"Invalid data_format: {data_format!r}")
    with variable_scope(
        scope, "Conv", [inputs], reuse=reuse, custom_getter=weights_getter
    ) as sc:
        inputs = convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if conv_dims is not None and conv_dims + 2 != rank:
            raise ValueError(
                f"Convolution expects input with rank {conv_dims + 2}, got {rank}"
            )
        if rank not in _LAYERS:
            raise ValueError(f"Convolution not supported for input with rank {rank}")
        layer = _LAYERS[rank](
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


def _of_dimensions(dimensions: int, *names: str) -> Callable[..., Any]:
    """`convolution` for inputs of one rank, with argument scopes of its own."""

    def convolve(
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
        return convolution(
            inputs,
            num_outputs,
            kernel_size,
            stride,
            padding,
            data_format,
            rate,
            activation_fn,
            normalizer_fn,
            normalizer_params,
            weights_initializer,
            weights_regularizer,
            biases_initializer,
            biases_regularizer,
            reuse,
            variables_collections,
            outputs_collections,
            trainable,
            scope,
            conv_dims=dimensions,
        )

    convolve.__name__ = convolve.__qualname__ = f"convolution{dimensions}d"
    convolve.__doc__ = f"`convolution` over {dimensions} axes."
    return export(*(f"contrib.layers.{name}" for name in names))(
        add_arg_scope(convolve)
    )


convolution1d = conv1d = _of_dimensions(1, "convolution1d", "conv1d")
convolution2d = conv2d = _of_dimensions(2, "convolution2d", "conv2d")
convolution3d = conv3d = _of_dimensions(3, "convolution3d", "conv3d")


@export("contrib.layers.convolution2d_transpose", "contrib.layers.conv2d_transpose")
@add_arg_scope
def convolution2d_transpose(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
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
    """A transposed convolution of images; arguments as of `convolution`."""
    return _transposed(
        Conv2DTranspose,
        ("Conv2d_transpose", ("NCHW", "NHWC")),
        inputs,
        num_outputs,
        (kernel_size, stride, padding, data_format),
        (activation_fn, normalizer_fn, normalizer_params),
        (weights_initializer, weights_regularizer),
        (biases_initializer, biases_regularizer),
        (reuse, variables_collections, outputs_collections, trainable, scope),
    )


@export("contrib.layers.convolution3d_transpose", "contrib.layers.conv3d_transpose")
@add_arg_scope
def convolution3d_transpose(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NDHWC",
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
    """A transposed convolution of volumes; arguments as of `convolution`."""
    return _transposed(
        Conv3DTranspose,
        ("Conv3d_transpose", ("NCDHW", "NDHWC")),
        inputs,
        num_outputs,
        (kernel_size, stride, padding, data_format),
        (activation_fn, normalizer_fn, normalizer_params),
        (weights_initializer, weights_regularizer),
        (biases_initializer, biases_regularizer),
        (reuse, variables_collections, outputs_collections, trainable, scope),
    )


def _transposed(
    layer_class: Callable[..., Any],
    kind: tuple[str, tuple[str, ...]],
    inputs: Any,
    num_outputs: int,
    window: tuple[Any, Any, str, str],
    after: tuple[Any, Any, Any],
    weights: tuple[Any, Any],
    biases: tuple[Any, Any],
    variables: tuple[Any, Any, Any, bool, Any],
) -> Any:
    default_scope, formats = kind
    kernel_size, stride, padding, data_format = window
    activation_fn, normalizer_fn, normalizer_params = after
    reuse, variables_collections, outputs_collections, trainable, scope = variables
    with variable_scope(
        scope, default_scope, [inputs], reuse=reuse, custom_getter=weights_getter
    ) as sc:
        layers_format = check_format(data_format, formats)
        inputs = convert_to_tensor(inputs)
        layer = layer_class(
            filters=num_outputs,
            kernel_size=kernel_size,
            strides=stride,
            padding=padding,
            data_format=layers_format,
            **weight_options(
                sc, inputs, normalizer_fn, weights, biases, trainable, reuse
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


conv2d_transpose = convolution2d_transpose
conv3d_transpose = convolution3d_transpose
