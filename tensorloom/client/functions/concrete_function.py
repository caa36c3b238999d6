"""`ConcreteFunction`: a Python function traced once, as a function of a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow import control_flow_values
from tensorloom.client.functions.effects import keep_effects
from tensorloom.client.functions.func_graph import FuncGraph
from tensorloom.framework.functions.called_functions import functions_named
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.runtime.scopes import control_dependencies, uid
from tensorloom.framework.types import nest
from tensorloom.framework.types.composite_tensor import CompositeTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.trackable import SavedFunctionBase
from tensorloom.ops.array import identity as identity_ops
from tensorloom.ops.control_flow import functional as functional_ops
from tensorloom.ops.lists.tensor_array import build_ta_with_new_flow

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import FunctionIR
    from tensorloom.framework.graph.operation import Operation
    from tensorloom.framework.graph.tensor import Tensor


class ConcreteFunction(SavedFunctionBase):
    """A function of tensors of known dtypes and shapes.

    `inputs` and `outputs` are tensors of its graph; `captured_inputs` those that calls
    pass from outside.
    """

    def __init__(
        self, graph: FuncGraph, structure: Any, arguments: Any, arg_names: Sequence[str]
    ) -> None:
        self.graph = graph
        self.structured_input_signature = arguments
        self._structure = structure  # of the result: tensors of the graph, or None
        self.name_arguments(arg_names, len(arg_names))
        self._function = graph.to_function(keep_stateful=True)

    def name_arguments(self, names: Sequence[str], positional: int) -> None:
        """Says what the arguments are called, and how many may be given in order."""
        self._arg_names = _distinct(names)
        self._num_positional_args = positional

    @property
    def name(self) -> bytes:
        """The name in the library."""
        return self._function.name.encode()

    @property
    def argument_names(self) -> list[str]:
        """Distinct names of the arguments, one for each tensor."""
        return self._arg_names

    @property
    def has_outputs(self) -> bool:
        """Whether it gives any tensor."""
        return bool(self._function.output_types)

    @property
    def inputs(self) -> list[Tensor]:
        """The arguments, then the placeholders of what is captured."""
        return self.graph.inputs

    @property
    def outputs(self) -> list[Tensor]:
        """The results as a flat list."""
        return self.graph.outputs

    @property
    def captured_inputs(self) -> list[Tensor]:
        """What calls pass from outside, after the arguments."""
        return self.graph.external_captures

    @property
    def structured_outputs(self) -> Any:
        """The results in the form in which the Python function returned them."""
        return self._structure

    @property
    def output_shapes(self) -> Any:
        """The static shapes of the results."""
        return nest.map_structure(_shape_of, self._structure, expand_composites=True)

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of the results."""
        return nest.map_structure(_dtype_of, self._structure, expand_composites=True)

    @property
    def function_def(self) -> Any:
        """The function as a `FunctionDef` proto."""
        from tensorloom.framework.functions import function_def

        return function_def.to_proto(self._function, self.graph.functions)

    def add_to_graph(self, graph: Any = None) -> None:
        """Adds the function, and those that it calls, to the library of a graph.

        Args:
          graph: the default one if None.
        """
        graph = graph or get_default_graph()
        if self._function.name not in graph.functions:
            for function in self._with_called().values():
                graph.add_function(function)

    def _with_called(self) -> dict[str, FunctionIR]:
        """The function and those that it calls, by name."""
        name = self._function.name
        return functions_named([name], {**self.graph.functions, name: self._function})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Adds a call to the default graph.

        Args:
          *args, **kwargs: tensors for the arguments, in order or by name.

        Raises:
          TypeError: an argument is missing, given twice, or unknown.
        """
        names, given = self._arg_names, list(args)
        if len(given) > self._num_positional_args:
            raise TypeError(
                f"Expected at most {self._num_positional_args} positional arguments "
                f"(and the rest keywords, of {names}), got {len(given)}."
            )
        for name in names[len(given) :]:
            if name not in kwargs:
                raise TypeError(
                    "Expected argument names "
                    f"{names[len(args) :]} but got values for {sorted(kwargs)}. "
                    f"Missing: ['{name}']."
                )
            given.append(kwargs.pop(name))
        if kwargs:
            raise TypeError(f"Got two values for keyword '{next(iter(kwargs))}'.")
        return self.call_flat(
            [
                convert_to_tensor(value, dtype=dtype)
                for value, dtype in zip(given, self._function.arg_types, strict=False)
            ]
        )

    def call_flat(
        self, arguments: Sequence[Tensor], captured: Sequence[Tensor] | None = None
    ) -> Any:
        """Adds a call with flat arguments; gives what the Python function returned.

        `captured`: instead of the tensors that it captures.
        """
        captured = self.captured_inputs if captured is None else captured
        with control_dependencies(self._control_captures()):
            return self.call_with_captures(arguments, captured)

    def call_with_captures(
        self, arguments: Sequence[Tensor], captured: Sequence[Tensor]
    ) -> Any:
        """As `call_flat`, with other tensors for what it captures."""
        self.add_to_graph()
        default, errors = get_default_graph(), self.saving_errors
        if errors and isinstance(default, FuncGraph):
            default.mark_as_unsaveable(errors)
        function = self._function
        kind = "StatefulPartitionedCall" if function.is_stateful else "PartitionedCall"
        results = [dtype.base_dtype for dtype in function.output_types]
        op = functional_ops.call_op(
            kind,
            [*arguments, *captured],
            kind if results else "PartitionedFunctionCall",  # as 1.15 names it
            f=functional_ops.named(function.name),
            Tout=results,
        )
        self._tell_shapes(op)
        return self._packed(op)

    @property
    def saving_errors(self) -> set[str]:
        """Why no SavedModel can have it; empty where one can."""
        return self.graph.saving_errors

    def _control_captures(self) -> list[Operation]:
        """The operations outside that must run before a call."""
        return list(self.graph.control_captures)

    def _tell_shapes(self, op: Operation) -> None:
        """Gives the results of a call what is known of the body's."""
        for inside, outside in zip(self.graph.outputs, op.outputs, strict=True):
            outside._shape = inside._shape
            outside._handle_data = inside._handle_data

    def _packed(self, op: Operation) -> Any:
        if self._structure is None:
            return op
        results = iter(op.outputs)
        leaves = [
            None if leaf is None else next(results)
            for leaf in nest.flatten(self._structure, expand_composites=True)
        ]
        return _pack(self._structure, leaves)


def _distinct(names: Sequence[str]) -> list[str]:
    """The names of arguments; those that are there already get numbers."""
    counts: dict[str, int] = {}
    found: list[str] = []
    for name in names:
        proposal = name
        while proposal in found:
            counts[name] = counts.get(name, 0) + 1
            proposal = f"{name}_{counts[name]}"
        found.append(proposal)
    return found


def _pack(structure: Any, leaves: list[Any]) -> Any:
    flat = nest.flatten(structure, expand_composites=True)
    made = [
        build_ta_with_new_flow(old, new)
        if control_flow_values.is_tensor_array(old)
        else new
        for old, new in zip(flat, leaves, strict=True)
    ]
    return nest.pack_sequence_as(structure, made, expand_composites=True)


def _shape_of(leaf: Any) -> Any:
    return None if leaf is None else leaf.shape


def _dtype_of(leaf: Any) -> Any:
    return None if leaf is None else leaf.dtype


def trace(
    name: str,
    make_arguments: Callable[[FuncGraph], tuple[list[Any], dict[str, Any]]],
    python_function: Callable[..., Any],
    arg_names: Sequence[str],
    kind: type[ConcreteFunction] = ConcreteFunction,
    orders_effects: bool = True,
) -> ConcreteFunction:
    """Calls a Python function over placeholders, once.

    Args:
      make_arguments: makes the arguments in the graph: (positional, by keyword).
      kind: the class of the result.
      orders_effects: whether operations with effects run one after the other.
    """
    graph = FuncGraph(f"__inference_{name}_{uid()}")
    graph._add_control_dependencies = orders_effects
    with graph.as_default():
        args, kwargs = make_arguments(graph)
        declared = list(graph.inputs)
        result = python_function(*args, **kwargs)
        structure = None
        if result is not None:
            structure = nest.map_structure(_as_result, result)
        tensors = [
            leaf.flow if control_flow_values.is_tensor_array(leaf) else leaf
            for leaf in nest.flatten(structure, expand_composites=True)
            if leaf is not None
        ]
        graph.outputs = [graph.capture(t) for t in tensors]
        keep_effects(graph)
    graph.inputs = [*declared, *graph.internal_captures]
    graph.structured_outputs = structure
    return kind(graph, structure, (tuple(args), kwargs), arg_names)


def _as_result(value: Any) -> Any:
    """A leaf of the result as a tensor of its own."""
    if value is None or control_flow_values.is_tensor_array(value):
        return value
    if isinstance(value, CompositeTensor):
        parts = nest.flatten(value, expand_composites=True)
        copies = [identity_ops.identity(t) for t in parts]
        return nest.pack_sequence_as(value, copies, expand_composites=True)
    return identity_ops.identity(convert_to_tensor(value))
