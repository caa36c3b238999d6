"""Summaries whose tags are given as they are, without the scope of names."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import get_default_graph, name_scope
from tensorloom.framework.graph.graph_keys import GraphKeys
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor


def _collected(value: Any, collections: Any) -> Any:
    graph = get_default_graph()
    for key in [GraphKeys.SUMMARIES] if collections is None else collections:
        graph.add_to_collection(key, value)
    return value


@export("contrib.deprecated.scalar_summary")
def scalar_summary(
    tags: Any, values: Any, collections: Any = None, name: str | None = None
) -> Any:
    """A summary of scalars.

    Args:
      tags: strings, of the shape of `values`.
      values: numbers.
      collections: where the summary goes; `SUMMARIES` when None.
      name: of the operation.
    """
    with name_scope(name, "ScalarSummary", [tags, values]) as scope:
        value = apply_op("ScalarSummary", tags=tags, values=values, name=scope)
        return _collected(value, collections)


@export("contrib.deprecated.histogram_summary")
def histogram_summary(
    tag: Any, values: Any, collections: Any = None, name: str | None = None
) -> Any:
    """A summary with a histogram of values; see `scalar_summary`."""
    with name_scope(name, "HistogramSummary", [tag, values]) as scope:
        value = apply_op("HistogramSummary", tag=tag, values=values, name=scope)
        return _collected(value, collections)


@export("contrib.deprecated.image_summary")
def image_summary(
    tag: Any,
    tensor: Any,
    max_images: int = 3,
    collections: Any = None,
    name: str | None = None,
) -> Any:
    """A summary with images.

    Args:
      tag: a string; images get numbers behind it.
      tensor: uint8 or float32, [batch, height, width, channels].
      max_images: how many at most.
      collections: where the summary goes; `SUMMARIES` when None.
      name: of the operation.
    """
    with name_scope(name, "ImageSummary", [tag, tensor]) as scope:
        value = apply_op(
            "ImageSummary", tag=tag, tensor=tensor, max_images=max_images, name=scope
        )
        return _collected(value, collections)


@export("contrib.deprecated.audio_summary")
def audio_summary(
    tag: Any,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int = 3,
    collections: Any = None,
    name: str | None = None,
) -> Any:
    """A summary with sounds.

    Args:
      tag: a string; sounds get numbers behind it.
      tensor: float32, [batch, frames, channels] or [batch, frames], in [-1, 1].
      sample_rate: in hertz.
      max_outputs: how many at most.
      collections: where the summary goes; `SUMMARIES` when None.
      name: of the operation.
    """
    with name_scope(name, "AudioSummary", [tag, tensor]) as scope:
        rate = convert_to_tensor(sample_rate, dtype=dtypes.float32, name="sample_rate")
        value = apply_op(
            "AudioSummaryV2",
            tag=tag,
            tensor=tensor,
            max_outputs=max_outputs,
            sample_rate=rate,
            name=scope,
        )
        return _collected(value, collections)


@export("contrib.deprecated.merge_summary")
def merge_summary(inputs: Any, collections: Any = None, name: str | None = None) -> Any:
    """One summary of several; it goes into no collection unless one is named."""
    with name_scope(name, "MergeSummary", inputs):
        value = apply_op("MergeSummary", inputs=list(inputs), name=name)
        return _collected(value, collections or [])


@export("contrib.deprecated.merge_all_summaries")
def merge_all_summaries(key: str = GraphKeys.SUMMARIES) -> Any:
    """One summary of all in a collection; None if there are none."""
    found = get_default_graph().get_collection(key)
    return merge_summary(found) if found else None
