"""A graph and its checkpoint as one graph of constants."""

from __future__ import annotations

import re
from typing import Any, Final

from tensorloom.client.importing.graph_util_freeze import convert_variables_to_constants
from tensorloom.client.importing.importer import import_graph_def
from tensorloom.client.session.session import Session
from tensorloom.framework.graph.dataflow_graph import Graph
from tensorloom.protos.graph_pb2 import GraphDef
from tensorloom.protos.meta_graph_pb2 import MetaGraphDef
from tensorloom.protos.saver_pb2 import SaverDef
from tensorloom.saved_model import loader
from tensorloom.storage.files import filesystem
from tensorloom.tools import message_files, saved_model_utils
from tensorloom.train.checkpoints.checkpoint_management import checkpoint_exists
from tensorloom.train.checkpoints.checkpoint_reader import CheckpointReader
from tensorloom.train.checkpoints.saver import Saver
from tensorloom.train.meta_graph.meta_graph_import import import_meta_graph

_PARTITION: Final = re.compile(r"/part_\d+/")


def freeze_graph_with_def_protos(
    input_graph_def: Any,
    input_saver_def: Any,
    input_checkpoint: Any,
    output_node_names: str,
    restore_op_name: Any,
    filename_tensor_name: Any,
    output_graph: Any,
    clear_devices: bool,
    initializer_nodes: str,
    variable_names_whitelist: str = "",
    variable_names_blacklist: str = "",
    input_meta_graph_def: Any = None,
    input_saved_model_dir: str | None = None,
    saved_model_tags: Any = None,
    checkpoint_version: int = SaverDef.V2,
) -> Any:
    """A graph with its variables as constants, of their values in a checkpoint.

    Args:
      input_graph_def: GraphDef.
      input_saver_def: SaverDef of the graph's saver; None to find the variables by
        their names.
      input_checkpoint: prefix of the checkpoint.
      output_node_names: the nodes that are wanted, with commas between them.
      restore_op_name, filename_tensor_name: not used.
      output_graph: the file that is written; None for none.
      clear_devices: forget on which devices the nodes are placed.
      initializer_nodes: nodes that are run first, with commas between them.
      variable_names_whitelist: the variables that become constants; all if empty.
      variable_names_blacklist: variables that do not.
      input_meta_graph_def: MetaGraphDef, in place of `input_graph_def`.
      input_saved_model_dir: a SavedModel, in place of graph and checkpoint.
      saved_model_tags: which of its graphs.
      checkpoint_version: of the checkpoint's format.

    Returns:
      the GraphDef.

    Raises:
      ValueError: there is no such checkpoint, no output is named, or the graph has no
        variables.
    """
    if not input_saved_model_dir and not checkpoint_exists(input_checkpoint):
        raise ValueError(f"Input checkpoint '{input_checkpoint}' doesn't exist!")
    if not output_node_names:
        raise ValueError(
            "You need to supply the name of a node to --output_node_names."
        )
    meta = input_meta_graph_def
    graph_def = meta.graph_def if meta else input_graph_def
    if clear_devices and graph_def:
        for node in graph_def.node:
            node.device = ""
    with Graph().as_default():
        if input_graph_def and not input_saved_model_dir:
            import_graph_def(input_graph_def, name="")
        with Session() as session:
            if input_saver_def:
                saver = Saver(
                    saver_def=input_saver_def, write_version=checkpoint_version
                )
                saver.restore(session, input_checkpoint)
            elif meta:
                saver = import_meta_graph(meta, clear_devices=True)
                saver.restore(session, input_checkpoint)
            elif input_saved_model_dir:
                loader.load(session, saved_model_tags or [], input_saved_model_dir)
            else:
                _restore_by_name(session, input_checkpoint, checkpoint_version)
            if initializer_nodes and not (input_saver_def or input_saved_model_dir):
                session.run(message_files.names(initializer_nodes))
            result = convert_variables_to_constants(
                session,
                graph_def,
                message_files.names(output_node_names),
                message_files.names(variable_names_whitelist) or None,
                message_files.names(variable_names_blacklist) or None,
            )
    if output_graph:
        filesystem.write_file(output_graph, result.SerializeToString())
    return result


def _restore_by_name(session: Any, checkpoint: Any, version: int) -> None:
    """Restores the tensors whose names are in the checkpoint."""
    graph = session.graph
    operations = graph.get_operations()
    found = {}
    for key in CheckpointReader(checkpoint).get_variable_to_shape_map():
        # What is not in the graph is a step counter, or an optimizer's.
        if _has(graph, key):
            found[key] = graph.get_tensor_by_name(f"{key}:0")
    try:
        saver = Saver(var_list=found, write_version=version)
    except (TypeError, ValueError):
        if any(key in op.name for op in operations for key in found) and any(
            _PARTITION.search(op.name) for op in operations
        ):
            raise ValueError(
                "Models containing partition variables cannot be converted from "
                "checkpoint files. Please pass in a SavedModel using the flag "
                "--input_saved_model_dir."
            ) from None
        if not any(
            op.type.startswith("Variable") or op.type.endswith("VariableOp")
            for op in operations
        ):
            raise ValueError(
                "No variables were found in this model. It is likely the model was "
                "frozen previously. You cannot freeze a graph twice."
            ) from None
        raise
    saver.restore(session, checkpoint)


def _has(graph: Any, name: str) -> bool:
    try:
        graph.get_tensor_by_name(f"{name}:0")
    except KeyError:
        return False
    return True


def freeze_graph(
    input_graph: Any,
    input_saver: Any,
    input_binary: bool,
    input_checkpoint: Any,
    output_node_names: str,
    restore_op_name: Any,
    filename_tensor_name: Any,
    output_graph: Any,
    clear_devices: bool,
    initializer_nodes: str,
    variable_names_whitelist: str = "",
    variable_names_blacklist: str = "",
    input_meta_graph: Any = None,
    input_saved_model_dir: str | None = None,
    saved_model_tags: str = "serve",
    checkpoint_version: int = SaverDef.V2,
) -> Any:
    """`freeze_graph_with_def_protos` of files.

    Args:
      input_graph: file of a GraphDef.
      input_saver: file of a SaverDef; empty for none.
      input_binary: whether the files are binary, not text.
      input_meta_graph: file of a MetaGraphDef, in place of `input_graph`.
      saved_model_tags: which graph of the SavedModel, with commas between the tags.
      The others are as there.

    Raises:
      OSError: there is no such file.
      ValueError: as there.
    """
    graph_def = meta = saver = None
    if input_saved_model_dir:
        graph_def = saved_model_utils.get_meta_graph_def(
            input_saved_model_dir, saved_model_tags
        ).graph_def
    elif input_graph:
        graph_def = message_files.read(input_graph, GraphDef(), input_binary, "graph")
    if input_meta_graph:
        what = "meta graph"
        meta = message_files.read(input_meta_graph, MetaGraphDef(), input_binary, what)
    if input_saver:
        saver = message_files.read(input_saver, SaverDef(), input_binary, "saver")
    return freeze_graph_with_def_protos(
        graph_def,
        saver,
        input_checkpoint,
        output_node_names,
        restore_op_name,
        filename_tensor_name,
        output_graph,
        clear_devices,
        initializer_nodes,
        variable_names_whitelist,
        variable_names_blacklist,
        meta,
        input_saved_model_dir,
        [tag for tag in saved_model_tags.replace(" ", "").split(",") if tag],
        checkpoint_version=checkpoint_version,
    )
