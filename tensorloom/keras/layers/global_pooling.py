"""Pooling over all positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape
from tensorloom.keras.engine.base_layer import Layer
from tensorloom.keras.engine.input_spec import InputSpec
from tensorloom.keras.layers.window_sizes import normalize_data_format
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


class GlobalPooling(Layer):
    """[batch, *spatial, channels] -> [batch, channels], or channels first."""

    _spatial = 0

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = normalize_data_format(data_format)
        self.input_spec = InputSpec(ndim=self._spatial + 2)

    @property
    def _axes(self) -> Any:
        """The spatial axes; in one dimension a single number."""
        first = 1 if self.data_format == "channels_last" else 2
        axes = list(range(first, first + self._spatial))
        return axes if self._spatial > 1 else axes[0]

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """[batch, channels]."""
        sizes = as_shape(input_shape).as_list()
        return as_shape(
            [sizes[0], sizes[-1 if self.data_format == "channels_last" else 1]]
        )

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        return {**super().get_config(), "data_format": self.data_format}


class _Mean(GlobalPooling):
    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """The mean of each channel."""
        if inputs.dtype.base_dtype == dtypes.bool:
            inputs = math_ops.cast(inputs, dtypes.float32)
        return math_ops.reduce_mean(inputs, self._axes, False)


class _Max(GlobalPooling):
    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """The largest value of each channel."""
        return math_ops.reduce_max(inputs, self._axes, False)


@export("keras.layers.GlobalAveragePooling1D", "keras.layers.GlobalAvgPool1D")
class GlobalAveragePooling1D(_Mean):
    """The mean over the steps of sequences; masked steps do not count."""

    _spatial = 1

    def __init__(self, data_format: str = "channels_last", **kwargs: Any) -> None:
        super().__init__(data_format=data_format, **kwargs)
        self.supports_masking = True

    def call(self, inputs: Any, mask: Any = None) -> Tensor:  # type: ignore[override]
        """The mean of each channel."""
        if mask is None:
            return super().call(inputs)
        steps = inputs.shape.as_list()[self._axes]
        kept = math_ops.cast(mask, dtypes.float32)
        kept = array_ops.reshape(kept, [-1, steps, 1])
        total = math_ops.reduce_sum(inputs * kept, self._axes, False)
        return total / math_ops.reduce_sum(kept, axis=self._axes)

    def compute_mask(self, inputs: Any, mask: Any = None) -> None:
        """No mask: there are no steps left."""


@export("keras.layers.GlobalMaxPool1D", "keras.layers.GlobalMaxPooling1D")
class GlobalMaxPooling1D(_Max):
    """The largest value over the steps of sequences."""

    _spatial = 1

    def __init__(self, data_format: str = "channels_last", **kwargs: Any) -> None:
        super().__init__(data_format=data_format, **kwargs)


@export("keras.layers.GlobalAveragePooling2D", "keras.layers.GlobalAvgPool2D")
class GlobalAveragePooling2D(_Mean):
    """The mean over images."""

    _spatial = 2


@export("keras.layers.GlobalMaxPool2D", "keras.layers.GlobalMaxPooling2D")
class GlobalMaxPooling2D(_Max):
    """The largest value over images."""

    _spatial = 2


@export("keras.layers.GlobalAveragePooling3D", "keras.layers.GlobalAvgPool3D")
class GlobalAveragePooling3D(_Mean):
    """The mean over volumes."""

    _spatial = 3


@export("keras.layers.GlobalMaxPool3D", "keras.layers.GlobalMaxPooling3D")
class GlobalMaxPooling3D(_Max):
    """The largest value over volumes."""

    _spatial = 3
