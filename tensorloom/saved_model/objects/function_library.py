"""The functions of a SavedModel, under names of their own in this process."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tensorloom.client.functions.concrete_function import ConcreteFunction
from tensorloom.client.functions.func_graph import FuncGraph
from tensorloom.client.functions.library_bodies import add_body
from tensorloom.client.functions.signature_specs import is_spec, pack, tensor_specs
from tensorloom.framework.functions.called_functions import functions_named
from tensorloom.framework.functions.functional_op_types import CALLS
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.graph_def import functions_from_proto
from tensorloom.framework.runtime.scopes import uid
from tensorloom.framework.types import nest
from tensorloom.framework.types.tensor_shape import UNKNOWN
from tensorloom.saved_model.objects.structure_coder import StructureCoder

if TYPE_CHECKING:
    from tensorloom.data.specs import TensorSpec
    from tensorloom.framework.graph.graph_ir import FunctionIR
    from tensorloom.framework.graph.operation import Operation

_TRACED = re.compile(r"^__inference_(.*)_\d+$")


def load_functions(library: Any) -> dict[str, FunctionIR]:
    """The functions of a `FunctionDefLibrary`, by the names that they have there.

    They get new names, and their resources too: two models, or one that is loaded
    twice, do not share them.
    """
    renamed = type(library)()
    renamed.CopyFrom(library)
    names = new_names(library)
    rename_in_library(renamed, names, f"_load_{uid()}")
    made = functions_from_proto(renamed)
    return {old: made[new] for old, new in names.items()}


def new_names(library: Any) -> dict[str, str]:
    """Names for the functions of a library that none has in this process."""
    return {one.signature.name: _new_name(one) for one in library.function}


def rename_in_library(library: Any, names: Mapping[str, str], suffix: str) -> None:
    """Gives functions, and what they call, their new names; a suffix to resources."""
    for function in library.function:
        function.signature.name = names[function.signature.name]
        for node in function.node_def:
            rename_in_node(node, names, suffix)
    for pair in library.gradient:
        pair.function_name = names.get(pair.function_name, pair.function_name)
        pair.gradient_func = names.get(pair.gradient_func, pair.gradient_func)


def _new_name(function: Any) -> str:
    name = function.signature.name
    match = _TRACED.match(name)
    return f"__inference_{match.group(1) if match else name}_{uid()}"


def rename_in_node(node: Any, names: Mapping[str, str], suffix: str) -> None:
    """Gives the functions that a `NodeDef` calls, and its resource, their new names."""
    node.op = names.get(node.op, node.op)
    if node.op in CALLS and "_gradient_op_type" in node.attr:
        # That of a process which is gone. The gradient of a call is that of its body.
        del node.attr["_gradient_op_type"]
    for value in node.attr.values():
        _rename_in_attr(value, names)
    if node.op == "HashTableV2" and not node.attr["use_node_name_sharing"].b:
        # Old files let tables share by nothing, and mean each for itself.
        node.attr["use_node_name_sharing"].b = True
        suffix += f"_{uid()}"
    if "shared_name" in node.attr:
        shared = node.attr["shared_name"].s or node.name.encode()
        node.attr["shared_name"].s = shared + suffix.encode()


def _rename_in_attr(value: Any, names: Mapping[str, str]) -> None:
    kind = value.WhichOneof("value")
    called = list(value.list.func) if kind == "list" else []
    if kind == "func":
        called.append(value.func)
    for function in called:
        function.name = names.get(function.name, function.name)
        for inner in function.attr.values():
            _rename_in_attr(inner, names)


class RestoredConcreteFunction(ConcreteFunction):
    """A trace that a SavedModel holds.

    Args:
      function: under its new name.
      library: all functions of the model.
      message: its `SavedConcreteFunction`.
    """

    def __init__(
        self, function: FunctionIR, library: Mapping[str, FunctionIR], message: Any
    ) -> None:
        self._function = function
        self._library = library
        self._captured: list[Any] = []
        #: Why it cannot be called: a spec of a class that is not known here.
        self.problem: ValueError | None = None
        coder = StructureCoder()
        try:
            self.structured_input_signature = coder.decode_proto(
                message.canonicalized_input_signature
            )
            self._structure = coder.decode_proto(message.output_signature)
        except ValueError as error:
            self.problem = error
            self.structured_input_signature = self._structure = None
        names = [
            spec.name or f"argument_{index}"
            for index, spec in enumerate(_tensor_specs(self.structured_input_signature))
        ]
        self.name_arguments(names, len(names))

    def bind(self, captured: list[Any]) -> None:
        """Says which tensors calls pass for what the function captured."""
        self._captured = captured

    @property
    def captured_inputs(self) -> list[Any]:
        """What calls pass from outside, after the arguments."""
        return self._captured

    @cached_property
    def graph(self) -> FuncGraph:  # type: ignore[override]
        """The body as a graph; made when it is asked for."""
        function, captured = self._function, self._captured
        outer = captured[0].graph if captured else get_default_graph()
        self.add_to_graph(outer)
        graph = FuncGraph(function.name, outer)
        count = len(function.arg_names) - len(captured)
        shapes = function.arg_shapes or [UNKNOWN] * len(function.arg_names)
        outside = [None] * count + captured
        made = [
            graph.add_argument(dtype, shape, name, getattr(one, "_handle_data", None))
            for name, dtype, shape, one in zip(
                function.arg_names, function.arg_types, shapes, outside, strict=True
            )
        ]
        graph.reset_captures(zip(captured, made[count:], strict=True))
        with graph.as_default():
            graph.outputs = add_body(graph, function, made)
        graph.structured_outputs = self._structure
        return graph

    def _with_called(self) -> dict[str, FunctionIR]:
        known = {one.name: one for one in self._library.values()}
        return functions_named([self._function.name], known)

    @property
    def saving_errors(self) -> set[str]:
        """None: it comes from a SavedModel."""
        return set()

    def _control_captures(self) -> list[Operation]:
        return []

    def _tell_shapes(self, op: Operation) -> None:
        specs = _tensor_specs(self._structure)
        for spec, tensor in zip(specs, op.outputs, strict=False):
            if tensor.shape.is_compatible_with(spec.shape):
                tensor.set_shape(spec.shape)

    def call_with_captures(self, arguments: Any, captured: Any) -> Any:
        """As in `ConcreteFunction`. Raises ValueError where it cannot be called."""
        if self.problem is not None:
            raise self.problem
        return super().call_with_captures(arguments, captured)

    def _packed(self, op: Operation) -> Any:
        if self._structure is None:
            return op
        outputs = iter(op.outputs)
        return nest.map_structure(
            lambda leaf: _value_of(leaf, outputs), self._structure
        )


def _tensor_specs(structure: Any) -> list[TensorSpec]:
    """The specs of all tensors of a structure of specs and Python values."""
    leaves = nest.flatten(structure)
    return [s for leaf in leaves if is_spec(leaf) for s in tensor_specs(leaf)]


def _value_of(leaf: Any, outputs: Any) -> Any:
    return pack(leaf, outputs) if is_spec(leaf) else leaf
