"""Convolution layers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape
from tensorloom.keras import activations, regularizers
from tensorloom.keras.engine.base_layer import Layer
from tensorloom.keras.engine.input_spec import InputSpec
from tensorloom.keras.layers.convolution_op import Convolution
from tensorloom.keras.layers.weight_options import (
    add_weight,
    take_weight_options,
    weight_options,
)
from tensorloom.keras.layers.window_sizes import (
    conv_output_length,
    normalize_data_format,
    normalize_padding,
    normalize_tuple,
    op_data_format,
)
from tensorloom.ops.array import array_ops
from tensorloom.ops.nn import nn_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


class Conv(Layer):
    """A convolution of any number of dimensions: activation(inputs * kernel + bias).

    Args:
      rank: number of spatial dimensions.
      filters: number of channels of the outputs.
      kernel_size, strides, dilation_rate: a number each spatial dimension, or one for
        all.
      padding: "valid", "same", or "causal" in one dimension.
      data_format: "channels_last" or "channels_first".
      activation: a function, or its name; none by default.
      use_bias: whether there is a bias.
      kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
        kernel_constraint, bias_constraint: of the variables.
      activity_regularizer: of the outputs.

    Raises:
      ValueError: an argument that does not fit.
    """

    _causal = False  # whether causal padding is known

    def __init__(
        self,
        rank: int,
        filters: int | None,
        kernel_size: Any,
        strides: Any = 1,
        padding: Any = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
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
            trainable=trainable,
            name=name,
            activity_regularizer=regularizers.get(activity_regularizer),
            **kwargs,
        )
        self.rank = rank
        self.filters = filters
        self.kernel_size = normalize_tuple(kernel_size, rank, "kernel_size")
        self.strides = normalize_tuple(strides, rank, "strides")
        self.padding = normalize_padding(padding)
        if self.padding == "causal" and not self._causal:
            raise ValueError(
                "Causal padding is only supported for `Conv1D` and `SeparableConv1D`, "
                f"not for {type(self).__name__}."
            )
        self.data_format = normalize_data_format(data_format)
        self.dilation_rate = normalize_tuple(dilation_rate, rank, "dilation_rate")
        self.activation = activations.get(activation)
        self.use_bias = use_bias
        take_weight_options(
            self, "kernel", kernel_initializer, kernel_regularizer, kernel_constraint
        )
        take_weight_options(
            self, "bias", bias_initializer, bias_regularizer, bias_constraint
        )
        self.input_spec = InputSpec(ndim=rank + 2)

    def channels_of(self, shape: TensorShape) -> tuple[int, int]:
        """(channel axis, number of channels) of inputs.

        Raises:
          ValueError: the number is unknown.
        """
        axis = 1 if self.data_format == "channels_first" else -1
        channels = shape.as_list()[axis]
        if channels is None:
            raise ValueError(
                "The channel dimension of the inputs should be defined. Found `None` "
                f"(layer {self.name!r}, inputs of shape {shape})."
            )
        return axis, channels

    def build(self, input_shape: Any) -> None:
        """Makes kernel [*kernel_size, channels, filters] and bias.

        Raises:
          ValueError: the number of channels is unknown.
        """
        shape = as_shape(input_shape)
        axis, channels = self.channels_of(shape)
        kernel_shape = (*self.kernel_size, channels, self.filters)
        self.kernel = add_weight(self, "kernel", kernel_shape)
        self._add_bias((self.filters,))
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: channels})
        padding = "valid" if self.padding == "causal" else self.padding
        self._convolution_op = Convolution(
            shape,
            as_shape(self.kernel.shape),
            padding=padding.upper() if isinstance(padding, str) else padding,
            strides=self.strides,
            dilation_rate=self.dilation_rate,
            data_format=op_data_format(self.data_format, self.rank + 2),
        )
        self.built = True

    def _add_bias(self, shape: Any) -> None:
        self.bias = add_weight(self, "bias", shape) if self.use_bias else None

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """The convolution of the inputs."""
        outputs = self._convolution_op(inputs, self.kernel)
        if self.use_bias:
            if self.data_format != "channels_first":
                outputs = nn_ops.bias_add(outputs, self.bias, data_format="NHWC")
            elif self.rank == 1:
                outputs += array_ops.reshape(self.bias, (1, self.filters, 1))
            else:
                outputs = nn_ops.bias_add(outputs, self.bias, data_format="NCHW")
        return self.activation(outputs)  # type: ignore[no-any-return]

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """[batch, *spatial, filters], or channels first."""
        sizes = as_shape(input_shape).as_list()
        last = self.data_format == "channels_last"
        spatial = [
            conv_output_length(
                size,
                self.kernel_size[i],
                padding=self.padding,
                stride=self.strides[i],
                dilation=self.dilation_rate[i],
            )
            for i, size in enumerate(sizes[1:-1] if last else sizes[2:])
        ]
        if last:
            return as_shape([sizes[0], *spatial, self.filters])
        return as_shape([sizes[0], self.filters, *spatial])

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        return {
            **super().get_config(),
            "filters": self.filters,
            "kernel_size": self.kernel_size,
            "strides": self.strides,
            "padding": self.padding,
            "data_format": self.data_format,
            "dilation_rate": self.dilation_rate,
            "activation": activations.serialize(self.activation),
            "use_bias": self.use_bias,
            "activity_regularizer": regularizers.serialize(self.activity_regularizer),
            **weight_options(self, *self._described_weights),
        }

    _described_weights: tuple[str, ...] = ("kernel", "bias")

    def _causally_padded(self, inputs: Any) -> Any:
        """Inputs with zeros before the first step, so that no step sees later ones."""
        if self.padding != "causal":
            return inputs
        before = [self.dilation_rate[0] * (self.kernel_size[0] - 1), 0]
        if self.data_format == "channels_last":
            return array_ops.pad(inputs, [[0, 0], before, [0, 0]])
        return array_ops.pad(inputs, [[0, 0], [0, 0], before])


@export("keras.layers.Conv1D", "keras.layers.Convolution1D")
class Conv1D(Conv):
    """A convolution of sequences [batch, steps, channels]. Arguments: see `Conv`."""

    _causal = True

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: Any = "valid",
        data_format: str | None = "channels_last",
        dilation_rate: Any = 1,
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            1,
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            activation,
            use_bias,
            kernel_initializer,
            bias_initializer,
            kernel_regularizer,
            bias_regularizer,
            activity_regularizer,
            kernel_constraint,
            bias_constraint,
            **kwargs,
        )

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """The convolution of the inputs."""
        return super().call(self._causally_padded(inputs))


@export("keras.layers.Conv2D", "keras.layers.Convolution2D")
class Conv2D(Conv):
    """A convolution of images. Arguments: see `Conv`."""

    def __init__(
        self,
        filters: int | None,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: Any = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            2,
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            activation,
            use_bias,
            kernel_initializer,
            bias_initializer,
            kernel_regularizer,
            bias_regularizer,
            activity_regularizer,
            kernel_constraint,
            bias_constraint,
            **kwargs,
        )


@export("keras.layers.Conv3D", "keras.layers.Convolution3D")
class Conv3D(Conv):
    """A convolution of volumes. Arguments: see `Conv`."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1, 1),
        padding: Any = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1, 1),
        activation: Any = None,
        use_bias: bool = True,
        kernel_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        kernel_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        kernel_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            3,
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            activation,
            use_bias,
            kernel_initializer,
            bias_initializer,
            kernel_regularizer,
            bias_regularizer,
            activity_regularizer,
            kernel_constraint,
            bias_constraint,
            **kwargs,
        )
