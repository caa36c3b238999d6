"""Convolutions channel by channel, followed by one over the channels, or alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape
from tensorloom.keras.engine.input_spec import InputSpec
from tensorloom.keras.layers.convolutional import Conv, Conv2D
from tensorloom.keras.layers.weight_options import take_weight_options
from tensorloom.keras.layers.window_sizes import conv_output_length, op_data_format
from tensorloom.ops.array import array_ops
from tensorloom.ops.convolution.builders import depthwise_conv2d, separable_conv2d
from tensorloom.ops.nn import nn_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


class SeparableConv(Conv):
    """A depthwise convolution, followed by a pointwise one.

    Args:
      depth_multiplier: outputs of the depthwise one for each channel.
      depthwise_initializer, pointwise_initializer, depthwise_regularizer,
        pointwise_regularizer, depthwise_constraint, pointwise_constraint: of the
        kernels.
      others: see `Conv`.
    """

    _described_weights = ("depthwise", "pointwise", "bias")

    def __init__(
        self,
        rank: int,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: Any = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        pointwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
        bias_constraint: Any = None,
        trainable: bool = True,
        name: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            rank,
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            dilation_rate,
            activation,
            use_bias,
            bias_initializer=bias_initializer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            bias_constraint=bias_constraint,
            trainable=trainable,
            name=name,
            **kwargs,
        )
        self.depth_multiplier = depth_multiplier
        take_weight_options(
            self,
            "depthwise",
            depthwise_initializer,
            depthwise_regularizer,
            depthwise_constraint,
        )
        take_weight_options(
            self,
            "pointwise",
            pointwise_initializer,
            pointwise_regularizer,
            pointwise_constraint,
        )

    def build(self, input_shape: Any) -> None:
        """Makes both kernels and the bias.

        Raises:
          ValueError: the number of channels is unknown.
        """
        axis, channels = self.channels_of(as_shape(input_shape))
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: channels})
        multiplier = self.depth_multiplier
        self.depthwise_kernel = self._add_kernel(
            "depthwise", (*self.kernel_size, channels, multiplier)
        )
        self.pointwise_kernel = self._add_kernel(
            "pointwise", ((1,) * self.rank) + (multiplier * channels, self.filters)
        )
        self._add_bias((self.filters,))
        self.built = True

    def _add_kernel(self, part: str, shape: Any) -> Any:
        return self.add_weight(
            name=f"{part}_kernel",
            shape=shape,
            initializer=getattr(self, f"{part}_initializer"),
            regularizer=getattr(self, f"{part}_regularizer"),
            constraint=getattr(self, f"{part}_constraint"),
            trainable=True,
            dtype=self.dtype,
        )

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        return {**super().get_config(), "depth_multiplier": self.depth_multiplier}


@export("keras.layers.SeparableConv1D", "keras.layers.SeparableConvolution1D")
class SeparableConv1D(SeparableConv):
    """A separable convolution of sequences. Arguments: see `SeparableConv`."""

    _causal = True

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: Any = "valid",
        data_format: str | None = None,
        dilation_rate: Any = 1,
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        pointwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
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
            depth_multiplier,
            activation,
            use_bias,
            depthwise_initializer,
            pointwise_initializer,
            bias_initializer,
            depthwise_regularizer,
            pointwise_regularizer,
            bias_regularizer,
            activity_regularizer,
            depthwise_constraint,
            pointwise_constraint,
            bias_constraint,
            **kwargs,
        )

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """The convolution of the inputs, as images of one row."""
        inputs = self._causally_padded(inputs)
        last = self.data_format == "channels_last"
        row = 1 if last else 2
        twice = self.strides * 2
        padding = "valid" if self.padding == "causal" else self.padding
        layout = op_data_format(self.data_format, 4)
        outputs = separable_conv2d(
            array_ops.expand_dims(inputs, row),
            array_ops.expand_dims(self.depthwise_kernel, 0),
            array_ops.expand_dims(self.pointwise_kernel, 0),
            strides=(1, *twice, 1) if last else (1, 1, *twice),
            padding=padding.upper(),
            rate=(1, *self.dilation_rate),
            data_format=layout,
        )
        if self.use_bias:
            outputs = nn_ops.bias_add(outputs, self.bias, data_format=layout)
        outputs = array_ops.squeeze(outputs, [row])
        return self.activation(outputs)  # type: ignore[no-any-return]


@export("keras.layers.SeparableConv2D", "keras.layers.SeparableConvolution2D")
class SeparableConv2D(SeparableConv):
    """A separable convolution of images. Arguments: see `SeparableConv`."""

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: Any = "valid",
        data_format: str | None = None,
        dilation_rate: Any = (1, 1),
        depth_multiplier: int = 1,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        pointwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        pointwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        pointwise_constraint: Any = None,
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
            depth_multiplier,
            activation,
            use_bias,
            depthwise_initializer,
            pointwise_initializer,
            bias_initializer,
            depthwise_regularizer,
            pointwise_regularizer,
            bias_regularizer,
            activity_regularizer,
            depthwise_constraint,
            pointwise_constraint,
            bias_constraint,
            **kwargs,
        )

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """The convolution of the inputs."""
        last = self.data_format == "channels_last"
        layout = op_data_format(self.data_format, 4)
        outputs = separable_conv2d(
            inputs,
            self.depthwise_kernel,
            self.pointwise_kernel,
            strides=(1, *self.strides, 1) if last else (1, 1, *self.strides),
            padding=self.padding.upper(),
            rate=self.dilation_rate,
            data_format=layout,
        )
        if self.use_bias:
            outputs = nn_ops.bias_add(outputs, self.bias, data_format=layout)
        return self.activation(outputs)  # type: ignore[no-any-return]


@export("keras.layers.DepthwiseConv2D")
class DepthwiseConv2D(Conv2D):
    """A convolution of each channel of images by itself.

    Args:
      depth_multiplier: outputs for each channel.
      depthwise_initializer, depthwise_regularizer, depthwise_constraint: of the kernel.
      others: see `Conv`.
    """

    _described_weights = ("depthwise", "bias")
    depthwise_initializer: Any
    depthwise_regularizer: Any
    depthwise_constraint: Any

    def __init__(
        self,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: Any = "valid",
        depth_multiplier: int = 1,
        data_format: str | None = None,
        activation: Any = None,
        use_bias: bool = True,
        depthwise_initializer: Any = "glorot_uniform",
        bias_initializer: Any = "zeros",
        depthwise_regularizer: Any = None,
        bias_regularizer: Any = None,
        activity_regularizer: Any = None,
        depthwise_constraint: Any = None,
        bias_constraint: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            None,
            kernel_size,
            strides,
            padding,
            data_format,
            activation=activation,
            use_bias=use_bias,
            bias_initializer=bias_initializer,
            bias_regularizer=bias_regularizer,
            activity_regularizer=activity_regularizer,
            bias_constraint=bias_constraint,
            **kwargs,
        )
        self.depth_multiplier = depth_multiplier
        take_weight_options(
            self,
            "depthwise",
            depthwise_initializer,
            depthwise_regularizer,
            depthwise_constraint,
        )

    def build(self, input_shape: Any) -> None:
        """Makes the kernel [*kernel_size, channels, depth_multiplier] and the bias.

        Raises:
          ValueError: the rank does not fit, or the number of channels is unknown.
        """
        shape = as_shape(input_shape)
        if shape.rank is None or shape.rank < 4:
            raise ValueError(
                "Inputs to `DepthwiseConv2D` should have rank 4. Received input shape:",
                str(shape),
            )
        _, channels = self.channels_of(shape)
        self.depthwise_kernel = self.add_weight(
            shape=(*self.kernel_size, channels, self.depth_multiplier),
            initializer=self.depthwise_initializer,
            name="depthwise_kernel",
            regularizer=self.depthwise_regularizer,
            constraint=self.depthwise_constraint,
        )
        self._add_bias((channels * self.depth_multiplier,))
        axis = 1 if self.data_format == "channels_first" else 3
        self.input_spec = InputSpec(ndim=4, axes={axis: channels})
        self.built = True

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """The convolution of the inputs."""
        first = self.data_format == "channels_first"
        if first:
            inputs = array_ops.transpose(inputs, (0, 2, 3, 1))
        outputs = depthwise_conv2d(
            inputs,
            self.depthwise_kernel,
            strides=(1, *self.strides, 1),
            padding=self.padding.upper(),
            rate=self.dilation_rate,
            data_format="NHWC",
        )
        if first:
            outputs = array_ops.transpose(outputs, (0, 3, 1, 2))
        if self.use_bias and first:
            channels = self.bias.shape.as_list()[0]  # type: ignore[union-attr]
            outputs = outputs + array_ops.reshape(self.bias, (1, channels, 1, 1))
        elif self.use_bias:
            outputs = nn_ops.bias_add(outputs, self.bias, data_format="NHWC")
        return self.activation(outputs)  # type: ignore[no-any-return]

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """[batch, height, width, channels * depth_multiplier], or channels first."""
        sizes = as_shape(input_shape).as_list()
        first = self.data_format == "channels_first"
        channels = sizes[1 if first else 3]
        if channels is not None:
            channels *= self.depth_multiplier
        spatial = [
            conv_output_length(size, self.kernel_size[i], self.padding, self.strides[i])
            for i, size in enumerate(sizes[2:] if first else sizes[1:3])
        ]
        if first:
            return as_shape([sizes[0], channels, *spatial])
        return as_shape([sizes[0], *spatial, channels])

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        config = super().get_config()
        config.pop("filters")
        return {**config, "depth_multiplier": self.depth_multiplier}
