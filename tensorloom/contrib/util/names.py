"""The names of `tf.contrib.util`, which are public elsewhere or in meta graphs."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export, export_value
from tensorloom.framework.types.tensor_proto import make_ndarray, make_tensor_proto
from tensorloom.train.meta_graph.meta_graph import ops_used, stripped_op_list

export_value(make_ndarray, "contrib.util.make_ndarray")
export_value(make_tensor_proto, "contrib.util.make_tensor_proto")
export_value(stripped_op_list, "contrib.util.stripped_op_list_for_graph")


@export("contrib.util.ops_used_by_graph_def")
def ops_used_by_graph_def(graph_def: Any) -> list[str]:
    """The names of the ops in a GraphDef and in the functions that it calls."""
    return sorted(ops_used(graph_def))
