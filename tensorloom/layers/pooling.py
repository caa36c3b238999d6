"""`tf.layers`: pooling over windows."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.keras.layers import pooling as keras_pooling
from tensorloom.layers.base import Layer
from tensorloom.layers.layer_functions import layer_function


def check_strides(strides: Any) -> None:
    """Raises ValueError for None: unlike Keras, these layers have no default."""
    if strides is None:
        raise ValueError("Argument `strides` must not be None.")


@export("layers.AveragePooling1D")
class AveragePooling1D(keras_pooling.AveragePooling1D, Layer):
    """The mean of each window of sequences.

    Arguments: see `tf.keras.layers.AveragePooling1D`.
    """

    def __init__(
        self,
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        check_strides(strides)
        super().__init__(
            pool_size=pool_size,
            strides=strides,
            padding=padding,
            data_format=data_format,
            name=name,
            **kwargs,
        )


average_pooling1d = layer_function(
    AveragePooling1D, "average_pooling1d", has_variables=False
)


@export("layers.MaxPooling1D")
class MaxPooling1D(keras_pooling.MaxPooling1D, Layer):
    """The largest value of each window of sequences.

    Arguments: see `tf.keras.layers.MaxPooling1D`.
    """

    def __init__(
        self,
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        check_strides(strides)
        super().__init__(
            pool_size=pool_size,
            strides=strides,
            padding=padding,
            data_format=data_format,
            name=name,
            **kwargs,
        )


max_pooling1d = layer_function(MaxPooling1D, "max_pooling1d", has_variables=False)


@export("layers.AveragePooling2D")
class AveragePooling2D(keras_pooling.AveragePooling2D, Layer):
    """The mean of each window of images.

    Arguments: see `tf.keras.layers.AveragePooling2D`.
    """

    def __init__(
        self,
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        check_strides(strides)
        super().__init__(
            pool_size=pool_size,
            strides=strides,
            padding=padding,
            data_format=data_format,
            name=name,
            **kwargs,
        )


average_pooling2d = layer_function(
    AveragePooling2D, "average_pooling2d", has_variables=False
)


@export("layers.MaxPooling2D")
class MaxPooling2D(keras_pooling.MaxPooling2D, Layer):
    """The largest value of each window of images.

    Arguments: see `tf.keras.layers.MaxPooling2D`.
    """

    def __init__(
        self,
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        check_strides(strides)
        super().__init__(
            pool_size=pool_size,
            strides=strides,
            padding=padding,
            data_format=data_format,
            name=name,
            **kwargs,
        )


max_pooling2d = layer_function(MaxPooling2D, "max_pooling2d", has_variables=False)


@export("layers.AveragePooling3D")
class AveragePooling3D(keras_pooling.AveragePooling3D, Layer):
    """The mean of each window of volumes.

    Arguments: see `tf.keras.layers.AveragePooling3D`.
    """

    def __init__(
        self,
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        check_strides(strides)
        super().__init__(
            pool_size=pool_size,
            strides=strides,
            padding=padding,
            data_format=data_format,
            name=name,
            **kwargs,
        )


average_pooling3d = layer_function(
    AveragePooling3D, "average_pooling3d", has_variables=False
)


@export("layers.MaxPooling3D")
class MaxPooling3D(keras_pooling.MaxPooling3D, Layer):
    """The largest value of each window of volumes.

    Arguments: see `tf.keras.layers.MaxPooling3D`.
    """

    def __init__(
        self,
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str = "channels_last",
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        check_strides(strides)
        super().__init__(
            pool_size=pool_size,
            strides=strides,
            padding=padding,
            data_format=data_format,
            name=name,
            **kwargs,
        )


max_pooling3d = layer_function(MaxPooling3D, "max_pooling3d", has_variables=False)
