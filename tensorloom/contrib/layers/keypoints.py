"""Where the features of images are: means of places, weighted by a softmax."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.framework.model_variables import model_variable
from tensorloom.contrib.layers.collections import get_variable_collections
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.meshgrid import meshgrid
from tensorloom.ops.array.permute import transpose
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.array.shape import shape
from tensorloom.ops.math.sequence import linspace
from tensorloom.ops.nn.softmax import softmax
from tensorloom.ops.reductions.reductions import reduce_sum
from tensorloom.ops.state.initializers import Constant, Ones


@export("contrib.layers.spatial_softmax")
def spatial_softmax(
    features: Any,
    temperature: float | None = None,
    name: str | None = None,
    variables_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
) -> Any:
    """The expected place of each channel's features: `[batch, 2 * channels]`.

    The softmax over the places of a channel says how likely each is
    (https://arxiv.org/abs/1509.06113). Places go from -1 to 1, rows before columns.

    Args:
      features: `[batch, height, width, channels]`, or as `data_format` says.
      temperature: divides features before the softmax; a trained variable, and where
        it begins: at 1 when None.
      name: of the variable scope.
      variables_collections: of the variable.
      trainable: whether it is trained.
      data_format: "NHWC" or "NCHW".

    Raises:
      ValueError: another format, or the number of channels is unknown.
    """
    with variable_scope(name, "spatial_softmax"):
        sizes = shape(features)
        known = features.shape.as_list()
        if data_format == "NHWC":
            height, width, channels = sizes[1], sizes[2], known[3]
        elif data_format == "NCHW":
            height, width, channels = sizes[2], sizes[3], known[1]
        else:
            raise ValueError("data_format has to be either NCHW or NHWC.")
        if channels is None:
            raise ValueError(
                "The num_channels dimension of the inputs to `spatial_softmax` should "
                "be defined. Found `None`."
            )
        with name_scope("spatial_softmax_op", "spatial_softmax_op", [features]):
            rows, columns = meshgrid(
                linspace(-1.0, 1.0, num=height),
                linspace(-1.0, 1.0, num=width),
                indexing="ij",
            )
            rows = reshape(rows, [height * width])
            columns = reshape(columns, [height * width])
            is_given = temperature is not None
            collections = get_variable_collections(variables_collections, "temperature")
            divisor = model_variable(
                "temperature",
                shape=(),
                dtype=dtypes.float32,
                initializer=Constant(temperature) if is_given else Ones(),
                collections=collections if trainable else None,
                trainable=trainable,
            )
            if data_format == "NHWC":
                features = transpose(features, [0, 3, 1, 2])
            features = reshape(features, [-1, height * width])
            weights = softmax(features / divisor)
            means = [
                reduce_sum(places * weights, [1], keepdims=True)
                for places in (rows, columns)
            ]
            result = reshape(concat(means, 1), [-1, channels * 2])
            result.set_shape([None, channels * 2])
    return result
