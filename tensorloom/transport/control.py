"""Our own service beside TensorFlow's two: stops, starts and informs tasks."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from tensorloom.transport.wire.methods import Method


@cache
def control_methods() -> Mapping[str, Method]:
    """The methods of ControlService by name.

    Shutdown: a StringValue says why. UpdateCluster: a ClusterDef with the tasks whose
    addresses are new; an empty address takes a task out. StartTask: a ServerDef says
    which further task to start for a session; its address comes back. Describe: the
    state of the task, as JSON.
    """
    from google.protobuf import empty_pb2, wrappers_pb2

    from tensorloom.protos import cluster_pb2, tensorflow_server_pb2

    service = "tensorloom.ControlService"
    messages = {
        "Shutdown": (wrappers_pb2.StringValue, empty_pb2.Empty),
        "UpdateCluster": (cluster_pb2.ClusterDef, empty_pb2.Empty),
        "StartTask": (tensorflow_server_pb2.ServerDef, wrappers_pb2.StringValue),
        "Describe": (empty_pb2.Empty, wrappers_pb2.StringValue),
    }
    return {
        name: Method(service, name, request, response)
        for name, (request, response) in messages.items()
    }
