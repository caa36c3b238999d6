"""`tf.layers`: transposed convolutions."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.keras.layers import conv_transpose as keras_conv_transpose
from tensorloom.layers.base import Layer
from tensorloom.layers.layer_functions import layer_function
from tensorloom.ops.state import initializers as init_ops

# Shared by all layers, as TensorFlow does.
_ZEROS = init_ops.Zeros()


@export("layers.Conv2DTranspose")
class Conv2DTranspose(keras_conv_transpose.Conv2DTranspose, Layer):
    """The transpose of `Conv2D`.

    Arguments: see `tf.keras.layers.Conv2DTranspose`.
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: str = "valid",
        data_format: str = "channels_last",
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = _ZEROS,
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            filters=filters,
            kernel_size=kernel_size,
            strides=strides,
            padding=padding,
            data_format=data_format,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint,
            trainable=trainable,
            name=name,
            **kwargs,
        )


conv2d_transpose = layer_function(Conv2DTranspose, "conv2d_transpose")


@export("layers.Conv3DTranspose")
class Conv3DTranspose(keras_conv_transpose.Conv3DTranspose, Layer):
    """The transpose of `Conv3D`.

    Arguments: see `tf.keras.layers.Conv3DTranspose`.
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1, 1),
        padding: str = "valid",
        data_format: str = "channels_last",
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = None,
        bias_initializer: Any = _ZEROS,
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            filters=filters,
            kernel_size=kernel_size,
            strides=strides,
            padding=padding,
            data_format=data_format,
            activation=activation,
            use_bias=use_bias,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint,
            trainable=trainable,
            name=name,
            **kwargs,
        )


conv3d_transpose = layer_function(Conv3DTranspose, "conv3d_transpose")
