"""Operations: what they read, who reads them, and their message."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tensorloom.framework.errors import InvalidArgumentError
from tensorloom.framework.registry.op_registry import arg_types

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor
    from tensorloom.framework.registry.op_registry import ArgDef


def num_inputs(op: Operation) -> int:
    """How many data inputs there are."""
    return len(op.inputs)


def input_of(op: Operation, index: int) -> Tensor | None:
    """The tensor that an input reads; None if there is no such input."""
    return op.inputs[index] if 0 <= index < len(op.inputs) else None


def input_type(op: Operation, index: int) -> int:
    """The number of the dtype that an input takes; 0 if there is no such input."""
    types = op._op_def.input_types(op.attrs)
    return types[index].as_datatype_enum if 0 <= index < len(types) else 0


def _list_length(op: Operation, args: Sequence[ArgDef], name: str, kind: str) -> int:
    for arg in args:
        if arg.name == name:
            return len(arg_types(arg, op.attrs))
    raise InvalidArgumentError(None, None, f"{kind} arg '{name}' not found")


def input_list_length(op: Operation, name: str) -> int:
    """How many inputs an input argument stands for.

    Raises:
      InvalidArgumentError: there is no such argument.
    """
    return _list_length(op, op._op_def.inputs, name, "Input")


def output_list_length(op: Operation, name: str) -> int:
    """How many outputs an output argument stands for.

    Raises:
      InvalidArgumentError: there is no such argument.
    """
    return _list_length(op, op._op_def.outputs, name, "Output")


def consumers(op: Operation, index: int) -> list[tuple[Operation, int]]:
    """Who reads an output: (operation, which of its inputs)."""
    if not 0 <= index < len(op.outputs):
        return []
    tensor = op.outputs[index]
    return [
        (consumer, i)
        for consumer in tensor.consumers()
        for i, read in enumerate(consumer.inputs)
        if read is tensor
    ]


def control_inputs(op: Operation) -> list[Operation]:
    """The operations that run before it."""
    return op.control_inputs


def control_outputs(op: Operation) -> list[Operation]:
    """The operations that run after it."""
    return list(op._control_outputs)


def node_def(op: Operation) -> bytes:
    """The serialized NodeDef."""
    serialized: bytes = op.node_def.SerializeToString()
    return serialized
