"""`tf.nn.conv_transpose`: transposed convolution by number of dimensions."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.ops.convolution.builders import conv1d_transpose, conv2d_transpose
from tensorloom.ops.convolution.conv3d import conv3d_transpose


@export("nn.conv_transpose")
def conv_transpose(
    input: Any,
    filters: Any,
    output_shape: Any,
    strides: Any,
    padding: str = "SAME",
    data_format: str | None = None,
    dilations: Any = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of a 1-, 2- or 3-D convolution; `output_shape` tells which.

    Raises:
      ValueError: `output_shape` does not have 3, 4 or 5 numbers.
    """
    with name_scope(name, "conv_transpose", [input, filters, output_shape]) as name:
        rank = _length(output_shape)
        if rank == 5:
            return conv3d_transpose(
                input,
                filters,
                output_shape,
                strides,
                padding,
                data_format=data_format or "NDHWC",
                dilations=dilations,
                name=name,
            )
        if rank == 4:
            return conv2d_transpose(
                input,
                filters,
                output_shape,
                strides,
                padding,
                data_format=data_format or "NHWC",
                dilations=dilations,
                name=name,
            )
        if rank == 3:
            return conv1d_transpose(
                input,
                filters,
                output_shape,
                strides,
                padding,
                data_format=data_format or "NWC",
                dilations=dilations,
                name=name,
            )
        raise ValueError(f"output_shape must be of length 3, 4 or 5 but was {rank}.")


def _length(output_shape: Any) -> int:
    if isinstance(output_shape, Tensor):
        size = output_shape.shape.as_list()[0]
        if size is None:
            raise ValueError("output_shape must have a static value.")
        return size
    if output_shape is None:
        raise ValueError("output_shape must be a tensor or sized collection.")
    return len(output_shape)
