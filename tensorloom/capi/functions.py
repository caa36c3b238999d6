"""Functions: made of operations, kept as FunctionDefs, added to graphs."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.capi.function_bodies import to_function_def
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.functions.called_functions import functions_named
from tensorloom.framework.graph import graph_def as graph_defs
from tensorloom.framework.graph.graph_ir import LOWERED
from tensorloom.framework.types.attr_value import NameAttrList

if TYPE_CHECKING:
    from tensorloom.framework.graph.dataflow_graph import Graph
    from tensorloom.framework.graph.graph_ir import FunctionIR
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor


class Function:
    """A function outside of any graph."""

    def __init__(
        self, fdef: Any, parts: Mapping[str, FunctionIR] | None = None
    ) -> None:
        self.fdef = fdef  # a FunctionDef
        # The bodies of its loops and branches, which the program did not make, and what
        # they call: they go where the function goes.
        self.parts = dict(parts or {})

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.fdef.signature.name)


def name_of(function: Function) -> str:
    """The name of a function."""
    return function.name


def from_graph(
    graph: Graph,
    name: str,
    append_hash: int,
    operations: Sequence[Operation] | None,
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
    output_names: Sequence[str] | None,
    controls: Sequence[Operation],
    control_names: Sequence[str] | None,
    description: str | None,
) -> Function:
    """A function of operations of a graph; None are all but the inputs.

    Raises:
      InvalidArgumentError: an input is there twice or is a reference, a name is used
        twice, or something is read that is neither an input nor in the body.
    """
    _check_inputs(graph, name, inputs)
    _check_tensors(graph, name, outputs, "output")
    body = _whole_body(graph, name, inputs) if operations is None else operations
    fdef = to_function_def(
        name,
        body,
        inputs,
        outputs,
        output_names,
        controls,
        control_names,
        description or "",
    )
    if append_hash:
        fdef.signature.name = f"{name}_{_hash(fdef)}"
    return Function(fdef, _parts(graph, body))


def _parts(graph: Graph, body: Sequence[Operation]) -> dict[str, FunctionIR]:
    names = {
        value.name
        for op in body
        if op.attrs.get(LOWERED)
        for value in _in_lists(op.attrs.values())
        if isinstance(value, NameAttrList)
    }
    return functions_named(names, graph.functions)


def _in_lists(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list):
            yield from value
        else:
            yield value


def _check_tensors(
    graph: Graph, name: str, tensors: Sequence[Tensor], kind: str
) -> None:
    for i, tensor in enumerate(tensors):
        where = f"Encountered while processing {kind} {i} of function '{name}'"
        if tensor.graph is not graph:
            raise invalid_argument(
                f"Node {tensor.op.name} does not exist in the graph. {where}"
            )
        if tensor.dtype._is_ref_dtype:
            raise invalid_argument(
                f"Output {tensor.value_index} of node '{tensor.op.name}' has a "
                f"reference type {tensor.dtype.name}. {where}"
            )


def _check_inputs(graph: Graph, name: str, inputs: Sequence[Tensor]) -> None:
    _check_tensors(graph, name, inputs, "input")
    for i, tensor in enumerate(inputs):
        if tensor in inputs[:i]:
            raise invalid_argument(
                f"TF_Output {tensor.name} appears more than once in the input list"
            )


def _whole_body(graph: Graph, name: str, inputs: Sequence[Tensor]) -> list[Operation]:
    fed = {tensor.op for tensor in inputs}
    for op in fed:
        if len(op.outputs) != 1:
            raise invalid_argument(
                "When `num_opers` is set to -1, nodes referenced in `inputs` must have "
                f"a single output. Node {op.name} has {len(op.outputs)} outputs. "
                f"Encountered while creating function '{name}'"
            )
    return [op for op in graph.get_operations() if op not in fed]


def _hash(fdef: Any) -> str:
    """A word that other functions do not have, of letters, digits and underscores."""
    digest = hashlib.sha256(fdef.SerializeToString(deterministic=True)).digest()[:8]
    return base64.urlsafe_b64encode(digest).decode().rstrip("=").translate(_NO_DASHES)


_NO_DASHES = str.maketrans("-_", "aA")


def definition(function: Function) -> bytes:
    """The serialized FunctionDef."""
    serialized: bytes = function.fdef.SerializeToString()
    return serialized


def from_serialized(serialized: bytes) -> Function:
    """The function of a serialized FunctionDef.

    Raises:
      InvalidArgumentError: the bytes are none.
    """
    from google.protobuf.message import DecodeError

    from tensorloom.protos.function_pb2 import FunctionDef

    try:
        return Function(FunctionDef.FromString(serialized))
    except DecodeError:
        raise invalid_argument(
            "Invalid FunctionDef given to TF_FunctionImportFunctionDef"
        ) from None


def set_attr(function: Function, name: str, serialized: bytes) -> None:
    """Sets an attr to a serialized AttrValue.

    Raises:
      InvalidArgumentError: the bytes are none.
    """
    from google.protobuf.message import DecodeError

    from tensorloom.protos.attr_value_pb2 import AttrValue

    try:
        value = AttrValue.FromString(serialized)
    except DecodeError:
        raise invalid_argument(
            "Unparseable AttrValue proto passed to TF_FunctionSetAttrValueProto"
        ) from None
    function.fdef.attr[name].CopyFrom(value)


def get_attr(function: Function, name: str) -> bytes:
    """The serialized AttrValue of an attr.

    Raises:
      InvalidArgumentError: there is none of that name.
    """
    if name not in function.fdef.attr:
        raise invalid_argument(
            f"Function '{function.name}' has no attr named '{name}'."
        )
    serialized: bytes = function.fdef.attr[name].SerializeToString()
    return serialized


# --- Functions of a graph ---------------------------------------------------------


def copy_to_graph(graph: Graph, function: Function, gradient: Function | None) -> None:
    """Adds a function to the library of a graph, and its gradient function if given.

    Raises:
      InvalidArgumentError: the graph has another function of that name, or another
        gradient of the function.
    """
    from tensorloom.protos.function_pb2 import FunctionDefLibrary

    library = FunctionDefLibrary()
    library.function.add().CopyFrom(function.fdef)
    if gradient is not None:
        library.function.add().CopyFrom(gradient.fdef)
        library.gradient.add(function_name=function.name, gradient_func=gradient.name)
    with graph._lock:
        for each in (function, gradient):
            for name, part in (each.parts if each else {}).items():
                if name in graph.functions:
                    _check_same(part, graph.functions[name], name)
                else:
                    graph.add_function(part)
        own = graph_defs.function_library_to_proto(graph.functions)
        known = {fdef.signature.name: fdef for fdef in own.function}
        gradients = {each.function_name: each.gradient_func for each in own.gradient}
        read = graph_defs.functions_from_proto(library, graph.functions)
        for fdef in library.function:
            name = fdef.signature.name
            made = read[name]
            if name in known:
                _check_same(made, graph.functions[name], name)
            graph.add_function(made)
        if gradient is None:
            return
        have = gradients.get(function.name)
        if have not in (None, gradient.name):
            raise invalid_argument(
                f"Cannot assign gradient function '{gradient.name}' to "
                f"'{function.name}' because it already has gradient function '{have}'"
            )
        graph.functions[function.name].gradient = gradient.name


def _check_same(new: Any, old: Any, name: str) -> None:
    """Raises InvalidArgumentError if two functions of a name are not the same."""
    messages = [
        graph_defs.function_library_to_proto({name: each}).function[0]
        for each in (new, old)
    ]
    if messages[0] != messages[1]:
        raise invalid_argument(
            f"Cannot add function '{name}' because a different function with the same "
            "name already exists."
        )


def count_in_graph(graph: Graph) -> int:
    """How many functions the library of a graph has."""
    return len(graph.functions)


def of_graph(graph: Graph) -> list[Function]:
    """The functions of a graph's library."""
    library = graph_defs.function_library_to_proto(graph.functions)
    return [Function(fdef) for fdef in library.function]
