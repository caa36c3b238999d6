"""Copies of parts of a graph, into the same or another one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.contrib.graph_editor.control_outputs import ControlOutputs
from tensorloom.contrib.graph_editor.element_lists import (
    flatten_tree,
    get_unique_graph,
    transform_tree,
)
from tensorloom.contrib.graph_editor.handlers import (
    TransformState,
    assign_renamed_collections_handler,
    copy_op_handler,
    keep_t_if_possible_handler,
    replace_t_with_placeholder_handler,
    transform_op_if_inside_handler,
)
from tensorloom.contrib.graph_editor.rerouting import add_control_inputs
from tensorloom.contrib.graph_editor.scopes_and_placeholders import (
    make_placeholder_from_tensor,
    scope_finalize,
)
from tensorloom.contrib.graph_editor.views import SubGraphView, make_view
from tensorloom.contrib.graph_editor.walks import get_walks_intersection_ops
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Graph, Operation, Tensor

Missing = Callable[[Any], Any]


@export("contrib.graph_editor.TransformerInfo")
class TransformerInfo:
    """What became of the operations and tensors that were copied."""

    def __init__(self, info: Any) -> None:
        """Keeps it from the state of the finished copy."""
        self._graph = info.graph
        self._scope = info.scope
        self._graph_ = info.graph_
        self._scope_ = info.scope_
        self._transformed_ops = info.transformed_ops
        self._transformed_ts = info.transformed_ts

    def _map_of(self, top: Any) -> dict[Any, Any]:
        if isinstance(top, Operation):
            return self._transformed_ops  # type: ignore[no-any-return]
        if isinstance(top, Tensor):
            return self._transformed_ts  # type: ignore[no-any-return]
        raise TypeError(f"Expected a tf.Tensor or a tf.Operation, got a {type(top)}")

    def transformed(self, original: Any, missing_fn: Missing | None = None) -> Any:
        """The copies of an operation or tensor, or of all in a nested structure.

        Args:
          original: the operations and tensors.
          missing_fn: gives what stands for those that were not copied; None does when
            it is None.

        Raises:
          TypeError: a leaf is neither an operation nor a tensor.
        """

        def find(top: Any) -> Any:
            found = self._map_of(top).get(top)
            return missing_fn(top) if found is None and missing_fn else found

        return transform_tree(original, find)

    def original(self, transformed: Any, missing_fn: Missing | None = None) -> Any:
        """What operations or tensors are copies of; the opposite of `transformed`.

        Args:
          transformed: the copies.
          missing_fn: gives what stands for those that are no copies.

        Raises:
          TypeError: a leaf is neither an operation nor a tensor.
        """

        def find(top: Any) -> Any:
            for original, copied in self._map_of(top).items():
                if copied is top:
                    return original
            return missing_fn(top) if missing_fn else None

        return transform_tree(transformed, find)

    def __str__(self) -> str:
        lines = ["Transform result info:"]
        if self._graph is self._graph_:
            in_place = "" if self._scope_ else " IN-PLACE"
            lines.append(f"  Within graph[{id(self._graph)}]{in_place}")
        else:
            lines.append(f"  graph[{id(self._graph)}] => graph[{id(self._graph_)}]")
        if self._scope:
            lines.append(f"  Relative to source scope: {self._scope}")
        if self._scope_:
            lines.append(f"  Scope destination: {self._scope_}")
        lines.append("Operations mapping:")
        pairs = self._transformed_ops.items()
        lines += [f"  {op.name} => {copied.name}" for op, copied in pairs]
        return "\n".join(lines) + "\n"


def _graph(value: Any) -> None:
    if not isinstance(value, Graph):
        raise TypeError(f"Expected a tf.Graph, got: {type(value)}")


@export("contrib.graph_editor.Transformer")
class Transformer:
    """Copies a part of a graph; its handlers, which can be set, say how.

    `transform_op_handler(info, op, new_inputs)` copies an operation;
    `assign_collections_handler(info, elem, elem_)` puts copies into collections;
    `transform_external_input_handler(info, t)` gives what stands for an input, and
    `transform_external_hidden_input_handler(info, t)` for an input that the view does
    not list; `transform_control_input_handler(info, op)` and
    `transform_original_op_handler(info, op)` give the operation for a control input
    and for what an operation was made for, or None.
    """

    def __init__(self) -> None:
        """Makes one that copies, with placeholders as inputs."""
        self.transform_op_handler: Callable[..., Any] = copy_op_handler
        self.transform_control_input_handler: Callable[..., Any] = (
            transform_op_if_inside_handler
        )
        self.assign_collections_handler: Callable[..., Any] = (
            assign_renamed_collections_handler
        )
        self.transform_external_input_handler: Callable[..., Any] = (
            replace_t_with_placeholder_handler
        )
        self.transform_external_hidden_input_handler: Callable[..., Any] = (
            keep_t_if_possible_handler
        )
        self.transform_original_op_handler: Callable[..., Any] = (
            transform_op_if_inside_handler
        )

    def __call__(
        self,
        sgv: Any,
        dst_graph: Graph,
        dst_scope: str,
        src_scope: str = "",
        reuse_dst_scope: bool = False,
    ) -> tuple[SubGraphView, TransformerInfo]:
        """Makes the copy.

        Args:
          sgv: what `make_view` takes.
          dst_graph: where the copy is to be.
          dst_scope: the scope that it is to be in.
          src_scope: a scope that is taken from the front of all names first.
          reuse_dst_scope: takes `dst_scope` as it is, even if it is there already.

        Returns:
          (a view of the copy, what became of what).

        Raises:
          TypeError: `dst_graph` is no graph.
          ValueError: an operation is not in `src_scope`.
        """
        view = make_view(sgv)
        _graph(dst_graph)
        dst_scope = scope_finalize(dst_scope)
        if dst_scope and not reuse_dst_scope:
            dst_scope = scope_finalize(dst_graph.unique_name(dst_scope[:-1]))
        state = TransformState(view, dst_graph, dst_scope, scope_finalize(src_scope))
        self._copy_ops(state)
        _close_cycles(state)
        self._add_control_inputs(state)
        return _copied_view(state), TransformerInfo(state)

    def _copy_ops(self, state: TransformState) -> None:
        for op in sorted(state.sgv.ops, key=lambda op: op._id):
            inputs = [self._input(state, tensor, op) for tensor in op.inputs]
            copied, outputs = self.transform_op_handler(state, op, inputs)
            if copied is op:
                raise ValueError("In-place transformation not allowed.")
            state.transformed_ops[op] = copied
            self.assign_collections_handler(state, op, copied)
            # A handler may make another kind of operation, of fewer outputs.
            for tensor, made in zip(op.outputs, outputs, strict=False):
                state.transformed_ts[tensor] = made
                self.assign_collections_handler(state, tensor, made)

    def _input(self, state: TransformState, tensor: Tensor, reader: Operation) -> Any:
        """What the copy of an operation reads in place of a tensor."""
        if tensor in state.transformed_ts:
            return state.transformed_ts[tensor]
        if tensor in state.sgv_inputs_set:
            return self.transform_external_input_handler(state, tensor)
        if tensor.op not in state.ops:
            return self.transform_external_hidden_input_handler(state, tensor)
        # It is copied later: the edge closes a loop.
        if reader.type == "Merge":
            stand_in = self._input(state, reader.inputs[0], reader)
        elif tensor.op.type == "Enter":
            stand_in = self._input(state, tensor.op.inputs[0], reader)
        else:
            with state.graph_.as_default():
                stand_in = make_placeholder_from_tensor(
                    tensor, scope=state.scope_, prefix="geph_tmp"
                )
        state.tmp_cyclic_ts.append((tensor, stand_in, reader))
        return stand_in

    def _add_control_inputs(self, state: TransformState) -> None:
        for op in state.sgv.ops:
            copied = state.transformed_ops[op]
            if op._original_op is not None:
                original = self.transform_original_op_handler(state, op._original_op)
                if original is not None:
                    copied._original_op = original
            sources = [
                self.transform_control_input_handler(state, source)
                for source in op.control_inputs
            ]
            add_control_inputs(copied, [s for s in sources if s is not None])


def _close_cycles(state: TransformState) -> None:
    for tensor, stand_in, reader in state.tmp_cyclic_ts:
        copied = state.transformed_ops[reader]
        index = list(copied.inputs).index(stand_in)
        copied._update_input(index, state.transformed_ts[tensor])


def _copied_view(state: TransformState) -> SubGraphView:
    """The view of the copies, inputs and outputs in the order of the originals."""
    view = SubGraphView(list(state.transformed_ops.values()))
    ends = []
    for tensors, found in (
        (state.sgv.inputs, list(view.inputs)),
        (state.sgv.outputs, list(view.outputs)),
    ):
        copies = [state.transformed_ts.get(tensor) for tensor in tensors]
        ends.append([found.index(c) for c in copies if c is not None and c in found])
    return view.remap(*ends)


@export("contrib.graph_editor.copy")
def copy(
    sgv: Any,
    dst_graph: Graph | None = None,
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:
    """Copies a part of a graph, with placeholders as its inputs.

    Args:
      sgv: what `make_view` takes.
      dst_graph: where the copy is to be; the same graph when None.
      dst_scope, src_scope, reuse_dst_scope: see `Transformer.__call__`.

    Returns:
      (a view of the copy, what became of what).

    Raises:
      TypeError: `dst_graph` is no graph.
    """
    return copy_with_input_replacements(
        sgv, None, dst_graph, dst_scope, src_scope, reuse_dst_scope
    )


@export("contrib.graph_editor.copy_with_input_replacements")
def copy_with_input_replacements(
    sgv: Any,
    replacement_ts: Any,
    dst_graph: Graph | None = None,
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> tuple[SubGraphView, TransformerInfo]:
    """Copies a part of a graph with other inputs.

    Args:
      sgv: what `make_view` takes.
      replacement_ts: a dict of inputs to the tensors that replace them; other inputs
        are kept, where the copy is in the same graph. None: placeholders.
      dst_graph: where the copy is to be; the same graph when None.
      dst_scope, src_scope, reuse_dst_scope: see `Transformer.__call__`.

    Returns:
      (a view of the copy, what became of what).

    Raises:
      TypeError: `dst_graph` is no graph.
    """
    view = make_view(sgv)
    dst_graph = view.graph if dst_graph is None else dst_graph
    _graph(dst_graph)

    def replaced(info: Any, tensor: Tensor) -> Any:
        if tensor in replacement_ts:
            return replacement_ts[tensor]
        return keep_t_if_possible_handler(info, tensor)

    copier = Transformer()
    if replacement_ts is not None:
        copier.transform_external_input_handler = replaced
    return copier(view, dst_graph, dst_scope, src_scope, reuse_dst_scope)


def _with_whole_loops(ops: list[Operation], controls: ControlOutputs) -> list[Any]:
    """The operations, and what else is in the classic loops that they are in."""
    contexts = dict.fromkeys(op._control_flow_context for op in ops)
    found = dict.fromkeys(ops)
    for context in contexts:
        if context is not None and context.IsWhileContext():
            inside = get_walks_intersection_ops(
                [tensor.op for tensor in context.loop_enters],
                [tensor.op for tensor in context.loop_exits],
                control_ios=controls,
            )
            found.update(dict.fromkeys(inside))
    return list(found)


@export("contrib.graph_editor.graph_replace")
def graph_replace(
    target_ts: Any,
    replacement_ts: Any,
    dst_scope: str = "",
    src_scope: str = "",
    reuse_dst_scope: bool = False,
) -> Any:
    """Tensors computed anew, from others than those that they depend on.

    What lies between is copied.

    Args:
      target_ts: a tensor, or a nested structure of tensors.
      replacement_ts: a dict of tensors to those that replace them.
      dst_scope, src_scope, reuse_dst_scope: see `Transformer.__call__`.

    Returns:
      What stands for `target_ts`, in the same structure; those that do not depend on
      what is replaced are as they were.

    Raises:
      ValueError: no target depends on what is replaced.
    """
    targets = flatten_tree(target_ts)
    graph: Any = get_unique_graph(targets, check_types=Tensor)
    controls = ControlOutputs(graph)
    ops = get_walks_intersection_ops(
        list(replacement_ts), targets, control_ios=controls
    )
    if not ops:
        raise ValueError("Targets and replacements are not connected!")
    _, info = copy_with_input_replacements(
        _with_whole_loops(ops, controls),
        replacement_ts,
        None,
        dst_scope,
        src_scope,
        reuse_dst_scope,
    )
    return info.transformed(target_ts, lambda tensor: tensor)
