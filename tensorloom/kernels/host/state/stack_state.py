"""Stacks of one step."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import host_kernel
from tensorloom.framework.runtime.resource import Resource
from tensorloom.framework.types import dtypes
from tensorloom.kernels.torch.state.variable_value import to_host

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.types.dtypes import DType

_next_stack = itertools.count()


class Stack(Resource):
    """A list of values that belongs to the step that made it."""

    def __init__(self, name: str, elem_type: DType, max_size: int) -> None:
        super().__init__("", name)
        self.elem_type = elem_type
        self.max_size = max_size  # negative: without limit
        self.elements: list[Any] = []
        self.closed = False

    def push(self, element: Any) -> None:
        """Adds an element.

        Raises:
          errors.InvalidArgumentError: the stack is closed or full.
        """
        if self.closed:
            raise self._error("has already been closed.")
        if 0 <= self.max_size <= len(self.elements):
            raise self._error(f"overflowed its max_size ({self.max_size})")
        self.elements.append(element)

    def pop(self) -> Any:
        """Takes the last element.

        Raises:
          errors.InvalidArgumentError: the stack is closed or empty.
        """
        if self.closed:
            raise self._error("has already been closed.")
        if not self.elements:
            raise self._error("is empty when calling Pop().")
        return self.elements.pop()

    def _error(self, text: str) -> errors.InvalidArgumentError:
        return errors.InvalidArgumentError(None, None, f"Stack[{self.name}] {text}")

    def close(self) -> None:
        """Drops the elements."""
        self.closed = True
        self.elements.clear()


def elements_as_list(stack: Stack, dtype: DType) -> list[Any] | None:
    """The elements of a stack as a Python list, to push and pop values of `dtype`.

    Returns:
      The list, valid until the stack is closed; None where pushes and pops need checks
      that only the kernel makes.
    """
    if stack.closed or stack.max_size >= 0:
        return None
    return stack.elements if stack.elem_type.base_dtype == dtype.base_dtype else None


@host_kernel(["Stack", "StackV2"], large=True)
def stack(c: OpKernelConstruction) -> Compute:
    """A new stack in each step."""
    elem_type = c["elem_type"]
    base = (c["stack_name"] or b"").decode() or c.node_name

    def compute(max_size: Any = -1) -> Stack:
        return Stack(f"{base}_{next(_next_stack)}", elem_type, int(max_size))

    return compute


@host_kernel(
    ["StackPush", "StackPushV2"], any_inputs=("elem",), retains=("elem",), aliases=True
)
def push(c: OpKernelConstruction) -> Compute:
    """Pushes a value and passes it on."""
    dtype = c["T"].base_dtype
    is_handle = dtype in (dtypes.resource, dtypes.variant)

    def compute(handle: Stack, elem: Any) -> Any:
        if handle.elem_type.base_dtype != dtype:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Must have type {handle.elem_type.name} but got {dtype.name}",
            )
        handle.push(elem)
        return elem if is_handle else to_host(elem)

    return compute


@host_kernel(["StackPop", "StackPopV2"], aliases=True)
def pop(c: OpKernelConstruction) -> Compute:
    """Takes the value that was pushed last."""
    if c["elem_type"] in (dtypes.resource, dtypes.variant):
        return lambda handle: handle.pop()
    return lambda handle: to_host(handle.pop())


@host_kernel(["StackClose", "StackCloseV2"], large=True)
def close(c: OpKernelConstruction) -> Compute:
    """Ends the stack."""
    return lambda handle: handle.close()
