"""Profiles that were written to files: by `ProfileContext`, here or by TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError

from tensorloom.framework import errors
from tensorloom.profiler.node_profile import Execution, NodeProfile
from tensorloom.profiler.profile_data import ProfileData
from tensorloom.profiler.profiler import Profiler
from tensorloom.protos.tfprof_log_pb2 import ProfileProto
from tensorloom.storage.files import filesystem

if TYPE_CHECKING:
    from tensorloom.protos.tfprof_log_pb2 import ProfileNode


@contextmanager
def profiler_from_file(profile_file: str) -> Iterator[Profiler]:
    """A `tf.profiler.Profiler` of a file, for a `with` block. It takes no more steps.

    Args:
      profile_file: what `ProfileContext` wrote, or `Profiler.serialize_to_string`.

    Raises:
      errors.NotFoundError: there is no such file.
      errors.DataLossError: it holds no profile.
    """
    message = ProfileProto()
    try:
        message.ParseFromString(filesystem.read_file(profile_file))
    except DecodeError as error:
        raise errors.DataLossError(
            None, None, f"{profile_file} holds no ProfileProto: {error}"
        ) from None
    yield Profiler.of_data(data_of(message))


def data_of(message: ProfileProto) -> ProfileData:
    """What a message knows; the way back is `ProfileData.to_proto`."""
    data = ProfileData()
    data.restore(
        [_node_of(node, message) for _, node in sorted(message.nodes.items())], message
    )
    return data


def _node_of(message: ProfileNode, of: ProfileProto) -> NodeProfile:
    node = NodeProfile(message.id, message.name, message.op)
    node.types.update(message.op_types)
    node.attrs = dict(message.attrs)
    node.shape = list(message.shape)
    node.output_shapes = {
        output: list(shape.int64_values)
        for output, shape in message.output_shapes.items()
    }
    node.inputs = {
        index: of.nodes[number].name for index, number in message.inputs.items()
    }
    node.source_outputs = {
        of.nodes[number].name: output
        for number, output in message.src_output_index.items()
    }
    node.static_float_ops = message.float_ops
    node.device = message.canonical_device
    for step, execution in message.execs.items():
        node.executions[step] = Execution(execution)
    return node
