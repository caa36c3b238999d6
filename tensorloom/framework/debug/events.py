"""The messages that debug URLs get, as TensorFlow's tools read them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.runtime.resource import is_torch_type
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_proto import encode_tensor

if TYPE_CHECKING:
    from tensorloom.framework.debug.publishers import Watched

_PLUGIN: Final = "debugger"


def metadata_event(message: str, wall_time_us: int) -> Any:
    """The event of what a step was asked for."""
    event = _event(wall_time_us)
    event.log_message.message = message
    return event


def graph_event(graph_def: bytes, wall_time_us: int) -> Any:
    """The event of a graph."""
    event = _event(wall_time_us)
    event.graph_def = graph_def
    return event


def _event(wall_time_us: int) -> Any:
    from tensorloom.protos.event_pb2 import Event

    return Event(wall_time=float(wall_time_us))


def tensor_events(watched: Watched, limit: int | None = None) -> Iterator[Any]:
    """The events of a value, in as many parts as a limit in bytes asks for."""
    proto = tensor_message(watched)
    content = proto.tensor_content
    count = 1 if limit is None else max(1, -(-len(content) // limit))
    size = limit if limit is not None else len(content)
    for index in range(count):
        event = _event(watched.wall_time_us)
        value = event.summary.value.add(
            node_name=watched.key.watch_key, tag=watched.key.node_name
        )
        plugin = value.metadata.plugin_data
        plugin.plugin_name = _PLUGIN
        plugin.content = json.dumps(
            _facts(watched, count, index), separators=(",", ":")
        ).encode()
        value.tensor.CopyFrom(proto)
        if count > 1:
            value.tensor.tensor_content = content[index * size : (index + 1) * size]
        yield event


def _facts(watched: Watched, count: int, index: int) -> dict[str, Any]:
    facts = {
        "device": watched.key.device_name,
        "outputSlot": watched.key.output_slot,
        "numChunks": count,
        "chunkIndex": index,
    }
    if watched.frames:
        facts["frames"] = watched.frames
    return facts


def tensor_message(watched: Watched) -> Any:
    """A value as a message; of what is not initialized the dtype alone."""
    from tensorloom.protos.tensor_pb2 import TensorProto

    value, dtype = watched.value, watched.dtype
    proto = TensorProto()
    proto.dtype = dtype.as_datatype_enum  # type: ignore[assignment]
    proto.tensor_shape.SetInParent()
    if value is None:
        return proto
    if dtype is dtypes.string or is_torch_type(dtype) or dtype.is_numpy_compatible:
        if dtype is dtypes.string:
            return encode_tensor(np.asarray(value, object), dtype)
        return encode_tensor(np.asarray(value), dtype, prefer_content=True)
    # A handle, or a list: its name is all that a file can keep of it.
    proto.tensor_content = repr(value).encode()
    return proto
