"""Variables that a SavedModel's signatures read and its restoring function leaves out.

Keras 3 hands its variables to `tf.saved_model.save` inside objects of its own, and the
graph that TensorFlow 2 then writes has two handles for each: one that the functions for
saving and restoring know, and one that the signatures read and nothing sets. TensorFlow
2 loads the objects and not the graph, so it does not notice. Which object stands behind
a handle is in the message: beside each function are the objects that its last inputs
come from. The checkpoint numbers them in the same way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.client.importing.scoped_names import prepend_scope
from tensorloom.framework import errors
from tensorloom.framework.functions.functional_op_types import CALLS
from tensorloom.framework.graph.graph import device
from tensorloom.framework.graph.node_def import parse_input
from tensorloom.ops.state.resource_variable import assign_variable_op
from tensorloom.train.checkpoints.saver_builder import restore_v2
from tensorloom.train.checkpoints.saver_object_graph import object_graph

if TYPE_CHECKING:
    from collections.abc import Iterator

_VALUE: Final = "VARIABLE_VALUE"


def restore_left_out(
    sess: Any, meta_graph_def: Any, prefix: str, import_scope: str | None = None
) -> None:
    """Gives the variables that signatures read, and nothing restores, their values.

    Models of TensorFlow 1, and those of TensorFlow 2 that have no such variables, stay
    as they are.

    Args:
      sess: has the graph of the MetaGraph.
      meta_graph_def: of a SavedModel.
      prefix: its checkpoint.
      import_scope: stands before the names of the graph.

    Raises:
      errors.InvalidArgumentError, errors.DataLossError: the checkpoint holds something
        else under the key, or is damaged.
    """
    left_out = dict(_left_out(meta_graph_def))
    if not left_out:
        return
    keys = _keys(prefix, meta_graph_def.object_graph_def)
    # Only a CPU reads files.
    with device("/cpu:0"):
        assignments = [
            _assignment(
                sess.graph.get_tensor_by_name(prepend_scope(name, import_scope) + ":0"),
                prefix,
                keys[number],
            )
            for name, number in left_out.items()
            if number in keys
        ]
    if assignments:
        sess.run(assignments)


def _left_out(meta_graph_def: Any) -> Iterator[tuple[str, int]]:
    """Names of handles that are not restored, and the objects that they stand for."""
    objects = meta_graph_def.object_graph_def
    nodes = {node.name: node for node in meta_graph_def.graph_def.node}
    restoring = nodes.get(meta_graph_def.saver_def.restore_op_name)
    if restoring is None or restoring.op not in CALLS:
        return
    restored = {parse_input(text)[0] for text in restoring.input}
    for node in nodes.values():
        if node.op not in CALLS:
            continue
        name = node.attr["f"].func.name
        if name not in objects.concrete_functions:
            continue
        numbers = objects.concrete_functions[name].bound_inputs
        inputs = [i for i, output in map(parse_input, node.input) if output >= 0]
        for source, number in zip(reversed(inputs), reversed(numbers), strict=False):
            if (
                source not in restored
                and source in nodes
                and nodes[source].op == "VarHandleOp"
                and 0 <= number < len(objects.nodes)
                and objects.nodes[number].HasField("variable")
            ):
                yield source, number


def _keys(prefix: str, objects: Any) -> dict[int, str]:
    """The keys of variables in the checkpoint, by the numbers of the objects."""
    try:
        saved = object_graph(prefix)
    except errors.NotFoundError:
        return {}
    return {
        number: attribute.checkpoint_key
        for number, (known, node) in enumerate(
            zip(objects.nodes, saved.nodes, strict=False)
        )
        for attribute in node.attributes
        # The name tells whether the numbers are those of the same objects.
        if attribute.name == _VALUE and attribute.full_name == known.variable.name
    }


def _assignment(handle: Any, prefix: str, key: str) -> Any:
    value = restore_v2(prefix, [key], [""], [handle.op.get_attr("dtype")])[0]
    with device(handle.device):
        return assign_variable_op(handle, value)
