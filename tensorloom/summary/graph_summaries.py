"""`tf.contrib.summary.scalar` and its kin: summaries that a step writes itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    Operation,
    Tensor,
    add_to_collection,
    control_dependencies,
    device,
    name_scope,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.runtime.scopes import get_name_scope
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.constant import constant
from tensorloom.ops.control_flow.builders import no_op
from tensorloom.summary.graph_writer import (
    chosen_step,
    default_handle,
    has_default_writer,
    recording_condition,
    writer_op,
)
from tensorloom.summary.summary import summary_scope


def _written(
    name: str,
    tensor: Any,
    family: str | None,
    step: Any,
    write: Callable[[str, str, Any, Any], Operation],
) -> Any:
    """Runs what `write(tag, scope, writer, step)` makes, when summaries record."""
    if not has_default_writer():
        return no_op()
    scope_here = get_name_scope()

    def record() -> Tensor:
        with (
            name_scope(f"{scope_here}/" if scope_here else ""),
            summary_scope(name, family, None, [tensor]) as (tag, scope),
            control_dependencies([write(tag, scope, default_handle(), step)]),
        ):
            return constant(True)

    with device("cpu:0"):
        wanted, known = recording_condition()
        if known is None:
            result = cond(wanted, record, lambda: constant(False), name="")
        else:
            result = record() if known else constant(False)
        add_to_collection(GraphKeys._SUMMARY_COLLECTION, result)
    return result


@export("contrib.summary.generic")
def generic(
    name: str,
    tensor: Any,
    metadata: Any = None,
    family: str | None = None,
    step: Any = None,
) -> Any:
    """Writes a whole tensor.

    Args:
      metadata: a `SummaryMetadata`, serialized or not.
      family, step: as in `scalar`.
    """

    def write(tag: str, scope: str, writer: Tensor, step: Any) -> Operation:
        if metadata is None:
            serialized = constant("")
        elif hasattr(metadata, "SerializeToString"):
            serialized = constant(metadata.SerializeToString())
        else:
            serialized = metadata
        return writer_op(
            "WriteSummary",
            scope,
            writer=writer,
            step=chosen_step(step),
            tensor=apply_op("Identity", input=tensor),
            tag=tag,
            summary_metadata=serialized,
        )

    return _written(name, tensor, family, step, write)


@export("contrib.summary.scalar")
def scalar(name: str, tensor: Any, family: str | None = None, step: Any = None) -> Any:
    """Writes a number to the default writer.

    Args:
      name: of the node and, in its scope, of the series.
      tensor: a real scalar.
      family: groups series; put before the tag.
      step: the global step when None.

    Returns:
      A bool tensor, true when it was written; an op that does nothing when no writer
      is the default.
    """

    def write(tag: str, scope: str, writer: Tensor, step: Any) -> Operation:
        return writer_op(
            "WriteScalarSummary",
            scope,
            writer=writer,
            step=chosen_step(step),
            tag=tag,
            value=apply_op("Identity", input=tensor),
        )

    return _written(name, tensor, family, step, write)


@export("contrib.summary.histogram")
def histogram(
    name: str, tensor: Any, family: str | None = None, step: Any = None
) -> Any:
    """Writes a histogram of real values; arguments as in `scalar`."""

    def write(tag: str, scope: str, writer: Tensor, step: Any) -> Operation:
        return writer_op(
            "WriteHistogramSummary",
            scope,
            writer=writer,
            step=chosen_step(step),
            tag=tag,
            values=apply_op("Identity", input=tensor),
        )

    return _written(name, tensor, family, step, write)


@export("contrib.summary.image")
def image(
    name: str,
    tensor: Any,
    bad_color: Any = None,
    max_images: int = 3,
    family: str | None = None,
    step: Any = None,
) -> Any:
    """Writes images.

    Args:
      tensor: [batch, height, width, channels], as in `tf.summary.image`.
      bad_color: of pixels that are not finite; uint8 [channels]; red when None.
      max_images: of the batch.
      family, step: as in `scalar`.
    """

    def write(tag: str, scope: str, writer: Tensor, step: Any) -> Operation:
        color = bad_color
        if color is None:
            color = constant([255, 0, 0, 255], dtype=dtypes.uint8)
        return writer_op(
            "WriteImageSummary",
            scope,
            writer=writer,
            step=chosen_step(step),
            tag=tag,
            tensor=apply_op("Identity", input=tensor),
            bad_color=color,
            max_images=max_images,
        )

    return _written(name, tensor, family, step, write)


@export("contrib.summary.audio")
def audio(
    name: str,
    tensor: Any,
    sample_rate: Any,
    max_outputs: int,
    family: str | None = None,
    step: Any = None,
) -> Any:
    """Writes sound.

    Args:
      tensor: [batch, frames, channels] of floats in [-1, 1].
      sample_rate: in hertz.
      max_outputs: of the batch.
      family, step: as in `scalar`.
    """

    def write(tag: str, scope: str, writer: Tensor, step: Any) -> Operation:
        return writer_op(
            "WriteAudioSummary",
            scope,
            writer=writer,
            step=chosen_step(step),
            tag=tag,
            tensor=apply_op("Identity", input=tensor),
            sample_rate=sample_rate,
            max_outputs=max_outputs,
        )

    return _written(name, tensor, family, step, write)
