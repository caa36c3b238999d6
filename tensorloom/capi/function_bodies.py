"""Operations of a graph as a FunctionDef, under TensorFlow's rules for its names.

The names of a function's arguments and results are lower case, and those of the nodes
are the operations' where they are free.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.errors import UnimplementedError, invalid_argument
from tensorloom.framework.registry.op_registry import arg_types
from tensorloom.framework.types.attr_value import AttrPlaceholder, encode_into

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor

_NOT_IN_ARGUMENTS: Final = re.compile(r"[^a-z0-9_]")
_BEFORE_FIRST_LETTER: Final = re.compile(r"^[^a-z]+")


class _Names:
    """The names in a function, each used once."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._of_nodes: dict[str, str] = {}  # by the operation's name

    def take(self, name: str) -> None:
        """Takes a name for a result.

        Raises:
          InvalidArgumentError: it is taken.
        """
        if name in self._used:
            raise invalid_argument(
                f"Cannot have duplicate output names. Name '{name}' appears more than "
                "once in 'output_names' array."
            )
        self._used.add(name)

    def of_result(self, op: Operation) -> str:
        """A free name like that of an operation."""
        lower = _NOT_IN_ARGUMENTS.sub("_", op.name.lower())
        return self._free(_BEFORE_FIRST_LETTER.sub("", lower) or "unknown")

    def of_argument(self, op: Operation) -> str:
        """The same, and what the operation is called from now on."""
        self._of_nodes[op.name] = name = self.of_result(op)
        return name

    def of_node(self, op: Operation) -> str:
        """The operation's own name, or the next free one."""
        self._of_nodes[op.name] = name = self._free(op.name)
        return name

    def _free(self, name: str) -> str:
        candidate, number = name, 0
        while candidate in self._used:
            candidate, number = f"{name}_{number}", number + 1
        self._used.add(candidate)
        return candidate

    def find(self, op: Operation) -> str | None:
        """What an operation is called; None if it is not in the function."""
        return self._of_nodes.get(op.name)


def to_function_def(
    name: str,
    body: Sequence[Operation],
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    output_names: Sequence[str] | None,
    controls: Sequence[Operation],
    control_names: Sequence[str] | None,
    description: str,
) -> Any:
    """A function of operations, as a FunctionDef.

    Args:
      output_names: of the results; like those of the operations by default.
      controls: what runs at each call, whether its results are read or not.
      control_names: of these; the operations' by default.

    Raises:
      InvalidArgumentError: a name is used twice, or something is read that is neither
        an input nor in the body.
    """
    from tensorloom.protos.function_pb2 import FunctionDef

    fdef = FunctionDef()
    fdef.signature.name = name
    fdef.signature.description = description
    names = _Names()
    for i, tensor in enumerate(outputs):
        if output_names is not None:
            names.take(output_names[i])
        result = output_names[i] if output_names else names.of_result(tensor.op)
        fdef.signature.output_arg.add(name=result, type=tensor.dtype.as_datatype_enum)
    tensors: dict[Tensor, str] = {}
    for i, tensor in enumerate(inputs):
        argument = tensors[tensor] = names.of_argument(tensor.op)
        fdef.signature.input_arg.add(name=argument, type=tensor.dtype.as_datatype_enum)
        for attr, value in tensor.op.attrs.items():
            if attr.startswith("_"):
                encode_into(fdef.arg_attr[i].attr[attr], value)
    for op in body:
        _name_outputs(op, names.of_node(op), tensors)
    for op in body:
        _add_node(fdef, op, names, tensors)
    for arg, tensor in zip(fdef.signature.output_arg, outputs, strict=True):
        if tensor not in tensors:
            raise invalid_argument(
                f"TF_Output {tensor.name} is neither in the function body nor among "
                f"function inputs. Encountered while creating function '{name}'"
            )
        fdef.ret[arg.name] = tensors[tensor]
    _add_controls(fdef, controls, control_names, names)
    return fdef


def _name_outputs(op: Operation, name: str, tensors: dict[Tensor, str]) -> None:
    """The names of the outputs of a node in the body: `node:argument:place`."""
    place = 0
    for arg in op._op_def.outputs:
        for i in range(len(arg_types(arg, op.attrs))):
            tensors.setdefault(op.outputs[place], f"{name}:{arg.name}:{i}")
            place += 1


def _add_node(
    fdef: Any, op: Operation, names: _Names, tensors: dict[Tensor, str]
) -> None:
    node = fdef.node_def.add()
    node.CopyFrom(op.node_def)
    node.name = names.find(op)
    del node.input[:]
    function = fdef.signature.name
    for i, tensor in enumerate(op.inputs):
        if tensor not in tensors:
            raise invalid_argument(
                f"Input {i}, '{tensor.name}', of node '{op.name}' in function "
                f"'{function}' is not available. You might need to include it in "
                "inputs or include its source node in the body"
            )
        node.input.append(tensors[tensor])
    for control in sorted(op.control_inputs, key=lambda each: each.name):
        found = names.find(control)
        if found is None:
            raise invalid_argument(
                f"The source of control edge {control.name} -> {op.name} is not in the "
                f"body. Encountered while creating function '{function}'"
            )
        node.input.append(f"^{found}")
    if op._op_def.is_stateful:
        fdef.signature.is_stateful = True
    _add_attrs(fdef.signature, op)


def _add_attrs(signature: Any, op: Operation) -> None:
    """Attrs of the function that an attr of a node stands for."""
    known = {attr.name for attr in signature.attr}
    for name, value in sorted(op.attrs.items()):
        if not isinstance(value, AttrPlaceholder) or value.name in known:
            continue
        attr = op._op_def.attrs.get(name)
        if attr is None:
            raise UnimplementedError(
                None,
                None,
                "Placeholder value is not supported for attributes not in OpDef. "
                f"Attribute: {name}",
            )
        signature.attr.add(name=value.name, type=attr.type)
        known.add(value.name)


def _add_controls(
    fdef: Any,
    controls: Sequence[Operation],
    given: Sequence[str] | None,
    names: _Names,
) -> None:
    wanted = given if given is not None else [op.name for op in controls]
    _check_control_names(wanted)
    for name, op in zip(wanted, controls, strict=True):
        found = names.find(op)
        if found is None:
            raise invalid_argument("Control output node name must be not empty")
        fdef.control_ret[name] = found
    fdef.signature.control_output.extend(sorted(wanted))


def _check_control_names(names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if not name:
            raise invalid_argument("Control output name must be not empty")
        if name in seen:
            raise invalid_argument(f"Repeated control output name: {name}")
        seen.add(name)
