"""User functions of a pipeline as functions of the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.functions.func_graph import FuncGraph
from tensorloom.data import nest, specs
from tensorloom.framework.functions.python_conversion import tf_convert
from tensorloom.framework.graph.default_graph import get_default_graph
from tensorloom.framework.graph.tensor import Tensor
from tensorloom.framework.runtime.scopes import uid
from tensorloom.framework.types.attr_value import NameAttrList
from tensorloom.framework.types.sparse_tensor import SparseTensor, is_sparse
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.ragged.ragged_tensor import convert_to_tensor_or_ragged_tensor
from tensorloom.ops.ragged.ragged_value import RaggedTensorValue


class StructuredFunction:
    """A function from elements of one structure to values of another.

    Args:
      function: gets the components; a tuple element gives several arguments.
      transformation: as in `Dataset.map()`, for names and errors.
      structure: the specs of the elements.

    Raises:
      TypeError: it returns what cannot stand in an element.
    """

    def __init__(
        self, function: Callable[..., Any], transformation: str, structure: Any
    ) -> None:
        name = getattr(function, "__name__", type(function).__name__)
        prefix = transformation.replace(".", "_").removesuffix("()")
        outer = get_default_graph()
        graph = FuncGraph(f"__inference_{prefix}_{name}_{uid()}")
        graph._add_control_dependencies = True
        with graph.as_default():
            arguments = [
                graph.add_argument(dtype, shape, f"args_{i}")
                for i, (dtype, shape) in enumerate(
                    zip(
                        specs.flat_types(structure),
                        specs.flat_shapes(structure),
                        strict=True,
                    )
                )
            ]
            value = specs.from_tensors(structure, arguments)
            converted = tf_convert(function)
            result = converted(*value) if type(value) is tuple else converted(value)
            # Lists of tensors come from ops with several outputs: they are no stack.
            result = tuple(result) if isinstance(result, list) else result
            graph.outputs = self._outputs(graph, result, transformation)
        self._body = graph.to_function(keep_stateful=True)
        outer.add_function(self._body)
        self.captured = graph.external_captures
        self.control_inputs = list(graph.control_captures)
        self.attr = NameAttrList(self._body.name)

    def _outputs(
        self, graph: FuncGraph, result: Any, transformation: str
    ) -> list[Tensor]:
        try:
            if result is None or any(v is None for v in nest.flatten(result)):
                raise TypeError("None")
            result = nest.map_structure(_as_value, result)
            self.output_structure = specs.structure_of_value(result)
        except (TypeError, ValueError):
            raise TypeError(
                f"Unsupported return value from function passed to {transformation}: "
                f"{result}."
            ) from None
        tensors = specs.to_tensors(self.output_structure, result)
        return [graph.capture(convert_to_tensor(tensor)) for tensor in tensors]

    @property
    def name(self) -> str:
        """The name in the graph's library."""
        return self._body.name


def _as_value(value: Any) -> Any:
    """A component: what is no tensor yet becomes one, once."""
    if isinstance(value, Tensor) or hasattr(value, "_type_spec"):
        return value
    if specs.is_registered(value):
        return value
    if is_sparse(value):
        return SparseTensor.from_value(value)
    if isinstance(value, RaggedTensorValue):
        return convert_to_tensor_or_ragged_tensor(value)
    return convert_to_tensor(value)
