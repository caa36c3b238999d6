"""Initial values that depend on other variables.

`tf.Variable(other * 2)` reads `other` before anything says that it is initialized; so
the initializer gets a copy of the value's ops in which each variable is replaced by
its `initialized_value()`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.graph.graph import GraphKeys, Tensor

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation

_VARIABLE_OPS = frozenset(["Variable", "VariableV2", "VarHandleOp"])
# What reads the state of a variable on purpose is left alone.
_KEPT_OPS = frozenset(
    ["IsVariableInitialized", "VarIsInitializedOp", "ReadVariableOp", "If"]
)


def guard_initial_value(scope: str, initial_value: Any) -> Tensor:
    """`initial_value`, rebuilt where it reads variables that may be uninitialized.

    Args:
      scope: the name scope of the variable that is being made, with its `/`.

    Raises:
      TypeError: it is not a Tensor.
    """
    if not isinstance(initial_value, Tensor):
        raise TypeError(f"initial_value needs to be a Tensor: {initial_value}")
    order = _ancestors(initial_value.op)
    if order is None:
        return initial_value
    _count_copies(order)
    if not any(op.type in _VARIABLE_OPS for op in order):
        return initial_value
    rebuilt: dict[Operation, Operation] = {}
    for op in order:
        rebuilt[op] = _safe_op(scope, op, rebuilt)
    return rebuilt[initial_value.op].outputs[initial_value.value_index]


# What TensorFlow makes for `initialized_value()`, with which it replaces the variable
# in its branch: IsVariableInitialized; Switch, switch_t, switch_f, pred_id; RefSwitch
# and Identity of one branch, Switch of the other, and Merge.
_INITIALIZED_VALUE = 9
# What it copies of the branches that it came from: Switch, Identity and Merge.
_BRANCH_COPIES = 3


def _count_copies(order: list[Operation]) -> None:
    """Counts what TensorFlow copies where a value is some `initialized_value()`."""
    copied: set[Operation] = set()
    nodes = 0
    for op in order:
        if op.__dict__.get("_is_initialized_value"):
            nodes += _INITIALIZED_VALUE + _BRANCH_COPIES
        elif op.type in _KEPT_OPS or not any(t.op in copied for t in op.inputs):
            continue
        elif not _is_result(op):
            nodes += 1
        copied.add(op)
    if nodes:
        order[0].graph._node_count.value += nodes


def _is_result(op: Operation) -> bool:
    """Whether it is the `Identity` behind an `If`, which TensorFlow does not make."""
    return op.type == "Identity" and op.inputs[0].op.type == "If"


def _ancestors(root: Operation) -> list[Operation] | None:
    """What `root` computes from, producers first; None when there is a cycle."""
    order: list[Operation] = []
    done: set[Operation] = set()
    open_ops = {root}
    stack = [(root, iter(_predecessors(root)))]
    while stack:
        op, predecessors = stack[-1]
        for other in predecessors:
            if other in open_ops:
                return None
            if other not in done:
                open_ops.add(other)
                stack.append((other, iter(_predecessors(other))))
                break
        else:
            stack.pop()
            open_ops.discard(op)
            done.add(op)
            order.append(op)
    return order


def _predecessors(op: Operation) -> list[Operation]:
    if op.type in _KEPT_OPS or op.type in _VARIABLE_OPS:
        return []
    return [t.op for t in op.inputs]


def _safe_op(
    scope: str, op: Operation, rebuilt: dict[Operation, Operation]
) -> Operation:
    if op.type in _KEPT_OPS:
        return op
    if op.type in _VARIABLE_OPS:
        value = _initialized_value(op)
        return op if value is None else value.op
    if not any(_is_changed(t.op, rebuilt) for t in op.inputs):
        return op
    inputs = [rebuilt.get(t.op, t.op).outputs[t.value_index] for t in op.inputs]
    return op.graph.create_op(
        "Switch" if op.type == "RefSwitch" else op.type,
        inputs,
        [t.dtype for t in op.outputs],
        name=f"{op.name}_{scope}".replace(":", "_"),
        attrs=op.attrs,
    )


def _is_changed(op: Operation, rebuilt: dict[Operation, Operation]) -> bool:
    return rebuilt.get(op, op) is not op


def _initialized_value(variable_op: Operation) -> Tensor | None:
    """`initialized_value()` of the variable that an op makes, if it is known."""
    names = (variable_op.name, f"{variable_op.name}:0")
    graph = variable_op.graph
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        for variable in graph.get_collection(key):
            if getattr(variable, "name", None) in names:
                value: Tensor = variable.initialized_value()
                return value
    return None
