"""`tf.summary.image`, `audio`, `text` and `tensor_summary`."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import GraphKeys, Tensor
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.summary.summary import collect, kept_once, summary_scope


@export("summary.image")
@kept_once
def image(
    name: str,
    tensor: Any,
    max_outputs: int = 3,
    collections: Any = None,
    family: str | None = None,
) -> Tensor:
    """A summary with images.

    Args:
      name: of the node and, in its scope, of the series.
      tensor: [batch, height, width, channels] of uint8 or floats, with 1, 3 or 4
        channels. Floats are scaled to 0 ... 255 image by image.
      max_outputs: of the batch.
      collections, family: as in `tf.summary.scalar`.

    Returns:
      A scalar string tensor: a serialized `Summary`.
    """
    with summary_scope(name, family, None, [tensor]) as (tag, scope):
        summary = apply_op(
            "ImageSummary", tag=tag, tensor=tensor, max_images=max_outputs, name=scope
        )
        return collect(summary, collections, [GraphKeys.SUMMARIES])


@export("summary.audio")
@kept_once
def audio(
    name: str,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int = 3,
    collections: Any = None,
    family: str | None = None,
) -> Tensor:
    """A summary with sound.

    Args:
      name: of the node and, in its scope, of the series.
      tensor: [batch, frames, channels] or [batch, frames] of floats in [-1, 1].
      sample_rate: in hertz; a scalar float.
      max_outputs: of the batch.
      collections, family: as in `tf.summary.scalar`.
    """
    with summary_scope(name, family, None, [tensor]) as (tag, scope):
        rate = convert_to_tensor(sample_rate, dtype=dtypes.float32, name="sample_rate")
        summary = apply_op(
            "AudioSummaryV2",
            tag=tag,
            tensor=tensor,
            max_outputs=max_outputs,
            sample_rate=rate,
            name=scope,
        )
        return collect(summary, collections, [GraphKeys.SUMMARIES])


@export("summary.tensor_summary")
@kept_once
def tensor_summary(
    name: str,
    tensor: Any,
    summary_description: str | None = None,
    collections: Any = None,
    summary_metadata: Any = None,
    family: str | None = None,
    display_name: str | None = None,
) -> Tensor:
    """A summary with a whole tensor.

    Args:
      summary_description, display_name: shown beside it.
      summary_metadata: a `SummaryMetadata` for the plugin that shows it.
      collections, family: as in `tf.summary.scalar`.
    """
    from tensorloom.protos.summary_pb2 import SummaryMetadata

    metadata = SummaryMetadata()
    if summary_metadata is not None:
        metadata.CopyFrom(summary_metadata)
    if summary_description is not None:
        metadata.summary_description = summary_description
    if display_name is not None:
        metadata.display_name = display_name
    with summary_scope(name, family, None, [tensor]) as (tag, scope):
        summary = apply_op(
            "TensorSummaryV2",
            tensor=tensor,
            tag=tag,
            name=scope,
            serialized_summary_metadata=metadata.SerializeToString(),
        )
        return collect(summary, collections, [GraphKeys.SUMMARIES])


@export("summary.text")
@kept_once
def text(name: str, tensor: Any, collections: Any = None) -> Tensor:
    """A summary with strings.

    Raises:
      ValueError: the tensor is not of strings.
    """
    from tensorloom.protos.summary_pb2 import SummaryMetadata

    values = convert_to_tensor(tensor)
    if values.dtype != dtypes.string:
        raise ValueError(
            f"Expected tensor {values.name} to have dtype string, got {values.dtype}"
        )
    plugin = SummaryMetadata.PluginData(plugin_name="text")
    return tensor_summary(
        name=name,
        tensor=values,
        summary_metadata=SummaryMetadata(plugin_data=plugin),
        collections=collections,
    )
