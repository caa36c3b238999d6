"""Our own service beside TensorFlow's two: stops a task, or reports who joined."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from tensorloom.transport.wire.methods import Method


@cache
def control_methods() -> Mapping[str, Method]:
    """The methods of ControlService by name.

    Shutdown: a StringValue says why. UpdateCluster: a ClusterDef with the tasks whose
    addresses are new; an empty address takes a task out.
    """
    from google.protobuf import empty_pb2, wrappers_pb2

    from tensorloom.protos import cluster_pb2

    service = "tensorloom.ControlService"
    requests = {
        "Shutdown": wrappers_pb2.StringValue,
        "UpdateCluster": cluster_pb2.ClusterDef,
    }
    return {
        name: Method(service, name, request, empty_pb2.Empty)
        for name, request in requests.items()
    }
