"""Classic control flow by its operations: which are a loop's, which a branch's."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.functions.classic_op_types import (
    ENTERS,
    EXITS,
    MERGES,
    SWITCHES,
)
from tensorloom.framework.graph.tensor import Tensor, is_tensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.control_flow import classic


def _context(op: Any) -> Any:
    return op._get_control_flow_context()


def IsSwitch(op: Any) -> bool:
    """Whether the operation is a Switch."""
    return op.type in SWITCHES


def IsMerge(op: Any) -> bool:
    """Whether the operation is a Merge."""
    return op.type in MERGES


def IsLoopEnter(op: Any) -> bool:
    """Whether the operation is an Enter."""
    return op.type in ENTERS


def IsLoopExit(op: Any) -> bool:
    """Whether the operation is an Exit."""
    return op.type in EXITS


def IsCondSwitch(op: Any) -> bool:
    """Whether the operation is a Switch of a conditional.

    It is outside of the branches, so that those who use it tell.
    """
    if not IsSwitch(op) or not op.outputs:
        return False
    users = [user for output in op.outputs for user in output.consumers()]
    return all(_is_branch(_context_before(user)) for user in users)


def _context_before(op: Any) -> Any:
    """The context of what an operation reads."""
    context = _context(op)
    return context.outer_context if IsLoopEnter(op) and context else context


def _is_branch(context: Any) -> bool:
    return context is not None and bool(context.IsCondContext())


def IsCondMerge(op: Any) -> bool:
    """Whether the operation is a Merge of a conditional."""
    if not IsMerge(op) or not op.inputs:
        return False
    return all(_is_branch(GetOutputContext(each.op)) for each in op.inputs)


def _is_in_loop(op: Any) -> bool:
    context = _context(op)
    return context is not None and bool(context.IsWhileContext())


def IsLoopSwitch(op: Any) -> bool:
    """Whether the operation is a Switch of a loop."""
    return IsSwitch(op) and _is_in_loop(op) and not IsCondSwitch(op)


def IsLoopMerge(op: Any) -> bool:
    """Whether the operation is a Merge of a loop."""
    return IsMerge(op) and _is_in_loop(op) and not IsCondMerge(op)


def IsLoopConstantEnter(op: Any) -> bool:
    """Whether the operation brings in what all iterations of a loop share."""
    return IsLoopEnter(op) and bool(op.get_attr("is_constant"))


def GetLoopConstantEnter(value: Any) -> Any:
    """The Enter that brings in a value which all iterations share; None for others."""
    passing = {"Enter", "RefEnter", "Switch", "RefSwitch", "Identity", "RefIdentity"}
    op = value.op
    while op.type in passing and not IsLoopEnter(op):
        op = op.inputs[0].op
    return op if IsLoopConstantEnter(op) else None


def GetOutputContext(op: Any) -> Any:
    """The context of an operation's results, which for an Exit is outside."""
    context = _context(op)
    return context.outer_context if context is not None and IsLoopExit(op) else context


def GetContainingWhileContext(ctxt: Any, stop_ctxt: Any = None) -> Any:
    """The innermost loop around a context, itself included; None if there is none.

    Args:
      stop_ctxt: where the search ends, without a loop.
    """
    while ctxt and ctxt is not stop_ctxt:
        if ctxt.IsWhileContext():
            return ctxt
        ctxt = ctxt.outer_context
    return None


def GetContainingCondContext(ctxt: Any) -> Any:
    """The innermost branch around a context, itself included; None if there is none."""
    while ctxt:
        if ctxt.IsCondContext():
            return ctxt
        ctxt = ctxt.outer_context
    return None


def IsContainingContext(ctxt: Any, maybe_containing_ctxt: Any) -> bool:
    """Whether a context is inside of another one, or is it."""
    while ctxt is not maybe_containing_ctxt:
        if ctxt is None:
            return False
        ctxt = ctxt.outer_context
    return True


def OpInContext(op: Any, ctxt: Any) -> bool:
    """Whether an operation is inside of a context."""
    return IsContainingContext(_context(op), ctxt)


def TensorInContext(tensor: Any, ctxt: Any) -> bool:
    """Whether a tensor is made inside of a context."""
    return OpInContext(tensor.op, ctxt)


def GetWhileContext(op: Any) -> Any:
    """The innermost loop around an operation; None if there is none."""
    return GetContainingWhileContext(_context(op))


def IsInCond(op: Any) -> bool:
    """Whether the operation is in a branch of classic control flow."""
    return GetContainingCondContext(_context(op)) is not None


def IsInWhileLoop(op: Any) -> bool:
    """Whether the operation is in a loop of classic control flow."""
    return GetWhileContext(op) is not None


def enter(
    data: Any,
    frame_name: str,
    is_constant: bool = False,
    parallel_iterations: int = 10,
    use_ref: bool = True,
    use_input_shape: bool = True,
    name: str | None = None,
) -> Any:
    """`data` in the frame of that name.

    Args:
      use_ref: whether a variable goes in as a reference.
    """
    return classic.enter(
        _as_reference(data, use_ref),
        frame_name,
        is_constant,
        parallel_iterations,
        use_input_shape,
        name,
    )


def exit(data: Any, name: str | None = None) -> Any:
    """`data` outside of its frame."""
    return classic.leave(_as_reference(data), name)


def identity(data: Any, name: str | None = None) -> Any:
    """An Identity of a tensor, a RefIdentity of a reference."""
    return classic.identity_of(_as_reference(data))


def _as_reference(data: Any, use_ref: bool = True) -> Any:
    """The reference of a variable, or its value; a number as a tensor."""
    if hasattr(data, "_ref") and not isinstance(data, Tensor):
        return data._ref() if use_ref else data.value()
    return data if is_tensor(data) else convert_to_tensor(data)
