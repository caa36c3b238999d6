"""Input functions of served models."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array.placeholder import placeholder
from tensorloom.ops.parsing.parsing_features import parse_example


@export("contrib.learn.InputFnOps", "contrib.learn.utils.InputFnOps")
class InputFnOps(namedtuple("InputFnOps", ["features", "labels", "default_inputs"])):
    """Features and labels, and the placeholders that a request feeds."""

    __slots__ = ()


@export(
    "contrib.learn.build_parsing_serving_input_fn",
    "contrib.learn.utils.build_parsing_serving_input_fn",
)
def build_parsing_serving_input_fn(
    feature_spec: dict[str, Any], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """An input function that is fed serialized `tf.Example`s.

    Args:
      feature_spec: what each has, as `tf.io.parse_example` takes it.
      default_batch_size: how many; any number when None.
    """

    def input_fn() -> InputFnOps:
        serialized = placeholder(
            dtype=dtypes.string,
            shape=[default_batch_size],
            name="input_example_tensor",
        )
        features = parse_example(serialized, feature_spec)
        return InputFnOps(features, None, {"examples": serialized})

    return input_fn


@export("contrib.learn.utils.build_default_serving_input_fn")
def build_default_serving_input_fn(
    features: dict[str, Any], default_batch_size: int | None = None
) -> Callable[[], InputFnOps]:
    """An input function that is fed the features themselves.

    Args:
      features: tensors by their keys; dtypes, shapes and names are taken from them.
      default_batch_size: the first dimension of each; any size when None.
    """

    def input_fn() -> InputFnOps:
        places = {
            key: placeholder(
                dtype=tensor.dtype,
                shape=TensorShape(
                    [default_batch_size, *tensor.get_shape().as_list()[1:]]
                ),
                name=tensor.op.name,
            )
            for key, tensor in features.items()
        }
        return InputFnOps(places, None, places)

    return input_fn
