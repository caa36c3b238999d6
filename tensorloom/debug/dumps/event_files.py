"""Reads the event files of a dump, each of which holds one `Event` message."""

from __future__ import annotations

import json
import math
from typing import Any, Final, NamedTuple

import numpy as np

from tensorloom.framework.types.tensor_proto import decode_tensor, sizes_of
from tensorloom.protos.event_pb2 import Event
from tensorloom.protos.graph_pb2 import GraphDef
from tensorloom.protos.types_pb2 import DataType
from tensorloom.storage.files.file_io import FileIO

METADATA_FILE_PREFIX: Final = "_tfdbg_"
CORE_METADATA_TAG: Final = "core_metadata_"
GRAPH_FILE_TAG: Final = "graph_"
DEVICE_TAG: Final = "device_"
HASH_TAG: Final = "hash"
FETCHES_INFO_FILE_TAG: Final = "fetches_info_"
FEED_KEYS_INFO_FILE_TAG: Final = "feed_keys_info_"


class InconvertibleTensorProto:
    """A value that is no array: of a variable without one, or a handle."""

    def __init__(self, tensor_proto: Any, initialized: bool = True) -> None:
        """Keeps the message, and whether there is a value at all."""
        self._tensor_proto = tensor_proto
        self._initialized = initialized

    def __str__(self) -> str:
        head = "" if self._initialized else "Uninitialized tensor:\n"
        return head + str(self._tensor_proto)

    @property
    def initialized(self) -> bool:
        """Whether the tensor has a value."""
        return self._initialized


class CoreMetadata(NamedTuple):
    """What the master says of a debugged `Session.run`."""

    global_step: int
    session_run_index: int
    executor_step_index: int
    input_names: list[str]
    output_names: list[str]
    target_nodes: list[str]


def read_event(path: str) -> Any:
    """The `Event` in a file.

    Raises:
      errors.NotFoundError: there is no such file.
    """
    with FileIO(path, "rb") as file:
        return Event.FromString(file.read())


def load_tensor_from_event_file(event_file_path: str) -> Any:
    """The value in an event file, as `load_tensor_from_event` gives it."""
    return load_tensor_from_event(read_event(event_file_path))


def load_tensor_from_event(event: Any) -> Any:
    """The value that an `Event` holds in `summary.value[0]`.

    Returns:
      An `np.ndarray`; an `InconvertibleTensorProto` for what is none.
    """
    proto = event.summary.value[0].tensor
    has_value = bool(proto.tensor_content or proto.string_val)
    count: int = math.prod(sizes_of(proto))
    if not has_value and count:
        return InconvertibleTensorProto(proto, False)
    if proto.dtype in (DataType.DT_RESOURCE, DataType.DT_VARIANT):
        return InconvertibleTensorProto(proto)
    return decode_tensor(proto)


def load_graph_def(path: str) -> Any:
    """The `GraphDef` in an event file."""
    return GraphDef.FromString(read_event(path).graph_def)


def load_log_message(path: str) -> str:
    """The text in an event file."""
    return str(read_event(path).log_message.message)


def extract_core_metadata_from_event_proto(event: Any) -> CoreMetadata:
    """What the master said of a run."""
    facts = json.loads(event.log_message.message)
    return CoreMetadata(*(facts[name] for name in CoreMetadata._fields))


def has_inf_or_nan(datum: Any, tensor: Any) -> bool:
    """Whether a value has an infinite element, or one that is no number.

    Args:
      datum: what is known of the tensor; not used.
      tensor: the value. What is no array of numbers has none.
    """
    if tensor is None or isinstance(tensor, InconvertibleTensorProto):
        return False
    array = np.asarray(tensor)
    if array.dtype.kind in "OSUb" or array.dtype.names:
        return False
    return not bool(np.all(np.isfinite(array)))
