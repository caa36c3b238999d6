"""Writing summaries from within a step."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.kernels.host.control_flow.waiting import node_resource
from tensorloom.kernels.host.summary.media_summary import (
    add_clips,
    add_images,
    put_metadata,
    put_tensor,
)
from tensorloom.kernels.host.summary.summary_ops import fill_histogram
from tensorloom.kernels.host.summary.writer_resource import SummaryWriter

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction


@host_kernel("SummaryWriter", large=True)
def summary_writer(c: OpKernelConstruction) -> Compute:
    """The writer of this node, or of its shared name."""
    return node_resource(c, SummaryWriter, SummaryWriter)


@host_kernel("CreateSummaryFileWriter", large=True)
def create_summary_file_writer(c: OpKernelConstruction) -> Compute:
    """Opens a file."""

    def compute(
        writer: SummaryWriter, logdir: Any, queue: Any, millis: Any, suffix: Any
    ) -> None:
        writer.open(
            _text(logdir), int(_first(queue)), int(_first(millis)), _text(suffix)
        )

    return compute


@host_kernel("CreateSummaryDbWriter", large=True)
def create_summary_db_writer(c: OpKernelConstruction) -> Compute:
    """Opens a database."""

    def compute(writer: SummaryWriter, uri: Any, *names: Any) -> None:
        writer.open_database(_text(uri), *map(_text, names))

    return compute


@host_kernel("FlushSummaryWriter", large=True)
def flush_summary_writer(c: OpKernelConstruction) -> Compute:
    """Brings events to the file."""

    def compute(writer: SummaryWriter) -> None:
        writer.flush()

    return compute


@host_kernel("CloseSummaryWriter", large=True)
def close_summary_writer(c: OpKernelConstruction) -> Compute:
    """Finishes the file."""

    def compute(writer: SummaryWriter) -> None:
        writer.close_file()

    return compute


def _writes(fill: Callable[..., None]) -> Compute:
    """A kernel that writes one summary, which `fill` fills from the other inputs."""

    def compute(writer: SummaryWriter, step: Any, *inputs: Any) -> None:
        event = _event(step)
        event.summary.SetInParent()
        fill(event.summary, *inputs)
        writer.write(event)

    return compute


@host_kernel("WriteScalarSummary", large=True)
def write_scalar_summary(c: OpKernelConstruction) -> Compute:
    """A number."""

    def fill(summary: Any, tag: Any, value: Any) -> None:
        summary.value.add(tag=_text(tag), simple_value=float(_first(value)))

    return _writes(fill)


@host_kernel("WriteHistogramSummary", large=True)
def write_histogram_summary(c: OpKernelConstruction) -> Compute:
    """A histogram."""

    def fill(summary: Any, tag: Any, values: Any) -> None:
        name = _text(tag)
        fill_histogram(summary.value.add(tag=name).histo, values, name)

    return _writes(fill)


@host_kernel("WriteImageSummary", large=True)
def write_image_summary(c: OpKernelConstruction) -> Compute:
    """Images."""
    limit = c["max_images"]

    def fill(summary: Any, tag: Any, tensor: Any, bad_color: Any) -> None:
        color = np.ravel(bad_color)
        depth = tensor.shape[-1] if tensor.ndim == 4 else 0
        if tensor.dtype != np.uint8 and depth > color.size:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"expected depth <= bad_color.size, got depth = {depth}, "
                f"bad_color.size = {color.size}",
            )
        add_images(summary, _text(tag), tensor, limit, color)

    return _writes(fill)


@host_kernel("WriteAudioSummary", large=True)
def write_audio_summary(c: OpKernelConstruction) -> Compute:
    """Sound."""
    limit = c["max_outputs"]

    def fill(summary: Any, tag: Any, tensor: Any, rate: Any) -> None:
        add_clips(summary, _text(tag), tensor, limit, float(_first(rate)))

    return _writes(fill)


@host_kernel("WriteSummary", large=True)
def write_summary(c: OpKernelConstruction) -> Compute:
    """A tensor with metadata."""
    dtype = c["T"]

    def fill(summary: Any, tensor: Any, tag: Any, metadata: Any) -> None:
        value = summary.value.add(tag=_text(tag))
        put_tensor(value.tensor, tensor, dtype)
        serialized = _first(metadata)
        if serialized:
            put_metadata(value.metadata, serialized)

    return _writes(fill)


@host_kernel("WriteRawProtoSummary", large=True)
def write_raw_proto_summary(c: OpKernelConstruction) -> Compute:
    """Messages as they are, in one event."""

    def fill(summary: Any, tensor: Any) -> None:
        for index, serialized in enumerate(np.ravel(tensor)):
            what = "tf.compat.v1.Summary binary proto tensor string at index"
            _merge(summary, serialized, f"{what} {index}")

    return _writes(fill)


@host_kernel("WriteGraphSummary", large=True)
def write_graph_summary(c: OpKernelConstruction) -> Compute:
    """A graph."""

    def compute(writer: SummaryWriter, step: Any, tensor: Any) -> None:
        from tensorloom.protos.graph_pb2 import GraphDef

        event = _event(step)
        event.graph_def = _first(tensor)
        _merge(GraphDef(), event.graph_def, "tf.GraphDef binary proto tensor string")
        writer.write(event)

    return compute


@host_kernel("ImportEvent", large=True)
def import_event(c: OpKernelConstruction) -> Compute:
    """An event as it is."""

    def compute(writer: SummaryWriter, serialized: Any) -> None:
        from tensorloom.protos.event_pb2 import Event

        event = Event()
        _merge(event, _first(serialized), "tf.Event binary proto tensor string")
        writer.write(event)

    return compute


def _event(step: Any) -> Any:
    from tensorloom.protos.event_pb2 import Event

    return Event(wall_time=time.time(), step=int(_first(step)))


def _merge(message: Any, serialized: bytes, what: str) -> None:
    from google.protobuf.message import DecodeError

    try:
        message.MergeFromString(serialized)
    except DecodeError:
        raise errors.DataLossError(None, None, f"Bad {what}") from None


def _first(value: Any) -> Any:
    """The element of a scalar; TensorFlow takes the first of a longer tensor too."""
    flat = np.ravel(value)
    if not flat.size:
        raise errors.InvalidArgumentError(None, None, "expected a scalar, got nothing")
    return flat[0]


def _text(value: Any) -> str:
    text: str = _first(value).decode()
    return text
