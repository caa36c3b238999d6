"""Pooling over windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape
from tensorloom.keras.engine.base_layer import Layer
from tensorloom.keras.engine.input_spec import InputSpec
from tensorloom.keras.layers.window_sizes import (
    conv_output_length,
    normalize_data_format,
    normalize_padding,
    normalize_tuple,
    op_data_format,
)
from tensorloom.ops.array import array_ops
from tensorloom.ops.pooling.pool import avg_pool, max_pool
from tensorloom.ops.pooling.pool3d import avg_pool3d, max_pool3d

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


class Pooling(Layer):
    """Pooling of one to three dimensions.

    Args:
      pool_function: the op.
      pool_size: of the windows, a number each dimension or one for all.
      strides: of the windows; their size by default.
      padding: "valid" or "same".
      data_format: "channels_last" or "channels_first".

    Raises:
      ValueError: an argument that does not fit.
    """

    _spatial = 0

    def __init__(
        self,
        pool_function: Callable[..., Tensor],
        pool_size: Any,
        strides: Any,
        padding: str = "valid",
        data_format: str | None = None,
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        count = self._spatial
        self.pool_function = pool_function
        self.pool_size = normalize_tuple(pool_size, count, "pool_size")
        strides = pool_size if strides is None else strides
        self.strides = normalize_tuple(strides, count, "strides")
        self.padding = normalize_padding(padding)
        self.data_format = normalize_data_format(data_format)
        self.input_spec = InputSpec(ndim=count + 2)

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """The number of windows along each axis."""
        sizes = as_shape(input_shape).as_list()
        first = self.data_format == "channels_first"
        spatial = [
            conv_output_length(size, self.pool_size[i], self.padding, self.strides[i])
            for i, size in enumerate(sizes[2:] if first else sizes[1:-1])
        ]
        if first:
            return as_shape([sizes[0], sizes[1], *spatial])
        return as_shape([sizes[0], *spatial, sizes[-1]])

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        return {
            **super().get_config(),
            "pool_size": self.pool_size,
            "padding": self.padding,
            "strides": self.strides,
            "data_format": self.data_format,
        }


class Pooling1D(Pooling):
    """Pooling of sequences [batch, steps, channels], as images of one column."""

    _spatial = 1

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """The windows' values."""
        axis = 2 if self.data_format == "channels_last" else 3
        images = array_ops.expand_dims(inputs, axis)
        first = self.data_format == "channels_first"
        if first:
            images = array_ops.transpose(images, (0, 2, 3, 1))
        outputs = self.pool_function(
            images,
            (1, *self.pool_size, 1, 1),
            (1, *self.strides, 1, 1),
            padding=self.padding.upper(),
            data_format="NHWC",
        )
        if first:
            outputs = array_ops.transpose(outputs, (0, 3, 1, 2))
        return array_ops.squeeze(outputs, axis)


class Pooling2D(Pooling):
    """Pooling of images."""

    _spatial = 2

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """The windows' values."""
        last = self.data_format == "channels_last"
        return self.pool_function(
            inputs,
            ksize=(1, *self.pool_size, 1) if last else (1, 1, *self.pool_size),
            strides=(1, *self.strides, 1) if last else (1, 1, *self.strides),
            padding=self.padding.upper(),
            data_format=op_data_format(self.data_format, 4),
        )


class Pooling3D(Pooling):
    """Pooling of volumes."""

    _spatial = 3

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """The windows' values."""
        first = self.data_format == "channels_first"
        if first:
            inputs = array_ops.transpose(inputs, (0, 2, 3, 4, 1))
        outputs = self.pool_function(
            inputs,
            ksize=(1, *self.pool_size, 1),
            strides=(1, *self.strides, 1),
            padding=self.padding.upper(),
        )
        if first:
            outputs = array_ops.transpose(outputs, (0, 4, 1, 2, 3))
        return outputs


@export("keras.layers.MaxPool1D", "keras.layers.MaxPooling1D")
class MaxPooling1D(Pooling1D):
    """The largest value of each window of sequences. Arguments: see `Pooling`."""

    def __init__(
        self,
        pool_size: Any = 2,
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = "channels_last",
        **kwargs: Any,
    ) -> None:
        super().__init__(max_pool, pool_size, strides, padding, data_format, **kwargs)


@export("keras.layers.AveragePooling1D", "keras.layers.AvgPool1D")
class AveragePooling1D(Pooling1D):
    """The mean of each window of sequences. Arguments: see `Pooling`."""

    def __init__(
        self,
        pool_size: Any = 2,
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = "channels_last",
        **kwargs: Any,
    ) -> None:
        super().__init__(avg_pool, pool_size, strides, padding, data_format, **kwargs)


@export("keras.layers.MaxPool2D", "keras.layers.MaxPooling2D")
class MaxPooling2D(Pooling2D):
    """The largest value of each window of images. Arguments: see `Pooling`."""

    def __init__(
        self,
        pool_size: Any = (2, 2),
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(max_pool, pool_size, strides, padding, data_format, **kwargs)


@export("keras.layers.AveragePooling2D", "keras.layers.AvgPool2D")
class AveragePooling2D(Pooling2D):
    """The mean of each window of images. Arguments: see `Pooling`."""

    def __init__(
        self,
        pool_size: Any = (2, 2),
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(avg_pool, pool_size, strides, padding, data_format, **kwargs)


@export("keras.layers.MaxPool3D", "keras.layers.MaxPooling3D")
class MaxPooling3D(Pooling3D):
    """The largest value of each window of volumes. Arguments: see `Pooling`."""

    def __init__(
        self,
        pool_size: Any = (2, 2, 2),
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(max_pool3d, pool_size, strides, padding, data_format, **kwargs)


@export("keras.layers.AveragePooling3D", "keras.layers.AvgPool3D")
class AveragePooling3D(Pooling3D):
    """The mean of each window of volumes. Arguments: see `Pooling`."""

    def __init__(
        self,
        pool_size: Any = (2, 2, 2),
        strides: Any = None,
        padding: str = "valid",
        data_format: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(avg_pool3d, pool_size, strides, padding, data_format, **kwargs)
