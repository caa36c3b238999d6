"""Summaries of tensors, collections and activations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import GraphKeys, get_collection
from tensorloom.framework.types import dtypes
from tensorloom.ops.math.cast import cast, to_float
from tensorloom.ops.math.comparison import greater, less
from tensorloom.ops.reductions.reductions import reduce_mean
from tensorloom.summary import summary


@export("contrib.layers.summarize_tensor", "contrib.layers.summaries.summarize_tensor")
def summarize_tensor(tensor: Any, tag: str | None = None) -> Any:
    """A scalar summary of a scalar, a histogram of others; None of strings, bools."""
    if tensor.dtype.base_dtype in (dtypes.string, dtypes.bool):
        return None
    write = summary.scalar if tensor.get_shape().ndims == 0 else summary.histogram
    return write(tag or f"{tensor.op.name}_summary", tensor)


@export(
    "contrib.layers.summarize_activation",
    "contrib.layers.summaries.summarize_activation",
)
def summarize_activation(op: Any) -> Any:
    """A histogram of an activation; of a ReLU also the part that is cut off.

    Args:
      op: the activation's tensor.
    """
    name, kind = op.op.name, op.op.type
    if kind in ("Relu", "Softplus", "Relu6"):
        inputs = op.op.inputs[0]
        cut = less(inputs, cast(0.0, inputs.dtype))
        summary.scalar(f"{name}/zeros", reduce_mean(to_float(cut)))
    if kind == "Relu6":
        inputs = op.op.inputs[0]
        cut = greater(inputs, cast(6.0, inputs.dtype))
        summary.scalar(f"{name}/sixes", reduce_mean(to_float(cut)))
    return summary.histogram(f"{name}/activation", op)


@export(
    "contrib.layers.summarize_tensors", "contrib.layers.summaries.summarize_tensors"
)
def summarize_tensors(
    tensors: Iterable[Any], summarizer: Callable[[Any], Any] = summarize_tensor
) -> list[Any]:
    """The summaries of tensors."""
    return [summarizer(tensor) for tensor in tensors]


@export(
    "contrib.layers.summarize_collection",
    "contrib.layers.summaries.summarize_collection",
)
def summarize_collection(
    collection: str,
    name_filter: str | None = None,
    summarizer: Callable[[Any], Any] = summarize_tensor,
) -> list[Any]:
    """The summaries of a collection's tensors whose operations a regex matches."""
    return summarize_tensors(
        [
            tensor
            for tensor in get_collection(collection)
            if name_filter is None or re.match(name_filter, tensor.op.name)
        ],
        summarizer,
    )


@export(
    "contrib.layers.summarize_activations",
    "contrib.layers.summaries.summarize_activations",
)
def summarize_activations(
    name_filter: str | None = None,
    summarizer: Callable[[Any], Any] = summarize_activation,
) -> list[Any]:
    """The summaries of the collection ACTIVATIONS."""
    return summarize_collection(GraphKeys.ACTIVATIONS, name_filter, summarizer)


def _of_collection(name: str, collection: str) -> Callable[..., list[Any]]:
    def summarize(
        name_filter: str | None = None,
        summarizer: Callable[[Any], Any] = summarize_tensor,
    ) -> list[Any]:
        return summarize_collection(collection, name_filter, summarizer)

    summarize.__name__ = summarize.__qualname__ = name
    summarize.__doc__ = f"The summaries of the collection {collection}."
    return export(f"contrib.slim.{name}", f"contrib.layers.summaries.{name}")(summarize)


summarize_variables = _of_collection("summarize_variables", GraphKeys.GLOBAL_VARIABLES)
summarize_weights = _of_collection("summarize_weights", GraphKeys.WEIGHTS)
summarize_biases = _of_collection("summarize_biases", GraphKeys.BIASES)
