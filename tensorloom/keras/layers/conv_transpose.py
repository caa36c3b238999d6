"""Transposed convolutions, also called deconvolutions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape
from tensorloom.keras.engine.input_spec import InputSpec
from tensorloom.keras.layers.convolutional import Conv, Conv2D, Conv3D
from tensorloom.keras.layers.weight_options import add_weight
from tensorloom.keras.layers.window_sizes import (
    deconv_output_length,
    normalize_tuple,
    op_data_format,
)
from tensorloom.ops.array import array_ops
from tensorloom.ops.convolution.atrous import atrous_conv2d_transpose
from tensorloom.ops.convolution.builders import conv2d_transpose
from tensorloom.ops.convolution.conv3d import conv3d_transpose
from tensorloom.ops.nn import nn_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


class ConvTranspose(Conv):
    """What they share; kernels are [*kernel_size, filters, channels].

    Raises:
      ValueError: an output padding that is not below the stride.
    """

    output_padding: tuple[int, ...] | None = None

    def _set_output_padding(self, output_padding: Any) -> None:
        self.output_padding = None
        if output_padding is None:
            return
        self.output_padding = normalize_tuple(
            output_padding, self.rank, "output_padding"
        )
        for stride, padding in zip(self.strides, self.output_padding, strict=True):
            if padding >= stride:
                raise ValueError(
                    f"Stride {self.strides} must be greater than output padding "
                    f"{self.output_padding}"
                )

    def build(self, input_shape: Any) -> None:
        """Makes kernel [*kernel_size, filters, channels] and bias.

        Raises:
          ValueError: the rank does not fit, or the number of channels is unknown.
        """
        shape = as_shape(input_shape)
        if shape.rank != self.rank + 2:
            raise ValueError(
                f"Inputs should have rank {self.rank + 2}. Received input shape: "
                f"{shape}"
            )
        axis, channels = self.channels_of(shape)
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={axis: channels})
        kernel_shape = (*self.kernel_size, self.filters, channels)
        self.kernel = add_weight(self, "kernel", kernel_shape)
        self._add_bias((self.filters,))
        self.built = True

    @property
    def _first_spatial(self) -> int:
        return 2 if self.data_format == "channels_first" else 1

    def _lengths(self, lengths: list[Any]) -> list[Any]:
        """Sizes of the outputs for sizes of the inputs (ints, tensors or None)."""
        output_padding = self.output_padding or (None,) * self.rank
        return [
            deconv_output_length(
                length,
                self.kernel_size[i],
                padding=self.padding,
                output_padding=output_padding[i],
                stride=self.strides[i],
                dilation=self.dilation_rate[i],
            )
            for i, length in enumerate(lengths)
        ]

    def _output_sizes(self, batch: Any, lengths: list[Any]) -> list[Any]:
        sizes = self._lengths(lengths)
        if self.data_format == "channels_first":
            return [batch, self.filters, *sizes]
        return [batch, *sizes, self.filters]

    def _dynamic_sizes(self, inputs: Tensor) -> Tensor:
        shape = array_ops.shape(inputs)
        batch, first = shape[0], self._first_spatial
        lengths = [shape[first + i] for i in range(self.rank)]
        return array_ops.stack(self._output_sizes(batch, lengths))

    def compute_output_shape(self, input_shape: Any) -> TensorShape:
        """[batch, *spatial, filters], or channels first."""
        sizes = as_shape(input_shape).as_list()
        first = self._first_spatial
        return as_shape(self._output_sizes(sizes[0], sizes[first : first + self.rank]))

    def _finished(self, outputs: Tensor, inputs: Tensor) -> Tensor:
        """The outputs with their static shape, bias and activation."""
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        if self.use_bias:
            layout = op_data_format(self.data_format, 4)
            outputs = nn_ops.bias_add(outputs, self.bias, data_format=layout)
        return self.activation(outputs)  # type: ignore[no-any-return]

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        return {**super().get_config(), "output_padding": self.output_padding}


@export("keras.layers.Conv2DTranspose", "keras.layers.Convolution2DTranspose")
class Conv2DTranspose(ConvTranspose, Conv2D):
    """The transpose of `Conv2D`.

    Args:
      output_padding: what is added to the outputs' sizes.
      others: see `Conv`.

    Raises:
      ValueError: an argument that does not fit.
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: Any = "valid",
        output_padding: Any = None,
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
        Conv2D.__init__(
            self,
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
        self._set_output_padding(output_padding)

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """The transposed convolution of the inputs."""
        sizes = self._dynamic_sizes(inputs)
        first = self.data_format == "channels_first"
        # On the host, and for dilated filters anywhere, images have channels last.
        padding = self.padding.upper()
        value = array_ops.transpose(inputs, (0, 2, 3, 1)) if first else inputs
        if first:
            sizes = array_ops.stack([sizes[0], sizes[2], sizes[3], sizes[1]])
        else:
            _ = sizes[0]  # a node that TensorFlow's graphs have, and no one reads
        if tuple(self.dilation_rate) == (1, 1):
            outputs = conv2d_transpose(
                value, self.kernel, sizes, (1, *self.strides, 1), padding=padding
            )
        else:
            outputs = atrous_conv2d_transpose(
                value, self.kernel, sizes, rate=self.dilation_rate[0], padding=padding
            )
        if first:
            outputs = array_ops.transpose(outputs, (0, 3, 1, 2))
        return self._finished(outputs, inputs)


@export("keras.layers.Conv3DTranspose", "keras.layers.Convolution3DTranspose")
class Conv3DTranspose(ConvTranspose, Conv3D):
    """The transpose of `Conv3D`.

    Args:
      output_padding: what is added to the outputs' sizes.
      others: see `Conv`.

    Raises:
      ValueError: an argument that does not fit.
    """

    def __init__(
        self,
        filters: int,
        kernel_size: Any,
        strides: Any = (1, 1, 1),
        padding: Any = "valid",
        output_padding: Any = None,
        data_format: str | None = None,
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
        Conv3D.__init__(
            self,
            filters,
            kernel_size,
            strides,
            padding,
            data_format,
            (1, 1, 1),
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
        self._set_output_padding(output_padding)

    def call(self, inputs: Any) -> Tensor:  # type: ignore[override]
        """The transposed convolution of the inputs."""
        sizes = self._dynamic_sizes(inputs)
        strides = (1, 1, *self.strides)
        if self.data_format == "channels_last":
            strides = (1, *self.strides, 1)
        outputs = conv3d_transpose(
            inputs,
            self.kernel,
            sizes,
            strides,
            data_format=op_data_format(self.data_format, 5),
            padding=self.padding.upper(),
        )
        return self._finished(outputs, inputs)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        config = super().get_config()
        config.pop("dilation_rate")
        return config
