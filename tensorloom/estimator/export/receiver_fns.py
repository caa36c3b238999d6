"""`tf.estimator.export.build_*_input_receiver_fn`: functions that make placeholders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tensorloom.estimator.export.receivers import (
    SINGLE_LABEL_DEFAULT_NAME,
    SINGLE_RECEIVER_DEFAULT_NAME,
    ServingInputReceiver,
    SupervisedInputReceiver,
)
from tensorloom.estimator.input_results import parse_input_fn_result
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Graph
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array.placeholder import placeholder
from tensorloom.ops.parsing.parsing_features import parse_example


@export("estimator.export.build_parsing_serving_input_receiver_fn")
def build_parsing_serving_input_receiver_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """Makes a function whose model is fed serialized Examples, under `examples`.

    Args:
      feature_spec: how each feature is parsed.
      default_batch_size: how many Examples there are in a batch; any number when None.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        examples = placeholder(
            dtypes.string, [default_batch_size], name="input_example_tensor"
        )
        features = parse_example(examples, feature_spec)
        return ServingInputReceiver(features, {"examples": examples})

    return serving_input_receiver_fn


@export("estimator.export.build_raw_serving_input_receiver_fn")
def build_raw_serving_input_receiver_fn(
    features: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """Makes a function whose model is fed the features themselves.

    Args:
      features: tensors by their keys, whose names, dtypes and shapes are taken.
      default_batch_size: the first dimension; any when None.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        tensors = _placeholders(features, default_batch_size)
        return ServingInputReceiver(tensors, tensors)

    return serving_input_receiver_fn


@export("estimator.experimental.build_raw_supervised_input_receiver_fn")
def build_raw_supervised_input_receiver_fn(
    features: Any, labels: Any, default_batch_size: int | None = None
) -> Callable[[], SupervisedInputReceiver]:
    """Makes a function whose model is fed features and labels, to train or evaluate it.

    Args:
      features: a tensor, or tensors by their keys.
      labels: the same.
      default_batch_size: the first dimension; any when None.

    Raises:
      ValueError: a key is in both.
    """
    own = features if isinstance(features, Mapping) else [SINGLE_RECEIVER_DEFAULT_NAME]
    others = labels if isinstance(labels, Mapping) else [SINGLE_LABEL_DEFAULT_NAME]
    overlap = set(own) & set(others)
    if overlap:
        raise ValueError(
            "Features and labels must have distinct keys. Found overlapping keys: "
            f"{overlap}"
        )

    def supervised_input_receiver_fn() -> SupervisedInputReceiver:
        made, tensors = _placed(
            features, SINGLE_RECEIVER_DEFAULT_NAME, default_batch_size
        )
        made_labels, label_tensors = _placed(
            labels, SINGLE_LABEL_DEFAULT_NAME, default_batch_size
        )
        return SupervisedInputReceiver(made, made_labels, tensors | label_tensors)

    return supervised_input_receiver_fn


def build_supervised_input_receiver_fn_from_input_fn(
    input_fn: Callable[..., Any], **input_fn_args: Any
) -> Callable[[], SupervisedInputReceiver]:
    """Makes a function whose model is fed what an input function gives.

    Args:
      input_fn: gives a dataset of (features, labels), or those as tensors.
      **input_fn_args: what it is called with.
    """
    with Graph().as_default():
        features, labels, _ = parse_input_fn_result(input_fn(**input_fn_args))
    return build_raw_supervised_input_receiver_fn(features, labels)


def _placed(
    tensors: Any, name: str, batch_size: int | None
) -> tuple[Any, dict[str, Any]]:
    """Placeholders as the model gets them, and by their keys."""
    if isinstance(tensors, Mapping):
        made = _placeholders(tensors, batch_size)
        return made, made
    single = _placeholder_like(tensors, batch_size)
    return single, {name: single}


def _placeholders(tensors: Mapping[str, Any], batch_size: int | None) -> dict[str, Any]:
    return {
        name: _placeholder_like(tensor, batch_size) for name, tensor in tensors.items()
    }


def _placeholder_like(tensor: Any, batch_size: int | None) -> Any:
    shape = TensorShape([batch_size]).concatenate(tensor.get_shape()[1:])
    return placeholder(tensor.dtype, shape, name=tensor.op.name)
