"""Control flow contexts as `CondContextDef` and `WhileContextDef`, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from tensorloom.client.importing.scoped_names import prepend_scope, strip_scope
from tensorloom.framework.functions.classic_op_types import ENTERS
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.registry import late_modules

if TYPE_CHECKING:
    from tensorloom.client.control_flow.cond_context import CondContext
    from tensorloom.client.control_flow.control_flow_context import ControlFlowContext
    from tensorloom.client.control_flow.while_context import WhileContext

_Context = TypeVar("_Context")

# The classes by the field of a `ControlFlowContextDef` that has their message.
_CLASSES: dict[str, Any] = {}


def register_context(field: str) -> Callable[[type[_Context]], type[_Context]]:
    """Decorator: the class of the contexts in this field of a `ControlFlowContextDef`.

    Contexts are inside each other in any order, so each class finds the other here.
    """

    def register(context_class: type[_Context]) -> type[_Context]:
        _CLASSES[field] = context_class
        return context_class

    return register


def from_proto(field: str, proto: Any, import_scope: str | None = None) -> Any:
    """The context that a message of this field tells of, and those inside.

    Raises:
      KeyError: the graph does not have one of the names.
      ValueError: one of them is an operation's.
    """
    if field not in _CLASSES:
        late_modules.load("control flow context", field)
    return _CLASSES[field].from_proto(proto, import_scope)


# --- to protos ----------------------------------------------------------------------


def to_proto(context: ControlFlowContext, export_scope: str | None = None) -> Any:
    """The context as a message; None if it is not under the scope.

    Raises:
      TypeError: there is no message for the kind of context.
    """
    if export_scope is not None and not context.name.startswith(export_scope):
        return None
    kind: Any = context
    if kind.IsCondContext():
        return _cond_to_proto(kind, export_scope)
    if kind.IsWhileContext():
        return _while_to_proto(kind, export_scope)
    raise TypeError(f"{type(context).__name__} has no message")


def _cond_to_proto(context: CondContext, scope: str | None) -> Any:
    from tensorloom.protos import control_flow_pb2

    result = control_flow_pb2.CondContextDef()
    result.context_name = strip_scope(context.name, scope)
    result.pred_name = strip_scope(context.pred.name, scope)
    result.pivot_name = strip_scope(context.pivot.name, scope)
    result.branch = context.branch
    _add_common(result, context, scope)
    return result


def _while_to_proto(context: WhileContext, scope: str | None) -> Any:
    from tensorloom.protos import control_flow_pb2

    def names(tensors: list[Tensor]) -> list[str]:
        return [strip_scope(tensor.name, scope) for tensor in tensors]

    result = control_flow_pb2.WhileContextDef()
    result.context_name = strip_scope(context.name, scope)
    result.parallel_iterations = context.parallel_iterations
    if context.maximum_iterations is not None:
        result.maximum_iterations_name = strip_scope(
            context.maximum_iterations.name, scope
        )
    result.back_prop = context.back_prop
    result.swap_memory = context.swap_memory
    pivots: list[Any] = [
        context._pivot_for_pred,
        context._pivot_for_body,
        context.pivot,
    ]
    (
        result.pivot_for_pred_name,
        result.pivot_for_body_name,
        result.pivot_name,
    ) = names(pivots)
    result.loop_exit_names.extend(names(context.loop_exits))
    result.loop_enter_names.extend(names(context.loop_enters))
    _add_common(result, context, scope)
    return result


def _add_common(proto: Any, context: ControlFlowContext, scope: str | None) -> None:
    values = proto.values_def
    values.values.extend(strip_scope(name, scope) for name in sorted(context._values))
    for name, tensor in context._external_values.items():
        values.external_values[strip_scope(name, scope)] = strip_scope(
            tensor.name, scope
        )
    for inner in context._nested_contexts:
        # TensorFlow does not take the scope off in here, and then misses the names.
        message = to_proto(inner, scope)
        if message is not None:
            nested = proto.nested_contexts.add()
            kind = nested.cond_ctxt if inner.IsCondContext() else nested.while_ctxt
            kind.CopyFrom(message)


# --- from protos --------------------------------------------------------------------


def cond_from_proto(
    context_class: type[CondContext], proto: Any, import_scope: str | None
) -> CondContext:
    """The branch that a `CondContextDef` tells of, and those inside.

    Raises:
      KeyError: the graph does not have one of the names.
      ValueError: one of them is an operation's.
    """
    names = _Names(import_scope)
    context = context_class(
        names.tensor(proto.pred_name),
        names.tensor(proto.pivot_name),
        proto.branch,
        names.full(proto.context_name),
        *names.values(proto.values_def),
    )
    _adopt(context)
    _add_nested(context, proto, import_scope)
    return context


def while_from_proto(
    context_class: type[WhileContext], proto: Any, import_scope: str | None
) -> WhileContext:
    """The loop that a `WhileContextDef` tells of, and what is inside.

    Raises:
      KeyError: the graph does not have one of the names.
      ValueError: one of them is an operation's.
    """
    names = _Names(import_scope)
    maximum = proto.maximum_iterations_name
    values, external = names.values(proto.values_def)
    context = context_class(
        names.tensor(maximum) if maximum else None,
        proto.parallel_iterations,
        proto.back_prop,
        proto.swap_memory,
        names.full(proto.context_name),
        values=values,
        external_values=external,
    )
    context.complete(
        [
            names.tensor(proto.pivot_for_pred_name),
            names.tensor(proto.pivot_name),
            names.tensor(proto.pivot_for_body_name),
        ],
        [names.tensor(name) for name in proto.loop_exit_names],
        [names.tensor(name) for name in proto.loop_enter_names],
    )
    _adopt(context)
    if import_scope:
        _rename_frame(context)
    _add_nested(context, proto, import_scope)
    return context


class _Names:
    """Names of a message in the default graph."""

    def __init__(self, scope: str | None) -> None:
        self._scope = scope
        self._graph: Any = get_default_graph()

    def full(self, name: str) -> str:
        return prepend_scope(name, self._scope)

    def tensor(self, name: str) -> Tensor:
        tensor: Tensor = self._graph.as_graph_element(self.full(name))
        if not isinstance(tensor, Tensor):
            raise ValueError(f"A context names an operation, not a tensor: '{name}'")
        return tensor

    def values(self, proto: Any) -> tuple[set[str], dict[str, Tensor]]:
        external = {
            self.full(name): self.tensor(inside)
            for name, inside in proto.external_values.items()
        }
        return {self.full(name) for name in proto.values}, external


def _adopt(context: ControlFlowContext) -> None:
    """Says to the ops of a context that they are in it."""
    graph = context.graph
    for name in context._values - context._external_values.keys():
        graph.as_graph_element(name.partition(":")[0])._set_control_flow_context(
            context
        )


def _rename_frame(context: WhileContext) -> None:
    """Under a scope the loop has another name, and so has its frame."""
    for name in context._values:
        op = context.graph.as_graph_element(name).op
        if op.type in ENTERS:
            op._set_attr("frame_name", context.name.encode())


def _add_nested(context: ControlFlowContext, proto: Any, scope: str | None) -> None:
    context.Enter()
    for nested in proto.nested_contexts:
        field = nested.WhichOneof("ctxt")
        if field is None:
            raise ValueError(f"{context.name} has a nested context of no kind")
        from_proto(field, getattr(nested, field), scope)
    context.Exit()
