"""The client's graph structure in one import: Graph, Operation, Tensor and scopes."""

from __future__ import annotations

from tensorloom.framework.errors import OperatorNotAllowedInGraphError
from tensorloom.framework.graph.dataflow_graph import Graph
from tensorloom.framework.graph.default_graph import (
    get_default_graph,
    reset_default_graph,
)
from tensorloom.framework.graph.graph_keys import GraphKeys
from tensorloom.framework.graph.operation import Operation
from tensorloom.framework.graph.tensor import (
    Tensor,
    is_dense_tensor_like,
    is_tensor,
    register_dense_tensor_like_type,
)
from tensorloom.framework.runtime.default_stack import (
    get_default_session,
    graph_stack,
    session_as_default,
)
from tensorloom.framework.runtime.scopes import (
    add_to_collection,
    add_to_collections,
    colocate_with,
    container,
    control_dependencies,
    device,
    get_all_collection_keys,
    get_collection,
    get_collection_ref,
    get_name_scope,
    graph_from_inputs,
    init_scope,
    name_scope,
    op_scope,
    uid,
)

__all__ = [
    "Graph",
    "GraphKeys",
    "Operation",
    "OperatorNotAllowedInGraphError",
    "Tensor",
    "add_to_collection",
    "add_to_collections",
    "colocate_with",
    "container",
    "control_dependencies",
    "device",
    "get_all_collection_keys",
    "get_collection",
    "get_collection_ref",
    "get_default_graph",
    "get_default_session",
    "get_name_scope",
    "graph_from_inputs",
    "graph_stack",
    "init_scope",
    "is_dense_tensor_like",
    "is_tensor",
    "name_scope",
    "op_scope",
    "register_dense_tensor_like_type",
    "reset_default_graph",
    "session_as_default",
    "uid",
]
