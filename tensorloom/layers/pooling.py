"""`tf.layers`: pooling over windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.keras.layers import pooling as keras_pooling
from tensorloom.layers.base import Layer

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


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


@export("layers.average_pooling1d")
def average_pooling1d(
    inputs: Any,
    pool_size: Any,
    strides: Any,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: Any = None,
) -> Tensor:
    """A `AveragePooling1D` layer, called on inputs."""
    layer = AveragePooling1D(
        pool_size=pool_size,
        strides=strides,
        padding=padding,
        data_format=data_format,
        name=name,
    )
    return layer(inputs)  # type: ignore[no-any-return]


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


@export("layers.max_pooling1d")
def max_pooling1d(
    inputs: Any,
    pool_size: Any,
    strides: Any,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: Any = None,
) -> Tensor:
    """A `MaxPooling1D` layer, called on inputs."""
    layer = MaxPooling1D(
        pool_size=pool_size,
        strides=strides,
        padding=padding,
        data_format=data_format,
        name=name,
    )
    return layer(inputs)  # type: ignore[no-any-return]


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


@export("layers.average_pooling2d")
def average_pooling2d(
    inputs: Any,
    pool_size: Any,
    strides: Any,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: Any = None,
) -> Tensor:
    """A `AveragePooling2D` layer, called on inputs."""
    layer = AveragePooling2D(
        pool_size=pool_size,
        strides=strides,
        padding=padding,
        data_format=data_format,
        name=name,
    )
    return layer(inputs)  # type: ignore[no-any-return]


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


@export("layers.max_pooling2d")
def max_pooling2d(
    inputs: Any,
    pool_size: Any,
    strides: Any,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: Any = None,
) -> Tensor:
    """A `MaxPooling2D` layer, called on inputs."""
    layer = MaxPooling2D(
        pool_size=pool_size,
        strides=strides,
        padding=padding,
        data_format=data_format,
        name=name,
    )
    return layer(inputs)  # type: ignore[no-any-return]


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


@export("layers.average_pooling3d")
def average_pooling3d(
    inputs: Any,
    pool_size: Any,
    strides: Any,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: Any = None,
) -> Tensor:
    """A `AveragePooling3D` layer, called on inputs."""
    layer = AveragePooling3D(
        pool_size=pool_size,
        strides=strides,
        padding=padding,
        data_format=data_format,
        name=name,
    )
    return layer(inputs)  # type: ignore[no-any-return]


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


@export("layers.max_pooling3d")
def max_pooling3d(
    inputs: Any,
    pool_size: Any,
    strides: Any,
    padding: str = "valid",
    data_format: str = "channels_last",
    name: Any = None,
) -> Tensor:
    """A `MaxPooling3D` layer, called on inputs."""
    layer = MaxPooling3D(
        pool_size=pool_size,
        strides=strides,
        padding=padding,
        data_format=data_format,
        name=name,
    )
    return layer(inputs)  # type: ignore[no-any-return]
