"""Frozen graphs in which masked weights are constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorloom.client.importing.graph_util import extract_sub_graph
from tensorloom.client.importing.graph_util_freeze import convert_variables_to_constants
from tensorloom.client.importing.importer import import_graph_def
from tensorloom.client.program import program_log
from tensorloom.client.session.session import Session
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Graph, get_default_graph
from tensorloom.framework.types.tensor_proto import make_tensor_proto
from tensorloom.protos.graph_pb2 import GraphDef
from tensorloom.train.checkpoints.checkpoint_management import latest_checkpoint
from tensorloom.train.meta_graph.meta_graph_import import import_meta_graph


@export("contrib.model_pruning.strip_pruning_vars_fn")
def strip_pruning_vars_fn(
    input_graph_def: Any, output_node_names: Sequence[str]
) -> GraphDef:
    """A graph without masks: masked weights are constants in it.

    Args:
      input_graph_def: a `GraphDef` whose variables are constants, as
        `tf.graph_util.convert_variables_to_constants` makes it.
      output_node_names: what the result must compute.
    """
    values = _masked_weights(input_graph_def)
    stripped = GraphDef()
    for node in input_graph_def.node:
        if node.name not in values:
            stripped.node.add().CopyFrom(node)
            continue
        constant = stripped.node.add(op="Const", name=node.name)
        constant.attr["dtype"].CopyFrom(node.attr["T"])
        tensor = make_tensor_proto(values[node.name])
        constant.attr["value"].tensor.CopyFrom(tensor)
    return extract_sub_graph(stripped, output_node_names)  # type: ignore[no-any-return]


def _masked_weights(graph_def: Any) -> dict[str, Any]:
    """The value of each node that multiplies weights by a mask."""
    names = [node.name for node in graph_def.node if "masked_weight" in node.name]
    graph = Graph()
    with graph.as_default():
        import_graph_def(graph_def, name="")
    with Session(graph=graph) as session:
        values = session.run({name: f"{name}:0" for name in names})
    for name, value in values.items():
        zeros = 100 * float(np.mean(value == 0))
        program_log.info("%s has %d values, %1.2f%% zeros", name, value.size, zeros)
    return dict(values)


@export("contrib.model_pruning.graph_def_from_checkpoint")
def graph_def_from_checkpoint(
    checkpoint_dir: str, output_node_names: Sequence[str]
) -> Any:
    """The graph of the latest checkpoint, with its variables as constants.

    It is added to the default graph, too.

    Args:
      checkpoint_dir: the directory of the checkpoints, with their meta graphs.
      output_node_names: what the result must compute.

    Raises:
      ValueError: there is no checkpoint.
    """
    path = latest_checkpoint(checkpoint_dir)
    if path is None:
        raise ValueError(f"Could not find a checkpoint at: {checkpoint_dir}.")
    saver = import_meta_graph(f"{path}.meta", clear_devices=True)
    with Session() as session:
        saver.restore(session, path)
        graph_def = get_default_graph().as_graph_def()
        return convert_variables_to_constants(session, graph_def, output_node_names)
