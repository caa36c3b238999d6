"""The parts of a `NodeDef`: names, inputs and op; `Node` to the proto.

`node_reader.py` makes a `Node` of the proto. How nodes connect is the graph's matter
(`graph_def.py`, `function_def.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from tensorloom.framework.errors import NotFoundError, invalid_argument
from tensorloom.framework.functions.function_problem import FunctionProblem
from tensorloom.framework.registry import newer_attrs, op_registry
from tensorloom.framework.types import attr_value
from tensorloom.framework.types.message_tensor import MESSAGE_CONST

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node
    from tensorloom.framework.registry.op_registry import OpDef
    from tensorloom.protos import node_def_pb2

#: Definitions of functions by name; where one's arguments cannot be told, why.
Signatures = Mapping[str, "OpDef | FunctionProblem"]
#: How an input is written: (producer, output index) -> text.
InputName = Callable[[str, int], str]

_NAME: Final = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\-/>]*")
# Nodes that the runtime adds may begin with an underscore.
_INTERNAL_NAME: Final = re.compile(r"[A-Za-z0-9._][A-Za-z0-9_.\-/>]*")


# Writing --------------------------------------------------------------------------


def tensor_name(producer: str, index: int) -> str:
    """`node` for the first output of a node, `node:1` for the next."""
    return f"{producer}:{index}" if index else producer


def to_proto(node: Node, input_name: InputName = tensor_name) -> node_def_pb2.NodeDef:
    """The node as a message, control inputs in the order in which they were given."""
    from tensorloom.protos.node_def_pb2 import NodeDef

    proto = NodeDef()
    fill(proto, node, input_name, sort_controls=False)
    return proto


def fill(
    proto: node_def_pb2.NodeDef,
    node: Node,
    input_name: InputName = tensor_name,
    sort_controls: bool = True,
) -> None:
    """Fills an empty message with the node.

    Control inputs are sorted, so that equal graphs are equal messages.
    """
    proto.name = node.name
    proto.op = "Const" if node.op == MESSAGE_CONST else node.op
    proto.device = node.device
    inputs = proto.input
    inputs.extend([input_name(producer, index) for producer, index in node.inputs])
    controls = sorted(node.control_inputs) if sort_controls else node.control_inputs
    inputs.extend([f"^{name}" for name in controls])
    attrs = proto.attr
    added = newer_attrs.ADDED.get(node.op, ())
    for name, value in node.attrs.items():
        if name.startswith("_") and name[1:] in newer_attrs.KEPT:
            name = name[1:]
        if not (name in added and newer_attrs.is_default(node.op, name, value)):
            attr_value.encode_into(attrs[name], value)


# Reading --------------------------------------------------------------------------


def parse_input(text: str) -> tuple[str, int]:
    """(producer, output index) of a data input; (name, -1) of a control input."""
    if text.startswith("^"):
        return text[1:], -1
    name, colon, index = text.rpartition(":")
    if colon and index.isascii() and index.isdigit():
        return name, int(index)
    return text, 0


def split_inputs(
    texts: Sequence[str], node: str
) -> tuple[tuple[tuple[str, int], ...], tuple[str, ...]]:
    """Data inputs and control inputs of a node.

    Raises:
        InvalidArgumentError: a data input follows a control input.
    """
    inputs: list[tuple[str, int]] = []
    controls: list[str] = []
    for text in texts:
        # Most are a name alone.
        is_name = ":" not in text and text[:1] != "^"
        name, index = (text, 0) if is_name else parse_input(text)
        if index < 0:
            controls.append(name)
        elif controls:
            raise invalid_argument(
                f"Node '{node}': Control dependencies must come after regular "
                "dependencies"
            )
        else:
            inputs.append((name, index))
    return tuple(inputs), tuple(controls)


def find_op(name: str, functions: Signatures) -> OpDef:
    """The definition of an op or, first, of a function of that name.

    Raises:
        NotFoundError: there is none.
        InvalidArgumentError, NotFoundError: the function's signature is wrong.
    """
    op_def = functions.get(name) or op_registry.find(name)
    if isinstance(op_def, FunctionProblem):
        raise op_def.error()
    if op_def is None:
        raise NotFoundError(
            None,
            None,
            f"Op type not registered '{name}' in this process. A custom op must be "
            "registered, and a function be in the graph's library, before the graph "
            "is read.",
        )
    return op_def


def check_name(name: str, internal: bool = False) -> None:
    """Raises InvalidArgumentError unless the text is a node's name."""
    if not (_INTERNAL_NAME if internal else _NAME).fullmatch(name):
        raise invalid_argument(f"Node '{name}': Node name contains invalid characters")
