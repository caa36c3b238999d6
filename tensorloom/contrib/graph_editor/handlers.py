"""What becomes of each operation, tensor and collection when a graph is copied."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tensorloom.contrib.graph_editor.control_outputs import ControlOutputs
from tensorloom.contrib.graph_editor.scopes_and_placeholders import (
    get_predefined_collection_names,
    make_placeholder_from_tensor,
)
from tensorloom.framework.export import export

if TYPE_CHECKING:
    from tensorloom.contrib.graph_editor.views import SubGraphView
    from tensorloom.framework.graph.graph import Graph, Operation, Tensor


class TransformState:
    """A copy while it is made: what the handlers get as `info`.

    Names that end in `_` are of the copy, as programs' own handlers read them.
    """

    def __init__(
        self, sgv: SubGraphView, dst_graph: Graph, dst_scope: str, src_scope: str
    ) -> None:
        self.sgv = sgv
        self.sgv_inputs_set = frozenset(sgv.inputs)
        self.ops = frozenset(sgv.ops)
        self.control_outputs = ControlOutputs(sgv.graph)
        self.graph: Graph = sgv.graph
        self.scope = src_scope
        self.graph_ = dst_graph
        self.scope_ = dst_scope
        self.transformed_ops: dict[Operation, Operation] = {}
        self.transformed_ts: dict[Tensor, Tensor] = {}
        self.collections = {
            key: self.graph.get_collection(key)
            for key in self.graph.get_all_collection_keys()
        }
        self.transform_original_op_handler = transform_op_if_inside_handler
        # (tensor, what its reader has instead, its reader): what a loop's operations
        # read before it is copied.
        self.tmp_cyclic_ts: list[tuple[Tensor, Tensor, Operation]] = []

    def new_name(self, name: str) -> str:
        """The name in the copy.

        Raises:
          ValueError: the name is not in the scope that is copied from.
        """
        if not name.startswith(self.scope):
            raise ValueError(f"{name} does not belong to source scope: {self.scope}.")
        return self.scope_ + name[len(self.scope) :]


@export("contrib.graph_editor.replace_t_with_placeholder_handler")
def replace_t_with_placeholder_handler(info: Any, t: Tensor) -> Tensor:
    """A new placeholder for a tensor that is read from outside.

    Args:
      info: the state of the copy.
      t: the tensor.
    """
    with info.graph_.as_default():
        return make_placeholder_from_tensor(t, scope=info.scope_)


@export("contrib.graph_editor.keep_t_if_possible_handler")
def keep_t_if_possible_handler(info: Any, t: Tensor) -> Tensor:
    """The tensor itself, or a placeholder if the copy is in another graph.

    Args:
      info: the state of the copy.
      t: the tensor.
    """
    if info.graph is info.graph_:
        return t
    return replace_t_with_placeholder_handler(info, t)


@export("contrib.graph_editor.assign_renamed_collections_handler")
def assign_renamed_collections_handler(info: Any, elem: Any, elem_: Any) -> None:
    """Puts a copy into the collections that the original is in.

    Collections that `tf.GraphKeys` does not list get the name that is theirs in the
    scope of the copy.

    Args:
      info: the state of the copy.
      elem: the original tensor or operation.
      elem_: its copy.
    """
    known = get_predefined_collection_names()
    for name, members in info.collections.items():
        if any(member is elem for member in members):
            copied = name if name in known else info.new_name(name)
            info.graph_.add_to_collection(copied, elem_)


@export("contrib.graph_editor.transform_op_if_inside_handler")
def transform_op_if_inside_handler(
    info: Any, op: Operation, keep_if_possible: bool = True
) -> Operation | None:
    """The copy of an operation that is copied; else itself, or None.

    Args:
      info: the state of the copy.
      op: the operation.
      keep_if_possible: gives itself if the copy is in the same graph.
    """
    if op in info.sgv.ops:
        copied: Operation = info.transformed_ops[op]
        return copied
    return op if keep_if_possible and info.graph is info.graph_ else None


@export("contrib.graph_editor.copy_op_handler")
def copy_op_handler(
    info: Any,
    op: Operation,
    new_inputs: Any,
    copy_shape: bool = False,
    nodedef_fn: Callable[[Any], Any] | None = None,
) -> tuple[Operation, list[Tensor]]:
    """Copies an operation, without its control inputs.

    Args:
      info: the state of the copy.
      op: the operation.
      new_inputs: the inputs of the copy.
      copy_shape: gives its outputs the shapes that the operation's have, too.
      nodedef_fn: a function from the NodeDef of the copy to the one to be used.

    Returns:
      (the copy, its outputs).

    Raises:
      TypeError: `new_inputs` is a boolean.
    """
    if isinstance(new_inputs, bool):
        raise TypeError("the `new_inputs` argument must be an iterable.")
    graph: Graph = info.graph_
    name = graph.unique_name(info.new_name(op.name), mark_as_used=False)
    kind, attrs, device = op.type, dict(op.attrs), op.device
    if nodedef_fn is not None:
        node = op.node_def
        node.name = name
        node = nodedef_fn(node)
        name, kind, attrs, device = node.name, node.op, dict(node.attr), node.device
    for function in info.graph.functions.values():
        graph.add_function(function)
    # The copy is made as it is: no scope of the program that is open counts.
    with graph.as_default(), graph.control_dependencies(None), graph.device(None):
        copied = graph.create_op(kind, list(new_inputs), name=f"{name}/", attrs=attrs)
    copied._set_device(device)
    if copy_shape:
        for tensor, tensor_ in zip(op.outputs, copied.outputs, strict=True):
            tensor_.set_shape(tensor.get_shape())
    copied._original_op = op._original_op
    return copied, copied.outputs
