"""Constants of dtype resource and variant, whose values are messages.

What they mean is known where they run: a handle names a resource there, and a variant
is decoded by who knows its type. So they are kept as they came. To the runtime they are
no Const, whose value passes take for an array:

before: h = Const[dtype=resource, value=...]
after:  h = _MessageConst[dtype=resource, value=...]    written as a Const again
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_proto import make_ndarray, sizes_of
from tensorloom.framework.types.tensor_shape import MAX_RANK

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node
    from tensorloom.framework.types.dtypes import DType

MESSAGE_CONST: Final = "_MessageConst"

_DTYPES: Final = {d.as_datatype_enum: d for d in (dtypes.resource, dtypes.variant)}


@dataclass(frozen=True, slots=True, eq=False)
class MessageTensor:
    """What the attr `value` of such a constant is."""

    definition: Any  #: the TensorProto, which is written as it is
    dtype: DType
    shape: tuple[int, ...]

    def value(self) -> Any:
        """There is no array of it.

        Raises:
            TypeError: always.
        """
        return make_ndarray(self.definition)


def is_message_tensor(proto: Any) -> bool:
    """Whether a TensorProto holds handles or variants."""
    return proto.dtype in _DTYPES


def from_proto(proto: Any) -> MessageTensor:
    """What stands for a TensorProto of handles or variants.

    Raises:
        InvalidArgumentError: its shape is none.
    """
    sizes = sizes_of(proto)
    if len(sizes) > MAX_RANK:
        raise invalid_argument(f"Shapes have at most {MAX_RANK} dimensions")
    definition = type(proto)()
    definition.CopyFrom(proto)
    return MessageTensor(definition, _DTYPES[proto.dtype], sizes)


def with_message_constants(graph: GraphIR) -> GraphIR:
    """The graph, and its functions, with such constants as ops of their own."""
    nodes = _rewritten(graph.nodes)
    bodies = {name: _rewritten(f.nodes) for name, f in graph.functions.items()}
    if nodes is graph.nodes and all(
        body is graph.functions[name].nodes for name, body in bodies.items()
    ):
        return graph
    return replace(
        graph,
        nodes=nodes,
        functions={
            name: replace(function, nodes=bodies[name])
            for name, function in graph.functions.items()
        },
    )


def _rewritten(nodes: dict[str, Node]) -> dict[str, Node]:
    found = {
        name: node.replace(op=MESSAGE_CONST)
        for name, node in nodes.items()
        if node.op == "Const" and type(node.attrs["value"]) is MessageTensor
    }
    return {name: found.get(name, n) for name, n in nodes.items()} if found else nodes
